// Soft layers as they are drawn: what is bound to them follows their cages; their states, read and set.
#define ORR_SCALAR
#include "engine/loop/world/soft/world_soft.h"
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"
#include "render/splat/deform_formula.h"
#include "tests/support/engine.h"
#include "tests/support/scenes/soft_meshes.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float half[3] = {0.2f, 0.2f, 0.1f};
static const orr_body_desc jelly = {
    .soft = true, .resolution = 8, .density = 100.0, .young = 3e4, .poisson = 0.3, .damping = 0.02};

static uint32_t random_bits = 1;

static float random_between(float low, float high)
{
    random_bits = random_bits * 1664525u + 1013904223u;
    return low + (high - low) * (float)(random_bits >> 8) / 16777216.0f;
}

enum { SPLATS = 3000 };

// A ball whose splats are long and look different from every side.
static orr_layer add_ball(orr_scene *scene, const orr_transform *at)
{
    orr_splats *splats;
    orr_layer layer;
    assert_ok(orr_splats_create(SPLATS, 1, &splats, &error));
    orr_splats_view view = orr_splats_data(splats);
    random_bits = 1;
    for (int i = 0; i < SPLATS; i++) {
        float z = random_between(-1.0f, 1.0f), angle = random_between(0.0f, 6.2831853f),
              r = sqrtf(1.0f - z * z);
        const float point[3] = {0.3f * r * cosf(angle), 0.3f * r * sinf(angle), 0.3f * z};
        for (int k = 0; k < 3; k++) {
            view.position[3 * i + k] = point[k];
            view.log_scale[3 * i + k] = random_between(-5.0f, -3.5f);
            view.colour[3 * i + k] = random_between(-1.0f, 1.0f);
        }
        for (int k = 0; k < 9; k++) {
            view.harmonics[9 * i + k] = random_between(-0.8f, 0.8f);
        }
        view.opacity[i] = 3.0f;
        view.rotation[4 * i + 1] = random_between(-1.0f, 1.0f);
    }
    assert_ok(orr_scene_add_splats(scene, "ball", splats, at, &layer, &error));
    orr_splats_destroy(splats);
    return layer;
}

static void draw(const orr_scene *scene, float *rgba)
{
    const float eye[3] = {0.4f, -1.1f, 0.6f}, target[3] = {0.1f, 0.0f, 0.2f}, up[3] = {0.0f, 0.0f, 1.0f};
    orr_frame *frame;
    orr_world *world;
    orr_view view = {0};
    view.camera = orr_camera_look_at(eye, target, up, 0.8f, 96, 80);
    const orr_picture picture = {.rgba = rgba};
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
    assert_ok(orr_frame_finish(frame, &picture, &error));
    orr_frame_destroy(frame);
    orr_world_destroy(world);
}

// A soft layer at rest, moved, turned and scaled by its layer, is drawn as the same layer that is not soft.
static void a_turned_body_is_drawn_as_a_turned_layer(void **state)
{
    (void)state;
    enum { NUMBERS = 96 * 80 * 4 };
    static float one[NUMBERS], other[NUMBERS];
    const orr_transform at = {
        .position = {0.1f, 0.05f, 0.2f}, .rotation = {0.5f, 0.7f, -0.2f, 0.45f}, .scale = 0.9f};
    for (int mesh = 0; mesh < 2; mesh++) {
        orr_scene *scene;
        assert_ok(orr_scene_create(engine, &scene, &error));
        orr_layer layer = mesh ? add_block(scene, half, &at, 12) : add_ball(scene, &at);
        draw(scene, one);
        assert_ok(orr_scene_set_physics(scene, layer, &jelly, &error));
        draw(scene, other);
        double square = 0.0, sum = 0.0;
        for (int i = 0; i < NUMBERS; i++) {
            square += (double)(one[i] - other[i]) * (double)(one[i] - other[i]) / NUMBERS;
            sum += (double)one[i];
        }
        assert_true(sum > 100.0);
        if (!(square < 1e-7)) {
            fail_msg("mesh %d: mean square difference %g", mesh, square);
        }
        orr_scene_destroy(scene);
    }
}

