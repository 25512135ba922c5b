// Tests of model files: what was saved comes back with the same bits, and nothing that is broken gets in.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/maths/half.h"
#include "engine/maths/rng.h"
#include "neural/ingp/ingp.h"
#include "neural/ingp/msgpack.h"
#include "tests/physics/golden_numbers.h"
#include "tests/support/support.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static orr_isa isa;

static orr_field *make_field(orr_field_kind kind)
{
    orr_field_desc desc = {.kind = kind, .desired_resolution = 64.0, .seed = 1, .isa = isa};
    desc.aabb_scale = kind == ORR_FIELD_NERF ? 4 : 1;
    assert_ok(orr_field_config_base(kind, &desc.config, &error));
    assert_ok(orr_field_config_parse("{\"encoding\": {\"n_levels\": 4, \"log2_hashmap_size\": 8}}", "test",
                                     &desc.config, &error));
    orr_field *field;
    assert_ok(orr_field_create(&desc, &field, &error));
    const orr_field_parts *parts = orr_field_parts_of(field);
    for (int64_t i = 0; i < parts->encoding.parameter_count; i++) {
        parts->table[i] = 0.5f - (float)((i * 7919) % 1000) / 1000.0f;
    }
    orr_field_config_free(&desc.config);
    orr_field_refresh(field, NULL, NULL, NULL);
    return field;
}

static void assert_same_parameters(const orr_field *a, const orr_field *b)
{
    const orr_field_parts *p = orr_field_parts_of(a), *q = orr_field_parts_of(b);
    assert_int_equal(p->encoding.parameter_count, q->encoding.parameter_count);
    assert_int_equal(p->network.parameter_count, q->network.parameter_count);
    assert_int_equal(p->rgb_network.parameter_count, q->rgb_network.parameter_count);
    assert_memory_equal(p->inference_table, q->inference_table,
                        (size_t)p->encoding.parameter_count * sizeof(float));
    assert_memory_equal(p->inference_network, q->inference_network,
                        (size_t)p->network.parameter_count * sizeof(float));
    if (p->rgb_network.parameter_count) {
        assert_memory_equal(p->inference_rgb_network, q->inference_rgb_network,
                            (size_t)p->rgb_network.parameter_count * sizeof(float));
    }
}

static void assert_same_values(const orr_field *a, const orr_field *b)
{
    _Alignas(ORR_ALIGNMENT) float positions[3 * ORR_SAMPLES],
        values[2][ORR_NERF_FEATURES * ORR_SAMPLES] = {{0}};
    for (uint32_t i = 0; i < 3 * ORR_SAMPLES; i++) {
        positions[i] = (float)(uint32_t)(orr_random_bits(1, 2, i) >> 40) * 0x1p-24f;
    }
    float *scratch = orr_alloc(orr_field_scratch_floats(a), sizeof *scratch);
    orr_field_values(a, positions, scratch, values[0]);
    orr_field_values(b, positions, scratch, values[1]);
    orr_free(scratch);
    assert_memory_equal(values[0], values[1], sizeof values[0]);
}

static void every_kind_comes_back_with_the_same_bits(void **state)
{
    (void)state;
    static const char *const names[] = {"model.ingp", "model.msgpack"};
    for (int kind = ORR_FIELD_IMAGE; kind <= ORR_FIELD_VOLUME; kind++) {
        for (int form = 0; form < 2; form++) {
            orr_field_model saved = {.field = make_field((orr_field_kind)kind),
                                     .origin = {-1.5, 0.25, 1e-3},
                                     .size = 2.75,
                                     .width = kind == ORR_FIELD_IMAGE ? 128 : 0,
                                     .height = kind == ORR_FIELD_IMAGE ? 64 : 0,
                                     .to_unit = {0.33, 0, 0, 0.5, 0, 1.0 / 3.0},
                                     .steps = 1234,
                                     .training = {4096, 8, 3, true, kind == ORR_FIELD_NERF},
                                     .loss = 0.125};
            uint8_t bytes[] = {1, 2, 3, 0, 255};
            saved.state = form ? (orr_bytes){0} : (orr_bytes){bytes, sizeof bytes};
            const char *path = scratch_path(names[form]);
            assert_ok(orr_field_model_save(&saved, path, &error));
            orr_field_model model;
            assert_ok(orr_field_model_load(path, isa, ORR_MLP_FP32, &model, &error));
            assert_int_equal(orr_field_kind_of(model.field), kind);
            const orr_field_desc *a = orr_field_describe(saved.field), *b = orr_field_describe(model.field);
            assert_int_equal(a->aabb_scale, b->aabb_scale);
            assert_true(a->config.encoding.per_level_scale == b->config.encoding.per_level_scale);
            assert_same_parameters(saved.field, model.field);
            assert_same_values(saved.field, model.field);
            assert_memory_equal(model.origin, saved.origin, sizeof saved.origin);
            assert_memory_equal(model.to_unit, saved.to_unit, sizeof saved.to_unit);
            assert_true(model.size == 2.75 && model.loss == 0.125);
            assert_true(model.width == saved.width && model.height == saved.height && model.steps == 1234);
            assert_int_equal(model.state.size, saved.state.size);
            assert_true(model.training.known && model.training.batch == 4096 && model.training.holdout == 8 &&
                        model.training.seed == 3 && model.training.exposures == saved.training.exposures);
            assert_true(form || memcmp(model.state.data, bytes, sizeof bytes) == 0);
            orr_field_model_free(&model);
            orr_field_destroy(saved.field);
        }
    }
}

