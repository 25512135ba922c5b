// Which kinematic trees may fall asleep, by MuJoCo's rules: those that say nothing about it may, unless
// something pulls at them that does not see whether they sleep.
#include "physics/model/compile.h"

// The tree that an object of a tendon's path is in, -1: none.
static int tree_of_wrap(const orr_model *m, int wrap)
{
    int id = m->wrap_objid[wrap];
    switch (m->wrap_type[wrap]) {
    case ORR_WRAP_JOINT:
        return m->body_treeid[m->jnt_bodyid[id]];
    case ORR_WRAP_SITE:
        return m->body_treeid[m->site_bodyid[id]];
    case ORR_WRAP_SPHERE:
    case ORR_WRAP_CYLINDER:
        return m->body_treeid[m->geom_bodyid[id]];
    default:
        return -1;
    }
}

static void never_by_itself(const orr_model *m, int tree)
{
    if (tree >= 0 && m->tree_sleep_policy[tree] == ORR_SLEEP_AUTO) {
        m->tree_sleep_policy[tree] = ORR_SLEEP_AUTO_NEVER;
    }
}

static void keep_actuated_awake(const orr_model *m)
{
    for (int i = 0; i < m->nactuator; i++) {
        int id = m->actuator_trnid[2 * (ptrdiff_t)i], other = m->actuator_trnid[2 * (ptrdiff_t)i + 1];
        bool turns_joint = m->actuator_trntype[i] == ORR_TRANSMISSION_SO3 && other < 0;
        switch (turns_joint ? ORR_TRANSMISSION_JOINT : m->actuator_trntype[i]) {
        case ORR_TRANSMISSION_TENDON:
            for (int wrap = m->tendon_adr[id]; wrap < m->tendon_adr[id] + m->tendon_num[id]; wrap++) {
                never_by_itself(m, tree_of_wrap(m, wrap));
            }
            break;
        case ORR_TRANSMISSION_SITE:
        case ORR_TRANSMISSION_SLIDERCRANK:
        case ORR_TRANSMISSION_SO3:
            never_by_itself(m, m->body_treeid[m->site_bodyid[id]]);
            if (other >= 0) { // the slider, or the site of reference
                never_by_itself(m, m->body_treeid[m->site_bodyid[other]]);
            }
            break;
        case ORR_TRANSMISSION_BODY:
            never_by_itself(m, m->body_treeid[id]);
            break;
        default:
            never_by_itself(m, m->body_treeid[m->jnt_bodyid[id]]);
            break;
        }
    }
}

// How many trees a tendon connects, of more than two: three.
static int trees_of_tendon(const orr_model *m, int tendon)
{
    int found[2] = {-1, -1}, count = 0;
    for (int wrap = m->tendon_adr[tendon]; wrap < m->tendon_adr[tendon] + m->tendon_num[tendon]; wrap++) {
        int tree = tree_of_wrap(m, wrap);
        if (tree < 0 || tree == found[0] || tree == found[1]) {
            continue;
        }
        if (count == 2) {
            return 3;
        }
        found[count++] = tree;
    }
    return count;
}

static bool is_elastic(const orr_model *m, int tendon)
{
    bool elastic = m->tendon_stiffness[tendon] != 0.0 || m->tendon_damping[tendon] != 0.0;
    for (int k = 0; k < ORR_NPOLY; k++) {
        ptrdiff_t at = (ptrdiff_t)ORR_NPOLY * tendon + k;
        elastic = elastic || m->tendon_stiffnesspoly[at] != 0.0 || m->tendon_dampingpoly[at] != 0.0;
    }
    return elastic;
}

static orr_result keep_tied_awake(const model_builder *b)
{
    const orr_model *m = b->m;
    for (int i = 0; i < m->ntendon; i++) {
        int trees = trees_of_tendon(m, i);
        if (trees < 2 || (trees == 2 && !is_elastic(m, i))) {
            continue;
        }
        for (int wrap = m->tendon_adr[i]; wrap < m->tendon_adr[i] + m->tendon_num[i]; wrap++) {
            int tree = tree_of_wrap(m, wrap),
                policy = tree < 0 ? ORR_SLEEP_NEVER : m->tree_sleep_policy[tree];
            if (policy == ORR_SLEEP_ALLOWED || policy == ORR_SLEEP_INIT) {
                return spec_fail(
                    &b->spec->tendons[i].head, b->error,
                    "a tendon %s between kinematic trees: expected none of them with sleep=\"%s\"",
                    trees > 2 ? "" : "with a spring or damper",
                    policy == ORR_SLEEP_INIT ? "init" : "allowed");
            }
            never_by_itself(m, tree);
        }
    }
    return ORR_OK;
}

orr_result build_sleep(const model_builder *b)
{
    const orr_model *m = b->m;
    for (int i = 1; i < m->nbody; i++) {
        const spec_body *body = &b->spec->bodies[i];
        int tree = m->body_treeid[i];
        bool root = tree >= 0 && m->body_dofnum[i] > 0 && m->body_treeid[m->body_parentid[i]] < 0;
        if (body->sleep != ORR_SLEEP_AUTO && !root) {
            return spec_fail(&body->head, b->error,
                             "sleep: expected in a body that has joints, and none above it that has");
        }
        if (root) {
            m->tree_sleep_policy[tree] = body->sleep;
        }
    }
    keep_actuated_awake(m);
    for (int i = 0; i < m->nflexweight; i++) {
        never_by_itself(m, m->body_treeid[m->flexweight_bodyid[i]]);
    }
    for (int i = 0; i < m->nflexcellnode; i++) {
        never_by_itself(m, m->body_treeid[m->flexcell_bodyid[i]]);
    }
    ORR_TRY(keep_tied_awake(b));
    for (int i = 0; i < m->ntree; i++) {
        if (m->tree_sleep_policy[i] == ORR_SLEEP_AUTO) {
            m->tree_sleep_policy[i] = ORR_SLEEP_AUTO_ALLOWED;
        }
    }
    return ORR_OK;
}
