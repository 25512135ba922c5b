// Environments of a frame: what lights its meshes from all around, in place of ambient light.
#pragma once

#include "engine/loop/world/world.h"

// meshes: those of the list. background: the view or the scene has a colour that is behind everything.
void orr_frame_environment(const orr_scene *scene, bool background, orr_draw_mesh *meshes,
                           orr_draw_list *list);
