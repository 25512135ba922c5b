// Configurations read from JSON. A file is laid over the configuration that is there, as JSON over JSON (as
// instant-ngp lays a file over its parent), and the result is read strictly; the parent itself is read first.
#define _POSIX_C_SOURCE 200809L // strcasecmp
#include "neural/network/config.h"

#include "engine/core/file.h"
#include "engine/core/json.h"
#include "engine/core/memory.h"
#include "neural/network/config_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PARENTS_MAX = 8, OPTIMISERS_MAX = 4 };

// ---- values ----

// a whole number in low .. high
static orr_result read_int(const orr_json *object, const char *key, int low, int high, int *value,
                           orr_error *error)
{
    double number = *value;
    ORR_TRY(orr_json_number(object, key, &number, error));
    if (number != floor(number) || number < low || number > high) {
        return orr_json_expected(object, key, error, "a whole number from %d to %d", low, high);
    }
    *value = (int)number;
    return ORR_OK;
}

// low <= value < high
static orr_result read_within(const orr_json *object, const char *key, double low, double high, double *value,
                              orr_error *error)
{
    ORR_TRY(orr_json_number(object, key, value, error));
    if (!(*value >= low && *value < high)) {
        return orr_json_expected(object, key, error, "a number of at least %g and under %g", low, high);
    }
    return ORR_OK;
}

