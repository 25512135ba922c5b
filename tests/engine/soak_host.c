// A host program that makes and destroys engines for a time, and counts what its allocator holds after each
// round: soak_host SECONDS ROBOT.xml (tests/soak).
#define _GNU_SOURCE // mallinfo2
#include "engine/core/clock.h"
#include "tests/support/typical_job.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARM_UP = 5, SLACK = 1 << 16 }; // [rounds], [bytes]

int main(int argc, char **argv)
{
    static typical_result result;
    if (argc != 3) {
        fprintf(stderr, "soak_host SECONDS ROBOT.xml\n");
        return 2;
    }
    const uint64_t end = orr_clock_nanoseconds() + (uint64_t)(1e9 * atof(argv[1]));
    size_t held = 0;
    for (int round = 0; round <= WARM_UP || orr_clock_nanoseconds() < end; round++) {
        orr_error error;
        if (run_typical_job(argv[2], NULL, &result, &error) != ORR_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        size_t now = mallinfo2().uordblks + mallinfo2().hblkhd;
        if (round == WARM_UP) {
            held = now;
        }
        if (round > WARM_UP && now > held + SLACK) {
            fprintf(stderr, "after round %d the allocator holds %zu bytes, %zu more than after round %d\n",
                    round, now, now - held, WARM_UP);
            return 1;
        }
    }
    return 0;
}
