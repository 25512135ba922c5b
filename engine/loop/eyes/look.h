// How the pictures of one copy differ from what its world shows (orr_eyes_look).
#pragma once

#include "engine/core/result.h"
#include "render/draw.h"

// ORR_ERROR_ARGUMENT names the copy.
orr_result orr_look_check(const orr_eyes_look *look, int copy, orr_error *error);
bool orr_look_is_plain(const orr_eyes_look *look); // it changes nothing
// Pose: rows of a 3 x 4 matrix from the camera to the world; it is turned and moved in the camera's own axes.
void orr_look_move_camera(const orr_eyes_look *look, float pose[12]);
bool orr_look_turns_lights(const orr_eyes_look *look);
// Of a list that is posed.
void orr_look_change_lights(const orr_eyes_look *look, orr_draw_list *list);
