// Merged splats: moments and coverage of one node against sums in double, the cut against what it promises,
// and small pictures against those of the whole cloud. Run once per instruction set.
#include "render/cpu/splats_cpu.h"
#include "render/splat_detail/splat_merge.h"
#include "tests/support/drawn.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, PIXELS = SIDE * SIDE, TORUS = 40000, MANY = 3000 };

static orr_jobs *jobs;
static orr_isa isa;

// ---- clouds ----

typedef struct cloud {
    orr_splats *splats;
    orr_splats_view view;
    orr_splat_pack *pack;
} cloud;

static cloud cloud_begin(int64_t count, int degree)
{
    cloud c;
    assert_ok(orr_splats_create(count, degree, &c.splats, &error));
    c.view = orr_splats_data(c.splats);
    return c;
}

static void cloud_end(cloud *c)
{
    c->view = orr_splats_data(c->splats);
    assert_ok(orr_splat_pack_create(jobs, &c->view, NULL, &c->pack, &error));
}

static void cloud_free(cloud *c)
{
    orr_splat_pack_destroy(c->pack);
    orr_splats_destroy(c->splats);
}

static float fraction(int i, double step) // of a sequence that fills 0 .. 1 evenly
{
    const double x = (double)(i + 1) * step;
    return (float)(x - floor(x));
}

// A torus of radii 1 and 0.4 about y, of discs that lie in its surface, in stripes of colours, with harmonics
// of degree 1 that make it brighter from above. size: of the discs, in hundredths about.
static cloud torus(float size)
{
    cloud c = cloud_begin(TORUS, 1);
    for (int i = 0; i < TORUS; i++) {
        const double u = 6.283185307 * (double)fraction(i, 0.754877666),
                     v = 6.283185307 * (double)fraction(i, 0.569840291);
        const double ring = 1.0 + 0.4 * cos(v);
        float *p = c.view.position + 3 * (size_t)i, *q = c.view.rotation + 4 * (size_t)i;
        p[0] = (float)(ring * cos(u));
        p[1] = (float)(0.4 * sin(v));
        p[2] = (float)(ring * sin(u));
        // turns z, along which the disc is thin, into the normal: about y by pi/2 - u after about x by -v
        const double a = 0.5 * (1.570796327 - u), b = -0.5 * v;
        q[0] = (float)(cos(a) * cos(b));
        q[1] = (float)(cos(a) * sin(b));
        q[2] = (float)(sin(a) * cos(b));
        q[3] = (float)(-sin(a) * sin(b));
        const float radius = size * (0.004f + 0.006f * fraction(i, 0.3819660));
        c.view.log_scale[3 * i] = logf(radius);
        c.view.log_scale[3 * i + 1] = logf(0.6f * radius);
        c.view.log_scale[3 * i + 2] = logf(0.05f * radius);
        c.view.opacity[i] = 3.0f * fraction(i, 0.2360679) - 0.5f;
        const float stripe = 0.5f + 0.5f * (float)sin(5.0 * u + 3.0 * v);
        const float rgb[3] = {stripe, 0.2f + 0.5f * fraction(i, 0.7320508), 1.0f - stripe};
        for (int k = 0; k < 3; k++) {
            c.view.colour[3 * i + k] = (rgb[k] - 0.5f) / 0.28209479f;
            c.view.harmonics[9 * i + k] = 0.2f; // of -y
        }
    }
    cloud_end(&c);
    return c;
}

static orr_splat_detail *detail_of(const cloud *c, bool antialias, float size)
{
    orr_splat_detail *d;
    assert_ok(orr_splat_detail_create(jobs, c->pack, &(orr_splat_detail_desc){antialias, size}, &d, &error));
    return d;
}

static orr_lens lens_at(const float eye[3], const float target[3], bool orthographic)
{
    orr_camera camera = orr_camera_look_at(eye, target, (float[]){0, 1, 0.1f}, 0.8f, SIDE, SIDE);
    orr_lens lens;
    assert_ok(orr_camera_resolve(&camera, &lens, &error));
    if (orthographic) {
        lens.orthographic = true;
        lens.focal[0] = lens.focal[1] = 20.0f;
    }
    return lens;
}

// ---- pictures ----

typedef struct pictures {
    drawn drawn;
    size_t growths; // of the last of the frames
} pictures;

