#include "physics/lanes/plan.h"

#include "engine/core/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static orr_result refuse(orr_error *error, const orr_model *model, const char *what, const char *name)
{
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "%s: %s%s%s%s: expected a model without it, the dynamics do not have it",
                    model->name[0] ? model->name : "model", what, name && name[0] ? " '" : "",
                    name && name[0] ? name : "", name && name[0] ? "'" : "");
}

// Features that the importer reads and the dynamics do not have.
static orr_result check_supported(const orr_model *m, orr_error *error)
{
    if (m->opt.enableflags & ORR_ENABLE_SLEEP) {
        return refuse(error, m, "option flag sleep", NULL);
    }
    return ORR_OK;
}

// Most contacts of two types of geoms; 0: they cannot collide.
static int contact_slots(int type1, int type2)
{
    if (type2 == ORR_GEOM_SDF) {
        bool has_points = type1 != ORR_GEOM_PLANE && type1 != ORR_GEOM_HFIELD && type1 != ORR_GEOM_SDF;
        return has_points ? ORR_GRID_CONTACTS : 0;
    }
    if (type1 == ORR_GEOM_PLANE) {
        static const int slots[] = {0, 0, 1, 2, 1, 4, 8 /* four in a world, but any of the corners */, 3};
        return slots[type2];
    }
    if (type1 == ORR_GEOM_HFIELD) {
        return type2 == ORR_GEOM_HFIELD ? 0 : ORR_PAIR_CONTACTS;
    }
    if (type1 == ORR_GEOM_SPHERE || type1 == ORR_GEOM_ELLIPSOID || type2 == ORR_GEOM_ELLIPSOID) {
        return 1;
    }
    if (type1 == ORR_GEOM_BOX && type2 == ORR_GEOM_BOX) {
        return 8;
    }
    if (type1 == ORR_GEOM_CAPSULE && type2 == ORR_GEOM_BOX) {
        return 2;
    }
    return 5; // capsules cross in one point, or where parallel in some lane in two of four ends
}

// ---- which geoms can collide ----

static bool bodies_meet(const orr_model *m, int body1, int body2)
{
    int weld1 = m->body_weldid[body1], weld2 = m->body_weldid[body2];
    if (weld1 == weld2) {
        return false;
    }
    int above1 = m->body_weldid[m->body_parentid[weld1]], above2 = m->body_weldid[m->body_parentid[weld2]];
    bool filter = !(m->opt.disableflags & ORR_DISABLE_FILTERPARENT);
    if (filter && weld1 != 0 && weld2 != 0 && (weld1 == above2 || weld2 == above1)) {
        return false;
    }
    int low = body1 < body2 ? body1 : body2, high = body1 < body2 ? body2 : body1;
    for (int i = 0; i < m->nexclude; i++) {
        if (m->exclude_signature[i] == low * 65536 + high) {
            return false;
        }
    }
    return true;
}

static bool geoms_meet(const orr_model *m, int a, int b)
{
    if (!(m->geom_contype[a] & m->geom_conaffinity[b]) && !(m->geom_contype[b] & m->geom_conaffinity[a])) {
        return false;
    }
    for (int i = 0; i < m->npair; i++) { // declared pairs have their own parameters
        if ((m->pair_geom1[i] == a && m->pair_geom2[i] == b) ||
            (m->pair_geom1[i] == b && m->pair_geom2[i] == a)) {
            return false;
        }
    }
    return bodies_meet(m, m->geom_bodyid[a], m->geom_bodyid[b]);
}

static double mix(double share, double a, double b)
{
    return share * a + (1.0 - share) * b;
}

// MuJoCo's rules: the higher priority wins; between equals friction is the larger, the rest is weighted by
// solmix.
static void mix_parameters(const orr_model *m, int a, int b, orr_pair *pair)
{
    pair->includemargin = m->geom_margin[a] + m->geom_margin[b];
    pair->margin = pair->includemargin + m->geom_gap[a] + m->geom_gap[b];
    int priority = m->geom_priority[a] - m->geom_priority[b];
    double weight1 = m->geom_solmix[a], weight2 = m->geom_solmix[b];
    double share = 0.5;
    if (priority != 0) {
        share = priority > 0 ? 1.0 : 0.0;
    } else if (weight1 >= 1e-15 && weight2 >= 1e-15) {
        share = weight1 / (weight1 + weight2);
    } else if (weight1 >= 1e-15 || weight2 >= 1e-15) {
        share = weight1 >= 1e-15 ? 1.0 : 0.0;
    }
    const double *ref1 = m->geom_solref + ORR_NREF * a, *ref2 = m->geom_solref + ORR_NREF * b;
    bool direct = priority == 0 && (ref1[0] <= 0.0 || ref2[0] <= 0.0);
    for (int k = 0; k < ORR_NREF; k++) {
        pair->solref[k] = direct ? fmin(ref1[k], ref2[k]) : mix(share, ref1[k], ref2[k]);
    }
    for (int k = 0; k < ORR_NIMP; k++) {
        pair->solimp[k] = mix(share, m->geom_solimp[ORR_NIMP * a + k], m->geom_solimp[ORR_NIMP * b + k]);
    }
    int dim1 = m->geom_condim[a], dim2 = m->geom_condim[b];
    pair->condim = priority ? (priority > 0 ? dim1 : dim2) : dim1 > dim2 ? dim1 : dim2;
}

