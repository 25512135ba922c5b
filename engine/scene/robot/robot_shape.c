#define ORR_SCALAR
#include "engine/scene/robot/robot_shape.h"

#include "engine/core/memory.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/vector.h"
#include "engine/maths/vector_formula.h"
#include "engine/scene/robot/rings.h"
#include "render/cube_formula.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { BALL_RINGS = ORR_ROBOT_COLUMNS }; // at most

static const double pi = 3.14159265358979323846;

// A mesh under construction. Memory that ran out is remembered, so that shapes read as lists of their parts.
typedef struct builder {
    orr_mesh_vertex *vertices;
    uint32_t *indices;
    int64_t vertex_count, vertex_capacity, index_count, index_capacity;
    int columns; // of round surfaces; 0: ORR_ROBOT_COLUMNS
    bool failed;
    bool endless; // a plane that reaches the horizon
    bool as_mesh; // of the type sdf: a function, whose surface is a mesh
    // which indices, the last ones, are of a face that mirrors, and how much
    int64_t mirror_count;
    float reflectance;
} builder;

static void *grown(void *old, int64_t count, int64_t *capacity, size_t size)
{
    int64_t wanted = *capacity ? 2 * *capacity : 256;
    char *bytes = orr_alloc((size_t)wanted, size);
    if (bytes && count > 0) {
        memcpy(bytes, old, (size_t)count * size);
    }
    if (bytes) {
        orr_free(old);
        *capacity = wanted;
    }
    return bytes;
}

static uint32_t put_vertex(builder *b, const double position[3], const double normal[3])
{
    if (b->vertex_count == b->vertex_capacity && !b->failed) {
        orr_mesh_vertex *more = grown(b->vertices, b->vertex_count, &b->vertex_capacity, sizeof *b->vertices);
        b->failed = !more;
        b->vertices = more ? more : b->vertices;
    }
    if (b->failed) {
        return 0;
    }
    orr_mesh_vertex *v = &b->vertices[b->vertex_count];
    *v = (orr_mesh_vertex){.colour = {255, 255, 255, 255}};
    double length = vec3_length(normal);
    for (int k = 0; k < 3; k++) {
        v->position[k] = (float)position[k];
        v->normal[k] = (float)(length > 0.0 ? normal[k] / length : k == 2);
    }
    return (uint32_t)b->vertex_count++;
}

static void put_triangle(builder *b, uint32_t i, uint32_t j, uint32_t k)
{
    if (b->index_count + 3 > b->index_capacity && !b->failed) {
        uint32_t *more = grown(b->indices, b->index_count, &b->index_capacity, sizeof *b->indices);
        b->failed = !more;
        b->indices = more ? more : b->indices;
    }
    if (!b->failed) {
        b->indices[b->index_count++] = i;
        b->indices[b->index_count++] = j;
        b->indices[b->index_count++] = k;
    }
}

// ---- surfaces ----

static int columns_of(const builder *b)
{
    return b->columns ? b->columns : ORR_ROBOT_COLUMNS;
}

typedef struct profile_point {
    double radius, z;
    double out, up; // the normal
    int corners;    // around z; 1: a pole
} profile_point;

// The surface that a profile, from top to bottom, draws when it turns around z.
static void put_turned(builder *b, const profile_point *profile, int count)
{
    uint32_t first = 0; // of the row above
    for (int row = 0; row < count; row++) {
        const profile_point *p = &profile[row];
        const uint32_t below = (uint32_t)b->vertex_count;
        for (int corner = 0; corner < p->corners; corner++) {
            const double angle = 2.0 * pi * corner / p->corners, x = cos(angle), y = sin(angle);
            put_vertex(b, (double[]){p->radius * x, p->radius * y, p->z},
                       (double[]){p->out * x, p->out * y, p->up});
        }
        orr_band band = {.above = row > 0 ? p[-1].corners : 1, .below = p->corners};
        for (int corner[3]; row > 0 && orr_band_next(&band, corner);) {
            const bool two_above = corner[2] < band.above;
            if (p[two_above ? -1 : 0].radius > 0.0) { // else the triangle is a point's
                put_triangle(b, first + (uint32_t)corner[0], first + (uint32_t)corner[1],
                             first + (uint32_t)corner[2]);
            }
        }
        first = below;
    }
}

