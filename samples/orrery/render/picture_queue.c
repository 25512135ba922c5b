#include "samples/orrery/render/picture_queue.h"

#include "engine/core/memory.h"

#include <pthread.h>

enum { THREADS_MAX = 8, PICTURES_MAX = THREADS_MAX + 2 };
static const int64_t BYTES_MAX = (int64_t)1 << 30; // of all pictures, as long as there is one thread

enum { STAGE_FREE = 0, STAGE_TAKEN, STAGE_READY, STAGE_WRITING };

struct picture_queue {
    orr_output *colour;
    orr_output *depth; // Nullable
    pthread_t threads[THREADS_MAX];
    int thread_count;

    pthread_mutex_t mutex;
    pthread_cond_t changed; // any picture's stage, quit, result
    // guarded by mutex
    queued_picture pictures[PICTURES_MAX];
    int picture_count;
    int64_t written;
    bool quit;
    orr_result result; // the first failure
    orr_error error;
};

static orr_result write_picture(picture_queue *q, const queued_picture *p, orr_error *error)
{
    ORR_TRY(orr_output_put(q->colour, p->index, p->rgba, p->width, p->height, error));
    return q->depth ? orr_output_put(q->depth, p->index, p->depth, p->width, p->height, error) : ORR_OK;
}

// the picture of that stage with the lowest index, or NULL
static queued_picture *first_at(picture_queue *q, int stage)
{
    queued_picture *first = NULL;
    for (int i = 0; i < q->picture_count; i++) {
        queued_picture *p = &q->pictures[i];
        if (p->stage == stage && (!first || p->index < first->index)) {
            first = p;
        }
    }
    return first;
}

static void *write_pictures(void *argument)
{
    picture_queue *q = argument;
    pthread_mutex_lock(&q->mutex);
    for (;;) {
        queued_picture *p = NULL;
        while (!q->quit && q->result == ORR_OK && !(p = first_at(q, STAGE_READY))) {
            pthread_cond_wait(&q->changed, &q->mutex);
        }
        if (!p) {
            break;
        }
        p->stage = STAGE_WRITING;
        pthread_mutex_unlock(&q->mutex);
        orr_error error = {0};
        orr_result result = write_picture(q, p, &error);
        pthread_mutex_lock(&q->mutex);
        p->stage = STAGE_FREE;
        if (result == ORR_OK) {
            q->written++;
        } else if (q->result == ORR_OK) {
            q->result = result;
            q->error = error;
        }
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->mutex);
    return NULL;
}

static orr_result fill(picture_queue *q, int64_t pixels, int threads, orr_error *error)
{
    for (int i = 0; i < threads + 2; i++) {
        queued_picture *p = &q->pictures[q->picture_count++];
        ORR_ALLOC(p->rgba, 4 * pixels, "a picture", error);
        if (q->depth) {
            ORR_ALLOC(p->depth, pixels, "a picture's depth", error);
        }
    }
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&q->threads[i], NULL, write_pictures, q) != 0) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "cannot start a thread that writes pictures");
        }
        q->thread_count++;
    }
    return ORR_OK;
}

orr_result picture_queue_create(orr_output *colour, orr_output *depth, int64_t pixels, int threads,
                                picture_queue **queue, orr_error *error)
{
    *queue = NULL;
    picture_queue *q = orr_alloc_zero(1, sizeof *q);
    if (!q) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the queue of pictures");
    }
    q->colour = colour;
    q->depth = depth;
    pthread_mutex_init(&q->mutex, NULL);
    pthread_cond_init(&q->changed, NULL);
    bool in_order = orr_output_in_order(colour) || (depth && orr_output_in_order(depth));
    threads = in_order ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    int64_t picture_bytes = pixels * (depth ? 5 : 4) * (int64_t)sizeof(float);
    while (threads > 1 && (threads + 2) * picture_bytes > BYTES_MAX) {
        threads--;
    }
    orr_result result = fill(q, pixels, threads, error);
    if (result != ORR_OK) {
        picture_queue_destroy(q);
        return result;
    }
    *queue = q;
    return ORR_OK;
}

queued_picture *picture_queue_take(picture_queue *q)
{
    queued_picture *p = NULL;
    pthread_mutex_lock(&q->mutex);
    while (q->result == ORR_OK && !(p = first_at(q, STAGE_FREE))) {
        pthread_cond_wait(&q->changed, &q->mutex);
    }
    if (p) {
        p->stage = STAGE_TAKEN;
    }
    pthread_mutex_unlock(&q->mutex);
    return p;
}

void picture_queue_put(picture_queue *q, queued_picture *picture)
{
    pthread_mutex_lock(&q->mutex);
    picture->stage = STAGE_READY;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->mutex);
}

int64_t picture_queue_written(picture_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    int64_t written = q->written;
    pthread_mutex_unlock(&q->mutex);
    return written;
}

orr_result picture_queue_finish(picture_queue *q, orr_error *error)
{
    pthread_mutex_lock(&q->mutex);
    while (q->result == ORR_OK && (first_at(q, STAGE_READY) || first_at(q, STAGE_WRITING))) {
        pthread_cond_wait(&q->changed, &q->mutex);
    }
    orr_result result = q->result;
    if (result != ORR_OK && error) {
        *error = q->error;
    }
    pthread_mutex_unlock(&q->mutex);
    return result;
}

void picture_queue_destroy(picture_queue *q)
{
    if (!q) {
        return;
    }
    pthread_mutex_lock(&q->mutex);
    q->quit = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->mutex);
    for (int i = 0; i < q->thread_count; i++) {
        pthread_join(q->threads[i], NULL);
    }
    for (int i = 0; i < q->picture_count; i++) {
        orr_free(q->pictures[i].rgba);
        orr_free(q->pictures[i].depth);
    }
    pthread_mutex_destroy(&q->mutex);
    pthread_cond_destroy(&q->changed);
    orr_free(q);
}
