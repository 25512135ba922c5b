#include "physics/load/load.h"

#include "engine/core/file.h"
#include "physics/load/length_range.h"
#include "physics/mjcf/mjcf.h"
#include "physics/pose/constants.h"
#include "physics/urdf/urdf.h"

#include <stdio.h>

// A spec from the text of a file; of the files that it attaches, too.
static orr_result read_spec(orr_spec *spec, const char *text, size_t size, orr_error *error)
{
    mjcf_node *root;
    ORR_TRY(mjcf_parse(text, size, spec->path, &spec->arena, &root, error));
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
    ORR_TRY(read_spec(spec, (const char *)text->data, text->size, error));
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

static orr_result set_points(const orr_body_source *source, orr_spec *spec, orr_error *error)
{
    size_t count = 3 * (size_t)source->point_count;
    double *numbers = orr_arena_take(&spec->arena, count, sizeof *numbers);
    if (!numbers || count > SPEC_NUMBERS_MAX) {
        return spec_memory_fail(error);
    }
    for (size_t i = 0; i < count; i++) {
        numbers[i] = source->scale * (double)source->points[i / 3 * (size_t)source->stride + i % 3];
    }
    spec->meshes[0].vertex = (spec_numbers){numbers, (int)count};
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

static orr_result make_body(orr_spec *spec, const void *of, orr_model **model, orr_error *error)
{
    const orr_body_source *source = of;
    char text[640];
    bool moves = source->mass > 0.0;
    int size = snprintf(
        text, sizeof text,
        "<mujoco>%s<worldbody>%s<geom %s mass='%.17g' friction='%.17g 0.005 0.0001'/>%s</worldbody></mujoco>",
        source->grid ? "" : "<asset><mesh name='shape' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>",
        moves ? "<body name='body'><freejoint/>" : "", source->grid ? "size='1'" : "type='mesh' mesh='shape'",
        source->mass, source->friction > 0.0 ? source->friction : 1.0, moves ? "</body>" : "");
    ORR_TRY(read_spec(spec, text, (size_t)size, error));
    ORR_TRY(source->grid ? set_grid(source, spec, error) : set_points(source, spec, error));
    return compile(spec, model, error);
}

orr_result orr_model_of_body(const orr_body_source *source, orr_model **model, orr_error *error)
{
    return with_spec(source->name, source, make_body, model, error);
}
