// Tests of neural/config: what instant-ngp's and tiny-cuda-nn's files say, and the messages for wrong ones.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "neural/network/config.h"
#include "tests/support/support.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static orr_field_config base(orr_field_kind kind)
{
    orr_field_config config;
    assert_ok(orr_field_config_base(kind, &config, &error));
    return config;
}

static orr_field_config parsed(orr_field_kind kind, const char *text)
{
    orr_field_config config = base(kind);
    assert_ok(orr_field_config_parse(text, "folder/config.json", &config, &error));
    return config;
}

static void base_configurations_are_those_of_instant_ngp(void **state)
{
    (void)state;
    orr_field_config nerf = base(ORR_FIELD_NERF), image = base(ORR_FIELD_IMAGE), sdf = base(ORR_FIELD_SDF),
                     volume = base(ORR_FIELD_VOLUME);
    assert_int_equal(nerf.loss, ORR_LOSS_HUBER);
    assert_int_equal(nerf.encoding.levels * nerf.encoding.features_per_level, 32);
    assert_int_equal(nerf.encoding.features_per_level, 4);
    assert_int_equal(nerf.network.hidden_layers, 1);
    assert_true(nerf.has_rgb);
    assert_int_equal(nerf.rgb_network.hidden_layers, 2);
    assert_int_equal(nerf.dir_encoding.nested[0].degree, 4);
    assert_int_equal(image.encoding.log2_hashmap_size, 24);
    assert_true(image.optimizer.ema_decay == 0.0);
    assert_int_equal(sdf.loss, ORR_LOSS_MAPE);
    assert_true(sdf.optimizer.learning_rate == 1e-4);
    assert_int_equal(volume.network.output_activation, ORR_ACTIVATION_RELU);
    assert_int_equal(volume.encoding.features_per_level, 2);
    orr_field_config_free(&nerf);
}

// an instant-ngp file, word for word in its structure
static const char full[] =
    "{\"loss\": {\"otype\": \"RelativeL2\"},"
    "\"optimizer\": {\"otype\": \"Ema\", \"decay\": 0.9, \"nested\": {\"otype\": \"ExponentialDecay\","
    "  \"decay_start\": 5, \"decay_interval\": 7, \"decay_end\": 90, \"decay_base\": 0.5,"
    "  \"nested\": {\"otype\": \"Adam\", \"learning_rate\": 0.02, \"beta1\": 0.8, \"beta2\": 0.98,"
    "               \"epsilon\": 1e-12, \"l2_reg\": 0.25}}},"
    "\"encoding\": {\"otype\": \"Grid\", \"type\": \"Tiled\", \"n_levels\": 5, \"n_features_per_level\": 8,"
    "  \"log2_hashmap_size\": 15, \"base_resolution\": 4, \"per_level_scale\": 1.25,"
    "  \"interpolation\": \"Smoothstep\"},"
    "\"network\": {\"otype\": \"CutlassMLP\", \"activation\": \"Tanh\", \"output_activation\": \"Sigmoid\","
    "  \"n_neurons\": 32, \"n_hidden_layers\": 3},"
    "\"dir_encoding\": {\"otype\": \"Composite\", \"nested\": ["
    "  {\"n_dims_to_encode\": 3, \"otype\": \"SphericalHarmonics\", \"degree\": 6},"
    "  {\"otype\": \"Identity\", \"n_bins\": 4, \"degree\": 4}]},"
    "\"rgb_network\": {\"otype\": \"FullyFusedMLP\", \"n_neurons\": 128, \"n_hidden_layers\": 4},"
    "\"distortion_map\": {\"resolution\": [32, 32], \"optimizer\": {\"otype\": \"Adam\"}},"
    "\"envmap\": {\"loss\": {\"otype\": \"RelativeL2\"}}}";

