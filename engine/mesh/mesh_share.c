#include "engine/mesh/mesh_normals.h"

#include "engine/core/memory.h"

#include <string.h>

#define NONE UINT32_MAX

static size_t hash_of(const orr_mesh_file_vertex *vertex)
{
    uint64_t words[sizeof *vertex / 8], hash = 0x9e3779b97f4a7c15u;
    memcpy(words, vertex, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        hash = (hash ^ words[i]) * 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 29;
    }
    return (size_t)(hash ^ hash >> 32);
}

static orr_result share(orr_mesh_file *mesh, uint32_t *table, size_t size, orr_error *error)
{
    orr_mesh_file_vertex *shared;
    size_t room = (size_t)(mesh->vertex_count < mesh->index_count ? mesh->vertex_count : mesh->index_count);
    ORR_ALLOC(shared, room, "vertices", error);
    memset(table, 0xff, size * sizeof *table);
    uint32_t count = 0;
    for (int64_t i = 0; i < mesh->index_count; i++) {
        const orr_mesh_file_vertex *vertex = &mesh->vertices[mesh->indices[i]];
        size_t slot = hash_of(vertex) & (size - 1);
        while (table[slot] != NONE && memcmp(&shared[table[slot]], vertex, sizeof *vertex) != 0) {
            slot = (slot + 1) & (size - 1);
        }
        if (table[slot] == NONE) {
            table[slot] = count;
            shared[count++] = *vertex;
        }
        mesh->indices[i] = table[slot];
    }
    orr_free(mesh->vertices);
    mesh->vertices = shared;
    mesh->vertex_count = count;
    return ORR_OK;
}

orr_result orr_mesh_share_vertices(orr_mesh_file *mesh, orr_error *error)
{
    _Static_assert(sizeof(orr_mesh_file_vertex) == 14 * sizeof(float), "no padding is compared");
    size_t size = 16;
    while (size < 2 * (size_t)mesh->vertex_count) {
        size *= 2;
    }
    uint32_t *table;
    ORR_ALLOC(table, size, "vertices", error);
    orr_result result = share(mesh, table, size, error);
    orr_free(table);
    return result;
}
