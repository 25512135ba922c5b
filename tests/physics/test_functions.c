// Geoms whose distance is a function: meshes, contacts and motion against MuJoCo's plugins mujoco.sdf
// (tests/golden/record_functions.py); gradients against differences; mistakes in the file.
#include "physics/load/load.h"
#include "physics/model/distance_function.h"
#include "physics/simulation/world.h"
#include "tests/physics/model_mistakes.h"
#include "tests/physics/recorded_contacts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static orr_model *load(const char *name)
{
    orr_model *model = NULL;
    assert_ok(orr_model_load(source_path("tests/golden/%s.xml", name), &model, &error));
    return model;
}

#ifdef ORR_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

// The CPU's best instruction set does all that was recorded, in half a minute. Contacts are found by the same
// text elsewhere, which takes as long or longer: a fifth of the motion, and contacts in double, must do; with
// sanitizers, which take ten times as long, neither.
static bool is_brief(void)
{
    return cuda || isa != orr_isa_best();
}

// ---- the functions

// Differences over 1e-6 m; where parts meet, or at a corner, they say nothing.
static void gradients_are_those_of_the_distances(void **state)
{
    (void)state;
    static const double prm[][ORR_NFUNCTION] = {[ORR_FUNCTION_BOLT] = {0.26},
                                                [ORR_FUNCTION_BOWL] = {0.3, 0.8, 0.05},
                                                [ORR_FUNCTION_GEAR] = {0.1, 1.2, 18.0, 0.4, 0.5},
                                                [ORR_FUNCTION_NUT] = {0.25},
                                                [ORR_FUNCTION_TORUS] = {0.5, 0.2}};
    uint32_t random = 1;
    for (int f = ORR_FUNCTION_BOLT; f <= ORR_FUNCTION_TORUS; f++) {
        int good = 0, points = 2000;
        for (int i = 0; i < points; i++) {
            double p[3], slope[3], error = 0.0;
            for (int k = 0; k < 3; k++) {
                random = random * 1664525u + 1013904223u;
                p[k] = 2.0 * (random >> 8) / (double)(1 << 24) - 1.0;
            }
            const distance_at at = function_distance(f, prm[f], p);
            for (int k = 0; k < 3; k++) {
                double ahead[3], behind[3], step = 1e-6;
                memcpy(ahead, p, sizeof p);
                memcpy(behind, p, sizeof p);
                ahead[k] += step, behind[k] -= step;
                slope[k] = (function_distance(f, prm[f], ahead).d - function_distance(f, prm[f], behind).d) /
                           (2.0 * step);
            }
            error = fabs(slope[0] - at.x) + fabs(slope[1] - at.y) + fabs(slope[2] - at.z);
            good += error < 1e-6; // of rounding 1e-10, of curvature 1e-11 at 1 cm
        }
        print_message("function %d: %d of %d gradients\n", f, good, points);
        assert_true(good >= points - points / 200); // the others lie within 1e-6 m of where parts meet
    }
}

static double weighted(double sum, int i, double value)
{
    return sum + value * (1 + i % 97);
}

static void meshes_are_mujocos(void **state)
{
    (void)state;
    orr_model *m = load("models/functions");
    golden_numbers file = golden_numbers_load("functions/meshes");
    for (int i = 0; i < m->nmesh; i++) {
        const double *expected = golden_numbers_take(&file, 4);
        const float *vertex = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[i];
        const int32_t *face = m->mesh_face + 3 * (ptrdiff_t)m->mesh_faceadr[i];
        double sums[2] = {0.0, 0.0};
        for (int k = 0; k < 3 * m->mesh_vertnum[i]; k++) {
            sums[0] = weighted(sums[0], k, (double)vertex[k]);
        }
        for (int k = 0; k < 3 * m->mesh_facenum[i]; k++) {
            sums[1] = weighted(sums[1], k, face[k]);
        }
        print_message("%s: %d vertices, %d triangles, sums off by %.2g, %.2g\n",
                      orr_model_name(m, ORR_OBJECT_MESH, i), m->mesh_vertnum[i], m->mesh_facenum[i],
                      sums[0] - expected[2], sums[1] - expected[3]);
        assert_true(m->mesh_vertnum[i] == expected[0] && m->mesh_facenum[i] == expected[1]);
        assert_true(sums[1] == expected[3]);
        // floats of up to 1 m, which other libraries' atan2 can round differently
        assert_true(fabs(sums[0] - expected[2]) < 1e-2);
    }
    assert_ptr_equal(file.next, file.behind);
    orr_free(file.numbers);
    orr_model_destroy(m);
}

