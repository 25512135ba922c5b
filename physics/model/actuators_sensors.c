// Actuators and sensors.
#include "physics/model/compile.h"

#include <math.h>
#include <string.h>

enum { SENSOR_MAX = 1 << 20 }; // numbers of one sensor

static orr_result find(model_builder *b, const spec_head *head, const char *what, int index, const char *name)
{
    return index >= 0 ? ORR_OK : spec_fail(head, b->error, "there is no %s '%.64s'", what, name);
}

static orr_result resolve_transmission(model_builder *b, const spec_actuator *a, int32_t *type, int32_t id[2])
{
    const orr_spec *spec = b->spec;
    int targets = (a->joint != NULL) + (a->jointinparent != NULL) + (a->tendon != NULL) + (a->site != NULL) +
                  (a->cranksite != NULL) + (a->body != NULL);
    id[1] = -1;
    if (targets != 1 || (a->refsite && !a->site)) {
        return spec_fail(
            &a->head, b->error,
            "expected one of joint, jointinparent, tendon, site, body and cranksite (refsite with site)");
    }
    if (a->body) {
        *type = ORR_TRANSMISSION_BODY;
        id[0] = SPEC_FIND(spec, bodies, a->body);
        return find(b, &a->head, "body", id[0], a->body);
    }
    if (a->cranksite) {
        *type = ORR_TRANSMISSION_SLIDERCRANK;
        id[0] = SPEC_FIND(spec, sites, a->cranksite);
        id[1] = SPEC_FIND(spec, sites, a->slidersite);
        ORR_TRY(find(b, &a->head, "site", id[0], a->cranksite));
        ORR_TRY(find(b, &a->head, "site", id[1], a->slidersite ? a->slidersite : "(slidersite)"));
        return a->cranklength > 0.0
                   ? ORR_OK
                   : spec_fail(&a->head, b->error, "cranklength: expected a positive number");
    }
    if (a->tendon) {
        *type = ORR_TRANSMISSION_TENDON;
        id[0] = SPEC_FIND(spec, tendons, a->tendon);
        return find(b, &a->head, "tendon", id[0], a->tendon);
    }
    if (a->site) {
        *type = ORR_TRANSMISSION_SITE;
        id[0] = SPEC_FIND(spec, sites, a->site);
        id[1] = SPEC_FIND(spec, sites, a->refsite);
        ORR_TRY(find(b, &a->head, "site", id[0], a->site));
        return a->refsite ? find(b, &a->head, "site", id[1], a->refsite) : ORR_OK;
    }
    const char *joint = a->joint ? a->joint : a->jointinparent;
    *type = a->joint ? ORR_TRANSMISSION_JOINT : ORR_TRANSMISSION_JOINTINPARENT;
    id[0] = SPEC_FIND(spec, joints, joint);
    return find(b, &a->head, "joint", id[0], joint);
}

// An orientation servo: what it turns, and the parameters by which it is one.
static orr_result check_orientation(model_builder *b, const spec_actuator *a, int id)
{
    orr_model *m = b->m;
    const int32_t target = m->actuator_trnid[2 * id], reference = m->actuator_trnid[2 * id + 1];
    const bool ball = a->joint && m->jnt_type[target] == ORR_JOINT_BALL, site = a->site && reference >= 0;
    if (!ball && !site) {
        return spec_fail(&a->head, b->error,
                         "an orientation servo: expected a ball joint, or site and refsite");
    }
    if (a->biastype != ORR_BIAS_SO3 || a->gainprm[0] != -a->biasprm[1]) {
        return spec_fail(
            &a->head, b->error,
            "gaintype so3: expected biastype so3, and the same stiffness in gainprm and biasprm");
    }
    if (a->dyntype != ORR_DYNAMICS_NONE &&
        (a->dyntype != ORR_DYNAMICS_INTEGRATOR || a->input == ORR_CHART_QUATERNION)) {
        return spec_fail(&a->head, b->error,
                         "an orientation servo: expected dyntype none, or integrator with input expmap");
    }
    if (a->forcerange[0] != 0.0 || a->forcerange[1] < 0.0) {
        return spec_fail(
            &a->head, b->error,
            "forcerange: expected 0 and the largest length of the torque of an orientation servo");
    }
    m->actuator_trntype[id] = ORR_TRANSMISSION_SO3;
    return ORR_OK;
}

