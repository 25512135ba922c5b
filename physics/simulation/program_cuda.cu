// The lane program as kernels: teams of threads per world, warps per block of worlds. program_cuda_double.cu
// compiles it in double.
#include "engine/device/cuda_kernel.h"
#include "physics/simulation/program_cuda.h"

#include "physics/lanes/program_inline.h"

#if !defined(PROGRAM)
#define PROGRAM orr_cuda_program_single
#endif

// Member `member` of a team of `size`. first: lane of the team's first thread; the others are at equal
// distances, so that adjacent threads work on adjacent worlds.
static __device__ lane_team make_team(int size, int first, int member)
{
    lane_team team = {member, size, size, 0};
    for (int i = 0; i < size; i++) {
        team.lanes |= 1u << (first + i * (ORR_WARP / size));
    }
    return team;
}

// The only kernel with the lane program: a second one would compile all of it again. A block of worlds is
// `team` warps, each of which has a part of the worlds.
static __global__ void run_worlds(orr_cuda_worlds worlds, int first, int team, orr_program_call call,
                                  int steps, int listed)
{
    const lane_model *m = (const lane_model *)worlds.model;
    int set = (int)blockIdx.x / team, block = first + set, thread = (int)threadIdx.x;
    int part = ORR_WARP / team, part_first = (int)blockIdx.x % team * part;
    int world = part_first + thread % part;
    mask lost = false;
    if (block * ORR_WARP + world < worlds.worlds && (!worlds.chosen || worlds.chosen[block] >> world & 1)) {
        lane_data d;
        bind(m, worlds.state + (size_t)block * worlds.state_bytes,
             worlds.scratch + (size_t)set * worlds.scratch_bytes, world, &d);
        d.team = make_team(team, thread % part, thread / part);
        run_calls(m, &d, call, steps, false);
        lost = has_diverged(m, &d);
        atomicMax(&worlds.counts[0], d.contacts_needed);
        atomicMax(&worlds.counts[2], d.iterations);
        if (thread < part) { // the world's first member
            worlds.world_counts[block * ORR_WARP + world].inaccurate += (uint32_t)d.inaccurate_steps;
            worlds.world_counts[block * ORR_WARP + world].restarts += (uint32_t)d.restarts;
        }
        if (block * ORR_WARP + world == listed) {
            worlds.counts[1] = list_contacts(m, &d, 0, worlds.contacts, m->plan->contact_capacity);
        }
    }
    unsigned int diverged = __ballot_sync(ORR_ALL_LANES, lost);
    if (thread == 0 && (call == ORR_PROGRAM_STEP || call == ORR_PROGRAM_FORWARD)) {
        unsigned int mine = part == ORR_WARP ? ORR_ALL_LANES : (1u << part) - 1u; // each world's first member
        atomicOr(&worlds.diverged[block], (diverged & mine) << part_first);
    }
    if (thread == 0 && call == ORR_PROGRAM_RESTART) {
        worlds.diverged[block] &= worlds.chosen ? ~worlds.chosen[block] : 0;
    }
}

static __global__ void write_numbers(orr_cuda_worlds worlds, orr_cuda_numbers numbers)
{
    int block = numbers.world / ORR_WARP, lane = numbers.world % ORR_WARP, i = (int)threadIdx.x;
    reals state = first_real(worlds.state + (size_t)block * worlds.state_bytes, lane);
    if (i < numbers.count) {
        state[numbers.at + i] = (real)numbers.values[i];
    }
    if (i == 0) {
        worlds.diverged[block] &= ~(1u << lane);
    }
}

static __global__ void take_numbers(orr_cuda_worlds worlds, orr_cuda_bodies bodies)
{
    int lane = bodies.world % ORR_WARP, positions = 3 * bodies.count;
    reals found = first_real(worlds.scratch, lane);
    bool diverged = worlds.diverged[bodies.world / ORR_WARP] >> lane & 1;
    for (int i = (int)threadIdx.x; i < 7 * bodies.count; i += (int)blockDim.x) {
        int at = i < positions ? bodies.position_at + i : bodies.rotation_at + i - positions;
        if (!diverged) {
            bodies.kept[i] = (float)found[at];
        }
        bodies.to[i] = bodies.kept[i];
    }
}

static void launch(cudaStream_t stream, const orr_cuda_worlds *worlds, int first, int count,
                   orr_program_call call, int steps, int listed)
{
    // calls that only read the state use one thread per world
    int team = call == ORR_PROGRAM_STEP || call == ORR_PROGRAM_FORWARD ? worlds->team : 1;
    ORR_LAUNCH(run_worlds, (unsigned int)(count * team), ORR_WARP, 0, stream, *worlds, first, team, call,
               steps, listed);
}

static void write(cudaStream_t stream, const orr_cuda_worlds *worlds, const orr_cuda_numbers *numbers)
{
    ORR_LAUNCH(write_numbers, 1, ORR_CUDA_NUMBERS, 0, stream, *worlds, *numbers);
}

static void take_bodies(cudaStream_t stream, const orr_cuda_worlds *worlds, const orr_cuda_bodies *bodies)
{
    ORR_LAUNCH(take_numbers, 1, 4 * ORR_WARP, 0, stream, *worlds, *bodies);
}

// Of state in the host's memory.
static void restart_lanes(const void *model, void *state, uint32_t lanes)
{
    for (int lane = 0; lane < ORR_WARP; lane++) {
        if (lanes >> lane & 1) {
            lane_data d;
            bind_state((const lane_model *)model, state, lane, &d);
            d.team.size = 1;
            restart((const lane_model *)model, &d, true);
        }
    }
}

