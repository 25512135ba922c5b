#include "engine/core/memory.h"
#include "engine/maths/half.h"
#include "engine/maths/vector.h"
#include "neural/fields/proposal.h"
#include "neural/ingp/ingp.h"
#include "neural/ingp/msgpack.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <zlib.h>

static const char *const mode_names[] = {[ORR_FIELD_IMAGE] = "image",
                                         [ORR_FIELD_SDF] = "sdf",
                                         [ORR_FIELD_NERF] = "nerf",
                                         [ORR_FIELD_VOLUME] = "volume"};

enum { SLICE = 1 << 16 }; // bytes compressed at a time

typedef struct packer {
    orr_file_writer file;
    z_stream stream;
    bool compress;
    uint8_t packed[SLICE];
} packer;

// ---- writing bytes ----

static void deflate_into(packer *p, const void *data, size_t size, int flush)
{
    p->stream.next_in = (Bytef *)(uintptr_t)data;
    p->stream.avail_in = (uInt)size;
    do {
        p->stream.next_out = p->packed;
        p->stream.avail_out = SLICE;
        (void)deflate(&p->stream, flush); // fails only for a stream that was not begun
        orr_file_put(&p->file, p->packed, SLICE - p->stream.avail_out);
    } while (p->stream.avail_out == 0);
}

static void put(void *context, const void *data, size_t size)
{
    packer *p = context;
    if (!p->compress) {
        orr_file_put(&p->file, data, size);
        return;
    }
    for (size_t done = 0; done < size; done += SLICE) {
        size_t count = size - done < SLICE ? size - done : SLICE;
        deflate_into(p, (const char *)data + done, count, Z_NO_FLUSH);
    }
}

static void put_floats(const orr_msgpack_writer *w, const float *values, int64_t count)
{
    w->put(w->context, values, (size_t)count * sizeof *values);
}

// ---- contents of the file ----

static cJSON *add_box(cJSON *json, const char *name, double reach)
{
    const double low[3] = {0.5 - reach, 0.5 - reach, 0.5 - reach},
                 high[3] = {0.5 + reach, 0.5 + reach, 0.5 + reach};
    cJSON *box = cJSON_AddObjectToObject(json, name);
    cJSON_AddItemToObject(box, "min", cJSON_CreateDoubleArray(low, 3));
    cJSON_AddItemToObject(box, "max", cJSON_CreateDoubleArray(high, 3));
    return box;
}

static void add_vector(cJSON *json, const char *name, double x, double y, double z)
{
    const double vector[3] = {x, y, z};
    cJSON_AddItemToObject(json, name, cJSON_CreateDoubleArray(vector, 3));
}

static void add_identity(cJSON *json, const char *name)
{
    cJSON *rows = cJSON_AddArrayToObject(json, name);
    for (int row = 0; row < 3; row++) {
        const double values[3] = {row == 0, row == 1, row == 2};
        cJSON_AddItemToArray(rows, cJSON_CreateDoubleArray(values, 3));
    }
}

// What instant-ngp needs to know of a data set before it loads the rest. It lists no photo. Its scale and
// offset are those of transforms.json; a map that also rotates the world (COLMAP's) has no such keys, and is
// under `orrery` alone.
static void add_dataset(cJSON *nerf, const orr_field_model *model, int aabb_scale)
{
    const double *m = model->to_unit;
    double scale = vec3_length(m);
    bool known = scale > 0.0;
    cJSON *dataset = cJSON_AddObjectToObject(nerf, "dataset");
    cJSON_AddNumberToObject(dataset, "n_images", 0);
    cJSON_AddItemToObject(dataset, "paths", cJSON_CreateArray());
    cJSON_AddItemToObject(dataset, "metadata", cJSON_CreateArray());
    cJSON_AddItemToObject(dataset, "xforms", cJSON_CreateArray());
    add_box(dataset, "render_aabb", 0.5 * aabb_scale);
    add_identity(dataset, "render_aabb_to_local");
    add_vector(dataset, "up", 0.0, 1.0, 0.0);
    add_vector(dataset, "offset", known ? m[11] : 0.5, known ? m[3] : 0.5, known ? m[7] : 0.5);
    cJSON_AddItemToObject(dataset, "envmap_resolution", cJSON_CreateIntArray((const int[2]){0, 0}, 2));
    cJSON_AddNumberToObject(dataset, "scale", known ? scale : 0.33);
    cJSON_AddNumberToObject(dataset, "aabb_scale", aabb_scale);
    cJSON_AddBoolToObject(dataset, "from_mitsuba", false);
    cJSON_AddBoolToObject(dataset, "is_hdr", false);
    cJSON_AddBoolToObject(dataset, "wants_importance_sampling", true);
    cJSON_AddNumberToObject(dataset, "n_extra_learnable_dims", 0);
}

