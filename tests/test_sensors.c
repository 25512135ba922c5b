// Tests of what can be read of a world besides its state, against MuJoCo (tests/golden/record_sensors.py).
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "physics/world.h"
#include "tests/support.h"

#include <math.h>
#include <string.h>

enum { CONTACTS = 64, NUMBERS = 1024 };

static orr_jobs *jobs;

static int begin(void **state)
{
    (void)state;
    return orr_jobs_create(2, NULL, NULL, &jobs, NULL) != ORR_OK;
}

static int end(void **state)
{
    (void)state;
    orr_jobs_destroy(jobs);
    return 0;
}

typedef struct golden {
    double *numbers, *next, *behind;
    int nq, nv, na, nu, nbody, nsensordata, states;
} golden;

static const double *take(golden *g, int count)
{
    double *taken = g->next;
    g->next += count;
    assert_true(g->next <= g->behind);
    return taken;
}

static golden load_golden(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/golden/sensors/%s.f64", ORR_SOURCE_DIR, name);
    orr_bytes bytes;
    assert_ok(orr_file_read(path, &bytes, &error));
    golden g = {.numbers = (double *)(void *)bytes.data};
    g.next = g.numbers;
    g.behind = g.numbers + bytes.size / sizeof(double);
    const double *sizes = take(&g, 7);
    g.nq = (int)sizes[0], g.nv = (int)sizes[1], g.na = (int)sizes[2], g.nu = (int)sizes[3];
    g.nbody = (int)sizes[4], g.nsensordata = (int)sizes[5], g.states = (int)sizes[6];
    return g;
}

enum { CONTACT_NUMBERS = 22 }; // geom1 geom2 dim dist pos frame force

static void flatten(const orr_physics_contact *c, double numbers[CONTACT_NUMBERS])
{
    numbers[0] = c->geom1, numbers[1] = c->geom2, numbers[2] = c->dim, numbers[3] = c->dist;
    memcpy(numbers + 4, c->pos, sizeof c->pos);
    memcpy(numbers + 7, c->frame, sizeof c->frame);
    memcpy(numbers + 16, c->force, sizeof c->force);
}

// Each of MuJoCo's contacts has its own among ours; the order is not MuJoCo's. Forces are relative to the largest.
static double contacts_error(const orr_physics_contact *found, const double *wanted, int count)
{
    bool used[CONTACTS] = {false};
    double worst = 0.0, most_force = 1.0;
    for (int i = 0; i < count; i++) {
        for (int k = 16; k < CONTACT_NUMBERS; k++) {
            most_force = fmax(most_force, fabs(wanted[i * CONTACT_NUMBERS + k]));
        }
    }
    for (int i = 0; i < count; i++) {
        const double *w = wanted + (ptrdiff_t)i * CONTACT_NUMBERS;
        double best = INFINITY;
        int best_at = 0;
        for (int j = 0; j < count; j++) {
            double f[CONTACT_NUMBERS], error = 0.0;
            flatten(&found[j], f);
            for (int k = 0; k < CONTACT_NUMBERS; k++) {
                error = fmax(error, fabs(f[k] - w[k]) / (k < 16 ? 1.0 : most_force));
            }
            if (!used[j] && error < best) {
                best = error;
                best_at = j;
            }
        }
        used[best_at] = true;
        worst = fmax(worst, best);
    }
    return worst;
}

static orr_physics *make_physics(const orr_model *model, int worlds, bool double_precision)
{
    orr_physics *physics = NULL;
    const orr_physics_desc desc = {.worlds = worlds, .double_precision = double_precision};
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    return physics;
}

// The two programs: double, and lanes of float, where the world beside others is held.
typedef struct machine {
    orr_physics *physics;
    int world;
} machine;

static void set(machine *a, orr_physics_field field, const double *values)
{
    orr_physics_set(a->physics, field, a->world, values);
}

static void hold(const char *name, const char *path)
{
    orr_model *model;
    assert_ok(orr_model_load(path, &model, &error));
    golden g = load_golden(name);
    assert_int_equal(model->nq, g.nq);
    assert_int_equal(model->nbody, g.nbody);
    assert_int_equal(model->nsensordata, g.nsensordata);
    model->opt.tolerance = 1e-15; // as recorded
    model->opt.iterations = 200;
    model->opt.ls_tolerance = 1e-6;
    machine machines[2] = {{make_physics(model, 1, true), 0}, {make_physics(model, 18, false), 17}};
    double worst[2] = {0.0, 0.0};
    for (int i = 0; i < g.states; i++) {
        const double *time = take(&g, 1), *qpos = take(&g, g.nq), *qvel = take(&g, g.nv),
                     *act = take(&g, g.na), *ctrl = take(&g, g.nu), *xfrc = take(&g, 6 * g.nbody);
        take(&g, g.nv);
        int contacts = (int)take(&g, 2)[1];
        const double *contact = take(&g, CONTACT_NUMBERS * contacts);
        take(&g, (10 + 5 * 6) * g.nbody);
        take(&g, g.nv + 2 + 6 * g.nv + g.nsensordata + g.nv);
        for (int k = 0; k < 2; k++) {
            orr_physics_contact found[CONTACTS];
            orr_physics_reset(machines[k].physics, machines[k].world);
            set(&machines[k], ORR_PHYSICS_TIME, time);
            set(&machines[k], ORR_PHYSICS_QPOS, qpos);
            set(&machines[k], ORR_PHYSICS_QVEL, qvel);
            set(&machines[k], ORR_PHYSICS_ACT, act);
            set(&machines[k], ORR_PHYSICS_CTRL, ctrl);
            set(&machines[k], ORR_PHYSICS_XFRC_APPLIED, xfrc);
            int count = orr_physics_contacts(machines[k].physics, machines[k].world, found, CONTACTS);
            assert_int_equal(count, contacts);
            worst[k] = fmax(worst[k], contacts_error(found, contact, count));
        }
    }
    assert_ptr_equal(g.next, g.behind);
    print_message("%s: contacts %.1e in f64, %.1e in f32\n", name, worst[0], worst[1]);
    assert_true(worst[0] < 1e-6); // the solver's tolerance
    assert_true(worst[1] < 1e-4);
    for (int k = 0; k < 2; k++) {
        orr_physics_destroy(machines[k].physics);
    }
    orr_model_destroy(model);
    orr_free(g.numbers);
}

// The point robot's sphere touches the floor exactly, so that rounding decides whether there is a contact.
static void robots_feel_what_they_do_in_mujoco(void **state)
{
    (void)state;
    static const char *const names[] = {"ant",
                                        "half_cheetah",
                                        "hopper",
                                        "humanoid",
                                        "humanoidstandup",
                                        "inverted_double_pendulum",
                                        "inverted_pendulum",
                                        "reacher",
                                        "swimmer",
                                        "walker2d",
                                        "walker2d_v5",
                                        "walker2d_v5_uneven_feet"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[128];
        snprintf(name, sizeof name, "mjcf/%s.xml", names[i]);
        hold(names[i], shared_data(name));
    }
}

static void contacts_push_as_in_mujoco(void **state)
{
    (void)state;
    static const char *const names[] = {"contacts_pyramidal", "contacts_elliptic", "equalities"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/tests/golden/dynamics/%s.xml", ORR_SOURCE_DIR, names[i]);
        hold(names[i], path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_push_as_in_mujoco),
        cmocka_unit_test(robots_feel_what_they_do_in_mujoco),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
