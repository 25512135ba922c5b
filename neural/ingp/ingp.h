// Models as files: `.ingp` (zlib or gzip of MessagePack) and `.msgpack` (the same, plain), in the layout of
// instant-ngp's snapshots. At the top level are the keys of the configuration, and `snapshot` with the
// parameters: first network, rgb network, grid. What instant-ngp has no key for is under `orrery`, which it
// does not read.
#pragma once

#include "engine/core/file.h"
#include "neural/fields/field.h"

// The choices of a training that a continued one repeats; all 0: not in the file.
typedef struct orr_model_training {
    int batch;   // samples per step; 0: the trainer's own
    int holdout; // nerf: every so manyeth photo was held out; 0: none; -2: those of transforms_test.json
    uint32_t seed;
    bool known, exposures; // a gain per photo and channel was learnt
} orr_model_training;

typedef struct orr_field_model {
    orr_field *field;
    double origin[3], size; // sdf, volume: world = origin + size x position
    int width, height;      // image: of the picture it was trained on [px]; 0: not in the file
    double to_unit[12]; // nerf: from the capture's world to the field's space, 3x4; all 0: not in the file
    float
        *density_grid; // nerf: 128^3 cells per cascade, Morton order (neural/fields/occupancy.h); NULL: none
    int64_t density_cells;
    int64_t steps;
    double loss;
    orr_bytes state;             // what a trainer needs to continue; empty: none
    orr_model_training training; // how it was trained
} orr_field_model;

// Writes what inference uses as 32-bit floats; pictures and fields are read back with the same bits.
// ORR_ERROR_FILE when the file cannot be written; then `path` is what it was.
orr_result orr_field_model_save(const orr_field_model *model, const char *path, orr_error *error);
// Reads either form, parameters in 32 or 16 bits. The field evaluates on `isa` and `machine`. On failure the
// model is empty.
orr_result orr_field_model_load(const char *path, orr_isa isa, orr_mlp_machine machine,
                                orr_field_model *model, orr_error *error);
// The same from memory; `name` is for messages.
orr_result orr_field_model_read(const void *data, size_t size, const char *name, orr_isa isa,
                                orr_mlp_machine machine, orr_field_model *model, orr_error *error);
bool orr_field_model_readable(const char *path); // by its ending
// Frees the field, the grid and the state; a zeroed model is allowed.
void orr_field_model_free(orr_field_model *model);

// From the field's space to the world, 3x4: by to_unit for a nerf, by origin and size otherwise; the identity
// for a nerf without it in the file. ORR_CODE_ARGUMENT: to_unit has no inverse.
orr_result orr_field_model_to_world(const orr_field_model *model, float to_world[12], orr_error *error);
