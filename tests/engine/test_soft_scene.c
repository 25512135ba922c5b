// Soft layers among the bodies of a scene: they rest, drape, are held, and sleep.
#define ORR_SCALAR
#include "engine/loop/world/soft/soft_contact.h"
#include "engine/loop/world/soft/soft_sleep.h"
#include "engine/loop/world/soft/world_soft.h"
#include "tests/support/engine.h"
#include "tests/support/scenes/soft_meshes.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char box_model[] =
    "<mujoco><option timestep='%g'/><worldbody><geom type='plane' size='0 0 1'/><body pos='0 0 0.3'>"
    "<freejoint/><geom type='box' size='0.1 0.1 0.05' mass='1'/></body></worldbody></mujoco>";

static const float half[3] = {0.2f, 0.2f, 0.1f};
static const orr_body_desc jelly = {
    .soft = true, .resolution = 8, .density = 100.0, .young = 3e4, .poisson = 0.3, .damping = 0.02};

typedef struct fixture {
    orr_scene *scene;
    orr_world *world;
    orr_layer box, block;
} fixture;

// A step of the box of 4 ms is one of the block's.
static void open_with(fixture *f, int worlds, double time_step)
{
    char text[512];
    snprintf(text, sizeof text, box_model, time_step);
    const orr_transform at = {.position = {0.0f, 0.0f, 0.105f}};
    assert_ok(orr_scene_create(engine, &f->scene, &error));
    assert_ok(orr_scene_add_file(f->scene, written("box.xml", text), NULL, &f->box, &error));
    f->block = add_block(f->scene, half, &at, 12);
    assert_ok(orr_scene_set_physics(f->scene, f->block, &jelly, &error));
    assert_ok(orr_world_create(f->scene, worlds, &f->world, &error));
}

static void open(fixture *f, int worlds)
{
    open_with(f, worlds, 4e-3);
}

static void close(fixture *f)
{
    orr_world_destroy(f->world);
    orr_scene_destroy(f->scene);
}

static const orr_world_soft *soft_of(const fixture *f)
{
    return orr_world_soft_find(f->world, &f->scene->layers[orr_scene_find(f->scene, f->block)]);
}

// The least and the largest height of its vertices.
static void heights_of(const orr_world_soft *s, int index, double *low, double *high)
{
    const double *x = orr_world_soft_positions(s, index);
    *low = INFINITY, *high = -INFINITY;
    for (int i = 0; i < s->layer->cage->vertices; i++) {
        *low = fmin(*low, x[3 * i + 2]), *high = fmax(*high, x[3 * i + 2]);
    }
}

static void heights(const fixture *f, int index, double *low, double *high)
{
    heights_of(soft_of(f), index, low, high);
}

static void rest_on_a_soft_block(double time_step)
{
    fixture f;
    double q[7], v[6], low, high, force = 0.0;
    open_with(&f, 1, time_step);
    assert_ok(orr_world_advance(f.world, 2.0, &error));
    for (int i = 0; i < 50; i++) {
        assert_ok(orr_world_step(f.world, 1, &error));
        force += f.world->robots->physics[0]->pushed[8] / 50.0; // on the box, along z
    }
    if (!(fabs(force - 9.81) < 0.01 * 9.81)) {
        fail_msg("force %g: expected 9.81", force);
    }
    assert_ok(orr_world_get_robot(f.world, 0, f.box, ORR_ROBOT_QPOS, q, &error));
    assert_ok(orr_world_get_robot(f.world, 0, f.box, ORR_ROBOT_QVEL, v, &error));
    heights(&f, 0, &low, &high);
    assert_true(low > -2e-3 && low < 2e-3 && high > 0.18);
    // 9.81 N on a quarter of the block's face: some millimetres
    assert_true(q[2] - 0.05 < 0.1995 && q[2] - 0.05 > 0.17);
    for (int i = 0; i < 6; i++) {
        assert_true(fabs(v[i]) < 1e-2);
    }
    double applied[12];
    assert_ok(orr_world_get_robot(f.world, 0, f.box, ORR_ROBOT_FORCE, applied, &error));
    assert_true(applied[8] == 0.0); // a program sees its own forces alone
    close(&f);
}

