#include "physics/model/flex/flex_cells.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// MuJoCo's: of a cell, as much as this fraction has matter everywhere, and a node has at least this fraction
// of what it would have in a full cell.
static const double least_density = 1e-6, least_share = 0.02;
// A part of a cell below which nothing is in it: what rounding leaves of bodies that touch its side.
static const double least_fill = 1e-9;
// Of a node in a point; less is what rounding leaves of a point on the side of a cell.
static const double least_weight = 1e-12;

// along an axis, of the functions that are integrated; in a tetrahedron: exact for their products
enum { POINTS_MAX = 2 * FLEX_ORDER_MAX + 1, INSIDE_MAX = 8 };

typedef struct rule { // of Gauss and Legendre, from 0 to 1
    int count;
    double at[INSIDE_MAX], weight[INSIDE_MAX];
} rule;

int flex_nodes_along(const flex_cells *cells, int axis)
{
    return cells->order * cells->count[axis] + 1;
}

int flex_nodes_of_cell(const flex_cells *cells)
{
    const int along = cells->order + 1;
    return along * along * along;
}

int flex_node_count(const flex_cells *cells)
{
    return flex_nodes_along(cells, 0) * flex_nodes_along(cells, 1) * flex_nodes_along(cells, 2);
}

int flex_cell_count(const flex_cells *cells)
{
    return cells->count[0] * cells->count[1] * cells->count[2];
}

void flex_cell_place(const flex_cells *cells, int cell, int32_t at[3])
{
    at[0] = cell / (cells->count[1] * cells->count[2]);
    at[1] = cell / cells->count[2] % cells->count[1];
    at[2] = cell % cells->count[2];
}

void flex_nodes_in_cell(const flex_cells *cells, int cell, int32_t node[FLEX_CELL_NODES_MAX])
{
    const int along = cells->order + 1, ny = flex_nodes_along(cells, 1), nz = flex_nodes_along(cells, 2);
    int at[3];
    flex_cell_place(cells, cell, at);
    for (int i = 0; i < along * along * along; i++) {
        const int x = cells->order * at[0] + i / (along * along);
        const int y = cells->order * at[1] + i / along % along, z = cells->order * at[2] + i % along;
        node[i] = z + nz * (y + ny * x);
    }
}

static rule make_rule(int count)
{
    rule r = {.count = count};
    for (int i = 0; i < count; i++) {
        double x = cos(3.14159265358979323846 * (i + 0.75) / (count + 0.5)), slope = 1.0;
        for (int step = 0; step < 20; step++) { // Newton's iteration for a root of Legendre's polynomial
            double before = 1.0, value = x;
            for (int k = 2; k <= count; k++) {
                const double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
                before = value, value = next;
            }
            slope = count * (x * value - before) / (x * x - 1.0);
            x -= value / slope;
        }
        r.at[i] = 0.5 * (1.0 - x);
        r.weight[i] = 1.0 / ((1.0 - x * x) * slope * slope);
    }
    return r;
}

// ---- what fills a cell

typedef struct filling {
    const flex_cells *cells;
    rule across, inside; // along axes of a cell, and in tetrahedra
    // points of a cell whose sum, by these weights, is the integral over what fills it
    double weight[POINTS_MAX * POINTS_MAX * POINTS_MAX];
} filling;

typedef struct tetrahedron {
    double corner[4][3]; // in a cell: 0 to 1
} tetrahedron;

// The polynomials that are 1 at one of the points of a rule and 0 at the others.
static void lagrange(const rule *r, double x, double *value)
{
    for (int i = 0; i < r->count; i++) {
        value[i] = 1.0;
        for (int k = 0; k < r->count; k++) {
            value[i] *= k == i ? 1.0 : (x - r->at[k]) / (r->at[i] - r->at[k]);
        }
    }
}

static double six_volumes(const tetrahedron *t)
{
    double e[3][3], n[3];
    for (int k = 0; k < 9; k++) {
        e[k / 3][k % 3] = t->corner[k / 3 + 1][k % 3] - t->corner[0][k % 3];
    }
    vec3_cross(e[1], e[2], n);
    return vec3_dot(e[0], n);
}

