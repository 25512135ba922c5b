// Tests of rays and triangles in a bounding volume hierarchy against all triangles one by one. Runs once per
// instruction set.
#include "engine/maths/rng.h"
#include "engine/maths/vector.h"
#include "render/reference/instances.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct soup {
    float *corners; // count x 9
    uint8_t *flags;
    int count;
    orr_triangle_tree tree;
    const orr_triangle_walk *walk;
} soup;

static void build(soup *s)
{
    orr_isa isa;
    assert_ok(orr_isa_choose(&isa, &error));
    s->walk = orr_triangle_walk_of(isa);
    assert_ok(orr_triangle_tree_build(s->corners, s->flags, s->count, &s->tree, &error));
}

// Small triangles all over the cube -1 .. 1; every second one is one-sided.
static soup random_soup(int count, float size)
{
    soup s = {
        .corners = malloc((size_t)count * 9 * sizeof(float)), .flags = malloc((size_t)count), .count = count};
    orr_rng random = {.seed = 1};
    for (int i = 0; i < count; i++) {
        float centre[3];
        for (int k = 0; k < 3; k++) {
            centre[k] = orr_rng_range(&random, -1.0f, 1.0f);
        }
        for (int k = 0; k < 9; k++) {
            s.corners[9 * i + k] = centre[k % 3] + orr_rng_range(&random, -size, size);
        }
        s.flags[i] = i % 2 ? ORR_TRIANGLE_TWO_SIDED : 0;
    }
    return s;
}

static void drop(soup *s)
{
    orr_triangle_tree_free(&s->tree);
    free(s->corners);
    free(s->flags);
}

static orr_ray random_ray(orr_rng *random)
{
    orr_ray ray = {.near_end = 0.0f, .far_end = INFINITY};
    for (int k = 0; k < 3; k++) {
        ray.origin[k] = orr_rng_range(random, -2.0f, 2.0f);
        ray.direction[k] = orr_rng_range(random, -1.0f, 1.0f) - ray.origin[k];
    }
    return ray;
}

// Where a ray meets the plane of a triangle, in double; false: not in it, or `margin` near its edges.
static bool meets(const float *corners, const orr_ray *ray, bool heed_sides, double margin, double *distance)
{
    double ab[3], ac[3], s[3], d[3], p[3], q[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = (double)corners[3 + k] - (double)corners[k];
        ac[k] = (double)corners[6 + k] - (double)corners[k];
        s[k] = (double)ray->origin[k] - (double)corners[k];
        d[k] = (double)ray->direction[k];
    }
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        p[k] = d[l] * ac[m] - d[m] * ac[l];
        q[k] = s[l] * ab[m] - s[m] * ab[l];
    }
    double determinant = ab[0] * p[0] + ab[1] * p[1] + ab[2] * p[2];
    double b = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) / determinant;
    double c = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / determinant;
    *distance = (ac[0] * q[0] + ac[1] * q[1] + ac[2] * q[2]) / determinant;
    return b >= margin && c >= margin && b + c <= 1.0 - margin && *distance > (double)ray->near_end &&
           *distance < (double)ray->far_end && (!heed_sides || determinant > 0.0);
}

// The nearest of all; what is hit so near an edge or the ray's ends that rounding decides counts when
// `margin` is negative and does not when it is positive.
static double nearest_of_all(const soup *s, const orr_ray *ray, bool heed_sides, double margin)
{
    double nearest = INFINITY, distance;
    for (int i = 0; i < s->count; i++) {
        bool sides = heed_sides && !(s->flags[i] & ORR_TRIANGLE_TWO_SIDED);
        if (meets(s->corners + 9 * i, ray, sides, margin, &distance) && distance < nearest) {
            nearest = distance;
        }
    }
    return nearest;
}

static void compare(const soup *s, int rays, bool heed_sides)
{
    orr_rng random = {.seed = 2};
    int hits = 0;
    for (int i = 0; i < rays; i++) {
        orr_ray ray = random_ray(&random);
        if (i % 3 == 0) {
            ray.direction[i / 3 % 3] = 0.0f; // along a wall of every box
        }
        orr_ray_hit hit;
        double least = nearest_of_all(s, &ray, heed_sides, -1e-4),
               most = nearest_of_all(s, &ray, heed_sides, 1e-4);
        bool met = s->walk->nearest(&s->tree, &ray, heed_sides, NULL, &hit);
        double found = met ? (double)hit.distance : INFINITY;
        hits += met;
        assert_true(found >= least * (1.0 - 1e-4) - 1e-4);
        assert_true(found <= most * (1.0 + 1e-4) + 1e-4);
        if (!heed_sides) {
            assert_int_equal(s->walk->any(&s->tree, &ray, NULL), met);
        }
    }
    assert_in_range(hits, rays / 20, rays - 1);
}

