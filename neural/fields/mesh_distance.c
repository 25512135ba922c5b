#include "neural/fields/mesh_distance.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

enum { LEAF_TRIANGLES = 4, STACK = 64 };

typedef float four __attribute__((vector_size(16)));
typedef int32_t four_bits __attribute__((vector_size(16)));

// The triangles of a leaf side by side; where there are less than four, the first one stands in.
typedef struct leaf {
    four corners[3][3];
} leaf;

static const float FAR =
    2.0f; // in radii: beyond, a node is a dipole; errors of the winding number stay near 1 %
static const float ON_SURFACE = 1e-6f; // nearer, rounding would decide the sign: it counts as outside
static const float NEAR = 1.01f;       // more than one by what distances and steps are rounded
static const float PI = 3.14159265f;

// Children of an inner node are at `first` and `first` + 1; a leaf's triangles from `first` on.
typedef struct node {
    float low[3], high[3];
    float area[3];        // sum of the triangles' area vectors
    float centre[3];      // mean of their centroids, weighted by area
    float radius;         // of a ball around the centre that contains them
    int32_t first, count; // count 0: an inner node
    int32_t leaf;
} node;

struct orr_mesh_distance {
    float (*corners)[9];
    node *nodes;
    leaf *leaves;
    int64_t triangle_count;
    int32_t node_count, leaf_count;
    bool closed; // winding numbers are whole, and change where a triangle is crossed only
};

// fminf and fmaxf would be calls: they heed what is not a number
static inline float smaller(float a, float b)
{
    return a < b ? a : b;
}

static inline float larger(float a, float b)
{
    return a > b ? a : b;
}

// half the cross product of two sides
static void area_vector(const float t[9], float area[3])
{
    float u[3], v[3];
    vec3f_subtract(t + 3, t, u);
    vec3f_subtract(t + 6, t, v);
    vec3f_cross(u, v, area);
    for (int k = 0; k < 3; k++) {
        area[k] *= 0.5f;
    }
}

// ---- building ----

static void swap_triangles(float (*t)[9], int64_t a, int64_t b)
{
    float kept[9];
    memcpy(kept, t[a], sizeof kept);
    memcpy(t[a], t[b], sizeof kept);
    memcpy(t[b], kept, sizeof kept);
}

static float centroid(const float t[9], int axis)
{
    return t[axis] + t[3 + axis] + t[6 + axis]; // three times it, which orders the same
}

// Partial order around number `middle`, by centroids along an axis (Hoare's selection).
static void select_middle(float (*t)[9], int64_t low, int64_t high, int64_t middle, int axis)
{
    while (low < high) {
        float pivot = centroid(t[(low + high) / 2], axis);
        int64_t i = low, j = high;
        while (i <= j) {
            for (; centroid(t[i], axis) < pivot; i++) {
            }
            for (; centroid(t[j], axis) > pivot; j--) {
            }
            if (i <= j) {
                swap_triangles(t, i++, j--);
            }
        }
        if (middle <= j) {
            high = j;
        } else if (middle >= i) {
            low = i;
        } else {
            return;
        }
    }
}

