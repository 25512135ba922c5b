#include "render/cloud_shadow/cloud_shadow.h"

#include "render/splat/pack_inputs.h"

#include <math.h>

enum { BOUNDS_BLOCKS = 256 }; // blocks of 16 splats per job

// Of opacity 1, at the ellipsoid on which a splat covers 1/255: standard deviations.
static const float reach = 3.3293f;

typedef struct bounds_job {
    const orr_draw_splats *cloud;
    orr_caster_span *parts;
} bounds_job;

static const orr_caster_span nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

bool orr_has_cloud_shadows(const orr_draw_list *list)
{
    const orr_draw_sun *sun = &list->sun;
    bool casts = false, lit = sun->colour[0] + sun->colour[1] + sun->colour[2] > 0.0f;
    for (int i = 0; i < list->splat_count; i++) {
        casts |= list->splats[i].casts_shadow;
    }
    for (int i = 0; i < list->light_count; i++) {
        lit |= list->lights[i].casts_shadows;
    }
    return list->shadows && casts && lit;
}

// Along each axis of the world.
typedef struct span_lanes {
    real low[3], high[3];
} span_lanes;

// By the splats of the pack from number `first` on.
static void extend(const orr_draw_splats *cloud, int64_t first, span_lanes *span)
{
    const int64_t block = first / ORR_PACK_BLOCK * ORR_PACK_GEOMETRY * ORR_PACK_BLOCK;
    packed_splats p = packed_splats_at(cloud->pack->geometry + block + first % ORR_PACK_BLOCK);
    const mask seen = p.opacity >= R(SPLAT_ALPHA_MIN);
    if (cloud->deformation.piece_of) {
        const splat_deformation piece = splat_deformation_at(&cloud->deformation, first);
        p.mean = deform_mean(piece, p.mean);
        p.axes = deform_axes(piece, p.axes);
    }
    for (int k = 0; k < 3; k++) {
        const float *row = cloud->model + 4 * k;
        const real3 direction = make_real3(R(row[0]), R(row[1]), R(row[2]));
        const real3 along =
            make_real3(dot3(direction, p.axes.a), dot3(direction, p.axes.b), dot3(direction, p.axes.c));
        const real middle = dot3(direction, p.mean) + R(row[3]), half = R(reach) * sqrt_(dot3(along, along));
        // what is not finite is not drawn either
        const mask drawn = and_(seen, and_(middle - half > R(-1e30), middle + half < R(1e30)));
        span->low[k] = sel(drawn, min_(span->low[k], middle - half), span->low[k]);
        span->high[k] = sel(drawn, max_(span->high[k], middle + half), span->high[k]);
    }
}

static void find_bounds(void *context, int i, int worker)
{
    (void)worker;
    const bounds_job *job = context;
    const int64_t end = job->cloud->pack->blocks < (int64_t)(i + 1) * BOUNDS_BLOCKS
                            ? job->cloud->pack->blocks
                            : (int64_t)(i + 1) * BOUNDS_BLOCKS;
    span_lanes found;
    for (int k = 0; k < 3; k++) {
        found.low[k] = R(nothing.low[k]);
        found.high[k] = R(nothing.high[k]);
    }
    for (int64_t splat = (int64_t)i * BOUNDS_BLOCKS * ORR_PACK_BLOCK; splat < end * ORR_PACK_BLOCK;
         splat += ORR_LANES) {
        extend(job->cloud, splat, &found);
    }
    job->parts[i] = nothing;
    for (int k = 0; k < 3; k++) {
        for (int lane = 0; lane < ORR_LANES; lane++) {
            job->parts[i].low[k] = fminf(job->parts[i].low[k], found.low[k][lane]);
            job->parts[i].high[k] = fmaxf(job->parts[i].high[k], found.high[k][lane]);
        }
    }
}

// What the cloud's splats cover by 1/255 or more, in the world.
static orr_result find_cloud(orr_jobs *jobs, orr_arena *arena, const orr_draw_splats *cloud,
                             orr_caster_span *bounds, orr_error *error)
{
    const int parts = orr_blocks(cloud->pack->blocks, BOUNDS_BLOCKS);
    const bounds_job job = {cloud, orr_arena_take(arena, (size_t)parts, sizeof *job.parts)};
    if (!job.parts) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the bounds of a cloud");
    }
    orr_jobs_for(jobs, parts, find_bounds, (void *)&job);
    *bounds = nothing;
    for (int i = 0; i < parts; i++) {
        for (int k = 0; k < 3; k++) {
            bounds->low[k] = fminf(bounds->low[k], job.parts[i].low[k]);
            bounds->high[k] = fmaxf(bounds->high[k], job.parts[i].high[k]);
        }
    }
    return ORR_OK;
}

orr_result orr_cloud_casters_find(orr_jobs *jobs, orr_arena *arena, const orr_draw_list *list,
                                  orr_cloud_caster casters[ORR_CLOUD_CASTERS], int *count, orr_error *error)
{
    *count = 0;
    if (!orr_has_cloud_shadows(list)) {
        return ORR_OK;
    }
    for (int i = 0; i < list->splat_count && *count < ORR_CLOUD_CASTERS; i++) {
        orr_caster_span bounds;
        orr_cloud_caster *caster = &casters[*count];
        if (!list->splats[i].casts_shadow) {
            continue;
        }
        ORR_TRY(find_cloud(jobs, arena, &list->splats[i], &bounds, error));
        if (!(bounds.low[0] <= bounds.high[0])) {
            continue; // nothing of it is seen
        }
        caster->layer = i;
        orr_shadow_plan_make_around(list, &bounds, ORR_CLOUD_SHADOW_SIZE_MAX, &caster->plan);
        *count += caster->plan.map_count > 0;
    }
    return ORR_OK;
}

int orr_cloud_captured_light(const orr_cloud_caster *casters, int count, const orr_shadow_plan *meshes)
{
    int light = meshes ? orr_shadow_first_light(meshes) : -1;
    for (int i = 0; i < count && light < 0; i++) {
        const int first = orr_shadow_first_light(&casters[i].plan);
        light = light < 0 || (first >= 0 && first < light) ? first : light;
    }
    return light;
}

orr_draw_list orr_cloud_shadow_list(const orr_draw_list *list, const orr_cloud_caster *caster,
                                    orr_draw_splats *cloud, int index)
{
    *cloud = list->splats[caster->layer];
    // a texel says nothing of how large the splat is in the picture: its shadow is that of the splat as it
    // is, not of one widened to a texel
    cloud->antialias = true;
    cloud->detail = NULL; // made for what the picture's pixels are
    return (orr_draw_list){.lens = caster->plan.maps[index].lens, .splats = cloud, .splat_count = 1};
}
