#define _GNU_SOURCE
#include "engine/core/jobs.h"

#include "engine/core/clock.h"
#include "engine/core/float_mode.h"
#include "engine/core/memory.h"
#include "engine/core/trace.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    THREADS_MAX = 1024,
    WATCH_NANOSECONDS = 50000, // how long threads look for the next parallel-for, where more are expected
    WATCH_LOOKS = 64           // between two looks at the clock
};

struct orr_jobs {
    int workers;
    orr_parallel_for_fn parallel_for; // Nullable: a host's pool
    void *user;
    // A page that the kernel clears in the child of a fork: 1 in the process that made the jobs. Reading it
    // costs nothing, which getpid() in every call would not.
    int *here;

    // our own pool
    pthread_t *threads; // workers - 1
    int thread_count;   // started
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    pthread_cond_t done;
    // changed with the mutex only:
    atomic_ullong round; // increases with each parallel-for
    atomic_int busy;     // threads that have a part in this round and have not finished it
    bool open;           // guarded by mutex: a thread that wakes now has a part in this round
    bool quit;           // guarded by mutex
    atomic_bool more;    // more parallel-fors are expected soon

    orr_trace *trace; // nullable; what it holds is guarded by mutex while a parallel-for runs

    // the work of this round
    orr_job_fn body;
    void *context;
    int count;
    atomic_int next;
};

typedef struct thread_start {
    orr_jobs *jobs;
    int worker;
} thread_start;

// A thread's part in a parallel-for; begin 0: nobody asks.
typedef struct job_share {
    uint64_t begin, end; // [ns]
    int blocks;
} job_share;

static uint64_t now(const orr_jobs *jobs)
{
    return jobs->trace ? orr_clock_nanoseconds() : 0;
}

static void record(const orr_jobs *jobs, int worker, job_share share)
{
    if (share.blocks > 0) {
        orr_trace_add(jobs->trace, ORR_TRACK_WORKERS + worker, NULL, share.begin, share.end);
    }
}

static job_share claim_blocks(orr_jobs *jobs, int worker)
{
    job_share share = {.begin = now(jobs)};
    for (;;) {
        int i = atomic_fetch_add_explicit(&jobs->next, 1, memory_order_relaxed);
        if (i >= jobs->count) {
            share.end = now(jobs);
            return share;
        }
        jobs->body(jobs->context, i, worker);
        share.blocks++;
    }
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// Looks for a while for another round than the one that was seen last, or, if `seen` is 0, until no thread is
// busy. Threads of others that wait for this core go first.
static void watch(const orr_jobs *jobs, uint64_t seen)
{
    uint64_t begin = 0;
    while (atomic_load_explicit(&jobs->more, memory_order_relaxed)) {
        for (int i = 0; i < WATCH_LOOKS; i++) {
            if (seen ? atomic_load_explicit(&jobs->round, memory_order_relaxed) != seen
                     : atomic_load_explicit(&jobs->busy, memory_order_relaxed) == 0) {
                return;
            }
            relax();
        }
        uint64_t time = orr_clock_nanoseconds();
        begin = begin ? begin : time;
        if (time - begin > WATCH_NANOSECONDS) {
            return;
        }
        sched_yield();
    }
}

static void *thread_main(void *argument)
{
    thread_start start = *(thread_start *)argument;
    orr_free(argument);
    orr_jobs *jobs = start.jobs;
    uint64_t seen = 0;
    orr_float_default(); // and not the mode of the thread that started this one
    pthread_mutex_lock(&jobs->mutex);
    for (;;) {
        while (jobs->round == seen && !jobs->quit) {
            pthread_cond_wait(&jobs->wake, &jobs->mutex);
        }
        if (jobs->quit) {
            break;
        }
        seen = jobs->round;
        if (!jobs->open) { // others have done it all; nobody waits for who wakes late
            continue;
        }
        jobs->busy++;
        pthread_mutex_unlock(&jobs->mutex);
        job_share share = claim_blocks(jobs, start.worker);
        pthread_mutex_lock(&jobs->mutex);
        record(jobs, start.worker, share);
        if (--jobs->busy == 0) {
            pthread_cond_signal(&jobs->done);
        }
        if (jobs->round == seen && jobs->more) {
            pthread_mutex_unlock(&jobs->mutex);
            watch(jobs, seen);
            pthread_mutex_lock(&jobs->mutex);
        }
    }
    pthread_mutex_unlock(&jobs->mutex);
    return NULL;
}

static int available_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return CPU_COUNT(&set);
    }
    // a machine with more cores than the set can hold
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > THREADS_MAX ? THREADS_MAX : (int)online;
}

static orr_result start_threads(orr_jobs *jobs, orr_error *error)
{
    ORR_ALLOC(jobs->threads, jobs->workers, "threads", error);
    for (int i = 1; i < jobs->workers; i++) {
        thread_start *start;
        ORR_ALLOC(start, 1, "a thread", error);
        *start = (thread_start){jobs, i};
        if (pthread_create(&jobs->threads[jobs->thread_count], NULL, thread_main, start) != 0) {
            orr_free(start);
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "cannot start worker thread %d of %d", i,
                            jobs->workers);
        }
        jobs->thread_count++;
    }
    return ORR_OK;
}

