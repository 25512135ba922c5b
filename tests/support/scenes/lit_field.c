#include "tests/support/scenes/lit_field.h"

#include "tests/support/support.h"

#define ORR_SCALAR
#include "engine/maths/colour_formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 72 }; // vertices of the grid

static const float SIZE = 6.6f; // of the cube [m]
const float lit_field_to_unit[12] = {1 / 6.6f,           0, 0, 0.5f,     0,   1 / 6.6f, 0,
                                     0.5f + 0.5f / 6.6f, 0, 0, 1 / 6.6f, 0.5f};

// The weight of one input of a neuron.
static void connect(float *matrix, int inputs, int neuron, int input, float weight)
{
    matrix[neuron * inputs + input] = weight;
}

// A network that hands `count` values on, from `input` on, to as many outputs, `repeats` times each. It has
// no biases, and neurons are rectified: each value goes through two, one for either sign.
static void set_network(const orr_mlp *n, float *weights, int input, int count, int repeats)
{
    const int width = n->config.width;
    float *middle = weights + width * n->input_padded;
    float *last = middle + (n->config.hidden_layers - 1) * width * width;
    memset(weights, 0, (size_t)n->parameter_count * sizeof *weights);
    for (int k = 0; k < 2 * count; k++) {
        const float sign = k % 2 == 0 ? 1.0f : -1.0f;
        connect(weights, n->input_padded, k, input + k / 2, sign);
        for (int layer = 1; layer < n->config.hidden_layers; layer++) {
            connect(middle + (layer - 1) * width * width, width, k, k, 1.0f);
        }
        for (int i = 0; i < repeats; i++) {
            connect(last, width, k / 2 * repeats + i, k, sign);
        }
    }
}

// A field whose encoding is one dense grid of two values a vertex.
static orr_field *make(orr_field_kind kind, orr_isa isa)
{
    orr_field *field;
    orr_field_desc made = {.kind = kind, .seed = 1, .isa = isa, .machine = ORR_MLP_FP32};
    assert_ok(orr_field_config_base(kind, &made.config, &error));
    made.config.encoding.levels = 1;
    made.config.encoding.features_per_level = 2;
    made.config.encoding.base_resolution = SIDE;
    made.config.encoding.log2_hashmap_size = 20;
    made.config.network.width = made.config.rgb_network.width = 16;
    assert_ok(orr_field_create(&made, &field, &error));
    orr_field_config_free(&made.config);
    assert_true(orr_field_parts_of(field)->encoding.levels[0].index == ORR_GRID_INDEX_DENSE);
    return field;
}

// The logarithm of the density falls by 6 from vertex to vertex across a surface, and the colour is what
// the sigmoid of the raw value becomes.
static void set_vertex(float *entry, const lit_point *p, float cell)
{
    const float display = linear_to_srgb((float)p->brightness);
    const float shown = fminf(fmaxf(display, 0.01f), 0.99f);
    entry[0] = fminf(fmaxf(5.0f - 6.0f * (float)p->distance / cell, -9.0f), 9.0f);
    entry[1] = logf(shown / (1.0f - shown));
}

static void set_table(lit_field_look *look, const void *context, const orr_encoding *e, float *table)
{
    const orr_grid_level *level = &e->levels[0];
    const int side = (int)level->side;
    const float cell = SIZE / level->scale;
    lit_point *points = calloc((size_t)side * (size_t)side * (size_t)side, sizeof *points);
    assert_non_null(points);
    for (int i = 0; i < side * side * side; i++) {
        const int at[3] = {i % side, i / side % side, i / side / side};
        for (int k = 0; k < 3; k++) { // the half cell is the grid's (grid.h)
            const double unit = ((double)at[k] - 0.5) / (double)level->scale;
            points[i].position[k] = (unit - (double)lit_field_to_unit[4 * k + 3]) * (double)SIZE;
        }
    }
    look(context, points, side * side * side);
    for (int i = 0; i < side * side * side; i++) {
        set_vertex(table + 2 * i, &points[i], cell);
    }
    free(points);
}

// Is there density in a cell of the occupancy grid? As the vertex nearest to its middle has it.
static bool keep(const void *context, const float low[3], float side)
{
    const orr_field_parts *parts = context;
    const orr_grid_level *level = &parts->encoding.levels[0];
    uint32_t entry = 0;
    for (int k = 0; k < 3; k++) {
        const float at = (low[k] + 0.5f * side) * level->scale + 0.5f;
        entry += (uint32_t)fminf(fmaxf(roundf(at), 0.0f), (float)level->side - 1.0f) * level->factor[k];
    }
    return parts->table[2 * entry] > -9.0f;
}

void lit_field_of(lit_field_look *look, const void *context, orr_isa isa, orr_jobs *jobs, orr_field **field,
                  orr_occupancy *grid)
{
    *field = make(ORR_FIELD_NERF, isa);
    const orr_field_parts *parts = orr_field_parts_of(*field);
    // density, and what becomes a colour, for which the second network has the second of its inputs
    set_network(&parts->network, parts->network_parameters, 0, 2, 1);
    set_network(&parts->rgb_network, parts->rgb_network_parameters, 1, 1, 3);
    set_table(look, context, &parts->encoding, parts->table);
    orr_field_refresh(*field, NULL, NULL, NULL);
    assert_ok(orr_occupancy_create(1, grid, &error));
    orr_occupancy_cull(grid, jobs, keep, parts);
}

static void look_at_room(const void *context, lit_point *points, int count)
{
    lit_cloud_look(context, points, count);
}

void lit_field(const lit_cloud_desc *desc, orr_isa isa, orr_jobs *jobs, orr_field **field,
               orr_occupancy *grid)
{
    lit_field_of(look_at_room, desc, isa, jobs, field, grid);
}

orr_field *ball_field(orr_isa isa)
{
    orr_field *field = make(ORR_FIELD_SDF, isa);
    const orr_field_parts *parts = orr_field_parts_of(field);
    const orr_grid_level *level = &parts->encoding.levels[0];
    const int side = (int)level->side;
    set_network(&parts->network, parts->network_parameters, 0, 1, 1);
    for (int i = 0; i < side * side * side; i++) {
        const float at[3] = {(float)(i % side), (float)(i / side % side), (float)(i / side / side)};
        float square = 0.0f;
        for (int k = 0; k < 3; k++) {
            const float off = (at[k] - 0.5f) / level->scale - 0.5f;
            square += off * off;
        }
        parts->table[2 * i] = sqrtf(square) - 0.3f;
    }
    orr_field_refresh(field, NULL, NULL, NULL);
    return field;
}