// inheritrange: a servo takes its range from its joint or tendon: the middle, and that share of the half
// width around it. Actuators that are no servo ignore it.
static orr_result inherit_range(model_builder *b, int id, const spec_actuator *a)
{
    orr_model *m = b->m;
    bool servo = a->gaintype == ORR_GAIN_FIXED && a->gainprm[0] == -a->biasprm[1];
    if (a->inheritrange <= 0.0 || a->biastype != ORR_BIAS_AFFINE || !(servo || a->gaintype == ORR_GAIN_PID)) {
        return ORR_OK;
    }
    int32_t type = m->actuator_trntype[id], target = m->actuator_trnid[2 * id];
    const double *from = type == ORR_TRANSMISSION_JOINT    ? m->jnt_range + 2 * target
                         : type == ORR_TRANSMISSION_TENDON ? m->tendon_range + 2 * target
                                                           : NULL;
    bool integrates = a->dyntype == ORR_DYNAMICS_INTEGRATOR;
    double *to =
        integrates ? m->actuator_actrange + 2 * id : m->actuator_ctrlrange + 2 * m->actuator_ctrladr[id];
    if (!from || !(from[0] < from[1])) {
        return spec_fail(&a->head, b->error, "inheritrange: expected a joint or tendon with a range");
    }
    double middle = 0.5 * (from[0] + from[1]), half = 0.5 * (from[1] - from[0]) * a->inheritrange;
    to[0] = middle - half;
    to[1] = middle + half;
    return ORR_OK;
}

// Armature and damping of an actuator are added to its tendon, or to each dof of its joint, times the first
// number of gear squared.
static orr_result drive(model_builder *b, int id, const spec_actuator *a)
{
    orr_model *m = b->m;
    int type = m->actuator_trntype[id], target = m->actuator_trnid[2 * id];
    double square = a->gear[0] * a->gear[0];
    const double given[] = {a->armature, a->damping[0], a->damping[1], a->damping[2]};
    m->actuator_armature[id] = a->armature;
    m->actuator_damping[id] = a->damping[0];
    memcpy(m->actuator_dampingpoly + ORR_NPOLY * id, a->damping + 1, ORR_NPOLY * sizeof(double));
    bool none = true;
    for (int k = 0; k < 2 + ORR_NPOLY; k++) {
        none = none && given[k] == 0.0;
    }
    if (none || type == ORR_TRANSMISSION_SO3) { // which ignores them
        return ORR_OK;
    }
    bool joint = type == ORR_TRANSMISSION_JOINT || type == ORR_TRANSMISSION_JOINTINPARENT;
    if (!joint && type != ORR_TRANSMISSION_TENDON) {
        return spec_fail(&a->head, b->error,
                         "armature and damping: expected an actuator of a joint or a tendon");
    }
    for (int k = 0; !joint && a->armature != 0.0 && k < m->tendon_num[target]; k++) {
        int wrap = m->wrap_type[m->tendon_adr[target] + k];
        if (wrap == ORR_WRAP_SPHERE || wrap == ORR_WRAP_CYLINDER) {
            return spec_fail(&a->head, b->error, "armature: expected a tendon that wraps around no geom");
        }
    }
    int first = joint ? m->jnt_dofadr[target] : target, end = first + 1;
    while (joint && end < m->nv && m->dof_jntid[end] == target) {
        end++;
    }
    double *felt = joint ? m->dof_drive : m->tendon_drive;
    for (int k = (2 + ORR_NPOLY) * first; k < (2 + ORR_NPOLY) * end; k++) {
        felt[k] += square * given[k % (2 + ORR_NPOLY)];
    }
    return ORR_OK;
}

