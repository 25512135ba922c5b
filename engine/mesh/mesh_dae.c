// Collada (.dae): the meshes of its scene, with transforms, units, up axis, diffuse colours and textures.
#include "engine/mesh/mesh_dae.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"

#include <math.h>
#include <string.h>

orr_result orr_dae_fail(orr_dae *d, int node, const char *expected)
{
    return orr_mesh_fail(d->reader, "line %d: <%.40s>: expected %s", d->tree.nodes[node].line,
                         d->tree.text + d->tree.nodes[node].name, expected);
}

orr_result orr_dae_check_steps(orr_dae *d, int node)
{
    enum { STEPS_MAX = 1 << 18, STEPS_PER_BYTE = 64 };
    return d->tree.steps <= STEPS_MAX + STEPS_PER_BYTE * (int64_t)d->reader->all_bytes
               ? ORR_OK
               : orr_dae_fail(d, node,
                              "a smaller scene: elements refer to each other in a circle, or too often");
}

// ---- transforms ----

static void multiply_onto(float pose[12], const float by[12])
{
    float product[12];
    orr_affine_multiply(pose, by, product);
    memcpy(pose, product, sizeof product);
}

// Rodrigues' formula; degrees.
static void turn_by(const float axis[3], float degrees, float out[12])
{
    double length = sqrt((double)axis[0] * (double)axis[0] + (double)axis[1] * (double)axis[1] +
                         (double)axis[2] * (double)axis[2]);
    double angle = (double)degrees * 3.14159265358979323846 / 180.0, c = cos(angle), s = sin(angle), a[3];
    for (int i = 0; i < 3; i++) {
        a[i] = length > 0.0 ? (double)axis[i] / length : 0.0;
    }
    const double cross[9] = {0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            out[4 * i + k] = (float)(c * (i == k) + s * cross[3 * i + k] + (1.0 - c) * a[i] * a[k]);
        }
        out[4 * i + 3] = 0.0f;
    }
}

