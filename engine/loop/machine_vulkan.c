// Drawing on Vulkan. The host marches all fields; frames without them can end in an image.
#include "engine/core/memory.h"
#include "engine/loop/devices.h"
#include "engine/loop/machine.h"
#include "render/cpu/rays/ray_trees.h"
#include "render/field_light/field_light.h"
#include "render/mirror/mirror.h"
#include "render/vulkan/draw.h"

typedef struct vulkan_machine {
    orr_engine *engine; // borrowed
    orr_vulkan_draw *draw;
    bool told_of_mirrors; // that fields are not seen in them
    bool told_of_rays;    // that it draws none
    bool told_of_glass;   // likewise
} vulkan_machine;

static orr_result open_draw(vulkan_machine *m, int frames, orr_error *error)
{
    orr_vk *vk;
    ORR_TRY(orr_engine_take_vk(m->engine, &vk, error));
    orr_result result = orr_vulkan_draw_create(vk, m->engine->jobs, frames, &m->draw, error);
    if (result != ORR_OK) {
        orr_engine_give_vk(m->engine);
    }
    return result;
}

static orr_result open_vulkan(orr_engine *engine, int frames, void **state, orr_error *error)
{
    vulkan_machine *m = orr_alloc_zero(1, sizeof *m);
    if (!m) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: drawing on Vulkan");
    }
    m->engine = engine;
    orr_result result = open_draw(m, frames, error);
    if (result != ORR_OK) {
        orr_free(m);
        return result;
    }
    *state = m;
    return ORR_OK;
}

static void close_vulkan(void *state)
{
    vulkan_machine *m = state;
    orr_vulkan_draw_destroy(m->draw);
    orr_engine_give_vk(m->engine);
    orr_free(m);
}

static orr_result submit(void *state, const orr_draw_list *list, orr_field_pass *fields, bool to_image,
                         orr_error *error)
{
    vulkan_machine *m = state;
    orr_machine_tell(m->engine, &m->told_of_mirrors, ORR_LOG_INFO,
                     fields && list->mirrors && orr_has_mirrors(list),
                     "Vulkan: mirrors do not show fields: expected the CPU to draw them");
    orr_machine_tell(m->engine, &m->told_of_rays, ORR_LOG_INFO, list->rays && orr_ray_list_asks(list),
                     "Vulkan: smooth surfaces show the environment alone: expected the CPU to draw rays");
    orr_machine_tell(m->engine, &m->told_of_glass, ORR_LOG_INFO, orr_ray_list_transmits(list),
                     "Vulkan: glass is drawn without refraction: expected the CPU to draw rays");
    orr_draw_list without = *list;
    without.rays = NULL;
    ORR_TRY(fields ? orr_field_light(fields, m->engine->isa, NULL, error) : ORR_OK);
    return to_image ? orr_vulkan_draw_submit_image(m->draw, &without, error)
                    : orr_vulkan_draw_submit(m->draw, &without, fields, error);
}

static orr_result finish(void *state, const orr_machine_target *target, orr_profile *profile,
                         orr_error *error)
{
    const vulkan_machine *m = state;
    return target->to_image ? orr_vulkan_draw_finish_image(m->draw, target->image, profile, error)
                            : orr_vulkan_draw_finish(m->draw, target->picture, profile, error);
}

static bool ends_in_image(const void *state, const orr_draw_list *list)
{
    (void)state;
    return list->field_count == 0;
}

static void release(void *state, uint64_t key)
{
    const vulkan_machine *m = state;
    orr_vulkan_draw_release(m->draw, key);
}

static orr_result trace_vulkan(void *state, orr_trace *trace, orr_error *error)
{
    const vulkan_machine *m = state;
    return orr_vulkan_draw_trace(m->draw, trace, error);
}

const orr_machine orr_machine_vulkan = {
    .device = ORR_DEVICE_VULKAN,
    .open = open_vulkan,
    .close = close_vulkan,
    .submit = submit,
    .finish = finish,
    .ends_in_image = ends_in_image,
    .release = release,
    .trace = trace_vulkan,
};
