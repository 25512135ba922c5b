#define ORR_SCALAR
#include "render/reference/air.h"

#include "engine/maths/colour_formula.h"

bool air_is_there(haze_view v)
{
    return v.reach_over_height > 0.0f || v.fog_inverse_width > 0.0f;
}

haze_air air_before(haze_view v, real3 position, real3 direction, real axis, real distance)
{
    return haze_along(v, (haze_path){.axis = axis}, position, direction, distance, false);
}

haze_air air_join(haze_air before, haze_air behind)
{
    return (haze_air){before.passes * behind.passes, haze_behind(before, behind.added)};
}

void air_add(air_sums *sums, haze_air air, real3 light, real3 share)
{
    const real of[3] = {light.x, light.y, light.z}, added[3] = {air.added.x, air.added.y, air.added.z},
               shares[3] = {share.x, share.y, share.z};
    const double weight = (double)(share.x + share.y + share.z) / 3.0;
    for (int k = 0; k < 3; k++) {
        sums->rgb[k] += (double)(air.passes * of[k]);
        sums->share[k] += (double)shares[k];
        sums->added[k] += weight * (double)added[k];
    }
    sums->passes += weight * (double)air.passes;
    sums->weight += weight;
}

void air_light(const air_sums *sums, double rgb[3])
{
    const double passes = sums->weight > 0.0 ? sums->passes / sums->weight : 0.0;
    for (int k = 0; k < 3; k++) {
        rgb[k] = 0.0;
        if (sums->weight > 0.0 && sums->share[k] > 0.0) {
            const double behind = passes > 0.0 ? sums->rgb[k] / (passes * sums->share[k]) : 0.0;
            const double shown =
                passes * (double)linear_to_srgb((float)behind) + sums->added[k] / sums->weight;
            rgb[k] = sums->share[k] * (double)srgb_to_linear((float)shown);
        }
    }
}
