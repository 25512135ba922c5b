// The CPU's frame: meshes, then splats stage by stage, composed tile by tile.
#include "engine/core/memory.h"
#include "render/cpu/kept/kept_view.h"
#include "render/cpu/mesh_raster.h"
#include "render/cpu/splats_cpu.h"
#include "render/field_light/field_light.h"
#include "render/shadow/self_shadow.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define KERNELS(isa)                                                                                         \
    {                                                                                                        \
        orr_splat_cut_##isa, orr_splat_project_##isa, orr_splat_blend_##isa, orr_picture_rgb_##isa           \
    }
static const orr_splat_kernels kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(KERNELS);

const orr_splat_kernels *orr_splat_kernels_of(orr_isa isa)
{
    return &kernels[isa];
}

// The data of one frame between its stages, all in the arena.
struct orr_cpu_frame {
    orr_jobs *jobs;
    orr_arena *arena;
    orr_isa isa;
    const orr_splat_kernels *kernels;
    const orr_draw_list *list;
    const orr_kept_view *kept;                  // NULL: the splats are found in this frame
    const orr_kept_meshes_picture *kept_meshes; // NULL: all are drawn

    orr_cpu_splats splats;
    const orr_picture *picture;
    const orr_seen *seen;                  // nullable
    const float *mesh_depth, *mesh_colour; // NULL: no meshes
    orr_fragment_lists fragments;          // of transparent meshes
    orr_edge_list edges;                   // of opaque ones
    orr_shadow_maps shadows;
    orr_cloud_shadows clouds;
    orr_shadow_eye eye;
    orr_shadow_values self; // of the light of the capture in the list's self_shadow
    orr_occlusion_map occlusion;
    orr_mirror_pictures mirrors;
    orr_draw_lighting lighting;              // where an environment is behind everything
    const float *field_depth, *field_colour; // NULL: no fields
    atomic_llong evaluated;
};

static void blend_tile(void *context, int i, int worker)
{
    (void)worker;
    orr_cpu_frame *f = context;
    const orr_splat_bins *bins = f->splats.bins;
    const uint32_t start = bins->starts[i];
    const orr_blend_job job = {
        .records = f->splats.records,
        .tile_splats = bins->tile_splats + start,
        .splat_count = bins->starts[i + 1] - start,
        .tile_x = i % bins->tiles_x,
        .tile_y = i / bins->tiles_x,
        .width = f->list->lens.width,
        .height = f->list->lens.height,
        .mesh_depth = f->mesh_depth,
        .mesh_colour = f->mesh_colour,
        .fragments = f->fragments,
        .edges = f->edges,
        .backdrop = f->list->backdrop.mesh != NULL,
        .field_depth = f->field_depth,
        .field_colour = f->field_colour,
        .shadows = &f->shadows,
        .clouds = &f->clouds,
        .self_depths = f->self.size > 0.0f ? f->list->self_shadow->depths : NULL,
        .self = f->self,
        .eye = f->eye,
        .occlusion = &f->occlusion,
        .opaque = f->list->opaque,
        .sky = orr_sky_as_seen(&f->list->sky, &f->list->lens),
        .behind = f->list->environment_behind ? &f->list->environments[0] : NULL,
        .lighting = &f->lighting,
        .rgba = f->picture->rgba,
        .depth = f->picture->depth,
        .items = f->seen ? f->seen->items : NULL,
        .kept = f->kept ? orr_kept_view_tile(f->kept, i) : NULL,
    };
    atomic_fetch_add_explicit(&f->evaluated, f->kernels->blend(&job), memory_order_relaxed);
}

static orr_result draw_meshes(orr_cpu_frame *f, int64_t *triangles, orr_error *error)
{
    const orr_seen seen = f->seen ? *f->seen : (orr_seen){0};
    *triangles = 0;
    for (int i = 0; seen.items && i < f->list->lens.width * f->list->lens.height; i++) {
        seen.items[i] = -1;
    }
    size_t pixels = (size_t)f->list->lens.width * (size_t)f->list->lens.height;
    if (f->list->mesh_count == 0 && !f->list->backdrop.mesh) {
        if (seen.normals) {
            memset(seen.normals, 0, pixels * 3 * sizeof *seen.normals);
        }
        if (seen.flow) {
            memset(seen.flow, 0, pixels * 2 * sizeof *seen.flow);
        }
        return ORR_OK;
    }
    orr_mesh_picture planes = {.depth = orr_arena_take(f->arena, pixels, sizeof(float)),
                               .rgb = orr_arena_take(f->arena, pixels, 3 * sizeof(float)),
                               .item = seen.items,
                               .normals = seen.normals,
                               .flow = seen.flow,
                               .before = seen.before,
                               .occlusion = &f->occlusion,
                               .clouds = &f->clouds,
                               .mirrors = &f->mirrors,
                               .kept = seen.items ? NULL : f->kept_meshes,
                               .edges = f->list->smooth ? &f->edges : NULL};
    if (!planes.depth || !planes.rgb) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: meshes on %zu pixels", pixels);
    }
    orr_mesh_counts counts;
    ORR_TRY(orr_occlusion_map_draw(f->jobs, f->isa, f->arena, f->list, &f->occlusion, error));
    ORR_TRY(orr_mesh_raster(f->jobs, f->isa, f->arena, f->list, &f->shadows, planes, &f->fragments, &counts,
                            error));
    f->mesh_depth = planes.depth;
    f->mesh_colour = planes.rgb;
    *triangles = counts.triangles;
    return ORR_OK;
}

