#include "engine/loop/eyes/cuda.h"

#include "engine/core/memory.h"
#include "engine/loop/devices.h"
#include "engine/loop/eyes/detail.h"
#include "engine/loop/eyes/names.h"
#include "engine/loop/eyes/state.h"
#include "render/cuda/batch.h"

enum { IN_FLIGHT = 4 }; // at most

// A picture in flight.
typedef struct flying {
    const orr_eyes_cuda *of;
    int copy, camera;
    const orr_eyes_look *look; // of the copy; nullable
    orr_draw_seen seen;
    orr_eyes_names names;
    orr_past past;
} flying;

struct orr_eyes_cuda {
    const orr_eyes *eyes;
    orr_frame *frame;
    orr_cuda_batch *batch;
    orr_eyes_detail *detail; // NULL: everything is drawn in full
    flying pictures[IN_FLIGHT];
    int in_flight; // that there may be
    int first, waiting;
};

static orr_result open_device(orr_eyes_cuda *c, const orr_eyes_desc *desc, orr_error *error)
{
    const orr_eyes *e = c->eyes;
    const size_t pictures = (size_t)e->world->count * orr_eyes_of_copy(e);
    orr_cuda *cuda;
    c->in_flight = pictures < IN_FLIGHT ? (int)pictures : IN_FLIGHT;
    const orr_frame_desc frame = {.device = ORR_DEVICE_CUDA, .frames_in_flight = c->in_flight};
    ORR_TRY(orr_eyes_detail_create(desc, &c->detail, error));
    ORR_TRY(orr_engine_take_cuda(e->engine, &cuda, error));
    ORR_TRY(orr_cuda_batch_create(cuda, pictures, e->width, e->height, &c->batch, error));
    return orr_frame_create(e->engine, &frame, &c->frame, error);
}

orr_result orr_eyes_cuda_create(const orr_eyes *eyes, const orr_eyes_desc *desc, orr_eyes_cuda **out,
                                orr_error *error)
{
    *out = NULL;
    orr_eyes_cuda *c = orr_alloc_zero(1, sizeof *c);
    if (!c) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: eyes on CUDA");
    }
    c->eyes = eyes;
    const orr_result result = open_device(c, desc, error);
    if (result != ORR_OK) {
        orr_eyes_cuda_destroy(c);
        return result;
    }
    *out = c;
    return ORR_OK;
}

void orr_eyes_cuda_destroy(orr_eyes_cuda *c)
{
    if (!c) {
        return;
    }
    orr_frame_destroy(c->frame);
    orr_cuda_batch_destroy(c->batch);
    orr_eyes_detail_destroy(c->detail);
    for (int i = 0; i < IN_FLIGHT; i++) {
        orr_past_close(&c->pictures[i].past);
        orr_eyes_names_close(&c->pictures[i].names);
    }
    orr_free(c);
}

// ---- what a picture shows ----

// As posed, then as the eyes have it: the counterpart of `pose` in cpu.c.
static orr_result change(void *context, orr_frame_slot *slot, orr_error *error)
{
    flying *p = context;
    const orr_eyes_cuda *c = p->of;
    const orr_eyes *e = c->eyes;
    bool has_past = false;
    if (e->motion) {
        ORR_TRY(orr_eyes_motion_keep(e->motion, e->world, slot, p->copy, p->camera, error));
        ORR_TRY(
            orr_eyes_motion_find(e->motion, e->world, slot, p->copy, p->camera, &p->past, &has_past, error));
    }
    ORR_TRY(orr_eyes_light(e, p->look, slot, error));
    ORR_TRY(c->detail ? orr_eyes_detail_apply(c->detail, e->engine->jobs, e->world->scene, slot, error)
                      : ORR_OK);
    p->seen = (orr_draw_seen){.before = has_past ? &p->past.before : NULL};
    if (!orr_cuda_batch_places(c->batch, orr_eyes_number(e, p->copy, p->camera), &p->seen)) {
        return ORR_OK;
    }
    ORR_TRY(orr_eyes_names_find(&p->names, e->world->scene, slot, error));
    p->seen.meshes = p->names.meshes;
    p->seen.clouds = p->names.clouds;
    slot->list.seen = &p->seen;
    return ORR_OK;
}

