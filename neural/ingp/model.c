#include "neural/ingp/ingp.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"

bool orr_field_model_readable(const char *path)
{
    return orr_path_has_ending(path, ".ingp") || orr_path_has_ending(path, ".msgpack");
}

void orr_field_model_free(orr_field_model *model)
{
    orr_field_destroy(model->field);
    orr_free(model->density_grid);
    orr_free(model->state.data);
    *model = (orr_field_model){0};
}

orr_result orr_field_model_to_world(const orr_field_model *model, float to_world[12], orr_error *error)
{
    bool nerf = orr_field_kind_of(model->field) == ORR_FIELD_NERF, given = false;
    float to_unit[12];
    for (int i = 0; i < 12; i++) {
        to_unit[i] = (float)model->to_unit[i];
        given |= to_unit[i] != 0.0f;
        float linear = i % 5 == 0 ? (nerf ? 1.0f : (float)model->size) : 0.0f;
        to_world[i] = i % 4 == 3 && !nerf ? (float)model->origin[i / 4] : linear;
    }
    return nerf && given ? orr_affine_invert(to_unit, to_world, error) : ORR_OK;
}
