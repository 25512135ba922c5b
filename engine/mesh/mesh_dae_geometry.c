// Geometries of Collada: arrays, and polygons that index them.
#include "engine/mesh/mesh_dae.h"

#include "engine/core/memory.h"

#include <string.h>

enum { INPUTS_MAX = 4, OFFSET_MAX = 63 };

typedef enum member { POSITION, NORMAL, TEXCOORD, COLOUR } member;

// Where the corners' values of one kind are.
typedef struct input {
    member member;
    int offset; // of its index among those of a corner
    const float *values;
    int count, width, stride; // values of `width` floats, `stride` apart
} input;

typedef struct primitive {
    orr_dae *d;
    int node;
    input inputs[INPUTS_MAX];
    int input_count;
    int corner_indices; // numbers of a corner
    uint32_t base;      // first vertex
} primitive;

// ---- arrays ----

static orr_result read_array(orr_dae *d, int node, orr_dae_array **array)
{
    *array = &d->arrays[node];
    if ((*array)->values) {
        return ORR_OK;
    }
    int room = 0;
    orr_mesh_text text = orr_dae_content(&d->tree, node);
    for (double value; orr_mesh_text_any_number(&text, &value);) {
        ORR_GROW((*array)->values, room, (*array)->count + 1, "numbers of a mesh", d->reader->error);
        (*array)->values[(*array)->count++] = (float)value;
    }
    return (*array)->count > 0 && text.at == text.end ? ORR_OK : orr_dae_fail(d, node, "numbers");
}

// An attribute that is a count; `value` where it is absent.
static orr_result read_count(orr_dae *d, int node, const char *name, int least, int most, int *value)
{
    const char *text = orr_dae_attribute_of(&d->tree, node, name);
    if (!text) {
        return ORR_OK;
    }
    double number;
    orr_mesh_text words = {text, text + strlen(text), 1};
    if (!orr_mesh_text_number(&words, &number) || !(number >= least && number <= most) ||
        number != (int)number) {
        return orr_mesh_fail(d->reader, "line %d: <%.40s> %s: expected a whole number from %d to %d",
                             d->tree.nodes[node].line, d->tree.text + d->tree.nodes[node].name, name, least,
                             most);
    }
    *value = (int)number;
    return ORR_OK;
}

static orr_result read_source(orr_dae *d, int source, input *in)
{
    int common = orr_dae_child(&d->tree, source, "technique_common");
    int accessor = orr_dae_child(&d->tree, common, "accessor");
    int values = orr_dae_reference(&d->tree, accessor, "source");
    if (values < 0 || !orr_dae_is(&d->tree, values, "float_array")) {
        return orr_dae_fail(d, source, "an accessor of a float_array");
    }
    orr_dae_array *array;
    int offset = 0;
    in->stride = 1;
    ORR_TRY(read_array(d, values, &array));
    ORR_TRY(read_count(d, accessor, "stride", 1, 64, &in->stride));
    ORR_TRY(read_count(d, accessor, "offset", 0, INT32_MAX, &offset));
    int most = in->member == COLOUR ? 4 : in->member == TEXCOORD ? 2 : 3;
    in->width = in->stride < most ? in->stride : most;
    if (in->member <= NORMAL && in->width < 3) {
        return orr_dae_fail(d, accessor, "a stride of 3 or more");
    }
    int left = offset <= array->count ? array->count - offset : 0;
    in->count = left >= in->width ? (left - in->width) / in->stride + 1 : 0;
    in->values = array->values + (in->count > 0 ? offset : 0);
    return ORR_OK;
}

// ---- inputs ----

static orr_result add_input(primitive *p, int node, const char *semantic, int offset)
{
    static const struct {
        const char *semantic;
        member member;
    } kinds[] = {{"POSITION", POSITION}, {"NORMAL", NORMAL}, {"TEXCOORD", TEXCOORD}, {"COLOR", COLOUR}};
    int kind = -1;
    for (int i = 0; i < 4; i++) {
        kind = strcmp(semantic, kinds[i].semantic) == 0 ? i : kind;
    }
    for (int i = 0; i < p->input_count && kind >= 0; i++) {
        if (p->inputs[i].member == kinds[kind].member) { // the first set counts
            kind = -1;
        }
    }
    if (kind < 0) {
        orr_mesh_note(p->d->reader, strlen(semantic) < 32 ? semantic : "inputs with long names");
        return ORR_OK;
    }
    int source = orr_dae_reference(&p->d->tree, node, "source");
    if (source < 0) {
        return orr_dae_fail(p->d, node, "the id of a source of this file");
    }
    input *in = &p->inputs[p->input_count++];
    in->member = kinds[kind].member;
    in->offset = offset;
    return read_source(p->d, source, in);
}

