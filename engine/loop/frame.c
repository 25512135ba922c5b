// A frame, as a table of contents: pose -> draw -> hand over -> out. Input and steps are the caller's
// (orr_world_step). orr_frame_submit and orr_frame_finish of engine/orrery.h call the _sized functions here.
//
// A machine draws a frame from submit on, several in flight, unless the frame is deferred (frame_deferred.h).
// When it fails, the ladder (ladder.h) says whether the frame is drawn again, and on which machine.
#include "engine/core/entry.h"
#include "engine/core/sized.h"
#include "engine/loop/frame_deferred.h"
#include "engine/loop/frame_uploads.h"
#include "engine/loop/ladder.h"
#include "engine/loop/light/frame_relight.h"
#include "render/cpu/rays/ray_trees.h"

#include <math.h>

orr_result orr_frame_check(const orr_frame *frame, orr_error *error)
{
    ORR_REQUIRE(frame, error);
    return orr_engine_check(frame->engine, error);
}

static orr_result pass_on(orr_result result, const orr_error *from, orr_error *to)
{
    if (result != ORR_OK && to) {
        *to = *from;
    }
    return result;
}

// ---- submit: pose, and what the machine draws alone ----

// What is submitted, and for whom.
typedef struct submission {
    const orr_scene *scene;
    const orr_world *world;
    const orr_view *view;
    bool for_window;
    const orr_frame_for_eyes *eyes; // nullable
} submission;

// Probes and rays are not drawn for eyes, which change their light before what is captured is asked for its
// shadows (orr_eyes_light).
static orr_result add_surroundings(orr_frame *frame, orr_frame_slot *slot, const submission *s,
                                   orr_error *error)
{
    ORR_TRY(orr_frame_self_shadow_update(&frame->self_shadow, slot, s->scene, s->for_window, error));
    ORR_TRY(orr_frame_probes_update(&frame->probes, slot, s->scene, s->world, s->view, error));
    if (s->scene->rays && !frame->rays) {
        ORR_TRY(orr_ray_trees_create(&frame->rays, error));
    }
    const bool asked = s->scene->rays && (frame->machine->on_host || orr_ray_list_asks(&slot->list));
    slot->list.rays = asked ? frame->rays : NULL;
    return ORR_OK;
}

static orr_result pose_layers(orr_frame *frame, orr_frame_slot *slot, const submission *s, orr_error *error)
{
    const bool device_bodies = frame->machine->reads_device_bodies && !(s->eyes && s->eyes->host_poses);
    ORR_TRY(orr_frame_pose(slot, s->scene, s->world, s->view, device_bodies, error));
    return !s->eyes && orr_frame_slot_is_on_device(slot) && orr_frame_needs_poses(frame, slot, s->scene->rays)
               ? orr_frame_pose(slot, s->scene, s->world, s->view, false, error)
               : ORR_OK;
}

static orr_result pose(orr_frame *frame, orr_frame_slot *slot, const submission *s, orr_error *error)
{
    uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(pose_layers(frame, slot, s, error));
    orr_frame_fit_lens(&slot->list, frame->machine->on_host && !s->eyes);
    // eyes know clouds by their keys, and may have other packs of them
    ORR_TRY(s->eyes ? s->eyes->change(s->eyes->context, slot, error) : ORR_OK);
    ORR_TRY(orr_frame_relight(slot, s->scene, error));
    ORR_TRY(s->eyes ? ORR_OK : add_surroundings(frame, slot, s, error));
    slot->traced_as = frame->trace ? frame->trace->frame : 0;
    orr_trace_host(frame->trace, "pose", start);
    return ORR_OK;
}

// The slot is the newest that waits.
static orr_result start_drawing(orr_frame *frame, orr_frame_slot *slot, orr_error *error)
{
    orr_error why = {0};
    slot->to_image = orr_frame_ends_in_image(frame, slot);
    orr_result result = frame->machine->submit(frame->state, &slot->list, NULL, slot->to_image, &why);
    if (result == ORR_OK || orr_ladder_draw_again(frame, slot, &why)) {
        return ORR_OK;
    }
    frame->waiting--;
    return pass_on(result, &why, error);
}

