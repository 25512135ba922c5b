// Nodes of glTF and the meshes they place. Nodes are walked without recursion: each has at most one parent.
#include "engine/mesh/mesh_gltf.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/vector.h"

#include <stdio.h>
#include <string.h>

typedef enum primitive_mode { TRIANGLES = 4, STRIP, FAN } primitive_mode;

orr_result orr_gltf_count_work(orr_gltf *g, int64_t amount)
{
    enum { WORK_MAX = 1 << 20, WORK_PER_BYTE = 64 };
    g->work += amount;
    return g->work <= WORK_MAX + WORK_PER_BYTE * (int64_t)g->reader->all_bytes
               ? ORR_OK
               : orr_mesh_fail(g->reader, "expected fewer instances in a file of this size");
}

// ---- primitives ----

typedef struct attribute {
    const char *name; // in the file
    int least, most;  // components
    int member;       // of a vertex, in floats
} attribute;

static orr_result read_attribute(orr_gltf *g, const orr_json *attributes, const attribute *kind,
                                 int64_t count, orr_mesh_file_vertex *vertices)
{
    int index;
    orr_gltf_accessor a;
    ORR_TRY(orr_gltf_index(g, attributes, kind->name, ORR_GLTF_ACCESSORS, &index));
    if (index < 0) {
        return ORR_OK;
    }
    ORR_TRY(orr_gltf_accessor_open(g, index, &a));
    if (a.count != count || a.components < kind->least || a.components > kind->most) {
        return orr_json_expected(attributes, kind->name, g->error,
                                 "an accessor of %lld values of %d to %d components", (long long)count,
                                 kind->least, kind->most);
    }
    return orr_gltf_accessor_floats(g, &a, a.components, (float *)vertices + kind->member,
                                    sizeof *vertices / sizeof(float));
}

static bool is_joint(const char *name)
{
    return strncmp(name, "JOINTS_", 7) == 0 || strncmp(name, "WEIGHTS_", 8) == 0;
}

static void note_attributes(const orr_gltf *g, const orr_json *attributes, char texcoords[2][24],
                            bool skinned)
{
    static const char *const used[] = {"POSITION", "NORMAL", "COLOR_0"};
    for (const cJSON *member = attributes->node->child; member; member = member->next) {
        bool known = strcmp(member->string, texcoords[0]) == 0 || strcmp(member->string, texcoords[1]) == 0 ||
                     (skinned && is_joint(member->string));
        for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
            known = known || strcmp(member->string, used[i]) == 0;
        }
        if (!known && strlen(member->string) < 32) {
            orr_mesh_note(g->reader, member->string);
        }
    }
}

// A file's v is 0 at the top; a vertex's at the bottom. first: the coordinates of the first vertex
static void lay_texture(const orr_gltf_mapping *mapping, int64_t count, float *first)
{
    for (int64_t i = 0; i < count; i++) {
        float *at = first + i * (int64_t)(sizeof(orr_mesh_file_vertex) / sizeof *first);
        float u = at[0], v = at[1];
        const float *m = mapping->matrix;
        if (mapping->moved) {
            at[0] = m[0] * u + m[1] * v + m[2];
            v = m[3] * u + m[4] * v + m[5];
        }
        at[1] = 1.0f - v;
    }
}

// Coordinates of textures as the material's two mappings, or the file's first ones, say. texcoords: becomes
// the names of their attributes; the second is empty where there is no such mapping
static orr_result read_coordinates(orr_gltf *g, const orr_json *attributes, int material, int64_t count,
                                   orr_mesh_file_vertex *vertices, char texcoords[2][24])
{
    static const orr_gltf_mapping plain;
    for (int k = 0; k < 2; k++) {
        const orr_gltf_mapping *mapping = material >= 0 ? &g->mappings[material][k] : &plain;
        float *first = k ? vertices->second : vertices->texcoord;
        texcoords[k][0] = 0;
        if (k == 1 && !mapping->used) {
            break;
        }
        snprintf(texcoords[k], sizeof texcoords[k], "TEXCOORD_%d", mapping->set);
        const attribute kind = {texcoords[k], 2, 2, (int)(first - vertices->position)};
        ORR_TRY(read_attribute(g, attributes, &kind, count, vertices));
        if (orr_json_has(attributes, texcoords[k])) {
            lay_texture(mapping, count, first);
        }
    }
    return ORR_OK;
}