// All vertices of a cage by one map A x + t, a stretch, a shear and a turn: every splat's mean and covariance
// follow exactly, and the rotation is that of A.
static void an_affine_map_is_followed_exactly(void **state)
{
    (void)state;
    const double turn[4] = {0.3, 0.6, -0.5, 0.55};
    // symmetric: the stretch of the polar decomposition
    const double stretch[9] = {1.4, 0.3, 0.1, 0.3, 0.8, -0.2, 0.1, -0.2, 1.1}, offset[3] = {0.4, -1.0, 2.0};
    double quat[4], r[9], a[9];
    memcpy(quat, turn, sizeof quat);
    quat_normalise(quat);
    quat_matrix(quat, r);
    for (int i = 0; i < 9; i++) {
        a[i] = 0.0;
        for (int k = 0; k < 3; k++) {
            a[i] += r[i / 3 * 3 + k] * stretch[k * 3 + i % 3];
        }
    }
    orr_scene *scene;
    assert_ok(orr_scene_create(engine, &scene, &error));
    orr_layer id = add_ball(scene, NULL);
    assert_ok(orr_scene_set_physics(scene, id, &jelly, &error));
    const orr_layer_data *layer = &scene->layers[0];
    const orr_soft_cage *cage = layer->soft->cage;
    double *position = malloc(3 * (size_t)cage->vertices * sizeof *position);
    orr_affine_piece *pieces = malloc((size_t)cage->tets * sizeof *pieces);
    for (int i = 0; i < cage->vertices; i++) {
        mat_apply(a, cage->vertex + 3 * i, position + 3 * i);
        for (int k = 0; k < 3; k++) {
            position[3 * i + k] += offset[k];
        }
    }
    orr_soft_affines(cage, position, 1.0, scene->context.jobs, pieces);
    for (int i = 0; i < SPLATS; i++) {
        const size_t first = (size_t)(i / 16) * 13 * 16 + (size_t)(i % 16);
        const float *from = layer->splats->geometry + first;
        splat_deformation d;
        memcpy(&d, &pieces[layer->soft->piece[i]], sizeof d);
        double covariance[9] = {0.0}, expected[9] = {0.0};
        for (int axis = 0; axis < 4; axis++) { // the mean, then the axes
            double x[3], y[3];
            for (int k = 0; k < 3; k++) {
                x[k] = (double)from[(3 * axis + k) * 16];
            }
            const real3 at = make_real3((float)x[0], (float)x[1], (float)x[2]),
                        to = axis == 0 ? deform_mean(d, at) : deform_axis(d, at);
            y[0] = (double)to.x, y[1] = (double)to.y, y[2] = (double)to.z;
            mat_apply(a, x, x);
            for (int k = 0; k < 9 && axis > 0; k++) {
                expected[k] += x[k / 3] * x[k % 3];
                covariance[k] += y[k / 3] * y[k % 3];
            }
            for (int k = 0; k < 3 && axis == 0; k++) {
                assert_true(fabs(y[k] - x[k] - offset[k]) < 2e-6);
            }
        }
        for (int k = 0; k < 9; k++) {
            assert_true(fabs(covariance[k] - expected[k]) < 1e-5 * (expected[0] + expected[4] + expected[8]));
        }
        const double same = (double)d.turn.w * quat[0] + (double)d.turn.x * quat[1] +
                            (double)d.turn.y * quat[2] + (double)d.turn.z * quat[3];
        assert_true(fabs(fabs(same) - 1.0) < 1e-6);
    }
    free(position);
    free(pieces);
    orr_scene_destroy(scene);
}

