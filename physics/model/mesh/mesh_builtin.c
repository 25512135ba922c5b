// Meshes that are made from numbers: <mesh builtin="..." params="...">, with the vertices and triangles of
// MuJoCo 4.0, in its order and in float as there.
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"

#include <stdlib.h>

static const double pi = 3.14159265358979323846;

enum { PARAMETERS_MAX = 5, COUNT_MAX = 1024, FACES_OF_ICOSAHEDRON = 20 };

typedef struct parameter {
    double low, high;
    bool whole, above; // above: low itself is too low
} parameter;

typedef struct shape {
    int count;
    parameter parameter[PARAMETERS_MAX];
    const char *expected;
} shape;

// The exponents are bounded so that all coordinates are numbers; MuJoCo has no bounds for them, nor for
// resolutions.
#define EXPONENT_MAX 1e3
#define RESOLUTION(low)                                                                                      \
    {                                                                                                        \
        low, COUNT_MAX, .whole = true                                                                        \
    }

static const shape shapes[] = {
    [SPEC_MESH_SPHERE] = {1, {{0.0, 4.0, .whole = true}}, "a number of subdivisions, 0 to 4"},
    [SPEC_MESH_HEMISPHERE] = {1, {{0.0, 10.0, .whole = true}}, "a number of subdivisions, 0 to 10"},
    [SPEC_MESH_CONE] = {2,
                        {RESOLUTION(3), {.low = 0.0, .high = 1.0}},
                        "a number of edges, 3 to 1024, and a radius, 0 to 1"},
    [SPEC_MESH_SUPERSPHERE] = {3,
                               {RESOLUTION(3),
                                {.low = 0.0, .high = EXPONENT_MAX},
                                {.low = 0.0, .high = EXPONENT_MAX}},
                               "a resolution, 3 to 1024, and two exponents, 0 to 1000"},
    [SPEC_MESH_SUPERTORUS] =
        {4,
         {RESOLUTION(3),
          {0.0, 1.0, .above = true},
          {0.0, EXPONENT_MAX, .above = true},
          {0.0, EXPONENT_MAX, .above = true}},
         "a resolution, 3 to 1024, a radius above 0, to 1, and two exponents above 0, to "
         "1000"},
    [SPEC_MESH_WEDGE] =
        {5,
         {RESOLUTION(1),
          RESOLUTION(1),
          {0.0, 180.0, .above = true},
          {0.0, 90.0, .above = true},
          {.low = 0.0, .high = 1.0}},
         "two resolutions, 1 to 1024, two angles above 0, to 180 and 90 degrees, and a gamma, "
         "0 to 1"},
    [SPEC_MESH_PLATE] = {2, {RESOLUTION(1), RESOLUTION(1)}, "two resolutions, 1 to 1024"}};

static bool fits(const parameter *p, double value)
{
    return value >= p->low && value <= p->high && !(p->above && value == p->low) &&
           !(p->whole && value != floor(value));
}

static orr_result check(const spec_mesh *mesh, orr_error *error)
{
    const shape *s = &shapes[mesh->builtin];
    bool good = mesh->params.count == s->count;
    for (int i = 0; i < s->count && good; i++) {
        good = fits(&s->parameter[i], mesh->params.values[i]);
    }
    return good ? ORR_OK : spec_fail(&mesh->head, error, "params: expected %s", s->expected);
}

static void set_vertex(mesh_data *d, int at, double x, double y, double z)
{
    float *v = d->vertices + 3 * (ptrdiff_t)at;
    v[0] = (float)x, v[1] = (float)y, v[2] = (float)z;
}

static void set_face(mesh_data *d, int at, int a, int b, int c)
{
    int32_t *face = d->faces + 3 * (ptrdiff_t)at;
    face[0] = a, face[1] = b, face[2] = c;
}

// ---- sphere: an icosahedron whose triangles are divided in four

enum { NEIGHBOURS_MAX = 6 }; // that a vertex of a divided icosahedron has

typedef struct halved_edges { // from a vertex to those of higher numbers
    int32_t to[NEIGHBOURS_MAX], middle[NEIGHBOURS_MAX], count;
} halved_edges;

