// The nodes of soft bodies that nodes move, and the elasticity of the cells between them.
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"
#include "physics/model/flex/flex_modes.h"

#include <math.h>
#include <string.h>

// Of those that are listed: they have elasticity, or strain equalities.
static bool is_listed(const spec_flex *flex, int cell)
{
    return (flex->young > 0.0 || flex->strain) && !flex->nodes->empty[cell];
}

// Are the modes of its cells rows of the solver?
static bool has_modes(const orr_spec *spec, const spec_flex *flex)
{
    const int integrator = spec->option.integrator;
    return flex->strain || integrator == ORR_INTEGRATOR_IMPLICIT || integrator == ORR_INTEGRATOR_IMPLICITFAST;
}

// Numbers of the modes of a cell, at most.
static int mode_numbers(const spec_flex *flex)
{
    const int size = 3 * flex_nodes_of_cell(&flex->nodes->cells);
    return (size - 6) * size;
}

int find_flex_cell(const orr_spec *spec, int flex, const int32_t at[3])
{
    const spec_flex *of = &spec->flexes[flex];
    const int32_t *count = of->nodes ? of->nodes->cells.count : NULL;
    for (int k = 0; k < 3; k++) {
        if (!count || at[k] < 0 || at[k] >= count[k]) {
            return -1;
        }
    }
    const int cell = at[2] + count[2] * (at[1] + count[1] * at[0]);
    int listed = 0;
    for (int i = 0; i <= flex; i++) {
        const spec_flex *other = &spec->flexes[i];
        const int cells = i == flex ? cell : other->nodes ? flex_cell_count(&other->nodes->cells) : 0;
        for (int k = 0; k < cells; k++) {
            listed += is_listed(other, k);
        }
    }
    return is_listed(of, cell) ? listed : -1;
}

orr_result count_flex_nodes(model_builder *b, const spec_flex *flex)
{
    orr_model *m = b->m;
    if (!flex->nodes) {
        return ORR_OK;
    }
    const int cells = flex_cell_count(&flex->nodes->cells), nodes = flex_nodes_of_cell(&flex->nodes->cells);
    int elastic = 0;
    for (int i = 0; i < cells; i++) {
        elastic += is_listed(flex, i);
    }
    if (has_modes(b->spec, flex)) {
        ORR_TRY(add_size(b, &m->nflexmode, (int64_t)elastic * mode_numbers(flex)));
    }
    ORR_TRY(add_size(b, &m->nflexnode, flex->nodes->count));
    ORR_TRY(add_size(b, &m->nflexcell, elastic));
    ORR_TRY(add_size(b, &m->nflexcellnode, (int64_t)elastic * nodes));
    return add_size(b, &m->nflexstiffness, (int64_t)elastic * 9 * nodes * nodes);
}

// The body of each node, those that are held included.
static orr_result find_bodies(const model_builder *b, const spec_flex *flex, int32_t *body)
{
    int found = 0;
    for (int i = 0; i < flex->nodes->count; i++) {
        body[i] = flex->nodes->held[i] ? flex->body : -1;
        found += flex->nodes->held[i];
    }
    for (int i = 1; i < b->spec->bodies_count; i++) {
        const spec_body *of = &b->spec->bodies[i];
        if (of->nodes == flex->nodes && of->parent == flex->body && body[of->node] < 0) {
            body[of->node] = i;
            found++;
        }
    }
    return found == flex->nodes->count
               ? ORR_OK
               : spec_fail(&flex->head, b->error, "expected all of its nodes in the body that it is in");
}

// Do two cells have the same stiffness, but for rounding?
static bool same_stiffness(const double *a, const double *b, int numbers)
{
    double most = 0.0, apart = 0.0;
    for (int i = 0; i < numbers; i++) {
        most = fmax(most, fabs(a[i])), apart = fmax(apart, fabs(a[i] - b[i]));
    }
    return apart <= 1e-13 * most;
}

