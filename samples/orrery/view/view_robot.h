// Robots in the viewer: time, their cameras, and what the panel shows of them.
#pragma once

#include "samples/orrery/robot_drive.h"
#include "samples/orrery/view/panel.h"

struct viewer;

typedef struct view_robot {
    bool present;      // the scene has one that can be simulated
    panel_robot panel; // paused, speed, ... and the sliders of the first robot
    robot_drive drive;
    double seconds; // of its own time since the start or the last reset
    double before;  // clock at the last turn
    int steps;      // requested while it is paused
    int keyframe;   // of the last reset, -1: none
} view_robot;

orr_result view_robot_open(struct viewer *v, uint64_t seed, orr_error *error);
void view_robot_close(struct viewer *v);
void view_robot_find(struct viewer *v); // layers were taken away or came back
// Lets time pass until now; true while it does.
bool view_robot_turn(struct viewer *v, double now);
bool view_robot_moves(const struct viewer *v); // is there anything that physics moves?
bool view_robot_is_going(const struct viewer *v);
void view_robot_do(struct viewer *v, view_action action);
// Puts a ball, a box or a soft cube in front of the camera (view_body.c): VIEW_DROP_BALL, _BOX or _SOFT.
void view_body_drop(struct viewer *v, view_action what);
// The panel's part: what it shows, and what it changed.
panel_robot *view_robot_show(struct viewer *v);
void view_robot_take(struct viewer *v);
