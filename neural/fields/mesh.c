#define ORR_SCALAR
#include "neural/fields/mesh.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "neural/fields/field_formula.h"
#include "neural/fields/occupancy.h"
#include "neural/fields/occupancy_formula.h"
#include "neural/network/encoding_formula.h"

#include <math.h>
#include <string.h>

enum { COARSE = 32 }; // lattice points per side in search of a volume's greatest density

static const float NERF_THRESHOLD = 2.5f;

typedef struct meshing {
    const orr_field_mesh_desc *desc;
    orr_field_kind kind;
    float threshold;
    int aabb_scale;
    // per worker: the field's, then outputs, then a direction's features and a colour network's values
    float *scratch;
    size_t scratch_floats, field_floats;
} meshing;

static float *scratch_of(const meshing *m, int worker)
{
    return m->scratch + (size_t)worker * m->scratch_floats;
}

// ---- values ----

// Does the occupancy grid march the cell of a point? (0 .. 1 in the cube of side aabb_scale)
static bool occupied(const meshing *m, const float point[3])
{
    float side = (float)m->aabb_scale;
    real3 p = make_real3((point[0] - 0.5f) * side + 0.5f, (point[1] - 0.5f) * side + 0.5f,
                         (point[2] - 0.5f) * side + 0.5f);
    float cascade = occupancy_cascade(p, (float)OCCUPANCY_STEP, log2f(side));
    int64_t index = occupancy_index(occupancy_cell(p, exp2f(-cascade)), cascade);
    return index >= m->desc->density_cells ||
           occupancy_is_marched(m->desc->density_grid[index], (float)OCCUPANCY_THICKNESS_MIN);
}

// Is a position (0 .. 1 in the cube of side aabb_scale) empty by what is known of the scene? Of an unbounded
// one only the unit cube, which is not folded, has a surface here.
static bool is_empty(const meshing *m, const float position[3])
{
    if (orr_field_describe(m->desc->field)->unbounded) {
        return fmaxf(fmaxf(fabsf(position[0] - 0.5f), fabsf(position[1] - 0.5f)), fabsf(position[2] - 0.5f)) >
               0.25f;
    }
    return m->desc->density_grid && !occupied(m, position);
}

static void values(void *context, int worker, const float *points, float *out)
{
    const meshing *m = context;
    float *scratch = scratch_of(m, worker), *outputs = scratch + m->field_floats;
    orr_field_values(m->desc->field, points, scratch, outputs);
    for (int i = 0; i < ORR_SAMPLES; i++) {
        out[i] = outputs[i];
        if (m->kind == ORR_FIELD_NERF) {
            const float position[3] = {points[i], points[ORR_SAMPLES + i], points[2 * ORR_SAMPLES + i]};
            out[i] = m->threshold - (is_empty(m, position) ? 0.0f : radiance_density(outputs[i]));
        } else if (m->kind == ORR_FIELD_VOLUME) {
            out[i] = m->threshold - outputs[i];
        }
    }
}

static void gradients(void *context, int worker, const float *points, float *out)
{
    const meshing *m = context;
    float *scratch = scratch_of(m, worker);
    orr_field_gradients(m->desc->field, points, scratch, scratch + m->field_floats, out);
    for (int i = 0; i < 3 * ORR_SAMPLES && m->kind != ORR_FIELD_SDF; i++) {
        out[i] = -out[i]; // densities fall outwards
    }
}

// ---- colours ----

// a colour's byte from the network's raw output
static uint8_t colour_byte(float raw, bool logistic)
{
    return (uint8_t)lrintf(255.0f * field_clamp(logistic ? radiance_colour(raw) : raw));
}

static void nerf_colours(void *context, int worker, const float *points, const float *normals,
                         uint8_t *colours)
{
    const meshing *m = context;
    const orr_field_parts *parts = orr_field_parts_of(m->desc->field);
    float *scratch = scratch_of(m, worker), *input = scratch + m->field_floats;
    float *rgb = input + (size_t)parts->rgb_network.input_dims * ORR_SAMPLES;
    _Alignas(ORR_ALIGNMENT) float directions[3 * ORR_SAMPLES];
    orr_field_values(m->desc->field, points, scratch, input);
    for (int i = 0; i < 3 * ORR_SAMPLES; i++) {
        directions[i] = direction_input(-normals[i]); // towards the surface
    }
    parts->kernels->forward(&parts->dir_encoding, NULL, directions,
                            input + (size_t)parts->network.output_dims * ORR_SAMPLES);
    orr_mlp_forward(parts->rgb_network_weights, input, rgb, NULL);
    for (int i = 0; i < ORR_SAMPLES; i++) {
        for (int k = 0; k < 3; k++) {
            colours[4 * i + k] = colour_byte(rgb[k * ORR_SAMPLES + i], true);
        }
        colours[4 * i + 3] = 255;
    }
}