static void measure(node *n, float (*t)[9], int64_t first, int64_t end)
{
    *n = (node){.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    double sum[3] = {0}, total[3] = {0}, weight = 0.0;
    for (int64_t i = first; i < end; i++) {
        float area[3];
        area_vector(t[i], area);
        double size = sqrt((double)vec3f_dot(area, area));
        for (int k = 0; k < 3; k++) {
            sum[k] += (double)area[k];
            total[k] += size * (double)centroid(t[i], k) / 3.0;
            for (int corner = 0; corner < 3; corner++) {
                n->low[k] = smaller(n->low[k], t[i][3 * corner + k]);
                n->high[k] = larger(n->high[k], t[i][3 * corner + k]);
            }
        }
        weight += size;
    }
    float reach[3];
    for (int k = 0; k < 3; k++) {
        n->area[k] = (float)sum[k];
        n->centre[k] = (float)(total[k] / weight);
        reach[k] = larger(n->high[k] - n->centre[k], n->centre[k] - n->low[k]);
    }
    n->radius = sqrtf(vec3f_dot(reach, reach));
}

static void set_leaf(leaf *l, float (*t)[9], int count)
{
    for (int i = 0; i < LEAF_TRIANGLES; i++) {
        for (int k = 0; k < 9; k++) {
            l->corners[k / 3][k % 3][i] = t[i < count ? i : 0][k];
        }
    }
}

static void build(orr_mesh_distance *m, int32_t index, int64_t first, int64_t end)
{
    node *n = &m->nodes[index];
    measure(n, m->corners, first, end);
    if (end - first <= LEAF_TRIANGLES) {
        n->first = (int32_t)first;
        n->count = (int32_t)(end - first);
        n->leaf = m->leaf_count++;
        set_leaf(&m->leaves[n->leaf], m->corners + first, n->count);
        return;
    }
    int axis = 0;
    for (int k = 1; k < 3; k++) {
        axis = n->high[k] - n->low[k] > n->high[axis] - n->low[axis] ? k : axis;
    }
    int64_t middle = (first + end) / 2;
    select_middle(m->corners, first, end - 1, middle, axis);
    n->first = m->node_count;
    m->node_count += 2;
    build(m, n->first, first, middle); // halves: the depth is the logarithm of the count
    build(m, n->first + 1, middle, end);
}

static uint64_t mix(uint64_t h) // bits of one number all over another (Vigna 2015, "splitmix64")
{
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

static uint64_t hash_position(const float p[3])
{
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++) {
        float member = p[k] + 0.0f; // minus zero is the same number
        uint32_t bits;
        memcpy(&bits, &member, sizeof bits);
        hash = mix(hash + UINT64_C(0x9e3779b97f4a7c15) + bits);
    }
    return hash;
}

// A side that is walked in both directions adds nothing. The sum over all triangles is zero when each is, and
// otherwise once in 2^64.
static uint64_t sum_sides(const float t[9])
{
    uint64_t hash[3], sum = 0;
    for (int corner = 0; corner < 3; corner++) {
        hash[corner] = hash_position(t + 3 * corner);
    }
    for (int corner = 0; corner < 3; corner++) {
        uint64_t a = hash[corner], b = hash[(corner + 1) % 3];
        sum += a < b ? mix(a + 3 * b) : a > b ? -mix(b + 3 * a) : 0;
    }
    return sum;
}

static orr_result fill(orr_mesh_distance *m, const float *positions, int64_t vertex_count,
                       const uint32_t *indices, int64_t triangle_count, const char *name, orr_error *error)
{
    ORR_ALLOC(m->corners, triangle_count, name, error);
    uint64_t sides = 0;
    for (int64_t i = 0; i < triangle_count; i++) {
        float *t = m->corners[m->triangle_count], area[3];
        for (int corner = 0; corner < 3; corner++) {
            assert(indices[3 * i + corner] < (uint64_t)vertex_count);
            memcpy(t + 3 * corner, positions + 3 * (size_t)indices[3 * i + corner], 3 * sizeof *t);
        }
        area_vector(t, area);
        sides += sum_sides(t);
        m->triangle_count += vec3f_dot(area, area) > 0.0f && isfinite(vec3f_dot(area, area));
    }
    (void)vertex_count;
    m->closed = sides == 0;
    if (m->triangle_count == 0) {
        return orr_fail(error, ORR_CODE_MESH_FILE, "%s: expected triangles with an area", name);
    }
    ORR_ALLOC(m->nodes, 2 * m->triangle_count, name, error);
    ORR_ALLOC(m->leaves, m->triangle_count / 2 + 1, name,
              error); // of two triangles or more, unless there is one
    m->node_count = 1;
    build(m, 0, 0, m->triangle_count);
    return ORR_OK;
}

orr_result orr_mesh_distance_create(const float *positions, int64_t vertex_count, const uint32_t *indices,
                                    int64_t triangle_count, const char *name, orr_mesh_distance **mesh,
                                    orr_error *error)
{
    *mesh = NULL;
    if (triangle_count > INT32_MAX / 2) {
        return orr_fail(error, ORR_CODE_MESH_FILE, "%s: %lld triangles: expected at most 2^30", name,
                        (long long)triangle_count);
    }
    orr_mesh_distance *made = orr_alloc_zero(1, sizeof *made);
    if (!made) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", name);
    }
    orr_result result = fill(made, positions, vertex_count, indices, triangle_count, name, error);
    if (result != ORR_OK) {
        orr_mesh_distance_destroy(made);
        return result;
    }
    *mesh = made;
    return ORR_OK;
}

void orr_mesh_distance_destroy(orr_mesh_distance *mesh)
{
    if (mesh) {
        orr_free(mesh->corners);
        orr_free(mesh->nodes);
        orr_free(mesh->leaves);
        orr_free(mesh);
    }
}

