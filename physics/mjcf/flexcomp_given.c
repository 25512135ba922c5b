// Shapes of a <flexcomp> that are given: by a mesh, a file of Gmsh, or in the model itself.
#include "physics/mjcf/flexcomp_shape.h"

#include "engine/core/file.h"
#include "engine/mesh/gmsh.h"
#include "physics/model/compile.h"

#include <stdlib.h>
#include <string.h>

typedef struct placed {
    float p[3];
    int32_t index;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    for (int k = 0; k < 3; k++) {
        if (x->p[k] != y->p[k]) {
            return x->p[k] < y->p[k] ? -1 : 1;
        }
    }
    return (x->index > y->index) - (x->index < y->index);
}

// The first vertex at the place of each.
static orr_result find_first(const mesh_data *mesh, int32_t *first, orr_error *error)
{
    placed *all;
    ORR_ALLOC(all, mesh->vertex_count, "points of a flexcomp", error);
    for (int i = 0; i < mesh->vertex_count; i++) {
        memcpy(all[i].p, mesh->vertices + 3 * (ptrdiff_t)i, sizeof all[i].p);
        all[i].index = i;
    }
    qsort(all, (size_t)mesh->vertex_count, sizeof *all, by_place);
    for (int i = 0; i < mesh->vertex_count; i++) {
        const bool same = i > 0 && memcmp(all[i].p, all[i - 1].p, sizeof all[i].p) == 0;
        first[all[i].index] = same ? first[all[i - 1].index] : all[i].index;
    }
    orr_free(all);
    return ORR_OK;
}

// Vertices of triangles, each place once, in the order of the file.
static void add_vertices(const mjcf_shaping *s, const mesh_data *mesh, const int32_t *first, int32_t *number)
{
    memset(number, -1, (size_t)mesh->vertex_count * sizeof *number);
    for (int i = 0; i < 3 * mesh->face_count; i++) {
        number[first[mesh->faces[i]]] = 0;
    }
    for (int i = 0; i < mesh->vertex_count; i++) {
        const double *p = mesh->exact + 3 * (ptrdiff_t)i;
        if (number[i] == 0) {
            number[i] = s->f->flex.points;
            mjcf_shape_point(&s->f->flex, p[0], p[1], p[2]);
        }
    }
}

static orr_result add_mesh(const mjcf_shaping *s, const mesh_data *mesh, int32_t *first, int32_t *number)
{
    spec_flex *flex = &s->f->flex;
    ORR_TRY(find_first(mesh, first, s->reader->error));
    ORR_TRY(mjcf_shape_take(s, mesh->vertex_count + 1, mesh->face_count));
    if (flex->dim == 3) {
        mjcf_shape_point(flex, s->f->origin[0], s->f->origin[1], s->f->origin[2]);
    }
    add_vertices(s, mesh, first, number);
    for (int i = 0; i < mesh->face_count; i++) {
        const int32_t *face = mesh->faces + 3 * (ptrdiff_t)i;
        const int a = number[first[face[0]]], b = number[first[face[1]]], c = number[first[face[2]]];
        if (a == b || b == c || c == a) {
            continue;
        }
        if (flex->dim == 3) {
            mjcf_shape_element(flex, 0, a, b, c);
        } else {
            mjcf_shape_element(flex, a, b, c, 0);
        }
    }
    return ORR_OK;
}

// Where the file is; NULL: memory is out.
static char *find_file(const mjcf_shaping *s)
{
    orr_spec *spec = s->reader->spec;
    const char *folder = spec->compiler.meshdir ? spec->compiler.meshdir : spec->compiler.assetdir;
    return mjcf_file(spec, s->node, folder, s->f->file);
}

// An asset, with its place and scale, or a file as it is.
static orr_result find_mesh(const mjcf_shaping *s, spec_mesh *mesh)
{
    orr_spec *spec = s->reader->spec;
    *mesh = (spec_mesh){.head = s->f->flex.head, .refquat = {1.0, 0.0, 0.0, 0.0}, .scale = {1.0, 1.0, 1.0}};
    if (!s->f->mesh) {
        mesh->file = find_file(s);
        return mesh->file ? ORR_OK : spec_memory_fail(s->reader->error);
    }
    const int asset = SPEC_FIND(spec, meshes, s->f->mesh);
    if (asset < 0) {
        return mjcf_fail(s->node, s->reader->error, "mesh: there is no mesh '%.64s'", s->f->mesh);
    }
    *mesh = spec->meshes[asset];
    return ORR_OK;
}

