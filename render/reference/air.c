#define ORR_SCALAR
#include "render/reference/air.h"

#include "engine/maths/colour_formula.h"

real3 air_passed(real3 clear, const air_sample *s)
{
    const real3 first = add_scaled3(clear, s->behind, s->air.passes);
    return add_scaled3(first, s->beyond, s->air_beyond.passes);
}

// light: what of a sample reaches the camera, as if there were no air; share: of light that comes from there
static void add_to(air_sums *sums, haze_air air, real3 light, real3 share)
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

void air_add(air_sums *pixel, const air_sample *s)
{
    if (!(s->part > 0.0f)) {
        return;
    }
    add_to(&pixel[AIR_SEEN], s->air, s->behind, make_real3(s->part, s->part, s->part));
    if (s->group != AIR_SEEN) {
        add_to(&pixel[s->group], s->air_beyond, s->beyond, s->share);
    }
}

static void light_of_group(const air_sums *sums, double rgb[3])
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

void air_light(const air_sums *pixel, int groups, double rgb[3])
{
    air_sums first = pixel[AIR_SEEN];
    for (int g = 1; g < groups; g++) {
        double beyond[3];
        light_of_group(&pixel[g], beyond);
        for (int k = 0; k < 3; k++) {
            first.rgb[k] += beyond[k];
        }
    }
    light_of_group(&first, rgb);
}