// One of the names, in any case, as tiny-cuda-nn compares them; *choice stays when the key is absent.
static orr_result read_name(const orr_json *object, const char *key, const char *const *names, int count,
                            int *choice, orr_error *error)
{
    const char *name = NULL;
    ORR_TRY(orr_json_string(object, key, &name, error));
    for (int i = 0; name && i < count; i++) {
        if (strcasecmp(name, names[i]) == 0) {
            *choice = i;
            return ORR_OK;
        }
    }
    if (!name) {
        return ORR_OK;
    }
    char list[160] = "";
    for (int i = 0; i < count; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    return orr_json_expected(object, key, error, "one of %s", list);
}

// A switch of tiny-cuda-nn that is known, and off in all that is read here.
static orr_result require_off(const orr_json *object, const char *key, orr_error *error)
{
    bool on = false;
    ORR_TRY(orr_json_bool(object, key, &on, error));
    return on ? orr_json_expected(object, key, error, "false: true is not supported") : ORR_OK;
}

// the same of a strength
static orr_result require_zero(const orr_json *object, const char *key, orr_error *error)
{
    double strength = 0.0;
    ORR_TRY(orr_json_number(object, key, &strength, error));
    return strength != 0.0 ? orr_json_expected(object, key, error, "0: more is not supported") : ORR_OK;
}

// Remembers a key that is known and has no effect.
static void ignore_key(const orr_json *object, const char *key, orr_field_config *config)
{
    size_t used = strlen(config->ignored);
    snprintf(config->ignored + used, sizeof config->ignored - used, "%s%s%s%s", used ? ", " : "",
             object->path, object->path[0] ? "." : "", key);
}

static void ignore_keys(const orr_json *object, const char *const *keys, orr_field_config *config)
{
    for (int k = 0; keys[k]; k++) {
        if (orr_json_has(object, keys[k])) {
            ignore_key(object, keys[k], config);
        }
    }
}

// ---- encodings ----

static orr_result read_grid(const orr_json *object, orr_encoding_config *e, orr_error *error)
{
    static const char *const hashes[] = {"CoherentPrime"};
    int kind = (int)e->grid, interpolation = ORR_LINEAR, features = 0, hash = 0;
    e->levels = 16;
    e->features_per_level = 2;
    e->log2_hashmap_size = 19;
    e->base_resolution = 16;
    ORR_TRY(read_name(object, "type", orr_grid_names, ORR_GRID_NAMES, &kind, error));
    ORR_TRY(read_name(object, "interpolation", orr_interpolation_names, ORR_INTERPOLATION_NAMES,
                      &interpolation, error));
    ORR_TRY(read_name(object, "hash", hashes, 1, &hash, error));
    ORR_TRY(require_off(object, "fixed_point_pos", error));
    ORR_TRY(require_off(object, "stochastic_interpolation", error));
    e->grid = (orr_grid_kind)kind;
    e->interpolation = (orr_interpolation)interpolation;
    ORR_TRY(read_int(object, "n_features_per_level", 1, 8, &e->features_per_level, error));
    if ((e->features_per_level & (e->features_per_level - 1)) != 0) {
        return orr_json_expected(object, "n_features_per_level", error, "1, 2, 4 or 8");
    }
    ORR_TRY(read_int(object, "n_levels", 1, 32, &e->levels, error));
    ORR_TRY(read_int(object, "n_features", 0, 256, &features, error)); // the same as n_levels
    if (features % e->features_per_level != 0 || features > 32 * e->features_per_level) {
        return orr_json_expected(object, "n_features", error,
                                 "a multiple of n_features_per_level, %d at most",
                                 32 * e->features_per_level);
    }
    e->levels = features ? features / e->features_per_level : e->levels;
    ORR_TRY(read_int(object, "log2_hashmap_size", 1, 28, &e->log2_hashmap_size, error));
    ORR_TRY(read_int(object, "base_resolution", 1, 1 << 20, &e->base_resolution, error));
    return read_within(object, "per_level_scale", 0.0, 1e6, &e->per_level_scale, error);
}

// Keys of the other kinds of encoding: instant-ngp's own files leave some behind.
static void ignore_foreign_keys(const orr_json *object, orr_encoding_kind kind, orr_field_config *config)
{
    static const char *const grid[] = {
        "type",       "interpolation",     "n_features_per_level",     "n_levels",
        "n_features", "log2_hashmap_size", "base_resolution",          "per_level_scale",
        "hash",       "fixed_point_pos",   "stochastic_interpolation", NULL};
    static const char *const frequency[] = {"n_frequencies", NULL}, *const harmonics[] = {"degree", NULL},
                             *const blob[] = {"n_bins", NULL}, *const identity[] = {"scale", "offset", NULL},
                             *const composite[] = {"nested", NULL};
    if (kind != ORR_ENCODING_GRID) {
        ignore_keys(object, grid, config);
    }
    if (kind != ORR_ENCODING_FREQUENCY && kind != ORR_ENCODING_TRIANGLE_WAVE) {
        ignore_keys(object, frequency, config);
    }
    if (kind != ORR_ENCODING_SPHERICAL_HARMONICS) {
        ignore_keys(object, harmonics, config);
    }
    if (kind != ORR_ENCODING_ONE_BLOB) {
        ignore_keys(object, blob, config);
    }
    if (kind != ORR_ENCODING_IDENTITY) {
        ignore_keys(object, identity, config);
    }
    if (kind != ORR_ENCODING_COMPOSITE) {
        ignore_keys(object, composite, config);
    }
}

static orr_result read_encoding(const orr_json *object, bool inside, orr_encoding_config *e,
                                orr_field_config *config, orr_error *error);

static orr_result read_nested(const orr_json *object, bool inside, orr_encoding_config *e,
                              orr_field_config *config, orr_error *error)
{
    const cJSON *node;
    int count;
    ORR_TRY(orr_json_array(object, "nested", &node, &count, error));
    if (inside || count < 1 || count > ORR_NESTED_MAX) {
        return orr_json_expected(object, "nested", error, "1 to %d encodings, none of them a Composite",
                                 ORR_NESTED_MAX);
    }
    e->nested = orr_alloc_zero((size_t)count, sizeof *e->nested);
    if (!e->nested) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: nested encodings");
    }
    e->nested_count = count;
    for (int i = 0; i < count; i++, node = node->next) {
        orr_json one;
        ORR_TRY(orr_json_element(object, "nested", i, node, &one, error));
        ORR_TRY(read_encoding(&one, true, &e->nested[i], config, error));
    }
    return ORR_OK;
}

