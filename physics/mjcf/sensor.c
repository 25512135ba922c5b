// Sensors: the object that each type is attached to. The compiler (model/actuators_sensors.c) finds how many
// numbers one has.
#include "physics/mjcf/mjcf.h"

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

enum {
    ELEMENT_COUNT = sizeof elements / sizeof elements[0],
    CONTACTS_MAX = 4096, // of a contact sensor
    USER_MAX = 1 << 16   // numbers of a user sensor
};

static const mjcf_key frame_keys[] = {{"body", ORR_OBJECT_BODY},     {"xbody", ORR_OBJECT_XBODY},
                                      {"geom", ORR_OBJECT_GEOM},     {"site", ORR_OBJECT_SITE},
                                      {"camera", ORR_OBJECT_CAMERA}, {NULL, 0}};

#define QUIET                                                                                                \
    {"cutoff", MJCF_REAL, offsetof(spec_sensor, cutoff), 1, 1, NULL},                                        \
        {"user", MJCF_NUMBERS, offsetof(spec_sensor, user), 0, SPEC_NUMBERS_MAX, NULL},                      \
        {"delay", MJCF_REAL, offsetof(spec_sensor, delay), 1, 1, NULL},                                      \
        {"interp", MJCF_KEYWORD, offsetof(spec_sensor, interpolation), 1, 1, mjcf_interpolation_keys},       \
        {"interval", MJCF_REAL, offsetof(spec_sensor, interval), 1, 2, NULL},                                \
    {                                                                                                        \
        "nsample", MJCF_INTEGER, offsetof(spec_sensor, nsample), 1, 1, NULL                                  \
    }
#define COMMON                                                                                               \
    QUIET,                                                                                                   \
    {                                                                                                        \
        "noise", MJCF_REAL, offsetof(spec_sensor, noise), 1, 1, NULL                                         \
    }

static const mjcf_member tactile_members[] = {QUIET, {NULL, MJCF_TEXT, 0, 0, 0, NULL}};
static const mjcf_member plain_members[] = {COMMON, {NULL, MJCF_TEXT, 0, 0, 0, NULL}};
static const mjcf_member frame_members[] = {
    COMMON,
    {"objtype", MJCF_KEYWORD, offsetof(spec_sensor, objtype), 1, 1, frame_keys},
    {"objname", MJCF_TEXT, offsetof(spec_sensor, object), 1, 1, NULL},
    {"reftype", MJCF_KEYWORD, offsetof(spec_sensor, reftype), 1, 1, frame_keys},
    {"refname", MJCF_TEXT, offsetof(spec_sensor, reference), 1, 1, NULL},
    {NULL, MJCF_TEXT, 0, 0, 0, NULL}};

// ---- attributes that name objects

typedef struct object_name { // an attribute that names an object of a kind
    const char *attribute;
    orr_object kind;
} object_name;

// The one of `names` that is given (ends with NULL; at most one may be); kind and object are not changed when
// none is.
static orr_result read_object(mjcf_reader *reader, const mjcf_node *node, const object_name *names,
                              bool required, int32_t *kind, const char **object)
{
    char choices[96] = "";
    int given = 0;
    for (const object_name *name = names; name->attribute; name++) {
        const char *value = mjcf_find(node, name->attribute);
        strncat(choices, " ", sizeof choices - strlen(choices) - 1);
        strncat(choices, name->attribute, sizeof choices - strlen(choices) - 1);
        if (value) {
            given++;
            *kind = (int32_t)name->kind;
            *object = value;
        }
    }
    return given == 1 || (given == 0 && !required) ? ORR_OK
                                                   : mjcf_fail(node, reader->error, "expected %s one of%s",
                                                               required ? "exactly" : "at most", choices);
}

// Words in the order of the keys, as bits.
static orr_result read_data(mjcf_reader *reader, const mjcf_node *node, const mjcf_key *keys, int32_t *bits)
{
    const char *text = mjcf_find(node, "data");
    *bits = keys[0].value;
    if (!text) {
        return ORR_OK;
    }
    *bits = 0;
    for (;;) {
        text += strspn(text, " \t\r\n");
        size_t length = strcspn(text, " \t\r\n");
        const mjcf_key *key = keys;
        while (key->name && (strlen(key->name) != length || strncmp(key->name, text, length) != 0)) {
            key++;
        }
        if (length == 0 && *bits) {
            return ORR_OK;
        }
        if (!key->name || *bits >= key->value) {
            return mjcf_fail(node, reader->error, "data: '%.32s' is unknown or out of order", text);
        }
        *bits |= key->value;
        text += length;
    }
}

