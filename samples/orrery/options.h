// Command-line options: a command describes its options in a table, and the parser fills the table's
// variables.
#pragma once

#include "engine/core/result.h"

typedef enum option_kind {
    OPTION_FLAG,   // bool *: becomes true
    OPTION_TEXT,   // const char **
    OPTION_INT,    // int *, in [low, high]
    OPTION_SEED,   // uint64_t *
    OPTION_REAL,   // double *, in [low, high]
    OPTION_SIZE,   // int[2]: WxH in pixels
    OPTION_COLOUR, // float[3]: R,G,B in 0 .. 1
    OPTION_BOX,    // float[6]: the middle X,Y,Z of a box, and the lengths of its edges, > 0
    OPTION_DEVICE, // orr_device_kind *: auto, cpu, vulkan, cuda
    OPTION_TONE    // orr_tone *: none, neutral, agx, aces
} option_kind;

typedef struct option {
    const char *name; // "--size"
    char letter;      // 'o' for -o; 0: none
    option_kind kind;
    void *value;        // keeps its default when the option is not given
    const char *expect; // what the help shows after the option: "WxH"; NULL: nothing
    const char *help;
    double low, high; // OPTION_INT, OPTION_REAL: the range
} option;

// Options with one meaning in all commands; each accepts and lists those that have an effect on it.
typedef enum common_option {
    COMMON_DEVICE = 1 << 0,
    COMMON_THREADS = 1 << 1,
    COMMON_SEED = 1 << 2,
    COMMON_SIZE = 1 << 3,
    COMMON_JSON = 1 << 4
} common_option;

typedef struct common_options {
    orr_device_kind device;
    int threads; // 0: one per core
    uint64_t seed;
    int size[2]; // 0, 0: not given
    bool json;
} common_options;

typedef struct command_usage {
    const char *name;     // "render"
    const char *operands; // "SCENE -o OUT"
    const char *purpose;  // one line
    const char *notes;    // lines below the options in the help; NULL: none
    int operand_min, operand_max;
    const option *options; // option_count, of this command alone
    int option_count;
    common_options *common;
    unsigned common_used; // bits of common_option
} command_usage;

// Reads argv[1 .. argc - 1]: options anywhere, `--` ends them, operands are moved to argv[0 .. *operand_count
// - 1]. Returns true to go on; otherwise the command ends with *exit_code (help was printed, or one line said
// what is wrong).
bool options_read(const command_usage *usage, int argc, char **argv, int *operand_count, int *exit_code);

// Prints a line of a help text, whose right part begins at a column and is wrapped there.
void options_print_entry(const char *left, const char *text, int column);

// Reads a number in [low, high] that ends at the character `end` (0: with the text); *rest: behind that.
bool options_read_real(const char *text, char end, double low, double high, double *value, const char **rest);
