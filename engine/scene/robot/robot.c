#define ORR_SCALAR
#include "engine/scene/robot/robot.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/colour_formula.h"
#include "engine/scene/robot/robot_round.h"
#include "engine/scene/robot/robot_visual.h"
#include "engine/scene/transform.h"
#include "physics/load/load.h"
#include "physics/pose/rest_pose.h"
#include "physics/pose/tendon_path.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { GROUPS_DRAWN = 3, GROUPS = 6 }; // as in MuJoCo's viewer: what collides is often in a later one

bool orr_robot_group_drawn(int group, unsigned char switched)
{
    int last = group < 0 ? 0 : group < GROUPS ? group : GROUPS - 1;
    return (last < GROUPS_DRAWN) != ((switched >> last & 1) != 0);
}

// ---- textures ----

// How MuJoCo shows a colour: one that is said to be sRGB is decoded, and what that gives is shown as it is.
static uint8_t shown(int32_t colour_space, uint8_t byte)
{
    float c = (float)byte / 255.0f;
    return colour_space == ORR_COLOUR_SRGB ? (uint8_t)(255.0f * srgb_to_linear(c) + 0.5f) : byte;
}

static orr_result read_texture(const orr_model *m, int index, orr_image8 *image, orr_error *error)
{
    size_t texels = (size_t)m->tex_width[index] * (size_t)m->tex_height[index];
    int channels = m->tex_nchannel[index];
    const uint8_t *from = m->tex_data + m->tex_adr[index];
    uint8_t *rgba, colours[256];
    for (int i = 0; i < 256; i++) {
        colours[i] = shown(m->tex_colorspace[index], (uint8_t)i);
    }
    ORR_ALLOC(rgba, 4 * texels, "a texture", error);
    for (size_t i = 0; i < texels; i++) {
        for (int c = 0; c < 4; c++) {
            bool given = c < channels && !(channels < 3 && c > 0);
            uint8_t byte = given ? from[i * (size_t)channels + (size_t)c] : 255;
            rgba[4 * i + (size_t)c] = c == 3 ? byte : given ? colours[byte] : rgba[4 * i];
        }
    }
    *image = (orr_image8){m->tex_width[index], m->tex_height[index], rgba};
    return ORR_OK;
}

static orr_result read_textures(orr_robot *robot, orr_error *error)
{
    const orr_model *m = robot->model;
    ORR_ALLOC(robot->textures, m->ntex, "the textures of a robot", error);
    for (int i = 0; i < m->ntex; i++) {
        ORR_TRY(read_texture(m, i, &robot->textures[i], error));
        robot->texture_count++;
    }
    orr_mesh carrier = {.textures = robot->textures, .texture_count = robot->texture_count};
    return orr_mesh_build_mips(&carrier, error);
}

// ---- geoms ----

static void set_stride(const orr_model *m, orr_robot_geom *geom)
{
    const double *size = m->geom_size + 3 * geom->geom;
    if (m->geom_type[geom->geom] != ORR_GEOM_PLANE) {
        return;
    }
    for (int k = 0; k < 2; k++) {
        int material = m->geom_matid[geom->geom];
        float repeat = material >= 0 ? m->mat_texrepeat[2 * material + k] : 1.0f;
        // the texture of a plane that is finite along this axis does not move with the camera
        geom->stride[k] = size[k] > 0.0 ? 0.0f : repeat > 0.0f ? 2.0f / repeat : 1.0f;
    }
}

static orr_image8 *texture_of(const orr_robot *robot, int material)
{
    int texture = material >= 0 && robot->textures ? robot->model->mat_texid[material] : -1;
    return texture >= 0 ? &robot->textures[texture] : NULL;
}

static void destroy_meshes(const orr_robot_geom *geom)
{
    for (int i = 0; i < ORR_ROBOT_COARSE; i++) {
        orr_mesh_destroy(geom->coarse[i]);
    }
    if (!geom->shared) {
        orr_mesh_destroy(geom->mesh);
    }
}

static orr_result make_meshes(const orr_robot *robot, orr_robot_geom *geom, orr_error *error)
{
    const orr_model *m = robot->model;
    orr_image8 *texture = texture_of(robot, m->geom_matid[geom->geom]);
    orr_result result = orr_robot_shape(m, geom->geom, texture, ORR_ROBOT_COLUMNS, &geom->mesh, error);
    geom->round_radius = orr_robot_round_radius(m, geom->geom);
    if (geom->round_radius > 0.0f) {
        geom->round = orr_robot_round(m, geom->geom, texture);
    }
    for (int i = 0; i < ORR_ROBOT_COARSE && result == ORR_OK && geom->round_radius > 0.0f; i++) {
        const int columns = ORR_ROBOT_COLUMNS >> (i + 1);
        geom->coarse_error[i] = geom->round_radius * orr_robot_round_error(columns);
        result = orr_robot_shape(m, geom->geom, texture, columns, &geom->coarse[i], error);
    }
    if (result != ORR_OK) {
        destroy_meshes(geom);
    }
    return result;
}

