#include "engine/loop/world/world_device.h"

#include "engine/core/memory.h"
#include "engine/loop/devices.h"

// A core of the CPU gives 220 to 300 thousand steps a second of a humanoid to all its worlds together
// (docs/measurements/cuda.md), and a GPU advances each world by itself, however few there are: 370 steps a
// second where it makes the 3 million of 8192 worlds that are its goal. So it pays from 600 to 800 worlds for
// each core on, and half of that for each of two threads that share one.
enum { CUDA_WORLDS_PER_THREAD = 512 };

bool orr_world_device_is_cuda(const orr_engine *engine, orr_device_kind device, int worlds)
{
    return device == ORR_DEVICE_CUDA || (device == ORR_DEVICE_AUTO && engine->device == ORR_DEVICE_CUDA &&
                                         worlds / CUDA_WORLDS_PER_THREAD >= orr_jobs_workers(engine->jobs));
}

static orr_result create(const orr_world_robots *robots, orr_cuda *cuda, const char *name,
                         const orr_model *model, orr_physics **physics, orr_error *error)
{
    orr_engine *engine = robots->engine;
    const orr_world_desc *given = &robots->desc;
    const orr_physics_desc desc = {.worlds = given->count,
                                   .double_precision = given->precision == ORR_PRECISION_F64,
                                   .single_precision = given->precision == ORR_PRECISION_F32,
                                   .as_of_many = robots->as_of_many,
                                   .contact_capacity = given->contact_capacity,
                                   .cuda = cuda,
                                   .team = given->team};
    orr_error why = {0};
    orr_result result = orr_physics_create(&desc, model, engine->jobs, physics, &why);
    if (result == ORR_OK && !desc.double_precision && orr_physics_is_double(*physics)) {
        orr_log_line(engine->log, ORR_LOG_INFO, ORR_CODE_NONE,
                     "%s: the inertia matrix is too ill-conditioned for float: computed in double", name);
    }
    int first = 0, sleepless = result == ORR_OK ? orr_physics_sleepless(*physics, &first) : 0;
    if (sleepless > 0) {
        orr_log_line(
            engine->log, ORR_LOG_WARNING, ORR_CODE_NONE,
            "%s: %d trees with sleep=\"init\" touch others that are awake, and are awake, too; the first: "
            "body %d %s",
            name, sleepless, first, orr_model_name(model, ORR_OBJECT_BODY, first));
    }
    return result == ORR_OK ? ORR_OK : orr_fail(error, (orr_code)why.code, "%s: %s", name, why.message);
}

orr_result orr_world_physics_create(const orr_world_robots *robots, bool on_cuda, bool or_fail,
                                    const char *name, const orr_model *model, orr_physics **physics,
                                    orr_error *error)
{
    orr_cuda *cuda = NULL;
    orr_error why = {0};
    if (on_cuda) {
        ORR_TRY(orr_engine_take_cuda(robots->engine, &cuda, error));
        orr_result result = create(robots, cuda, name, model, physics, &why);
        if (or_fail || (result != ORR_ERROR_MEMORY && result != ORR_ERROR_DEVICE)) {
            return result == ORR_OK ? ORR_OK : orr_fail(error, (orr_code)why.code, "%s", why.message);
        }
        orr_log_line(robots->engine->log, ORR_LOG_WARNING, (orr_code)why.code, "%s: the CPU moves it",
                     why.message);
    }
    return create(robots, NULL, name, model, physics, error);
}

orr_result orr_world_physics_copy(orr_physics *from, orr_physics *to, orr_error *error)
{
    static const orr_physics_quantity quantities[] = {
#define QUANTITY(NAME, name) ORR_PHYSICS_##NAME,
        ORR_PHYSICS_STATE(QUANTITY)
#undef QUANTITY
    };
    size_t count = sizeof quantities / sizeof quantities[0], worlds = (size_t)orr_physics_worlds(from);
    int most = 0;
    for (size_t i = 0; i < count; i++) {
        int size = orr_physics_size(from, quantities[i]);
        most = size > most ? size : most;
    }
    double *values;
    ORR_ALLOC(values, worlds * (size_t)most, "the states of a world's copies", error);
    for (size_t i = 0; i < count; i++) {
        orr_physics_read_all(from, &quantities[i], 1, values);
        orr_physics_set_all(to, quantities[i], values);
    }
    orr_free(values);
    bool diverged = false;
    for (size_t i = 0; i < worlds; i++) {
        diverged |= orr_physics_diverged(from, (int)i);
    }
    if (diverged) { // setting says that worlds are finite; this finds out again which are not
        orr_physics_forward(to);
    }
    return ORR_OK;
}
