// The tree of bodies, with their inertia and their frames. Frames and classes are resolved here: elements of
// the spec have poses in their body.
#include "engine/maths/rotation.h"
#include "physics/mjcf/mjcf.h"

#include <string.h>

static orr_result read_inertial(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at)
{
    spec_inertial in = {.mass = (double)NAN, .diaginertia = {(double)NAN}, .fullinertia = {(double)NAN}};
    mjcf_orientation_init(&in.orientation);
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_read(node, mjcf_inertial_members, NULL, &in, reader->spec, reader->error));
    ORR_TRY(mjcf_read_pose(reader, node, at, in.pos, &in.orientation));
    bool full = mjcf_given(in.fullinertia);
    if (isnan(in.mass) || full == mjcf_given(in.diaginertia)) {
        return mjcf_fail(node, reader->error, "expected mass, and diaginertia or fullinertia");
    }
    spec_body *body = &reader->spec->bodies[at->body];
    if (at->body == 0 || body->has_inertial) {
        return mjcf_fail(node, reader->error,
                         at->body == 0 ? "the world has no inertia" : "expected once in a body");
    }
    body->has_inertial = 1;
    body->inertial = (spec_head){mjcf_location(node), body->head.name};
    body->mass = in.mass;
    memcpy(body->ipos, in.pos, sizeof body->ipos);
    memcpy(body->iquat, in.orientation.quat, sizeof body->iquat);
    memcpy(body->inertia, in.diaginertia, sizeof body->inertia);
    memcpy(body->full_inertia, in.fullinertia, sizeof body->full_inertia);
    if (full && (mjcf_find(node, "quat") || mjcf_find(node, "axisangle") || mjcf_find(node, "xyaxes") ||
                 mjcf_find(node, "zaxis") || mjcf_find(node, "euler"))) {
        return mjcf_fail(node, reader->error, "fullinertia and an orientation: expected one of them");
    }
    return ORR_OK;
}

static bool is_frame(const mjcf_node *node)
{
    return mjcf_is(node, "frame") || mjcf_is(node, "replicate");
}

// The pose of a copy by <replicate>: offset after offset, each in the orientation of the copy before, whose
// angles are multiples of those given.
static orr_result pose_copy(mjcf_reader *reader, const mjcf_node *node, spec_frame *copy)
{
    double pos[3] = {0.0, 0.0, 0.0}, angles[3];
    memcpy(angles, copy->orientation.euler, sizeof angles);
    mjcf_orientation_init(&copy->orientation);
    for (int i = 1; i <= node->repeat; i++) {
        double step[3];
        quat_apply(copy->orientation.quat, copy->pos, step);
        for (int k = 0; k < 3; k++) {
            pos[k] += step[k];
            copy->orientation.euler[k] = i * angles[k];
        }
        ORR_TRY(mjcf_resolve_orientation(reader, node, &copy->orientation));
    }
    memcpy(copy->pos, pos, sizeof pos);
    return ORR_OK;
}

static orr_result enter_frame(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at,
                              mjcf_frame *inside)
{
    static const char *const copy_own[] = {"count", "sep", NULL};
    spec_frame frame = {.childclass = at->childclass};
    mjcf_orientation_init(&frame.orientation);
    if (mjcf_is(node, "replicate")) {
        ORR_TRY(mjcf_read(node, mjcf_replicate_members, copy_own, &frame, reader->spec, reader->error));
        ORR_TRY(pose_copy(reader, node, &frame));
    } else {
        ORR_TRY(mjcf_read(node, mjcf_frame_members, NULL, &frame, reader->spec, reader->error));
    }
    ORR_TRY(mjcf_read_pose(reader, node, at, frame.pos, &frame.orientation));
    *inside = (mjcf_frame){.childclass = frame.childclass, .body = at->body};
    memcpy(inside->pos, frame.pos, sizeof inside->pos);
    memcpy(inside->quat, frame.orientation.quat, sizeof inside->quat);
    return ORR_OK;
}

// First all elements of this body, then the bodies below: ids are in that order.
static orr_result read_contents(mjcf_reader *reader, const mjcf_node *parent, const mjcf_frame *at)
{
    for (const mjcf_node *node = parent->children; node; node = node->next) {
        if (is_frame(node)) {
            mjcf_frame inside;
            ORR_TRY(enter_frame(reader, node, at, &inside));
            ORR_TRY(mjcf_span_elements(reader, node, at, true));
            ORR_TRY(read_contents(reader, node, &inside));
            ORR_TRY(mjcf_span_elements(reader, node, at, false));
        } else if (mjcf_is(node, "attach")) {
            ORR_TRY(mjcf_attach_elements(reader, node, at));
        } else if (mjcf_is(node, "inertial")) {
            ORR_TRY(read_inertial(reader, node, at));
        } else if (mjcf_is(node, "plugin")) {
            ORR_TRY(mjcf_read_body_plugin(reader, node, at));
        } else if (!mjcf_is(node, "body")) {
            bool known;
            ORR_TRY(mjcf_read_attached(reader, node, at, &known));
            if (!known) {
                return mjcf_unknown(node, parent, reader->error);
            }
        }
    }
    return ORR_OK;
}