// Takes made meshes; those that show nothing are dropped.
static void keep(orr_robot *robot, const orr_robot_geom *geom)
{
    if (geom->mesh->index_count == 0) {
        destroy_meshes(geom);
    } else {
        robot->geoms[robot->geom_count++] = *geom;
    }
}

static orr_result add_geoms(orr_robot *robot, const bool *visual_loaded, orr_error *error)
{
    const orr_model *m = robot->model;
    for (int i = 0; i < m->ngeom; i++) {
        const bool covered = orr_robot_is_covered(robot, visual_loaded, i);
        orr_robot_geom geom = {.part = ORR_ROBOT_GEOM,
                               .geom = i,
                               .group = covered && m->geom_group[i] < GROUPS_DRAWN ? GROUPS_DRAWN
                                                                                   : m->geom_group[i],
                               .body = m->geom_bodyid[i],
                               .at = orr_transform_of(m->geom_pos + 3 * i, m->geom_quat + 4 * i)};
        if (orr_robot_colour(m, i)[3] > 0.0f && !orr_robot_is_visual(robot, visual_loaded, i)) {
            ORR_TRY(make_meshes(robot, &geom, error));
            set_stride(m, &geom);
            keep(robot, &geom);
        }
    }
    return ORR_OK;
}

static orr_result add_sites(orr_robot *robot, orr_error *error)
{
    const orr_model *m = robot->model;
    for (int i = 0; i < m->nsite; i++) {
        orr_robot_geom site = {.part = ORR_ROBOT_SITE,
                               .geom = i,
                               .group = m->site_group[i],
                               .body = m->site_bodyid[i],
                               .at = orr_transform_of(m->site_pos + 3 * i, m->site_quat + 4 * i)};
        if (orr_robot_site_colour(m, i)[3] > 0.0f) {
            ORR_TRY(orr_robot_site_shape(m, i, texture_of(robot, m->site_matid[i]), &site.mesh, error));
            keep(robot, &site);
        }
    }
    return ORR_OK;
}

static orr_result add_all(orr_robot *robot, bool pictures, orr_error *error)
{
    const orr_model *m = robot->model;
    const int visuals = m->visuals ? m->visuals->count : 0;
    ORR_ALLOC(robot->geoms, m->ngeom + m->nsite + visuals, "the geoms of a robot", error);
    bool *loaded = orr_alloc_zero((size_t)visuals, sizeof *loaded);
    orr_result result =
        loaded ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the visuals of a robot");
    if (result == ORR_OK && visuals > 0 && pictures) {
        result = orr_robot_add_visuals(robot, loaded, error);
    }
    if (result == ORR_OK) {
        result = add_geoms(robot, loaded, error);
    }
    orr_free(loaded);
    return result == ORR_OK ? add_sites(robot, error) : result;
}

static orr_result add_marks(orr_robot *robot, orr_error *error)
{
    // MuJoCo's colours of contact points and forces
    static const float colours[ORR_ROBOT_MARK_COUNT][3] = {
        [ORR_ROBOT_MARK_CONTACT] = {0.9f, 0.6f, 0.2f},
        [ORR_ROBOT_MARK_SHAFT] = {0.7f, 0.9f, 0.9f},
        [ORR_ROBOT_MARK_HEAD] = {0.7f, 0.9f, 0.9f},
    };
    for (int i = 0; i < ORR_ROBOT_MARK_COUNT; i++) {
        ORR_TRY(orr_robot_mark_shape((orr_robot_mark)i, colours[i], &robot->marks[i], error));
    }
    return ORR_OK;
}

static orr_result add_tendons(orr_robot *robot, orr_error *error)
{
    const orr_model *m = robot->model;
    ORR_ALLOC(robot->tendons, 2 * m->ntendon, "the tendons of a robot", error);
    memset(robot->tendons, 0, 2 * (size_t)m->ntendon * sizeof *robot->tendons);
    for (int i = 0; i < m->ntendon; i++) {
        int points = orr_tendon_points(m, i);
        if (points > 0 && m->tendon_width[i] > 0.0 && orr_robot_tendon_colour(m, i)[3] > 0.0f) {
            ORR_TRY(orr_robot_tendon_shapes(m, i, &robot->tendons[2 * i], &robot->tendons[2 * i + 1], error));
            robot->tendon_items += 2 * points;
        }
    }
    return ORR_OK;
}

