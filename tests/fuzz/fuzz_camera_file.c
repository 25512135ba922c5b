// Camera files from memory.
#include "engine/scene/camera_file.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    orr_camera_list list;
    orr_error error = {0};
    orr_result result = orr_camera_file_parse(text, "fuzz.json", 640, 480, &list, &error);
    fuzz_expect(result, list.cameras != NULL, &error);
    orr_camera_list_free(&list);
    free(text);
    return 0;
}
