// Sensors: which object each type is attached to. What it measures, and how many numbers that is, the compiler knows.
#include "physics/mjcf.h"

#include <string.h>

typedef struct sensor_element {
    const char *name;
    orr_sensor_type type;
    orr_object object;     // 0: a frame that objtype and objname name, or nothing
    const char *attribute; // Nullable: with the name of the object
} sensor_element;

static const sensor_element elements[] = {
    {"touch", ORR_SENSOR_TOUCH, ORR_OBJECT_SITE, "site"},
    {"accelerometer", ORR_SENSOR_ACCELEROMETER, ORR_OBJECT_SITE, "site"},
    {"velocimeter", ORR_SENSOR_VELOCIMETER, ORR_OBJECT_SITE, "site"},
    {"gyro", ORR_SENSOR_GYRO, ORR_OBJECT_SITE, "site"},
    {"force", ORR_SENSOR_FORCE, ORR_OBJECT_SITE, "site"},
    {"torque", ORR_SENSOR_TORQUE, ORR_OBJECT_SITE, "site"},
    {"magnetometer", ORR_SENSOR_MAGNETOMETER, ORR_OBJECT_SITE, "site"},
    {"rangefinder", ORR_SENSOR_RANGEFINDER, ORR_OBJECT_SITE, "site"},
    {"jointpos", ORR_SENSOR_JOINTPOS, ORR_OBJECT_JOINT, "joint"},
    {"jointvel", ORR_SENSOR_JOINTVEL, ORR_OBJECT_JOINT, "joint"},
    {"tendonpos", ORR_SENSOR_TENDONPOS, ORR_OBJECT_TENDON, "tendon"},
    {"tendonvel", ORR_SENSOR_TENDONVEL, ORR_OBJECT_TENDON, "tendon"},
    {"actuatorpos", ORR_SENSOR_ACTUATORPOS, ORR_OBJECT_ACTUATOR, "actuator"},
    {"actuatorvel", ORR_SENSOR_ACTUATORVEL, ORR_OBJECT_ACTUATOR, "actuator"},
    {"actuatorfrc", ORR_SENSOR_ACTUATORFRC, ORR_OBJECT_ACTUATOR, "actuator"},
    {"jointactuatorfrc", ORR_SENSOR_JOINTACTFRC, ORR_OBJECT_JOINT, "joint"},
    {"tendonactuatorfrc", ORR_SENSOR_TENDONACTFRC, ORR_OBJECT_TENDON, "tendon"},
    {"ballquat", ORR_SENSOR_BALLQUAT, ORR_OBJECT_JOINT, "joint"},
    {"ballangvel", ORR_SENSOR_BALLANGVEL, ORR_OBJECT_JOINT, "joint"},
    {"jointlimitpos", ORR_SENSOR_JOINTLIMITPOS, ORR_OBJECT_JOINT, "joint"},
    {"jointlimitvel", ORR_SENSOR_JOINTLIMITVEL, ORR_OBJECT_JOINT, "joint"},
    {"jointlimitfrc", ORR_SENSOR_JOINTLIMITFRC, ORR_OBJECT_JOINT, "joint"},
    {"tendonlimitpos", ORR_SENSOR_TENDONLIMITPOS, ORR_OBJECT_TENDON, "tendon"},
    {"tendonlimitvel", ORR_SENSOR_TENDONLIMITVEL, ORR_OBJECT_TENDON, "tendon"},
    {"tendonlimitfrc", ORR_SENSOR_TENDONLIMITFRC, ORR_OBJECT_TENDON, "tendon"},
    {"framepos", ORR_SENSOR_FRAMEPOS, ORR_OBJECT_UNKNOWN, "objname"},
    {"framequat", ORR_SENSOR_FRAMEQUAT, ORR_OBJECT_UNKNOWN, "objname"},
    {"framexaxis", ORR_SENSOR_FRAMEXAXIS, ORR_OBJECT_UNKNOWN, "objname"},
    {"frameyaxis", ORR_SENSOR_FRAMEYAXIS, ORR_OBJECT_UNKNOWN, "objname"},
    {"framezaxis", ORR_SENSOR_FRAMEZAXIS, ORR_OBJECT_UNKNOWN, "objname"},
    {"framelinvel", ORR_SENSOR_FRAMELINVEL, ORR_OBJECT_UNKNOWN, "objname"},
    {"frameangvel", ORR_SENSOR_FRAMEANGVEL, ORR_OBJECT_UNKNOWN, "objname"},
    {"framelinacc", ORR_SENSOR_FRAMELINACC, ORR_OBJECT_UNKNOWN, "objname"},
    {"frameangacc", ORR_SENSOR_FRAMEANGACC, ORR_OBJECT_UNKNOWN, "objname"},
    {"subtreecom", ORR_SENSOR_SUBTREECOM, ORR_OBJECT_BODY, "body"},
    {"subtreelinvel", ORR_SENSOR_SUBTREELINVEL, ORR_OBJECT_BODY, "body"},
    {"subtreeangmom", ORR_SENSOR_SUBTREEANGMOM, ORR_OBJECT_BODY, "body"},
    {"e_potential", ORR_SENSOR_E_POTENTIAL, ORR_OBJECT_UNKNOWN, NULL},
    {"e_kinetic", ORR_SENSOR_E_KINETIC, ORR_OBJECT_UNKNOWN, NULL},
    {"clock", ORR_SENSOR_CLOCK, ORR_OBJECT_UNKNOWN, NULL},
};

