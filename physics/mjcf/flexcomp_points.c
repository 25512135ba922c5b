// The shapes of a <flexcomp>: points and elements in MuJoCo's order, so that pins mean the same points.
#include "physics/mjcf/flexcomp_shape.h"
#include "physics/soft/mesh/box_mesh.h"
#include "physics/soft/mesh/flat_elements.h"

#include <string.h>

enum { COUNT_MAX = 1024 };

orr_result mjcf_shape_take(const mjcf_shaping *s, int points, int elements)
{
    spec_flex *flex = &s->f->flex;
    const size_t corners = (size_t)flex->dim + 1;
    if (points < 2 || points > MJCF_SHAPE_POINTS_MAX || elements < 1) {
        return mjcf_fail(s->node, s->reader->error, "expected elements, and 2 to %d points, not %d",
                         MJCF_SHAPE_POINTS_MAX, points);
    }
    flex->point = orr_arena_take(&s->reader->spec->arena, 3 * (size_t)points, sizeof *flex->point);
    flex->element =
        orr_arena_take(&s->reader->spec->arena, corners * (size_t)elements, sizeof *flex->element);
    return flex->point && flex->element ? ORR_OK : spec_memory_fail(s->reader->error);
}

void mjcf_shape_point(spec_flex *flex, double x, double y, double z)
{
    double *p = flex->point + 3 * (ptrdiff_t)flex->points++;
    p[0] = x, p[1] = y, p[2] = z;
}

void mjcf_shape_element(spec_flex *flex, int a, int b, int c, int d)
{
    const int corner[4] = {a, b, c, d};
    for (int k = 0; k <= flex->dim; k++) {
        flex->element[(ptrdiff_t)flex->elements * (flex->dim + 1) + k] = corner[k];
    }
    flex->elements++;
}

static orr_result expect_counts(const mjcf_shaping *s, int axes)
{
    for (int k = 0; k < 3; k++) {
        const int count = s->f->count[k];
        if (count < (k < axes ? 2 : 1) || count > (k < axes ? COUNT_MAX : 1) || !(s->f->spacing[k] > 0.0)) {
            return mjcf_fail(s->node, s->reader->error,
                             "axis %d: expected a count of %d to %d and a spacing above 0, not %d and %g", k,
                             k < axes ? 2 : 1, k < axes ? COUNT_MAX : 1, count, s->f->spacing[k]);
        }
    }
    return ORR_OK;
}

orr_result mjcf_shape_dim(const mjcf_shaping *s, int low, int high)
{
    const int dim = s->f->flex.dim;
    return dim >= low && dim <= high
               ? ORR_OK
               : mjcf_fail(s->node, s->reader->error, "dim: expected %d to %d for this type, not %d", low,
                           high, dim);
}

static orr_result make_line(const mjcf_shaping *s)
{
    const int count = s->f->count[0];
    ORR_TRY(mjcf_shape_take(s, count, count - 1));
    for (int i = 0; i < count; i++) {
        mjcf_shape_point(&s->f->flex, s->f->spacing[0] * (i - 0.5 * (count - 1)), 0.0, 0.0);
    }
    for (int i = 0; i + 1 < count; i++) {
        mjcf_shape_element(&s->f->flex, i, i + 1, 0, 0);
    }
    return ORR_OK;
}

static orr_result copy_mesh(const mjcf_shaping *s, const orr_soft_mesh *mesh)
{
    spec_flex *flex = &s->f->flex;
    const int32_t *from = flex->dim == 3 ? mesh->tet : mesh->triangle;
    ORR_TRY(mjcf_shape_take(s, mesh->vertices, flex->dim == 3 ? mesh->tets : mesh->triangles));
    flex->points = mesh->vertices;
    flex->elements = flex->dim == 3 ? mesh->tets : mesh->triangles;
    memcpy(flex->point, mesh->vertex, 3 * (size_t)mesh->vertices * sizeof *mesh->vertex);
    memcpy(flex->element, from, (size_t)flex->elements * ((size_t)flex->dim + 1) * sizeof *from);
    return ORR_OK;
}

