#include "engine/scene/robot/robot_visual.h"

#include "engine/core/memory.h"
#include "engine/scene/robot/robot_wrap.h"
#include "engine/scene/transform.h"

#include <stdio.h>
#include <string.h>

static const float grey[4] = {0.5f, 0.5f, 0.5f, 1.0f}; // of what names no colour, as in MJCF

static const float *colour_of(const orr_visual *v)
{
    return v->coloured ? v->rgba : grey;
}

// ---- meshes

// By the factors of the coordinates; triangles of a mesh that they mirror are rewound.
static void scale(orr_mesh_file *file, const double factors[3])
{
    float pose[12] = {0.0f};
    for (int k = 0; k < 3; k++) {
        pose[5 * k] = (float)factors[k];
    }
    if (factors[0] == 1.0 && factors[1] == 1.0 && factors[2] == 1.0) {
        return;
    }
    if (orr_mesh_move(file->vertices, file->vertex_count, pose)) {
        for (int64_t i = 0; i < file->index_count; i += 3) {
            const uint32_t second = file->indices[i + 1];
            file->indices[i + 1] = file->indices[i + 2];
            file->indices[i + 2] = second;
        }
    }
}

static bool has_colours(const orr_mesh_file *file)
{
    for (int64_t i = 0; i < file->vertex_count; i++) {
        const float *c = file->vertices[i].colour;
        if (c[0] != 1.0f || c[1] != 1.0f || c[2] != 1.0f) {
            return true;
        }
    }
    return false;
}

// What a mesh says by itself stays; the rest of it is of the visual's material.
static void paint(orr_mesh_file *file, const orr_visual *v)
{
    const int plain = file->plain_material;
    if (plain < 0 || (!v->coloured && has_colours(file))) {
        return;
    }
    orr_robot_paint(&file->materials[plain], colour_of(v));
    file->materials[plain].metallic_roughness = false; // the material is the visual's, not glTF's default
    for (int i = 0; i < file->part_count; i++) {
        const orr_mesh_part *part = &file->parts[i];
        for (uint32_t k = 0; k < part->index_count && part->material == plain; k++) {
            float *c = file->vertices[file->indices[part->first_index + k]].colour;
            c[0] = c[1] = c[2] = c[3] = 1.0f;
        }
    }
}

// Adds the picture of a file to a mesh with mip chains, for one of its materials.
static orr_result add_texture(orr_mesh *mesh, int material, const char *path, orr_error *error)
{
    orr_image8 *textures = orr_alloc_zero((size_t)mesh->texture_count + 1, sizeof *textures);
    orr_mesh carrier = {.textures = textures + (textures ? mesh->texture_count : 0), .texture_count = 1};
    if (!textures) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a texture");
    }
    orr_result result = orr_image8_load(path, carrier.textures, error);
    if (result == ORR_OK) {
        result = orr_mesh_build_mips(&carrier, error);
    }
    if (result != ORR_OK) {
        orr_image8_free(carrier.textures);
        orr_free(textures);
        return result;
    }
    if (mesh->texture_count > 0) {
        memcpy(textures, mesh->textures, (size_t)mesh->texture_count * sizeof *textures);
    }
    orr_free(mesh->textures);
    mesh->textures = textures;
    mesh->has_mips = true;
    mesh->materials[material].texture = mesh->texture_count++;
    for (int k = 0; k < 3; k++) { // the picture has the colours
        mesh->materials[material].base_colour[k] = 1.0f;
    }
    return ORR_OK;
}

static orr_result read_mesh(const orr_visual *v, orr_mesh **mesh, orr_error *error)
{
    // a robot's frames are those of the file, whatever its up axis
    const orr_mesh_file_desc desc = {.path = v->mesh,
                                     .share_vertices = true,
                                     .make_normals = true,
                                     .read_textures = true,
                                     .keep_axes = true};
    orr_mesh_file file;
    ORR_TRY(orr_mesh_file_read(&desc, &file, error));
    scale(&file, v->size);
    paint(&file, v);
    const int plain = file.plain_material;
    orr_result result = orr_mesh_take(&file, mesh, error);
    orr_mesh_file_free(&file);
    return result == ORR_OK && v->texture && plain >= 0 ? add_texture(*mesh, plain, v->texture, error)
                                                        : result;
}

// ---- visuals

