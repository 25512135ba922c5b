// With fusestatic, bodies without joints become part of their parents, unless something refers to them: fewer
// bodies, the same motion.
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"

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
    for (int i = 0; i < spec->actuators_count; i++) {
        const spec_actuator *a = &spec->actuators[i];
        if (is(a->body, name)) { // adhesion
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

// Does gravity compensation or drag act on a body of a moving parent otherwise than on the parent?
static bool has_own_forces(const model_builder *b, int body, int parent)
{
    const orr_spec *spec = b->spec;
    if (parent == 0) {
        return false;
    }
    bool massive = b->inertias[body].mass > 0.0, shaped = false;
    for (int i = 0; i < spec->geoms_count; i++) {
        shaped = shaped || (spec->geoms[i].body == body && spec->geoms[i].fluidshape);
    }
    bool fluid = spec->option.density > 0.0 || spec->option.viscosity > 0.0;
    return (massive && spec->bodies[body].gravcomp != spec->bodies[parent].gravcomp) ||
           (fluid && (massive || shaped));
}

// Force and torque sensors measure between a body and its parent: such a body stays.
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

typedef struct fusing { // arrays over the bodies
    int *owner;         // the body that each becomes part of, or itself
    int *id;            // new ids of the bodies that stay
    body_frame *frames; // in the owner's frame
} fusing;

static void fuse(model_builder *b, int i, const fusing *f)
{
    const spec_body *body = &b->spec->bodies[i];
    rigid_part two[2] = {b->inertias[body->parent], b->inertias[i]};
    f->owner[i] = body->parent;
    memcpy(f->frames[i].pos, body->pos, sizeof body->pos);
    memcpy(f->frames[i].quat, body->orientation.quat, sizeof body->orientation.quat);
    if (body->parent > 0 && two[1].mass > 1e-15) {
        frame_compose(body->pos, body->orientation.quat, two[1].pos, two[1].quat);
        merge_parts(two, 2, &b->inertias[body->parent]);
    }
}

// Bodies come after their parents, so that the owner of a parent is known.
static void choose_owners(model_builder *b, const fusing *f)
{
    orr_spec *spec = b->spec;
    int joint = 0, kept = 0;
    for (int i = 0; i < spec->bodies_count; i++) {
        spec_body *body = &spec->bodies[i];
        bool jointed = joint < spec->joints_count && spec->joints[joint].body == i;
        while (joint < spec->joints_count && spec->joints[joint].body == i) {
            joint++;
        }
        if (i > 0) { // its frame in the body that its parent is part of
            const body_frame *at = &f->frames[body->parent];
            frame_compose(at->pos, at->quat, body->pos, body->orientation.quat);
            body->parent = f->owner[body->parent];
        }
        f->owner[i] = i;
        f->frames[i] = (body_frame){.quat = {1.0, 0.0, 0.0, 0.0}};
        const char *name = body->head.name;
        if (i == 0 || jointed || body->mocap || body->kept || (name && is_referenced(spec, name)) ||
            has_force_sensor(spec, i) || has_own_forces(b, i, body->parent)) {
            f->id[i] = kept++;
        } else {
            fuse(b, i, f);
        }
    }
}

// What spec_geom, spec_site, spec_visual, spec_flex, spec_camera, spec_light and spec_joint begin with.
typedef struct body_element {
    spec_head head;
    int body;
} body_element;

static body_element *element_at(void *list, size_t size, int index)
{
    return (body_element *)(void *)((char *)list + size * (size_t)index);
}

// Gives the elements of a list to the bodies that stay, and sorts them by body; those of one body keep their
// order.
static orr_result regroup(void *list, int count, size_t size, const fusing *f, int body_count,
                          orr_error *error)
{
    char *sorted = orr_alloc((size_t)count, size);
    int *next = orr_alloc_zero((size_t)body_count + 1, sizeof *next);
    orr_result result = sorted && next ? ORR_OK : spec_memory_fail(error);
    for (int i = 0; i < count && result == ORR_OK; i++) {
        body_element *element = element_at(list, size, i);
        element->body = f->id[f->owner[element->body]];
        next[element->body + 1]++;
    }
    for (int k = 0; k < body_count && result == ORR_OK; k++) {
        next[k + 1] += next[k];
    }
    for (int i = 0; i < count && result == ORR_OK; i++) {
        const body_element *element = element_at(list, size, i);
        memcpy(element_at(sorted, size, next[element->body]++), element, size);
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
    move_attached(spec, f->frames);
    REGROUP(joints);
    REGROUP(geoms);
    REGROUP(sites);
    REGROUP(visuals);
    REGROUP(flexes);
    REGROUP(cameras);
    REGROUP(lights);
    int kept = 0;
    for (int i = 0; i < spec->bodies_count; i++) {
        if (f->owner[i] == i) {
            spec->bodies[kept] = spec->bodies[i];
            spec->bodies[kept].parent = f->id[spec->bodies[i].parent];
            b->inertias[kept] = b->inertias[i];
            kept++;
        }
    }
    spec->bodies_count = kept;
    return ORR_OK;
}

orr_result fuse_static(model_builder *b)
{
    size_t count = (size_t)b->spec->bodies_count;
    fusing f = {.owner = orr_alloc(count, sizeof *f.owner),
                .id = orr_alloc(count, sizeof *f.id),
                .frames = orr_alloc(count, sizeof *f.frames)};
    orr_result result;
    if (f.owner && f.id && f.frames) {
        choose_owners(b, &f);
        result = apply(b, &f);
    } else {
        result = spec_memory_fail(b->error);
    }
    orr_free(f.owner);
    orr_free(f.id);
    orr_free(f.frames);
    return result;
}