static void check_full(const orr_field_config *c)
{
    assert_int_equal(c->loss, ORR_LOSS_RELATIVE_L2);
    const orr_optimizer_config *o = &c->optimizer;
    assert_true(o->ema_decay == 0.9 && o->decay_base == 0.5 && o->learning_rate == 0.02 && o->beta1 == 0.8 &&
                o->beta2 == 0.98 && o->epsilon == 1e-12 && o->l2_reg == 0.25 && !o->sgd);
    assert_int_equal(o->decay_start, 5);
    assert_int_equal(o->decay_interval, 7);
    assert_int_equal(o->decay_end, 90);
    const orr_encoding_config *e = &c->encoding;
    assert_int_equal(e->kind, ORR_ENCODING_GRID);
    assert_int_equal(e->grid, ORR_GRID_TILED);
    assert_int_equal(e->interpolation, ORR_SMOOTHSTEP);
    assert_int_equal(e->levels, 5);
    assert_int_equal(e->features_per_level, 8);
    assert_int_equal(e->log2_hashmap_size, 15);
    assert_int_equal(e->base_resolution, 4);
    assert_true(e->per_level_scale == 1.25);
    assert_int_equal(c->network.width, 32);
    assert_int_equal(c->network.hidden_layers, 3);
    assert_int_equal(c->network.activation, ORR_ACTIVATION_TANH);
    assert_int_equal(c->network.output_activation, ORR_ACTIVATION_SIGMOID);
    assert_true(c->has_rgb);
    assert_int_equal(c->rgb_network.width, 128);
    assert_int_equal(c->dir_encoding.kind, ORR_ENCODING_COMPOSITE);
    assert_int_equal(c->dir_encoding.nested_count, 2);
    assert_int_equal(c->dir_encoding.nested[0].kind, ORR_ENCODING_SPHERICAL_HARMONICS);
    assert_int_equal(c->dir_encoding.nested[0].input_dims, 3);
    assert_int_equal(c->dir_encoding.nested[0].degree, 6);
    assert_int_equal(c->dir_encoding.nested[1].kind, ORR_ENCODING_IDENTITY);
}

static void every_key_is_read(void **state)
{
    (void)state;
    orr_field_config config = parsed(ORR_FIELD_IMAGE, full);
    check_full(&config);
    assert_non_null(strstr(config.ignored, "envmap"));
    assert_non_null(strstr(config.ignored, "distortion_map"));
    assert_non_null(strstr(config.ignored, "dir_encoding.nested[1].n_bins"));
    orr_field_config_free(&config);
}

static void json_and_back_is_the_same(void **state)
{
    (void)state;
    orr_field_config config = parsed(ORR_FIELD_NERF, full);
    cJSON *json = orr_field_config_json(&config);
    char *text = cJSON_Print(json);
    assert_non_null(text);
    orr_field_config again = parsed(ORR_FIELD_SDF, text);
    check_full(&again);
    assert_string_equal(again.ignored, "");
    cJSON_free(text);
    cJSON_Delete(json);
    orr_field_config_free(&config);
    orr_field_config_free(&again);
}

static void each_encoding_has_its_names_and_defaults(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        orr_encoding_kind kind;
        orr_grid_kind grid;
        int value; // levels, frequencies, degree or bins
    } cases[] = {
        {"\"otype\": \"HashGrid\", \"n_features\": 16", ORR_ENCODING_GRID, ORR_GRID_HASH, 8},
        {"\"otype\": \"DenseGrid\", \"n_levels\": 3", ORR_ENCODING_GRID, ORR_GRID_DENSE, 3},
        {"\"otype\": \"tiledgrid\", \"n_levels\": 2", ORR_ENCODING_GRID, ORR_GRID_TILED, 2},
        {"\"otype\": \"Grid\", \"type\": \"Dense\", \"n_levels\": 9", ORR_ENCODING_GRID, ORR_GRID_DENSE, 9},
        {"\"otype\": \"Frequency\"", ORR_ENCODING_FREQUENCY, 0, 12},
        {"\"otype\": \"TriangleWave\", \"n_frequencies\": 3", ORR_ENCODING_TRIANGLE_WAVE, 0, 3},
        {"\"otype\": \"OneBlob\"", ORR_ENCODING_ONE_BLOB, 0, 16},
        {"\"otype\": \"SphericalHarmonics\", \"degree\": 2", ORR_ENCODING_SPHERICAL_HARMONICS, 0, 2},
        {"\"otype\": \"Identity\", \"scale\": 3", ORR_ENCODING_IDENTITY, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200];
        // in a NeRF's file: the colour's encoding has another otype, so nothing of it is left
        snprintf(text, sizeof text, "{\"dir_encoding\": {%s}}", cases[i].text);
        orr_field_config config = parsed(ORR_FIELD_NERF, text);
        const orr_encoding_config *e = &config.dir_encoding;
        assert_int_equal(e->kind, cases[i].kind);
        assert_int_equal(e->grid, cases[i].grid);
        int value = e->kind == ORR_ENCODING_GRID                  ? e->levels
                    : e->kind == ORR_ENCODING_ONE_BLOB            ? e->bins
                    : e->kind == ORR_ENCODING_SPHERICAL_HARMONICS ? e->degree
                                                                  : e->frequencies;
        assert_int_equal(value, cases[i].value);
        assert_string_equal(config.ignored, "");
        orr_field_config_free(&config);
    }
}

