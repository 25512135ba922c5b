/* The least program that uses the engine: C11, the public header and nothing else. */
#include <orrery.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    orr_engine *engine;
    orr_error error;
    if (strcmp(orr_version(), ORR_VERSION) != 0) {
        fprintf(stderr, "library %s, header %s\n", orr_version(), ORR_VERSION);
        return 1;
    }
    orr_engine_desc desc = {.device = ORR_DEVICE_CPU, .threads = 2};
    if (orr_engine_create(&desc, &engine, &error) != ORR_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%s\n", orr_engine_describe(engine));
    orr_engine_destroy(engine);
    return 0;
}