static void an_occupancy_grid_is_kept_in_halves(void **state)
{
    (void)state;
    orr_field_model saved = {.field = make_field(ORR_FIELD_NERF), .size = 1.0, .density_cells = 2 << 21};
    saved.density_grid = orr_alloc((size_t)saved.density_cells, sizeof(float));
    assert_non_null(saved.density_grid);
    for (int64_t i = 0; i < saved.density_cells; i++) {
        saved.density_grid[i] = i % 3 == 0 ? -1.0f : (float)(i % 2048) / 1024.0f; // all of them halves
    }
    const char *path = scratch_path("grid.ingp");
    assert_ok(orr_field_model_save(&saved, path, &error));
    orr_field_model model;
    assert_ok(orr_field_model_load(path, isa, ORR_MLP_FP32, &model, &error));
    assert_int_equal(model.density_cells, saved.density_cells);
    assert_memory_equal(model.density_grid, saved.density_grid, (size_t)saved.density_cells * sizeof(float));
    orr_field_model_free(&model);
    orr_field_model_free(&saved);
}

static void halves_are_rounded_to_the_nearest(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x7c00;
         h++) { // every positive one comes back, and so does the next from just above the middle
        float value = orr_half_to_float((uint16_t)h), next = orr_half_to_float((uint16_t)(h + 1));
        assert_int_equal(orr_half_from_float(value), h);
        assert_int_equal(orr_half_from_float(-value), h | 0x8000);
        if (h < 0x7bff) {
            float middle = 0.5f * (value + next);
            assert_int_equal(orr_half_from_float(nextafterf(middle, next)), h + 1);
            assert_int_equal(orr_half_from_float(nextafterf(middle, value)), h);
            assert_int_equal(orr_half_from_float(middle), h + (h & 1)); // ties to even
        }
    }
    assert_int_equal(orr_half_from_float(1e6f), 0x7c00);
    assert_true(isnan(orr_half_to_float(orr_half_from_float(NAN))));
    assert_true(orr_half_to_float(0x3c00) == 1.0f && orr_half_to_float(1) == 0x1p-24f);
}

// ---- a snapshot put together here, as another program writes it ----

typedef struct buffer {
    uint8_t data[1 << 20];
    size_t size;
} buffer;

