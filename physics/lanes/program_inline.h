// The lane program of a world, for the CPU (simulation/program_cpu.c) and for CUDA
// (simulation/program_cuda.cu), where a block is a warp and each of its threads has one world: the calls of
// program.h, and the arrays by name.
#pragma once

#include "physics/lanes/evaluate.h"
#include "physics/lanes/memory.h"
#include "physics/lanes/program.h"
#include "physics/lanes/row_set.h"

#include <assert.h>

// An array of the state or of the scratch.
typedef struct lane_array {
    const char *name;
    int count; // reals of a world
} lane_array;

// Offset of the array of that name, in reals of a world; -1: it is not among `arrays`.
static int array_offset(const lane_array *arrays, int array_count, const char *name, int *count)
{
    for (int i = 0, offset = 0; i < array_count; offset += arrays[i++].count) {
        if (strcmp(arrays[i].name, name) == 0) {
            *count = arrays[i].count;
            return offset;
        }
    }
    return -1;
}

static int quantity_offset(const void *model, orr_physics_quantity quantity, int *count, bool *in_state)
{
    const lane_model *m = (const lane_model *)model;
#define ARRAY(name, n) {#name, (n)},
    const lane_array state[] = {LANE_STATE(ARRAY)}, scratch[] = {LANE_SCRATCH(ARRAY)};
#undef ARRAY
    const char *name = orr_physics_quantity_name(quantity);
    int offset = array_offset(state, (int)(sizeof state / sizeof state[0]), name, count);
    *in_state = offset >= 0;
    if (!*in_state) {
        offset = array_offset(scratch, (int)(sizeof scratch / sizeof scratch[0]), name, count);
    }
    assert(offset >= 0); // a quantity without an array
    return offset;
}

LANE_FN mask has_diverged(const lane_model *m, const lane_data *d)
{
    return or_(or_(diverged(d->qpos, m->nq), diverged(d->qvel, m->nv)), diverged(d->qacc, m->nv));
}

// The state before a step, for evaluate_kept and undo.
LANE_FN void keep_state(const lane_model *m, const lane_data *d)
{
    const int count = kept_state(m); // a long sum
    for (int i = 0; i < count; i++) {
        d->before[i] = d->time[i]; // which is the first array of the state
    }
}

// What steps count.
typedef struct lane_counts {
    real inaccurate_steps, restarts;
    int32_t iterations, contacts_needed;
} lane_counts;

FN lane_counts counts_of(const lane_data *d)
{
    lane_counts counts = {d->inaccurate_steps, d->restarts, d->iterations, d->contacts_needed};
    return counts;
}

// As it was before a step that lacked room.
LANE_FN void undo(const lane_model *m, lane_data *d, lane_counts counts)
{
    const int count = kept_state(m);
    for (int i = 0; i < count; i++) {
        d->time[i] = d->before[i];
    }
    d->inaccurate_steps = counts.inaccurate_steps;
    d->restarts = counts.restarts;
    d->iterations = counts.iterations;
    d->contacts_needed = counts.contacts_needed;
}

// What could be read before the step, of trees that sleep, too.
LANE_FN void evaluate_kept(const lane_model *m, const lane_data *d, int depth)
{
    lane_data seen = *d;
    reals next = d->before;
#define BIND(name, count)                                                                                    \
    seen.name = next;                                                                                        \
    next = next + (count);
    LANE_STATE(BIND)
#undef BIND
    seen.asleep = LANE_NONE_ASLEEP;
    evaluate(m, &seen, depth);
}

// Puts the trees to sleep that the model says are asleep at the start: those that touch no others.
LANE_FN void settle(const lane_model *m, lane_data *d)
{
    (void)forward(m, d);
    for (int i = 0; i < sleep_trees(m); i++) {
        d->tree_asleep[i] = R(m->tree_sleep_policy[i] == ORR_SLEEP_INIT ? -1.0 : (double)ORR_AWAKE);
    }
    if (can_sleep(m)) {
        fall_asleep(m, d);
    }
    for (int i = 0; i < sleep_trees(m); i++) {
        if (m->tree_sleep_policy[i] == ORR_SLEEP_INIT) {
            d->tree_asleep[i] = sel(tree_sleeps(d, i), d->tree_asleep[i], R((double)ORR_AWAKE));
        }
    }
}

// Does what trees that sleep have in the scratch follow from their own coordinates alone?
FN int rest_lasts(const lane_model *m)
{
    int lasts = 1;
    for (int i = 0; i < m->nbody && m->nmocap > 0;
         i++) { // what is on a body that is moved from outside moves
        lasts &= m->body_treeid[i] < 0 || !is_mocap(m, i);
    }
    return lasts;
}

