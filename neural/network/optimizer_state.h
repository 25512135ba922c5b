// Tables and state of optimisers, the same on every device: tables over step counts, and the layout of
// the state by which a training is resumed.
#pragma once

#include "engine/core/result.h"
#include "neural/network/config.h"

// ---- what is the same for all parameters of a step ----

typedef struct orr_optimizer_rule {
    float learning_rate, beta1, beta2, epsilon, l2_reg;
    float average_fresh; // 1 - decay of the average; 0: no average
    bool sgd;
    bool lazy; // parameters with gradient 0 stay as they are
} orr_optimizer_rule;

// Of step number `step`, the first being 0. l2_reg does not apply to lazy ones.
orr_optimizer_rule orr_optimizer_rule_of(const orr_optimizer_config *config, bool lazy, int64_t step);

// ---- tables ----

typedef struct orr_optimizer_tables {
    float *correction;   // of Adam, by a parameter's own steps, 0 .. correction_last; NULL: SGD
    int correction_last; // steps from which the correction stays the same in single precision
    double decay;        // of the average; 0: no average
    double *power;       // decay^n for n < power_count; from there on it counts as 0
    int power_count;
} orr_optimizer_tables;

// ORR_CODE_ARGUMENT: a beta or the decay is out of range.
orr_result orr_optimizer_tables_create(const orr_optimizer_config *config, orr_optimizer_tables *tables,
                                       orr_error *error);
void orr_optimizer_tables_destroy(orr_optimizer_tables *tables); // all zeros are allowed

// Factors of the average's sum and of the parameter; `rested`: the steps since the sum was advanced, in which
// the parameter stayed as it is.
typedef struct orr_average_factors {
    float keep, rest;
} orr_average_factors;
orr_average_factors orr_average_rested(const orr_optimizer_tables *tables,
                                       int64_t rested); // for one more step
orr_average_factors orr_average_now(const orr_optimizer_tables *tables, int64_t rested, int64_t steps);

// ---- state ----

enum {
    ORR_PARAMETER_BLOCK =
        16, // parameters whose average is advanced together; arrays are padded to whole blocks
    ORR_OPTIMIZER_PIECES = 5
};

// The arrays of an optimiser in this order; 0 bytes: the configuration has no use for it.
typedef enum orr_optimizer_piece {
    ORR_OPTIMIZER_FIRST,       // float per parameter: Adam's moments
    ORR_OPTIMIZER_SECOND,      //
    ORR_OPTIMIZER_COUNTS,      // uint16_t per parameter: its own steps, up to correction_last
    ORR_OPTIMIZER_SUMS,        // float per parameter: the average, not divided by the sum of its weights
    ORR_OPTIMIZER_AVERAGE_STEP // uint32_t per block: steps that the sums cover
} orr_optimizer_piece;

// A saved state: a header, then the pieces.
typedef struct orr_optimizer_layout {
    int64_t parameter_count;
    size_t bytes[ORR_OPTIMIZER_PIECES];
    size_t header, size; // of the header, and of all
} orr_optimizer_layout;

orr_optimizer_layout orr_optimizer_layout_of(const orr_optimizer_config *config, int64_t parameter_count);
void orr_optimizer_state_write_header(const orr_optimizer_layout *layout, int64_t steps, void *state);
// Checks a saved state against the layout. ORR_CODE_FILE_VALUE: it is another optimiser's.
orr_result orr_optimizer_state_read_header(const orr_optimizer_layout *layout, const void *state, size_t size,
                                           int64_t *steps, orr_error *error);
// Counts of a loaded state stay inside the tables that they index: own steps and steps that sums cover, NULL
// where there are none.
void orr_optimizer_clamp_counts(const orr_optimizer_layout *layout, const orr_optimizer_tables *tables,
                                int64_t steps, uint16_t *own_steps, uint32_t *average_step);
