// Clouds in the light of lamps (orr_light_desc.clouds) that are not where the scene has lit them: bound ones,
// those with a mass, soft ones, and those that a program has moved.
#pragma once

#include "engine/loop/frame_pose.h"

// Gives them the colours that they have where they are posed, under keys of the slot: found anew for the slot
// when the lamps or what it shows of clouds have changed. Clouds that lamps do not know, which train, have
// their own. Leaves packs alone that are not those of the scene.
orr_result orr_frame_relight(orr_frame_slot *slot, const orr_scene *scene, orr_error *error);