static orr_result read_vertices(orr_gltf *g, const orr_json *attributes, int material, bool skinned,
                                orr_mesh_file_vertex **vertices, int64_t *count)
{
    const attribute kinds[] = {
        {"POSITION", 3, 3, offsetof(orr_mesh_file_vertex, position) / sizeof(float)},
        {"NORMAL", 3, 3, offsetof(orr_mesh_file_vertex, normal) / sizeof(float)},
        {"COLOR_0", 3, 4, offsetof(orr_mesh_file_vertex, colour) / sizeof(float)},
    };
    int positions;
    orr_gltf_accessor a;
    char texcoords[2][24];
    ORR_TRY(orr_json_require(attributes, "POSITION", "an accessor", g->error));
    ORR_TRY(orr_gltf_index(g, attributes, "POSITION", ORR_GLTF_ACCESSORS, &positions));
    ORR_TRY(orr_gltf_accessor_open(g, positions, &a));
    *count = a.count;
    ORR_TRY(orr_mesh_add_vertices(g->reader, a.count, vertices));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        ORR_TRY(read_attribute(g, attributes, &kinds[i], a.count, *vertices));
    }
    ORR_TRY(read_coordinates(g, attributes, material, a.count, *vertices, texcoords));
    note_attributes(g, attributes, texcoords, skinned);
    return ORR_OK;
}

static orr_result add_triangles(orr_gltf *g, const orr_json *json, primitive_mode mode,
                                const uint32_t *indices, int64_t count, uint32_t base, bool mirrors)
{
    if (mode == TRIANGLES && count % 3 != 0) {
        return orr_json_expected(json, NULL, g->error, "a multiple of 3 corners, not %lld", (long long)count);
    }
    for (int64_t i = 0; i + 2 < count; i += mode == TRIANGLES ? 3 : 1) {
        bool turned = (mode == STRIP && i % 2 != 0) != mirrors;
        int64_t first = mode == FAN ? 0 : i;
        uint32_t c[3];
        for (int k = 0; k < 3; k++) {
            int64_t at = k == 0 ? first : i + k;
            c[k] = base + (uint32_t)(indices ? indices[at] : at);
        }
        bool empty = c[0] == c[1] || c[1] == c[2] || c[2] == c[0]; // joins strips
        if (mode == TRIANGLES || !empty) {
            ORR_TRY(orr_mesh_add_triangle(g->reader, c[0], c[turned ? 2 : 1], c[turned ? 1 : 2]));
        }
    }
    return ORR_OK;
}

static orr_result add_primitive(orr_gltf *g, const orr_json *mesh, const orr_json *json,
                                const orr_gltf_placing *placing)
{
    orr_json attributes;
    int64_t mode = TRIANGLES, count;
    int material, indices;
    ORR_TRY(orr_gltf_count_work(g, 1));
    ORR_TRY(orr_gltf_integer(g, json, "mode", 0, 6, &mode));
    if (mode < TRIANGLES) {
        orr_mesh_note(g->reader, mode == 0 ? "points" : "lines");
        return ORR_OK;
    }
    ORR_TRY(orr_gltf_index(g, json, "material", ORR_GLTF_MATERIALS, &material));
    ORR_TRY(orr_gltf_index(g, json, "indices", ORR_GLTF_ACCESSORS, &indices));
    ORR_TRY(orr_json_require(json, "attributes", "an object", g->error));
    ORR_TRY(orr_json_member(json, "attributes", &attributes, g->error));
    orr_mesh_file_vertex *vertices;
    uint32_t base = (uint32_t)g->reader->mesh->vertex_count;
    ORR_TRY(read_vertices(g, &attributes, material, placing->joints != NULL, &vertices, &count));
    ORR_TRY(orr_gltf_morph(g, mesh, json, placing, count, vertices));
    bool mirrors;
    ORR_TRY(orr_gltf_place(g, &attributes, placing, count, vertices, &mirrors));
    ORR_TRY(orr_mesh_use_material(g->reader, material));
    if (indices < 0) {
        return add_triangles(g, json, (primitive_mode)mode, NULL, count, base, mirrors);
    }
    orr_gltf_accessor a;
    uint32_t *list;
    ORR_TRY(orr_gltf_accessor_open(g, indices, &a));
    ORR_TRY(orr_gltf_count_work(g, a.count));
    ORR_ALLOC(list, a.count, "indices", g->error);
    orr_result result = orr_gltf_accessor_indices(g, &a, count, list);
    if (result == ORR_OK) {
        result = add_triangles(g, json, (primitive_mode)mode, list, a.count, base, mirrors);
    }
    orr_free(list);
    return result;
}