static void add_part(filling *f, const tetrahedron *t, double sign)
{
    const double volume = sign * fabs(six_volumes(t));
    const int n = f->across.count, inside = f->inside.count;
    for (int q = 0; q < inside * inside * inside && volume != 0.0; q++) {
        const int i = q / (inside * inside), j = q / inside % inside, k = q % inside;
        const double a = f->inside.at[i], b = f->inside.at[j], c = f->inside.at[k]; // a cube onto the corner
        const double u = a, v = b * (1.0 - a), w = c * (1.0 - a) * (1.0 - b);
        const double weight = volume * f->inside.weight[i] * f->inside.weight[j] * f->inside.weight[k] *
                              (1.0 - a) * (1.0 - a) * (1.0 - b);
        double value[3][POINTS_MAX];
        for (int axis = 0; axis < 3; axis++) {
            lagrange(&f->across,
                     (1.0 - u - v - w) * t->corner[0][axis] + u * t->corner[1][axis] +
                         v * t->corner[2][axis] + w * t->corner[3][axis],
                     value[axis]);
        }
        for (int p = 0; p < n * n * n; p++) {
            f->weight[p] += weight * value[0][p / (n * n)] * value[1][p / n % n] * value[2][p % n];
        }
    }
}

static void cut(const double a[3], double beyond_a, const double b[3], double beyond_b, double out[3])
{
    const double part = beyond_a / (beyond_a - beyond_b);
    for (int k = 0; k < 3; k++) {
        out[k] = a[k] + part * (b[k] - a[k]);
    }
}

// The part of a tetrahedron where side * (x - at) >= 0 on an axis, as up to three. Returns how many.
static int clip(const tetrahedron *t, int axis, double at, double side, tetrahedron part[3])
{
    double beyond[4];
    int in[4], out[4], ins = 0, outs = 0;
    for (int i = 0; i < 4; i++) {
        beyond[i] = side * (t->corner[i][axis] - at);
        if (beyond[i] >= 0.0) {
            in[ins++] = i;
        } else {
            out[outs++] = i;
        }
    }
    double edge[4][3]; // where edges from an inner to an outer corner cross
    for (int i = 0, count = 0; i < ins && ins < 4; i++) {
        for (int k = 0; k < outs; k++) {
            cut(t->corner[in[i]], beyond[in[i]], t->corner[out[k]], beyond[out[k]], edge[count++]);
        }
    }
    if (ins == 4) {
        part[0] = *t;
        return 1;
    }
    if (ins == 0) {
        return 0;
    }
    const double *prism[6]; // two triangles, corner by corner
    if (ins == 1) {
        memcpy(part[0].corner[0], t->corner[in[0]], sizeof part[0].corner[0]);
        memcpy(part[0].corner[1], edge, 3 * sizeof edge[0]);
        return 1;
    }
    if (ins == 2) {
        const double *corners[6] = {t->corner[in[0]], edge[0], edge[1], t->corner[in[1]], edge[2], edge[3]};
        memcpy(prism, corners, sizeof prism);
    } else {
        const double *corners[6] = {t->corner[in[0]], t->corner[in[1]], t->corner[in[2]],
                                    edge[0],          edge[1],          edge[2]};
        memcpy(prism, corners, sizeof prism);
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 4; k++) {
            memcpy(part[i].corner[k], prism[i + k], sizeof part[i].corner[k]);
        }
    }
    return 3;
}

// Adds what of a tetrahedron is in the cell.
static void add_clipped(filling *f, const tetrahedron *t, int side, double sign)
{
    if (side == 6) {
        add_part(f, t, sign);
        return;
    }
    tetrahedron part[3];
    const int parts = clip(t, side / 2, side % 2, side % 2 ? -1.0 : 1.0, part);
    for (int i = 0; i < parts; i++) {
        add_clipped(f, &part[i], side + 1, sign);
    }
}

// ---- integrals over what fills a cell

// Functions of the nodes along an axis: of positions, of masses.
static void basis(int order, double x, double value[3], double slope[3], double mass[3])
{
    if (order == 1) {
        const double v[2] = {1.0 - x, x}, s[2] = {-1.0, 1.0};
        memcpy(value, v, sizeof v), memcpy(slope, s, sizeof s), memcpy(mass, v, sizeof v);
        return;
    }
    const double v[3] = {(2.0 * x - 1.0) * (x - 1.0), 4.0 * x * (1.0 - x), x * (2.0 * x - 1.0)};
    const double s[3] = {4.0 * x - 3.0, 4.0 - 8.0 * x, 4.0 * x - 1.0};
    // above 0 everywhere, as those of positions are not: B-splines
    const double m[3] = {0.5 * (1.0 - x) * (1.0 - x), 0.5 + x * (1.0 - x), 0.5 * x * x};
    memcpy(value, v, sizeof v), memcpy(slope, s, sizeof s), memcpy(mass, m, sizeof m);
}

