// The tree of bodies and what hangs on them: joints, geoms, sites, cameras and lights. Frames and classes end here: what
// goes into the spec is placed in its body.
#include "physics/mjcf.h"
#include "physics/rotation.h"

#include <ctype.h>

static const double degree = 3.14159265358979323846 / 180.0;

typedef struct placement { // of what stands inside frames
    double pos[3], quat[4];
    const char *childclass;
    int body;
} placement;

static bool given(const double *value)
{
    return !isnan(value[0]);
}

void mjcf_turn_clear_for(const mjcf_node *node, spec_orientation *turn)
{
    if (mjcf_find(node, "quat") || mjcf_find(node, "axisangle") || mjcf_find(node, "xyaxes") ||
        mjcf_find(node, "zaxis") || mjcf_find(node, "euler")) {
        turn->axisangle[0] = turn->xyaxes[0] = turn->zaxis[0] = turn->euler[0] = (double)NAN;
    }
}

static void turn_init(spec_orientation *turn)
{
    *turn =
        (spec_orientation){{1.0, 0.0, 0.0, 0.0}, {(double)NAN}, {(double)NAN}, {(double)NAN}, {(double)NAN}};
}

// Letters say the axes in order; small ones turn with the frame, capitals stay.
static void apply_euler(const char *sequence, const double angles[3], double scale, double quat[4])
{
    quat[0] = 1.0, quat[1] = quat[2] = quat[3] = 0.0;
    for (int i = 0; i < 3; i++) {
        double axis[3] = {0.0, 0.0, 0.0}, turn[4];
        axis[tolower(sequence[i]) - 'x'] = 1.0;
        quat_axis_angle(axis, angles[i] * scale, turn);
        if (islower(sequence[i])) {
            quat_multiply(quat, turn, quat);
        } else {
            quat_multiply(turn, quat, quat);
        }
    }
}

orr_result mjcf_resolve_turn(mjcf_reader *reader, const mjcf_node *node, spec_orientation *turn)
{
    const spec_compiler *compiler = &reader->spec->compiler;
    int count = given(turn->axisangle) + given(turn->xyaxes) + given(turn->zaxis) + given(turn->euler) +
                (mjcf_find(node, "quat") != NULL);
    if (count > 1) {
        return mjcf_fail(node, reader->error, "expected one of quat, axisangle, xyaxes, zaxis and euler");
    }
    bool degenerate = false;
    double scale = compiler->degree ? degree : 1.0;
    if (given(turn->axisangle)) {
        degenerate = vec_normalise(turn->axisangle, 3) < 1e-14;
        quat_axis_angle(turn->axisangle, turn->axisangle[3] * scale, turn->quat);
    } else if (given(turn->xyaxes)) {
        double *x = turn->xyaxes, *y = turn->xyaxes + 3, z[3];
        degenerate = vec_normalise(x, 3) < 1e-14;
        double along = vec_dot(x, y);
        for (int i = 0; i < 3; i++) {
            y[i] -= along * x[i];
        }
        degenerate = vec_normalise(y, 3) < 1e-14 || degenerate;
        vec_cross(x, y, z);
        quat_from_axes(x, y, z, turn->quat);
    } else if (given(turn->zaxis)) {
        degenerate = vec_normalise(turn->zaxis, 3) < 1e-14;
        quat_from_z(turn->zaxis, turn->quat);
    } else if (given(turn->euler)) {
        apply_euler(compiler->eulerseq, turn->euler, scale, turn->quat);
    }
    degenerate = vec_normalise(turn->quat, 4) < 1e-14 || degenerate;
    return degenerate ? mjcf_fail(node, reader->error,
                                  "orientation: expected axes and quaternions of a length above 0")
                      : ORR_OK;
}

static bool in_frame(const placement *at)
{
    return at->pos[0] != 0.0 || at->pos[1] != 0.0 || at->pos[2] != 0.0 || at->quat[1] != 0.0 ||
           at->quat[2] != 0.0 || at->quat[3] != 0.0;
}

static orr_result read_pose(mjcf_reader *reader, const mjcf_node *node, const placement *at, double pos[3],
                            spec_orientation *turn)
{
    ORR_TRY(mjcf_resolve_turn(reader, node, turn));
    if (in_frame(at)) {
        frame_compose(at->pos, at->quat, pos, turn->quat);
    }
    return ORR_OK;
}