// ---- sensors with attributes of their own

static orr_result read_distance(mjcf_reader *reader, const mjcf_node *node, spec_sensor *sensor)
{
    static const object_name first[] = {
        {"geom1", ORR_OBJECT_GEOM}, {"body1", ORR_OBJECT_BODY}, {NULL, ORR_OBJECT_UNKNOWN}};
    static const object_name second[] = {
        {"geom2", ORR_OBJECT_GEOM}, {"body2", ORR_OBJECT_BODY}, {NULL, ORR_OBJECT_UNKNOWN}};
    ORR_TRY(read_object(reader, node, first, true, &sensor->objtype, &sensor->object));
    return read_object(reader, node, second, true, &sensor->reftype, &sensor->reference);
}

static orr_result read_contact(mjcf_reader *reader, const mjcf_node *node, spec_sensor *sensor)
{
    static const object_name first[] = {{"geom1", ORR_OBJECT_GEOM},
                                        {"body1", ORR_OBJECT_BODY},
                                        {"subtree1", ORR_OBJECT_XBODY},
                                        {"site", ORR_OBJECT_SITE},
                                        {NULL, ORR_OBJECT_UNKNOWN}};
    static const object_name second[] = {{"geom2", ORR_OBJECT_GEOM},
                                         {"body2", ORR_OBJECT_BODY},
                                         {"subtree2", ORR_OBJECT_XBODY},
                                         {NULL, ORR_OBJECT_UNKNOWN}};
    static const mjcf_key data[] = {{"found", ORR_CONTACT_FOUND},     {"force", ORR_CONTACT_FORCE},
                                    {"torque", ORR_CONTACT_TORQUE},   {"dist", ORR_CONTACT_DIST},
                                    {"pos", ORR_CONTACT_POS},         {"normal", ORR_CONTACT_NORMAL},
                                    {"tangent", ORR_CONTACT_TANGENT}, {NULL, 0}};
    ORR_TRY(read_object(reader, node, first, false, &sensor->objtype, &sensor->object));
    ORR_TRY(read_object(reader, node, second, false, &sensor->reftype, &sensor->reference));
    ORR_TRY(read_data(reader, node, data, &sensor->intprm[0]));
    return sensor->intprm[2] > 0 && sensor->intprm[2] <= CONTACTS_MAX
               ? ORR_OK
               : mjcf_fail(node, reader->error, "num: expected 1 to %d", CONTACTS_MAX);
}

static orr_result read_camera_projection(mjcf_reader *reader, const mjcf_node *node, spec_sensor *sensor)
{
    static const object_name site[] = {{"site", ORR_OBJECT_SITE}, {NULL, ORR_OBJECT_UNKNOWN}};
    static const object_name camera[] = {{"camera", ORR_OBJECT_CAMERA}, {NULL, ORR_OBJECT_UNKNOWN}};
    ORR_TRY(read_object(reader, node, site, true, &sensor->objtype, &sensor->object));
    return read_object(reader, node, camera, true, &sensor->reftype, &sensor->reference);
}

static orr_result read_inside(mjcf_reader *reader, const mjcf_node *node, spec_sensor *sensor)
{
    static const object_name site[] = {{"site", ORR_OBJECT_SITE}, {NULL, ORR_OBJECT_UNKNOWN}};
    ORR_TRY(read_object(reader, node, site, true, &sensor->reftype, &sensor->reference));
    return sensor->object && sensor->objtype != ORR_OBJECT_UNKNOWN
               ? ORR_OK
               : mjcf_fail(node, reader->error, "expected objtype and objname");
}

