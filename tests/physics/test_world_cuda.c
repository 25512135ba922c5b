// Tests of worlds on a CUDA device beyond what they share with the CPU's (ORR_TEST_DEVICE=cuda).
#include "engine/core/memory.h"
#include "engine/device/cuda_gpu.h"
#include "orr_features.h"
#include "physics/load/load.h"
#include "physics/simulation/world.h"
#include "tests/support/machine.h"
#include "tests/support/robots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#if ORR_CUDA_EMULATED
#include "tests/cuda_emu/emu.h"
#endif

static orr_model *load(const char *name)
{
    orr_model *model;
    assert_ok(orr_model_load(own_robot(name), &model, &error));
    return model;
}

// A leg that hops in a plane: small, as thousands of worlds take turns on the emulated device.
static orr_model *hopping_leg(void)
{
    static const char text[] =
        "<mujoco><option timestep='0.004' integrator='RK4'/><worldbody><geom type='plane' size='9 9 1'/>"
        "<body pos='0 0 0.62'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>"
        "<joint axis='0 1 0'/><geom type='box' size='.12 .08 .06' mass='3'/>"
        "<body><joint name='hip' axis='0 1 0' range='-90 40' damping='.5'/>"
        "<geom type='capsule' size='.035' fromto='0 0 0 0 0 -.28' mass='.8'/>"
        "<body pos='0 0 -.28'><joint name='knee' axis='0 1 0' range='0 140' damping='.5'/>"
        "<geom type='capsule' size='.03' fromto='0 0 0 0 0 -.28' mass='.5'/>"
        "<body pos='0 0 -.28'><joint name='ankle' axis='0 1 0' range='-40 40' damping='.5'/>"
        "<geom type='capsule' size='.03' fromto='-.06 0 0 .12 0 0' mass='.3'/></body></body></body></body>"
        "</worldbody><actuator><motor joint='hip' gear='20'/><motor joint='knee' gear='20'/>"
        "<motor joint='ankle' gear='10'/></actuator></mujoco>";
    orr_model *model;
    assert_ok(orr_model_parse(text, sizeof text - 1, "leg.xml", &model, &error));
    return model;
}

static orr_physics *make(const orr_model *model, int worlds, bool double_precision)
{
    orr_physics *physics = NULL;
    const orr_physics_desc desc = {
        .worlds = worlds, .double_precision = double_precision, .cuda = cuda, .team = team};
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    return physics;
}

// Controls that depend on the world only.
static void drive(orr_physics *physics, const orr_model *model)
{
    for (int world = 0; world < orr_physics_worlds(physics); world++) {
        double ctrl[64];
        for (int i = 0; i < model->nu; i++) {
            ctrl[i] = 0.4 * sin(1.0 + world * 3.7 + i);
        }
        orr_physics_set(physics, ORR_PHYSICS_CTRL, world, ctrl);
    }
}

// More blocks than a small GPU has scratch for are launched one after the other, with the same result.
static void a_world_moves_the_same_among_few_and_many(void **state)
{
    (void)state;
    enum { FEW = 5, MANY = 32 * (4 * 16 + 1) + 3 }; // the emulated GPU has scratch for 4 x 16 blocks
    orr_model *model = hopping_leg();
    orr_physics *few = make(model, FEW, false), *many = make(model, MANY, false),
                *again = make(model, MANY, false);
    drive(few, model);
    drive(many, model);
    drive(again, model);
    orr_physics_step(few, 40);
    orr_physics_step(many, 40);
    orr_physics_step(again, 13); // the same steps in other launches
    orr_physics_step(again, 27);
    size_t size =
        (size_t)model->nq + (size_t)model->nv + (size_t)model->nsensordata + 3 * (size_t)model->nbody;
    double *all[2];
    const orr_physics_quantity quantities[] = {ORR_PHYSICS_QPOS, ORR_PHYSICS_SENSORDATA, ORR_PHYSICS_XPOS,
                                               ORR_PHYSICS_QVEL};
    orr_physics *const both[2] = {many, again};
    for (int i = 0; i < 2; i++) {
        all[i] = orr_alloc(size * MANY, sizeof(double));
        assert_non_null(all[i]);
        orr_physics_read_all(both[i], quantities, 4, all[i]);
    }
    assert_memory_equal(all[0], all[1], size * MANY * sizeof(double));
    for (int world = 0; world < FEW; world++) {
        double one[64];
        orr_physics_get(few, ORR_PHYSICS_QPOS, world, one);
        assert_memory_equal(one, all[0] + (size_t)world * size, (size_t)model->nq * sizeof(double));
    }
    for (int world = MANY - 2; world < MANY; world++) { // of a block that waited
        double one[64];
        orr_physics_read(many, ORR_PHYSICS_XPOS, world, one);
        assert_memory_equal(one, all[0] + (size_t)world * size + model->nq + model->nsensordata,
                            3 * (size_t)model->nbody * sizeof(double));
    }
    assert_true(all[0][0] != all[0][size]); // worlds differ
    assert_ok(orr_physics_check(many, &error));
    for (int i = 0; i < 2; i++) {
        orr_free(all[i]);
    }
    orr_physics_destroy(few);
    orr_physics_destroy(many);
    orr_physics_destroy(again);
    orr_model_destroy(model);
}

