// Soft models: their energies against finite differences, masses, and what is refused.
#include "physics/soft/mesh/box_mesh.h"
#include "physics/soft/model.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

static const orr_soft_material rubber = {1000.0, 1e5, 0.3, 0.0};
static const double no_gravity[3] = {0.0, 0.0, 0.0};

static orr_soft_spec spec_of(const orr_soft_mesh *mesh)
{
    return (orr_soft_spec){.name = "body",
                           .vertices = mesh->vertices,
                           .vertex = mesh->vertex,
                           .tets = mesh->tets,
                           .tet = mesh->tet,
                           .triangles = mesh->triangles,
                           .triangle = mesh->triangle,
                           .solid = rubber,
                           .cloth = rubber,
                           .rope = rubber,
                           .cloth_thickness = 0.01,
                           .rope_radius = 0.01};
}

// Numbers in [-1, 1], the same in every run.
static double noise(int i)
{
    return sin(12.9898 * i + 0.7 * sin(78.233 * i));
}

// Forces at deformed positions are minus the energy's central differences.
static void forces_are_minus_gradients(const orr_soft_spec *spec, double size)
{
    const double gravity[3] = {0.3, -1.0, -9.81};
    orr_soft_model *model;
    assert_ok(orr_soft_model_create(spec, &model, &error));
    double position[300], force[300], largest = 0.0;
    assert_true(spec->vertices <= 100);
    for (int i = 0; i < spec->vertices * 3; i++) {
        position[i] = spec->vertex[i] + size * noise(i);
    }
    orr_soft_forces(model, position, gravity, force);
    for (int i = 0; i < spec->vertices * 3; i++) {
        largest = fmax(largest, fabs(force[i]));
    }
    for (int i = 0; i < spec->vertices * 3; i++) {
        double step = 1e-5, x = position[i];
        position[i] = x + step;
        double above = orr_soft_energy(model, position, gravity);
        position[i] = x - step;
        double below = orr_soft_energy(model, position, gravity);
        position[i] = x;
        double expected = (below - above) / (2.0 * step);
        // the differences' error: third derivatives x step^2, and rounding
        if (fabs(force[i] - expected) > 1e-6 * largest) {
            fail_msg("force %d: %.12g: expected %.12g", i, force[i], expected);
        }
    }
    orr_soft_model_destroy(model);
}

static void tets_push_down_their_energy(void **state)
{
    (void)state;
    orr_soft_mesh mesh;
    assert_ok(orr_soft_box((int[]){2, 1, 1}, (double[]){0.6, 0.4, 0.5}, &mesh, &error));
    orr_soft_spec spec = spec_of(&mesh);
    forces_are_minus_gradients(&spec, 0.02);
    forces_are_minus_gradients(&spec, 0.3); // tets turned inside out among them
    orr_soft_mesh_destroy(&mesh);
}

static void cloth_pushes_down_its_energy(void **state)
{
    (void)state;
    orr_soft_mesh mesh;
    assert_ok(orr_soft_sheet((int[]){3, 2}, (double[]){0.9, 0.8}, &mesh, &error));
    orr_soft_spec spec = spec_of(&mesh);
    forces_are_minus_gradients(&spec, 0.05);
    spec.cloth_thickness = 0.3; // bending dominates
    forces_are_minus_gradients(&spec, 0.05);
    mesh.vertex[2] = 0.2; // bent at rest
    forces_are_minus_gradients(&spec, 0.05);
    orr_soft_mesh_destroy(&mesh);
}

static void ropes_push_down_their_energy(void **state)
{
    (void)state;
    const double vertex[] = {0, 0, 0, 1, 0, 0, 2, 0.5, 0, 2, 1, 1};
    const int32_t edge[] = {0, 1, 1, 2, 2, 3};
    orr_soft_spec spec = {.name = "rope",
                          .vertices = 4,
                          .vertex = vertex,
                          .edges = 3,
                          .edge = edge,
                          .rope = rubber,
                          .rope_radius = 0.02};
    forces_are_minus_gradients(&spec, 0.2);
}