static void volume_colours(void *context, int worker, const float *points, const float *normals,
                           uint8_t *colours)
{
    (void)normals;
    const meshing *m = context;
    float *scratch = scratch_of(m, worker), *outputs = scratch + m->field_floats;
    orr_field_values(m->desc->field, points, scratch, outputs);
    for (int i = 0; i < ORR_SAMPLES; i++) {
        for (int k = 0; k < 3; k++) {
            colours[4 * i + k] = colour_byte(outputs[(k + 1) * ORR_SAMPLES + i], false);
        }
        colours[4 * i + 3] = 255;
    }
}

// ---- the whole ----

static float half_of_greatest(const meshing *m)
{
    _Alignas(ORR_ALIGNMENT) float points[3 * ORR_SAMPLES];
    float greatest = 0.0f, *outputs = m->scratch + m->field_floats;
    for (int first = 0; first < COARSE * COARSE * COARSE; first += ORR_SAMPLES) {
        for (int i = 0; i < ORR_SAMPLES; i++) {
            int at = first + i;
            points[i] = ((float)(at % COARSE) + 0.5f) / COARSE;
            points[ORR_SAMPLES + i] = ((float)(at / COARSE % COARSE) + 0.5f) / COARSE;
            points[2 * ORR_SAMPLES + i] = ((float)(at / COARSE / COARSE) + 0.5f) / COARSE;
        }
        orr_field_values(m->desc->field, points, m->scratch, outputs);
        for (int i = 0; i < ORR_SAMPLES; i++) {
            greatest = fmaxf(greatest, outputs[i]);
        }
    }
    return 0.5f * greatest;
}

// from the unit cube that the encoding covers to the world
static void find_world(const meshing *m, float to_world[12])
{
    float side = (float)m->aabb_scale, low = 0.5f - 0.5f * side;
    const float cube[12] = {side, 0.0f, 0.0f, low, 0.0f, side, 0.0f, low, 0.0f, 0.0f, side, low};
    if (m->kind == ORR_FIELD_NERF) {
        orr_affine_multiply(m->desc->to_world, cube, to_world);
    } else {
        memcpy(to_world, m->desc->to_world, sizeof m->desc->to_world);
    }
}

orr_result orr_field_mesh(const orr_field_mesh_desc *desc, orr_jobs *jobs, orr_surface *surface,
                          orr_error *error)
{
    *surface = (orr_surface){0};
    meshing m = {.desc = desc,
                 .kind = orr_field_kind_of(desc->field),
                 .threshold = (float)desc->threshold,
                 .aabb_scale = orr_field_describe(desc->field)->aabb_scale,
                 .field_floats = (orr_field_scratch_floats(desc->field) + 15) / 16 * 16};
    if (m.kind == ORR_FIELD_IMAGE) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "a model of an image: expected one with a surface: sdf, nerf or volume");
    }
    const orr_field_parts *parts = orr_field_parts_of(desc->field);
    float to_world[12];
    find_world(&m, to_world);
    int behind = parts->network.output_dims + parts->rgb_network.input_dims + parts->rgb_network.output_dims;
    m.scratch_floats = m.field_floats + (size_t)behind * ORR_SAMPLES;
    ORR_ALLOC(m.scratch, (size_t)orr_jobs_workers(jobs) * m.scratch_floats, "a surface", error);
    if (m.kind != ORR_FIELD_SDF && desc->threshold <= 0.0) {
        m.threshold = m.kind == ORR_FIELD_NERF ? NERF_THRESHOLD : half_of_greatest(&m);
    }
    orr_marching_function function = {.context = &m, .values = values, .gradients = gradients};
    function.colours = m.kind == ORR_FIELD_NERF     ? nerf_colours
                       : m.kind == ORR_FIELD_VOLUME ? volume_colours
                                                    : NULL;
    orr_result result = orr_marching_cubes(
        &function, jobs, (int[3]){desc->resolution, desc->resolution, desc->resolution}, surface, error);
    orr_free(m.scratch);
    if (result == ORR_OK) {
        orr_surface_transform(surface, to_world);
    }
    return result;
}
