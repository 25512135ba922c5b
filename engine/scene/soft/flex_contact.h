// How a flex of MJCF touches.
#pragma once

#include "engine/scene/soft/soft_layer.h"

// Of flex number `flex` of the model; the layer has its cage and its model, and gets its contact.
orr_result orr_flex_contact_create(const orr_model *model, int flex, orr_soft_layer *soft, orr_error *error);
