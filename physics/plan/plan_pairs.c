// Pairs of a plan: which geoms can collide, and the parameters of their contacts.
#include "physics/plan/contact_mix.h"

#include "engine/core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Most contacts of two types of geoms that touch; 0: they cannot collide.
static int touching_slots(const orr_model *m, int geom1, int geom2)
{
    int type1 = m->geom_type[geom1], type2 = m->geom_type[geom2];
    if (type2 == ORR_GEOM_SDF && m->geom_function[geom2]) {
        int starts = m->opt.sdf_initpoints < ORR_PAIR_CONTACTS ? m->opt.sdf_initpoints : ORR_PAIR_CONTACTS;
        return type1 == ORR_GEOM_PLANE ? 4 : type1 == ORR_GEOM_MESH ? ORR_PAIR_CONTACTS : starts;
    }
    if (type2 == ORR_GEOM_SDF) {
        bool has_points = type1 != ORR_GEOM_PLANE && type1 != ORR_GEOM_HFIELD && type1 != ORR_GEOM_SDF;
        return has_points ? ORR_GRID_CONTACTS + 1 : 0; // and one of the ball in its middle
    }
    if (type1 == ORR_GEOM_PLANE) {
        static const int slots[] = {0, 0, 1, 2, 1, 4, 8 /* four in a world, but any of the corners */, 4};
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

// Most contacts of two types of geoms; 0: they cannot collide. In some lanes they can touch and in others be
// about to (lanes/collision/speculative.h).
static int contact_slots(const orr_model *m, int geom1, int geom2)
{
    int touching = touching_slots(m, geom1, geom2);
    return touching && m->opt.enableflags & ORR_ENABLE_SPECULATIVE ? touching + 4 : touching;
}

// ---- which geoms can collide ----

static uint64_t key_of(int a, int b)
{
    return a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool listed(const uint64_t *keys, int count, int a, int b)
{
    uint64_t key = key_of(a, b);
    return count > 0 && bsearch(&key, keys, (size_t)count, sizeof *keys, compare_keys) != NULL;
}

// Pairs of bodies that are excluded, and pairs of geoms that are declared.
static orr_result sort_keys(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    ORR_ALLOC(plan->excluded, m->nexclude, "excluded pairs", error);
    ORR_ALLOC(plan->declared, m->npair, "declared pairs", error);
    for (int i = 0; i < m->nexclude; i++) {
        plan->excluded[i] = key_of(m->exclude_signature[i] / 65536, m->exclude_signature[i] % 65536);
    }
    for (int i = 0; i < m->npair; i++) {
        plan->declared[i] = key_of(m->pair_geom1[i], m->pair_geom2[i]);
    }
    qsort(plan->excluded, (size_t)m->nexclude, sizeof *plan->excluded, compare_keys);
    qsort(plan->declared, (size_t)m->npair, sizeof *plan->declared, compare_keys);
    return ORR_OK;
}

static bool bodies_meet(const orr_plan *plan, int body1, int body2)
{
    const orr_model *m = plan->model;
    int weld1 = m->body_weldid[body1], weld2 = m->body_weldid[body2];
    if (weld1 == weld2 || (m->body_dofnum[weld1] == 0 && m->body_dofnum[weld2] == 0)) {
        return false; // they cannot move, or as mocap bodies alone
    }
    int above1 = m->body_weldid[m->body_parentid[weld1]], above2 = m->body_weldid[m->body_parentid[weld2]];
    bool filter = !(m->opt.disableflags & ORR_DISABLE_FILTERPARENT);
    if (filter && weld1 != 0 && weld2 != 0 && (weld1 == above2 || weld2 == above1)) {
        return false;
    }
    return !listed(plan->excluded, m->nexclude, body1, body2);
}

static bool collides(const orr_model *m, int geom)
{
    return m->geom_contype[geom] || m->geom_conaffinity[geom];
}

static bool geoms_meet(const orr_plan *plan, int a, int b)
{
    const orr_model *m = plan->model;
    if (!(m->geom_contype[a] & m->geom_conaffinity[b]) && !(m->geom_contype[b] & m->geom_conaffinity[a])) {
        return false;
    }
    return bodies_meet(plan, m->geom_bodyid[a], m->geom_bodyid[b]) &&
           !listed(plan->declared, m->npair, a, b); // declared pairs have their own parameters
}

// i: of nflextouch.
static orr_contact_side touch_side(const orr_model *m, int i, double invweight)
{
    return (orr_contact_side){.condim = m->flextouch_condim[i],
                              .priority = m->flextouch_priority[i],
                              .margin = m->flextouch_margin[i],
                              .gap = m->flextouch_gap[i],
                              .solmix = m->flextouch_solmix[i],
                              .solref = m->flextouch_solref + ORR_NREF * i,
                              .solimp = m->flextouch_solimp + ORR_NIMP * i,
                              .friction = m->flextouch_friction + 3 * i,
                              .invweight = invweight};
}

// MuJoCo's inverse weight of a vertex is the mean of those of its nodes.
static orr_contact_side point_side(const orr_model *m, int point)
{
    const int first = m->flexpoint_weightadr[point];
    double invweight = 0.0;
    for (int k = first; k < first + m->flexpoint_weightnum[point]; k++) {
        invweight += m->flexweight[k] * m->body_invweight0[2 * m->flexweight_bodyid[k]];
    }
    return touch_side(m, m->flexpoint_touchid[point], invweight);
}

// The inverse weight of an element depends on where it is touched.
static orr_contact_side element_side(const orr_model *m, int element)
{
    return touch_side(m, m->flexelement_touchid[element], 0.0);
}

// The second side of a pair.
static orr_contact_side other_side(const orr_model *m, const orr_pair *pair)
{
    return pair->geom2 >= 0   ? orr_contact_side_of(m, pair->geom2)
           : pair->point >= 0 ? point_side(m, pair->point)
                              : element_side(m, pair->element);
}

// Of the rows of a contact, from that of its normal.
static void row_weights(const orr_model *m, const orr_pair *pair, const double friction[5], double normal,
                        double weight[6])
{
    double slip = friction[0], mu = slip / sqrt(m->opt.impratio);
    bool pyramid = pair->condim > 1 && m->opt.cone == ORR_CONE_PYRAMIDAL;
    weight[0] = pyramid ? 2.0 * mu * mu * (normal + slip * slip * normal) : normal;
    for (int k = 1; k < 6; k++) {
        weight[k] = normal / m->opt.impratio * slip * slip / (friction[k - 1] * friction[k - 1]);
    }
}

void orr_pair_numbers(const orr_model *m, const orr_pair *pair, double numbers[ORR_PAIR_NUMBERS])
{
    double *friction = numbers + ORR_PAIR_FRICTION;
    const orr_contact_side a = orr_contact_side_of(m, pair->geom1), b = other_side(m, pair);
    orr_contact_mix_friction(m, pair->declared, &a, &b, friction);
    double both = pair->element >= 0 ? 1.0 : a.invweight + b.invweight;
    double mu = friction[0] / sqrt(m->opt.impratio);
    numbers[ORR_PAIR_MU] = mu;
    numbers[ORR_PAIR_CONE] = 1.0 / (mu * mu * (1.0 + mu * mu));
    row_weights(m, pair, friction, both, numbers + ORR_PAIR_WEIGHT);
}

double orr_geom_surface_weight(const orr_model *m, int geom)
{
    int body = m->geom_bodyid[geom];
    const double *pos = m->geom_pos + 3 * geom, *centre = m->body_ipos + 3 * body;
    double away = hypot(hypot(pos[0] - centre[0], pos[1] - centre[1]), pos[2] - centre[2]);
    double lever = m->geom_rbound[geom] + away;
    return m->body_invweight0[2 * body + 1] * lever * lever;
}

// MuJoCo derives a contact's impedance from the inverse weights of the bodies' centres of mass. Where a body
// turns about its centre (a knob on a panel) they are 0, and the impedance is infinite: float does not
// converge. There they are at least a millionth of the surfaces' inverse weight.
static double least_weight(const orr_model *m, const orr_pair *pair)
{
    const int32_t geom[2] = {pair->geom1, pair->geom2};
    double at_surface = 0.0;
    for (int k = 0; k < 2 && geom[k] >= 0; k++) { // nodes of soft bodies do not turn
        at_surface += orr_geom_surface_weight(m, geom[k]);
    }
    return 1e-6 * at_surface;
}

static void declared_parameters(const orr_model *m, int i, orr_pair *pair)
{
    pair->condim = m->pair_dim[i];
    pair->includemargin = m->pair_margin[i];
    pair->margin = m->pair_margin[i] + m->pair_gap[i];
    pair->adhesion = m->pair_adhesion[i];
    memcpy(pair->solref, m->pair_solref + ORR_NREF * i, sizeof pair->solref);
    memcpy(pair->solreffriction, m->pair_solreffriction + ORR_NREF * i, sizeof pair->solreffriction);
    memcpy(pair->solimp, m->pair_solimp + ORR_NIMP * i, sizeof pair->solimp);
}

static void finish_pair(const orr_model *m, int declared, orr_pair *pair)
{
    orr_contact_override(m, pair);
    pair->declared = declared;
    orr_pair_numbers(m, pair, pair->numbers);
    memcpy(pair->friction, pair->numbers + ORR_PAIR_FRICTION, sizeof pair->friction);
    row_weights(m, pair, pair->friction, least_weight(m, pair), pair->least_weight);
}

bool orr_pair_fill(const orr_model *m, int a, int b, int declared, orr_pair *pair)
{
    memset(pair, 0, sizeof *pair);
    bool swap = m->geom_type[a] > m->geom_type[b];
    pair->geom1 = swap ? b : a;
    pair->geom2 = swap ? a : b;
    pair->slots = contact_slots(m, pair->geom1, pair->geom2);
    if (pair->slots == 0) {
        return false;
    }
    if (declared >= 0) {
        declared_parameters(m, declared, pair);
    } else {
        const orr_contact_side one = orr_contact_side_of(m, a), two = orr_contact_side_of(m, b);
        orr_contact_mix(&one, &two, pair);
    }
    pair->point = pair->element = -1;
    finish_pair(m, declared, pair);
    return true;
}

// Of a geom and a vertex, or an element; the other is -1.
static void fill_flex_pair(const orr_model *m, int geom, int point, int element, orr_pair *pair)
{
    memset(pair, 0, sizeof *pair);
    pair->geom1 = geom;
    pair->geom2 = -1;
    pair->point = point;
    pair->element = element;
    pair->slots = 1;
    const orr_contact_side one = orr_contact_side_of(m, geom), two = other_side(m, pair);
    orr_contact_mix(&one, &two, pair);
    finish_pair(m, -1, pair);
}

bool orr_plan_mix_pair(const orr_plan *plan, int a, int b, orr_pair *pair)
{
    const orr_model *m = plan->model;
    int low = a < b ? a : b, high = a < b ? b : a;
    if (!geoms_meet(plan, a, b)) {
        return false;
    }
    if (plan->kind_count == 0) {
        return orr_pair_fill(m, low, high, -1, pair);
    }
    bool swap = m->geom_type[low] > m->geom_type[high];
    *pair = plan->kind_pair[plan->geom_kind[low] * plan->kind_count + plan->geom_kind[high]];
    pair->geom1 = swap ? high : low;
    pair->geom2 = swap ? low : high;
    return pair->slots > 0;
}

// Undeclared pairs by their geoms; they are in ascending order.
static orr_result index_pairs(orr_plan *plan, int declared, orr_error *error)
{
    int words = (plan->model->ngeom + 31) / 32;
    int64_t count = (int64_t)plan->model->ngeom * words;
    ORR_ALLOC(plan->pair_bits, count, "pairs of geoms", error);
    ORR_ALLOC(plan->pair_before, count, "pairs of geoms", error);
    memset(plan->pair_bits, 0, (size_t)count * sizeof *plan->pair_bits);
    plan->pair_words = words;
    for (int i = declared; i < plan->pair_count; i++) {
        int a = plan->pair[i].geom1, b = plan->pair[i].geom2, low = a < b ? a : b, high = a < b ? b : a;
        int64_t word = (int64_t)low * words + high / 32;
        plan->pair_before[word] = plan->pair_bits[word] ? plan->pair_before[word] : i;
        plan->pair_bits[word] |= 1u << high % 32;
    }
    return ORR_OK;
}

enum {
    PAIRS_LISTED = 16384 // more are mixed when their geoms are near, on the CPU
};

// Geoms that are searched for near ones, those that move first; and pairs that are tested in every step.
static orr_result plan_search(orr_plan *plan, int declared, orr_error *error)
{
    const orr_model *m = plan->model;
    if (!plan->pairs_mixed) {
        ORR_TRY(index_pairs(plan, declared, error));
    }
    ORR_ALLOC(plan->boxed_geom, m->ngeom, "geoms with bounding boxes", error);
    ORR_ALLOC(plan->boxed_fixed, (m->ngeom + 31) / 32, "geoms with bounding boxes", error);
    memset(plan->boxed_fixed, 0, (size_t)(m->ngeom + 31) / 32 * sizeof *plan->boxed_fixed);
    ORR_ALLOC(plan->plane_geom, m->ngeom, "planes", error);
    ORR_ALLOC(plan->always_near, (plan->pair_count + 31) / 32, "pairs of geoms", error);
    memset(plan->always_near, 0, (size_t)(plan->pair_count + 31) / 32 * sizeof *plan->always_near);
    for (int i = 0; i < plan->pair_count; i++) {
        if (i < declared || m->geom_type[plan->pair[i].geom1] == ORR_GEOM_PLANE) {
            plan->always_near[i / 32] |= 1u << i % 32;
        }
    }
    for (int moving = 1; moving >= 0; moving--) {
        for (int i = 0; i < m->ngeom; i++) {
            if (m->geom_type[i] != ORR_GEOM_PLANE && collides(m, i) &&
                (m->body_weldid[m->geom_bodyid[i]] != 0) == moving) {
                plan->boxed_geom[plan->boxed_count++] = i;
                plan->boxed_fixed[i / 32] |= moving ? 0u : 1u << i % 32;
            }
        }
        plan->boxed_moving = moving ? plan->boxed_count : plan->boxed_moving;
    }
    for (int i = 0; i < m->ngeom; i++) {
        if (m->geom_type[i] == ORR_GEOM_PLANE && collides(m, i)) {
            plan->plane_geom[plan->plane_count++] = i;
        }
    }
    return ORR_OK;
}

// Calls `found` for the pairs of geoms that can meet, in ascending order; stops when it returns false. Two
// geoms of the world never meet.
static bool visit_pairs(orr_plan *plan, const int32_t *geoms, int count, const int32_t *moving,
                        int moving_count, bool (*found)(orr_plan *plan, int a, int b))
{
    const orr_model *m = plan->model;
    int next_moving = 0;
    for (int i = 0; i < count; i++) {
        int a = geoms[i];
        bool moves = m->body_weldid[m->geom_bodyid[a]] != 0;
        next_moving += moves;
        const int32_t *other = moves ? geoms + i + 1 : moving + next_moving;
        const int32_t *end = moves ? geoms + count : moving + moving_count;
        for (; other < end; other++) {
            if (geoms_meet(plan, a, *other) && !found(plan, a, *other)) {
                return false;
            }
        }
    }
    return true;
}

static bool count_pair(orr_plan *plan, int a, int b)
{
    (void)a;
    (void)b;
    return ++plan->pair_count <= PAIRS_LISTED || plan->for_device;
}

static bool add_pair(orr_plan *plan, int a, int b)
{
    plan->pair_count += orr_pair_fill(plan->model, a, b, -1, &plan->pair[plan->pair_count]);
    return true;
}

// Do the bits of a geom and a soft body that nodes move let them touch?
static bool bits_meet(const orr_model *m, int geom, int i)
{
    return (m->geom_contype[geom] & m->flextouch_conaffinity[i]) != 0 ||
           (m->flextouch_contype[i] & m->geom_conaffinity[geom]) != 0;
}

// Planes touch vertices; these touch elements.
static bool touches_elements(const orr_model *m, int geom)
{
    const int type = m->geom_type[geom];
    return type == ORR_GEOM_SPHERE || type == ORR_GEOM_CAPSULE || type == ORR_GEOM_ELLIPSOID ||
           type == ORR_GEOM_CYLINDER || type == ORR_GEOM_BOX || type == ORR_GEOM_MESH;
}

// Pairs of a vertex and a geom, by the vertices. pair: Nullable. Returns how many.
static int64_t list_points(const orr_model *m, orr_pair *pair)
{
    int64_t count = 0;
    for (int point = 0; point < m->nflexpoint; point++) {
        for (int geom = 0; geom < m->ngeom; geom++) {
            if (m->geom_type[geom] == ORR_GEOM_PLANE && bits_meet(m, geom, m->flexpoint_touchid[point])) {
                if (pair) {
                    fill_flex_pair(m, geom, point, -1, &pair[count]);
                }
                count++;
            }
        }
    }
    return count;
}

// Pairs of an element and a geom, by the elements. pair: Nullable. Returns how many.
static int64_t list_elements(const orr_model *m, orr_pair *pair)
{
    int64_t count = 0;
    for (int element = 0; element < m->nflexelement; element++) {
        for (int geom = 0; geom < m->ngeom; geom++) {
            if (touches_elements(m, geom) && bits_meet(m, geom, m->flexelement_touchid[element])) {
                if (pair) {
                    fill_flex_pair(m, geom, -1, element, &pair[count]);
                }
                count++;
            }
        }
    }
    return count;
}

static bool add_meeting(orr_plan *plan, int a, int b)
{
    const int32_t *body = plan->model->geom_bodyid;
    plan->meets[(int64_t)body[a] * plan->meets_words + b / 32] |= 1u << b % 32;
    plan->meets[(int64_t)body[b] * plan->meets_words + a / 32] |= 1u << a % 32;
    return true;
}

// Which geoms each body can collide with: what is between two that approach fast is looked for among them.
static orr_result list_meetings(orr_plan *plan, const int32_t *geoms, int count, const int32_t *moving,
                                int moving_count, orr_error *error)
{
    const orr_model *m = plan->model;
    int words = (m->ngeom + 31) / 32;
    ORR_ALLOC(plan->meets, (int64_t)m->nbody * words, "pairs of bodies and geoms", error);
    memset(plan->meets, 0, (size_t)m->nbody * (size_t)words * sizeof *plan->meets);
    plan->meets_words = words;
    visit_pairs(plan, geoms, count, moving, moving_count, add_meeting);
    for (int i = 0; i < m->npair; i++) {
        add_meeting(plan, m->pair_geom1[i], m->pair_geom2[i]);
    }
    return ORR_OK;
}

static orr_result list_pairs(orr_plan *plan, const int32_t *geoms, int count, const int32_t *moving,
                             int moving_count, orr_error *error)
{
    const orr_model *m = plan->model;
    plan->pairs_mixed = !visit_pairs(plan, geoms, count, moving, moving_count, count_pair);
    const int64_t of_points = list_points(m, NULL), of_elements = list_elements(m, NULL);
    ORR_ALLOC(plan->pair,
              m->npair + (plan->pairs_mixed ? 0 : (int64_t)plan->pair_count) + of_points + of_elements,
              "pairs of geoms", error);
    plan->pair_count = 0;
    for (int i = 0; i < m->npair; i++) {
        plan->pair_count +=
            orr_pair_fill(m, m->pair_geom1[i], m->pair_geom2[i], i, &plan->pair[plan->pair_count]);
    }
    int declared = plan->pair_count;
    if (!plan->pairs_mixed) {
        visit_pairs(plan, geoms, count, moving, moving_count, add_pair);
    }
    if (plan->pairs_mixed || plan->pair_count > ORR_PAIRS_TESTED_ALONE) {
        ORR_TRY(plan_search(plan, declared, error));
    }
    if (plan->pairs_mixed) {
        ORR_TRY(orr_plan_kinds(plan, error));
    }
    if (m->opt.enableflags & ORR_ENABLE_SPECULATIVE) {
        ORR_TRY(list_meetings(plan, geoms, count, moving, moving_count, error));
    }
    plan->geom_pairs = plan->pair_count;
    list_points(m, plan->pair + plan->pair_count);
    plan->pair_count += (int32_t)of_points;
    plan->point_pairs = plan->pair_count;
    list_elements(m, plan->pair + plan->pair_count);
    plan->pair_count += (int32_t)of_elements;
    return ORR_OK;
}

static bool surfaces_move(const orr_model *m)
{
    bool moves = false;
    for (int i = 0; i < 6 * m->ngeom; i++) {
        moves |= m->geom_surfacevel[i] != 0.0;
    }
    return moves;
}

static bool adheres(const orr_model *m)
{
    bool pulls = false;
    for (int i = 0; i < m->ngeom; i++) {
        pulls |= m->geom_adhesion[i] != 0.0;
    }
    for (int i = 0; i < m->npair; i++) {
        pulls |= m->pair_adhesion[i] != 0.0;
    }
    return pulls;
}

// Of how many pairs a separating direction is kept: 12 bytes of each world for each.
static int count_apart(const orr_plan *plan)
{
    enum { MOST = 32 };
    const int32_t *type = plan->model->geom_type;
    int count = 0;
    for (int i = 0; i < plan->geom_pairs && count < MOST && !plan->pairs_mixed; i++) {
        int one = type[plan->pair[i].geom1], two = type[plan->pair[i].geom2];
        bool closed_form = two == ORR_GEOM_CAPSULE || (one == ORR_GEOM_SPHERE && two == ORR_GEOM_CYLINDER);
        count += one != ORR_GEOM_PLANE && one != ORR_GEOM_HFIELD && two > ORR_GEOM_SPHERE &&
                 two != ORR_GEOM_SDF && !closed_form;
    }
    return count;
}

// Distance grids have contacts with shapes that have points: not with planes, height fields, other grids.
// Functions have contacts with all but height fields (where MuJoCo warns that it has none) and grids.
static orr_result check_grids(const orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    for (int a = 0; a < m->ngeom; a++) {
        for (int b = 0; b < m->ngeom && m->geom_type[a] == ORR_GEOM_SDF; b++) {
            int type = m->geom_type[b];
            if (m->geom_function[a]) {
                bool has_none = type == ORR_GEOM_HFIELD || (type == ORR_GEOM_SDF && !m->geom_function[b]);
                if (has_none && geoms_meet(plan, a, b)) {
                    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                                    "%s: geom '%s': expected that a geom of the type sdf meets no height "
                                    "field or distance grid: the dynamics do not have it",
                                    m->name[0] ? m->name : "model", orr_model_name(m, ORR_OBJECT_GEOM, a));
                }
                continue;
            }
            if ((type == ORR_GEOM_PLANE || type == ORR_GEOM_HFIELD || type == ORR_GEOM_SDF) &&
                geoms_meet(plan, a, b)) {
                return orr_fail(
                    error, ORR_CODE_FEATURE_ABSENT,
                    "%s: geom '%s': expected a distance grid that meets no plane, height field or "
                    "other grid: the dynamics do not have it",
                    m->name[0] ? m->name : "model", orr_model_name(m, ORR_OBJECT_GEOM, a));
            }
        }
    }
    return ORR_OK;
}

orr_result orr_plan_pairs(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    ORR_TRY(sort_keys(plan, error));
    ORR_TRY(check_grids(plan, error));
    if (m->opt.disableflags & (ORR_DISABLE_CONTACT | ORR_DISABLE_CONSTRAINT)) {
        return ORR_OK;
    }
    plan->surfaces_move = surfaces_move(m);
    plan->adheres = adheres(m);
    int32_t *geoms, count = 0, moving = 0;
    ORR_ALLOC(geoms, 2 * (int64_t)m->ngeom, "geoms that collide", error);
    for (int i = 0; i < m->ngeom; i++) {
        if (collides(m, i)) {
            geoms[count++] = i;
        }
        if (collides(m, i) && m->body_weldid[m->geom_bodyid[i]] != 0) {
            geoms[m->ngeom + moving++] = i;
        }
    }
    orr_result result = list_pairs(plan, geoms, count, geoms + m->ngeom, moving, error);
    plan->apart_count = result != ORR_OK || plan->for_device ? 0 : count_apart(plan);
    orr_free(geoms);
    return result;
}
