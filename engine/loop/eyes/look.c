#include "engine/loop/eyes/look.h"

#include "engine/maths/rotation.h"

#include <math.h>
#include <string.h>

static const float BRIGHTEST = 20.0f; // [EV]

orr_result orr_look_check(const orr_eyes_look *look, int copy, orr_error *error)
{
    float numbers[16] = {look->exposure};
    memcpy(numbers + 1, look->light, sizeof look->light);
    memcpy(numbers + 4, look->camera_offset, sizeof look->camera_offset);
    memcpy(numbers + 7, look->camera_turn, sizeof look->camera_turn);
    memcpy(numbers + 10, look->light_turn, sizeof look->light_turn);
    memcpy(numbers + 13, look->background, sizeof look->background);
    for (int i = 0; i < 16; i++) {
        if (!isfinite(numbers[i]) || (i < 4 && fabsf(numbers[i]) > BRIGHTEST)) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "the look of copy %d: expected finite numbers, and at most %g EV, not %g", copy,
                            (double)BRIGHTEST, (double)numbers[i]);
        }
    }
    return ORR_OK;
}

static void quat_of_vector(const float vector[3], double quat[4])
{
    double angle = sqrt((double)vector[0] * (double)vector[0] + (double)vector[1] * (double)vector[1] +
                        (double)vector[2] * (double)vector[2]);
    quat[0] = cos(0.5 * angle);
    for (int k = 0; k < 3; k++) {
        quat[1 + k] = angle > 0.0 ? sin(0.5 * angle) * (double)vector[k] / angle : 0.0;
    }
}

void orr_look_move_camera(const orr_eyes_look *look, float pose[12])
{
    double quat[4], turn[3][3];
    quat_of_vector(look->camera_turn, quat);
    for (int axis = 0; axis < 3; axis++) { // columns of the turn
        const double unit[3] = {axis == 0, axis == 1, axis == 2};
        quat_apply(quat, unit, turn[axis]);
    }
    for (int row = 0; row < 3; row++) {
        const double x = (double)pose[4 * row], y = (double)pose[4 * row + 1], z = (double)pose[4 * row + 2];
        pose[4 * row + 3] += (float)(x * (double)look->camera_offset[0] + y * (double)look->camera_offset[1] +
                                     z * (double)look->camera_offset[2]);
        for (int axis = 0; axis < 3; axis++) {
            pose[4 * row + axis] = (float)(x * turn[axis][0] + y * turn[axis][1] + z * turn[axis][2]);
        }
    }
}

static void turn_direction(const double quat[4], float direction[3])
{
    double d[3] = {(double)direction[0], (double)direction[1], (double)direction[2]};
    quat_apply(quat, d, d);
    for (int k = 0; k < 3; k++) {
        direction[k] = (float)d[k];
    }
}

void orr_look_change_lights(const orr_eyes_look *look, orr_draw_list *list)
{
    double quat[4];
    quat_of_vector(look->light_turn, quat);
    turn_direction(quat, list->sun.direction);
    for (int i = 0; i < list->light_count; i++) {
        turn_direction(quat, list->lights[i].direction);
    }
    for (int k = 0; k < 3; k++) {
        const float gain = exp2f(look->light[k]);
        list->sun.colour[k] *= gain;
        list->sun.ambient[k] *= gain;
        for (int i = 0; i < list->light_count; i++) {
            orr_draw_light *light = &list->lights[i];
            light->ambient[k] *= gain;
            light->diffuse[k] *= gain;
            light->specular[k] *= gain;
        }
    }
}

bool orr_look_turns_lights(const orr_eyes_look *look)
{
    return look->light_turn[0] != 0.0f || look->light_turn[1] != 0.0f || look->light_turn[2] != 0.0f;
}

bool orr_look_is_plain(const orr_eyes_look *look)
{
    static const orr_eyes_look plain;
    return memcmp(look, &plain, sizeof plain) == 0;
}