static orr_result check_drawn(const orr_frame *frame, const orr_scene *scene, const orr_world *world,
                              orr_error *error)
{
    ORR_TRY(orr_frame_check(frame, error));
    ORR_TRY(orr_scene_check(scene, error));
    ORR_TRY(orr_world_check(world, error));
    if (scene->context.engine != frame->engine) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "the scene is of another engine than the frame");
    }
    return world->scene == scene ? ORR_OK
                                 : orr_fail(error, ORR_CODE_ARGUMENT, "the world is of another scene");
}

static orr_result submit(orr_frame *frame, const submission *s, orr_error *error)
{
    ORR_TRY(check_drawn(frame, s->scene, s->world, error));
    if (frame->waiting == frame->slot_count) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "%d frames in flight: finish one, or raise frames_in_flight", frame->waiting);
    }
    orr_frame_slot *slot = orr_frame_slot_at(frame, frame->waiting);
    frame->has_picture = false;
    ORR_TRY(orr_ladder_open(frame, error));
    ORR_TRY(pose(frame, slot, s, error));
    ORR_TRY(orr_frame_release_removed(frame, slot, s->scene, error));
    slot->lost = false;
    slot->for_window = s->for_window;
    slot->deferred = (frame->waiting > 0 && orr_frame_slot_at(frame, frame->waiting - 1)->deferred) ||
                     orr_frame_needs_host(frame, slot);
    frame->waiting++;
    return slot->deferred ? ORR_OK : start_drawing(frame, slot, error);
}

orr_result orr_frame_submit_sized(orr_frame *frame, const orr_scene *scene, const orr_world *world,
                                  const orr_view *view, size_t view_size, orr_error *error)
{
    ORR_ENTER;
    orr_view own;
    ORR_TRY(orr_sized_read(&own, sizeof own, view, view_size, "orr_view", error));
    return submit(frame, &(submission){.scene = scene, .world = world, .view = &own}, error);
}

orr_result orr_frame_submit_for_window(orr_frame *frame, const orr_scene *scene, const orr_world *world,
                                       const orr_view *view, orr_error *error)
{
    return submit(frame, &(submission){scene, world, view, .for_window = true}, error);
}

orr_result orr_frame_submit_for_eyes(orr_frame *frame, const orr_world *world, const orr_view *view,
                                     const orr_frame_for_eyes *eyes, orr_error *error)
{
    return submit(frame, &(submission){world->scene, world, view, .eyes = eyes}, error);
}

// ---- the oldest frame: draw, hand over, out ----

static orr_result find_oldest(orr_frame *frame, orr_frame_slot **slot, orr_error *error)
{
    frame->has_picture = false; // a deferred frame draws more than once
    *slot = &frame->slots[frame->oldest];
    if (frame->trace) {
        frame->trace->frame = (*slot)->traced_as;
    }
    return frame->waiting > 0 ? ORR_OK : orr_fail(error, ORR_CODE_ARGUMENT, "no frame was submitted");
}

static void drop_oldest(orr_frame *frame)
{
    frame->oldest = (frame->oldest + 1) % frame->slot_count;
    frame->waiting--;
    frame->begun = false;
}

orr_result orr_frame_advance(orr_frame *frame, double milliseconds, bool *ready, orr_error *error)
{
    ORR_ENTER;
    orr_frame_slot *slot;
    ORR_TRY(orr_frame_check(frame, error));
    ORR_REQUIRE(ready, error);
    if (isnan(milliseconds)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "a frame advanced by %g ms: expected a number",
                        milliseconds);
    }
    ORR_TRY(find_oldest(frame, &slot, error));
    *ready = true;
    if (!slot->deferred || slot->lost) {
        return ORR_OK;
    }
    orr_error why = {0};
    orr_result result = orr_ladder_open(frame, &why);
    if (result == ORR_OK) {
        result = orr_frame_deferred_advance(frame, slot, milliseconds, ready, &why);
    }
    if (result == ORR_OK) {
        return ORR_OK;
    }
    if (orr_ladder_draw_again(frame, slot, &why)) {
        *ready = false;
        return ORR_OK;
    }
    drop_oldest(frame);
    return pass_on(result, &why, error);
}