static const int32_t octahedron[] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
static const double octahedron_vertex[] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1};

static orr_soft_spec shell(double pressure, double ambient)
{
    return (orr_soft_spec){.name = "shell",
                           .vertices = 6,
                           .vertex = octahedron_vertex,
                           .triangles = 8,
                           .triangle = octahedron,
                           .cloth = rubber,
                           .cloth_thickness = 0.01,
                           .pressure = pressure,
                           .ambient = ambient};
}

// The octahedron's volume is 4/3. Gas that is kept follows Boyle's law.
static void gas_pushes_down_its_energy(void **state)
{
    (void)state;
    const orr_soft_spec pumped = shell(700.0, 0.0), sealed = shell(700.0, 1500.0);
    forces_are_minus_gradients(&pumped, 0.2);
    forces_are_minus_gradients(&sealed, 0.2);
    orr_soft_model *model;
    assert_ok(orr_soft_model_create(&sealed, &model, &error));
    assert_true(fabs(orr_soft_volume(model, octahedron_vertex) - 4.0 / 3.0) <= 1e-15);
    assert_true(fabs(orr_soft_pressure(model, 4.0 / 3.0) - 700.0) <= 1e-9);
    assert_true(fabs(orr_soft_pressure(model, 2.0 / 3.0) - (2.0 * 2200.0 - 1500.0)) <= 1e-9);
    orr_soft_model_destroy(model);
}

static void rest_has_no_forces_and_its_mass_is_density_times_volume(void **state)
{
    (void)state;
    orr_soft_mesh mesh;
    orr_soft_model *model;
    assert_ok(orr_soft_box((int[]){3, 2, 2}, (double[]){0.6, 0.4, 0.5}, &mesh, &error));
    orr_soft_spec spec = spec_of(&mesh);
    assert_ok(orr_soft_model_create(&spec, &model, &error));
    double force[36 * 3], mass = 0.0;
    assert_int_equal(mesh.vertices, 36);
    orr_soft_forces(model, mesh.vertex, no_gravity, force);
    for (int i = 0; i < mesh.vertices; i++) {
        mass += orr_soft_masses(model)[i];
        for (int c = 0; c < 3; c++) {
            assert_true(fabs(force[i * 3 + c]) < 1e-9); // of stresses of 1e5 Pa on 0.04 m^2
        }
    }
    assert_true(fabs(mass - 120.0) < 1e-9);
    orr_soft_model_destroy(model);
    orr_soft_mesh_destroy(&mesh);
}

static void elements_join_vertices_of_different_colours(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        orr_soft_mesh mesh;
        orr_soft_model *model;
        if (kind == 0) {
            assert_ok(orr_soft_box((int[]){5, 4, 3}, (double[]){1, 1, 1}, &mesh, &error));
        } else {
            assert_ok(orr_soft_sheet((int[]){9, 7}, (double[]){1, 1}, &mesh, &error));
        }
        orr_soft_spec spec = spec_of(&mesh);
        assert_ok(orr_soft_model_create(&spec, &model, &error));
        assert_true(model->colours >= 3 && model->colours <= 9);
        for (int i = 0; i < SOFT_KINDS; i++) {
            const int32_t *element;
            int corners = orr_soft_corners(i), count = orr_soft_elements(model, i, &element);
            for (int k = 0; k < count * corners; k++) {
                for (int other = k + 1; other < (k / corners + 1) * corners; other++) {
                    assert_int_not_equal(model->colour[element[k]], model->colour[element[other]]);
                }
            }
        }
        orr_soft_model_destroy(model);
        orr_soft_mesh_destroy(&mesh);
    }
}