static pictures draw(const orr_draw_list *list, int frames)
{
    orr_arena arena = {0};
    orr_profile profile;
    pictures p = {.drawn = drawn_make(list)};
    for (int i = 0; i < frames; i++) {
        const size_t before = arena.growths;
        orr_arena_reset(&arena);
        assert_ok(orr_draw_cpu(jobs, isa, &arena, list, NULL, &(orr_picture){p.drawn.rgba, p.drawn.depth},
                               NULL, &profile, &error));
        p.growths = arena.growths - before;
    }
    orr_arena_destroy(&arena);
    return p;
}

typedef struct compared {
    double colour, alpha; // [dB]
    double depth;         // mean difference where both are more than half covered
    double covered;       // sum of alpha over that of the whole cloud
} compared;

// Of both pictures of a list of one layer: RGB over grey.
static compared compare(const orr_draw_list *list, const orr_splat_detail *detail, float size)
{
    orr_draw_splats layer = list->splats[0];
    orr_draw_list merged = *list;
    merged.splats = &layer;
    layer.detail = detail;
    layer.merged_size = size;
    drawn a = draw(list, 1).drawn, b = draw(&merged, 1).drawn;
    double colour = 0.0, alpha = 0.0, depth = 0.0, sums[2] = {0};
    int deep = 0;
    for (int64_t i = 0; i < a.pixels; i++) {
        const float *p = a.rgba + 4 * i, *q = b.rgba + 4 * i;
        for (int k = 0; k < 3; k++) {
            const double d = (double)(p[k] - q[k]) - 0.5 * (double)(p[3] - q[3]);
            colour += d * d;
        }
        alpha += (double)(p[3] - q[3]) * (double)(p[3] - q[3]);
        sums[0] += (double)p[3];
        sums[1] += (double)q[3];
        if (p[3] > 0.5f && q[3] > 0.5f) {
            depth += fabs((double)(a.depth[i] - b.depth[i]));
            deep++;
        }
    }
    const double pixels = (double)a.pixels;
    drawn_free(&a);
    drawn_free(&b);
    return (compared){-10.0 * log10(colour / (3.0 * pixels) + 1e-20), -10.0 * log10(alpha / pixels + 1e-20),
                      deep ? depth / deep : 0.0, sums[1] / sums[0]};
}

static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

static orr_draw_splats layer_of(const cloud *c, bool antialias)
{
    orr_draw_splats layer = {.pack = c->pack, .key = 1, .antialias = antialias};
    memcpy(layer.model, identity, sizeof identity);
    return layer;
}

// ---- nodes ----

// A ball of this standard deviation, position along x and optical depth.
static orr_merge_node ball(double x, double size, double depth)
{
    return (orr_merge_node){.mean = {x, 1.0, -2.0},
                            .axes = {{size, 0, 0}, {0, size, 0}, {0, 0, size}},
                            .density = depth,
                            .crowd = depth,
                            .breadth = 1.0};
}