static void the_nearest_hit_is_that_of_all_triangles(void **state)
{
    (void)state;
    soup s = random_soup(3000, 0.1f);
    build(&s);
    compare(&s, 600, false);
    compare(&s, 300, true);
    drop(&s);
}

// The sum of the boxes' areas, which is what a ray costs, by that of a cube of all; measured: 22.12.
static void boxes_are_small(void **state)
{
    (void)state;
    soup s = random_soup(20000, 0.01f);
    build(&s);
    print_message("%.3f\n", s.tree.area / 12.0);
    assert_true(s.tree.area / 12.0 < 22.5);
    drop(&s);
}

// Long thin ones, many at one place, and a few huge ones: centres coincide and areas span 12 orders.
static void clumps_and_needles_are_found_too(void **state)
{
    (void)state;
    soup s = random_soup(1500, 0.05f);
    for (int i = 0; i < s.count; i++) {
        float *p = s.corners + 9 * i;
        for (int k = 0; k < 9; k++) {
            p[k] = i % 5 == 0     ? s.corners[k]                         // copies of the first
                   : i % 5 == 1   ? (k % 3 == 0 ? 1e-3f * p[k] : p[k])   // in a slice
                   : i % 5 == 2   ? p[k % 3] + 1e-5f * (p[k] - p[k % 3]) // specks
                   : i % 500 == 3 ? 20.0f * p[k]                         // huge
                                  : p[k];
        }
    }
    build(&s);
    assert_int_equal(s.tree.left_out, 0);
    compare(&s, 600, false);
    drop(&s);
}

// Such triangles are counted, and the others are hit as if they were not there.
static void triangles_without_area_or_with_nan_are_left_out(void **state)
{
    (void)state;
    soup s = random_soup(200, 0.5f);
    build(&s);
    orr_triangle_tree whole = s.tree;
    soup t = random_soup(206, 0.5f);
    memcpy(t.corners, s.corners, 200 * 9 * sizeof(float));
    float *bad = t.corners + 200 * 9;
    bad[4] = NAN;
    bad[9] = INFINITY;
    bad[18 + 8] = -INFINITY;
    memcpy(bad + 27 + 3, bad + 27, 3 * sizeof *bad); // two corners are one
    for (int k = 0; k < 9; k++) {
        bad[36 + k] = (float)(k / 3); // on a line
        bad[45 + k] = 0.25f;          // a point
    }
    build(&t);
    assert_int_equal(t.tree.left_out, 6);
    orr_rng random = {.seed = 3};
    for (int i = 0; i < 300; i++) {
        orr_ray ray = random_ray(&random);
        orr_ray_hit a = {0}, b = {0};
        assert_int_equal(s.walk->nearest(&whole, &ray, false, NULL, &a),
                         t.walk->nearest(&t.tree, &ray, false, NULL, &b));
        assert_int_equal(a.triangle, b.triangle);
        assert_float_equal(a.distance, b.distance, 0.0);
    }
    drop(&s);
    drop(&t);
}

static void nothing_is_hit_where_there_is_nothing(void **state)
{
    (void)state;
    soup s = {.corners = malloc(36), .flags = malloc(1)};
    build(&s);
    orr_ray ray = {{0, 0, -1}, {0, 0, 1}, 0.0f, INFINITY};
    orr_ray_hit hit;
    assert_false(s.walk->nearest(&s.tree, &ray, false, NULL, &hit));
    assert_false(s.walk->any(&s.tree, &ray, NULL));
    drop(&s);
}

// A square of two triangles, cut at its diagonal: what is before the near end or behind the far end is not
// hit.
static void rays_end_where_they_say(void **state)
{
    (void)state;
    const float square[18] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, -1, 0, 1, 1, 0, -1, 1, 0};
    soup s = {.corners = malloc(sizeof square), .flags = calloc(2, 1), .count = 2};
    memcpy(s.corners, square, sizeof square);
    build(&s);
    orr_ray_hit hit;
    orr_ray ray = {{0.5f, 0.25f, -2}, {0, 0, 1}, 0.0f, INFINITY};
    assert_true(s.walk->nearest(&s.tree, &ray, false, NULL, &hit));
    assert_float_equal(hit.distance, 2.0f, 1e-6);
    assert_int_equal(hit.triangle, 0);
    assert_float_equal(hit.b, 0.125f, 1e-6);                        // of (1, -1, 0)
    assert_float_equal(hit.c, 0.625f, 1e-6);                        // of (1, 1, 0)
    assert_false(s.walk->nearest(&s.tree, &ray, true, NULL, &hit)); // seen from behind
    ray.far_end = 1.99f;
    assert_false(s.walk->any(&s.tree, &ray, NULL));
    ray.near_end = 2.01f;
    ray.far_end = 9.0f;
    assert_false(s.walk->any(&s.tree, &ray, NULL));
    drop(&s);
}