static void a_box_rests_on_a_soft_block(void **state)
{
    (void)state;
    rest_on_a_soft_block(4e-3);
}

// Four steps of the box to one of the block's.
static void a_box_of_short_steps_rests_on_a_soft_block(void **state)
{
    (void)state;
    rest_on_a_soft_block(1e-3);
}

// One cell of 2 x 2 m, its rows from the greatest y on, that is folded along its diagonal: a ridge of height
// 0.2 min(u, v) m.
static const orr_world_soft *add_jelly(const fixture *f, const float size[3], float height)
{
    const orr_transform at = {.position = {0.0f, 0.0f, height}};
    const orr_layer layer = add_block(f->scene, size, &at, 12);
    assert_ok(orr_scene_set_physics(f->scene, layer, &jelly, &error));
    assert_ok(orr_world_advance(f->world, 2.0, &error));
    return orr_world_soft_find(f->world, &f->scene->layers[orr_scene_find(f->scene, layer)]);
}

// The box of 1 kg lies between two soft blocks: what the lower one carries more, the upper one presses.
static void a_box_rests_between_soft_blocks(void **state)
{
    (void)state;
    fixture f;
    const float small[3] = {0.08f, 0.08f, 0.06f};
    double q[7], low, high, force = 0.0;
    open(&f, 1);
    const orr_world_soft *upper = add_jelly(&f, small, 0.43f);
    for (int i = 0; i < 50; i++) {
        assert_ok(orr_world_step(f.world, 1, &error));
        force += f.world->robots->physics[0]->pushed[8] / 50.0;
    }
    assert_ok(orr_world_get_robot(f.world, 0, f.box, ORR_ROBOT_QPOS, q, &error));
    heights_of(upper, 0, &low, &high);
    assert_true(fabs(force - 9.81) < 0.01 * 9.81);
    assert_true(fabs(low - (q[2] + 0.05)) < 2e-3 && high > low + 0.1);
    close(&f);
}

// Without the box: it is thrown aside.
static void soft_blocks_lie_on_each_other(void **state)
{
    (void)state;
    fixture f;
    const float small[3] = {0.08f, 0.08f, 0.06f};
    const double aside[7] = {2.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0};
    double low, high, top, ground;
    open(&f, 1);
    assert_ok(orr_world_set_robot(f.world, 0, f.box, ORR_ROBOT_QPOS, aside, &error));
    const orr_world_soft *upper = add_jelly(&f, small, 0.3f);
    heights_of(upper, 0, &low, &high);
    heights(&f, 0, &ground, &top);
    assert_true(ground > -2e-3 && high > low + 0.1);
    assert_true(low > 0.18 && low < top + 2e-3);
    close(&f);
}

static void a_block_rests_on_the_ridge_of_a_height_field(void **state)
{
    (void)state;
    fixture f;
    double deepest = INFINITY;
    const orr_transform at = {.position = {0.0f, 0.0f, 0.22f}};
    assert_ok(orr_scene_create(engine, &f.scene, &error));
    assert_ok(orr_scene_add_file(
        f.scene,
        written("ridge.xml", "<mujoco><asset><hfield name='ridge' nrow='2' ncol='2' size='1 1 0.2 0.1' "
                             "elevation='0 1 0 0'/></asset><worldbody><geom type='hfield' hfield='ridge'/>"
                             "</worldbody></mujoco>"),
        NULL, &f.box, &error));
    f.block = add_block(f.scene, half, &at, 12);
    assert_ok(orr_scene_set_physics(f.scene, f.block, &jelly, &error));
    assert_ok(orr_world_create(f.scene, 1, &f.world, &error));
    assert_ok(orr_world_advance(f.world, 1.5, &error));
    const orr_model *m = f.world->robots->physics[0]->model;
    const float *corner = m->hfield_data;
    assert_true(corner[3] == 1.0f && corner[0] + corner[1] + corner[2] == 0.0f);
    const orr_world_soft *s = soft_of(&f);
    const double *x = orr_world_soft_positions(s, 0);
    for (int i = 0; i < s->layer->cage->vertices; i++, x += 3) {
        deepest = fmin(deepest, x[2] - 0.1 * (1.0 + fmin(x[0], x[1])));
    }
    if (!(deepest > -3e-3 && deepest < 3e-3)) {
        fail_msg("lowest vertex %g m above the ridge: expected 0", deepest);
    }
    close(&f);
}

