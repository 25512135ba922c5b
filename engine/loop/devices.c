#include "engine/loop/devices.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [ORR_DEVICE_AUTO] = "auto",
    [ORR_DEVICE_CPU] = "cpu",
    [ORR_DEVICE_VULKAN] = "vulkan",
    [ORR_DEVICE_CUDA] = "cuda",
    [ORR_DEVICE_CUDA_VULKAN] = "cuda+vulkan",
    [ORR_DEVICE_CUDA_VULKAN_COPIES] = "cuda+vulkan-copies",
};

static bool is_device(orr_device_kind device)
{
    return (unsigned)device < sizeof names / sizeof names[0];
}

const char *orr_device_name(orr_device_kind device)
{
    return is_device(device) ? names[device] : "an unknown device";
}

bool orr_device_named(const char *name, orr_device_kind *device)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            *device = (orr_device_kind)i;
            return true;
        }
    }
    return false;
}

bool orr_device_is_cuda(orr_device_kind device)
{
    return device == ORR_DEVICE_CUDA || device == ORR_DEVICE_CUDA_VULKAN ||
           device == ORR_DEVICE_CUDA_VULKAN_COPIES;
}

orr_result orr_device_resolve(orr_device_kind device, orr_device_kind *resolved, orr_error *error)
{
    const char *variable = getenv("ORR_DEVICE");
    *resolved = device;
    if (device == ORR_DEVICE_AUTO && variable && variable[0] && !orr_device_named(variable, resolved)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "ORR_DEVICE=%s: expected auto, cpu, vulkan, cuda, cuda+vulkan or cuda+vulkan-copies",
                        variable);
    }
    return is_device(device) ? ORR_OK
                             : orr_fail(error, ORR_CODE_ARGUMENT,
                                        "device %d: expected one of orr_device_kind", (int)device);
}

orr_result orr_engine_take_cuda(orr_engine *engine, orr_cuda **cuda, orr_error *error)
{
    if (!engine->cuda) {
        ORR_TRY(orr_cuda_create(NULL, &engine->cuda, error));
    }
    *cuda = engine->cuda;
    return ORR_OK;
}

orr_result orr_engine_take_vk(orr_engine *engine, orr_vk **vk, orr_error *error)
{
    if (engine->vk_lost && engine->vk_users == 0) {
        orr_vk_destroy(engine->vk);
        engine->vk = NULL;
        engine->vk_lost = false;
    }
    if (!engine->vk) {
        const orr_vk_desc desc = {
            .validate = engine->desc.validate,
            .present = engine->has_window,
            .instance_extensions = engine->window.extensions,
            .instance_extension_count = engine->window.extension_count,
            .uuid = engine->cuda ? orr_cuda_describe(engine->cuda)->uuid : NULL,
            .log = engine->log,
        };
        ORR_TRY(orr_vk_create(&desc, &engine->vk, error));
    }
    engine->vk_users++;
    *vk = engine->vk;
    return ORR_OK;
}

void orr_engine_give_vk(orr_engine *engine)
{
    engine->vk_users--;
}

bool orr_engine_shows_cuda(const orr_engine *engine)
{
    return engine->rung == ORR_DEVICE_CUDA_VULKAN || engine->rung == ORR_DEVICE_CUDA_VULKAN_COPIES;
}

orr_result orr_engine_attach_window(orr_engine *engine, orr_error *error)
{
    orr_vk *vk;
    if (engine->window_attached) {
        return ORR_OK;
    }
    ORR_TRY(orr_engine_take_vk(engine, &vk, error));
    orr_result result = engine->window.attach(engine->window.user, vk, error);
    if (result != ORR_OK) {
        orr_engine_give_vk(engine);
        return result;
    }
    engine->window_attached = true;
    return ORR_OK;
}

void orr_engine_detach_window(orr_engine *engine)
{
    if (engine && engine->window_attached) {
        engine->window.detach(engine->window.user);
        orr_engine_give_vk(engine);
        engine->window_attached = false;
    }
}

orr_device_kind orr_engine_next_device(const orr_engine *engine, orr_device_kind device)
{
    return device == ORR_DEVICE_CPU                                           ? ORR_DEVICE_VULKAN
           : device == ORR_DEVICE_VULKAN && engine->device == ORR_DEVICE_CUDA ? ORR_DEVICE_CUDA
                                                                              : ORR_DEVICE_CPU;
}
