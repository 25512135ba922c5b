// Drawing on the CPU. Only one frame is drawn at a time: from `begin`, which draws the meshes, to `finish`,
// which draws the splats and composes.
#include "engine/loop/machine.h"
#include "render/cpu/kept/kept_view.h"
#include "render/cpu/rays/ray_trees.h"

// Frames in a row with the same splats after which they are kept: longer than a hand rests while it turns.
enum { KEEP_AFTER = 8 };

typedef struct cpu_machine {
    orr_engine *engine;     // borrowed
    orr_kept_view *kept;    // of a camera that stands still
    orr_arena *arena;       // of the frame being drawn
    orr_cpu_frame *frame;   // likewise
    orr_field_pass *fields; // likewise; NULL: none
    size_t pixels;          // likewise
    bool told_of_glass;     // that light goes through it where there are rays
} cpu_machine;

static orr_result open_cpu(orr_engine *engine, int frames, void **state, orr_error *error)
{
    (void)frames;
    cpu_machine *m = orr_alloc_zero(1, sizeof *m);
    if (!m) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: drawing on the CPU");
    }
    m->engine = engine;
    orr_result result = orr_kept_view_create(&m->kept, error);
    if (result != ORR_OK) {
        orr_free(m);
        return result;
    }
    *state = m;
    return ORR_OK;
}

static void close_cpu(void *state)
{
    cpu_machine *m = state;
    orr_kept_view_destroy(m->kept);
    orr_free(m);
}

static orr_result begin(void *state, const orr_draw_list *list, orr_arena *arena, orr_profile *profile,
                        const float **mesh_depth, orr_error *error)
{
    cpu_machine *m = state;
    m->arena = arena;
    m->pixels = (size_t)list->lens.width * (size_t)list->lens.height;
    orr_machine_tell(m->engine, &m->told_of_glass, ORR_LOG_INFO, !list->rays && orr_ray_list_transmits(list),
                     "CPU: glass is drawn without refraction: expected rays, which are off");
    int repeats;
    ORR_TRY(orr_kept_view_repeats(m->kept, list, &repeats, error));
    if (repeats >= KEEP_AFTER) {
        ORR_TRY(orr_kept_view_hold(m->kept, m->engine->jobs, m->engine->isa, list, error));
    }
    ORR_TRY(orr_draw_cpu_begin(m->engine->jobs, m->engine->isa, arena, list, m->kept, NULL, profile,
                               &m->frame, error));
    *mesh_depth = orr_draw_cpu_mesh_depth(m->frame);
    return ORR_OK;
}

static orr_result submit(void *state, const orr_draw_list *list, const orr_host_layers *layers, bool to_image,
                         orr_error *error)
{
    (void)list, (void)to_image, (void)error;
    cpu_machine *m = state;
    m->fields = layers->picture.fields;
    return ORR_OK;
}

static orr_result finish(void *state, const orr_machine_target *target, orr_profile *profile,
                         orr_error *error)
{
    cpu_machine *m = state;
    orr_picture picture = target->picture ? *target->picture : (orr_picture){0};
    if (!picture.rgba) { // the blend writes it in any case
        picture.rgba = orr_arena_take(m->arena, m->pixels, 4 * sizeof *picture.rgba);
    }
    return picture.rgba
               ? orr_draw_cpu_end(m->frame, m->fields, &picture, profile, error)
               : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture of %zu pixels", m->pixels);
}

const orr_machine orr_machine_cpu = {
    .device = ORR_DEVICE_CPU,
    .on_host = true,
    .open = open_cpu,
    .close = close_cpu,
    .begin = begin,
    .submit = submit,
    .finish = finish,
};