// ---- distance ----

static four select(four_bits where, four a, four b)
{
    return (four)((where & (four_bits)a) | (~where & (four_bits)b));
}

static float square_to_box(const node *n, four p)
{
    four low, high; // the last member is not of the box
    memcpy(&low, n->low, sizeof low);
    memcpy(&high, n->high, sizeof high);
    const four before = low - p, behind = p - high;
    four outside = select(before > behind, before, behind);
    outside = (four)((four_bits)outside & (outside > 0.0f));
    outside *= outside;
    return outside[0] + outside[1] + outside[2];
}

static four dot(const four a[3], const four b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Of the nearest points of a leaf's triangles, by the regions around them (Ericson, "Real-time collision
// detection", 5.1.5); the first region that fits counts.
static four squares_to_triangles(const leaf *l, const float p[3])
{
    const four none = {0}, all = {1.0f, 1.0f, 1.0f, 1.0f};
    four ab[3], ac[3], ap[3], bp[3], cp[3];
    for (int k = 0; k < 3; k++) {
        const four a = l->corners[0][k], b = l->corners[1][k], c = l->corners[2][k];
        ab[k] = b - a, ac[k] = c - a, ap[k] = p[k] - a, bp[k] = p[k] - b, cp[k] = p[k] - c;
    }
    const four d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
               d6 = dot(ac, cp);
    const four va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    const four sum = va + vb + vc, along = (d4 - d3) / (d4 - d3 + d5 - d6);
    const struct {
        four_bits here;
        four v, w;
    } regions[] = {{(va <= none) & (d4 - d3 >= none) & (d5 - d6 >= none), all - along, along},
                   {(vb <= none) & (d2 >= none) & (d6 <= none), none, d2 / (d2 - d6)},
                   {(vc <= none) & (d1 >= none) & (d3 <= none), d1 / (d1 - d3), none},
                   {(d6 >= none) & (d5 <= d6), none, all},
                   {(d3 >= none) & (d4 <= d3), all, none},
                   {(d1 <= none) & (d2 <= none), none, none}};
    four v = vb / sum, w = vc / sum; // within; the regions from the last to the first to ask
    for (int i = 0; i < 6; i++) {
        v = select(regions[i].here, regions[i].v, v);
        w = select(regions[i].here, regions[i].w, w);
    }
    four square = none;
    for (int k = 0; k < 3; k++) {
        const four away = ap[k] - v * ab[k] - w * ac[k];
        square += away * away;
    }
    return square;
}

float orr_mesh_distance_to(const orr_mesh_distance *m, const float point[3], float bound)
{
    float best = bound * bound * (1.0f + 1e-5f) + 1e-12f; // a bound is rounded too
    const four p = {point[0], point[1], point[2], 0.0f};
    int32_t stack[STACK], depth = 0;
    float squares[STACK];
    stack[depth] = 0;
    squares[depth++] = square_to_box(m->nodes, p);
    while (depth > 0) {
        const node *n = &m->nodes[stack[--depth]];
        if (squares[depth] >= best) {
            continue;
        }
        if (n->count == 0) { // the nearer child comes off the stack first
            const float square[2] = {square_to_box(&m->nodes[n->first], p),
                                     square_to_box(&m->nodes[n->first + 1], p)};
            bool left = square[0] <= square[1];
            stack[depth] = n->first + left;
            squares[depth++] = square[left];
            stack[depth] = n->first + !left;
            squares[depth++] = square[!left];
        }
        if (n->count > 0) {
            const four square = squares_to_triangles(&m->leaves[n->leaf], point);
            for (int i = 0; i < LEAF_TRIANGLES; i++) {
                best = smaller(square[i], best);
            }
        }
    }
    return sqrtf(best);
}

// ---- winding ----

// the solid angle of a triangle over 4 pi (Van Oosterom and Strackee 1983)
static float triangle_winding(const float t[9], const float p[3])
{
    float a[3], b[3], c[3], normal[3];
    vec3f_subtract(t, p, a);
    vec3f_subtract(t + 3, p, b);
    vec3f_subtract(t + 6, p, c);
    float la = sqrtf(vec3f_dot(a, a)), lb = sqrtf(vec3f_dot(b, b)), lc = sqrtf(vec3f_dot(c, c));
    vec3f_cross(b, c, normal);
    float volume = vec3f_dot(a, normal);
    float below = la * lb * lc + vec3f_dot(a, b) * lc + vec3f_dot(b, c) * la + vec3f_dot(c, a) * lb;
    return atan2f(volume, below) / (2.0f * PI);
}

float orr_mesh_winding(const orr_mesh_distance *m, const float point[3])
{
    float winding = 0.0f;
    int32_t stack[STACK], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const node *n = &m->nodes[stack[--depth]];
        float away[3];
        vec3f_subtract(n->centre, point, away);
        float square = vec3f_dot(away, away);
        if (square > FAR * FAR * n->radius * n->radius) {
            winding += vec3f_dot(n->area, away) / (4.0f * PI * square * sqrtf(square));
            continue;
        }
        if (n->count == 0) {
            stack[depth++] = n->first;
            stack[depth++] = n->first + 1;
        }
        for (int32_t i = n->first; i < n->first + n->count; i++) {
            winding += triangle_winding(m->corners[i], point);
        }
    }
    return winding;
}

