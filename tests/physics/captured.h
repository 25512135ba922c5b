// Distance grids of surfaces whose distance is known, and worlds with one.
#pragma once

#include "physics/grid/distance_grid.h"
#include "physics/mjcf/mjcf.h"
#include "physics/pose/constants.h"
#include "tests/physics/machine_physics.h"

#include <math.h>
#include <string.h>

typedef double surface(const double at[3]);

// Bricks within their diagonal of the surface have samples. half: of the grid's box, centred on 0 [m].
static inline orr_distance_grid *capture(surface *distance, double cell, double half_x, double half_z)
{
    const double half[3] = {half_x, half_x, half_z}, edge = cell * ORR_GRID_BRICK;
    int32_t bricks[3], count = 0;
    for (int k = 0; k < 3; k++) {
        bricks[k] = (int32_t)ceil(2.0 * half[k] / edge);
    }
    orr_distance_grid *grid = NULL;
    for (int pass = 0; pass < 2; pass++) {
        int32_t all = count;
        count = 0;
        if (pass) {
            assert_ok(orr_distance_grid_create(bricks, all, &grid, &error));
            grid->cell = cell;
            for (int k = 0; k < 3; k++) {
                grid->origin[k] = -0.5 * bricks[k] * edge + 0.37 * cell; // surfaces lie between the corners
            }
        }
        for (int32_t i = 0; i < bricks[0] * bricks[1] * bricks[2]; i++) {
            const int32_t at[3] = {i % bricks[0], i / bricks[0] % bricks[1], i / bricks[0] / bricks[1]};
            double centre[3];
            for (int k = 0; k < 3; k++) {
                centre[k] = -0.5 * bricks[k] * edge + 0.37 * cell + (at[k] + 0.5) * edge;
            }
            if (fabs(distance(centre)) > edge) {
                continue;
            }
            for (int s = 0; pass && s < ORR_GRID_SAMPLES; s++) {
                const int corner[3] = {s % 9, s / 9 % 9, s / 81};
                double p[3];
                for (int k = 0; k < 3; k++) {
                    p[k] = centre[k] + (corner[k] - 4) * cell;
                }
                grid->sample[count * ORR_GRID_SAMPLES + s] = (float)distance(p);
            }
            if (pass) {
                grid->brick[i] = count;
            }
            count++;
        }
    }
    for (int32_t i = 0; i < (int32_t)orr_distance_grid_corners(grid); i++) {
        const int32_t at[3] = {i % (bricks[0] + 1), i / (bricks[0] + 1) % (bricks[1] + 1),
                               i / (bricks[0] + 1) / (bricks[1] + 1)};
        double p[3];
        for (int k = 0; k < 3; k++) {
            p[k] = grid->origin[k] + at[k] * edge;
        }
        grid->corner[i] = (float)distance(p);
    }
    return grid;
}

// ---- models: the geom "ground" of the text becomes a geom with the grid

typedef struct bench {
    orr_model *model;
    orr_physics *physics;
} bench;

static inline orr_result compile(const char *text, const orr_distance_grid *grid, double scale,
                                 orr_model **model, orr_error *error)
{
    orr_spec spec;
    mjcf_node *root;
    spec_init(&spec, "test.xml");
    assert_ok(mjcf_parse(text, strlen(text), "test.xml", &spec.arena, &root, &error));
    assert_ok(mjcf_read_mujoco(&spec, root, NULL, &error));
    spec_grid *asset = SPEC_APPEND(&spec, grids);
    asset->head.name = "captured";
    asset->grid = grid;
    asset->scale = scale;
    spec_geom *geom = &spec.geoms[SPEC_FIND(&spec, geoms, "ground")];
    geom->type = ORR_GEOM_SDF;
    geom->grid = "captured";
    orr_result result = orr_model_compile(&spec, model, error);
    if (result == ORR_OK) {
        result = orr_find_constants(&spec, *model, error);
    }
    spec_destroy(&spec);
    return result;
}

static inline bench set_up(const char *text, orr_distance_grid *grid, int worlds, bool double_precision)
{
    bench b = {0};
    assert_ok(compile(text, grid, 1.0, &b.model, &error));
    orr_distance_grid_destroy(grid);
    b.physics = make_physics(b.model, worlds, double_precision);
    return b;
}

static inline void tear_down(bench *b)
{
    orr_physics_destroy(b->physics);
    orr_model_destroy(b->model);
}