static orr_result read_bodies(mjcf_reader *reader, const mjcf_node *parent, const mjcf_frame *at);

static orr_result read_body(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at)
{
    int index = reader->spec->bodies_count;
    spec_body *body = SPEC_APPEND(reader->spec, bodies);
    if (!body) {
        return spec_memory_fail(reader->error);
    }
    *body = (spec_body){.parent = at->body, .childclass = at->childclass, .full_inertia = {(double)NAN}};
    mjcf_orientation_init(&body->orientation);
    ORR_TRY(mjcf_head(reader, node, &body->head));
    ORR_TRY(mjcf_read(node, mjcf_body_members, NULL, body, reader->spec, reader->error));
    ORR_TRY(mjcf_resolve_orientation(reader, node, &body->orientation));
    memcpy(body->own_pos, body->pos, sizeof body->own_pos);
    memcpy(body->own_quat, body->orientation.quat, sizeof body->own_quat);
    ORR_TRY(mjcf_read_pose(reader, node, at, body->pos, &body->orientation));
    const mjcf_frame inside = {.quat = {1.0, 0.0, 0.0, 0.0}, .childclass = body->childclass, .body = index};
    ORR_TRY(read_contents(reader, node, &inside));
    return read_bodies(reader, node, &inside);
}

// The bodies that move a <flexcomp>, if any do. Their axes are those of the body that it is in, whatever the
// frames around it, and their joints have the main default class, as in MuJoCo.
static orr_result read_nodes(mjcf_reader *reader, const mjcf_node *flexcomp, const mjcf_frame *at)
{
    const mjcf_frame plain = {.quat = {1.0, 0.0, 0.0, 0.0}, .body = at->body};
    const spec_flex_nodes *nodes;
    mjcf_node *holder;
    ORR_TRY(mjcf_flexcomp_bodies(reader, flexcomp, at->body, &holder, &nodes));
    int i = 0;
    for (const mjcf_node *node = holder ? holder->children : NULL; node; node = node->next, i++) {
        const int body = reader->spec->bodies_count, joint = reader->spec->joints_count;
        while (nodes->held[i]) {
            i++;
        }
        ORR_TRY(read_body(reader, node, &plain));
        reader->spec->bodies[body].nodes = nodes;
        reader->spec->bodies[body].node = i;
        if (reader->spec->joints[joint].damping[0] != 0.0) { // as MuJoCo
            return mjcf_fail(flexcomp, reader->error,
                             "a default class gives its joints a damping: expected none beside that of the "
                             "<elasticity>");
        }
    }
    return ORR_OK;
}

static orr_result read_bodies(mjcf_reader *reader, const mjcf_node *parent, const mjcf_frame *at)
{
    for (const mjcf_node *node = parent->children; node; node = node->next) {
        if (mjcf_is(node, "body")) {
            ORR_TRY(read_body(reader, node, at));
        } else if (is_frame(node)) {
            mjcf_frame inside;
            ORR_TRY(enter_frame(reader, node, at, &inside));
            mjcf_span_bodies(reader, node, true);
            ORR_TRY(read_bodies(reader, node, &inside));
            mjcf_span_bodies(reader, node, false);
        } else if (mjcf_is(node, "attach")) {
            ORR_TRY(mjcf_attach_bodies(reader, node, at));
        } else if (mjcf_is(node, "flexcomp")) {
            ORR_TRY(read_nodes(reader, node, at));
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
    *world = (spec_body){.head = {mjcf_location(root), "world"}, .parent = 0, .full_inertia = {(double)NAN}};
    mjcf_orientation_init(&world->orientation);
    for (const mjcf_node *node = root->children; node; node = node->next) {
        if (mjcf_is(node, "worldbody")) {
            ORR_TRY(mjcf_find_attachments(reader, node));
        }
    }
    for (int pass = 0; pass < 2; pass++) {
        for (const mjcf_node *node = root->children; node; node = node->next) {
            if (!mjcf_is(node, "worldbody")) {
                continue;
            }
            mjcf_frame at = {.quat = {1.0, 0.0, 0.0, 0.0}, .childclass = mjcf_find(node, "childclass")};
            static const char *const own[] = {"childclass", NULL};
            ORR_TRY(mjcf_read(node, mjcf_no_members, own, NULL, reader->spec, reader->error));
            ORR_TRY(pass == 0 ? read_contents(reader, node, &at) : read_bodies(reader, node, &at));
        }
    }
    return ORR_OK;
}