static orr_result make_primitive(const orr_visual *v, orr_mesh **mesh, orr_error *error)
{
    ORR_TRY(orr_robot_primitive_shape((orr_geom_type)v->type, v->size, colour_of(v), mesh, error));
    if (!v->texture) {
        return ORR_OK;
    }
    ORR_TRY(orr_robot_wrap(*mesh, v->type == ORR_GEOM_BOX, v->type == ORR_GEOM_CYLINDER, error));
    return add_texture(*mesh, 0, v->texture, error);
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

// Another visual with the same mesh in the same colours; NULL: there is none before it.
static orr_mesh *find_same(const orr_robot *robot, const orr_visual *v)
{
    for (int i = 0; i < robot->geom_count; i++) {
        const orr_visual *other = robot->geoms[i].visual;
        if (v->mesh && is_same(other->mesh, v->mesh) && is_same(other->texture, v->texture) &&
            memcmp(other->size, v->size, sizeof v->size) == 0 && other->coloured == v->coloured &&
            memcmp(other->rgba, v->rgba, sizeof v->rgba) == 0) {
            return robot->geoms[i].mesh;
        }
    }
    return NULL;
}

static orr_result load(const orr_robot *robot, const orr_visual *v, orr_robot_geom *geom, orr_error *error)
{
    if (v->wrong) {
        return orr_fail(error, ORR_CODE_MODEL_FILE, "%s", v->wrong);
    }
    geom->mesh = find_same(robot, v);
    geom->shared = geom->mesh != NULL;
    if (geom->shared) {
        return ORR_OK;
    }
    orr_error why = {0};
    const orr_result result = (v->mesh ? read_mesh : make_primitive)(v, &geom->mesh, &why);
    if (result != ORR_OK) {
        orr_mesh_destroy(geom->mesh);
        geom->mesh = NULL;
        return orr_fail(error, (orr_code)why.code, "%s: %s", v->place, why.message);
    }
    return ORR_OK;
}

static void note_missing(orr_robot *robot, const orr_error *why)
{
    if (robot->visuals_missing++ == 0) {
        snprintf(robot->visual_missing, sizeof robot->visual_missing, "%s", why->message);
    }
}

static void note_reduced(orr_robot *robot, const orr_robot_geom *geom)
{
    const char *unused = geom->shared ? "" : geom->mesh->unused;
    if (unused[0] && robot->visuals_reduced++ == 0) {
        snprintf(robot->visual_reduced, sizeof robot->visual_reduced, "%.256s: %.240s", geom->visual->mesh,
                 unused);
    }
}

orr_result orr_robot_add_visuals(orr_robot *robot, bool *loaded, orr_error *error)
{
    const orr_visuals *visuals = robot->model->visuals;
    for (int i = 0; i < visuals->count; i++) {
        const orr_visual *v = &visuals->list[i];
        orr_robot_geom geom = {.part = v->geom >= 0 ? ORR_ROBOT_GEOM : ORR_ROBOT_VISUAL,
                               .geom = v->geom >= 0 ? v->geom : robot->model->ngeom + i,
                               .group = v->group,
                               .body = v->body,
                               .at = orr_transform_of(v->pos, v->quat),
                               .visual = v};
        orr_error why = {0};
        const bool unseen = !v->mesh && !v->wrong && colour_of(v)[3] == 0.0f;
        if (unseen) {
            loaded[i] = true;
        } else if (load(robot, v, &geom, &why) == ORR_OK) {
            loaded[i] = true;
            robot->geoms[robot->geom_count++] = geom;
            note_reduced(robot, &geom);
        } else if (why.code == ORR_CODE_OUT_OF_MEMORY) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s", why.message);
        } else {
            note_missing(robot, &why);
        }
    }
    return ORR_OK;
}

bool orr_robot_is_covered(const orr_robot *robot, const bool *loaded, int geom)
{
    const orr_visuals *visuals = robot->model->visuals;
    const int link = visuals ? visuals->geom_link[geom] : -1;
    bool all = link >= 0;
    for (int i = 0; all && i < visuals->count; i++) {
        all = visuals->list[i].link != link || loaded[i];
    }
    return all;
}

bool orr_robot_is_visual(const orr_robot *robot, const bool *loaded, int geom)
{
    const orr_visuals *visuals = robot->model->visuals;
    for (int i = 0; visuals && i < visuals->count; i++) {
        if (visuals->list[i].geom == geom && loaded[i]) {
            return true;
        }
    }
    return false;
}
