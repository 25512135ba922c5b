// Tests of robots of a scene that a CUDA device moves: as the CPU does, drawn from where they are, and what
// becomes of them when the device fails. On a GPU, or on the emulated device (ORR_CUDA=EMULATED).
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/device/cuda_gpu.h"
#include "engine/loop/devices.h"
#include "engine/loop/light/frame_light.h"
#include "engine/loop/world/robot_draw.h"
#include "engine/maths/camera.h"
#include "engine/scene/transform.h"
#include "orr_features.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if ORR_CUDA_EMULATED
#include "tests/cuda_emu/emu.h"
#endif

enum { WIDTH = 96, HEIGHT = 64, PIXELS = WIDTH * HEIGHT };
enum { COPIES = 3, QPOS = 9, QVEL = 8, BODIES = 6, BOX = 4, HAND = 5, MESHES = 16 };

// A fixed post carries an arm with a motor; a box that is free; a hand that is placed.
static const char model[] =
    "<mujoco><option timestep='0.002'/><worldbody><light pos='0 0 4'/><geom type='plane' size='0 0 .1'/>"
    "<body name='post' pos='1 0 .5'><geom type='box' size='.1 .1 .5'/>"
    "<body name='arm' pos='0 .2 .5'><joint name='hinge' axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 .5 0 0' size='.05'/><site name='tip' pos='.5 0 0'/>"
    "<body name='forearm' pos='.5 0 0'><joint axis='0 1 .3'/>"
    "<geom type='capsule' fromto='0 0 0 .4 0 0' size='.04'/></body></body></body>"
    "<body name='box' pos='-1 0 1'><freejoint/><geom type='box' size='.1 .2 .3' euler='0 30 0'/></body>"
    "<body name='hand' mocap='true' pos='0 1 1'><geom type='sphere' size='.1'/></body></worldbody>"
    "<actuator><motor joint='hinge' gear='5'/></actuator><keyframe>"
    "<key time='1' qpos='.3 -.4 -1 0 .31 1 0 0 0' qvel='0 0 0 0 0 0 0 1' ctrl='.5'/></keyframe></mujoco>";

static char warning[512]; // the last line of the log
static orr_engine *engine;
static orr_scene *scene;
static orr_layer robot;

static void keep_warning(void *user, orr_log_level level, int code, const char *line)
{
    (void)user;
    (void)code;
    if (level == ORR_LOG_WARNING) {
        snprintf(warning, sizeof warning, "%s", line);
    }
}

static orr_engine *open_engine(orr_device_kind device, int threads)
{
    orr_engine *opened;
    const orr_engine_desc desc = {.threads = threads, .device = device, .log = keep_warning};
    assert_ok(orr_engine_create(&desc, &opened, &error));
    return opened;
}

static orr_scene *load(orr_engine *on)
{
    orr_scene *loaded;
    const char *path = scratch_path("robot.xml");
    assert_ok(orr_file_write(path, model, strlen(model), &error));
    assert_ok(orr_scene_load(on, path, &loaded, &error));
    return loaded;
}