// Controls and their ranges.
static orr_result build_controls(model_builder *b, int id, const spec_actuator *a, int *control)
{
    orr_model *m = b->m;
    bool pid = a->gaintype == ORR_GAIN_PID;
    m->actuator_ctrlnum[id] = spec_controls(a);
    m->actuator_ctrlspec[id] = pid                               ? a->inputs
                               : a->gaintype == ORR_GAIN_DCMOTOR ? ORR_INPUT_VOLTAGE
                                                                 : a->input;
    m->actuator_ctrladr[id] = *control;
    const double *range[] = {a->ctrlrange, a->velrange, a->ffrange};
    for (int k = 0; k < m->actuator_ctrlnum[id] && a->gaintype == ORR_GAIN_SO3; k++) { // one range for all
        int at = (*control)++;
        memcpy(m->actuator_ctrlrange + 2 * at, a->ctrlrange, sizeof a->ctrlrange);
        ORR_TRY(builder_limited(b, &a->head, "ctrlrange", a->ctrllimited, a->ctrlrange,
                                &m->actuator_ctrllimited[at]));
    }
    for (int input = 0; input < 3 && a->gaintype != ORR_GAIN_SO3; input++) {
        if (pid ? !(a->inputs & 1 << input) : input > 0) {
            continue;
        }
        int at = (*control)++;
        memcpy(m->actuator_ctrlrange + 2 * at, range[input], sizeof a->ctrlrange);
        if (input == 0) {
            ORR_TRY(inherit_range(b, id, a));
        }
        ORR_TRY(builder_limited(b, &a->head,
                                input == 0   ? "ctrlrange"
                                : input == 1 ? "velrange"
                                             : "ffrange",
                                input == 0 ? a->ctrllimited : SPEC_AUTO, m->actuator_ctrlrange + 2 * at,
                                &m->actuator_ctrllimited[at]));
    }
    return ORR_OK;
}

// Where its next numbers are: activations, controls, outputs, and controls that are remembered.
typedef struct actuator_place {
    int activation, control, output, delayed;
} actuator_place;

static void build_outputs(orr_model *m, int id, const spec_actuator *a, int *output)
{
    m->actuator_outadr[id] = *output;
    m->actuator_outnum[id] = spec_outputs(a);
    for (int k = 0; k < m->actuator_outnum[id]; k++, ++*output) {
        memcpy(m->actuator_gear + 6 * *output, a->gear, sizeof a->gear);
        memcpy(m->actuator_lengthrange + 2 * *output, a->lengthrange, sizeof a->lengthrange);
    }
}

static orr_result build_actuator(model_builder *b, int id, actuator_place *place)
{
    orr_model *m = b->m;
    const spec_actuator *a = &b->spec->actuators[id];
    ORR_TRY(resolve_transmission(b, a, &m->actuator_trntype[id], m->actuator_trnid + 2 * id));
    if (a->gaintype == ORR_GAIN_SO3 || a->biastype == ORR_BIAS_SO3) {
        ORR_TRY(check_orientation(b, a, id));
    }
    spec_actuator own = *a;
    own.actdim = -1;
    int count = spec_activations(&own);
    if (a->dyntype == ORR_DYNAMICS_USER && a->actdim >= 0) {
        count = a->actdim;
        if (count == 0) {
            return spec_fail(&a->head, b->error, "actdim: expected at least 1 with dyntype user");
        }
    }
    if (a->actdim >= 0 && a->actdim != count) {
        return spec_fail(&a->head, b->error, "actdim: expected %d", count);
    }
    m->actuator_dyntype[id] = a->dyntype;
    m->actuator_gaintype[id] = a->gaintype;
    m->actuator_biastype[id] = a->biastype;
    m->actuator_actnum[id] = count;
    m->actuator_actadr[id] = count ? place->activation : -1;
    place->activation += count;
    m->actuator_delay[id] = a->delay;
    m->actuator_history[2 * id] = a->nsample;
    m->actuator_history[2 * id + 1] = a->interpolation;
    m->actuator_delayadr[id] = spec_delayed(a) ? place->delayed : -1;
    place->delayed += spec_delayed(a);
    m->actuator_group[id] = a->group;
    m->actuator_actearly[id] = (uint8_t)a->actearly;
    memcpy(m->actuator_dynprm + ORR_NDYN * id, a->dynprm, sizeof a->dynprm);
    memcpy(m->actuator_gainprm + ORR_NGAIN * id, a->gainprm, sizeof a->gainprm);
    memcpy(m->actuator_biasprm + ORR_NBIAS * id, a->biasprm, sizeof a->biasprm);
    memcpy(m->actuator_forcerange + 2 * id, a->forcerange, sizeof a->forcerange);
    memcpy(m->actuator_actrange + 2 * id, a->actrange, sizeof a->actrange);
    build_outputs(m, id, a, &place->output);
    m->actuator_cranklength[id] = a->cranklength;
    ORR_TRY(drive(b, id, a));
    if (a->gaintype == ORR_GAIN_MUSCLE || a->biastype == ORR_BIAS_MUSCLE) {
        const double *range = a->gaintype == ORR_GAIN_MUSCLE ? a->gainprm : a->biasprm;
        if (!(range[0] < range[1])) {
            return spec_fail(&a->head, b->error, "a muscle: expected a range, the smaller end first");
        }
    }
    copy_user(m->actuator_user + m->nuser_actuator * id, m->nuser_actuator, &a->user);
    ORR_TRY(build_controls(b, id, a, &place->control));
    ORR_TRY(builder_limited(b, &a->head, "forcerange", a->forcelimited, a->forcerange,
                            &m->actuator_forcelimited[id]));
    ORR_TRY(builder_limited(b, &a->head, "actrange", a->actlimited, m->actuator_actrange + 2 * id,
                            &m->actuator_actlimited[id]));
    if (m->actuator_actlimited[id] && a->dyntype == ORR_DYNAMICS_NONE) {
        return spec_fail(&a->head, b->error, "actrange: expected with activations only");
    }
    return ORR_OK;
}

