// Graphs of steps. A step whose key (sizes, kinds and memory) has occurred before is captured, which puts
// nothing into the stream, and from then on it is one call: what differs between steps is sent by the graph
// itself, from the flight's pinned memory. No memory is given out during a capture, since the first step of
// a key, which is put kernel by kernel, has reserved it.
#include "render/training/cuda/splat_steps_state.h"

#include <string.h>

static void forget(orr_cuda_step_graph *g)
{
    for (int i = 0; i < ORR_CUDA_FLIGHTS; i++) {
        if (g->runnable[i]) {
            cudaGraphExecDestroy(g->runnable[i]);
        }
    }
    *g = (orr_cuda_step_graph){0};
}

void orr_cuda_step_graphs_destroy(orr_cuda_splat_steps *s)
{
    for (int i = 0; i < ORR_CUDA_STEP_GRAPHS; i++) {
        forget(&s->graphs[i]);
    }
}

static orr_cuda_step_key key_of(orr_cuda_splat_steps *s, const orr_cuda_flight *f)
{
    const orr_cuda_splat_step *step = &f->step;
    orr_cuda_buffer *buffers[ORR_CUDA_STEP_BUFFERS];
    const int count = orr_cuda_splat_steps_buffers(s, buffers);
    orr_cuda_step_key key;
    memset(&key, 0, sizeof key); // keys are compared as bytes
    for (int i = 0; i < count; i++) {
        key.memory[i] = buffers[i]->memory;
    }
    key.width = step->lens->width;
    key.height = step->lens->height;
    key.degree = s->params.degree;
    key.splats = s->params.count;
    key.pairs = s->stages.pair_capacity;
    key.distorted = step->lens->distorted;
    key.magnitude = step->magnitude;
    key.motion = step->motion;
    key.grid = step->grid_steps > 0;
    key.by_alpha = step->exposure || step->grid_steps > 0 || f->photo->has_alpha;
    memcpy(key.background, step->background, sizeof key.background);
    key.alpha_weight = step->alpha_weight;
    key.dissimilarity = step->dissimilarity;
    return key;
}

static orr_cuda_step_graph *find(orr_cuda_splat_steps *s, const orr_cuda_step_key *key)
{
    for (int i = 0; i < ORR_CUDA_STEP_GRAPHS; i++) {
        if (s->graphs[i].used > 0 && memcmp(&s->graphs[i].key, key, sizeof *key) == 0) {
            return &s->graphs[i];
        }
    }
    return NULL;
}

static orr_result capture(orr_cuda_splat_steps *s, orr_cuda_flight *f, cudaGraphExec_t *runnable,
                          orr_error *error)
{
    cudaGraph_t graph = NULL;
    ORR_CUDA_TRY(cudaStreamBeginCapture(s->cuda->stream, cudaStreamCaptureModeThreadLocal));
    s->frame.captured = true;
    orr_result result = orr_cuda_splat_steps_put(s, f, error);
    s->frame.captured = false;
    cudaError_t code = cudaStreamEndCapture(s->cuda->stream, &graph);
    if (result == ORR_OK && code != cudaSuccess) {
        result = orr_cuda_fail(error, code, "cudaStreamEndCapture");
    }
    if (result == ORR_OK) {
        code = cudaGraphInstantiate(runnable, graph, 0);
        result = code == cudaSuccess ? ORR_OK : orr_cuda_fail(error, code, "cudaGraphInstantiate");
    }
    if (graph) {
        cudaGraphDestroy(graph);
    }
    cudaGetLastError();
    return result;
}

orr_result orr_cuda_step_graphs_put(orr_cuda_splat_steps *s, orr_cuda_flight *f, bool *put, orr_error *error)
{
    const orr_cuda_step_key key = key_of(s, f);
    orr_cuda_step_graph *g = find(s, &key);
    *put = g != NULL;
    if (!g) {
        return ORR_OK;
    }
    cudaGraphExec_t *runnable = &g->runnable[f - s->flights];
    g->used = s->begun + 1;
    ORR_TRY(*runnable ? ORR_OK : capture(s, f, runnable, error));
    // the graph sends it from here, and a step of another number of splats may have been between
    s->frame.counted[1] = (orr_cuda_control){.splats = s->params.count};
    ORR_CUDA_TRY(cudaGraphLaunch(*runnable, s->cuda->stream));
    return ORR_OK;
}

void orr_cuda_step_graphs_note(orr_cuda_splat_steps *s, const orr_cuda_flight *f)
{
    const orr_cuda_step_key key = key_of(s, f);
    orr_cuda_step_graph *to = &s->graphs[0];
    for (int i = 1; i < ORR_CUDA_STEP_GRAPHS; i++) { // the one that has not been used for longest goes
        to = s->graphs[i].used < to->used ? &s->graphs[i] : to;
    }
    if (to->used > 0) { // one of its graphs may still run
        orr_cuda_wait(s->cuda, NULL);
    }
    forget(to);
    to->key = key;
    to->used = s->begun + 1;
}
