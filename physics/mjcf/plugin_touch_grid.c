// Touch grids: the plugin mujoco.sensor.touch_grid of sensors.
#include "physics/mjcf/mjcf.h"

#include <string.h>

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
    const char *name = mjcf_find(node, "key");
    double numbers[2] = {0.0};
    int i = 0, count;
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
        ORR_TRY(mjcf_check_config(node, holder, error));
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
    const mjcf_node *holder;
    spec_sensor *sensor = SPEC_APPEND(reader->spec, sensors);
    if (!sensor) {
        return spec_memory_fail(reader->error);
    }
    sensor->type = ORR_SENSOR_TOUCH_GRID;
    ORR_TRY(mjcf_head(reader, node, &sensor->head));
    ORR_TRY(mjcf_read(node, members, own, sensor, reader->spec, reader->error));
    ORR_TRY(mjcf_find_config(reader, node, mjcf_touch_grid, &holder));
    ORR_TRY(read_grid(holder, sensor, reader->error));
    return sensor->objtype == ORR_OBJECT_SITE && sensor->object &&
                   (sensor->reftype == ORR_OBJECT_UNKNOWN) == (sensor->reference == NULL)
               ? ORR_OK
               : mjcf_fail(node, reader->error, "expected the objtype site, and objname");
}
