// Tests of engine/core/jobs. Labelled `threads`: ThreadSanitizer runs them.
#define _POSIX_C_SOURCE 200809L
#include "engine/core/jobs.h"
#include "engine/maths/rng.h"
#include "tests/support/support.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { BLOCKS_MAX = 400, WORKERS_MAX = 6 };

// No atomics where the promise of jobs.h makes them needless: a broken promise is a data race that
// ThreadSanitizer reports, and without it a wrong count.
typedef struct visits {
    int blocks[BLOCKS_MAX];
    int64_t workers[WORKERS_MAX]; // blocks each worker ran
    int worker_count;
} visits;

static void visit(void *context, int i, int worker)
{
    visits *seen = context;
    if (worker >= 0 && worker < seen->worker_count) { // cmocka's asserts work in the main thread only
        seen->blocks[i]++;
        seen->workers[worker]++;
    }
}

static void every_block_runs_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= WORKERS_MAX; threads++) {
        orr_jobs *jobs;
        assert_ok(orr_jobs_create(threads, NULL, NULL, &jobs, &error));
        assert_int_equal(orr_jobs_workers(jobs), threads);
        for (int count = 0; count < BLOCKS_MAX; count += 7) {
            visits seen = {.worker_count = threads};
            orr_jobs_for(jobs, count, visit, &seen);
            int64_t sum = 0;
            for (int i = 0; i < BLOCKS_MAX; i++) {
                assert_int_equal(seen.blocks[i], i < count);
            }
            for (int i = 0; i < threads; i++) {
                sum += seen.workers[i];
            }
            assert_int_equal(sum, count);
        }
        orr_jobs_destroy(jobs);
    }
}

typedef struct chain {
    uint32_t *values;
    uint32_t round;
} chain;

// reads what other threads wrote in the round before
static void mix(void *context, int i, int worker)
{
    (void)worker;
    chain *c = context;
    const uint32_t *before = c->values + (c->round % 2 ? 0 : BLOCKS_MAX);
    uint32_t *after = c->values + (c->round % 2 ? BLOCKS_MAX : 0);
    uint32_t left = before[(i + BLOCKS_MAX - 1) % BLOCKS_MAX], right = before[(i + 1) % BLOCKS_MAX];
    after[i] = (uint32_t)orr_random_bits(left, right, c->round);
}

static void rounds_see_what_earlier_rounds_wrote_for_any_number_of_threads(void **state)
{
    (void)state;
    uint32_t expected[2 * BLOCKS_MAX];
    for (int threads = 1; threads <= WORKERS_MAX; threads++) {
        orr_jobs *jobs;
        assert_ok(orr_jobs_create(threads, NULL, NULL, &jobs, &error));
        uint32_t values[2 * BLOCKS_MAX] = {0};
        chain c = {.values = values};
        for (c.round = 0; c.round < 200; c.round++) {
            orr_jobs_for(jobs, BLOCKS_MAX, mix, &c);
        }
        orr_jobs_expect_more(jobs); // threads watch for the next round before they sleep
        for (; c.round < 400; c.round++) {
            orr_jobs_for(jobs, BLOCKS_MAX, mix, &c);
        }
        orr_jobs_expect_no_more(jobs);
        orr_jobs_destroy(jobs);
        if (threads == 1) {
            memcpy(expected, values, sizeof values);
        }
        assert_memory_equal(values, expected, sizeof values);
    }
}

static void meet(void *context, int i, int worker)
{
    (void)i, (void)worker;
    atomic_int *arrived = context;
    atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < 3) {
    }
}

static void blocks_run_at_the_same_time(void **state)
{
    (void)state;
    // each of three blocks waits for the other two: this ends only when three threads work
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(3, NULL, NULL, &jobs, &error));
    atomic_int arrived = 0;
    orr_jobs_for(jobs, 3, meet, &arrived);
    assert_int_equal(atomic_load(&arrived), 3);
    orr_jobs_destroy(jobs);
}

typedef struct nap {
    atomic_int arrived;
    bool done[2];
} nap;

// The caller's own block is done long before the other thread's.
static void meet_and_nap(void *context, int i, int worker)
{
    nap *n = context;
    atomic_fetch_add(&n->arrived, 1);
    while (atomic_load(&n->arrived) < 2) {
    }
    if (worker > 0) {
        nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    }
    n->done[i] = true;
}

static void the_caller_waits_for_the_last_block(void **state)
{
    (void)state;
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    for (int more = 0; more < 2; more++) {
        if (more) {
            orr_jobs_expect_more(jobs);
        }
        nap n = {.arrived = 0};
        orr_jobs_for(jobs, 2, meet_and_nap, &n);
        assert_true(n.done[0] && n.done[1]);
    }
    orr_jobs_destroy(jobs);
}

static void host_pool(void *user, int count, void (*body)(void *, int, int), void *context)
{
    (*(int *)user)++;
    for (int i = count - 1; i >= 0; i--) {
        body(context, i, i % 3);
    }
}

static void a_host_can_bring_its_own_pool(void **state)
{
    (void)state;
    int calls = 0;
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(3, host_pool, &calls, &jobs, &error));
    visits seen = {.worker_count = 3};
    orr_jobs_for(jobs, 10, visit, &seen);
    assert_int_equal(calls, 1);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(seen.blocks[i], 1);
    }
    orr_jobs_destroy(jobs);
}

static void thread_counts_out_of_range_are_refused(void **state)
{
    (void)state;
    orr_jobs *jobs;
    orr_error error;
    assert_int_equal(orr_jobs_create(-1, NULL, NULL, &jobs, &error), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_jobs_create(1025, NULL, NULL, &jobs, &error), ORR_ERROR_ARGUMENT);
    assert_null(jobs);
    orr_jobs_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_runs_once),
        cmocka_unit_test(rounds_see_what_earlier_rounds_wrote_for_any_number_of_threads),
        cmocka_unit_test(blocks_run_at_the_same_time),
        cmocka_unit_test(the_caller_waits_for_the_last_block),
        cmocka_unit_test(a_host_can_bring_its_own_pool),
        cmocka_unit_test(thread_counts_out_of_range_are_refused),
    };
    return cmocka_run_group_tests_name("jobs", tests, NULL, NULL);
}
