#include "engine/env/task_start.h"

#include "engine/core/memory.h"
#include "physics/model/range.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef enum draw_kind {
    DRAW_UNIFORM,  // `count` numbers between low and high
    DRAW_NORMAL,   // around low, of the deviation high
    DRAW_ROTATION, // 4 numbers: any rotation
    DRAW_CIRCLE,   // 2 numbers: at a distance between inner and outer of low
    DRAW_RING,     // 2 numbers between low and high, those at such a distance of center
    DRAW_ANGLE,    // 4 numbers: a turn between low[0] and high[0] about an axis
    DRAW_COPY      // 1 number: that at at[1]
} draw_kind;

struct env_draw {
    draw_kind kind;
    bool places;      // a body that is moved from outside, not a joint
    bool shifts;      // a soft body: it is one that places
    bool velocity;    // of the joint
    int count, at[3]; // where its numbers are in qpos or qvel, or of the body's position (4: its rotation)
    double low[3], high[3], center[2], inner, outer, chance;
    int axis;
};

// ---- drawing ----

static void draw_rotation(env_noise *noise, double quat[4])
{
    double length = 0.0;
    for (int k = 0; k < 4; k++) {
        quat[k] = env_normal(noise);
        length += quat[k] * quat[k];
    }
    for (int k = 0; k < 4; k++) {
        quat[k] = length > 0.0 ? quat[k] / sqrt(length) : k == 0;
    }
}

static bool is_in_ring(const env_draw *d, double x, double y)
{
    const double distance = hypot(x - d->center[0], y - d->center[1]);
    return distance >= d->inner && distance <= d->outer;
}

// numbers: those that `at` counts.
static void draw_numbers(const env_draw *d, env_noise *noise, double *numbers)
{
    double angle, radius;
    switch (d->kind) {
    case DRAW_UNIFORM:
    case DRAW_NORMAL:
        for (int k = 0; k < d->count; k++) {
            numbers[d->at[k]] = d->kind == DRAW_UNIFORM ? env_uniform(noise, d->low[k], d->high[k])
                                                        : d->low[k] + d->high[k] * env_normal(noise);
        }
        break;
    case DRAW_ROTATION:
        draw_rotation(noise, numbers + d->at[0]);
        break;
    case DRAW_CIRCLE:
        angle = env_uniform(noise, -pi, pi);
        radius = env_uniform(noise, d->inner, d->outer);
        numbers[d->at[0]] = d->low[0] + radius * sin(angle);
        numbers[d->at[1]] = d->low[1] + radius * cos(angle);
        break;
    case DRAW_RING:
        do { // ends: read_ring has refused rings that leave little of the rectangle
            numbers[d->at[0]] = env_uniform(noise, d->low[0], d->high[0]);
            numbers[d->at[1]] = env_uniform(noise, d->low[1], d->high[1]);
        } while (!is_in_ring(d, numbers[d->at[0]], numbers[d->at[1]]));
        break;
    case DRAW_COPY:
        numbers[d->at[0]] = numbers[d->at[1]];
        break;
    case DRAW_ANGLE:
        angle = env_uniform(noise, d->low[0], d->high[0]);
        memset(numbers + d->at[0], 0, 4 * sizeof *numbers);
        numbers[d->at[0]] = cos(0.5 * angle);
        numbers[d->at[0] + 1 + d->axis] = sin(0.5 * angle);
        break;
    }
}

// Draws that do not apply use as many random numbers all the same, so that others do not depend on them.
static void draw_by_chance(const env_draw *d, env_noise *noise, double *numbers)
{
    double kept[4], *place = numbers + d->at[0];
    const bool applies = d->chance >= 1.0 || env_uniform(noise, 0.0, 1.0) < d->chance;
    const int count = d->kind == DRAW_ROTATION || d->kind == DRAW_ANGLE ? 4 : d->count;
    const bool row = count == 4;
    for (int k = 0; k < count; k++) {
        kept[k] = row ? place[k] : numbers[d->at[k]];
    }
    draw_numbers(d, noise, numbers);
    for (int k = 0; k < count && !applies; k++) {
        (row ? place : numbers)[row ? k : d->at[k]] = kept[k];
    }
}

