// The sections contact (pairs and excludes), equality and tendon.
#include "physics/mjcf/mjcf.h"

#include <math.h>
#include <string.h>

orr_result mjcf_read_contact(mjcf_reader *reader, const mjcf_node *section)
{
    for (const mjcf_node *node = section->children; node; node = node->next) {
        ORR_TRY(mjcf_no_children(node, reader->error));
        if (mjcf_is(node, "pair")) {
            const mjcf_class *c;
            ORR_TRY(mjcf_class_of(reader, node, NULL, &c));
            spec_pair *pair = SPEC_APPEND(reader->spec, pairs);
            if (!pair) {
                return spec_memory_fail(reader->error);
            }
            *pair = c->pair;
            ORR_TRY(mjcf_head(reader, node, &pair->head));
            ORR_TRY(mjcf_read(node, mjcf_pair_members, NULL, pair, reader->spec, reader->error));
            if (!pair->geom1 || !pair->geom2) {
                return mjcf_fail(node, reader->error, "expected geom1 and geom2");
            }
        } else if (mjcf_is(node, "exclude")) {
            spec_exclude *exclude = SPEC_APPEND(reader->spec, excludes);
            if (!exclude) {
                return spec_memory_fail(reader->error);
            }
            ORR_TRY(mjcf_head(reader, node, &exclude->head));
            ORR_TRY(mjcf_read(node, mjcf_exclude_members, NULL, exclude, reader->spec, reader->error));
            if (!exclude->body1 || !exclude->body2) {
                return mjcf_fail(node, reader->error, "expected body1 and body2");
            }
        } else {
            return mjcf_unknown(node, section, reader->error);
        }
    }
    return ORR_OK;
}

// Of a flex, along the axes of its grid.
static orr_result read_cell(const mjcf_node *node, int32_t cell[3], orr_error *error)
{
    double at[3] = {-1.0, -1.0, -1.0};
    int count;
    ORR_TRY(mjcf_read_numbers(node, "cell", 3, 3, at, &count, error));
    for (int k = 0; k < 3; k++) {
        if (!(at[k] >= 0.0 && at[k] < 1e6) || at[k] != rint(at[k])) {
            return mjcf_fail(node, error, "cell: expected three whole numbers of 0 or more");
        }
        cell[k] = (int32_t)at[k];
    }
    return ORR_OK;
}

static orr_result read_equality(mjcf_reader *reader, const mjcf_node *node, const mjcf_node *section)
{
    static const struct {
        const char *name;
        orr_equality_type type;
        const char *object1, *object2; // attributes that name the two objects
        const char *own[8];
    } elements[] = {
        {"connect", ORR_EQUALITY_CONNECT, "body1", "body2", {"body1", "body2", "site1", "site2", "anchor"}},
        {"weld",
         ORR_EQUALITY_WELD,
         "body1",
         "body2",
         {"body1", "body2", "site1", "site2", "anchor", "relpose", "torquescale"}},
        {"joint", ORR_EQUALITY_JOINT, "joint1", "joint2", {"joint1", "joint2", "polycoef"}},
        {"tendon", ORR_EQUALITY_TENDON, "tendon1", "tendon2", {"tendon1", "tendon2", "polycoef"}},
        {"flexstrain", ORR_EQUALITY_FLEXSTRAIN, "flex", NULL, {"flex", "cell"}}};
    const mjcf_class *c;
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_class_of(reader, node, NULL, &c));
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        if (!mjcf_is(node, elements[i].name)) {
            continue;
        }
        spec_equality *e = SPEC_APPEND(reader->spec, equalities);
        if (!e) {
            return spec_memory_fail(reader->error);
        }
        *e = c->equality;
        e->type = (int32_t)elements[i].type;
        ORR_TRY(mjcf_head(reader, node, &e->head));
        ORR_TRY(mjcf_read(node, mjcf_equality_members, elements[i].own, e, reader->spec, reader->error));
        e->object1 = mjcf_find_name(node, elements[i].object1);
        e->object2 = elements[i].object2 ? mjcf_find_name(node, elements[i].object2) : NULL;
        e->site1 = mjcf_find_name(node, "site1");
        e->site2 = mjcf_find_name(node, "site2");
        int count;
        ORR_TRY(mjcf_read_numbers(node, "anchor", 3, 3, e->anchor, &count, reader->error));
        ORR_TRY(mjcf_read_numbers(node, "relpose", 7, 7, e->relpose, &count, reader->error));
        ORR_TRY(mjcf_read_numbers(node, "torquescale", 1, 1, &e->torquescale, &count, reader->error));
        ORR_TRY(mjcf_read_numbers(node, "polycoef", 1, 5, e->polycoef, &count, reader->error));
        if (e->type == ORR_EQUALITY_FLEXSTRAIN) {
            ORR_TRY(read_cell(node, e->cell, reader->error));
        }
        bool sites = e->site1 && e->site2;
        bool bodies = e->type == ORR_EQUALITY_CONNECT || e->type == ORR_EQUALITY_WELD;
        if (bodies ? sites == (e->object1 != NULL) || (e->site1 == NULL) != (e->site2 == NULL) ||
                         (sites && e->object2)
                   : !e->object1) {
            return mjcf_fail(node, reader->error,
                             bodies ? "expected body1 (and body2), or site1 and site2" : "expected %s",
                             elements[i].object1);
        }
        if (e->type == ORR_EQUALITY_CONNECT && sites == !isnan(e->anchor[0])) {
            return mjcf_fail(node, reader->error, "anchor: expected with bodies, and only there");
        }
        e->anchor[0] = isnan(e->anchor[0]) ? 0.0 : e->anchor[0];
        return ORR_OK;
    }
    return mjcf_unknown(node, section, reader->error);
}

