// MJCF and URDF (the root element decides) from memory: a model or one line of error, never both and never
// neither.
#include "physics/load/load.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    orr_model *model = NULL;
    orr_error error = {0};
    orr_result result = orr_model_parse((const char *)data, size, "/nowhere/fuzz.xml", &model, &error);
    if ((result == ORR_OK) != (model != NULL) || (result != ORR_OK && error.message[0] == 0)) {
        abort();
    }
    orr_model_destroy(model);
    return 0;
}
