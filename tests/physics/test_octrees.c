// Geoms of the type sdf whose distance is an octree of their mesh: the octrees, contacts and motion against
// MuJoCo's (tests/golden/record_octrees.py); mistakes in the file.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/load/load.h"
#include "physics/model/octree_distance.h"
#include "physics/simulation/world.h"
#include "tests/physics/model_mistakes.h"
#include "tests/physics/recorded_contacts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static orr_model *load(const char *name)
{
    orr_model *model = NULL;
    assert_ok(orr_model_load(source_path("tests/golden/octrees/%s.xml", name), &model, &error));
    return model;
}

#ifdef ORR_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

// The CPU's best instruction set does all; contacts are found by the same text elsewhere, in double; with
// sanitizers, which take ten times as long, octrees and files must do.
static bool is_brief(void)
{
    return cuda || isa != orr_isa_best();
}

// ---- the trees

enum { DEPTHS = 7 };

static octree_view tree_of(const orr_model *m, int mesh)
{
    const double *box = m->mesh_octreebox + (ptrdiff_t)6 * mesh;
    return (octree_view){.child = m->octree_child + m->mesh_octreeadr[mesh],
                         .coeff = m->octree_coeff + (ptrdiff_t)8 * m->mesh_octreeadr[mesh],
                         .centre = {box[0], box[1], box[2]},
                         .half = {box[3], box[4], box[5]}};
}

static void count_nodes(const octree_view *t, int node, int depth, int counts[DEPTHS])
{
    assert_true(depth < DEPTHS);
    counts[depth]++;
    for (int i = 0; i < 8 && t->child[node] >= 0; i++) {
        count_nodes(t, t->child[node] + i, depth + 1, counts);
    }
}

// Differences over 1e-6 m, which say nothing across the sides of leaves; inside and outside of the root.
static void check_gradients(const octree_view *t)
{
    uint32_t random = 1;
    int good = 0, points = 2000;
    for (int i = 0; i < points; i++) {
        double p[3], error = 0.0;
        for (int k = 0; k < 3; k++) {
            random = random * 1664525u + 1013904223u;
            p[k] = t->centre[k] + t->half[k] * 1.4 * (2.0 * (random >> 8) / (double)(1 << 24) - 1.0);
        }
        const distance_at at = octree_distance(t, p);
        const double slope[3] = {at.x, at.y, at.z};
        for (int k = 0; k < 3; k++) {
            double ahead[3], behind[3], step = 1e-6;
            memcpy(ahead, p, sizeof p);
            memcpy(behind, p, sizeof p);
            ahead[k] += step, behind[k] -= step;
            error =
                fmax(error, fabs((octree_distance(t, ahead).d - octree_distance(t, behind).d) / (2.0 * step) -
                                 slope[k]));
        }
        good += error < 1e-6; // of rounding 1e-10; a trilinear function has no curvature along an axis
    }
    print_message("%d of %d gradients\n", good, points);
    assert_true(good >= points - points / 200); // the smallest leaf is 1e4 times as large as the differences
}

// The same cells. Vertices that a mesh scales are rounded to float here, of up to 0.5 m by 3e-8 m.
static void trees_are_mujocos(void **state)
{
    (void)state;
    orr_model *m = load("pairs");
    golden_numbers file = golden_numbers_load("octrees/trees");
    for (int i = 0; i < m->nmesh; i++) {
        const octree_view t = tree_of(m, i);
        int counts[DEPTHS] = {0};
        double worst = 0.0;
        assert_int_equal(m->mesh_octreenum[i], (int)*golden_numbers_take(&file, 1));
        count_nodes(&t, 0, 0, counts);
        const double *expected = golden_numbers_take(&file, DEPTHS);
        for (int k = 0; k < DEPTHS; k++) {
            assert_int_equal(counts[k], (int)expected[k]);
        }
        const double *box = golden_numbers_take(&file, 6);
        for (int k = 0; k < 6; k++) {
            assert_true(fabs(m->mesh_octreebox[6 * i + k] - box[k]) < 1e-7);
        }
        int points = (int)*golden_numbers_take(&file, 1);
        for (int k = 0; k < points; k++) {
            const double *at = golden_numbers_take(&file, 4);
            worst = fmax(worst, fabs(octree_distance(&t, at).d - at[3]));
        }
        print_message("%s: %d nodes, distances off by up to %.1e m\n", orr_model_name(m, ORR_OBJECT_MESH, i),
                      m->mesh_octreenum[i], worst);
        assert_true(points > 0 && worst < 1e-7);
        check_gradients(&t);
    }
    assert_ptr_equal(file.next, file.behind);
    orr_free(file.numbers);
    orr_model_destroy(m);
}

// ---- contacts

// A gradient changes from one leaf to the next: a search that comes within 1e-7 m of the side of a leaf can
// go another way, in float within 1e-6 m.
static void contacts_are_mujocos(void **state)
{
    (void)state;
    orr_model *m = load("pairs");
    for (int precision = 0; precision < (is_brief() ? 1 : 2); precision++) {
        assert_recorded_contacts(m, "octrees/contacts", precision == 0);
    }
    orr_model_destroy(m);
}

