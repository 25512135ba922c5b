// A step of soft bodies with the rigid ones that they push. Descent vertex by vertex passes a push on slowly
// between a light body and stiff contacts, so rigid bodies move together with the translations of the soft
// ones, by Newton's method in double. That also makes the step keep momentum, which descent does not before
// it has converged.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/soft/coupling_system.h"

#include "engine/core/memory.h"
#include "physics/soft/cuda/device.h"

enum {
    // Soft bodies are moved as wholes once in so many iterations of vertices. After such a move the vertices
    // of limp cloth fall back on what they touch, and through it: moved in each, they do not come to an end.
    SELDOM = 4,
    LEAST = 3,   // iterations of what converges: the first moves are as short as the first guess is good
    SETTLING = 6 // such moves after the last: which vertices touch has to settle
};

static const char what[] = "contacts of soft bodies";

// last: of the step, which leaves the forces on rigid bodies too.
static void relax_together(const orr_soft_coupling *c, bool wholes, bool last)
{
    const int n = 3 * c->count + 6 * c->contacts->bodies;
    double *b = c->system, *a = b + n;
    for (int i = 0; i < c->count && c->soft[i]->device; i++) {
        orr_soft_device_read(c->soft[i]);
    }
    orr_soft_system_fill(c, wholes, n, a, b);
    if (c->contacts->linkages > 0) {
        orr_soft_system_solve_linked(c, n, a, b);
    } else {
        orr_soft_system_solve(n, a, b);
    }
    if (last) {
        orr_soft_system_forces(c, b);
    }
    for (int i = 0; i < c->count; i++) {
        if (wholes && !c->held[i]) {
            c->soft[i]->program->translate(c->soft[i]->group, b + 3 * i);
            if (c->soft[i]->device) {
                orr_soft_device_translate(c->soft[i], b + 3 * i);
            }
        }
    }
    for (int i = 0; i < 6 * c->contacts->bodies; i++) {
        c->moved[i] += b[3 * c->count + i];
    }
    orr_soft_shifts_write(c);
}

// ---- a step

// Whether bodies touch each other, or rigid ones.
static bool is_coupled(const orr_soft_coupling *c)
{
    bool coupled = c->contacts->bodies > 0;
    for (int i = 0; i < c->contacts->pairs && !coupled; i++) {
        coupled = c->contacts->pair[i].soft[0] != c->contacts->pair[i].soft[3];
    }
    return coupled;
}

static bool is_relaxed(const orr_soft_coupling *c, int i, int n)
{
    return n <= c->soft[i]->iterations && !c->converged[i];
}

// Before it is accelerated. Ways that are shorter than rounding never converge.
static bool has_converged(const orr_soft *soft, int n)
{
    double moved, way;
    if (n < LEAST || !(soft->tolerance > 0.0) || soft->device || !soft->group->previous) {
        return false;
    }
    soft->program->progress(soft->group, &moved, &way);
    return moved <= soft->tolerance * way;
}

static void accelerate(const orr_soft_coupling *c, int i, int n)
{
    const orr_soft *soft = c->soft[i];
    if (soft->chebyshev > 0.0) {
        c->omega[i] = orr_soft_next_omega(soft, n, c->omega[i]);
        if (soft->device) {
            orr_soft_device_accelerate(soft, c->omega[i]);
        } else {
            orr_soft_accelerate_vertices(soft, soft->group, c->omega[i], true);
        }
    }
    if (soft->device) {
        orr_soft_device_update_pressure(soft);
    } else {
        orr_soft_update_pressure(soft, soft->group);
    }
}

// Whether all bodies have converged, or had their last iteration. Bodies that touch others go on until all
// have: what one still moves by moves the others.
static bool relax_vertices(const orr_soft_coupling *c, int n, bool coupled)
{
    bool all = true;
    for (int i = 0; i < c->count; i++) {
        const orr_soft *soft = c->soft[i];
        for (int colour = 0; colour < soft->tables.colours && is_relaxed(c, i, n); colour++) {
            if (c->pairs.count + c->pairs.ties > 0) {
                orr_soft_pairs_apply(&c->pairs, c->soft, i, colour);
            }
            orr_soft_relax_colour(soft, soft->group, colour, true);
        }
    }
    if (n % SELDOM == 0 || c->contacts->bodies > 0) {
        relax_together(c, n % SELDOM == 0, false);
    }
    for (int i = 0; i < c->count; i++) {
        if (is_relaxed(c, i, n)) {
            const bool converged = (all || !coupled) && has_converged(c->soft[i], n);
            accelerate(c, i, n);
            c->converged[i] = converged && !coupled;
            all = all && converged;
        }
    }
    return all;
}

// The bodies' worlds are all in the memory of one device, or all in the host's.
static orr_result check_device(const orr_soft_coupling *c, orr_error *error)
{
    for (int i = 1; i < c->count; i++) {
        if (orr_soft_get_cuda(c->soft[i]) != orr_soft_get_cuda(c->soft[0])) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "soft bodies that step together: expected all on the CPU, or all on one CUDA "
                            "device, not number %d beside number 0",
                            i);
        }
    }
    return ORR_OK;
}

