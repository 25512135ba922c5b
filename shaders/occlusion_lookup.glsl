// The part of the light from all around that reaches a point of a mesh, in the camera's space: the mean of
// the pixels of `occlusion_map` around it. Comes after that and `lighting`.
#include "render/occlusion/occlusion_formula.h"

float occlusion_lookup(real3 position, real3 normal)
{
    occlusion_view view = lighting.occlusion;
    int width = int(view.width), height = int(view.height);
    occlusion_point p = occlusion_begin(view, position, normal);
    int left = int(occlusion_first_tap(p.x)), top = int(occlusion_first_tap(p.y));
    occlusion_sums sums;
    sums.above = 0.0;
    sums.all_around = 0.0;
    for (int i = 0; i < OCCLUSION_TAPS * OCCLUSION_TAPS; i++) {
        int column = left + i % OCCLUSION_TAPS, row = top + i / OCCLUSION_TAPS;
        if (column < 0 || column >= width || row < 0 || row >= height) {
            continue;
        }
        vec3 found = occlusion_map[row * width + column];
        if (found.x < 1e37) {
            float weight = occlusion_weight(view, position, normal,
                                            occlusion_seen(view, float(column), float(row), found.x));
            sums.above = fma_(weight, found.y, sums.above);
            sums.all_around = fma_(weight, found.z, sums.all_around);
        }
    }
    return occlusion_open(view, sums);
}
