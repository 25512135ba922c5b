// Which worlds share a block. A constraint row takes a block as long when one of its worlds has it as when
// all have, and Newton's method lasts until the last world has converged. So now and then worlds are sorted
// by the rows that they have (lanes/row_set.h), and move to other slots. Nobody sees that: a world's numbers
// depend on no others and not on its lane (in models with islands the last bits do: README.md).
//
// Sorting: rows are put in the order of how few worlds have them, and worlds in that of the Gray code whose
// digits say which rows they have. Rare rows come first, as they gain most: a row that one of 16 worlds has
// is in 64 % of blocks of 16 at random, and in 6 % when its worlds are together.
#include "engine/core/memory.h"
#include "physics/simulation/world_state.h"

#include <limits.h>

enum {
    SORT_STEPS = 4,       // between two sortings that gain something; else twice as many as the last time
    SORT_STEPS_MOST = 64, // and at most so many
    SHORT_CALL = 8,       // steps: a call of no more is not divided
    SEGMENT_BLOCKS = 64,  // worlds stay among so many blocks, which threads sort apart
    DIGITS = 32,          // of a key
    ENTRIES_OF_DOF = 4,   // the entries of the Jacobian that take the solver as long as a dof does
    ENTRY_IS_WORTH = 2    // numbers that may move for an entry that the solver is spared once
};

typedef struct order_key {
    uint32_t key;
    int32_t slot;
} order_key;

void orr_order_destroy(orr_order *order)
{
    if (!order) {
        return;
    }
    orr_free(order->slot);
    orr_free(order->world);
    orr_free(order->row_sets);
    orr_free(order->from);
    orr_free(order->keys);
    orr_free(order->counts);
    orr_free(order->moves);
    orr_free(order->state);
    orr_free(order);
}

orr_result orr_order_resize(orr_order *order, size_t blocks, size_t block_bytes, orr_error *error)
{
    char *state = orr_alloc(blocks, block_bytes);
    if (!state) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu blocks of worlds of %zu bytes",
                        blocks, block_bytes);
    }
    orr_free(order->state);
    order->state = state;
    return ORR_OK;
}

static size_t block_bytes(const orr_physics *physics)
{
    return (size_t)physics->state_count * (size_t)physics->program->lanes * physics->program->real_bytes;
}

orr_result orr_order_create(orr_physics *physics, orr_error *error)
{
    const int lanes = physics->program->lanes, slots = physics->blocks * lanes;
    // where trees sleep, a thread's scratch knows things of the block that it stepped last
    if (lanes == 1 || physics->blocks == 1 || physics->model->opt.enableflags & ORR_ENABLE_SLEEP) {
        return ORR_OK;
    }
    assert(physics->program->real_bytes == sizeof(float));
    orr_order *order = orr_alloc_zero(1, sizeof *order);
    if (!order) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu bytes for the order of worlds",
                        sizeof *order);
    }
    physics->order = order;
    ORR_ALLOC(order->slot, slots, "the order of worlds", error);
    ORR_ALLOC(order->world, 2 * slots, "the order of worlds", error);
    ORR_ALLOC(order->row_sets, 2 * slots, "the rows of worlds", error);
    ORR_ALLOC(order->from, slots, "the order of worlds", error);
    ORR_ALLOC(order->keys, 2 * slots, "the order of worlds", error);
    ORR_ALLOC(order->counts, slots, "the counts of worlds", error);
    ORR_ALLOC(order->moves, orr_blocks(physics->blocks, SEGMENT_BLOCKS), "the order of worlds", error);
    ORR_TRY(orr_order_resize(order, (size_t)physics->blocks, block_bytes(physics), error));
    for (int i = 0; i < slots; i++) {
        order->slot[i] = order->world[i] = i;
        order->row_sets[i] = 0;
    }
    order->wait = SORT_STEPS;
    return ORR_OK;
}

// The slots of a segment that have worlds.
typedef struct segment {
    int first, end;
} segment;

static segment segment_at(const orr_physics *physics, int i)
{
    const int slots = SEGMENT_BLOCKS * physics->program->lanes, end = (i + 1) * slots;
    return (segment){i * slots, end < physics->worlds ? end : physics->worlds};
}