// A soft cloud and a soft mesh, at other places in the second copy.
static void soft_layers_are_in_every_output_of_every_copy(void **state)
{
    (void)state;
    enum { SIDE = 64, PIXELS = SIDE * SIDE, COPIES = 2 };
    static uint8_t rgb[COPIES * PIXELS * 3];
    static float depth[COPIES * PIXELS];
    static int32_t seen[COPIES * PIXELS * 2];
    orr_scene *scene;
    orr_world *world;
    orr_eyes *eyes;
    assert_ok(orr_scene_create(engine, &scene, &error));
    orr_layer layers[2];
    layers[0] = add_block(scene, half, &(orr_transform){.position = {-0.6f, 0.0f, 0.0f}}, 12);
    layers[1] = add_ball(scene, &(orr_transform){.position = {0.6f, 0.0f, 0.0f}});
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_scene_set_physics(scene, layers[i], &jelly, &error));
    }
    assert_ok(orr_world_create(scene, COPIES, &world, &error));
    for (int i = 0; i < 2; i++) { // they change places
        const orr_transform other = {.position = {i == 0 ? 0.6f : -0.6f, 0.0f, 0.0f}};
        assert_ok(orr_world_set_transform(world, 1, layers[i], &other, &error));
    }
    const float eye[3] = {0.0f, 0.0f, 3.0f}, target[3] = {0}, up[3] = {0.0f, 1.0f, 0.0f};
    const orr_camera camera = orr_camera_look_at(eye, target, up, 0.8f, SIDE, SIDE);
    const orr_eyes_desc desc = {.views = &camera, .view_count = 1, .width = SIDE, .height = SIDE};
    assert_ok(orr_eyes_create(world, &desc, &eyes, &error));
    assert_ok(orr_eyes_draw(eyes, NULL,
                            &(orr_eyes_pictures){.rgb = rgb, .depth = depth, .segmentation = seen}, &error));
    for (int copy = 0; copy < COPIES; copy++) {
        for (int side = 0; side < 2; side++) {
            // 0.6 m at 3 m, of 0.42 half the view's height
            const int at = copy * PIXELS + SIDE / 2 * SIDE + SIDE / 2 + (side ? 15 : -15);
            const int layer = side ^ copy;
            assert_int_equal(seen[2 * at], layer);
            assert_int_equal(seen[2 * at + 1], -1);
            assert_true(rgb[3 * at] + rgb[3 * at + 1] + rgb[3 * at + 2] > 0);
            assert_true(fabsf(depth[at] - (layer == 0 ? 2.9f : 2.7f)) < 0.06f);
        }
        assert_int_equal(seen[2 * (copy * PIXELS + SIDE / 2 * SIDE + SIDE / 2)], -1);
    }
    orr_eyes_destroy(eyes);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// Momentum and volume of a body that falls and spins, from what the public functions read.
