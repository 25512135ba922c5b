// The elements of a body but soft ones: joints, geoms, sites, cameras and lights, with poses in the body.
#include "engine/maths/rotation.h"
#include "physics/mjcf/mjcf.h"

static const double degree = 3.14159265358979323846 / 180.0;

static bool in_frame(const mjcf_frame *at)
{
    return at->pos[0] != 0.0 || at->pos[1] != 0.0 || at->pos[2] != 0.0 || at->quat[1] != 0.0 ||
           at->quat[2] != 0.0 || at->quat[3] != 0.0;
}

orr_result mjcf_read_pose(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at, double pos[3],
                          spec_orientation *orientation)
{
    ORR_TRY(mjcf_resolve_orientation(reader, node, orientation));
    if (in_frame(at)) {
        frame_compose(at->pos, at->quat, pos, orientation->quat);
    }
    return ORR_OK;
}

static orr_result read_joint(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at)
{
    const mjcf_class *c;
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_class_of(reader, node, at->childclass, &c));
    spec_joint *joint = SPEC_APPEND(reader->spec, joints);
    if (!joint) {
        return spec_memory_fail(reader->error);
    }
    *joint = c->joint;
    joint->body = at->body;
    ORR_TRY(mjcf_head(reader, node, &joint->head));
    ORR_TRY(mjcf_read(node, mjcf_joint_members, NULL, joint, reader->spec, reader->error));
    if (in_frame(at)) {
        if (joint->type == ORR_JOINT_FREE) {
            return mjcf_fail(node, reader->error, "expected no free joint in a frame with a pose of its own");
        }
        double quat[4] = {1.0, 0.0, 0.0, 0.0};
        frame_compose(at->pos, at->quat, joint->pos, quat);
        quat_apply(at->quat, joint->axis, joint->axis);
    }
    if (reader->spec->compiler.degree) {
        bool hinge = joint->type == ORR_JOINT_HINGE, angular = hinge || joint->type == ORR_JOINT_BALL;
        double scale = angular ? degree : 1.0, own = hinge ? degree : 1.0;
        if (joint->limited != 0) { // as MuJoCo: a range that limits nothing keeps the file's numbers
            joint->range[0] *= scale, joint->range[1] *= scale;
        }
        joint->ref *= own, joint->springref *= own;
        joint->springyield *= scale;
    }
    return ORR_OK;
}

static orr_result read_freejoint(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at)
{
    ORR_TRY(mjcf_no_children(node, reader->error));
    mjcf_class plain; // a free joint has no default class
    mjcf_class_init(&plain);
    spec_joint *joint = SPEC_APPEND(reader->spec, joints);
    if (!joint) {
        return spec_memory_fail(reader->error);
    }
    *joint = plain.joint;
    joint->body = at->body;
    ORR_TRY(mjcf_head(reader, node, &joint->head));
    ORR_TRY(mjcf_read(node, mjcf_freejoint_members, NULL, joint, reader->spec, reader->error));
    if (in_frame(at)) {
        return mjcf_fail(node, reader->error, "expected no free joint in a frame with a pose of its own");
    }
    joint->type = ORR_JOINT_FREE;
    return ORR_OK;
}

// Position, direction and length from two end points.
static orr_result apply_fromto(mjcf_reader *reader, const mjcf_node *node, const double fromto[6], int type,
                               double size[3], double pos[3], double quat[4])
{
    if (type != ORR_GEOM_CAPSULE && type != ORR_GEOM_CYLINDER && type != ORR_GEOM_ELLIPSOID &&
        type != ORR_GEOM_BOX) {
        return mjcf_fail(node, reader->error, "fromto: expected a capsule, cylinder, ellipsoid or box");
    }
    if (pos[0] != 0.0 || pos[1] != 0.0 || pos[2] != 0.0) { // of the element or its class
        return mjcf_fail(node, reader->error, "pos and fromto: expected one of them");
    }
    double along[3];
    for (int i = 0; i < 3; i++) {
        along[i] = fromto[i] - fromto[i + 3];
        pos[i] = 0.5 * (fromto[i] + fromto[i + 3]);
    }
    double half = 0.5 * vec3_normalise(along);
    if (half < 1e-14) {
        return mjcf_fail(node, reader->error, "fromto: expected two different points");
    }
    bool round = type == ORR_GEOM_CAPSULE || type == ORR_GEOM_CYLINDER;
    size[2] = round ? size[2] : half;
    size[1] = round ? half : size[0];
    quat_from_z(along, quat);
    return ORR_OK;
}

