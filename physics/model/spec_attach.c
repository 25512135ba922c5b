// <attach>: parts of one spec copied into another, under new names.
#include "engine/maths/rotation.h"
#include "physics/model/spec.h"

#include <math.h>
#include <string.h>

enum { ATTACHED_MAX = 1 << 20 }; // elements of one model that come from others

typedef struct joining {
    orr_spec *to;
    const orr_spec *from;
    const spec_attachment *part;
    orr_error *error;
} joining;

static orr_result count_element(const joining *j)
{
    return ++j->to->attached <= ATTACHED_MAX
               ? ORR_OK
               : spec_fail(&j->part->head, j->error, "expected up to %d elements in all that is attached",
                           ATTACHED_MAX);
}

// Declares `copy`: a copy of an element, at the end of the list. Returns on failure.
#define TRY_COPY(list, index)                                                                                \
    ORR_TRY(count_element(j));                                                                               \
    __typeof__(j->to->list) copy = SPEC_APPEND(j->to, list);                                                 \
    if (!copy) {                                                                                             \
        return spec_memory_fail(j->error);                                                                   \
    }                                                                                                        \
    *copy = j->from->list[index];                                                                            \
    ORR_TRY(rename_part(j, &copy->head.name))

// The name with the prefix and, unless it is an asset's, with the number of the copy appended.
static orr_result rename_with(const joining *j, const char **name, const char *ending)
{
    if (!*name) {
        return ORR_OK;
    }
    const char *parts[] = {j->part->prefix, *name, ending};
    size_t size = 1, at = 0;
    for (int i = 0; i < 3; i++) {
        size += strlen(parts[i]);
    }
    char *made = orr_arena_take(&j->to->arena, size, 1);
    if (!made) {
        return spec_memory_fail(j->error);
    }
    for (int i = 0; i < 3; i++) {
        memcpy(made + at, parts[i], strlen(parts[i]));
        at += strlen(parts[i]);
    }
    made[at] = 0;
    *name = made;
    return ORR_OK;
}

static orr_result rename_part(const joining *j, const char **name)
{
    return rename_with(j, name, j->part->ending);
}

static orr_result rename_asset(const joining *j, const char **name)
{
    return rename_with(j, name, "");
}

// ---- the tree

// The pose here of the attached frame, or else of the host body: its elements are relative to it.
static spec_at pose_of(const joining *j, const spec_at *at)
{
    spec_at pose = *at;
    if (j->part->span) { // frames around the attached one are not copied
        double quat[4], offset[3];
        quat_conjugate(j->part->span->quat, quat);
        quat_apply(quat, j->part->span->pos, offset);
        for (int i = 0; i < 3; i++) {
            offset[i] = -offset[i];
        }
        frame_compose(at->pos, at->quat, offset, quat);
        memcpy(pose.pos, offset, sizeof offset);
        memcpy(pose.quat, quat, sizeof quat);
    }
    return pose;
}

// Elements of the bodies of the range (`at` NULL), or of the host.
static bool is_attached(const joining *j, const spec_at *at, int body, int index, const spec_range *in_span)
{
    const spec_attachment *part = j->part;
    if (!at) {
        return body >= part->bodies.first && body < part->bodies.end;
    }
    return body == part->host && (!part->span || (index >= in_span->first && index < in_span->end));
}

static int body_of(const joining *j, const spec_at *at, int body)
{
    return at ? at->body : j->part->body[body];
}

