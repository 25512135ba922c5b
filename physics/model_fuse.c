// Bodies without joints become part of their parents, unless something names them: fewer bodies, the same motion.
#include "physics/model_build.h"
#include "physics/rotation.h"

#include <string.h>

static bool is_body(int kind, const char *object, const char *name)
{
    return (kind == ORR_OBJECT_BODY || kind == ORR_OBJECT_XBODY) && object && strcmp(object, name) == 0;
}

static bool is(const char *object, const char *name)
{
    return object && strcmp(object, name) == 0;
}

static bool is_referenced(const orr_spec *spec, const char *name)
{
    for (int i = 0; i < spec->cameras_count; i++) {
        if (is(spec->cameras[i].target, name)) {
            return true;
        }
    }
    for (int i = 0; i < spec->lights_count; i++) {
        if (is(spec->lights[i].target, name)) {
            return true;
        }
    }
    for (int i = 0; i < spec->excludes_count; i++) {
        if (is(spec->excludes[i].body1, name) || is(spec->excludes[i].body2, name)) {
            return true;
        }
    }
    for (int i = 0; i < spec->equalities_count; i++) {
        const spec_equality *e = &spec->equalities[i];
        bool bodies = e->type == ORR_EQUALITY_CONNECT || e->type == ORR_EQUALITY_WELD;
        if (bodies && (is(e->object1, name) || is(e->object2, name))) {
            return true;
        }
    }
    for (int i = 0; i < spec->sensors_count; i++) {
        const spec_sensor *s = &spec->sensors[i];
        if (is_body(s->objtype, s->object, name) || is_body(s->reftype, s->reference, name)) {
            return true;
        }
    }
    for (int i = 0; i < spec->tuple_elements_count; i++) {
        if (is_body(spec->tuple_elements[i].objtype, spec->tuple_elements[i].object, name)) {
            return true;
        }
    }
    return false;
}

// Force and torque sensors measure between a body and its parent.
static bool has_force_sensor(const orr_spec *spec, int body)
{
    for (int i = 0; i < spec->sensors_count; i++) {
        const spec_sensor *s = &spec->sensors[i];
        int site = s->objtype == ORR_OBJECT_SITE ? SPEC_FIND(spec, sites, s->object) : -1;
        bool force = s->type == ORR_SENSOR_FORCE || s->type == ORR_SENSOR_TORQUE;
        if (force && site >= 0 && spec->sites[site].body == body) {
            return true;
        }
    }
    return false;
}

typedef struct fusing {
    int owner;              // the body that this one becomes part of, or itself
    int id;                 // of a body that stays
    double pos[3], quat[4]; // in the owner
} fusing;

// Bodies come after their parents, so that the owner of a parent is known.
static void choose_owners(model_builder *b, fusing *f)
{
    orr_spec *spec = b->spec;
    int joint = 0, kept = 0;
    for (int i = 0; i < spec->bodies_count; i++) {
        spec_body *body = &spec->bodies[i];
        bool jointed = joint < spec->joints_count && spec->joints[joint].body == i;
        while (joint < spec->joints_count && spec->joints[joint].body == i) {
            joint++;
        }
        const fusing *parent = &f[body->parent];
        f[i] = (fusing){.owner = i, .id = kept, .quat = {1.0, 0.0, 0.0, 0.0}};
        if (i > 0) { // where it stands in the body that its parent is part of
            frame_compose(parent->pos, parent->quat, body->pos, body->turn.quat);
            body->parent = parent->owner;
        }
        const char *name = body->head.name;
        if (i == 0 || jointed || body->mocap || (name && is_referenced(spec, name)) ||
            has_force_sensor(spec, i)) {
            kept++;
            continue;
        }
        f[i].owner = body->parent;
        memcpy(f[i].pos, body->pos, sizeof body->pos);
        memcpy(f[i].quat, body->turn.quat, sizeof body->turn.quat);
        inertia two[2] = {b->inertias[f[i].owner], b->inertias[i]};
        if (f[i].owner > 0 && two[1].mass > 1e-15) {
            frame_compose(f[i].pos, f[i].quat, two[1].pos, two[1].quat);
            merge_inertia(two, 2, &b->inertias[f[i].owner]);
        }
    }
}

typedef struct hung { // what spec_geom, spec_site, spec_camera, spec_light and spec_joint begin with
    spec_head head;
    int body;
} hung;

static hung *hung_at(void *list, size_t size, int index)
{
    return (hung *)(void *)((char *)list + size * (size_t)index);
}

// Gives the elements of a list to the bodies that stay, and sorts them by body; those of one body keep their order.
static orr_result regroup(void *list, int count, size_t size, const fusing *f, int body_count,
                          orr_error *error)
{
    char *sorted = orr_alloc((size_t)count, size);
    int *next = orr_alloc_zero((size_t)body_count + 1, sizeof *next);
    orr_result result = sorted && next ? ORR_OK : spec_memory_fail(error);
    for (int i = 0; i < count && result == ORR_OK; i++) {
        hung *element = hung_at(list, size, i);
        element->body = f[f[element->body].owner].id;
        next[element->body + 1]++;
    }
    for (int k = 0; k < body_count && result == ORR_OK; k++) {
        next[k + 1] += next[k];
    }
    for (int i = 0; i < count && result == ORR_OK; i++) {
        const hung *element = hung_at(list, size, i);
        memcpy(hung_at(sorted, size, next[element->body]++), element, size);
    }
    if (result == ORR_OK && count > 0) {
        memcpy(list, sorted, (size_t)count * size);
    }
    orr_free(sorted);
    orr_free(next);
    return result;
}

#define REGROUP(list)                                                                                        \
    ORR_TRY(regroup(spec->list, spec->list##_count, sizeof *spec->list, f, spec->bodies_count, b->error))

static orr_result apply(model_builder *b, const fusing *f)
{
    orr_spec *spec = b->spec;
#define MOVE(list)                                                                                           \
    for (int i = 0; i < spec->list##_count; i++) {                                                           \
        const fusing *at = &f[spec->list[i].body];                                                           \
        frame_compose(at->pos, at->quat, spec->list[i].pos, spec->list[i].turn.quat);                        \
    }
    MOVE(geoms)
    MOVE(sites)
    MOVE(cameras)
#undef MOVE
    for (int i = 0; i < spec->lights_count; i++) {
        const fusing *at = &f[spec->lights[i].body];
        double quat[4] = {1.0, 0.0, 0.0, 0.0};
        frame_compose(at->pos, at->quat, spec->lights[i].pos, quat);
        quat_apply(at->quat, spec->lights[i].dir, spec->lights[i].dir);
    }
    REGROUP(joints);
    REGROUP(geoms);
    REGROUP(sites);
    REGROUP(cameras);
    REGROUP(lights);
    int kept = 0;
    for (int i = 0; i < spec->bodies_count; i++) {
        if (f[i].owner == i) {
            spec->bodies[kept] = spec->bodies[i];
            spec->bodies[kept].parent = f[spec->bodies[i].parent].id;
            b->inertias[kept] = b->inertias[i];
            kept++;
        }
    }
    spec->bodies_count = kept;
    return ORR_OK;
}

orr_result fuse_static(model_builder *b)
{
    fusing *f = orr_alloc((size_t)b->spec->bodies_count, sizeof *f);
    if (!f) {
        return spec_memory_fail(b->error);
    }
    choose_owners(b, f);
    orr_result result = apply(b, f);
    orr_free(f);
    return result;
}
