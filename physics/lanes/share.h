// Threads that step one block of worlds together on the CPU: what is independent is divided into parts, which
// they claim in any order. Parts depend on the model and the state alone, each writes what is its own, and
// sums over them are added in their order, so that numbers do not depend on how many threads there are.
#pragma once

#include "physics/lanes/memory.h"
#include "physics/lanes/program.h"

#if !defined(__CUDACC__)

typedef void lane_part_fn(const lane_model *m, lane_data *d, const void *context, int part, int worker);

typedef struct lane_shared {
    const lane_model *m;
    lane_data *d;
    lane_part_fn *body;
    const void *context;
} lane_shared;

LANE_FN void run_part(void *context, int part, int worker)
{
    const lane_shared *s = (const lane_shared *)context;
    s->body(s->m, s->d, s->context, part, worker);
}

// Are so many parts done by several threads?
FN int parts_are_shared(const lane_data *d, int parts, int least)
{
    return d->threads != NULL && parts >= least;
}

// Fewer parts than `least` are done by the caller alone: they take no longer than others need to begin.
LANE_FN void share_parts(const lane_model *m, lane_data *d, int parts, int least, lane_part_fn *body,
                         const void *context)
{
    if (parts_are_shared(d, parts, least)) {
        lane_shared shared = {m, d, body, context};
        orr_jobs_for(d->threads->jobs, parts, run_part, &shared);
        return;
    }
    for (int part = 0; part < parts; part++) {
        body(m, d, context, part, 0);
    }
}

// How many parts cover `count` items, and the first item of a part.
FN int parts_of(int count, int size)
{
    return (count + size - 1) / size;
}

FN int part_end(int count, int size, int part)
{
    return (part + 1) * size < count ? (part + 1) * size : count;
}

// The arrays of the scratch that a worker has for itself.
LANE_FN void bind_worker(const lane_model *m, const lane_data *d, int worker, lane_data *own)
{
    bind(m, d->time, d->threads->scratch + (size_t)worker * scratch_bytes(m), 0, own);
}

// What a worker finds by and by is counted in its own part 0: nothing yet.
LANE_FN void begin_workers(const lane_model *m, const lane_data *d)
{
    for (int worker = 0; worker < orr_jobs_workers(d->threads->jobs); worker++) {
        lane_data own;
        bind_worker(m, d, worker, &own);
        own.part->contacts = own.part->met = own.part->missed = 0;
    }
}

// For how many things workers have had no room.
LANE_FN int workers_missed(const lane_model *m, const lane_data *d)
{
    int missed = 0;
    for (int worker = 0; worker < orr_jobs_workers(d->threads->jobs); worker++) {
        lane_data own;
        bind_worker(m, d, worker, &own);
        missed += own.part->missed;
    }
    return missed;
}
#endif