static int begin(void **state)
{
    need_cuda(state);
    engine = open_engine(ORR_DEVICE_CPU, 2);
    scene = load(engine);
    robot = orr_scene_layer(scene, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
    return 0;
}

static orr_world *world_on(orr_device_kind device)
{
    orr_world *world;
    assert_ok(orr_world_create(scene, COPIES, &world, &error));
    assert_ok(orr_world_set_device(world, device, &error));
    assert_int_equal(orr_world_device(world), device);
    return world;
}

static void drive(orr_world *world)
{
    for (int i = 0; i < COPIES; i++) {
        const double ctrl = 0.3 * (i + 1);
        assert_ok(orr_world_set_robot(world, i, robot, ORR_ROBOT_CTRL, &ctrl, &error));
    }
}

static void assert_near(const double *a, const double *b, int count, double tolerance)
{
    for (int i = 0; i < count; i++) {
        if (!(fabs(a[i] - b[i]) <= tolerance)) {
            fail_msg("number %d: %.9g and %.9g", i, a[i], b[i]);
        }
    }
}

static void assert_same_copy(orr_world *a, orr_world *b, int copy, double tolerance)
{
    const struct {
        orr_robot_quantity quantity;
        int count;
    } parts[] = {{ORR_ROBOT_TIME, 1}, {ORR_ROBOT_QPOS, QPOS}, {ORR_ROBOT_QVEL, QVEL}, {ORR_ROBOT_CTRL, 1}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        double values[2][QPOS];
        assert_ok(orr_world_get_robot(a, copy, robot, parts[i].quantity, values[0], &error));
        assert_ok(orr_world_get_robot(b, copy, robot, parts[i].quantity, values[1], &error));
        assert_near(values[0], values[1], parts[i].count, tolerance);
    }
}

// Both work in floats, in other orders: 60 steps leave some ten roundings of numbers up to 10 (speeds).
static const double ROUNDING = 2e-5;

static void robots_move_as_on_the_cpu(void **state)
{
    (void)state;
    orr_world *cpu = world_on(ORR_DEVICE_CPU), *cuda = world_on(ORR_DEVICE_CUDA);
    orr_world *const both[2] = {cpu, cuda};
    for (int i = 0; i < 2; i++) {
        drive(both[i]);
        assert_ok(orr_world_step(both[i], 20, &error));
        assert_ok(orr_world_reset_robot(both[i], 1, robot, 0, &error)); // a keyframe, others go on
        assert_ok(orr_world_advance(both[i], 0.0801, &error));          // 40 steps
        assert_ok(orr_world_reset_robot(both[i], 2, robot, -1, &error));
    }
    for (int copy = 0; copy < COPIES; copy++) {
        assert_same_copy(cpu, cuda, copy, ROUNDING);
    }
    double seconds;
    assert_ok(orr_world_get_robot(cuda, 1, robot, ORR_ROBOT_TIME, &seconds, &error));
    assert_true(fabs(seconds - 1.08) < 1e-5);
    orr_transform places[2];
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_world_body_transform(both[i], 1, robot, BOX, &places[i], &error));
    }
    for (int k = 0; k < 3; k++) {
        assert_true(fabsf(places[0].position[k] - places[1].position[k]) < 2e-5f);
    }
    orr_world_destroy(cpu);
    orr_world_destroy(cuda);
}

static void states_go_along_to_another_machine(void **state)
{
    (void)state;
    orr_world *stays = world_on(ORR_DEVICE_CUDA), *moves = world_on(ORR_DEVICE_CUDA);
    orr_world *const both[2] = {stays, moves};
    for (int i = 0; i < 2; i++) {
        drive(both[i]);
        assert_ok(orr_world_step(both[i], 10, &error));
    }
    assert_ok(orr_world_set_device(moves, ORR_DEVICE_CPU, &error));
    assert_int_equal(orr_world_device(moves), ORR_DEVICE_CPU);
    assert_same_copy(stays, moves, 1, 0.0);
    assert_ok(orr_world_set_device(moves, ORR_DEVICE_CUDA, &error));
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_world_step(both[i], 10, &error));
    }
    assert_same_copy(stays, moves, 2, 0.0); // what the solver begins with has gone along
    orr_error why;
    assert_int_equal(orr_world_set_device(moves, ORR_DEVICE_VULKAN, &why), ORR_ERROR_ARGUMENT);
    assert_string_equal(why.message, "robots on vulkan: expected auto, cpu or cuda");
    orr_world_destroy(stays);
    orr_world_destroy(moves);
}

