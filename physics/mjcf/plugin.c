// Plugins: those that a model declares in <extension>, and touch grids (mujoco.sensor.touch_grid), which are
// the only ones that are simulated. A plugin's numbers are <config> elements, of the element that uses it or
// of an <instance> that it names.
#include "physics/mjcf/mjcf.h"

#include <string.h>

static const char touch_grid[] = "mujoco.sensor.touch_grid";

// Is it the name of a plugin that is simulated?
static orr_result check_name(const mjcf_node *node, orr_error *error)
{
    const char *name = mjcf_find(node, "plugin");
    return name && strcmp(name, touch_grid) == 0
               ? ORR_OK
               : mjcf_fail(node, error, "plugin: '%.64s' is not supported: expected %s", name ? name : "",
                           touch_grid);
}

// Fails at an attribute that is none of `known` (ends with NULL).
static orr_result check_attributes(const mjcf_node *node, const char *const *known, orr_error *error)
{
    for (const mjcf_attribute *a = node->attributes; a; a = a->next) {
        int i = 0;
        while (known[i] && strcmp(known[i], a->name) != 0) {
            i++;
        }
        if (!known[i]) {
            return mjcf_fail(node, error, "unknown attribute '%.64s'", a->name);
        }
    }
    return ORR_OK;
}

// ---- what a model declares

// The first instance of this name in an extension; NULL: there is none.
static const mjcf_node *find_instance(const mjcf_node *root, const char *name)
{
    for (const mjcf_node *section = root->children; section; section = section->next) {
        const mjcf_node *plugin = mjcf_is(section, "extension") ? section->children : NULL;
        for (; plugin; plugin = plugin->next) {
            for (const mjcf_node *node = plugin->children; node; node = node->next) {
                const char *own = mjcf_find(node, "name");
                if (own && strcmp(own, name) == 0) {
                    return node;
                }
            }
        }
    }
    return NULL;
}

static bool is_declared(const mjcf_node *root)
{
    for (const mjcf_node *section = root->children; section; section = section->next) {
        if (mjcf_is(section, "extension") && section->children) { // whose plugins are all touch grids
            return true;
        }
    }
    return false;
}

orr_result mjcf_read_extension(mjcf_reader *reader, const mjcf_node *section)
{
    static const char *const of_plugin[] = {"plugin", NULL}, *const of_instance[] = {"name", NULL};
    for (const mjcf_node *plugin = section->children; plugin; plugin = plugin->next) {
        if (!mjcf_is(plugin, "plugin")) {
            return mjcf_unknown(plugin, section, reader->error);
        }
        ORR_TRY(check_attributes(plugin, of_plugin, reader->error));
        ORR_TRY(check_name(plugin, reader->error));
        for (const mjcf_node *node = plugin->children; node; node = node->next) {
            const char *name = mjcf_find(node, "name");
            if (!mjcf_is(node, "instance")) {
                return mjcf_unknown(node, plugin, reader->error);
            }
            ORR_TRY(check_attributes(node, of_instance, reader->error));
            if (!name || !name[0] || find_instance(reader->root, name) != node) {
                return mjcf_fail(node, reader->error, "name: expected one that no other instance has");
            }
        }
    }
    return ORR_OK;
}

// ---- touch grids

typedef struct config_key {
    const char *name;
    int count; // of numbers
    bool whole, required, above;
    double low, high[2]; // from low on, or above it
    const char *expected;
} config_key;

enum { CHANNELS, SIZE, FOV, GAMMA, KEYS, SIDE_MAX = 1 << 16 };
static const config_key keys[KEYS] = {
    {"nchannel", 1, true, false, false, 1.0, {6.0, 6.0}, "1 to 6"},
    {"size", 2, true, true, false, 1.0, {SIDE_MAX, SIDE_MAX}, "two whole numbers, 1 to 65536"},
    {"fov", 2, false, true, true, 0.0, {180.0, 90.0}, "two angles in degrees, above 0 and up to 180 and 90"},
    {"gamma", 1, false, false, false, 0.0, {1.0, 1.0}, "0 to 1"}};

