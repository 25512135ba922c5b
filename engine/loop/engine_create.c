#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/engine.h"
#include "engine/loop/ladder.h"

static orr_result start(orr_engine *engine, orr_error *error)
{
    ORR_TRY(orr_isa_choose(&engine->isa, error));
    ORR_TRY(orr_jobs_create(engine->desc.threads, engine->desc.parallel_for, engine->desc.parallel_for_user,
                            &engine->jobs, error));
    return orr_ladder_choose(engine, error);
}

static void free_engine(orr_engine *engine)
{
    orr_vk_destroy(engine->vk);
    orr_cuda_destroy(engine->cuda);
    orr_jobs_destroy(engine->jobs);
    orr_free(engine);
}

static orr_result create(const orr_engine_desc *desc, const orr_window *window, orr_engine **out,
                         orr_error *error)
{
    *out = NULL;
    orr_engine *engine = orr_alloc_zero(1, sizeof *engine);
    if (!engine) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: an engine");
    }
    engine->desc = desc ? *desc : (orr_engine_desc){0};
    engine->next_key = 1;
    engine->has_window = window != NULL;
    engine->window = window ? *window : (orr_window){0};
    engine->log = (orr_log){engine->desc.log, engine->desc.log_user};
    orr_result result = start(engine, error);
    if (result != ORR_OK) {
        free_engine(engine);
        return result;
    }
    *out = engine;
    return ORR_OK;
}

orr_result orr_engine_create_sized(const orr_engine_desc *desc, size_t desc_size, orr_engine **engine,
                                   orr_error *error)
{
    ORR_ENTER;
    orr_engine_desc own;
    ORR_REQUIRE(engine, error);
    *engine = NULL;
    ORR_TRY(orr_sized_read(&own, sizeof own, desc, desc_size, "orr_engine_desc", error));
    return create(&own, NULL, engine, error);
}

orr_result orr_engine_create_for_window(const orr_engine_desc *desc, const orr_window *window,
                                        orr_engine **engine, orr_error *error)
{
    return create(desc, window, engine, error);
}

orr_result orr_engine_check(const orr_engine *engine, orr_error *error)
{
    ORR_REQUIRE(engine, error);
    return orr_jobs_check(engine->jobs, error);
}

void orr_engine_destroy(orr_engine *engine)
{
    if (!engine || !orr_jobs_here(engine->jobs)) {
        return;
    }
    if (engine->frames || engine->vk_users > 0) {
        orr_log_line(engine->log, ORR_LOG_ERROR, ORR_CODE_ARGUMENT,
                     "orr_engine_destroy: a frame of the engine is left: the engine stays too");
        return;
    }
    free_engine(engine);
}

int orr_engine_threads(const orr_engine *engine)
{
    return engine ? orr_jobs_workers(engine->jobs) : 0;
}

orr_device_kind orr_engine_device(const orr_engine *engine)
{
    return engine ? engine->device : ORR_DEVICE_AUTO;
}

const char *orr_engine_describe(const orr_engine *engine)
{
    return engine ? engine->description : "";
}