// The whole state and quantities derived from it, after some steps.
static double *move_with(const orr_model *model, int threads, bool double_precision, size_t *count)
{
    enum { WORLDS = 9, STEPS = 12 };
    static const orr_physics_quantity quantities[] = {ORR_PHYSICS_QPOS, ORR_PHYSICS_QVEL, ORR_PHYSICS_ACT,
                                                      ORR_PHYSICS_QACC};
    const orr_physics_desc desc = {
        .worlds = WORLDS, .double_precision = double_precision, .cuda = cuda, .team = threads};
    orr_physics *physics;
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    drive(physics, model);
    for (int world = 0; world < WORLDS; world++) { // near the floor, each with its own contacts
        double qpos[64];
        orr_physics_get(physics, ORR_PHYSICS_QPOS, world, qpos);
        qpos[2] -= 0.1 * world;
        orr_physics_set(physics, ORR_PHYSICS_QPOS, world, qpos);
    }
    orr_physics_step(physics, STEPS);
    assert_ok(orr_physics_check(physics, &error));
    assert_true(orr_physics_contacts_needed(physics) > 0);
    *count = (size_t)(model->nq + 2 * model->nv + model->na) * WORLDS;
    double *numbers = orr_alloc(*count, sizeof(double));
    assert_non_null(numbers);
    orr_physics_read_all(physics, quantities, 4, numbers);
    orr_physics_destroy(physics);
    return numbers;
}

// One thread or eight, in whatever order they run: the bits are the same.
static void a_world_moves_the_same_for_a_team_of_any_size(void **state)
{
    (void)state;
    static const char *const names[] = {"biped", "quadruped"};
#if ORR_CUDA_EMULATED
    current_settings()->find_races = true;
#endif
    for (int robot = 0; robot < 4; robot++) {
        orr_model *model = load(names[robot / 2]);
        size_t count;
        double *alone = move_with(model, 1, robot % 2, &count);
        for (int threads = 2; threads <= 8; threads *= 2) {
            double *together = move_with(model, threads, robot % 2, &count);
            assert_memory_equal(alone, together, count * sizeof(double));
            orr_free(together);
        }
        orr_free(alone);
        orr_model_destroy(model);
    }
#if ORR_CUDA_EMULATED
    current_settings()->find_races = false;
#endif
    const orr_physics_desc desc = {.worlds = 2, .cuda = cuda, .team = 3};
    orr_model *model = load(names[1]);
    orr_physics *physics;
    orr_error error = {0};
    assert_int_equal(orr_physics_create(&desc, model, jobs, &physics, &error), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "team"));
    orr_model_destroy(model);
}