// A sphere whose halves are 2 half_length apart: a capsule when that is not 0.
static void put_capsule(builder *b, double radius, double half_length)
{
    profile_point profile[BALL_RINGS + 1];
    const int rows = orr_ball_rows(columns_of(b));
    int count = 0;
    for (int row = 0; row <= rows; row++) {
        const double angle = pi * row / rows;
        const int corners = orr_ball_ring(columns_of(b), row);
        const profile_point p = {corners == 1 ? 0.0 : radius * sin(angle),
                                 (row <= rows / 2 ? half_length : -half_length) + radius * cos(angle),
                                 sin(angle), cos(angle), corners};
        profile[count++] = p;
        if (row == rows / 2 && half_length > 0.0) { // the other end of the tube
            profile[count] = p;
            profile[count++].z -= 2.0 * half_length;
        }
    }
    put_turned(b, profile, count);
}

static void put_ellipsoid(builder *b, const double axes[3])
{
    put_capsule(b, 1.0, 0.0);
    for (int64_t i = 0; i < b->vertex_count; i++) {
        double square = 0.0;
        orr_mesh_vertex *v = &b->vertices[i];
        for (int k = 0; k < 3; k++) {
            v->position[k] *= (float)axes[k];
            v->normal[k] /= (float)axes[k];
            square += (double)v->normal[k] * (double)v->normal[k];
        }
        for (int k = 0; k < 3; k++) {
            v->normal[k] /= (float)sqrt(square);
        }
    }
}

// Between two heights, with the radii there; a cone when one is 0.
static void put_cylinder(builder *b, double top_radius, double top, double bottom_radius, double bottom)
{
    double out = top - bottom, up = bottom_radius - top_radius;
    const int pole = 1, around = columns_of(b);
    const profile_point profile[] = {{0.0, top, 0.0, 1.0, pole},
                                     {top_radius, top, 0.0, 1.0, around},
                                     {top_radius, top, out, up, around},
                                     {bottom_radius, bottom, out, up, around},
                                     {bottom_radius, bottom, 0.0, -1.0, around},
                                     {0.0, bottom, 0.0, -1.0, pole}};
    put_turned(b, profile, 2);
    put_turned(b, profile + 2, 2);
    put_turned(b, profile + 4, 2);
}

// A parallelogram from `corner` along two edges; its front is where edge x cross edge y points.
static void put_quad(builder *b, const double corner[3], const double edge_x[3], const double edge_y[3])
{
    double normal[3], corners[4][3];
    for (int k = 0; k < 3; k++) {
        int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        normal[k] = edge_x[k1] * edge_y[k2] - edge_x[k2] * edge_y[k1];
        corners[0][k] = corner[k];
        corners[1][k] = corner[k] + edge_x[k];
        corners[2][k] = corner[k] + edge_x[k] + edge_y[k];
        corners[3][k] = corner[k] + edge_y[k];
    }
    uint32_t made[4];
    for (int i = 0; i < 4; i++) {
        made[i] = put_vertex(b, corners[i], normal);
    }
    put_triangle(b, made[0], made[1], made[2]);
    put_triangle(b, made[0], made[2], made[3]);
}

static void put_box(builder *b, const double half[3], const double centre[3])
{
    for (int axis = 0; axis < 3; axis++) {
        for (int side = -1; side <= 1; side += 2) {
            int u = (axis + 1) % 3, v = (axis + 2) % 3;
            double corner[3] = {0}, edge_u[3] = {0}, edge_v[3] = {0};
            corner[axis] = centre[axis] + side * half[axis];
            corner[u] = centre[u] - side * half[u];
            corner[v] = centre[v] - half[v];
            edge_u[u] = 2.0 * side * half[u];
            edge_v[v] = 2.0 * half[v];
            put_quad(b, corner, edge_u, edge_v);
        }
    }
}

static double reach(double size)
{
    return size > 0.0 ? size : ORR_ENDLESS_PLANE;
}

static void put_rectangle(builder *b, double x0, double x1, double y0, double y1)
{
    put_quad(b, (double[]){x0, y0, 0.0}, (double[]){x1 - x0, 0.0, 0.0}, (double[]){0.0, y1 - y0, 0.0});
}

