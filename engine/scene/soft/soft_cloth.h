// Meshes that are cloth: their triangles are its elements, and their vertices follow them.
#pragma once

#include "engine/scene/soft/soft_layer.h"

// Fills in the cage (triangles in place of tetrahedra), the model, and the triangle of each vertex.
orr_result orr_soft_cloth_fill(const orr_layer_data *layer, const orr_body_desc *desc, orr_soft_layer *soft,
                               orr_error *error);
// The cage's vertices in the balls of desc.pin, to be freed with orr_free: of a layer that is bound to a body
// they become soft.tie, and the list is empty. ORR_CODE_ARGUMENT: a ball that holds none.
orr_result orr_soft_pins(const orr_layer_data *layer, const orr_body_desc *desc, orr_soft_layer *soft,
                         int32_t **pin, int *count, orr_error *error);
