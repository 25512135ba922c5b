// Contacts of soft bodies that nodes move: their parameters, and the nodes of their vertices.
#include "physics/model/compile.h"

#include <string.h>

bool spec_flexes_touch_by_points(const orr_spec *spec)
{
    while (spec && !spec->touch_by_points) {
        spec = spec->parent;
    }
    return spec != NULL;
}

static bool meet(int contype1, int conaffinity1, int contype2, int conaffinity2)
{
    return (contype1 & conaffinity2) != 0 || (contype2 & conaffinity1) != 0;
}

bool spec_flexes_meet_more(const orr_spec *spec)
{
    for (int i = 0; i < spec->flexes_count; i++) {
        const spec_touch *touch = &spec->flexes[i].touch;
        for (int k = 0; k < spec->geoms_count && spec->flexes[i].nodes; k++) {
            const spec_geom *geom = &spec->geoms[k];
            if (geom->type != ORR_GEOM_PLANE &&
                meet(touch->contype, touch->conaffinity, geom->contype, geom->conaffinity)) {
                return true;
            }
        }
        for (int k = 0; k < spec->flexes_count && spec->flexes[i].nodes; k++) {
            const spec_touch *other = &spec->flexes[k].touch;
            if (k != i && meet(touch->contype, touch->conaffinity, other->contype, other->conaffinity)) {
                return true;
            }
        }
    }
    return false;
}

static bool touches(const spec_flex *flex)
{
    return flex->nodes && flex->collides;
}

orr_result count_flex_touch(model_builder *b, const spec_flex *flex)
{
    orr_model *m = b->m;
    if (!touches(flex)) {
        return ORR_OK;
    }
    int64_t weights = 0;
    for (int i = 0; i < flex->points; i++) {
        int32_t node[FLEX_CELL_NODES_MAX];
        double weight[FLEX_CELL_NODES_MAX];
        weights += flex_nodes_around(&flex->nodes->cells, flex->point + 3 * (ptrdiff_t)i, node, weight);
    }
    ORR_TRY(add_size(b, &m->nflextouch, 1));
    ORR_TRY(add_size(b, &m->nflexpoint, flex->points));
    return add_size(b, &m->nflexweight, weights);
}

static void build_point(orr_model *m, const spec_flex *flex, int id, int point, model_place *at)
{
    int32_t node[FLEX_CELL_NODES_MAX];
    double weight[FLEX_CELL_NODES_MAX];
    const int count =
        flex_nodes_around(&flex->nodes->cells, flex->point + 3 * (ptrdiff_t)point, node, weight);
    m->flexpoint_touchid[at->point] = at->touch;
    m->flexpoint_weightadr[at->point] = at->weight;
    m->flexpoint_weightnum[at->point++] = count;
    for (int i = 0; i < count; i++, at->weight++) {
        const ptrdiff_t of = m->flex_nodeadr[id] + node[i];
        m->flexweight_bodyid[at->weight] = m->flex_nodebodyid[of];
        memcpy(m->flexweight_node + 3 * (ptrdiff_t)at->weight, m->flex_node + 3 * of,
               3 * sizeof *m->flexweight_node);
        m->flexweight[at->weight] = weight[i];
    }
}

void build_flex_touch(model_builder *b, int id, model_place *at)
{
    orr_model *m = b->m;
    const spec_flex *flex = &b->spec->flexes[id];
    const spec_touch *touch = &flex->touch;
    const int i = at->touch;
    if (!touches(flex)) {
        return;
    }
    m->flextouch_contype[i] = touch->contype;
    m->flextouch_conaffinity[i] = touch->conaffinity;
    m->flextouch_condim[i] = touch->condim;
    m->flextouch_priority[i] = touch->priority;
    m->flextouch_solmix[i] = touch->solmix;
    memcpy(m->flextouch_solref + ORR_NREF * (ptrdiff_t)i, touch->solref, sizeof touch->solref);
    memcpy(m->flextouch_solimp + ORR_NIMP * (ptrdiff_t)i, touch->solimp, sizeof touch->solimp);
    memcpy(m->flextouch_friction + 3 * (ptrdiff_t)i, touch->friction, sizeof touch->friction);
    m->flextouch_margin[i] = touch->margin;
    m->flextouch_gap[i] = touch->gap;
    m->flextouch_radius[i] = flex->radius;
    for (int point = 0; point < flex->points; point++) {
        build_point(m, flex, id, point, at);
    }
    at->touch++;
}
