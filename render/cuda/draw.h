// Drawing on CUDA: meshes, fields and splats, together with what the CPU has drawn because the device cannot;
// several frames in flight.
#pragma once

#include "engine/core/jobs.h"
#include "engine/core/trace.h"
#include "engine/device/cuda.h"
#include "render/host_layers.h"

typedef struct orr_cuda_draw orr_cuda_draw;

// frames_in_flight: 1 .. 8. `cuda` and `jobs`, whose threads find the bounds of clouds that cast shadows, are
// borrowed. FEATURE_ABSENT in a build without CUDA.
orr_result orr_cuda_draw_create(orr_cuda *cuda, orr_jobs *jobs, int frames_in_flight, orr_cuda_draw **draw,
                                orr_error *error);
void orr_cuda_draw_destroy(orr_cuda_draw *draw); // NULL is allowed; waits for its frames

// Does the device draw this field? Uploads it under its key the first time, and later what has changed. If it
// does not, the CPU must (field_pass.h), and the first time one line in the log gives the reason.
bool orr_cuda_draw_takes_field(orr_cuda_draw *draw, const orr_draw_field *field, orr_log log);

// Starts one frame, behind those in flight. Packs and meshes are uploaded under their keys the first time;
// poses of bodies are read at this point of the device's stream. The list's fields must be those that
// takes_field accepts; they are merged by depth with those of `layers`, NULL: the CPU has drawn nothing. The
// list's packs, meshes and fields must live only until this returns, what the layers refer to until the frame
// is finished. CAPACITY when frames_in_flight frames are not finished, DEVICE_MEMORY when the frame does not
// fit the device's memory.
orr_result orr_cuda_draw_submit(orr_cuda_draw *draw, const orr_draw_list *list, const orr_host_layers *layers,
                                orr_error *error);
// Waits for the oldest frame, and for no other, and writes its planes; `picture` and its planes may be NULL.
// Stage times, measured by the device, are added to `profile` (nullable). On failure the frame is dropped.
orr_result orr_cuda_draw_finish(orr_cuda_draw *draw, const orr_picture *picture, orr_profile *profile,
                                orr_error *error);

// The picture that was finished last, in the device's memory; valid until the next submit.
orr_cuda_picture orr_cuda_draw_picture(const orr_cuda_draw *draw);
// From the next frame on, the host's work here is traced too; NULL: no longer. Calibrates the stream's clock
// against the host's again and records the method in the trace. No frame may be in flight.
orr_result orr_cuda_draw_trace(orr_cuda_draw *draw, orr_trace *trace, orr_error *error);

// Frees what was uploaded under a key; waits for the frames in flight.
void orr_cuda_draw_release(orr_cuda_draw *draw, uint64_t key);