// One that is endless is in parts, because points far from a triangle's corners are less exact.
static void put_plane(builder *b, const double size[3])
{
    double x = reach(size[0]), y = reach(size[1]);
    put_rectangle(b, -x, x, -y, y);
    double far_y = size[1] > 0.0 ? y : ORR_HORIZON;
    if (size[0] <= 0.0) {
        put_rectangle(b, -ORR_HORIZON, -x, -far_y, far_y);
        put_rectangle(b, x, ORR_HORIZON, -far_y, far_y);
    }
    if (size[1] <= 0.0) {
        put_rectangle(b, -x, x, -far_y, -y);
        put_rectangle(b, -x, x, y, far_y);
    }
}

static double hfield_height(const orr_model *m, int field, int row, int column)
{
    int rows = m->hfield_nrow[field], columns = m->hfield_ncol[field];
    row = row < 0 ? 0 : row < rows ? row : rows - 1;
    column = column < 0 ? 0 : column < columns ? column : columns - 1;
    return (double)m->hfield_data[m->hfield_adr[field] + row * columns + column] *
           m->hfield_size[4 * field + 2];
}

// The ground, and the box of its base below.
static void put_hfield(builder *b, const orr_model *m, int field)
{
    int rows = m->hfield_nrow[field], columns = m->hfield_ncol[field];
    const double *size = m->hfield_size + 4 * field;
    double step_x = 2.0 * size[0] / (columns - 1), step_y = 2.0 * size[1] / (rows - 1);
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
            double slope_x =
                hfield_height(m, field, row, column + 1) - hfield_height(m, field, row, column - 1);
            double slope_y =
                hfield_height(m, field, row + 1, column) - hfield_height(m, field, row - 1, column);
            put_vertex(b,
                       (double[]){step_x * column - size[0], step_y * row - size[1],
                                  hfield_height(m, field, row, column)},
                       (double[]){-slope_x / (2.0 * step_x), -slope_y / (2.0 * step_y), 1.0});
        }
    }
    for (int row = 0; row + 1 < rows; row++) {
        for (int column = 0; column + 1 < columns; column++) {
            uint32_t at = (uint32_t)(row * columns + column), above = at + (uint32_t)columns;
            put_triangle(b, at, at + 1, above + 1);
            put_triangle(b, at, above + 1, above);
        }
    }
    put_box(b, (double[]){size[0], size[1], 0.5 * size[3]}, (double[]){0.0, 0.0, -0.5 * size[3]});
}

static void put_mesh(builder *b, const orr_model *m, int mesh)
{
    int first = m->mesh_vertadr[mesh];
    for (int i = 0; i < m->mesh_vertnum[mesh]; i++) {
        const float *p = m->mesh_vert + 3 * (first + i), *n = m->mesh_normal + 3 * (first + i);
        uint32_t made = put_vertex(b, (double[]){(double)p[0], (double)p[1], (double)p[2]},
                                   (double[]){(double)n[0], (double)n[1], (double)n[2]});
        if (!b->failed) {
            memcpy(b->vertices[made].uv, m->mesh_texcoord + 2 * (first + i), 2 * sizeof(float));
        }
    }
    for (int i = 0; i < m->mesh_facenum[mesh]; i++) {
        const int32_t *face = m->mesh_face + 3 * (m->mesh_faceadr[mesh] + i);
        put_triangle(b, (uint32_t)face[0], (uint32_t)face[1], (uint32_t)face[2]);
    }
}

static void put_shape(builder *b, const orr_model *m, orr_geom_type type, const double size[3], int data)
{
    switch (type) {
    case ORR_GEOM_PLANE:
        put_plane(b, size);
        break;
    case ORR_GEOM_HFIELD:
        put_hfield(b, m, data);
        break;
    case ORR_GEOM_SPHERE:
        put_capsule(b, size[0], 0.0);
        break;
    case ORR_GEOM_CAPSULE:
        put_capsule(b, size[0], size[1]);
        break;
    case ORR_GEOM_ELLIPSOID:
        put_ellipsoid(b, size);
        break;
    case ORR_GEOM_CYLINDER:
        put_cylinder(b, size[0], size[1], size[0], -size[1]);
        break;
    case ORR_GEOM_BOX:
        put_box(b, size, (double[]){0.0, 0.0, 0.0});
        break;
    case ORR_GEOM_MESH:
        put_mesh(b, m, data);
        break;
    case ORR_GEOM_SDF: // of a function; with a grid, what it was captured from is drawn
        if (b->as_mesh) {
            put_mesh(b, m, data);
        }
        break;
    }
}

