// Meshes that tests make soft, added to a scene.
#pragma once

#include "engine/orrery.h"

// A closed box around the origin, named block, of 12 triangles, or open with fewer of them.
orr_layer add_block(orr_scene *scene, const float half[3], const orr_transform *at, int triangles);

enum { SHEET_MOST = 33 };
// A square in the plane z = 0, named sheet, of side x side vertices, at most SHEET_MOST; spacing: between
// them.
orr_layer add_sheet(orr_scene *scene, int side, float spacing, const orr_transform *at);