orr_result mjcf_read_equality(mjcf_reader *reader, const mjcf_node *section)
{
    for (const mjcf_node *node = section->children; node; node = node->next) {
        ORR_TRY(read_equality(reader, node, section));
    }
    return ORR_OK;
}

static orr_result read_wrap(mjcf_reader *reader, const mjcf_node *node, const mjcf_node *tendon)
{
    static const char *const joint_own[] = {"joint", "coef", NULL}, *const site_own[] = {"site", NULL},
                             *const geom_own[] = {"geom", "sidesite", NULL},
                             *const pulley_own[] = {"divisor", NULL};
    bool fixed = mjcf_is(tendon, "fixed");
    spec_wrap *wrap = SPEC_APPEND(reader->spec, wraps);
    if (!wrap) {
        return spec_memory_fail(reader->error);
    }
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_no_head(node, reader->error));
    ORR_TRY(mjcf_head(reader, node, &wrap->head));
    const char *const *own = NULL, *number = NULL;
    if (fixed && mjcf_is(node, "joint")) {
        wrap->type = ORR_WRAP_JOINT, own = joint_own, number = "coef";
        wrap->object = mjcf_find(node, "joint");
    } else if (!fixed && mjcf_is(node, "site")) {
        wrap->type = ORR_WRAP_SITE, own = site_own;
        wrap->object = mjcf_find(node, "site");
    } else if (!fixed && mjcf_is(node, "geom")) {
        wrap->type = ORR_WRAP_SPHERE, own = geom_own; // or a cylinder: the compiler decides by the geom
        wrap->object = mjcf_find(node, "geom");
        wrap->sidesite = mjcf_find_name(node, "sidesite");
    } else if (!fixed && mjcf_is(node, "pulley")) {
        wrap->type = ORR_WRAP_PULLEY, own = pulley_own, number = "divisor";
    } else {
        return mjcf_unknown(node, tendon, reader->error);
    }
    ORR_TRY(mjcf_read(node, mjcf_no_members, own, NULL, reader->spec, reader->error));
    int count = 1;
    if (number) {
        ORR_TRY(mjcf_read_numbers(node, number, 1, 1, &wrap->prm, &count, reader->error));
    }
    if ((!wrap->object && wrap->type != ORR_WRAP_PULLEY) || count == 0 ||
        (wrap->type == ORR_WRAP_PULLEY && !(wrap->prm > 0.0))) {
        return mjcf_fail(node, reader->error, "expected %s%s%s", own[0], own[1] && number ? " and " : "",
                         own[1] && number ? own[1] : "");
    }
    return ORR_OK;
}

// One springlength is both ends of the range.
orr_result mjcf_read_tendon_values(mjcf_reader *reader, const mjcf_node *node, spec_tendon *tendon)
{
    double length[2];
    int count;
    ORR_TRY(mjcf_read(node, mjcf_tendon_members, NULL, tendon, reader->spec, reader->error));
    ORR_TRY(mjcf_read_numbers(node, "springlength", 1, 2, length, &count, reader->error));
    tendon->springlength[1] = count == 1 ? length[0] : tendon->springlength[1];
    return ORR_OK;
}

orr_result mjcf_read_tendon(mjcf_reader *reader, const mjcf_node *section)
{
    for (const mjcf_node *node = section->children; node; node = node->next) {
        if (!mjcf_is(node, "fixed") && !mjcf_is(node, "spatial")) {
            return mjcf_unknown(node, section, reader->error);
        }
        const mjcf_class *c;
        ORR_TRY(mjcf_class_of(reader, node, NULL, &c));
        spec_tendon *tendon = SPEC_APPEND(reader->spec, tendons);
        if (!tendon) {
            return spec_memory_fail(reader->error);
        }
        *tendon = c->tendon;
        ORR_TRY(mjcf_head(reader, node, &tendon->head));
        ORR_TRY(mjcf_read_tendon_values(reader, node, tendon));
        tendon->wrap = reader->spec->wraps_count;
        for (const mjcf_node *child = node->children; child; child = child->next) {
            ORR_TRY(read_wrap(reader, child, node));
        }
        tendon->wrap_count = reader->spec->wraps_count - tendon->wrap;
    }
    return ORR_OK;
}
