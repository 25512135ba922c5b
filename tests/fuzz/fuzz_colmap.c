// COLMAP models from memory, text and binary: the input's halves are the camera and the image file.
#include "neural/capture/colmap.h"
#include "tests/fuzz/fuzz_target.h"

static void try_model(uint8_t *text, size_t size, bool is_text)
{
    uint8_t *split = memchr(text, '\f', size); // a form feed stands between them
    size_t first = split ? (size_t)(split - text) : size / 2, second = split ? first + 1 : first;
    orr_colmap_source source = {"cameras", "images", {text, first}, {text + second, size - second}, is_text};
    orr_photo_list list;
    orr_error error = {0};
    orr_result result = orr_colmap_parse(&source, &list, &error);
    fuzz_expect(result, list.photos != NULL, &error);
    orr_photo_list_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = (uint8_t *)fuzz_text(data, size);
    try_model(copy, size, true);
    try_model(copy, size, false);
    free(copy);
    return 0;
}
