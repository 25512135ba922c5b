#define ORR_SCALAR
#include "engine/loop/world/robot_light.h"

#include "engine/core/memory.h"
#include "engine/loop/world/world_robots.h"
#include "engine/maths/camera.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/rotation.h"

#include <math.h>
#include <string.h>

// MuJoCo adds light as it is displayed. What falls on a surface's colour is taken as linear radiance, so that
// full light shows the colour as it is given; a highlight, which is added to it, as displayed.
static void set_colours(const float ambient[3], const float diffuse[3], const float specular[3],
                        orr_draw_light *light)
{
    for (int k = 0; k < 3; k++) {
        light->ambient[k] = fmaxf(ambient[k], 0.0f);
        light->diffuse[k] = fmaxf(diffuse[k], 0.0f);
        light->specular[k] = srgb_to_linear(fmaxf(specular[k], 0.0f));
    }
}

// The bodies of a robot, which carry its lights.
typedef struct carried {
    const orr_model *m;
    const orr_transform *bodies;
    const double *centres; // nbody x 3: of mass, of subtrees; NULL: not known
} carried;

static void centre_of(const carried *c, int body, double centre[3])
{
    for (int k = 0; k < 3; k++) {
        centre[k] = c->centres ? c->centres[3 * body + k] : (double)c->bodies[body].position[k];
    }
}

// Position and direction in the robot's frame.
static void light_pose(const carried *c, int light, double position[3], double direction[3])
{
    const orr_model *m = c->m;
    int body = m->light_bodyid[light], target = m->light_targetbodyid[light];
    double rotation[4], point[3];
    for (int k = 0; k < 4; k++) {
        rotation[k] = (double)c->bodies[body].rotation[k];
    }
    quat_apply(rotation, m->light_pos + 3 * light, position);
    quat_apply(rotation, m->light_dir + 3 * light, direction);
    for (int k = 0; k < 3; k++) {
        position[k] += (double)c->bodies[body].position[k];
    }
    orr_camera_mode mode = (orr_camera_mode)m->light_mode[light];
    if (mode == ORR_CAMERA_TRACK || mode == ORR_CAMERA_TRACKCOM) {
        const double *offset = (mode == ORR_CAMERA_TRACK ? m->light_pos0 : m->light_poscom0) + 3 * light;
        centre_of(&(carried){m, c->bodies, mode == ORR_CAMERA_TRACK ? NULL : c->centres}, body, point);
        memcpy(direction, m->light_dir0 + 3 * light, 3 * sizeof *direction);
        for (int k = 0; k < 3; k++) {
            position[k] = point[k] + offset[k];
        }
    } else if (mode != ORR_CAMERA_FIXED && target >= 0) {
        centre_of(&(carried){m, c->bodies, mode == ORR_CAMERA_TARGETBODY ? NULL : c->centres}, target, point);
        for (int k = 0; k < 3; k++) {
            direction[k] = point[k] - position[k];
        }
    }
    vec3_normalise(direction);
}

static void put_light(const carried *c, int light, const float layer_pose[12], float scale,
                      orr_draw_list *list)
{
    const orr_model *m = c->m;
    double at[3], along[3];
    light_pose(c, light, at, along);
    orr_draw_light *out = &list->lights[list->light_count++];
    *out =
        (orr_draw_light){.directional = m->light_type[light] == ORR_LIGHT_DIRECTIONAL,
                         .cutoff = m->light_type[light] == ORR_LIGHT_SPOT ? m->light_cutoff[light] : 180.0f,
                         .exponent = m->light_type[light] == ORR_LIGHT_SPOT ? m->light_exponent[light] : 0.0f,
                         .casts_shadows = m->light_castshadow[light]};
    const float unit[3] = {1.0f, 1.0f / scale, 1.0f / (scale * scale)}; // distances are the robot's own
    for (int k = 0; k < 3; k++) {
        const float *row = layer_pose + 4 * k;
        out->position[k] = row[0] * (float)at[0] + row[1] * (float)at[1] + row[2] * (float)at[2] + row[3];
        out->direction[k] =
            (row[0] * (float)along[0] + row[1] * (float)along[1] + row[2] * (float)along[2]) / scale;
        out->attenuation[k] = m->light_attenuation[3 * light + k] * unit[k];
    }
    set_colours(m->light_ambient + 3 * light, m->light_diffuse + 3 * light, m->light_specular + 3 * light,
                out);
}

// At the camera, along its axis.
static void put_headlight(const orr_model *m, orr_draw_list *list)
{
    orr_draw_light *out = &list->lights[list->light_count++];
    *out = (orr_draw_light){.directional = list->lens.orthographic, .attenuation = {1.0f}, .cutoff = 180.0f};
    memcpy(out->position, list->lens.position, sizeof out->position);
    memcpy(out->direction, list->lens.view + 8, sizeof out->direction);
    set_colours(m->vis.headlight_ambient, m->vis.headlight_diffuse, m->vis.headlight_specular, out);
}

static bool needs_centres(const orr_model *m)
{
    for (int i = 0; i < m->nlight; i++) {
        if (m->light_mode[i] == ORR_CAMERA_TRACKCOM || m->light_mode[i] == ORR_CAMERA_TARGETBODYCOM) {
            return true;
        }
    }
    return false;
}

static bool needs_bodies(const orr_model *m)
{
    for (int i = 0; i < m->nlight; i++) {
        bool fixed = m->light_mode[i] == ORR_CAMERA_FIXED && orr_robot_body_is_fixed(m, m->light_bodyid[i]);
        if (m->light_active[i] && !fixed) {
            return true;
        }
    }
    return false;
}

orr_result orr_robot_light(const orr_world *world, int index, const orr_layer_data *layer,
                           const orr_transform *transform, orr_draw_list *list, orr_error *error)
{
    const orr_model *m = layer->robot->model;
    carried c = {.m = m, .bodies = layer->robot->rest};
    float matrix[12];
    double *centres = NULL;
    orr_world_robot *r = NULL;
    ORR_TRY(orr_affine_from_transform(transform, matrix, error));
    if (needs_bodies(m)) {
        ORR_TRY(orr_world_robot_bodies(world, index, layer, &c.bodies, error));
    }
    // one that cannot be simulated has no centres of mass either; its bodies' positions are near them
    if (needs_centres(m) && orr_world_robots_find(world, layer, &r, NULL) == ORR_OK) {
        ORR_ALLOC(centres, 3 * m->nbody, "centres of mass", error);
        orr_world_robot_read(world, index, r, ORR_PHYSICS_SUBTREE_COM, centres);
        c.centres = centres;
    }
    if (m->vis.headlight_active) {
        put_headlight(m, list);
    }
    for (int i = 0; i < m->nlight && list->light_count < ORR_DRAW_LIGHTS; i++) {
        if (m->light_active[i]) {
            put_light(&c, i, matrix, transform->scale, list);
        }
    }
    orr_free(centres);
    return ORR_OK;
}
