// Drawing on CUDA: meshes, fields and splats, over what the CPU shows of fields that the device cannot draw; several frames in
// flight.
#pragma once

#include "engine/core/trace.h"
#include "engine/device/cuda.h"
#include "render/field_pass.h"

typedef struct orr_cuda_draw orr_cuda_draw;

// frames_in_flight: 1 .. 8. `cuda` is borrowed. FEATURE_ABSENT in a build without CUDA.
orr_result orr_cuda_draw_create(orr_cuda *cuda, int frames_in_flight, orr_cuda_draw **draw, orr_error *error);
void orr_cuda_draw_destroy(orr_cuda_draw *draw); // NULL is allowed; waits for its frames

// Fields that the CPU has marched: planes of the picture's size on the host, NULL where there are none.
typedef struct orr_cuda_layers {
    const float *field_depth;  // infinity: no field there
    const float *field_colour; // 4 planes: premultiplied red, green, blue, and alpha
} orr_cuda_layers;

// Does the device draw this field? Uploads it under its key when it comes first, and what has changed of it since. Where it
// does not, one line in the log says why, the first time, and the CPU has to (field_pass.h).
bool orr_cuda_draw_takes_field(orr_cuda_draw *draw, const orr_draw_field *field, orr_log log);

// Starts one frame, behind those that are under way. Packs and meshes are uploaded under their keys when they come first;
// bodies on which meshes stand are read where this frame is in the device's stream. The list's fields are those that it takes,
// and stand over those of the layers. The list's packs, meshes and fields must live until this returns only, the planes of the
// layers until the frame is finished. CAPACITY when frames_in_flight frames wait to be finished, DEVICE_MEMORY when the device
// cannot hold the frame.
orr_result orr_cuda_draw_submit(orr_cuda_draw *draw, const orr_draw_list *list, const orr_cuda_layers *layers,
                                orr_error *error);
// Waits for the oldest frame, and for no other, and writes its planes; `picture` and its planes may be NULL. Stage times,
// measured by the device, are added to `profile` (nullable). On failure the frame is dropped.
orr_result orr_cuda_draw_finish(orr_cuda_draw *draw, const orr_picture *picture, orr_profile *profile,
                                orr_error *error);

// The picture that was finished last where it is: on the device, height x width x 4, until the next submit.
const float *orr_cuda_draw_picture(const orr_cuda_draw *draw);
// From the next frame on, what the host does here is in the trace, too; NULL: no longer. The stream's clock is compared with
// the host's anew, and the trace told how. No frame may be under way.
orr_result orr_cuda_draw_trace(orr_cuda_draw *draw, orr_trace *trace, orr_error *error);

// Forgets what was uploaded under a key; waits for the frames under way.
void orr_cuda_draw_release(orr_cuda_draw *draw, uint64_t key);