// ---- crossings ----

// Does the box touch the segment from p to p + d? (slabs; inverse: 1 / d by members, infinite for zero)
static bool segment_meets_box(const node *n, const float p[3], const float inverse[3])
{
    float enter = 0.0f, leave = 1.0f;
    for (int k = 0; k < 3; k++) {
        float a = (n->low[k] - p[k]) * inverse[k], b = (n->high[k] - p[k]) * inverse[k];
        // not a number, on a face parallel to d: no bound
        enter = a == a && b == b ? larger(enter, smaller(a, b)) : enter;
        leave = a == a && b == b ? smaller(leave, larger(a, b)) : leave;
    }
    return enter <= leave * (1.0f + 1e-6f);
}

// d . (a x b): exactly minus the same for b and a, so that a segment meets one of two triangles with a common
// side
static float side_volume(const float a[3], const float b[3], const float d[3])
{
    float normal[3];
    vec3f_cross(a, b, normal);
    return vec3f_dot(d, normal);
}

// 1 where the segment goes in through the triangle, -1 where out, 0 where past
static int crossing(const float t[9], const float p[3], const float d[3])
{
    float a[3], b[3], c[3], normal[3];
    vec3f_subtract(t, p, a);
    vec3f_subtract(t + 3, p, b);
    vec3f_subtract(t + 6, p, c);
    bool ab = side_volume(a, b, d) > 0.0f, bc = side_volume(b, c, d) > 0.0f, ca = side_volume(c, a, d) > 0.0f;
    if (ab != bc || bc != ca) {
        return 0;
    }
    area_vector(t, normal);
    float height = vec3f_dot(a, normal), climb = vec3f_dot(d, normal); // of the plane over p, and of d
    bool above = height < 0.0f, ends_above = climb - height >= 0.0f;
    return above == ends_above ? 0 : above ? 1 : -1;
}

// What the winding number gains from one point to another, where the mesh is closed.
static int count_crossings(const orr_mesh_distance *m, const float from[3], const float to[3])
{
    float d[3], inverse[3];
    vec3f_subtract(to, from, d);
    for (int k = 0; k < 3; k++) {
        inverse[k] = 1.0f / d[k];
    }
    int32_t stack[STACK], depth = 0;
    int count = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const node *n = &m->nodes[stack[--depth]];
        if (!segment_meets_box(n, from, inverse)) {
            continue;
        }
        if (n->count == 0) {
            stack[depth++] = n->first;
            stack[depth++] = n->first + 1;
        }
        for (int32_t i = n->first; i < n->first + n->count; i++) {
            count += crossing(m->corners[i], from, d);
        }
    }
    return count;
}

// ---- both ----

void orr_mesh_distance_signed(const orr_mesh_distance *mesh, const float *points, int count, float *distances)
{
    float before[3] = {0}, bound = INFINITY, winding = 0.0f;
    for (int i = 0; i < count; i++) {
        const float point[3] = {points[i], points[count + i], points[2 * count + i]};
        float d[3];
        vec3f_subtract(point, before, d);
        float step = sqrtf(vec3f_dot(d, d));
        bool near = bound <= step * NEAR; // otherwise the step meets no triangle
        bound = orr_mesh_distance_to(mesh, point, bound + step);
        if (mesh->closed && i > 0) {
            winding += near ? (float)count_crossings(mesh, before, point) : 0.0f;
        } else {
            winding = orr_mesh_winding(mesh, point);
        }
        distances[i] = bound > ON_SURFACE && fabsf(winding) > 0.5f ? -bound : bound;
        memcpy(before, point, sizeof before);
    }
}
