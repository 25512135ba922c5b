#include "neural/fields/field.h"

#include "engine/core/memory.h"
#include "neural/fields/proposal.h"

#include <string.h>

enum { IMAGE_DIMS = 2, SPACE_DIMS = 3, AABB_SCALE_MAX = 128 };

struct orr_field {
    orr_field_desc desc; // its config is owned
    orr_field_parts parts;
};

static const int output_dims[] = {
    [ORR_FIELD_IMAGE] = 3, [ORR_FIELD_SDF] = 1, [ORR_FIELD_NERF] = ORR_NERF_FEATURES, [ORR_FIELD_VOLUME] = 4};

static orr_result copy_encoding_config(orr_encoding_config *to, const orr_encoding_config *from,
                                       orr_error *error)
{
    *to = *from;
    to->nested = NULL;
    to->nested_count = 0;
    if (from->nested_count > 0) {
        to->nested = orr_alloc_zero((size_t)from->nested_count, sizeof *to->nested);
        if (!to->nested) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: an encoding's configuration");
        }
        to->nested_count = from->nested_count;
        for (int i = 0; i < from->nested_count; i++) {
            ORR_TRY(copy_encoding_config(&to->nested[i], &from->nested[i], error));
        }
    }
    return ORR_OK;
}

static orr_result copy_config(orr_field_config *to, const orr_field_config *from, orr_error *error)
{
    *to = *from;
    // nothing is shared, even when the second copy fails
    to->dir_encoding = (orr_encoding_config){.nested = NULL};
    ORR_TRY(copy_encoding_config(&to->encoding, &from->encoding, error));
    return copy_encoding_config(&to->dir_encoding, &from->dir_encoding, error);
}

static orr_result resolve(orr_field_desc *desc, orr_error *error)
{
    bool nerf = desc->kind == ORR_FIELD_NERF;
    if (nerf && desc->unbounded) {
        desc->aabb_scale = 2;
    }
    if (desc->aabb_scale == 0) {
        desc->aabb_scale = 1;
    }
    if (desc->aabb_scale < 1 || desc->aabb_scale > AABB_SCALE_MAX ||
        (desc->aabb_scale & (desc->aabb_scale - 1)) != 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "aabb_scale %d: expected a power of two, 1 to %d",
                        desc->aabb_scale, AABB_SCALE_MAX);
    }
    if (nerf && !desc->config.has_rgb) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "configuration of a NeRF: expected an rgb_network");
    }
    if (!(desc->desired_resolution >= 0.0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "desired resolution %g: expected 0 or more",
                        desc->desired_resolution);
    }
    if (desc->desired_resolution == 0.0) {
        desc->desired_resolution = 2048.0 * (nerf ? desc->aabb_scale : 1);
    }
    orr_encoding_config *grid = &desc->config.encoding;
    if (grid->kind == ORR_ENCODING_GRID && grid->per_level_scale == 0.0) {
        bool grows = desc->desired_resolution > (double)grid->base_resolution;
        grid->per_level_scale = grows ? orr_grid_level_scale(grid, desc->desired_resolution) : 1.0;
    }
    return ORR_OK;
}

// The value of a network's padding inputs behind this encoding, as tiny-cuda-nn has it: 0 behind a grid, 1
// behind the others; of a composite the last part that has outputs decides. (neural/network/mlp.h)
static float padding_behind(const orr_encoding *encoding)
{
    int last = encoding->part_count;
    if (last == 0) {
        return encoding->config.kind == ORR_ENCODING_GRID ? 0.0f : 1.0f;
    }
    while (last > 1 && encoding->parts[last - 1].output_dims == 0) {
        last--;
    }
    return padding_behind(&encoding->parts[last - 1]);
}

