#include "physics/load/load.h"

#include "engine/core/file.h"
#include "physics/load/length_range.h"
#include "physics/mjcf/mjcf.h"
#include "physics/pose/constants.h"
#include "physics/urdf/urdf.h"

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

static orr_result build(orr_spec *spec, const char *text, size_t size, orr_model **model, orr_error *error)
{
    orr_model *compiled;
    ORR_TRY(read_spec(spec, text, size, error));
    ORR_TRY(orr_model_compile(spec, &compiled, error));
    orr_result result = complete(spec, compiled, error);
    if (result != ORR_OK) {
        orr_model_destroy(compiled);
        return result;
    }
    *model = compiled;
    return ORR_OK;
}

orr_result orr_model_parse(const char *text, size_t size, const char *path, orr_model **model,
                           orr_error *error)
{
    *model = NULL;
    orr_spec *spec = orr_alloc(1, sizeof *spec);
    if (!spec) {
        return spec_memory_fail(error);
    }
    spec_init(spec, path);
    orr_result result = build(spec, text, size, model, error);
    spec_destroy(spec);
    orr_free(spec);
    return result;
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
