// The cameras of the scene and its robots: their list, and looking through one of them.
#pragma once

#include "samples/orrery/view/panel.h"

struct viewer;

orr_result view_cameras_list(struct viewer *v, orr_error *error); // anew after files have joined the scene
void view_cameras_free(struct viewer *v);
// Looks through a camera. One of the scene is where the view goes to; one of a robot may move, and the view
// with it, until the user moves it.
void view_cameras_choose(struct viewer *v, int camera);
void view_cameras_leave(struct viewer *v); // the user moves the view
// The camera of a robot that the view moves with; -1: none.
int view_cameras_followed(const struct viewer *v);
