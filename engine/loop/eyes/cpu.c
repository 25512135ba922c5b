#include "engine/loop/eyes/cpu.h"

#include "engine/core/memory.h"
#include "engine/loop/eyes/detail.h"
#include "engine/loop/eyes/names.h"
#include "engine/loop/eyes/state.h"
#include "engine/loop/light/frame_relight.h"
#include "render/cpu/kept/kept_view.h"

// Threads start some 50 us late, as long as a picture of few shapes takes: with 32 pictures for each of two
// threads they draw a tenth to two thirds more of these per second than with 4
// (docs/measurements/learning.md).
enum { SLOTS_PER_WORKER = 32, KEEP_AFTER = 2 };

// What one thread draws with.
typedef struct eye {
    orr_jobs *jobs; // of this thread alone
    orr_arena arena;
    orr_profile profile;
} eye;

// A picture that is posed, and where it goes.
typedef struct task {
    orr_frame_slot slot;
    size_t picture;            // among all of them
    const orr_kept_view *kept; // of its camera
    orr_varied_meshes applied; // surfaces that are this copy's own
    orr_eyes_names names;      // of segmentation
    orr_past past;
    bool has_past; // it holds the picture before
    orr_result result;
    orr_error error;
} task;

struct orr_eyes_cpu {
    const orr_eyes *of;
    orr_eyes_detail *detail; // NULL: everything is drawn in full
    orr_kept_view **kept;    // of each camera and view
    eye *eyes;               // worker_count
    int worker_count;
    task *tasks; // task_count
    int task_count;
    const orr_eyes_pictures *pictures; // while they are drawn
};

static orr_result make(orr_eyes_cpu *c, const orr_eyes_desc *desc, orr_error *error)
{
    const orr_eyes *e = c->of;
    c->worker_count = orr_jobs_workers(e->engine->jobs);
    const int64_t pictures = (int64_t)e->world->count * (int64_t)orr_eyes_of_copy(e),
                  slots = (int64_t)SLOTS_PER_WORKER * c->worker_count;
    c->task_count = (int)(pictures < slots ? pictures : slots);
    c->tasks = orr_alloc_zero((size_t)c->task_count, sizeof *c->tasks);
    c->eyes = orr_alloc_zero((size_t)c->worker_count, sizeof *c->eyes);
    c->kept = orr_alloc_zero(orr_eyes_of_copy(e), sizeof(orr_kept_view *));
    if (!c->tasks || !c->eyes || !c->kept) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: eyes");
    }
    ORR_TRY(orr_eyes_detail_create(desc, &c->detail, error));
    for (size_t i = 0; i < orr_eyes_of_copy(e); i++) {
        ORR_TRY(orr_kept_view_create(&c->kept[i], error));
    }
    for (int i = 0; i < c->worker_count; i++) {
        ORR_TRY(orr_jobs_create(1, NULL, NULL, &c->eyes[i].jobs, error));
    }
    return ORR_OK;
}

orr_result orr_eyes_cpu_create(const orr_eyes *eyes, const orr_eyes_desc *desc, orr_eyes_cpu **out,
                               orr_error *error)
{
    *out = NULL;
    orr_eyes_cpu *c = orr_alloc_zero(1, sizeof *c);
    if (!c) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: eyes");
    }
    c->of = eyes;
    const orr_result result = make(c, desc, error);
    if (result != ORR_OK) {
        orr_eyes_cpu_destroy(c);
        return result;
    }
    *out = c;
    return ORR_OK;
}

void orr_eyes_cpu_destroy(orr_eyes_cpu *c)
{
    if (!c) {
        return;
    }
    for (int i = 0; c->tasks && i < c->task_count; i++) {
        orr_frame_slot_close(&c->tasks[i].slot);
        orr_past_close(&c->tasks[i].past);
        orr_varied_meshes_close(&c->tasks[i].applied);
        orr_eyes_names_close(&c->tasks[i].names);
    }
    for (int i = 0; c->eyes && i < c->worker_count; i++) {
        if (c->eyes[i].jobs) {
            orr_jobs_destroy(c->eyes[i].jobs);
        }
        orr_arena_destroy(&c->eyes[i].arena);
    }
    for (size_t i = 0; c->kept && i < orr_eyes_of_copy(c->of); i++) {
        orr_kept_view_destroy(c->kept[i]);
    }
    orr_free(c->tasks);
    orr_free(c->eyes);
    orr_free(c->kept);
    orr_eyes_detail_destroy(c->detail);
    orr_free(c);
}

// Memory of a picture that the caller asked for, or of the arena.
static void *plane_of(void *asked, size_t picture, size_t numbers, size_t bytes, orr_arena *arena)
{
    return asked ? (char *)asked + picture * numbers * bytes : orr_arena_take(arena, numbers, bytes);
}

static void put_segmentation(const orr_eyes_names *names, const int32_t *items, size_t pixels, int32_t *out)
{
    for (size_t i = 0; i < pixels; i++) {
        const int32_t item = items[i];
        const orr_item_name name = item < -1   ? names->clouds[ORR_ITEM_OF_CLOUD(item)]
                                   : item >= 0 ? names->meshes[item]
                                               : (orr_item_name){-1, -1};
        out[2 * i] = name.layer;
        out[2 * i + 1] = name.geom;
    }
}

