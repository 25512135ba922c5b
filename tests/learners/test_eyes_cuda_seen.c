// Tests of what eyes on CUDA show besides colour and depth (a GPU, or the emulated device): segmentation,
// normals and flow are those of the CPU's eyes, of each copy by itself, and stay where they are.
#include "engine/device/cuda_gpu.h"
#include "engine/loop/devices.h"
#include "orr_features.h"
#include "tests/support/scenes/soft_meshes.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if ORR_CUDA_EMULATED
#include "tests/cuda_emu/emu.h"
#endif

enum { COPIES = 2, WIDTH = 40, HEIGHT = 32, PIXELS = WIDTH * HEIGHT, VIEWS = 3, PICTURES = COPIES * VIEWS };
enum { OF_COPY = VIEWS * PIXELS, ALL = PICTURES * PIXELS };
enum { SEEN = ORR_EYES_SEGMENTATION | ORR_EYES_NORMALS | ORR_EYES_FLOW };

// A box and a ball that slide along x over a floor that mirrors, behind a transparent pane, and a camera that
// they carry; before a sky, which is drawn before the meshes where no cloud that stands shows its own.
static const char *const model =
    "<mujoco><asset><texture type='skybox' builtin='gradient' rgb1='.2 .4 .9' width='8' height='8'/>"
    "<material name='wet' rgba='.2 .4 .9 1' reflectance='.4'/></asset>"
    "<worldbody><light pos='1 1 5' dir='-.2 -.2 -1' castshadow='true'/>"
    "<geom name='floor' type='plane' size='2 2 .1' pos='0 0 -.8' material='wet'/>"
    "<geom name='pane' type='box' size='.4 .4 .02' pos='-.6 .5 .6' rgba='.2 .9 .3 .4'/>"
    "<body name='cart'><joint type='slide' axis='1 0 0'/>"
    "<geom name='box' type='box' size='0.3 0.3 0.3' euler='20 30 0' rgba='.9 .2 .1 1'/>"
    "<geom name='ball' type='sphere' size='0.25' pos='0 .7 .1' rgba='.9 .8 .1 1'/>"
    "<camera name='eye' pos='0.1 0.2 4'/>"
    "</body></worldbody></mujoco>";

typedef struct stage {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_layer robot, sheet, block;
    orr_camera views[2]; // after the camera that the cart carries: from the side, and from afar
    orr_cuda *cuda;
} stage;

typedef struct pictures {
    float depth[ALL];
    int32_t segmentation[ALL][2];
    float normals[ALL][3], flow[ALL][2];
} pictures;

static pictures drawn, again, other;

// A square of splats around a place, and the layer of it.
static orr_layer add_splats(orr_scene *scene, int side, float spacing, const float at[3])
{
    orr_splats *splats;
    orr_layer layer;
    assert_ok(orr_splats_create(side * side, 0, &splats, &error));
    orr_splats_view data = orr_splats_data(splats);
    for (int i = 0; i < side * side; i++) {
        data.position[3 * i] = spacing * ((float)(i % side) - 0.5f * (float)side);
        data.position[3 * i + 1] = spacing * ((float)(i / side) - 0.5f * (float)side);
        data.position[3 * i + 2] = 0.3f * data.position[3 * i];
        data.opacity[i] = 2.0f;
        for (int k = 0; k < 3; k++) {
            data.log_scale[3 * i + k] = logf(0.8f * spacing);
        }
        data.colour[3 * i + i % 3] = 1.5f;
    }
    assert_ok(orr_scene_add_splats(scene, "splats", splats,
                                   &(orr_transform){.position = {at[0], at[1], at[2]}}, &layer, &error));
    orr_splats_destroy(splats);
    return layer;
}

// alone: of the robot
static stage make(bool alone)
{
    stage s = {0};
    const char *path = written("eyes_cuda_seen.xml", model);
    const orr_body_desc jelly = {.soft = true, .resolution = 3};
    assert_ok(
        orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = 2}, &s.engine, &error));
    assert_ok(orr_engine_take_cuda(s.engine, &s.cuda, &error));
    assert_ok(orr_scene_create(s.engine, &s.scene, &error));
    if (!alone) {
        add_splats(s.scene, 3, 0.15f, (float[]){0.75f, -0.05f, 0.55f}); // stands, beside the other
    }
    assert_ok(orr_scene_add_file(s.scene, path, NULL, &s.robot, &error));
    if (!alone) {
        s.block = add_block(s.scene, (float[]){0.25f, 0.25f, 0.25f},
                            &(orr_transform){.position = {1.0f, -0.5f, 0.3f}}, 12);
        assert_ok(orr_scene_set_physics(s.scene, s.block, &jelly, &error));
        s.sheet = add_splats(s.scene, 7, 0.08f, (float[]){0.7f, 0.4f, 0.6f});
    }
    assert_ok(orr_world_create(s.scene, COPIES, &s.world, &error));
    for (int i = 0; i < 2; i++) {
        s.views[i] = orr_camera_look_at((float[]){0, -3, 3}, (float[]){0, 0, 0}, (float[]){0, 0, 1}, 0.8f,
                                        WIDTH, HEIGHT);
    }
    s.views[1].model = ORR_CAMERA_ORTHOGRAPHIC;
    s.views[1].focal[0] = s.views[1].focal[1] = 11.0f;
    return s;
}

