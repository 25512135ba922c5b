// Models that are joined behave as one MJCF file that attaches them.
#include "engine/core/memory.h"
#include "physics/load/load.h"
#include "physics/model/join.h"
#include "physics/simulation/world.h"
#include "tests/support/machine.h"
#include "tests/support/robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 3 };

static orr_model_part parts_of(orr_model *const models[], int i)
{
    static const char *const prefixes[PARTS] = {"a/", "b/", "c/"};
    orr_model_part part = {.model = models[i], .prefix = prefixes[i], .pos = {5.0 * i, -0.3 * i, 0.0}};
    double angle = 0.7 * i;
    part.quat[0] = cos(0.5 * angle);
    part.quat[3] = sin(0.5 * angle);
    return part;
}

// One MJCF text that attaches the files where parts_of places them.
static orr_model *attach_all(const char *const files[], orr_model *const models[])
{
    static char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text, "<mujoco><asset>");
    for (int i = 0; i < PARTS; i++) {
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "<model name='m%d' file='%s'/>", i, files[i]);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "</asset><worldbody>");
    for (int i = 0; i < PARTS; i++) {
        orr_model_part p = parts_of(models, i);
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<frame pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>"
                                 "<attach model='m%d' prefix='%s'/></frame>",
                                 p.pos[0], p.pos[1], p.pos[2], p.quat[0], p.quat[1], p.quat[2], p.quat[3], i,
                                 p.prefix);
    }
    snprintf(text + used, sizeof text - used, "</worldbody></mujoco>");
    orr_model *model;
    assert_ok(orr_model_parse(text, strlen(text), "scene.xml", &model, &error));
    return model;
}

// Left out of a joint model, or moved with it (actuator_length0, which nothing reads).
static bool is_compared(const char *name)
{
    static const char *const others[] = {
        "name_",    "key_",     "tex_",        "light_",   "numeric_",  "text_",           "tuple_",
        "cam_user", "cam_pos0", "cam_poscom0", "cam_mat0", "mat_texid", "actuator_length0"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strncmp(name, others[i], strlen(others[i])) == 0) {
            return false;
        }
    }
    return strcmp(name, "names") != 0;
}

// Returns the largest difference.
static double compare_arrays(const orr_model *a, const orr_model *b)
{
    double worst = 0.0;
#define COMPARE(type, name, rows, columns)                                                                   \
    if (is_compared(#name)) {                                                                                \
        const orr_model *m = a;                                                                              \
        size_t count = (size_t)(rows) * (size_t)(columns);                                                   \
        m = b;                                                                                               \
        assert_int_equal(count, (size_t)(rows) * (size_t)(columns));                                         \
        for (size_t i = 0; i < count; i++) {                                                                 \
            double difference = fabs((double)a->name[i] - (double)b->name[i]);                               \
            if (!(difference <= 1e-6 * fmax(1.0, fabs((double)b->name[i])))) {                               \
                fail_msg("%s[%zu]: %.17g, attached %.17g", #name, i, (double)a->name[i],                     \
                         (double)b->name[i]);                                                                \
            }                                                                                                \
            worst = fmax(worst, difference);                                                                 \
        }                                                                                                    \
    }
    ORR_MODEL_ARRAYS(COMPARE)
    return worst;
}

static void compare_names(const orr_model *a, const orr_model *b)
{
    static const orr_object kinds[] = {ORR_OBJECT_BODY,   ORR_OBJECT_JOINT,   ORR_OBJECT_GEOM,
                                       ORR_OBJECT_SITE,   ORR_OBJECT_TENDON,  ORR_OBJECT_ACTUATOR,
                                       ORR_OBJECT_SENSOR, ORR_OBJECT_EQUALITY};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        int count = orr_model_count(a, kinds[k]), expected = orr_model_count(b, kinds[k]);
        if (count != expected) {
            fail_msg("%d elements of kind %d, attached %d", count, (int)kinds[k], expected);
        }
        for (int i = 0; i < orr_model_count(a, kinds[k]); i++) {
            assert_string_equal(orr_model_name(a, kinds[k], i), orr_model_name(b, kinds[k], i));
        }
    }
}

static void run(const orr_model *model, int steps, double *qpos, double *sensors)
{
    orr_physics *physics;
    const orr_physics_desc desc = {.worlds = 1, .double_precision = true};
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    double *ctrl = calloc((size_t)model->nu + 1, sizeof *ctrl);
    assert_non_null(ctrl);
    for (int i = 0; i < model->nu; i++) {
        ctrl[i] = 0.2 * sin(1.0 + i);
    }
    orr_physics_set(physics, ORR_PHYSICS_CTRL, 0, ctrl);
    orr_physics_step(physics, steps);
    orr_physics_get(physics, ORR_PHYSICS_QPOS, 0, qpos);
    orr_physics_read(physics, ORR_PHYSICS_SENSORDATA, 0, sensors);
    free(ctrl);
    orr_physics_destroy(physics);
}

