// Learning a neural material from a material of a mesh. An encoder, which is not kept, turns what a texel is
// made of into latents, so that all texels learn from each other; the networks of neural_material.h turn
// latents into what the path tracer's scattering says. Seen from afar, latents stand for the mean of many
// texels.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "render/appearance/neural_material.h"

typedef struct material_trainer material_trainer;

typedef struct material_training {
    int material;  // of the mesh
    int width;     // of the network: 16 or 32
    int side;      // texels of the latents, at most
    int64_t steps; // over which the learning rate falls
    uint32_t seed;
} material_training;

// The mesh is only read here. The same seed gives the same bits for any number of threads.
orr_result material_trainer_create(orr_jobs *jobs, orr_isa isa, const orr_mesh *mesh,
                                   const material_training *training, material_trainer **trainer,
                                   orr_error *error);
// One step of the optimiser, of MATERIAL_BATCH pairs of directions. Returns their mean error: of the cube
// root of reflectance times cosine.
double material_trainer_step(material_trainer *trainer);
// What the next step begins with, for tests: half the sum of squared errors, per pair of directions, and its
// derivatives by the parameters. All that is drawn at random depends on how many steps there were.
typedef struct material_slope {
    float *parameters;     // count; material_trainer_renew after a change
    const float *gradient; // count
    int64_t count;
    double loss;
} material_slope;
material_slope material_trainer_slope(material_trainer *trainer);
void material_trainer_renew(material_trainer *trainer);
// The material as it is now. Latents of all texels are made: it takes as long as some steps.
orr_result material_trainer_material(material_trainer *trainer, orr_neural_material **material,
                                     orr_error *error);
void material_trainer_destroy(material_trainer *trainer); // NULL is allowed

enum { MATERIAL_UNITS = 32, MATERIAL_DIRECTIONS = 4 };
enum { MATERIAL_BATCH = MATERIAL_UNITS * MATERIAL_DIRECTIONS * 64 };
