// Teams: on CUDA 1, 2, 4 or 8 threads of a warp step one world together. On the CPU a team has one member,
// and these functions do nothing.
//
// All members run the same program. The arrays of the world are shared; local variables and lane_data are
// each member's own.
//   - Independent items are divided among the members; a member that reads what others have written waits
//     first:
//         for (int i = team_first(d); i < n; i += team_size(d)) { ... }
//         team_wait(d);
//   - What only one member may do:
//         if (team_leads(d)) { ... }
//         team_wait(d);
//     and when it calls functions that divide items and wait, by a team of one:
//         if (team_single_begin(d)) { ... }
//         team_single_end(d);
//   - All else every member computes for itself. That is right where nothing is overwritten that was read
//     before, and cheaper than waiting.
//
// Sums have the same order, and so the same bits, for every team size: item i is added in strand i %
// LANE_STRANDS.
#pragma once

#include "physics/lanes/parameters.h"

#if defined(__CUDACC__)
enum { LANE_STRANDS = 8 }; // the largest team

FN int team_first(const lane_data *d)
{
    return d->team.member;
}

FN int team_size(const lane_data *d)
{
    return d->team.size;
}

// Does item i belong to this member, as team_first and team_size divide them?
FN int team_owns(const lane_data *d, int i)
{
    return (i & (d->team.size - 1)) == d->team.member;
}

FN int team_leads(const lane_data *d)
{
    return d->team.member == 0;
}

// Waits until all members are here; then each sees what the others wrote.
FN void team_wait(const lane_data *d)
{
#if defined(__CUDA_ARCH__) || ORR_CUDA_EMULATED
    if (d->team.size > 1) {
        __syncwarp(d->team.lanes);
    }
#else
    (void)d;
#endif
}

// True in the leader, which is a team of one from here to team_single_end.
FN int team_single_begin(lane_data *d)
{
    if (d->team.member != 0) {
        return 0;
    }
    d->team.size = 1;
    return 1;
}

// All members wait until the leader is here.
FN void team_single_end(lane_data *d)
{
    d->team.size = d->team.member_count;
    team_wait(d);
}

#if defined(__CUDA_ARCH__) || ORR_CUDA_EMULATED
// Between the lanes of two members whose numbers are `members` apart.
FN int team_distance(const lane_data *d, int members)
{
    return members * (LANE_STRIDE / d->team.size);
}
#define TEAM_EXCHANGE(d, x, members) __shfl_xor_sync((d)->team.lanes, x, team_distance(d, members))
#else
#define TEAM_EXCHANGE(d, x, members) (x)
#endif

// The bits that any member has set.
FN uint32_t team_bits(const lane_data *d, uint32_t bits)
{
    for (int other = 1; other < d->team.size; other *= 2) {
        bits |= TEAM_EXCHANGE(d, bits, other);
    }
    return bits;
}

// The sum over all strands; a member has strands member, member + size, ...
FN real team_sum(const lane_data *d, real strand[LANE_STRANDS])
{
    for (int half = LANE_STRANDS / 2; half > 0; half /= 2) {
        int mine = half / d->team.size;
        for (int k = 0; k < mine; k++) {
            strand[k] = strand[k] + strand[k + mine];
        }
        if (mine == 0) {
            strand[0] = strand[0] + TEAM_EXCHANGE(d, strand[0], half);
        }
    }
    return strand[0];
}

// The leader's count, in all members.
FN int32_t team_share(const lane_data *d, int32_t count)
{
    return (int32_t)team_bits(d, d->team.member == 0 ? (uint32_t)count : 0);
}
#else
enum { LANE_STRANDS = 1 };

FN int team_first(const lane_data *d)
{
    (void)d;
    return 0;
}

FN int team_size(const lane_data *d)
{
    (void)d;
    return 1;
}

FN int team_owns(const lane_data *d, int i)
{
    (void)d;
    (void)i;
    return 1;
}

FN int team_leads(const lane_data *d)
{
    (void)d;
    return 1;
}

FN void team_wait(const lane_data *d)
{
    (void)d;
}

FN int team_single_begin(const lane_data *d)
{
    (void)d;
    return 1;
}

FN void team_single_end(const lane_data *d)
{
    (void)d;
}

FN uint32_t team_bits(const lane_data *d, uint32_t bits)
{
    (void)d;
    return bits;
}

FN real team_sum(const lane_data *d, const real strand[LANE_STRANDS])
{
    (void)d;
    return strand[0];
}

FN int32_t team_share(const lane_data *d, int32_t count)
{
    (void)d;
    return count;
}
#endif

// The lanes in which any member's mask is set.
FN mask team_any(const lane_data *d, mask m)
{
#if defined(__CUDACC__)
    return team_bits(d, m ? 1u : 0u) != 0;
#else
    (void)d;
    return m;
#endif
}