static orr_result read_encoding(const orr_json *object, bool inside, orr_encoding_config *e,
                                orr_field_config *config, orr_error *error)
{
    static const struct {
        const char *name;
        orr_encoding_kind kind;
        orr_grid_kind grid;
    } kinds[] = {
        {"HashGrid", ORR_ENCODING_GRID, ORR_GRID_HASH},
        {"DenseGrid", ORR_ENCODING_GRID, ORR_GRID_DENSE},
        {"TiledGrid", ORR_ENCODING_GRID, ORR_GRID_TILED},
        {"Grid", ORR_ENCODING_GRID, ORR_GRID_HASH},
        {"Frequency", ORR_ENCODING_FREQUENCY, 0},
        {"TriangleWave", ORR_ENCODING_TRIANGLE_WAVE, 0},
        {"SphericalHarmonics", ORR_ENCODING_SPHERICAL_HARMONICS, 0},
        {"OneBlob", ORR_ENCODING_ONE_BLOB, 0},
        {"Identity", ORR_ENCODING_IDENTITY, 0},
        {"Composite", ORR_ENCODING_COMPOSITE, 0},
    };
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    static const char *const keys[] = {"otype",
                                       "n_dims_to_encode",
                                       "type",
                                       "interpolation",
                                       "n_features_per_level",
                                       "n_levels",
                                       "n_features",
                                       "log2_hashmap_size",
                                       "base_resolution",
                                       "per_level_scale",
                                       "hash",
                                       "fixed_point_pos",
                                       "stochastic_interpolation",
                                       "n_frequencies",
                                       "degree",
                                       "n_bins",
                                       "scale",
                                       "offset",
                                       "nested",
                                       NULL};
    const char *names[KINDS];
    for (int i = 0; i < KINDS; i++) {
        names[i] = kinds[i].name;
    }
    int k = 0;
    ORR_TRY(orr_json_require(object, "otype", "the kind of encoding", error));
    ORR_TRY(read_name(object, "otype", names, KINDS, &k, error));
    ORR_TRY(orr_json_check_keys(object, keys, error));
    *e = (orr_encoding_config){.kind = kinds[k].kind, .grid = kinds[k].grid};
    ignore_foreign_keys(object, e->kind, config);
    ORR_TRY(read_int(object, "n_dims_to_encode", 0, 512, &e->input_dims, error));
    double scale = 1.0, offset = 0.0;
    switch (e->kind) {
    case ORR_ENCODING_GRID:
        return read_grid(object, e, error);
    case ORR_ENCODING_FREQUENCY:
    case ORR_ENCODING_TRIANGLE_WAVE:
        e->frequencies = 12;
        return read_int(object, "n_frequencies", 1, 24, &e->frequencies, error);
    case ORR_ENCODING_SPHERICAL_HARMONICS:
        e->degree = 4;
        return read_int(object, "degree", 1, 8, &e->degree, error);
    case ORR_ENCODING_ONE_BLOB:
        e->bins = 16;
        ORR_TRY(read_int(object, "n_bins", 1, 256, &e->bins, error));
        return (e->bins & (e->bins - 1)) == 0 ? ORR_OK
                                              : orr_json_expected(object, "n_bins", error, "a power of two");
    case ORR_ENCODING_IDENTITY:
        ORR_TRY(orr_json_number(object, "scale", &scale, error));
        ORR_TRY(orr_json_number(object, "offset", &offset, error));
        if (scale == 0.0) {
            return orr_json_expected(object, "scale", error, "a number other than 0");
        }
        e->scale = (float)scale;
        e->offset = (float)offset;
        return ORR_OK;
    case ORR_ENCODING_COMPOSITE:
        break;
    }
    return read_nested(object, inside, e, config, error);
}

// ---- networks, losses, optimisers ----

