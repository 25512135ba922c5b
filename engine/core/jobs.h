// Jobs: a deterministic parallel-for over fixed blocks of work.
//
// Work is cut into `count` blocks by the caller, independently of how many threads there are; threads claim
// blocks in any order. A result is therefore the same for any number of threads as long as a block writes
// only what is its own.
#pragma once

#include "engine/core/result.h"

typedef struct orr_jobs orr_jobs;

// body(context, i, worker): block i; `worker` in [0, orr_jobs_workers) is exclusive while the call lasts.
typedef void (*orr_job_fn)(void *context, int i, int worker);

// threads 0: one per core this process may run on. A host's pool takes the place of our threads when it is
// given.
orr_result orr_jobs_create(int threads, orr_parallel_for_fn parallel_for, void *user, orr_jobs **jobs,
                           orr_error *error);
void orr_jobs_destroy(orr_jobs *jobs);
int orr_jobs_workers(const orr_jobs *jobs);

// After fork() the child has the memory of the jobs, but not their threads. False there; then nothing else
// may be called for them, orr_jobs_destroy included.
bool orr_jobs_here(const orr_jobs *jobs);
// ORR_ERROR_ARGUMENT in such a child.
orr_result orr_jobs_check(const orr_jobs *jobs, orr_error *error);

// Runs all blocks and returns when they are done; the calling thread works too. Not reentrant: a body must
// not call it again.
void orr_jobs_for(orr_jobs *jobs, int count, orr_job_fn body, void *context);

// Between these two calls threads that are done with a parallel-for look for the next one for a short while
// before they sleep, as a thread that sleeps begins late: for callers that run many short ones in a row, from
// one thread. Not of a host's pool.
void orr_jobs_expect_more(orr_jobs *jobs);
void orr_jobs_expect_no_more(orr_jobs *jobs);

// From now on each thread's part in a parallel-for is a span of the trace (not of a host's pool). NULL: stop.
struct orr_trace;
void orr_jobs_trace(orr_jobs *jobs, struct orr_trace *trace);

// How many blocks of `block` items cover `items`.
static inline int orr_blocks(int64_t items, int64_t block)
{
    return (int)((items + block - 1) / block);
}