static const int contact_sizes[] = {1, 3, 3, 1, 3, 3, 3, 0}, ray_sizes[] = {1, 3, 3, 3, 3, 1, 0};

static int sum_sizes(int bits, const int *sizes)
{
    int sum = 0;
    for (int k = 0; sizes[k]; k++) {
        sum += bits >> k & 1 ? sizes[k] : 0;
    }
    return sum;
}

// How many numbers a sensor has, of which kind, and the stage they need.
static void describe_sensor(const orr_model *m, const spec_sensor *s, int object, int *dim, int *data,
                            int *stage)
{
    *dim = 3, *data = ORR_DATA_REAL, *stage = ORR_STAGE_POS;
    switch ((orr_sensor_type)s->type) {
    case ORR_SENSOR_CONTACT:
        *dim = s->intprm[2] * sum_sizes(s->intprm[0], contact_sizes);
        *stage = s->intprm[1] == ORR_REDUCE_MAXFORCE || s->intprm[1] == ORR_REDUCE_NETFORCE ||
                         s->intprm[0] & (ORR_CONTACT_FORCE | ORR_CONTACT_TORQUE)
                     ? ORR_STAGE_ACC
                     : ORR_STAGE_POS;
        break;
    case ORR_SENSOR_RANGEFINDER: {
        const int32_t *pixels = m->cam_resolution + 2 * object;
        int64_t rays = s->objtype == ORR_OBJECT_CAMERA ? (int64_t)pixels[0] * pixels[1] : 1;
        *dim = rays <= SENSOR_MAX ? sum_sizes(s->intprm[0], ray_sizes) * (int)rays : INT32_MAX;
        break;
    }
    case ORR_SENSOR_CAMPROJECTION:
        *dim = 2;
        break;
    case ORR_SENSOR_INSIDESITE:
        *dim = 1, *data = s->intprm[0] ? ORR_DATA_REAL : ORR_DATA_POSITIVE;
        break;
    case ORR_SENSOR_GEOMNORMAL:
        *data = ORR_DATA_AXIS;
        break;
    case ORR_SENSOR_GEOMFROMTO:
        *dim = 6;
        break;
    case ORR_SENSOR_TOUCH_GRID: {
        const int64_t taxels = (int64_t)s->intprm[1] * s->intprm[2];
        *dim = taxels <= SENSOR_MAX ? s->intprm[0] * (int)taxels : INT32_MAX, *stage = ORR_STAGE_ACC;
        break;
    }
    case ORR_SENSOR_TACTILE: // its size is that of its mesh
        *dim = 0, *stage = ORR_STAGE_ACC;
        break;
    case ORR_SENSOR_USER:
        *dim = s->dim, *data = s->datatype, *stage = s->needstage;
        break;
    case ORR_SENSOR_TOUCH:
        *dim = 1, *data = ORR_DATA_POSITIVE, *stage = ORR_STAGE_ACC;
        break;
    case ORR_SENSOR_ACCELEROMETER:
    case ORR_SENSOR_FORCE:
    case ORR_SENSOR_TORQUE:
    case ORR_SENSOR_FRAMELINACC:
    case ORR_SENSOR_FRAMEANGACC:
        *stage = ORR_STAGE_ACC;
        break;
    case ORR_SENSOR_VELOCIMETER:
    case ORR_SENSOR_GYRO:
    case ORR_SENSOR_BALLANGVEL:
    case ORR_SENSOR_FRAMELINVEL:
    case ORR_SENSOR_FRAMEANGVEL:
    case ORR_SENSOR_SUBTREELINVEL:
    case ORR_SENSOR_SUBTREEANGMOM:
        *stage = ORR_STAGE_VEL;
        break;
    case ORR_SENSOR_MAGNETOMETER:
    case ORR_SENSOR_FRAMEPOS:
    case ORR_SENSOR_SUBTREECOM:
        break;
    case ORR_SENSOR_FRAMEXAXIS:
    case ORR_SENSOR_FRAMEYAXIS:
    case ORR_SENSOR_FRAMEZAXIS:
        *data = ORR_DATA_AXIS;
        break;
    case ORR_SENSOR_BALLQUAT:
    case ORR_SENSOR_FRAMEQUAT:
        *dim = 4, *data = ORR_DATA_QUATERNION;
        break;
    case ORR_SENSOR_ACTUATORPOS:
        *dim = m->actuator_outnum[object];
        break;
    case ORR_SENSOR_ACTUATORVEL:
        *dim = m->actuator_outnum[object], *stage = ORR_STAGE_VEL;
        break;
    case ORR_SENSOR_ACTUATORFRC:
        *dim = m->actuator_outnum[object], *stage = ORR_STAGE_ACC;
        break;
    case ORR_SENSOR_GEOMDIST:
    case ORR_SENSOR_JOINTPOS:
    case ORR_SENSOR_TENDONPOS:
    case ORR_SENSOR_JOINTLIMITPOS:
    case ORR_SENSOR_TENDONLIMITPOS:
    case ORR_SENSOR_E_POTENTIAL:
    case ORR_SENSOR_E_KINETIC: // MuJoCo's needstage, although it depends on velocities
    case ORR_SENSOR_CLOCK:
        *dim = 1;
        break;
    case ORR_SENSOR_JOINTVEL:
    case ORR_SENSOR_TENDONVEL:
    case ORR_SENSOR_JOINTLIMITVEL:
    case ORR_SENSOR_TENDONLIMITVEL:
        *dim = 1, *stage = ORR_STAGE_VEL;
        break;
    case ORR_SENSOR_JOINTACTFRC:
    case ORR_SENSOR_TENDONACTFRC:
    case ORR_SENSOR_JOINTLIMITFRC:
    case ORR_SENSOR_TENDONLIMITFRC:
        *dim = 1, *stage = ORR_STAGE_ACC;
        break;
    }
}

