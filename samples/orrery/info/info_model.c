// Robots: sizes, the tree of bodies with their joints, and the sensors.
#include "samples/orrery/info/info.h"

#include "physics/load/load.h"

#include <stdio.h>

static const char *joint_name(int type)
{
    static const char *const names[] = {"free", "ball", "slide", "hinge"};
    return names[type];
}

static int depth_of(const orr_model *model, int body)
{
    int depth = 0;
    for (; body > 0; body = model->body_parentid[body]) {
        depth++;
    }
    return depth;
}

static void print_joint(const orr_model *model, int joint, int depth)
{
    const double *axis = model->jnt_axis + 3 * joint, *range = model->jnt_range + 2 * joint;
    int type = model->jnt_type[joint];
    printf("  %*s- %s %s", 2 * depth, "", joint_name(type), orr_model_name(model, ORR_OBJECT_JOINT, joint));
    if (type == ORR_JOINT_SLIDE || type == ORR_JOINT_HINGE) {
        printf(" axis %.3g %.3g %.3g", axis[0], axis[1], axis[2]);
    }
    if (model->jnt_limited[joint]) {
        printf(" range %.4g .. %.4g %s", range[0], range[1], type == ORR_JOINT_SLIDE ? "m" : "rad");
    }
    printf("\n");
}

static void print_tree(const orr_model *model)
{
    for (int body = 0; body < model->nbody; body++) {
        const char *name = orr_model_name(model, ORR_OBJECT_BODY, body);
        int depth = depth_of(model, body), geoms = model->body_geomnum[body];
        printf("  %*s%s", 2 * depth, "", name[0] ? name : "(unnamed)");
        if (body > 0) {
            printf(" %.4g kg", model->body_mass[body]);
        }
        printf(", %d geom%s\n", geoms, geoms == 1 ? "" : "s");
        for (int k = 0; k < model->body_jntnum[body]; k++) {
            print_joint(model, model->body_jntadr[body] + k, depth + 1);
        }
    }
}

static void add_tree(const orr_model *model, cJSON *json)
{
    cJSON *bodies = cJSON_AddArrayToObject(json, "bodies");
    for (int body = 0; body < model->nbody; body++) {
        cJSON *entry = cJSON_CreateObject(), *joints;
        cJSON_AddStringToObject(entry, "name", orr_model_name(model, ORR_OBJECT_BODY, body));
        cJSON_AddNumberToObject(entry, "parent", model->body_parentid[body]);
        cJSON_AddNumberToObject(entry, "mass", model->body_mass[body]);
        joints = cJSON_AddArrayToObject(entry, "joints");
        for (int k = 0; k < model->body_jntnum[body]; k++) {
            int joint = model->body_jntadr[body] + k;
            cJSON *hinge = cJSON_CreateObject();
            cJSON_AddStringToObject(hinge, "name", orr_model_name(model, ORR_OBJECT_JOINT, joint));
            cJSON_AddStringToObject(hinge, "type", joint_name(model->jnt_type[joint]));
            cJSON_AddItemToArray(joints, hinge);
        }
        cJSON_AddItemToArray(bodies, entry);
    }
}

// What a sensor is attached to; "" for energy and time.
static const char *sensor_object(const orr_model *model, int sensor)
{
    int kind = model->sensor_objtype[sensor];
    return kind == ORR_OBJECT_UNKNOWN ? ""
                                      : orr_model_name(model, (orr_object)kind, model->sensor_objid[sensor]);
}

static void print_sensors(const orr_model *model)
{
    for (int i = 0; i < model->nsensor; i++) {
        int adr = model->sensor_adr[i], dim = model->sensor_dim[i];
        printf("  sensordata %d", adr);
        if (dim > 1) {
            printf(" .. %d", adr + dim - 1);
        }
        printf(": %s %s", orr_model_sensor_kind(model->sensor_type[i]), sensor_object(model, i));
        const char *name = orr_model_name(model, ORR_OBJECT_SENSOR, i);
        if (name[0]) {
            printf(" '%s'", name);
        }
        printf("\n");
    }
}

static void add_sensors(const orr_model *model, cJSON *json)
{
    cJSON *sensors = cJSON_AddArrayToObject(json, "sensors");
    for (int i = 0; i < model->nsensor; i++) {
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "name", orr_model_name(model, ORR_OBJECT_SENSOR, i));
        cJSON_AddStringToObject(entry, "type", orr_model_sensor_kind(model->sensor_type[i]));
        cJSON_AddStringToObject(entry, "object", sensor_object(model, i));
        cJSON_AddNumberToObject(entry, "adr", model->sensor_adr[i]);
        cJSON_AddNumberToObject(entry, "dim", model->sensor_dim[i]);
        cJSON_AddItemToArray(sensors, entry);
    }
}

orr_result info_model(const char *path, cJSON *json, orr_error *error)
{
    orr_model *model;
    ORR_TRY(orr_model_load(path, &model, error));
    if (json) {
        cJSON_AddStringToObject(json, "kind", "model");
        cJSON_AddStringToObject(json, "model", model->name);
#define ADD_SIZE(size) cJSON_AddNumberToObject(json, #size, model->size);
        ORR_MODEL_SIZES(ADD_SIZE)
#undef ADD_SIZE
        cJSON_AddNumberToObject(json, "unused", model->unused.count);
        add_tree(model, json);
        add_sensors(model, json);
    } else {
        printf("%s: robot '%s', %d bodies, %d joints, %d geoms, %.4g kg, %.1f MB in memory\n ", path,
               model->name, model->nbody, model->njnt, model->ngeom, model->body_subtreemass[0],
               (double)model->bytes * 1e-6);
#define PRINT_SIZE(size)                                                                                     \
    if (model->size) {                                                                                       \
        printf(" %s %d", #size, model->size);                                                                \
    }
        ORR_MODEL_SIZES(PRINT_SIZE)
#undef PRINT_SIZE
        printf("\n  timestep %.4g s, gravity %.4g %.4g %.4g m/s2\n", model->opt.timestep,
               model->opt.gravity[0], model->opt.gravity[1], model->opt.gravity[2]);
        print_tree(model);
        print_sensors(model);
        if (model->unused.count > 0) {
            printf("  not used: %d, the first: %s\n", model->unused.count, model->unused.first);
        }
    }
    orr_model_destroy(model);
    return ORR_OK;
}