// The corners that a cell at (x, y) of a square has when it is a disc: edges run towards the middle.
static void flip_disc(const mjcf_flexcomp *f)
{
    const int ny = f->count[1];
    for (int cell = 0; cell < f->flex.elements / 2; cell++) {
        const int x = cell / (ny - 1), y = cell % (ny - 1), a = y + ny * x, b = a + 1, c = a + ny, d = c + 1;
        const bool right = 2 * x >= f->count[0] - 1, upper = 2 * y >= ny - 1;
        if (right != upper) {
            const int32_t corner[6] = {a, c, b, c, d, b};
            memcpy(f->flex.element + 6 * (ptrdiff_t)cell, corner, sizeof corner);
        }
    }
}

static double half_side(const mjcf_flexcomp *f, int axis)
{
    return 0.5 * f->spacing[axis] * (f->count[axis] - 1);
}

static orr_result make_grid(const mjcf_shaping *s)
{
    const mjcf_flexcomp *f = s->f;
    const int dim = f->flex.dim;
    ORR_TRY(expect_counts(s, dim));
    if (dim == 1) {
        return make_line(s);
    }
    if ((double)f->count[0] * f->count[1] * f->count[2] > MJCF_SHAPE_POINTS_MAX) {
        return mjcf_fail(s->node, s->reader->error, "count: expected at most %d points",
                         MJCF_SHAPE_POINTS_MAX);
    }
    const int cells[3] = {f->count[0] - 1, f->count[1] - 1, f->count[2] - 1};
    const double size[3] = {2.0 * half_side(f, 0), 2.0 * half_side(f, 1), 2.0 * half_side(f, 2)};
    orr_soft_mesh mesh;
    ORR_TRY(dim == 3 ? orr_soft_box(cells, size, &mesh, s->reader->error)
                     : orr_soft_sheet(cells, size, &mesh, s->reader->error));
    orr_result result = copy_mesh(s, &mesh);
    orr_soft_mesh_destroy(&mesh);
    return result;
}

// As MuJoCo rounds a square: its units are m^2.
static orr_result make_disc(const mjcf_shaping *s)
{
    ORR_TRY(mjcf_shape_dim(s, 2, 2));
    ORR_TRY(make_grid(s));
    if (s->f->type == MJCF_FLEX_SQUARE) {
        return ORR_OK;
    }
    for (int i = 0; i < s->f->flex.points; i++) {
        double *p = s->f->flex.point + 3 * (ptrdiff_t)i, length = hypot(p[0], p[1]);
        const double factor = length > 0.0 ? fmax(fabs(p[0]), fabs(p[1])) / length : 1.0;
        p[0] *= half_side(s->f, 0) * factor, p[1] *= half_side(s->f, 1) * factor;
    }
    flip_disc(s->f);
    return ORR_OK;
}

static orr_result make_circle(const mjcf_shaping *s)
{
    const int count = s->f->count[0] - 1;
    ORR_TRY(mjcf_shape_dim(s, 1, 1));
    ORR_TRY(expect_counts(s, 1));
    if (count < 3) {
        return mjcf_fail(s->node, s->reader->error, "count: expected at least 4 for a circle");
    }
    ORR_TRY(mjcf_shape_take(s, count, count));
    const double pi = 3.14159265358979323846, radius = s->f->spacing[0] / (2.0 * sin(pi / count));
    for (int i = 0; i < count; i++) {
        mjcf_shape_point(&s->f->flex, radius * cos(2.0 * pi * i / count), radius * sin(2.0 * pi * i / count),
                         0.0);
    }
    for (int i = 0; i < count; i++) {
        mjcf_shape_element(&s->f->flex, i, (i + 1) % count, 0, 0);
    }
    return ORR_OK;
}

// ---- the sides of a box, joined to its middle when they are to be tetrahedra