#define FOR_EACH_ATTACHED(list)                                                                              \
    for (int i = 0; i < j->from->list##_count; i++)                                                          \
        if (is_attached(j, at, j->from->list[i].body, i, j->part->span ? &j->part->span->list : NULL))

// Limited or not, as the compiler settings of its own model have it.
static orr_result settle_limit(const joining *j, const spec_head *head, int32_t *limited,
                               const double range[2])
{
    bool has_range = range[0] < range[1];
    if (*limited == SPEC_AUTO && has_range && !j->from->compiler.autolimits) {
        return spec_fail(head, j->error, "a range is given and autolimits is false: expected 'limited'");
    }
    *limited = *limited == SPEC_AUTO && has_range ? 1 : *limited;
    return ORR_OK;
}

static orr_result join_joints(const joining *j, const spec_at *at)
{
    FOR_EACH_ATTACHED(joints)
    {
        j->part->joint[i] = j->to->joints_count;
        TRY_COPY(joints, i);
        copy->body = body_of(j, at, copy->body);
        copy->align = copy->align == SPEC_AUTO ? j->from->compiler.alignfree : copy->align;
        ORR_TRY(settle_limit(j, &copy->head, &copy->limited, copy->range));
        ORR_TRY(settle_limit(j, &copy->head, &copy->actfrclimited, copy->actfrcrange));
        if (at) {
            double quat[4] = {1.0, 0.0, 0.0, 0.0};
            frame_compose(at->pos, at->quat, copy->pos, quat);
            quat_apply(at->quat, copy->axis, copy->axis);
        }
    }
    return ORR_OK;
}

static orr_result join_geoms(const joining *j, const spec_at *at)
{
    FOR_EACH_ATTACHED(geoms)
    {
        TRY_COPY(geoms, i);
        copy->body = body_of(j, at, copy->body);
        ORR_TRY(rename_asset(j, &copy->material));
        ORR_TRY(rename_asset(j, &copy->mesh));
        ORR_TRY(rename_asset(j, &copy->hfield));
        ORR_TRY(rename_asset(j, &copy->grid));
        if (at) {
            frame_compose(at->pos, at->quat, copy->pos, copy->orientation.quat);
        }
    }
    return ORR_OK;
}

static orr_result join_sites(const joining *j, const spec_at *at)
{
    FOR_EACH_ATTACHED(sites)
    {
        TRY_COPY(sites, i);
        copy->body = body_of(j, at, copy->body);
        ORR_TRY(rename_asset(j, &copy->material));
        if (at) {
            frame_compose(at->pos, at->quat, copy->pos, copy->orientation.quat);
        }
    }
    return ORR_OK;
}

static orr_result join_visuals(const joining *j, const spec_at *at)
{
    FOR_EACH_ATTACHED(visuals)
    {
        TRY_COPY(visuals, i); // with the strings of its own arena, which lives as long
        copy->body = body_of(j, at, copy->body);
        if (at) {
            frame_compose(at->pos, at->quat, copy->pos, copy->orientation.quat);
        }
    }
    return ORR_OK;
}

static orr_result join_flexes(const joining *j, const spec_at *at)
{
    FOR_EACH_ATTACHED(flexes)
    {
        TRY_COPY(flexes, i); // with the numbers of its own arena, which lives as long
        copy->body = body_of(j, at, copy->body);
        ORR_TRY(rename_asset(j, &copy->material));
        if (at) {
            frame_compose(at->pos, at->quat, copy->pos, copy->orientation.quat);
        }
    }
    return ORR_OK;
}

static orr_result join_views(const joining *j, const spec_at *at)
{
    FOR_EACH_ATTACHED(cameras)
    {
        TRY_COPY(cameras, i);
        copy->body = body_of(j, at, copy->body);
        ORR_TRY(rename_part(j, &copy->target));
        if (at) {
            frame_compose(at->pos, at->quat, copy->pos, copy->orientation.quat);
        }
    }
    FOR_EACH_ATTACHED(lights)
    {
        TRY_COPY(lights, i);
        copy->body = body_of(j, at, copy->body);
        ORR_TRY(rename_part(j, &copy->target));
        if (at) {
            double quat[4] = {1.0, 0.0, 0.0, 0.0};
            frame_compose(at->pos, at->quat, copy->pos, quat);
            quat_apply(at->quat, copy->dir, copy->dir);
        }
    }
    return ORR_OK;
}

static orr_result join_elements(const joining *j, const spec_at *at)
{
    ORR_TRY(join_joints(j, at));
    ORR_TRY(join_geoms(j, at));
    ORR_TRY(join_sites(j, at));
    ORR_TRY(join_visuals(j, at));
    ORR_TRY(join_flexes(j, at));
    return join_views(j, at);
}

orr_result spec_attach_elements(orr_spec *spec, const spec_attachment *part, const spec_at *at,
                                orr_error *error)
{
    const joining j = {spec, part->from, part, error};
    spec_at pose = pose_of(&j, at);
    return part->host >= 0 ? join_elements(&j, &pose) : ORR_OK;
}

static orr_result join_bodies(const joining *j, const spec_at *at)
{
    spec_at pose = pose_of(j, at);
    for (int i = j->part->bodies.first; i < j->part->bodies.end; i++) {
        j->part->body[i] = j->to->bodies_count;
        TRY_COPY(bodies, i);
        copy->compiler = copy->compiler ? copy->compiler : &j->from->compiler;
        if (j->part->host < 0 && i == j->part->bodies.first) { // without the frames around it
            copy->parent = at->body;
            memcpy(copy->pos, copy->own_pos, sizeof copy->pos);
            memcpy(copy->orientation.quat, copy->own_quat, sizeof copy->own_quat);
            frame_compose(at->pos, at->quat, copy->pos, copy->orientation.quat);
        } else if (copy->parent == j->part->host) {
            copy->parent = at->body;
            frame_compose(pose.pos, pose.quat, copy->pos, copy->orientation.quat);
        } else {
            copy->parent = j->part->body[copy->parent];
        }
    }
    return join_elements(j, NULL);
}

orr_result spec_attach_bodies(orr_spec *spec, const spec_attachment *part, const spec_at *at,
                              orr_error *error)
{
    const joining j = {spec, part->from, part, error};
    return join_bodies(&j, at);
}

// ---- elements that refer to the tree

static bool is_there(const orr_spec *s, int kind, const char *name)
{
    switch (kind) {
    case ORR_OBJECT_BODY:
    case ORR_OBJECT_XBODY:
        return SPEC_FIND(s, bodies, name) >= 0;
    case ORR_OBJECT_JOINT:
        return SPEC_FIND(s, joints, name) >= 0;
    case ORR_OBJECT_GEOM:
        return SPEC_FIND(s, geoms, name) >= 0;
    case ORR_OBJECT_SITE:
        return SPEC_FIND(s, sites, name) >= 0;
    case ORR_OBJECT_FLEX:
        return SPEC_FIND(s, flexes, name) >= 0;
    case ORR_OBJECT_CAMERA:
        return SPEC_FIND(s, cameras, name) >= 0;
    case ORR_OBJECT_LIGHT:
        return SPEC_FIND(s, lights, name) >= 0;
    case ORR_OBJECT_TENDON:
        return SPEC_FIND(s, tendons, name) >= 0;
    case ORR_OBJECT_ACTUATOR:
        return SPEC_FIND(s, actuators, name) >= 0;
    case ORR_OBJECT_SENSOR:
        return SPEC_FIND(s, sensors, name) >= 0;
    case ORR_OBJECT_EQUALITY:
        return SPEC_FIND(s, equalities, name) >= 0;
    case ORR_OBJECT_PAIR:
        return SPEC_FIND(s, pairs, name) >= 0;
    case ORR_OBJECT_EXCLUDE:
        return SPEC_FIND(s, excludes, name) >= 0;
    default:
        return true; // assets and custom elements are all copied
    }
}

static bool is_asset(int kind)
{
    return kind == ORR_OBJECT_MESH || kind == ORR_OBJECT_HFIELD || kind == ORR_OBJECT_TEXTURE ||
           kind == ORR_OBJECT_MATERIAL || kind == ORR_OBJECT_NUMERIC || kind == ORR_OBJECT_TEXT ||
           kind == ORR_OBJECT_TUPLE || kind == ORR_OBJECT_KEY;
}

typedef struct reference {
    int kind; // orr_object
    const char **name;
} reference;

// Replaces the names that an element refers to by those here; *kept: all of them are here.
static orr_result refer(const joining *j, const reference *references, int count, bool *kept)
{
    *kept = true;
    for (int i = 0; i < count; i++) {
        const char **name = references[i].name;
        ORR_TRY(is_asset(references[i].kind) ? rename_asset(j, name) : rename_part(j, name));
        *kept = *kept && (!*name || is_there(j->to, references[i].kind, *name));
    }
    return ORR_OK;
}

// Declares `kept`: whether all that these references name is there. Returns on failure.
#define TRY_REFER(...)                                                                                       \
    const reference references[] = {__VA_ARGS__};                                                            \
    bool kept;                                                                                               \
    ORR_TRY(refer(j, references, (int)(sizeof references / sizeof references[0]), &kept))
#define DROP(list) j->to->list##_count -= kept ? 0 : 1

static orr_result join_contacts(const joining *j)
{
    for (int i = 0; i < j->from->pairs_count; i++) {
        TRY_COPY(pairs, i);
        TRY_REFER({ORR_OBJECT_GEOM, &copy->geom1}, {ORR_OBJECT_GEOM, &copy->geom2});
        DROP(pairs);
    }
    for (int i = 0; i < j->from->excludes_count; i++) {
        TRY_COPY(excludes, i);
        const char *bodies[2] = {copy->body1, copy->body2}, *world = "world";
        TRY_REFER({ORR_OBJECT_BODY, &copy->body1}, {ORR_OBJECT_BODY, &copy->body2});
        for (int k = 0; k < 2; k++) { // there is one world
            const char **body = k ? &copy->body2 : &copy->body1, *other = k ? copy->body1 : copy->body2;
            if (strcmp(bodies[k], world) == 0 && !is_there(j->to, ORR_OBJECT_BODY, *body)) {
                *body = world;
                kept = is_there(j->to, ORR_OBJECT_BODY, other);
            }
        }
        DROP(excludes);
    }
    return ORR_OK;
}

static orr_result join_equalities(const joining *j)
{
    for (int i = 0; i < j->from->equalities_count; i++) {
        TRY_COPY(equalities, i);
        int kind = copy->type == ORR_EQUALITY_JOINT        ? ORR_OBJECT_JOINT
                   : copy->type == ORR_EQUALITY_TENDON     ? ORR_OBJECT_TENDON
                   : copy->type == ORR_EQUALITY_FLEXSTRAIN ? ORR_OBJECT_FLEX
                                                           : ORR_OBJECT_BODY;
        TRY_REFER({kind, &copy->object1}, {kind, &copy->object2}, {ORR_OBJECT_SITE, &copy->site1},
                  {ORR_OBJECT_SITE, &copy->site2});
        DROP(equalities);
    }
    return ORR_OK;
}

static orr_result join_wrap(const joining *j, int index, bool *all_kept)
{
    TRY_COPY(wraps, index);
    int kind = copy->type == ORR_WRAP_JOINT  ? ORR_OBJECT_JOINT
               : copy->type == ORR_WRAP_SITE ? ORR_OBJECT_SITE
                                             : ORR_OBJECT_GEOM;
    TRY_REFER({kind, &copy->object}, {ORR_OBJECT_SITE, &copy->sidesite});
    *all_kept = *all_kept && kept;
    return ORR_OK;
}

static orr_result join_tendons(const joining *j)
{
    for (int i = 0; i < j->from->tendons_count; i++) {
        TRY_COPY(tendons, i);
        ORR_TRY(rename_asset(j, &copy->material));
        ORR_TRY(settle_limit(j, &copy->head, &copy->limited, copy->range));
        ORR_TRY(settle_limit(j, &copy->head, &copy->actfrclimited, copy->actfrcrange));
        int first = copy->wrap;
        bool kept = true;
        copy->wrap = j->to->wraps_count;
        for (int k = 0; k < copy->wrap_count; k++) {
            ORR_TRY(join_wrap(j, first + k, &kept));
        }
        j->to->wraps_count = kept ? j->to->wraps_count : copy->wrap;
        DROP(tendons);
    }
    return ORR_OK;
}

static orr_result join_actuators(const joining *j)
{
    for (int i = 0; i < j->from->actuators_count; i++) {
        TRY_COPY(actuators, i);
        TRY_REFER({ORR_OBJECT_JOINT, &copy->joint}, {ORR_OBJECT_JOINT, &copy->jointinparent},
                  {ORR_OBJECT_TENDON, &copy->tendon}, {ORR_OBJECT_SITE, &copy->site},
                  {ORR_OBJECT_SITE, &copy->refsite}, {ORR_OBJECT_SITE, &copy->cranksite},
                  {ORR_OBJECT_SITE, &copy->slidersite}, {ORR_OBJECT_BODY, &copy->body});
        if (copy->inheritrange <= 0.0) {
            ORR_TRY(settle_limit(j, &copy->head, &copy->ctrllimited, copy->ctrlrange));
            ORR_TRY(settle_limit(j, &copy->head, &copy->actlimited, copy->actrange));
        }
        ORR_TRY(settle_limit(j, &copy->head, &copy->forcelimited, copy->forcerange));
        DROP(actuators);
        j->part->actuator[i] = kept ? j->to->actuators_count - 1 : -1;
    }
    return ORR_OK;
}

static orr_result join_sensors(const joining *j)
{
    for (int i = 0; i < j->from->sensors_count; i++) {
        TRY_COPY(sensors, i);
        TRY_REFER({copy->objtype, &copy->object}, {copy->reftype, &copy->reference});
        DROP(sensors);
    }
    return ORR_OK;
}

static orr_result join_tuple_element(const joining *j, int index, bool *all_kept)
{
    TRY_COPY(tuple_elements, index);
    TRY_REFER({copy->objtype, &copy->object});
    *all_kept = *all_kept && kept;
    return ORR_OK;
}

static orr_result join_tuples(const joining *j)
{
    for (int i = 0; i < j->from->tuples_count; i++) {
        TRY_COPY(tuples, i);
        int first = copy->first;
        bool kept = true;
        copy->first = j->to->tuple_elements_count;
        for (int k = 0; k < copy->count; k++) {
            ORR_TRY(join_tuple_element(j, first + k, &kept));
        }
        j->to->tuple_elements_count = kept ? j->to->tuple_elements_count : copy->first;
        DROP(tuples);
    }
    return ORR_OK;
}

// ---- assets and custom elements: all of them, once for each prefix

static bool joined_before(const orr_spec *spec, const spec_attachment *part)
{
    for (const spec_attachment *other = spec->attachments; other < part; other++) {
        if (other->from == part->from && strcmp(other->prefix, part->prefix) == 0) {
            return true;
        }
    }
    return false;
}

#define TRY_COPY_ALL(list)                                                                                   \
    for (int i = 0; i < j->from->list##_count; i++) {                                                        \
        TRY_COPY(list, i);                                                                                   \
    }

static orr_result join_assets(const spec_attachment *named, orr_spec *to, orr_error *error)
{
    spec_attachment part = *named;
    part.ending = "";
    const joining once = {to, part.from, &part, error}, *j = &once;
    TRY_COPY_ALL(meshes)
    TRY_COPY_ALL(hfields)
    TRY_COPY_ALL(grids)
    TRY_COPY_ALL(textures)
    for (int i = 0; i < j->from->materials_count; i++) {
        TRY_COPY(materials, i);
        ORR_TRY(rename_asset(j, &copy->texture));
    }
    TRY_COPY_ALL(numerics)
    TRY_COPY_ALL(texts)
    return ORR_OK;
}

// ---- keyframes: the numbers of the parts that are copied, at their indices here

static int coordinates(const spec_joint *joint, bool velocities)
{
    return joint->type == ORR_JOINT_FREE   ? 7 - velocities
           : joint->type == ORR_JOINT_BALL ? 4 - velocities
                                           : 1;
}

// Widths of an element of each kind in the vectors of a keyframe.
static int joint_positions(const orr_spec *s, int i)
{
    return coordinates(&s->joints[i], false);
}
static int joint_velocities(const orr_spec *s, int i)
{
    return coordinates(&s->joints[i], true);
}
static int actuator_activations(const orr_spec *s, int i)
{
    return spec_activations(&s->actuators[i]);
}
static int actuator_controls(const orr_spec *s, int i)
{
    return spec_controls(&s->actuators[i]);
}
static int body_positions(const orr_spec *s, int i)
{
    return s->bodies[i].mocap ? 3 : 0;
}
static int body_quaternions(const orr_spec *s, int i)
{
    return s->bodies[i].mocap ? 4 : 0;
}

typedef int width_function(const orr_spec *spec, int index);

static int64_t width_of(const orr_spec *spec, width_function *width, int count)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        sum += width(spec, i);
    }
    return sum;
}

