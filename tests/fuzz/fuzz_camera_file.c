// Camera files from memory: what they say or one line of error, never both and never neither.
#include "engine/core/memory.h"
#include "engine/scene/camera_file.h"
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
    orr_camera_list list;
    orr_error error = {0};
    orr_result result = orr_camera_file_parse(text, "fuzz.json", 640, 480, &list, &error);
    if ((result == ORR_OK) != (list.cameras != NULL) || (result != ORR_OK && error.message[0] == 0)) {
        abort();
    }
    orr_camera_list_free(&list);
    orr_free(text);
    return 0;
}