enum { SHEET = 17, FINE_SHEET = 33 }; // vertices along a side

static const char ball_model[] =
    "<mujoco><option timestep='0.004'/><worldbody><geom type='plane' size='0 0 1'/>"
    "<geom type='sphere' size='0.15' pos='0 0 0.15'/></worldbody></mujoco>";

// A cloth falls on a ball: its vertices stay out of it by a sixth of its thickness, its middle lies on top,
// its rim hangs, and it is drawn where its triangles are.
static void cloth_drapes_over_a_ball(void **state)
{
    (void)state;
    fixture f;
    const orr_body_desc cloth = {.soft = true, .cloth = 0.006, .density = 250.0, .young = 2e5};
    const orr_transform at = {.position = {0.0f, 0.0f, 0.35f}};
    assert_ok(orr_scene_create(engine, &f.scene, &error));
    assert_ok(orr_scene_add_file(f.scene, written("ball.xml", ball_model), NULL, &f.box, &error));
    f.block = add_sheet(f.scene, SHEET, 0.04f, &at);
    assert_ok(orr_scene_set_physics(f.scene, f.block, &cloth, &error));
    assert_ok(orr_world_create(f.scene, 1, &f.world, &error));
    assert_ok(orr_world_advance(f.world, 1.5, &error));
    const orr_world_soft *s = soft_of(&f);
    const orr_soft_cage *cage = s->layer->cage;
    assert_int_equal(cage->vertices, SHEET * SHEET);
    assert_int_equal(cage->triangles, (SHEET - 1) * (SHEET - 1) * 2);
    double deepest = INFINITY, top = -INFINITY, bottom = INFINITY;
    for (int i = 0; i < cage->vertices; i++) {
        const double *x = orr_world_soft_positions(s, 0) + 3 * (ptrdiff_t)i;
        const double up = x[2] - 0.15, ball = sqrt(x[0] * x[0] + x[1] * x[1] + up * up) - 0.15;
        deepest = fmin(deepest, fmin(ball, x[2]));
        top = fmax(top, x[2]);
        bottom = fmin(bottom, x[2]);
    }
    print_message("deepest %.4f m, top %.4f m, bottom %.4f m\n", deepest, top, bottom);
    assert_true(deepest > 0.001 && top > 0.29 && top < 0.32 && bottom < 0.1);
    // the drawn vertices are the cloth's
    orr_affine_piece *pieces = malloc((size_t)orr_soft_pieces(cage) * sizeof *pieces);
    orr_soft_affines(cage, orr_world_soft_positions(s, 0), s->layer->scale, f.scene->context.jobs, pieces);
    const orr_mesh *mesh = f.scene->layers[orr_scene_find(f.scene, f.block)].mesh;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        const orr_affine_piece *p = &pieces[s->layer->piece[v]];
        double nearest = INFINITY, at_v[3];
        for (int k = 0; k < 3; k++) {
            at_v[k] = (double)p->offset[k];
            for (int c = 0; c < 3; c++) {
                at_v[k] += (double)p->matrix[3 * k + c] * (double)mesh->vertices[v].position[c];
            }
        }
        for (int i = 0; i < cage->vertices; i++) {
            double d[3];
            for (int k = 0; k < 3; k++) {
                d[k] = orr_world_soft_positions(s, 0)[3 * (ptrdiff_t)i + k] - at_v[k];
            }
            nearest = fmin(nearest, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
        }
        assert_true(nearest < 1e-5);
    }
    free(pieces);
    close(&f);
}

