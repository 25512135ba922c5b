// Scene files from memory: no input may crash, leak or hang the parser.
#include "engine/core/memory.h"
#include "engine/loop/scene_file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = orr_alloc(size + 1, 1);
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = 0;
    orr_scene_file file;
    orr_error error;
    if (orr_scene_file_parse(text, "fuzz.json", &file, &error) == ORR_OK) {
        orr_scene_file_free(&file);
    }
    orr_free(text);
    return 0;
}