static int middle_of(mesh_data *d, halved_edges *halved, int a, int b)
{
    halved_edges *from = &halved[a < b ? a : b];
    const int to = a < b ? b : a;
    for (int i = 0; i < from->count; i++) {
        if (from->to[i] == to) {
            return from->middle[i];
        }
    }
    const float *p = d->vertices + 3 * (ptrdiff_t)a, *q = d->vertices + 3 * (ptrdiff_t)b;
    float mean[3], squares = 0.0f;
    for (int k = 0; k < 3; k++) {
        mean[k] = 0.5f * (p[k] + q[k]);
        squares += mean[k] * mean[k];
    }
    for (int k = 0; k < 3; k++) {
        d->vertices[3 * (ptrdiff_t)d->vertex_count + k] = mean[k] / sqrtf(squares);
    }
    from->to[from->count] = to;
    from->middle[from->count++] = d->vertex_count;
    return d->vertex_count++;
}

// The triangles are replaced in place, from the back, once their edges have been halved in their order.
static orr_result divide(mesh_data *d, orr_error *error)
{
    const size_t faces = (size_t)d->face_count;
    halved_edges *halved = orr_alloc_zero((size_t)d->vertex_count, sizeof *halved);
    int32_t(*middle)[3] = orr_alloc(faces, sizeof *middle);
    for (size_t f = 0; halved && middle && f < faces; f++) {
        for (size_t k = 0; k < 3; k++) {
            middle[f][k] = middle_of(d, halved, d->faces[3 * f + k], d->faces[3 * f + (k + 1) % 3]);
        }
    }
    for (int f = d->face_count - 1; halved && middle && f >= 0; f--) {
        const int32_t *face = d->faces + 3 * (ptrdiff_t)f, *m = middle[f];
        const int32_t corner[3] = {face[0], face[1], face[2]};
        for (int k = 0; k < 3; k++) {
            set_face(d, 4 * f + k, corner[k], m[k], m[(k + 2) % 3]);
        }
        set_face(d, 4 * f + 3, m[0], m[1], m[2]);
    }
    const bool enough = halved && middle;
    d->face_count *= 4;
    orr_free(halved);
    orr_free(middle);
    return enough ? ORR_OK : spec_memory_fail(error);
}

