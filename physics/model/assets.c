// Meshes, height fields, distance grids, textures and materials into the model.
#include "physics/model/compile.h"

#include <string.h>

static void add_mesh(orr_model *m, const spec_mesh *spec, const mesh_data *d, int id, int used[5], int *edges)
{
    m->mesh_vertadr[id] = used[0], m->mesh_vertnum[id] = d->vertex_count;
    m->mesh_faceadr[id] = used[1], m->mesh_facenum[id] = d->face_count;
    m->mesh_hullvertadr[id] = used[2], m->mesh_hullvertnum[id] = d->hull_vertex_count;
    m->mesh_hullfaceadr[id] = used[3], m->mesh_hullfacenum[id] = d->hull_face_count;
    memcpy(m->mesh_scale + 3 * id, spec->scale, sizeof spec->scale);
    memcpy(m->mesh_pos + 3 * id, d->pos, sizeof d->pos);
    memcpy(m->mesh_quat + 4 * id, d->quat, sizeof d->quat);
    size_t vertices = (size_t)d->vertex_count, hull = (size_t)d->hull_vertex_count;
    memcpy(m->mesh_vert + 3 * used[0], d->vertices, 3 * vertices * sizeof(float));
    memcpy(m->mesh_normal + 3 * used[0], d->normals, 3 * vertices * sizeof(float));
    memcpy(m->mesh_texcoord + 2 * used[0], d->texcoords, 2 * vertices * sizeof(float));
    memcpy(m->mesh_face + 3 * used[1], d->faces, 3 * (size_t)d->face_count * sizeof(int32_t));
    if (hull > 0) { // it collides
        memcpy(m->hull_vert + 3 * used[2], d->hull_vertices, 3 * hull * sizeof(double));
        memcpy(m->hull_face + 3 * used[3], d->hull_faces, 3 * (size_t)d->hull_face_count * sizeof(int32_t));
        memcpy(m->hull_face_angle + 2 * used[3], d->hull_angles,
               (size_t)d->hull_face_count * sizeof *d->hull_angles);
        memcpy(m->hull_edgenum + used[2], d->hull_edge_number, hull * sizeof(int32_t));
        memcpy(m->hull_edge + *edges, d->hull_edges, (size_t)d->hull_edge_count * sizeof(int32_t));
    }
    for (size_t i = 0; i < hull; i++) {
        m->hull_edgeadr[(size_t)used[2] + i] = *edges + d->hull_edge_start[i];
    }
    if (d->octree_count > 0) {
        size_t nodes = (size_t)d->octree_count;
        m->mesh_octreeadr[id] = used[4], m->mesh_octreenum[id] = d->octree_count;
        memcpy(m->mesh_octreebox + 6 * id, d->octree_box, sizeof d->octree_box);
        memcpy(m->octree_child + used[4], d->octree_child, nodes * sizeof(int32_t));
        memcpy(m->octree_coeff + 8 * (ptrdiff_t)used[4], d->octree_coeff, 8 * nodes * sizeof(double));
        used[4] += d->octree_count;
    }
    used[0] += d->vertex_count, used[1] += d->face_count;
    used[2] += d->hull_vertex_count, used[3] += d->hull_face_count;
    *edges += d->hull_edge_count;
}

static void add_hfields(model_builder *b)
{
    orr_model *m = b->m;
    int used = 0;
    for (int i = 0; i < m->nhfield; i++) {
        const hfield_data *d = &b->hfields[i];
        size_t count = (size_t)d->rows * (size_t)d->columns;
        memcpy(m->hfield_size + 4 * i, b->spec->hfields[i].size, sizeof b->spec->hfields[i].size);
        m->hfield_nrow[i] = d->rows;
        m->hfield_ncol[i] = d->columns;
        m->hfield_adr[i] = used;
        memcpy(m->hfield_data + used, d->samples, count * sizeof(float));
        used += (int)count;
    }
}

static void add_grids(model_builder *b)
{
    orr_model *m = b->m;
    size_t brick = 0, corner = 0, sample = 0;
    for (int i = 0; i < m->ngrid; i++) {
        const spec_grid *spec = &b->spec->grids[i];
        const orr_distance_grid *grid = spec->grid;
        for (int k = 0; k < 3; k++) {
            m->grid_origin[3 * i + k] = grid->origin[k] * spec->scale;
            m->grid_bricks[3 * i + k] = grid->bricks[k];
        }
        m->grid_cell[i] = grid->cell * spec->scale;
        m->grid_brickadr[i] = (int32_t)brick;
        m->grid_corneradr[i] = (int32_t)corner;
        m->grid_sampleadr[i] = (int32_t)sample;
        for (size_t k = 0; k < orr_distance_grid_coarse(grid); k++) {
            m->grid_brick[brick++] = grid->brick[k];
        }
        float scale = (float)spec->scale;
        for (size_t k = 0; k < orr_distance_grid_corners(grid); k++) {
            m->grid_corner[corner++] = scale * grid->corner[k];
        }
        for (size_t k = 0; k < (size_t)grid->brick_count * ORR_GRID_SAMPLES; k++) {
            m->grid_sample[sample++] = scale * grid->sample[k];
        }
    }
}

static void add_textures(model_builder *b)
{
    orr_model *m = b->m;
    int used = 0;
    for (int i = 0; i < m->ntex; i++) {
        const texture_data *d = &b->textures[i];
        size_t bytes = (size_t)d->width * (size_t)d->height * (size_t)d->channels;
        m->tex_type[i] = b->spec->textures[i].type;
        m->tex_colorspace[i] = d->colour_space;
        m->tex_width[i] = d->width;
        m->tex_height[i] = d->height;
        m->tex_nchannel[i] = d->channels;
        m->tex_adr[i] = used;
        memcpy(m->tex_data + used, d->pixels, bytes);
        used += (int)bytes;
    }
}

static orr_result add_materials(model_builder *b)
{
    orr_model *m = b->m;
    for (int i = 0; i < m->nmat; i++) {
        const spec_material *material = &b->spec->materials[i];
        m->mat_texid[i] = SPEC_FIND(b->spec, textures, material->texture);
        if (material->texture && m->mat_texid[i] < 0) {
            return spec_fail(&material->head, b->error, "there is no texture '%.64s'", material->texture);
        }
        m->mat_texuniform[i] = (uint8_t)material->texuniform;
        memcpy(m->mat_texrepeat + 2 * i, material->texrepeat, sizeof material->texrepeat);
        m->mat_emission[i] = material->emission;
        m->mat_specular[i] = material->specular;
        m->mat_shininess[i] = material->shininess;
        m->mat_reflectance[i] = material->reflectance;
        m->mat_metallic[i] = material->metallic;
        m->mat_roughness[i] = material->roughness;
        memcpy(m->mat_rgba + 4 * i, material->rgba, sizeof material->rgba);
    }
    return ORR_OK;
}

orr_result build_assets(model_builder *b)
{
    int used[5] = {0}, edges = 0;
    for (int i = 0; i < b->spec->meshes_count; i++) {
        if (b->mesh_ids[i] >= 0) {
            add_mesh(b->m, &b->spec->meshes[i], &b->meshes[i], b->mesh_ids[i], used, &edges);
        }
    }
    add_hfields(b);
    add_grids(b);
    add_textures(b);
    return add_materials(b);
}