orr_result mjcf_shape_of_mesh(const mjcf_shaping *s)
{
    ORR_TRY(mjcf_shape_dim(s, 2, 3));
    if (!s->f->file == !s->f->mesh || (s->f->flex.dim == 3 && !mjcf_given(s->f->origin))) {
        return mjcf_fail(
            s->node, s->reader->error,
            "expected a file or a mesh, and with dim 3 an origin that its triangles are joined to");
    }
    spec_mesh mesh;
    ORR_TRY(find_mesh(s, &mesh));
    mesh_data data = {0};
    int32_t *first = NULL, *number = NULL;
    orr_result result = mesh_load(&mesh, &data, s->reader->error);
    result = result == ORR_OK ? mesh_scale(&mesh, &data, s->reader->error) : result;
    if (result == ORR_OK) {
        first = orr_alloc((size_t)data.vertex_count + 1, sizeof *first);
        number = orr_alloc((size_t)data.vertex_count + 1, sizeof *number);
        result = first && number ? add_mesh(s, &data, first, number) : spec_memory_fail(s->reader->error);
    }
    orr_free(first);
    orr_free(number);
    mesh_data_free(&data);
    return result;
}

static orr_result copy_gmsh(const mjcf_shaping *s, const orr_gmsh *mesh)
{
    spec_flex *flex = &s->f->flex;
    if (mjcf_find(s->node, "dim") && flex->dim != mesh->dim) {
        return mjcf_fail(s->node, s->reader->error, "dim: expected %d, as the file has %s, not %d", mesh->dim,
                         mesh->dim == 3 ? "tetrahedra" : "triangles", flex->dim);
    }
    flex->dim = mesh->dim;
    ORR_TRY(mjcf_shape_take(s, mesh->points, mesh->elements));
    flex->points = mesh->points, flex->elements = mesh->elements;
    memcpy(flex->point, mesh->point, 3 * (size_t)mesh->points * sizeof *mesh->point);
    memcpy(flex->element, mesh->element,
           (size_t)mesh->elements * ((size_t)mesh->dim + 1) * sizeof *mesh->element);
    return ORR_OK;
}

orr_result mjcf_shape_of_gmsh(const mjcf_shaping *s)
{
    orr_bytes bytes = {NULL, 0};
    orr_gmsh mesh = {0};
    orr_error reason;
    const char *path = s->f->file ? find_file(s) : NULL;
    if (!path) {
        return s->f->file ? spec_memory_fail(s->reader->error)
                          : mjcf_fail(s->node, s->reader->error, "expected a file");
    }
    orr_result result = orr_file_read(path, &bytes, &reason);
    result = result == ORR_OK ? orr_gmsh_read(path, &bytes, &mesh, &reason) : result;
    result = result == ORR_OK ? copy_gmsh(s, &mesh)
                              : mjcf_fail(s->node, s->reader->error, "file: %.300s", reason.message);
    orr_gmsh_free(&mesh);
    orr_free(bytes.data);
    return result;
}

orr_result mjcf_shape_of_direct(const mjcf_shaping *s)
{
    spec_flex *flex = &s->f->flex;
    const spec_numbers *point = &s->f->point, *element = &s->f->element;
    const int corners = flex->dim + 1;
    if (point->count % 3 || element->count % corners) {
        return mjcf_fail(s->node, s->reader->error,
                         "expected 3 numbers for each point and %d for each element", corners);
    }
    ORR_TRY(mjcf_shape_take(s, point->count / 3, element->count / corners));
    flex->points = point->count / 3, flex->elements = element->count / corners;
    memcpy(flex->point, point->values, (size_t)point->count * sizeof *point->values);
    for (int i = 0; i < element->count; i++) {
        const double index = element->values[i];
        if (!(index >= 0.0 && index < flex->points) || index != rint(index)) {
            return mjcf_fail(s->node, s->reader->error, "element %d: expected points from 0 to %d, not %g",
                             i / corners, flex->points - 1, index);
        }
        flex->element[i] = (int32_t)index;
    }
    return ORR_OK;
}

orr_result mjcf_flexcomp_drop_unused(mjcf_reader *reader, mjcf_flexcomp *f)
{
    spec_flex *flex = &f->flex;
    const ptrdiff_t indices = (ptrdiff_t)flex->elements * (flex->dim + 1);
    int32_t *number, used = 0;
    ORR_ALLOC(number, flex->points, "points of a flexcomp", reader->error);
    memset(number, -1, (size_t)flex->points * sizeof *number);
    for (ptrdiff_t i = 0; i < indices; i++) {
        number[flex->element[i]] = 0;
    }
    for (int i = 0; i < flex->points; i++) {
        if (number[i] == 0) {
            memmove(flex->point + 3 * (ptrdiff_t)used, flex->point + 3 * (ptrdiff_t)i,
                    3 * sizeof *flex->point);
            flex->pinned[used] = flex->pinned[i];
            number[i] = used++;
        }
    }
    for (ptrdiff_t i = 0; i < indices; i++) {
        flex->element[i] = number[flex->element[i]];
    }
    flex->points = used;
    orr_free(number);
    return ORR_OK;
}
