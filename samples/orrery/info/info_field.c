// orrery info: model files.
#include "neural/ingp/ingp.h"
#include "samples/orrery/info/info.h"

#include <stdio.h>

static const char *const kind_names[] = {[ORR_FIELD_IMAGE] = "image",
                                         [ORR_FIELD_SDF] = "sdf",
                                         [ORR_FIELD_NERF] = "nerf",
                                         [ORR_FIELD_VOLUME] = "volume"};

static void print_model(const char *path, const orr_field_model *model)
{
    const orr_field_desc *desc = orr_field_describe(model->field);
    const orr_field_parts *parts = orr_field_parts_of(model->field);
    const orr_mlp_config *n = &desc->config.network, *rgb = &desc->config.rgb_network;
    printf("%s: a model of kind %s\n", path, kind_names[desc->kind]);
    printf("  encoding    %d features of %d inputs", parts->encoding.output_dims, parts->encoding.input_dims);
    if (desc->config.encoding.kind == ORR_ENCODING_GRID) {
        printf(", %d levels of %d, 2^%d entries, from %d by %.6g", desc->config.encoding.levels,
               desc->config.encoding.features_per_level, desc->config.encoding.log2_hashmap_size,
               desc->config.encoding.base_resolution, desc->config.encoding.per_level_scale);
    }
    printf("\n  network     %d hidden layers of %d\n", n->hidden_layers, n->width);
    if (desc->kind == ORR_FIELD_NERF) {
        printf("  rgb network %d hidden layers of %d\n", rgb->hidden_layers, rgb->width);
        if (desc->unbounded) {
            printf("  sampling    proposals, in contracted space\n");
        } else {
            printf("  aabb scale  %d\n  occupancy   %lld cells\n", desc->aabb_scale,
                   (long long)model->density_cells);
        }
    }
    printf("  parameters  %lld networks, %lld grid\n",
           (long long)parts->network.parameter_count + parts->rgb_network.parameter_count,
           (long long)parts->encoding.parameter_count);
    if (desc->kind == ORR_FIELD_IMAGE && model->width > 0) {
        printf("  picture     %d x %d\n", model->width, model->height);
    }
    printf("  trained     %lld steps, loss %.4g%s\n", (long long)model->steps, model->loss,
           model->state.size ? ", can be resumed" : "");
}

static void add_model(cJSON *json, const orr_field_model *model)
{
    const orr_field_desc *desc = orr_field_describe(model->field);
    const orr_field_parts *parts = orr_field_parts_of(model->field);
    cJSON_AddStringToObject(json, "kind", kind_names[desc->kind]);
    cJSON_AddNumberToObject(json, "network_parameters",
                            (double)(parts->network.parameter_count + parts->rgb_network.parameter_count));
    cJSON_AddNumberToObject(json, "grid_parameters", (double)parts->encoding.parameter_count);
    cJSON_AddNumberToObject(json, "aabb_scale", desc->aabb_scale);
    if (desc->kind == ORR_FIELD_NERF) {
        cJSON_AddStringToObject(json, "sampling", desc->unbounded ? "proposal" : "occupancy");
    }
    cJSON_AddNumberToObject(json, "steps", (double)model->steps);
    cJSON_AddNumberToObject(json, "loss", model->loss);
    cJSON_AddNumberToObject(json, "state_bytes", (double)model->state.size);
    cJSON_AddItemToObject(json, "config", orr_field_config_json(&desc->config));
}

orr_result info_field(const char *path, cJSON *json, orr_error *error)
{
    orr_field_model model;
    ORR_TRY(orr_field_model_load(path, orr_isa_best(), ORR_MLP_FP32, &model, error)); // nothing is evaluated
    if (json) {
        add_model(json, &model);
    } else {
        print_model(path, &model);
    }
    orr_field_model_free(&model);
    return ORR_OK;
}