// 512 copies for each thread; with fewer, or an engine that stands elsewhere, the CPU is faster or nearer.
static void many_copies_move_on_the_device_the_engine_stands_on(void **state)
{
    (void)state;
    orr_engine *on_cuda = open_engine(ORR_DEVICE_CUDA, 1);
    orr_scene *theirs = load(on_cuda);
    const struct {
        orr_scene *scene;
        int copies;
        orr_device_kind device;
    } cases[] = {
        {theirs, 511, ORR_DEVICE_CPU}, {theirs, 512, ORR_DEVICE_CUDA}, {scene, 1024, ORR_DEVICE_CPU}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        orr_world *world;
        assert_ok(orr_world_create(cases[i].scene, cases[i].copies, &world, &error));
        assert_int_equal(orr_world_device(world), cases[i].device);
        assert_ok(orr_world_step(world, 1, &error));
        orr_world_destroy(world);
    }
    orr_scene_destroy(theirs);
    orr_engine_destroy(on_cuda);
}

// ---- the draw list ----

static int list_meshes(orr_world *world, int copy, orr_robot_bodies *there, orr_draw_mesh *meshes)
{
    const orr_view view = {.world = copy};
    const orr_layer_data *layer = &world->scene->layers[0];
    const orr_transform place = {{1.0f, 2.0f, 3.0f}, {0.8f, 0.6f, 0.0f, 0.0f}, 2.0f};
    orr_drawn_planes planes = {.count = 0};
    int items, count = 0;
    assert_ok(orr_robot_items(world->scene, world, &view, &items, &error));
    assert_true(items <= MESHES);
    assert_ok(orr_robot_draw(world, &view, layer, &place, (float[]){0.0f, 0.0f, 5.0f}, there, &planes, meshes,
                             &count, &error));
    return count;
}

// Where a mesh is, by what the host reads of the bodies now.
static void compose(const orr_draw_mesh *mesh, const float *numbers, float out[12])
{
    if (!mesh->bodies) {
        memcpy(out, mesh->model, 12 * sizeof *out);
        return;
    }
    orr_transform body = {.scale = 1.0f};
    float moved[12], placed[12];
    memcpy(body.position, numbers + 3 * (size_t)mesh->body, sizeof body.position);
    memcpy(body.rotation, numbers + 3 * BODIES + 4 * (size_t)mesh->body, sizeof body.rotation);
    assert_ok(orr_affine_from_transform(&body, moved, &error));
    orr_affine_multiply(mesh->model, moved, placed);
    orr_affine_multiply(placed, mesh->at, out);
}

static void download(const orr_robot_bodies *there, float numbers[7 * BODIES])
{
    assert_int_equal(there->memory.count, BODIES);
    assert_int_equal(there->drawn.stride, 1);
    assert_false(there->drawn.double_precision);
    assert_ptr_equal(there->drawn.rotation, (const float *)there->drawn.position + 3 * BODIES);
    assert_ok(orr_cuda_download(there->memory.cuda, numbers, there->drawn.position,
                                7 * BODIES * sizeof(float), &error));
}

static void assert_meshes_stand(const orr_draw_mesh *meshes, int count, const float *numbers,
                                const orr_draw_mesh *expected)
{
    for (int i = 0; i < count; i++) {
        float place[12];
        compose(&meshes[i], numbers, place);
        assert_ptr_equal(meshes[i].mesh, expected[i].mesh);
        assert_int_equal(meshes[i].key, expected[i].key);
        for (int k = 0; k < 12; k++) {
            // the same three transforms, multiplied as matrices instead of quaternions
            assert_true(fabsf(place[k] - expected[i].model[k]) < 5e-6f);
        }
    }
}

