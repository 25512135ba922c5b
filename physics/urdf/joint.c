// A URDF joint, between a link and its parent, into the joints of a body.
#include "engine/maths/rotation.h"
#include "physics/urdf/urdf.h"

#include <stdio.h>
#include <string.h>

typedef enum joint_kind { REVOLUTE, CONTINUOUS, PRISMATIC, FIXED, FLOATING, PLANAR, SPHERICAL } joint_kind;

static const mjcf_key kinds[] = {
    {"revolute", REVOLUTE}, {"continuous", CONTINUOUS}, {"prismatic", PRISMATIC}, {"fixed", FIXED},
    {"floating", FLOATING}, {"planar", PLANAR},         {"spherical", SPHERICAL}, {NULL, 0}};

static orr_result add(urdf_reader *reader, const urdf_link *child, int type, const char *ending,
                      const double axis[3])
{
    orr_spec *spec = reader->spec;
    spec_joint *joint = SPEC_APPEND(spec, joints);
    const char *name = mjcf_find(child->joint, "name");
    size_t size = strlen(name) + strlen(ending) + 1;
    char *full = orr_arena_take(&spec->arena, size, 1);
    if (!joint || !full) {
        return spec_memory_fail(reader->error);
    }
    snprintf(full, size, "%s%s", name, ending);
    *joint = reader->defaults->joint;
    joint->head = (spec_head){mjcf_location(child->joint), full};
    joint->body = child->body;
    joint->type = type;
    memcpy(joint->axis, axis, sizeof joint->axis);
    return ORR_OK;
}

// A planar joint becomes two slide joints along axes across the normal and a hinge about it.
static orr_result add_planar(urdf_reader *reader, const urdf_link *child, const double normal[3])
{
    double unit[3] = {normal[0], normal[1], normal[2]}, quat[4], mat[9];
    vec3_normalise(unit);
    quat_from_z(unit, quat);
    quat_matrix(quat, mat);
    const double x[3] = {mat[0], mat[3], mat[6]}, y[3] = {mat[1], mat[4], mat[7]};
    ORR_TRY(add(reader, child, ORR_JOINT_SLIDE, "_TX", x));
    ORR_TRY(add(reader, child, ORR_JOINT_SLIDE, "_TY", y));
    return add(reader, child, ORR_JOINT_HINGE, "_RZ", normal);
}

// Damping and friction, of all joints that one URDF joint became.
static orr_result read_dynamics(urdf_reader *reader, const mjcf_node *node, spec_joint *joints, int count)
{
    static const char *const attributes[] = {"damping", "friction", NULL};
    const mjcf_node *dynamics = urdf_child(node, "dynamics");
    if (!dynamics) {
        return ORR_OK;
    }
    ORR_TRY(urdf_check(reader, dynamics, attributes, NULL));
    for (int i = 0; i < count; i++) {
        ORR_TRY(urdf_numbers(reader, dynamics, "damping", 1, false, joints[i].damping));
        ORR_TRY(urdf_numbers(reader, dynamics, "friction", 1, false, &joints[i].frictionloss));
    }
    return ORR_OK;
}

// A range with one end, or with its ends exchanged, is ignored, as are limits of the velocity.
static orr_result read_limit(urdf_reader *reader, const mjcf_node *node, spec_joint *joint)
{
    static const char *const attributes[] = {"lower", "upper", "effort", "velocity", NULL};
    const mjcf_node *limit = urdf_child(node, "limit");
    double effort = 0.0, velocity;
    if (!limit) {
        return ORR_OK;
    }
    ORR_TRY(urdf_check(reader, limit, attributes, NULL));
    ORR_TRY(urdf_numbers(reader, limit, "lower", 1, false, &joint->range[0]));
    ORR_TRY(urdf_numbers(reader, limit, "upper", 1, false, &joint->range[1]));
    ORR_TRY(urdf_numbers(reader, limit, "effort", 1, false, &effort));
    ORR_TRY(urdf_numbers(reader, limit, "velocity", 1, false, &velocity));
    bool one = (mjcf_find(limit, "lower") != NULL) != (mjcf_find(limit, "upper") != NULL);
    if (one || joint->range[0] > joint->range[1]) {
        joint->limited = 0;
    }
    if (effort != 0.0) {
        joint->actfrcrange[0] = -fabs(effort);
        joint->actfrcrange[1] = fabs(effort);
    }
    return ORR_OK;
}

