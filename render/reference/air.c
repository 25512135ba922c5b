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

void air_add(air_sums *sums, haze_air air, real3 light, real part)
{
    const real of[3] = {light.x, light.y, light.z}, added[3] = {air.added.x, air.added.y, air.added.z};
    for (int k = 0; k < 3; k++) {
        sums->rgb[k] += (double)(air.passes * of[k]);
        sums->added[k] += (double)(part * added[k]);
    }
    sums->passes += (double)(part * air.passes);
    sums->share += (double)part;
}

void air_light(const air_sums *sums, double rgb[3])
{
    for (int k = 0; k < 3; k++) {
        rgb[k] = 0.0;
        if (sums->share > 0.0) {
            const double behind = sums->passes > 0.0 ? sums->rgb[k] / sums->passes : 0.0;
            const double shown =
                sums->passes * (double)linear_to_srgb((float)behind) + sums->added[k]; // of all together
            rgb[k] = sums->share * (double)srgb_to_linear((float)(shown / sums->share));
        }
    }
}