// ---- the model as one piece of memory ----

struct piece {
    char *copy;
    const char *device;
    size_t used;
};

template <typename T> static void add(piece *p, T **array, int64_t count)
{
    size_t bytes = (size_t)count * sizeof(T);
    if (p->copy) {
        if (bytes) {
            memcpy(p->copy + p->used, *array, bytes);
        }
        *array = (T *)(p->device + p->used);
    }
    p->used += padded(bytes);
}

static void add_extremes(piece *p, orr_extremes *extremes)
{
    int32_t squares = 6 * extremes->cells * extremes->cells;
    int32_t candidates = squares > 0 ? extremes->range[2 * squares - 1] : 0;
    add(p, &extremes->range, 2 * (int64_t)squares);
    add(p, &extremes->candidate, candidates);
    extremes->block = NULL; // of lanes
    extremes->number = NULL;
    extremes->at = NULL;
}

// Hulls point into arrays whose addresses change.
static void add_hulls(piece *p, orr_plan *plan, const lane_model *m)
{
    const double *normal = plan->hull_normal;
    const int32_t *first = plan->hull_first, *of_first = plan->hull_of_first, *of_face = plan->hull_of_face;
    add(p, &plan->hull_normal, 3 * (int64_t)m->nhullface);
    add(p, &plan->hull_first, (int64_t)m->nhullface + 1);
    add(p, &plan->hull_vertex, 3 * (int64_t)m->nhullface);
    add(p, &plan->hull_of_first, (int64_t)m->nhullvert + m->nmesh);
    add(p, &plan->hull_of_face, 3 * (int64_t)m->nhullface);
    const orr_hull *from = plan->hull;
    size_t at = p->used;
    add(p, &plan->hull, m->nmesh);
    for (int i = 0; i < m->nmesh; i++) {
        orr_hull hull = from[i];
        if (hull.face_count == 0) {
            continue;
        }
        hull.normal = plan->hull_normal + (hull.normal - normal);
        hull.first = plan->hull_first + (hull.first - first);
        hull.vertex = plan->hull_vertex;
        hull.of_first = plan->hull_of_first + (hull.of_first - of_first);
        hull.of_face = plan->hull_of_face + (hull.of_face - of_face);
        hull.plane = NULL; // of lanes
        hull.triangle = NULL;
        add_extremes(p, &hull.vertices);
        if (p->copy) {
            ((orr_hull *)(p->copy + at))[i] = hull;
        }
    }
}

static const orr_plan *add_plan(piece *p, const lane_model *m)
{
    orr_plan plan = *m->plan;
    plan.model = NULL;
    add(p, &plan.pair, plan.pair_count);
    add(p, &plan.chain, plan.chain_count);
    add(p, &plan.chain_dof, plan.chain_dof_count);
    add(p, &plan.chain_part, plan.chain_dof_count);
    add(p, &plan.point_share, plan.point_entries);
    add(p, &plan.entry_node, plan.element_entries);
    add(p, &plan.dof_descending, m->nv);
    add(p, &plan.dof_ascending, m->nv);
    add(p, &plan.last_dof, m->nbody);
    add(p, &plan.dof_end, m->nv);
    add(p, &plan.level_body, m->nbody - 1);
    add(p, &plan.level_first, plan.level_count + 1);
    add(p, &plan.gyroscopic, m->nv);
    add(p, &plan.tree_start, sleep_trees(m));
    add(p, &plan.tree_range, sleep_trees(m));
    if (plan.boxed_count > 0) {
        add(p, &plan.boxed_geom, plan.boxed_count);
        add(p, &plan.pair_bits, (int64_t)m->ngeom * plan.pair_words);
        add(p, &plan.pair_before, (int64_t)m->ngeom * plan.pair_words);
        add(p, &plan.always_near, (plan.geom_pairs + 31) / 32);
    }
    add(p, &plan.meets, (int64_t)m->nbody * plan.meets_words);
    add_hulls(p, &plan, m);
    const int32_t triangle_nodes = plan.triangle_first[m->nmesh];
    add(p, &plan.triangle_first, (int64_t)m->nmesh + 1);
    add(p, &plan.triangle_node, triangle_nodes);
    size_t at = p->used;
    const orr_plan *from = &plan;
    add(p, &from, 1);
    return p->copy ? (const orr_plan *)(p->device + at) : NULL;
}

static size_t copy_model(const void *model, char *copy, const char *device)
{
    lane_model whole = *(const lane_model *)model, *m = &whole;
    piece p = {copy, device, padded(sizeof whole)}; // it is first
#define ADD_ARRAY(type, name, rows, columns) add(&p, &whole.name, (int64_t)(rows) * (int64_t)(columns));
    ORR_MODEL_ARRAYS(ADD_ARRAY)
#undef ADD_ARRAY
    whole.plan = add_plan(&p, &whole);
    if (copy) {
        memcpy(copy, &whole, sizeof whole);
    }
    return p.used;
}

extern "C" const orr_cuda_program *PROGRAM(void)
{
    static const orr_cuda_program program = {{ORR_WARP, LANE_NUMBER_BYTES, sizeof(lane_model), fill_model,
                                              state_count, scratch_bytes, quantity_offset, restart_lanes,
                                              NULL, NULL},
                                             copy_model,
                                             launch,
                                             write,
                                             take_bodies};
    return &program;
}