static orr_result find_object(model_builder *b, const spec_head *head, int type, const char *name,
                              int32_t *id)
{
    *id = name ? orr_model_find(b->m, (orr_object)type, name) : -1;
    if (name && *id >= 0 && (type == ORR_OBJECT_BODY || type == ORR_OBJECT_XBODY) && *id == 0 &&
        strcmp(name, "world") != 0) {
        *id = -1;
    }
    return !name || *id >= 0 ? ORR_OK : spec_fail(head, b->error, "there is no such object '%.64s'", name);
}

// Whether a distance can be measured between the two objects.
static orr_result check_distance(model_builder *b, const spec_sensor *s, int id)
{
    const orr_model *m = b->m;
    if (s->type < ORR_SENSOR_GEOMDIST || s->type > ORR_SENSOR_GEOMFROMTO) {
        return ORR_OK;
    }
    if (s->objtype == s->reftype && m->sensor_objid[id] == m->sensor_refid[id]) {
        return spec_fail(&s->head, b->error, "expected two different bodies or geoms");
    }
    for (int side = 0; side < 2; side++) {
        int object = side ? m->sensor_refid[id] : m->sensor_objid[id];
        bool body = (side ? s->reftype : s->objtype) == ORR_OBJECT_BODY;
        int first = body ? m->body_geomadr[object] : object, count = body ? m->body_geomnum[object] : 1;
        for (int i = first; i < first + count; i++) {
            bool grid = m->geom_type[i] == ORR_GEOM_SDF && !m->geom_function[i];
            if (m->geom_type[i] == ORR_GEOM_HFIELD || grid) {
                return spec_fail(&s->head, b->error, "expected no height fields and no distance grids");
            }
        }
    }
    return ORR_OK;
}