static void geoms_stand_on_bodies_where_the_device_has_them(void **state)
{
    (void)state;
    orr_world *world = world_on(ORR_DEVICE_CUDA);
    orr_robot_bodies there[2] = {0};
    orr_draw_mesh meshes[2][MESHES], expected[2][MESHES];
    float numbers[7 * BODIES];
    drive(world);
    assert_ok(orr_world_step(world, 30, &error));
    int count = list_meshes(world, 1, NULL, expected[0]);
    assert_int_equal(list_meshes(world, 1, &there[0], meshes[0]), count);
    assert_ok(orr_world_step(world, 30, &error)); // the first frame still shows what was
    assert_int_equal(list_meshes(world, 2, &there[1], meshes[1]), count);
    assert_int_equal(list_meshes(world, 2, NULL, expected[1]), count);
    int moving = 0;
    for (int i = 0; i < count; i++) {
        moving += meshes[0][i].bodies != NULL;
    }
    assert_int_equal(count, 7);  // floor, post, arm, forearm, box, hand, the arm's tip
    assert_int_equal(moving, 5); // the floor and the post are where the model has them
    for (int i = 0; i < 2; i++) {
        download(&there[i], numbers);
        assert_meshes_stand(meshes[i], count, numbers, expected[i]);
        orr_physics_bodies_release(&there[i].memory);
    }
    assert_true(fabsf(expected[0][2].model[0] - expected[1][2].model[0]) > 0.01f); // it did move
    // a robot of the CPU says where its meshes are
    assert_ok(orr_world_set_device(world, ORR_DEVICE_CPU, &error));
    assert_int_equal(list_meshes(world, 1, &there[0], meshes[0]), count);
    for (int i = 0; i < count; i++) {
        assert_null(meshes[0][i].bodies);
    }
    orr_world_destroy(world);
}

static void submit(orr_frame *frame, const orr_world *world)
{
    const float eye[3] = {0.3f, -4.0f, 1.5f}, target[3] = {0.2f, 0.0f, 0.7f}, up[3] = {0.0f, 0.0f, 1.0f};
    // without shadows, which robots cast only where the host knows their poses
    const orr_view view = {.camera = orr_camera_look_at(eye, target, up, 0.9f, WIDTH, HEIGHT),
                           .world = 1,
                           .no_shadows = true,
                           .hard_edges = true};
    assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
}

static void draw(const orr_world *world, orr_device_kind device, float *rgba)
{
    orr_frame *frame;
    const orr_frame_desc desc = {.device = device};
    assert_ok(orr_frame_create(engine, &desc, &frame, &error));
    submit(frame, world);
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
    orr_frame_destroy(frame);
}

// Whoever draws, and wherever bodies are.
static void pictures_are_those_of_a_world_on_the_cpu(void **state)
{
    (void)state;
    static float pictures[4][PIXELS * 4], before[PIXELS * 4];
    static const orr_device_kind machines[] = {ORR_DEVICE_CPU, ORR_DEVICE_CUDA};
    for (int i = 0; i < 4; i++) {
        orr_world *world = world_on(machines[i / 2]);
        draw(world, ORR_DEVICE_CPU, before);
        drive(world);
        assert_ok(orr_world_step(world, 100, &error));
        draw(world, machines[i % 2], pictures[i]);
        orr_world_destroy(world);
    }
    assert_true(psnr(pictures[0], before, PIXELS * 4) < 36.0); // it moved
    for (int i = 1; i < 4; i++) {
        // roundings of places; one pixel at a rim that falls to the other side makes 45
        assert_true(psnr(pictures[0], pictures[i], PIXELS * 4) > 44.0);
    }
}

static void a_robot_that_diverged_is_drawn_where_it_was(void **state)
{
    (void)state;
    orr_world *world = world_on(ORR_DEVICE_CUDA);
    orr_robot_bodies there = {0};
    orr_draw_mesh meshes[MESHES];
    float before[7 * BODIES], after[7 * BODIES];
    double speeds[QVEL] = {1e9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, NAN};
    bool diverged[2];
    assert_ok(orr_world_step(world, 5, &error));
    list_meshes(world, 1, &there, meshes);
    download(&there, before);
    assert_ok(orr_world_set_robot(world, 1, robot, ORR_ROBOT_QVEL, speeds, &error));
    assert_ok(orr_world_step(world, 5, &error));
    list_meshes(world, 1, &there, meshes);
    download(&there, after);
    assert_memory_equal(before, after, sizeof before);
    assert_ok(orr_world_step(world, 5, &error));
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_world_robot_diverged(world, i, robot, &diverged[i], &error));
    }
    assert_true(diverged[1] && !diverged[0]);
    list_meshes(world, 0, &there, meshes);
    download(&there, after);
    assert_true(after[3 * BOX + 2] < before[3 * BOX + 2]); // others fall on
    assert_ok(orr_world_reset_robot(world, 1, robot, -1, &error));
    assert_ok(orr_world_step(world, 1, &error));
    assert_ok(orr_world_robot_diverged(world, 1, robot, &diverged[1], &error));
    assert_false(diverged[1]);
    list_meshes(world, 1, &there, meshes);
    download(&there, after);
    assert_true(fabsf(after[3 * BOX + 2] - 1.0f) < 1e-4f); // it begins to fall anew
    orr_physics_bodies_release(&there.memory);
    orr_world_destroy(world);
}

