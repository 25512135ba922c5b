// Files of neural materials from memory.
#include "render/appearance/neural_material.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    orr_neural_material *material;
    orr_error error = {0};
    orr_result result = orr_neural_material_read("fuzz.material", data, size, &material, &error);
    fuzz_expect(result, material != NULL, &error);
    orr_neural_material_destroy(material);
    return 0;
}
