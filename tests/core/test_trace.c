// Tests of engine/core/trace. Labelled `threads`: ThreadSanitizer runs them.
#include "engine/core/jobs.h"
#include "engine/core/profile.h"
#include "tests/support/support.h"

#include <string.h>

static void a_trace_holds_what_was_recorded(void **state)
{
    (void)state;
    enum { SPANS = 5000 };
    orr_trace trace = {0};
    for (int i = 0; i < SPANS; i++) {
        trace.frame = i / 10;
        orr_trace_add(&trace, i % 3, "stage", (uint64_t)i, (uint64_t)i + 2);
    }
    orr_trace_add(NULL, ORR_TRACK_HOST, "stage", 1, 2); // nobody asked
    assert_int_equal(trace.count, SPANS);
    assert_int_equal(trace.lost, 0);
    for (int i = 0; i < SPANS; i++) {
        assert_int_equal(trace.spans[i].track, i % 3);
        assert_int_equal(trace.spans[i].frame, i / 10);
        assert_true(trace.spans[i].begin == (uint64_t)i && trace.spans[i].end == (uint64_t)i + 2);
    }
    orr_trace_free(&trace);
    assert_int_equal(trace.count, 0);
}

static void stages_of_a_profile_are_spans_of_its_trace(void **state)
{
    (void)state;
    orr_trace trace = {.frame = 7};
    orr_profile profile;
    orr_profile_reset(&profile);
    profile.trace = &trace;
    uint64_t begin = orr_clock_nanoseconds();
    profile.stage_start = begin;
    orr_profile_end(&profile, "project", 10);
    orr_profile_end(&profile, "sort", 10);
    orr_profile_span(&profile, ORR_TRACK_CUDA, "blend", begin, begin + 1000000, 5);
    orr_profile_add(&profile, "elsewhere", 1.0, 1); // nobody knows when
    uint64_t end = orr_clock_nanoseconds();
    assert_int_equal(profile.count, 4);
    assert_int_equal(trace.count, 3);
    assert_true(trace.spans[0].begin == begin && trace.spans[0].end == trace.spans[1].begin);
    assert_true(trace.spans[1].end <= end);
    assert_int_equal(trace.spans[2].track, ORR_TRACK_CUDA);
    assert_int_equal(trace.spans[2].frame, 7);
    // the sum of a stage and its span are the same time
    assert_true(profile.stages[2].milliseconds == 1.0);
    orr_trace_free(&trace);
}

typedef struct work {
    int64_t sums[64];
} work;

static void sum_up(void *context, int i, int worker)
{
    (void)worker;
    work *w = context;
    for (int k = 0; k < 200000; k++) {
        w->sums[i] += k ^ i;
    }
}

static void each_thread_s_part_in_a_parallel_for_is_recorded(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    static work w;
    for (int threads = 1; threads <= THREADS; threads++) {
        orr_jobs *jobs;
        orr_trace trace = {0};
        assert_ok(orr_jobs_create(threads, NULL, NULL, &jobs, &error));
        orr_jobs_for(jobs, 64, sum_up, &w); // before anybody asks
        orr_jobs_trace(jobs, &trace);
        for (int round = 0; round < 5; round++) {
            int before = trace.count, seen[THREADS] = {0};
            uint64_t begin = orr_clock_nanoseconds();
            trace.frame = round;
            orr_jobs_for(jobs, round == 4 ? 1 : 64, sum_up, &w);
            uint64_t end = orr_clock_nanoseconds();
            // at least one thread worked, and none of them twice
            assert_true(trace.count > before && trace.count <= before + threads);
            for (int i = before; i < trace.count; i++) {
                const orr_span *span = &trace.spans[i];
                int worker = span->track - ORR_TRACK_WORKERS;
                assert_true(worker >= 0 && worker < threads);
                assert_int_equal(seen[worker]++, 0);
                assert_null(span->name);
                assert_int_equal(span->frame, round);
                assert_true(begin <= span->begin && span->begin < span->end && span->end <= end);
            }
        }
        orr_jobs_trace(jobs, NULL);
        int count = trace.count;
        orr_jobs_for(jobs, 64, sum_up, &w);
        assert_int_equal(trace.count, count);
        orr_jobs_destroy(jobs);
        orr_trace_free(&trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_holds_what_was_recorded),
        cmocka_unit_test(stages_of_a_profile_are_spans_of_its_trace),
        cmocka_unit_test(each_thread_s_part_in_a_parallel_for_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
