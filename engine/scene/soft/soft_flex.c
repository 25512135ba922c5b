#include "engine/scene/soft/soft_flex.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "engine/scene/soft/flex_contact.h"
#include "engine/scene/transform.h"
#include "physics/model/flex/flex_cells.h"
#include "physics/soft/contact_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ITERATIONS = 12, MOST_ITERATIONS = 40, MOST_OF_PLATES = 240 }; // of a step; of what bends

enum { SIDES = 8, RINGS = 6 }; // of a rope's links as they are drawn

// What a flex is made into; a list that is not needed stays empty.
typedef struct flex_source {
    const orr_model *model;
    int flex;
    const double *vertex; // vertices x 3, m
    const int32_t *element;
    int dim, vertices, elements;
} flex_source;

// ---- what is drawn

typedef struct drawing {
    float *position; // vertices x 3
    float *normal;   // vertices x 3
    uint32_t *index; // indices
    int32_t *piece;  // of each vertex
    int vertices, indices;
} drawing;

static orr_result take(drawing *d, int vertices, int indices, orr_error *error)
{
    ORR_ALLOC(d->position, 3 * (size_t)vertices, "a soft body", error);
    ORR_ALLOC(d->index, indices, "a soft body", error);
    ORR_ALLOC(d->normal, 3 * (size_t)vertices, "a soft body", error);
    ORR_ALLOC(d->piece, vertices, "a soft body", error);
    memset(d->normal, 0, 3 * (size_t)vertices * sizeof *d->normal);
    memset(d->piece, 0, (size_t)vertices * sizeof *d->piece);
    return ORR_OK;
}

// Normals of vertices: the sum of those of their triangles, by area.
static void add_normals(const flex_source *s, const int32_t *triangle, int triangles, drawing *d)
{
    for (int i = 0; i < triangles; i++) {
        const int32_t *v = triangle + 3 * (ptrdiff_t)i;
        double u[3], w[3], n[3];
        for (int k = 0; k < 3; k++) {
            u[k] = s->vertex[3 * (ptrdiff_t)v[1] + k] - s->vertex[3 * (ptrdiff_t)v[0] + k];
            w[k] = s->vertex[3 * (ptrdiff_t)v[2] + k] - s->vertex[3 * (ptrdiff_t)v[0] + k];
        }
        vec3_cross(u, w, n);
        for (int k = 0; k < 9; k++) {
            d->normal[3 * (ptrdiff_t)v[k / 3] + k % 3] += (float)n[k % 3];
        }
    }
    for (int i = 0; i < d->vertices; i++) {
        float *n = d->normal + 3 * (ptrdiff_t)i, length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; k++) { // a vertex inside belongs to no triangle
            n[k] = length > 0.0f ? n[k] / length : k == 2;
        }
    }
}

// Triangles over the flex's vertices, each of which follows an element that it belongs to.
static orr_result draw_surface(const flex_source *s, const int32_t *triangle, int triangles, drawing *d,
                               orr_error *error)
{
    ORR_TRY(take(d, s->vertices, 3 * triangles, error));
    d->vertices = s->vertices, d->indices = 3 * triangles;
    for (int i = 0; i < 3 * s->vertices; i++) {
        d->position[i] = (float)s->vertex[i];
    }
    for (int i = 0; i < 3 * triangles; i++) {
        d->index[i] = (uint32_t)triangle[i];
    }
    add_normals(s, triangle, triangles, d);
    for (int i = 0; i < s->elements * (s->dim + 1); i++) {
        d->piece[s->element[i]] = i / (s->dim + 1);
    }
    return ORR_OK;
}