// Whether it can be measured how far the object protrudes from the site.
static orr_result check_enclosed(model_builder *b, const spec_sensor *s, int id)
{
    const orr_model *m = b->m;
    if (s->type != ORR_SENSOR_INSIDESITE || !s->intprm[0] || s->objtype == ORR_OBJECT_SITE) {
        return ORR_OK;
    }
    if (s->objtype == ORR_OBJECT_CAMERA) {
        return spec_fail(&s->head, b->error, "enclosed: expected no camera");
    }
    int count = 0;
    for (int i = 0; i < m->ngeom; i++) {
        int body = m->geom_bodyid[i], object = m->sensor_objid[id];
        while (s->objtype == ORR_OBJECT_XBODY && body > object) {
            body = m->body_parentid[body];
        }
        if (object != (s->objtype == ORR_OBJECT_GEOM ? i : body)) {
            continue;
        }
        count++;
        int type = m->geom_type[i];
        if (type == ORR_GEOM_PLANE || type == ORR_GEOM_HFIELD || type == ORR_GEOM_SDF) {
            return spec_fail(&s->head, b->error, "enclosed: expected no planes, height fields and sdf geoms");
        }
    }
    return count ? ORR_OK : spec_fail(&s->head, b->error, "enclosed: expected a body with a geom");
}

// What a sensor with a delay or an interval remembers.
static orr_result build_delay(model_builder *b, const spec_sensor *s, int id, int dim)
{
    orr_model *m = b->m;
    ORR_TRY(check_delay(b, &s->head, s->delay, s->nsample));
    const double interval = s->interval[0], before = s->interval[1];
    if (!isfinite(interval) || !(interval >= 0.0) ||
        !(before <= 0.0 && (before == 0.0 || before > -interval))) {
        return spec_fail(&s->head, b->error,
                         "interval: expected 0 s or more, and a negative phase of less than that");
    }
    m->sensor_history[2 * id] = s->nsample;
    m->sensor_history[2 * id + 1] = s->interpolation;
    m->sensor_delay[id] = s->delay;
    memcpy(m->sensor_interval + 2 * id, s->interval, sizeof s->interval);
    m->sensor_delayadr[id] = -1;
    if (s->nsample == 0 || (s->delay == 0.0 && interval == 0.0)) {
        return ORR_OK;
    }
    m->sensor_delayadr[id] = m->ndelayed;
    return add_size(b, &m->ndelayed, (int64_t)s->nsample * dim + (interval > 0.0));
}

// The points of a tactile sensor. Returns how many numbers it has.
static int build_taxels(model_builder *b, const spec_sensor *s, int id, int *taxel)
{
    orr_model *m = b->m;
    const int mesh = sensed_mesh(b->spec, s);
    m->sensor_taxeladr[id] = mesh < 0 ? -1 : *taxel;
    if (mesh < 0) {
        return 0;
    }
    const mesh_data *d = &b->meshes[mesh];
    for (int i = 0; i < 3 * d->point_count; i++) {
        m->taxel_pos[3 * (ptrdiff_t)*taxel + i] = (double)d->points[i];
    }
    for (int i = 0; i < 6 * d->point_count; i++) {
        m->taxel_tangent[6 * (ptrdiff_t)*taxel + i] = (double)d->tangents[i];
    }
    *taxel += d->point_count;
    return d->point_count <= SENSOR_MAX ? 3 * d->point_count : INT32_MAX;
}