static void put(void *context, const void *data, size_t size)
{
    buffer *b = context;
    assert_true(b->size + size <= sizeof b->data);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static const char foreign_config[] =
    "{\"parent\": \"base.json\", \"loss\": {\"otype\": \"L2\"},"
    "\"optimizer\": {\"otype\": \"Adam\", \"learning_rate\": 1e-2, \"beta1\": 0.9, \"beta2\": 0.99, "
    "\"epsilon\": 1e-15},"
    "\"encoding\": {\"otype\": \"HashGrid\", \"n_levels\": 4, \"n_features_per_level\": 2, "
    "\"log2_hashmap_size\": 8,"
    " \"base_resolution\": 16, \"per_level_scale\": 1.5},"
    "\"network\": {\"otype\": \"FullyFusedMLP\", \"activation\": \"ReLU\", \"output_activation\": \"None\","
    " \"n_neurons\": 16, \"n_hidden_layers\": 1}}";
// 8 features padded to 16 x 16, 16 x 16 for the output, four levels of 2^8 entries of 2
enum { FOREIGN_COUNT = 16 * 16 + 16 * 16 + 4 * 256 * 2 };

static uint16_t foreign_half(int i)
{
    return orr_half_from_float((float)(i % 600 - 300) / 256.0f);
}

// pairs behind the configuration: a snapshot with `count` halves, whose type is `type`, mode `mode`
static void make_foreign(buffer *b, int count, const char *type, const char *mode)
{
    b->size = 0;
    const orr_msgpack_writer w = {put, b};
    cJSON *config = cJSON_Parse(foreign_config);
    assert_non_null(config);
    orr_msgpack_put_map(&w, (uint32_t)cJSON_GetArraySize(config) + 1);
    for (const cJSON *item = config->child; item; item = item->next) {
        orr_msgpack_put_text(&w, item->string);
        orr_msgpack_put_json(&w, item);
    }
    cJSON_Delete(config);
    orr_msgpack_put_text(&w, "snapshot");
    orr_msgpack_put_map(&w, 3);
    orr_msgpack_put_text(&w, "mode");
    orr_msgpack_put_text(&w, mode);
    orr_msgpack_put_text(&w, "params_type");
    orr_msgpack_put_text(&w, type);
    orr_msgpack_put_text(&w, "params_binary");
    orr_msgpack_put_bytes(&w, (uint32_t)count * 2);
    for (int i = 0; i < count; i++) {
        const uint16_t half = foreign_half(i);
        put(b, &half, sizeof half);
    }
}

static void a_foreign_snapshot_in_halves_is_read(void **state)
{
    (void)state;
    static buffer b;
    make_foreign(&b, FOREIGN_COUNT, "__half", "Sdf");
    static uint8_t packed[1 << 20];
    z_stream stream = {
        .next_in = b.data, .avail_in = (uInt)b.size, .next_out = packed, .avail_out = sizeof packed};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK); // gzip
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    for (int form = 0; form < 2; form++) {
        orr_field_model model;
        assert_ok(orr_field_model_read(form ? packed : b.data, form ? stream.total_out : b.size, "foreign",
                                       isa, ORR_MLP_FP32, &model, &error));
        const orr_field_parts *parts = orr_field_parts_of(model.field);
        assert_int_equal(orr_field_kind_of(model.field), ORR_FIELD_SDF);
        assert_int_equal(parts->network.parameter_count, 512);
        assert_true(parts->network_parameters[0] == -300.0f / 256.0f);
        assert_true(parts->network_parameters[511] == orr_half_to_float(foreign_half(511)));
        assert_true(parts->table[0] == orr_half_to_float(foreign_half(512)));
        assert_true(parts->table[2047] == orr_half_to_float(foreign_half(2559)));
        assert_true(model.size == 1.0 && model.state.size == 0);
        orr_field_model_free(&model);
    }
    deflateEnd(&stream);
}

static void what_unpacks_to_far_more_than_its_size_is_refused(void **state)
{
    (void)state;
    enum { ZEROS = 256, PIECE = 1 << 20 };
    uint8_t *piece = orr_alloc_zero(PIECE, 1), *packed = orr_alloc(PIECE, 1);
    z_stream stream = {.next_out = packed, .avail_out = PIECE};
    assert_int_equal(deflateInit(&stream, 6), Z_OK);
    for (int i = 0; i < ZEROS; i++) {
        stream.next_in = piece;
        stream.avail_in = PIECE;
        assert_int_equal(deflate(&stream, i == ZEROS - 1 ? Z_FINISH : Z_NO_FLUSH),
                         i == ZEROS - 1 ? Z_STREAM_END : Z_OK);
    }
    orr_field_model model;
    orr_error error;
    assert_int_not_equal(
        orr_field_model_read(packed, stream.total_out, "zeros", isa, ORR_MLP_FP32, &model, &error), ORR_OK);
    assert_int_equal(error.code, ORR_CODE_FILE_TOO_LARGE);
    deflateEnd(&stream);
    orr_free(piece);
    orr_free(packed);
}