static void a_child_changes_what_it_names(void **state)
{
    (void)state;
    const char *parent = scratch_path("base.json"), *child = scratch_path("child.json");
    assert_ok(orr_file_write(parent, full, strlen(full), &error));
    const char *text = "{\"parent\": \"base.json\", \"encoding\": {\"log2_hashmap_size\": 21},"
                       "\"optimizer\": {\"nested\": {\"nested\": {\"learning_rate\": 0.5}}},"
                       "\"network\": {\"n_neurons\": 16}}";
    assert_ok(orr_file_write(child, text, strlen(text), &error));
    orr_field_config config = base(ORR_FIELD_NERF);
    assert_ok(orr_field_config_load(child, &config, &error));
    assert_int_equal(config.encoding.log2_hashmap_size, 21);
    assert_true(config.optimizer.learning_rate == 0.5);
    assert_int_equal(config.network.width, 16);
    config.encoding.log2_hashmap_size = 15;
    config.optimizer.learning_rate = 0.02;
    config.network.width = 32;
    check_full(&config); // the rest is the parent's
    orr_field_config_free(&config);
    // another optimiser replaces all of them, with its own defaults
    config = parsed(ORR_FIELD_SDF, "{\"optimizer\": {\"otype\": \"SGD\", \"learning_rate\": 2}}");
    assert_true(config.optimizer.sgd);
    assert_true(config.optimizer.ema_decay == 0.0 && config.optimizer.decay_base == 1.0);
    assert_true(config.optimizer.learning_rate == 2.0);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *names;
    } cases[] = {
        {"{\"los\": {}}", "los: expected"},
        {"{\"encoding\": {\"n_level\": 4}}", "encoding.n_level: expected"},
        {"{\"encoding\": {\"n_levels\": 33}}", "encoding.n_levels: expected"},
        {"{\"encoding\": {\"n_levels\": 2.5}}", "encoding.n_levels: expected"},
        {"{\"encoding\": {\"n_features_per_level\": 3}}", "encoding.n_features_per_level: expected"},
        {"{\"encoding\": {\"otype\": \"Permuto\"}}", "encoding.otype: expected"},
        {"{\"encoding\": {\"otype\": \"Takikawa\", \"starting_level\": 4}}", "encoding.otype: expected"},
        {"{\"encoding\": {\"fixed_point_pos\": true}}", "encoding.fixed_point_pos: expected false"},
        {"{\"encoding\": {\"hash\": \"Rng\"}}", "encoding.hash: expected one of CoherentPrime"},
        {"{\"optimizer\": {\"nested\": {\"nested\": {\"adabound\": true}}}}",
         "optimizer.nested.nested.adabound: expected false"},
        {"{ /* a comment\n without end ", "line 1, column 4: expected JSON"},
        {"{ // one\n /* two\n */ \"encoding\" 3}", "line 3, column 16: expected JSON"},
        {"{\"encoding\": {\"otype\": \"OneBlob\", \"n_bins\": 12}}", "encoding.n_bins: expected"},
        {"{\"dir_encoding\": {\"nested\": [{\"otype\": \"Identity\", \"x\": 1}]}}",
         "dir_encoding.nested[0].x: expected"},
        {"{\"dir_encoding\": {\"nested\": []}}", "dir_encoding.nested: expected"},
        {"{\"dir_encoding\": {\"nested\": [{\"otype\": \"Composite\", \"nested\": []}]}}",
         "dir_encoding.nested[0].nested: expected"},
        {"{\"network\": {\"n_neurons\": 256}}", "network.n_neurons: expected 16, 32, 64 or 128"},
        {"{\"network\": {\"activation\": \"Relu6\"}}", "network.activation: expected"},
        {"{\"rgb_network\": {\"n_hidden_layers\": -1}}", "rgb_network.n_hidden_layers: expected"},
        {"{\"loss\": {\"otype\": \"Variance\"}}", "loss.otype: expected"},
        {"{\"optimizer\": {\"nested\": {\"nested\": {\"beta2\": 1}}}}",
         "optimizer.nested.nested.beta2: expected"},
        {"{\"optimizer\": {\"otype\": \"EMA2\"}}", "optimizer.otype: expected"},
        {"{\"optimizer\": {\"nested\": {\"nested\": {\"absolute_decay\": 1}}}}",
         "optimizer.nested.nested.absolute_decay: expected"},
        {"{\"encoding\": 3}", "encoding: expected"},
        {"{\"encoding\": ", "line 1"},
        {"{\"parent\": \"absent.json\"}", "absent.json"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        orr_field_config config = base(ORR_FIELD_NERF);
        orr_error why = {0};
        if (orr_field_config_parse(cases[i].text, "config.json", &config, &why) == ORR_OK) {
            fail_msg("no error: %s", cases[i].text);
        }
        if (!strstr(why.message, cases[i].names) || strchr(why.message, '\n')) {
            fail_msg("%s: \"%s\" should name \"%s\"", cases[i].text, why.message, cases[i].names);
        }
        assert_int_equal(config.network.width, 64); // as it was
        assert_int_equal(config.dir_encoding.nested_count, 2);
        orr_field_config_free(&config);
    }
}

