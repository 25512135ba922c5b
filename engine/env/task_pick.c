#include "engine/env/task_pick.h"

#include "engine/core/memory.h"
#include "engine/env/env_scene.h"
#include "engine/env/pads.h"

#include <stdio.h>
#include <string.h>

enum { NO_OBJECT = -1, SOFT_OBJECT = -2, PAD_OBJECT = -3, SOFT_VELOCITY = 3 };

// A quantity: objects with `width` numbers each, or with as many as each has (width 0).
typedef struct quantity {
    const char *name;
    int source, object, width;
} quantity;

static const quantity quantities[] = {
    {"qpos", ENV_QPOS, ORR_OBJECT_JOINT, 0},
    {"qvel", ENV_QVEL, ORR_OBJECT_JOINT, 0},
    {"qfrc_actuator", ENV_QFRC_ACTUATOR, ORR_OBJECT_JOINT, 0},
    {"qfrc_constraint", ENV_QFRC_CONSTRAINT, ORR_OBJECT_JOINT, 0},
    {"xpos", ENV_XPOS, ORR_OBJECT_BODY, 3},
    {"act", ENV_ACT, NO_OBJECT, 0},
    {"xquat", ENV_XQUAT, ORR_OBJECT_BODY, 4},
    {"xmat", ENV_XMAT, ORR_OBJECT_BODY, 9},
    {"geom_xmat", ENV_GEOM_XMAT, ORR_OBJECT_GEOM, 9},
    {"site_xmat", ENV_SITE_XMAT, ORR_OBJECT_SITE, 9},
    {"xipos", ENV_XIPOS, ORR_OBJECT_BODY, 3},
    {"subtree_com", ENV_SUBTREE_COM, ORR_OBJECT_BODY, 3},
    {"cinert", ENV_CINERT, ORR_OBJECT_BODY, 10},
    {"cvel", ENV_CVEL, ORR_OBJECT_BODY, 6},
    {"cfrc_ext", ENV_CFRC_EXT, ORR_OBJECT_BODY, 6},
    {"geom_xpos", ENV_GEOM_XPOS, ORR_OBJECT_GEOM, 3},
    {"site_xpos", ENV_SITE_XPOS, ORR_OBJECT_SITE, 3},
    {"ten_length", ENV_TEN_LENGTH, ORR_OBJECT_TENDON, 1},
    {"ten_velocity", ENV_TEN_VELOCITY, ORR_OBJECT_TENDON, 1},
    {"soft_com", ENV_SOFT, SOFT_OBJECT, 3},
    {"soft_velocity", ENV_SOFT, SOFT_OBJECT, 3},
    {"sensordata", ENV_SENSORDATA, ORR_OBJECT_SENSOR, 0},
    {"tactile", ENV_TACTILE, PAD_OBJECT, 3},
    {"tactile_height", ENV_TACTILE, PAD_OBJECT, 1},
    {"action", ENV_FROM_ACTION, NO_OBJECT, 1},
    {"constant", ENV_FROM_CONSTANT, NO_OBJECT, 1},
    {0},
};
static const quantity parameters[] = {
    {"body_mass", ORR_PARAMETER_BODY_MASS, ORR_OBJECT_BODY, 1},
    {"body_inertia", ORR_PARAMETER_BODY_INERTIA, ORR_OBJECT_BODY, 3},
    {"geom_friction", ORR_PARAMETER_GEOM_FRICTION, ORR_OBJECT_GEOM, 3},
    {"geom_size", ORR_PARAMETER_GEOM_SIZE, ORR_OBJECT_GEOM, 3},
    {"dof_damping", ORR_PARAMETER_DOF_DAMPING, ORR_OBJECT_JOINT, 0},
    {"dof_armature", ORR_PARAMETER_DOF_ARMATURE, ORR_OBJECT_JOINT, 0},
    {"actuator_gain", ORR_PARAMETER_ACTUATOR_GAIN, ORR_OBJECT_ACTUATOR, ORR_NGAIN},
    {"actuator_bias", ORR_PARAMETER_ACTUATOR_BIAS, ORR_OBJECT_ACTUATOR, ORR_NBIAS},
    {"gravity", ORR_PARAMETER_GRAVITY, NO_OBJECT, 3},
    {"camera_offset", ENV_LOOK_CAMERA_OFFSET, NO_OBJECT, 3},
    {"camera_turn", ENV_LOOK_CAMERA_TURN, NO_OBJECT, 3},
    {"light_turn", ENV_LOOK_LIGHT_TURN, NO_OBJECT, 3},
    {"light", ENV_LOOK_LIGHT, NO_OBJECT, 3},
    {"exposure", ENV_LOOK_EXPOSURE, NO_OBJECT, 1},
    {"background", ENV_LOOK_BACKGROUND, NO_OBJECT, 3},
    {0},
};
static const quantity *const tables[] = {quantities, parameters};

