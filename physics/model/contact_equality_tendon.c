// Contact pairs and excludes, equalities and tendons.
#include "physics/model/compile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static orr_result find(model_builder *b, const spec_head *head, const char *what, int index, const char *name)
{
    return index >= 0 ? ORR_OK : spec_fail(head, b->error, "there is no %s '%.64s'", what, name);
}

// ---- contact

typedef struct keyed {
    int32_t key;
    int index; // in the spec
    int32_t name;
} keyed;

static int32_t signature(int body1, int body2)
{
    int low = body1 < body2 ? body1 : body2, high = body1 < body2 ? body2 : body1;
    return (int32_t)(((uint32_t)low << 16) + (uint32_t)high);
}

// MuJoCo sorts pairs and excludes by their bodies.
static int compare_pairs(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->index - y->index;
}

static orr_result build_pair(model_builder *b, int id, const keyed *from)
{
    orr_model *m = b->m;
    const spec_pair *pair = &b->spec->pairs[from->index];
    int g1 = orr_model_find(m, ORR_OBJECT_GEOM, pair->geom1),
        g2 = orr_model_find(m, ORR_OBJECT_GEOM, pair->geom2);
    bool swap = m->geom_bodyid[g1] > m->geom_bodyid[g2];
    m->pair_geom1[id] = swap ? g2 : g1;
    m->pair_geom2[id] = swap ? g1 : g2;
    m->pair_signature[id] = from->key;
    m->pair_dim[id] = pair->condim;
    m->pair_margin[id] = pair->margin;
    m->pair_gap[id] = pair->gap;
    m->pair_adhesion[id] = pair->adhesion;
    memcpy(m->pair_friction + 5 * id, pair->friction, sizeof pair->friction);
    memcpy(m->pair_solref + ORR_NREF * id, pair->solref, sizeof pair->solref);
    memcpy(m->pair_solreffriction + ORR_NREF * id, pair->solreffriction, sizeof pair->solreffriction);
    memcpy(m->pair_solimp + ORR_NIMP * id, pair->solimp, sizeof pair->solimp);
    m->name_pairadr[id] = from->name;
    if (!(pair->adhesion >= 0.0)) {
        return spec_fail(&pair->head, b->error, "adhesion: expected no negative number");
    }
    return pair->condim == 1 || pair->condim == 3 || pair->condim == 4 || pair->condim == 6
               ? ORR_OK
               : spec_fail(&pair->head, b->error, "condim: expected 1, 3, 4 or 6");
}

static orr_result sort_pairs(model_builder *b, keyed *keys)
{
    orr_model *m = b->m;
    for (int i = 0; i < m->npair; i++) {
        const spec_pair *pair = &b->spec->pairs[i];
        int g1 = orr_model_find(m, ORR_OBJECT_GEOM, pair->geom1),
            g2 = orr_model_find(m, ORR_OBJECT_GEOM, pair->geom2);
        ORR_TRY(find(b, &pair->head, "geom", g1, pair->geom1));
        ORR_TRY(find(b, &pair->head, "geom", g2, pair->geom2));
        keys[i] = (keyed){signature(m->geom_bodyid[g1], m->geom_bodyid[g2]), i, m->name_pairadr[i]};
    }
    qsort(keys, (size_t)m->npair, sizeof *keys, compare_pairs);
    for (int i = 0; i < m->npair; i++) {
        ORR_TRY(build_pair(b, i, &keys[i]));
    }
    return ORR_OK;
}

static orr_result sort_excludes(model_builder *b, keyed *keys)
{
    orr_model *m = b->m;
    for (int i = 0; i < m->nexclude; i++) {
        const spec_exclude *exclude = &b->spec->excludes[i];
        int b1 = SPEC_FIND(b->spec, bodies, exclude->body1), b2 = SPEC_FIND(b->spec, bodies, exclude->body2);
        ORR_TRY(find(b, &exclude->head, "body", b1, exclude->body1));
        ORR_TRY(find(b, &exclude->head, "body", b2, exclude->body2));
        keys[i] = (keyed){signature(b1, b2), i, m->name_excludeadr[i]};
    }
    qsort(keys, (size_t)m->nexclude, sizeof *keys, compare_pairs);
    for (int i = 0; i < m->nexclude; i++) {
        m->exclude_signature[i] = keys[i].key;
        m->name_excludeadr[i] = keys[i].name;
    }
    return ORR_OK;
}