// Returns how many steps were made before one that lacked room.
LANE_FN int run_steps(const lane_model *m, lane_data *d, orr_program_call call, int steps)
{
    lane_counts counts = counts_of(d);
    for (int i = 0; i < steps; i++) {
        d->inaccurate = not_(everywhere());
        if (m->plan->autoreset) {
            restart_lost(m, d, or_(diverged(d->qpos, m->nq), diverged(d->qvel, m->nv)));
        }
        if (room_grows(m) || (call != ORR_PROGRAM_STEP && i == steps - 1)) {
            keep_state(m, d);
            counts = counts_of(d);
        }
        step(m, d);
        if (lacks_room(m, d)) {
            undo(m, d, counts);
            return i;
        }
        d->inaccurate_steps = d->inaccurate_steps + sel(d->inaccurate, R(1.0), R(0.0));
    }
    if (m->plan->autoreset) { // so that nobody reads what the next step would replace
        restart_lost(m, d, has_diverged(m, d));
    }
    if (call != ORR_PROGRAM_STEP && steps > 0) {
        int depth = (int)call - ORR_PROGRAM_STEP_POSITIONS;
        if (d->asleep != LANE_NONE_ASLEEP) { // of what sleeps, too
            evaluate_kept(m, d, depth);
        } else { // sensors that the step has sampled are computed
            complete(m, d, depth == LANE_DEPTH_SENSORS && samples_sensors(m) ? depth - 1 : depth);
        }
        if (lacks_room(m, d)) {
            undo(m, d, counts);
            return steps - 1;
        }
    }
    return steps;
}

// Other calls that compute contacts. evaluate does not change the state.
LANE_FN void run_other(const lane_model *m, lane_data *d, orr_program_call call)
{
    int kept = room_grows(m) && call < ORR_PROGRAM_POSITIONS;
    lane_counts counts = counts_of(d);
    if (kept) {
        keep_state(m, d);
    }
    switch (call) {
    case ORR_PROGRAM_FORWARD:
        (void)forward(m, d);
        break;
    case ORR_PROGRAM_SETTLE:
        settle(m, d);
        break;
    case ORR_PROGRAM_INVERSE:
        inverse(m, d);
        break;
    default:
        evaluate(m, d, (int)call - ORR_PROGRAM_POSITIONS);
        break;
    }
    if (kept && lacks_room(m, d)) {
        undo(m, d, counts);
    }
}

// known: what is kept is of this block, and of steps. Returns how many steps were made before one that lacked
// room, as d->wanted says: then the state is that before it.
LANE_FN int run_calls(const lane_model *m, lane_data *d, orr_program_call call, int steps, int known)
{
    int done = 0;
    if (room_grows(m)) {
        memset(d->wanted, 0, sizeof *d->wanted);
    }
    if (!known || !can_sleep(m) || !rest_lasts(m)) {
        forget_sleepers(d);
    }
    d->placed = d->kept->placed;
    d->fixed_nodes = d->kept->fixed_nodes;
    if (call == ORR_PROGRAM_RESTART) {
        restart(m, d, everywhere());
    } else if (call == ORR_PROGRAM_STEP || call >= ORR_PROGRAM_STEP_POSITIONS) {
        done = run_steps(m, d, call, steps);
    } else {
        run_other(m, d, call);
    }
    d->kept->placed = d->placed;
    d->kept->fixed_nodes = d->fixed_nodes;
    return done;
}

// The number of one world of a vector.
LANE_FN double lane_number(real x, int lane)
{
#if defined(ORR_SCALAR) || defined(__CUDACC__)
    (void)lane;
    return (double)x;
#else
    return (double)x[lane];
#endif
}

// Is a body awake in this lane, or moved from outside? Contacts between others are not listed, as in MuJoCo.
LANE_FN int is_awake(const lane_model *m, const lane_data *d, int body, int lane)
{
    int tree = m->body_treeid[body];
    return tree < 0 ? is_mocap(m, body) : lane_number(d->tree_asleep[tree], lane) < 0.0;
}

LANE_FN int list_contacts(const lane_model *m, const lane_data *d, int lane, orr_physics_contact *result,
                          int capacity)
{
    int count = 0;
    order_contacts(m, d);
    for (int n = 0; n < d->contact_count; n++) {
        int i = nth_contact(m, d, n);
        double dist = lane_number(d->contact_dist[i], lane);
        const orr_pair *pair = lane_pair(m, d, d->contact[i].pair);
        if (can_sleep(m) && pair->geom2 >= 0 && !is_awake(m, d, m->geom_bodyid[pair->geom1], lane) &&
            !is_awake(m, d, m->geom_bodyid[pair->geom2], lane)) {
            continue;
        }
        if (!(dist < 0.5 * LANE_HUGE) || count++ >= capacity) {
            continue;
        }
        orr_physics_contact *c = &result[count - 1];
        c->geom1 = pair->geom1;
        c->geom2 = pair->geom2;
        c->point = pair->point;
        c->element = pair->element;
        c->dim = pair->adhesion != 0.0 && dist >= pair->includemargin ? 1 : pair->condim;
        c->dist = dist;
        real force[6];
        contact_force(m, d, i, force);
        for (int k = 0; k < 9; k++) {
            c->frame[k] = lane_number(d->contact_frame[9 * i + k], lane);
        }
        for (int k = 0; k < 3; k++) {
            c->pos[k] = lane_number(d->contact_pos[3 * i + k], lane);
        }
        for (int k = 0; k < 6; k++) {
            c->force[k] = lane_number(force[k], lane);
        }
    }
    return count;
}