// Balls have the area of their variance in all directions, so that all of a node is known in closed form.
static void moments_of_a_node_are_those_of_the_sum(void **state)
{
    (void)state;
    const double at[3] = {-1.0, 0.5, 2.0}, size[3] = {0.1, 0.3, 0.2}, depth[3] = {0.9, 0.2, 0.4};
    for (int blurred = 0; blurred < 2; blurred++) {
        orr_merge_node nodes[3], merged;
        double shares[3], weights[3], sum = 0.0, mean = 0.0, along = 0.0, across = 0.0, crowd = 0.0;
        for (int i = 0; i < 3; i++) {
            nodes[i] = ball(at[i], size[i], depth[i]);
        }
        orr_merge(nodes, 3, blurred ? 1e9 : 0.0, &merged, shares);
        for (int i = 0; i < 3; i++) { // a blur that is much wider than all makes their areas equal
            weights[i] = depth[i] * (blurred ? 1.0 : size[i] * size[i]);
            sum += weights[i];
            mean += weights[i] * at[i];
            crowd += depth[i];
        }
        mean /= sum;
        double mass = 0.0, spread = 0.0;
        for (int i = 0; i < 3; i++) {
            along += weights[i] / sum * (size[i] * size[i] + (at[i] - mean) * (at[i] - mean));
            across += weights[i] / sum * size[i] * size[i];
            mass += depth[i] * size[i] * size[i];
            spread += depth[i] * 2.0 * size[i] * size[i];
            assert_true(fabs(shares[i] - weights[i] / sum) < 1e-8); // the blur is 1e9 times, not infinitely
        }
        assert_true(fabs(merged.mean[0] - mean) < 1e-7 && fabs(merged.mean[1] - 1.0) < 1e-12 &&
                    fabs(merged.mean[2] + 2.0) < 1e-12);
        double covariance[3][3] = {0};
        for (int k = 0; k < 9; k++) {
            for (int axis = 0; axis < 3; axis++) {
                covariance[k / 3][k % 3] += merged.axes[axis][k / 3] * merged.axes[axis][k % 3];
            }
        }
        for (int k = 0; k < 9; k++) {
            const double expected = k == 0 ? along : k % 4 == 0 ? across : 0.0;
            assert_true(fabs(covariance[k / 3][k % 3] - expected) < 1e-7);
        }
        assert_true(fabs(merged.crowd - crowd) < 1e-12);
        assert_true(fabs(merged.density * orr_merge_area(&merged) - mass) < 1e-12);
        assert_true(fabs(merged.breadth * crowd * orr_merge_spread(&merged) - spread) < 1e-12);
    }
}

// The mean over all directions, by a rule of 400 x 200 points, of the area that a splat shows.
static void areas_are_means_over_directions(void **state)
{
    (void)state;
    static const double sizes[4][3] = {{1, 1, 1}, {1, 1, 0}, {3, 0.5, 0.2}, {2, 0.01, 0.01}};
    for (int s = 0; s < 4; s++) {
        orr_merge_node node = {0};
        double sum = 0.0;
        for (int k = 0; k < 3; k++) {
            node.axes[k][k] = sizes[s][k];
        }
        enum { AROUND = 400, UP = 200 };
        for (int i = 0; i < AROUND * UP; i++) {
            const double z = (2.0 * (i / AROUND) + 1.0) / UP - 1.0,
                         angle = 6.283185307 * (i % AROUND) / AROUND;
            const double x = sqrt(1.0 - z * z) * cos(angle), y = sqrt(1.0 - z * z) * sin(angle);
            const double a = sizes[s][1] * sizes[s][2] * x, b = sizes[s][0] * sizes[s][2] * y,
                         c = sizes[s][0] * sizes[s][1] * z;
            sum += sqrt(a * a + b * b + c * c) / (AROUND * UP);
        }
        // Thomsen's formula is within 1.061 %; needles and discs are where it is worst
        assert_true(fabs(orr_merge_area(&node) / sum - 1.0) < 0.0115);
    }
}

static double density_at(const orr_splat_level *level, int64_t i)
{
    return (double)level->geometry[(i / 16 * ORR_PACK_GEOMETRY + 12) * 16 + i % 16];
}

// Every node of a tree has the depth x area of all the splats below it, and their crowd.
static void depth_is_kept_from_level_to_level(void **state)
{
    (void)state;
    cloud c = torus(1.0f);
    orr_splat_detail *d = detail_of(&c, false, 0.5f);
    assert_int_equal(d->levels[0].count, TORUS);
    double crowd = 0.0;
    for (int64_t i = 0; i < TORUS; i++) {
        crowd += density_at(&d->levels[0], i);
    }
    for (int l = 1; l < d->level_count; l++) {
        const orr_splat_level *level = &d->levels[l];
        assert_int_equal(level->count, (d->levels[l - 1].count + 3) / 4);
        double sum = 0.0;
        for (int64_t i = 0; i < level->count; i++) {
            sum += (double)level->merged[i / 16 * ORR_DETAIL_MERGED * 16 + i % 16];
        }
        assert_true(fabs(sum / crowd - 1.0) < 1e-6); // floats
    }
    assert_true(d->levels[d->level_count - 1].count <= 16);
    orr_splat_detail_destroy(d);
    cloud_free(&c);
}