// An object's numbers among those of the quantity.
static void range_of(const quantity *q, const env_objects *o, int object, int *first, int *count)
{
    const orr_model *m = o->model;
    static const int positions[] = {7, 4, 1, 1}, velocities[] = {6, 3, 1, 1}; // of joints, by type
    if (q == &quantities[0]) {                                                // qpos
        *first = m->jnt_qposadr[object], *count = positions[m->jnt_type[object]];
    } else if (q->object == ORR_OBJECT_JOINT) {
        *first = m->jnt_dofadr[object], *count = velocities[m->jnt_type[object]];
    } else if (q->object == ORR_OBJECT_SENSOR) {
        *first = m->sensor_adr[object], *count = m->sensor_dim[object];
    } else if (q->object == SOFT_OBJECT) {
        *first = object * ENV_SOFT_NUMBERS + (strcmp(q->name, "soft_velocity") == 0 ? SOFT_VELOCITY : 0);
        *count = q->width;
    } else if (q->object == PAD_OBJECT) { // heights are behind all forces
        *first = (q->width == 1 ? 3 * o->pads->taxels : 0) + o->pads->first[object] * q->width;
        *count = o->pads->pad[object].rows * o->pads->pad[object].columns * q->width;
    } else {
        *first = object * q->width, *count = q->width;
    }
}

static int total_of(const quantity *q, env_pick_kind kind, const env_objects *objects)
{
    const orr_model *m = objects->model;
    if (kind == ENV_PICK_QUANTITY) {
        switch (q->source) {
        case ENV_QPOS:
            return m->nq;
        case ENV_ACT:
            return m->na;
        case ENV_SENSORDATA:
            return m->nsensordata;
        case ENV_FROM_ACTION:
            return m->nu;
        default:
            break;
        }
    }
    return q->object == NO_OBJECT          ? q->width
           : q->object == SOFT_OBJECT      ? objects->soft_count * q->width
           : q->object == PAD_OBJECT       ? (objects->pads ? objects->pads->taxels * q->width : 0)
           : q->object == ORR_OBJECT_JOINT ? m->nv
                                           : orr_model_count(m, (orr_object)q->object) * q->width;
}

