// Shapes of glTF at rest: morph targets by the weights of the file, skins by where the file has their joints.
#include "engine/mesh/mesh_gltf.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- morph targets ----

// Adds a weighted attribute of a target, of three components, to a member of the vertices, in floats.
static orr_result add_target(orr_gltf *g, const orr_json *target, const char *key, float weight,
                             size_t member, int64_t count, orr_mesh_file_vertex *vertices)
{
    int index;
    orr_gltf_accessor a;
    float *moves;
    ORR_TRY(orr_gltf_index(g, target, key, ORR_GLTF_ACCESSORS, &index));
    if (index < 0) {
        return ORR_OK;
    }
    ORR_TRY(orr_gltf_accessor_open(g, index, &a));
    if (a.count != count || a.components != 3) {
        return orr_json_expected(target, key, g->error, "an accessor of %lld values of 3 components",
                                 (long long)count);
    }
    ORR_TRY(orr_gltf_count_work(g, count));
    ORR_ALLOC(moves, 3 * count, "a morph target", g->error);
    orr_result result = orr_gltf_accessor_floats(g, &a, 3, moves, 3);
    for (int64_t i = 0; i < 3 * count && result == ORR_OK; i++) {
        ((float *)&vertices[i / 3])[member + (size_t)(i % 3)] += weight * moves[i];
    }
    orr_free(moves);
    return result;
}

static void note_target(const orr_gltf *g, const orr_json *target)
{
    for (const cJSON *member = target->node->child; member; member = member->next) {
        const bool used = strcmp(member->string, "POSITION") == 0 || strcmp(member->string, "NORMAL") == 0 ||
                          strcmp(member->string, "TANGENT") == 0;
        if (!used && strlen(member->string) < 32) {
            char note[64];
            snprintf(note, sizeof note, "%s of morph targets", member->string);
            orr_mesh_note(g->reader, note);
        }
    }
}

orr_result orr_gltf_morph(orr_gltf *g, const orr_json *mesh, const orr_json *primitive,
                          const orr_gltf_placing *placing, int64_t count, orr_mesh_file_vertex *vertices)
{
    const orr_json *giver = orr_json_has(placing->node, "weights") ? placing->node : mesh;
    const cJSON *weight, *node;
    int weights, targets;
    orr_json target;
    ORR_TRY(orr_json_array(giver, "weights", &weight, &weights, g->error));
    ORR_TRY(orr_json_array(primitive, "targets", &node, &targets, g->error));
    for (int i = 0; i < targets && weight; i++, node = node->next, weight = weight->next) {
        if (!cJSON_IsNumber(weight) || !isfinite((float)weight->valuedouble)) {
            return orr_json_expected(giver, "weights", g->error, "an array of numbers");
        }
        const float part = (float)weight->valuedouble;
        ORR_TRY(orr_json_element(primitive, "targets", i, node, &target, g->error));
        if (part == 0.0f) {
            continue;
        }
        ORR_TRY(add_target(g, &target, "POSITION", part,
                           offsetof(orr_mesh_file_vertex, position) / sizeof(float), count, vertices));
        ORR_TRY(add_target(g, &target, "NORMAL", part, offsetof(orr_mesh_file_vertex, normal) / sizeof(float),
                           count, vertices));
        note_target(g, &target);
    }
    return ORR_OK;
}

// ---- skins ----