// NULL when memory is out. Where the kernel is older than 4.14 a child is not recognised.
static int *make_mark(void)
{
    void *page = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return NULL;
    }
    (void)madvise(page, (size_t)sysconf(_SC_PAGESIZE), MADV_WIPEONFORK);
    *(int *)page = 1;
    return page;
}

orr_result orr_jobs_create(int threads, orr_parallel_for_fn parallel_for, void *user, orr_jobs **out,
                           orr_error *error)
{
    *out = NULL;
    if (threads < 0 || threads > THREADS_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "threads %d: expected 0 (one per core) to %d", threads,
                        THREADS_MAX);
    }
    orr_jobs *jobs = orr_alloc_zero(1, sizeof *jobs);
    int *here = jobs ? make_mark() : NULL;
    if (!here) {
        orr_free(jobs);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the thread pool");
    }
    jobs->workers = threads ? threads : available_cores();
    jobs->parallel_for = parallel_for;
    jobs->user = user;
    jobs->here = here;
    pthread_mutexattr_t kind; // which is held for a moment only
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&jobs->mutex, &kind);
    pthread_mutexattr_destroy(&kind);
    pthread_cond_init(&jobs->wake, NULL);
    pthread_cond_init(&jobs->done, NULL);
    orr_result result = parallel_for ? ORR_OK : start_threads(jobs, error);
    if (result != ORR_OK) {
        orr_jobs_destroy(jobs);
        return result;
    }
    *out = jobs;
    return ORR_OK;
}

void orr_jobs_destroy(orr_jobs *jobs)
{
    if (!jobs) {
        return;
    }
    pthread_mutex_lock(&jobs->mutex);
    jobs->quit = true;
    pthread_cond_broadcast(&jobs->wake);
    pthread_mutex_unlock(&jobs->mutex);
    for (int i = 0; i < jobs->thread_count; i++) {
        pthread_join(jobs->threads[i], NULL);
    }
    pthread_cond_destroy(&jobs->done);
    pthread_cond_destroy(&jobs->wake);
    pthread_mutex_destroy(&jobs->mutex);
    munmap(jobs->here, sizeof *jobs->here);
    orr_free(jobs->threads);
    orr_free(jobs);
}

void orr_jobs_expect_more(orr_jobs *jobs)
{
    jobs->more = true;
}

void orr_jobs_expect_no_more(orr_jobs *jobs)
{
    jobs->more = false;
}

void orr_jobs_trace(orr_jobs *jobs, orr_trace *trace)
{
    jobs->trace = trace;
}

int orr_jobs_workers(const orr_jobs *jobs)
{
    return jobs->workers;
}

bool orr_jobs_here(const orr_jobs *jobs)
{
    return *jobs->here == 1;
}

orr_result orr_jobs_check(const orr_jobs *jobs, orr_error *error)
{
    return orr_jobs_here(jobs) ? ORR_OK
                               : orr_fail(error, ORR_CODE_ARGUMENT,
                                          "the engine was made before fork(), by the parent of this process: "
                                          "expected an engine of this process");
}

typedef struct host_call {
    orr_job_fn body;
    void *context;
} host_call;

static void run_on_host_thread(void *context, int i, int worker)
{
    const host_call *call = context;
    const orr_float_mode mode = orr_float_default();
    call->body(call->context, i, worker);
    orr_float_restore(&mode);
}

void orr_jobs_for(orr_jobs *jobs, int count, orr_job_fn body, void *context)
{
    if (count <= 0) {
        return;
    }
    if (jobs->parallel_for) {
        jobs->parallel_for(jobs->user, count, run_on_host_thread, &(host_call){body, context});
        return;
    }
    if (count == 1 || jobs->thread_count == 0) {
        job_share share = {.begin = now(jobs), .blocks = count};
        for (int i = 0; i < count; i++) {
            body(context, i, 0);
        }
        share.end = now(jobs);
        record(jobs, 0, share);
        return;
    }
    pthread_mutex_lock(&jobs->mutex);
    jobs->body = body;
    jobs->context = context;
    jobs->count = count;
    atomic_store_explicit(&jobs->next, 0, memory_order_relaxed);
    jobs->open = true;
    jobs->round++;
    pthread_cond_broadcast(&jobs->wake);
    pthread_mutex_unlock(&jobs->mutex);

    job_share share = claim_blocks(jobs, 0);

    pthread_mutex_lock(&jobs->mutex);
    record(jobs, 0, share);
    jobs->open = false;
    if (jobs->busy > 0 && jobs->more) {
        pthread_mutex_unlock(&jobs->mutex);
        watch(jobs, 0);
        pthread_mutex_lock(&jobs->mutex);
    }
    while (jobs->busy > 0) {
        pthread_cond_wait(&jobs->done, &jobs->mutex);
    }
    pthread_mutex_unlock(&jobs->mutex);
}