static stage stage_make(void)
{
    return make(false);
}

static void stage_free(stage *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
}

static orr_eyes *make_eyes(const stage *s, const orr_world *world, orr_device_kind device, bool smooth,
                           float detail)
{
    orr_eyes *eyes;
    const int camera = 0;
    const orr_eyes_desc desc = {.cameras = &camera,
                                .camera_count = 1,
                                .views = s->views,
                                .view_count = 2,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .smooth_edges = smooth,
                                .detail = detail,
                                .flow = true,
                                .device = device};
    assert_ok(orr_eyes_create(world, &desc, &eyes, &error));
    return eyes;
}

// Where a copy's things are at a step: each moves in its own way. copy_of: whose state a copy has
static void move(const stage *s, orr_world *world, int copy, int copy_of, int step)
{
    static double positions[3 * 4096];
    orr_soft_info info;
    const double at = 0.4 * copy_of - 0.3 + 0.1 * step * (copy_of + 1);
    const float up = 0.6f + 0.07f * (float)(step * (copy_of + 1));
    assert_ok(orr_world_set_robot(world, copy, s->robot, ORR_ROBOT_QPOS, &at, &error));
    assert_ok(orr_world_set_transform(world, copy, s->sheet, &(orr_transform){.position = {0.7f, 0.4f, up}},
                                      &error));
    assert_ok(orr_scene_soft_info(s->scene, s->block, &info, &error));
    assert_true(info.vertex_count <= 4096);
    assert_ok(orr_world_get_soft(world, copy, s->block, positions, NULL, &error));
    for (int i = 0; i < info.vertex_count; i++) {
        positions[3 * i + 2] += 0.04 * (copy_of + 1) * step + 0.2 * step * (positions[3 * i] - 1.0);
    }
    assert_ok(orr_world_set_soft(world, copy, s->block, positions, NULL, &error));
}

static void draw(orr_eyes *eyes, const uint8_t *mask, pictures *to)
{
    const orr_eyes_pictures planes = {.depth = to->depth,
                                      .segmentation = &to->segmentation[0][0],
                                      .normals = &to->normals[0][0],
                                      .flow = &to->flow[0][0]};
    assert_ok(orr_eyes_draw(eyes, mask, &planes, &error));
}

static bool same_copy(const pictures *a, size_t copy_a, const pictures *b, size_t copy_b)
{
    const size_t at = copy_a * OF_COPY, to = copy_b * OF_COPY;
    return memcmp(a->segmentation[at], b->segmentation[to], OF_COPY * sizeof *a->segmentation) == 0 &&
           memcmp(a->normals[at], b->normals[to], OF_COPY * sizeof *a->normals) == 0 &&
           memcmp(a->flow[at], b->flow[to], OF_COPY * sizeof *a->flow) == 0;
}

static bool is_zero(const pictures *p, size_t copy)
{
    for (size_t i = copy * OF_COPY; i < (copy + 1) * OF_COPY; i++) {
        if (p->flow[i][0] != 0.0f || p->flow[i][1] != 0.0f) {
            return false;
        }
    }
    return true;
}

// ---- the same as the CPU's ----

typedef struct difference {
    int named, seen; // pixels that have another name; that show something
    double normal, flow;
    int things[6]; // pixels of: the cloud that stands, floor, box, ball, block, sheet
    double moved;  // largest flow
} difference;

// Of pixels with the same name.
static difference difference_of(const pictures *a, const pictures *b)
{
    difference d = {0};
    for (size_t i = 0; i < ALL; i++) {
        const int32_t layer = a->segmentation[i][0], geom = a->segmentation[i][1];
        if (memcmp(a->segmentation[i], b->segmentation[i], sizeof *a->segmentation) != 0) {
            d.named++;
            continue;
        }
        if (layer < 0) {
            assert_int_equal(geom, -1);
        } else {
            const int thing = layer == 0 ? 0 : layer > 1 ? layer + 2 : geom == 0 ? 1 : geom;
            assert_true(thing >= 0 && thing < 6);
            d.things[thing]++;
            d.seen++;
        }
        for (int k = 0; k < 3; k++) {
            d.normal = fmax(d.normal, fabs((double)a->normals[i][k] - (double)b->normals[i][k]));
        }
        for (int k = 0; k < 2; k++) {
            d.flow = fmax(d.flow, fabs((double)a->flow[i][k] - (double)b->flow[i][k]));
            d.moved = fmax(d.moved, fabs((double)a->flow[i][k]));
        }
    }
    return d;
}

