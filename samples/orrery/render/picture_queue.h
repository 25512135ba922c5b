// Pictures between drawing and files: a bounded queue with its own writing threads, so that drawing
// and encoding overlap and neither runs far ahead of the other.
#pragma once

#include "engine/image/output.h"

typedef struct picture_queue picture_queue;

// Memory for one picture, drawn into by the caller.
typedef struct queued_picture {
    float *rgba;
    float *depth; // NULL when no depth is written
    int width, height;
    int64_t index;
    int stage; // the queue's own
} queued_picture;

// depth may be NULL. Every picture has at most `pixels` pixels. Writes with `threads` threads, or one when an
// output needs its pictures in order. The outputs must outlive the queue.
orr_result picture_queue_create(orr_output *colour, orr_output *depth, int64_t pixels, int threads,
                                picture_queue **queue, orr_error *error);
// A free picture to draw into, waiting for one to be written if need be; NULL once writing has failed.
queued_picture *picture_queue_take(picture_queue *queue);
// Hands a taken picture over; indices come in order.
void picture_queue_put(picture_queue *queue, queued_picture *picture);
int64_t picture_queue_written(picture_queue *queue);
// Waits until all pictures are written; the result of the first write that failed.
orr_result picture_queue_finish(picture_queue *queue, orr_error *error);
// Ends the threads once the write at hand is done; what waits is dropped. NULL is allowed.
void picture_queue_destroy(picture_queue *queue);