// ---- textures ----

static void find_bounds(const builder *b, float low[3], float high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = b->vertex_count ? FLT_MAX : 0.0f;
        high[k] = b->vertex_count ? -FLT_MAX : 0.0f;
        for (int64_t i = 0; i < b->vertex_count; i++) {
            low[k] = fminf(low[k], b->vertices[i].position[k]);
            high[k] = fmaxf(high[k], b->vertices[i].position[k]);
        }
    }
}

// A flat picture laid over the geom from +z, its middle at the geom's: over its size, or over 2 m, as MuJoCo
// has it where it is uniform and where a plane is endless.
static void lay_flat(builder *b, const orr_model *m, int material, const double size[3])
{
    const float *repeat = m->mat_texrepeat + 2 * material;
    float low[3], high[3];
    find_bounds(b, low, high);
    for (int64_t i = 0; i < b->vertex_count; i++) {
        orr_mesh_vertex *v = &b->vertices[i];
        const float sign[2] = {1.0f, -1.0f}; // the picture's first row is at +y
        for (int k = 0; k < 2; k++) {
            bool stretched = !m->mat_texuniform[material] && !(b->endless && size[k] <= 0.0);
            float side = stretched ? fmaxf(high[k] - low[k], 1e-9f) : 2.0f;
            v->uv[k] = repeat[k] * sign[k] * (v->position[k] - 0.5f * (low[k] + high[k])) / side + 0.5f;
        }
    }
}

// A cube's picture: each triangle shows the face that its middle points at, so corners are its own.
static void lay_cube(builder *b, const orr_model *m, int material, const orr_image8 *texture)
{
    builder cut = {0};
    float scale[3] = {1.0f, 1.0f, 1.0f};
    float low[3], high[3];
    find_bounds(b, low, high);
    for (int k = 0; k < 3 && m->mat_texuniform[material]; k++) {
        scale[k] = 2.0f / fmaxf(high[k] - low[k], 1e-9f);
    }
    for (int64_t i = 0; i < b->index_count; i += 3) {
        real3 corners[3], middle = make_real3(0.0f, 0.0f, 0.0f);
        for (int c = 0; c < 3; c++) {
            const float *p = b->vertices[b->indices[i + c]].position;
            corners[c] = make_real3(scale[0] * p[0], scale[1] * p[1], scale[2] * p[2]);
            middle = add3(middle, corners[c]);
        }
        const float face = cube_face(middle);
        uint32_t made[3];
        for (int c = 0; c < 3; c++) {
            const orr_mesh_vertex *from = &b->vertices[b->indices[i + c]];
            made[c] = put_vertex(&cut, (double[3]){0}, (double[3]){0});
            if (!cut.failed) {
                const real2 uv =
                    cube_place(face, cube_on_face(face, corners[c]), 0.5f / (float)texture->width);
                cut.vertices[made[c]] = *from;
                cut.vertices[made[c]].uv[0] = uv.x;
                cut.vertices[made[c]].uv[1] = uv.y;
            }
        }
        put_triangle(&cut, made[0], made[1], made[2]);
    }
    orr_free(b->vertices);
    orr_free(b->indices);
    *b = cut;
}

// ---- a mesh ----

// A colour of its own, or else its material's; display values, straight alpha.
static const float *colour_of(const orr_model *m, const float own[4], int material)
{
    static const float unset[4] = {0.5f, 0.5f, 0.5f, 1.0f}; // what names no colour has
    bool of_material = material >= 0 && memcmp(own, unset, sizeof unset) == 0;
    return of_material ? m->mat_rgba + 4 * material : own;
}

const float *orr_robot_colour(const orr_model *m, int geom)
{
    return colour_of(m, m->geom_rgba + 4 * geom, m->geom_matid[geom]);
}

const float *orr_robot_site_colour(const orr_model *m, int site)
{
    return colour_of(m, m->site_rgba + 4 * site, m->site_matid[site]);
}

const float *orr_robot_tendon_colour(const orr_model *m, int tendon)
{
    return colour_of(m, m->tendon_rgba + 4 * tendon, m->tendon_matid[tendon]);
}

void orr_robot_paint(orr_mesh_material *surface, const float rgba[4])
{
    for (int k = 0; k < 4; k++) {
        surface->base_colour[k] = k < 3 ? srgb_to_linear(rgba[k]) : rgba[k];
    }
    surface->blended = rgba[3] < 1.0f;
    surface->specular = surface->shininess = 0.5f; // MuJoCo's, without a material
}