// Sliding twice, torsional, rolling twice.
static void mix_friction(const orr_model *m, const orr_pair *pair, double friction[5])
{
    static const int unpack[5] = {0, 0, 1, 2, 2};
    int a = pair->geom1, b = pair->geom2, priority = m->geom_priority[a] - m->geom_priority[b];
    for (int k = 0; k < 5; k++) {
        double friction1 = m->geom_friction[3 * a + unpack[k]],
               friction2 = m->geom_friction[3 * b + unpack[k]];
        double mixed = priority ? (priority > 0 ? friction1 : friction2) : fmax(friction1, friction2);
        friction[k] = pair->declared >= 0 ? m->pair_friction[5 * pair->declared + k] : mixed;
        friction[k] = m->opt.enableflags & ORR_ENABLE_OVERRIDE ? m->opt.o_friction[k] : friction[k];
        friction[k] = fmax(friction[k], 1e-5);
    }
}

void orr_pair_numbers(const orr_model *m, const orr_pair *pair, double numbers[ORR_PAIR_NUMBERS])
{
    double *friction = numbers + ORR_PAIR_FRICTION, *weight = numbers + ORR_PAIR_WEIGHT;
    mix_friction(m, pair, friction);
    int body1 = m->geom_bodyid[pair->geom1], body2 = m->geom_bodyid[pair->geom2];
    double both = m->body_invweight0[2 * body1] + m->body_invweight0[2 * body2];
    double slip = friction[0], mu = slip / sqrt(m->opt.impratio);
    numbers[ORR_PAIR_MU] = mu;
    numbers[ORR_PAIR_CONE] = 1.0 / (mu * mu * (1.0 + mu * mu));
    bool pyramid = pair->condim > 1 && m->opt.cone == ORR_CONE_PYRAMIDAL;
    weight[0] = pyramid ? 2.0 * mu * mu * (both + slip * slip * both) : both;
    for (int k = 1; k < 6; k++) {
        weight[k] = both / m->opt.impratio * slip * slip / (friction[k - 1] * friction[k - 1]);
    }
}

static void declared_parameters(const orr_model *m, int i, orr_pair *pair)
{
    pair->condim = m->pair_dim[i];
    pair->includemargin = m->pair_margin[i];
    pair->margin = m->pair_margin[i] + m->pair_gap[i];
    memcpy(pair->solref, m->pair_solref + ORR_NREF * i, sizeof pair->solref);
    memcpy(pair->solreffriction, m->pair_solreffriction + ORR_NREF * i, sizeof pair->solreffriction);
    memcpy(pair->solimp, m->pair_solimp + ORR_NIMP * i, sizeof pair->solimp);
}

// The flag override: the option's parameters for all contacts.
static void override_parameters(const orr_model *m, orr_pair *pair)
{
    if (!(m->opt.enableflags & ORR_ENABLE_OVERRIDE)) {
        return;
    }
    pair->margin = pair->includemargin = m->opt.o_margin;
    memcpy(pair->solref, m->opt.o_solref, sizeof pair->solref);
    memcpy(pair->solreffriction, m->opt.o_solref, sizeof pair->solreffriction);
    memcpy(pair->solimp, m->opt.o_solimp, sizeof pair->solimp);
}

static void add_pair(orr_plan *plan, int a, int b, int declared)
{
    const orr_model *m = plan->model;
    orr_pair *pair = &plan->pair[plan->pair_count];
    memset(pair, 0, sizeof *pair);
    bool swap = m->geom_type[a] > m->geom_type[b];
    pair->geom1 = swap ? b : a;
    pair->geom2 = swap ? a : b;
    pair->slots = contact_slots(m->geom_type[pair->geom1], m->geom_type[pair->geom2]);
    if (pair->slots == 0) {
        return;
    }
    if (declared >= 0) {
        declared_parameters(m, declared, pair);
    } else {
        mix_parameters(m, a, b, pair);
    }
    override_parameters(m, pair);
    pair->declared = declared;
    orr_pair_numbers(m, pair, pair->numbers);
    memcpy(pair->friction, pair->numbers + ORR_PAIR_FRICTION, sizeof pair->friction);
    plan->pair_count++;
}

enum { SWEEP_PAIRS = 512 }; // fewer are tested one by one

