#include "physics/load/load.h"

#include "engine/core/file.h"
#include "physics/load/length_range.h"
#include "physics/mjcf/mjcf.h"
#include "physics/pose/constants.h"
#include "physics/urdf/urdf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

// A spec from the text of a file; of the files that it attaches, too.
static orr_result read_spec(orr_spec *spec, const char *text, size_t size, orr_error *error)
{
    mjcf_node *root;
    ORR_TRY(mjcf_parse(text, size, spec->path, &spec->arena, &root, error));
    if (root->next) {
        spec_note(spec, root->next->file, root->next->line, "after the root element: expected nothing");
    }
    if (mjcf_is(root, "robot")) {
        return urdf_read(spec, root, error);
    }
    return mjcf_is(root, "mujoco") ? mjcf_read_mujoco(spec, root, read_spec, error)
                                   : mjcf_fail(root, error, "expected <mujoco> or <robot>");
}

static orr_result complete(const orr_spec *spec, orr_model *model, orr_error *error)
{
    ORR_TRY(orr_find_constants(spec, model, error));
    return orr_find_length_ranges(spec, model, error);
}

static orr_result compile(orr_spec *spec, orr_model **model, orr_error *error)
{
    orr_model *compiled;
    ORR_TRY(orr_model_compile(spec, &compiled, error));
    orr_result result = complete(spec, compiled, error);
    if (result != ORR_OK) {
        orr_model_destroy(compiled);
        return result;
    }
    *model = compiled;
    return ORR_OK;
}

static orr_result read_and_compile(orr_spec *spec, const void *source, orr_model **model, orr_error *error)
{
    const orr_bytes *text = source;
    orr_error why;
    orr_result result = read_spec(spec, (const char *)text->data, text->size, &why);
    // what a soft body can touch is known when all is read
    if (spec->touch_by_nodes && (result != ORR_OK || spec_flexes_meet_more(spec))) {
        const char *path = spec->path;
        spec_destroy(spec);
        spec_init(spec, path);
        spec->touch_by_points = true;
        orr_error other;
        const orr_result again = read_spec(spec, (const char *)text->data, text->size, &other);
        if (again == ORR_OK || result == ORR_OK) { // else the first mistake is the one to mend
            result = again;
            why = other;
        }
    }
    if (result != ORR_OK) {
        if (error) {
            *error = why;
        }
        return result;
    }
    return compile(spec, model, error);
}

// Fills a spec and compiles it.
static orr_result with_spec(const char *path, const void *source,
                            orr_result (*fill)(orr_spec *spec, const void *source, orr_model **model,
                                               orr_error *error),
                            orr_model **model, orr_error *error)
{
    *model = NULL;
    orr_spec *spec = orr_alloc(1, sizeof *spec);
    if (!spec) {
        return spec_memory_fail(error);
    }
    spec_init(spec, path);
    orr_result result = fill(spec, source, model, error);
    spec_destroy(spec);
    orr_free(spec);
    return result;
}

orr_result orr_model_parse(const char *text, size_t size, const char *path, orr_model **model,
                           orr_error *error)
{
    const orr_bytes bytes = {(unsigned char *)(uintptr_t)text, size};
    return with_spec(path, &bytes, read_and_compile, model, error);
}

orr_result orr_model_load(const char *path, orr_model **model, orr_error *error)
{
    *model = NULL;
    orr_bytes bytes;
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_result result = orr_model_parse((const char *)bytes.data, bytes.size, path, model, error);
    orr_free(bytes.data);
    return result;
}

// ---- a body of a program's shape

enum { PART_TEXT = 256 }; // bytes of an element, at most

typedef struct text_of {
    size_t size;
    char text[3 * ORR_BODY_PARTS_MAX * PART_TEXT];
} text_of;

__attribute__((format(printf, 2, 3))) static void put(text_of *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(to->text + to->size, sizeof to->text - to->size, format, arguments);
    va_end(arguments);
    assert(size >= 0 && (size_t)size < sizeof to->text - to->size);
    to->size += (size_t)size;
}