// Where the vertices of a cloth are that falls on a ball: several blocks of vertices and triangles for the
// threads that search for contacts.
static void drape_with(int threads, double *position)
{
    const orr_engine_desc desc = {.threads = threads, .device = ORR_DEVICE_CPU};
    const orr_body_desc cloth = {.soft = true, .cloth = 0.006, .density = 250.0, .young = 2e5};
    const orr_transform at = {.position = {0.01f, 0.0f, 0.302f}};
    orr_engine *own;
    fixture f;
    assert_ok(orr_engine_create(&desc, &own, &error));
    assert_ok(orr_scene_create(own, &f.scene, &error));
    assert_ok(orr_scene_add_file(f.scene, written("ball.xml", ball_model), NULL, &f.box, &error));
    f.block = add_sheet(f.scene, FINE_SHEET, 0.03f, &at);
    assert_ok(orr_scene_set_physics(f.scene, f.block, &cloth, &error));
    assert_ok(orr_world_create(f.scene, 1, &f.world, &error));
    assert_ok(orr_world_advance(f.world, 0.2, &error));
    memcpy(position, orr_world_soft_positions(soft_of(&f), 0),
           FINE_SHEET * FINE_SHEET * 3 * sizeof *position);
    close(&f);
    orr_engine_destroy(own);
}

static void threads_do_not_change_the_bits_of_contacts(void **state)
{
    (void)state;
    static double one[FINE_SHEET * FINE_SHEET * 3], other[FINE_SHEET * FINE_SHEET * 3];
    const int threads[] = {2, 3, 5};
    drape_with(1, one);
    const double *middle = one + 3 * (ptrdiff_t)(FINE_SHEET * FINE_SHEET / 2);
    assert_true(middle[2] > 0.29 && one[2] < 0.25); // it lies on the ball, and its corners hang
    for (int i = 0; i < 3; i++) {
        drape_with(threads[i], other);
        assert_memory_equal(one, other, sizeof one);
    }
}

// A cloth held at two corners swings down from them, and is not longer than it was by a tenth.
static void pins_hold_a_cloth(void **state)
{
    (void)state;
    fixture f;
    const orr_body_desc cloth = {.soft = true,
                                 .cloth = 0.004,
                                 .young = 2e5,
                                 .pin = {{-0.32f, -0.32f, 0.0f, 0.01f}, {0.32f, -0.32f, 0.0f, 0.01f}},
                                 .pins = 2};
    const orr_transform at = {.position = {0.0f, 0.0f, 1.0f}};
    assert_ok(orr_scene_create(engine, &f.scene, &error));
    assert_ok(orr_scene_add_file(f.scene, written("ball.xml", ball_model), NULL, &f.box, &error));
    f.block = add_sheet(f.scene, SHEET, 0.04f, &at);
    assert_ok(orr_scene_set_physics(f.scene, f.block, &cloth, &error));
    assert_ok(orr_world_create(f.scene, 1, &f.world, &error));
    int held = 0;
    double low, high, lowest = INFINITY;
    for (int i = 0; i < 20; i++) {
        assert_ok(orr_world_advance(f.world, 0.05, &error));
        heights(&f, 0, &low, &high);
        lowest = fmin(lowest, low);
    }
    const orr_world_soft *s = soft_of(&f);
    for (int i = 0; i < s->layer->cage->vertices; i++) {
        const double *x = orr_world_soft_positions(s, 0) + 3 * (ptrdiff_t)i;
        held += fabs(fabs(x[0]) - 0.32) < 1e-6 && fabs(x[1] + 0.32) < 1e-6 && fabs(x[2] - 1.0) < 1e-6;
    }
    assert_int_equal(held, 2);
    print_message("swings down to %.3f m\n", lowest);
    assert_true(lowest < 0.4 && lowest > 1.0 - 1.1 * 0.64);
    close(&f);
}