// Is the geom so large that all others are near it?
static bool is_everywhere(const orr_model *m, int geom)
{
    return m->geom_type[geom] == ORR_GEOM_PLANE || m->geom_type[geom] == ORR_GEOM_SDF;
}

// Geoms that are swept, and pairs that are tested in every step.
static orr_result plan_sweep(orr_plan *plan, int declared, orr_error *error)
{
    const orr_model *m = plan->model;
    ORR_ALLOC(plan->sweep_geom, m->ngeom, "geoms that are swept", error);
    ORR_ALLOC(plan->always_near, (plan->pair_count + 31) / 32, "pairs of geoms", error);
    memset(plan->always_near, 0, (size_t)(plan->pair_count + 31) / 32 * sizeof *plan->always_near);
    for (int i = 0; i < plan->pair_count; i++) {
        if (i < declared || is_everywhere(m, plan->pair[i].geom1) || is_everywhere(m, plan->pair[i].geom2)) {
            plan->always_near[i / 32] |= 1u << i % 32;
        }
    }
    for (int i = 0; i < m->ngeom; i++) {
        if (!is_everywhere(m, i) && (m->geom_contype[i] || m->geom_conaffinity[i])) {
            plan->sweep_geom[plan->sweep_count++] = i;
        }
    }
    return ORR_OK;
}

// Distance grids have contacts with shapes that have points: not with planes, height fields, other grids.
static orr_result check_grids(const orr_model *m, orr_error *error)
{
    for (int a = 0; a < m->ngeom; a++) {
        for (int b = 0; b < m->ngeom && m->geom_type[a] == ORR_GEOM_SDF; b++) {
            int type = m->geom_type[b];
            if ((type == ORR_GEOM_PLANE || type == ORR_GEOM_HFIELD || type == ORR_GEOM_SDF) &&
                geoms_meet(m, a, b)) {
                return refuse(error, m, "a distance grid that meets a plane, height field or other grid",
                              orr_model_name(m, ORR_OBJECT_GEOM, a));
            }
        }
    }
    return ORR_OK;
}

static orr_result find_pairs(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    int64_t count = m->npair;
    ORR_TRY(check_grids(m, error));
    for (int a = 0; a < m->ngeom; a++) {
        for (int b = a + 1; b < m->ngeom; b++) {
            count += geoms_meet(m, a, b);
        }
    }
    ORR_ALLOC(plan->pair, count, "pairs of geoms", error);
    if (m->opt.disableflags & (ORR_DISABLE_CONTACT | ORR_DISABLE_CONSTRAINT)) {
        return ORR_OK;
    }
    for (int i = 0; i < m->npair; i++) {
        add_pair(plan, m->pair_geom1[i], m->pair_geom2[i], i);
    }
    int declared = plan->pair_count;
    ORR_ALLOC(plan->pair_first, m->ngeom + 1, "pairs of geoms", error);
    for (int a = 0; a < m->ngeom; a++) {
        plan->pair_first[a] = plan->pair_count;
        for (int b = a + 1; b < m->ngeom; b++) {
            if (geoms_meet(m, a, b)) {
                add_pair(plan, a, b, -1);
            }
        }
    }
    plan->pair_first[m->ngeom] = plan->pair_count;
    return plan->pair_count > SWEEP_PAIRS ? plan_sweep(plan, declared, error) : ORR_OK;
}

// ---- how much a step can need ----

// The default capacity: piles of many geoms never have all the contacts that their pairs could have.
enum { CONTACTS_DEFAULT = 2048, CONTACTS_PER_GEOM = 16 };

static orr_result count_rows(orr_plan *plan, int contact_capacity, orr_error *error)
{
    const orr_model *m = plan->model;
    int64_t contacts = 0, rows = 0, entries = 0, most_rows = 0, most_entries = 0;
    for (int i = 0; i < plan->pair_count; i++) {
        const orr_pair *pair = &plan->pair[i];
        int dim = pair->condim;
        int64_t per_contact = dim == 1 ? 1 : m->opt.cone == ORR_CONE_ELLIPTIC ? dim : 2 * (dim - 1);
        int64_t per_entry = per_contact * plan->chain[pair->chain].count;
        contacts += pair->slots;
        rows += pair->slots * per_contact;
        entries += pair->slots * per_entry;
        most_rows = per_contact > most_rows ? per_contact : most_rows;
        most_entries = per_entry > most_entries ? per_entry : most_entries;
    }
    int64_t capacity = (int64_t)CONTACTS_PER_GEOM * m->ngeom;
    capacity = capacity > CONTACTS_DEFAULT ? capacity : CONTACTS_DEFAULT;
    capacity = contact_capacity ? contact_capacity : capacity;
    if (contacts > capacity) {
        contacts = capacity;
        rows = capacity * most_rows;
        entries = capacity * most_entries;
    }
    for (int i = 0; i < m->neq; i++) {
        rows += 6;
        entries += 6 * (int64_t)plan->chain[plan->equality_chain + i].count;
    }
    rows += m->nv + 2 * (int64_t)m->njnt + 3 * (int64_t)m->ntendon;
    entries += m->nv + 6 * (int64_t)m->njnt;
    for (int i = 0; i < m->ntendon; i++) {
        entries += 3 * (int64_t)plan->chain[plan->tendon_chain + i].count;
    }
    if (entries > INT32_MAX / 64) {
        return orr_fail(
            error, ORR_CODE_CAPACITY,
            "%s: constraints: expected at most %d entries of the Jacobian, the model can need %lld", m->name,
            INT32_MAX / 64, (long long)entries);
    }
    plan->row_responses =
        m->opt.noslip_iterations > 0 ? (int32_t)rows : (m->opt.enableflags & ORR_ENABLE_DIAGEXACT) != 0;
    plan->contact_capacity = (int32_t)contacts;
    plan->row_capacity = (int32_t)rows;
    plan->jacobian_capacity = (int32_t)entries;
    return ORR_OK;
}

