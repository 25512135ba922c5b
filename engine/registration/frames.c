// Frames of a video become photos: it is read once to measure all frames, and again to write those chosen.
#include "engine/registration/registration.h"

#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/image/video_reader.h"
#include "engine/registration/frame_pick.h"

enum { PROGRESS_EVERY = 8, FRAMES_MAX = 10 * 1000 * 1000 };

typedef struct measures {
    orr_frame_measure *items;
    int count, capacity;
} measures;

static orr_result measure_frames(const orr_registration *r, orr_video_reader *reader, measures *m,
                                 orr_error *error)
{
    const orr_video_info info = orr_video_reader_info(reader);
    orr_frame_meter *meter;
    ORR_TRY(orr_frame_meter_create(info.width, info.height, &meter, error));
    orr_result result = ORR_OK;
    while (result == ORR_OK) {
        const uint8_t *rgba;
        int64_t total = info.frames > m->count ? info.frames : m->count + 1;
        if (m->count % PROGRESS_EVERY == 0) {
            result = orr_registration_progress(r, "frames measured", m->count, total, error);
        }
        result = result == ORR_OK ? orr_video_reader_next(reader, &rgba, error) : result;
        if (result != ORR_OK || !rgba) {
            break;
        }
        orr_frame_measure *grown = orr_grown(m->items, &m->capacity, m->count + 1, sizeof *m->items);
        if (!grown || m->count >= FRAMES_MAX) {
            result = orr_fail(error, grown ? ORR_CODE_FILE_TOO_LARGE : ORR_CODE_OUT_OF_MEMORY,
                              "%s: more frames than memory or %d", r->desc.source, FRAMES_MAX);
        } else {
            m->items = grown;
            m->items[m->count++] = orr_frame_meter_next(meter, rgba);
        }
    }
    orr_frame_meter_destroy(meter);
    return result;
}

static orr_result write_frame(orr_registration *r, const orr_video_info *info, int index, const uint8_t *rgba,
                              orr_error *error)
{
    char *path;
    ORR_TRY(orr_registration_text(&path, error, "%s/frame_%06d.png", r->folder, index));
    orr_result result = orr_png_save(path, rgba, info->width, info->height, error);
    orr_free(path);
    return result;
}

static orr_result write_frames(orr_registration *r, orr_video_reader *reader, const int *picked, int count,
                               orr_error *error)
{
    const orr_video_info info = orr_video_reader_info(reader);
    for (int index = 0, written = 0; written < count; index++) {
        const uint8_t *rgba;
        ORR_TRY(orr_video_reader_next(reader, &rgba, error));
        if (!rgba) {
            break;
        }
        if (index == picked[written]) {
            ORR_TRY(orr_registration_progress(r, "frames written", written, count, error));
            ORR_TRY(write_frame(r, &info, index, rgba, error));
            written++;
        }
    }
    return ORR_OK;
}

static orr_result pick_and_write(orr_registration *r, const measures *m, orr_error *error)
{
    int *picked;
    ORR_ALLOC(picked, m->count, "frames of a video", error);
    int count = orr_frames_pick(m->items, m->count, r->desc.frames, picked);
    orr_video_reader *reader;
    orr_result result = orr_video_reader_open(r->desc.source, &reader, error);
    if (result == ORR_OK) {
        result = write_frames(r, reader, picked, count, error);
        orr_video_reader_close(reader);
    }
    orr_free(picked);
    return result;
}

orr_result orr_registration_take_frames(orr_registration *r, orr_error *error)
{
    orr_video_reader *reader;
    measures m = {0};
    char *folder;
    ORR_TRY(orr_video_reader_open(r->desc.source, &reader, error));
    orr_result result = measure_frames(r, reader, &m, error);
    orr_video_reader_close(reader);
    if (result == ORR_OK && m.count < 3) {
        result =
            orr_fail(error, ORR_CODE_VIDEO, "%s: %d frames: expected at least 3", r->desc.source, m.count);
    }
    result = result == ORR_OK ? orr_registration_text(&folder, error, "%s/frames", r->work) : result;
    if (result == ORR_OK) {
        orr_free(r->folder);
        r->folder = folder;
        result = orr_folder_make(folder, error);
    }
    result = result == ORR_OK ? pick_and_write(r, &m, error) : result;
    result = result == ORR_OK ? orr_folder_list(r->folder, &r->names, error) : result;
    r->info.frames_read = m.count;
    r->same_size = r->in_order = r->video = true;
    orr_free(m.items);
    return result;
}
