// Beams of tetrahedra, and cloth, against the theory of beams and plates: bending and twist. Equilibria are
// found by conjugate gradients on the forces, and held by the simulation. Tetrahedra of constant strain are
// too stiff, by an error that falls with the square of their size: two sizes say what it falls to.
#include "physics/soft/mesh/box_mesh.h"
#include "physics/soft/soft.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum {
    ACROSS_MAX = 8,
    SLENDER = 5,
    NUMBERS = (ACROSS_MAX + 1) * (ACROSS_MAX + 1) * (ACROSS_MAX * SLENDER + 1) * 3
};

static const double length = 0.5, side = 0.1;

typedef struct beam {
    orr_soft_mesh mesh;
    orr_soft_model *model;
    int numbers; // vertices x 3
    bool fixed[NUMBERS];
    double gravity[3], position[NUMBERS];
} beam;

static beam b;

// Along x, of `across` cells to a side; the vertices at its ends are pinned, or those of the first end.
static void open_beam(int across, double poisson, bool both_ends)
{
    static int32_t pin[NUMBERS];
    const int cells[3] = {SLENDER * across, across, across};
    const double size[3] = {length, side, side};
    int pins = 0;
    memset(&b, 0, sizeof b);
    assert_ok(orr_soft_box(cells, size, &b.mesh, &error));
    b.numbers = b.mesh.vertices * 3;
    assert_true(b.numbers <= NUMBERS);
    for (int v = 0; v < b.mesh.vertices; v++) {
        const double x = b.mesh.vertex[v * 3];
        if (x < -0.499 * length || (both_ends && x > 0.499 * length)) {
            pin[pins++] = v;
            b.fixed[v * 3] = b.fixed[v * 3 + 1] = b.fixed[v * 3 + 2] = true;
        }
    }
    const orr_soft_spec spec = {.name = "beam",
                                .vertices = b.mesh.vertices,
                                .vertex = b.mesh.vertex,
                                .tets = b.mesh.tets,
                                .tet = b.mesh.tet,
                                .pins = pins,
                                .pin = pin,
                                .solid = {1000.0, 1e6, poisson, 0.01}};
    assert_ok(orr_soft_model_create(&spec, &b.model, &error));
    memcpy(b.position, b.mesh.vertex, (size_t)b.numbers * sizeof *b.position);
}

static void close_beam(void)
{
    orr_soft_model_destroy(b.model);
    orr_soft_mesh_destroy(&b.mesh);
}

static void free_forces(const double *x, double *force)
{
    orr_soft_forces(b.model, x, b.gravity, force);
    for (int i = 0; i < b.numbers; i++) {
        force[i] = b.fixed[i] ? 0.0 : force[i];
    }
}