// Cloth of two triangles a metre wide holds what is much smaller than they are, away from their corners.
static void small_things_rest_on_wide_triangles(void **state)
{
    (void)state;
    static const struct {
        const char *geom;
        double half; // height of its centre on a plane
    } things[] = {{"<geom type='sphere' size='0.05' mass='0.5'/>", 0.05},
                  {"<geom type='capsule' size='0.02 0.06' euler='90 0 0' mass='0.5'/>", 0.02},
                  {"<geom type='box' size='0.04 0.04 0.02' mass='0.5'/>", 0.02},
                  {"<geom type='cylinder' size='0.05 0.02' mass='0.5'/>", 0.02},
                  {"<geom type='mesh' mesh='block' mass='0.5'/>", 0.02}};
    static const float corners[12] = {-0.5f, -0.5f, 0.0f, 0.5f,  -0.5f, 0.0f,
                                      0.5f,  0.5f,  0.0f, -0.5f, 0.5f,  0.0f};
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    const orr_mesh_desc mesh = {
        .vertex_count = 4, .index_count = 6, .positions = corners, .indices = indices};
    orr_body_desc cloth = {.soft = true, .cloth = 0.01, .young = 1e6, .pins = 3};
    for (int i = 0; i < 3; i++) { // the fourth corner gives way
        memcpy(cloth.pin[i], corners + 3 * i, 3 * sizeof(float));
        cloth.pin[i][3] = 0.01f;
    }
    for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
        fixture f;
        char model[600];
        double q[7], lowest = INFINITY;
        snprintf(model, sizeof model,
                 "<mujoco><option timestep='0.004'/><asset><mesh name='block' vertex='-.04 -.04 -.02 .04 "
                 "-.04 -.02 "
                 "-.04 .04 -.02 .04 .04 -.02 -.04 -.04 .02 .04 -.04 .02 -.04 .04 .02 .04 .04 .02'/></asset>"
                 "<worldbody><body pos='0.2 -0.25 %g'><freejoint/>%s</body>"
                 "</worldbody></mujoco>",
                 0.1 + things[i].half, things[i].geom);
        assert_ok(orr_scene_create(engine, &f.scene, &error));
        assert_ok(orr_scene_add_file(f.scene, written("thing.xml", model), NULL, &f.box, &error));
        assert_ok(orr_scene_add_mesh(f.scene, "cloth", &mesh, NULL, &f.block, &error));
        assert_ok(orr_scene_set_physics(f.scene, f.block, &cloth, &error));
        assert_ok(orr_world_create(f.scene, 1, &f.world, &error));
        for (int step = 0; step < 40; step++) {
            assert_ok(orr_world_advance(f.world, 0.05, &error));
            assert_ok(orr_world_get_robot(f.world, 0, f.box, ORR_ROBOT_QPOS, q, &error));
            lowest = fmin(lowest, q[2]);
        }
        print_message("%zu: its centre comes down to %.4f m, and rests at %.4f\n", i, lowest, q[2]);
        // on half the cloth's thickness; pinned corners do not give way
        assert_true(fabs(q[2] - things[i].half - 0.005) < 2e-3 && lowest > things[i].half - 5e-3);
        close(&f);
    }
}

static const char hook_model[] =
    "<mujoco><option timestep='0.004'/><worldbody><body name='hook' pos='0 0 1' euler='0 0 90'>"
    "<joint type='slide' axis='0 0 1' stiffness='2000' damping='80'/>"
    "<geom type='box' size='0.02 0.02 0.02' mass='1' contype='0' conaffinity='0'/></body>"
    "<body pos='3 0 0'><geom size='1'/></body></worldbody></mujoco>";