static void refused(const orr_soft_spec *spec, const char *expected)
{
    orr_error error = {0};
    orr_soft_model *model;
    assert_int_not_equal(orr_soft_model_create(spec, &model, &error), ORR_OK);
    assert_null(model);
    if (!strstr(error.message, expected)) {
        fail_msg("\"%s\": expected \"%s\"", error.message, expected);
    }
}

static void bad_input_is_refused_by_name(void **state)
{
    (void)state;
    double vertex[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5, 5, 5};
    int32_t tet[] = {0, 1, 2, 3}, inverted[] = {0, 2, 1, 3}, far[] = {0, 1, 2, 5}, none[] = {7};
    int32_t fan[] = {0, 1, 2, 1, 0, 3, 0, 1, 4}, loop[] = {2, 2};
    orr_soft_spec good = {.name = "body",
                          .vertices = 4,
                          .vertex = vertex,
                          .tets = 1,
                          .tet = tet,
                          .solid = rubber,
                          .cloth = rubber,
                          .cloth_thickness = 0.1,
                          .rope = rubber,
                          .rope_radius = 0.1};
    orr_soft_model *model;
    assert_ok(orr_soft_model_create(&good, &model, &error));
    orr_soft_model_destroy(model);
    orr_soft_spec bad = good;
    bad.tet = inverted;
    refused(&bad, "tet 0 (vertices 0 2 1 3): expected a volume above 0");
    bad.tet = far;
    refused(&bad, "tet 0: expected vertices below 4, not 5");
    bad = good, bad.solid.poisson = 0.5;
    refused(&bad, "Poisson's ratio of the solid: expected at least 0 and below 0.5");
    bad = good, bad.solid.density = 0.0;
    refused(&bad, "density of the solid: expected above 0");
    bad = good, bad.solid.young = NAN;
    refused(&bad, "Young's modulus of the solid");
    bad = good, bad.yield_stress = -1.0;
    refused(&bad, "yield: expected a stress and a rate of at least 0, not -1 Pa");
    bad = good, bad.pins = 1, bad.pin = none;
    refused(&bad, "pin 0: expected vertices below 4, not 7");
    bad = good, bad.vertices = 5;
    refused(&bad, "vertex 4: expected a mass above 0 kg, not 0, of an element it belongs to");
    bad.triangles = 3, bad.triangle = fan;
    refused(&bad, "expected at most two triangles at the edge of vertices 0 and 1");
    bad = good, bad.edges = 1, bad.edge = loop;
    refused(&bad, "edge 0 (vertices 2 2): expected a length above 0");
    bad = good, bad.tets = 0;
    refused(&bad, "vertex 0: expected a mass above 0 kg");
    int32_t outwards_in[24];
    for (int i = 0; i < 24; i++) {
        outwards_in[i] = octahedron[i / 3 * 3 + 2 - i % 3];
    }
    bad = shell(1.0, 0.0), bad.triangles = 7;
    refused(&bad, "expected closed cloth, its triangles counter-clockwise from outside, without open edges");
    bad = shell(1.0, 0.0), bad.triangle = outwards_in;
    refused(&bad, "expected closed cloth, its triangles counter-clockwise from outside");
    bad = shell(-2.0, 1.0);
    refused(&bad, "enclosed gas: expected a pressure around it of at least 0 Pa");
    bad = shell(NAN, 1.0);
    refused(&bad, "enclosed gas: expected a pressure around it of at least 0 Pa");
    vertex[11] = 1e-9;
    refused(&good, "degenerate");
    vertex[11] = INFINITY;
    refused(&good, "vertex 3: expected finite coordinates");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tets_push_down_their_energy),
        cmocka_unit_test(cloth_pushes_down_its_energy),
        cmocka_unit_test(ropes_push_down_their_energy),
        cmocka_unit_test(gas_pushes_down_its_energy),
        cmocka_unit_test(rest_has_no_forces_and_its_mass_is_density_times_volume),
        cmocka_unit_test(elements_join_vertices_of_different_colours),
        cmocka_unit_test(bad_input_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