static void memory_is_as_stated_and_bits_are_the_same_for_all_threads(void **state)
{
    (void)state;
    cloud c = torus(1.0f);
    orr_splat_detail *d = detail_of(&c, false, 0.5f);
    const double ratio = (double)orr_splat_detail_bytes(d) / (double)orr_splat_pack_bytes(c.pack);
    assert_true(ratio > 1.33 && ratio < 1.45);
    for (int threads = 2; threads <= 5; threads += 3) {
        orr_jobs *own;
        orr_splat_detail *other;
        assert_ok(orr_jobs_create(threads, NULL, NULL, &own, &error));
        assert_ok(
            orr_splat_detail_create(own, c.pack, &(orr_splat_detail_desc){false, 0.5f}, &other, &error));
        assert_int_equal(other->level_count, d->level_count);
        for (int l = 0; l < d->level_count; l++) {
            const orr_splat_level *a = &d->levels[l], *b = &other->levels[l];
            const size_t nodes = (size_t)a->blocks * ORR_PACK_BLOCK * sizeof(float);
            assert_memory_equal(a->geometry, b->geometry, nodes * ORR_PACK_GEOMETRY);
            assert_memory_equal(a->harmonics, b->harmonics, nodes * 12);
            assert_memory_equal(a->original, b->original, nodes);
            if (l > 0) {
                assert_memory_equal(a->cut, b->cut, nodes * ORR_DETAIL_CUT);
                assert_memory_equal(a->merged, b->merged, nodes * ORR_DETAIL_MERGED);
            }
        }
        orr_splat_detail_destroy(other);
        orr_jobs_destroy(own);
    }
    orr_splat_detail_destroy(d);
    cloud_free(&c);
}

// ---- the cut ----

// The level at which each splat is drawn, by its index in the file; 255: none.
static int64_t levels_of(const orr_splat_detail *d, const orr_draw_splats *layer, const orr_lens *lens,
                         float size, uint8_t *levels)
{
    splat_lens_values values;
    assert_ok(orr_splat_lens_make(lens, layer, &values, &error));
    orr_splat_cut_job job = {.detail = d, .lens = &values, .merged_size = size};
    job.runs = orr_alloc((size_t)orr_splat_cut_capacity(d), sizeof *job.runs);
    assert_non_null(job.runs);
    orr_splat_kernels_of(isa)->cut(&job);
    memset(levels, 255, (size_t)d->levels[0].count);
    int64_t nodes = 0;
    for (int64_t r = 0; r < job.run_count; r++) {
        for (int64_t k = 0; k < 16; k++) {
            if (!(job.runs[r].nodes >> k & 1)) {
                continue;
            }
            const int level = job.runs[r].level;
            const int64_t first = (job.runs[r].block * 16 + k) << 2 * level;
            nodes++;
            assert_true(first < d->levels[0].count);
            for (int64_t i = first; i < first + (1LL << 2 * level) && i < d->levels[0].count; i++) {
                uint8_t *of = &levels[d->levels[0].original[i]];
                assert_int_equal(*of, 255); // in one node
                *of = (uint8_t)level;
            }
        }
    }
    assert_int_equal(nodes, job.node_count);
    orr_free(job.runs);
    return nodes;
}

// With everything in the picture each splat is in one node, larger sizes never divide what smaller ones did
// not, and a layer of twice the size, seen from twice as far, is cut in the same way.
static void cuts_hold_every_splat_once_and_are_monotone(void **state)
{
    (void)state;
    cloud c = torus(1.0f);
    orr_splat_detail *d = detail_of(&c, false, 0.5f);
    static const float sizes[] = {1e-4f, 0.1f, 0.3f, 0.6f, 1.5f, 10.0f, INFINITY};
    static uint8_t levels[2][TORUS], scaled[TORUS];
    for (int orthographic = 0; orthographic < 2; orthographic++) {
        const float eye[3] = {0.5f, 2.0f, 6.0f}, far[3] = {1.0f, 4.0f, 12.0f}, middle[3] = {0};
        const orr_lens lens = lens_at(eye, middle, orthographic);
        orr_draw_splats layer = layer_of(&c, false), large = layer;
        large.model[0] = large.model[5] = large.model[10] = 2.0f;
        orr_lens from_afar = lens_at(far, middle, orthographic);
        from_afar.focal[0] *= orthographic ? 0.5f : 1.0f;
        from_afar.focal[1] = from_afar.focal[0];
        int64_t before = INT64_MAX;
        for (int s = 0; s < 7; s++) {
            const int64_t nodes = levels_of(d, &layer, &lens, sizes[s], levels[s % 2]);
            // the smallest and the largest sizes are the ends of what there is
            assert_true(s < 2 || s > 4 ? nodes <= before : nodes < before);
            assert_true(s > 0 || nodes == TORUS);
            before = nodes;
            int other = 0;
            levels_of(d, &large, &from_afar, sizes[s], scaled);
            for (int i = 0; i < TORUS; i++) {
                assert_true(levels[s % 2][i] != 255);
                assert_true(s == 0 || levels[s % 2][i] >= levels[1 - s % 2][i]);
                other += scaled[i] != levels[s % 2][i];
            }
            assert_true(other < TORUS / 50); // nodes that are just of the size, by rounding
        }
        assert_int_equal(before, d->levels[d->level_count - 1].count);
    }
    orr_splat_detail_destroy(d);
    cloud_free(&c);
}