static void add_nerf(cJSON *json, const orr_field_model *model, int aabb_scale)
{
    cJSON *nerf = cJSON_AddObjectToObject(json, "nerf");
    cJSON_AddNumberToObject(nerf, "aabb_scale", aabb_scale);
    cJSON_AddItemToObject(nerf, "cam_pos_offset", cJSON_CreateArray());
    cJSON_AddItemToObject(nerf, "cam_rot_offset", cJSON_CreateArray());
    cJSON_AddItemToObject(nerf, "extra_dims_opt", cJSON_CreateArray());
    cJSON *rgb = cJSON_AddObjectToObject(nerf, "rgb");
    cJSON_AddNumberToObject(rgb, "rays_per_batch", 4096);
    cJSON_AddNumberToObject(rgb, "measured_batch_size", 0);
    cJSON_AddNumberToObject(rgb, "measured_batch_size_before_compaction", 0);
    add_dataset(nerf, model, aabb_scale);
}

// the small values of the snapshot
static cJSON *snapshot_json(const orr_field_model *model, int64_t parameters)
{
    const orr_field_desc *desc = orr_field_describe(model->field);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddStringToObject(json, "mode", mode_names[desc->kind]);
    cJSON_AddNumberToObject(json, "n_params", (double)parameters);
    cJSON_AddStringToObject(json, "params_type", "float");
    cJSON_AddNumberToObject(json, "training_step", (double)model->steps);
    cJSON_AddNumberToObject(json, "loss", model->loss);
    add_box(json, "aabb", 0.5 * desc->aabb_scale);
    add_box(json, "render_aabb", 0.5 * desc->aabb_scale);
    add_identity(json, "render_aabb_to_local");
    cJSON_AddNumberToObject(json, "bounding_radius", 1);
    add_vector(json, "up_dir", 0.0, 1.0, 0.0);
    add_vector(json, "sun_dir", 0.57735, 0.57735, 0.57735);
    cJSON_AddNumberToObject(json, "exposure", 0);
    const double white[4] = {1.0, 1.0, 1.0, 1.0};
    cJSON_AddItemToObject(json, "background_color", cJSON_CreateDoubleArray(white, 4));
    if (desc->kind == ORR_FIELD_NERF) {
        add_nerf(json, model, desc->aabb_scale);
    }
    return json;
}

static cJSON *own_json(const orr_field_model *model)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "version", 1);
    cJSON_AddItemToObject(json, "origin", cJSON_CreateDoubleArray(model->origin, 3));
    cJSON_AddNumberToObject(json, "size", model->size);
    cJSON_AddNumberToObject(json, "width", model->width);
    cJSON_AddNumberToObject(json, "height", model->height);
    cJSON_AddItemToObject(json, "to_unit", cJSON_CreateDoubleArray(model->to_unit, 12));
    if (model->training.known) {
        cJSON *training = cJSON_AddObjectToObject(json, "training");
        cJSON_AddNumberToObject(training, "batch", model->training.batch);
        cJSON_AddNumberToObject(training, "holdout", model->training.holdout);
        cJSON_AddNumberToObject(training, "seed", model->training.seed);
        cJSON_AddNumberToObject(training, "exposures", model->training.exposures);
    }
    if (orr_field_parts_of(model->field)->proposal) {
        cJSON_AddStringToObject(json, "sampling", "proposal");
    }
    return json;
}

// the pairs of a JSON object, for a map whose head has been written
static void put_pairs(const orr_msgpack_writer *w, const cJSON *json)
{
    for (const cJSON *item = json->child; item; item = item->next) {
        orr_msgpack_put_text(w, item->string);
        orr_msgpack_put_json(w, item);
    }
}

static void put_density_grid(const orr_msgpack_writer *w, const orr_field_model *model)
{
    orr_msgpack_put_text(w, "density_grid_size");
    orr_msgpack_put_number(w, 128.0);
    orr_msgpack_put_text(w, "density_grid_binary");
    orr_msgpack_put_bytes(w, (uint32_t)(model->density_cells * 2));
    for (int64_t first = 0; first < model->density_cells; first += SLICE) {
        static const int64_t slice = SLICE;
        int64_t count = model->density_cells - first < slice ? model->density_cells - first : slice;
        uint16_t halves[SLICE];
        for (int64_t i = 0; i < count; i++) {
            halves[i] = orr_half_from_float(model->density_grid[first + i]);
        }
        w->put(w->context, halves, (size_t)count * sizeof halves[0]);
    }
}