static orr_result find_quantity(const orr_json *json, env_pick_kind kind, const char *of, const quantity **q,
                                orr_error *error)
{
    char list[512] = "";
    for (const quantity *each = tables[kind]; each->name; each++) {
        if (of && strcmp(each->name, of) == 0) {
            *q = each;
            return ORR_OK;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", each->name);
    }
    // what task_randomise.c and task_surfaces read by themselves
    const char *others = kind == ENV_PICK_PARAMETER ? "mass, gain, geom_surface, material_surface, " : "";
    return orr_json_expected(json, "of", error, "a quantity: %s%s", others, list);
}

static orr_result add_object(const orr_json *json, const quantity *q, const env_objects *objects,
                             const cJSON *name, int *index, int *count, orr_error *error)
{
    const char *text = cJSON_IsString(name) ? name->valuestring : NULL;
    int object = q->object == SOFT_OBJECT  ? env_objects_soft(objects, text)
                 : q->object == PAD_OBJECT ? env_pads_find(objects->pads, text)
                 : q->object != NO_OBJECT  ? env_objects_find(objects, (orr_object)q->object, text)
                                           : -1;
    if (object < 0) {
        return orr_json_expected(json, "name", error, "names of what %s has in this robot", q->name);
    }
    int first, numbers;
    range_of(q, objects, object, &first, &numbers);
    for (int i = 0; i < numbers; i++) {
        index[(*count)++] = first + i;
    }
    return ORR_OK;
}

static void add_all(const quantity *q, const env_objects *objects, int total, int *index, int *count)
{
    const int world = q->object == ORR_OBJECT_BODY ? q->width : 0; // bodies: all but the world
    for (int i = world; i < total; i++) {
        int first = i, numbers;
        if (q->object == SOFT_OBJECT) {
            range_of(q, objects, i / q->width, &first, &numbers);
            first += i % q->width;
        } else if (q->object == PAD_OBJECT && q->width == 1) {
            first += 3 * total;
        }
        index[(*count)++] = first;
    }
}

// All objects, or those named. A name twice is an error: `index` has room for the numbers of all and of one
// more.
static orr_result add_objects(const orr_json *json, const quantity *q, const env_objects *objects, int total,
                              int *index, int *count, orr_error *error)
{
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(json->node, "name");
    if (!name) {
        add_all(q, objects, total, index, count);
        return ORR_OK;
    }
    const cJSON *each = cJSON_IsArray(name) ? name->child : name;
    for (; each; each = cJSON_IsArray(name) ? each->next : NULL) {
        int before = *count;
        ORR_TRY(add_object(json, q, objects, each, index, count, error));
        for (int i = 0; i < before && before < *count; i++) {
            if (index[i] == index[before]) {
                return orr_json_expected(json, "name", error, "each name once");
            }
        }
    }
    return ORR_OK;
}

static orr_result read_axis(const orr_json *json, const quantity *q, int *index, int *count, orr_error *error)
{
    int axis = -1;
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(json->node, "axis");
    if (!node) {
        return ORR_OK;
    }
    const int width = q->width > 1 ? q->width : 0;
    if (cJSON_IsString(node) && node->valuestring[0] >= 'x' && node->valuestring[0] <= 'z' &&
        !node->valuestring[1] && width == 3) {
        axis = node->valuestring[0] - 'x';
    } else if (cJSON_IsString(node) && width == 9 && strlen(node->valuestring) == 2 &&
               strspn(node->valuestring, "xyz") == 2) {
        axis = 3 * (node->valuestring[0] - 'x') + (node->valuestring[1] - 'x');
    } else if (!cJSON_IsString(node) && width > 0) {
        ORR_TRY(orr_json_whole(json, "axis", NULL, 0, width - 1, &axis, error));
    } else {
        return orr_json_expected(json, "axis", error, "none of %s%s", q->name,
                                 width == 3   ? " but x, y, z or 0 to 2"
                                 : width == 9 ? " but xx, xy ... zz or 0 to 8"
                                              : "");
    }
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        if (index[i] % width == axis) {
            index[kept++] = index[i];
        }
    }
    *count = kept;
    return ORR_OK;
}

orr_result env_pick_read_of(const orr_json *json, env_pick_kind kind, const char *of,
                            const env_objects *objects, env_pick *pick, orr_error *error)
{
    const quantity *q = NULL;
    int count = 0, from = 0;
    ORR_TRY(find_quantity(json, kind, of, &q, error));
    const int total = total_of(q, kind, objects);
    ORR_ALLOC(pick->index, 2 * total + 1, "a task", error);
    pick->source = q->source;
    ORR_TRY(add_objects(json, q, objects, total, pick->index, &count, error));
    ORR_TRY(read_axis(json, q, pick->index, &count, error));
    ORR_TRY(orr_json_whole(json, "from", NULL, 0, count > 0 ? count - 1 : 0, &from, error));
    int kept = count - from;
    ORR_TRY(orr_json_whole(json, "count", NULL, 1, kept > 1 ? kept : 1, &kept, error));
    if (kept < 1) {
        return orr_json_expected(json, "of", error, "a quantity that this robot has, not %s", q->name);
    }
    memmove(pick->index, pick->index + from, (size_t)kept * sizeof *pick->index);
    pick->count = kept;
    return ORR_OK;
}

orr_result env_pick_read(const orr_json *json, const env_objects *objects, env_pick *pick, orr_error *error)
{
    const char *of = NULL;
    ORR_TRY(orr_json_require(json, "of", "a quantity, such as qpos", error));
    ORR_TRY(orr_json_string(json, "of", &of, error));
    return env_pick_read_of(json, ENV_PICK_QUANTITY, of, objects, pick, error);
}
