// Scene files from memory.
#include "engine/scene/scene_file.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    orr_scene_file file;
    orr_error error = {0};
    orr_result result = orr_scene_file_parse(text, "fuzz.json", &file, &error);
    fuzz_expect(result, file.layers != NULL, &error);
    orr_scene_file_free(&file);
    free(text);
    return 0;
}