// A soft block hangs from a body on a spring, which carries the weight of both.
static void a_body_holds_a_soft_block(void **state)
{
    (void)state;
    fixture f;
    orr_body_desc held = jelly;
    const orr_transform at = {.position = {0.1f, 0.0f, -0.1f}}; // of the hook's frame
    held.pins = 1, held.pin[0][2] = 0.1f, held.pin[0][3] = 0.12f;
    assert_ok(orr_scene_create(engine, &f.scene, &error));
    assert_ok(orr_scene_add_file(f.scene, written("hook.xml", hook_model), NULL, &f.box, &error));
    f.block = add_block(f.scene, half, &at, 12);
    assert_ok(orr_scene_bind(f.scene, f.block, f.box, "hook", &error));
    assert_ok(orr_scene_set_physics(f.scene, f.block, &held, &error));
    assert_ok(orr_world_create(f.scene, 2, &f.world, &error));
    assert_ok(orr_world_advance(f.world, 0.004, &error));
    const orr_world_soft *s = soft_of(&f);
    const int vertices = s->layer->cage->vertices;
    double low, high, q, mass = 1.0;
    heights(&f, 1, &low, &high);
    assert_true(fabs(low - 0.8) < 1e-3 && fabs(high - 1.0) < 1e-3 && s->layer->ties > 3);
    assert_ok(orr_world_advance(f.world, 3.0, &error));
    assert_ok(orr_world_get_robot(f.world, 1, f.box, ORR_ROBOT_QPOS, &q, &error));
    for (int i = 0; i < vertices; i++) {
        mass += orr_soft_masses(s->layer->model)[i];
    }
    if (!(fabs(q + mass * 9.81 / 2000.0) < 0.01 * mass * 9.81 / 2000.0)) {
        fail_msg("the spring gives way by %g m: expected %g", -q, mass * 9.81 / 2000.0);
    }
    for (int i = 0; i < s->layer->ties; i++) { // turned by 90 degrees: x is -y of the block, moved
        const double *rest = s->layer->cage->vertex + 3 * (ptrdiff_t)s->layer->tie[i];
        const double *x = orr_world_soft_positions(s, 1) + 3 * (ptrdiff_t)s->layer->tie[i];
        assert_true(fabs(x[0] + rest[1]) < 2e-3 && fabs(x[1] - 0.1 - rest[0]) < 2e-3);
        assert_true(fabs(x[2] - (0.9 + q) - rest[2]) < 2e-3);
    }
    assert_ok(orr_world_reset_masked(f.world, NULL, &error));
    heights(&f, 1, &low, &high);
    assert_true(fabs(low - 0.8) < 1e-5 && fabs(high - 1.0) < 1e-5);
    close(&f);
}

// A block that rests alone is not stepped. What comes near wakes it, in its copy alone, and so do states that
// are set.
static void a_block_at_rest_sleeps(void **state)
{
    (void)state;
    static const double aside[7] = {2.0, 0.0, 0.05, 1.0}, above[7] = {0.0, 0.0, 0.35, 1.0};
    fixture f;
    double low, high;
    open(&f, 2);
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_world_set_robot(f.world, i, f.box, ORR_ROBOT_QPOS, aside, &error));
    }
    assert_ok(orr_world_advance(f.world, 2.5, &error));
    const orr_world_soft *s = soft_of(&f);
    const orr_soft_sleep *sleep = f.world->softs->sleep;
    const size_t bytes = orr_world_soft_numbers(s) * sizeof(double);
    double *rest = malloc(2 * bytes);
    assert_non_null(rest);
    assert_true(sleep[0].asleep && sleep[1].asleep);
    memcpy(rest, s->position, 2 * bytes);
    heights(&f, 0, &low, &high);
    assert_true(fabs(low) < 2e-3 && high > 0.19 && high < 0.2);
    assert_ok(orr_world_advance(f.world, 0.2, &error));
    assert_memory_equal(rest, s->position, 2 * bytes);
    // 1 kg falls on the first
    assert_ok(orr_world_set_robot(f.world, 0, f.box, ORR_ROBOT_QPOS, above, &error));
    assert_ok(orr_world_advance(f.world, 0.3, &error));
    assert_true(!sleep[0].asleep && sleep[1].asleep);
    assert_true(memcmp(rest, s->position, bytes) != 0);
    assert_memory_equal((char *)rest + bytes, (const char *)s->position + bytes, bytes);
    assert_ok(orr_world_advance(f.world, 2.0, &error));
    assert_true(!sleep[0].asleep); // it carries the box
    for (size_t i = 2; i < orr_world_soft_numbers(s); i += 3) {
        rest[i] += 0.1;
    }
    assert_ok(orr_world_set_soft(f.world, 1, f.block, rest, NULL, &error));
    assert_ok(orr_world_advance(f.world, 0.1, &error));
    heights(&f, 1, &low, &high);
    assert_true(!sleep[1].asleep && low > 0.03 && low < 0.07); // 0.05 m in 0.1 s
    free(rest);
    close(&f);
}

