// Videos from memory: a reader and frames of its size, or one line of error.
#include "engine/image/video_reader.h"
#include "tests/fuzz/fuzz_target.h"

enum { FRAMES_MAX = 4, PIXELS_MAX = 1 << 16 }; // larger ones are only slower

static void read_frames(orr_video_reader *reader)
{
    const orr_video_info info = orr_video_reader_info(reader);
    for (int i = 0; i < FRAMES_MAX && info.width * info.height <= PIXELS_MAX; i++) {
        const uint8_t *rgba;
        orr_error error = {0};
        orr_result result = orr_video_reader_next(reader, &rgba, &error);
        if (result != ORR_OK || !rgba) {
            fuzz_expect(result, result == ORR_OK, &error);
            return;
        }
        volatile uint8_t last = rgba[4 * (size_t)info.width * (size_t)info.height - 1];
        (void)last;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    orr_video_reader *reader;
    orr_error error = {0};
    orr_result result = orr_video_reader_parse(data, size, "fuzz.mp4", &reader, &error);
    fuzz_expect(result, reader != NULL, &error);
    if (reader) {
        read_frames(reader);
        orr_video_reader_close(reader);
    }
    return 0;
}
