#include "tests/support/scenes/soft_meshes.h"

#include "tests/support/support.h"

#include <string.h>

orr_layer add_block(orr_scene *scene, const float half[3], const orr_transform *at, int triangles)
{
    static const uint32_t indices[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    float positions[24];
    for (int i = 0; i < 24; i++) {
        positions[i] = (i / 3 >> i % 3 & 1) ? half[i % 3] : -half[i % 3];
    }
    const orr_mesh_desc mesh = {
        .vertex_count = 8, .index_count = 3 * triangles, .positions = positions, .indices = indices};
    orr_layer layer;
    assert_ok(orr_scene_add_mesh(scene, "block", &mesh, at, &layer, &error));
    return layer;
}

orr_layer add_sheet(orr_scene *scene, int side, float spacing, const orr_transform *at)
{
    float positions[SHEET_MOST * SHEET_MOST * 3];
    uint32_t indices[(SHEET_MOST - 1) * (SHEET_MOST - 1) * 6];
    const float middle = 0.5f * (float)(side - 1);
    assert_in_range(side, 2, SHEET_MOST);
    for (int i = 0; i < side * side; i++) {
        positions[3 * i] = spacing * ((float)(i % side) - middle);
        positions[3 * i + 1] = spacing * ((float)(i / side) - middle);
        positions[3 * i + 2] = 0.0f;
    }
    for (int i = 0; i < (side - 1) * (side - 1); i++) {
        const uint32_t a = (uint32_t)(i / (side - 1) * side + i % (side - 1)), c = a + (uint32_t)side;
        const uint32_t corners[6] = {a, a + 1, c + 1, a, c + 1, c};
        memcpy(indices + 6 * (ptrdiff_t)i, corners, sizeof corners);
    }
    const orr_mesh_desc mesh = {.vertex_count = side * side,
                                .index_count = (side - 1) * (side - 1) * 6,
                                .positions = positions,
                                .indices = indices};
    orr_layer layer;
    assert_ok(orr_scene_add_mesh(scene, "sheet", &mesh, at, &layer, &error));
    return layer;
}