int flex_nodes_around(const flex_cells *cells, const double point[3], int32_t node[FLEX_CELL_NODES_MAX],
                      double weight[FLEX_CELL_NODES_MAX])
{
    const int along = cells->order + 1;
    double value[3][3], slope[3], mass[3];
    int at[3], found = 0;
    for (int k = 0; k < 3; k++) {
        const double x = (point[k] - cells->low[k]) / cells->size[k] * cells->count[k];
        at[k] = (int)fmin(fmax(floor(x), 0.0), cells->count[k] - 1.0);
        basis(cells->order, x - at[k], value[k], slope, mass);
    }
    flex_nodes_in_cell(cells, at[2] + cells->count[2] * (at[1] + cells->count[1] * at[0]), node);
    for (int i = 0; i < along * along * along; i++) {
        const double of = value[0][i / (along * along)] * value[1][i / along % along] * value[2][i % along];
        if (fabs(of) > least_weight) {
            node[found] = node[i];
            weight[found++] = of;
        }
    }
    return found;
}

// Adds -w (lambda div u div v + 2 mu sym grad u : sym grad v), of all pairs of nodes.
static void add_stiffness(int nodes, double (*gradient)[3], double lambda, double mu, double *k)
{
    for (int i = 0; i < nodes; i++) {
        for (int j = 0; j < nodes; j++) {
            const double *a = gradient[i], *b = gradient[j];
            const double both = mu * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
            for (int r = 0; r < 9; r++) {
                k[(3 * i + r / 3) * 3 * nodes + 3 * j + r % 3] -=
                    lambda * a[r / 3] * b[r % 3] + mu * a[r % 3] * b[r / 3] + (r % 4 == 0 ? both : 0.0);
            }
        }
    }
}

static void integrate(const filling *f, const double size[3], double *share, double *k)
{
    const flex_cells *c = f->cells;
    const int n = f->across.count, along = c->order + 1, nodes = along * along * along;
    const double young = c->young, poisson = c->poisson, mu = young / (2.0 * (1.0 + poisson));
    const double lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    double gradient[FLEX_CELL_NODES_MAX][3], value[3][3], slope[3][3], mass[3][3];
    for (int p = 0; p < n * n * n; p++) {
        const int at[3] = {p / (n * n), p / n % n, p % n};
        const double full = f->across.weight[at[0]] * f->across.weight[at[1]] * f->across.weight[at[2]];
        const double weight = (1.0 - least_density) * f->weight[p] + least_density * full;
        const double volume = weight * size[0] * size[1] * size[2];
        for (int axis = 0; axis < 3; axis++) {
            basis(c->order, f->across.at[at[axis]], value[axis], slope[axis], mass[axis]);
        }
        for (int i = 0; i < nodes; i++) {
            const int of[3] = {i / (along * along), i / along % along, i % along};
            share[i] += weight * mass[0][of[0]] * mass[1][of[1]] * mass[2][of[2]];
            for (int axis = 0; axis < 3; axis++) {
                gradient[i][axis] = 1.0 / size[axis];
                for (int other = 0; other < 3; other++) {
                    gradient[i][axis] *= other == axis ? slope[other][of[other]] : value[other][of[other]];
                }
            }
        }
        if (young > 0.0) {
            add_stiffness(nodes, gradient, lambda * volume, mu * volume, k);
        }
    }
}

// A node's share of a full cell.
static double full_share(int order, int i)
{
    const int along = order + 1, of[3] = {i / (along * along), i / along % along, i % along};
    double share = 1.0;
    for (int axis = 0; axis < 3; axis++) {
        share *= order == 1 ? 0.5 : of[axis] == 1 ? 2.0 / 3.0 : 1.0 / 6.0;
    }
    return share;
}

// ---- all cells