// The transforms of a <node> onto `pose`, in their order.
static orr_result read_pose(orr_dae *d, int node, float pose[12])
{
    for (int child = orr_dae_first(&d->tree, node); child >= 0; child = orr_dae_sibling(&d->tree, child)) {
        float v[16], by[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        bool matrix = orr_dae_is(&d->tree, child, "matrix"), turn = orr_dae_is(&d->tree, child, "rotate");
        bool move = orr_dae_is(&d->tree, child, "translate"), scale = orr_dae_is(&d->tree, child, "scale");
        if (orr_dae_is(&d->tree, child, "lookat") || orr_dae_is(&d->tree, child, "skew")) {
            return orr_dae_fail(d, child, "matrix, translate, rotate or scale");
        }
        if (!matrix && !turn && !move && !scale) {
            continue;
        }
        int wanted = matrix ? 16 : turn ? 4 : 3;
        if (orr_dae_numbers(&d->tree, child, v, wanted) != wanted) {
            return orr_dae_fail(d, child, matrix ? "16 numbers" : turn ? "4 numbers" : "3 numbers");
        }
        if (matrix) {
            memcpy(by, v, sizeof by);
        } else if (turn) {
            turn_by(v, v[3], by);
        }
        for (int i = 0; i < 3; i++) {
            by[5 * i] = scale ? v[i] : by[5 * i];
            by[4 * i + 3] = move ? v[i] : by[4 * i + 3];
        }
        multiply_onto(pose, by);
    }
    return ORR_OK;
}

// The unit and, unless coordinates are to be kept, the axis that is up, which becomes y.
static orr_result read_asset(orr_dae *d, float pose[12])
{
    static const float to_y[3][12] = {{0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0},
                                      {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                      {1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0}};
    int asset = orr_dae_child(&d->tree, 0, "asset"), unit = orr_dae_child(&d->tree, asset, "unit");
    const char *meter = unit >= 0 ? orr_dae_attribute_of(&d->tree, unit, "meter") : NULL;
    double scale = 1.0;
    if (meter) {
        orr_mesh_text text = {meter, meter + strlen(meter), 1};
        if (!orr_mesh_text_number(&text, &scale) || !(scale > 0.0) || !isfinite((float)scale)) {
            return orr_dae_fail(d, unit, "a length in metres above 0");
        }
    }
    orr_mesh_text content = orr_dae_content(&d->tree, orr_dae_child(&d->tree, asset, "up_axis"));
    char axis = *content.at;
    int up = axis == 'X' ? 0 : axis == 'Z' ? 2 : 1;
    memcpy(pose, to_y[d->reader->desc->keep_axes ? 1 : up], 12 * sizeof *pose);
    for (int i = 0; i < 12; i++) {
        pose[i] *= (float)scale;
    }
    return ORR_OK;
}

// ---- the scene ----

// A <node> still to be visited, with the pose of its parent.
typedef struct waiting {
    int node;
    float above[12];
} waiting;

typedef struct walk {
    waiting *stack;
    int count, room;
} walk;

static orr_result push(orr_dae *d, walk *w, int node, const float above[12])
{
    ORR_GROW(w->stack, w->room, w->count + 1, "nodes", d->reader->error);
    waiting *next = &w->stack[w->count++];
    next->node = node;
    memcpy(next->above, above, sizeof next->above);
    return orr_dae_check_steps(d, node);
}

// The geometry of <instance_geometry>, or that which the <instance_controller> bends.
static int geometry_of(orr_dae *d, int instance)
{
    int found = orr_dae_reference(&d->tree, instance, "url");
    if (found >= 0 && orr_dae_is(&d->tree, found, "controller")) {
        orr_mesh_note(d->reader, "skins");
        int skin = orr_dae_child(&d->tree, found, "skin");
        found =
            orr_dae_reference(&d->tree, skin >= 0 ? skin : orr_dae_child(&d->tree, found, "morph"), "source");
    }
    return found >= 0 && orr_dae_is(&d->tree, found, "geometry") ? found : -1;
}

static orr_result visit_node(orr_dae *d, walk *w, const waiting *here)
{
    float pose[12];
    memcpy(pose, here->above, sizeof pose);
    ORR_TRY(read_pose(d, here->node, pose));
    int below = w->count;
    for (int child = orr_dae_first(&d->tree, here->node); child >= 0;
         child = orr_dae_sibling(&d->tree, child)) {
        bool geometry = orr_dae_is(&d->tree, child, "instance_geometry");
        if (geometry || orr_dae_is(&d->tree, child, "instance_controller")) {
            int found = geometry_of(d, child);
            if (found < 0) {
                return orr_dae_fail(d, child, "the id of a geometry of this file");
            }
            ORR_TRY(orr_dae_add_geometry(d, found, child, pose));
        } else if (orr_dae_is(&d->tree, child, "node")) {
            ORR_TRY(push(d, w, child, pose));
        } else if (orr_dae_is(&d->tree, child, "instance_node")) {
            int found = orr_dae_reference(&d->tree, child, "url");
            if (found < 0 || !orr_dae_is(&d->tree, found, "node")) {
                return orr_dae_fail(d, child, "the id of a node of this file");
            }
            ORR_TRY(push(d, w, found, pose));
        }
    }
    for (int first = below, last = w->count - 1; first < last; first++, last--) { // the first child is on top
        waiting swap = w->stack[first];
        w->stack[first] = w->stack[last];
        w->stack[last] = swap;
    }
    return ORR_OK;
}

static orr_result walk_scene(orr_dae *d, walk *w)
{
    float pose[12];
    ORR_TRY(read_asset(d, pose));
    int scene = orr_dae_child(&d->tree, 0, "scene");
    scene = orr_dae_reference(&d->tree, orr_dae_child(&d->tree, scene, "instance_visual_scene"), "url");
    if (scene < 0) {
        scene = orr_dae_child(&d->tree, orr_dae_child(&d->tree, 0, "library_visual_scenes"), "visual_scene");
    }
    for (int node = orr_dae_child(&d->tree, scene, "node"); node >= 0;
         node = orr_dae_next(&d->tree, node, "node")) {
        ORR_TRY(push(d, w, node, pose));
        while (w->count > 0) {
            const waiting here = w->stack[--w->count];
            ORR_TRY(visit_node(d, w, &here));
        }
    }
    return ORR_OK;
}

static orr_result read_file(orr_dae *d)
{
    ORR_TRY(orr_dae_parse(d->reader, &d->tree));
    if (d->tree.node_count == 0 || !orr_dae_is(&d->tree, 0, "COLLADA")) {
        return orr_mesh_fail(d->reader, "not a mesh: expected an element COLLADA");
    }
    static const char *const unused[] = {"library_animations", "library_cameras", "library_lights"};
    for (int i = 0; i < 3; i++) {
        if (orr_dae_child(&d->tree, 0, unused[i]) >= 0) {
            orr_mesh_note(d->reader, unused[i] + 8);
        }
    }
    size_t nodes = (size_t)d->tree.node_count;
    d->arrays = orr_alloc_zero(nodes, sizeof *d->arrays);
    ORR_ALLOC(d->materials, nodes, "materials", d->reader->error);
    memset(d->materials, 0xff, nodes * sizeof *d->materials);
    if (!d->arrays) {
        return orr_fail(d->reader->error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a mesh");
    }
    walk w = {0};
    orr_result result = walk_scene(d, &w);
    orr_free(w.stack);
    return result;
}

orr_result orr_mesh_read_dae(orr_mesh_reader *reader)
{
    orr_dae d = {.reader = reader};
    reader->mesh->split_corners = true;
    orr_result result = read_file(&d);
    for (int i = 0; d.arrays && i < d.tree.node_count; i++) {
        orr_free(d.arrays[i].values);
    }
    orr_free(d.arrays);
    orr_free(d.materials);
    orr_free(d.corners);
    orr_dae_free(&d.tree);
    return result;
}