// What needs bodies on the host reads them: contacts, a hand that pulls.
static void contacts_and_the_hand_are_the_cpus(void **state)
{
    (void)state;
    orr_world *cpu = world_on(ORR_DEVICE_CPU), *cuda = world_on(ORR_DEVICE_CUDA);
    orr_world *const both[2] = {cpu, cuda};
    const orr_layer_data *layer = &scene->layers[0];
    const orr_robot_pull pull = {.body = BOX, .point = {0.0, 0.0, 0.3}, .to = {-1.0, 0.5, 2.0}};
    const orr_physics_contact *contacts;
    int counts[2];
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_world_reset_robot(both[i], 0, robot, 0, &error));
        assert_ok(orr_world_step(both[i], 10, &error));
        assert_ok(orr_world_robot_contacts(both[i], 0, layer, &contacts, &counts[i], &error));
        assert_ok(orr_world_robot_pull(both[i], layer, &pull, &error));
        assert_ok(orr_world_step(both[i], 10, &error));
        assert_ok(orr_world_robot_pull(both[i], layer, &(orr_robot_pull){0}, &error));
        assert_ok(orr_world_step(both[i], 2, &error));
    }
    assert_true(counts[0] > 0);
    assert_int_equal(counts[0], counts[1]);
    assert_same_copy(cpu, cuda, 0, 1e-4); // contacts amplify rounding
    double height[QPOS];
    assert_ok(orr_world_get_robot(cuda, 0, robot, ORR_ROBOT_QVEL, height, &error));
    assert_true(height[4] > 0.05); // the hand has raised the box
    orr_world_destroy(cpu);
    orr_world_destroy(cuda);
}

#if ORR_CUDA_EMULATED

// The emulated device does nothing until someone waits, so what waits shows.
static void stepping_and_drawing_wait_for_nothing(void **state)
{
    (void)state;
    orr_cuda *cuda;
    orr_world *world = world_on(ORR_DEVICE_CUDA);
    orr_robot_bodies there = {0};
    orr_draw_mesh meshes[MESHES];
    orr_draw_list lit = {0};
    assert_ok(orr_engine_take_cuda(engine, &cuda, &error));
    drive(world);
    assert_ok(orr_world_step(world, 1, &error));
    list_meshes(world, 0, &there, meshes);
    assert_ok(orr_cuda_wait(cuda, &error));
    size_t copies = copies_to_host();
    for (int i = 0; i < 4; i++) {
        drive(world);
        assert_ok(orr_world_step(world, 1, &error));
        list_meshes(world, 0, &there, meshes);
        assert_ok(orr_frame_light(world, 0, &lit, &error));
    }
    assert_int_equal(copies_to_host(), copies);
    assert_int_equal(cudaStreamQuery(cuda->stream), cudaErrorNotReady);
    double ctrl, seconds;
    assert_ok(orr_world_get_robot(world, 1, robot, ORR_ROBOT_CTRL, &ctrl, &error));
    assert_ok(orr_world_get_robot(world, 1, robot, ORR_ROBOT_TIME, &seconds, &error));
    assert_true(fabs(ctrl - 0.6) < 1e-6 && fabs(seconds - 0.01) < 1e-6);
    assert_int_equal(copies_to_host(), copies + 1); // a block of copies, once
    orr_physics_bodies_release(&there.memory);
    orr_world_destroy(world);
}