static orr_result read_joint(mjcf_reader *reader, const mjcf_node *node, const placement *at)
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
    ORR_TRY(mjcf_read(node, mjcf_joint_fields, NULL, joint, reader->spec, reader->error));
    if (in_frame(at)) {
        if (joint->type == ORR_JOINT_FREE) {
            return mjcf_fail(node, reader->error, "a free joint cannot stand in a moved frame");
        }
        double quat[4] = {1.0, 0.0, 0.0, 0.0};
        frame_compose(at->pos, at->quat, joint->pos, quat);
        quat_apply(at->quat, joint->axis, joint->axis);
    }
    if (reader->spec->compiler.degree) {
        bool hinge = joint->type == ORR_JOINT_HINGE, angular = hinge || joint->type == ORR_JOINT_BALL;
        double scale = angular ? degree : 1.0, own = hinge ? degree : 1.0;
        joint->range[0] *= scale, joint->range[1] *= scale;
        joint->ref *= own, joint->springref *= own;
    }
    return ORR_OK;
}

static orr_result read_freejoint(mjcf_reader *reader, const mjcf_node *node, const placement *at)
{
    ORR_TRY(mjcf_no_children(node, reader->error));
    mjcf_class plain; // a free joint has no class
    mjcf_class_init(&plain);
    spec_joint *joint = SPEC_APPEND(reader->spec, joints);
    if (!joint) {
        return spec_memory_fail(reader->error);
    }
    *joint = plain.joint;
    joint->body = at->body;
    ORR_TRY(mjcf_head(reader, node, &joint->head));
    ORR_TRY(mjcf_read(node, mjcf_freejoint_fields, NULL, joint, reader->spec, reader->error));
    const char *align = mjcf_find(node, "align");
    if (align && strcmp(align, "true") == 0) {
        return mjcf_fail(node, reader->error, "align: true is not supported");
    }
    if (in_frame(at)) {
        return mjcf_fail(node, reader->error, "a free joint cannot stand in a moved frame");
    }
    joint->type = ORR_JOINT_FREE;
    joint->limited = 0;
    return ORR_OK;
}

// Two ends say the place, the direction and the length.
static orr_result apply_fromto(mjcf_reader *reader, const mjcf_node *node, const double fromto[6], int type,
                               double size[3], double pos[3], double quat[4])
{
    if (type != ORR_GEOM_CAPSULE && type != ORR_GEOM_CYLINDER && type != ORR_GEOM_ELLIPSOID &&
        type != ORR_GEOM_BOX) {
        return mjcf_fail(node, reader->error, "fromto: expected a capsule, cylinder, ellipsoid or box");
    }
    double along[3];
    for (int i = 0; i < 3; i++) {
        along[i] = fromto[i] - fromto[i + 3];
        pos[i] = 0.5 * (fromto[i] + fromto[i + 3]);
    }
    double half = 0.5 * vec_normalise(along, 3);
    if (half < 1e-14) {
        return mjcf_fail(node, reader->error, "fromto: expected two different points");
    }
    bool round = type == ORR_GEOM_CAPSULE || type == ORR_GEOM_CYLINDER;
    size[2] = round ? size[2] : half;
    size[1] = round ? half : size[0];
    quat_from_z(along, quat);
    return ORR_OK;
}

static orr_result read_geom(mjcf_reader *reader, const mjcf_node *node, const placement *at)
{
    const mjcf_class *c;
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_class_of(reader, node, at->childclass, &c));
    spec_geom *geom = SPEC_APPEND(reader->spec, geoms);
    if (!geom) {
        return spec_memory_fail(reader->error);
    }
    *geom = c->geom;
    geom->body = at->body;
    ORR_TRY(mjcf_head(reader, node, &geom->head));
    mjcf_turn_clear_for(node, &geom->turn);
    ORR_TRY(mjcf_read(node, mjcf_geom_fields, NULL, geom, reader->spec, reader->error));
    if (geom->mesh && !mjcf_find(node, "type") && geom->type == ORR_GEOM_SPHERE) {
        return mjcf_fail(node, reader->error,
                         "a sphere fitted to a mesh is not supported: expected type=\"mesh\"");
    }
    if (given(geom->fromto)) {
        ORR_TRY(mjcf_resolve_turn(reader, node, &geom->turn));
        ORR_TRY(apply_fromto(reader, node, geom->fromto, geom->type, geom->size, geom->pos, geom->turn.quat));
        if (in_frame(at)) {
            frame_compose(at->pos, at->quat, geom->pos, geom->turn.quat);
        }
        return ORR_OK;
    }
    return read_pose(reader, node, at, geom->pos, &geom->turn);
}