static orr_result move_numbers(const joining *j, const spec_head *key, const char *what,
                               width_function *width, int from_count, int to_count, const int *map,
                               spec_numbers *numbers)
{
    int64_t given = width_of(j->from, width, from_count), size = width_of(j->to, width, to_count);
    if (numbers->count == 0) {
        return ORR_OK;
    }
    if (numbers->count > given || size > SPEC_NUMBERS_MAX) {
        return spec_fail(key, j->error, "%s: expected %lld numbers or fewer", what, (long long)given);
    }
    double *moved = orr_arena_take(&j->to->arena, (size_t)size, sizeof *moved);
    if (!moved) {
        return spec_memory_fail(j->error);
    }
    for (int64_t k = 0; k < size; k++) {
        moved[k] = (double)NAN;
    }
    const double *next = numbers->values;
    double *next_moved = moved;
    for (int i = 0, k = 0; i < from_count; i++) { // both in the same order
        int64_t count = width(j->from, i), left = numbers->count - (next - numbers->values);
        count = count < left ? count : left; // a list that is too short leaves the last ones as they are
        for (; k < map[i]; k++) {
            next_moved += width(j->to, k);
        }
        if (map[i] >= 0) {
            memcpy(next_moved, next, (size_t)count * sizeof *moved);
        }
        next += count;
    }
    *numbers = (spec_numbers){moved, (int)size};
    return ORR_OK;
}