// Searches that go another way (above) move the ring by up to 1e-4 m, where the peg's friction then keeps it.
static void a_ring_falls_over_a_peg(void **state)
{
    (void)state;
    orr_model *m = load("peg");
    golden_numbers file = golden_numbers_load("octrees/peg");
    orr_physics *both[2] = {make_physics(m, 1, true), make_physics(m, 2, false)};
    double worst[2] = {0.0, 0.0}, got[7], lowest = 1.0;
    for (int part = 0; file.next < file.behind; part++) {
        const double *qpos = golden_numbers_take(&file, m->nq);
        for (int k = 0; k < 2; k++) {
            if (part > 0) {
                orr_physics_step(both[k], (int)round(0.1 / m->opt.timestep));
            }
            orr_physics_get(both[k], ORR_PHYSICS_QPOS, orr_physics_worlds(both[k]) - 1, got);
            lowest = fmin(lowest, got[2]);
            for (int c = 0; c < 3; c++) {
                worst[k] = fmax(worst[k], fabs(got[c] - qpos[c]));
            }
        }
    }
    print_message("off by %.1e m in f64, %.1e m in f32\n", worst[0], worst[1]);
    assert_true(lowest < 0.03);
    assert_true(worst[0] < 1e-4 && worst[1] < 1e-3);
    orr_physics_destroy(both[0]);
    orr_physics_destroy(both[1]);
    orr_model_destroy(m);
    orr_free(file.numbers);
}

// ---- files

#define FILE_OF(extension, mesh, geom)                                                                       \
    "<mujoco>" extension "<asset>\n<mesh name='m' " mesh "</asset><worldbody>\n<geom type='sdf' " geom       \
    "</worldbody></mujoco>"
#define SDFLIB                                                                                               \
    "<extension><plugin plugin='mujoco.sdf.sdflib'><instance name='p'><config key='aabb' value='0'/>"        \
    "</instance></plugin></extension>"
#define TETRAHEDRON "vertex='0 0 0 1 0 0 0 1 0 0 0 1'"

static void every_mistake_is_named_with_its_line(void **state)
{
    (void)state;
    static const model_mistake mistakes[] = {
        {FILE_OF("", "builtin='sphere' params='1'/>", "/>"), "test.xml:3: <geom>",
         "mesh: expected the name of one"},
        {FILE_OF("", TETRAHEDRON "/>", "mesh='n'/>"), "test.xml:3: <geom>", "there is no mesh 'n'"},
        {FILE_OF("<extension><plugin plugin='mujoco.sdf.torus'><instance name='p'/></plugin></extension>",
                 "><plugin instance='p'/></mesh>", "mesh='m'/>"),
         "test.xml:3: <geom>", "expected the plugin of its mesh"},
        {FILE_OF(SDFLIB, "><plugin instance='p'/></mesh>", "mesh='m'/>"), "test.xml:2: <mesh>",
         "plugin mujoco.sdf.sdflib: expected of a geom"},
    };
    assert_mistakes(mistakes, sizeof mistakes / sizeof mistakes[0], "test.xml");
}

// The plugin that MuJoCo had before its own octrees gives the same; a mesh that no such geom has gets none.
static void sdflib_is_an_octree(void **state)
{
    (void)state;
    static const char plain[] = FILE_OF("", TETRAHEDRON "/>", "mesh='m'/>"),
                      plugin[] = FILE_OF(SDFLIB, TETRAHEDRON "/>", "mesh='m'><plugin instance='p'/></geom>"),
                      none[] = "<mujoco><asset><mesh name='m' " TETRAHEDRON "/></asset><worldbody>"
                               "<geom type='mesh' mesh='m'/></worldbody></mujoco>";
    orr_model *a = NULL, *b = NULL, *c = NULL;
    assert_ok(orr_model_parse(plain, strlen(plain), "test.xml", &a, &error));
    assert_ok(orr_model_parse(plugin, strlen(plugin), "test.xml", &b, &error));
    assert_ok(orr_model_parse(none, strlen(none), "test.xml", &c, &error));
    assert_true(a->noctree > 1 && a->noctree == b->noctree && c->noctree == 0);
    assert_memory_equal(a->octree_coeff, b->octree_coeff, 8 * (size_t)a->noctree * sizeof(double));
    orr_model_destroy(a);
    orr_model_destroy(b);
    orr_model_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_mujocos),
        cmocka_unit_test(every_mistake_is_named_with_its_line),
        cmocka_unit_test(sdflib_is_an_octree),
    };
    const struct CMUnitTest recorded[] = {
        cmocka_unit_test(contacts_are_mujocos),
        cmocka_unit_test(a_ring_falls_over_a_peg),
    };
    const int failed = cmocka_run_group_tests(tests, open_machine, close_machine);
    return SANITIZED ? failed : failed + cmocka_run_group_tests(recorded, open_machine, close_machine);
}