static orr_result read_rangefinder(mjcf_reader *reader, const mjcf_node *node, spec_sensor *sensor)
{
    static const object_name from[] = {
        {"site", ORR_OBJECT_SITE}, {"camera", ORR_OBJECT_CAMERA}, {NULL, ORR_OBJECT_UNKNOWN}};
    static const mjcf_key data[] = {{"dist", ORR_RAY_DIST},
                                    {"dir", ORR_RAY_DIR},
                                    {"origin", ORR_RAY_ORIGIN},
                                    {"point", ORR_RAY_POINT},
                                    {"normal", ORR_RAY_NORMAL},
                                    {"depth", ORR_RAY_DEPTH},
                                    {NULL, 0}};
    ORR_TRY(read_object(reader, node, from, true, &sensor->objtype, &sensor->object));
    return read_data(reader, node, data, &sensor->intprm[0]);
}

static orr_result read_tactile(mjcf_reader *reader, const mjcf_node *node, spec_sensor *sensor)
{
    static const object_name mesh[] = {{"mesh", ORR_OBJECT_MESH}, {NULL, ORR_OBJECT_UNKNOWN}};
    static const object_name geom[] = {{"geom", ORR_OBJECT_GEOM}, {NULL, ORR_OBJECT_UNKNOWN}};
    ORR_TRY(read_object(reader, node, mesh, true, &sensor->objtype, &sensor->object));
    return read_object(reader, node, geom, true, &sensor->reftype, &sensor->reference);
}

static orr_result read_user(mjcf_reader *reader, const mjcf_node *node, spec_sensor *sensor)
{
    bool axis = sensor->datatype == ORR_DATA_AXIS, quaternion = sensor->datatype == ORR_DATA_QUATERNION;
    if (!mjcf_find(node, "dim") || sensor->dim < 0 || sensor->dim > USER_MAX || (axis && sensor->dim != 3) ||
        (quaternion && sensor->dim != 4)) {
        return mjcf_fail(node, reader->error, "dim: expected 0 to %d, 3 of an axis, 4 of a quaternion",
                         USER_MAX);
    }
    return (sensor->objtype == ORR_OBJECT_UNKNOWN) == (sensor->object == NULL)
               ? ORR_OK
               : mjcf_fail(node, reader->error, "objtype and objname: expected both or none");
}

static const mjcf_key reduce_keys[] = {{"none", ORR_REDUCE_NONE},
                                       {"mindist", ORR_REDUCE_MINDIST},
                                       {"maxforce", ORR_REDUCE_MAXFORCE},
                                       {"netforce", ORR_REDUCE_NETFORCE},
                                       {NULL, 0}};
static const mjcf_key data_keys[] = {{"real", ORR_DATA_REAL},
                                     {"positive", ORR_DATA_POSITIVE},
                                     {"axis", ORR_DATA_AXIS},
                                     {"quaternion", ORR_DATA_QUATERNION},
                                     {NULL, 0}};
static const mjcf_key stage_keys[] = {{"none", ORR_STAGE_NONE},
                                      {"pos", ORR_STAGE_POS},
                                      {"vel", ORR_STAGE_VEL},
                                      {"acc", ORR_STAGE_ACC},
                                      {NULL, 0}};
static const mjcf_member contact_members[] = {
    COMMON,
    {"reduce", MJCF_KEYWORD, offsetof(spec_sensor, intprm) + sizeof(int32_t), 1, 1, reduce_keys},
    {"num", MJCF_INTEGER, offsetof(spec_sensor, intprm) + 2 * sizeof(int32_t), 1, 1, NULL},
    {NULL, MJCF_TEXT, 0, 0, 0, NULL}};
static const mjcf_member object_members[] = {
    COMMON,
    {"objtype", MJCF_KEYWORD, offsetof(spec_sensor, objtype), 1, 1, frame_keys},
    {"objname", MJCF_TEXT, offsetof(spec_sensor, object), 1, 1, NULL},
    {"enclosed", MJCF_KEYWORD, offsetof(spec_sensor, intprm), 1, 1, mjcf_bool_keys},
    {NULL, MJCF_TEXT, 0, 0, 0, NULL}};
static const mjcf_member user_members[] = {
    {"cutoff", MJCF_REAL, offsetof(spec_sensor, cutoff), 1, 1, NULL},
    {"noise", MJCF_REAL, offsetof(spec_sensor, noise), 1, 1, NULL},
    {"user", MJCF_NUMBERS, offsetof(spec_sensor, user), 0, SPEC_NUMBERS_MAX, NULL},
    {"objtype", MJCF_KEYWORD, offsetof(spec_sensor, objtype), 1, 1, mjcf_object_keys},
    {"objname", MJCF_TEXT, offsetof(spec_sensor, object), 1, 1, NULL},
    {"dim", MJCF_INTEGER, offsetof(spec_sensor, dim), 1, 1, NULL},
    {"datatype", MJCF_KEYWORD, offsetof(spec_sensor, datatype), 1, 1, data_keys},
    {"needstage", MJCF_KEYWORD, offsetof(spec_sensor, needstage), 1, 1, stage_keys},
    {NULL, MJCF_TEXT, 0, 0, 0, NULL}};

