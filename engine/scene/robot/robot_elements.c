// The public functions that describe a robot (engine/orrery.h): sizes, and names of its elements.
#include "engine/core/entry.h"
#include "engine/core/sized.h"
#include "engine/scene/scene.h"

orr_result orr_robot_layer(const orr_scene *scene, orr_layer id, const orr_layer_data **layer,
                           orr_error *error)
{
    int index = orr_scene_find(scene, id);
    if (index < 0) {
        return orr_scene_stale(id, error);
    }
    *layer = &scene->layers[index];
    if (!orr_layer_physical(*layer)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "layer %s: expected a robot, or a layer with physics",
                        (*layer)->name);
    }
    return ORR_OK;
}

// Its soft bodies that move by themselves: those that nodes move follow the robot.
static int soft_layers(const orr_model *m)
{
    int count = 0;
    for (int i = 0; i < m->nflex; i++) {
        count += m->flex_interp[i] == 0;
    }
    return count;
}

orr_result orr_scene_robot_info_sized(const orr_scene *scene, orr_layer id, orr_robot_info *info,
                                      size_t info_size, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_REQUIRE(info, error);
    const orr_layer_data *layer = NULL;
    ORR_TRY(orr_robot_layer(scene, id, &layer, error));
    const orr_model *m = orr_layer_physical(layer)->model;
    const orr_robot_info own = {.qpos_count = m->nq,
                                .qvel_count = m->nv,
                                .act_count = m->na,
                                .ctrl_count = m->nu,
                                .body_count = m->nbody,
                                .keyframe_count = m->nkey,
                                .timestep = orr_scene_timestep(scene, layer),
                                .equality_count = m->neq,
                                .mocap_count = m->nmocap,
                                .joint_count = m->njnt,
                                .actuator_count = m->nactuator,
                                .sensor_count = m->nsensor,
                                .sensor_number_count = m->nsensordata,
                                .geom_count = m->ngeom,
                                .site_count = m->nsite,
                                .tendon_count = m->ntendon,
                                .camera_count = m->ncam,
                                .soft_count = soft_layers(m),
                                .output_count = m->nout,
                                .unused_count = m->unused.count,
                                .unused_first = m->unused.first,
                                .material_count = orr_model_count(m, ORR_OBJECT_MATERIAL)};
    orr_sized_write(&own, sizeof own, info, info_size);
    return ORR_OK;
}

// The model of a robot's layer, NULL where there is none.
static const orr_model *model_of(const orr_scene *scene, orr_layer id)
{
    const orr_layer_data *layer = NULL;
    return scene && orr_robot_layer(scene, id, &layer, NULL) == ORR_OK ? orr_layer_physical(layer)->model
                                                                       : NULL;
}

static orr_object object_of(orr_robot_object kind)
{
    static const orr_object objects[] = {
        [ORR_ROBOT_OBJECT_BODY] = ORR_OBJECT_BODY,         [ORR_ROBOT_OBJECT_GEOM] = ORR_OBJECT_GEOM,
        [ORR_ROBOT_OBJECT_SITE] = ORR_OBJECT_SITE,         [ORR_ROBOT_OBJECT_JOINT] = ORR_OBJECT_JOINT,
        [ORR_ROBOT_OBJECT_TENDON] = ORR_OBJECT_TENDON,     [ORR_ROBOT_OBJECT_ACTUATOR] = ORR_OBJECT_ACTUATOR,
        [ORR_ROBOT_OBJECT_SENSOR] = ORR_OBJECT_SENSOR,     [ORR_ROBOT_OBJECT_CAMERA] = ORR_OBJECT_CAMERA,
        [ORR_ROBOT_OBJECT_EQUALITY] = ORR_OBJECT_EQUALITY, [ORR_ROBOT_OBJECT_KEYFRAME] = ORR_OBJECT_KEY,
        [ORR_ROBOT_OBJECT_MATERIAL] = ORR_OBJECT_MATERIAL};
    return (unsigned)kind < sizeof objects / sizeof objects[0] ? objects[kind] : ORR_OBJECT_UNKNOWN;
}

