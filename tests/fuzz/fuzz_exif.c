// The orientation in a photo's EXIF data.
#include "engine/image/exif.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int orientation = orr_exif_orientation(data, size);
    if (orientation < 0 || orientation > 8) {
        abort();
    }
    return 0;
}