static bool pass_one(void *context, const orr_ray_hit *hit)
{
    return hit->triangle != *(const uint32_t *)context;
}

static void a_sieve_lets_rays_pass(void **state)
{
    (void)state;
    soup s = random_soup(2000, 0.2f);
    memset(s.flags, ORR_TRIANGLE_SIEVED, 2000);
    build(&s);
    orr_rng random = {.seed = 4};
    for (int i = 0; i < 200; i++) {
        orr_ray ray = random_ray(&random);
        orr_ray_hit first, second;
        if (!s.walk->nearest(&s.tree, &ray, false, NULL, &first)) {
            continue;
        }
        const orr_ray_sieve sieve = {pass_one, &first.triangle};
        bool met = s.walk->nearest(&s.tree, &ray, false, &sieve, &second);
        assert_true(!met || (second.triangle != first.triangle && second.distance >= first.distance));
        assert_int_equal(s.walk->any(&s.tree, &ray, &sieve), met);
    }
    drop(&s);
}

// ---- trees that are moved ----

static void bend(soup *s, float by)
{
    for (int i = 0; i < 3 * s->count; i++) {
        float *p = s->corners + 3 * i;
        p[0] += by * sinf(2.0f * p[1]);
        p[2] += by * p[0] * p[0];
    }
}

// A bent tree finds what a new one finds, to the last bit: also which of many copies of a triangle.
static void a_bent_tree_finds_what_a_new_one_does(void **state)
{
    (void)state;
    soup s = random_soup(3000, 0.1f), t = random_soup(3000, 0.1f);
    for (int i = 0; i < 3000;
         i += 5) { // copies of another, which triangles between them bring apart in trees
        memcpy(s.corners + 9 * i, s.corners + 9, 9 * sizeof(float));
        memcpy(t.corners + 9 * i, s.corners + 9, 9 * sizeof(float));
    }
    build(&s);
    bend(&s, 0.3f);
    bend(&t, 0.3f);
    for (int i = 0; i < 3000; i++) {
        s.flags[i] = t.flags[i] = i % 3 ? ORR_TRIANGLE_TWO_SIDED : 0;
    }
    assert_true(orr_triangle_tree_refit(&s.tree, s.corners, s.flags));
    build(&t);
    orr_rng random = {.seed = 5};
    int hits = 0, copies = 0;
    for (int i = 0; i < 3000; i++) {
        orr_ray ray = random_ray(&random);
        for (int k = 0; k < 3 && i % 4 == 0; k++) { // to the copies
            const float *p = s.corners + 9;
            ray.direction[k] = 0.4f * p[k] + 0.35f * p[3 + k] + 0.25f * p[6 + k] - ray.origin[k];
        }
        orr_ray_hit a = {0}, b = {0};
        const bool met = s.walk->nearest(&s.tree, &ray, true, NULL, &a);
        assert_int_equal(met, t.walk->nearest(&t.tree, &ray, true, NULL, &b));
        assert_true(!met || (a.triangle == b.triangle && a.distance == b.distance && a.b == b.b));
        copies += met && (a.triangle % 5 == 0 || a.triangle == 1);
        hits += met;
    }
    assert_true(hits > 1000 && copies > 100);
    drop(&s);
    drop(&t);
}

static void a_tree_says_when_it_must_be_built_anew(void **state)
{
    (void)state;
    soup s = random_soup(500, 0.05f);
    build(&s);
    assert_true(orr_triangle_tree_refit(&s.tree, s.corners, s.flags));
    bend(&s, 3.0f);
    assert_false(orr_triangle_tree_refit(&s.tree, s.corners, s.flags)); // its boxes are large
    s.corners[100] = NAN;
    orr_triangle_tree_free(&s.tree);
    build(&s);
    s.corners[100] = 0.0f;
    assert_false(orr_triangle_tree_refit(&s.tree, s.corners, s.flags)); // it has left one out
    orr_triangle_tree_free(&s.tree);
    build(&s);
    s.corners[100] = INFINITY;
    assert_false(orr_triangle_tree_refit(&s.tree, s.corners, s.flags));
    drop(&s);
}

