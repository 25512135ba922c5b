#include "engine/core/memory.h"
#include "engine/maths/half.h"
#include "neural/capture/photo_list.h"
#include "neural/fields/proposal.h"
#include "neural/ingp/ingp.h"
#include "neural/ingp/msgpack.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

enum { CASCADE_CELLS = 1 << 21, CASCADES_MAX = 8, SIDE_MAX = 1 << 20 };

// of an unpacked file: parameters hardly compress, occupancy grids of 32 MiB and the states of optimisers can
// be all zeros
static const size_t BYTES_MAX = 1ull << 34, BYTES_ALWAYS = 1ull << 27, EXPANSION_MAX = 64;
static const size_t UNPACK_FIRST = 1 << 16;

// Where reading is: the file's name for messages, and what to evaluate on.
typedef struct reader {
    const char *name;
    orr_isa isa;
    orr_mlp_machine machine;
    orr_error *error;
} reader;

// ---- unpacking ----

static orr_result widen(const reader *r, orr_bytes *bytes, size_t used, size_t limit)
{
    size_t size = bytes->size ? 2 * bytes->size : UNPACK_FIRST;
    size = size < limit ? size : limit;
    if (size == bytes->size) {
        return orr_fail(r->error, ORR_CODE_FILE_TOO_LARGE, "%s: more than %zu bytes unpacked", r->name,
                        limit);
    }
    uint8_t *data;
    ORR_ALLOC(data, size, r->name, r->error);
    if (used > 0) {
        memcpy(data, bytes->data, used);
    }
    orr_free(bytes->data);
    *bytes = (orr_bytes){data, size};
    return ORR_OK;
}

// Inflates into *bytes, whose size becomes what there is.
static orr_result inflate_all(const reader *r, z_stream *stream, orr_bytes *bytes)
{
    enum { SLICE = 1 << 30 };
    size_t limit = BYTES_ALWAYS + EXPANSION_MAX * stream->avail_in;
    limit = limit < BYTES_MAX ? limit : BYTES_MAX;
    size_t used = 0;
    for (int status = Z_OK; status != Z_STREAM_END;) {
        if (used == bytes->size) {
            ORR_TRY(widen(r, bytes, used, limit));
        }
        size_t available = bytes->size - used < SLICE ? bytes->size - used : SLICE;
        stream->next_out = bytes->data + used;
        stream->avail_out = (uInt)available;
        status = inflate(stream, Z_NO_FLUSH);
        used += available - stream->avail_out;
        if (status == Z_BUF_ERROR || (status == Z_OK && stream->avail_in == 0 && stream->avail_out > 0)) {
            return orr_fail(r->error, ORR_CODE_FILE_TRUNCATED, "%s: the packed bytes end early", r->name);
        }
        if (status != Z_OK && status != Z_STREAM_END) {
            return orr_fail(r->error, ORR_CODE_FILE_COMPRESSION, "%s: damaged packed bytes: %s", r->name,
                            stream->msg ? stream->msg : "zlib cannot read them");
        }
    }
    bytes->size = used;
    return ORR_OK;
}

