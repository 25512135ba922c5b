// A configuration as JSON.
#include "neural/network/config.h"
#include "neural/network/config_names.h"

#include <cjson/cJSON.h>

static bool add_number(cJSON *object, const char *key, double value)
{
    return cJSON_AddNumberToObject(object, key, value) != NULL;
}

static bool add_string(cJSON *object, const char *key, const char *value)
{
    return cJSON_AddStringToObject(object, key, value) != NULL;
}

static cJSON *add_optimizer(cJSON *object, const char *key, const char *otype)
{
    cJSON *inner = object ? cJSON_AddObjectToObject(object, key) : NULL;
    return inner && add_string(inner, "otype", otype) ? inner : NULL;
}

// EMA over ExponentialDecay over Adam or SGD; those that do nothing are left out
static bool write_optimizer(cJSON *root, const orr_optimizer_config *o)
{
    const char *key = "optimizer";
    cJSON *at = root;
    if (o->ema_decay > 0.0) {
        at = add_optimizer(at, key, "EMA");
        if (!at || !add_number(at, "decay", o->ema_decay)) {
            return false;
        }
        key = "nested";
    }
    if (o->decay_base != 1.0) {
        at = add_optimizer(at, key, "ExponentialDecay");
        if (!at || !add_number(at, "decay_start", o->decay_start) ||
            !add_number(at, "decay_interval", o->decay_interval) ||
            !add_number(at, "decay_end", o->decay_end) || !add_number(at, "decay_base", o->decay_base)) {
            return false;
        }
        key = "nested";
    }
    at = add_optimizer(at, key, o->sgd ? "SGD" : "Adam");
    return at && add_number(at, "learning_rate", o->learning_rate) && add_number(at, "l2_reg", o->l2_reg) &&
           (o->sgd || (add_number(at, "beta1", o->beta1) && add_number(at, "beta2", o->beta2) &&
                       add_number(at, "epsilon", o->epsilon)));
}

static bool write_encoding(cJSON *into, const orr_encoding_config *e)
{
    static const char *const grid_otypes[ORR_GRID_NAMES] = {"HashGrid", "DenseGrid", "TiledGrid"};
    if (!into || (e->input_dims > 0 && !add_number(into, "n_dims_to_encode", e->input_dims))) {
        return false;
    }
    switch (e->kind) {
    case ORR_ENCODING_GRID:
        return add_string(into, "otype", grid_otypes[e->grid]) && add_number(into, "n_levels", e->levels) &&
               add_number(into, "n_features_per_level", e->features_per_level) &&
               add_number(into, "log2_hashmap_size", e->log2_hashmap_size) &&
               add_number(into, "base_resolution", e->base_resolution) &&
               (e->per_level_scale == 0.0 || add_number(into, "per_level_scale", e->per_level_scale)) &&
               add_string(into, "interpolation", orr_interpolation_names[e->interpolation]);
    case ORR_ENCODING_FREQUENCY:
        return add_string(into, "otype", "Frequency") && add_number(into, "n_frequencies", e->frequencies);
    case ORR_ENCODING_TRIANGLE_WAVE:
        return add_string(into, "otype", "TriangleWave") && add_number(into, "n_frequencies", e->frequencies);
    case ORR_ENCODING_SPHERICAL_HARMONICS:
        return add_string(into, "otype", "SphericalHarmonics") && add_number(into, "degree", e->degree);
    case ORR_ENCODING_ONE_BLOB:
        return add_string(into, "otype", "OneBlob") && add_number(into, "n_bins", e->bins);
    case ORR_ENCODING_IDENTITY:
        return add_string(into, "otype", "Identity") &&
               add_number(into, "scale", e->scale != 0.0f ? (double)e->scale : 1.0) &&
               add_number(into, "offset", (double)e->offset);
    case ORR_ENCODING_COMPOSITE:
        break;
    }
    cJSON *nested = add_string(into, "otype", "Composite") ? cJSON_AddArrayToObject(into, "nested") : NULL;
    bool good = nested != NULL;
    for (int i = 0; good && i < e->nested_count; i++) {
        cJSON *one = cJSON_CreateObject();
        good = one && cJSON_AddItemToArray(nested, one) && write_encoding(one, &e->nested[i]);
    }
    return good;
}

static bool write_network(cJSON *root, const char *key, const orr_mlp_config *n)
{
    cJSON *into = cJSON_AddObjectToObject(root, key);
    return into && add_string(into, "otype", "FullyFusedMLP") &&
           add_string(into, "activation", orr_activation_names[n->activation]) &&
           add_string(into, "output_activation", orr_activation_names[n->output_activation]) &&
           add_number(into, "n_neurons", n->width) && add_number(into, "n_hidden_layers", n->hidden_layers);
}

static bool write_all(cJSON *root, const orr_field_config *config)
{
    cJSON *loss = cJSON_AddObjectToObject(root, "loss");
    return loss && add_string(loss, "otype", orr_loss_names[config->loss]) &&
           write_optimizer(root, &config->optimizer) &&
           write_encoding(cJSON_AddObjectToObject(root, "encoding"), &config->encoding) &&
           write_network(root, "network", &config->network) &&
           (!config->has_rgb ||
            (write_encoding(cJSON_AddObjectToObject(root, "dir_encoding"), &config->dir_encoding) &&
             write_network(root, "rgb_network", &config->rgb_network)));
}

cJSON *orr_field_config_json(const orr_field_config *config)
{
    cJSON *root = cJSON_CreateObject();
    if (root && !write_all(root, config)) {
        cJSON_Delete(root);
        return NULL;
    }
    return root;
}