static orr_result join_keys(const joining *j)
{
    const orr_spec *from = j->from, *to = j->to;
    const spec_attachment *part = j->part;
    for (int i = 0; i < from->keys_count; i++) {
        TRY_COPY(keys, i);
        const spec_head *head = &copy->head;
        ORR_TRY(move_numbers(j, head, "qpos", joint_positions, from->joints_count, to->joints_count,
                             part->joint, &copy->qpos));
        ORR_TRY(move_numbers(j, head, "qvel", joint_velocities, from->joints_count, to->joints_count,
                             part->joint, &copy->qvel));
        ORR_TRY(move_numbers(j, head, "act", actuator_activations, from->actuators_count, to->actuators_count,
                             part->actuator, &copy->act));
        ORR_TRY(move_numbers(j, head, "ctrl", actuator_controls, from->actuators_count, to->actuators_count,
                             part->actuator, &copy->ctrl));
        ORR_TRY(move_numbers(j, head, "mpos", body_positions, from->bodies_count, to->bodies_count,
                             part->body, &copy->mpos));
        ORR_TRY(move_numbers(j, head, "mquat", body_quaternions, from->bodies_count, to->bodies_count,
                             part->body, &copy->mquat));
        copy->plastic = (spec_numbers){0}; // not copied: springs rest where they do at the start
    }
    return ORR_OK;
}

orr_result spec_attach_rest(orr_spec *spec, orr_error *error)
{
    for (int i = 0; i < spec->attachments_count; i++) {
        const spec_attachment *part = &spec->attachments[i];
        const joining j = {spec, part->from, part, error};
        if (!joined_before(spec, part)) {
            ORR_TRY(join_assets(part, spec, error));
        }
        ORR_TRY(join_contacts(&j));
        ORR_TRY(join_tendons(&j));
        ORR_TRY(join_equalities(&j)); // of tendons, too
        ORR_TRY(join_actuators(&j));
        ORR_TRY(join_sensors(&j));
        ORR_TRY(join_tuples(&j));
    }
    for (int i = 0; i < spec->attachments_count; i++) { // when all joints and actuators are known
        const spec_attachment *part = &spec->attachments[i];
        if (!joined_before(spec, part)) {
            const joining j = {spec, part->from, part, error};
            ORR_TRY(join_keys(&j));
        }
    }
    return ORR_OK;
}