// The value at a path of keys, such as "snapshot.nerf.rgb".
static orr_msgpack_value find_path(const orr_msgpack_value *root, const char *path)
{
    orr_msgpack_value value = *root;
    char copy[128];
    snprintf(copy, sizeof copy, "%s", path);
    for (const char *key = strtok(copy, "."); key; key = strtok(NULL, ".")) {
        orr_msgpack_value inner;
        if (!orr_msgpack_find(&value, key, &inner)) {
            fail_msg("the model lacks %s", path);
        }
        value = inner;
    }
    return value;
}

static void what_instant_ngp_requires_is_written(void **state)
{
    (void)state;
    // those that its loader takes without a default
    static const char *const paths[] = {"loss.otype",
                                        "optimizer.otype",
                                        "encoding.otype",
                                        "encoding.per_level_scale",
                                        "network.otype",
                                        "network.n_neurons",
                                        "network.n_hidden_layers",
                                        "dir_encoding.otype",
                                        "rgb_network.n_neurons",
                                        "rgb_network.n_hidden_layers",
                                        "snapshot.version",
                                        "snapshot.mode",
                                        "snapshot.training_step",
                                        "snapshot.loss",
                                        "snapshot.aabb.min",
                                        "snapshot.aabb.max",
                                        "snapshot.params_type",
                                        "snapshot.params_binary",
                                        "snapshot.density_grid_size",
                                        "snapshot.density_grid_binary",
                                        "snapshot.nerf.aabb_scale",
                                        "snapshot.nerf.rgb.rays_per_batch",
                                        "snapshot.nerf.rgb.measured_batch_size",
                                        "snapshot.nerf.rgb.measured_batch_size_before_compaction",
                                        "snapshot.nerf.dataset.n_images",
                                        "snapshot.nerf.dataset.xforms",
                                        "snapshot.nerf.dataset.render_aabb.min",
                                        "snapshot.nerf.dataset.render_aabb.max",
                                        "snapshot.nerf.dataset.up",
                                        "snapshot.nerf.dataset.offset",
                                        "snapshot.nerf.dataset.envmap_resolution",
                                        "snapshot.nerf.dataset.scale",
                                        "snapshot.nerf.dataset.aabb_scale",
                                        "snapshot.nerf.dataset.from_mitsuba"};
    orr_field_model saved = {.field = make_field(ORR_FIELD_NERF),
                             .size = 1.0,
                             .density_cells = 3 << 21,
                             .to_unit = {0, 0.25, 0, 0.5, 0, 0, 0.25, 0.75, 0.25, 0, 0, 0.125}};
    saved.density_grid = orr_alloc_zero((size_t)saved.density_cells, sizeof(float));
    const char *path = scratch_path("requested.msgpack");
    assert_ok(orr_field_model_save(&saved, path, &error));
    orr_bytes bytes;
    assert_ok(orr_file_read(path, &bytes, &error));
    orr_msgpack_value root;
    assert_true(orr_msgpack_open(bytes.data, bytes.size, &root));
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        find_path(&root, paths[i]);
    }
    assert_true(find_path(&root, "snapshot.nerf.dataset.scale").number == 0.25);
    orr_msgpack_value offset = find_path(&root, "snapshot.nerf.dataset.offset"), number;
    static const double offsets[3] = {0.125, 0.5, 0.75};
    const uint8_t *at = offset.data;
    for (int i = 0; i < 3; i++) {
        orr_msgpack_next(&offset, &at, &number);
        assert_true(number.number == offsets[i]);
    }
    orr_free(bytes.data);
    orr_field_model_free(&saved);
}

// A radiance field whose data set has one more pair.
static void make_dataset(buffer *b, const char *key, double value)
{
    b->size = 0;
    const orr_msgpack_writer w = {put, b};
    orr_msgpack_put_map(&w, 1);
    orr_msgpack_put_text(&w, "snapshot");
    orr_msgpack_put_map(&w, 1);
    orr_msgpack_put_text(&w, "nerf");
    orr_msgpack_put_map(&w, 1);
    orr_msgpack_put_text(&w, "dataset");
    orr_msgpack_put_map(&w, 1);
    orr_msgpack_put_text(&w, key);
    orr_msgpack_put_number(&w, value);
}

// ---- snapshots that NumPy wrote and evaluated: tests/golden/record_snapshots.py ----

