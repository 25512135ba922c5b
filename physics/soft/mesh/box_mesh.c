#include "physics/soft/mesh/box_mesh.h"

#include "engine/core/memory.h"

#include <string.h>

static orr_result check_grid(const int *cells, const double *size, int axes, orr_error *error)
{
    double vertices = 1.0;
    for (int c = 0; c < axes; c++) {
        if (cells[c] < 1 || !(size[c] > 0.0)) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "axis %d of a grid: expected at least 1 cell and a size above 0, not %d and %g",
                            c, cells[c], size[c]);
        }
        vertices *= cells[c] + 1.0;
    }
    return vertices <= 1e8 ? ORR_OK
                           : orr_fail(error, ORR_CODE_ARGUMENT,
                                      "a grid: expected at most 1e8 vertices, not %g", vertices);
}

static void place_vertices(const int cells[3], const double size[3], orr_soft_mesh *mesh)
{
    for (int v = 0; v < mesh->vertices; v++) {
        const int at[3] = {v / (cells[2] + 1) / (cells[1] + 1), v / (cells[2] + 1) % (cells[1] + 1),
                           v % (cells[2] + 1)};
        for (int c = 0; c < 3; c++) {
            mesh->vertex[(size_t)v * 3 + (size_t)c] =
                cells[c] > 0 ? size[c] * ((double)at[c] / cells[c] - 0.5) : 0.0;
        }
    }
}

orr_result orr_soft_box(const int cells[3], const double size[3], orr_soft_mesh *mesh, orr_error *error)
{
    // corners of a cell: 4, 2 and 1 say which are further along i, j and k
    static const int split[6][4] = {{0, 2, 3, 4}, {0, 4, 3, 1}, {4, 2, 3, 6},
                                    {4, 6, 3, 7}, {4, 5, 3, 1}, {4, 7, 3, 5}};
    memset(mesh, 0, sizeof *mesh);
    ORR_TRY(check_grid(cells, size, 3, error));
    const int ny = cells[1] + 1, nz = cells[2] + 1;
    mesh->vertices = (cells[0] + 1) * ny * nz;
    mesh->vertex = orr_alloc((size_t)mesh->vertices, 3 * sizeof *mesh->vertex);
    mesh->tet = orr_alloc((size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2], 24 * sizeof *mesh->tet);
    if (!mesh->vertex || !mesh->tet) {
        orr_soft_mesh_destroy(mesh);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a box of tets");
    }
    place_vertices(cells, size, mesh);
    for (int cell = 0; cell < cells[0] * cells[1] * cells[2]; cell++) {
        int i = cell / cells[2] / cells[1], j = cell / cells[2] % cells[1], k = cell % cells[2];
        for (int t = 0; t < 24; t++) {
            const int at = split[t / 4][t % 4];
            mesh->tet[(size_t)cell * 24 + (size_t)t] =
                k + (at & 1) + nz * (j + (at >> 1 & 1) + ny * (i + (at >> 2)));
        }
    }
    mesh->tets = cells[0] * cells[1] * cells[2] * 6;
    return ORR_OK;
}

orr_result orr_soft_sheet(const int cells[2], const double size[2], orr_soft_mesh *mesh, orr_error *error)
{
    static const int corner[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};
    const int grid[3] = {cells[0], cells[1], 0};
    const double extent[3] = {size[0], size[1], 0.0};
    memset(mesh, 0, sizeof *mesh);
    ORR_TRY(check_grid(cells, size, 2, error));
    mesh->vertices = (cells[0] + 1) * (cells[1] + 1);
    mesh->vertex = orr_alloc((size_t)mesh->vertices, 3 * sizeof *mesh->vertex);
    mesh->triangle = orr_alloc((size_t)cells[0] * (size_t)cells[1], 6 * sizeof *mesh->triangle);
    if (!mesh->vertex || !mesh->triangle) {
        orr_soft_mesh_destroy(mesh);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a sheet of triangles");
    }
    place_vertices(grid, extent, mesh);
    for (int cell = 0; cell < cells[0] * cells[1]; cell++) {
        for (int t = 0; t < 6; t++) {
            int i = cell / cells[1] + corner[t][0], j = cell % cells[1] + corner[t][1];
            mesh->triangle[(size_t)cell * 6 + (size_t)t] = j + (cells[1] + 1) * i;
        }
    }
    mesh->triangles = cells[0] * cells[1] * 2;
    return ORR_OK;
}

void orr_soft_mesh_destroy(orr_soft_mesh *mesh)
{
    orr_free(mesh->vertex);
    orr_free(mesh->tet);
    orr_free(mesh->triangle);
    memset(mesh, 0, sizeof *mesh);
}