// Where no node is small enough, what is drawn are the splats themselves less those that are out of the
// picture: the same bits, whether the camera is outside, inside, close by or beside.
static void whole_clouds_keep_their_bits(void **state)
{
    (void)state;
    cloud c = torus(1.0f);
    static const float eyes[5][3] = {
        {0.5f, 2, 6}, {1, 0, 0}, {0.2f, 0.6f, 1.6f}, {0, 0, 0}, {1.3f, 0.1f, 0.3f}};
    static const float targets[5][3] = {{0, 0, 0}, {1, 0.1f, 3}, {1, 0, 1}, {1, 0, 0}, {3, 1, 9}};
    static uint8_t levels[TORUS];
    int64_t left_out = 0;
    for (int i = 0; i < 20; i++) {
        const bool antialias = i / 5 % 2 == 1;
        orr_splat_detail *d = detail_of(&c, antialias, 0.5f);
        orr_draw_splats layer = layer_of(&c, antialias);
        if (i % 3 == 2) { // turned, scaled and moved
            const float model[12] = {0, 0, 1.5f, 0.1f, 0, 1.5f, 0, -0.2f, -1.5f, 0, 0, 0.3f};
            memcpy(layer.model, model, sizeof model);
        }
        orr_draw_list list = {
            .lens = lens_at(eyes[i % 5], targets[i % 5], i >= 10), .splats = &layer, .splat_count = 1};
        left_out += TORUS - levels_of(d, &layer, &list.lens, 1e-6f, levels);
        drawn all = draw(&list, 1).drawn;
        layer.detail = d;
        layer.merged_size = 1e-6f;
        drawn cut = draw(&list, 1).drawn;
        assert_memory_equal(all.rgba, cut.rgba, sizeof(float) * 4 * PIXELS);
        assert_memory_equal(all.depth, cut.depth, sizeof(float) * PIXELS);
        drawn_free(&all);
        drawn_free(&cut);
        orr_splat_detail_destroy(d);
    }
    assert_true(left_out > 5 * TORUS);
    cloud_free(&c);
}

// ---- pictures ----

static void pictures_are_those_of_the_whole_cloud(void **state)
{
    (void)state;
    static const float eyes[3][3] = {{0.5f, 1.3f, 6.0f}, {4.0f, 5.0f, 3.0f}, {-9.0f, 3.0f, 1.5f}};
    static uint8_t levels[TORUS];
    for (int i = 0; i < 6; i++) {
        const bool antialias = i >= 3;
        cloud c = torus(antialias ? 2.5f : 1.0f);
        const float size = orr_splat_merged_size(0.1f, antialias);
        orr_splat_detail *d = detail_of(&c, antialias, size);
        orr_draw_splats layer = layer_of(&c, antialias);
        const orr_draw_list list = {
            .lens = lens_at(eyes[i % 3], (float[]){0, 0, 0}, false), .splats = &layer, .splat_count = 1};
        const compared q = compare(&list, d, size);
        const int64_t nodes = levels_of(d, &layer, &list.lens, size, levels);
        print_message(
            "torus from %d, antialias %d: RGB %.1f dB, alpha %.1f dB, depth %.4f, covered %.4f, %d nodes\n",
            i % 3, antialias, q.colour, q.alpha, q.depth, q.covered, (int)nodes);
        orr_splat_detail_destroy(d);
        assert_true(q.colour >= 35.0 && q.alpha >= 35.0); // what is promised
        // a pixel is 0.08 to 0.13 wide; how much of faint and of compensated splats falls under 1/255 is
        // estimated from their mean
        assert_true(q.depth < 0.02);
        assert_true(fabs(q.covered - 1.0) < 0.02);
        assert_true(nodes < 3 * TORUS / 4);
        cloud_free(&c);
    }
}