static orr_result draw_shadows(orr_cpu_frame *f, orr_profile *profile, orr_error *error)
{
    const orr_draw_list *list = f->list;
    f->eye = orr_shadow_eye_of(&list->lens, list->umbra, orr_draw_captured_by_lamp(list));
    f->self = orr_self_shadow_values(orr_self_shadow_of_capture(list->self_shadow), list->lens.view);
    if (list->mesh_count > 0 || list->backdrop.mesh) {
        ORR_TRY(orr_shadow_maps_draw(f->jobs, f->isa, f->arena, list, &f->shadows, error));
    }
    ORR_TRY(orr_cloud_shadows_draw(f->jobs, f->isa, f->arena, list, &f->shadows.plan, &f->clouds, error));
    if (f->clouds.count > 0) {
        orr_profile_end(profile, "cloud shadows", f->clouds.count);
    }
    return ORR_OK;
}

static void blend(orr_cpu_frame *f)
{
    orr_jobs_for(f->jobs, f->splats.bins->tiles_x * f->splats.bins->tiles_y, blend_tile, f);
}

orr_result orr_draw_cpu_begin(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                              const orr_kept_view *kept, const orr_seen *seen, orr_profile *profile,
                              orr_cpu_frame **frame, orr_error *error)
{
    profile->stage_start = orr_clock_nanoseconds();
    orr_cpu_frame *f = orr_arena_take(arena, 1, sizeof *f);
    if (!f) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a frame");
    }
    memset(f, 0, sizeof *f);
    f->jobs = jobs;
    f->arena = arena;
    f->isa = isa;
    f->kernels = orr_splat_kernels_of(isa);
    f->list = list;
    f->kept = kept && orr_kept_view_has_splats(kept, list) ? kept : NULL;
    f->kept_meshes = orr_kept_view_meshes(kept, list);
    f->seen = seen;
    int64_t triangles;
    ORR_TRY(orr_mirror_pictures_draw(jobs, isa, arena, list, kept, &f->mirrors, error));
    if (f->mirrors.count > 0) {
        orr_profile_end(profile, "mirrors", f->mirrors.count);
    }
    ORR_TRY(draw_shadows(f, profile, error));
    ORR_TRY(draw_meshes(f, &triangles, error));
    orr_profile_end(profile, "meshes", triangles);
    *frame = f;
    return ORR_OK;
}

const float *orr_draw_cpu_mesh_depth(const orr_cpu_frame *f)
{
    return f->mesh_depth;
}

void orr_draw_cpu_meshes(const orr_cpu_frame *f, const float **colour, orr_edge_list *edges)
{
    *colour = f->mesh_colour;
    *edges = f->edges;
}

orr_cpu_splats orr_draw_cpu_splats(const orr_cpu_frame *f)
{
    orr_cpu_splats splats = f->splats;
    splats.evaluated = atomic_load(&f->evaluated);
    return splats;
}

orr_result orr_draw_cpu_end(orr_cpu_frame *f, orr_field_pass *fields, const orr_picture *picture,
                            orr_profile *profile, orr_error *error)
{
    f->picture = picture;
    if (f->list->field_count > 0) {
        const orr_field_light_maps maps = {&f->shadows, &f->clouds};
        ORR_TRY(orr_field_light(fields, f->isa, &maps, error));
        f->field_depth = fields->depth;
        f->field_colour = fields->colour;
    }
    profile->stage_start = orr_clock_nanoseconds();
    if (f->kept) {
        f->splats = *orr_kept_view_splats(f->kept);
        orr_profile_end(profile, "project", 0);
        orr_profile_end(profile, "sort", 0);
        orr_profile_end(profile, "bin", 0);
    } else {
        ORR_TRY(orr_splats_find(f->jobs, f->kernels, f->arena, f->list, profile, &f->splats, error));
    }
    if (f->list->environment_behind) {
        orr_draw_light_up(f->list, &f->lighting);
    }
    blend(f);
    if (f->seen && f->seen->normals && f->list->splat_count > 0) {
        orr_cloud_normals(&f->list->lens, picture->depth, f->seen);
    }
    if (f->seen && f->seen->flow && f->list->splat_count > 0) {
        orr_cloud_flow(f->list, picture->depth, f->seen);
    }
    orr_profile_end(profile, "blend", atomic_load(&f->evaluated));
    return ORR_OK;
}

orr_result orr_draw_cpu(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                        const orr_kept_view *kept, const orr_picture *picture, const orr_seen *seen,
                        orr_profile *profile, orr_error *error)
{
    orr_cpu_frame *frame;
    orr_field_pass fields;
    bool done;
    orr_profile_reset(profile);
    ORR_TRY(orr_draw_cpu_begin(jobs, isa, arena, list, kept, seen, profile, &frame, error));
    ORR_TRY(orr_field_pass_begin(&fields, jobs, arena, list, frame->mesh_depth, error));
    ORR_TRY(orr_field_pass_advance(&fields, INFINITY, &done, error));
    orr_profile_add(profile, "fields", fields.milliseconds,
                    list->field_count * (int64_t)list->lens.width * list->lens.height);
    return orr_draw_cpu_end(frame, &fields, picture, profile, error);
}
