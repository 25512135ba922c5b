// The lengths that muscles can have, found as MuJoCo finds them (mj_setLengthRange): the model alone, without gravity,
// springs and contacts, is pulled by one actuator as short and as long as its limits let it.
#include "physics/model/pose.h"
#include "physics/simulation/world.h"

#include <math.h>
#include <string.h>

typedef struct pulling {
    const spec_length_range *range;
    orr_model *m;
    model_pose pose;
    orr_jobs *jobs;
    orr_physics *physics;
    double *qpos, *qvel, *moment, *force;
} pulling;

static bool is_muscle(const orr_model *m, int id)
{
    return m->actuator_gaintype[id] == ORR_GAIN_MUSCLE || m->actuator_biastype[id] == ORR_BIAS_MUSCLE;
}

// Whether the range has to be simulated; limits that stand for it are taken.
static bool is_wanted(const spec_length_range *range, orr_model *m, int id)
{
    double *found = m->actuator_lengthrange + 2 * id;
    bool skipped = range->mode == SPEC_LENGTH_NONE || (range->mode != SPEC_LENGTH_ALL && !is_muscle(m, id));
    if (skipped || (range->useexisting && found[0] < found[1])) {
        return false;
    }
    int type = m->actuator_trntype[id], target = m->actuator_trnid[2 * id];
    bool joint = type == ORR_TRANSMISSION_JOINT || type == ORR_TRANSMISSION_JOINTINPARENT;
    bool limited = joint ? m->jnt_limited[target] != 0
                         : type == ORR_TRANSMISSION_TENDON && m->tendon_limited[target] != 0;
    if (range->uselimit && limited) {
        memcpy(found, (joint ? m->jnt_range : m->tendon_range) + 2 * target, 2 * sizeof *found);
        return false;
    }
    return true;
}

static double norm(const double *x, int count)
{
    double square = 0.0;
    for (int i = 0; i < count; i++) {
        square += x[i] * x[i];
    }
    return sqrt(square);
}

// A step with the actuator pulled towards `sign`; its length before.
static double pull(pulling *p, int id, double sign)
{
    int nv = p->m->nv;
    orr_physics_get(p->physics, ORR_PHYSICS_QPOS, 0, p->qpos);
    orr_physics_get(p->physics, ORR_PHYSICS_QVEL, 0, p->qvel);
    pose_kinematics(&p->pose, p->qpos);
    pose_tendons(&p->pose, p->qpos);
    (void)pose_inertia(&p->pose); // not singular at qpos0
    double length = pose_transmission(&p->pose, id, p->qpos, p->moment);
    memcpy(p->force, p->moment, (size_t)nv * sizeof *p->force);
    pose_solve(&p->pose, p->force);
    double scale = sign * p->range->accel / fmax(1e-15, norm(p->force, nv));
    double size = fabs(scale) * norm(p->moment, nv), most = p->range->maxforce;
    scale *= most > 0.0 && size > most ? most / size : 1.0;
    double slow = exp(-p->m->opt.timestep / fmax(0.01, p->range->timeconst));
    for (int i = 0; i < nv; i++) {
        p->force[i] = scale * p->moment[i];
        p->qvel[i] *= slow;
    }
    orr_physics_set(p->physics, ORR_PHYSICS_QFRC_APPLIED, 0, p->force);
    orr_physics_set(p->physics, ORR_PHYSICS_QVEL, 0, p->qvel);
    orr_physics_step(p->physics, 1);
    return length;
}

static orr_result find_range(model_builder *b, pulling *p, int id)
{
    const spec_length_range *range = p->range;
    const spec_head *head = &b->spec->actuators[id].head;
    double low[2] = {0.0, 0.0}, high[2] = {0.0, 0.0}, *found = p->m->actuator_lengthrange + 2 * id;
    for (int side = 0; side < 2; side++) {
        bool seen = false;
        orr_physics_reset(p->physics, 0);
        for (double time = 0.0; time < range->inttotal;) {
            double length = pull(p, id, side ? 1.0 : -1.0);
            time += p->m->opt.timestep;
            if (time > range->inttotal - range->interval) {
                low[side] = seen ? fmin(low[side], length) : length;
                high[side] = seen ? fmax(high[side], length) : length;
                seen = true;
            }
        }
        if (orr_physics_diverged(p->physics, 0)) {
            return spec_fail(head, b->error, "lengthrange: the simulation that looks for it is not stable");
        }
        found[side] = side ? high[side] : low[side];
    }
    double width = found[1] - found[0];
    if (!(width > 0.0) || high[0] - low[0] > range->tolrange * width ||
        high[1] - low[1] > range->tolrange * width) {
        return spec_fail(head, b->error,
                         "lengthrange: simulation finds none, %.4g .. %.4g: expected limits that stop the "
                         "actuator, or the range",
                         found[0], found[1]);
    }
    return ORR_OK;
}

static orr_result prepare(model_builder *b, pulling *p)
{
    const orr_physics_desc desc = {.worlds = 1, .double_precision = true};
    size_t nv = (size_t)p->m->nv;
    p->qpos = orr_arena_take(&p->pose.arena, (size_t)p->m->nq, sizeof *p->qpos);
    p->qvel = orr_arena_take(&p->pose.arena, nv, sizeof *p->qvel);
    p->moment = orr_arena_take(&p->pose.arena, nv, sizeof *p->moment);
    p->force = orr_arena_take(&p->pose.arena, nv, sizeof *p->force);
    if (!p->qpos || !p->qvel || !p->moment || !p->force) {
        return spec_memory_fail(b->error);
    }
    ORR_TRY(orr_jobs_create(1, NULL, NULL, &p->jobs, b->error));
    return orr_physics_create(&desc, p->m, p->jobs, &p->physics, b->error);
}

static orr_result simulate(model_builder *b, const bool *wanted)
{
    pulling p = {.range = &b->spec->length_range, .m = b->m};
    orr_model_option *opt = &b->m->opt;
    const orr_model_option own = *opt;
    opt->disableflags = ORR_DISABLE_FRICTIONLOSS | ORR_DISABLE_CONTACT | ORR_DISABLE_SPRING |
                        ORR_DISABLE_DAMPER | ORR_DISABLE_GRAVITY | ORR_DISABLE_ACTUATION;
    opt->enableflags &= ~ORR_ENABLE_SLEEP;
    opt->timestep = p.range->timestep > 0.0 ? p.range->timestep : opt->timestep;
    orr_result result = pose_create(&p.pose, b->m, b->error);
    if (result == ORR_OK) {
        result = prepare(b, &p);
        for (int i = 0; i < b->m->nu && result == ORR_OK; i++) {
            result = wanted[i] ? find_range(b, &p, i) : ORR_OK;
        }
        orr_physics_destroy(p.physics);
        orr_jobs_destroy(p.jobs);
        pose_destroy(&p.pose);
    }
    *opt = own;
    return result;
}

orr_result find_length_ranges(model_builder *b)
{
    orr_model *m = b->m;
    bool *wanted = orr_alloc_zero((size_t)m->nu, sizeof *wanted), any = false;
    if (!wanted) {
        return spec_memory_fail(b->error);
    }
    for (int i = 0; i < m->nu; i++) {
        wanted[i] = is_wanted(&b->spec->length_range, m, i);
        any = any || wanted[i];
    }
    orr_result result = any ? simulate(b, wanted) : ORR_OK;
    orr_free(wanted);
    return result;
}