// the encodings and networks, without their parameters
static orr_result create_shapes(const orr_field_desc *desc, orr_field_parts *parts, orr_error *error)
{
    int dims = desc->kind == ORR_FIELD_IMAGE ? IMAGE_DIMS : SPACE_DIMS;
    ORR_TRY(orr_encoding_create(&desc->config.encoding, dims, &parts->encoding, error));
    ORR_TRY(orr_mlp_create(&desc->config.network, parts->encoding.output_dims, output_dims[desc->kind],
                           &parts->network, error));
    parts->network.input_padding = padding_behind(&parts->encoding);
    if (desc->kind != ORR_FIELD_NERF) {
        return ORR_OK;
    }
    ORR_TRY(orr_encoding_create(&desc->config.dir_encoding, SPACE_DIMS, &parts->dir_encoding, error));
    if (parts->dir_encoding.parameter_count > 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "dir_encoding: expected one without parameters");
    }
    ORR_TRY(orr_mlp_create(&desc->config.rgb_network, ORR_NERF_FEATURES + parts->dir_encoding.output_dims, 3,
                           &parts->rgb_network, error));
    parts->rgb_network.input_padding = padding_behind(&parts->dir_encoding);
    return ORR_OK;
}

static orr_result create_rgb_parts(const orr_field_desc *desc, orr_field_parts *parts, orr_error *error)
{
    ORR_ALLOC(parts->rgb_network_parameters, parts->rgb_network.parameter_count, "a network", error);
    orr_mlp_initialise(&parts->rgb_network, desc->seed + 1, parts->rgb_network_parameters);
    ORR_TRY(orr_mlp_weights_create(&parts->rgb_network, desc->isa, desc->machine, &parts->rgb_network_weights,
                                   error));
    return desc->unbounded
               ? orr_proposal_create(desc->seed, desc->isa, desc->machine, &parts->proposal, error)
               : ORR_OK;
}

static orr_result create_parts(const orr_field_desc *desc, orr_field_parts *parts, orr_error *error)
{
    parts->kernels = orr_encoding_kernels_of(desc->isa);
    ORR_ALLOC(parts->table, parts->encoding.parameter_count, "a grid", error);
    ORR_ALLOC(parts->network_parameters, parts->network.parameter_count, "a network", error);
    orr_encoding_initialise(&parts->encoding, desc->seed + 2, parts->table);
    orr_mlp_initialise(&parts->network, desc->seed, parts->network_parameters);
    ORR_TRY(
        orr_mlp_weights_create(&parts->network, desc->isa, desc->machine, &parts->network_weights, error));
    return desc->kind == ORR_FIELD_NERF ? create_rgb_parts(desc, parts, error) : ORR_OK;
}

// a field as far as its shape goes; what it has is destroyed with it, whatever the result
static orr_result shape_field(const orr_field_desc *desc, orr_field **field, orr_error *error)
{
    orr_field *made = *field = orr_alloc_zero(1, sizeof *made);
    if (!made) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a field");
    }
    made->desc = *desc;
    ORR_TRY(copy_config(&made->desc.config, &desc->config, error));
    ORR_TRY(resolve(&made->desc, error));
    return create_shapes(&made->desc, &made->parts, error);
}

orr_result orr_field_parameters(const orr_field_desc *desc, int64_t *count, orr_error *error)
{
    orr_field *field;
    orr_result result = shape_field(desc, &field, error);
    if (result == ORR_OK) {
        const orr_field_parts *parts = &field->parts;
        *count = parts->network.parameter_count + parts->rgb_network.parameter_count +
                 parts->encoding.parameter_count;
    }
    orr_field_destroy(field);
    return result;
}

orr_result orr_field_create(const orr_field_desc *desc, orr_field **field, orr_error *error)
{
    *field = NULL;
    orr_field *made;
    orr_result result = shape_field(desc, &made, error);
    if (result == ORR_OK) {
        result = create_parts(&made->desc, &made->parts, error);
    }
    if (result != ORR_OK) {
        orr_field_destroy(made);
        return result;
    }
    orr_field_refresh(made, NULL, NULL, NULL);
    *field = made;
    return ORR_OK;
}