// A point of the box's side, moved to a cylinder or an ellipsoid.
static void add_side_point(const mjcf_flexcomp *f, const int at[3], spec_flex *flex)
{
    double p[3], most = 0.0, square = 0.0;
    const int round = f->type == MJCF_FLEX_CYLINDER ? 2 : f->type == MJCF_FLEX_ELLIPSOID ? 3 : 0;
    for (int k = 0; k < 3; k++) {
        p[k] = 2.0 * at[k] / (f->count[k] - 1) - 1.0;
        most = k < round ? fmax(most, fabs(p[k])) : most;
        square += k < round ? p[k] * p[k] : 0.0;
    }
    const double factor = square > 0.0 ? most / sqrt(square) : 1.0;
    for (int k = 0; k < 3; k++) {
        p[k] *= half_side(f, k) * (k < round ? factor : 1.0);
    }
    mjcf_shape_point(flex, p[0], p[1], p[2]);
}

static int side_point(const mjcf_shaping *s, const int at[3])
{
    const mjcf_flexcomp *f = s->f;
    int32_t *number = &s->number[at[2] + f->count[2] * (at[1] + f->count[1] * at[0])];
    if (*number < 0) {
        *number = f->flex.points;
        add_side_point(f, at, &s->f->flex);
    }
    return *number;
}

static void add_side(const mjcf_shaping *s, int axis, bool high)
{
    const int u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2, *count = s->f->count;
    spec_flex *flex = &s->f->flex;
    int at[3];
    at[axis] = high ? count[axis] - 1 : 0;
    for (int i = 0; i < count[u] * count[v]; i++) {
        at[u] = i / count[v], at[v] = i % count[v];
        (void)side_point(s, at);
    }
    for (int cell = 0; cell < (count[u] - 1) * (count[v] - 1); cell++) {
        int corner[4];
        for (int k = 0; k < 4; k++) {
            at[u] = cell / (count[v] - 1) + k / 2, at[v] = cell % (count[v] - 1) + k % 2;
            corner[k] = side_point(s, at);
        }
        const bool outward = high != (axis == 1); // do u and v turn around an outward normal?
        // two sides of a surface are cut along the other diagonal
        const bool other = flex->dim == 2 && ((axis == 1 && high) || (axis == 0 && !high));
        static const int halves[2][2][3] = {{{0, 2, 3}, {0, 3, 1}}, {{0, 2, 1}, {2, 3, 1}}};
        for (int half = 0; half < 2; half++) {
            const int *of = halves[other][half], a = corner[of[0]];
            const int second = corner[of[outward ? 1 : 2]], third = corner[of[outward ? 2 : 1]];
            if (flex->dim == 3) {
                mjcf_shape_element(flex, 0, a, second, third);
            } else {
                mjcf_shape_element(flex, a, second, third, 0);
            }
        }
    }
}

static orr_result make_box(mjcf_shaping *s)
{
    const int *count = s->f->count, solid = s->f->flex.dim == 3;
    ORR_TRY(mjcf_shape_dim(s, 2, 3));
    ORR_TRY(expect_counts(s, 3));
    const size_t all = (size_t)count[0] * (size_t)count[1] * (size_t)count[2];
    if (all > MJCF_SHAPE_POINTS_MAX) {
        return mjcf_fail(s->node, s->reader->error, "count: expected at most %d points",
                         MJCF_SHAPE_POINTS_MAX);
    }
    const int faces = 4 * ((count[0] - 1) * (count[1] - 1) + (count[0] - 1) * (count[2] - 1) +
                           (count[1] - 1) * (count[2] - 1));
    ORR_TRY(mjcf_shape_take(s, (int)all + 1, faces));
    ORR_ALLOC(s->number, all, "points of a flexcomp", s->reader->error);
    memset(s->number, -1, all * sizeof *s->number);
    if (solid) {
        mjcf_shape_point(&s->f->flex, 0.0, 0.0, 0.0);
    }
    for (int side = 0; side < 6; side++) {
        if (solid || side != 1) { // a surface has no top
            add_side(s, 2 - side / 2, side % 2 != 0);
        }
    }
    orr_free(s->number);
    return ORR_OK;
}