static void captured_clouds_are_good_enough(void **state)
{
    (void)state;
    const char *path = needed_shared_data("splats/biker.spz");
    cloud c;
    assert_ok(orr_splats_load(path, &c.splats, &error));
    cloud_end(&c);
    double middle[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * (double)(c.pack->low[k] + c.pack->high[k]);
    }
    for (int i = 0; i < 4; i++) {
        const bool antialias = i >= 2;
        const float size = orr_splat_merged_size(0.1f, antialias);
        orr_splat_detail *d = detail_of(&c, antialias, size);
        const double angle = 1.5707963 * i + 0.1, distance = i % 2 ? 3.0 : 5.0;
        const float eye[3] = {(float)(middle[0] + distance * cos(angle)), (float)(middle[1] - 0.5 * i),
                              (float)(middle[2] + distance * sin(angle))};
        const float target[3] = {(float)middle[0], (float)middle[1], (float)middle[2]};
        orr_draw_splats layer = layer_of(&c, antialias);
        const orr_draw_list list = {.lens = lens_at(eye, target, false), .splats = &layer, .splat_count = 1};
        const compared q = compare(&list, d, size);
        print_message("biker from %d: RGB %.1f dB, alpha %.1f dB, depth %.4f, covered %.4f\n", i, q.colour,
                      q.alpha, q.depth, q.covered);
        assert_true(q.colour >= 35.0 && q.alpha >= 35.0);
        assert_true(q.depth < 0.02);
        assert_true(fabs(q.covered - 1.0) < 0.02);
        orr_splat_detail_destroy(d);
    }
    cloud_free(&c);
}

// Groups of four faint splats, one after another: side by side at a tenth of a pixel, or in the same place.
// They cover as much merged as alone.
static void groups_cover_what_their_splats_cover(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        const bool antialias = i % 2, apart = i / 2 % 2;
        const float opacity = (float[]){0.05f, 0.4f, 0.9f}[i / 4];
        cloud c = cloud_begin(4 * MANY, 0);
        for (int k = 0; k < 4 * MANY; k++) {
            const int group = k / 4; // on a grid of 60 x 50, 0.03 apart
            const float step = apart ? 0.003f : 0.0f;
            c.view.position[3 * k] = 0.03f * (float)(group % 60) + step * (float)(k % 2) - 0.9f;
            c.view.position[3 * k + 1] = 0.03f * (float)(group / 60) + step * (float)(k / 2 % 2) - 0.7f;
            for (int axis = 0; axis < 3; axis++) {
                c.view.log_scale[3 * k + axis] = logf(antialias ? 0.016f : 0.004f);
            }
            c.view.opacity[k] = logf(opacity / (1.0f - opacity));
        }
        cloud_end(&c);
        const float size = 0.6f;
        orr_splat_detail *d = detail_of(&c, antialias, size);
        orr_draw_splats layer = layer_of(&c, antialias);
        const orr_draw_list list = {.lens = lens_at((float[]){0, 0, 3}, (float[]){0, 0, 0}, false),
                                    .splats = &layer,
                                    .splat_count = 1};
        static uint8_t levels[4 * MANY];
        // the tree divides some groups
        assert_true(levels_of(d, &layer, &list.lens, size, levels) < 2 * MANY);
        const compared q = compare(&list, d, size);
        print_message("opacity %.2f, antialias %d, apart %d: covered %.4f, alpha %.1f dB\n", (double)opacity,
                      antialias, apart, q.covered, q.alpha);
        // the ends of Gaussians that pixels do not get are estimated: more of faint and of compensated ones
        assert_true(fabs(q.covered - 1.0) < (antialias ? 0.07 : 0.03));
        orr_splat_detail_destroy(d);
        cloud_free(&c);
    }
}

