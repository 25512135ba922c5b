#include "tests/support/engine.h"

orr_engine *engine;

int open_engine(void **state)
{
    (void)state;
    orr_engine_desc desc = {.threads = 2, .device = ORR_DEVICE_CPU};
    return orr_engine_create(&desc, &engine, NULL) == ORR_OK ? 0 : -1;
}

int close_engine(void **state)
{
    (void)state;
    orr_engine_destroy(engine);
    return 0;
}