static orr_result build_sensor(model_builder *b, int id, int *taxel)
{
    orr_model *m = b->m;
    const spec_sensor *s = &b->spec->sensors[id];
    int dim, data, stage;
    ORR_TRY(find_object(b, &s->head, s->objtype, s->object, &m->sensor_objid[id]));
    ORR_TRY(find_object(b, &s->head, s->reftype, s->reference, &m->sensor_refid[id]));
    describe_sensor(m, s, m->sensor_objid[id], &dim, &data, &stage);
    dim += build_taxels(b, s, id, taxel);
    if (dim > SENSOR_MAX || m->nsensordata > SENSOR_MAX * 64 - dim) {
        return spec_fail(&s->head, b->error, "expected a sensor of up to %d numbers", SENSOR_MAX);
    }
    memcpy(m->sensor_intprm + 3 * id, s->intprm, sizeof s->intprm);
    memcpy(m->sensor_fov + 3 * id, s->fov, sizeof s->fov);
    m->sensor_type[id] = s->type;
    m->sensor_datatype[id] = data;
    m->sensor_needstage[id] = stage;
    m->sensor_dim[id] = dim;
    m->sensor_adr[id] = m->nsensordata;
    m->nsensordata += dim;
    ORR_TRY(build_delay(b, s, id, dim));
    m->sensor_objtype[id] = s->objtype;
    m->sensor_reftype[id] = s->reftype;
    m->sensor_cutoff[id] = s->cutoff;
    m->sensor_noise[id] = s->noise;
    copy_user(m->sensor_user + m->nuser_sensor * id, m->nuser_sensor, &s->user);
    if (s->cutoff < 0.0 || s->noise < 0.0 ||
        (s->cutoff > 0.0 && data > ORR_DATA_POSITIVE && s->type != ORR_SENSOR_GEOMNORMAL)) {
        return spec_fail(&s->head, b->error,
                         "cutoff and noise: expected no negative number, and no cutoff of directions");
    }
    int object = m->sensor_objid[id];
    if (s->objtype == ORR_OBJECT_JOINT) {
        bool ball = s->type == ORR_SENSOR_BALLQUAT || s->type == ORR_SENSOR_BALLANGVEL;
        bool limit = s->type >= ORR_SENSOR_JOINTLIMITPOS && s->type <= ORR_SENSOR_JOINTLIMITFRC;
        int type = m->jnt_type[object];
        if (ball ? type != ORR_JOINT_BALL
                 : type != ORR_JOINT_SLIDE && type != ORR_JOINT_HINGE && !(limit && type == ORR_JOINT_BALL)) {
            return spec_fail(&s->head, b->error, "joint: expected a %s joint",
                             ball ? "ball" : "slide or hinge");
        }
        if (limit && !m->jnt_limited[object]) {
            return spec_fail(&s->head, b->error, "joint: expected one with limits");
        }
    }
    ORR_TRY(check_distance(b, s, id));
    ORR_TRY(check_enclosed(b, s, id));
    if (s->objtype == ORR_OBJECT_TENDON && s->type >= ORR_SENSOR_TENDONLIMITPOS &&
        !m->tendon_limited[object]) {
        return spec_fail(&s->head, b->error, "tendon: expected one with limits");
    }
    return ORR_OK;
}

orr_result build_actuators(model_builder *b)
{
    actuator_place place = {0, 0, 0, 0};
    int taxel = 0;
    for (int i = 0; i < b->m->nactuator; i++) {
        ORR_TRY(build_actuator(b, i, &place));
    }
    for (int i = 0; i < b->m->nsensor; i++) {
        ORR_TRY(build_sensor(b, i, &taxel));
    }
    return ORR_OK;
}