typedef struct special_element {
    const char *name;
    orr_sensor_type type;
    const mjcf_member *members;
    const char *own[8];
    orr_result (*read)(mjcf_reader *reader, const mjcf_node *node, spec_sensor *sensor);
} special_element;

#define DISTANCE_OWN                                                                                         \
    {                                                                                                        \
        "geom1", "body1", "geom2", "body2"                                                                   \
    }
static const special_element specials[] = {
    {"rangefinder", ORR_SENSOR_RANGEFINDER, plain_members, {"site", "camera", "data"}, read_rangefinder},
    {"camprojection", ORR_SENSOR_CAMPROJECTION, plain_members, {"site", "camera"}, read_camera_projection},
    {"insidesite", ORR_SENSOR_INSIDESITE, object_members, {"site"}, read_inside},
    {"distance", ORR_SENSOR_GEOMDIST, plain_members, DISTANCE_OWN, read_distance},
    {"normal", ORR_SENSOR_GEOMNORMAL, plain_members, DISTANCE_OWN, read_distance},
    {"fromto", ORR_SENSOR_GEOMFROMTO, plain_members, DISTANCE_OWN, read_distance},
    {"contact",
     ORR_SENSOR_CONTACT,
     contact_members,
     {"geom1", "body1", "subtree1", "site", "geom2", "body2", "subtree2", "data"},
     read_contact},
    {"tactile", ORR_SENSOR_TACTILE, tactile_members, {"mesh", "geom"}, read_tactile},
    {"user", ORR_SENSOR_USER, user_members, {NULL}, read_user},
};
enum { SPECIAL_COUNT = sizeof specials / sizeof specials[0] };

static orr_result read_special(mjcf_reader *reader, const mjcf_node *node, const special_element *element)
{
    spec_sensor *sensor = SPEC_APPEND(reader->spec, sensors);
    if (!sensor) {
        return spec_memory_fail(reader->error);
    }
    sensor->type = (int32_t)element->type;
    sensor->intprm[2] = element->type == ORR_SENSOR_CONTACT;
    sensor->needstage = ORR_STAGE_ACC;
    const char *own[9] = {NULL};
    memcpy(own, element->own, sizeof element->own);
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_head(reader, node, &sensor->head));
    ORR_TRY(mjcf_read(node, element->members, own, sensor, reader->spec, reader->error));
    return element->read(reader, node, sensor);
}

// ---- all others

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
    ORR_TRY(mjcf_read(node, frame ? frame_members : plain_members, own, sensor, reader->spec, reader->error));
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
        int i = 0, k = 0;
        while (i < ELEMENT_COUNT && !mjcf_is(node, elements[i].name)) {
            i++;
        }
        while (k < SPECIAL_COUNT && !mjcf_is(node, specials[k].name)) {
            k++;
        }
        if (i < ELEMENT_COUNT) {
            ORR_TRY(read_sensor(reader, node, &elements[i]));
        } else if (k < SPECIAL_COUNT) {
            ORR_TRY(read_special(reader, node, &specials[k]));
        } else if (mjcf_is(node, "plugin")) {
            ORR_TRY(mjcf_read_plugin_sensor(reader, node));
        } else {
            return mjcf_unknown(node, section, reader->error);
        }
    }
    return ORR_OK;
}

const char *orr_model_sensor_kind(int sensor_type)
{
    if (sensor_type == ORR_SENSOR_TOUCH_GRID) {
        return "touch_grid";
    }
    for (int k = 0; k < SPECIAL_COUNT; k++) {
        if ((int)specials[k].type == sensor_type) {
            return specials[k].name;
        }
    }
    int i = 0;
    while (i + 1 < ELEMENT_COUNT && (int)elements[i].type != sensor_type) {
        i++;
    }
    return elements[i].name;
}
