// Depths of the points of a capture in the training of splats: the loss and its gradient, which photo sees
// which point, and a room of which there are three photos.
#include "engine/core/memory.h"
#include "neural/capture/ray_camera.h"
#include "render/training/splat_depth.h"
#include "render/training/splat_trainer_state.h"
#include "tests/support/scenes/photos.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static orr_isa machine(void)
{
    orr_isa isa;
    assert_ok(orr_isa_choose(&isa, &error));
    return isa;
}

static orr_jobs *threads(int count)
{
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(count, NULL, NULL, &jobs, &error));
    return jobs;
}

static void assert_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-6)) { // values are rounded to floats
        fail_msg("%.9g: expected %.9g", found, expected);
    }
}

// ---- the loss ----

enum { SIDE = 8, PIXELS = SIDE * SIDE, POINTS = 6 };

typedef struct small_picture {
    orr_lens lens;
    float position[3 * POINTS], rgba[4 * PIXELS], depth[PIXELS];
    uint8_t mask[PIXELS];
    int64_t first[2];
    uint32_t seen[POINTS];
    orr_splat_points points;
} small_picture;

// A camera at the origin that looks along z, points 2 to 4 before it; the last is behind, one is where the
// mask leaves out, one where the picture is mostly transparent.
static void make_picture(small_picture *p)
{
    *p = (small_picture){.lens = {.width = SIDE,
                                  .height = SIDE,
                                  .view = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                  .focal = {SIDE, SIDE},
                                  .centre = {SIDE / 2, SIDE / 2},
                                  .near_plane = 0.01f},
                         .first = {0, POINTS}};
    for (int i = 0; i < PIXELS; i++) {
        p->rgba[4 * i + 3] = 0.6f + 0.005f * (float)i;
        p->depth[i] = 2.0f + 0.05f * (float)(i % 17);
        p->mask[i] = 255;
    }
    for (int i = 0; i < POINTS; i++) {
        const float z = i == POINTS - 1 ? -3.0f : 2.0f + 0.4f * (float)i;
        p->position[3 * i] = (0.1f * (float)i - 0.25f) * z;
        p->position[3 * i + 1] = (0.3f - 0.12f * (float)i) * z;
        p->position[3 * i + 2] = z;
        p->seen[i] = (uint32_t)i;
    }
    p->mask[6 * SIDE + 2] = 0;              // of point 0
    p->rgba[4 * (5 * SIDE + 2) + 3] = 0.4f; // of point 1
    p->points = (orr_splat_points){POINTS, p->position, NULL, p->first, p->seen};
}

// By its definition, of the three points that count, by sums of weights and of weights times depths.
static double expected_loss(const small_picture *p, const double *weights, const double *depths)
{
    double sum = 0.0;
    for (int i = 2; i < 5; i++) {
        const double z = (double)p->position[3 * i + 2];
        const double x = SIDE * (double)p->position[3 * i] / z + SIDE / 2;
        const double y = SIDE * (double)p->position[3 * i + 1] / z + SIDE / 2;
        const int at = (int)y * SIDE + (int)x;
        sum += fabs(weights[at] / depths[at] - 1.0 / z) / 3.0;
    }
    return 1.5 * sum;
}

static void the_loss_of_depth_has_the_gradient_of_its_definition(void **state)
{
    (void)state;
    small_picture p;
    float by_alpha[PIXELS] = {0}, by_depth[PIXELS] = {0};
    double weights[PIXELS], depths[PIXELS];
    make_picture(&p);
    for (int i = 0; i < PIXELS; i++) {
        weights[i] = (double)p.rgba[4 * i + 3];
        depths[i] = weights[i] * (double)p.depth[i];
    }
    const orr_depth_job job = {.points = &p.points,
                               .lens = &p.lens,
                               .mask = p.mask,
                               .rgba = p.rgba,
                               .depth = p.depth,
                               .weight = 1.5f,
                               .by_alpha = by_alpha,
                               .by_depth = by_depth};
    assert_close(orr_splat_depth_loss(&job), expected_loss(&p, weights, depths));
    int pulled = 0;
    for (int i = 0; i < 2 * PIXELS; i++) {
        double *value = i < PIXELS ? &weights[i] : &depths[i - PIXELS];
        const double kept = *value, h = 1e-6;
        *value = kept + h;
        const double more = expected_loss(&p, weights, depths);
        *value = kept - h;
        const double less = expected_loss(&p, weights, depths);
        *value = kept;
        const double found = (double)(i < PIXELS ? by_alpha[i] : by_depth[i - PIXELS]);
        assert_close(found, (more - less) / (2.0 * h));
        pulled += found != 0.0;
    }
    assert_int_equal(pulled, 6);
}