// The two round alike but for the depth of clouds, which is a sum of products: their normals are differences
// of it between pixels, some 0.05 apart, which magnifies a difference of 1e-6 to 1e-4 at most. In pixels with
// smooth edges the depths differ by up to 2e-4: there the CPU counts splats behind those that leave 1e-4 of
// the light, and CUDA does not.
static void planes_are_those_of_the_cpu(void **state)
{
    (void)state;
    for (int smooth = 0; smooth < 2; smooth++) {
        stage s = stage_make();
        orr_eyes *device = make_eyes(&s, s.world, ORR_DEVICE_CUDA, smooth, 0.0f),
                 *host = make_eyes(&s, s.world, ORR_DEVICE_CPU, smooth, 0.0f);
        for (int step = 0; step < 3 - smooth; step++) { // the third one as the one before
            for (int copy = 0; copy < COPIES && step < 2; copy++) {
                move(&s, s.world, copy, copy, step);
            }
            draw(device, NULL, &drawn);
            draw(host, NULL, &again);
            const difference d = difference_of(&drawn, &again);
            print_message("smooth %d, step %d: %d of %d pixels have another name; normals %.1e, flow %.1e px "
                          "of %.1f\n",
                          smooth, step, d.named, d.seen, d.normal, d.flow, d.moved);
            assert_int_equal(d.named, 0);
            assert_true(d.normal < (smooth ? 4e-3 : 1e-4) && d.flow < 2e-5);
            for (int i = 0; i < 6; i++) {
                assert_true(d.things[i] > 20);
            }
            assert_true(step == 1 ? d.moved > 1.0 : is_zero(&drawn, 0) && is_zero(&drawn, 1));
        }
        orr_eyes_destroy(device);
        orr_eyes_destroy(host);
        stage_free(&s);
    }
}

// The host knows where they were: it reads it once for each step.
static void robots_that_cuda_simulates_have_flow(void **state)
{
    (void)state;
    stage s = make(true);
    orr_eyes *device = make_eyes(&s, s.world, ORR_DEVICE_CUDA, false, 0.0f),
             *host = make_eyes(&s, s.world, ORR_DEVICE_CPU, false, 0.0f);
    assert_ok(orr_world_set_device(s.world, ORR_DEVICE_CUDA, &error));
    assert_int_equal(orr_world_device(s.world), ORR_DEVICE_CUDA);
    difference d = {0};
    for (int step = 0; step < 2; step++) {
        for (int copy = 0; copy < COPIES; copy++) {
            const double at = 0.2 * copy + 0.3 * step, speed = 2.0;
            assert_ok(orr_world_set_robot(s.world, copy, s.robot, ORR_ROBOT_QPOS, &at, &error));
            assert_ok(orr_world_set_robot(s.world, copy, s.robot, ORR_ROBOT_QVEL, &speed, &error));
        }
        assert_ok(orr_world_step(s.world, 1, &error));
        draw(device, NULL, &drawn);
        draw(host, NULL, &again);
        d = difference_of(&drawn, &again);
        assert_true(d.named == 0 && d.flow < 2e-5);
    }
    assert_true(d.moved > 1.0);
    orr_eyes_destroy(device);
    orr_eyes_destroy(host);
    stage_free(&s);
}

// ---- which copies ----

static void a_copy_alone_has_the_same_bits(void **state)
{
    (void)state;
    stage s = stage_make();
    orr_world *one;
    assert_ok(orr_world_create(s.scene, 1, &one, &error));
    orr_eyes *eyes = make_eyes(&s, s.world, ORR_DEVICE_CUDA, false, 0.0f);
    for (int step = 0; step < 2; step++) {
        for (int copy = 0; copy < COPIES; copy++) {
            move(&s, s.world, copy, copy, step);
        }
        draw(eyes, NULL, &drawn);
    }
    assert_false(same_copy(&drawn, 0, &drawn, 1));
    orr_eyes *alone = make_eyes(&s, one, ORR_DEVICE_CUDA, false, 0.0f);
    for (int step = 0; step < 2; step++) {
        move(&s, one, 0, 1, step);
        draw(alone, NULL, &again);
    }
    assert_true(same_copy(&drawn, 1, &again, 0));
    orr_eyes_destroy(alone);
    orr_world_destroy(one);
    orr_eyes_destroy(eyes);
    stage_free(&s);
}