// The first guess, as a part of the step; and its end.
static void begin_body(const orr_soft *soft)
{
    if (soft->device) {
        orr_soft_device_begin(soft);
    } else {
        orr_soft_begin_pressure(soft, soft->group);
        orr_soft_begin_vertices(soft, soft->group, true);
    }
}

static void finish_body(const orr_soft *soft)
{
    if (soft->device) {
        orr_soft_device_finish(soft);
    } else {
        orr_soft_finish_vertices(soft, soft->group, true);
        orr_soft_plastic_flow(soft, soft->group);
    }
}

static orr_result begin(orr_soft_coupling *c, orr_error *error)
{
    ORR_TRY(check_device(c, error));
    const int n = 3 * c->count + 6 * c->contacts->bodies;
    ORR_GROW(c->placed, c->placed_capacity, c->contacts->touches, what, error);
    ORR_GROW(c->moved, c->moved_capacity, 6 * c->contacts->bodies, what, error);
    ORR_GROW(c->system, c->system_capacity, n * (1 + n), what, error);
    int freedoms = 0;
    for (int i = 0; i < c->contacts->linkages; i++) {
        freedoms += c->contacts->linkage[i].freedoms;
    }
    const int most = n + freedoms;
    ORR_GROW(c->reduced, c->reduced_capacity, freedoms > 0 ? most * (1 + most) : 0, what, error);
    ORR_GROW(c->first, c->first_capacity, c->contacts->bodies + c->contacts->linkages, what, error);
    ORR_GROW(c->turned, c->turned_capacity, freedoms, what, error);
    ORR_GROW(c->held, c->held_capacity, c->count, what, error);
    ORR_GROW(c->converged, c->converged_capacity, c->count, what, error);
    ORR_GROW(c->mass, c->mass_capacity, c->count, what, error);
    ORR_GROW(c->omega, c->omega_capacity, c->count, what, error);
    ORR_TRY(orr_soft_planes_clear(c, error));
    for (int i = 0; i < c->count; i++) {
        const orr_soft *soft = c->soft[i];
        assert(soft->worlds == 1 && soft->group_worlds == 1);
        c->held[i] = c->converged[i] = false, c->mass[i] = 0.0, c->omega[i] = 1.0;
        for (int v = 0; v < soft->model->vertices; v++) {
            c->held[i] |= soft->model->pinned[v] != 0;
            c->mass[i] += soft->model->mass[v];
        }
    }
    ORR_GROW(c->arm, c->arm_capacity, 3 * (c->contacts->ties + c->contacts->pairs), what, error);
    return orr_soft_pairs_begin(&c->pairs, c->soft, c->count, c->contacts, error);
}

orr_result orr_soft_step_together(orr_soft_coupling *c, orr_soft *const *softs, int count,
                                  const orr_soft_contacts *contacts, orr_error *error)
{
    c->soft = softs, c->count = count, c->contacts = contacts;
    orr_result result = begin(c, error);
    int iterations = 0;
    for (int i = 0; i < count && result == ORR_OK; i++) {
        begin_body(softs[i]);
        iterations = softs[i]->iterations > iterations ? softs[i]->iterations : iterations;
    }
    if (result == ORR_OK && count > 0) {
        orr_soft_planes_place(c);
        const bool coupled = is_coupled(c);
        bool over = false;
        for (c->iterations = 0; c->iterations < iterations && !over;) {
            over = relax_vertices(c, ++c->iterations, coupled);
        }
        for (int n = coupled ? SETTLING : 1; n > 0; n--) { // 1: there is no momentum to keep
            relax_together(c, true, n == 1);
        }
    }
    for (int i = 0; i < count; i++) {
        if (result == ORR_OK) {
            finish_body(softs[i]);
            result = softs[i]->device ? orr_soft_device_status(softs[i]->device, error) : ORR_OK;
        }
        softs[i]->group->plane_slots = 0; // steps of a body alone touch nothing
        softs[i]->group->is_pushed = false;
    }
    return result;
}

orr_result orr_soft_coupling_create(orr_soft_coupling **out, orr_error *error)
{
    *out = orr_alloc_zero(1, sizeof **out);
    return *out ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", what);
}

void orr_soft_coupling_destroy(orr_soft_coupling *c)
{
    if (c) {
        orr_soft_pairs_clear(&c->pairs);
        orr_free(c->placed);
        orr_free(c->arm);
        orr_free(c->moved);
        orr_free(c->system);
        orr_free(c->reduced);
        orr_free(c->first);
        orr_free(c->turned);
        orr_free(c->held);
        orr_free(c->converged);
        orr_free(c->mass);
        orr_free(c->omega);
        orr_free(c);
    }
}