// From the public interface to the picture: what CUDA moves, CUDA draws, and the host sees the picture and
// frame's counts.
static void frames_of_a_robot_copy_nothing_but_what_frames_copy(void **state)
{
    (void)state;
    enum { FRAMES = 2 };
    orr_world *const worlds[2] = {world_on(ORR_DEVICE_CUDA), world_on(ORR_DEVICE_CPU)};
    static float rgba[2][FRAMES][PIXELS * 4];
    size_t copies[2], before;
    for (int i = 0; i < 2; i++) {
        orr_frame *frame;
        const orr_frame_desc desc = {.device = ORR_DEVICE_CUDA, .frames_in_flight = FRAMES};
        assert_ok(orr_frame_create(engine, &desc, &frame, &error));
        for (int turn = 0; turn < 3; turn++) { // the first uploads meshes
            before = copies_to_host();
            for (int k = 0; k < FRAMES; k++) {
                drive(worlds[i]);
                assert_ok(orr_world_step(worlds[i], 10, &error)); // the frame before it shows what was
                submit(frame, worlds[i]);
            }
            for (int k = 0; k < FRAMES; k++) {
                assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba[i][k]}, &error));
            }
            copies[i] = copies_to_host() - before;
        }
        orr_frame_destroy(frame);
    }
    assert_int_equal(copies[0], copies[1]); // as many as when the CPU moves the robot
    assert_true(psnr(rgba[0][0], rgba[0][1], PIXELS * 4) < 60.0);
    for (int k = 0; k < FRAMES; k++) {
        assert_true(psnr(rgba[0][k], rgba[1][k], PIXELS * 4) > 44.0); // as above
    }
    orr_world_destroy(worlds[0]);
    orr_world_destroy(worlds[1]);
}

// No memory for what is drawn from: the host reads it, without a message.
static void without_room_for_bodies_the_host_reads_them(void **state)
{
    (void)state;
    orr_world *world = world_on(ORR_DEVICE_CUDA);
    orr_robot_bodies there = {0};
    orr_draw_mesh meshes[MESHES];
    assert_ok(orr_world_step(world, 1, &error));
    current_settings()->memory = 1;
    int count = list_meshes(world, 0, &there, meshes);
    current_settings()->memory = 0;
    for (int i = 0; i < count; i++) {
        assert_null(meshes[i].bodies);
    }
    assert_int_equal(orr_world_device(world), ORR_DEVICE_CUDA);
    assert_ok(orr_world_step(world, 1, &error));
    list_meshes(world, 0, &there, meshes);
    assert_ptr_equal(meshes[count - 1].bodies, &there.drawn);
    orr_physics_bodies_release(&there.memory);
    orr_world_destroy(world);
}

static void robots_that_a_device_cannot_hold_move_on_the_cpu(void **state)
{
    (void)state;
    orr_world *world;
    assert_ok(orr_world_create(scene, COPIES, &world, &error));
    size_t allocations = live_allocations();
    current_settings()->memory = 1 << 16;
    warning[0] = 0;
    assert_ok(orr_world_set_device(world, ORR_DEVICE_CUDA, &error));
    current_settings()->memory = 0;
    assert_int_equal(orr_world_device(world), ORR_DEVICE_CPU);
    assert_non_null(strstr(warning, "robot.xml: CUDA: out of memory: "));
    assert_non_null(strstr(warning, ": the CPU moves it"));
    assert_int_equal(live_allocations(), allocations);
    assert_ok(orr_world_step(world, 3, &error));
    orr_world_destroy(world);
}

static void without_a_driver_robots_stay_where_they_are(void **state)
{
    (void)state;
    orr_engine *plain = open_engine(ORR_DEVICE_CPU, 1);
    orr_scene *theirs = load(plain);
    orr_world *world;
    orr_error why;
    assert_ok(orr_world_create(theirs, 1, &world, &error));
    current_settings()->driver_version = 0;
    assert_int_equal(orr_world_set_device(world, ORR_DEVICE_CUDA, &why), ORR_ERROR_DEVICE);
    current_settings()->driver_version = CUDART_VERSION;
    assert_string_equal(why.message, "CUDA: no NVIDIA driver or no device");
    assert_int_equal(orr_world_device(world), ORR_DEVICE_CPU);
    assert_ok(orr_world_step(world, 1, &error));
    orr_world_destroy(world);
    orr_scene_destroy(theirs);
    orr_engine_destroy(plain);
}

