// By hand: pictures in real time beside path-traced ones, their difference, and how the error of path-traced
// pictures falls. compare_light FOLDER [WIDTH] [SAMPLES]
#include "engine/image/image.h"
#include "engine/image/plot.h"
#include "tests/engine/light/light_scenes.h"
#include "tests/support/flip.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct comparison {
    orr_engine *engine;
    const char *folder;
    int width, height, samples;
    float *frame, *traced, *errors;
} comparison;

static void save(const comparison *c, int scene, const char *what, const float *rgba)
{
    char path[1024];
    uint8_t *bytes = malloc(4 * (size_t)c->width * (size_t)c->height);
    snprintf(path, sizeof path, "%s/%d_%s.png", c->folder, scene + 1, what);
    orr_image_quantise(rgba, (int64_t)c->width * c->height, bytes);
    assert_ok(orr_png_save(path, bytes, c->width, c->height, &error));
    free(bytes);
}

// Eight times the difference, about grey.
static void save_difference(const comparison *c, int scene)
{
    float *rgba = malloc(4 * (size_t)c->width * (size_t)c->height * sizeof *rgba);
    for (int i = 0; i < 4 * c->width * c->height; i++) {
        const float off = fminf(c->frame[i], 1.0f) - fminf(c->traced[i], 1.0f);
        rgba[i] = i % 4 == 3 ? 1.0f : 0.5f + 8.0f * off;
    }
    save(c, scene, "difference", rgba);
    free(rgba);
}

static void compare(const comparison *c, int scene)
{
    light_scene s = light_scene_make(c->engine, scene, c->width, c->height);
    light_scene_draw(c->engine, &s, c->frame);
    light_scene_trace(&s, c->samples, c->traced);
    double sum = 0.0;
    for (int i = 0; i < 4 * c->width * c->height; i++) {
        sum += i % 4 == 3 ? 0.0 : fabs(fmin((double)c->frame[i], 1.0) - fmin((double)c->traced[i], 1.0));
    }
    printf("| %s | %.4f | %.4f |\n", light_scene_names[scene], sum / (3.0 * c->width * c->height),
           flip(c->traced, c->frame, c->width, c->height, c->errors));
    fflush(stdout);
    save(c, scene, "frame", c->frame);
    save(c, scene, "reference", c->traced);
    save_difference(c, scene);
    light_scene_free(&s);
}

// Error against samples, both as logarithms to the base 2: a line that falls by a half for each doubling.
static void plot_convergence(const comparison *c)
{
    enum { DOUBLINGS = 9 };
    double samples[DOUBLINGS], errors[DOUBLINGS];
    char path[1024], title[128];
    light_scene s = light_scene_make(c->engine, 4, c->width, c->height);
    orr_reference *reference;
    assert_ok(orr_reference_create(s.scene, s.world, &s.view, 1, &reference, &error));
    for (int i = 0; i < DOUBLINGS; i++) {
        orr_reference_info info;
        assert_ok(orr_reference_advance(reference, i == 0 ? 2 : 1 << i, &error));
        assert_ok(orr_reference_describe(reference, &info, &error));
        samples[i] = log2((double)info.samples);
        errors[i] = log2(info.error);
    }
    const double slope = (errors[DOUBLINGS - 1] - errors[2]) / (samples[DOUBLINGS - 1] - samples[2]);
    snprintf(title, sizeof title, "error of the reference, %s: slope %.3f", light_scene_names[4], slope);
    printf("%s (8 to %.0f samples)\n", title, exp2(samples[DOUBLINGS - 1]));
    snprintf(path, sizeof path, "%s/convergence.png", c->folder);
    const orr_plot_line line = {"log2 of the error", samples, errors, DOUBLINGS, false};
    assert_ok(orr_plot_save(path, title, "log2 of the samples", &line, 1, &error));
    orr_reference_destroy(reference);
    light_scene_free(&s);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "compare_light: expected FOLDER [WIDTH] [SAMPLES]\n");
        return 2;
    }
    comparison c = {.folder = argv[1],
                    .width = argc > 2 ? atoi(argv[2]) : 320,
                    .samples = argc > 3 ? atoi(argv[3]) : 256};
    c.height = c.width * 3 / 4;
    const size_t pixels = (size_t)c.width * (size_t)c.height;
    c.frame = malloc(4 * pixels * sizeof *c.frame);
    c.traced = malloc(4 * pixels * sizeof *c.traced);
    c.errors = malloc(pixels * sizeof *c.errors);
    const orr_engine_desc desc = {.device = ORR_DEVICE_CPU, .threads = 2};
    assert_ok(orr_engine_create(&desc, &c.engine, &error));
    printf("| %d x %d, %d samples | mean | FLIP |\n|---|---|---|\n", c.width, c.height, c.samples);
    for (int i = 0; i < LIGHT_SCENES; i++) {
        compare(&c, i);
    }
    plot_convergence(&c);
    orr_engine_destroy(c.engine);
    free(c.frame);
    free(c.traced);
    free(c.errors);
    return 0;
}