static void copies_are_apart(void **state)
{
    (void)state;
    fixture f;
    double low, high, again;
    open(&f, 3);
    const uint8_t first_two[3] = {1, 1, 0};
    assert_ok(orr_world_step_masked(f.world, 20, first_two, &error));
    const orr_world_soft *s = soft_of(&f);
    size_t size = 3 * (size_t)s->layer->cage->vertices * sizeof(double);
    assert_memory_equal(orr_world_soft_positions(s, 0), orr_world_soft_positions(s, 1), size);
    heights(&f, 2, &low, &high);
    assert_true(fabs(high - 0.205) < 1e-6);
    heights(&f, 0, &low, &high);
    assert_true(high < 0.2049);
    // numbers that are not finite stop a copy, and nothing else
    double *broken = calloc(1, size);
    broken[0] = (double)NAN;
    orr_soft_set(s->copies[1], 0, broken, NULL);
    free(broken);
    assert_ok(orr_world_step(f.world, 5, &error));
    s = soft_of(&f);
    assert_true(s->diverged[1] && !s->diverged[0] && !s->diverged[2]);
    heights(&f, 1, &low, &again);
    assert_true(again == high); // where it was last
    assert_ok(orr_world_set_autoreset(f.world, true, &error));
    assert_ok(orr_world_step(f.world, 1, &error));
    assert_false(soft_of(&f)->diverged[1]);
    heights(&f, 1, &low, &high);
    assert_true(fabs(high - 0.205) < 1e-3);
    const uint8_t first[3] = {1, 0, 0};
    assert_ok(orr_world_reset_masked(f.world, first, &error));
    heights(&f, 0, &low, &high);
    assert_true(fabs(high - 0.205) < 1e-6);
    heights(&f, 2, &low, &high);
    assert_true(high < 0.2049);
    const orr_transform up = {.position = {0.0f, 0.0f, 2.0f}};
    assert_ok(orr_world_set_transform(f.world, 2, f.block, &up, &error));
    heights(&f, 2, &low, &high);
    assert_true(fabs(high - 2.1) < 1e-5);
    close(&f);
}