static orr_result read_inputs(primitive *p)
{
    orr_dae_tree *tree = &p->d->tree;
    for (int node = orr_dae_child(tree, p->node, "input"); node >= 0;
         node = orr_dae_next(tree, node, "input")) {
        const char *semantic = orr_dae_attribute_of(tree, node, "semantic");
        int offset = 0;
        if (!semantic) {
            return orr_dae_fail(p->d, node, "a semantic");
        }
        ORR_TRY(read_count(p->d, node, "offset", 0, OFFSET_MAX, &offset));
        p->corner_indices = offset + 1 > p->corner_indices ? offset + 1 : p->corner_indices;
        if (strcmp(semantic, "VERTEX") != 0) {
            ORR_TRY(add_input(p, node, semantic, offset));
            continue;
        }
        int vertices = orr_dae_reference(tree, node, "source");
        for (int in = orr_dae_child(tree, vertices, "input"); in >= 0; in = orr_dae_next(tree, in, "input")) {
            semantic = orr_dae_attribute_of(tree, in, "semantic");
            ORR_TRY(semantic ? add_input(p, in, semantic, offset) : orr_dae_fail(p->d, in, "a semantic"));
        }
    }
    for (int i = 0; i < p->input_count; i++) {
        if (p->inputs[i].member == POSITION) {
            return ORR_OK;
        }
    }
    return orr_dae_fail(p->d, p->node, "an input VERTEX with positions");
}

// ---- polygons ----

// The next corner of <p> as a vertex; *taken: whether there is one.
static orr_result add_corner(const primitive *p, orr_mesh_text *text, bool *taken)
{
    double indices[OFFSET_MAX + 1];
    int got = 0;
    while (got < p->corner_indices && orr_mesh_text_any_number(text, &indices[got])) {
        got++;
    }
    *taken = got > 0;
    if (got == 0 && text->at == text->end) {
        return ORR_OK;
    }
    if (got < p->corner_indices) {
        return orr_dae_fail(p->d, p->node, "whole corners of indices");
    }
    orr_mesh_file_vertex *vertex;
    ORR_TRY(orr_mesh_add_vertices(p->d->reader, 1, &vertex));
    for (int i = 0; i < p->input_count; i++) {
        const input *in = &p->inputs[i];
        double index = indices[in->offset];
        if (!(index >= 0.0 && index < in->count)) {
            return orr_mesh_fail(p->d->reader, "line %d: <%.40s>: index %g: expected 0 to %d",
                                 p->d->tree.nodes[p->node].line,
                                 p->d->tree.text + p->d->tree.nodes[p->node].name, index, in->count - 1);
        }
        float *const members[] = {vertex->position, vertex->normal, vertex->texcoord, vertex->colour};
        memcpy(members[in->member], in->values + (size_t)index * (size_t)in->stride,
               (size_t)in->width * sizeof(float));
    }
    return ORR_OK;
}

// Up to `most` corners; INT32_MAX: all that are left.
static orr_result take_corners(const primitive *p, orr_mesh_text *text, int most, uint32_t *first, int *count)
{
    bool taken = true;
    *first = (uint32_t)p->d->reader->mesh->vertex_count;
    for (*count = 0; *count < most; ++*count) {
        ORR_TRY(add_corner(p, text, &taken));
        if (!taken) {
            return ORR_OK;
        }
    }
    return ORR_OK;
}

static void move_corners(const primitive *p, uint32_t first, int count, const float pose[12])
{
    if (count > 0) { // otherwise there may be no vertices at all
        orr_mesh_move(p->d->reader->mesh->vertices + first, count, pose);
    }
}

static orr_result add_polygon(const primitive *p, uint32_t first, int count, bool mirrors)
{
    orr_dae *d = p->d;
    ORR_GROW(d->corners, d->corner_room, count, "a polygon", d->reader->error);
    for (int i = 0; i < count; i++) {
        d->corners[i] = first + (uint32_t)(mirrors && i > 0 ? count - i : i);
    }
    return orr_mesh_add_polygon(d->reader, d->corners, count);
}

static orr_result add_strip(const primitive *p, uint32_t first, int count, bool fan, bool mirrors)
{
    for (int i = 0; i + 2 < count; i++) {
        uint32_t a = first + (uint32_t)(fan ? 0 : i), b = first + (uint32_t)i + 1, c = b + 1;
        bool turned = (!fan && i % 2 != 0) != mirrors;
        ORR_TRY(orr_mesh_add_triangle(p->d->reader, a, turned ? c : b, turned ? b : c));
    }
    return ORR_OK;
}

