// Pictures of every format from memory: pixels or one line of error, never both and never neither.
#include "engine/image/decode.h"
#include "tests/fuzz/fuzz_target.h"

#include "engine/core/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // most bytes that a mutation changes in a header make a large picture: 256 KiB are enough to find faults
    const orr_picture_source source = {.data = data, .size = size, .name = "fuzz.png", .bytes_max = 1 << 18};
    orr_pixels pixels;
    orr_error error = {0};
    orr_result result = orr_picture_decode(&source, &pixels, &error);
    if ((result == ORR_OK) != (pixels.data != NULL) || (result != ORR_OK && error.message[0] == 0)) {
        abort();
    }
    orr_free(pixels.data);
    return 0;
}
