#include "tests/support/machine.h"

#include <stdlib.h>
#include <string.h>

orr_jobs *jobs;
orr_isa isa;
orr_cuda *cuda;
int team;

static int open_threads(void)
{
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    return 0;
}

int open_machine(void **state)
{
    const char *wanted = getenv("ORR_TEST_DEVICE");
    return wanted && strcmp(wanted, "cuda") == 0 ? open_cuda_machine(state) : open_threads();
}

int open_cuda_machine(void **state)
{
    need_cuda(state);
    assert_ok(orr_cuda_create(NULL, &cuda, &error));
    const char *threads = getenv("ORR_TEST_TEAM");
    team = threads ? atoi(threads) : 0;
    return open_threads();
}

int close_machine(void **state)
{
    (void)state;
    orr_jobs_destroy(jobs);
    orr_cuda_destroy(cuda);
    return 0;
}