static orr_result draw(const orr_eyes_cpu *c, eye *with, orr_jobs *jobs, const task *t, orr_error *error)
{
    const orr_eyes *e = c->of;
    const orr_eyes_pictures *to = c->pictures;
    const size_t pixels = (size_t)e->width * (size_t)e->height;
    orr_arena_reset(&with->arena);
    const bool estimates = to->normals || to->flow, asks = to->segmentation || estimates;
    const orr_picture picture = {
        .rgba = plane_of(to->rgba, t->picture, 4 * pixels, sizeof(float), &with->arena),
        .depth = to->depth || estimates ? plane_of(to->depth, t->picture, pixels, sizeof(float), &with->arena)
                                        : NULL};
    const orr_seen seen = {.items = asks ? orr_arena_take(&with->arena, pixels, sizeof(int32_t)) : NULL,
                           .normals = to->normals ? to->normals + t->picture * pixels * 3 : NULL,
                           .flow = to->flow ? to->flow + t->picture * pixels * 2 : NULL,
                           .before = t->has_past ? &t->past.before : NULL};
    if (!picture.rgba || (estimates && !picture.depth) || (asks && !seen.items)) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture of %zu pixels", pixels);
    }
    ORR_TRY(orr_draw_cpu(jobs, e->engine->isa, &with->arena, &t->slot.list, t->kept, &picture, &seen,
                         &with->profile, error));
    if (to->rgb) {
        orr_splat_kernels_of(e->engine->isa)
            ->rgb(picture.rgba, (int64_t)pixels, to->rgb + t->picture * pixels * 3);
    }
    if (to->segmentation) {
        put_segmentation(&t->names, seen.items, pixels, to->segmentation + t->picture * pixels * 2);
    }
    return ORR_OK;
}

static void draw_task(void *context, int i, int worker)
{
    orr_eyes_cpu *c = context;
    task *t = &c->tasks[i];
    t->result = draw(c, &c->eyes[worker], c->eyes[worker].jobs, t, &t->error);
}

// Draws the tasks that are posed. Fewer than there are threads: all threads draw each of them.
static orr_result draw_tasks(orr_eyes_cpu *c, int count, orr_error *error)
{
    orr_jobs *jobs = c->of->engine->jobs;
    if (count < c->worker_count) {
        for (int i = 0; i < count; i++) {
            ORR_TRY(draw(c, &c->eyes[0], jobs, &c->tasks[i], error));
        }
        return ORR_OK;
    }
    orr_jobs_for(jobs, count, draw_task, c);
    for (int i = 0; i < count; i++) {
        if (c->tasks[i].result != ORR_OK) {
            return orr_fail(error, (orr_code)c->tasks[i].error.code, "%s", c->tasks[i].error.message);
        }
    }
    return ORR_OK;
}

static orr_result pose(const orr_eyes_cpu *c, task *t, int copy, int number, orr_error *error)
{
    const orr_eyes *e = c->of;
    orr_view view;
    const orr_eyes_look *look;
    ORR_TRY(orr_eyes_see(e, copy, number, &view, &look, error));
    t->picture = orr_eyes_number(e, copy, number);
    t->kept = c->kept[number];
    ORR_TRY(orr_frame_pose(&t->slot, e->world->scene, e->world, &view, false, error));
    orr_frame_fit_lens(&t->slot.list, false);
    ORR_TRY(c->pictures->segmentation ? orr_eyes_names_find(&t->names, e->world->scene, &t->slot, error)
                                      : ORR_OK);
    if (e->motion) {
        ORR_TRY(orr_eyes_motion_keep(e->motion, e->world, &t->slot, copy, number, error));
        ORR_TRY(
            orr_eyes_motion_find(e->motion, e->world, &t->slot, copy, number, &t->past, &t->has_past, error));
    }
    ORR_TRY(orr_eyes_light(e, look, &t->slot, error));
    if (c->detail) {
        ORR_TRY(orr_eyes_detail_apply(c->detail, e->engine->jobs, e->world->scene, &t->slot, error));
    }
    ORR_TRY(orr_frame_relight(&t->slot, e->world->scene, error));
    return e->surfaces ? orr_surfaces_apply(e->surfaces, copy, &t->slot, &t->applied, error) : ORR_OK;
}

orr_result orr_eyes_cpu_draw(orr_eyes_cpu *c, const uint8_t *chosen, const orr_eyes_pictures *pictures,
                             orr_error *error)
{
    const orr_eyes *e = c->of;
    c->pictures = pictures;
    int posed = 0;
    for (int copy = 0; copy < e->world->count; copy++) {
        if (e->motion && (!chosen || chosen[copy])) {
            orr_eyes_motion_begin(e->motion, copy);
        }
        for (int i = 0; i < e->camera_count + e->view_count && (!chosen || chosen[copy]); i++) {
            ORR_TRY(pose(c, &c->tasks[posed], copy, i, error));
            int repeats;
            ORR_TRY(orr_kept_view_repeats(c->kept[i], &c->tasks[posed].slot.list, &repeats, error));
            if (repeats >= KEEP_AFTER) {
                ORR_TRY(draw_tasks(c, posed, error)); // with what it has held so far
                posed = 0;
                ORR_TRY(pose(c, &c->tasks[0], copy, i, error));
                ORR_TRY(orr_kept_view_hold(c->kept[i], e->engine->jobs, e->engine->isa,
                                           &c->tasks[0].slot.list, error));
            }
            if (++posed == c->task_count) {
                ORR_TRY(draw_tasks(c, posed, error));
                posed = 0;
            }
        }
    }
    return draw_tasks(c, posed, error);
}