// ---- what sees what ----

static void photos_see_the_points_of_their_tracks(void **state)
{
    (void)state;
    // photo 9 is absent; the second point has no photo
    static const char text[] = "1 1 2 3 255 0 51 0.5 7 0 3 2 9 5\n2 4 5 6 0 0 0 0.25\n"
                               "5 7 8 9 1 1 1 0.25 3 8\n";
    orr_capture_image images[2] = {{.id = 7}, {.id = 3}};
    char path[4096];
    snprintf(path, sizeof path, "%s", written("points3D.txt", text));
    const orr_capture capture = {.images = images, .count = 2, .points = path};
    orr_splat_points points;
    assert_ok(orr_splat_points_load(&capture, (orr_log){0}, &points, &error));
    assert_int_equal(points.count, 3);
    assert_true(points.first[0] == 0 && points.first[1] == 1 && points.first[2] == 3);
    assert_true(points.seen[0] == 0 && points.seen[1] == 0 && points.seen[2] == 2);
    assert_true(orr_splat_depth_known(&points, 1));
    orr_splat_points_free(&points);
    orr_error why;
    written("points3D.txt", "1 1 2 3 255 0 51 0.5 7 0 3\n");
    assert_int_equal(orr_splat_points_load(&capture, (orr_log){0}, &points, &why), ORR_ERROR_FORMAT);
    assert_non_null(strstr(why.message, "points3D.txt: line 1: expected pairs of IMAGE_ID POINT2D_IDX"));
    remove(path);
}

// ---- a room ----

enum { SIZE = 64, PHOTOS = 5, LEARNED = 3, GRID = 8, ROOM_POINTS = LEARNED * GRID * GRID, STEPS = 300 };

static float sphere_hit(const float origin[3], const float direction[3], float radius, bool inside)
{
    float b = 0.0f, c = -radius * radius;
    for (int k = 0; k < 3; k++) {
        b += origin[k] * direction[k];
        c += origin[k] * origin[k];
    }
    const float root = b * b - c;
    return root < 0.0f ? INFINITY : inside ? -b + sqrtf(root) : -b - sqrtf(root);
}

// A ball in a round room, both almost of one colour.
static float room_hit(const float origin[3], const float direction[3], bool *ball)
{
    const float near = sphere_hit(origin, direction, 0.8f, false);
    *ball = near < INFINITY;
    return *ball ? near : sphere_hit(origin, direction, 5.0f, true);
}

static void shade_room(const float origin[3], const float direction[3], float rgba[4])
{
    bool ball;
    const float t = room_hit(origin, direction, &ball);
    const float height = origin[2] + t * direction[2];
    rgba[0] = ball ? 0.7f : 0.4f;
    rgba[1] = 0.5f + (ball ? 0.1f : 0.03f) * height;
    rgba[2] = 0.4f;
    rgba[3] = 1.0f;
}

static const photo_plan room_photos = {.shade = shade_room,
                                       .size = SIZE,
                                       .channels = 3,
                                       .count = PHOTOS,
                                       .learned = LEARNED,
                                       .focal = 1.0f,
                                       .distance = 3.0f,
                                       .lowest = -0.2f,
                                       .highest = 0.4f,
                                       .scale = 0.1f,
                                       .aabb_scale = 1};

// What a photo's pixel shows, and how far along the camera's axis.
static float room_depth(const orr_capture_image *image, float x, float y, float point[3])
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const orr_ray_camera camera = orr_ray_camera_of_image(image, identity);
    const orr_camera_ray ray = orr_ray_camera_ray(&camera, x, y);
    bool ball;
    const float t = room_hit(ray.origin, ray.direction, &ball);
    float depth = 0.0f;
    for (int k = 0; k < 3; k++) {
        point[k] = ray.origin[k] + t * ray.direction[k];
        depth += (point[k] - image->pose[4 * k + 3]) * image->pose[4 * k + 2];
    }
    return depth;
}

typedef struct room {
    photos photos;
    float position[3 * ROOM_POINTS], colour[3 * ROOM_POINTS];
    int64_t first[PHOTOS + 1];
    uint32_t seen[ROOM_POINTS];
    orr_splat_points points;
    orr_jobs *jobs;
    orr_splat_trainer_desc desc;
} room;

