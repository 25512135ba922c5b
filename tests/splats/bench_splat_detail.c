// By hand: what level of detail takes from small pictures of a cloud, and what it saves. Draws pictures of
// SIDE x SIDE pixels from CAMERAS places around a cloud, from three distances, with all splats and with
// merged ones of several sizes: PSNR between them of RGB over grey and of alpha, the share that is covered,
// the mean difference of the depth (by the cloud's height) where both are at least half covered, and the
// least CPU time of a picture.
//
//     bench_splat_detail CLOUD
#include "render/cpu/splats_cpu.h"
#include "tests/support/drawn.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 64, CAMERAS = 4, ROUNDS = 2 };

static orr_jobs *jobs;
static orr_arena arena;

static double draw(const orr_draw_list *list, const drawn *picture)
{
    orr_isa isa;
    orr_profile profile;
    double least = INFINITY;
    assert_ok(orr_isa_choose(&isa, &error));
    for (int i = 0; i < ROUNDS; i++) {
        orr_arena_reset(&arena);
        const clock_t start = clock();
        assert_ok(orr_draw_cpu(jobs, isa, &arena, list, NULL, &(orr_picture){picture->rgba, picture->depth},
                               NULL, &profile, &error));
        least = fmin(least, (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC);
    }
    return least;
}

static orr_lens lens_at(const orr_splat_pack *pack, int i, float distance)
{
    float middle[3], size = 0.0f, eye[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5f * (pack->low[k] + pack->high[k]);
        size = fmaxf(size, pack->high[k] - pack->low[k]);
    }
    const double angle = 6.2831853 * i / CAMERAS + 0.1;
    const float up[3] = {0, -1, 0};
    eye[0] = middle[0] + distance * size * (float)cos(angle);
    eye[1] = middle[1] - distance * size * 0.3f * (float)(i % 3);
    eye[2] = middle[2] + distance * size * (float)sin(angle);
    const orr_camera camera = orr_camera_look_at(eye, middle, up, 0.8f, SIDE, SIDE);
    orr_lens lens;
    assert_ok(orr_camera_resolve(&camera, &lens, &error));
    return lens;
}

typedef struct measured {
    double colour, alpha; // sums of squares
    double depth, milliseconds, nodes;
    double worst;
    double covered[2]; // sums of alpha
    int64_t depths;
} measured;

static void add(measured *m, const drawn *a, const drawn *b, float size)
{
    double here = 0.0;
    for (int64_t i = 0; i < a->pixels; i++) {
        const float *p = a->rgba + 4 * i, *q = b->rgba + 4 * i;
        for (int k = 0; k < 3; k++) {
            const double d = (double)(p[k] + 0.5f * (1.0f - p[3]) - q[k] - 0.5f * (1.0f - q[3]));
            here += d * d;
        }
        m->alpha += (double)((p[3] - q[3]) * (p[3] - q[3]));
        m->covered[0] += (double)p[3];
        m->covered[1] += (double)q[3];
        if (p[3] > 0.5f && q[3] > 0.5f) {
            m->depth += (double)(fabsf(a->depth[i] - b->depth[i]) / size);
            m->depths++;
        }
    }
    m->colour += here;
    m->worst = fmax(m->worst, here / (3.0 * (double)a->pixels));
}

int main(int count, char **arguments)
{
    if (count < 2) {
        return 2;
    }
    orr_splats *splats;
    orr_splat_pack *pack;
    assert_ok(orr_jobs_create(1, NULL, NULL, &jobs, &error));
    assert_ok(orr_splats_load(arguments[1], &splats, &error));
    const orr_splats_view view = orr_splats_data(splats);
    assert_ok(orr_splat_pack_create(jobs, &view, NULL, &pack, &error));
    static const float sizes[] = {0.0f, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.7f};
    static const float distances[] = {1.3f, 2.0f, 3.0f};
    for (int antialias = 0; antialias < 2; antialias++) {
        for (size_t d = 0; d < sizeof distances / sizeof *distances; d++) {
            printf("antialias %d, %g times its size away\n", antialias, (double)distances[d]);
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
                orr_splat_detail *detail = NULL;
                const clock_t start = clock();
                if (sizes[k] > 0.0f) {
                    assert_ok(orr_splat_detail_create(
                        jobs, pack, &(orr_splat_detail_desc){antialias, sizes[k]}, &detail, &error));
                }
                const double made = (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC;
                measured m = {0};
                for (int i = 0; i < CAMERAS; i++) {
                    orr_draw_splats layer = {.pack = pack,
                                             .key = 1,
                                             .antialias = antialias,
                                             .model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
                    orr_draw_list list = {.lens = lens_at(pack, i, distances[d]),
                                          .splats = &layer,
                                          .splat_count = 1,
                                          .tone = ORR_TONE_NONE};
                    drawn all = drawn_make(&list), merged = drawn_make(&list);
                    draw(&list, &all);
                    layer.detail = detail;
                    layer.merged_size = sizes[k];
                    m.milliseconds += draw(&list, &merged) / CAMERAS;
                    add(&m, &all, &merged, pack->high[1] - pack->low[1]);
                    drawn_free(&all);
                    drawn_free(&merged);
                }
                const double pixels = (double)CAMERAS * SIDE * SIDE;
                printf("  size %.2f: RGB %5.1f dB (worst %5.1f), alpha %5.1f dB, covered %.4f, depth %.5f, "
                       "%.3f ms"
                       " (made in %.0f ms, %.1f MB)\n",
                       (double)sizes[k], -10.0 * log10(m.colour / (3.0 * pixels)), -10.0 * log10(m.worst),
                       -10.0 * log10(m.alpha / pixels), m.covered[1] / m.covered[0],
                       m.depth / (double)(m.depths + !m.depths), m.milliseconds, made,
                       detail ? (double)orr_splat_detail_bytes(detail) * 1e-6 : 0.0);
                orr_splat_detail_destroy(detail);
            }
        }
    }
    orr_splat_pack_destroy(pack);
    orr_splats_destroy(splats);
    orr_jobs_destroy(jobs);
    return 0;
}