// A call of the public interface that may meet a failing device: then it says so, once.
static void attempt(int *failures, orr_result result, const orr_error *error)
{
    if (result != ORR_OK) {
        assert_int_equal(result, ORR_ERROR_DEVICE);
        assert_non_null(strstr(error->message, "CUDA: "));
        assert_non_null(strstr(error->message, "robots continue on the CPU from their last known state"));
        assert_null(strchr(error->message, '\n'));
        ++*failures;
    }
}

// Uses a world in every way; returns how often it failed.
static int use(orr_world *world, orr_robot_bodies *there)
{
    int failures = 0, count;
    const double ctrl = 0.7;
    double qpos[QPOS];
    bool diverged, known;
    orr_transform place;
    const orr_physics_contact *contacts;
    orr_error error;
    for (int turn = 0; turn < 2; turn++) {
        attempt(&failures, orr_world_set_robot(world, 1, robot, ORR_ROBOT_CTRL, &ctrl, &error), &error);
        attempt(&failures, orr_world_step(world, 2, &error), &error);
        attempt(&failures, orr_world_robot_device_bodies(world, 1, &scene->layers[0], there, &known, &error),
                &error);
        attempt(&failures, orr_world_robot_diverged(world, 1, robot, &diverged, &error), &error);
        attempt(&failures, orr_world_get_robot(world, 1, robot, ORR_ROBOT_QPOS, qpos, &error), &error);
        attempt(&failures, orr_world_body_transform(world, 1, robot, BOX, &place, &error), &error);
        attempt(&failures, orr_world_robot_contacts(world, 1, &scene->layers[0], &contacts, &count, &error),
                &error);
        attempt(&failures, orr_world_step(world, 2, &error), &error);
        attempt(&failures, orr_world_reset_robot(world, 0, robot, 0, &error), &error);
        assert_true(failures <= 1);
    }
    return failures;
}

// Every call to CUDA fails once: the world says so and goes on, with what the host knew.
static void a_device_that_fails_leaves_robots_on_the_cpu(void **state)
{
    (void)state;
    size_t allocations = live_allocations();
    bool reached = true;
    int call = 1, failed = 0, fell = 0;
    for (; reached; call++) {
        orr_world *world;
        orr_robot_bodies there = {0};
        assert_ok(orr_world_create(scene, COPIES, &world, &error));
        warning[0] = 0;
        current_settings()->fail_call = call;
        current_settings()->fail_with = cudaErrorLaunchFailure;
        assert_ok(orr_world_set_device(world, ORR_DEVICE_CUDA, &error));
        int failures = use(world, &there);
        reached = current_settings()->fail_call == 0;
        current_settings()->fail_call = 0;
        failed += failures;
        fell += warning[0] != 0; // it could not be made there
        assert_int_equal(orr_world_device(world), reached ? ORR_DEVICE_CPU : ORR_DEVICE_CUDA);
        assert_int_equal(failures + (warning[0] != 0), reached);
        // what goes on is whole: a copy that was never told anything else is where time has brought it
        double seconds, qpos[QPOS];
        assert_ok(orr_world_step(world, 1, &error));
        assert_ok(orr_world_get_robot(world, 2, robot, ORR_ROBOT_TIME, &seconds, &error));
        assert_ok(orr_world_get_robot(world, 2, robot, ORR_ROBOT_QPOS, qpos, &error));
        double fallen = 1.0 - qpos[4];
        assert_true(seconds >= 0.002 && seconds <= 0.0181);
        assert_true(fabs(fallen - 0.5 * 9.81 * seconds * (seconds + 0.002)) < 1e-5); // semi-implicit Euler
        orr_physics_bodies_release(&there.memory);
        orr_world_destroy(world);
        assert_int_equal(live_allocations(), allocations);
    }
    assert_true(failed > 20 && fell > 5);
}