// Hinges and slides with two ends within their range, other hinges and the rotations of balls and free joints
// anywhere that is allowed.
static void draw_joints(const orr_model *m, env_noise *noise, double *qpos)
{
    for (int j = 0; j < m->njnt; j++) {
        double *q = qpos + m->jnt_qposadr[j];
        const double *range = m->jnt_range + 2 * (ptrdiff_t)j;
        const bool limited = m->jnt_limited[j] != 0 && isfinite(range[1]);
        if (m->jnt_type[j] == ORR_JOINT_FREE) {
            draw_rotation(noise, q + 3);
        } else if (m->jnt_type[j] == ORR_JOINT_BALL) {
            draw_rotation(noise, q);
            const double angle = 2.0 * acos(fmin(fabs(q[0]), 1.0)), sine = sqrt(fmax(1.0 - q[0] * q[0], 0.0));
            const double turn = limited ? env_uniform(noise, 0.0, range[1]) : angle;
            for (int k = 1; k < 4 && limited && sine > 0.0; k++) { // an axis of any direction
                q[k] *= sin(0.5 * turn) / sine;
            }
            q[0] = limited ? cos(0.5 * turn) : q[0];
        } else if (m->jnt_type[j] == ORR_JOINT_HINGE || (limited && isfinite(range[0]))) {
            double ends[2];
            orr_model_range(m->jnt_limited[j], range, pi, ends);
            *q = env_uniform(noise, ends[0], ends[1]);
        }
    }
}

void env_start_draw(const env_start *s, const orr_model *m, env_noise *noise, double *qpos, double *qvel)
{
    memcpy(qpos, s->qpos0, (size_t)m->nq * sizeof *qpos);
    if (s->random_joints) {
        draw_joints(m, noise, qpos);
    }
    env_shake(noise, m, s->qpos_noise, s->qvel_noise, s->normal_velocity, qpos, qvel);
    for (int i = 0; i < s->draws; i++) {
        if (!s->draw[i].places) {
            draw_by_chance(&s->draw[i], noise, s->draw[i].velocity ? qvel : qpos);
        }
    }
}

void env_start_place(const env_start *s, env_noise *noise, double *position, double *rotation, double *shift)
{
    for (int i = 0; i < s->draws; i++) {
        if (s->draw[i].places) {
            draw_by_chance(&s->draw[i], noise,
                           s->draw[i].shifts               ? shift
                           : s->draw[i].kind == DRAW_ANGLE ? rotation
                                                           : position);
        }
    }
}

bool env_start_places(const env_start *s)
{
    bool places = false;
    for (int i = 0; i < s->draws; i++) {
        places |= s->draw[i].places;
    }
    return places;
}

// ---- reading ----

// One number of an axis, or several: "low": -1 or "low": [-1, -2].
static orr_result read_numbers(const orr_json *json, const char *key, int count, double *values,
                               orr_error *error)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(json->node, key);
    return node && !cJSON_IsArray(node) && count == 1 ? orr_json_number(json, key, values, error)
           : node                                     ? orr_json_numbers(json, key, count, values, error)
                                                      : ORR_OK;
}

static orr_result read_range(const orr_json *json, env_draw *d, orr_error *error)
{
    const bool normal = orr_json_has(json, "normal"),
               bounds = orr_json_has(json, "low") || orr_json_has(json, "high");
    if (normal && bounds) {
        return orr_json_expected(json, "normal", error, "no low and high beside it");
    }
    if (normal) {
        double given[2] = {0.0, 0.0};
        ORR_TRY(orr_json_numbers(json, "normal", 2, given, error));
        if (!(given[1] >= 0.0)) {
            return orr_json_expected(json, "normal", error, "a mean, and a deviation of 0 or more");
        }
        d->kind = DRAW_NORMAL;
        for (int k = 0; k < d->count; k++) {
            d->low[k] = given[0], d->high[k] = given[1];
        }
        return ORR_OK;
    }
    ORR_TRY(read_numbers(json, "low", d->count, d->low, error));
    ORR_TRY(read_numbers(json, "high", d->count, d->high, error));
    for (int k = 0; k < d->count; k++) {
        if (!(d->low[k] <= d->high[k])) {
            return orr_json_expected(json, "low", error, "no more than high");
        }
    }
    return ORR_OK;
}