const char *orr_scene_robot_name(const orr_scene *scene, orr_layer id, orr_robot_object kind, int index)
{
    const orr_model *m = model_of(scene, id);
    const orr_object object = object_of(kind);
    return m && object != ORR_OBJECT_UNKNOWN && index >= 0 && index < orr_model_count(m, object)
               ? orr_model_name(m, object, index)
               : NULL;
}

int orr_scene_robot_find(const orr_scene *scene, orr_layer id, orr_robot_object kind, const char *name)
{
    const orr_model *m = model_of(scene, id);
    const orr_object object = object_of(kind);
    return m && name && object != ORR_OBJECT_UNKNOWN ? orr_model_find(m, object, name) : -1;
}

const char *orr_scene_robot_body(const orr_scene *scene, orr_layer id, int body)
{
    return orr_scene_robot_name(scene, id, ORR_ROBOT_OBJECT_BODY, body);
}

static orr_result check_element(const char *what, int element, int count, orr_error *error)
{
    if (element < 0 || element >= count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s %d: expected 0 to %d, of %d", what, element, count - 1,
                        count);
    }
    return ORR_OK;
}

static void set_range(orr_robot_element *element, bool limited, const double range[2])
{
    element->limited = limited;
    element->low = limited ? range[0] : 0.0;
    element->high = limited ? range[1] : 0.0;
}

orr_result orr_scene_robot_element_sized(const orr_scene *scene, orr_layer id, orr_robot_element_kind kind,
                                         int index, orr_robot_element *element, size_t element_size,
                                         orr_error *error)
{
    static const int joint_numbers[][2] = {// of qpos, of qvel
                                           [ORR_JOINT_FREE] = {7, 6},
                                           [ORR_JOINT_BALL] = {4, 3},
                                           [ORR_JOINT_SLIDE] = {1, 1},
                                           [ORR_JOINT_HINGE] = {1, 1}};
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_REQUIRE(element, error);
    const orr_layer_data *layer = NULL;
    ORR_TRY(orr_robot_layer(scene, id, &layer, error));
    const orr_model *m = orr_layer_physical(layer)->model;
    orr_robot_element own = {0};
    switch (kind) {
    case ORR_ROBOT_ELEMENT_JOINT:
        ORR_TRY(check_element("joint", index, m->njnt, error));
        own.name = orr_model_name(m, ORR_OBJECT_JOINT, index);
        own.first = m->jnt_qposadr[index];
        own.first_velocity = m->jnt_dofadr[index];
        own.count = joint_numbers[m->jnt_type[index]][0];
        own.velocity_count = joint_numbers[m->jnt_type[index]][1];
        set_range(&own, m->jnt_limited[index] != 0, m->jnt_range + 2 * (size_t)index);
        break;
    case ORR_ROBOT_ELEMENT_ACTUATOR:
        ORR_TRY(check_element("actuator", index, m->nactuator, error));
        own.name = orr_model_name(m, ORR_OBJECT_ACTUATOR, index);
        own.first = m->actuator_ctrladr[index];
        own.count = m->actuator_ctrlnum[index];
        own.first_output = m->actuator_outadr[index];
        own.output_count = m->actuator_outnum[index];
        if (own.count > 0) {
            set_range(&own, m->actuator_ctrllimited[own.first] != 0,
                      m->actuator_ctrlrange + 2 * (size_t)own.first);
        }
        break;
    case ORR_ROBOT_ELEMENT_SENSOR:
        ORR_TRY(check_element("sensor", index, m->nsensor, error));
        own.name = orr_model_name(m, ORR_OBJECT_SENSOR, index);
        own.first = m->sensor_adr[index];
        own.count = m->sensor_dim[index];
        break;
    default:
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "element of kind %d: expected one of orr_robot_element_kind", (int)kind);
    }
    orr_sized_write(&own, sizeof own, element, element_size);
    return ORR_OK;
}