static void what_cannot_be_soft_says_so(void **state)
{
    (void)state;
    orr_scene *scene;
    assert_ok(orr_scene_create(engine, &scene, &error));
    orr_layer block = add_block(scene, half, NULL, 12), open_block = add_block(scene, half, NULL, 10);
    orr_layer hook, on_hook = add_block(scene, half, NULL, 12);
    assert_ok(orr_scene_add_file(scene, written("hook.xml", hook_model), NULL, &hook, &error));
    assert_ok(orr_scene_bind(scene, on_hook, hook, "hook", &error));
    const struct {
        orr_layer layer;
        orr_body_desc desc;
        const char *text;
    } wrong[] = {{open_block, {.soft = true}, "expected a closed mesh, not one with 4 open edges"},
                 {block, {.soft = true, .iterations = 201}, "iterations: expected 1 to 200, not 201"},
                 {block, {.soft = true, .resolution = 1}, "resolution: expected 2 to 64, not 1"},
                 {block, {.soft = true, .mass = 1.0}, "expected no mass"},
                 {block, {.soft = true, .poisson = 0.5}, "Poisson's ratio"},
                 {block, {.soft = true, .cloth = -1.0}, "cloth -1 m: expected 0 to 8, and at least 0"},
                 {block,
                  {.soft = true, .cloth = 0.01, .pin = {{9.0f, 0.0f, 0.0f, 1.0f}}, .pins = 1},
                  "pin 0: expected a ball that holds a vertex"},
                 {on_hook, {.soft = true}, "expected pins"},
                 {block, {.soft = true, .density = -1.0}, "density -1"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        orr_error why = {0};
        assert_int_not_equal(orr_scene_set_physics(scene, wrong[i].layer, &wrong[i].desc, &why), ORR_OK);
        if (!strstr(why.message, wrong[i].text)) {
            fail_msg("%zu: %s (expected '%s')", i, why.message, wrong[i].text);
        }
    }
    orr_scene_destroy(scene);
}

// The hand's spring carries the block, whose copies and whose sleep it does not share.
static void a_hand_lifts_a_soft_block_by_its_corner(void **state)
{
    (void)state;
    fixture f;
    double low, high, gap = 0.0;
    const double corner[3] = {0.2, 0.2, 0.2}, above[3] = {0.2, 0.2, 0.9};
    static const double aside[7] = {2.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0};
    open(&f, 2);
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_world_set_robot(f.world, i, f.box, ORR_ROBOT_QPOS, aside, &error));
    }
    assert_ok(orr_world_advance(f.world, 2.0, &error));
    assert_true(f.world->softs->sleep[0].asleep);
    orr_error why;
    assert_int_equal(orr_world_pull(f.world, f.block, above, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "nothing of it is held"));
    assert_ok(orr_world_grab(f.world, f.block, 0, corner, &error));
    const orr_soft_hand *hand = &soft_of(&f)->hand;
    const double *mass = orr_soft_masses(soft_of(&f)->layer->model);
    assert_true(hand->count > 4 && hand->count < soft_of(&f)->layer->cage->vertices / 4);
    assert_ok(orr_world_pull(f.world, f.block, above, &error));
    orr_world_softs_let_go(f.world, 1); // which wakes it
    assert_ok(orr_world_advance(f.world, 4.0, &error));
    heights(&f, 1, &low, &high);
    assert_true(fabs(low) < 5e-3 && high < 0.21);
    heights(&f, 0, &low, &high);
    assert_true(low > 0.1 && high < 0.9);
    for (int i = 0; i < hand->count; i++) { // 9.81 m/s^2 of 100 1/s^2
        const int vertex = hand->held[i].vertex;
        const double height = orr_world_soft_positions(soft_of(&f), 0)[3 * vertex + 2];
        gap += mass[vertex] / hand->mass * (above[2] + hand->held[i].offset[2] - height);
    }
    print_message("a soft block hangs %.4f m below the hand\n", gap);
    assert_true(fabs(gap - 0.0981) < 1e-3);
    assert_ok(orr_world_release(f.world, f.block, &error));
    assert_ok(orr_world_advance(f.world, 1.0, &error));
    heights(&f, 0, &low, &high);
    assert_true(fabs(low) < 5e-3 && high < 0.5);
    close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hand_lifts_a_soft_block_by_its_corner),
        cmocka_unit_test(a_box_rests_on_a_soft_block),
        cmocka_unit_test(a_box_of_short_steps_rests_on_a_soft_block),
        cmocka_unit_test(a_box_rests_between_soft_blocks),
        cmocka_unit_test(soft_blocks_lie_on_each_other),
        cmocka_unit_test(a_block_rests_on_the_ridge_of_a_height_field),
        cmocka_unit_test(cloth_drapes_over_a_ball),
        cmocka_unit_test(threads_do_not_change_the_bits_of_contacts),
        cmocka_unit_test(pins_hold_a_cloth),
        cmocka_unit_test(small_things_rest_on_wide_triangles),
        cmocka_unit_test(a_body_holds_a_soft_block),
        cmocka_unit_test(a_block_at_rest_sleeps),
        cmocka_unit_test(copies_are_apart),
        cmocka_unit_test(what_cannot_be_soft_says_so),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