// A share of the rectangle of at least 1 %, of 100 x 100 points of it, is in the ring.
static bool ring_has_room(const env_draw *d)
{
    int inside = 0;
    for (int i = 0; i < 100 * 100; i++) {
        const double u = (i % 100 + 0.5) / 100.0, v = (double)(i / 100) / 100.0 + 0.005;
        inside +=
            is_in_ring(d, d->low[0] + u * (d->high[0] - d->low[0]), d->low[1] + v * (d->high[1] - d->low[1]));
    }
    return inside >= 100;
}

// Two joints: a point of a rectangle that is in a ring, such as a target within reach.
static orr_result read_ring(const orr_json *json, const env_objects *objects, env_draw *d, orr_error *error)
{
    const orr_model *m = objects->model;
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(json->node, "joint");
    double radius[2] = {0.0, 0.0};
    for (int k = 0; k < 2; k++) {
        const cJSON *name = cJSON_GetArrayItem(names, k);
        const int joint =
            cJSON_IsString(name) ? env_objects_find(objects, ORR_OBJECT_JOINT, name->valuestring) : -1;
        const int type = joint < 0 ? -1 : m->jnt_type[joint];
        if (cJSON_GetArraySize(names) != 2 || (type != ORR_JOINT_HINGE && type != ORR_JOINT_SLIDE)) {
            return orr_json_expected(json, "joint", error, "two hinges or slides of the robot");
        }
        d->at[k] = m->jnt_qposadr[joint];
    }
    if (d->at[0] == d->at[1]) {
        return orr_json_expected(json, "joint", error, "each name once");
    }
    d->count = 2;
    ORR_TRY(read_range(json, d, error));
    ORR_TRY(orr_json_require(json, "radius", "inner and outer radius around the center", error));
    ORR_TRY(orr_json_numbers(json, "radius", 2, radius, error));
    ORR_TRY(orr_json_numbers(json, "center", 2, d->center, error));
    d->kind = DRAW_RING;
    d->inner = radius[0], d->outer = radius[1];
    return d->inner >= 0.0 && ring_has_room(d)
               ? ORR_OK
               : orr_json_expected(json, "radius", error, "0 <= inner <= outer, with 1 %% of the rectangle");
}

static orr_result read_joint(const orr_json *json, const env_objects *objects, env_draw *d, orr_error *error)
{
    const orr_model *m = objects->model;
    const char *name = NULL, *other = NULL;
    bool rotation = false;
    ORR_TRY(orr_json_string(json, "joint", &name, error));
    ORR_TRY(orr_json_string(json, "same_as", &other, error));
    ORR_TRY(orr_json_bool(json, "rotation", &rotation, error));
    ORR_TRY(orr_json_bool(json, "velocity", &d->velocity, error));
    const int joint = env_objects_find(objects, ORR_OBJECT_JOINT, name);
    const int type = joint < 0 ? -1 : m->jnt_type[joint];
    if (rotation) {
        if (type != ORR_JOINT_FREE && type != ORR_JOINT_BALL) {
            return orr_json_expected(json, "joint", error, "a ball or a free joint of the robot");
        }
        d->kind = DRAW_ROTATION;
        d->at[0] = m->jnt_qposadr[joint] + (type == ORR_JOINT_FREE ? 3 : 0);
        return ORR_OK;
    }
    if (type != ORR_JOINT_HINGE && type != ORR_JOINT_SLIDE) {
        return orr_json_expected(json, "joint", error, "a hinge or a slide of the robot");
    }
    d->count = 1;
    d->at[0] = d->velocity ? m->jnt_dofadr[joint] : m->jnt_qposadr[joint];
    if (other) {
        const int from = env_objects_find(objects, ORR_OBJECT_JOINT, other);
        if (from < 0 || m->jnt_type[from] != type) {
            return orr_json_expected(json, "same_as", error, "a joint of the same kind");
        }
        d->kind = DRAW_COPY;
        d->at[1] = d->velocity ? m->jnt_dofadr[from] : m->jnt_qposadr[from];
        return ORR_OK;
    }
    return read_range(json, d, error);
}