static orr_result add_mesh(orr_gltf *g, int index, const orr_gltf_placing *placing)
{
    orr_json mesh, primitive;
    const cJSON *node;
    int count;
    ORR_TRY(orr_gltf_count_work(g, 1));
    ORR_TRY(orr_gltf_element(g, ORR_GLTF_MESHES, index, &mesh));
    ORR_TRY(orr_json_array(&mesh, "primitives", &node, &count, g->error));
    for (int i = 0; i < count; i++, node = node->next) {
        ORR_TRY(orr_json_element(&mesh, "primitives", i, node, &primitive, g->error));
        ORR_TRY(add_primitive(g, &mesh, &primitive, placing));
    }
    return ORR_OK;
}

// ---- nodes ----

// Moved, turned by a quaternion x y z w, scaled.
static orr_result make_pose(const orr_gltf *g, const orr_json *json, const double translation[3],
                            const double rotation[4], const double scale[3], float pose[12])
{
    const double q[4] = {rotation[3], rotation[0], rotation[1], rotation[2]};
    double norm = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], turn[9];
    if (!(norm > 1e-12)) {
        return orr_json_expected(json, "rotation", g->error, "a quaternion that is not 0");
    }
    quaternion_to_matrix(q, 2.0 / norm, turn);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            pose[4 * i + k] = (float)(turn[3 * i + k] * scale[k]);
        }
        pose[4 * i + 3] = (float)translation[i];
    }
    return ORR_OK;
}

orr_result orr_gltf_read_pose(const orr_gltf *g, const orr_json *json, float pose[12])
{
    double matrix[16], translation[3] = {0.0, 0.0, 0.0}, rotation[4] = {0.0, 0.0, 0.0, 1.0},
                       scale[3] = {1.0, 1.0, 1.0};
    if (orr_json_has(json, "matrix")) {
        ORR_TRY(orr_json_numbers(json, "matrix", 16, matrix, g->error));
        for (int i = 0; i < 12; i++) { // columns become rows
            pose[i] = (float)matrix[4 * (i % 4) + i / 4];
        }
        return ORR_OK;
    }
    ORR_TRY(orr_json_numbers(json, "translation", 3, translation, g->error));
    ORR_TRY(orr_json_numbers(json, "rotation", 4, rotation, g->error));
    ORR_TRY(orr_json_numbers(json, "scale", 3, scale, g->error));
    return make_pose(g, json, translation, rotation, scale, pose);
}

typedef struct instances {
    int64_t count;                            // -1: none are given
    float *translations, *rotations, *scales; // NULL: of all the same
} instances;

static orr_result read_instance_values(orr_gltf *g, const orr_json *attributes, const char *key, int width,
                                       instances *all, float **values)
{
    int index;
    orr_gltf_accessor a;
    ORR_TRY(orr_gltf_index(g, attributes, key, ORR_GLTF_ACCESSORS, &index));
    if (index < 0) {
        return ORR_OK;
    }
    ORR_TRY(orr_gltf_accessor_open(g, index, &a));
    if (a.components != width || (all->count >= 0 && a.count != all->count)) {
        return orr_json_expected(attributes, key, g->error, "as many values as the others, of %d components",
                                 width);
    }
    all->count = a.count;
    ORR_ALLOC(*values, a.count * width, "instances", g->error);
    return orr_gltf_accessor_floats(g, &a, width, *values, (size_t)width);
}