static orr_field_model load_golden(const char *name)
{
    const char *path = source_path("tests/golden/snapshots/%s.ingp", name);
    orr_field_model model;
    assert_ok(orr_field_model_load(path, isa, ORR_MLP_FP32, &model, &error));
    assert_int_equal(model.steps, 1234);
    return model;
}

// The network's outputs at the positions that lead each row of `columns` numbers.
static void values_of_golden(const orr_field *field, const double *rows, int columns, float *output)
{
    _Alignas(ORR_ALIGNMENT) float positions[3 * ORR_SAMPLES];
    for (int i = 0; i < 3 * ORR_SAMPLES; i++) {
        positions[i] = (float)rows[i % ORR_SAMPLES * columns + i / ORR_SAMPLES];
    }
    float *scratch = orr_alloc(orr_field_scratch_floats(field), sizeof *scratch);
    orr_field_values(field, positions, scratch, output);
    orr_free(scratch);
}

// Outputs are of the order of 1 to 10; ours are made in single precision, and positions between the vertices
// of a level of 4096 are good to 2e-4 there.
static void assert_golden(const float *got, const double *rows, int columns, int column)
{
    for (int i = 0; i < ORR_SAMPLES; i++) {
        assert_float_equal(got[i], rows[i * columns + column], 2e-3);
    }
}

static void a_snapshot_of_a_radiance_field_means_what_it_means_elsewhere(void **state)
{
    (void)state;
    enum { COLUMNS = 10, INPUTS = 32 };
    golden_numbers golden = golden_numbers_load("snapshots/nerf");
    const double *rows = golden_numbers_take(&golden, COLUMNS * ORR_SAMPLES);
    orr_field_model model = load_golden("nerf");
    const orr_field_parts *parts = orr_field_parts_of(model.field);
    assert_int_equal(orr_field_describe(model.field)->aabb_scale, 2);
    _Alignas(ORR_ALIGNMENT) float inputs[INPUTS * ORR_SAMPLES], directions[3 * ORR_SAMPLES],
        colours[3 * ORR_SAMPLES];
    values_of_golden(model.field, rows, COLUMNS, inputs);
    assert_golden(inputs, rows, COLUMNS, 6);
    for (int i = 0; i < 3 * ORR_SAMPLES; i++) {
        directions[i] = (float)(0.5 * rows[i % ORR_SAMPLES * COLUMNS + 3 + i / ORR_SAMPLES] + 0.5);
    }
    parts->kernels->forward(&parts->dir_encoding, NULL, directions, inputs + ORR_NERF_FEATURES * ORR_SAMPLES);
    orr_mlp_forward(parts->rgb_network_weights, inputs, colours, NULL);
    for (int c = 0; c < 3; c++) {
        assert_golden(colours + c * ORR_SAMPLES, rows, COLUMNS, 7 + c);
    }
    // cells in Morton order, and the map of its transforms.json: scale 0.25, offset 0.25 0.5 0.75, axes
    // cycled
    assert_int_equal(model.density_cells, 2 << 21);
    for (int64_t i = 0; i < model.density_cells; i++) {
        assert_true(model.density_grid[i] == (i % 4099 == 0 ? 0.5f : 0.0f));
    }
    const double to_unit[12] = {0, 0.25, 0, 0.5, 0, 0, 0.25, 0.75, 0.25, 0, 0, 0.25};
    assert_memory_equal(model.to_unit, to_unit, sizeof to_unit);
    orr_field_model_free(&model);
    orr_free(golden.numbers);
}

static void a_snapshot_pads_its_features_with_ones(void **state)
{
    (void)state;
    golden_numbers golden = golden_numbers_load("snapshots/sdf");
    const double *rows = golden_numbers_take(&golden, 4 * ORR_SAMPLES);
    orr_field_model model = load_golden("sdf");
    _Alignas(ORR_ALIGNMENT) float distances[ORR_SAMPLES];
    values_of_golden(model.field, rows, 4, distances);
    assert_golden(distances, rows, 4, 3);
    orr_field_model_free(&model);
    orr_free(golden.numbers);
}

static void assert_refused(const void *data, size_t size, const char *because)
{
    orr_field_model model;
    orr_error why = {0};
    orr_result result = orr_field_model_read(data, size, "bad.ingp", isa, ORR_MLP_FP32, &model, &why);
    assert_int_equal(result, ORR_ERROR_FORMAT);
    assert_null(model.field);
    if (!strstr(why.message, "bad.ingp") || !strstr(why.message, because) || strchr(why.message, '\n')) {
        fail_msg("expected the file and \"%s\" in one line: %s", because, why.message);
    }
}