static orr_result read_network(const orr_json *object, orr_mlp_config *network, orr_error *error)
{
    static const char *const keys[] = {"otype",     "activation",      "output_activation",
                                       "n_neurons", "n_hidden_layers", "feedback_alignment",
                                       NULL};
    static const char *const otypes[] = {"FullyFusedMLP", "CutlassMLP", "MLP"};
    int otype = 0, activation = ORR_ACTIVATION_RELU, output = ORR_ACTIVATION_NONE;
    *network = (orr_mlp_config){.width = 128, .hidden_layers = 5};
    ORR_TRY(orr_json_check_keys(object, keys, error));
    ORR_TRY(read_name(object, "otype", otypes, 3, &otype, error));
    ORR_TRY(read_name(object, "activation", orr_activation_names, ORR_ACTIVATION_NAMES, &activation, error));
    ORR_TRY(
        read_name(object, "output_activation", orr_activation_names, ORR_ACTIVATION_NAMES, &output, error));
    network->activation = (orr_activation)activation;
    network->output_activation = (orr_activation)output;
    ORR_TRY(require_off(object, "feedback_alignment", error));
    ORR_TRY(read_int(object, "n_neurons", 1, 1 << 20, &network->width, error));
    if (network->width != 16 && network->width != 32 && network->width != 64 && network->width != 128) {
        return orr_json_expected(object, "n_neurons", error, "16, 32, 64 or 128");
    }
    return read_int(object, "n_hidden_layers", 0, 16, &network->hidden_layers, error);
}

static orr_result read_adam(const orr_json *object, orr_optimizer_config *o, orr_error *error)
{
    static const char *const keys[] = {
        "otype",  "learning_rate", "beta1",          "beta2",          "epsilon",
        "l2_reg", "adabound",      "relative_decay", "absolute_decay", "clipping_magnitude",
        NULL};
    o->beta1 = 0.9;
    o->beta2 = 0.999;
    o->epsilon = 1e-8;
    ORR_TRY(orr_json_check_keys(object, keys, error));
    ORR_TRY(read_within(object, "beta1", 0.0, 1.0, &o->beta1, error));
    ORR_TRY(read_within(object, "beta2", 0.0, 1.0, &o->beta2, error));
    ORR_TRY(read_within(object, "epsilon", 0.0, 1.0, &o->epsilon, error));
    ORR_TRY(require_off(object, "adabound", error));
    ORR_TRY(require_zero(object, "relative_decay", error));
    ORR_TRY(require_zero(object, "absolute_decay", error));
    return require_zero(object, "clipping_magnitude", error);
}

static orr_result read_decay(const orr_json *object, orr_optimizer_config *o, orr_error *error)
{
    static const char *const keys[] = {"otype",  "decay_start", "decay_interval", "decay_end", "decay_base",
                                       "nested", NULL};
    o->decay_base = 0.1;
    o->decay_start = o->decay_interval = 10000;
    o->decay_end = 10000000;
    ORR_TRY(orr_json_check_keys(object, keys, error));
    ORR_TRY(read_int(object, "decay_start", 0, 2000000000, &o->decay_start, error));
    ORR_TRY(read_int(object, "decay_interval", 1, 2000000000, &o->decay_interval, error));
    ORR_TRY(read_int(object, "decay_end", 0, 2000000000, &o->decay_end, error));
    return orr_json_positive(object, "decay_base", &o->decay_base, error);
}

static orr_result read_average(const orr_json *object, orr_optimizer_config *o, orr_error *error)
{
    static const char *const keys[] = {"otype", "decay", "full_precision", "nested", NULL};
    bool full_precision = true; // ours always is
    o->ema_decay = 0.99;
    ORR_TRY(orr_json_check_keys(object, keys, error));
    ORR_TRY(orr_json_bool(object, "full_precision", &full_precision, error));
    return read_within(object, "decay", 0.0, 1.0, &o->ema_decay, error);
}

