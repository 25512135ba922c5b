// Tests of the meshes of round geoms: closed, and as near to the round surface as they say.
#include "engine/scene/robot/rings.h"
#include "engine/scene/robot/robot_shape.h"
#include "physics/load/load.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

static const char *const shapes =
    "<mujoco><asset><texture name='t' type='2d' builtin='checker' rgb1='1 0 0' rgb2='0 1 0' width='8' "
    "height='8'/><material name='m' texture='t'/></asset><worldbody>"
    "<geom type='sphere' size='0.5'/><geom type='ellipsoid' size='0.5 0.2 0.9'/>"
    "<geom type='capsule' size='0.3 0.7'/><geom type='cylinder' size='0.4 0.2'/>"
    "<geom type='sphere' size='0.5' material='m'/></worldbody></mujoco>";
enum { SHAPES = 4, TEXTURED = SHAPES };

// How far a point is outside of the surface, of its radius (of the shape, or in the direction that counts);
// `out` becomes a direction that leaves it.
static double outside(int shape, const float p[3], double out[3])
{
    const double axes[3] = {0.5, 0.2, 0.9}, x = (double)p[0], y = (double)p[1], z = (double)p[2];
    const double past = copysign(fmax(fabs(z) - 0.7, 0.0), z);
    memcpy(out, (double[]){x, y, z}, 3 * sizeof *out);
    switch (shape) {
    case 1:
        for (int k = 0; k < 3; k++) {
            out[k] /= axes[k] * axes[k];
        }
        return sqrt(x * out[0] + y * out[1] + z * out[2]) - 1.0;
    case 2:
        out[2] = past;
        return sqrt(x * x + y * y + past * past) / 0.3 - 1.0;
    case 3: { // its tube, where caps do not hide it
        const bool cap = fabs(fabs(z) - 0.2) < 1e-6;
        memcpy(out, cap ? (double[]){0.0, 0.0, z} : (double[]){x, y, 0.0}, 3 * sizeof *out);
        return cap ? fmax(hypot(x, y) / 0.4 - 1.0, 0.0) : hypot(x, y) / 0.4 - 1.0;
    }
    default:
        return sqrt(x * x + y * y + z * z) / 0.5 - 1.0;
    }
}

static bool same_place(const orr_mesh *mesh, uint32_t i, uint32_t j)
{
    return memcmp(mesh->vertices[i].position, mesh->vertices[j].position, sizeof(float[3])) == 0;
}

// Every edge of a triangle is that of one other, the other way round; no two corners of one are the same.
static void check_closed(const orr_mesh *mesh)
{
    for (int64_t e = 0; e < mesh->index_count; e++) {
        const uint32_t from = mesh->indices[e], to = mesh->indices[e % 3 == 2 ? e - 2 : e + 1];
        int back = 0;
        assert_false(same_place(mesh, from, to));
        for (int64_t f = 0; f < mesh->index_count; f++) {
            back += same_place(mesh, mesh->indices[f], to) &&
                    same_place(mesh, mesh->indices[f % 3 == 2 ? f - 2 : f + 1], from);
        }
        assert_int_equal(back, 1);
    }
}

// Fronts are outside, and normals are those of the round surface.
static void check_fronts(int shape, const orr_mesh *mesh, const uint32_t corner[3])
{
    double normal[3], side[2][3], out[3], dot = 0.0;
    float middle[3] = {0};
    for (int k = 0; k < 3; k++) {
        const float *a = mesh->vertices[corner[0]].position, *b = mesh->vertices[corner[1]].position,
                    *c = mesh->vertices[corner[2]].position;
        side[0][k] = (double)(b[k] - a[k]);
        side[1][k] = (double)(c[k] - a[k]);
        middle[k] = (a[k] + b[k] + c[k]) / 3.0f;
    }
    outside(shape, middle, out);
    for (int k = 0; k < 3; k++) {
        const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        normal[k] = side[0][k1] * side[1][k2] - side[0][k2] * side[1][k1];
        dot += normal[k] * out[k];
    }
    assert_true(dot > 0.0);
    for (int c = 0; c < 3; c++) {
        const orr_mesh_vertex *v = &mesh->vertices[corner[c]];
        double length = 0.0, along = 0.0;
        outside(shape, v->position, out);
        for (int k = 0; k < 3; k++) {
            length += out[k] * out[k];
            along += out[k] * (double)v->normal[k];
        }
        // the rim of a cylinder is of its cap and of its tube
        assert_true(shape == 3 || fabs(along / sqrt(length) - 1.0) < 1e-5);
    }
}

static void faces_are_as_near_as_they_say(void **state)
{
    (void)state;
    orr_model *model;
    assert_ok(orr_model_parse(shapes, strlen(shapes), "shapes.xml", &model, &error));
    for (int shape = 0; shape < SHAPES; shape++) {
        for (int columns = ORR_ROBOT_COLUMNS; columns >= 6; columns /= 2) {
            const double within = (double)orr_robot_round_error(columns);
            double least = 0.0, most = 0.0, out[3];
            orr_mesh *mesh;
            assert_ok(orr_robot_shape(model, shape, NULL, columns, &mesh, &error));
            check_closed(mesh);
            for (int64_t i = 0; i < mesh->index_count; i += 3) {
                check_fronts(shape, mesh, mesh->indices + i);
                for (int at = 0; at < 15 * 15; at++) { // points all over the triangle
                    const float b = (float)(at % 15) / 14.0f, c = (float)(at / 15) / 14.0f * (1.0f - b);
                    float p[3];
                    for (int k = 0; k < 3; k++) {
                        p[k] = (1.0f - b - c) * mesh->vertices[mesh->indices[i]].position[k] +
                               b * mesh->vertices[mesh->indices[i + 1]].position[k] +
                               c * mesh->vertices[mesh->indices[i + 2]].position[k];
                    }
                    const double away = outside(shape, p, out);
                    least = fmin(least, away);
                    most = fmax(most, away);
                }
            }
            assert_true(most <= within + 1e-5 && least >= -within - 1e-5);
            assert_true(most >= within - 1e-5); // corners
            assert_true(least <= -0.98 * within ||
                        shape >= 2); // a face of a ball; its middle may lie between the points
            orr_mesh_destroy(mesh);
        }
    }
    // as 32 columns whose corners are on the surface, with half of their triangles
    assert_true((double)orr_robot_round_error(ORR_ROBOT_COLUMNS) < 1.0 - pow(cos(3.14159265 / 32.0), 2.0));
    orr_model_destroy(model);
}

// A picture is laid over the round surface, and not over the corners that are outside of it.
static void pictures_stay_where_they_were(void **state)
{
    (void)state;
    orr_model *model;
    orr_mesh *mesh;
    uint8_t texel[4] = {0};
    orr_image8 texture = {.rgba = texel, .width = 1, .height = 1};
    assert_ok(orr_model_parse(shapes, strlen(shapes), "shapes.xml", &model, &error));
    assert_ok(orr_robot_shape(model, TEXTURED, &texture, ORR_ROBOT_COLUMNS, &mesh, &error));
    float least = 1.0f, most = 0.0f;
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const orr_mesh_vertex *v = &mesh->vertices[i];
        least = fminf(least, v->uv[0]);
        most = fmaxf(most, v->uv[0]);
        assert_true(fabsf(v->uv[0] - 0.5f - 0.5f * v->normal[0]) < 1e-6f);
    }
    assert_true(fabsf(least) < 1e-6f && fabsf(most - 1.0f) < 1e-6f);
    orr_mesh_destroy(mesh);
    orr_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_are_as_near_as_they_say),
        cmocka_unit_test(pictures_stay_where_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