// One splat, many of the same, and the largest and smallest that files may have.
static void extremes_stay_finite(void **state)
{
    (void)state;
    static const float places[4] = {0.0f, 0.1f, 1e30f, -3e30f}, sizes[4] = {-3.0f, -80.0f, 20.0f, -3.0f};
    for (int kind = 0; kind < 4; kind++) { // one; two; many of the same; extremes
        const int64_t count = (int64_t[]){1, 2, MANY, MANY}[kind];
        cloud c = cloud_begin(count, 0);
        for (int64_t i = 0; i < count; i++) {
            const int64_t e = kind == 3 ? i % 4 : 0, f = kind == 3 ? i / 4 % 4 : 0;
            for (int k = 0; k < 3; k++) {
                c.view.position[3 * i + k] = places[(e + k) % 4];
                c.view.log_scale[3 * i + k] = sizes[(f + k) % 4];
            }
            c.view.opacity[i] = kind == 3 && i % 5 == 0 ? -100.0f : kind == 3 && i % 7 == 0 ? 100.0f : 0.0f;
        }
        cloud_end(&c);
        for (int antialias = 0; antialias < 2; antialias++) {
            orr_splat_detail *d = detail_of(&c, antialias, 0.5f);
            for (int l = 0; l < d->level_count; l++) {
                for (int64_t i = 0; i < d->levels[l].blocks * ORR_PACK_GEOMETRY * 16; i++) {
                    assert_true(isfinite(d->levels[l].geometry[i]));
                }
            }
            if (kind == 2) { // each node is the splat, whose longest axis is the third
                const orr_splat_level *top = &d->levels[d->level_count - 1];
                assert_true(fabs((double)top->cut[0] / exp(20.0) - 1.0) < 1e-5);
            }
            orr_draw_splats layer = layer_of(&c, antialias);
            layer.detail = d;
            layer.merged_size = 0.5f;
            const orr_draw_list list = {.lens = lens_at((float[]){0, 0, 3}, (float[]){0, 0, 0}, false),
                                        .splats = &layer,
                                        .splat_count = 1};
            drawn picture = draw(&list, 1).drawn;
            for (int i = 0; i < 4 * PIXELS; i++) {
                assert_true(isfinite(picture.rgba[i]));
            }
            if (kind < 2) {
                layer.detail = NULL;
                drawn all = draw(&list, 1).drawn;
                assert_memory_equal(all.rgba, picture.rgba, sizeof(float) * 4 * PIXELS);
                drawn_free(&all);
            }
            drawn_free(&picture);
            orr_splat_detail_destroy(d);
        }
        cloud_free(&c);
    }
}

static void nothing_is_allocated_after_the_first_picture(void **state)
{
    (void)state;
    cloud c = torus(1.0f);
    orr_splat_detail *d = detail_of(&c, false, 0.5f);
    orr_draw_splats layer = layer_of(&c, false);
    layer.detail = d;
    layer.merged_size = 0.5f;
    const orr_draw_list list = {
        .lens = lens_at((float[]){0, 1, 4}, (float[]){0, 0, 0}, false), .splats = &layer, .splat_count = 1};
    pictures p = draw(&list, 3);
    assert_int_equal(p.growths, 0);
    drawn_free(&p.drawn);
    orr_splat_detail_destroy(d);
    cloud_free(&c);
}

int main(void)
{
    assert_ok(orr_jobs_create(1, NULL, NULL, &jobs, &error));
    assert_ok(orr_isa_choose(&isa, &error));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_of_a_node_are_those_of_the_sum),
        cmocka_unit_test(areas_are_means_over_directions),
        cmocka_unit_test(depth_is_kept_from_level_to_level),
        cmocka_unit_test(memory_is_as_stated_and_bits_are_the_same_for_all_threads),
        cmocka_unit_test(cuts_hold_every_splat_once_and_are_monotone),
        cmocka_unit_test(whole_clouds_keep_their_bits),
        cmocka_unit_test(pictures_are_those_of_the_whole_cloud),
        cmocka_unit_test(captured_clouds_are_good_enough),
        cmocka_unit_test(groups_cover_what_their_splats_cover),
        cmocka_unit_test(extremes_stay_finite),
        cmocka_unit_test(nothing_is_allocated_after_the_first_picture),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    orr_jobs_destroy(jobs);
    return failed;
}
