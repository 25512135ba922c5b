#include "engine/maths/vector.h"
#include "render/draw.h"

#include <math.h>
#include <string.h>

static orr_light_values to_camera_space(const orr_draw_light *light, const float view[12])
{
    orr_light_values v = {.directional = light->directional ? 1.0f : 0.0f, .exponent = light->exponent};
    affine_apply_to_direction(view, light->direction, v.axis);
    affine_apply_to_point(view, light->position, v.position);
    for (int i = 0; i < 3; i++) {
        v.position[i] = light->directional ? -v.axis[i] : v.position[i];
        v.attenuation[i] = light->attenuation[i];
        v.ambient[i] = light->ambient[i];
        v.diffuse[i] = light->diffuse[i];
        v.specular[i] = light->specular[i];
    }
    // a cone of 180 degrees is everywhere, whatever the rounding of its cosine
    v.cutoff = light->cutoff >= 180.0f ? -2.0f : cosf(light->cutoff * 0.01745329252f);
    v.area = light->area ? 1.0f : 0.0f;
    affine_apply_to_direction(view, light->right, v.right);
    affine_apply_to_direction(view, light->up, v.up);
    v.inverse_range = light->range > 0.0f ? 1.0f / light->range : 0.0f;
    v.cone_offset = 1.0f;
    if (light->fades) {
        float outer = cosf(light->cutoff * 0.01745329252f), inner = cosf(light->inner * 0.01745329252f);
        v.cone_scale = 1.0f / fmaxf(inner - outer, 1e-3f);
        v.cone_offset = -outer * v.cone_scale;
    }
    return v;
}

static void set_grid(const orr_environment_grid *grid, orr_environment_values *v)
{
    for (int k = 0; k < 3; k++) {
        v->points[k] = (float)grid->points[k];
        v->grid_low[k] = grid->low[k];
        v->grid_step[k] = grid->step[k];
    }
    v->grid_offset = grid->offset;
}

static void set_environments(const orr_draw_list *list, orr_draw_lighting *lighting)
{
    float to_world[12], first = 0.0f;
    if (list->environment_count == 0 || orr_affine_invert(list->lens.view, to_world, NULL) != ORR_OK) {
        return;
    }
    for (int i = 0; i < list->environment_count; i++) {
        const orr_draw_environment *from = &list->environments[i];
        orr_environment_values *v = &lighting->environments[i];
        *v = (orr_environment_values){.strength = from->strength * from->map->scale,
                                      .first = first,
                                      .sharp = (float)from->map->sharp,
                                      .rough = (float)from->map->rough,
                                      .diffuse_strength = from->strength};
        orr_affine_multiply(from->to_map, to_world, v->to_map);
        memcpy(v->low, from->low, sizeof v->low);
        memcpy(v->high, from->high, sizeof v->high);
        memcpy(v->harmonics, from->map->harmonics, sizeof v->harmonics);
        set_grid(&from->map->grid, v);
        first += (float)from->map->texel_count;
    }
}

// A camera on or below the plane sees no haze, nor one without perspective.
static orr_haze_values haze_as_seen(const orr_draw_list *list)
{
    const orr_draw_haze *haze = &list->haze;
    const orr_lens *lens = &list->lens;
    const float height = vec3f_dot(haze->plane, lens->position) - haze->plane[3];
    orr_haze_values v = {.centre = {lens->centre[0], lens->centre[1]},
                         .part = fmaxf(haze->part, 1e-4f), // the plane ends within a ten-thousandth of it
                         .reach = haze->reach,
                         .fog_start = haze->fog_start};
    affine_apply_to_direction(lens->view, haze->plane, v.up);
    memcpy(v.colour, haze->colour, sizeof v.colour);
    memcpy(v.fog_colour, haze->fog_colour, sizeof v.fog_colour);
    for (int i = 0; i < 2; i++) {
        v.inverse_focal[i] = lens->orthographic ? 0.0f : 1.0f / lens->focal[i];
    }
    if (haze->reach > 0.0f && height > 0.0f && !lens->orthographic) {
        v.reach_over_height = haze->reach / height;
    }
    if (haze->fog_end > 0.0f) {
        v.fog_inverse_width = 1.0f / fmaxf(haze->fog_end - haze->fog_start, 1e-6f * haze->fog_end);
    }
    affine_apply_to_direction(lens->view, list->sky.up, v.sky);
    v.sky_distance = haze->sky_distance;
    return v;
}

static bool shines(const float rgb[3])
{
    return rgb[0] != 0.0f || rgb[1] != 0.0f || rgb[2] != 0.0f;
}

void orr_draw_captured_lamps(const orr_draw_list *list, orr_captured_lamps *lamps)
{
    const int sun = shines(list->sun.colour) ? 1 : 0;
    *lamps = (orr_captured_lamps){.count = 0};
    memcpy(lamps->white, list->captured_white, sizeof lamps->white);
    for (int i = 0; i < list->light_count; i++) {
        orr_draw_light lamp = list->lights[i];
        if (lamp.lights_captured) {
            lamp.attenuation[0] = lamp.area ? 1.0f : lamp.attenuation[0];
            lamp.area = false;
            lamps->numbers[lamps->count] = sun + i;
            lamps->lamps[lamps->count++] = to_camera_space(&lamp, list->lens.view);
        }
    }
}

bool orr_draw_captured_by_lamp(const orr_draw_list *list)
{
    if (shines(list->sun.colour)) {
        return false;
    }
    for (int i = 0; i < list->light_count; i++) {
        const orr_draw_light *light = &list->lights[i];
        if (light->casts_shadows && (shines(light->diffuse) || shines(light->specular))) {
            return light->lights_captured;
        }
    }
    return false;
}

void orr_draw_light_up(const orr_draw_list *list, orr_draw_lighting *lighting)
{
    const orr_draw_sun *sun = &list->sun;
    *lighting = (orr_draw_lighting){
        .integrals = orr_bsdf_integrals, .exposure = exp2f(list->exposure), .tone = (float)list->tone};
    memcpy(lighting->ambient, sun->ambient, sizeof lighting->ambient);
    if (shines(sun->colour)) {
        orr_light_values *v = &lighting->lights[lighting->count++];
        *v = (orr_light_values){.directional = 1.0f};
        affine_apply_to_direction(list->lens.view, sun->direction, v->position);
        memcpy(v->diffuse, sun->colour, sizeof v->diffuse);
    }
    for (int i = 0; i < list->light_count; i++) {
        lighting->lights[lighting->count++] = to_camera_space(&list->lights[i], list->lens.view);
    }
    set_environments(list, lighting);
    lighting->haze = haze_as_seen(list);
}