static orr_result draw(orr_frame *frame, orr_frame_slot *slot, const orr_picture *picture,
                       struct orr_vulkan_image *image, orr_error *error)
{
    if (slot->deferred) {
        ORR_TRY(orr_ladder_open(frame, error));
        ORR_TRY(orr_frame_deferred_submit(frame, slot, error));
    } else {
        orr_profile_reset(&frame->profile);
        frame->profile.trace = frame->trace;
    }
    const orr_machine_target target = {.to_image = slot->to_image, .picture = picture, .image = image};
    return frame->machine->finish(frame->state, &target, &frame->profile, error);
}

static orr_result hand_over(orr_frame *frame, const orr_frame_slot *slot, struct orr_vulkan_image *image,
                            orr_error *error)
{
    uint64_t start = orr_clock_nanoseconds();
    orr_result result =
        frame->machine->hand_over(frame->state, &slot->list.lens, image, &frame->profile, error);
    orr_trace_host(frame->trace, "hand over", start);
    return result;
}

// One attempt; *again: the ladder has found another after a failure.
static orr_result complete(orr_frame *frame, orr_frame_slot *slot, const orr_picture *picture,
                           struct orr_vulkan_image *image, bool *again, orr_error *error)
{
    orr_result result = draw(frame, slot, picture, image, error);
    if (result != ORR_OK) {
        *again = orr_ladder_draw_again(frame, slot, error);
        return result;
    }
    if (slot->to_image && frame->machine->hand_over) {
        result = hand_over(frame, slot, image, error);
        *again = result != ORR_OK && orr_ladder_hand_over_again(frame, slot, error);
    }
    return result;
}

orr_result orr_frame_finish_for_window(orr_frame *frame, const orr_picture *picture,
                                       struct orr_vulkan_image *image, orr_error *error)
{
    orr_frame_slot *slot;
    orr_error why = {0};
    orr_result result;
    bool again;
    ORR_TRY(find_oldest(frame, &slot, error));
    if (slot->for_window) {
        frame->location = ORR_PICTURE_NOWHERE;
    }
    do {
        again = false;
        result = slot->lost ? orr_fail(&why, ORR_CODE_DEVICE_LOST, "a frame was lost with its device")
                            : complete(frame, slot, picture, image, &again, &why);
    } while (again);
    if (result == ORR_OK) {
        frame->renewed = false;
        frame->has_picture = true;
        if (slot->for_window) {
            frame->location = slot->to_image ? ORR_PICTURE_ON_DEVICE : ORR_PICTURE_IN_MEMORY;
        }
    }
    drop_oldest(frame);
    return pass_on(result, &why, error);
}

orr_result orr_frame_finish_sized(orr_frame *frame, const orr_picture *picture, size_t picture_size,
                                  orr_error *error)
{
    ORR_ENTER;
    orr_picture own;
    ORR_TRY(orr_frame_check(frame, error));
    ORR_TRY(orr_sized_read(&own, sizeof own, picture, picture_size, "orr_picture", error));
    return orr_frame_finish_for_window(frame, picture ? &own : NULL, NULL, error);
}

void orr_frame_discard(orr_frame *frame)
{
    ORR_ENTER;
    if (orr_frame_check(frame, NULL) != ORR_OK) {
        return;
    }
    frame->has_picture = false;
    while (frame->waiting > 0) {
        const orr_frame_slot *slot = orr_frame_slot_at(frame, 0);
        if (!slot->deferred) {
            frame->machine->finish(frame->state, &(orr_machine_target){.to_image = slot->to_image}, NULL,
                                   NULL);
        }
        drop_oldest(frame);
    }
}
