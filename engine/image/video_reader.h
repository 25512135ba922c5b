// Frames of video files: MP4 and QuickTime, Matroska and WebM, AVI, MPEG-TS. FEATURE_ABSENT in a build
// without libavcodec.
#pragma once

#include "engine/core/result.h"

typedef struct orr_video_reader orr_video_reader;

typedef struct orr_video_info {
    int width, height;        // [px] as shown: turned as the file says, by quarters
    double frames_per_second; // 0: not in the file
    int64_t frames;           // about, from the duration; 0: not known
} orr_video_info;

enum { ORR_VIDEO_PIXELS_MAX = 8192 * 4608 }; // of a frame

// The file is read through functions of our own: nothing that it names besides is opened.
orr_result orr_video_reader_open(const char *path, orr_video_reader **reader, orr_error *error);
// The same from memory, which must outlive the reader; `name` is for messages.
orr_result orr_video_reader_parse(const void *data, size_t size, const char *name, orr_video_reader **reader,
                                  orr_error *error);
orr_video_info orr_video_reader_info(const orr_video_reader *reader);
// The next frame as `width` x `height` display bytes, red green blue alpha, rows from the top.
// *rgba is valid until the next call; NULL: the video has ended. Damaged frames are left out; a frame of
// another size is an error.
orr_result orr_video_reader_next(orr_video_reader *reader, const uint8_t **rgba, orr_error *error);
void orr_video_reader_close(orr_video_reader *reader); // NULL is allowed
