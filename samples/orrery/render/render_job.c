// Draws the pictures of orrery render: two frames in flight, or path-traced, sample by sample.
#include "samples/orrery/render/render_job.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "samples/orrery/interrupt.h"
#include "samples/orrery/progress.h"
#include "samples/orrery/render/render_reference.h"

#include <unistd.h>

enum { FRAMES_IN_FLIGHT = 2 };

// Tried before anything is drawn.
static orr_result open_output(const orr_output_desc *desc, orr_output **output, orr_error *error)
{
    ORR_TRY(orr_output_create(desc, output, error));
    char *first;
    ORR_TRY(orr_output_name(*output, 0, &first, error));
    orr_result result = orr_file_try(first, error);
    orr_free(first);
    return result;
}

static orr_result open_surfaces(render_job *job, orr_error *error)
{
    const render_request *request = job->request;
    orr_output_desc desc = {.path = request->normals_path, .channels = 3, .count = job->cameras.count};
    if (desc.path) {
        ORR_TRY(open_output(&desc, &job->surfaces.normals, error));
    }
    desc.path = request->segmentation_path;
    desc.channels = 2;
    if (desc.path) {
        ORR_TRY(open_output(&desc, &job->surfaces.segmentation, error));
    }
    desc.path = request->flow_path;
    if (desc.path && desc.count < 2) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "render: --flow: expected several pictures (--frames, --orbit, --cameras)");
    }
    return desc.path ? open_output(&desc, &job->surfaces.flow, error) : ORR_OK;
}

static orr_result open_outputs(render_job *job, orr_error *error)
{
    const render_request *request = job->request;
    orr_output_desc desc = {.path = request->path,
                            .channels = 4,
                            .count = job->cameras.count,
                            .transparent = request->transparent,
                            .frames_per_second = request->frames_per_second};
    ORR_TRY(open_output(&desc, &job->colour, error));
    if (request->depth_path) {
        desc = (orr_output_desc){.path = request->depth_path, .channels = 1, .count = job->cameras.count};
        ORR_TRY(open_output(&desc, &job->depth, error));
    }
    return open_surfaces(job, error);
}

static bool is_there(const orr_output *output, int64_t index)
{
    char *name;
    if (orr_output_name(output, index, &name, NULL) != ORR_OK) {
        return false;
    }
    const bool there = access(name, F_OK) == 0;
    orr_free(name);
    return there;
}

// A file that is there is whole (engine/core/file.h).
static orr_result list_wanted(render_job *job, orr_error *error)
{
    const orr_output *const outputs[] = {job->colour, job->depth, job->surfaces.normals,
                                         job->surfaces.segmentation};
    ORR_ALLOC(job->wanted, job->cameras.count, "the pictures to draw", error);
    for (int64_t i = 0; i < job->cameras.count; i++) {
        bool there = job->request->continues;
        for (int k = 0; k < 4 && there; k++) {
            there = !outputs[k] || is_there(outputs[k], i);
        }
        if (!there) {
            job->wanted[job->wanted_count++] = i;
        }
    }
    return ORR_OK;
}

static orr_result open_queue(render_job *job, orr_error *error)
{
    int64_t pixels = 0;
    for (int i = 0; i < job->cameras.key_count; i++) {
        int64_t key_pixels = (int64_t)job->cameras.keys[i].width * job->cameras.keys[i].height;
        pixels = key_pixels > pixels ? key_pixels : pixels;
    }
    return picture_queue_create(job->colour, job->depth, pixels, orr_engine_threads(job->engine), &job->queue,
                                error);
}

orr_result render_open(render_job *job, orr_error *error)
{
    const render_request *request = job->request;
    ORR_TRY(camera_sequence_open(&request->cameras, &job->cameras, error));
    interrupt_begin(); // from here on there may be a file to remove
    ORR_TRY(open_outputs(job, error));
    ORR_TRY(list_wanted(job, error));
    ORR_TRY(command_engine(&request->common, &job->engine, error));
    ORR_TRY(orr_scene_load(job->engine, request->scene, &job->scene, error));
    ORR_TRY(look_options_apply(&request->look, job->scene, error));
    ORR_TRY(orr_world_create(job->scene, 1, &job->world, error));
    ORR_TRY(orr_world_set_device(job->world, request->look.physics, error));
    ORR_TRY(robot_drive_open(&request->look.controls, job->scene, request->scene, request->common.seed,
                             &job->drive, error));
    ORR_TRY(camera_sequence_attach(&job->cameras, job->world, request->scene, error));
    orr_frame_desc desc = {.frames_in_flight = FRAMES_IN_FLIGHT};
    ORR_TRY(orr_frame_create(job->engine, &desc, &job->frame, error));
    return open_queue(job, error);
}

void render_close(render_job *job)
{
    picture_queue_destroy(job->queue); // before the outputs it writes to
    orr_frame_destroy(job->frame);
    surface_pictures_close(&job->surfaces);
    robot_drive_close(&job->drive);
    orr_world_destroy(job->world);
    orr_scene_destroy(job->scene);
    orr_engine_destroy(job->engine);
    orr_output_destroy(job->colour);
    orr_output_destroy(job->depth);
    orr_free(job->wanted);
    camera_sequence_close(&job->cameras);
}

static orr_view view_of(const render_job *job, int64_t index)
{
    const orr_camera camera = camera_sequence_at(&job->cameras, index);
    orr_view view = look_options_view(&job->request->look, &camera);
    view.contact_points = view.contact_forces = job->request->contacts;
    return view;
}