static orr_result read_config(const mjcf_node *node, double values[KEYS][2], bool given[KEYS],
                              orr_error *error)
{
    static const char *const known[] = {"key", "value", NULL};
    const char *name = mjcf_find(node, "key");
    double numbers[2] = {0.0};
    int i = 0, count;
    ORR_TRY(check_attributes(node, known, error));
    ORR_TRY(mjcf_no_children(node, error));
    while (i < KEYS && !(name && strcmp(name, keys[i].name) == 0)) {
        i++;
    }
    if (i == KEYS || given[i]) {
        return mjcf_fail(node, error, "key: expected nchannel, size, fov or gamma, each once");
    }
    ORR_TRY(mjcf_read_numbers(node, "value", 0, 2, numbers, &count, error));
    bool good = count == keys[i].count;
    for (int k = 0; k < keys[i].count; k++) {
        good &= keys[i].above ? numbers[k] > keys[i].low : numbers[k] >= keys[i].low;
        good &= numbers[k] <= keys[i].high[k];
        good &= !keys[i].whole || numbers[k] == floor(numbers[k]);
        values[i][k] = numbers[k];
    }
    given[i] = true;
    return good ? ORR_OK : mjcf_fail(node, error, "value of %s: expected %s", keys[i].name, keys[i].expected);
}

// holder: the element whose children the numbers are.
static orr_result read_grid(const mjcf_node *holder, spec_sensor *sensor, orr_error *error)
{
    double values[KEYS][2] = {[CHANNELS] = {1.0}};
    bool given[KEYS] = {false};
    for (const mjcf_node *node = holder->children; node; node = node->next) {
        if (!mjcf_is(node, "config")) {
            return mjcf_unknown(node, holder, error);
        }
        ORR_TRY(read_config(node, values, given, error));
    }
    for (int i = 0; i < KEYS; i++) {
        if (keys[i].required && !given[i]) {
            return mjcf_fail(holder, error, "expected a <config> of %s: %s", keys[i].name, keys[i].expected);
        }
    }
    sensor->intprm[0] = (int32_t)values[CHANNELS][0];
    for (int k = 0; k < 2; k++) {
        sensor->intprm[1 + k] = (int32_t)values[SIZE][k];
        sensor->fov[k] = values[FOV][k] * 3.14159265358979323846 / 180.0;
    }
    sensor->fov[2] = values[GAMMA][0];
    return ORR_OK;
}

orr_result mjcf_read_plugin_sensor(mjcf_reader *reader, const mjcf_node *node)
{
    static const mjcf_member members[] = {
        {"cutoff", MJCF_REAL, offsetof(spec_sensor, cutoff), 1, 1, NULL},
        {"user", MJCF_NUMBERS, offsetof(spec_sensor, user), 0, SPEC_NUMBERS_MAX, NULL},
        {"objtype", MJCF_KEYWORD, offsetof(spec_sensor, objtype), 1, 1, mjcf_object_keys},
        {"objname", MJCF_TEXT, offsetof(spec_sensor, object), 1, 1, NULL},
        {"reftype", MJCF_KEYWORD, offsetof(spec_sensor, reftype), 1, 1, mjcf_object_keys},
        {"refname", MJCF_TEXT, offsetof(spec_sensor, reference), 1, 1, NULL},
        {NULL, MJCF_TEXT, 0, 0, 0, NULL}};
    static const char *const own[] = {"plugin", "instance", NULL};
    const char *instance = mjcf_find(node, "instance");
    const mjcf_node *holder = node;
    spec_sensor *sensor = SPEC_APPEND(reader->spec, sensors);
    if (!sensor) {
        return spec_memory_fail(reader->error);
    }
    sensor->type = ORR_SENSOR_TOUCH_GRID;
    ORR_TRY(mjcf_head(reader, node, &sensor->head));
    ORR_TRY(mjcf_read(node, members, own, sensor, reader->spec, reader->error));
    if (!instance || mjcf_find(node, "plugin")) {
        ORR_TRY(check_name(node, reader->error));
    }
    if (!is_declared(reader->root)) {
        return mjcf_fail(node, reader->error, "plugin: expected an <extension> with it");
    }
    if (instance) {
        holder = find_instance(reader->root, instance);
        if (!holder || node->children) {
            return mjcf_fail(node, reader->error,
                             "instance: expected one of an <extension>, and no <config>");
        }
    }
    ORR_TRY(read_grid(holder, sensor, reader->error));
    return sensor->objtype == ORR_OBJECT_SITE && sensor->object &&
                   (sensor->reftype == ORR_OBJECT_UNKNOWN) == (sensor->reference == NULL)
               ? ORR_OK
               : mjcf_fail(node, reader->error, "expected the objtype site, and objname");
}