static orr_result make_sphere(const double *params, mesh_data *d, orr_error *error)
{
    static const int8_t corner[12][3] = {{-1, 2, 0}, {1, 2, 0}, {-1, -2, 0}, {1, -2, 0},
                                         {0, -1, 2}, {0, 1, 2}, {0, -1, -2}, {0, 1, -2},
                                         {2, 0, -1}, {2, 0, 1}, {-2, 0, -1}, {-2, 0, 1}}; // 2: golden
    static const int8_t face[FACES_OF_ICOSAHEDRON][3] = {
        {0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
        {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
        {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
    const int subdivisions = (int)params[0], faces = FACES_OF_ICOSAHEDRON << (2 * subdivisions);
    const double golden = 0.5 * (1.0 + sqrt(5.0)), length = sqrt(1.0 + golden * golden);
    ORR_TRY(mesh_data_take(d, faces / 2 + 2, faces, error));
    d->vertex_count = 12, d->face_count = FACES_OF_ICOSAHEDRON;
    for (int i = 0; i < 36; i++) {
        const int c = corner[i / 3][i % 3];
        d->vertices[i] = (float)((abs(c) == 2 ? (c < 0 ? -golden : golden) : c) / length);
    }
    for (int f = 0; f < FACES_OF_ICOSAHEDRON; f++) {
        set_face(d, f, face[f][0], face[f][1], face[f][2]);
    }
    for (int i = 0; i < subdivisions; i++) {
        ORR_TRY(divide(d, error));
    }
    return ORR_OK;
}

// ---- hemisphere: rings around +z, each with four more vertices than the one above it; a flat side below

static const int8_t equator[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};

static int ring_size(int ring)
{
    return ring == 0 ? 1 : 4 * ring;
}

static int ring_start(int ring)
{
    return ring == 0 ? 0 : 1 + 2 * ring * (ring - 1);
}

static orr_result make_hemisphere(const double *params, mesh_data *d, orr_error *error)
{
    const int rings = (int)params[0] + 1, centre = ring_start(rings + 1);
    ORR_TRY(mesh_data_take(d, centre + 1, 4 * rings * (rings + 1), error));
    set_vertex(d, 0, 0.0, 0.0, 1.0);
    int face = 0;
    for (int ring = 1; ring <= rings; ring++) {
        for (int i = 0; i < ring_size(ring); i++) { // an octahedron's, projected
            const int8_t *from = equator[i / ring], *to = equator[(i / ring + 1) % 4];
            const int along = i % ring;
            double v[3] = {from[0] * (ring - along) + to[0] * along, from[1] * (ring - along) + to[1] * along,
                           rings - ring};
            vec3_normalise(v);
            set_vertex(d, ring_start(ring) + i, v[0], v[1], v[2]);
        }
    }
    for (int ring = 0; ring < rings; ring++) {
        const int upper = ring_start(ring), lower = ring_start(ring + 1);
        for (int i = 0; i < 4 * (ring + 1); i++) {
            const int side = i / (ring + 1), along = i % (ring + 1);
            const int a = (i - side) % ring_size(ring), b = lower + i, c = lower + (i + 1) % (4 * (ring + 1));
            set_face(d, face++, upper + a, b, c);
            if (along < ring) {
                set_face(d, face++, upper + a, c, upper + (a + 1) % ring_size(ring));
            }
        }
    }
    for (int i = 0; i < 4 * rings; i++) {
        set_face(d, face++, ring_start(rings) + i, centre, ring_start(rings) + (i + 1) % (4 * rings));
    }
    return ORR_OK;
}

// ---- cone: the vertices of two rings, or of a ring and a tip; its faces are those of its convex hull

static orr_result make_cone(const double *params, mesh_data *d, orr_error *error)
{
    const int edges = (int)params[0];
    const double radius = params[1];
    ORR_TRY(mesh_data_take(d, radius > 0.0 ? 2 * edges : edges + 1, 0, error));
    for (int i = 0; i < d->vertex_count; i++) {
        const double angle = 2.0 * pi * i / edges, r = i < edges ? 1.0 : radius;
        set_vertex(d, i, r * cos(angle), r * sin(angle), i < edges ? -1.0 : 1.0);
    }
    return ORR_OK;
}

// ---- supersphere and supertorus: A. H. Barr, "Superquadrics and Angle-Preserving Transformations", 1981

static double signed_power(double x, double exponent)
{
    return copysign(pow(fabs(x), exponent), x);
}

// Two triangles of a b on one ring and of c d next to them on the one after it.
static void set_quad(mesh_data *d, int at, int a, int b, int c, int e)
{
    set_face(d, at, a, b, c);
    set_face(d, at + 1, b, e, c);
}

static orr_result make_supersphere(const double *params, mesh_data *d, orr_error *error)
{
    const int n = (int)params[0], last = (n - 1) * n + 1;
    ORR_TRY(mesh_data_take(d, last + 1, 2 * n * (n - 1), error));
    set_vertex(d, 0, 0.0, 0.0, -1.0);
    set_vertex(d, last, 0.0, 0.0, 1.0);
    for (int i = 0; i < (n - 1) * n; i++) {
        const double up = pi * ((i / n + 1) / (double)n - 0.5), around = pi * (2 * (i % n) / (double)n - 1.0);
        const double r = signed_power(cos(up), params[2]);
        set_vertex(d, i + 1, r * signed_power(cos(around), params[1]),
                   r * signed_power(sin(around), params[1]), signed_power(sin(up), params[2]));
    }
    for (int j = 0; j < n; j++) {
        const int next = (j + 1) % n, top = 1 + (n - 2) * n;
        set_face(d, j, 0, 1 + next, 1 + j);
        for (int ring = 0; ring < n - 2; ring++) {
            const int low = 1 + ring * n, high = low + n;
            set_quad(d, n + 2 * (ring * n + j), low + j, low + next, high + j, high + next);
        }
        set_face(d, n + 2 * n * (n - 2) + j, top + j, top + next, last);
    }
    return ORR_OK;
}

static orr_result make_supertorus(const double *params, mesh_data *d, orr_error *error)
{
    const int n = (int)params[0];
    const double radius = params[1];
    ORR_TRY(mesh_data_take(d, n * n, 2 * n * n, error));
    for (int i = 0; i < n * n; i++) {
        const double around = 2.0 * pi * (i / n) / n, tube = 2.0 * pi * (i % n) / n;
        const double r = 1.0 + radius * signed_power(cos(tube), params[2]);
        set_vertex(d, i, r * signed_power(cos(around), params[3]), r * signed_power(sin(around), params[3]),
                   radius * signed_power(sin(tube), params[2]));
        const int here = i / n * n, there = (i / n + 1) % n * n, j = i % n, next = (j + 1) % n;
        set_quad(d, 2 * i, here + j, there + j, here + next, there + next);
    }
    return ORR_OK;
}

// ---- wedge and plate: the middles of a grid's cells, for sensors

// The middle of cell i of n between -1 and 1; with gamma those in the middle are closer to each other.
static double cell_middle(int i, int n, double gamma)
{
    double sum = 0.0;
    for (int k = 0; k < 2; k++) {
        const double x = -1.0 + 2.0 * (i + k) / n;
        sum += 0.5 * (gamma * x * x * x * x * x + (1.0 - gamma) * x);
    }
    return sum;
}

// Angles of a vertex of a wedge: around -y from -z, and up.
static void wedge_angles(const double *params, int i, double angle[2])
{
    const int columns = (int)params[0], rows = (int)params[1];
    angle[0] = pi / 180.0 * params[2] * cell_middle(i / rows, columns, params[4]);
    angle[1] = pi / 180.0 * params[3] * cell_middle(i % rows, rows, params[4]);
}

static orr_result make_wedge(const double *params, mesh_data *d, orr_error *error)
{
    const int count = (int)params[0] * (int)params[1];
    ORR_TRY(mesh_data_take(d, count, 0, error));
    for (int i = 0; i < count; i++) {
        double angle[2];
        wedge_angles(params, i, angle);
        set_vertex(d, i, cos(angle[1]) * sin(angle[0]), sin(angle[1]), -cos(angle[1]) * cos(angle[0]));
    }
    return ORR_OK;
}

static orr_result make_plate(const double *params, mesh_data *d, orr_error *error)
{
    const int columns = (int)params[0], rows = (int)params[1];
    ORR_TRY(mesh_data_take(d, columns * rows, 2 * (columns - 1) * (rows - 1), error));
    int face = 0;
    for (int i = 0; i < columns * rows; i++) {
        set_vertex(d, i, cell_middle(i / rows, columns, 0.0), cell_middle(i % rows, rows, 0.0), -1.0);
        if (i >= rows && i % rows > 0) {
            const int before = i - rows;
            set_face(d, face++, before - 1, i - 1, before);
            set_face(d, face++, i, before, i - 1);
        }
    }
    return ORR_OK;
}

orr_result mesh_builtin(const spec_mesh *mesh, mesh_data *d, orr_error *error)
{
    static orr_result (*const make[])(const double *params, mesh_data *d,
                                      orr_error *error) = {[SPEC_MESH_SPHERE] = make_sphere,
                                                           [SPEC_MESH_HEMISPHERE] = make_hemisphere,
                                                           [SPEC_MESH_CONE] = make_cone,
                                                           [SPEC_MESH_SUPERSPHERE] = make_supersphere,
                                                           [SPEC_MESH_SUPERTORUS] = make_supertorus,
                                                           [SPEC_MESH_WEDGE] = make_wedge,
                                                           [SPEC_MESH_PLATE] = make_plate};
    ORR_TRY(check(mesh, error));
    ORR_TRY(make[mesh->builtin](mesh->params.values, d, error));
    return d->vertex_count >= 4
               ? ORR_OK
               : spec_fail(&mesh->head, error, "params: expected numbers of 4 vertices or more, not %d",
                           d->vertex_count);
}

void mesh_builtin_tangents(const spec_mesh *mesh, int vertices, float *tangents)
{
    for (int i = 0; i < vertices; i++) {
        double tangent[6] = {0.0};
        if (mesh->builtin == SPEC_MESH_WEDGE) { // along the two angles
            double angle[2];
            wedge_angles(mesh->params.values, i, angle);
            tangent[0] = cos(angle[0]);
            tangent[2] = sin(angle[0]);
            tangent[3] = -sin(angle[1]) * sin(angle[0]);
            tangent[4] = cos(angle[1]);
            tangent[5] = sin(angle[1]) * cos(angle[0]);
        } else if (mesh->builtin == SPEC_MESH_PLATE) { // y and z, as MuJoCo's, although z is its normal
            tangent[1] = tangent[5] = 1.0;
        }
        for (int k = 0; k < 6; k++) {
            tangents[6 * (ptrdiff_t)i + k] = (float)tangent[k];
        }
    }
}
