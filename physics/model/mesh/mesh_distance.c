#include "physics/model/mesh/mesh_distance.h"

#include "engine/core/memory.h"
#include "engine/maths/nearest.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OWN = 0, EDGE = 1, CORNER = 4, NORMALS = 7 };

static const double *corner_of(const triangle_normals *n, int face, int k, double at[3])
{
    const double *v = n->vertices + 3 * (ptrdiff_t)n->faces[3 * (ptrdiff_t)face + k];
    for (int i = 0; i < 3; i++) {
        at[i] = v[i];
    }
    return at;
}

static double *normal_of(const triangle_normals *n, int face, int which)
{
    return n->normal + 3 * (NORMALS * (ptrdiff_t)face + which);
}

// A corner or an edge of a face, to be sorted by its place.
typedef struct element {
    double place[6]; // of the corner; of both ends of the edge, the lesser first
    int32_t face, which;
} element;

static int by_place(const void *a, const void *b)
{
    const element *x = a, *y = b;
    for (int k = 0; k < 6; k++) {
        if (x->place[k] != y->place[k]) {
            return x->place[k] < y->place[k] ? -1 : 1;
        }
    }
    int order = x->face < y->face ? -1 : x->face > y->face; // so that sums do not depend on the sort
    return order ? order : x->which - y->which;
}

static double angle_at(const triangle_normals *n, int face, int k)
{
    double at[3], next[3], last[3], product;
    corner_of(n, face, k, at);
    corner_of(n, face, (k + 1) % 3, next);
    corner_of(n, face, (k + 2) % 3, last);
    for (int i = 0; i < 3; i++) {
        next[i] -= at[i], last[i] -= at[i];
    }
    product = vec3_length(next) * vec3_length(last);
    return product > 0.0 ? acos(fmin(fmax(vec3_dot(next, last) / product, -1.0), 1.0)) : 0.0;
}

static void own_normal(const triangle_normals *n, int face)
{
    double a[3], b[3], c[3], *normal = normal_of(n, face, OWN);
    corner_of(n, face, 0, a);
    corner_of(n, face, 1, b);
    corner_of(n, face, 2, c);
    for (int i = 0; i < 3; i++) {
        b[i] -= a[i], c[i] -= a[i];
    }
    vec3_cross(b, c, normal);
    vec3_normalise(normal);
}

// Gives each of the elements at one place the sum of their faces' normals.
static void sum_of_place(const triangle_normals *n, const element *elements, int count)
{
    double sum[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < count; i++) {
        const element *e = &elements[i];
        double weight = e->which >= CORNER ? angle_at(n, e->face, e->which - CORNER) : 1.0;
        const double *normal = normal_of(n, e->face, OWN);
        for (int k = 0; k < 3; k++) {
            sum[k] += weight * normal[k];
        }
    }
    for (int i = 0; i < count; i++) {
        memcpy(normal_of(n, elements[i].face, elements[i].which), sum, sizeof sum);
    }
}

static element element_of(const triangle_normals *n, int face, int k, bool is_edge)
{
    element e = {.face = face, .which = (is_edge ? EDGE : CORNER) + k};
    const double *ends[2];
    for (int end = 0; end < 2; end++) {
        ends[end] =
            n->vertices + 3 * (ptrdiff_t)n->faces[3 * (ptrdiff_t)face + (k + (is_edge ? end : 0)) % 3];
    }
    int k0 = 0;
    while (k0 < 2 && ends[0][k0] == ends[1][k0]) {
        k0++;
    }
    bool swapped = ends[1][k0] < ends[0][k0];
    for (int i = 0; i < 3; i++) {
        e.place[i] = ends[swapped][i] + 0.0; // -0 becomes 0
        e.place[3 + i] = ends[!swapped][i] + 0.0;
    }
    return e;
}

orr_result normals_build(const mesh_data *mesh, triangle_normals *n, orr_error *error)
{
    int count = 3 * mesh->face_count;
    *n = (triangle_normals){.vertices = mesh->exact, .faces = mesh->faces};
    n->normal = orr_alloc_zero((size_t)mesh->face_count, NORMALS * 3 * sizeof *n->normal);
    element *elements = orr_alloc((size_t)count, sizeof *elements);
    if (!n->normal || !elements) {
        orr_free(elements);
        return spec_memory_fail(error);
    }
    for (int face = 0; face < mesh->face_count; face++) {
        own_normal(n, face);
    }
    for (int is_edge = 0; is_edge < 2; is_edge++) {
        for (int i = 0; i < count; i++) {
            elements[i] = element_of(n, i / 3, i % 3, is_edge);
        }
        qsort(elements, (size_t)count, sizeof *elements, by_place);
        for (int first = 0, next = 0; first < count; first = next) {
            while (next < count &&
                   memcmp(elements[next].place, elements[first].place, sizeof elements[first].place) == 0) {
                next++;
            }
            sum_of_place(n, elements + first, next - first);
        }
    }
    orr_free(elements);
    return ORR_OK;
}

void normals_free(triangle_normals *n)
{
    orr_free(n->normal);
    n->normal = NULL;
}

void nearest_of_face(const triangle_normals *n, int face, const double p[3], nearest_triangle *nearest)
{
    double a[3], b[3], c[3], weight[3];
    double square = orr_nearest_in_triangle(p, corner_of(n, face, 0, a), corner_of(n, face, 1, b),
                                            corner_of(n, face, 2, c), weight);
    if (nearest->face < 0 || square < nearest->square) {
        nearest->face = face, nearest->square = square;
        memcpy(nearest->weight, weight, sizeof weight);
    }
}

double nearest_signed(const triangle_normals *n, const double p[3], const nearest_triangle *nearest)
{
    double away[3] = {p[0], p[1], p[2]}, corner[3];
    int zeros = 0, zero = 0, full = 0; // weights that are 0, and the last of them; a weight that is not
    for (int k = 0; k < 3; k++) {
        const double w = nearest->weight[k];
        corner_of(n, nearest->face, k, corner);
        for (int i = 0; i < 3; i++) {
            away[i] -= w * corner[i];
        }
        zeros += w == 0.0;
        zero = w == 0.0 ? k : zero;
        full = w == 0.0 ? full : k;
    }
    const int which = zeros == 0 ? OWN : zeros == 1 ? EDGE + (zero + 1) % 3 : CORNER + full;
    const double distance = sqrt(nearest->square);
    return vec3_dot(away, normal_of(n, nearest->face, which)) < 0.0 ? -distance : distance;
}