// ---- contacts

// MuJoCo's gradients are differences over 1e-8 m, so that where its search ends is known to 1e-7 m, few of
// the searches take another step. In float poses are rounded, which searches in narrow places amplify.
static void contacts_are_mujocos(void **state)
{
    (void)state;
    orr_model *m = load("functions/pairs");
    for (int precision = 0; precision < (is_brief() ? 1 : 2); precision++) {
        assert_recorded_contacts(m, "functions/contacts", precision == 0);
    }
    orr_model_destroy(m);
}

// ---- motion

// A contact that one of both misses in a step, where the searches end 1e-7 m apart, turns a gear by 1e-5 rad;
// in float by up to 1e-4.
static void they_move_as_in_mujoco(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double real, single; // tolerance of qpos [m, rad]
    } models[] = {{"nutbolt", 2e-4, 1e-3}, {"bowl", 1e-5, 1e-3}, {"gears", 2e-4, 1e-3}};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "functions/%s", models[i].name);
        orr_model *m = load(path);
        golden_numbers file = golden_numbers_load(path);
        orr_physics *both[2] = {make_physics(m, 1, true), make_physics(m, 2, false)};
        const double *start = file.next;
        double worst[2] = {0.0, 0.0}, got[16], end[2] = {0.0, 0.0};
        const int parts = is_brief() ? 2 : 10;
        for (int part = 0; part <= parts; part++) {
            const double *qpos = golden_numbers_take(&file, m->nq);
            (void)golden_numbers_take(&file, m->nv);
            for (int k = 0; k < 2; k++) {
                if (part > 0) {
                    orr_physics_step(both[k], (int)round(0.1 / m->opt.timestep));
                } else if (m->nu > 0) {
                    const double ctrl[2] = {1.0, 1.0};
                    for (int w = 0; w < orr_physics_worlds(both[k]); w++) {
                        orr_physics_set(both[k], ORR_PHYSICS_CTRL, w, ctrl);
                    }
                }
                orr_physics_get(both[k], ORR_PHYSICS_QPOS, orr_physics_worlds(both[k]) - 1, got);
                for (int c = 0; c < m->nq && c < 3; c++) { // a free ball's spin is left out
                    worst[k] = fmax(worst[k], fabs(got[c] - qpos[c]));
                    end[k] = c < 2 ? fmax(end[k], fabs(qpos[c] - start[c])) : end[k];
                }
            }
        }
        print_message("%s: moves by %.4f; qpos off by %.1e in f64, %.1e in f32\n", models[i].name, end[0],
                      worst[0], worst[1]);
        assert_true(is_brief() || file.next == file.behind);
        assert_true(worst[0] < models[i].real && worst[1] < models[i].single);
        orr_physics_destroy(both[0]);
        orr_physics_destroy(both[1]);
        orr_model_destroy(m);
        orr_free(file.numbers);
    }
}

// ---- files

#define EXTENSION(name, inside)                                                                              \
    "<mujoco><extension><plugin plugin='" name "'><instance name='p'>\n" inside                              \
    "</instance></plugin></extension>"
#define ASSET "<asset>\n<mesh name='m'><plugin instance='p'/></mesh></asset>"
#define GEOM(inside) "<worldbody>\n<geom type='sdf' mesh='m'>" inside "</geom></worldbody></mujoco>"
#define TORUS EXTENSION("mujoco.sdf.torus", "")
#define KEY(key, value) "<config key='" key "' value='" value "'/>"