static void states_are_read_and_set(void **state)
{
    (void)state;
    orr_scene *scene;
    orr_world *world;
    orr_layer box, block;
    orr_soft_info info;
    const orr_transform at = {.position = {0.0f, 0.0f, 20.0f}};
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(
        orr_scene_add_file(scene,
                           written("far.xml", "<mujoco><worldbody><body pos='9 0 0'>"
                                              "<freejoint/><geom size='1'/></body></worldbody></mujoco>"),
                           NULL, &box, &error)); // z is up
    block = add_block(scene, half, &at, 12);
    assert_ok(orr_scene_set_physics(scene, block, &jelly, &error));
    assert_ok(orr_scene_soft_info(scene, block, &info, &error));
    assert_ok(orr_world_create(scene, 2, &world, &error));
    const size_t bytes = (size_t)info.vertex_count * 3 * sizeof(double);
    double *x = malloc(bytes), *v = malloc(bytes), *then = malloc(bytes), mass = 0.0, volume = 0.0;
    double momentum[3] = {0.0}; // that it gains
    assert_ok(orr_world_get_soft(world, 1, block, x, v, &error));
    for (int i = 0; i < info.vertex_count; i++) {
        mass += info.mass[i];
        assert_true(fabs(x[3 * i + 2] - 20.0 - info.rest[3 * i + 2]) < 1e-5 && v[3 * i] == 0.0);
        v[3 * i] = -2.0 * x[3 * i + 1], v[3 * i + 1] = 2.0 * x[3 * i]; // it spins
        momentum[0] -= info.mass[i] * v[3 * i], momentum[1] -= info.mass[i] * v[3 * i + 1];
    }
    assert_ok(orr_world_set_soft(world, 1, block, NULL, v, &error));
    assert_ok(orr_world_advance(world, 1.0, &error));
    assert_ok(orr_world_get_soft(world, 1, block, x, v, &error));
    double spin = 0.0;
    for (int i = 0; i < 3 * info.vertex_count; i++) {
        momentum[i % 3] += info.mass[i / 3] * v[i];
    }
    for (int i = 0; i < info.vertex_count; i++) {
        spin += info.mass[i] * (x[3 * i] * v[3 * i + 1] - x[3 * i + 1] * v[3 * i]);
    }
    for (int i = 0; i < info.tet_count; i++) {
        double side[3][3], normal[3];
        for (int k = 0; k < 9; k++) {
            side[k / 3][k % 3] =
                x[3 * info.tets[4 * i + 1 + k / 3] + k % 3] - x[3 * info.tets[4 * i] + k % 3];
        }
        vec3_cross(side[0], side[1], normal);
        volume += vec3_dot(normal, side[2]) / 6.0;
    }
    print_message("momentum %g %g %g of %g N s, angular %g, volume %g\n", momentum[0], momentum[1],
                  momentum[2], mass * 9.81, spin, volume);
    assert_true(fabs(momentum[0]) < 1e-4 * mass && fabs(momentum[1]) < 1e-4 * mass);
    // floats 20 m from the origin are 2 micrometres apart, half a millimetre per second in a step; 1.5e-4
    // with fused multiply-adds, 3e-4 without
    assert_true(fabs(momentum[2] + 9.81 * mass) < 5e-4 * 9.81 * mass);
    assert_true(spin > 0.0 && fabs(volume - mass / jelly.density) < 0.02 * volume);
    // to the same bits from what was read, in this copy and not the other
    for (int again = 0; again < 2; again++) {
        assert_ok(orr_world_set_soft(world, 1, block, x, v, &error));
        assert_ok(orr_world_advance(world, 0.25, &error));
        double *now = malloc(bytes);
        assert_ok(orr_world_get_soft(world, 1, block, now, NULL, &error));
        if (again) {
            assert_memory_equal(now, then, bytes);
        }
        memcpy(then, now, bytes);
        free(now);
    }
    orr_error why = {0};
    v[4] = NAN;
    assert_int_equal(orr_world_set_soft(world, 1, block, NULL, v, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "velocity of vertex 1: expected"));
    assert_int_equal(orr_world_get_soft(world, 2, block, x, NULL, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_world_get_soft(world, 0, box, x, NULL, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "expected a soft body"));
    bool diverged = true;
    assert_ok(orr_world_robot_diverged(world, 1, block, &diverged, &error));
    assert_false(diverged);
    free(x);
    free(v);
    free(then);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// A small solid ball in a wide haze.
static void a_cage_that_misses_its_cloud_says_so(void **state)
{
    (void)state;
    enum { HAZE = 5000 };
    orr_scene *scene;
    orr_splats *splats;
    orr_layer layer;
    orr_error why = {0};
    orr_body_desc fine = jelly;
    fine.resolution = 24;
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_splats_create(SPLATS + HAZE, 0, &splats, &error));
    const orr_splats_view view = orr_splats_data(splats);
    for (int i = 0; i < SPLATS + HAZE; i++) {
        const bool solid = i < SPLATS;
        for (int k = 0; k < 3; k++) {
            view.position[3 * i + k] = random_between(-1.0f, 1.0f) * (solid ? 0.1f : 1.0f);
            view.log_scale[3 * i + k] = solid ? -3.5f : -5.0f;
        }
        view.opacity[i] = solid ? 3.0f : -4.0f;
        view.rotation[4 * i] = 1.0f;
    }
    assert_ok(orr_scene_add_splats(scene, "haze", splats, NULL, &layer, &error));
    assert_int_equal(orr_scene_set_physics(scene, layer, &fine, &why), ORR_ERROR_ARGUMENT);
    print_message("    %s\n", why.message);
    assert_non_null(strstr(why.message, "m outside its cage, for example at"));
    orr_splats_destroy(splats);
    orr_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turned_body_is_drawn_as_a_turned_layer),
        cmocka_unit_test(an_affine_map_is_followed_exactly),
        cmocka_unit_test(soft_layers_are_in_every_output_of_every_copy),
        cmocka_unit_test(states_are_read_and_set),
        cmocka_unit_test(a_cage_that_misses_its_cloud_says_so),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
