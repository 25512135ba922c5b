// Cages: tetrahedra that fill closed surfaces.
#include "engine/maths/vector.h"
#include "physics/soft/mesh/cage.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>

// Degrees: what Labelle and Shewchuk prove for smooth surfaces that the cells resolve.
static const double smallest_angle = 10.7;

static double sphere(const void *context, const double p[3])
{
    return vec3_length(p) - *(const double *)context;
}

static double torus(const void *context, const double p[3])
{
    double ring = hypot(p[0], p[1]) - 1.0;
    return hypot(ring, p[2]) - *(const double *)context;
}

static double box(const void *context, const double p[3])
{
    const double *half = context;
    double deepest = -INFINITY;
    for (int k = 0; k < 3; k++) {
        deepest = fmax(deepest, fabs(p[k]) - half[k]);
    }
    return deepest;
}

static double tet_volume(const orr_soft_cage *c, int tet)
{
    const int32_t *t = c->tet + tet * 4;
    double d[3][3], normal[3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            d[i][k] = c->vertex[t[i + 1] * 3 + k] - c->vertex[t[0] * 3 + k];
        }
    }
    vec3_cross(d[0], d[1], normal);
    return vec3_dot(normal, d[2]) / 6.0;
}

typedef struct side {
    int32_t at[3]; // sorted
    int order;     // +1: an even permutation of the face as seen from outside
} side;

static int compare_sides(const void *a, const void *b)
{
    const side *x = a, *y = b;
    for (int k = 0; k < 3; k++) {
        if (x->at[k] != y->at[k]) {
            return x->at[k] < y->at[k] ? -1 : 1;
        }
    }
    return 0;
}

static int compare_edges(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void swap(side *s, int i, int j)
{
    int32_t at = s->at[i];
    s->at[i] = s->at[j], s->at[j] = at;
    s->order = -s->order;
}

// Every tet is positive; every face is shared by two tets that see it from opposite sides, or is of the
// boundary; the boundary's edges have two faces each.
static double check_mesh(const orr_soft_cage *c)
{
    static const int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
    double volume = 0.0;
    side *sides = calloc((size_t)c->tets * 4, sizeof *sides);
    for (int i = 0; i < c->tets; i++) {
        assert_true(tet_volume(c, i) > 0.0);
        volume += tet_volume(c, i);
        for (int f = 0; f < 4; f++) {
            side *s = &sides[i * 4 + f];
            s->order = 1;
            for (int k = 0; k < 3; k++) {
                s->at[k] = c->tet[i * 4 + face[f][k]];
            }
            for (int pass = 0; pass < 3; pass++) {
                int k = pass % 2;
                if (s->at[k] > s->at[k + 1]) {
                    swap(s, k, k + 1);
                }
            }
        }
    }
    qsort(sides, (size_t)c->tets * 4, sizeof *sides, compare_sides);
    int64_t *edges = calloc((size_t)c->tets * 12, sizeof *edges);
    int edge_count = 0;
    for (int i = 0; i < c->tets * 4;) {
        int next = i + 1;
        while (next < c->tets * 4 && compare_sides(&sides[i], &sides[next]) == 0) {
            next++;
        }
        assert_true(next - i <= 2);
        if (next - i == 2) {
            assert_int_equal(sides[i].order + sides[i + 1].order, 0);
        } else {
            for (int k = 0; k < 3; k++) {
                int a = k == 2 ? 0 : k, b = k == 2 ? 2 : k + 1;
                edges[edge_count++] = (int64_t)sides[i].at[a] * c->vertices + sides[i].at[b];
            }
        }
        i = next;
    }
    qsort(edges, (size_t)edge_count, sizeof *edges, compare_edges);
    assert_true(edge_count > 0 && edge_count % 2 == 0);
    for (int i = 0; i < edge_count; i += 2) {
        assert_true(edges[i] == edges[i + 1]);
        assert_true(i == 0 || edges[i] != edges[i - 1]);
    }
    free(edges);
    free(sides);
    return volume;
}

static void solids_are_filled(void **state)
{
    (void)state;
    const double radius = 0.37, low[3] = {-1.6, -1.6, -1.6}, high[3] = {1.6, 1.6, 1.6};
    const double pi = 3.14159265358979324, cells[3] = {0.2, 0.1, 0.05};
    double error_of[3] = {0}, smallest = 180.0;
    for (int i = 0; i < 3; i++) {
        orr_soft_cage *c;
        assert_ok(orr_soft_cage_create(torus, &radius, low, high, cells[i], "torus", &c, &error));
        error_of[i] = fabs(check_mesh(c) / (2.0 * pi * pi * radius * radius) - 1.0);
        smallest = fmin(smallest, c->angle);
        orr_soft_cage_destroy(c);
    }
    for (int i = 0; i < 12; i++) {
        double r = 0.8 + 0.031 * i;
        orr_soft_cage *c;
        assert_ok(orr_soft_cage_create(sphere, &r, low, high, 0.11 + 0.003 * i, "ball", &c, &error));
        assert_true(fabs(check_mesh(c) / (4.0 / 3.0 * pi * r * r * r) - 1.0) < 0.02);
        smallest = fmin(smallest, c->angle);
        orr_soft_cage_destroy(c);
    }
    if (smallest < smallest_angle) {
        fail_msg("smallest dihedral angle %g degrees: expected at least %g", smallest, smallest_angle);
    }
    // of second order
    assert_true(error_of[1] < error_of[0] / 2.8 && error_of[2] < error_of[1] / 2.8);
}

static void edges_are_cut_off(void **state)
{
    (void)state;
    const double half[3] = {0.5, 0.31, 0.22}, low[3] = {-0.5, -0.31, -0.22}, high[3] = {0.5, 0.31, 0.22};
    orr_soft_cage *c;
    assert_ok(orr_soft_cage_create(box, half, low, high, 0.07, "box", &c, &error));
    double share = check_mesh(c) / (8.0 * half[0] * half[1] * half[2]);
    assert_true(share > 0.97 && share <= 1.0 + 1e-6);
    assert_true(c->angle > smallest_angle);
    orr_soft_cage_destroy(c);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    orr_error error;
    const double radius = 0.01, low[3] = {-1.0, -1.0, -1.0}, high[3] = {1.0, 1.0, 1.0};
    orr_soft_cage *c;
    assert_int_equal(orr_soft_cage_create(sphere, &radius, low, high, 0.0, "ball", &c, &error),
                     ORR_ERROR_ARGUMENT);
    assert_null(c);
    const double beside[3] = {0.5, 0.5, 0.5};
    assert_int_equal(orr_soft_cage_create(sphere, &radius, beside, high, 0.1, "ball", &c, &error),
                     ORR_ERROR_ARGUMENT);
    assert_string_equal(error.message, "ball: a soft body: expected a closed surface with an inside wider "
                                       "than its cells of 0.1 m");
    assert_int_equal(orr_soft_cage_create(sphere, &radius, low, high, 1e-4, "ball", &c, &error),
                     ORR_ERROR_CAPACITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_are_filled),
        cmocka_unit_test(edges_are_cut_off),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
