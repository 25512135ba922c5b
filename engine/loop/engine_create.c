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

static orr_result create(const orr_engine_desc *desc, const orr_window *window, orr_engine **out,
                         orr_error *error)
{
    *out = NULL;
    orr_engine *engine = orr_alloc_zero(1, sizeof *engine);
    if (!engine) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: an engine");
    }
    engine->desc = desc ? *desc : (orr_engine_desc){0};
    engine->has_window = window != NULL;
    engine->window = window ? *window : (orr_window){0};
    engine->log = (orr_log){engine->desc.log, engine->desc.log_user};
    orr_result result = start(engine, error);
    if (result != ORR_OK) {
        orr_engine_destroy(engine);
        return result;
    }
    *out = engine;
    return ORR_OK;
}

orr_result orr_engine_create_sized(const orr_engine_desc *desc, size_t desc_size, orr_engine **engine,
                                   orr_error *error)
{
    orr_engine_desc own;
    *engine = NULL;
    ORR_TRY(orr_sized_read(&own, sizeof own, desc, desc_size, "orr_engine_desc", error));
    return create(&own, NULL, engine, error);
}

orr_result orr_engine_create_for_window(const orr_engine_desc *desc, const orr_window *window,
                                        orr_engine **engine, orr_error *error)
{
    return create(desc, window, engine, error);
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
