#include "samples/orrery/options.h"

#include "engine/loop/devices.h"
#include "samples/orrery/commands.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMMON_COUNT = 5, // in the order of common_option
    SIDE_MAX = 16384,
    HELP_COLUMN = 29, // where the text of an option begins
    HELP_WIDTH = 100
};

static void list_common(common_options *common, option list[COMMON_COUNT])
{
    const option options[COMMON_COUNT] = {
        {.name = "--device",
         .kind = OPTION_DEVICE,
         .value = &common->device,
         .expect = "auto|cpu|vulkan|...",
         .help = "device to use: also cuda, cuda+vulkan or cuda+vulkan-copies, see orrery devices --help "
                 "(default: ORR_DEVICE, or auto)"},
        {.name = "--threads",
         .kind = OPTION_INT,
         .value = &common->threads,
         .expect = "N",
         .help = "number of worker threads (default: one per core)",
         .high = 1024.0},
        {.name = "--seed",
         .kind = OPTION_SEED,
         .value = &common->seed,
         .expect = "N",
         .help = "seed of the random numbers (default 0)"},
        {.name = "--size",
         .kind = OPTION_SIZE,
         .value = common->size,
         .expect = "WxH",
         .help = "width and height of pictures in pixels (default: those of the camera, or 1280x720)"},
        {.name = "--json",
         .kind = OPTION_FLAG,
         .value = &common->json,
         .help = "print the result as JSON on stdout"},
    };
    memcpy(list, options, sizeof options);
}

// ---- values ----

bool options_read_real(const char *text, char end, double low, double high, double *value, const char **rest)
{
    char *behind;
    *value = strtod(text, &behind);
    *rest = behind + 1;
    return behind != text && *behind == end && isfinite(*value) && *value >= low && *value <= high;
}

static bool read_int(const char *text, char end, double low, double high, int *value, const char **rest)
{
    char *behind;
    errno = 0;
    long number = strtol(text, &behind, 10);
    *rest = behind + 1;
    bool good =
        behind != text && *behind == end && errno == 0 && (double)number >= low && (double)number <= high;
    if (good) {
        *value = (int)number;
    }
    return good;
}

static bool read_seed(const char *text, uint64_t *value)
{
    char *behind;
    errno = 0;
    unsigned long long number = strtoull(text, &behind, 10);
    *value = number;
    return text[0] >= '0' && text[0] <= '9' && *behind == 0 && errno == 0;
}

static bool tone_named(const char *name, orr_tone *tone)
{
    static const char *const names[] = {[ORR_TONE_NONE] = "none",
                                        [ORR_TONE_NEUTRAL] = "neutral",
                                        [ORR_TONE_AGX] = "agx",
                                        [ORR_TONE_ACES] = "aces"};
    for (int i = ORR_TONE_NONE; i <= ORR_TONE_ACES; i++) {
        if (strcmp(name, names[i]) == 0) {
            *tone = (orr_tone)i;
            return true;
        }
    }
    return false;
}

static bool read_value(const option *o, const char *text)
{
    const char *rest = text;
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)o->value = true;
        return true;
    case OPTION_TEXT:
        *(const char **)o->value = text;
        return text[0] != 0;
    case OPTION_INT:
        return read_int(text, 0, o->low, o->high, o->value, &rest);
    case OPTION_SEED:
        return read_seed(text, o->value);
    case OPTION_REAL: {
        double value;
        bool good = options_read_real(text, 0, o->low, o->high, &value, &rest);
        *(double *)o->value = value;
        return good;
    }
    case OPTION_SIZE: {
        int *size = o->value;
        return read_int(text, 'x', 1, SIDE_MAX, &size[0], &rest) &&
               read_int(rest, 0, 1, SIDE_MAX, &size[1], &rest);
    }
    case OPTION_COLOUR: {
        float *colour = o->value;
        for (int i = 0; i < 3; i++) {
            double value;
            if (!options_read_real(rest, i < 2 ? ',' : 0, 0.0, 1.0, &value, &rest)) {
                return false;
            }
            colour[i] = (float)value;
        }
        return true;
    }
    case OPTION_BOX: {
        float *box = o->value;
        for (int i = 0; i < 6; i++) {
            double value;
            if (!options_read_real(rest, i < 5 ? ',' : 0, i < 3 ? -1e9 : 1e-9, 1e9, &value, &rest)) {
                return false;
            }
            box[i] = (float)value;
        }
        return true;
    }
    case OPTION_DEVICE:
        return orr_device_named(text, o->value);
    case OPTION_TONE:
        return tone_named(text, o->value);
    }
    return false;
}

// what a value must be, for the error line
static const char *describe_value(const option *o, char text[64])
{
    switch (o->kind) {
    case OPTION_INT:
        snprintf(text, 64, "a whole number from %.0f to %.0f", o->low, o->high);
        return text;
    case OPTION_REAL:
        snprintf(text, 64, "a number from %g to %g", o->low, o->high);
        return text;
    case OPTION_SEED:
        return "a whole number from 0 to 2^64 - 1";
    case OPTION_SIZE:
        return "WIDTHxHEIGHT with sides of 1 to 16384";
    case OPTION_COLOUR:
        return "R,G,B with numbers from 0 to 1";
    case OPTION_BOX:
        return "X,Y,Z,LX,LY,LZ: the middle of a box, and the lengths of its edges, above 0";
    case OPTION_DEVICE:
        return "auto|cpu|vulkan|cuda|cuda+vulkan|cuda+vulkan-copies";
    case OPTION_TEXT:
    case OPTION_TONE:
    case OPTION_FLAG:
        break;
    }
    return o->expect;
}