// Each photo that is learned from sees its own points.
static void open_room(room *r)
{
    *r = (room){0};
    take_photos(&room_photos, &r->photos);
    for (int i = 0; i < ROOM_POINTS; i++) {
        const int photo = i / (GRID * GRID), cell = i % (GRID * GRID);
        const float x = SIZE / GRID * ((float)(cell % GRID) + 0.5f);
        const float y = SIZE / GRID * ((float)(cell / GRID) + 0.5f);
        room_depth(&r->photos.images[photo], x + 0.5f, y + 0.5f, r->position + 3 * i);
        r->colour[3 * i] = r->colour[3 * i + 1] = r->colour[3 * i + 2] = 0.5f;
        r->seen[i] = (uint32_t)i;
    }
    for (int i = 0; i <= PHOTOS; i++) {
        r->first[i] = (int64_t)(i < LEARNED ? i : LEARNED) * GRID * GRID;
    }
    r->points = (orr_splat_points){ROOM_POINTS, r->position, r->colour, r->first, r->seen};
    r->jobs = threads(2);
    r->desc = (orr_splat_trainer_desc){.capture = &r->photos.capture,
                                       .images = r->photos.indices,
                                       .image_count = LEARNED,
                                       .points = &r->points,
                                       .jobs = r->jobs,
                                       .isa = machine(),
                                       .splats = 1000,
                                       .sh_degree = 1,
                                       .seed = 1};
}

static void close_room(room *r)
{
    drop_photos(&r->photos);
    orr_jobs_destroy(r->jobs);
}

static orr_splat_trainer *make_trainer(const orr_splat_trainer_desc *desc)
{
    orr_splat_trainer *trainer;
    assert_ok(orr_splat_trainer_create(desc, &trainer, &error));
    return trainer;
}

static void train(orr_splat_trainer *trainer, int from, int to)
{
    for (int i = from; i < to; i++) {
        orr_splat_step_report report;
        assert_ok(orr_splat_trainer_step(trainer, (double)i / STEPS, &report, &error));
        assert_true(isfinite(report.loss));
    }
}

// Mean |1 / drawn depth - 1 / depth| of the photos [1 / unit]: of the pixels around the points, and from
// where nothing was learned.
static double depth_error(const room *r, orr_splat_trainer *trainer)
{
    double sum = 0.0;
    orr_arena arena = {0};
    for (int photo = 0; photo < PHOTOS; photo++) {
        orr_splat_drawing d;
        orr_profile unused = {0};
        assert_ok(
            orr_splat_trainer_draw(trainer, &trainer->photos[photo].lens, true, &arena, &d, &unused, &error));
        for (int i = 0; i < SIZE * SIZE; i++) {
            float point[3];
            const float depth = room_depth(&r->photos.images[photo], (float)(i % SIZE) + 0.5f,
                                           (float)(i / SIZE) + 0.5f, point);
            const float drawn = d.rgba[4 * i + 3] > 0.1f ? 1.0f / d.depth[i] : 0.0f;
            sum += fabs((double)drawn - 1.0 / (double)depth);
        }
        orr_arena_reset(&arena);
    }
    orr_arena_destroy(&arena);
    return sum / (PHOTOS * SIZE * SIZE);
}

static double error_with(const room *r, float weight, orr_splat_strategy strategy)
{
    orr_splat_trainer_desc desc = r->desc;
    desc.depth_weight = weight;
    desc.strategy = strategy;
    orr_splat_trainer *trainer = make_trainer(&desc);
    train(trainer, 0, STEPS);
    const double found = depth_error(r, trainer);
    orr_splat_trainer_destroy(trainer);
    return found;
}

static void depths_of_points_straighten_what_few_photos_leave_open(void **state)
{
    (void)state;
    static room r;
    open_room(&r);
    for (int k = 0; k < 2; k++) {
        const orr_splat_strategy strategy = k == 0 ? ORR_SPLAT_MCMC : ORR_SPLAT_ADC;
        const double without = error_with(&r, 0.0f, strategy), with = error_with(&r, 0.1f, strategy);
        print_message("mean error of inverse depths: %.4f without, %.4f with\n", without, with);
        assert_true(with < 0.7 * without);
    }
    close_room(&r);
}

