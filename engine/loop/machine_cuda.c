// Drawing on CUDA. The host marches those fields that CUDA refuses; where there is Vulkan beside CUDA,
// pictures can end in its images.
#include "engine/core/memory.h"
#include "engine/loop/devices.h"
#include "engine/loop/machine.h"
#include "render/cpu/rays/ray_trees.h"
#include "render/cuda/draw.h"
#include "render/cuda/show.h"
#include "render/mirror/mirror.h"

typedef struct cuda_machine {
    orr_engine *engine; // borrowed
    orr_cuda_draw *draw;
    int frames;
    orr_cuda_show *show;  // NULL until the first picture is handed over
    orr_device_kind rung; // that `show` was made for
    bool told_of_shadows; // that robots on the device cast none
    bool told_of_mirrors; // that fields which the host marches are not seen in them
    bool told_of_rays;    // that it draws none
    bool told_of_glass;   // likewise
} cuda_machine;

static orr_result open_draw(cuda_machine *m, orr_error *error)
{
    orr_cuda *cuda;
    ORR_TRY(orr_engine_take_cuda(m->engine, &cuda, error));
    return orr_cuda_draw_create(cuda, m->engine->jobs, m->frames, &m->draw, error);
}

static orr_result open_cuda(orr_engine *engine, int frames, void **state, orr_error *error)
{
    cuda_machine *m = orr_alloc_zero(1, sizeof *m);
    if (!m) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: drawing on CUDA");
    }
    m->engine = engine;
    m->frames = frames;
    orr_result result = open_draw(m, error);
    if (result != ORR_OK) {
        orr_free(m);
        return result;
    }
    *state = m;
    return ORR_OK;
}

static void leave_vulkan(void *state)
{
    cuda_machine *m = state;
    if (m->show) {
        orr_cuda_show_destroy(m->show);
        orr_engine_give_vk(m->engine);
        m->show = NULL;
    }
}

static void close_cuda(void *state)
{
    cuda_machine *m = state;
    leave_vulkan(m);
    orr_cuda_draw_destroy(m->draw);
    orr_free(m);
}

// The order among those that the host marches, and among the others, stays.
static int divide_fields(void *state, orr_draw_field *fields, int count)
{
    const cuda_machine *m = state;
    int first = 0;
    for (int i = 0; i < count; i++) {
        orr_draw_field field = fields[i];
        if (!orr_cuda_draw_takes_field(m->draw, &field, m->engine->log)) {
            for (int k = i; k > first; k--) {
                fields[k] = fields[k - 1];
            }
            fields[first++] = field;
        }
    }
    return first;
}

// Shadow maps are fitted on the host, which does not know where these bodies are.
static void tell_of_shadows(cuda_machine *m, const orr_draw_list *list)
{
    for (int i = 0; i < list->mesh_count && list->shadows && !m->told_of_shadows; i++) {
        orr_machine_tell(m->engine, &m->told_of_shadows, ORR_LOG_INFO, list->meshes[i].bodies != NULL,
                         "CUDA: robots that CUDA simulates cast no shadows; those that the CPU simulates do");
    }
}

static orr_result submit(void *state, const orr_draw_list *list, orr_field_pass *fields, bool to_image,
                         orr_error *error)
{
    (void)to_image; // handed over once it is finished
    cuda_machine *m = state;
    tell_of_shadows(m, list);
    orr_machine_tell(m->engine, &m->told_of_mirrors, ORR_LOG_INFO,
                     fields && list->mirrors && orr_has_mirrors(list),
                     "CUDA: mirrors do not show fields that the CPU draws: expected those that CUDA draws");
    orr_machine_tell(m->engine, &m->told_of_rays, ORR_LOG_INFO, list->rays && orr_ray_list_asks(list),
                     "CUDA: smooth surfaces show the environment alone: expected the CPU to draw rays");
    orr_machine_tell(m->engine, &m->told_of_glass, ORR_LOG_INFO, orr_ray_list_transmits(list),
                     "CUDA: glass is drawn without refraction: expected the CPU to draw rays");
    orr_draw_list without = *list;
    without.rays = NULL;
    const orr_cuda_layers layers = {.field_depth = fields ? fields->depth : NULL,
                                    .field_colour = fields ? fields->colour : NULL};
    return orr_cuda_draw_submit(m->draw, &without, &layers, error);
}

static orr_result finish(void *state, const orr_machine_target *target, orr_profile *profile,
                         orr_error *error)
{
    const cuda_machine *m = state;
    return orr_cuda_draw_finish(m->draw, target->to_image ? NULL : target->picture, profile, error);
}

static bool ends_in_image(const void *state, const orr_draw_list *list)
{
    (void)list;
    const cuda_machine *m = state;
    return orr_engine_shows_cuda(m->engine);
}

static orr_result open_show(cuda_machine *m, orr_error *error)
{
    orr_engine *engine = m->engine;
    orr_vk *vk;
    ORR_TRY(orr_engine_take_vk(engine, &vk, error));
    orr_result result = orr_cuda_show_create(vk, engine->cuda, engine->rung == ORR_DEVICE_CUDA_VULKAN,
                                             m->frames, &m->show, error);
    if (result != ORR_OK) {
        orr_engine_give_vk(engine);
        return result;
    }
    m->rung = engine->rung;
    return ORR_OK;
}

static orr_result hand_over(void *state, const orr_lens *lens, struct orr_vulkan_image *image,
                            orr_profile *profile, orr_error *error)
{
    cuda_machine *m = state;
    if (m->show && m->rung != m->engine->rung) {
        leave_vulkan(m);
    }
    if (!m->show) {
        ORR_TRY(open_show(m, error));
    }
    orr_result result = orr_cuda_show_picture(m->show, orr_cuda_draw_picture(m->draw).rgba, lens->width,
                                              lens->height, image, profile, error);
    if (result != ORR_OK) {
        leave_vulkan(m);
    }
    return result;
}

static orr_cuda_picture picture(const void *state)
{
    const cuda_machine *m = state;
    return orr_cuda_draw_picture(m->draw);
}

static void release(void *state, uint64_t key)
{
    const cuda_machine *m = state;
    orr_cuda_draw_release(m->draw, key);
}

static orr_result trace_cuda(void *state, orr_trace *trace, orr_error *error)
{
    const cuda_machine *m = state;
    return orr_cuda_draw_trace(m->draw, trace, error);
}

const orr_machine orr_machine_cuda = {
    .device = ORR_DEVICE_CUDA,
    .reads_device_bodies = true,
    .open = open_cuda,
    .close = close_cuda,
    .divide_fields = divide_fields,
    .submit = submit,
    .finish = finish,
    .ends_in_image = ends_in_image,
    .hand_over = hand_over,
    .leave_vulkan = leave_vulkan,
    .picture = picture,
    .release = release,
    .trace = trace_cuda,
};