// Flow is since a copy's own last pictures; planes of other copies stay, and what is forgotten has none.
static void planes_stay_where_they_are(void **state)
{
    (void)state;
    const uint8_t last[COPIES] = {0, 1};
    orr_eyes_cuda_pictures p, later;
    stage s = stage_make();
    orr_eyes *eyes = make_eyes(&s, s.world, ORR_DEVICE_CUDA, false, 0.0f);
    draw(eyes, NULL, &drawn);
    for (int copy = 0; copy < COPIES; copy++) {
        move(&s, s.world, copy, copy, 1);
    }
    assert_ok(orr_eyes_draw_cuda(eyes, last, SEEN, NULL, &p, &error));
    assert_ok(
        orr_cuda_download(s.cuda, again.segmentation, p.segmentation, sizeof again.segmentation, &error));
    assert_ok(orr_cuda_download(s.cuda, again.normals, p.normals, sizeof again.normals, &error));
    assert_ok(orr_cuda_download(s.cuda, again.flow, p.flow, sizeof again.flow, &error));
    assert_true(same_copy(&again, 0, &drawn, 0) && is_zero(&again, 0) && !is_zero(&again, 1));
    assert_null(p.rgb); // never asked for
    draw(eyes, NULL, &other);
    assert_false(is_zero(&other, 0));
    assert_true(is_zero(&other, 1));
    assert_ok(orr_eyes_draw_cuda(eyes, NULL, ORR_EYES_DEPTH | ORR_EYES_NORMALS, NULL, &later, &error));
    assert_memory_equal(&p.segmentation, &later.segmentation, 3 * sizeof(void *));
    for (int copy = 0; copy < COPIES; copy++) {
        move(&s, s.world, copy, copy, 0);
    }
    assert_ok(orr_eyes_forget(eyes, last, &error));
    draw(eyes, NULL, &other);
    assert_false(is_zero(&other, 0));
    assert_true(is_zero(&other, 1));
    orr_eyes_destroy(eyes);
    stage_free(&s);
}

// ---- what a picture takes ----

#if ORR_CUDA_EMULATED
// One launch more than without, and no more memory after the first pictures: the mesh of the soft block,
// which is uploaded anew for each, takes the place of the one before.
static void one_launch_draws_all_planes(void **state)
{
    (void)state;
    stage s = stage_make();
    orr_eyes *eyes = make_eyes(&s, s.world, ORR_DEVICE_CUDA, false, 0.0f);
    orr_eyes_cuda_pictures p;
    const unsigned planes[2] = {ORR_EYES_DEPTH, ORR_EYES_DEPTH | SEEN};
    size_t launched[2];
    draw(eyes, NULL, &drawn);
    draw(eyes, NULL, &drawn);
    const size_t live = live_allocations();
    for (int i = 0; i < 2; i++) {
        const size_t before = launches(), pageable = pageable_copies();
        assert_ok(orr_eyes_draw_cuda(eyes, NULL, planes[i], NULL, &p, &error));
        launched[i] = launches() - before;
        assert_int_equal(live_allocations(), live);
        assert_int_equal(pageable_copies(), pageable + 2 * PICTURES); // its vertices and triangles
    }
    print_message("%zu launches of %d pictures, %zu with all planes\n", launched[0], PICTURES, launched[1]);
    assert_int_equal(launched[1], launched[0] + PICTURES);
    orr_eyes_destroy(eyes);
    stage_free(&s);
}
#endif

static void flow_is_refused_by_eyes_without_it(void **state)
{
    (void)state;
    stage s = stage_make();
    orr_eyes *eyes;
    orr_eyes_cuda_pictures p;
    orr_error why;
    const orr_eyes_desc desc = {
        .views = s.views, .view_count = 1, .width = WIDTH, .height = HEIGHT, .device = ORR_DEVICE_CUDA};
    assert_ok(orr_eyes_create(s.world, &desc, &eyes, &error));
    for (int i = 0; i < 2; i++) {
        const orr_result result =
            i ? orr_eyes_draw_cuda(eyes, NULL, ORR_EYES_RGB | ORR_EYES_FLOW, NULL, &p, &why)
              : orr_eyes_draw(eyes, NULL, &(orr_eyes_pictures){.flow = &drawn.flow[0][0]}, &why);
        assert_int_equal(result, ORR_ERROR_ARGUMENT);
        assert_non_null(strstr(why.message, "eyes: flow: expected eyes that were made with it"));
    }
    orr_eyes_destroy(eyes);
    stage_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_those_of_the_cpu),
        cmocka_unit_test(robots_that_cuda_simulates_have_flow),
        cmocka_unit_test(a_copy_alone_has_the_same_bits),
        cmocka_unit_test(planes_stay_where_they_are),
        cmocka_unit_test(flow_is_refused_by_eyes_without_it),
#if ORR_CUDA_EMULATED
        cmocka_unit_test(one_launch_draws_all_planes),
#endif
    };
    return cmocka_run_group_tests(tests, need_cuda, NULL);
}
