// Scene files from memory: what they say or one line of error, never both and never neither.
#include "engine/core/memory.h"
#include "engine/scene/scene_file.h"
#include "tests/fuzz/fuzz_target.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = orr_alloc(size + 1, 1);
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = 0;
    orr_scene_file file;
    orr_error error = {0};
    orr_result result = orr_scene_file_parse(text, "fuzz.json", &file, &error);
    if ((result == ORR_OK) != (file.layers != NULL) || (result != ORR_OK && error.message[0] == 0)) {
        abort();
    }
    orr_scene_file_free(&file);
    orr_free(text);
    return 0;
}
