#include "render/cuda/meshes/mesh_store.h"

static void free_mesh(orr_cuda_mesh *mesh)
{
    orr_cuda_free(mesh->vertices);
    orr_cuda_free(mesh->second_uv);
    orr_cuda_free(mesh->indices);
    for (int i = 0; mesh->textures && i < mesh->texture_count; i++) {
        orr_cuda_free(mesh->textures[i]);
    }
    orr_free(mesh->textures);
    for (int i = 0; mesh->networks && i < mesh->network_count; i++) {
        orr_cuda_free(mesh->networks[i].weights);
        orr_cuda_free(mesh->networks[i].latents[0]);
        orr_cuda_free(mesh->networks[i].latents[1]);
    }
    orr_free(mesh->networks);
}

static orr_result upload(orr_cuda *cuda, const void *from, size_t count, size_t size, void **memory,
                         orr_error *error)
{
    ORR_TRY(orr_cuda_alloc(cuda, count, size, memory, error));
    return count > 0 ? orr_cuda_upload(cuda, *memory, from, count * size, error) : ORR_OK;
}

static orr_result upload_texture(orr_cuda *cuda, const orr_mesh *mesh, const orr_image8 *texture,
                                 uint32_t **texels, orr_error *error)
{
    int32_t firsts[ORR_MIP_LEVELS];
    int last = orr_mesh_texture_levels(mesh, texture, firsts) - 1;
    size_t count = (size_t)firsts[last] +
                   (size_t)orr_mip_side(texture->width, last) * (size_t)orr_mip_side(texture->height, last);
    void *memory = NULL;
    orr_result result = upload(cuda, texture->rgba, count, sizeof **texels, &memory, error);
    *texels = memory;
    return result;
}

static orr_result upload_textures(orr_cuda *cuda, const orr_mesh *from, orr_cuda_mesh *mesh, orr_error *error)
{
    mesh->texture_count = from->texture_count;
    mesh->textures = orr_alloc_zero((size_t)from->texture_count, sizeof *mesh->textures);
    if (from->texture_count > 0 && !mesh->textures) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: textures on the device");
    }
    for (int i = 0; i < from->material_count * ORR_TEXTURE_USES; i++) {
        int texture = orr_material_texture(&from->materials[i / ORR_TEXTURE_USES],
                                           (orr_texture_use)(i % ORR_TEXTURE_USES));
        if (texture >= 0 && !mesh->textures[texture]) {
            ORR_TRY(upload_texture(cuda, from, &from->textures[texture], &mesh->textures[texture], error));
        }
    }
    return ORR_OK;
}

static orr_result upload_network(orr_cuda *cuda, const orr_neural_material *from, orr_cuda_network *network,
                                 orr_error *error)
{
    void *memory = NULL;
    orr_result result = upload(cuda, &from->weights, 1, sizeof from->weights, &memory, error);
    network->weights = memory;
    for (int i = 0; i < 2 && result == ORR_OK; i++) {
        const orr_image8 *picture = &from->latents[i];
        memory = NULL;
        result = upload(cuda, picture->rgba, orr_neural_texels(picture->width, picture->height),
                        sizeof(uint32_t), &memory, error);
        network->latents[i] = memory;
    }
    return result;
}

static orr_result upload_networks(orr_cuda *cuda, const orr_mesh *from, orr_cuda_mesh *mesh, orr_error *error)
{
    for (int i = 0; i < from->material_count; i++) {
        if (!from->materials[i].neural) {
            continue;
        }
        if (!mesh->networks) {
            mesh->networks = orr_alloc_zero((size_t)from->material_count, sizeof *mesh->networks);
            mesh->network_count = from->material_count;
        }
        if (!mesh->networks) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: materials on the device");
        }
        ORR_TRY(upload_network(cuda, from->materials[i].neural, &mesh->networks[i], error));
    }
    return ORR_OK;
}

static orr_result upload_mesh(orr_cuda *cuda, const orr_mesh *from, orr_cuda_mesh *mesh, orr_error *error)
{
    void *vertices = NULL, *indices = NULL, *second = NULL;
    orr_result result =
        upload(cuda, from->vertices, (size_t)from->vertex_count, sizeof *mesh->vertices, &vertices, error);
    mesh->vertices = vertices;
    if (result == ORR_OK && from->second_uv) {
        result = upload(cuda, from->second_uv, (size_t)from->vertex_count, 2 * sizeof *mesh->second_uv,
                        &second, error);
        mesh->second_uv = second;
    }
    if (result == ORR_OK) {
        result =
            upload(cuda, from->indices, (size_t)from->index_count, sizeof *mesh->indices, &indices, error);
        mesh->indices = indices;
    }
    result = result == ORR_OK ? upload_textures(cuda, from, mesh, error) : result;
    return result == ORR_OK ? upload_networks(cuda, from, mesh, error) : result;
}

orr_result orr_cuda_mesh_store_take(orr_cuda *cuda, orr_cuda_mesh_store *store, const orr_draw_mesh *drawn,
                                    const orr_cuda_mesh **mesh, orr_error *error)
{
    for (int i = 0; i < store->count; i++) {
        if (store->meshes[i].key == drawn->key && store->meshes[i].variant == drawn->variant) {
            *mesh = &store->meshes[i];
            return ORR_OK;
        }
    }
    ORR_GROW(store->meshes, store->capacity, store->count + 1, "meshes on the device", error);
    orr_cuda_mesh created = {.key = drawn->key, .variant = drawn->variant};
    orr_result result = upload_mesh(cuda, drawn->mesh, &created, error);
    if (result != ORR_OK) {
        free_mesh(&created);
        return result;
    }
    store->meshes[store->count] = created;
    *mesh = &store->meshes[store->count++];
    return ORR_OK;
}

void orr_cuda_mesh_store_release(orr_cuda_mesh_store *store, uint64_t key)
{
    for (int i = store->count - 1; i >= 0; i--) {
        if (store->meshes[i].key == key) {
            free_mesh(&store->meshes[i]);
            store->meshes[i] = store->meshes[--store->count];
        }
    }
}

void orr_cuda_mesh_store_destroy(orr_cuda_mesh_store *store)
{
    for (int i = 0; i < store->count; i++) {
        free_mesh(&store->meshes[i]);
    }
    orr_free(store->meshes);
    *store = (orr_cuda_mesh_store){0};
}