// The picture's memory is written again by a later frame, which follows the put in the same stream.
static orr_result put_oldest(orr_eyes_cuda *c, orr_error *error)
{
    orr_cuda_picture picture;
    const flying *p = &c->pictures[c->first];
    c->first = (c->first + 1) % c->in_flight;
    c->waiting--;
    ORR_TRY(orr_frame_finish(c->frame, NULL, error));
    ORR_TRY(orr_frame_cuda_picture(c->frame, &picture, error));
    return orr_cuda_batch_put(c->batch, orr_eyes_number(c->eyes, p->copy, p->camera), &picture, error);
}

// Waits for those before it where too many are in flight.
static orr_result add(orr_eyes_cuda *c, int copy, int camera, orr_error *error)
{
    orr_view view;
    const orr_eyes_look *look;
    ORR_TRY(orr_eyes_see(c->eyes, copy, camera, &view, &look, error));
    ORR_TRY(c->waiting == c->in_flight ? put_oldest(c, error) : ORR_OK);
    flying *p = &c->pictures[(c->first + c->waiting) % c->in_flight];
    p->of = c;
    p->copy = copy;
    p->camera = camera;
    p->look = look;
    const orr_frame_for_eyes eyes = {.host_poses = c->eyes->motion != NULL, .change = change, .context = p};
    ORR_TRY(orr_frame_submit_for_eyes(c->frame, c->eyes->world, &view, &eyes, error));
    c->waiting++;
    return ORR_OK;
}

static orr_result add_copy(orr_eyes_cuda *c, int copy, orr_error *error)
{
    const orr_eyes *e = c->eyes;
    if (e->motion) {
        orr_eyes_motion_begin(e->motion, copy);
    }
    for (int i = 0; i < e->camera_count + e->view_count; i++) {
        ORR_TRY(add(c, copy, i, error));
    }
    return ORR_OK;
}

// Waits for all pictures. After a failure: drops those in flight.
static orr_result end(orr_eyes_cuda *c, bool failed, orr_error *error)
{
    orr_result result = ORR_OK;
    while (c->waiting > 0 && !failed && result == ORR_OK) {
        result = put_oldest(c, error);
    }
    if (failed || result != ORR_OK) {
        orr_frame_discard(c->frame);
        c->waiting = 0;
        return result;
    }
    return orr_cuda_batch_end(c->batch, error);
}

orr_result orr_eyes_cuda_draw(orr_eyes_cuda *c, const uint8_t *chosen, unsigned planes, void *after,
                              orr_error *error)
{
    orr_result result = orr_cuda_batch_begin(c->batch, planes, after, error);
    for (int copy = 0; copy < c->eyes->world->count && result == ORR_OK; copy++) {
        result = !chosen || chosen[copy] ? add_copy(c, copy, error) : ORR_OK;
    }
    const orr_result ended = end(c, result != ORR_OK, error);
    return result != ORR_OK ? result : ended;
}

// Neighbouring copies at once.
orr_result orr_eyes_cuda_read(orr_eyes_cuda *c, const uint8_t *chosen, const orr_eyes_pictures *pictures,
                              orr_error *error)
{
    const int count = c->eyes->world->count;
    for (int first = 0, end; first < count; first = end) {
        const bool drawn = !chosen || chosen[first];
        for (end = first + 1; end < count && (!chosen || chosen[end]) == drawn; end++) {
        }
        ORR_TRY(drawn ? orr_cuda_batch_read(c->batch, orr_eyes_number(c->eyes, first, 0),
                                            orr_eyes_number(c->eyes, end - first, 0), pictures, error)
                      : ORR_OK);
    }
    return ORR_OK;
}

void orr_eyes_cuda_find(const orr_eyes_cuda *c, orr_eyes_cuda_pictures *pictures)
{
    orr_cuda_batch_find(c->batch, pictures);
}