// From the outermost to Adam or SGD; each kind once, in any order.
static orr_result read_optimizer(const orr_json *outer, orr_optimizer_config *o, orr_error *error)
{
    static const char *const otypes[] = {"EMA", "ExponentialDecay", "Adam", "SGD"};
    static const char *const sgd_keys[] = {"otype", "learning_rate", "l2_reg", NULL};
    enum { EMA, EXPONENTIAL_DECAY, ADAM, SGD };
    orr_json object = *outer;
    *o = (orr_optimizer_config){.learning_rate = 1e-3, .l2_reg = 1e-8, .decay_base = 1.0};
    for (int depth = 0; depth < OPTIMISERS_MAX; depth++) {
        int otype = 0;
        ORR_TRY(orr_json_require(&object, "otype", "the kind of optimiser", error));
        ORR_TRY(read_name(&object, "otype", otypes, 4, &otype, error));
        if (otype == EMA) {
            ORR_TRY(read_average(&object, o, error));
        } else if (otype == EXPONENTIAL_DECAY) {
            ORR_TRY(read_decay(&object, o, error));
        } else {
            o->sgd = otype == SGD;
            ORR_TRY(o->sgd ? orr_json_check_keys(&object, sgd_keys, error) : read_adam(&object, o, error));
            ORR_TRY(read_within(&object, "l2_reg", 0.0, 1e6, &o->l2_reg, error));
            return orr_json_positive(&object, "learning_rate", &o->learning_rate, error);
        }
        orr_json nested;
        ORR_TRY(orr_json_require(&object, "nested", "an optimiser inside", error));
        ORR_TRY(orr_json_member(&object, "nested", &nested, error));
        object = nested;
    }
    return orr_json_expected(&object, NULL, error, "Adam or SGD inside at most EMA and ExponentialDecay");
}

// ---- the whole ----

static orr_result read_loss(const orr_json *object, orr_loss_kind *loss, orr_error *error)
{
    static const char *const keys[] = {"otype", NULL};
    int kind = 0;
    ORR_TRY(orr_json_check_keys(object, keys, error));
    ORR_TRY(orr_json_require(object, "otype", "the kind of loss", error));
    ORR_TRY(read_name(object, "otype", orr_loss_names, ORR_LOSS_NAMES, &kind, error));
    *loss = (orr_loss_kind)kind;
    return ORR_OK;
}

// Members that are absent stay 0.
static orr_result read_root(const orr_json *root, orr_field_config *config, orr_error *error)
{
    static const char *const keys[] = {"loss",    "optimizer",      "encoding",
                                       "network", "dir_encoding",   "rgb_network",
                                       "envmap",  "distortion_map", NULL};
    static const char *const ignored[] = {"envmap", "distortion_map", NULL};
    orr_json member;
    ORR_TRY(orr_json_check_keys(root, keys, error));
    ignore_keys(root, ignored, config);
    ORR_TRY(orr_json_member(root, "loss", &member, error));
    if (member.node) {
        ORR_TRY(read_loss(&member, &config->loss, error));
    }
    ORR_TRY(orr_json_member(root, "optimizer", &member, error));
    if (member.node) {
        ORR_TRY(read_optimizer(&member, &config->optimizer, error));
    }
    ORR_TRY(orr_json_member(root, "encoding", &member, error));
    if (member.node) {
        ORR_TRY(read_encoding(&member, false, &config->encoding, config, error));
    }
    ORR_TRY(orr_json_member(root, "network", &member, error));
    if (member.node) {
        ORR_TRY(read_network(&member, &config->network, error));
    }
    config->has_rgb = orr_json_has(root, "rgb_network");
    ORR_TRY(orr_json_member(root, "rgb_network", &member, error));
    if (member.node) {
        ORR_TRY(read_network(&member, &config->rgb_network, error));
        ORR_TRY(orr_json_require(root, "dir_encoding", "the encoding of directions", error));
    }
    ORR_TRY(orr_json_member(root, "dir_encoding", &member, error));
    if (member.node && !config->has_rgb) {
        return orr_json_expected(root, "rgb_network", error, "a network for the encoded directions");
    }
    return member.node ? read_encoding(&member, false, &config->dir_encoding, config, error) : ORR_OK;
}

// Members of `over` replace or join those of `under`; objects of the same otype are merged member by member.
// False when memory is out.
static bool lay_over(cJSON *under, const cJSON *over)
{
    for (const cJSON *member = over->child; member; member = member->next) {
        cJSON *old = cJSON_GetObjectItemCaseSensitive(under, member->string);
        const cJSON *otype = cJSON_GetObjectItemCaseSensitive(member, "otype");
        const cJSON *old_otype = cJSON_GetObjectItemCaseSensitive(old, "otype");
        bool same = !cJSON_IsString(otype) || !cJSON_IsString(old_otype) ||
                    strcasecmp(otype->valuestring, old_otype->valuestring) == 0;
        if (cJSON_IsObject(member) && cJSON_IsObject(old) && same) {
            if (!lay_over(old, member)) {
                return false;
            }
            continue;
        }
        cJSON *copy = cJSON_Duplicate(member, true);
        bool done = copy && (old ? cJSON_ReplaceItemInObjectCaseSensitive(under, member->string, copy)
                                 : cJSON_AddItemToObject(under, member->string, copy));
        if (!done) {
            cJSON_Delete(copy);
            return false;
        }
    }
    return true;
}