// The digit of each place of a set, the rarest highest; 0: it is not looked at. worlds: that have it
static void choose_digits(const int32_t worlds[64], int all, uint32_t digits[64])
{
    int places[64], count = 0;
    for (int place = 0; place < 64; place++) {
        digits[place] = 0;
        if (worlds[place] == 0 || worlds[place] == all) {
            continue;
        }
        int at = count++;
        for (; at > 0 && worlds[places[at - 1]] > worlds[place]; at--) {
            places[at] = places[at - 1];
        }
        places[at] = place;
    }
    for (int i = 0; i < count && i < DIGITS; i++) {
        digits[places[i]] = 1u << (DIGITS - 1 - i);
    }
}

// The place in the sequence of Gray codes: neighbours differ in one digit.
static uint32_t place_of_gray(uint32_t code)
{
    for (int shift = 1; shift < DIGITS; shift *= 2) {
        code ^= code >> shift;
    }
    return code;
}

// By one byte of the keys, stable.
static void sort_by_byte(const order_key *from, order_key *to, int count, int shift)
{
    int32_t next[257] = {0};
    for (int i = 0; i < count; i++) {
        next[(from[i].key >> shift & 255) + 1]++;
    }
    for (int i = 0; i < 256; i++) {
        next[i + 1] += next[i];
    }
    for (int i = 0; i < count; i++) {
        to[next[from[i].key >> shift & 255]++] = from[i];
    }
}

// What the rows of a segment take, in entries of the Jacobian: their own, once for each block, and what the
// solver does where there are any. from: of each slot, whose it is
static int64_t cost_of(const orr_physics *physics, segment s, const int32_t *from, const int32_t cost[64])
{
    int64_t sum = 0;
    for (int i = s.first; i < s.end;) {
        uint64_t any = 0;
        for (int lane = 0; lane < physics->program->lanes && i < s.end; lane++, i++) {
            any |= physics->order->row_sets[from ? from[i] : i];
        }
        sum += any != 0 ? ENTRIES_OF_DOF * physics->model->nv : 0;
        for (; any != 0; any &= any - 1) {
            sum += cost[__builtin_ctzll(any)];
        }
    }
    return sum;
}

// The most entries that each place of a set stands for.
static void find_costs(const orr_physics *physics, int32_t cost[64])
{
    memset(cost, 0, 64 * sizeof *cost);
    for (int worker = 0; worker < physics->workers; worker++) {
        const int32_t *met = physics->notes[worker].row_sets.cost;
        for (int place = 0; place < 64; place++) {
            cost[place] = met[place] > cost[place] ? met[place] : cost[place];
        }
    }
}

// Fills `from` with the worlds of a segment sorted.
static void sort_segment(orr_order *order, segment s)
{
    const int count = s.end - s.first;
    int32_t worlds[64] = {0};
    for (int i = s.first; i < s.end; i++) {
        for (uint64_t left = order->row_sets[i]; left != 0; left &= left - 1) {
            worlds[__builtin_ctzll(left)]++;
        }
    }
    uint32_t digits[64];
    choose_digits(worlds, count, digits);
    order_key *keys = order->keys + 2 * (ptrdiff_t)s.first, *others = keys + count;
    for (int i = 0; i < count; i++) {
        uint32_t code = 0;
        for (uint64_t left = order->row_sets[s.first + i]; left != 0; left &= left - 1) {
            code |= digits[__builtin_ctzll(left)];
        }
        keys[i] = (order_key){place_of_gray(code), s.first + i};
    }
    for (int shift = 0; shift < DIGITS; shift += 16) {
        sort_by_byte(keys, others, count, shift);
        sort_by_byte(others, keys, count, shift + 8);
    }
    for (int i = 0; i < count; i++) {
        order->from[s.first + i] = keys[i].slot;
    }
}

static bool diverged_at(const uint32_t *diverged, int slot, int lanes)
{
    return diverged[slot / lanes] >> slot % lanes & 1;
}