static void broken_models_are_refused_with_one_line(void **state)
{
    (void)state;
    static buffer b;
    make_foreign(&b, FOREIGN_COUNT - 1, "__half", "sdf");
    assert_refused(b.data, b.size, "expected 2560 parameters");
    make_foreign(&b, FOREIGN_COUNT, "float", "sdf");
    assert_refused(b.data, b.size, "expected 2560 parameters");
    make_foreign(&b, FOREIGN_COUNT, "double", "sdf");
    assert_refused(b.data, b.size, "params_type");
    make_foreign(&b, FOREIGN_COUNT, "__half", "movie");
    assert_refused(b.data, b.size, "snapshot.mode");
    make_foreign(&b, FOREIGN_COUNT, "__half", "sdf");
    for (size_t size = 0; size < b.size; size += 97) {
        assert_refused(b.data, size, "cut short");
    }
    b.data[b.size - 1] = 0x7c; // infinite
    assert_refused(b.data, b.size, "finite");
    make_dataset(&b, "is_hdr", 1.0);
    assert_refused(b.data, b.size, "snapshot.nerf.dataset.is_hdr: expected false");
    make_dataset(&b, "n_extra_learnable_dims", 16.0);
    assert_refused(b.data, b.size, "snapshot.nerf.dataset.n_extra_learnable_dims: expected 0");
    make_dataset(&b, "scale", -1.0);
    assert_refused(b.data, b.size, "scale: expected");
    make_dataset(&b, "aabb_scale", 2.0); // nothing wrong with it, but that there are no parameters
    assert_refused(b.data, b.size, "snapshot.params_binary");
    // counts that would need more memory than there is
    static const uint8_t many[] = {0xdf, 0xff, 0xff, 0xff, 0xff, 0xa1, 'a', 1};
    assert_refused(many, sizeof many, "cut short");
    uint8_t deep[4096];
    memset(deep, 0x91, sizeof deep); // arrays in arrays
    deep[sizeof deep - 1] = 1;
    assert_refused(deep, sizeof deep, "not a model");
    assert_refused("\x81\xa1x\x01", 4, "snapshot");
}

static void a_packed_model_cut_short_is_refused(void **state)
{
    (void)state;
    orr_field_model saved = {.field = make_field(ORR_FIELD_SDF), .size = 1.0};
    const char *path = scratch_path("whole.ingp");
    assert_ok(orr_field_model_save(&saved, path, &error));
    orr_bytes bytes;
    assert_ok(orr_file_read(path, &bytes, &error));
    for (size_t size = 3; size < bytes.size; size += bytes.size / 23) {
        assert_refused(bytes.data, size, "end early");
    }
    bytes.data[bytes.size / 2] ^= 0x55;
    orr_field_model model;
    orr_error why;
    assert_int_equal(orr_field_model_read(bytes.data, bytes.size, path, isa, ORR_MLP_FP32, &model, &why),
                     ORR_ERROR_FORMAT);
    orr_free(bytes.data);
    // what cannot be written leaves nothing
    assert_int_equal(orr_field_model_save(&saved, scratch_path("none/model.ingp"), &why), ORR_ERROR_FILE);
    assert_int_equal(orr_field_model_save(&saved, scratch_path("model.bin"), &why), ORR_ERROR_FORMAT);
    orr_field_destroy(saved.field);
}

int main(void)
{
    orr_error error;
    if (orr_isa_choose(&isa, &error) != ORR_OK) {
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_comes_back_with_the_same_bits),
        cmocka_unit_test(an_occupancy_grid_is_kept_in_halves),
        cmocka_unit_test(halves_are_rounded_to_the_nearest),
        cmocka_unit_test(a_foreign_snapshot_in_halves_is_read),
        cmocka_unit_test(what_unpacks_to_far_more_than_its_size_is_refused),
        cmocka_unit_test(what_instant_ngp_requires_is_written),
        cmocka_unit_test(a_snapshot_of_a_radiance_field_means_what_it_means_elsewhere),
        cmocka_unit_test(a_snapshot_pads_its_features_with_ones),
        cmocka_unit_test(broken_models_are_refused_with_one_line),
        cmocka_unit_test(a_packed_model_cut_short_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
