#define _GNU_SOURCE
#include "engine/core/memory.h"
#include "engine/loop/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        } else {
            return orr_fail(error, ORR_CODE_ARGUMENT, "ORR_DEVICE=%s: expected cpu or vulkan", variable);
        }
    }
    engine->device = wanted == ORR_DEVICE_AUTO ? ORR_DEVICE_CPU : wanted;
    return ORR_OK;
}

static orr_result start(orr_engine *engine, orr_error *error)
{
    ORR_TRY(orr_isa_choose(&engine->isa, error));
    ORR_TRY(orr_jobs_create(engine->desc.threads, engine->desc.parallel_for, engine->desc.parallel_for_user,
                            &engine->jobs, error));
    ORR_TRY(choose_device(engine, error));
    snprintf(engine->description, sizeof engine->description, "CPU only: %s, %d threads",
             orr_isa_name(engine->isa), orr_jobs_workers(engine->jobs));
    orr_log_line(engine->log, ORR_LOG_INFO, ORR_CODE_DEVICE_CHOSEN, "%s", engine->description);
    return ORR_OK;
}

orr_result orr_engine_create(const orr_engine_desc *desc, orr_engine **out, orr_error *error)
{
    *out = NULL;
    orr_engine *engine = orr_alloc_zero(1, sizeof *engine);
    if (!engine) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: an engine");
    }
    engine->desc = desc ? *desc : (orr_engine_desc){0};
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
