// Contacts of soft bodies that nodes move: their parameters, and the nodes of their vertices.
#include "engine/core/memory.h"
#include "physics/model/compile.h"

#include <math.h>
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

// Do elements of dim + 1 points have MuJoCo's contacts with such a geom? Of triangles that are deep in a geom
// it has routines of its own.
static bool has_contacts(int dim, int type)
{
    return type == ORR_GEOM_PLANE || (dim == 3 && type != ORR_GEOM_HFIELD && type != ORR_GEOM_SDF);
}

bool spec_flexes_meet_more(const orr_spec *spec)
{
    for (int i = 0; i < spec->flexes_count; i++) {
        const spec_touch *touch = &spec->flexes[i].touch;
        for (int k = 0; k < spec->geoms_count && spec->flexes[i].nodes; k++) {
            const spec_geom *geom = &spec->geoms[k];
            if (!has_contacts(spec->flexes[i].dim, geom->type) &&
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
    int active;
    uint8_t *is_active;
    ORR_ALLOC(is_active, flex->elements, "elements of a soft body", b->error);
    const orr_result result = flex_active_elements(flex, is_active, &active, b->error);
    orr_free(is_active);
    ORR_TRY(result);
    for (int i = 0; i < flex->points; i++) {
        int32_t node[FLEX_CELL_NODES_MAX];
        double weight[FLEX_CELL_NODES_MAX];
        weights += flex_nodes_around(&flex->nodes->cells, flex->point + 3 * (ptrdiff_t)i, node, weight);
    }
    ORR_TRY(add_size(b, &m->nflextouch, 1));
    ORR_TRY(add_size(b, &m->nflexpoint, flex->points));
    ORR_TRY(add_size(b, &m->nflexelement, active));
    ORR_TRY(add_size(b, &m->nflexgrid, flex->nodes->count));
    return add_size(b, &m->nflexweight, weights);
}

static void build_point(orr_model *m, const spec_flex *flex, int id, int point, model_place *at)
{
    int32_t node[FLEX_CELL_NODES_MAX];
    double weight[FLEX_CELL_NODES_MAX];
    const int count =
        flex_nodes_around(&flex->nodes->cells, flex->point + 3 * (ptrdiff_t)point, node, weight);
    const flex_cells *cells = &flex->nodes->cells;
    for (int k = 0; k < 3; k++) {
        m->flexpoint_coord[3 * (ptrdiff_t)at->point + k] =
            (flex->point[3 * (ptrdiff_t)point + k] - cells->low[k]) / cells->size[k] * cells->count[k];
    }
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

// first_point: the flex's first, of the model's nflexpoint.
static void build_element(orr_model *m, const spec_flex *flex, int element, int first_point, model_place *at)
{
    const flex_cells *cells = &flex->nodes->cells;
    const int32_t *vertex = flex->element + (ptrdiff_t)element * (flex->dim + 1);
    int32_t *point = m->flexelement_point + 4 * (ptrdiff_t)at->element;
    int32_t *span = m->flexelement_span + 6 * (ptrdiff_t)at->element;
    m->flexelement_touchid[at->element] = at->touch;
    m->flexelement_elem[at->element++] = element;
    for (int i = 0; i < 4; i++) {
        point[i] = first_point + vertex[i <= flex->dim ? i : 0];
    }
    for (int k = 0; k < 3; k++) {
        double low = cells->count[k], high = 0.0;
        for (int i = 0; i < 4; i++) {
            const double at_rest = m->flexpoint_coord[3 * (ptrdiff_t)point[i] + k];
            low = fmin(low, at_rest), high = fmax(high, at_rest);
        }
        const double first = fmin(fmax(floor(low), 0.0), cells->count[k] - 1.0);
        const double behind = fmin(fmax(ceil(high), first + 1.0), cells->count[k]);
        span[2 * k] = cells->order * (int)first, span[2 * k + 1] = cells->order * (int)behind;
    }
}

static orr_result build_elements(model_builder *b, const spec_flex *flex, int id, model_place *at)
{
    orr_model *m = b->m;
    const int first_point = at->point - flex->points;
    int active;
    uint8_t *is_active;
    m->flextouch_interp[at->touch] = flex->nodes->cells.order;
    m->flextouch_gridadr[at->touch] = at->grid;
    for (int k = 0; k < 3; k++) {
        m->flextouch_along[3 * (ptrdiff_t)at->touch + k] = flex_nodes_along(&flex->nodes->cells, k);
    }
    memcpy(m->flexgrid_bodyid + at->grid, m->flex_nodebodyid + m->flex_nodeadr[id],
           (size_t)flex->nodes->count * sizeof *m->flexgrid_bodyid);
    at->grid += flex->nodes->count;
    ORR_ALLOC(is_active, flex->elements, "elements of a soft body", b->error);
    const orr_result result = flex_active_elements(flex, is_active, &active, b->error);
    for (int i = 0; i < flex->elements && result == ORR_OK; i++) {
        if (is_active[i]) {
            build_element(m, flex, i, first_point, at);
        }
    }
    orr_free(is_active);
    return result;
}

orr_result build_flex_touch(model_builder *b, int id, model_place *at)
{
    orr_model *m = b->m;
    const spec_flex *flex = &b->spec->flexes[id];
    const spec_touch *touch = &flex->touch;
    const int i = at->touch;
    if (!touches(flex)) {
        return ORR_OK;
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
    ORR_TRY(build_elements(b, flex, id, at));
    at->touch++;
    return ORR_OK;
}
