// A training of splats on the device, for the files that keep its memory (splat_memory.c), put its steps into
// the stream (splat_steps.c), and keep the steps that are under way (splat_flight.c) and their graphs
// (splat_graphs.c).
#pragma once

#include "render/cuda/stages.h"
#include "render/training/cuda/splat_pass.h"
#include "render/training/cuda/splat_steps.h"
#include "render/training/splat_views.h"

// A photo on the device.
typedef struct orr_cuda_photo {
    int shrink; // 0: there is none
    orr_loss_planes planes;
    orr_cuda_buffer values, kept, alpha;
    bool has_kept, has_alpha;
} orr_cuda_photo;

// The ends of stages on the device's clock, behind those of drawing.
typedef enum orr_cuda_step_mark {
    ORR_CUDA_STEP_DRAWN,
    ORR_CUDA_STEP_LOSS,
    ORR_CUDA_STEP_BACKWARD,
    ORR_CUDA_STEP_UPDATE,
    ORR_CUDA_STEP_MARKS
} orr_cuda_step_mark;

// What a step leaves, on the device and then on the host.
typedef struct orr_cuda_step_totals {
    double loss[ORR_CUDA_LOSS_SUMS];
    double alpha[ORR_COMPOSE_SUMS];
    double motion[ORR_MOTION];
    double shown, depth; // points that count, and the sum of their differences
    double variation;    // of the photo's grid, as it is in the loss
    orr_cuda_control control;
} orr_cuda_step_totals;

// A step in the stream, or one that nobody has looked at.
typedef struct orr_cuda_flight {
    orr_cuda_step_now *now;       // host, pinned: sent by the step itself
    orr_cuda_step_totals *landed; // host, pinned: what it left
    cudaEvent_t drawn[ORR_CUDA_MARK_COUNT], marks[ORR_CUDA_STEP_MARKS], done;
    bool pending;
    orr_cuda_splat_step step; // to be put again if there was no room; what it points to is here
    orr_lens lens;
    orr_depth_seen depths; // its numbers are on the device
    const orr_cuda_photo *photo;
    orr_profile *profile;
} orr_cuda_flight;

enum {
    ORR_CUDA_FLIGHTS = 2,       // the host prepares a step while the one before it runs
    ORR_CUDA_STEP_BUFFERS = 52, // those of orr_cuda_splat_steps_buffers, at most
    ORR_CUDA_STEP_GRAPHS = 8    // sizes of photos, numbers of splats and kinds of steps that are remembered
};

// What a graph of a step has fixed besides the code: two steps of the same key differ in `now` alone.
typedef struct orr_cuda_step_key {
    const void *memory[ORR_CUDA_STEP_BUFFERS];
    int32_t width, height, degree;
    uint32_t splats, pairs;
    uint32_t distorted, magnitude, motion, grid, by_alpha;
    float background[3], alpha_weight, dissimilarity;
} orr_cuda_step_key;

typedef struct orr_cuda_step_graph {
    orr_cuda_step_key key;
    int64_t used;                               // at which step last; 0: there is none
    cudaGraphExec_t runnable[ORR_CUDA_FLIGHTS]; // NULL: not captured yet
} orr_cuda_step_graph;

struct orr_cuda_splat_steps {
    orr_cuda *cuda; // borrowed
    orr_cuda_stages stages;
    orr_cuda_frame frame;
    orr_cuda_seen_cloud seen; // the frame's only one
    orr_cuda_photo *photos;   // per image of the capture, and one more for those that do not stay
    int image_count;
    size_t photo_bytes, photo_bytes_most;
    orr_cuda_splat_params params;
    orr_cuda_buffer stored[3], harmonics[3], geometry, statistic[2];
    orr_cuda_buffer origin, fresh, spare; // of a new order
    orr_cuda_buffer picture, slopes[3], gradient, by_alpha, loss_sums, alpha_sums;
    orr_cuda_buffer by_depth, depth_pixel, depth_expected, depth_sums;
    orr_cuda_buffer first, counts, rows, motion_sums;
    orr_cuda_buffer weights; // of splats in photos, in double
    orr_cuda_buffer grids;   // per image; nothing: photos have none
    orr_cuda_buffer grid_cells, grid_gradient, grid_variations, centred, centre_sums;
    orr_cuda_step_totals *totals; // device
    orr_cuda_step_now *now;       // device: of the step that runs
    uint32_t *halted;             // device: as in orr_cuda_update
    orr_cuda_flight flights[ORR_CUDA_FLIGHTS];
    int64_t begun;               // steps; the next is in flight number begun % ORR_CUDA_FLIGHTS
    orr_cuda_splat_stepped last; // of the last step that was looked at
    bool has_last;
    orr_cuda_step_graph graphs[ORR_CUDA_STEP_GRAPHS];
    bool uncaptured; // every kernel is put by itself: for comparisons with graphs
};

// Every buffer that a step can use; returns their number.
int orr_cuda_splat_steps_buffers(orr_cuda_splat_steps *steps, orr_cuda_buffer *list[ORR_CUDA_STEP_BUFFERS]);

// What a flight needs to know of a step, whose photo is on the device.
orr_result orr_cuda_splat_steps_load(orr_cuda_splat_steps *steps, orr_cuda_flight *flight,
                                     const orr_cuda_splat_step *step, const orr_cuda_photo *photo,
                                     orr_error *error);
// Puts the step of a flight into the stream.
orr_result orr_cuda_splat_steps_put(orr_cuda_splat_steps *steps, orr_cuda_flight *flight, orr_error *error);
// The same by the graph of such steps, if there has been one with the same memory; *put: has it been?
orr_result orr_cuda_step_graphs_put(orr_cuda_splat_steps *steps, orr_cuda_flight *flight, bool *put,
                                    orr_error *error);
// Remembers a step that has been put without a graph.
void orr_cuda_step_graphs_note(orr_cuda_splat_steps *steps, const orr_cuda_flight *flight);
void orr_cuda_step_graphs_destroy(orr_cuda_splat_steps *steps);
// Waits for the steps that are under way, and puts those again that found no room for their pairs: before
// anything else looks at what they leave, or changes what they use.
orr_result orr_cuda_splat_steps_settle(orr_cuda_splat_steps *steps, orr_error *error);

// Puts the picture of the splats into the stream, and what leads from the loss by it (a compare's gradient,
// by_alpha and by_depth) to rows.
orr_result orr_cuda_splat_steps_put_drawing(orr_cuda_splat_steps *steps, const orr_cuda_flight *flight,
                                            orr_error *error);
orr_result orr_cuda_splat_steps_put_backward(orr_cuda_splat_steps *steps, const orr_cuda_splat_step *step,
                                             const orr_cuda_compare *compare, orr_cuda_rows *rows,
                                             orr_error *error);
// Memory for planes of the size of others.
orr_result orr_cuda_splat_steps_planes(orr_cuda_splat_steps *steps, const orr_loss_planes *like,
                                       orr_cuda_buffer *buffer, orr_loss_planes *planes, orr_error *error);
// The photo of a step, sent if it is not there.
orr_result orr_cuda_splat_steps_photo(orr_cuda_splat_steps *steps, const orr_cuda_splat_step *step,
                                      const orr_cuda_photo **photo, orr_error *error);
void orr_cuda_photo_release(orr_cuda_photo *photo);
