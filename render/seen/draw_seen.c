#include "render/seen/draw_seen.h"

#include <string.h>

bool orr_seen_cloud_before(const orr_draw_list *list, const orr_before *before, int cloud, float matrix[12])
{
    const orr_draw_splats *splats = &list->splats[cloud];
    float to_camera[12], from_camera[12], to_camera_before[12];
    if (!before->clouds[cloud].known || splats->deformation.piece_of) {
        return false;
    }
    orr_affine_multiply(list->lens.view, splats->model, to_camera);
    orr_affine_multiply(before->lens.view, before->clouds[cloud].model, to_camera_before);
    if (memcmp(to_camera, to_camera_before, sizeof to_camera) == 0) {
        const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        memcpy(matrix, identity, sizeof identity);
        return true;
    }
    if (orr_affine_invert(to_camera, from_camera, NULL) != ORR_OK) {
        return false;
    }
    orr_affine_multiply(to_camera_before, from_camera, matrix);
    return true;
}