// Of a node, by those above it.
static orr_result find_pose(orr_gltf *g, int node, float pose[12])
{
    memcpy(pose, (const float[12]){1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, 12 * sizeof *pose);
    for (int steps = 0; node >= 0; node = g->parents[node], steps++) {
        orr_json json;
        float own[12], below[12];
        ORR_TRY(orr_gltf_count_work(g, 1));
        ORR_TRY(orr_gltf_element(g, ORR_GLTF_NODES, node, &json));
        if (steps == g->lists[ORR_GLTF_NODES].count) {
            return orr_json_expected(&json, NULL, g->error, "a tree: the node is above itself");
        }
        ORR_TRY(orr_gltf_read_pose(g, &json, own));
        memcpy(below, pose, sizeof below);
        orr_affine_multiply(own, below, pose);
    }
    return ORR_OK;
}

// A 4x4 matrix for each joint, as columns; without them they are 1.
static orr_result read_inverses(orr_gltf *g, const orr_json *skin, int count, float **inverses)
{
    int index;
    orr_gltf_accessor a;
    ORR_TRY(orr_gltf_index(g, skin, "inverseBindMatrices", ORR_GLTF_ACCESSORS, &index));
    if (index < 0) {
        return ORR_OK;
    }
    ORR_TRY(orr_gltf_accessor_open(g, index, &a));
    if (a.components != 16 || a.count < count) {
        return orr_json_expected(skin, "inverseBindMatrices", g->error,
                                 "an accessor of type MAT4, a value for each of the %d joints", count);
    }
    ORR_ALLOC(*inverses, 16 * a.count, "joints of a skin", g->error);
    return orr_gltf_accessor_floats(g, &a, 16, *inverses, 16);
}

static orr_result fill_joints(orr_gltf *g, const orr_json *skin, const cJSON *joint, const float *inverses,
                              orr_gltf_placing *placing)
{
    const int nodes = g->lists[ORR_GLTF_NODES].count;
    for (int i = 0; i < placing->joint_count; i++, joint = joint->next) {
        const double number = cJSON_IsNumber(joint) ? joint->valuedouble : -1.0;
        float pose[12], inverse[12];
        if (!(number >= 0.0) || number >= nodes || number != (int)number) {
            return orr_json_expected(skin, "joints", g->error, "indices of the %d nodes", nodes);
        }
        ORR_TRY(find_pose(g, (int)number, pose));
        for (int k = 0; k < 12; k++) { // columns become rows
            inverse[k] = inverses ? inverses[16 * i + 4 * (k % 4) + k / 4] : (float)(k % 4 == k / 4);
        }
        orr_affine_multiply(pose, inverse, placing->joints + 12 * i);
    }
    return ORR_OK;
}

orr_result orr_gltf_read_skin(orr_gltf *g, orr_gltf_placing *placing)
{
    int index;
    orr_json skin;
    const cJSON *joint;
    float *inverses = NULL;
    ORR_TRY(orr_gltf_index(g, placing->node, "skin", ORR_GLTF_SKINS, &index));
    if (index < 0) {
        return ORR_OK;
    }
    ORR_TRY(orr_gltf_element(g, ORR_GLTF_SKINS, index, &skin));
    ORR_TRY(orr_json_array(&skin, "joints", &joint, &placing->joint_count, g->error));
    if (placing->joint_count == 0) {
        return orr_json_expected(&skin, "joints", g->error, "indices of nodes");
    }
    ORR_TRY(orr_gltf_count_work(g, placing->joint_count));
    ORR_ALLOC(placing->joints, 12 * (int64_t)placing->joint_count, "joints of a skin", g->error);
    orr_result result = read_inverses(g, &skin, placing->joint_count, &inverses);
    result = result ? result : fill_joints(g, &skin, joint, inverses, placing);
    orr_free(inverses);
    return result;
}

// What a vertex is moved by: the sum of its joints' maps, and of their weights.
typedef struct blend {
    float map[12], weights;
} blend;

// Adds the four joints of each vertex of one set; `values`: room for 8 floats for each.
static orr_result add_joints(orr_gltf *g, const orr_json *attributes, const char *const keys[2],
                             const orr_gltf_placing *placing, int64_t count, float *values, blend *blends)
{
    for (int i = 0; i < 2; i++) {
        int index;
        orr_gltf_accessor a;
        ORR_TRY(orr_json_require(attributes, keys[i], "an accessor", g->error));
        ORR_TRY(orr_gltf_index(g, attributes, keys[i], ORR_GLTF_ACCESSORS, &index));
        ORR_TRY(orr_gltf_accessor_open(g, index, &a));
        if (a.count != count || a.components != 4) {
            return orr_json_expected(attributes, keys[i], g->error,
                                     "an accessor of %lld values of 4 components", (long long)count);
        }
        ORR_TRY(orr_gltf_accessor_floats(g, &a, 4, values + 4 * i, 8));
    }
    for (int64_t i = 0; i < 4 * count; i++) {
        const float joint = values[8 * (i / 4) + i % 4], weight = values[8 * (i / 4) + 4 + i % 4];
        if (!(joint >= 0.0f) || joint >= (float)placing->joint_count) {
            return orr_json_expected(attributes, keys[0], g->error, "indices of the %d joints of the skin",
                                     placing->joint_count);
        }
        blend *b = &blends[i / 4];
        for (int k = 0; k < 12; k++) {
            b->map[k] += weight * placing->joints[12 * (int)joint + k];
        }
        b->weights += weight;
    }
    return ORR_OK;
}

static orr_result find_blends(orr_gltf *g, const orr_json *attributes, const orr_gltf_placing *placing,
                              int64_t count, blend *blends)
{
    float *values;
    orr_result result = ORR_OK;
    ORR_ALLOC(values, 8 * count, "joints of vertices", g->error);
    for (int set = 0; set < 10 && result == ORR_OK; set++) {
        const char joints[] = {'J', 'O', 'I', 'N', 'T', 'S', '_', (char)('0' + set), 0},
                   weights[] = {'W', 'E', 'I', 'G', 'H', 'T', 'S', '_', (char)('0' + set), 0};
        if (!orr_json_has(attributes, joints)) {
            break;
        }
        result = orr_gltf_count_work(g, count);
        result = result ? result
                        : add_joints(g, attributes, (const char *const[2]){joints, weights}, placing, count,
                                     values, blends);
    }
    orr_free(values);
    return result;
}

orr_result orr_gltf_place(orr_gltf *g, const orr_json *attributes, const orr_gltf_placing *placing,
                          int64_t count, orr_mesh_file_vertex *vertices, bool *mirrors)
{
    if (!placing->joints || !orr_json_has(attributes, "JOINTS_0")) {
        *mirrors = orr_mesh_move(vertices, count, placing->pose);
        return ORR_OK;
    }
    blend *blends = orr_alloc_zero((size_t)count, sizeof *blends);
    if (!blends) {
        return orr_fail(g->error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a skin");
    }
    orr_result result = find_blends(g, attributes, placing, count, blends);
    for (int64_t i = 0; i < count && result == ORR_OK; i++) {
        blend *b = &blends[i];
        for (int k = 0; k < 12; k++) { // as many writers leave sums that are not quite 1
            b->map[k] = b->weights > 0.0f ? b->map[k] / b->weights : placing->joints[k];
        }
        const bool mirrored = orr_mesh_move(&vertices[i], 1, b->map);
        *mirrors = i ? *mirrors : mirrored;
    }
    orr_free(blends);
    return result;
}
