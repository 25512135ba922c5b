#define _GNU_SOURCE
#include "engine/loop/ladder.h"

#include "engine/device/interop.h"
#include "engine/loop/devices.h"
#include "orr_features.h"

#include <stdio.h>
#include <string.h>

// The emulated device of the tests is as slow as it is thorough: only who asks for it gets it.
#define CUDA_MAY_BE_CHOSEN (!ORR_CUDA_EMULATED)

// A driver that runs on the CPU is no reason to leave our own lanes.
static bool gpu_answers(void)
{
    orr_vk_info infos[8];
    int count = 0;
    if (orr_vk_list(infos, 8, &count, NULL) != ORR_OK) {
        return false;
    }
    for (int i = 0; i < count && i < 8; i++) {
        if (!infos[i].lacks && strcmp(infos[i].type, "cpu") != 0) {
            return true;
        }
    }
    return false;
}

static void describe(orr_engine *engine)
{
    char machine[256];
    const char *cuda = engine->cuda ? orr_cuda_describe(engine->cuda)->name : "";
    const char *vulkan = engine->vk ? orr_vk_name(engine->vk) : "";
    switch (engine->rung) {
    case ORR_DEVICE_CUDA_VULKAN:
        snprintf(machine, sizeof machine, "CUDA+Vulkan shared memory: %.60s draws, %.60s presents; ", cuda,
                 vulkan);
        break;
    case ORR_DEVICE_CUDA_VULKAN_COPIES:
        snprintf(machine, sizeof machine, "CUDA+Vulkan through pinned copies: %.60s draws, %.60s presents; ",
                 cuda, vulkan);
        break;
    case ORR_DEVICE_CUDA:
        snprintf(machine, sizeof machine, "CUDA headless: %.60s draws; ", cuda);
        break;
    case ORR_DEVICE_VULKAN:
        snprintf(machine, sizeof machine, "Vulkan only: %.60s draws; ", vulkan);
        break;
    default:
        snprintf(machine, sizeof machine, "CPU only: ");
    }
    snprintf(engine->description, sizeof engine->description, "%s%s, %d threads", machine,
             orr_isa_name(engine->isa), orr_jobs_workers(engine->jobs));
    orr_log_line(engine->log, ORR_LOG_INFO, ORR_CODE_DEVICE_CHOSEN, "%s", engine->description);
}

static void stand_on(orr_engine *engine, orr_device_kind rung)
{
    engine->rung = rung;
    engine->device = orr_device_is_cuda(rung) ? ORR_DEVICE_CUDA : rung;
    describe(engine);
}

void orr_ladder_fall(orr_engine *engine, orr_device_kind rung, const orr_error *why)
{
    orr_log_line(engine->log, ORR_LOG_WARNING, (orr_code)why->code, "%s: going on with %s", why->message,
                 orr_device_name(rung));
    stand_on(engine, rung);
}

bool orr_ladder_is_reason(const orr_error *why)
{
    return why->code == ORR_CODE_DEVICE_CALL || why->code == ORR_CODE_DEVICE_LOST ||
           why->code == ORR_CODE_DEVICE_MEMORY || why->code == ORR_CODE_DEVICE_ABSENT;
}

orr_device_kind orr_ladder_below(const orr_engine *engine)
{
    return engine->device == ORR_DEVICE_CUDA && gpu_answers() ? ORR_DEVICE_VULKAN : ORR_DEVICE_CPU;
}

// CUDA is open; what of Vulkan can be had beside it? Who has a window needs it.
static orr_result stand_beside_vulkan(orr_engine *engine, orr_device_kind rung, orr_error *error)
{
    orr_error why = {0};
    orr_vk *vk;
    orr_result result = orr_engine_take_vk(engine, &vk, &why);
    if (result != ORR_OK && engine->vk_extensions) {
        return orr_fail(error, (orr_code)why.code, "%s", why.message);
    }
    if (result != ORR_OK) {
        orr_ladder_fall(engine, ORR_DEVICE_CUDA, &why);
        return ORR_OK;
    }
    orr_interop *attempt = NULL;
    if (rung == ORR_DEVICE_CUDA_VULKAN &&
        orr_interop_create(vk, engine->cuda, true, &attempt, &why) != ORR_OK) {
        orr_ladder_fall(engine, ORR_DEVICE_CUDA_VULKAN_COPIES, &why);
    } else {
        stand_on(engine, rung);
    }
    orr_interop_destroy(attempt);
    orr_engine_give_vk(engine);
    return ORR_OK;
}

static orr_result stand_on_best(orr_engine *engine, orr_error *error)
{
    orr_cuda *cuda;
    orr_vk *vk;
    bool has_cuda = CUDA_MAY_BE_CHOSEN && orr_engine_take_cuda(engine, &cuda, NULL) == ORR_OK;
    bool has_gpu = gpu_answers();
    if (has_cuda && has_gpu) {
        return stand_beside_vulkan(engine, ORR_DEVICE_CUDA_VULKAN, error);
    }
    if (has_cuda) {
        stand_on(engine, ORR_DEVICE_CUDA);
    } else if (has_gpu && orr_engine_take_vk(engine, &vk, NULL) == ORR_OK) {
        orr_engine_give_vk(engine);
        stand_on(engine, ORR_DEVICE_VULKAN);
    } else {
        stand_on(engine, ORR_DEVICE_CPU);
    }
    return ORR_OK;
}

orr_result orr_ladder_choose(orr_engine *engine, orr_error *error)
{
    orr_device_kind wanted;
    ORR_TRY(orr_device_resolve(engine->desc.device, &wanted, error));
    orr_cuda *cuda;
    orr_vk *vk;
    switch (wanted) {
    case ORR_DEVICE_AUTO:
        return stand_on_best(engine, error);
    case ORR_DEVICE_VULKAN:
        ORR_TRY(orr_engine_take_vk(engine, &vk, error));
        orr_engine_give_vk(engine);
        stand_on(engine, wanted);
        break;
    case ORR_DEVICE_CUDA_VULKAN:
    case ORR_DEVICE_CUDA_VULKAN_COPIES:
        ORR_TRY(orr_engine_take_cuda(engine, &cuda, error));
        return stand_beside_vulkan(engine, wanted, error);
    case ORR_DEVICE_CUDA:
        ORR_TRY(orr_engine_take_cuda(engine, &cuda, error));
        stand_on(engine, wanted);
        break;
    default:
        stand_on(engine, wanted);
    }
    return ORR_OK;
}
