// With alignfree, a free body without children gets the frame of its inertia: the motion is the same and
// costs less.
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"

#include <string.h>

void move_attached(orr_spec *spec, const body_frame *frames)
{
#define MOVE(list)                                                                                           \
    for (int i = 0; i < spec->list##_count; i++) {                                                           \
        const body_frame *at = &frames[spec->list[i].body];                                                  \
        frame_compose(at->pos, at->quat, spec->list[i].pos, spec->list[i].orientation.quat);                 \
    }
    MOVE(geoms)
    MOVE(sites)
    MOVE(visuals)
    MOVE(flexes)
    MOVE(cameras)
#undef MOVE
    for (int i = 0; i < spec->lights_count; i++) {
        const body_frame *at = &frames[spec->lights[i].body];
        double quat[4] = {1.0, 0.0, 0.0, 0.0};
        frame_compose(at->pos, at->quat, spec->lights[i].pos, quat);
        quat_apply(at->quat, spec->lights[i].dir, spec->lights[i].dir);
    }
}

static void align(spec_body *body, rigid_part *whole, body_frame *inverse)
{
    double offset[3];
    quat_conjugate(whole->quat, inverse->quat);
    quat_apply(inverse->quat, whole->pos, offset);
    for (int k = 0; k < 3; k++) {
        inverse->pos[k] = -offset[k];
    }
    frame_compose(body->pos, body->orientation.quat, whole->pos, whole->quat);
    memcpy(body->pos, whole->pos, sizeof body->pos);
    memcpy(body->orientation.quat, whole->quat, sizeof body->orientation.quat);
    *whole = (rigid_part){.mass = whole->mass,
                          .quat = {1.0, 0.0, 0.0, 0.0},
                          .moment = {whole->moment[0], whole->moment[1], whole->moment[2]}};
}

orr_result align_free(model_builder *b)
{
    orr_spec *spec = b->spec;
    body_frame *frames = orr_alloc((size_t)spec->bodies_count, sizeof *frames);
    bool *has_children = orr_alloc_zero((size_t)spec->bodies_count, sizeof *has_children);
    orr_result result = frames && has_children ? ORR_OK : spec_memory_fail(b->error);
    for (int i = 0; i < spec->bodies_count && result == ORR_OK; i++) {
        frames[i] = (body_frame){.quat = {1.0, 0.0, 0.0, 0.0}};
        has_children[spec->bodies[i].parent] = true;
    }
    for (int i = 0; i < spec->joints_count && result == ORR_OK; i++) {
        const spec_joint *joint = &spec->joints[i];
        bool aligned = joint->align == 1 || (joint->align == SPEC_AUTO && spec->compiler.alignfree);
        if (joint->type == ORR_JOINT_FREE && aligned && joint->body > 0 && !has_children[joint->body]) {
            align(&spec->bodies[joint->body], &b->inertias[joint->body], &frames[joint->body]);
        }
    }
    if (result == ORR_OK) {
        move_attached(spec, frames);
    }
    orr_free(frames);
    orr_free(has_children);
    return result;
}
