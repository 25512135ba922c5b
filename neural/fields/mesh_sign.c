// On which side of a mesh points are. Along a segment a winding number changes by one where the segment
// crosses a triangle, and otherwise by what the mesh's rim does, which is nothing for a closed mesh.
#include "engine/maths/vector.h"
#include "neural/fields/mesh_tree.h"

#include <math.h>
#include <string.h>

static const float ON_SURFACE = 1e-6f;  // nearer, rounding would decide the sign: it counts as outside
static const float OFF_SURFACE = 1e-3f; // of a triangle's size: just before it
static const float NEAR = 1.01f;        // more than one by what distances and steps are rounded

static float signed_distance(float distance, bool inside)
{
    return inside && distance > ON_SURFACE ? -distance : distance;
}

// ---- crossings ----

// Does the box touch the segment from p to p + d? (slabs; inverse: 1 / d by members, infinite for zero)
static bool segment_meets_box(const orr_tree_node *n, const float p[3], const float inverse[3])
{
    float enter = 0.0f, leave = 1.0f;
    for (int k = 0; k < 3; k++) {
        float a = (n->low[k] - p[k]) * inverse[k], b = (n->high[k] - p[k]) * inverse[k];
        // not a number, on a face parallel to d: no bound
        enter = a == a && b == b ? orr_larger(enter, orr_smaller(a, b)) : enter;
        leave = a == a && b == b ? orr_smaller(leave, orr_larger(a, b)) : leave;
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
    orr_area_vector(t, normal);
    float height = vec3f_dot(a, normal), climb = vec3f_dot(d, normal); // of the plane over p, and of d
    bool above = height < 0.0f, ends_above = climb - height >= 0.0f;
    return above == ends_above ? 0 : above ? 1 : -1;
}

// What the winding number gains at the triangles between one point and another.
static int count_crossings(const orr_mesh_distance *m, const float from[3], const float to[3])
{
    float d[3], inverse[3];
    vec3f_subtract(to, from, d);
    for (int k = 0; k < 3; k++) {
        inverse[k] = 1.0f / d[k];
    }
    int32_t stack[ORR_TREE_STACK], depth = 0;
    int count = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const orr_tree_node *n = &m->nodes[stack[--depth]];
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

// ---- closed meshes ----

static double whole_winding(const orr_mesh_distance *mesh, const float point[3])
{
    double bound = INFINITY, winding = 0.0;
    for (double tolerance = 1e-3; bound >= 0.5 && tolerance > 1e-7; tolerance *= 0.1) {
        winding = orr_tree_winding(mesh, point, tolerance, &bound);
    }
    return nearbyint(winding);
}

static void sign_closed(const orr_mesh_distance *mesh, const float *points, int count, float *distances)
{
    float before[3] = {0}, reach = 0.0f;
    double winding = 0.0;
    for (int i = 0; i < count; i++) {
        const float point[3] = {points[i], points[count + i], points[2 * count + i]};
        if (i == 0) {
            winding = whole_winding(mesh, point);
        } else if (reach <= orr_tree_step(before, point) * NEAR) { // otherwise the step meets no triangle
            winding += (double)count_crossings(mesh, before, point);
        }
        reach = distances[i];
        distances[i] = signed_distance(reach, fabs(winding) > 0.5);
        memcpy(before, point, sizeof before);
    }
}

// ---- open meshes ----

// Points that are decided together.
typedef struct point_block {
    float (*points)[3];
    float *distances;
    int count;
} point_block;

// Decides the points whose winding numbers can be told from that of the middle; lists the others. `varies`:
// by which numbers differ at most, but for crossings. Returns how many are listed.
static int follow(const orr_mesh_distance *mesh, const float middle[3], double varies, const point_block *b,
                  int32_t *others)
{
    double bound, winding = orr_tree_winding(mesh, middle, fmin(fmax(1e-3 * varies, 1e-7), 1e-4), &bound);
    float before[3], reach = 0.0f;
    int count = 0;
    memcpy(before, middle, sizeof before);
    for (int i = 0; i < b->count; i++) {
        if (reach <= orr_tree_step(before, b->points[i]) * NEAR) {
            winding += (double)count_crossings(mesh, before, b->points[i]);
        }
        reach = fabsf(b->distances[i]);
        memcpy(before, b->points[i], sizeof before);
        double depth = orr_tree_depth(mesh, winding);
        if (fabs(depth) > bound + varies) {
            b->distances[i] = signed_distance(reach, depth > 0.0);
        } else {
            others[count++] = i;
        }
    }
    return count;
}

static void decide(const orr_mesh_distance *mesh, const point_block *b, const int32_t *which, int count)
{
    float points[ORR_WINDING_GROUP][3];
    bool inside[ORR_WINDING_GROUP];
    for (int i = 0; i < count; i++) {
        memcpy(points[i], b->points[which[i]], sizeof points[i]);
    }
    orr_tree_inside(mesh, points, count, inside);
    for (int i = 0; i < count; i++) {
        b->distances[which[i]] = signed_distance(fabsf(b->distances[which[i]]), inside[i]);
    }
}

static void sign_block(const orr_mesh_distance *mesh, const point_block *b);

static void sign_halves(const orr_mesh_distance *mesh, const point_block *b)
{
    int half = b->count / 2;
    sign_block(mesh, &(point_block){b->points, b->distances, half});
    sign_block(mesh, &(point_block){b->points + half, b->distances + half, b->count - half});
}

// The nearer the rim, and the nearer its numbers to a half, the smaller the blocks.
static void sign_block(const orr_mesh_distance *mesh, const point_block *b)
{
    enum { SMALLEST = 32 };
    static const double TOO_MUCH = 0.25;
    float middle[3], reach = orr_tree_ball((const float(*)[3])b->points, b->count, middle);
    double varies = orr_tree_variation(mesh, middle, reach);
    int32_t others[ORR_WINDING_GROUP];
    int count = 0;
    if (varies < TOO_MUCH) {
        count = follow(mesh, middle, varies, b, others);
    } else {
        for (; count < b->count; count++) {
            others[count] = count;
        }
    }
    if (varies >= TOO_MUCH && b->count > SMALLEST) {
        sign_halves(mesh, b);
    } else if (count > 0) {
        decide(mesh, b, others, count);
    }
}

// The mean over a surface of its winding numbers, where its own triangle adds nothing, is a half for a closed
// one (minus a half, turned inside out), and near 0 for a sheet, which winds around neither of its sides.
bool orr_mesh_distance_find_sheet(orr_mesh_distance *mesh)
{
    enum { SAMPLES = 256 };
    static const double ENCLOSING = 0.125;
    double sum = 0.0, weight = 0.0;
    for (int i = 0; i < SAMPLES && !mesh->closed; i++) {
        const float *t = mesh->corners[mesh->triangle_count * i / SAMPLES];
        float area[3], front[3];
        orr_area_vector(t, area);
        float size = sqrtf(vec3f_dot(area, area)), off = OFF_SURFACE * sqrtf(size);
        for (int k = 0; k < 3; k++) {
            front[k] = (t[k] + t[3 + k] + t[6 + k]) / 3.0f + off * area[k] / size;
        }
        sum += (double)size * ((double)orr_mesh_winding(mesh, front) + 0.5);
        weight += (double)size;
    }
    mesh->sheet = fabs(sum) < ENCLOSING * weight;
    return mesh->sheet;
}

void orr_tree_signs(const orr_mesh_distance *mesh, const float *points, int count, float *distances)
{
    if (mesh->closed) {
        sign_closed(mesh, points, count, distances);
        return;
    }
    for (int first = 0; first < count; first += ORR_WINDING_GROUP) {
        float group[ORR_WINDING_GROUP][3];
        int size = count - first < ORR_WINDING_GROUP ? count - first : ORR_WINDING_GROUP;
        for (int i = 0; i < size; i++) {
            for (int k = 0; k < 3; k++) {
                group[i][k] = points[k * count + first + i];
            }
        }
        sign_block(mesh, &(point_block){group, distances + first, size});
    }
}
