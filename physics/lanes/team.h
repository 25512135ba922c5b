// Teams: on CUDA 1, 2, 4 or 8 threads of a warp can work on one world. Elsewhere a team is one, and all this is nothing.
//
// All members run the same program. What they share is the world's arrays; each has variables and a lane_data of its own.
//   - Items that do not need each other are dealt out, and who reads what others wrote waits before it:
//         for (int i = team_first(d); i < n; i += team_size(d)) { ... }
//         team_wait(d);
//   - Otherwise all do the same. That is right where nothing is overwritten that was read before, and cheaper than to wait.
//   - What must be done once stands in ALONE.
// A function that deals out says so by its first use of these; ALONE's leader can call it too, as a team of one.
//
// Sums have the same order, and so the same bits, for any size of team: item i belongs to strand i % LANE_STRANDS.
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

// Is item i this member's, as team_first and team_size deal out?
FN int team_owns(const lane_data *d, int i)
{
    return (i & (d->team.size - 1)) == d->team.member;
}

// Is this the member that does what is done once?
FN int team_leads(const lane_data *d)
{
    return d->team.member == 0;
}

// Until all members are here, and what they wrote can be read.
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

#if defined(__CUDA_ARCH__) || ORR_CUDA_EMULATED
// Members are neighbours of the same distance.
FN int team_distance(const lane_data *d, int members)
{
    return members * (LANE_STRIDE / d->team.size);
}
#define TEAM_EXCHANGE(d, x, members) __shfl_xor_sync((d)->team.lanes, x, team_distance(d, members))
#else
#define TEAM_EXCHANGE(d, x, members) (x)
#endif

// The bits that any member has.
FN uint32_t team_bits(const lane_data *d, uint32_t bits)
{
    for (int other = 1; other < d->team.size; other *= 2) {
        bits |= TEAM_EXCHANGE(d, bits, other);
    }
    return bits;
}

// The sum over strands, of which a member has those from its number on in steps of the team's size.
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

// A count that only the leader has right.
FN int32_t team_share(const lane_data *d, int32_t count)
{
    return (int32_t)team_bits(d, d->team.member == 0 ? (uint32_t)count : 0);
}

// Runs a statement in one member, as a team of one; the others wait until it is done.
#define ALONE(d, ...)                                                                                        \
    {                                                                                                        \
        if (team_leads(d)) {                                                                                 \
            int all_members = (d)->team.size;                                                                \
            (d)->team.size = 1;                                                                              \
            __VA_ARGS__;                                                                                     \
            (d)->team.size = all_members;                                                                    \
        }                                                                                                    \
        team_wait(d);                                                                                        \
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

#define ALONE(d, ...)                                                                                        \
    {                                                                                                        \
        __VA_ARGS__;                                                                                         \
    }
#endif

// Has any member seen it, of the lanes in `m`?
FN mask team_any(const lane_data *d, mask m)
{
#if defined(__CUDACC__)
    return team_bits(d, m ? 1u : 0u) != 0;
#else
    (void)d;
    return m;
#endif
}

// Bodies of a level of the tree need only those of levels before. For a team of one all are one level.
FN int level_count(const lane_model *m, const lane_data *d)
{
    return team_size(d) == 1 ? 1 : m->plan->level_count;
}

FN int level_end(const lane_model *m, const lane_data *d, int level)
{
    return team_size(d) == 1 ? m->nbody - 1 : m->plan->level_first[level + 1];
}