// Both sum the same formulas in double, and agree to rounding.
static void contacts_are_those_of_the_cpu(void **state)
{
    (void)state;
    orr_model *model = load("biped");
    orr_physics *device = make(model, 34, true), *host = NULL;
    const orr_physics_desc desc = {.worlds = 34, .double_precision = true};
    assert_ok(orr_physics_create(&desc, model, jobs, &host, &error));
    orr_physics *const both[2] = {device, host};
    orr_physics_contact contacts[2][16];
    int counts[2];
    for (int i = 0; i < 2; i++) {
        drive(both[i], model);
        orr_physics_step(both[i], 60); // on the floor
        counts[i] = orr_physics_contacts(both[i], 33, contacts[i], 16);
    }
    assert_true(counts[1] > 0 && counts[1] <= 16);
    assert_int_equal(counts[0], counts[1]);
    for (int i = 0; i < counts[1]; i++) {
        const orr_physics_contact *a = &contacts[0][i], *b = &contacts[1][i];
        assert_int_equal(a->geom1, b->geom1);
        assert_int_equal(a->geom2, b->geom2);
        assert_int_equal(a->dim, b->dim);
        assert_true(fabs(a->dist - b->dist) < 1e-9);
        assert_true(fabs(a->force[0] - b->force[0]) < 1e-6 * (1.0 + fabs(b->force[0])));
        assert_true(fabs(a->pos[0] - b->pos[0]) < 1e-9 && fabs(a->frame[2] - b->frame[2]) < 1e-9);
    }
    assert_int_equal(orr_physics_contacts(device, 33, NULL, 0), counts[0]);
    double jacp[2][3 * 64], jacr[2][3 * 64];
    for (int i = 0; i < 2; i++) {
        orr_physics_jacobian(both[i], 33, ORR_OBJECT_BODY, model->nbody - 1, NULL, jacp[i], jacr[i]);
    }
    for (int i = 0; i < 3 * model->nv; i++) {
        assert_true(fabs(jacp[0][i] - jacp[1][i]) < 1e-9 && fabs(jacr[0][i] - jacr[1][i]) < 1e-9);
    }
    orr_physics_destroy(device);
    orr_physics_destroy(host);
    orr_model_destroy(model);
}

