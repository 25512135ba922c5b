#include "physics/plan.h"

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

// What the importer reads and the dynamics lack.
static orr_result check_supported(const orr_model *m, orr_error *error)
{
    if (m->opt.integrator == ORR_INTEGRATOR_IMPLICIT) {
        return refuse(error, m, "option integrator=\"implicit\"", NULL);
    }
    if (m->opt.noslip_iterations > 0) {
        return refuse(error, m, "option noslip_iterations", NULL);
    }
    const int flags = ORR_ENABLE_OVERRIDE | ORR_ENABLE_SLEEP | ORR_ENABLE_DIAGEXACT | ORR_ENABLE_INVDISCRETE;
    if (m->opt.enableflags & flags) {
        return refuse(error, m, "option flag override, sleep, diagexact or invdiscrete", NULL);
    }
    for (int i = 0; i < m->nwrap; i++) {
        if (m->wrap_type[i] != ORR_WRAP_JOINT) {
            return refuse(error, m, "spatial tendon", NULL);
        }
    }
    for (int i = 0; i < m->ntendon; i++) {
        const char *name = orr_model_name(m, ORR_OBJECT_TENDON, i);
        if (m->tendon_armature[i] > 0.0) {
            return refuse(error, m, "armature of tendon", name);
        }
        if (m->opt.integrator == ORR_INTEGRATOR_IMPLICITFAST && m->tendon_damping[i] > 0.0) {
            return refuse(error, m, "integrator implicitfast with damping of tendon", name);
        }
    }
    for (int i = 0; i < m->nu; i++) {
        const char *name = orr_model_name(m, ORR_OBJECT_ACTUATOR, i);
        int transmission = m->actuator_trntype[i];
        if (transmission != ORR_TRANSMISSION_JOINT && transmission != ORR_TRANSMISSION_JOINTINPARENT &&
            transmission != ORR_TRANSMISSION_TENDON) {
            return refuse(error, m, "transmission of actuator", name);
        }
        if (m->opt.integrator == ORR_INTEGRATOR_IMPLICITFAST && transmission == ORR_TRANSMISSION_TENDON &&
            (m->actuator_biasprm[ORR_NBIAS * i + 2] != 0.0 ||
             m->actuator_gainprm[ORR_NGAIN * i + 2] != 0.0)) {
            return refuse(error, m, "integrator implicitfast with a velocity gain on the tendon of actuator",
                          name);
        }
    }
    for (int i = 0; i < m->ngeom; i++) {
        if (m->geom_fluid[ORR_NFLUID * i] > 0.0) {
            return refuse(error, m, "ellipsoid fluid model of geom", orr_model_name(m, ORR_OBJECT_GEOM, i));
        }
    }
    if (m->opt.integrator == ORR_INTEGRATOR_IMPLICITFAST) {
        if (m->opt.density > 0.0 || m->opt.viscosity > 0.0) {
            return refuse(error, m, "integrator implicitfast in a fluid", NULL);
        }
        for (int i = 0; i < m->nbody; i++) {
            int joint = m->body_jntadr[i];
            bool alone = m->body_jntnum[i] == 1 && m->jnt_type[joint] == ORR_JOINT_FREE;
            for (int k = 0; k < m->nbody && alone; k++) {
                alone = k == i || m->body_rootid[k] != i || m->body_dofnum[k] == 0;
            }
            if (alone) {
                return refuse(error, m, "integrator implicitfast with a free body",
                              orr_model_name(m, ORR_OBJECT_BODY, i));
            }
        }
    }
    return ORR_OK;
}

// Most contacts of two types of geoms; 0: no collision function.
static int contact_slots(int type1, int type2)
{
    if (type1 == ORR_GEOM_PLANE) {
        switch (type2) {
        case ORR_GEOM_SPHERE:
        case ORR_GEOM_ELLIPSOID:
            return 1;
        case ORR_GEOM_CAPSULE:
            return 2;
        case ORR_GEOM_CYLINDER:
            return 4;
        case ORR_GEOM_BOX:
            return 8; // four in a world, but any of the corners
        default:
            return 0;
        }
    }
    if (type1 == ORR_GEOM_SPHERE && (type2 == ORR_GEOM_SPHERE || type2 == ORR_GEOM_CAPSULE)) {
        return 1;
    }
    // one where they cross, or two of four ends where they are parallel in some lane
    return type1 == ORR_GEOM_CAPSULE && type2 == ORR_GEOM_CAPSULE ? 5 : 0;
}