static int by_ends(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

// Is each side of a triangle that of one other triangle, the other way round?
static orr_result find_closed(const int32_t *triangle, int triangles, bool *closed, orr_error *error)
{
    int32_t *side, back[2];
    ORR_ALLOC(side, 6 * (size_t)triangles, "sides of a surface", error);
    for (int i = 0; i < 3 * triangles; i++) {
        side[2 * i] = triangle[i], side[2 * i + 1] = triangle[i % 3 == 2 ? i - 2 : i + 1];
    }
    qsort(side, 3 * (size_t)triangles, 2 * sizeof *side, by_ends);
    *closed = true;
    for (int i = 0; i < 3 * triangles && *closed; i++) {
        back[0] = side[2 * i + 1], back[1] = side[2 * i];
        *closed = bsearch(back, side, 3 * (size_t)triangles, 2 * sizeof *side, by_ends) != NULL &&
                  (i == 0 || by_ends(side + 2 * (ptrdiff_t)i - 2, side + 2 * (ptrdiff_t)i) != 0);
    }
    orr_free(side);
    return ORR_OK;
}

// An element in a cell's coordinates; that of a triangle has the middle of the box as its first corner.
static tetrahedron place(const flex_cells *c, const double *point, const int32_t *element, int dim,
                         const double low[3], const double size[3])
{
    tetrahedron t;
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) {
            const double middle = c->low[k] + 0.5 * c->size[k];
            const double at = dim == 3 ? point[3 * (ptrdiff_t)element[i] + k]
                              : i == 0 ? middle
                                       : point[3 * (ptrdiff_t)element[i - 1] + k];
            t.corner[i][k] = (at - low[k]) / size[k];
        }
    }
    return t;
}

static bool apart(const tetrahedron *t)
{
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < 4; i++) {
            low = fmin(low, t->corner[i][k]), high = fmax(high, t->corner[i][k]);
        }
        if (low >= 1.0 || high <= 0.0) {
            return true;
        }
    }
    return false;
}

orr_result flex_fill_cells(const flex_cells *cells, const double *point, const int32_t *element, int elements,
                           int dim, double *share, double *stiffness, uint8_t *empty, const char **why,
                           orr_error *error)
{
    const int nodes = flex_nodes_of_cell(cells);
    double size[3], turn = 0.0, filled = 0.0;
    filling f = {.cells = cells,
                 .across = make_rule(2 * cells->order + 1),
                 .inside = make_rule(cells->order == 1 ? 5 : INSIDE_MAX)};
    bool closed = true;
    if (dim == 2) {
        ORR_TRY(find_closed(element, elements, &closed, error));
    }
    *why = closed ? NULL : "expected tetrahedra, or a closed surface, which has an inside";
    if (!closed) {
        return ORR_OK;
    }
    for (int k = 0; k < 3; k++) {
        size[k] = cells->size[k] / cells->count[k];
    }
    for (int i = 0; i < elements; i++) {
        const tetrahedron t = place(cells, point, element + (ptrdiff_t)i * (dim + 1), dim, cells->low, size);
        turn += six_volumes(&t);
    }
    for (int cell = 0; cell < flex_cell_count(cells); cell++) {
        int at[3];
        double low[3], own[FLEX_CELL_NODES_MAX] = {0.0}, fill = 0.0;
        int32_t node[FLEX_CELL_NODES_MAX];
        flex_cell_place(cells, cell, at);
        for (int k = 0; k < 3; k++) {
            low[k] = cells->low[k] + at[k] * size[k];
        }
        memset(f.weight, 0, sizeof f.weight);
        for (int i = 0; i < elements; i++) {
            const tetrahedron t = place(cells, point, element + (ptrdiff_t)i * (dim + 1), dim, low, size);
            if (!apart(&t)) {
                const double sign = dim == 3 || six_volumes(&t) * turn > 0.0 ? 1.0 : -1.0;
                add_clipped(&f, &t, 0, sign);
            }
        }
        for (int p = 0; p < f.across.count * f.across.count * f.across.count; p++) {
            fill += f.weight[p];
        }
        filled += fill;
        empty[cell] = fill < least_fill;
        if (empty[cell]) {
            continue;
        }
        integrate(&f, size, own, stiffness + (ptrdiff_t)cell * 9 * nodes * nodes);
        flex_nodes_in_cell(cells, cell, node);
        for (int i = 0; i < nodes; i++) {
            share[node[i]] += fmax(own[i], least_share * full_share(cells->order, i));
        }
    }
    *why = filled > 0.0 ? NULL : "expected a body with a volume above 0";
    return ORR_OK;
}
