// Video files: frames of bytes in, an .mp4 (H.264 where the encoder is present, otherwise MPEG-4) out, whole
// or not at all. FEATURE_ABSENT in a build without libavcodec.
#pragma once

#include "engine/core/result.h"

typedef struct orr_video orr_video;

// width x height in 1 .. 16384: odd sides grow by one repeated row or column, because colour is stored at
// half resolution. frames_per_second in 0.1 .. 1000. The file is written beside `path` until it is committed.
orr_result orr_video_begin(const char *path, int width, int height, double frames_per_second,
                           orr_video **video, orr_error *error);
// height x width x 4 bytes, display colours; alpha is ignored. Frames are stored with BT.709 colours.
orr_result orr_video_add(orr_video *video, const uint8_t *rgba, orr_error *error);
// Ends the file and moves it to its path; on failure nothing is left. The video is destroyed in both cases.
orr_result orr_video_commit(orr_video *video, orr_error *error);
void orr_video_abort(orr_video *video); // removes what was written; NULL is allowed
// The licence of libavcodec as it was configured, for example "GPL version 2 or later"; NULL: not linked.
const char *orr_video_licence(void);