void orr_field_destroy(orr_field *field)
{
    if (!field) {
        return;
    }
    orr_field_parts *parts = &field->parts;
    orr_mlp_weights_destroy(parts->network_weights);
    orr_mlp_weights_destroy(parts->rgb_network_weights);
    orr_proposal_destroy(parts->proposal);
    orr_encoding_destroy(&parts->encoding);
    orr_encoding_destroy(&parts->dir_encoding);
    orr_free(parts->network_parameters);
    orr_free(parts->rgb_network_parameters);
    orr_free(parts->table);
    orr_field_config_free(&field->desc.config);
    orr_free(field);
}

orr_field_kind orr_field_kind_of(const orr_field *field)
{
    return field->desc.kind;
}

int orr_field_input_dims(const orr_field *field)
{
    return field->parts.encoding.input_dims;
}

const orr_field_desc *orr_field_describe(const orr_field *field)
{
    return &field->desc;
}

const orr_field_parts *orr_field_parts_of(const orr_field *field)
{
    return &field->parts;
}

int64_t orr_field_parameter_count(const orr_field *field)
{
    const orr_field_parts *parts = orr_field_parts_of(field);
    return parts->network.parameter_count + parts->rgb_network.parameter_count +
           parts->encoding.parameter_count;
}

void orr_field_refresh(orr_field *field, const float *network, const float *rgb_network, const float *table)
{
    orr_field_parts *parts = &field->parts;
    parts->version++;
    parts->inference_network = network ? network : parts->network_parameters;
    parts->inference_rgb_network = rgb_network ? rgb_network : parts->rgb_network_parameters;
    orr_mlp_weights_set(parts->network_weights, parts->inference_network);
    if (parts->rgb_network_weights) {
        orr_mlp_weights_set(parts->rgb_network_weights, parts->inference_rgb_network);
    }
    parts->inference_table = table ? table : parts->table;
    if (parts->proposal) {
        orr_proposal_refresh(parts->proposal, NULL, NULL); // its averages are its trainer's
    }
}

// scratch: features, their gradient, d loss / d output, then the network's activations
size_t orr_field_scratch_floats(const orr_field *field)
{
    const orr_field_parts *parts = &field->parts;
    return (size_t)(2 * parts->encoding.output_dims + parts->network.output_dims) * ORR_SAMPLES +
           orr_mlp_activation_floats(&parts->network);
}

void orr_field_values(const orr_field *field, const float *positions, float *scratch, float *output)
{
    const orr_field_parts *parts = &field->parts;
    parts->kernels->forward(&parts->encoding, parts->inference_table, positions, scratch);
    orr_mlp_forward(parts->network_weights, scratch, output, NULL);
}

void orr_field_gradients(const orr_field *field, const float *positions, float *scratch, float *output,
                         float *gradient)
{
    const orr_field_parts *parts = &field->parts;
    size_t feature_floats = (size_t)parts->encoding.output_dims * ORR_SAMPLES;
    size_t output_floats = (size_t)parts->network.output_dims * ORR_SAMPLES;
    float *features = scratch;
    float *feature_gradient = features + feature_floats;
    float *output_gradient = feature_gradient + feature_floats;
    float *activations = output_gradient + output_floats;
    parts->kernels->forward(&parts->encoding, parts->inference_table, positions, features);
    orr_mlp_forward(parts->network_weights, features, output, activations);
    memset(output_gradient, 0, output_floats * sizeof *output_gradient);
    for (int i = 0; i < ORR_SAMPLES; i++) {
        output_gradient[i] = 1.0f;
    }
    orr_mlp_backward(parts->network_weights, features, output, activations, output_gradient, NULL,
                     feature_gradient);
    parts->kernels->backward_input(&parts->encoding, parts->inference_table, positions, feature_gradient,
                                   gradient);
}