static void every_mistake_is_named_with_its_line(void **state)
{
    (void)state;
    static const model_mistake mistakes[] = {
        {EXTENSION("mujoco.sdf.torus", KEY("radius", "1")) ASSET GEOM("<plugin instance='p'/>"),
         "test.xml:2: <config>", "key: expected radius1, radius2, each once"},
        {EXTENSION("mujoco.sdf.torus", KEY("radius1", "0")) ASSET GEOM("<plugin instance='p'/>"),
         "test.xml:2: <config>", "value of radius1: expected a number above 0"},
        {EXTENSION("mujoco.sdf.nut", KEY("radius", "-1")) ASSET GEOM("<plugin instance='p'/>"),
         "test.xml:2: <config>", "value of radius: expected a number above 0"},
        {EXTENSION("mujoco.sdf.bolt", KEY("radius", "1 2")) ASSET GEOM("<plugin instance='p'/>"),
         "test.xml:2: <config>", "value: expected 1 number"},
        {EXTENSION("mujoco.sdf.bolt", KEY("radius", "1") KEY("radius", "1"))
             ASSET GEOM("<plugin instance='p'/>"),
         "test.xml:2: <config>", "key: expected radius, each once"},
        {EXTENSION("mujoco.sdf.bowl", KEY("height", "2")) ASSET GEOM("<plugin instance='p'/>"),
         "test.xml:1: <instance>", "height of a bowl: expected less than its radius"},
        {EXTENSION("mujoco.sdf.gear", KEY("teeth", "2")) ASSET GEOM("<plugin instance='p'/>"),
         "test.xml:1: <instance>", "teeth of a gear: expected 4 to 200"},
        {EXTENSION("mujoco.sdf.sphere", "") ASSET GEOM("<plugin instance='p'/>"), "test.xml:1: <plugin>",
         "'mujoco.sdf.sphere' is not supported"},
        {TORUS "<asset>\n<mesh name='m'><plugin instance='q'/></mesh></asset></mujoco>",
         "test.xml:3: <plugin>", "expected the instance or the name of a plugin mujoco.sdf.bolt"},
        {TORUS "<asset>\n<mesh name='m'><plugin/></mesh></asset></mujoco>", "test.xml:3: <plugin>",
         "expected the instance or the name"},
        {TORUS "<asset>\n<mesh name='m' scale='2 1 1'><plugin instance='p'/></mesh></asset></mujoco>",
         "test.xml:3: <mesh>", "scale: expected none with a plugin"},
        {TORUS "<asset>\n<mesh name='m' vertex='0 0 0'><plugin instance='p'/></mesh></asset></mujoco>",
         "test.xml:3: <mesh>", "expected a file, or a name and vertices, builtin or a plugin"},
        {TORUS "<asset>\n<mesh name='m'><plugin instance='p'/><plugin instance='p'/></mesh></asset></mujoco>",
         "test.xml:3: <plugin>", "not supported"},
        {TORUS ASSET "<worldbody>\n<geom type='sdf' mesh='m'/></worldbody></mujoco>", "test.xml:4: <geom>",
         "expected the plugin of its mesh"},
        {TORUS ASSET
         "<worldbody>\n<geom type='mesh' mesh='m'><plugin instance='p'/></geom></worldbody></mujoco>",
         "test.xml:4: <geom>", "plugin: expected none but with type=\"sdf\""},
        {TORUS ASSET "<worldbody>\n<geom type='sdf'><plugin instance='p'/></geom></worldbody></mujoco>",
         "test.xml:4: <geom>", "mesh: expected the name of one"},
        {TORUS ASSET "<worldbody>\n<site type='sdf'/></worldbody></mujoco>", "test.xml:4: <site>",
         "type: expected sphere"},
        {TORUS ASSET GEOM("<site/>"), "test.xml:4: <site>", "unknown element inside <geom>"},
    };
    assert_mistakes(mistakes, sizeof mistakes / sizeof mistakes[0], "test.xml");
}

static void height_fields_and_functions_do_not_meet(void **state)
{
    (void)state;
    static const char text[] = TORUS
        "<asset><mesh name='m'><plugin instance='p'/></mesh><hfield name='h' nrow='3' ncol='3' size='1 1 1 "
        "1'/>"
        "</asset><worldbody><geom type='hfield' hfield='h'/><body pos='0 0 1'><freejoint/>"
        "<geom name='ring' type='sdf' mesh='m'><plugin instance='p'/></geom></body></worldbody></mujoco>";
    orr_model *model = NULL;
    orr_physics *physics = NULL;
    orr_error error = {0};
    const orr_physics_desc desc = {.worlds = 1, .cuda = cuda};
    assert_ok(orr_model_parse(text, strlen(text), "test.xml", &model, &error));
    assert_true(orr_physics_create(&desc, model, jobs, &physics, &error) != ORR_OK);
    assert_int_equal(error.code, ORR_CODE_FEATURE_ABSENT);
    assert_non_null(
        strstr(error.message, "geom 'ring': expected that a geom of the type sdf meets no height"));
    orr_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_the_distances),
        cmocka_unit_test(meshes_are_mujocos),
        cmocka_unit_test(every_mistake_is_named_with_its_line),
        cmocka_unit_test(height_fields_and_functions_do_not_meet),
    };
    const struct CMUnitTest recorded[] = {
        cmocka_unit_test(contacts_are_mujocos),
        cmocka_unit_test(they_move_as_in_mujoco),
    };
    const int failed = cmocka_run_group_tests(tests, open_machine, close_machine);
    return SANITIZED ? failed : failed + cmocka_run_group_tests(recorded, open_machine, close_machine);
}