static orr_result unpack(const reader *r, const uint8_t *data, size_t size, orr_bytes *bytes)
{
    *bytes = (orr_bytes){0};
    if (size > UINT32_MAX) {
        return orr_fail(r->error, ORR_CODE_FILE_TOO_LARGE, "%s: expected less than 4 GiB", r->name);
    }
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    if (inflateInit2(&stream, MAX_WBITS + 32) != Z_OK) { // + 32: zlib or gzip, by the head
        return orr_fail(r->error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", r->name);
    }
    orr_result result = inflate_all(r, &stream, bytes);
    inflateEnd(&stream);
    return result;
}

// ---- values ----

static orr_result fail_value(const reader *r, const char *key, const char *expected)
{
    return orr_fail(r->error, ORR_CODE_FILE_VALUE, "%s: %s: expected %s", r->name, key, expected);
}

// a number in low .. high; `fallback` when the key is absent
static orr_result read_number(const reader *r, const orr_msgpack_value *map, const char *key, double low,
                              double high, double *number)
{
    orr_msgpack_value value;
    if (!orr_msgpack_find(map, key, &value) || value.kind == ORR_MSGPACK_NIL) {
        return ORR_OK;
    }
    if (value.kind != ORR_MSGPACK_NUMBER || !(value.number >= low && value.number <= high)) {
        return orr_fail(r->error, ORR_CODE_FILE_VALUE, "%s: %s: expected a number from %g to %g", r->name,
                        key, low, high);
    }
    *number = value.number;
    return ORR_OK;
}

static orr_result read_numbers(const reader *r, const orr_msgpack_value *map, const char *key, size_t count,
                               double *numbers)
{
    orr_msgpack_value value;
    if (!orr_msgpack_find(map, key, &value)) {
        return ORR_OK;
    }
    const uint8_t *at = value.data;
    bool good = value.kind == ORR_MSGPACK_ARRAY && value.count == count;
    for (size_t i = 0; good && i < count; i++) {
        orr_msgpack_value item;
        orr_msgpack_next(&value, &at, &item);
        good = item.kind == ORR_MSGPACK_NUMBER && isfinite(item.number);
        numbers[i] = good ? item.number : 0.0;
    }
    return good ? ORR_OK : fail_value(r, key, "an array of finite numbers, as many as the format has");
}

static bool text_is(const orr_msgpack_value *value, const char *text)
{
    return value->kind == ORR_MSGPACK_TEXT && value->count == strlen(text) &&
           strncasecmp((const char *)value->data, text, value->count) == 0;
}

// ---- the field ----

static orr_result read_kind(const reader *r, const orr_msgpack_value *snapshot, orr_field_kind *kind)
{
    static const char *const modes[] = {[ORR_FIELD_IMAGE] = "image",
                                        [ORR_FIELD_SDF] = "sdf",
                                        [ORR_FIELD_NERF] = "nerf",
                                        [ORR_FIELD_VOLUME] = "volume"};
    orr_msgpack_value mode, nerf;
    if (!orr_msgpack_find(snapshot, "mode", &mode)) {
        // the first versions do not store the mode, and only radiance fields have this key
        *kind = ORR_FIELD_NERF;
        return orr_msgpack_find(snapshot, "nerf", &nerf) ? ORR_OK : fail_value(r, "snapshot.mode", "a mode");
    }
    for (int i = 0; i < (int)(sizeof modes / sizeof modes[0]); i++) {
        if (text_is(&mode, modes[i])) {
            *kind = (orr_field_kind)i;
            return ORR_OK;
        }
    }
    return fail_value(r, "snapshot.mode", "image, sdf, nerf or volume");
}

// everything at the top that is configuration, as the text of a configuration file
static char *config_text(const orr_msgpack_value *root)
{
    static const char *const others[] = {"snapshot", "orrery", "parent"};
    cJSON *json = cJSON_CreateObject();
    const uint8_t *at = root->data;
    for (size_t i = 0; i < root->count; i++) {
        orr_msgpack_value name, value;
        orr_msgpack_next(root, &at, &name);
        orr_msgpack_next(root, &at, &value);
        bool other = name.kind != ORR_MSGPACK_TEXT || name.count > 255;
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
            other |= text_is(&name, others[k]);
        }
        char key[256] = "";
        if (!other) {
            memcpy(key, name.data, name.count);
        }
        cJSON *item = other ? NULL : orr_msgpack_json(&value);
        if (item && !cJSON_AddItemToObject(json, key, item)) {
            cJSON_Delete(item);
        }
    }
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

// What a snapshot stores of its data set: aabb_scale, and the scale and offset of its transforms.json.
// Colours that are exponential (of photos in high dynamic range) and inputs beside position and direction are
// not ours.
static orr_result read_dataset(const reader *r, const orr_msgpack_value *nerf, double *aabb_scale,
                               double to_unit[12])
{
    orr_msgpack_value dataset, flag;
    if (!orr_msgpack_find(nerf, "dataset", &dataset)) {
        return ORR_OK;
    }
    double extra = 0.0, scale = 0.0, offset[3] = {0.5, 0.5, 0.5};
    ORR_TRY(read_number(r, &dataset, "aabb_scale", 1.0, 128.0, aabb_scale));
    ORR_TRY(read_number(r, &dataset, "n_extra_learnable_dims", 0.0, 1e6, &extra));
    if (extra > 0.0) {
        return fail_value(r, "snapshot.nerf.dataset.n_extra_learnable_dims", "0: no inputs for each photo");
    }
    if (orr_msgpack_find(&dataset, "is_hdr", &flag) && flag.number != 0.0) {
        return fail_value(r, "snapshot.nerf.dataset.is_hdr", "false: photos in 8 bits");
    }
    ORR_TRY(read_number(r, &dataset, "scale", 1e-30, 1e30, &scale));
    ORR_TRY(read_numbers(r, &dataset, "offset", 3, offset));
    bool cycled = !orr_msgpack_find(&dataset, "from_mitsuba", &flag) || flag.number == 0.0;
    if (scale > 0.0 && cycled) {
        float map[12];
        orr_unit_map(scale, offset, map);
        for (int i = 0; i < 12; i++) {
            to_unit[i] = (double)map[i];
        }
    }
    return ORR_OK;
}

static orr_result read_nerf(const reader *r, const orr_msgpack_value *snapshot, int *aabb_scale,
                            double to_unit[12])
{
    orr_msgpack_value nerf;
    double scale = 1.0;
    if (orr_msgpack_find(snapshot, "nerf", &nerf)) {
        ORR_TRY(read_dataset(r, &nerf, &scale, to_unit));
        ORR_TRY(read_number(r, &nerf, "aabb_scale", 1.0, 128.0, &scale));
    }
    *aabb_scale = (int)scale;
    return ORR_OK;
}

// Float values from bytes of either width.
static void take_floats(const uint8_t **at, bool halves, float *values, int64_t count)
{
    if (!halves && count > 0) {
        memcpy(values, *at, (size_t)count * sizeof *values);
    }
    for (int64_t i = 0; halves && i < count; i++) {
        values[i] = orr_half_to_float((uint16_t)((*at)[2 * i] | (*at)[2 * i + 1] << 8));
    }
    *at += count * (halves ? 2 : 4);
}

static bool all_finite(const float *values, int64_t count)
{
    bool finite = true;
    for (int64_t i = 0; i < count; i++) {
        finite &= isfinite(values[i]) != 0;
    }
    return finite;
}

static orr_result fill_field(const reader *r, orr_field *field, const orr_msgpack_value *binary, bool halves)
{
    const orr_field_parts *parts = orr_field_parts_of(field);
    float *const into[3] = {parts->network_parameters, parts->rgb_network_parameters, parts->table};
    const int64_t counts[3] = {parts->network.parameter_count, parts->rgb_network.parameter_count,
                               parts->encoding.parameter_count};
    const uint8_t *at = binary->data;
    for (int i = 0; i < 3; i++) {
        take_floats(&at, halves, into[i], counts[i]);
        if (!all_finite(into[i], counts[i])) {
            return fail_value(r, "snapshot.params_binary", "finite numbers");
        }
    }
    orr_field_refresh(field, NULL, NULL, NULL);
    return ORR_OK;
}

static orr_result read_field(const reader *r, const orr_msgpack_value *snapshot, const orr_field_desc *desc,
                             orr_field_model *model)
{
    orr_msgpack_value type, binary;
    if (!orr_msgpack_find(snapshot, "params_binary", &binary) || binary.kind != ORR_MSGPACK_BYTES) {
        return fail_value(r, "snapshot.params_binary", "the parameters in bytes");
    }
    bool typed = orr_msgpack_find(snapshot, "params_type", &type),
         halves = !typed || text_is(&type, "__half");
    if (!halves && !text_is(&type, "float")) {
        return fail_value(r, "snapshot.params_type", "float or __half");
    }
    int64_t parameters;
    ORR_TRY(orr_field_parameters(desc, &parameters, r->error)); // before anything of that size is allocated
    size_t width = halves ? 2 : 4;
    if (binary.count % width != 0 || binary.count / width != (size_t)parameters) {
        return orr_fail(
            r->error, ORR_CODE_FILE_VALUE,
            "%s: snapshot.params_binary: %zu bytes: expected %lld parameters of %zu bytes for this "
            "configuration",
            r->name, binary.count, (long long)parameters, width);
    }
    ORR_TRY(orr_field_create(desc, &model->field, r->error));
    return fill_field(r, model->field, &binary, halves);
}

static orr_result read_density_grid(const reader *r, const orr_msgpack_value *snapshot,
                                    orr_field_model *model)
{
    orr_msgpack_value binary;
    if (!orr_msgpack_find(snapshot, "density_grid_binary", &binary)) {
        return ORR_OK;
    }
    double side = 128.0;
    ORR_TRY(read_number(r, snapshot, "density_grid_size", 128.0, 128.0, &side));
    size_t cascade = 2 * (size_t)CASCADE_CELLS;
    if (binary.kind == ORR_MSGPACK_BYTES && binary.count == 0) {
        return ORR_OK; // of a field that was never trained
    }
    if (binary.kind != ORR_MSGPACK_BYTES || binary.count % cascade != 0 ||
        binary.count / cascade > CASCADES_MAX) {
        return fail_value(r, "snapshot.density_grid_binary", "128^3 halves for each of 1 to 8 cascades");
    }
    model->density_cells = (int64_t)(binary.count / 2);
    ORR_ALLOC(model->density_grid, model->density_cells, r->name, r->error);
    const uint8_t *at = binary.data;
    take_floats(&at, true, model->density_grid, model->density_cells);
    return all_finite(model->density_grid, model->density_cells)
               ? ORR_OK
               : fail_value(r, "snapshot.density_grid_binary", "finite numbers");
}

// ---- what is ours ----

static orr_result read_training(const reader *r, const orr_msgpack_value *own, orr_model_training *training)
{
    orr_msgpack_value map;
    if (!orr_msgpack_find(own, "training", &map)) {
        return ORR_OK;
    }
    double batch = 0.0, holdout = 0.0, seed = 0.0, exposures = 0.0;
    ORR_TRY(read_number(r, &map, "batch", 0.0, 1 << 22, &batch));
    ORR_TRY(read_number(r, &map, "holdout", -2.0, 1e6, &holdout));
    ORR_TRY(read_number(r, &map, "seed", 0.0, UINT32_MAX, &seed));
    ORR_TRY(read_number(r, &map, "exposures", 0.0, 1.0, &exposures));
    *training = (orr_model_training){(int)batch, (int)holdout, (uint32_t)seed, true, exposures > 0.0};
    return ORR_OK;
}

static orr_result read_own(const reader *r, const orr_msgpack_value *root, orr_field_model *model)
{
    orr_msgpack_value own, state;
    if (!orr_msgpack_find(root, "orrery", &own)) {
        return ORR_OK;
    }
    double width = 0.0, height = 0.0;
    ORR_TRY(read_numbers(r, &own, "origin", 3, model->origin));
    ORR_TRY(read_numbers(r, &own, "to_unit", 12, model->to_unit));
    ORR_TRY(read_number(r, &own, "size", 1e-30, 1e30, &model->size));
    ORR_TRY(read_number(r, &own, "width", 0.0, SIDE_MAX, &width));
    ORR_TRY(read_number(r, &own, "height", 0.0, SIDE_MAX, &height));
    ORR_TRY(read_training(r, &own, &model->training));
    model->width = (int)width;
    model->height = (int)height;
    if (!orr_msgpack_find(&own, "state", &state)) {
        return ORR_OK;
    }
    if (state.kind != ORR_MSGPACK_BYTES) {
        return fail_value(r, "orrery.state", "bytes");
    }
    ORR_ALLOC(model->state.data, state.count, r->name, r->error);
    memcpy(model->state.data, state.data, state.count);
    model->state.size = state.count;
    return ORR_OK;
}

static orr_result read_sampling(const reader *r, const orr_msgpack_value *root, orr_field_desc *desc)
{
    orr_msgpack_value own, sampling;
    if (!orr_msgpack_find(root, "orrery", &own) || !orr_msgpack_find(&own, "sampling", &sampling)) {
        return ORR_OK;
    }
    if (desc->kind != ORR_FIELD_NERF || !text_is(&sampling, "proposal")) {
        return fail_value(r, "orrery.sampling", "proposal, of a nerf");
    }
    desc->unbounded = true;
    return ORR_OK;
}

static orr_result read_proposal(const reader *r, const orr_msgpack_value *root, orr_field *field)
{
    orr_proposal *proposal = orr_field_parts_of(field)->proposal;
    orr_msgpack_value own, binary;
    if (!proposal) {
        return ORR_OK;
    }
    if (!orr_msgpack_find(root, "orrery", &own) || !orr_msgpack_find(&own, "proposal_binary", &binary) ||
        binary.kind != ORR_MSGPACK_BYTES || binary.count != 4 * (size_t)orr_proposal_parameters(proposal)) {
        return fail_value(r, "orrery.proposal_binary", "the parameters of the proposals in bytes");
    }
    const uint8_t *at = binary.data;
    int64_t network = proposal->network.parameter_count, table = proposal->encoding.parameter_count;
    take_floats(&at, false, proposal->network_parameters, network);
    take_floats(&at, false, proposal->table, table);
    if (!all_finite(proposal->network_parameters, network) || !all_finite(proposal->table, table)) {
        return fail_value(r, "orrery.proposal_binary", "finite numbers");
    }
    orr_proposal_refresh(proposal, NULL, NULL);
    return ORR_OK;
}

static orr_result read_config(const reader *r, const orr_msgpack_value *root, orr_field_desc *desc)
{
    ORR_TRY(orr_field_config_base(desc->kind, &desc->config, r->error));
    char *text = config_text(root);
    if (!text) {
        return orr_fail(r->error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", r->name);
    }
    orr_result result = orr_field_config_parse(text, r->name, &desc->config, r->error);
    cJSON_free(text);
    return result;
}

static orr_result read_model(const reader *r, const uint8_t *data, size_t size, orr_field_model *model)
{
    orr_msgpack_value root, snapshot;
    if (!orr_msgpack_open(data, size, &root) || root.kind != ORR_MSGPACK_MAP) {
        return orr_fail(r->error, ORR_CODE_FILE_HEADER, "%s: not a model, or cut short: expected MessagePack",
                        r->name);
    }
    if (!orr_msgpack_find(&root, "snapshot", &snapshot) || snapshot.kind != ORR_MSGPACK_MAP) {
        return fail_value(r, "snapshot", "a map");
    }
    orr_field_desc desc = {.isa = r->isa, .machine = r->machine};
    double steps = 0.0;
    ORR_TRY(read_kind(r, &snapshot, &desc.kind));
    ORR_TRY(read_nerf(r, &snapshot, &desc.aabb_scale, model->to_unit));
    ORR_TRY(read_number(r, &snapshot, "training_step", 0.0, INT32_MAX, &steps));
    ORR_TRY(read_number(r, &snapshot, "loss", -1e30, 1e30, &model->loss));
    model->steps = (int64_t)steps;
    model->size = 1.0;
    ORR_TRY(read_own(r, &root, model));
    if (desc.kind == ORR_FIELD_IMAGE && model->width > 0) {
        desc.desired_resolution = 0.5 * (model->width > model->height ? model->width : model->height);
    }
    orr_result result = read_sampling(r, &root, &desc);
    if (result == ORR_OK) {
        result = read_config(r, &root, &desc);
    }
    if (result == ORR_OK) {
        result = read_field(r, &snapshot, &desc, model);
    }
    if (result == ORR_OK) {
        result = read_proposal(r, &root, model->field);
    }
    orr_field_config_free(&desc.config);
    ORR_TRY(result);
    return desc.kind == ORR_FIELD_NERF ? read_density_grid(r, &snapshot, model) : ORR_OK;
}

orr_result orr_field_model_read(const void *data, size_t size, const char *name, orr_isa isa,
                                orr_mlp_machine machine, orr_field_model *model, orr_error *error)
{
    *model = (orr_field_model){0};
    const reader r = {name, isa, machine, error};
    const uint8_t *bytes = data;
    // heads of zlib (its method and window) and of gzip; a map begins with 0x80 to 0x8f, 0xde or 0xdf
    bool packed = size > 2 && (bytes[0] == 0x78 || (bytes[0] == 0x1f && bytes[1] == 0x8b));
    orr_bytes unpacked = {0};
    orr_result result = packed ? unpack(&r, bytes, size, &unpacked) : ORR_OK;
    if (result == ORR_OK) {
        result = read_model(&r, packed ? unpacked.data : bytes, packed ? unpacked.size : size, model);
    }
    orr_free(unpacked.data);
    if (result != ORR_OK) {
        orr_field_model_free(model);
    }
    return result;
}

orr_result orr_field_model_load(const char *path, orr_isa isa, orr_mlp_machine machine,
                                orr_field_model *model, orr_error *error)
{
    *model = (orr_field_model){0};
    orr_bytes bytes;
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_result result = orr_field_model_read(bytes.data, bytes.size, path, isa, machine, model, error);
    orr_free(bytes.data);
    return result;
}