static void check(const char *const files[])
{
    orr_model *models[PARTS], *joint;
    orr_model_part parts[PARTS];
    orr_model_place places[PARTS];
    for (int i = 0; i < PARTS; i++) {
        assert_ok(orr_model_load(files[i], &models[i], &error));
    }
    for (int i = 0; i < PARTS; i++) {
        parts[i] = parts_of(models, i);
    }
    assert_ok(orr_model_join(parts, PARTS, &joint, places, &error));
    orr_model *attached = attach_all(files, models);
    compare_names(joint, attached);
    double worst = compare_arrays(joint, attached);
    for (int i = 0; i < PARTS; i++) { // places are right
        int last = models[i]->nbody - 1;
        char name[300];
        const char *own = orr_model_name(models[i], ORR_OBJECT_BODY, last);
        snprintf(name, sizeof name, "%s%s", own[0] ? parts[i].prefix : "", own);
        assert_string_equal(name,
                            orr_model_name(joint, ORR_OBJECT_BODY, orr_model_place_body(&places[i], last)));
    }
    attached->opt = joint->opt;
    attached->stat = joint->stat;
    size_t nq = (size_t)joint->nq, ns = (size_t)joint->nsensordata;
    double *a = calloc(2 * (nq + ns) + 1, sizeof *a), *b = a + nq + ns, moved = 0.0;
    assert_non_null(a);
    run(joint, 100, a, a + nq);
    run(attached, 100, b, b + nq);
    for (size_t i = 0; i < nq + ns; i++) {
        moved = fmax(moved, fabs(a[i] - b[i]) / fmax(1.0, fabs(b[i])));
    }
    print_message("%s ...: constants differ by %.1e, after 100 steps %.1e\n", strrchr(files[0], '/') + 1,
                  worst, moved);
    assert_true(moved < 1e-6); // rounding of frames, which contacts amplify
    free(a);
    orr_model_destroy(attached);
    orr_model_destroy(joint);
    for (int i = 0; i < PARTS; i++) {
        orr_model_destroy(models[i]);
    }
}

static void joined_robots_are_those_of_one_file(void **state)
{
    (void)state;
    static char paths[3][512];
    static const char *const names[] = {"quadruped", "arm_hand", "biped"};
    const char *files[PARTS];
    for (int i = 0; i < PARTS; i++) {
        snprintf(paths[i], sizeof paths[i], "%s", own_robot(names[i]));
        files[i] = paths[i];
    }
    check(files);
}

static void joined_elements_of_every_kind_are_those_of_one_file(void **state)
{
    (void)state;
    static const char *const sets[][PARTS] = {
        {"dynamics/equalities.xml", "dynamics/tendons.xml", "dynamics/joints.xml"},
        {"dynamics/pid.xml", "dynamics/dcmotor.xml", "dynamics/servos.xml"},
        {"dynamics/orientation_servos.xml", "dynamics/delays.xml", "models/delays.xml"},
        {"sensors/gaps.xml", "sensors/touch.xml", "dynamics/equalities.xml"},
        {"models/meshes.xml", "models/sensors.xml", "dynamics/transmissions.xml"},
        {"dynamics/contacts_mesh.xml", "dynamics/contacts_hfield.xml", "dynamics/contacts_convex.xml"},
        {"cables/hanging.xml", "cables/coiled.xml", "cables/bodies.xml"},
        {"sensors/touch.xml", "sensors/tactile.xml", "sensors/tactile.xml"},
    };
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        static char paths[PARTS][512];
        const char *files[PARTS];
        for (int i = 0; i < PARTS; i++) {
            snprintf(paths[i], sizeof paths[i], "%s", source_path("tests/golden/%s", sets[k][i]));
            files[i] = paths[i];
        }
        check(files);
    }
}

static void a_single_model_is_itself(void **state)
{
    (void)state;
    orr_model *model, *joint;
    orr_model_place place;
    assert_ok(orr_model_load(own_robot("arm_hand"), &model, &error));
    const orr_model_part part = {.model = model, .prefix = "", .quat = {1.0}};
    assert_ok(orr_model_join(&part, 1, &joint, &place, &error));
    assert_true(compare_arrays(joint, model) == 0.0);
    orr_model_destroy(joint);
    orr_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_robots_are_those_of_one_file),
        cmocka_unit_test(joined_elements_of_every_kind_are_those_of_one_file),
        cmocka_unit_test(a_single_model_is_itself),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
