#include "engine/loop/frame_deferred.h"

#include "render/cpu/rays/ray_trees.h"
#include "render/cpu/rays/traced.h"

#include <math.h>

static double milliseconds_since(uint64_t start)
{
    return (double)(orr_clock_nanoseconds() - start) * 1e-6;
}

int orr_frame_host_fields(orr_frame *frame, orr_frame_slot *slot)
{
    const orr_machine *machine = frame->machine;
    int count = slot->list.field_count;
    return machine->divide_fields && count > 0 ? machine->divide_fields(frame->state, slot->fields, count)
                                               : count;
}

bool orr_frame_needs_host(orr_frame *frame, orr_frame_slot *slot)
{
    return frame->machine->on_host || slot->list.rays || orr_frame_host_fields(frame, slot) > 0;
}

bool orr_frame_needs_poses(orr_frame *frame, orr_frame_slot *slot, bool rays)
{
    return (rays && orr_ray_list_asks(&slot->list)) ||
           (slot->list.mirrors && orr_has_mirrors(&slot->list) && orr_frame_host_fields(frame, slot) > 0);
}

// The depth of opaque meshes, from a frame of them alone.
static orr_result read_mesh_depth(orr_frame *frame, const orr_frame_slot *slot, const float **mesh_depth,
                                  orr_error *error)
{
    if (slot->list.mesh_count == 0 || frame->marched.field_count == 0) {
        return ORR_OK;
    }
    size_t pixels = (size_t)slot->list.lens.width * (size_t)slot->list.lens.height;
    float *depth = orr_arena_take(&frame->arena, pixels, sizeof *depth);
    if (!depth) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: meshes on %zu pixels", pixels);
    }
    orr_draw_list meshes = slot->list;
    meshes.splat_count = meshes.field_count = 0;
    meshes.only_solid = true;
    meshes.backdrop.mesh = NULL;
    const orr_machine_target target = {.picture = &(orr_picture){.depth = depth}};
    ORR_TRY(frame->machine->submit(frame->state, &meshes, NULL, false, error));
    ORR_TRY(frame->machine->finish(frame->state, &target, &frame->profile, error));
    for (size_t i = 0; i < pixels; i++) {
        depth[i] = depth[i] > 0.0f ? depth[i] : INFINITY;
    }
    *mesh_depth = depth;
    return ORR_OK;
}

static orr_result draw_traced(orr_frame *frame, const orr_draw_list *list, orr_traced *traced,
                              orr_error *error)
{
    const orr_engine *engine = frame->engine;
    return orr_traced_draw(engine->jobs, engine->isa, &frame->arena, list, traced, error);
}

// What a mirror shows of fields that the host marches, and of surfaces that start rays.
static orr_result draw_mirror(orr_frame *frame, const orr_frame_slot *slot, const orr_mirror *mirror,
                              orr_host_view *view, orr_error *error)
{
    orr_draw_list *seen = orr_arena_take(&frame->arena, 1, sizeof *seen);
    orr_field_pass *pass = orr_arena_take(&frame->arena, 1, sizeof *pass);
    orr_traced traced;
    bool done;
    if (!seen || !pass) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a mirror");
    }
    *seen = orr_mirror_list(mirror, &slot->list);
    ORR_TRY(draw_traced(frame, seen, &traced, error));
    view->traced = traced.rgba;
    seen->field_count = frame->marched.field_count;
    if (seen->field_count > 0) {
        ORR_TRY(
            orr_field_pass_begin(pass, frame->engine->jobs, &frame->arena, seen, traced.mesh_depth, error));
        ORR_TRY(orr_field_pass_advance(pass, INFINITY, &done, error));
        view->fields = pass;
    }
    return ORR_OK;
}

static orr_result draw_mirrors(orr_frame *frame, const orr_frame_slot *slot, orr_error *error)
{
    orr_mirror mirrors[ORR_MIRRORS];
    const bool any = slot->list.rays || frame->marched.field_count > 0;
    const int count = any ? orr_mirrors_find(&slot->list, mirrors) : 0;
    const uint64_t start = orr_clock_nanoseconds();
    for (int i = 0; i < count; i++) {
        ORR_TRY(draw_mirror(frame, slot, &mirrors[i], &frame->layers.mirrors[i], error));
    }
    if (count > 0) {
        orr_profile_add(&frame->profile, "mirrors", milliseconds_since(start), count);
        orr_trace_host(frame->trace, "mirrors", start);
    }
    return ORR_OK;
}

// What the host draws for a device, but for the fields of the picture.
static orr_result begin_for_device(orr_frame *frame, const orr_frame_slot *slot, const float **mesh_depth,
                                   orr_error *error)
{
    ORR_TRY(draw_mirrors(frame, slot, error));
    if (!slot->list.rays) {
        return read_mesh_depth(frame, slot, mesh_depth, error);
    }
    orr_traced traced;
    const uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(draw_traced(frame, &slot->list, &traced, error));
    frame->layers.picture.traced = traced.rgba;
    *mesh_depth = traced.mesh_depth;
    orr_profile_add(&frame->profile, "rays", milliseconds_since(start),
                    (int64_t)slot->list.lens.width * slot->list.lens.height);
    orr_trace_host(frame->trace, "rays", start);
    return ORR_OK;
}

static orr_result begin(orr_frame *frame, orr_frame_slot *slot, orr_error *error)
{
    const orr_machine *machine = frame->machine;
    const float *mesh_depth = NULL;
    orr_arena_reset(&frame->arena);
    orr_profile_reset(&frame->profile);
    frame->profile.trace = frame->trace;
    frame->marched = slot->list;
    frame->marched.field_count = orr_frame_host_fields(frame, slot);
    frame->layers = (orr_host_layers){0};
    ORR_TRY(machine->begin ? machine->begin(frame->state, &slot->list, &frame->arena, &frame->profile,
                                            &mesh_depth, error)
                           : begin_for_device(frame, slot, &mesh_depth, error));
    ORR_TRY(orr_field_pass_begin(&frame->fields, frame->engine->jobs, &frame->arena, &frame->marched,
                                 mesh_depth, error));
    frame->begun = true;
    return ORR_OK;
}

orr_result orr_frame_deferred_advance(orr_frame *frame, orr_frame_slot *slot, double milliseconds,
                                      bool *ready, orr_error *error)
{
    if (!frame->begun) {
        ORR_TRY(begin(frame, slot, error));
    }
    uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(orr_field_pass_advance(&frame->fields, milliseconds, ready, error));
    if (frame->marched.field_count > 0) {
        orr_trace_host(frame->trace, "fields", start);
    }
    return ORR_OK;
}

orr_result orr_frame_deferred_submit(orr_frame *frame, orr_frame_slot *slot, orr_error *error)
{
    bool ready;
    ORR_TRY(orr_frame_deferred_advance(frame, slot, INFINITY, &ready, error));
    int marched = frame->marched.field_count;
    orr_draw_list rest = slot->list;
    if (marched > 0) {
        rest.fields += marched;
        rest.field_count -= marched;
        frame->layers.picture.fields = &frame->fields;
        orr_profile_add(&frame->profile, "fields", frame->fields.milliseconds,
                        marched * (int64_t)slot->list.lens.width * slot->list.lens.height);
    }
    slot->to_image = orr_frame_ends_in_image(frame, slot);
    return frame->machine->submit(frame->state, &rest, &frame->layers, slot->to_image, error);
}