// Reads root, with its parent merged in already, over *config.
static orr_result read_over(const orr_json *root, orr_field_config *config, orr_error *error)
{
    orr_json merged = *root;
    cJSON *under = orr_field_config_json(config);
    if (!under || !lay_over(under, root->node)) {
        cJSON_Delete(under);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", root->file);
    }
    merged.node = under;
    orr_field_config read = {0};
    memcpy(read.ignored, config->ignored, sizeof read.ignored);
    orr_result result = read_root(&merged, &read, error);
    orr_json_free(&merged);
    orr_field_config_free(result == ORR_OK ? config : &read);
    if (result == ORR_OK) {
        *config = read;
    }
    return result;
}

static orr_result load(const char *path, int depth, orr_field_config *config, orr_error *error);

static orr_result parse(const char *text, const char *name, int depth, orr_field_config *config,
                        orr_error *error)
{
    orr_json root;
    ORR_TRY(orr_json_parse(text, name, ORR_CODE_CONFIG, &root, error));
    const char *parent = NULL;
    orr_result result = orr_json_string(&root, "parent", &parent, error);
    if (result == ORR_OK && parent && depth >= PARENTS_MAX) {
        result = orr_json_expected(&root, "parent", error, "at most %d generations", PARENTS_MAX);
    }
    if (result == ORR_OK && parent) {
        char *path = orr_path_beside(name, parent);
        result = path ? load(path, depth + 1, config, error)
                      : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", name);
        orr_free(path);
        cJSON_DeleteItemFromObjectCaseSensitive((cJSON *)root.node, "parent");
    }
    if (result == ORR_OK) {
        result = read_over(&root, config, error);
    }
    orr_json_free(&root);
    return result;
}

static orr_result load(const char *path, int depth, orr_field_config *config, orr_error *error)
{
    orr_bytes bytes;
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_result result = parse((const char *)bytes.data, path, depth, config, error);
    orr_free(bytes.data);
    return result;
}

// What was read over a copy becomes *config whole or not at all, also when only the parent was good.
static orr_result commit(orr_result result, orr_field_config *copy, orr_field_config *config)
{
    orr_field_config_free(result == ORR_OK ? config : copy);
    if (result == ORR_OK) {
        *config = *copy;
    }
    return result;
}

static orr_result copy_config(const orr_field_config *from, orr_field_config *to, orr_error *error)
{
    cJSON *json = orr_field_config_json(from);
    if (!json) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a configuration");
    }
    orr_json root = {.node = json, .file = "configuration", .code = ORR_CODE_CONFIG};
    *to = (orr_field_config){0};
    memcpy(to->ignored, from->ignored, sizeof to->ignored);
    orr_result result = read_root(&root, to, error);
    cJSON_Delete(json);
    if (result != ORR_OK) {
        orr_field_config_free(to);
    }
    return result;
}

orr_result orr_field_config_load(const char *path, orr_field_config *config, orr_error *error)
{
    orr_field_config copy;
    ORR_TRY(copy_config(config, &copy, error));
    return commit(load(path, 0, &copy, error), &copy, config);
}

orr_result orr_field_config_parse(const char *text, const char *name, orr_field_config *config,
                                  orr_error *error)
{
    orr_field_config copy;
    ORR_TRY(copy_config(config, &copy, error));
    return commit(parse(text, name, 0, &copy, error), &copy, config);
}

void orr_field_config_free(orr_field_config *config)
{
    orr_free(config->encoding.nested);
    orr_free(config->dir_encoding.nested);
    *config = (orr_field_config){0};
}