// <triangles> and <polylist>: one <p> of all corners.
static orr_result add_list(const primitive *p, const float pose[12], bool mirrors)
{
    orr_dae_tree *tree = &p->d->tree;
    bool triangles = orr_dae_is(tree, p->node, "triangles");
    orr_mesh_text counts = orr_dae_content(tree, orr_dae_child(tree, p->node, "vcount"));
    orr_mesh_text corners = orr_dae_content(tree, orr_dae_child(tree, p->node, "p"));
    for (;;) {
        double wanted = 3.0;
        uint32_t first;
        int count;
        bool more = triangles || orr_mesh_text_any_number(&counts, &wanted);
        if (!(wanted >= 1.0 && wanted <= INT32_MAX)) {
            return orr_dae_fail(p->d, p->node, "counts of corners in vcount");
        }
        ORR_TRY(take_corners(p, &corners, more ? (int)wanted : 1, &first, &count));
        if (count == 0 && (triangles || !more)) {
            return ORR_OK;
        }
        if (count != (int)wanted || !more) {
            return orr_dae_fail(p->d, p->node, "as many corners in p as polygons need");
        }
        move_corners(p, first, count, pose);
        ORR_TRY(add_polygon(p, first, count, mirrors));
    }
}

// <polygons>, <tristrips> and <trifans>: a <p> for each.
static orr_result add_each(const primitive *p, const float pose[12], bool mirrors)
{
    orr_dae_tree *tree = &p->d->tree;
    bool polygons = orr_dae_is(tree, p->node, "polygons"), fan = orr_dae_is(tree, p->node, "trifans");
    for (int child = orr_dae_first(tree, p->node); child >= 0; child = orr_dae_sibling(tree, child)) {
        bool holes = orr_dae_is(tree, child, "ph");
        if (holes) {
            orr_mesh_note(p->d->reader, "holes of polygons");
        }
        int node = holes ? orr_dae_child(tree, child, "p") : orr_dae_is(tree, child, "p") ? child : -1;
        orr_mesh_text corners = orr_dae_content(tree, node);
        uint32_t first;
        int count;
        ORR_TRY(take_corners(p, &corners, INT32_MAX, &first, &count));
        move_corners(p, first, count, pose);
        ORR_TRY(polygons ? add_polygon(p, first, count, mirrors) : add_strip(p, first, count, fan, mirrors));
    }
    return ORR_OK;
}

static orr_result add_primitive(orr_dae *d, int node, int instance, const float pose[12])
{
    primitive p = {.d = d, .node = node};
    const char *symbol = orr_dae_attribute_of(&d->tree, node, "material");
    bool mirrors = orr_mesh_move(NULL, 0, pose);
    int material;
    ORR_TRY(orr_dae_check_steps(d, node));
    if (orr_dae_child(&d->tree, node, "p") < 0 && orr_dae_child(&d->tree, node, "ph") < 0) {
        return ORR_OK; // empty
    }
    ORR_TRY(read_inputs(&p));
    ORR_TRY(orr_dae_material(d, instance, symbol, &material));
    ORR_TRY(orr_mesh_use_material(d->reader, material));
    bool list = orr_dae_is(&d->tree, node, "triangles") || orr_dae_is(&d->tree, node, "polylist");
    return list ? add_list(&p, pose, mirrors) : add_each(&p, pose, mirrors);
}

orr_result orr_dae_add_geometry(orr_dae *d, int geometry, int instance, const float pose[12])
{
    static const char *const drawn[] = {"triangles", "polylist", "polygons", "tristrips", "trifans"};
    static const char *const unused[] = {"lines", "linestrips"};
    int mesh = orr_dae_child(&d->tree, geometry, "mesh");
    if (mesh < 0) {
        orr_mesh_note(d->reader, "geometries that are no meshes");
        return ORR_OK;
    }
    for (int child = orr_dae_first(&d->tree, mesh); child >= 0; child = orr_dae_sibling(&d->tree, child)) {
        for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) {
            if (orr_dae_is(&d->tree, child, drawn[i])) {
                ORR_TRY(add_primitive(d, child, instance, pose));
            }
        }
        for (size_t i = 0; i < sizeof unused / sizeof unused[0]; i++) {
            if (orr_dae_is(&d->tree, child, unused[i])) {
                orr_mesh_note(d->reader, unused[i]);
            }
        }
    }
    return ORR_OK;
}