// ---- the pose the model is given in ----

static orr_result find_rest(orr_robot *robot, orr_error *error)
{
    const orr_model *m = robot->model;
    ORR_ALLOC(robot->rest, m->nbody, "the bodies of a robot", error);
    double *xpos;
    ORR_ALLOC(xpos, 7 * m->nbody, "the bodies of a robot", error);
    double *xquat = xpos + 3 * m->nbody;
    orr_result result = orr_model_rest_pose(m, xpos, xquat, error);
    for (int i = 0; i < m->nbody && result == ORR_OK; i++) {
        robot->rest[i] = orr_transform_of(xpos + 3 * i, xquat + 4 * i);
    }
    orr_free(xpos);
    return result;
}

static void add_bounds(orr_robot *robot, const orr_robot_geom *geom)
{
    orr_transform pose = orr_transform_multiply(&robot->rest[geom->body], &geom->at);
    float model[12];
    if (orr_affine_from_transform(&pose, model, NULL) != ORR_OK) {
        return;
    }
    for (int64_t i = 0; i < geom->mesh->vertex_count; i++) {
        float p[3];
        for (int k = 0; k < 3; k++) { // of an endless plane the middle
            p[k] = fmaxf(geom->mesh->low[k], fminf(geom->mesh->vertices[i].position[k], geom->mesh->high[k]));
        }
        for (int k = 0; k < 3; k++) {
            const float *row = model + 4 * k;
            float at = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
            robot->low[k] = fminf(robot->low[k], at);
            robot->high[k] = fmaxf(robot->high[k], at);
        }
    }
}

static bool is_plane(const orr_robot *robot, const orr_robot_geom *geom)
{
    return geom->part == ORR_ROBOT_GEOM && robot->model->geom_type[geom->geom] == ORR_GEOM_PLANE;
}

bool orr_robot_is_floor(const orr_robot *robot)
{
    bool planes = false;
    for (int i = 0; i < robot->geom_count; i++) {
        const orr_robot_geom *geom = &robot->geoms[i];
        if (orr_robot_group_drawn(geom->group, 0)) {
            if (!is_plane(robot, geom)) {
                return false;
            }
            planes = true;
        }
    }
    return planes;
}

static void find_bounds(orr_robot *robot)
{
    for (int pass = 0; pass < 2; pass++) { // a model of nothing but planes is as large as they are
        for (int k = 0; k < 3; k++) {
            robot->low[k] = FLT_MAX;
            robot->high[k] = -FLT_MAX;
        }
        for (int i = 0; i < robot->geom_count; i++) {
            const orr_robot_geom *geom = &robot->geoms[i];
            if (is_plane(robot, geom) == (pass == 1) && orr_robot_group_drawn(geom->group, 0)) {
                add_bounds(robot, &robot->geoms[i]);
            }
        }
        if (robot->low[0] <= robot->high[0]) {
            return;
        }
    }
    for (int k = 0; k < 3; k++) {
        robot->low[k] = robot->high[k] = 0.0f;
    }
}

// ---- light ----

static void find_first_light(orr_robot *robot)
{
    const orr_model *m = robot->model;
    int first = 0;
    while (first < m->nlight && !m->light_active[first]) {
        first++;
    }
    robot->headlight = first == m->nlight;
    robot->to_light[2] = 1.0f;
    for (int k = 0; k < 3 && !robot->headlight; k++) {
        robot->to_light[k] = (float)-m->light_dir0[3 * first + k];
    }
}

// the texel in the middle of a face of a cube's picture: +x, -x, +y, -y, +z, -z, one below the other
static void face_colour(const orr_image8 *image, int face, float colour[3])
{
    int side = image->height / 6, row = face * side + side / 2;
    const uint8_t *texel =
        image->rgba + 4 * ((size_t)row * (size_t)image->width + (size_t)(image->width / 2));
    for (int k = 0; k < 3; k++) {
        colour[k] = (float)texel[k] / 255.0f;
    }
}

static orr_result find_sky(orr_robot *robot, orr_error *error)
{
    const orr_model *m = robot->model;
    for (int i = 0; i < m->ntex && !robot->sky; i++) {
        if (m->tex_type[i] != ORR_TEXTURE_SKYBOX || m->tex_height[i] != 6 * m->tex_width[i]) {
            continue;
        }
        robot->sky_colours.up[2] = 1.0f;
        face_colour(&robot->textures[i], 2, robot->sky_colours.high); // the cube of a sky has y up
        face_colour(&robot->textures[i], 4, robot->sky_colours.level);
        face_colour(&robot->textures[i], 3, robot->sky_colours.low);
        ORR_TRY(orr_robot_sky_shape(&robot->textures[i], &robot->sky, error));
    }
    return ORR_OK;
}

