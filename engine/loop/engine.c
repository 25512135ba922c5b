#define _GNU_SOURCE
#include "engine/core/memory.h"
#include "engine/loop/scene.h"
#include "orr_features.h"

#include <stdio.h>
#include <stdlib.h>
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

static orr_result open_cuda(orr_engine *engine, orr_error *error)
{
    return engine->cuda ? ORR_OK : orr_cuda_create(NULL, &engine->cuda, error);
}

orr_result orr_engine_take_cuda(orr_engine *engine, orr_cuda **cuda, orr_error *error)
{
    ORR_TRY(open_cuda(engine, error));
    *cuda = engine->cuda;
    return ORR_OK;
}

// AUTO becomes what ORR_DEVICE asks for, or the best that answers
static orr_result choose_device(orr_engine *engine, orr_error *error)
{
    orr_device_kind wanted = engine->desc.device;
    const char *variable = getenv("ORR_DEVICE");
    if (wanted == ORR_DEVICE_AUTO && variable && variable[0]) {
        if (strcmp(variable, "cpu") == 0) {
            wanted = ORR_DEVICE_CPU;
        } else if (strcmp(variable, "vulkan") == 0) {
            wanted = ORR_DEVICE_VULKAN;
        } else if (strcmp(variable, "cuda") == 0) {
            wanted = ORR_DEVICE_CUDA;
        } else if (strcmp(variable, "auto") != 0) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "ORR_DEVICE=%s: expected auto, cpu, vulkan or cuda",
                            variable);
        }
    }
    if (wanted == ORR_DEVICE_AUTO) {
        wanted = gpu_answers() ? ORR_DEVICE_VULKAN : ORR_DEVICE_CPU;
        if (wanted == ORR_DEVICE_VULKAN && orr_engine_take_vk(engine, &engine->vk, NULL) != ORR_OK) {
            wanted = ORR_DEVICE_CPU; // the next rung
        }
        if (wanted == ORR_DEVICE_CPU && CUDA_MAY_BE_CHOSEN && open_cuda(engine, NULL) == ORR_OK) {
            wanted = ORR_DEVICE_CUDA;
        }
    } else if (wanted == ORR_DEVICE_VULKAN) {
        ORR_TRY(orr_engine_take_vk(engine, &engine->vk, error));
    } else if (wanted == ORR_DEVICE_CUDA) {
        ORR_TRY(open_cuda(engine, error));
    }
    engine->device = wanted;
    engine->vk_users = 0;
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
            .present = engine->vk_extensions != NULL,
            .instance_extensions = engine->vk_extensions,
            .instance_extension_count = engine->vk_extension_count,
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

void orr_engine_lose_vk(orr_engine *engine)
{
    engine->vk_lost = true;
}

static void describe(orr_engine *engine)
{
    const char *isa = orr_isa_name(engine->isa);
    int threads = orr_jobs_workers(engine->jobs);
    if (engine->device == ORR_DEVICE_VULKAN) {
        snprintf(engine->description, sizeof engine->description, "Vulkan only: %s draws; %s, %d threads",
                 orr_vk_name(engine->vk), isa, threads);
    } else if (engine->device == ORR_DEVICE_CUDA) {
        snprintf(engine->description, sizeof engine->description,
                 "CUDA headless: %s draws splats and fields; %s, %d threads",
                 orr_cuda_describe(engine->cuda)->name, isa, threads);
    } else {
        snprintf(engine->description, sizeof engine->description, "CPU only: %s, %d threads", isa, threads);
    }
    orr_log_line(engine->log, ORR_LOG_INFO, ORR_CODE_DEVICE_CHOSEN, "%s", engine->description);
}

static orr_result start(orr_engine *engine, orr_error *error)
{
    ORR_TRY(orr_isa_choose(&engine->isa, error));
    ORR_TRY(orr_jobs_create(engine->desc.threads, engine->desc.parallel_for, engine->desc.parallel_for_user,
                            &engine->jobs, error));
    ORR_TRY(choose_device(engine, error));
    describe(engine);
    return ORR_OK;
}

orr_result orr_engine_create(const orr_engine_desc *desc, orr_engine **engine, orr_error *error)
{
    return orr_engine_create_presenting(desc, NULL, 0, engine, error);
}

orr_result orr_engine_create_presenting(const orr_engine_desc *desc, const char *const *extensions,
                                        int extension_count, orr_engine **out, orr_error *error)
{
    *out = NULL;
    orr_engine *engine = orr_alloc_zero(1, sizeof *engine);
    if (!engine) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: an engine");
    }
    engine->desc = desc ? *desc : (orr_engine_desc){0};
    engine->vk_extensions = extensions;
    engine->vk_extension_count = extension_count;
    engine->log = (orr_log){engine->desc.log, engine->desc.log_user};
    orr_result result = start(engine, error);
    if (result != ORR_OK) {
        orr_engine_destroy(engine);
        return result;
    }
    *out = engine;
    return ORR_OK;
}

void orr_engine_destroy(orr_engine *engine)
{
    if (engine) {
        assert(engine->vk_users == 0); // frames go before their engine
        orr_vk_destroy(engine->vk);
        orr_cuda_destroy(engine->cuda);
        orr_jobs_destroy(engine->jobs);
        orr_free(engine);
    }
}

int orr_engine_threads(const orr_engine *engine)
{
    return orr_jobs_workers(engine->jobs);
}

orr_device_kind orr_engine_device(const orr_engine *engine)
{
    return engine->device;
}

const char *orr_engine_describe(const orr_engine *engine)
{
    return engine->description;
}