static bool free_and_alone(const orr_model *m, int body)
{
    bool alone = m->body_jntnum[body] == 1 && m->jnt_type[m->body_jntadr[body]] == ORR_JOINT_FREE;
    for (int i = 0; i < m->nbody && alone; i++) {
        alone = i == body || m->body_rootid[i] != body;
    }
    return alone;
}

static orr_result plan_integrator(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    bool full = m->opt.integrator == ORR_INTEGRATOR_IMPLICIT,
         fast = m->opt.integrator == ORR_INTEGRATOR_IMPLICITFAST;
    plan->rk4_copies = m->opt.integrator == ORR_INTEGRATOR_RK4;
    plan->unsymmetric = full;
    plan->fluid_slopes = (full || fast) && (m->opt.density > 0.0 || m->opt.viscosity > 0.0);
    plan->gyroscopic = orr_alloc_zero((size_t)m->nv, 1);
    if (!plan->gyroscopic) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d dofs", (int)m->nv);
    }
    for (int body = 1; body < m->nbody && fast; body++) {
        if (free_and_alone(m, body)) {
            memset(plan->gyroscopic + m->body_dofadr[body], 1, 6);
            plan->unsymmetric = 1;
        }
    }
    return ORR_OK;
}

static orr_result build(orr_plan *plan, int contact_capacity, orr_error *error)
{
    ORR_TRY(plan_integrator(plan, error));
    ORR_TRY(find_pairs(plan, error));
    ORR_TRY(orr_plan_hulls(plan, error));
    ORR_TRY(orr_plan_chains(plan, error));
    return count_rows(plan, contact_capacity, error);
}

static orr_result allocate(const orr_model *model, orr_plan **plan, orr_error *error)
{
    ORR_ALLOC(*plan, 1, "a plan", error);
    memset(*plan, 0, sizeof **plan);
    (*plan)->model = model;
    for (int i = 0; i < ORR_VARY_COUNT; i++) {
        (*plan)->varied_at[i] = -1;
    }
    return ORR_OK;
}

// Hands over a plan that has been built, or destroys it on failure.
static orr_result finish(orr_plan *built, orr_result result, orr_plan **plan)
{
    if (result != ORR_OK) {
        orr_plan_destroy(built);
        return result;
    }
    *plan = built;
    return ORR_OK;
}

orr_result orr_plan_create(const orr_model *model, int contact_capacity, orr_plan **plan, orr_error *error)
{
    orr_plan *made;
    ORR_TRY(check_supported(model, error));
    ORR_TRY(allocate(model, &made, error));
    return finish(made, build(made, contact_capacity, error), plan);
}

orr_result orr_plan_create_positions(const orr_model *model, orr_plan **plan, orr_error *error)
{
    orr_plan *made;
    ORR_TRY(allocate(model, &made, error));
    return finish(made, orr_plan_chains(made, error), plan);
}

void orr_plan_destroy(orr_plan *plan)
{
    if (!plan) {
        return;
    }
    orr_free(plan->pair);
    orr_free(plan->chain);
    orr_free(plan->chain_dof);
    orr_free(plan->chain_part);
    orr_free(plan->dof_descending);
    orr_free(plan->last_dof);
    orr_free(plan->dof_end);
    orr_free(plan->level_body);
    orr_free(plan->level_first);
    orr_free(plan->gyroscopic);
    orr_free(plan->sweep_geom);
    orr_free(plan->pair_first);
    orr_free(plan->always_near);
    orr_free(plan->hull);
    orr_free(plan->hull_normal);
    orr_free(plan->hull_first);
    orr_free(plan->hull_vertex);
    orr_free(plan);
}