static void what_is_set_for_all_worlds_arrives(void **state)
{
    (void)state;
    enum { WORLDS = 40 };
    orr_model *model = hopping_leg();
    orr_physics *physics = make(model, WORLDS, false);
    float speeds[WORLDS * 6];
    double speed[6];
    for (int i = 0; i < WORLDS * 6; i++) {
        speeds[i] = 0.25f * (float)i;
    }
    assert_int_equal(model->nv, 6);
    orr_physics_step(physics, 1);
    orr_physics_set_all_f32(physics, ORR_PHYSICS_QVEL, speeds);
    orr_physics_forward(physics); // the state is copied to the device and back
    orr_physics_reset(physics, 3);
    for (int world = 0; world < WORLDS; world++) {
        orr_physics_get(physics, ORR_PHYSICS_QVEL, world, speed);
        for (int i = 0; i < 6; i++) {
            assert_true(speed[i] == (world == 3 ? 0.0 : 0.25 * (double)(world * 6 + i)));
        }
    }
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

static void fields_can_be_used_where_they_are(void **state)
{
    (void)state;
    enum { WORLDS = 40, WORLD = 37 };
    orr_model *model = hopping_leg();
    orr_physics *physics = make(model, WORLDS, false), *host = NULL;
    orr_physics_view view;
    float block[32 * 3 * 16];
    double expected[3 * 16], qpos[6];
    drive(physics, model);
    orr_physics_step(physics, 5);
    assert_true(model->nbody <= 16);
    orr_physics_read(physics, ORR_PHYSICS_XPOS, WORLD, expected);
    assert_ok(orr_physics_device_view(physics, ORR_PHYSICS_XPOS, &view, &error));
    assert_int_equal(view.count, 3 * model->nbody);
    const char *second = (const char *)view.numbers + view.block_bytes;
    assert_ok(orr_cuda_download(cuda, block, second, 32 * sizeof(float) * (size_t)view.count, &error));
    for (int i = 0; i < view.count; i++) {
        assert_true((double)block[32 * i + WORLD - 32] == expected[i]);
    }
    // what others write there is the worlds' state
    float moved[32];
    for (int i = 0; i < 32; i++) {
        moved[i] = 0.5f + (float)i;
    }
    assert_ok(orr_physics_device_view(physics, ORR_PHYSICS_QPOS, &view, &error));
    char *height_of_worlds = (char *)view.numbers + view.block_bytes + 32 * sizeof(float);
    assert_ok(orr_cuda_upload(cuda, height_of_worlds, moved, sizeof moved, &error));
    orr_physics_get(physics, ORR_PHYSICS_QPOS, WORLD, qpos);
    assert_true(qpos[1] == 0.5 + (WORLD - 32));
    const orr_physics_desc desc = {.worlds = 2};
    assert_ok(orr_physics_create(&desc, model, jobs, &host, &error));
    assert_int_equal(orr_physics_device_view(host, ORR_PHYSICS_QPOS, &view, NULL), ORR_ERROR_ARGUMENT);
    orr_physics_destroy(host);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// One world's poses of bodies for drawing: as they were at the call, and not changed by other worlds.
static void bodies_can_be_used_where_they_are(void **state)
{
    (void)state;
    enum { WORLDS = 70, BODIES = 16 };
    orr_model *model = hopping_leg();
    assert_true(model->nbody <= BODIES);
    for (int precision = 0; precision < 2; precision++) {
        orr_physics *physics = make(model, WORLDS, precision == 1);
        static const int worlds[] = {0, 33, WORLDS - 1};
        drive(physics, model);
        orr_physics_step(physics, 9);
        for (int i = 0; i < 3; i++) {
            orr_physics_bodies bodies = {0};
            double xpos[3 * BODIES], xquat[4 * BODIES];
            float position[3 * BODIES], rotation[4 * BODIES];
            orr_physics_read(physics, ORR_PHYSICS_XPOS, worlds[i], xpos);
            orr_physics_read(physics, ORR_PHYSICS_XQUAT, worlds[i], xquat);
            assert_ok(orr_physics_device_bodies(physics, worlds[i], &bodies, &error));
            orr_physics_step(physics, 2); // later work in the stream
            assert_int_equal(bodies.count, model->nbody);
            size_t count = (size_t)model->nbody;
            assert_ok(orr_cuda_download(cuda, position, bodies.position, 3 * count * sizeof(float), &error));
            assert_ok(orr_cuda_download(cuda, rotation, bodies.rotation, 4 * count * sizeof(float), &error));
            for (int k = 0; k < 4 * model->nbody; k++) {
                assert_true(rotation[k] == (float)xquat[k]);
                assert_true(k >= 3 * model->nbody || position[k] == (float)xpos[k]);
            }
            orr_physics_bodies_release(&bodies);
            assert_null(bodies.memory);
        }
        assert_ok(orr_physics_check(physics, &error));
        orr_physics_destroy(physics);
    }
    const orr_physics_desc desc = {.worlds = 2};
    orr_physics *host;
    orr_physics_bodies bodies = {0};
    assert_ok(orr_physics_create(&desc, model, jobs, &host, &error));
    assert_int_equal(orr_physics_device_bodies(host, 0, &bodies, NULL), ORR_ERROR_ARGUMENT);
    assert_null(orr_physics_cuda(host));
    orr_physics_destroy(host);
    orr_model_destroy(model);
}

// Divergence is recorded on the device, launch after launch, until the host reads it.
static void a_world_that_diverged_stays_so_until_it_is_set(void **state)
{
    (void)state;
    enum { WORLDS = 40, WORLD = 35 };
    orr_model *model = hopping_leg();
    orr_physics *physics = make(model, WORLDS, false);
    double speed[6] = {0.0, NAN, 0.0, 0.0, 0.0, 0.0}, position[6], xpos[3 * 16];
    orr_physics_step(physics, 1);
    orr_physics_set(physics, ORR_PHYSICS_QVEL, WORLD, speed); // is copied to the device by the call
    orr_physics_step(physics, 1);
    orr_physics_read(physics, ORR_PHYSICS_XPOS, 0, xpos); // records nothing
    orr_physics_step(physics, 1);
    for (int world = 0; world < WORLDS; world++) {
        assert_int_equal(orr_physics_diverged(physics, world), world == WORLD);
    }
    orr_physics_step(physics, 1);
    orr_physics_reset(physics, WORLD); // by the host
    orr_physics_step(physics, 1);
    assert_false(orr_physics_diverged(physics, WORLD));
    orr_physics_set(physics, ORR_PHYSICS_QVEL, WORLD, speed);
    orr_physics_step(physics, 1);
    orr_physics_get(physics, ORR_PHYSICS_QPOS, 0, position);
    orr_physics_step(physics, 1);
    orr_physics_set(physics, ORR_PHYSICS_QPOS, WORLD, position); // the speeds are still infinite
    assert_false(orr_physics_diverged(physics, WORLD));
    orr_physics_step(physics, 1);
    assert_true(orr_physics_diverged(physics, WORLD));
    assert_ok(orr_physics_check(physics, &error));
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// Spheres of a body among as many that are fixed: all touch when it has fallen far enough.
static orr_model *spheres_among_spheres(void)
{
    enum { SPHERES = 50 };
    static const char *const bodies[] = {"<mujoco><option timestep='.01'/><worldbody>",
                                         "<body pos='0 0 .45'><freejoint/>"};
    char text[SPHERES * 160 + 400];
    size_t used = 0;
    for (int body = 0; body < 2; body++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", bodies[body]);
        for (int i = 0; i < SPHERES; i++) {
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "<geom size='.2' pos='%g %g 0' mass='.02'/>", 0.002 * (i % 7),
                                     0.002 * (i / 7));
        }
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "</body></worldbody></mujoco>");
    orr_model *model;
    assert_ok(orr_model_parse(text, used, "spheres.xml", &model, &error));
    return model;
}

// Calls that find more contacts than there is room for take more, and leave the bits that they would have
// left with all of it from the start.
static void room_for_contacts_grows(void **state)
{
    (void)state;
    enum { WORLDS = 3, FIRST = 2048, ALL = 2500, NUMBERS = 7 + 2 * 6 + 1 };
    static const orr_physics_quantity read[] = {ORR_PHYSICS_QPOS, ORR_PHYSICS_QVEL, ORR_PHYSICS_QACC,
                                                ORR_PHYSICS_TIME};
    static const uint8_t mask[WORLDS] = {1, 0, 1};
    orr_model *model = spheres_among_spheres();
    orr_physics_contact *contacts = orr_alloc(ALL, sizeof *contacts);
    double numbers[2][WORLDS * NUMBERS], down[6] = {0.0, 0.0, -3.0, 0.0, 0.0, 0.0};
    assert_non_null(contacts);
    for (int i = 0; i < 2; i++) {
        const orr_physics_desc desc = {
            .worlds = WORLDS, .contact_capacity = i * ALL, .cuda = cuda, .team = team};
        orr_physics *physics;
        assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
        assert_int_equal(orr_physics_contact_capacity(physics), i == 0 ? FIRST : ALL);
        for (int world = 0; world < WORLDS; world++) {
            down[2] = -3.0 - 0.1 * world;
            orr_physics_set(physics, ORR_PHYSICS_QVEL, world, down);
        }
        orr_physics_step_masked(physics, 3, mask); // the second of these steps finds too many
        orr_physics_read_all(physics, read, 4, numbers[i]);
        assert_ok(orr_physics_check(physics, &error));
        assert_int_equal(orr_physics_contacts_needed(physics), ALL);
        assert_true(orr_physics_contact_capacity(physics) >= ALL);
        assert_int_equal(orr_physics_contacts(physics, 2, contacts, ALL), ALL);
        assert_int_equal(orr_physics_contacts(physics, 1, contacts, ALL), 0);
        orr_physics_destroy(physics);
    }
    assert_memory_equal(numbers[0], numbers[1], sizeof numbers[0]);
    orr_free(contacts);
    orr_model_destroy(model);
}

// Where contacts are only read, too.
static void reading_contacts_makes_room(void **state)
{
    (void)state;
    enum { ALL = 2500 };
    orr_model *model = spheres_among_spheres();
    orr_physics *physics = make(model, 1, false);
    orr_physics_contact *contacts = orr_alloc(ALL, sizeof *contacts);
    double qpos[7] = {0.0, 0.0, 0.38, 1.0, 0.0, 0.0, 0.0};
    assert_non_null(contacts);
    orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, qpos);
    assert_int_equal(orr_physics_contacts(physics, 0, contacts, ALL), ALL);
    assert_true(contacts[ALL - 1].geom1 != contacts[0].geom1);
    orr_physics_destroy(physics);
    orr_free(contacts);
    orr_model_destroy(model);
}

#if ORR_CUDA_EMULATED
// Where the device has no memory for more, the worlds are as before the call, which is an error; they go on
// when there is.
static void too_little_memory_for_contacts_is_one_line(void **state)
{
    (void)state;
    orr_model *model = spheres_among_spheres();
    orr_physics *physics = make(model, 1, false);
    orr_error error = {0};
    double qpos[7] = {0.0, 0.0, 0.38, 1.0, 0.0, 0.0, 0.0}, after[7];
    orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, qpos);
    orr_physics_step(physics, 0);
    assert_ok(orr_physics_check(physics, &error));
    current_settings()->memory = 1 << 20;
    orr_physics_step(physics, 1);
    assert_int_equal(orr_physics_check(physics, &error), ORR_ERROR_MEMORY);
    assert_non_null(strstr(error.message, "out of memory"));
    assert_null(strchr(error.message, '\n'));
    orr_physics_get(physics, ORR_PHYSICS_QPOS, 0, after);
    assert_true(after[2] == (double)(float)qpos[2]);
    current_settings()->memory = 0;
    orr_physics_step(physics, 1);
    assert_ok(orr_physics_check(physics, &error));
    orr_physics_get(physics, ORR_PHYSICS_QPOS, 0, after);
    assert_true(after[2] > qpos[2]); // pushed out
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// The emulated device does nothing until a call waits.
static void steps_return_at_once(void **state)
{
    (void)state;
    orr_model *model = load("quadruped");
    orr_physics *physics = make(model, 40, false);
    double ctrl[64] = {0.25}, seconds;
    orr_physics_step(physics, 1);
    assert_ok(orr_physics_check(physics, &error));
    size_t copies = copies_to_host();
    for (int i = 0; i < 3; i++) {
        ctrl[1] = 0.1 * i;
        orr_physics_set(physics, ORR_PHYSICS_CTRL, 34, ctrl);
        orr_physics_step(physics, 10);
    }
    ctrl[0] = ctrl[1] = 0.0; // the caller's array is no longer needed
    assert_int_equal(cudaStreamQuery(cuda->stream), cudaErrorNotReady);
    assert_ok(orr_physics_status(physics, &error));
    assert_int_equal(copies_to_host(), copies);
    assert_true(orr_physics_contacts_needed(physics) > 0);
    assert_int_equal(copies_to_host(), copies + 1);
    assert_false(orr_physics_diverged(physics, 7)); // known already
    assert_int_equal(copies_to_host(), copies + 1);
    orr_physics_get(physics, ORR_PHYSICS_CTRL, 34, ctrl);
    orr_physics_get(physics, ORR_PHYSICS_TIME, 34, &seconds);
    assert_true(ctrl[0] == 0.25 && fabs(ctrl[1] - 0.2) < 1e-7);
    assert_true(fabs(seconds - 31 * model->opt.timestep) < 1e-5);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

static void a_full_device_is_one_line(void **state)
{
    (void)state;
    orr_model *model = hopping_leg();
    orr_physics *physics = NULL;
    orr_error error = {0};
    size_t allocations = live_allocations();
    current_settings()->memory = 1 << 20;
    const orr_physics_desc desc = {.worlds = 1000, .cuda = cuda, .team = team};
    assert_int_equal(orr_physics_create(&desc, model, jobs, &physics, &error), ORR_ERROR_MEMORY);
    assert_non_null(strstr(error.message, "out of memory"));
    assert_null(strchr(error.message, '\n'));
    current_settings()->memory = 0;
    assert_int_equal(live_allocations(), allocations); // all memory is freed
    orr_model_destroy(model);
}

static void a_device_that_fails_is_reported_and_worlds_do_not_change(void **state)
{
    (void)state;
    orr_model *model = hopping_leg();
    orr_physics *physics = make(model, 3, true);
    double before[6], after[6];
    orr_error error = {0};
    orr_physics_step(physics, 3);
    orr_physics_get(physics, ORR_PHYSICS_QPOS, 1, before);
    current_settings()->fail_call = 1;
    current_settings()->fail_with = 719; // cudaErrorLaunchFailure
    orr_physics_step(physics, 3);
    orr_physics_step(physics, 3);
    orr_physics_get(physics, ORR_PHYSICS_QPOS, 1, after);
    assert_int_not_equal(orr_physics_check(physics, &error), ORR_OK);
    assert_non_null(strstr(error.message, "CUDA: "));
    assert_memory_equal(before, after, (size_t)model->nq * sizeof(double));
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_world_moves_the_same_among_few_and_many),
        cmocka_unit_test(a_world_moves_the_same_for_a_team_of_any_size),
        cmocka_unit_test(contacts_are_those_of_the_cpu),
        cmocka_unit_test(what_is_set_for_all_worlds_arrives),
        cmocka_unit_test(room_for_contacts_grows),
        cmocka_unit_test(reading_contacts_makes_room),
        cmocka_unit_test(fields_can_be_used_where_they_are),
        cmocka_unit_test(bodies_can_be_used_where_they_are),
        cmocka_unit_test(a_world_that_diverged_stays_so_until_it_is_set),
#if ORR_CUDA_EMULATED
        cmocka_unit_test(too_little_memory_for_contacts_is_one_line),
        cmocka_unit_test(steps_return_at_once),
        cmocka_unit_test(a_full_device_is_one_line),
        cmocka_unit_test(a_device_that_fails_is_reported_and_worlds_do_not_change),
#endif
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
