// Drawing on Vulkan. The host marches all fields and follows rays; frames without both can end in an image.
#include "engine/core/memory.h"
#include "engine/loop/devices.h"
#include "engine/loop/machine.h"
#include "render/cpu/rays/ray_trees.h"
#include "render/field_light/field_light.h"
#include "render/vulkan/draw.h"

typedef struct vulkan_machine {
    orr_engine *engine; // borrowed
    orr_vulkan_draw *draw;
    bool told_of_glass; // that light goes through it where there are rays
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

// New lamps on the fields that the host has marched.
static orr_result light_fields(const orr_host_layers *layers, orr_isa isa, orr_error *error)
{
    orr_field_pass *picture = layers->picture.fields;
    ORR_TRY(picture ? orr_field_light(picture, isa, NULL, error) : ORR_OK);
    for (int i = 0; i < ORR_MIRRORS; i++) {
        orr_field_pass *mirror = layers->mirrors[i].fields;
        ORR_TRY(mirror ? orr_field_light(mirror, isa, NULL, error) : ORR_OK);
    }
    return ORR_OK;
}

static orr_result submit(void *state, const orr_draw_list *list, const orr_host_layers *layers, bool to_image,
                         orr_error *error)
{
    vulkan_machine *m = state;
    orr_machine_tell(m->engine, &m->told_of_glass, ORR_LOG_INFO, !list->rays && orr_ray_list_transmits(list),
                     "Vulkan: glass is drawn without refraction: expected rays, which are off");
    ORR_TRY(layers ? light_fields(layers, m->engine->isa, error) : ORR_OK);
    return to_image ? orr_vulkan_draw_submit_image(m->draw, list, error)
                    : orr_vulkan_draw_submit(m->draw, list, layers, error);
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
    return list->field_count == 0 && !list->rays;
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