static orr_mesh_material surface_of(const orr_model *m, const float rgba[4], int material)
{
    orr_mesh_material surface = {0};
    orr_robot_paint(&surface, rgba);
    if (material >= 0) {
        surface.emission = m->mat_emission[material];
        surface.specular = srgb_to_linear(m->mat_specular[material]);
        surface.shininess = m->mat_shininess[material];
    }
    return surface;
}

static orr_result complete(builder *b, const orr_mesh_material *surface, orr_mesh *mesh, orr_error *error)
{
    mesh->vertices = b->vertices;
    mesh->indices = b->indices;
    mesh->vertex_count = b->vertex_count;
    mesh->index_count = b->index_count;
    if (b->failed) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the surface of a geom");
    }
    find_bounds(b, mesh->low, mesh->high);
    for (int k = 0; k < 2; k++) {
        mesh->low[k] = fmaxf(mesh->low[k], b->endless ? -ORR_ENDLESS_PLANE : -FLT_MAX);
        mesh->high[k] = fminf(mesh->high[k], b->endless ? ORR_ENDLESS_PLANE : FLT_MAX);
    }
    const uint32_t mirror = (uint32_t)b->mirror_count, plain = (uint32_t)mesh->index_count - mirror;
    const int count = mirror > 0 && plain > 0 ? 2 : 1;
    ORR_ALLOC(mesh->parts, 2, "parts of a mesh", error);
    ORR_ALLOC(mesh->materials, 2, "materials", error);
    mesh->part_count = mesh->material_count = count;
    for (int i = 0; i < count; i++) {
        const bool mirrors = mirror > 0 && i == count - 1;
        mesh->parts[i] = (orr_mesh_part){
            .first_index = mirrors ? plain : 0, .index_count = mirrors ? mirror : plain, .material = i};
        mesh->materials[i] = *surface;
        mesh->materials[i].texture = mesh->texture_count > 0 ? 0 : -1;
        mesh->materials[i].reflectance = mirrors ? b->reflectance : 0.0f;
    }
    return ORR_OK;
}

static orr_result make(builder *b, const orr_mesh_material *surface, orr_image8 *texture, orr_mesh **out,
                       orr_error *error)
{
    *out = NULL;
    orr_mesh *mesh = orr_alloc_zero(1, sizeof *mesh);
    if (!mesh) {
        orr_free(b->vertices);
        orr_free(b->indices);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the surface of a geom");
    }
    mesh->textures = texture;
    mesh->texture_count = texture ? 1 : 0;
    mesh->borrows_textures = mesh->has_mips = texture != NULL;
    orr_result result = complete(b, surface, mesh, error);
    if (result != ORR_OK) {
        orr_mesh_destroy(mesh);
        return result;
    }
    *out = mesh;
    return ORR_OK;
}

static void lay_texture(builder *b, const orr_model *m, orr_geom_type type, const double size[3],
                        int material, const orr_image8 *texture)
{
    if (texture && m->tex_type[m->mat_texid[material]] == ORR_TEXTURE_CUBE) {
        lay_cube(b, m, material, texture);
    } else if (texture && type != ORR_GEOM_MESH && type != ORR_GEOM_SDF) {
        lay_flat(b, m, material, size);
    }
}

// How many of the last indices are of the face that mirrors where MuJoCo has one: planes, and the sides of
// boxes at +z, which put_box makes last.
static int64_t mirror_indices(const builder *b, orr_geom_type type)
{
    const int64_t side = 6;
    return type == ORR_GEOM_PLANE                           ? b->index_count
           : type == ORR_GEOM_BOX && b->index_count >= side ? side
                                                            : 0;
}

float orr_robot_round_error(int columns)
{
    const double inside = orr_ball_inside(columns);
    return (float)((1.0 - inside) / (1.0 + inside));
}