static const mjcf_key frame_keys[] = {{"body", ORR_OBJECT_BODY},     {"xbody", ORR_OBJECT_XBODY},
                                      {"geom", ORR_OBJECT_GEOM},     {"site", ORR_OBJECT_SITE},
                                      {"camera", ORR_OBJECT_CAMERA}, {NULL, 0}};

#define COMMON                                                                                               \
    {"cutoff", MJCF_REAL, offsetof(spec_sensor, cutoff), 1, 1, NULL},                                        \
        {"noise", MJCF_REAL, offsetof(spec_sensor, noise), 1, 1, NULL},                                      \
        {"user", MJCF_NUMBERS, offsetof(spec_sensor, user), 0, SPEC_NUMBERS_MAX, NULL},                      \
        {"delay", MJCF_UNSUPPORTED, 0, 0, 0, NULL}, {"interp", MJCF_UNSUPPORTED, 0, 0, 0, NULL},             \
        {"interval", MJCF_UNSUPPORTED, 0, 0, 0, NULL},                                                       \
    {                                                                                                        \
        "nsample", MJCF_UNSUPPORTED, 0, 0, 0, NULL                                                           \
    }

static const mjcf_field plain_fields[] = {COMMON, {NULL, MJCF_TEXT, 0, 0, 0, NULL}};
static const mjcf_field frame_fields[] = {
    COMMON,
    {"objtype", MJCF_KEYWORD, offsetof(spec_sensor, objtype), 1, 1, frame_keys},
    {"objname", MJCF_TEXT, offsetof(spec_sensor, object), 1, 1, NULL},
    {"reftype", MJCF_KEYWORD, offsetof(spec_sensor, reftype), 1, 1, frame_keys},
    {"refname", MJCF_TEXT, offsetof(spec_sensor, reference), 1, 1, NULL},
    {NULL, MJCF_TEXT, 0, 0, 0, NULL}};

static orr_result read_sensor(mjcf_reader *reader, const mjcf_node *node, const sensor_element *element)
{
    spec_sensor *sensor = SPEC_APPEND(reader->spec, sensors);
    if (!sensor) {
        return spec_memory_fail(reader->error);
    }
    sensor->type = (int32_t)element->type;
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_head(reader, node, &sensor->head));
    bool frame = element->attribute && element->object == ORR_OBJECT_UNKNOWN;
    const char *const own[] = {frame ? NULL : element->attribute, NULL};
    ORR_TRY(mjcf_read(node, frame ? frame_fields : plain_fields, own, sensor, reader->spec, reader->error));
    if (!frame) {
        sensor->objtype = (int32_t)element->object;
        sensor->object = element->attribute ? mjcf_find(node, element->attribute) : NULL;
    }
    if (element->attribute && (!sensor->object || sensor->objtype == ORR_OBJECT_UNKNOWN)) {
        return mjcf_fail(node, reader->error, "expected %s%s", frame ? "objtype and " : "",
                         element->attribute);
    }
    bool accelerates = element->type == ORR_SENSOR_FRAMELINACC || element->type == ORR_SENSOR_FRAMEANGACC;
    if ((sensor->reftype == ORR_OBJECT_UNKNOWN) != (sensor->reference == NULL) ||
        (accelerates && sensor->reference)) {
        return mjcf_fail(node, reader->error,
                         accelerates ? "refname: accelerations have no reference frame"
                                     : "reftype and refname: expected both or none");
    }
    return ORR_OK;
}

orr_result mjcf_read_sensors(mjcf_reader *reader, const mjcf_node *section)
{
    for (const mjcf_node *node = section->children; node; node = node->next) {
        size_t i = 0, count = sizeof elements / sizeof elements[0];
        while (i < count && !mjcf_is(node, elements[i].name)) {
            i++;
        }
        if (i == count) {
            return mjcf_unknown(node, section, reader->error);
        }
        ORR_TRY(read_sensor(reader, node, &elements[i]));
    }
    return ORR_OK;
}

const char *orr_model_sensor_kind(int sensor_type)
{
    size_t i = 0, count = sizeof elements / sizeof elements[0];
    while (i + 1 < count && (int)elements[i].type != sensor_type) {
        i++;
    }
    return elements[i].name;
}