static orr_result build_contact(model_builder *b)
{
    const orr_model *m = b->m;
    if ((m->npair || m->nexclude) && m->nbody > 32767) {
        return orr_fail(b->error, ORR_CODE_CAPACITY,
                        "%s: contact pairs and excludes: expected up to 32767 bodies", b->spec->path);
    }
    keyed *keys;
    ORR_ALLOC(keys, m->npair + m->nexclude, "contact pairs", b->error);
    orr_result result = sort_pairs(b, keys);
    if (result == ORR_OK) {
        result = sort_excludes(b, keys);
    }
    orr_free(keys);
    return result;
}

// ---- equality

static orr_result resolve_strain(model_builder *b, const spec_equality *e, int id)
{
    const int flex = SPEC_FIND(b->spec, flexes, e->object1);
    ORR_TRY(find(b, &e->head, "flex", flex, e->object1));
    b->m->eq_obj1id[id] = find_flex_cell(b->spec, flex, e->cell);
    b->m->eq_obj2id[id] = -1;
    return b->m->eq_obj1id[id] >= 0
               ? ORR_OK
               : spec_fail(&e->head, b->error,
                           "cell: expected one of a flex that nodes move, with something in it, not %d %d %d",
                           e->cell[0], e->cell[1], e->cell[2]);
}

static orr_result resolve_equality(model_builder *b, const spec_equality *e, int id)
{
    orr_model *m = b->m;
    const orr_spec *spec = b->spec;
    const char *what = "body", *name1 = e->object1, *name2 = e->object2;
    int i1, i2;
    if (e->site1) {
        what = "site", name1 = e->site1, name2 = e->site2;
        m->eq_objtype[id] = ORR_OBJECT_SITE;
        i1 = SPEC_FIND(spec, sites, name1), i2 = SPEC_FIND(spec, sites, name2);
    } else if (e->type == ORR_EQUALITY_JOINT) {
        what = "joint";
        i1 = SPEC_FIND(spec, joints, name1), i2 = SPEC_FIND(spec, joints, name2);
    } else if (e->type == ORR_EQUALITY_TENDON) {
        what = "tendon";
        i1 = SPEC_FIND(spec, tendons, name1), i2 = SPEC_FIND(spec, tendons, name2);
    } else if (e->type == ORR_EQUALITY_FLEXSTRAIN) {
        return resolve_strain(b, e, id);
    } else {
        m->eq_objtype[id] = ORR_OBJECT_BODY;
        i1 = SPEC_FIND(spec, bodies, name1), i2 = name2 ? SPEC_FIND(spec, bodies, name2) : 0;
    }
    ORR_TRY(find(b, &e->head, what, i1, name1));
    if (name2) {
        ORR_TRY(find(b, &e->head, what, i2, name2));
    }
    m->eq_obj1id[id] = i1;
    m->eq_obj2id[id] = i2;
    if (i1 == i2) {
        return spec_fail(&e->head, b->error, "expected two different objects");
    }
    for (int k = 0; k < 2 && e->type == ORR_EQUALITY_JOINT; k++) {
        int joint = k ? i2 : i1;
        if (joint >= 0 && m->jnt_type[joint] != ORR_JOINT_SLIDE && m->jnt_type[joint] != ORR_JOINT_HINGE) {
            return spec_fail(&e->head, b->error, "expected slide or hinge joints");
        }
    }
    return ORR_OK;
}

static orr_result build_equalities(model_builder *b)
{
    orr_model *m = b->m;
    for (int i = 0; i < m->neq; i++) {
        const spec_equality *e = &b->spec->equalities[i];
        double *data = m->eq_data + ORR_NEQDATA * i;
        ORR_TRY(resolve_equality(b, e, i));
        m->eq_type[i] = e->type;
        m->eq_active0[i] = (uint8_t)e->active;
        memcpy(m->eq_solref + ORR_NREF * i, e->solref, sizeof e->solref);
        memcpy(m->eq_solimp + ORR_NIMP * i, e->solimp, sizeof e->solimp);
        bool bodies = m->eq_objtype[i] == ORR_OBJECT_BODY;
        data[1] = e->type == ORR_EQUALITY_CONNECT ? 0.0 : 1.0; // MuJoCo's default: y = x
        data[10] = e->type == ORR_EQUALITY_CONNECT && !bodies ? 0.0 : 1.0;
        if (bodies) {
            memcpy(data, e->anchor, sizeof e->anchor);
        } else if (e->type == ORR_EQUALITY_JOINT || e->type == ORR_EQUALITY_TENDON) {
            memcpy(data, e->polycoef, sizeof e->polycoef);
        }
        if (e->type == ORR_EQUALITY_WELD) {
            data[10] = e->torquescale;
        }
        if (e->type == ORR_EQUALITY_WELD && bodies) {
            memcpy(data + 3, e->relpose, sizeof e->relpose);
        }
    }
    return ORR_OK;
}