// ---- which geoms can meet ----

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
    for (int i = 0; i < m->npair; i++) { // declared pairs come with their own parameters
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

// MuJoCo's rules: the higher priority wins; between equals friction is the larger, the rest is weighted by solmix.
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

static orr_result add_pair(orr_plan *plan, int a, int b, int declared, orr_error *error)
{
    const orr_model *m = plan->model;
    orr_pair *pair = &plan->pair[plan->pair_count];
    memset(pair, 0, sizeof *pair);
    bool swap = m->geom_type[a] > m->geom_type[b];
    pair->geom1 = swap ? b : a;
    pair->geom2 = swap ? a : b;
    pair->slots = contact_slots(m->geom_type[pair->geom1], m->geom_type[pair->geom2]);
    if (m->geom_type[pair->geom1] == ORR_GEOM_PLANE && m->geom_type[pair->geom2] == ORR_GEOM_PLANE) {
        return ORR_OK; // planes never meet
    }
    if (pair->slots == 0) {
        static const char *const names[] = {"plane",     "height field", "sphere", "capsule",
                                            "ellipsoid", "cylinder",     "box",    "mesh"};
        char what[96];
        snprintf(what, sizeof what, "contact between %s and %s of geoms %d and %d",
                 names[m->geom_type[pair->geom1]], names[m->geom_type[pair->geom2]], (int)pair->geom1,
                 (int)pair->geom2);
        return refuse(error, m, what, NULL);
    }
    if (declared >= 0) {
        declared_parameters(m, declared, pair);
    } else {
        mix_parameters(m, a, b, pair);
    }
    pair->declared = declared;
    orr_pair_numbers(m, pair, pair->numbers);
    memcpy(pair->friction, pair->numbers + ORR_PAIR_FRICTION, sizeof pair->friction);
    plan->pair_count++;
    return ORR_OK;
}

static orr_result find_pairs(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    int64_t count = m->npair;
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
        ORR_TRY(add_pair(plan, m->pair_geom1[i], m->pair_geom2[i], i, error));
    }
    for (int a = 0; a < m->ngeom; a++) {
        for (int b = a + 1; b < m->ngeom; b++) {
            if (geoms_meet(m, a, b)) {
                ORR_TRY(add_pair(plan, a, b, -1, error));
            }
        }
    }
    return ORR_OK;
}

// ---- which dofs move what ----

// Marks the dofs above a body.
static void mark_dofs(const orr_model *m, int body, int bit, uint8_t *part)
{
    while (body > 0 && m->body_dofnum[body] == 0) {
        body = m->body_parentid[body];
    }
    if (body == 0) {
        return;
    }
    for (int dof = m->body_dofadr[body] + m->body_dofnum[body] - 1; dof >= 0; dof = m->dof_parentid[dof]) {
        part[dof] = (uint8_t)(part[dof] | bit);
    }
}

// A chain of the marked dofs; dofs that carry both sides are left out unless `common`.
static int add_chain(orr_plan *plan, const uint8_t *part, const double *coef, bool common)
{
    orr_chain *chain = &plan->chain[plan->chain_count];
    chain->first = plan->chain_dof_count;
    chain->count = 0;
    for (int dof = plan->model->nv - 1; dof >= 0; dof--) {
        if (part[dof] != 0 && (common || part[dof] != (ORR_CHAIN_FIRST | ORR_CHAIN_SECOND))) {
            int i = chain->first + chain->count++;
            plan->chain_dof[i] = dof;
            plan->chain_part[i] = part[dof];
            plan->chain_coef[i] = coef ? coef[dof] : 1.0;
        }
    }
    plan->chain_dof_count += chain->count;
    return plan->chain_count++;
}

static void mark_tendon(const orr_model *m, int tendon, int bit, uint8_t *part, double *coef)
{
    for (int k = m->tendon_adr[tendon]; k < m->tendon_adr[tendon] + m->tendon_num[tendon]; k++) {
        int dof = m->jnt_dofadr[m->wrap_objid[k]];
        part[dof] = (uint8_t)(part[dof] | bit);
        coef[dof] += m->wrap_prm[k];
    }
}

static int equality_body(const orr_model *m, int i, int side)
{
    int id = side ? m->eq_obj2id[i] : m->eq_obj1id[i];
    return m->eq_objtype[i] == ORR_OBJECT_SITE ? m->site_bodyid[id] : id;
}

