// Clouds are divided by a box.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/maths/rotation.h"
#include "render/splat/splat_fill.h"

#include <math.h>
#include <string.h>

static orr_result check(const orr_region *r, double rotation[4], orr_error *error)
{
    bool finite = isfinite(r->falloff) && r->falloff >= 0.0f && isfinite(r->rim) && r->rim >= 0.0f,
         has_size = true;
    double length = 0.0;
    for (int k = 0; k < 3; k++) {
        finite = finite && isfinite(r->centre[k]);
        has_size = has_size && r->size[k] > 0.0f && isfinite(r->size[k]);
    }
    for (int k = 0; k < 4; k++) {
        rotation[k] = (double)r->rotation[k];
        length += rotation[k] * rotation[k];
    }
    if (!finite || !has_size || !isfinite(length)) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "region: expected finite numbers, a size above 0, a falloff and a rim of at least 0, not %g x "
            "%g x %g, %g and %g",
            (double)r->size[0], (double)r->size[1], (double)r->size[2], (double)r->falloff, (double)r->rim);
    }
    if (r->rim > 0.0f && !r->outside) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "region: a rim of %g: expected the outer part, which has the hole", (double)r->rim);
    }
    rotation[0] = length > 0.0 ? rotation[0] : 1.0;
    quat_normalise(rotation);
    return ORR_OK;
}

// The share, 0 to 1, of a splat that the part keeps.
static double share_of(const orr_region *r, const double back[4], const float position[3])
{
    double from[3], p[3], deepest = -INFINITY, square = 0.0;
    for (int k = 0; k < 3; k++) {
        from[k] = (double)position[k] - (double)r->centre[k];
    }
    quat_apply(back, from, p);
    for (int k = 0; k < 3; k++) {
        double d = fabs(p[k]) - 0.5 * (double)r->size[k];
        deepest = fmax(deepest, d);
        square += d > 0.0 ? d * d : 0.0;
    }
    const double distance = deepest > 0.0 ? sqrt(square) : deepest; // of the box, negative inside
    const double falloff = (double)r->falloff;
    const double inside = distance <= -0.5 * falloff  ? 1.0
                          : distance >= 0.5 * falloff ? 0.0
                                                      : 0.5 - distance / falloff;
    return r->outside ? 1.0 - inside : inside;
}

// The logit of 1 - (1 - a)^share, for the logit of a: -log(1 - a) is log(1 + e^logit).
static float logit_of_share(float logit, double share)
{
    const double x = (double)logit, depth = share * (x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x)));
    const double lowest = -40.0; // whose sigmoid cannot be seen
    return (float)(depth > 30.0 ? depth : fmax(log(expm1(depth)), lowest));
}

// Room for as many splats.
static orr_result reserve(orr_splats *splats, int64_t count, orr_error *error)
{
    const orr_splats_view old = splats->data;
    orr_splats *larger;
    if (count <= old.count) {
        return ORR_OK;
    }
    ORR_TRY(orr_splats_create(count, old.sh_degree, &larger, error));
    const size_t n = (size_t)old.count, rest = 3 * (size_t)orr_sh_rest(old.sh_degree);
    memcpy(larger->data.position, old.position, 3 * n * sizeof(float));
    memcpy(larger->data.log_scale, old.log_scale, 3 * n * sizeof(float));
    memcpy(larger->data.rotation, old.rotation, 4 * n * sizeof(float));
    memcpy(larger->data.opacity, old.opacity, n * sizeof(float));
    memcpy(larger->data.colour, old.colour, 3 * n * sizeof(float));
    if (rest > 0) {
        memcpy(larger->data.harmonics, old.harmonics, rest * n * sizeof(float));
    }
    splats->data.position = larger->data.position;
    splats->data.log_scale = larger->data.log_scale;
    splats->data.rotation = larger->data.rotation;
    splats->data.opacity = larger->data.opacity;
    splats->data.colour = larger->data.colour;
    splats->data.harmonics = larger->data.harmonics;
    larger->data = old; // to be freed
    orr_splats_destroy(larger);
    return ORR_OK;
}

// Leaves the splats that have a share; returns how many there are.
static int64_t keep(const orr_splats_view *d, const orr_region *r, const double back[4])
{
    int64_t kept = 0;
    for (int64_t i = 0; i < d->count; i++) {
        const double share = share_of(r, back, d->position + 3 * i);
        if (share > 0.0) {
            orr_splats_move(d, i, kept);
            d->opacity[kept] = share < 1.0 ? logit_of_share(d->opacity[kept], share) : d->opacity[kept];
            kept++;
        }
    }
    return kept;
}

static void add_patches(const orr_splats_view *d, int64_t first, const orr_region *r,
                        const orr_splat_patch *patches, int count)
{
    const float opaque = 4.0f; // logit
    const bool turned =
        r->rotation[0] != 0.0f || r->rotation[1] != 0.0f || r->rotation[2] != 0.0f || r->rotation[3] != 0.0f;
    const size_t rest = 3 * (size_t)orr_sh_rest(d->sh_degree);
    for (int i = 0; i < count; i++) {
        const int64_t to = first + i;
        const float upright[4] = {1.0f, 0.0f, 0.0f, 0.0f};
        memcpy(d->position + 3 * to, patches[i].position, sizeof patches[i].position);
        memcpy(d->log_scale + 3 * to, patches[i].log_scale, sizeof patches[i].log_scale);
        memcpy(d->colour + 3 * to, patches[i].colour, sizeof patches[i].colour);
        memcpy(d->rotation + 4 * to, turned ? r->rotation : upright, sizeof upright);
        d->opacity[to] = opaque;
        if (rest > 0) {
            memset(d->harmonics + (ptrdiff_t)rest * to, 0, rest * sizeof(float));
        }
    }
}

orr_result orr_splats_crop_sized(orr_splats *splats, const orr_region *region, size_t region_size,
                                 orr_error *error)
{
    ORR_REQUIRE(splats, error);
    ORR_REQUIRE(region, error);
    orr_region r;
    double back[4];
    ORR_TRY(orr_sized_read(&r, sizeof r, region, region_size, "orr_region", error));
    ORR_TRY(check(&r, back, error));
    quat_conjugate(back, back);
    orr_splats_view *d = &splats->data;
    int64_t kept = 0;
    for (int64_t i = 0; i < d->count; i++) {
        kept += share_of(&r, back, d->position + 3 * i) > 0.0;
    }
    if (kept == 0) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "region: expected a box with a splat %s it, not one of %g x %g x %g around %g, %g, %g",
            r.outside ? "outside" : "in", (double)r.size[0], (double)r.size[1], (double)r.size[2],
            (double)r.centre[0], (double)r.centre[1], (double)r.centre[2]);
    }
    orr_splat_patch *patches = NULL;
    int patch_count = 0;
    if (r.outside && r.rim > 0.0f) {
        ORR_TRY(orr_splat_fill(d, &r, back, &patches, &patch_count, error));
    }
    orr_result result = reserve(splats, kept + patch_count, error);
    if (result == ORR_OK) {
        kept = keep(d, &r, back);
        add_patches(d, kept, &r, patches, patch_count);
        d->count = kept + patch_count;
    }
    orr_free(patches);
    return result;
}