enum { PLACES = 23, EACH = 150 };

// A similarity that turns about an axis, and moves up to 5 away.
static void random_model(orr_rng *random, float model[12])
{
    float axis[3], squared = 0.0f;
    for (int k = 0; k < 3; k++) {
        axis[k] = orr_rng_range(random, -1.0f, 1.0f);
        squared += axis[k] * axis[k];
    }
    const float angle = orr_rng_range(random, 0.0f, 3.0f), scale = orr_rng_range(random, 0.2f, 2.0f),
                c = cosf(angle), s = sinf(angle) / sqrtf(squared);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            const float cross = i == k ? 0.0f : (k == (i + 2) % 3 ? 1.0f : -1.0f) * axis[3 - i - k];
            model[4 * i + k] =
                scale * ((i == k ? c : 0.0f) + (1.0f - c) * axis[i] * axis[k] / squared + s * cross);
        }
        model[4 * i + 3] = orr_rng_range(random, -5.0f, 5.0f);
    }
}

// Trees at places of the world find what one tree of all their triangles finds there; those of a tree without
// triangles are none.
static void instances_find_what_one_tree_does(void **state)
{
    (void)state;
    soup each[PLACES], all = random_soup(PLACES * EACH, 0.1f);
    const orr_triangle_tree *trees[PLACES];
    float models[PLACES][12];
    orr_rng random = {.seed = 6};
    for (int i = 0; i < PLACES; i++) {
        each[i] = random_soup(i == 7 ? 0 : EACH, 0.3f);
        build(&each[i]);
        trees[i] = &each[i].tree;
        random_model(&random, models[i]);
        for (int k = 0; k < EACH * 3; k++) {
            float *to = all.corners + 9 * EACH * i + 3 * k;
            memset(to, 0, 3 * sizeof *to); // without area
            if (i != 7) {
                affine_apply_to_point(models[i], each[i].corners + 3 * k, to);
            }
        }
        memcpy(all.flags + EACH * i, each[i].flags, i == 7 ? 0 : EACH);
    }
    build(&all);
    orr_instances instances;
    assert_ok(orr_instances_build(trees, (const float(*)[12])models, PLACES, &instances, &error));
    int hits = 0, others = 0;
    for (int i = 0; i < 3000; i++) {
        orr_ray ray = random_ray(&random);
        ray.far_end = i % 4 == 0 ? 1.5f : INFINITY; // lengths of the direction, in every space
        for (int k = 0; k < 3; k++) {
            ray.origin[k] *= 3.0f;
        }
        orr_ray_hit a = {0}, b = {0};
        const bool met = all.walk->nearest(&all.tree, &ray, true, NULL, &a),
                   found = all.walk->nearest_instance(&instances, &ray, true, NULL, &b);
        hits += met;
        if (met != found || (met && a.triangle != EACH * b.instance + b.triangle)) {
            others++; // rounding decides at edges
        } else if (met) {
            // some ten roundings of numbers up to 10, by directions that may be along the triangle
            assert_true(fabsf(a.distance - b.distance) < 1e-4f);
            assert_true(fabsf(a.b - b.b) < 2e-3f && fabsf(a.c - b.c) < 2e-3f);
        }
    }
    print_message("%d hits, %d other ones\n", hits, others);
    assert_true(hits > 1000 && others <= 3);
    orr_instances_free(&instances);
    for (int i = 0; i < PLACES; i++) {
        drop(&each[i]);
    }
    drop(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_hit_is_that_of_all_triangles),
        cmocka_unit_test(boxes_are_small),
        cmocka_unit_test(clumps_and_needles_are_found_too),
        cmocka_unit_test(triangles_without_area_or_with_nan_are_left_out),
        cmocka_unit_test(nothing_is_hit_where_there_is_nothing),
        cmocka_unit_test(rays_end_where_they_say),
        cmocka_unit_test(a_sieve_lets_rays_pass),
        cmocka_unit_test(a_bent_tree_finds_what_a_new_one_does),
        cmocka_unit_test(a_tree_says_when_it_must_be_built_anew),
        cmocka_unit_test(instances_find_what_one_tree_does),
    };
    return cmocka_run_group_tests_name("triangle_tree", tests, NULL, NULL);
}
