// Which geoms of a robot have round surfaces, and how their textures lie on them: as on the meshes of
// robot_shape.h.
#pragma once

#include "engine/image/image.h"
#include "physics/model/model.h"
#include "render/round.h"

// Radius of the largest circle of a sphere, capsule, cylinder or ellipsoid [m]; 0 for other geoms.
float orr_robot_round_radius(const orr_model *model, int geom);
// Of one whose radius is not 0. texture: the geom's; NULL: none
orr_round orr_robot_round(const orr_model *model, int geom, const orr_image8 *texture);