static orr_result add_instances(orr_gltf *g, const orr_json *json, int mesh, const instances *all,
                                const float pose[12])
{
    for (int64_t i = 0; i < all->count; i++) {
        double translation[3], rotation[4], scale[3];
        for (int k = 0; k < 3; k++) {
            translation[k] = all->translations ? (double)all->translations[3 * i + k] : 0.0;
            scale[k] = all->scales ? (double)all->scales[3 * i + k] : 1.0;
        }
        for (int k = 0; k < 4; k++) {
            rotation[k] = all->rotations ? (double)all->rotations[4 * i + k] : k == 3;
        }
        float own[12], placed[12];
        ORR_TRY(make_pose(g, json, translation, rotation, scale, own));
        orr_affine_multiply(pose, own, placed);
        ORR_TRY(add_mesh(g, mesh, &(orr_gltf_placing){.node = json, .pose = placed}));
    }
    return ORR_OK;
}

static orr_result add_node_mesh(orr_gltf *g, const orr_json *json, const float pose[12])
{
    orr_json instancing, attributes;
    int mesh;
    ORR_TRY(orr_gltf_index(g, json, "mesh", ORR_GLTF_MESHES, &mesh));
    ORR_TRY(orr_gltf_extension(g, json, "EXT_mesh_gpu_instancing", &instancing));
    if (mesh < 0) {
        return ORR_OK;
    }
    if (!instancing.node) {
        orr_gltf_placing placing = {.node = json, .pose = pose};
        orr_result placed = orr_gltf_read_skin(g, &placing);
        placed = placed ? placed : add_mesh(g, mesh, &placing);
        orr_free(placing.joints);
        return placed;
    }
    instances all = {.count = -1};
    ORR_TRY(orr_json_member(&instancing, "attributes", &attributes, g->error));
    orr_result result = ORR_OK;
    if (attributes.node) {
        result = read_instance_values(g, &attributes, "TRANSLATION", 3, &all, &all.translations);
        result = result ? result : read_instance_values(g, &attributes, "ROTATION", 4, &all, &all.rotations);
        result = result ? result : read_instance_values(g, &attributes, "SCALE", 3, &all, &all.scales);
    }
    if (result == ORR_OK && all.count < 0) {
        result = orr_json_expected(&instancing, NULL, g->error, "attributes TRANSLATION, ROTATION or SCALE");
    }
    result = result ? result : add_instances(g, json, mesh, &all, pose);
    orr_free(all.translations);
    orr_free(all.rotations);
    orr_free(all.scales);
    return result;
}

// A node still to be visited, with the pose of its parent.
typedef struct waiting {
    int node;
    float above[12];
} waiting;

typedef struct walk {
    waiting *stack;
    int count, room;
    bool *has_parent;
} walk;

static orr_result push(const orr_gltf *g, walk *w, const orr_json *object, const cJSON *value,
                       const float above[12])
{
    int nodes = g->lists[ORR_GLTF_NODES].count;
    double number = cJSON_IsNumber(value) ? value->valuedouble : -1.0;
    if (!(number >= 0.0) || number >= nodes || number != (int)number) {
        return orr_json_expected(object, NULL, g->error, "indices of the %d nodes", nodes);
    }
    ORR_GROW(w->stack, w->room, w->count + 1, "nodes", g->error);
    w->stack[w->count].node = (int)number;
    memcpy(w->stack[w->count++].above, above, sizeof w->stack->above);
    return ORR_OK;
}