// of the first step; it follows from the seed
static int first_photo(const orr_splat_trainer_desc *desc)
{
    orr_splat_trainer *trainer = make_trainer(desc);
    train(trainer, 0, 1);
    const int photo = trainer->images[0];
    orr_splat_trainer_destroy(trainer);
    return photo;
}

// The mean depth of a splat that is alone is its own, whatever its weights are: it moves along the camera's
// axis.
static void a_splat_alone_moves_to_the_depth_of_the_points(void **state)
{
    (void)state;
    static room r;
    const float distances[2] = {1.5f, 3.0f}; // before and behind the ball's surface, at 2.2 to 2.6
    open_room(&r);
    for (int n = 0; n < 2; n++) {
        orr_splat_trainer_desc desc = r.desc;
        desc.splats = 1;
        desc.depth_weight = 100.0f; // colours do not count beside it
        orr_splat_trainer *trainer = make_trainer(&desc);
        float *stored = trainer->params.stored[0], before[3], along = 0.0f;
        for (int k = 0; k < 3; k++) {
            stored[orr_param_index(0, ORR_STORED, 3 + k)] = logf(0.5f);
        }
        stored[orr_param_index(0, ORR_STORED, 10)] = 3.0f;
        const float *pose = r.photos.images[first_photo(&desc)].pose;
        for (int k = 0; k < 3; k++) {
            before[k] = pose[4 * k + 3] + distances[n] * pose[4 * k + 2];
            stored[orr_param_index(0, ORR_STORED, k)] = before[k];
        }
        orr_splat_trainer_prepare(trainer);
        train(trainer, 0, 1);
        for (int k = 0; k < 3; k++) {
            along += (stored[orr_param_index(0, ORR_STORED, k)] - before[k]) * pose[4 * k + 2];
        }
        assert_true(n == 0 ? along > 1e-4f : along < -1e-4f);
        orr_splat_trainer_destroy(trainer);
    }
    close_room(&r);
}

static void assert_same(const orr_splat_trainer *one, const orr_splat_trainer *other)
{
    const orr_splat_params *a = &one->params, *b = &other->params;
    assert_int_equal(a->count, b->count);
    for (int64_t i = 0; i < a->count; i++) {
        for (int k = 0; k < ORR_STORED; k++) {
            const int64_t at = orr_param_index(i, ORR_STORED, k);
            assert_memory_equal(&a->stored[0][at], &b->stored[0][at], sizeof(float));
        }
    }
}

static void a_training_with_depths_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    enum { PART = 20, END = 40 };
    static room r;
    orr_splat_trainer *trainer;
    orr_error why;
    open_room(&r);
    orr_splat_trainer_desc desc = r.desc;
    desc.depth_weight = 0.1f;
    orr_splat_trainer *whole = make_trainer(&desc);
    train(whole, 0, PART);
    desc.resume = scratch_path("room.training");
    assert_ok(orr_splat_trainer_save(whole, desc.resume, &error));
    train(whole, PART, END);
    desc.depth_weight = 0.0f; // the file's counts
    desc.jobs = threads(1);
    orr_splat_trainer *resumed = make_trainer(&desc);
    train(resumed, PART, END);
    assert_same(whole, resumed);
    orr_splat_trainer_destroy(resumed);
    desc.points = NULL;
    assert_int_equal(orr_splat_trainer_create(&desc, &trainer, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "expected a COLMAP model with points3D"));
    orr_splat_trainer_destroy(whole);
    orr_jobs_destroy(desc.jobs);
    close_room(&r);
}

static void depths_need_points_that_photos_see(void **state)
{
    (void)state;
    static room r;
    orr_splat_trainer *trainer;
    orr_error why;
    open_room(&r);
    orr_splat_trainer_desc desc = r.desc;
    desc.depth_weight = 0.1f;
    r.points.first = NULL; // a .ply
    assert_int_equal(orr_splat_trainer_create(&desc, &trainer, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "expected a COLMAP model with points3D"));
    desc.depth_weight = NAN;
    assert_int_equal(orr_splat_trainer_create(&desc, &trainer, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "expected 0 to 100"));
    close_room(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loss_of_depth_has_the_gradient_of_its_definition),
        cmocka_unit_test(photos_see_the_points_of_their_tracks),
        cmocka_unit_test(a_splat_alone_moves_to_the_depth_of_the_points),
        cmocka_unit_test(depths_of_points_straighten_what_few_photos_leave_open),
        cmocka_unit_test(a_training_with_depths_goes_on_to_the_same_bits),
        cmocka_unit_test(depths_need_points_that_photos_see)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