// ---- tendons

static orr_result resolve_wrap(model_builder *b, const spec_wrap *wrap, int id)
{
    orr_model *m = b->m;
    const orr_spec *spec = b->spec;
    m->wrap_type[id] = wrap->type;
    m->wrap_prm[id] = wrap->prm;
    m->wrap_objid[id] = -1;
    if (wrap->type == ORR_WRAP_JOINT) {
        int joint = SPEC_FIND(spec, joints, wrap->object);
        ORR_TRY(find(b, &wrap->head, "joint", joint, wrap->object));
        m->wrap_objid[id] = joint;
        return m->jnt_type[joint] == ORR_JOINT_SLIDE || m->jnt_type[joint] == ORR_JOINT_HINGE
                   ? ORR_OK
                   : spec_fail(&wrap->head, b->error, "joint: expected a slide or hinge joint");
    }
    if (wrap->type == ORR_WRAP_SITE) {
        m->wrap_objid[id] = SPEC_FIND(spec, sites, wrap->object);
        return find(b, &wrap->head, "site", m->wrap_objid[id], wrap->object);
    }
    if (wrap->type == ORR_WRAP_SPHERE) {
        int geom = orr_model_find(m, ORR_OBJECT_GEOM, wrap->object),
            side = SPEC_FIND(spec, sites, wrap->sidesite);
        ORR_TRY(find(b, &wrap->head, "geom", geom, wrap->object));
        if (wrap->sidesite) {
            ORR_TRY(find(b, &wrap->head, "site", side, wrap->sidesite));
        }
        m->wrap_objid[id] = geom;
        m->wrap_prm[id] = side;
        m->wrap_type[id] = m->geom_type[geom] == ORR_GEOM_SPHERE ? ORR_WRAP_SPHERE : ORR_WRAP_CYLINDER;
        return m->geom_type[geom] == ORR_GEOM_SPHERE || m->geom_type[geom] == ORR_GEOM_CYLINDER
                   ? ORR_OK
                   : spec_fail(&wrap->head, b->error, "geom: expected a sphere or cylinder");
    }
    return ORR_OK;
}

// A branch begins and ends with a site, and has a site on both sides of a geom.
static orr_result check_path(model_builder *b, const spec_tendon *tendon)
{
    const orr_model *m = b->m;
    const int32_t *type = m->wrap_type + tendon->wrap;
    int count = tendon->wrap_count, sites = 0;
    if (count == 0) {
        return spec_fail(&tendon->head, b->error, "expected a path");
    }
    if (type[0] == ORR_WRAP_JOINT) {
        return ORR_OK;
    }
    for (int i = 0; i <= count; i++) {
        bool end = i == count || type[i] == ORR_WRAP_PULLEY;
        if (end && i > 0 && type[i - 1] != ORR_WRAP_PULLEY && (sites < 2 || type[i - 1] != ORR_WRAP_SITE)) {
            return spec_fail(&tendon->head, b->error, "expected each branch to begin and end with a site");
        }
        if (end && (i == count ? type[i - 1] == ORR_WRAP_PULLEY : i > 0 && type[i - 1] == ORR_WRAP_PULLEY)) {
            return spec_fail(&tendon->head, b->error, "expected a branch behind each pulley");
        }
        if (!end && type[i] != ORR_WRAP_SITE && (i == 0 || type[i - 1] != ORR_WRAP_SITE)) {
            return spec_fail(&tendon->head, b->error, "expected a site before each geom");
        }
        sites = end ? 0 : sites + (type[i] == ORR_WRAP_SITE);
    }
    return ORR_OK;
}

