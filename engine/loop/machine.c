#include "engine/loop/machine.h"

static const orr_machine *const machines[] = {&orr_machine_cpu, &orr_machine_vulkan, &orr_machine_cuda};

const orr_machine *orr_machine_of(orr_device_kind device)
{
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        if (machines[i]->device == device) {
            return machines[i];
        }
    }
    return NULL;
}

void orr_machine_tell(const orr_engine *engine, bool *told, orr_log_level level, bool missing,
                      const char *line)
{
    if (missing && !*told) {
        *told = true;
        orr_log_line(engine->log, level, ORR_CODE_FEATURE_ABSENT, "%s", line);
    }
}