// Moves all of a segment's worlds but their states.
static void move_worlds(orr_physics *physics, segment s)
{
    orr_order *order = physics->order;
    const int lanes = physics->program->lanes, first = s.first / lanes;
    const size_t count = (size_t)(s.end - s.first);
    int32_t *worlds = order->world + (ptrdiff_t)physics->blocks * lanes;
    uint64_t *row_sets = order->row_sets + (ptrdiff_t)physics->blocks * lanes;
    uint32_t diverged[SEGMENT_BLOCKS] = {0};
    for (int i = s.first; i < s.end; i++) {
        const int from = order->from[i];
        worlds[i] = order->world[from];
        row_sets[i] = order->row_sets[from];
        order->counts[i] = physics->counts[from];
        diverged[i / lanes - first] |= (uint32_t)diverged_at(physics->diverged, from, lanes) << i % lanes;
    }
    memcpy(order->world + s.first, worlds + s.first, count * sizeof *worlds);
    memcpy(order->row_sets + s.first, row_sets + s.first, count * sizeof *row_sets);
    memcpy(physics->counts + s.first, order->counts + s.first, count * sizeof *physics->counts);
    memcpy(physics->diverged + first, diverged, (size_t)orr_blocks((int64_t)count, lanes) * sizeof *diverged);
    for (int i = s.first; i < s.end; i++) {
        order->slot[order->world[i]] = i;
    }
}

typedef struct sorting {
    orr_physics *physics;
    int32_t cost[64];
} sorting;

// A segment is left as it is unless moving its worlds pays. Many rows are others after two or three steps, so
// that what would be spared later does not count.
static void arrange_segment(void *context, int i, int worker)
{
    const sorting *job = context;
    orr_physics *physics = job->physics;
    orr_order *order = physics->order;
    const segment s = segment_at(physics, i);
    (void)worker;
    sort_segment(order, s);
    const int64_t spared = cost_of(physics, s, NULL, job->cost) - cost_of(physics, s, order->from, job->cost);
    const int64_t blocks = orr_blocks(s.end - s.first, physics->program->lanes);
    const int solutions = physics->model->opt.integrator == ORR_INTEGRATOR_RK4 ? 4 : 1; // of a step
    order->moves[i] = spared > 0 && spared * solutions * ENTRY_IS_WORTH >= blocks * physics->state_count;
    if (order->moves[i]) {
        move_worlds(physics, s);
    }
}

// Copies the state of a block's worlds from where they were.
static void move_block(void *context, int block, int worker)
{
    const sorting *job = context;
    const orr_physics *physics = job->physics;
    const int lanes = physics->program->lanes, first = block * lanes;
    const size_t bytes = block_bytes(physics);
    float *to = (float *)(void *)(physics->order->state + (size_t)block * bytes);
    const float *from[ORR_CPU_LANES];
    bool stays = true;
    (void)worker;
    for (int lane = 0; lane < lanes; lane++) {
        int slot = first + lane; // without a world, or in a segment that is left as it is
        if (physics->order->moves[block / SEGMENT_BLOCKS] && slot < physics->worlds) {
            slot = physics->order->from[slot];
        }
        stays &= slot == first + lane;
        from[lane] = (const float *)(const void *)block_state(physics, slot / lanes) + slot % lanes;
    }
    if (stays) {
        memcpy(to, block_state(physics, block), bytes);
        return;
    }
    for (ptrdiff_t i = 0; i < (ptrdiff_t)physics->state_count * lanes; i += lanes) {
        for (int lane = 0; lane < lanes; lane++) {
            to[i + lane] = from[lane][i];
        }
    }
}

static bool sort_worlds(orr_physics *physics)
{
    bool any = false;
    sorting job = {.physics = physics};
    const int segments = orr_blocks(physics->blocks, SEGMENT_BLOCKS);
    find_costs(physics, job.cost);
    orr_jobs_for(physics->jobs, segments, arrange_segment, &job);
    for (int i = 0; i < segments; i++) {
        any |= physics->order->moves[i];
    }
    if (any) {
        orr_jobs_for(physics->jobs, physics->blocks, move_block, &job);
        char *state = physics->state;
        physics->state = physics->order->state;
        physics->order->state = state;
        orr_physics_forget(physics);
    }
    return any;
}

int orr_order_update(orr_physics *physics, int steps)
{
    orr_order *order = physics->order;
    if (order->since >= order->wait) {
        const int twice = 2 * order->wait < SORT_STEPS_MOST ? 2 * order->wait : SORT_STEPS_MOST;
        order->wait = sort_worlds(physics) ? SORT_STEPS : twice;
        order->since = 0;
    }
    // where worlds start again by themselves, they also do at the end of a call: it is not divided
    const bool whole = physics->plan->autoreset || steps <= SHORT_CALL;
    const int left = order->wait - order->since, part = whole || steps < left ? steps : left;
    order->since = part < INT_MAX - order->since ? order->since + part : INT_MAX;
    for (int worker = 0; worker < physics->workers; worker++) {
        physics->notes[worker].row_sets.wanted = order->since >= order->wait;
    }
    return part;
}