static orr_result build_tendon(model_builder *b, int id)
{
    orr_model *m = b->m;
    const spec_tendon *t = &b->spec->tendons[id];
    int material = SPEC_FIND(b->spec, materials, t->material);
    if (t->material) {
        ORR_TRY(find(b, &t->head, "material", material, t->material));
    }
    for (int i = 0; i < t->wrap_count; i++) {
        ORR_TRY(resolve_wrap(b, &b->spec->wraps[t->wrap + i], t->wrap + i));
    }
    ORR_TRY(check_path(b, t));
    for (int i = t->wrap; i < t->wrap + t->wrap_count && t->armature > 0.0; i++) {
        if (m->wrap_type[i] == ORR_WRAP_SPHERE || m->wrap_type[i] == ORR_WRAP_CYLINDER) {
            return spec_fail(&t->head, b->error, "armature: expected on tendons that wrap around no geom");
        }
    }
    m->tendon_adr[id] = t->wrap;
    m->tendon_num[id] = t->wrap_count;
    m->tendon_matid[id] = material;
    m->tendon_group[id] = t->group;
    m->tendon_width[id] = t->width;
    ORR_TRY(builder_limited(b, &t->head, "range", t->limited, t->range, &m->tendon_limited[id]));
    ORR_TRY(builder_limited(b, &t->head, "actuatorfrcrange", t->actfrclimited, t->actfrcrange,
                            &m->tendon_actfrclimited[id]));
    if (m->tendon_actfrclimited[id] && (t->actfrcrange[0] > 0.0 || t->actfrcrange[1] < 0.0)) {
        return spec_fail(&t->head, b->error, "actuatorfrcrange: expected a range around 0");
    }
    if (t->armature < 0.0 || t->frictionloss < 0.0 || t->springyield < 0.0 ||
        t->springlength[0] > t->springlength[1]) {
        return spec_fail(&t->head, b->error,
                         "expected no negative armature, frictionloss or springyield, and the smaller "
                         "springlength first");
    }
    if (!(t->width > 0.0) && b->spec->wraps[t->wrap].type != ORR_WRAP_JOINT) { // of a spatial one
        return spec_fail(&t->head, b->error, "width: expected more than 0");
    }
    memcpy(m->tendon_solref_lim + ORR_NREF * id, t->solref_limit, sizeof t->solref_limit);
    memcpy(m->tendon_solimp_lim + ORR_NIMP * id, t->solimp_limit, sizeof t->solimp_limit);
    memcpy(m->tendon_solref_fri + ORR_NREF * id, t->solref_friction, sizeof t->solref_friction);
    memcpy(m->tendon_solimp_fri + ORR_NIMP * id, t->solimp_friction, sizeof t->solimp_friction);
    memcpy(m->tendon_range + 2 * id, t->range, sizeof t->range);
    memcpy(m->tendon_actfrcrange + 2 * id, t->actfrcrange, sizeof t->actfrcrange);
    memcpy(m->tendon_lengthspring + 2 * id, t->springlength, sizeof t->springlength);
    memcpy(m->tendon_rgba + 4 * id, t->rgba, sizeof t->rgba);
    m->tendon_margin[id] = t->margin;
    m->tendon_springyield[id] = t->springyield;
    m->tendon_plasticadr[id] = -1;
    m->tendon_stiffness[id] = t->stiffness[0];
    memcpy(m->tendon_stiffnesspoly + ORR_NPOLY * id, t->stiffness + 1, ORR_NPOLY * sizeof(double));
    m->tendon_damping[id] = t->damping[0];
    memcpy(m->tendon_dampingpoly + ORR_NPOLY * id, t->damping + 1, ORR_NPOLY * sizeof(double));
    m->tendon_armature[id] = t->armature;
    m->tendon_frictionloss[id] = t->frictionloss;
    copy_user(m->tendon_user + m->nuser_tendon * id, m->nuser_tendon, &t->user);
    return ORR_OK;
}

orr_result build_contact_equality_tendon(model_builder *b)
{
    ORR_TRY(build_contact(b));
    ORR_TRY(build_equalities(b));
    for (int i = 0; i < b->m->ntendon; i++) {
        ORR_TRY(build_tendon(b, i));
    }
    return ORR_OK;
}