static orr_result read_site(mjcf_reader *reader, const mjcf_node *node, const placement *at)
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
    mjcf_turn_clear_for(node, &site->turn);
    ORR_TRY(mjcf_read(node, mjcf_site_fields, NULL, site, reader->spec, reader->error));
    if (site->type == ORR_GEOM_PLANE || site->type == ORR_GEOM_HFIELD || site->type == ORR_GEOM_MESH) {
        return mjcf_fail(node, reader->error, "type: expected sphere, capsule, ellipsoid, cylinder or box");
    }
    if (given(site->fromto)) {
        ORR_TRY(mjcf_resolve_turn(reader, node, &site->turn));
        ORR_TRY(apply_fromto(reader, node, site->fromto, site->type, site->size, site->pos, site->turn.quat));
        if (in_frame(at)) {
            frame_compose(at->pos, at->quat, site->pos, site->turn.quat);
        }
        return ORR_OK;
    }
    return read_pose(reader, node, at, site->pos, &site->turn);
}

static orr_result read_camera(mjcf_reader *reader, const mjcf_node *node, const placement *at)
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
    mjcf_turn_clear_for(node, &camera->turn);
    ORR_TRY(mjcf_read(node, mjcf_camera_fields, NULL, camera, reader->spec, reader->error));
    return read_pose(reader, node, at, camera->pos, &camera->turn);
}

static orr_result read_light(mjcf_reader *reader, const mjcf_node *node, const placement *at)
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
    ORR_TRY(mjcf_read(node, mjcf_light_fields, NULL, light, reader->spec, reader->error));
    if (light->directional >= 0) {
        light->type = light->directional ? ORR_LIGHT_DIRECTIONAL : ORR_LIGHT_SPOT;
    }
    if (vec_normalise(light->dir, 3) < 1e-14) {
        return mjcf_fail(node, reader->error, "dir: expected a length above 0");
    }
    if (in_frame(at)) {
        double quat[4] = {1.0, 0.0, 0.0, 0.0};
        frame_compose(at->pos, at->quat, light->pos, quat);
        quat_apply(at->quat, light->dir, light->dir);
    }
    return ORR_OK;
}

static orr_result read_inertial(mjcf_reader *reader, const mjcf_node *node, const placement *at)
{
    spec_inertial in = {.mass = (double)NAN, .diaginertia = {(double)NAN}, .fullinertia = {(double)NAN}};
    turn_init(&in.turn);
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_read(node, mjcf_inertial_fields, NULL, &in, reader->spec, reader->error));
    ORR_TRY(read_pose(reader, node, at, in.pos, &in.turn));
    bool full = given(in.fullinertia);
    if (isnan(in.mass) || full == given(in.diaginertia)) {
        return mjcf_fail(node, reader->error, "expected mass, and diaginertia or fullinertia");
    }
    spec_body *body = &reader->spec->bodies[at->body];
    if (at->body == 0 || body->has_inertial) {
        return mjcf_fail(node, reader->error,
                         at->body == 0 ? "the world has no inertia" : "expected once in a body");
    }
    body->has_inertial = 1;
    body->mass = in.mass;
    memcpy(body->ipos, in.pos, sizeof body->ipos);
    memcpy(body->iquat, in.turn.quat, sizeof body->iquat);
    memcpy(body->inertia, in.diaginertia, sizeof body->inertia);
    memcpy(body->full_inertia, in.fullinertia, sizeof body->full_inertia);
    if (full && (mjcf_find(node, "quat") || mjcf_find(node, "axisangle") || mjcf_find(node, "xyaxes") ||
                 mjcf_find(node, "zaxis") || mjcf_find(node, "euler"))) {
        return mjcf_fail(node, reader->error, "fullinertia and an orientation: expected one of them");
    }
    return ORR_OK;
}