// ---- all of them

// The edges from an element's first corner to its others.
static void element_edges(const spec_flex *flex, const int32_t *corner, double edge[3][3])
{
    for (int k = 0; k < 3 * flex->dim; k++) {
        edge[k / 3][k % 3] = flex->point[3 * (ptrdiff_t)corner[k / 3 + 1] + k % 3] -
                             flex->point[3 * (ptrdiff_t)corner[0] + k % 3];
    }
}

// Triangles whose corners move by themselves have an area. Elements are checked before points that none has
// are left out, so that messages have the numbers of the file.
static orr_result check_triangles(const mjcf_shaping *s)
{
    const spec_flex *flex = &s->f->flex;
    const bool checked = flex->dim == 2 && s->f->dof == MJCF_FLEX_FULL;
    for (int i = 0; checked && i < flex->elements; i++) {
        const int32_t *corner = flex->element + 3 * (ptrdiff_t)i;
        double d[3][3], normal[3];
        element_edges(flex, corner, d);
        vec3_cross(d[0], d[1], normal);
        const double twice_area = vec3_length(normal);
        if (triangle_is_flat(d[0], d[1], twice_area)) {
            return mjcf_fail(s->node, s->reader->error,
                             "element %d (points %d %d %d): expected an area above 0, not %g m^2", i,
                             corner[0], corner[1], corner[2], 0.5 * twice_area);
        }
    }
    return ORR_OK;
}

// Turns tetrahedra so that their volume is above 0.
static orr_result orient(const mjcf_shaping *s)
{
    const spec_flex *flex = &s->f->flex;
    for (int i = 0; flex->dim == 3 && i < flex->elements; i++) {
        int32_t *corner = flex->element + 4 * (ptrdiff_t)i;
        double d[3][3], normal[3];
        element_edges(flex, corner, d);
        vec3_cross(d[1], d[2], normal);
        const double volumes = vec3_dot(d[0], normal);
        if (tet_is_flat(d[0], fabs(volumes))) {
            return mjcf_fail(s->node, s->reader->error,
                             "element %d (points %d %d %d %d): expected a volume above 0, not %g m^3", i,
                             corner[0], corner[1], corner[2], corner[3], fabs(volumes) / 6.0);
        }
        if (volumes < 0.0) {
            const int32_t third = corner[2];
            corner[2] = corner[3], corner[3] = third;
        }
    }
    return ORR_OK;
}

orr_result mjcf_flexcomp_shape(mjcf_reader *reader, const mjcf_node *node, mjcf_flexcomp *f)
{
    mjcf_shaping s = {reader, node, f, NULL};
    switch ((mjcf_flex_type)f->type) {
    case MJCF_FLEX_GRID:
        ORR_TRY(make_grid(&s));
        break;
    case MJCF_FLEX_BOX:
    case MJCF_FLEX_CYLINDER:
    case MJCF_FLEX_ELLIPSOID:
        ORR_TRY(make_box(&s));
        break;
    case MJCF_FLEX_SQUARE:
    case MJCF_FLEX_DISC:
        ORR_TRY(make_disc(&s));
        break;
    case MJCF_FLEX_CIRCLE:
        ORR_TRY(make_circle(&s));
        break;
    case MJCF_FLEX_MESH:
        ORR_TRY(mjcf_shape_of_mesh(&s));
        break;
    case MJCF_FLEX_GMSH:
        ORR_TRY(mjcf_shape_of_gmsh(&s));
        break;
    case MJCF_FLEX_DIRECT:
        ORR_TRY(mjcf_shape_of_direct(&s));
        break;
    }
    const bool given = f->type >= MJCF_FLEX_MESH; // others are not scaled
    for (int i = 0; i < 3 * f->flex.points && given; i++) {
        f->flex.point[i] *= f->scale[i % 3];
    }
    ORR_TRY(check_triangles(&s));
    return orient(&s);
}