// Marks the children of all nodes. With one parent each, and roots that have none, no walk from a root can
// come to a node twice.
static orr_result find_parents(const orr_gltf *g, walk *w)
{
    int nodes = g->lists[ORR_GLTF_NODES].count;
    for (int i = 0; i < nodes; i++) {
        orr_json json;
        const cJSON *child;
        int count;
        ORR_TRY(orr_gltf_element(g, ORR_GLTF_NODES, i, &json));
        ORR_TRY(orr_json_array(&json, "children", &child, &count, g->error));
        for (; child; child = child->next) {
            double number = cJSON_IsNumber(child) ? child->valuedouble : -1.0;
            if (!(number >= 0.0) || number >= nodes || number != (int)number) {
                return orr_json_expected(&json, "children", g->error, "indices of the %d nodes", nodes);
            }
            if (w->has_parent[(int)number]) {
                return orr_json_expected(&json, "children", g->error, "a tree: node %d has two parents",
                                         (int)number);
            }
            w->has_parent[(int)number] = true;
            g->parents[(int)number] = i;
        }
    }
    return ORR_OK;
}

static orr_result visit(orr_gltf *g, walk *w)
{
    while (w->count > 0) {
        const waiting next = w->stack[--w->count];
        orr_json json;
        const cJSON *child;
        int count;
        float own[12], pose[12];
        ORR_TRY(orr_gltf_element(g, ORR_GLTF_NODES, next.node, &json));
        ORR_TRY(orr_gltf_read_pose(g, &json, own));
        orr_affine_multiply(next.above, own, pose);
        ORR_TRY(add_node_mesh(g, &json, pose));
        ORR_TRY(orr_gltf_add_node_light(g, &json, pose));
        ORR_TRY(orr_json_array(&json, "children", &child, &count, g->error));
        int first = w->count;
        for (; child; child = child->next) {
            ORR_TRY(push(g, w, &json, child, pose));
        }
        for (int last = w->count - 1; first < last; first++, last--) { // the first child is on top
            waiting swap = w->stack[first];
            w->stack[first] = w->stack[last];
            w->stack[last] = swap;
        }
    }
    return ORR_OK;
}

static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

static orr_result visit_root(orr_gltf *g, walk *w, const orr_json *object, const cJSON *value)
{
    ORR_TRY(push(g, w, object, value, identity));
    bool *taken = &w->has_parent[w->stack[0].node];
    if (*taken) {
        return orr_json_expected(object, "nodes", g->error,
                                 "roots, each once: node %d is a child or a root already", w->stack[0].node);
    }
    *taken = true;
    return visit(g, w);
}

// The scene that the file names, its first, or, without scenes, all nodes.
static orr_result read_nodes(orr_gltf *g, walk *w)
{
    int scenes = g->lists[ORR_GLTF_SCENES].count, nodes = g->lists[ORR_GLTF_NODES].count, scene;
    w->has_parent = orr_alloc_zero((size_t)nodes, sizeof *w->has_parent);
    if (!w->has_parent) {
        return orr_fail(g->error, ORR_CODE_OUT_OF_MEMORY, "out of memory: nodes");
    }
    ORR_ALLOC(g->parents, nodes, "nodes", g->error);
    memset(g->parents, 0xff, (size_t)nodes * sizeof *g->parents);
    ORR_TRY(find_parents(g, w));
    ORR_TRY(orr_gltf_index(g, &g->root, "scene", ORR_GLTF_SCENES, &scene));
    if (scenes > 1) {
        orr_mesh_note(g->reader, "scenes but one");
    }
    if (scenes > 0) {
        orr_json json;
        const cJSON *root;
        int count;
        ORR_TRY(orr_gltf_element(g, ORR_GLTF_SCENES, scene < 0 ? 0 : scene, &json));
        ORR_TRY(orr_json_array(&json, "nodes", &root, &count, g->error));
        for (; root; root = root->next) {
            ORR_TRY(visit_root(g, w, &json, root));
        }
        return ORR_OK;
    }
    for (int i = 0; i < nodes; i++) {
        if (!w->has_parent[i]) {
            const cJSON value = {.type = cJSON_Number, .valuedouble = i};
            ORR_TRY(visit_root(g, w, &g->root, &value));
        }
    }
    return ORR_OK;
}

orr_result orr_gltf_read_scene(orr_gltf *g)
{
    walk w = {0};
    orr_result result = read_nodes(g, &w);
    orr_free(w.stack);
    orr_free(w.has_parent);
    return result;
}