static void add_link(const double from[3], const double to[3], double radius, int piece, drawing *d)
{
    const double pi = 3.14159265358979323846;
    double along[3], side[3], up[3];
    for (int k = 0; k < 3; k++) {
        along[k] = to[k] - from[k];
    }
    vec3_normalise(along);
    const double other[3] = {fabs(along[0]) < 0.5, fabs(along[0]) >= 0.5, 0.0};
    vec3_cross(along, other, side);
    vec3_normalise(side);
    vec3_cross(along, side, up);
    for (int ring = 0; ring < RINGS; ring++) { // half a ball at each end
        const double *end = ring < RINGS / 2 ? from : to;
        const double angle =
            0.5 * pi * ((double)(ring < RINGS / 2 ? ring : ring - 1) / (RINGS / 2 - 1) - 1.0);
        for (int i = 0; i < SIDES; i++) {
            const double a = 2.0 * pi * i / SIDES;
            for (int k = 0; k < 3; k++) {
                const double out = cos(angle) * (cos(a) * side[k] + sin(a) * up[k]) + sin(angle) * along[k];
                d->normal[3 * (ptrdiff_t)d->vertices + k] = (float)out;
                d->position[3 * (ptrdiff_t)d->vertices + k] = (float)(end[k] + radius * out);
            }
            d->piece[d->vertices++] = piece;
        }
    }
    const uint32_t first = (uint32_t)(d->vertices - RINGS * SIDES);
    for (uint32_t i = 0; i < (RINGS - 1) * SIDES; i++) {
        const uint32_t a = first + i, b = first + i / SIDES * SIDES + (i + 1) % SIDES;
        const uint32_t corner[6] = {a, b, b + SIDES, a, b + SIDES, a + SIDES};
        memcpy(d->index + d->indices, corner, sizeof corner);
        d->indices += 6;
    }
}

static orr_result draw_rope(const flex_source *s, drawing *d, orr_error *error)
{
    const double radius = fmax(s->model->flex_radius[s->flex], 1e-4);
    ORR_TRY(take(d, s->elements * RINGS * SIDES, s->elements * (RINGS - 1) * SIDES * 6, error));
    for (int i = 0; i < s->elements; i++) {
        const int32_t *v = s->element + 2 * (ptrdiff_t)i;
        add_link(s->vertex + 3 * (ptrdiff_t)v[0], s->vertex + 3 * (ptrdiff_t)v[1], radius, i, d);
    }
    return ORR_OK;
}

static orr_result add_drawn(orr_scene *scene, const flex_source *s, const orr_soft_layer *soft,
                            const orr_layer_data *robot, const orr_transform *transform, drawing *d,
                            orr_error *error)
{
    const orr_model *m = s->model;
    int triangles;
    const int32_t *triangle = orr_soft_surface(soft->model, &triangles);
    ORR_TRY(s->dim == 1 ? draw_rope(s, d, error) : draw_surface(s, triangle, triangles, d, error));
    const int material = m->flex_matid[s->flex];
    const float *colour =
        material >= 0 ? m->mat_rgba + 4 * (ptrdiff_t)material : m->flex_rgba + 4 * (ptrdiff_t)s->flex;
    const char *flex = orr_model_name(m, ORR_OBJECT_FLEX, s->flex);
    orr_mesh_desc desc = {.vertex_count = d->vertices,
                          .positions = d->position,
                          .normals = d->normal,
                          .index_count = d->indices,
                          .indices = d->index,
                          .two_sided = s->dim == 2};
    memcpy(desc.base_colour, colour, sizeof desc.base_colour);
    char *name;
    const size_t size = strlen(robot->name) + strlen(flex) + 2;
    ORR_ALLOC(name, size, "a layer's name", error);
    snprintf(name, size, "%s/%s", robot->name, flex);
    orr_result result = orr_scene_add_mesh(scene, name, &desc, transform, NULL, error);
    orr_free(name);
    return result;
}

// ---- what is simulated

// Has it pinned vertices, on a body that can move?
static bool holds(const flex_source *s)
{
    const orr_model *m = s->model;
    const int body = m->flex_bodyid[s->flex];
    bool pinned = false;
    for (int i = 0; i < s->vertices; i++) {
        pinned |= m->flex_pinned[m->flex_vertadr[s->flex] + i] != 0;
    }
    return pinned && m->body_weldid[body] != 0;
}

// Tetrahedra between nodes may be turned over, as nothing but nodes resists: their volume is above 0 here.
static void turn_over(const double *vertex, int32_t *tet)
{
    const double *a = vertex + 3 * (ptrdiff_t)tet[0];
    double edge[3][3], normal[3];
    for (int k = 0; k < 9; k++) {
        edge[k / 3][k % 3] = vertex[3 * (ptrdiff_t)tet[k / 3 + 1] + k % 3] - a[k % 3];
    }
    vec3_cross(edge[0], edge[1], normal);
    if (vec3_dot(normal, edge[2]) < 0.0) {
        const int32_t last = tet[3];
        tet[3] = tet[2], tet[2] = last;
    }
}