// ---- help ----

void options_print_entry(const char *left, const char *text, int column)
{
    int at = printf("  %s", left);
    if (at >= column) {
        printf("\n");
        at = 0;
    }
    printf("%*s", column - at, "");
    at = column;
    while (*text) {
        const int word = (int)strcspn(text, " ");
        if (at > column && at + 1 + word > HELP_WIDTH) {
            printf("\n%*s", column, "");
            at = column;
        }
        at += printf("%s%.*s", at > column ? " " : "", word, text);
        text += word + (text[word] == ' ');
    }
    printf("\n");
}

static void print_option(const option *o)
{
    char left[80] = "";
    int length = o->letter ? snprintf(left, sizeof left, "-%c, ", o->letter) : 0;
    snprintf(left + length, sizeof left - (size_t)length, "%s%s%s", o->name, o->expect ? " " : "",
             o->expect ? o->expect : "");
    options_print_entry(left, o->help, HELP_COLUMN);
}

static void print_help(const command_usage *usage, const option *common)
{
    printf("orrery %s%s%s\n\n%s\n\n", usage->name, usage->operands[0] ? " " : "", usage->operands,
           usage->purpose);
    for (int i = 0; i < usage->option_count; i++) {
        print_option(&usage->options[i]);
    }
    for (int i = 0; i < COMMON_COUNT; i++) {
        if (usage->common_used & 1u << i) {
            print_option(&common[i]);
        }
    }
    options_print_entry("-h, --help", "print this text", HELP_COLUMN);
    if (usage->notes) {
        printf("\n%s\n", usage->notes);
    }
}

// ---- the parser ----

// the option an argument names, "--name", "--name=value" or "-x"; *value: behind the equals sign, or NULL
static const option *find_option(const option *list, int count, const char *argument, const char **value)
{
    *value = NULL;
    for (int i = 0; i < count; i++) {
        size_t length = strlen(list[i].name);
        if (strncmp(argument, list[i].name, length) == 0 &&
            (argument[length] == 0 || argument[length] == '=')) {
            *value = argument[length] == '=' ? argument + length + 1 : NULL;
            return &list[i];
        }
        if (list[i].letter && argument[1] == list[i].letter && argument[2] == 0) {
            return &list[i];
        }
    }
    return NULL;
}

// argv[*i] is an option: reads it and its value
static orr_result read_option(const command_usage *usage, const option *common, int argc, char **argv, int *i,
                              orr_error *error)
{
    const char *argument = argv[*i], *value;
    const option *o = find_option(usage->options, usage->option_count, argument, &value);
    const option *shared = o ? NULL : find_option(common, COMMON_COUNT, argument, &value);
    if (shared && !(usage->common_used & 1u << (shared - common))) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: %s: this command has no use for it: see orrery %s --help", usage->name,
                        shared->name, usage->name);
    }
    o = o ? o : shared;
    if (!o) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: unknown option %s: see orrery %s --help", usage->name,
                        argument, usage->name);
    }
    if (o->kind == OPTION_FLAG && value) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: %s: expected no value", usage->name, o->name);
    }
    if (o->kind != OPTION_FLAG && !value && *i + 1 < argc) {
        value = argv[++*i];
    }
    char expected[64];
    if (o->kind != OPTION_FLAG && !value) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: %s: value missing: expected %s", usage->name, o->name,
                        describe_value(o, expected));
    }
    if (!read_value(o, value)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: %s %s: expected %s", usage->name, o->name, value,
                        describe_value(o, expected));
    }
    return ORR_OK;
}

bool options_read(const command_usage *usage, int argc, char **argv, int *operand_count, int *exit_code)
{
    option common[COMMON_COUNT];
    list_common(usage->common, common);
    orr_error error;
    int count = 0;
    bool options_end = false;
    *exit_code = 0;
    for (int i = 1; i < argc; i++) {
        if (!options_end && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            print_help(usage, common);
            return false;
        }
        if (!options_end && strcmp(argv[i], "--") == 0) {
            options_end = true;
        } else if (!options_end && argv[i][0] == '-' && argv[i][1]) {
            orr_result result = read_option(usage, common, argc, argv, &i, &error);
            if (result != ORR_OK) {
                *exit_code = command_fail(result, &error);
                return false;
            }
        } else {
            argv[count++] = argv[i];
        }
    }
    if (count < usage->operand_min || count > usage->operand_max) {
        orr_result result =
            count > usage->operand_max
                ? orr_fail(&error, ORR_CODE_ARGUMENT, "%s: one operand too many: %s: expected orrery %s %s",
                           usage->name, argv[usage->operand_max], usage->name, usage->operands)
                : orr_fail(&error, ORR_CODE_ARGUMENT, "%s: operand missing: expected orrery %s %s",
                           usage->name, usage->name, usage->operands);
        *exit_code = command_fail(result, &error);
        return false;
    }
    *operand_count = count;
    return true;
}