// Moves the corners of a round surface out, so that they are as far outside of it as faces are inside at
// most. Textures stay where they are.
static void swell(builder *b, orr_geom_type type, const double size[3])
{
    const bool round = type == ORR_GEOM_SPHERE || type == ORR_GEOM_CAPSULE || type == ORR_GEOM_ELLIPSOID;
    if (!round && type != ORR_GEOM_CYLINDER) {
        return;
    }
    const double inside = orr_ball_inside(columns_of(b));
    const float by = (float)((1.0 - inside) / (1.0 + inside)),
                half_length = type == ORR_GEOM_CAPSULE ? (float)size[1] : 0.0f;
    for (int64_t i = 0; i < b->vertex_count; i++) {
        float *p = b->vertices[i].position;
        p[0] += by * p[0];
        p[1] += by * p[1];
        p[2] += round ? by * (p[2] - copysignf(half_length, p[2])) : 0.0f;
    }
}

orr_result orr_robot_shape(const orr_model *m, int geom, orr_image8 *texture, int columns, orr_mesh **mesh,
                           orr_error *error)
{
    const double *given = m->geom_size + 3 * geom;
    orr_geom_type type = (orr_geom_type)m->geom_type[geom];
    int material = m->geom_matid[geom];
    builder b = {.columns = columns,
                 .endless = type == ORR_GEOM_PLANE && (given[0] <= 0.0 || given[1] <= 0.0),
                 .as_mesh = m->geom_function[geom] != ORR_FUNCTION_NONE};
    put_shape(&b, m, type, given, m->geom_dataid[geom]);
    lay_texture(&b, m, type, given, material, texture);
    swell(&b, type, given);
    orr_mesh_material surface = surface_of(m, orr_robot_colour(m, geom), material);
    surface.no_shadow = !m->geom_castshadow[geom];
    if (material >= 0 && m->mat_reflectance[material] > 0.0f && !surface.blended) {
        b.reflectance = m->mat_reflectance[material];
        b.mirror_count = mirror_indices(&b, type);
    }
    return make(&b, &surface, texture, mesh, error);
}

orr_result orr_robot_primitive_shape(orr_geom_type type, const double size[3], const float rgba[4],
                                     orr_mesh **mesh, orr_error *error)
{
    assert(type == ORR_GEOM_SPHERE || type == ORR_GEOM_CAPSULE || type == ORR_GEOM_CYLINDER ||
           type == ORR_GEOM_BOX);
    builder b = {0};
    orr_mesh_material surface = {0};
    put_shape(&b, NULL, type, size, -1);
    orr_robot_paint(&surface, rgba);
    return make(&b, &surface, NULL, mesh, error);
}

orr_result orr_robot_site_shape(const orr_model *m, int site, orr_image8 *texture, orr_mesh **mesh,
                                orr_error *error)
{
    orr_geom_type type = (orr_geom_type)m->site_type[site];
    int material = m->site_matid[site];
    builder b = {0};
    put_shape(&b, m, type, m->site_size + 3 * site, -1);
    lay_texture(&b, m, type, m->site_size + 3 * site, material, texture);
    swell(&b, type, m->site_size + 3 * site);
    orr_mesh_material surface = surface_of(m, orr_robot_site_colour(m, site), material);
    return make(&b, &surface, texture, mesh, error);
}

orr_result orr_robot_tendon_shapes(const orr_model *m, int tendon, orr_mesh **piece, orr_mesh **ball,
                                   orr_error *error)
{
    orr_mesh_material surface = surface_of(m, orr_robot_tendon_colour(m, tendon), m->tendon_matid[tendon]);
    builder b = {0}, round = {0};
    put_cylinder(&b, 1.0, 1.0, 1.0, 0.0);
    swell(&b, ORR_GEOM_CYLINDER, NULL);
    ORR_TRY(make(&b, &surface, NULL, piece, error));
    put_capsule(&round, 1.0, 0.0);
    swell(&round, ORR_GEOM_SPHERE, NULL);
    return make(&round, &surface, NULL, ball, error);
}

orr_result orr_robot_mark_shape(orr_robot_mark mark, const float colour[3], orr_mesh **mesh, orr_error *error)
{
    builder b = {0};
    if (mark == ORR_ROBOT_MARK_CONTACT) {
        put_cylinder(&b, 1.0, 0.5, 1.0, -0.5);
    } else {
        put_cylinder(&b, mark == ORR_ROBOT_MARK_HEAD ? 0.0 : 1.0, 1.0, 1.0, 0.0);
    }
    const orr_mesh_material surface = {.base_colour = {srgb_to_linear(colour[0]), srgb_to_linear(colour[1]),
                                                       srgb_to_linear(colour[2]), 1.0f}};
    return make(&b, &surface, NULL, mesh, error);
}