// position = multiplier * that of the other joint + offset, as a joint equality.
static orr_result read_mimic(urdf_reader *reader, const mjcf_node *node, joint_kind kind)
{
    static const char *const attributes[] = {"joint", "multiplier", "offset", NULL};
    const mjcf_node *mimic = urdf_child(node, "mimic");
    if (!mimic) {
        return ORR_OK;
    }
    ORR_TRY(urdf_check(reader, mimic, attributes, NULL));
    if (kind == FIXED) { // it follows nothing
        spec_note(reader->spec, mimic->file, mimic->line, "<mimic>: of a fixed joint");
        return ORR_OK;
    }
    const char *other = mjcf_find(mimic, "joint");
    if (!other || (kind != REVOLUTE && kind != CONTINUOUS && kind != PRISMATIC)) {
        return mjcf_fail(mimic, reader->error,
                         other ? "expected in a revolute, continuous or prismatic joint"
                               : "joint: expected the name of the joint to follow");
    }
    spec_equality *equality = SPEC_APPEND(reader->spec, equalities);
    if (!equality) {
        return spec_memory_fail(reader->error);
    }
    *equality = reader->defaults->equality;
    equality->head.location = mjcf_location(mimic);
    equality->type = ORR_EQUALITY_JOINT;
    equality->object1 = mjcf_find(node, "name");
    equality->object2 = other;
    ORR_TRY(urdf_numbers(reader, mimic, "multiplier", 1, false, &equality->polycoef[1]));
    return urdf_numbers(reader, mimic, "offset", 1, false, &equality->polycoef[0]);
}

// The <joint> of a name; NULL: there is none.
static const mjcf_node *find_joint(const urdf_reader *reader, const char *name)
{
    for (int i = 0; i < reader->link_count; i++) {
        const mjcf_node *joint = reader->links[i].joint;
        if (joint && strcmp(mjcf_find(joint, "name"), name) == 0) {
            return joint;
        }
    }
    return NULL;
}

// Other readers do not look for the joint: one that is not there lets go, one that is fixed holds.
void urdf_settle_mimics(urdf_reader *reader)
{
    orr_spec *spec = reader->spec;
    int kept = 0;
    for (int i = 0; i < spec->equalities_count; i++) {
        spec_equality *e = &spec->equalities[i];
        const spec_location at = e->head.location;
        const mjcf_node *joint = find_joint(reader, e->object2);
        const char *type = joint ? mjcf_find(joint, "type") : NULL;
        if (!joint) {
            spec_note(spec, at.file, at.line, "<mimic>: there is no joint '%.64s': it follows nothing",
                      e->object2);
            continue;
        }
        if (type && strcmp(type, "fixed") == 0) {
            e->object2 = NULL;
        }
        spec->equalities[kept++] = *e;
    }
    spec->equalities_count = kept;
}

static orr_result add_joints(urdf_reader *reader, const urdf_link *child, joint_kind kind,
                             const double axis[3])
{
    switch (kind) {
    case REVOLUTE:
    case CONTINUOUS:
        return add(reader, child, ORR_JOINT_HINGE, "", axis);
    case PRISMATIC:
        return add(reader, child, ORR_JOINT_SLIDE, "", axis);
    case FLOATING:
        return add(reader, child, ORR_JOINT_FREE, "", axis);
    case SPHERICAL: // not part of URDF: from the Bullet engine; MuJoCo reads it
        return add(reader, child, ORR_JOINT_BALL, "", axis);
    case PLANAR:
        return add_planar(reader, child, axis);
    case FIXED:
        break;
    }
    return ORR_OK;
}

static orr_result read_axis(urdf_reader *reader, const mjcf_node *node, double axis[3])
{
    static const char *const attributes[] = {"xyz", NULL};
    const mjcf_node *element = urdf_child(node, "axis");
    axis[0] = 1.0, axis[1] = axis[2] = 0.0;
    if (!element) {
        return ORR_OK;
    }
    ORR_TRY(urdf_check(reader, element, attributes, NULL));
    return urdf_numbers(reader, element, "xyz", 3, true, axis);
}

orr_result urdf_read_joint(urdf_reader *reader, const urdf_link *child)
{
    // calibration and safety_controller are for the robot's control software
    static const char *const attributes[] = {"name", "type", NULL};
    static const char *const children[] = {
        "origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller",
        NULL};
    const mjcf_node *node = child->joint;
    orr_spec *spec = reader->spec;
    spec_body *body = &spec->bodies[child->body];
    int first = spec->joints_count;
    int32_t kind = -1;
    double axis[3];
    ORR_TRY(urdf_check(reader, node, attributes, children));
    const char *name = mjcf_find(node, "name"), *type = mjcf_find(node, "type");
    if (!name || !name[0] || !type) {
        return mjcf_fail(node, reader->error, "expected a name and a type");
    }
    ORR_TRY(mjcf_read_keyword(node, "type", kinds, type, &kind, reader->error));
    ORR_TRY(urdf_origin(reader, node, body->pos, body->orientation.quat));
    ORR_TRY(read_axis(reader, node, axis));
    ORR_TRY(add_joints(reader, child, (joint_kind)kind, axis));
    ORR_TRY(read_mimic(reader, node, (joint_kind)kind));
    int count = spec->joints_count - first;
    if (count == 0) {
        return ORR_OK;
    }
    ORR_TRY(read_dynamics(reader, node, spec->joints + first, count));
    return read_limit(reader, node, &spec->joints[first]);
}