// The modes of the cell that was built last; those of a cell like the one before are copied.
static orr_result build_modes(model_builder *b, const spec_flex *flex, bool first, model_place *at)
{
    orr_model *m = b->m;
    const int cell = at->cell - 1, size = 3 * flex_nodes_of_cell(&flex->nodes->cells);
    const int numbers = mode_numbers(flex);
    const double *stiffness = m->flexcell_stiffness + m->flexcell_stiffnessadr[cell];
    double *mode = m->flexcell_mode + at->mode;
    if (!flex->strain && m->opt.solver == ORR_SOLVER_CG) {
        m->opt.solver = ORR_SOLVER_NEWTON; // rows as stiff as elasticity take too many conjugate directions
    }
    m->flexcell_modeadr[cell] = at->mode;
    at->mode += numbers;
    if (!first && same_stiffness(stiffness, stiffness - size * size, size * size)) {
        memcpy(mode, mode - numbers, (size_t)numbers * sizeof *mode);
        m->flexcell_modenum[cell] = m->flexcell_modenum[cell - 1];
        return ORR_OK;
    }
    return flex_find_modes(stiffness, size, mode, &m->flexcell_modenum[cell], b->error);
}

static void build_cell(orr_model *m, const spec_flex *flex, int first_node, int cell, model_place *at)
{
    const spec_flex_nodes *from = flex->nodes;
    const int nodes = flex_nodes_of_cell(&from->cells), numbers = 9 * nodes * nodes;
    int32_t node[FLEX_CELL_NODES_MAX];
    flex_nodes_in_cell(&from->cells, cell, node);
    m->flexcell_interp[at->cell] = from->cells.order;
    m->flexcell_nodeadr[at->cell] = at->cell_node;
    m->flexcell_stiffnessadr[at->cell] = at->stiffness;
    m->flexcell_damping[at->cell] = flex->damping;
    m->flexcell_strain[at->cell] = flex->strain != 0;
    for (int k = 0; k < 3; k++) {
        m->flexcell_size[3 * (ptrdiff_t)at->cell + k] = from->cells.size[k] / from->cells.count[k];
    }
    for (int i = 0; i < nodes; i++) {
        const ptrdiff_t to = at->cell_node + i, of = first_node + node[i];
        m->flexcell_bodyid[to] = m->flex_nodebodyid[of];
        memcpy(m->flexcell_node + 3 * to, m->flex_node + 3 * of, 3 * sizeof *m->flexcell_node);
    }
    memcpy(m->flexcell_stiffness + at->stiffness, from->stiffness + (ptrdiff_t)cell * numbers,
           (size_t)numbers * sizeof *from->stiffness);
    at->cell++, at->cell_node += nodes, at->stiffness += numbers;
}

orr_result build_flex_nodes(model_builder *b, int id, model_place *at)
{
    orr_model *m = b->m;
    const spec_flex *flex = &b->spec->flexes[id];
    const spec_flex_nodes *from = flex->nodes;
    m->flex_nodeadr[id] = at->node;
    if (!from) {
        return ORR_OK;
    }
    const int first = at->node;
    bool holds = m->body_jntnum[flex->body] == 0; // as MuJoCo
    for (int i = 0; i < from->count && !holds; i++) {
        holds = from->held[i] != 0;
    }
    if (!holds) {
        return spec_fail(&flex->head, b->error, "expected a body without joints, or pins to it");
    }
    m->flex_interp[id] = from->cells.order;
    m->flex_nodenum[id] = from->count;
    ORR_TRY(find_bodies(b, flex, m->flex_nodebodyid + first));
    for (int i = 0; i < from->count; i++) {
        memcpy(m->flex_node0 + 3 * (ptrdiff_t)(first + i), from->point + 3 * (ptrdiff_t)i,
               3 * sizeof(double));
        if (from->held[i]) {
            double *node = m->flex_node + 3 * (ptrdiff_t)(first + i);
            quat_apply(flex->orientation.quat, from->point + 3 * (ptrdiff_t)i, node);
            for (int k = 0; k < 3; k++) {
                node[k] += flex->pos[k];
            }
        }
    }
    at->node += from->count;
    for (int k = 0; k < 3; k++) {
        m->flex_cellnum[3 * (ptrdiff_t)id + k] = from->cells.count[k];
    }
    const int first_cell = at->cell;
    for (int cell = 0; cell < flex_cell_count(&from->cells); cell++) {
        if (!is_listed(flex, cell)) {
            continue;
        }
        build_cell(m, flex, first, cell, at);
        if (has_modes(b->spec, flex)) {
            ORR_TRY(build_modes(b, flex, at->cell - 1 == first_cell, at));
        }
    }
    return ORR_OK;
}
