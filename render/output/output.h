// Pictures into files: stills (.png .exr .npy), numbered sequences of them, and videos (.mp4).
// Every file appears whole or not at all.
#pragma once

#include "engine/core/result.h"

typedef enum orr_output_kind {
    ORR_OUTPUT_PNG = 1,
    ORR_OUTPUT_EXR,
    ORR_OUTPUT_NPY,
    ORR_OUTPUT_MP4
} orr_output_kind;

typedef struct orr_output_desc {
    const char *path; // its ending gives the kind; "frame_%04d.png" numbers the pictures from 0 (%% is one %)
    int channels;     // 4: premultiplied rgba, all kinds; 1: depth, .exr and .npy only
    int64_t count;    // pictures that will come; more than one needs a numbered path or a video
    bool transparent; // .png keeps alpha (straight) instead of being composited over black
    double frames_per_second; // of a video
} orr_output_desc;

typedef struct orr_output orr_output;

// height x width x channels floats, rows from the top
typedef struct orr_output_picture {
    const float *values;
    int width, height;
} orr_output_picture;

// ORR_ERROR_ARGUMENT says what is wrong with the path. Nothing is written yet.
orr_result orr_output_create(const orr_output_desc *desc, orr_output **output, orr_error *error);
// Whether pictures must come one after the other from one thread at a time (a video); otherwise any thread
// may put any picture at any time.
bool orr_output_in_order(const orr_output *output);
// Picture `index` in 0 .. count - 1. All pictures of a video have one size.
orr_result orr_output_put(orr_output *output, int64_t index, orr_output_picture picture, orr_error *error);
// The file that picture `index` goes to; free with orr_free.
orr_result orr_output_name(const orr_output *output, int64_t index, char **name, orr_error *error);
orr_result orr_output_commit(orr_output *output, orr_error *error); // moves a video to its path
void orr_output_destroy(orr_output *output); // a video that was not committed is removed; NULL is allowed

// The file of one picture: `path` with its %d or %0Nd replaced by `index`; free with orr_free. Exactly one
// number is allowed when `numbered`, none otherwise.
orr_result orr_output_file_name(const char *path, bool numbered, int64_t index, char **name,
                                orr_error *error);