static orr_result set_points(const orr_body_source *source, size_t first, size_t end, orr_spec *spec,
                             spec_mesh *mesh, orr_error *error)
{
    size_t count = 3 * (end - first);
    mesh->head.location.line = 0; // that of the text, which nobody wrote
    if (end - first < 4) {
        return spec_fail(&mesh->head, error, "expected vertices whose convex hull has a volume");
    }
    double *numbers = orr_arena_take(&spec->arena, count, sizeof *numbers);
    if (!numbers || count > SPEC_NUMBERS_MAX) {
        return spec_memory_fail(error);
    }
    for (size_t i = 0; i < count; i++) {
        numbers[i] = source->scale * (double)source->points[(first + i / 3) * (size_t)source->stride + i % 3];
    }
    mesh->vertex = (spec_numbers){numbers, (int)count};
    return ORR_OK;
}

static orr_result set_hulls(const orr_body_source *source, orr_spec *spec, orr_error *error)
{
    if (source->parts == 0) {
        return set_points(source, 0, (size_t)source->point_count, spec, &spec->meshes[0], error);
    }
    for (int i = 0; i < source->parts; i++) {
        ORR_TRY(set_points(source, (size_t)source->part_start[i], (size_t)source->part_start[i + 1], spec,
                           &spec->meshes[i], error));
    }
    return ORR_OK;
}

static orr_result set_grid(const orr_body_source *source, orr_spec *spec, orr_error *error)
{
    spec_grid *grid = SPEC_APPEND(spec, grids);
    if (!grid) {
        return spec_memory_fail(error);
    }
    *grid = (spec_grid){.head = {.location = spec->geoms[0].head.location, .name = "shape"},
                        .grid = source->grid,
                        .scale = source->scale};
    spec->geoms[0].type = ORR_GEOM_SDF;
    spec->geoms[0].grid = "shape";
    return ORR_OK;
}

// The <geom> elements of the parts, and the <mesh> elements of those that are hulls.
static void write_parts(const orr_body_source *source, text_of *assets, text_of *geoms)
{
    int parts = source->parts > 0 ? source->parts : 1;
    for (int i = 0; i < parts; i++) {
        if (source->grid) {
            put(geoms, "<geom size='1' ");
        } else if (source->boxes) {
            const float *a = source->points + (size_t)source->part_start[i] * (size_t)source->stride,
                        *b = a + source->stride;
            put(geoms, "<geom type='box' pos='");
            for (int k = 0; k < 3; k++) {
                put(geoms, "%.9g ", 0.5 * source->scale * ((double)a[k] + (double)b[k]));
            }
            put(geoms, "' size='");
            for (int k = 0; k < 3; k++) {
                put(geoms, "%.9g ", 0.5 * source->scale * ((double)b[k] - (double)a[k]));
            }
            put(geoms, "' ");
        } else {
            put(assets, "<mesh name='shape%d' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/>", i);
            put(geoms, "<geom type='mesh' mesh='shape%d' ", i);
        }
        if (parts == 1) {
            put(geoms, "mass='%.17g' ", source->mass);
        }
        put(geoms, "friction='%.17g 0.005 0.0001'/>", source->friction);
    }
}

static orr_result make_body(orr_spec *spec, const void *of, orr_model **model, orr_error *error)
{
    const orr_body_source *source = of;
    bool moves = source->mass > 0.0;
    text_of text = {0}, assets = {0}, geoms = {0};
    write_parts(source, &assets, &geoms);
    put(&text, "<mujoco>");
    if (moves && source->parts > 1) {
        put(&text, "<compiler settotalmass='%.17g'/>", source->mass); // shared by volume
    }
    put(&text, "<asset>%s</asset><worldbody>%s%s%s</worldbody></mujoco>", assets.text,
        moves ? "<body name='body'><freejoint/>" : "", geoms.text, moves ? "</body>" : "");
    ORR_TRY(read_spec(spec, text.text, text.size, error));
    spec->bodies[spec->bodies_count - 1].head.location.line = 0;
    if (source->grid) {
        ORR_TRY(set_grid(source, spec, error));
    } else if (!source->boxes) {
        ORR_TRY(set_hulls(source, spec, error));
    }
    return compile(spec, model, error);
}

orr_result orr_model_of_body(const orr_body_source *source, orr_model **model, orr_error *error)
{
    return with_spec(source->name, source, make_body, model, error);
}
