// A file as it is, and the same bytes as the content of a gzip stream, whose checksum no mutation would meet.
#include "engine/core/memory.h"
#include "tests/fuzz/splats/fuzz_splats.h"

#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t room = size + size / 1000 + 1024;
    uint8_t *packed = orr_alloc(room, 1);
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size, .next_out = packed};
    stream.avail_out = (uInt)room;
    if (!packed || deflateInit2(&stream, 0, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
        deflate(&stream, Z_FINISH) != Z_STREAM_END) {
        abort();
    }
    fuzz_splats(orr_read_spz, "fuzz.spz", packed, room - stream.avail_out);
    deflateEnd(&stream);
    orr_free(packed);
    return fuzz_splats(orr_read_spz, "fuzz.spz", data, size);
}
