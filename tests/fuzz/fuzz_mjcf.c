// MJCF and URDF (the root element decides) from memory.
#include "physics/load/load.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    orr_model *model = NULL;
    orr_error error = {0};
    orr_result result = orr_model_parse((const char *)data, size, "/nowhere/fuzz.xml", &model, &error);
    fuzz_expect(result, model != NULL, &error);
    orr_model_destroy(model);
    return 0;
}