// Moves time on to the picture's.
static orr_result pass_time(render_job *job, int64_t index, orr_error *error)
{
    const render_request *request = job->request;
    if (request->cameras.frames) {
        double seconds = (double)index / request->frames_per_second;
        ORR_TRY(robot_drive_advance(&job->drive, job->world, seconds, error));
        ORR_TRY(camera_sequence_follow(&job->cameras, job->world, error));
    }
    return ORR_OK;
}

static orr_result submit(render_job *job, int64_t index, orr_error *error)
{
    ORR_TRY(pass_time(job, index, error));
    orr_view view = view_of(job, index);
    ORR_TRY(surface_pictures_put(&job->surfaces, job->world, &view, index, error));
    return orr_frame_submit(job->frame, job->scene, job->world, &view, error);
}

// completes the oldest frame in flight and sends it to be written
static orr_result finish(render_job *job, int64_t index, orr_error *error)
{
    queued_picture *picture = picture_queue_take(job->queue);
    if (!picture) {
        return picture_queue_finish(job->queue, error);
    }
    orr_camera camera = camera_sequence_at(&job->cameras, index);
    picture->width = camera.width;
    picture->height = camera.height;
    picture->index = index;
    ORR_TRY(orr_frame_finish(job->frame, &(orr_picture){picture->rgba, picture->depth}, error));
    picture_queue_put(job->queue, picture);
    return ORR_OK;
}

// A traced picture has as many samples as there was time for.
static orr_result stop_traced(render_job *job, orr_error *error)
{
    ORR_TRY(picture_queue_finish(job->queue, error));
    ORR_TRY(orr_output_finish(job->colour, error));
    return orr_fail(error, ORR_CODE_INTERRUPTED, "interrupted: %s has %lld of %d samples per pixel",
                    job->request->path, (long long)job->traced.samples, job->request->reference);
}

// Pictures that are drawn are still written. A video becomes a whole file only where that was asked for.
static orr_result stop_interrupted(render_job *job, orr_error *error)
{
    ORR_TRY(picture_queue_finish(job->queue, error));
    const long long count = (long long)job->cameras.count;
    const long long written = (long long)picture_queue_written(job->queue) + count - job->wanted_count;
    bool video = orr_output_in_order(job->colour);
    if (video && !job->request->keep_partial) {
        return orr_fail(error, ORR_CODE_INTERRUPTED, "interrupted: %s was not written", job->request->path);
    }
    ORR_TRY(orr_output_finish(job->colour, error));
    return orr_fail(error, ORR_CODE_INTERRUPTED, "interrupted: %lld of %lld pictures were written%s%s",
                    written, count, video ? " to " : "", video ? job->request->path : "");
}

static orr_result trace(render_job *job, int64_t index, orr_error *error)
{
    const render_request *request = job->request;
    queued_picture *picture = picture_queue_take(job->queue);
    if (!picture) {
        return picture_queue_finish(job->queue, error);
    }
    ORR_TRY(pass_time(job, index, error));
    orr_view view = view_of(job, index);
    ORR_TRY(surface_pictures_put(&job->surfaces, job->world, &view, index, error));
    picture->width = view.camera.width;
    picture->height = view.camera.height;
    picture->index = index;
    const reference_request reference = {.samples = request->reference,
                                         .seed = (uint32_t)request->common.seed,
                                         .linear = orr_path_has_ending(request->path, ".exr") ||
                                                   orr_path_has_ending(request->path, ".npy"),
                                         .progress = job->cameras.count == 1};
    ORR_TRY(render_reference(job->scene, job->world, &view, &reference,
                             &(orr_picture){picture->rgba, picture->depth}, &job->traced, error));
    if (job->cameras.count == 1 || job->traced.samples >= request->reference) { // of a series all are alike
        picture_queue_put(job->queue, picture);
    }
    return ORR_OK;
}

// number: of the wanted pictures
static orr_result draw_next(render_job *job, int64_t *submitted, int64_t number, orr_error *error)
{
    if (job->request->reference) {
        return trace(job, job->wanted[number], error);
    }
    while (*submitted < job->wanted_count && *submitted - number < FRAMES_IN_FLIGHT) {
        ORR_TRY(submit(job, job->wanted[(*submitted)++], error));
    }
    return finish(job, job->wanted[number], error);
}

static orr_result draw_all(render_job *job, progress *shown, orr_error *error)
{
    const int64_t count = job->wanted_count;
    int64_t submitted = 0;
    bool is_short = false; // of samples, the last one
    for (int64_t finished = 0; finished < count; finished++) {
        ORR_TRY(draw_next(job, &submitted, finished, error));
        progress_show(shown, picture_queue_written(job->queue));
        is_short = job->traced.samples < job->request->reference;
        if (interrupt_requested() && (finished + 1 < count || (is_short && job->cameras.count > 1))) {
            return stop_interrupted(job, error);
        }
    }
    if (is_short) {
        return stop_traced(job, error);
    }
    ORR_TRY(picture_queue_finish(job->queue, error));
    ORR_TRY(orr_output_finish(job->colour, error));
    return job->depth ? orr_output_finish(job->depth, error) : ORR_OK;
}

orr_result render_draw(render_job *job, orr_error *error)
{
    progress shown;
    progress_begin(&shown, "frames", job->wanted_count);
    orr_result result = draw_all(job, &shown, error);
    job->seconds = progress_seconds(&shown);
    progress_end(&shown);
    return result;
}