static double product(const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < b.numbers; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

// Minus the derivative of the forces, along p.
static void multiply(const double *x, const double *p, double *out)
{
    static double moved[NUMBERS], behind[NUMBERS];
    const double way = 1e-6 / sqrt(product(p, p)); // 1e-6 m in all
    for (int i = 0; i < b.numbers; i++) {
        moved[i] = x[i] + way * p[i];
    }
    free_forces(moved, out);
    for (int i = 0; i < b.numbers; i++) {
        moved[i] = x[i] - way * p[i];
    }
    free_forces(moved, behind);
    for (int i = 0; i < b.numbers; i++) {
        out[i] = (behind[i] - out[i]) / (2.0 * way);
    }
}

// One step of Newton's method: loads are so small that it is enough.
static void find_equilibrium(void)
{
    static double start[NUMBERS], rest[NUMBERS], p[NUMBERS], q[NUMBERS];
    memcpy(start, b.position, sizeof start);
    free_forces(start, rest);
    memcpy(p, rest, sizeof p);
    double old = product(rest, rest);
    const double goal = 1e-8 * old;
    for (int n = 0; n < 2000 && old > goal; n++) {
        multiply(start, p, q);
        const double step = old / product(p, q);
        for (int i = 0; i < b.numbers; i++) {
            b.position[i] += step * p[i];
            rest[i] -= step * q[i];
        }
        const double now = product(rest, rest);
        for (int i = 0; i < b.numbers; i++) {
            p[i] = rest[i] + now / old * p[i];
        }
        old = now;
    }
    assert_true(old <= goal);
}

static double tip_height(const double *x)
{
    double sum = 0.0;
    int count = 0;
    for (int v = 0; v < b.mesh.vertices; v++) {
        if (b.mesh.vertex[v * 3] > 0.499 * length) {
            sum += x[v * 3 + 2];
            count++;
        }
    }
    return sum / count;
}

// What the error of a quantity falls to, from two sizes of cells, the second half of the first.
static double limit_of(const double value[2])
{
    return value[1] + (value[1] - value[0]) / 3.0;
}

static const int across[2] = {ACROSS_MAX / 2, ACROSS_MAX};

// Its weight bends it by w L^4 / (8 E I), and shear by w L^2 / (2 k G A), k = 5/6 (Timoshenko); Poisson's
// ratio is 0, so that the clamp holds nothing back.
static void a_cantilever_bends_by_its_weight(void **state)
{
    (void)state;
    static double held[NUMBERS];
    const double g = 1e-3, weight = 1000.0 * g * side * side, second = pow(side, 4.0) / 12.0; // g: m/s^2
    const double expected = weight * pow(length, 4.0) / (8.0 * 1e6 * second) +
                            weight * length * length / (2.0 * 5.0 / 6.0 * 5e5 * side * side);
    double tip[2];
    for (int i = 0; i < 2; i++) {
        open_beam(across[i], 0.0, false);
        b.gravity[2] = -g;
        find_equilibrium();
        tip[i] = -tip_height(b.position);
        const orr_soft_desc desc = {
            .time_step = 1e-3, .iterations = 10, .gravity = {0.0, 0.0, -g}, .double_precision = true};
        orr_soft *soft;
        assert_ok(orr_soft_create(&desc, b.model, NULL, &soft, &error));
        orr_soft_set(soft, 0, b.position, NULL);
        orr_soft_step(soft, 20);
        orr_soft_get(soft, 0, held, NULL);
        assert_true(fabs(tip_height(held) + tip[i]) < 1e-3 * tip[i]); // it stays there
        orr_soft_destroy(soft);
        close_beam();
    }
    if (!(fabs(limit_of(tip) - expected) < 0.02 * expected && fabs(tip[1] - expected) < 0.06 * expected)) {
        fail_msg("tip %g, %g: expected %g", tip[0], tip[1], expected);
    }
}

// Of 500 kg/m^3, m and Pa.
static orr_soft_model *model_of_sheet(const orr_soft_mesh *mesh, double thickness, double young, double nu)
{
    const orr_soft_spec spec = {.name = "sheet",
                                .vertices = mesh->vertices,
                                .vertex = mesh->vertex,
                                .triangles = mesh->triangles,
                                .triangle = mesh->triangle,
                                .cloth_thickness = thickness,
                                .cloth = {500.0, young, nu, 0.0}};
    orr_soft_model *model;
    assert_ok(orr_soft_model_create(&spec, &model, &error));
    return model;
}

// Cloth rolled around a cylinder has a plate's energy, D / (2 R^2) of its area, D = E t^3 / (12 (1 - nu^2)).
// The edges between cells bend, so that each end lacks half a cell.
static void rolled_cloth_has_the_energy_of_a_plate(void **state)
{
    (void)state;
    enum { CELLS = 20, ACROSS = 10 };
    static double x[(CELLS + 1) * (ACROSS + 1) * 3];
    const double cell = 0.02, radius = 1.0, thickness = 4e-3, young = 1e7, nu = 0.3;
    const double plate = young * pow(thickness, 3.0) / (12.0 * (1.0 - nu * nu)), none[3] = {0.0, 0.0, 0.0};
    for (int along = 0; along < 2; along++) { // of the sheet's axes
        const int cells[2] = {along ? ACROSS : CELLS, along ? CELLS : ACROSS};
        const double expected = plate / (2.0 * radius * radius) * ACROSS * (CELLS - 1) * cell * cell;
        orr_soft_mesh mesh;
        assert_ok(orr_soft_sheet(cells, (double[]){cell * cells[0], cell * cells[1]}, &mesh, &error));
        b.model = model_of_sheet(&mesh, thickness, young, nu);
        const double chord = 2.0 * radius * sin(0.5 * cell / radius); // cells keep their size
        for (int v = 0; v < mesh.vertices; v++) {
            const double angle = mesh.vertex[v * 3 + along] / radius;
            x[3 * v + 1 - along] = mesh.vertex[3 * v + 1 - along];
            x[3 * v + along] = cell / chord * radius * sin(angle);
            x[3 * v + 2] = cell / chord * radius * cos(angle);
        }
        const double energy = orr_soft_energy(b.model, x, none) - orr_soft_energy(b.model, mesh.vertex, none);
        print_message("rolled cloth: %g J, expected %g\n", energy, expected);
        assert_true(fabs(energy - expected) < 0.005 * expected);
        orr_soft_model_destroy(b.model);
        orr_soft_mesh_destroy(&mesh);
    }
}

// The energy of a sheet of square cells with small curvatures xx, yy and xy: each of its edges sees the one
// across it, and those between cells the twist, too, where all diagonals are parallel.
static double energy_of_curved(const orr_soft_mesh *mesh, const orr_soft_model *model, const double k[3])
{
    static double position[1000 * 3];
    const double none[3] = {0.0, 0.0, 0.0};
    assert_true(mesh->vertices <= 1000);
    for (int v = 0; v < mesh->vertices; v++) {
        const double *from = mesh->vertex + (ptrdiff_t)3 * v, x = from[0], y = from[1];
        double *to = position + (ptrdiff_t)3 * v;
        to[0] = x, to[1] = y, to[2] = 0.5 * (k[0] * x * x + k[1] * y * y) + k[2] * x * y;
    }
    return orr_soft_energy(model, position, none) - orr_soft_energy(model, mesh->vertex, none);
}

// Cells whose diagonals go the other way, in a checkerboard; width: cells in a row.
static void alternate(orr_soft_mesh *mesh, int width)
{
    for (int cell = 0; cell < mesh->triangles / 2; cell++) {
        int32_t *t = mesh->triangle + (ptrdiff_t)cell * 6; // corners 0 1 2 and 0 2 3 of the cell
        const int32_t corner[4] = {t[0], t[1], t[2], t[5]};
        if ((cell / width + cell % width) % 2 == 1) {
            t[2] = t[5] = corner[3], t[3] = corner[1], t[4] = corner[2];
        }
    }
}

static void parallel_diagonals_make_cloth_twist(void **state)
{
    (void)state;
    enum { CELLS = 24, ACROSS = 16 };
    static const double curvature[][3] = {
        {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {1.0, 0.0, -1.0 / 6.0}, {1.0, 0.2, -0.2}};
    // as thick as this, it stretches by nothing that counts
    const double cell = 0.02, thickness = 0.05, young = 1e7, nu = 0.3;
    const double plate = young * pow(thickness, 3.0) / (12.0 * (1.0 - nu * nu));
    const int cells[2] = {CELLS, ACROSS};
    for (int i = 0; i < 10; i++) {
        const bool parallel = i < 5;
        double k[3];
        orr_soft_mesh mesh;
        for (int c = 0; c < 3; c++) {
            k[c] = 5e-4 * curvature[i % 5][c]; // 1/m
        }
        assert_ok(orr_soft_sheet(cells, (double[]){cell * CELLS, cell * ACROSS}, &mesh, &error));
        if (!parallel) {
            alternate(&mesh, ACROSS);
        }
        b.model = model_of_sheet(&mesh, thickness, young, nu);
        const double twist = parallel ? k[2] : 0.0, xx = k[0] + twist, yy = k[1] + twist;
        const double expected = 0.5 * plate * cell * cell *
                                ((CELLS - 1) * ACROSS * xx * xx + CELLS * (ACROSS - 1) * yy * yy +
                                 4.0 * CELLS * ACROSS * k[2] * k[2]);
        const double energy = energy_of_curved(&mesh, b.model, k);
        if (!(fabs(energy - expected) < 0.001 * expected)) {
            fail_msg("curvatures %d: %g J, expected %g", i, energy, expected);
        }
        orr_soft_model_destroy(b.model);
        orr_soft_mesh_destroy(&mesh);
    }
}

// Held along one edge, flat cloth begins to fall between freely and as a rod that turns about its end: its
// other edge at g to 3/2 g. Cloth that resists being moved out of its plane falls slowly.
static void cloth_falls_freely_from_its_edge(void **state)
{
    (void)state;
    enum { CELLS = 10 };
    static double x[3 * (CELLS + 1) * 3];
    static int32_t pin[3];
    orr_soft_mesh mesh;
    orr_soft *soft;
    int pins = 0;
    assert_ok(orr_soft_sheet((int[]){CELLS, 2}, (double[]){length, 0.2 * length}, &mesh, &error));
    for (int v = 0; v < mesh.vertices; v++) {
        if (mesh.vertex[v * 3] < -0.499 * length) {
            pin[pins++] = v;
        }
    }
    const orr_soft_spec spec = {.name = "sheet",
                                .vertices = mesh.vertices,
                                .vertex = mesh.vertex,
                                .triangles = mesh.triangles,
                                .triangle = mesh.triangle,
                                .pins = pins,
                                .pin = pin,
                                .cloth_thickness = 1e-3,
                                .cloth = {300.0, 1e7, 0.3, 0.0}};
    assert_ok(orr_soft_model_create(&spec, &b.model, &error));
    // a floor that it does not reach changes nothing
    const orr_soft_obstacle far = {.shape = ORR_SOFT_PLANE,
                                   .position = {0.0, 0.0, -2.0},
                                   .axis = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
    const orr_soft_desc desc = {
        .gravity = {0.0, 0.0, -9.81}, .chebyshev = 0.9, .iterations = 12, .obstacles = 1, .obstacle = &far};
    assert_ok(orr_soft_create(&desc, b.model, NULL, &soft, &error));
    orr_soft_step(soft, 24); // 0.1 s
    orr_soft_get(soft, 0, x, NULL);
    double fallen = 0.0;
    for (int v = 0; v < mesh.vertices; v++) {
        fallen -= mesh.vertex[v * 3] > 0.499 * length ? x[3 * v + 2] / 3.0 : 0.0;
    }
    print_message("the edge of a sheet falls %g m in 0.1 s, freely %g\n", fallen, 0.5 * 9.81 * 0.01);
    assert_true(fallen > 0.95 * 0.5 * 9.81 * 0.01 && fallen < 1.6 * 0.5 * 9.81 * 0.01);
    orr_soft_destroy(soft);
    orr_soft_model_destroy(b.model);
    orr_soft_mesh_destroy(&mesh);
}

// One end is turned: the moment at the other is G J angle / L, J = 0.1406 side^4 (Saint-Venant).
static void a_twisted_beam_resists(void **state)
{
    (void)state;
    static double force[NUMBERS];
    const double angle = 1e-3, shear = 1e6 / (2.0 * 1.3);
    const double expected = shear * 0.1406 * pow(side, 4.0) * angle / length;
    double moment[2] = {0.0, 0.0};
    for (int i = 0; i < 2; i++) {
        open_beam(across[i], 0.3, true);
        for (int v = 0; v < b.mesh.vertices; v++) { // a guess: the angle grows along the beam
            double *x = b.position + (ptrdiff_t)v * 3, y = x[1], z = x[2],
                   turn = angle * (x[0] / length + 0.5);
            x[1] = cos(turn) * y - sin(turn) * z;
            x[2] = sin(turn) * y + cos(turn) * z;
        }
        find_equilibrium();
        orr_soft_forces(b.model, b.position, b.gravity, force);
        for (int v = 0; v < b.mesh.vertices; v++) {
            const double *x = b.position + (ptrdiff_t)v * 3, *f = force + (ptrdiff_t)v * 3;
            moment[i] -= b.mesh.vertex[v * 3] > 0.499 * length ? x[1] * f[2] - x[2] * f[1] : 0.0;
        }
        close_beam();
    }
    if (!(fabs(limit_of(moment) - expected) < 0.03 * expected &&
          fabs(moment[1] - expected) < 0.12 * expected)) {
        fail_msg("moment %g, %g: expected %g", moment[0], moment[1], expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cantilever_bends_by_its_weight),
        cmocka_unit_test(rolled_cloth_has_the_energy_of_a_plate),
        cmocka_unit_test(parallel_diagonals_make_cloth_twist),
        cmocka_unit_test(cloth_falls_freely_from_its_edge),
        cmocka_unit_test(a_twisted_beam_resists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