// The frame under way is lost with the device that alone knew its bodies. In a window the next one is drawn
// elsewhere, as soon as the robots are simulated elsewhere; a program without a window gets the error, and
// its frame stays where it was.
static void bodies_of_a_frame_are_lost_with_their_device(void **state)
{
    (void)state;
    for (int windowed = 0; windowed < 2; windowed++) {
        orr_engine *on_cuda = open_engine(ORR_DEVICE_CUDA, 1);
        orr_scene *theirs = load(on_cuda);
        orr_world *world;
        orr_frame *frame;
        const orr_view view = {.camera = orr_scene_default_camera(theirs, 24, 16)};
        assert_ok(orr_world_create(theirs, 1, &world, &error));
        assert_ok(orr_world_set_device(world, ORR_DEVICE_CUDA, &error));
        assert_ok(windowed ? orr_frame_create_for_window(on_cuda, NULL, &frame, &error)
                           : orr_frame_create(on_cuda, NULL, &frame, &error));
        for (int i = 0; i < 2; i++) {
            assert_ok(orr_frame_submit_for_window(frame, theirs, world, &view, &error));
        }
        orr_error why = {0};
        warning[0] = 0;
        current_settings()->fail_call = 1;
        current_settings()->fail_with = cudaErrorLaunchFailure;
        assert_int_equal(orr_frame_finish(frame, NULL, &why), ORR_ERROR_DEVICE);
        assert_int_equal(current_settings()->fail_call, 0);
        assert_non_null(strstr(why.message, "CUDA: "));
        assert_int_equal(orr_frame_location(frame), ORR_PICTURE_NOWHERE);
        assert_int_equal(orr_frame_device(frame), windowed ? ORR_DEVICE_CPU : ORR_DEVICE_CUDA);
        assert_int_equal(strstr(warning, ": going on with cpu") != NULL, windowed);
        bool ready = false;
        assert_ok(orr_frame_advance(frame, 1.0, &ready, &error));
        assert_true(ready);
        assert_int_equal(orr_frame_finish(frame, NULL, &why), windowed ? ORR_ERROR_DEVICE : ORR_OK);
        assert_true(!windowed || strstr(why.message, "lost with its device"));
        // the device works again, so that robots stay on it, and the host reads their bodies
        assert_ok(orr_frame_submit_for_window(frame, theirs, world, &view, &error));
        assert_ok(orr_frame_finish(frame, NULL, &error));
        assert_int_equal(orr_frame_location(frame), ORR_PICTURE_IN_MEMORY);
        orr_frame_destroy(frame);
        orr_world_destroy(world);
        orr_scene_destroy(theirs);
        orr_engine_destroy(on_cuda);
    }
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robots_move_as_on_the_cpu),
        cmocka_unit_test(states_go_along_to_another_machine),
        cmocka_unit_test(many_copies_move_on_the_device_the_engine_stands_on),
        cmocka_unit_test(geoms_stand_on_bodies_where_the_device_has_them),
        cmocka_unit_test(pictures_are_those_of_a_world_on_the_cpu),
        cmocka_unit_test(a_robot_that_diverged_is_drawn_where_it_was),
        cmocka_unit_test(contacts_and_the_hand_are_the_cpus),
#if ORR_CUDA_EMULATED
        cmocka_unit_test(stepping_and_drawing_wait_for_nothing),
        cmocka_unit_test(frames_of_a_robot_copy_nothing_but_what_frames_copy),
        cmocka_unit_test(without_room_for_bodies_the_host_reads_them),
        cmocka_unit_test(robots_that_a_device_cannot_hold_move_on_the_cpu),
        cmocka_unit_test(without_a_driver_robots_stay_where_they_are),
        cmocka_unit_test(a_device_that_fails_leaves_robots_on_the_cpu),
        cmocka_unit_test(bodies_of_a_frame_are_lost_with_their_device),
#endif
    };
    return cmocka_run_group_tests(tests, begin, end);
}