static orr_result find_chains(orr_plan *plan, uint8_t *part, double *coef, orr_error *error)
{
    const orr_model *m = plan->model;
    size_t nv = (size_t)m->nv;
    for (int i = 0; i < plan->pair_count; i++) {
        memset(part, 0, nv);
        mark_dofs(m, m->geom_bodyid[plan->pair[i].geom1], ORR_CHAIN_FIRST, part);
        mark_dofs(m, m->geom_bodyid[plan->pair[i].geom2], ORR_CHAIN_SECOND, part);
        plan->pair[i].chain = add_chain(plan, part, NULL, false);
    }
    plan->equality_chain = plan->chain_count;
    for (int i = 0; i < m->neq; i++) {
        int id[2] = {m->eq_obj1id[i], m->eq_obj2id[i]};
        memset(part, 0, nv);
        memset(coef, 0, nv * sizeof *coef);
        for (int side = 0; side < 2; side++) {
            int bit = side ? ORR_CHAIN_SECOND : ORR_CHAIN_FIRST;
            if (id[side] < 0) {
                continue;
            }
            if (m->eq_type[i] == ORR_EQUALITY_TENDON) {
                mark_tendon(m, id[side], bit, part, coef);
            } else if (m->eq_type[i] == ORR_EQUALITY_JOINT) {
                part[m->jnt_dofadr[id[side]]] = (uint8_t)bit;
                coef[m->jnt_dofadr[id[side]]] = 1.0;
            } else {
                mark_dofs(m, equality_body(m, i, side), bit, part);
            }
        }
        for (int dof = 0; dof < m->nv && m->eq_type[i] == ORR_EQUALITY_TENDON; dof++) {
            if (part[dof] == (ORR_CHAIN_FIRST | ORR_CHAIN_SECOND)) {
                return refuse(error, m, "equality between tendons that share a joint", NULL);
            }
        }
        add_chain(plan, part, coef, true);
    }
    plan->tendon_chain = plan->chain_count;
    for (int i = 0; i < m->ntendon; i++) {
        memset(part, 0, nv);
        memset(coef, 0, nv * sizeof *coef);
        mark_tendon(m, i, ORR_CHAIN_FIRST, part, coef);
        add_chain(plan, part, coef, true);
    }
    return ORR_OK;
}

// ---- how much a step can need ----

static orr_result count_rows(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    int64_t contacts = 0, rows = 0, entries = 0;
    for (int i = 0; i < plan->pair_count; i++) {
        const orr_pair *pair = &plan->pair[i];
        int dim = pair->condim;
        int per_contact = dim == 1 ? 1 : m->opt.cone == ORR_CONE_ELLIPTIC ? dim : 2 * (dim - 1);
        contacts += pair->slots;
        rows += (int64_t)pair->slots * per_contact;
        entries += (int64_t)pair->slots * per_contact * plan->chain[pair->chain].count;
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
    plan->contact_capacity = (int32_t)contacts;
    plan->row_capacity = (int32_t)rows;
    plan->jacobian_capacity = (int32_t)entries;
    plan->rk4_copies = m->opt.integrator == ORR_INTEGRATOR_RK4;
    return ORR_OK;
}

static orr_result build(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    ORR_TRY(find_pairs(plan, error));
    int64_t chains = (int64_t)plan->pair_count + m->neq + m->ntendon;
    ORR_ALLOC(plan->chain, chains, "chains of dofs", error);
    ORR_ALLOC(plan->chain_dof, chains * m->nv, "chains of dofs", error);
    ORR_ALLOC(plan->chain_part, chains * m->nv, "chains of dofs", error);
    ORR_ALLOC(plan->chain_coef, chains * m->nv, "chains of dofs", error);
    ORR_ALLOC(plan->dof_descending, m->nv, "dofs", error);
    for (int i = 0; i < m->nv; i++) {
        plan->dof_descending[i] = m->nv - 1 - i;
    }
    uint8_t *part = orr_alloc((size_t)m->nv, 1);
    double *coef = orr_alloc((size_t)m->nv, sizeof *coef);
    orr_result result = part && coef
                            ? find_chains(plan, part, coef, error)
                            : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: chains of dofs");
    orr_free(part);
    orr_free(coef);
    ORR_TRY(result);
    return count_rows(plan, error);
}

orr_result orr_plan_create(const orr_model *model, orr_plan **plan, orr_error *error)
{
    ORR_TRY(check_supported(model, error));
    orr_plan *made = orr_alloc_zero(1, sizeof *made);
    if (!made) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu bytes for a plan", sizeof *made);
    }
    made->model = model;
    memset(made->varied_at, 0xff, sizeof made->varied_at);
    orr_result result = build(made, error);
    if (result != ORR_OK) {
        orr_plan_destroy(made);
        return result;
    }
    *plan = made;
    return ORR_OK;
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
    orr_free(plan->chain_coef);
    orr_free(plan->dof_descending);
    orr_free(plan);
}