static void put_snapshot(const orr_msgpack_writer *w, const orr_field_model *model, const cJSON *small,
                         int64_t parameters)
{
    const orr_field_parts *parts = orr_field_parts_of(model->field);
    orr_msgpack_put_text(w, "snapshot");
    orr_msgpack_put_map(w, (uint32_t)(cJSON_GetArraySize(small) + 1 + (model->density_grid ? 2 : 0)));
    put_pairs(w, small);
    if (model->density_grid) {
        put_density_grid(w, model);
    }
    orr_msgpack_put_text(w, "params_binary");
    orr_msgpack_put_bytes(w, (uint32_t)(parameters * 4));
    put_floats(w, parts->inference_network, parts->network.parameter_count);
    put_floats(w, parts->inference_rgb_network, parts->rgb_network.parameter_count);
    put_floats(w, parts->inference_table, parts->encoding.parameter_count);
}

static void put_own(const orr_msgpack_writer *w, const orr_field_model *model, const cJSON *small)
{
    orr_msgpack_put_text(w, "orrery");
    const orr_proposal *proposal = orr_field_parts_of(model->field)->proposal;
    orr_msgpack_put_map(
        w, (uint32_t)(cJSON_GetArraySize(small) + (proposal ? 1 : 0) + (model->state.size ? 1 : 0)));
    put_pairs(w, small);
    if (proposal) {
        orr_msgpack_put_text(w, "proposal_binary");
        orr_msgpack_put_bytes(w, (uint32_t)(orr_proposal_parameters(proposal) * 4));
        put_floats(w, proposal->inference_network, proposal->network.parameter_count);
        put_floats(w, proposal->inference_table, proposal->encoding.parameter_count);
    }
    if (model->state.size) {
        orr_msgpack_put_text(w, "state");
        orr_msgpack_put_bytes(w, (uint32_t)model->state.size);
        w->put(w->context, model->state.data, model->state.size);
    }
}

static orr_result write_model(packer *p, const orr_field_model *model, const cJSON *config,
                              const cJSON *snapshot, const cJSON *own, int64_t parameters, const char *path,
                              orr_error *error)
{
    // run lengths: zeros of what was never trained shrink, and trained floats hardly would by more
    if (p->compress && deflateInit2(&p->stream, 1, Z_DEFLATED, MAX_WBITS, MAX_MEM_LEVEL, Z_RLE) != Z_OK) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", path);
    }
    orr_result result = orr_file_begin(&p->file, path, error);
    if (result == ORR_OK) {
        const orr_msgpack_writer w = {.put = put, .context = p};
        orr_msgpack_put_map(&w, (uint32_t)cJSON_GetArraySize(config) + 2);
        put_pairs(&w, config);
        put_snapshot(&w, model, snapshot, parameters);
        put_own(&w, model, own);
        if (p->compress) {
            deflate_into(p, NULL, 0, Z_FINISH);
        }
        result = orr_file_commit(&p->file, error);
    }
    if (p->compress) {
        deflateEnd(&p->stream);
    }
    return result;
}

orr_result orr_field_model_save(const orr_field_model *model, const char *path, orr_error *error)
{
    if (!orr_field_model_readable(path)) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: expected a name that ends in .ingp or .msgpack",
                        path);
    }
    const orr_field_parts *parts = orr_field_parts_of(model->field);
    int64_t parameters =
        parts->network.parameter_count + parts->rgb_network.parameter_count + parts->encoding.parameter_count;
    if (parameters > UINT32_MAX / 4 || model->state.size > UINT32_MAX ||
        model->density_cells > UINT32_MAX / 2) {
        return orr_fail(error, ORR_CODE_CAPACITY, "%s: %lld parameters: a model file has at most 2^30", path,
                        (long long)parameters);
    }
    cJSON *config = orr_field_config_json(&orr_field_describe(model->field)->config);
    cJSON *snapshot = snapshot_json(model, parameters), *own = own_json(model);
    packer *p = orr_alloc_zero(1, sizeof *p);
    orr_result result;
    if (config && snapshot && own && p) {
        p->compress = orr_path_has_ending(path, ".ingp");
        result = write_model(p, model, config, snapshot, own, parameters, path, error);
    } else {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", path);
    }
    orr_free(p);
    cJSON_Delete(config);
    cJSON_Delete(snapshot);
    cJSON_Delete(own);
    return result;
}