// How far a soft body begins from where it is in the scene, on some axes.
static orr_result read_shift(const orr_json *json, const env_objects *objects, env_draw *d, orr_error *error)
{
    const char *name = NULL, *axes = "xyz";
    ORR_TRY(orr_json_string(json, "soft", &name, error));
    ORR_TRY(orr_json_string(json, "axes", &axes, error));
    const int soft = env_objects_soft(objects, name);
    if (soft < 0) {
        return orr_json_expected(json, "soft", error, "the name of a soft body of the scene");
    }
    const size_t count = strlen(axes);
    if (count < 1 || count > 3 || strspn(axes, "xyz") != count) {
        return orr_json_expected(json, "axes", error, "some of x, y, z");
    }
    d->places = d->shifts = true;
    d->count = (int)count;
    for (int k = 0; k < d->count; k++) {
        d->at[k] = 3 * soft + (axes[k] - 'x');
    }
    return read_range(json, d, error);
}

// A body that is moved from outside: its position on some axes, or its angle about one.
static orr_result read_place(const orr_json *json, const env_objects *objects, env_draw *d, orr_error *error)
{
    const orr_model *m = objects->model;
    const char *name = NULL, *axes = "xyz", *about = NULL;
    ORR_TRY(orr_json_string(json, "mocap", &name, error));
    ORR_TRY(orr_json_string(json, "axes", &axes, error));
    ORR_TRY(orr_json_string(json, "about", &about, error));
    const int body = env_objects_find(objects, ORR_OBJECT_BODY, name),
              mocap = body < 0 ? -1 : m->body_mocapid[body];
    if (mocap < 0) {
        return orr_json_expected(json, "mocap", error, "the name of a mocap body of the robot");
    }
    const char *used = about ? about : axes;
    const size_t count = strlen(used);
    if (count < 1 || count > (about ? 1u : 3u) || strspn(used, "xyz") != count) {
        return orr_json_expected(json, about ? "about" : "axes", error,
                                 about ? "x, y or z" : "some of x, y, z");
    }
    d->places = true;
    d->count = (int)count;
    for (int k = 0; k < d->count; k++) {
        d->at[k] = 3 * mocap + (axes[k] - 'x');
    }
    if (orr_json_has(json, "radius")) {
        double radius[2] = {0.0, 0.0};
        ORR_TRY(orr_json_numbers(json, "radius", 2, radius, error));
        if (d->count != 2 || about || !(radius[0] >= 0.0 && radius[0] <= radius[1])) {
            return orr_json_expected(json, "radius", error, "0 <= inner <= outer, and two axes");
        }
        d->kind = DRAW_CIRCLE;
        d->inner = radius[0], d->outer = radius[1];
        return read_numbers(json, "center", 2, d->low, error);
    }
    ORR_TRY(read_range(json, d, error));
    if (about) {
        d->kind = DRAW_ANGLE;
        d->axis = about[0] - 'x';
        d->at[0] = 4 * mocap;
    }
    return ORR_OK;
}

