#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/load/length_range.h"

#include "physics/pose/pose.h"
#include "physics/simulation/world.h"

// A world that one actuator after the other pulls.
typedef struct pulling {
    const orr_spec *spec;
    orr_model *m;
    orr_pose pose; // at the qpos of the world
    orr_jobs *jobs;
    orr_physics *physics;
    double *numbers, *qpos, *qvel, *acceleration, *force; // memory of the others; nq, nv, nv, nv
} pulling;

static bool is_muscle(const orr_model *m, int id)
{
    return m->actuator_gaintype[id] == ORR_GAIN_MUSCLE || m->actuator_biastype[id] == ORR_BIAS_MUSCLE;
}

static bool is_user(const orr_model *m, int id)
{
    return m->actuator_gaintype[id] == ORR_GAIN_USER || m->actuator_biastype[id] == ORR_BIAS_USER;
}

static bool is_chosen(const spec_length_range *range, const orr_model *m, int id)
{
    return range->mode == SPEC_LENGTH_ALL || is_muscle(m, id) ||
           (range->mode == SPEC_LENGTH_MUSCLEUSER && is_user(m, id));
}

// Whether an actuator's range has to be simulated. Where limits of its joint or tendon serve as the range,
// they are copied.
static bool needs_simulation(const spec_length_range *range, orr_model *m, int id)
{
    double *found = m->actuator_lengthrange + 2 * m->actuator_outadr[id];
    bool skipped = range->mode == SPEC_LENGTH_NONE || m->actuator_outnum[id] > 1 || !is_chosen(range, m, id);
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

// One step in which the actuator pulls (sign: -1 shortens, 1 lengthens); returns its length before.
static double pull(pulling *p, int id, double sign)
{
    const spec_length_range *range = &p->spec->length_range;
    int nv = p->m->nv, output = p->m->actuator_outadr[id];
    orr_physics_get(p->physics, ORR_PHYSICS_QPOS, 0, p->qpos);
    orr_physics_get(p->physics, ORR_PHYSICS_QVEL, 0, p->qvel);
    (void)orr_pose_set(&p->pose, p->qpos); // not singular at qpos0
    orr_chain chain = output_chain(&p->pose.m, output);
    const double *moment = output_moments(&p->pose.m, &p->pose.d, output);
    memset(p->force, 0, (size_t)nv * sizeof *p->force);
    for (int k = 0; k < chain.count; k++) {
        p->force[p->pose.plan->chain_dof[chain.first + k]] = moment[k];
    }
    memcpy(p->acceleration, p->force, (size_t)nv * sizeof *p->acceleration);
    orr_pose_solve(&p->pose, p->acceleration);
    double scale = sign * range->accel / fmax(1e-15, norm(p->acceleration, nv));
    double size = fabs(scale) * norm(p->force, nv), most = range->maxforce;
    scale *= most > 0.0 && size > most ? most / size : 1.0;
    double slow = exp(-p->m->opt.timestep / fmax(0.01, range->timeconst));
    for (int i = 0; i < nv; i++) {
        p->force[i] *= scale;
        p->qvel[i] *= slow;
    }
    orr_physics_set(p->physics, ORR_PHYSICS_QFRC_APPLIED, 0, p->force);
    orr_physics_set(p->physics, ORR_PHYSICS_QVEL, 0, p->qvel);
    orr_physics_step(p->physics, 1);
    return p->pose.d.actuator_length[output];
}

static orr_result find_range(pulling *p, int id, orr_error *error)
{
    const spec_length_range *range = &p->spec->length_range;
    const spec_head *head = &p->spec->actuators[id].head;
    double low[2] = {0.0, 0.0}, high[2] = {0.0, 0.0},
           *found = p->m->actuator_lengthrange + 2 * p->m->actuator_outadr[id];
    for (int side = 0; side < 2; side++) {
        bool seen = false;
        orr_physics_reset(p->physics, 0);
        for (double time = 0.0; time < range->inttotal && !orr_physics_diverged(p->physics, 0);) {
            double length = pull(p, id, side ? 1.0 : -1.0);
            time += p->m->opt.timestep;
            if (time > range->inttotal - range->interval) {
                low[side] = seen ? fmin(low[side], length) : length;
                high[side] = seen ? fmax(high[side], length) : length;
                seen = true;
            }
        }
        if (orr_physics_diverged(p->physics, 0)) {
            return spec_fail(head, error, "lengthrange: the simulation that measures it is not stable");
        }
        found[side] = side ? high[side] : low[side];
    }
    double width = found[1] - found[0];
    if (!(width > 0.0) || high[0] - low[0] > range->tolrange * width ||
        high[1] - low[1] > range->tolrange * width) {
        return spec_fail(head, error,
                         "lengthrange: simulation finds none, %.4g .. %.4g: expected limits that stop the "
                         "actuator, or the range",
                         found[0], found[1]);
    }
    return ORR_OK;
}

static orr_result prepare(pulling *p, orr_error *error)
{
    const orr_physics_desc desc = {.worlds = 1, .double_precision = true};
    size_t nq = (size_t)p->m->nq, nv = (size_t)p->m->nv;
    ORR_TRY(orr_pose_create(p->m, &p->pose, error));
    ORR_ALLOC(p->numbers, nq + 3 * nv, "lengths of muscles", error);
    p->qpos = p->numbers;
    p->qvel = p->qpos + nq;
    p->acceleration = p->qvel + nv;
    p->force = p->acceleration + nv;
    ORR_TRY(orr_jobs_create(1, NULL, NULL, &p->jobs, error));
    return orr_physics_create(&desc, p->m, p->jobs, &p->physics, error);
}

// A small file can ask for hours. A step's work grows with the square of the degrees of freedom at least; 400
// muscles of a body with 100 degrees of freedom take half of what is allowed, which is about a minute.
static orr_result check_work(const orr_spec *spec, const orr_model *m, const bool *requested,
                             orr_error *error)
{
    const double WORK_MAX = 2e10, STEPS_MAX = 1e5;
    double steps = spec->length_range.inttotal / m->opt.timestep;
    double work_of_step = 2.0 * (1000.0 + (double)m->nv * m->nv), work = 0.0;
    for (int i = 0; i < m->nactuator; i++) {
        work += requested[i] ? steps * work_of_step : 0.0;
        if (requested[i] && !(steps <= STEPS_MAX && work <= WORK_MAX)) {
            return spec_fail(&spec->actuators[i].head, error,
                             "lengthrange: the simulations that measure it take too many steps, %.3g each: "
                             "expected the range, or a larger timestep of <lengthrange>",
                             steps);
        }
    }
    return ORR_OK;
}

static orr_result simulate(const orr_spec *spec, orr_model *m, const bool *requested, orr_error *error)
{
    pulling p = {.spec = spec, .m = m};
    orr_model_option *opt = &m->opt;
    const orr_model_option own = *opt;
    opt->disableflags = ORR_DISABLE_FRICTIONLOSS | ORR_DISABLE_CONTACT | ORR_DISABLE_SPRING |
                        ORR_DISABLE_DAMPER | ORR_DISABLE_GRAVITY | ORR_DISABLE_ACTUATION;
    opt->enableflags &= ~ORR_ENABLE_SLEEP;
    opt->timestep = spec->length_range.timestep > 0.0 ? spec->length_range.timestep : opt->timestep;
    orr_result result = check_work(spec, m, requested, error);
    result = result == ORR_OK ? prepare(&p, error) : result;
    for (int i = 0; i < m->nactuator && result == ORR_OK; i++) {
        result = requested[i] ? find_range(&p, i, error) : ORR_OK;
    }
    orr_physics_destroy(p.physics);
    orr_jobs_destroy(p.jobs);
    orr_free(p.numbers);
    orr_pose_destroy(&p.pose);
    *opt = own;
    return result;
}

orr_result orr_find_length_ranges(const orr_spec *spec, orr_model *m, orr_error *error)
{
    bool *requested = orr_alloc_zero((size_t)m->nactuator, sizeof *requested), any_requested = false;
    if (!requested) {
        return spec_memory_fail(error);
    }
    for (int i = 0; i < m->nactuator; i++) {
        requested[i] = needs_simulation(&spec->length_range, m, i);
        any_requested = any_requested || requested[i];
    }
    orr_result result = any_requested ? simulate(spec, m, requested, error) : ORR_OK;
    orr_free(requested);
    return result;
}