// instant-ngp's and tiny-cuda-nn's own files have comments, and switches that are off
static void comments_and_switches_that_are_off_change_nothing(void **state)
{
    (void)state;
    orr_field_config config = parsed(
        ORR_FIELD_NERF,
        "{ // the grid, \"quoted\"\n"
        "\"encoding\": {\"n_levels\": 5, /* \"n_levels\": 7, */ \"hash\": \"CoherentPrime\",\n"
        "  \"fixed_point_pos\": false, \"stochastic_interpolation\": false},\n"
        "\"optimizer\": {\"nested\": {\"nested\": {\"adabound\": false, \"clipping_magnitude\": 0}}},\n"
        "\"network\": {\"feedback_alignment\": false}}");
    assert_int_equal(config.encoding.levels, 5);
    assert_string_equal(config.ignored, "");
    orr_field_config_free(&config);
    // slashes in text are text, after an escaped quote too
    orr_field_config base_config = base(ORR_FIELD_SDF);
    orr_error why = {0};
    assert_int_equal(
        orr_field_config_parse("{\"parent\": \"a\\\"b//c.json\"}", "config.json", &base_config, &why),
        ORR_ERROR_FILE);
    assert_non_null(strstr(why.message, "a\"b//c.json"));
    orr_field_config_free(&base_config);
}

static void a_family_without_end_is_refused(void **state)
{
    (void)state;
    const char *path = scratch_path("itself.json");
    const char text[] = "{\"parent\": \"itself.json\"}";
    assert_ok(orr_file_write(path, text, sizeof text - 1, &error));
    orr_field_config config = base(ORR_FIELD_SDF);
    orr_error why;
    assert_int_equal(orr_field_config_load(path, &config, &why), ORR_ERROR_FORMAT);
    assert_non_null(strstr(why.message, "parent: expected at most"));
    orr_field_config_free(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_configurations_are_those_of_instant_ngp),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(json_and_back_is_the_same),
        cmocka_unit_test(each_encoding_has_its_names_and_defaults),
        cmocka_unit_test(a_child_changes_what_it_names),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(comments_and_switches_that_are_off_change_nothing),
        cmocka_unit_test(a_family_without_end_is_refused),
    };
    return cmocka_run_group_tests_name("neural configurations", tests, NULL, NULL);
}