static orr_result read_draws(const orr_json *json, env_start *s, const env_objects *objects, orr_error *error)
{
    static const char *const joint[] = {"joint",    "low",     "high",   "normal", "velocity",
                                        "rotation", "same_as", "chance", NULL},
                             *const ring[] = {"joint", "low", "high", "center", "radius", "chance", NULL},
                             *const place[] = {"mocap",  "axes",   "about",  "low",    "high",
                                               "normal", "center", "radius", "chance", NULL},
                             *const shift[] = {"soft", "axes", "low", "high", "normal", "chance", NULL};
    const cJSON *node;
    int count;
    ORR_TRY(orr_json_array(json, "draw", &node, &count, error));
    ORR_ALLOC(s->draw, count + 1, "a task", error);
    for (int i = 0; i < count; i++, node = node->next) {
        orr_json inner;
        env_draw draw = {.chance = 1.0};
        ORR_TRY(orr_json_element(json, "draw", i, node, &inner, error));
        const bool moved = orr_json_has(&inner, "mocap"), soft = !moved && orr_json_has(&inner, "soft");
        const bool two = cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(inner.node, "joint"));
        ORR_TRY(orr_json_check_keys(&inner, moved ? place : soft ? shift : two ? ring : joint, error));
        if (!moved && !soft) {
            ORR_TRY(orr_json_require(&inner, "joint", "the name of a joint, or mocap or soft", error));
        }
        ORR_TRY(orr_json_number(&inner, "chance", &draw.chance, error));
        if (!(draw.chance >= 0.0 && draw.chance <= 1.0)) {
            return orr_json_expected(&inner, "chance", error, "0 to 1");
        }
        ORR_TRY((moved  ? read_place
                 : soft ? read_shift
                 : two  ? read_ring
                        : read_joint)(&inner, objects, &draw, error));
        s->draw[s->draws++] = draw;
    }
    return ORR_OK;
}

static orr_result read_no_contacts(const orr_json *json, env_start *s, orr_error *error)
{
    static const char *const keys[] = {"attempts", "lift", NULL};
    orr_json inner;
    ORR_TRY(orr_json_member(json, "no_contacts", &inner, error));
    if (!inner.node) {
        return ORR_OK;
    }
    s->attempts = 1000;
    ORR_TRY(orr_json_check_keys(&inner, keys, error));
    ORR_TRY(orr_json_whole(&inner, "attempts", NULL, 1, 100000, &s->attempts, error));
    return orr_json_not_negative(&inner, "lift", &s->lift, error);
}

orr_result env_start_read(const orr_json *root, const env_objects *objects, env_start *s, orr_error *error)
{
    const orr_model *m = objects->model;
    static const char *const keys[] = {"keyframe", "joints", "qpos_noise",  "qvel_noise", "normal_velocity",
                                       "draw",     "settle", "no_contacts", NULL};
    orr_json json;
    const char *keyframe = NULL, *joints = NULL;
    ORR_ALLOC(s->qpos0, m->nq + 1, "a task", error);
    memcpy(s->qpos0, m->qpos0, (size_t)m->nq * sizeof *s->qpos0);
    ORR_TRY(orr_json_member(root, "start", &json, error));
    if (!json.node) {
        return ORR_OK;
    }
    ORR_TRY(orr_json_check_keys(&json, keys, error));
    ORR_TRY(orr_json_string(&json, "keyframe", &keyframe, error));
    if (keyframe) {
        int key = orr_model_find(m, ORR_OBJECT_KEY, keyframe);
        if (key < 0) {
            return orr_json_expected(&json, "keyframe", error, "the name of a keyframe of the robot");
        }
        memcpy(s->qpos0, m->key_qpos + (ptrdiff_t)key * m->nq, (size_t)m->nq * sizeof *s->qpos0);
    }
    ORR_TRY(orr_json_string(&json, "joints", &joints, error));
    if (joints && strcmp(joints, "random") != 0) {
        return orr_json_expected(&json, "joints", error, "random");
    }
    s->random_joints = joints != NULL;
    ORR_TRY(orr_json_not_negative(&json, "qpos_noise", &s->qpos_noise, error));
    ORR_TRY(orr_json_not_negative(&json, "qvel_noise", &s->qvel_noise, error));
    ORR_TRY(orr_json_bool(&json, "normal_velocity", &s->normal_velocity, error));
    ORR_TRY(orr_json_whole(&json, "settle", NULL, 0, 100000, &s->settle, error));
    ORR_TRY(read_no_contacts(&json, s, error));
    return read_draws(&json, s, objects, error);
}

void env_start_clear(env_start *s)
{
    orr_free(s->qpos0);
    orr_free(s->draw);
}
