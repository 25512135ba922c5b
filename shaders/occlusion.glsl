// The search for what occludes points, and lookups of what was found. Comes after `lighting`, and after
// OCCLUSION_DEPTH(column, row): the depth of the opaque meshes at a pixel along the camera's axis, over 1e37
// where there is none.
#include "render/occlusion/occlusion_formula.h"

// Searches in `count` directions, OCCLUSION_DIRECTIONS or OCCLUSION_ALONE.
occlusion_sums occlusion_search(real3 position, real3 normal, int count)
{
    occlusion_view view = lighting.occlusion;
    bool alone = count == OCCLUSION_ALONE;
    // of a 32nd of a turn and of a quarter
    float cosine = alone ? 0.98078528 : 0.0, sine = alone ? 0.19509032 : 1.0;
    occlusion_point p = occlusion_begin(view, position, normal);
    if (alone) {
        p = occlusion_without_pattern(p);
    }
    occlusion_angle angle = occlusion_first_angle(p, 6.28318531 / float(count));
    occlusion_sums sums;
    sums.above = 0.0;
    sums.all_around = 0.0;
    for (int i = 0; i < count; i++) {
        occlusion_ray ray = occlusion_ray_of(view, p, angle);
        float horizon = ray.low;
        for (int k = 1; k <= OCCLUSION_STEPS; k++) {
            occlusion_step s = occlusion_step_to(view, p, ray, float(k));
            horizon = occlusion_raise(view, p, ray, s, OCCLUSION_DEPTH(int(s.column), int(s.row)), horizon);
        }
        sums = occlusion_add(sums, ray, horizon);
        angle = occlusion_next_angle(angle, cosine, sine);
    }
    return sums;
}