static orr_result copy_cage(const flex_source *s, orr_soft_cage **out, double scale, orr_error *error)
{
    orr_soft_cage *cage = *out = orr_alloc_zero(1, sizeof *cage);
    if (!cage) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a soft body");
    }
    int32_t **list = s->dim == 3 ? &cage->tet : s->dim == 2 ? &cage->triangle : &cage->edge;
    const size_t indices = (size_t)s->elements * ((size_t)s->dim + 1);
    ORR_ALLOC(cage->vertex, 3 * (size_t)s->vertices, "a soft body", error);
    ORR_ALLOC(*list, indices, "a soft body", error);
    memcpy(*list, s->element, indices * sizeof **list);
    for (int i = 0; i < 3 * s->vertices; i++) {
        cage->vertex[i] = s->vertex[i] * scale;
    }
    for (int i = 0; s->dim == 3 && s->model->flex_interp[s->flex] && i < s->elements; i++) {
        turn_over(s->vertex, *list + 4 * (ptrdiff_t)i);
    }
    *(s->dim == 3 ? &cage->tets : s->dim == 2 ? &cage->triangles : &cage->edges) = s->elements;
    cage->vertices = s->vertices;
    return ORR_OK;
}

static int by_ends(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

// The sides of all elements, each once.
static orr_result list_edges(const flex_source *s, int32_t **edges, int *count, orr_error *error)
{
    const int corners = s->dim + 1, sides = corners * (corners - 1) / 2;
    int32_t *all;
    ORR_ALLOC(all, 2 * (size_t)s->elements * (size_t)sides, "edges of a soft body", error);
    int used = 0;
    for (int i = 0; i < s->elements; i++) {
        const int32_t *v = s->element + (ptrdiff_t)i * corners;
        for (int a = 0; a < corners; a++) {
            for (int b = a + 1; b < corners; b++) {
                all[2 * used] = v[a] < v[b] ? v[a] : v[b];
                all[2 * used++ + 1] = v[a] < v[b] ? v[b] : v[a];
            }
        }
    }
    qsort(all, (size_t)used, 2 * sizeof *all, by_ends);
    *count = 0;
    for (int i = 0; i < used; i++) {
        if (i == 0 || by_ends(all + 2 * (ptrdiff_t)i, all + 2 * (ptrdiff_t)(i - 1)) != 0) {
            memmove(all + 2 * (ptrdiff_t)*count, all + 2 * (ptrdiff_t)i, 2 * sizeof *all);
            (*count)++;
        }
    }
    *edges = all;
    return ORR_OK;
}

static orr_result make_model(const flex_source *s, orr_soft_layer *soft, const int32_t *pin, int pins,
                             const double *mass, orr_error *error)
{
    const orr_model *m = s->model;
    const int i = s->flex;
    const orr_soft_material material = {.density = 1.0, // masses are given
                                        .young = m->flex_young[i],
                                        .poisson = m->flex_poisson[i],
                                        .damping = m->flex_damping[i]};
    const int elastic = m->flex_elastic2d[i];
    const double thickness = m->flex_thickness[i] > 0.0 ? m->flex_thickness[i] : 2.0 * m->flex_radius[i];
    orr_soft_spec spec = {.name = orr_model_name(m, ORR_OBJECT_FLEX, i),
                          .vertices = s->vertices,
                          .vertex = soft->cage->vertex,
                          .tets = soft->cage->tets,
                          .tet = soft->cage->tet,
                          .triangles = soft->cage->triangles,
                          .triangle = soft->cage->triangle,
                          .pins = pins,
                          .pin = pin,
                          .solid = material,
                          .cloth = material,
                          .rope = material,
                          .cloth_thickness = fmax(thickness, 1e-6),
                          .rope_radius = fmax(m->flex_radius[i], 1e-6),
                          .cloth_without_membrane = !(elastic & ORR_ELASTIC_STRETCH),
                          .cloth_without_bending = !(elastic & ORR_ELASTIC_BEND),
                          .edge_viscosity = m->flex_edgedamping[i],
                          .mass = mass};
    const orr_soft_hold hold = orr_soft_hold_of(
        m->opt.disableflags & ORR_DISABLE_REFSAFE ? 0.0 : m->opt.timestep,
        m->flex_edgesolref + ORR_NREF * (ptrdiff_t)i, m->flex_edgesolimp + ORR_NIMP * (ptrdiff_t)i);
    int32_t *edges = NULL;
    spec.edge_stiffness = m->flex_edgestiffness[i];
    spec.hold = m->flex_edgeequality[i] ? &hold : NULL;
    if (s->dim == 1 || spec.hold || spec.edge_stiffness > 0.0 || spec.edge_viscosity > 0.0) {
        ORR_TRY(list_edges(s, &edges, &spec.edges, error));
        spec.edge = edges;
    }
    orr_result result = orr_soft_model_create(&spec, &soft->model, error);
    orr_free(edges);
    return result;
}

static orr_result fill(const flex_source *s, orr_soft_layer *soft, bool held, orr_error *error)
{
    const orr_model *m = s->model;
    const uint8_t *pinned = m->flex_pinned + m->flex_vertadr[s->flex];
    int32_t *pin;
    double *mass;
    int pins = 0;
    ORR_TRY(copy_cage(s, &soft->cage, soft->scale, error));
    ORR_ALLOC(pin, s->vertices, "pins of a soft body", error);
    for (int v = 0; v < s->vertices; v++) {
        if (pinned[v]) {
            pin[pins++] = v;
        }
    }
    if (held) { // the layer has the list from now on
        soft->tie = pin, soft->ties = pins;
    }
    mass = orr_alloc((size_t)s->vertices, sizeof *mass);
    orr_result result = mass ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a soft body");
    for (int v = 0; v < s->vertices && mass; v++) {
        mass[v] = m->flex_mass[s->flex];
    }
    result = result == ORR_OK ? make_model(s, soft, pin, held ? 0 : pins, mass, error) : result;
    orr_free(mass);
    if (!held) {
        orr_free(pin);
    }
    return result;
}

// ---- what nodes move

// Where a node is at rest, in the frame of the flex's body.
static const double *node_at_rest(const orr_model *m, int flex, int node)
{
    const ptrdiff_t i = m->flex_nodeadr[flex] + node, body = m->flex_nodebodyid[i];
    return body == m->flex_bodyid[flex] ? m->flex_node + 3 * i : m->body_pos + 3 * body;
}

// A point in a box, of which a corner and the ends of the edges there are given: 0 to 1 along each.
static void place_in_box(const double *low, const double *const end[3], const double *point, double at[3])
{
    for (int k = 0; k < 3; k++) {
        double along[3], off[3];
        for (int i = 0; i < 3; i++) {
            along[i] = end[k][i] - low[i], off[i] = point[i] - low[i];
        }
        at[k] = vec3_dot(off, along) / vec3_dot(along, along);
    }
}

static orr_result find_nodes(const flex_source *s, orr_soft_layer *soft, orr_error *error)
{
    const orr_model *m = s->model;
    flex_cells cells = {.order = m->flex_interp[s->flex], .size = {1.0, 1.0, 1.0}};
    memcpy(cells.count, m->flex_cellnum + 3 * (ptrdiff_t)s->flex, sizeof cells.count);
    const int ny = flex_nodes_along(&cells, 1), nz = flex_nodes_along(&cells, 2);
    const double *low = node_at_rest(m, s->flex, 0);
    const double *const end[3] = {
        node_at_rest(m, s->flex, (flex_nodes_along(&cells, 0) - 1) * ny * nz),
        node_at_rest(m, s->flex, (ny - 1) * nz),
        node_at_rest(m, s->flex, nz - 1),
    };
    const size_t most = (size_t)s->vertices * (size_t)flex_nodes_of_cell(&cells);
    ORR_ALLOC(soft->node_first, (size_t)s->vertices + 1, "nodes of a soft body", error);
    ORR_ALLOC(soft->node, most, "nodes of a soft body", error);
    ORR_ALLOC(soft->node_share, most, "nodes of a soft body", error);
    int count = 0;
    for (int i = 0; i < s->vertices; i++) {
        double at[3];
        place_in_box(low, end, s->vertex + 3 * (ptrdiff_t)i, at);
        soft->node_first[i] = count;
        count += flex_nodes_around(&cells, at, soft->node + count, soft->node_share + count);
    }
    soft->node_first[s->vertices] = count;
    return ORR_OK;
}

// ---- both

static orr_result add_flex(orr_scene *scene, int robot, const flex_source *s, orr_error *error)
{
    const orr_layer_data *layer = &scene->layers[robot];
    const orr_model *m = s->model;
    const int body = m->flex_bodyid[s->flex];
    const bool nodes = m->flex_interp[s->flex] != 0, held = !nodes && holds(s);
    if (held && fabsf(layer->transform.scale - 1.0f) > 1e-6f) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: flex %s: expected a robot of scale 1, whose body holds it", layer->name,
                        orr_model_name(m, ORR_OBJECT_FLEX, s->flex));
    }
    orr_transform transform = {.rotation = {1.0f}, .scale = 1.0f};
    if (!held) {
        transform = orr_transform_multiply(&layer->transform, &layer->robot->rest[body]);
    }
    orr_soft_layer *soft;
    ORR_ALLOC(soft, 1, layer->name, error);
    *soft = (orr_soft_layer){.users = 1,
                             .scale = (double)transform.scale,
                             .flex = nodes ? s->flex : -1,
                             .friction = m->flex_friction[3 * (ptrdiff_t)s->flex],
                             .untouchable = nodes || !m->flex_collides[s->flex], // nodes touch by themselves
                             .margin = -m->flex_radius[s->flex]};
    drawing d = {0};
    orr_result result = fill(s, soft, held, error);
    result = result == ORR_OK && nodes ? find_nodes(s, soft, error) : result;
    if (result == ORR_OK && !soft->untouchable) {
        result = orr_flex_contact_create(m, s->flex, soft, error);
    }
    result = result == ORR_OK ? add_drawn(scene, s, soft, layer, &transform, &d, error) : result;
    orr_free(d.position);
    orr_free(d.index);
    orr_free(d.normal);
    if (result != ORR_OK) {
        orr_free(d.piece);
        orr_soft_layer_destroy(soft);
        return result;
    }
    // how many waves cross vertices in a step of 1/240 s: what MuJoCo solves is solved as closely
    const double waves = sqrt(orr_soft_stiffness(soft->model)) / 240.0;
    soft->plate = s->dim == 2 && (m->flex_elastic2d[s->flex] & ORR_ELASTIC_BEND);
    soft->iterations =
        (int)fmin(fmax(7.0 * waves, LEAST_ITERATIONS), soft->plate ? MOST_OF_PLATES : MOST_ITERATIONS);
    soft->count = d.vertices, soft->piece = d.piece;
    orr_layer_data *added = &scene->layers[scene->layer_count - 1];
    added->soft = soft;
    added->flex_of = scene->layers[robot].id;
    added->visible = scene->layers[robot].visible && orr_robot_group_drawn(m->flex_group[s->flex], 0);
    if (held) {
        added->bound_to = scene->layers[robot].id;
        added->bound_body = body;
    }
    return ORR_OK;
}

orr_result orr_scene_add_flexes(orr_scene *scene, int first, orr_error *error)
{
    const int count = scene->layer_count;
    for (int i = first; i < count; i++) {
        const orr_model *m = scene->layers[i].robot ? scene->layers[i].robot->model : NULL;
        for (int k = 0; m && k < m->nflex; k++) {
            const flex_source source = {.model = m,
                                        .flex = k,
                                        .vertex = m->flex_vert + 3 * (ptrdiff_t)m->flex_vertadr[k],
                                        .element = m->flex_elem + m->flex_elemdataadr[k],
                                        .dim = m->flex_dim[k],
                                        .vertices = m->flex_vertnum[k],
                                        .elements = m->flex_elemnum[k]};
            ORR_TRY(add_flex(scene, i, &source, error));
        }
    }
    return ORR_OK;
}