// ---- all of it ----

static orr_result build(orr_robot *robot, const char *path, bool pictures, orr_error *error)
{
    ORR_TRY(orr_model_load(path, &robot->model, error));
    if (pictures) {
        ORR_TRY(read_textures(robot, error));
    }
    ORR_TRY(add_all(robot, pictures, error));
    ORR_TRY(add_marks(robot, error));
    ORR_TRY(add_tendons(robot, error));
    ORR_TRY(find_rest(robot, error));
    find_bounds(robot);
    find_first_light(robot);
    return pictures ? find_sky(robot, error) : ORR_OK;
}

bool orr_robot_readable(const char *path)
{
    return orr_path_has_ending(path, ".xml") || orr_path_has_ending(path, ".urdf");
}

orr_result orr_robot_load(const char *path, bool pictures, orr_robot **out, orr_error *error)
{
    *out = NULL;
    orr_robot *robot = orr_alloc_zero(1, sizeof *robot);
    if (!robot) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory: a robot", path);
    }
    robot->users = 1;
    orr_result result = build(robot, path, pictures, error);
    if (result != ORR_OK) {
        orr_robot_destroy(robot);
        return result;
    }
    *out = robot;
    return ORR_OK;
}

orr_result orr_robot_of_model(orr_model *model, orr_robot **out, orr_error *error)
{
    *out = NULL;
    orr_robot *robot = orr_alloc_zero(1, sizeof *robot);
    if (!robot) {
        orr_model_destroy(model);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a body");
    }
    robot->users = 1;
    robot->model = model;
    orr_result result = find_rest(robot, error);
    if (result != ORR_OK) {
        orr_robot_destroy(robot);
        return result;
    }
    *out = robot;
    return ORR_OK;
}

void orr_robot_keep(orr_robot *robot)
{
    robot->users++;
}

void orr_robot_destroy(orr_robot *robot)
{
    if (!robot || --robot->users > 0) {
        return;
    }
    for (int i = 0; i < robot->geom_count; i++) {
        destroy_meshes(&robot->geoms[i]);
    }
    for (int i = 0; i < ORR_ROBOT_MARK_COUNT; i++) {
        orr_mesh_destroy(robot->marks[i]);
    }
    for (int i = 0; robot->tendons && i < 2 * robot->model->ntendon; i++) {
        orr_mesh_destroy(robot->tendons[i]);
    }
    orr_mesh_destroy(robot->sky);
    for (int i = 0; i < robot->texture_count; i++) {
        orr_image8_free(&robot->textures[i]);
    }
    orr_free(robot->textures);
    orr_free(robot->geoms);
    orr_free(robot->tendons);
    orr_free(robot->rest);
    orr_model_destroy(robot->model);
    orr_free(robot);
}

size_t orr_robot_bytes(const orr_robot *robot)
{
    size_t bytes = robot->model->bytes;
    for (int i = 0; i < robot->texture_count; i++) {
        // mips add a third
        bytes += (size_t)robot->textures[i].width * (size_t)robot->textures[i].height * 4 * 4 / 3;
    }
    for (int i = 0; i < robot->geom_count; i++) {
        const orr_robot_geom *geom = &robot->geoms[i];
        const orr_mesh *meshes[1 + ORR_ROBOT_COARSE] = {geom->mesh, geom->coarse[0], geom->coarse[1]};
        for (int k = 0; k < 1 + ORR_ROBOT_COARSE && meshes[k] && !geom->shared; k++) {
            bytes += (size_t)meshes[k]->vertex_count * sizeof *meshes[k]->vertices +
                     (size_t)meshes[k]->index_count * sizeof *meshes[k]->indices;
        }
    }
    return bytes;
}

int64_t orr_robot_triangles(const orr_robot *robot)
{
    int64_t triangles = 0;
    for (int i = 0; i < robot->geom_count; i++) {
        const orr_robot_geom *geom = &robot->geoms[i];
        triangles += orr_robot_group_drawn(geom->group, 0) ? geom->mesh->index_count / 3 : 0;
    }
    return triangles;
}

int orr_robot_keys(const orr_robot *robot)
{
    return robot->geom_count + ORR_ROBOT_MARK_COUNT + 2 * robot->model->ntendon + 1;
}