static orr_result read_geom(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at)
{
    const mjcf_class *c;
    ORR_TRY(mjcf_class_of(reader, node, at->childclass, &c));
    spec_geom *geom = SPEC_APPEND(reader->spec, geoms);
    if (!geom) {
        return spec_memory_fail(reader->error);
    }
    *geom = c->geom;
    geom->body = at->body;
    ORR_TRY(mjcf_head(reader, node, &geom->head));
    mjcf_clear_orientation(node, &geom->orientation);
    ORR_TRY(mjcf_read(node, mjcf_geom_members, NULL, geom, reader->spec, reader->error));
    ORR_TRY(mjcf_read_function(reader, node, &geom->function));
    if (geom->type == ORR_GEOM_SDF && geom->function.kind == ORR_FUNCTION_NONE) {
        geom->function.kind = ORR_FUNCTION_OCTREE;
    }
    if (geom->type != ORR_GEOM_SDF && geom->function.kind != ORR_FUNCTION_NONE) {
        return mjcf_fail(node, reader->error, "plugin: expected none but with type=\"sdf\"");
    }
    if (mjcf_given(geom->fromto)) {
        ORR_TRY(mjcf_resolve_orientation(reader, node, &geom->orientation));
        ORR_TRY(apply_fromto(reader, node, geom->fromto, geom->type, geom->size, geom->pos,
                             geom->orientation.quat));
        if (in_frame(at)) {
            frame_compose(at->pos, at->quat, geom->pos, geom->orientation.quat);
        }
        return ORR_OK;
    }
    return mjcf_read_pose(reader, node, at, geom->pos, &geom->orientation);
}

static orr_result read_site(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at)
{
    const mjcf_class *c;
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_class_of(reader, node, at->childclass, &c));
    spec_site *site = SPEC_APPEND(reader->spec, sites);
    if (!site) {
        return spec_memory_fail(reader->error);
    }
    *site = c->site;
    site->body = at->body;
    ORR_TRY(mjcf_head(reader, node, &site->head));
    mjcf_clear_orientation(node, &site->orientation);
    ORR_TRY(mjcf_read(node, mjcf_site_members, NULL, site, reader->spec, reader->error));
    if (site->type == ORR_GEOM_PLANE || site->type == ORR_GEOM_HFIELD || site->type == ORR_GEOM_MESH ||
        site->type == ORR_GEOM_SDF) {
        return mjcf_fail(node, reader->error, "type: expected sphere, capsule, ellipsoid, cylinder or box");
    }
    if (mjcf_given(site->fromto)) {
        ORR_TRY(mjcf_resolve_orientation(reader, node, &site->orientation));
        ORR_TRY(apply_fromto(reader, node, site->fromto, site->type, site->size, site->pos,
                             site->orientation.quat));
        if (in_frame(at)) {
            frame_compose(at->pos, at->quat, site->pos, site->orientation.quat);
        }
        return ORR_OK;
    }
    return mjcf_read_pose(reader, node, at, site->pos, &site->orientation);
}

static orr_result read_camera(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at)
{
    const mjcf_class *c;
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_class_of(reader, node, at->childclass, &c));
    spec_camera *camera = SPEC_APPEND(reader->spec, cameras);
    if (!camera) {
        return spec_memory_fail(reader->error);
    }
    *camera = c->camera;
    camera->body = at->body;
    ORR_TRY(mjcf_head(reader, node, &camera->head));
    mjcf_clear_orientation(node, &camera->orientation);
    ORR_TRY(mjcf_read(node, mjcf_camera_members, NULL, camera, reader->spec, reader->error));
    return mjcf_read_pose(reader, node, at, camera->pos, &camera->orientation);
}

static orr_result read_light(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at)
{
    const mjcf_class *c;
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_class_of(reader, node, at->childclass, &c));
    spec_light *light = SPEC_APPEND(reader->spec, lights);
    if (!light) {
        return spec_memory_fail(reader->error);
    }
    *light = c->light;
    light->body = at->body;
    ORR_TRY(mjcf_head(reader, node, &light->head));
    ORR_TRY(mjcf_read(node, mjcf_light_members, NULL, light, reader->spec, reader->error));
    if (light->directional >= 0) {
        light->type = light->directional ? ORR_LIGHT_DIRECTIONAL : ORR_LIGHT_SPOT;
    }
    if (vec3_normalise(light->dir) < 1e-14) {
        return mjcf_fail(node, reader->error, "dir: expected a length above 0");
    }
    if (in_frame(at)) {
        double quat[4] = {1.0, 0.0, 0.0, 0.0};
        frame_compose(at->pos, at->quat, light->pos, quat);
        quat_apply(at->quat, light->dir, light->dir);
    }
    return ORR_OK;
}

orr_result mjcf_read_attached(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at, bool *known)
{
    static const struct {
        const char *name;
        orr_result (*read)(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at);
    } elements[] = {{"joint", read_joint},
                    {"freejoint", read_freejoint},
                    {"geom", read_geom},
                    {"site", read_site},
                    {"camera", read_camera},
                    {"light", read_light},
                    {"flexcomp", mjcf_read_flexcomp}};
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        if (mjcf_is(node, elements[i].name)) {
            *known = true;
            return elements[i].read(reader, node, at);
        }
    }
    *known = false;
    return ORR_OK;
}