static orr_result enter_frame(mjcf_reader *reader, const mjcf_node *node, const placement *at,
                              placement *inside)
{
    spec_frame frame = {.childclass = at->childclass};
    turn_init(&frame.turn);
    ORR_TRY(mjcf_read(node, mjcf_frame_fields, NULL, &frame, reader->spec, reader->error));
    ORR_TRY(read_pose(reader, node, at, frame.pos, &frame.turn));
    *inside = (placement){.childclass = frame.childclass, .body = at->body};
    memcpy(inside->pos, frame.pos, sizeof inside->pos);
    memcpy(inside->quat, frame.turn.quat, sizeof inside->quat);
    return ORR_OK;
}

// First all that hangs on this body, then the bodies below: ids are in that order.
static orr_result read_attached(mjcf_reader *reader, const mjcf_node *parent, const placement *at)
{
    static const struct {
        const char *name;
        orr_result (*read)(mjcf_reader *reader, const mjcf_node *node, const placement *at);
    } elements[] = {{"joint", read_joint},      {"freejoint", read_freejoint}, {"geom", read_geom},
                    {"site", read_site},        {"camera", read_camera},       {"light", read_light},
                    {"inertial", read_inertial}};
    enum { ELEMENT_COUNT = sizeof elements / sizeof elements[0] };
    for (const mjcf_node *node = parent->children; node; node = node->next) {
        if (mjcf_is(node, "frame")) {
            placement inside;
            ORR_TRY(enter_frame(reader, node, at, &inside));
            ORR_TRY(read_attached(reader, node, &inside));
            continue;
        }
        int i = 0;
        while (i < ELEMENT_COUNT && !mjcf_is(node, elements[i].name)) {
            i++;
        }
        if (i < ELEMENT_COUNT) {
            ORR_TRY(elements[i].read(reader, node, at));
        } else if (!mjcf_is(node, "body")) {
            return mjcf_unknown(node, parent, reader->error);
        }
    }
    return ORR_OK;
}

static orr_result read_bodies(mjcf_reader *reader, const mjcf_node *parent, const placement *at);

static orr_result read_body(mjcf_reader *reader, const mjcf_node *node, const placement *at)
{
    int index = reader->spec->bodies_count;
    spec_body *body = SPEC_APPEND(reader->spec, bodies);
    if (!body) {
        return spec_memory_fail(reader->error);
    }
    *body = (spec_body){.parent = at->body, .childclass = at->childclass, .full_inertia = {(double)NAN}};
    turn_init(&body->turn);
    ORR_TRY(mjcf_head(reader, node, &body->head));
    ORR_TRY(mjcf_read(node, mjcf_body_fields, NULL, body, reader->spec, reader->error));
    ORR_TRY(read_pose(reader, node, at, body->pos, &body->turn));
    const placement inside = {.quat = {1.0, 0.0, 0.0, 0.0}, .childclass = body->childclass, .body = index};
    ORR_TRY(read_attached(reader, node, &inside));
    return read_bodies(reader, node, &inside);
}

static orr_result read_bodies(mjcf_reader *reader, const mjcf_node *parent, const placement *at)
{
    for (const mjcf_node *node = parent->children; node; node = node->next) {
        if (mjcf_is(node, "body")) {
            ORR_TRY(read_body(reader, node, at));
        } else if (mjcf_is(node, "frame")) {
            placement inside;
            ORR_TRY(enter_frame(reader, node, at, &inside));
            ORR_TRY(read_bodies(reader, node, &inside));
        }
    }
    return ORR_OK;
}

orr_result mjcf_read_worldbody(mjcf_reader *reader, const mjcf_node *root)
{
    spec_body *world = SPEC_APPEND(reader->spec, bodies);
    if (!world) {
        return spec_memory_fail(reader->error);
    }
    *world = (spec_body){.head = {mjcf_place(root), "world"}, .parent = 0, .full_inertia = {(double)NAN}};
    turn_init(&world->turn);
    for (int pass = 0; pass < 2; pass++) {
        for (const mjcf_node *node = root->children; node; node = node->next) {
            if (!mjcf_is(node, "worldbody")) {
                continue;
            }
            placement at = {.quat = {1.0, 0.0, 0.0, 0.0}, .childclass = mjcf_find(node, "childclass")};
            static const char *const own[] = {"childclass", NULL};
            ORR_TRY(mjcf_read(node, mjcf_no_fields, own, NULL, reader->spec, reader->error));
            ORR_TRY(pass == 0 ? read_attached(reader, node, &at) : read_bodies(reader, node, &at));
        }
    }
    return ORR_OK;
}
