// Worlds of soft bodies: their memory, and the order of a step's parts over threads.
#include "physics/soft/soft.h"

#include "engine/core/isa.h"
#include "engine/core/memory.h"
#include "physics/soft/cuda/device.h"

#include <math.h>
#include <string.h>

#define PROGRAM(isa) orr_soft_program_##isa
typedef const orr_soft_program *program_of(void);
static program_of *const programs[ORR_ISA_COUNT] = ORR_ISA_TABLE(PROGRAM);

enum { BLOCKS_OF_JOB = 16, VERTICES_OF_JOB = 2048, STATE_ARRAYS = 10 };

static orr_result check_obstacle(const orr_soft_obstacle *o, int i, orr_error *error)
{
    static const int sizes[] = {0, 1, 2, 3};
    if (o->shape < ORR_SOFT_PLANE || o->shape > ORR_SOFT_BOX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "soft bodies: obstacle %d: expected a known shape, not %d",
                        i, (int)o->shape);
    }
    for (int k = 0; k < sizes[o->shape]; k++) {
        if (!(o->size[k] > 0.0) || !isfinite(o->size[k])) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "soft bodies: obstacle %d: size %d: expected above 0 m, not %g", i, k,
                            o->size[k]);
        }
    }
    if (!(o->friction >= 0.0) || !isfinite(o->friction)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "soft bodies: obstacle %d: friction: expected at least 0, not %g", i, o->friction);
    }
    for (int k = 0; k < 9; k++) { // columns of length 1 and at right angles
        int a = k / 3, b = k % 3;
        double product =
            o->axis[a] * o->axis[b] + o->axis[3 + a] * o->axis[3 + b] + o->axis[6 + a] * o->axis[6 + b];
        if (!(fabs(product - (a == b)) < 1e-4) || !isfinite(o->position[a])) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "soft bodies: obstacle %d: expected a finite position and a rotation", i);
        }
    }
    return ORR_OK;
}

static orr_result check(const orr_soft_desc *d, orr_error *error)
{
    if (d->worlds < 0 || d->iterations < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "soft bodies: worlds and iterations: expected at least 0, not %d and %d", d->worlds,
                        d->iterations);
    }
    if (!(d->time_step >= 0.0) || !isfinite(d->time_step)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "soft bodies: time step: expected at least 0 s, not %g",
                        d->time_step);
    }
    if (!(d->chebyshev >= 0.0 && d->chebyshev < 1.0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "soft bodies: chebyshev: expected at least 0 and below 1, not %g", d->chebyshev);
    }
    if (!(d->tolerance >= 0.0 && d->tolerance < 1.0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "soft bodies: tolerance: expected at least 0 and below 1, not %g", d->tolerance);
    }
    if (!(d->contact_stiffness >= 0.0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "soft bodies: contact stiffness: expected at least 0 N/m, not %g",
                        d->contact_stiffness);
    }
    if (d->cuda && d->double_precision) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "soft bodies: expected double precision on the CPU, not on CUDA");
    }
    if (d->obstacles < 0 || d->obstacles > ORR_SOFT_OBSTACLES_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "soft bodies: obstacles: expected 0 to %d, not %d",
                        ORR_SOFT_OBSTACLES_MAX, d->obstacles);
    }
    for (int i = 0; i < d->obstacles; i++) {
        ORR_TRY(check_obstacle(&d->obstacle[i], i, error));
    }
    return ORR_OK;
}

static void set_constants(orr_soft *soft, const orr_soft_desc *d)
{
    orr_soft_constants *k = &soft->constants;
    k->stands_for = 1;
    k->time_step = d->time_step > 0.0 ? d->time_step : 1.0 / 240.0;
    k->contact_stiffness = d->contact_stiffness;
    k->solid = soft->model->solid;
    k->cloth = soft->model->cloth;
    k->bending_damping = soft->model->bending_damping;
    k->edges_damped = soft->model->edges_damped;
    k->edges_held = soft->model->edges_held, k->hold = soft->model->hold;
    k->yield_stress = soft->model->yield_stress, k->flow = soft->model->flow;
    k->gas = soft->model->gas;
    k->obstacles = d->obstacles;
    for (int c = 0; c < 3; c++) {
        k->gravity[c] = d->gravity[c];
    }
    for (int i = 0; i < d->obstacles; i++) {
        k->obstacle[i] = d->obstacle[i];
    }
}

static orr_result build(orr_soft *soft, const orr_soft_desc *d, orr_error *error)
{
    orr_isa isa;
    ORR_TRY(check(d, error));
    ORR_TRY(orr_isa_choose(&isa, error));
    soft->program = d->double_precision ? orr_soft_program_double() : programs[isa]();
    soft->worlds = d->worlds > 0 ? d->worlds : 1;
    soft->iterations = d->iterations > 0 ? d->iterations : 10;
    soft->chebyshev = d->chebyshev;
    soft->tolerance = d->tolerance;
    set_constants(soft, d);
    const int lanes = d->cuda ? SOFT_CUDA_LANES : soft->program->lanes;
    // worlds of what yields have rest shapes of their own
    soft->group_worlds = soft->worlds >= lanes && !(soft->model->yield_stress > 0.0) ? lanes : 1;
    soft->groups = orr_blocks(soft->worlds, soft->group_worlds);
    ORR_TRY(orr_soft_tables_create(soft->model, lanes, soft->program->in_double, &soft->tables, error));
    size_t array =
        (size_t)soft->model->vertices * 3 * (size_t)soft->group_worlds * orr_soft_number_size(soft);
    array = (array + ORR_ALIGNMENT - 1) / ORR_ALIGNMENT * ORR_ALIGNMENT;
    soft->group_bytes = STATE_ARRAYS * array;
    soft->group = orr_alloc_zero((size_t)soft->groups, sizeof *soft->group);
    soft->state = orr_alloc_zero((size_t)soft->groups * STATE_ARRAYS, array);
    if (!soft->group || !soft->state) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d worlds of soft bodies",
                        soft->worlds);
    }
    char *memory = soft->state;
    for (int i = 0; i < soft->groups; i++) {
        orr_soft_group *g = &soft->group[i];
        *g = (orr_soft_group){.tables = &soft->tables,
                              .number = soft->tables.number,
                              .constants = &soft->constants,
                              .pinned = soft->model->pinned,
                              .vertices = soft->model->vertices,
                              .worlds = soft->group_worlds};
        void **const part[STATE_ARRAYS] = {&g->position,        &g->velocity, &g->change, &g->start,
                                           &g->target,          &g->pressure, &g->swell,  &g->previous,
                                           &g->before_previous, &g->touch};
        for (int k = 0; k < STATE_ARRAYS; k++, memory += array) {
            *part[k] = k < 5 || (k < 7 ? soft->model->filled : soft->chebyshev > 0.0) ? memory : NULL;
        }
        if (soft->model->yield_stress > 0.0) {
            ORR_TRY(orr_soft_plastic_create(soft, g, error));
        }
    }
    for (int i = 0; i < soft->groups * soft->group_worlds; i++) { // lanes without a world, too
        orr_soft_set(soft, i, soft->model->rest, NULL);
    }
    return d->cuda ? orr_soft_device_create(soft, d->cuda, error) : ORR_OK;
}

orr_result orr_soft_create(const orr_soft_desc *desc, const orr_soft_model *model, orr_jobs *jobs,
                           orr_soft **soft, orr_error *error)
{
    *soft = NULL;
    orr_soft *s = orr_alloc_zero(1, sizeof *s);
    if (!s) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: soft bodies");
    }
    s->model = model;
    s->jobs = jobs;
    orr_result result = build(s, desc, error);
    if (result != ORR_OK) {
        orr_soft_destroy(s);
        return result;
    }
    *soft = s;
    return ORR_OK;
}

void orr_soft_destroy(orr_soft *soft)
{
    if (soft) {
        orr_soft_device_destroy(soft->device);
        orr_soft_tables_destroy(&soft->tables);
        orr_free(soft->state);
        for (int i = 0; soft->group && i < soft->groups; i++) {
            orr_free(soft->group[i].planes);
            orr_free(soft->group[i].pushed);
            orr_soft_plastic_destroy(&soft->group[i]);
        }
        orr_free(soft->group);
        orr_free(soft);
    }
}

typedef struct colour_of {
    const orr_soft *soft;
    int first, end; // blocks
} colour_of;

static void relax_blocks(void *context, int i, int worker)
{
    (void)worker;
    const colour_of *c = context;
    int first = c->first + i * BLOCKS_OF_JOB, end = first + BLOCKS_OF_JOB;
    c->soft->program->relax(c->soft->group, first, end < c->end ? end : c->end);
}

void orr_soft_relax_colour(const orr_soft *soft, const orr_soft_group *group, int colour, bool shared)
{
    if (soft->device) {
        orr_soft_device_relax(soft, colour);
        return;
    }
    int first = soft->tables.colour_block[colour], end = soft->tables.colour_block[colour + 1];
    int jobs = shared && soft->jobs ? orr_blocks(end - first, BLOCKS_OF_JOB) : 0;
    if (jobs > 1) {
        orr_jobs_for(soft->jobs, jobs, relax_blocks, &(colour_of){soft, first, end});
    } else {
        soft->program->relax(group, first, end);
    }
}

typedef enum vertex_part { BEGIN, ACCELERATE, FINISH } vertex_part;

typedef struct vertices_of {
    const orr_soft_program *program;
    const orr_soft_group *group;
    vertex_part part;
    double omega;
    int of_job;
} vertices_of;

static void visit_vertices(void *context, int i, int worker)
{
    (void)worker;
    const vertices_of *v = context;
    const int first = i * v->of_job, next = first + v->of_job;
    const int end = next < v->group->vertices ? next : v->group->vertices;
    switch (v->part) {
    case BEGIN:
        v->program->begin(v->group, first, end);
        break;
    case ACCELERATE:
        v->program->accelerate(v->group, v->omega, first, end);
        break;
    case FINISH:
        v->program->finish(v->group, first, end);
        break;
    }
}

static void visit(const orr_soft *soft, const orr_soft_group *g, vertex_part part, double omega, bool shared)
{
    const int jobs = shared && soft->jobs ? orr_blocks(g->vertices, VERTICES_OF_JOB) : 1;
    vertices_of v = {soft->program, g, part, omega, jobs > 1 ? VERTICES_OF_JOB : g->vertices};
    if (jobs > 1) {
        orr_jobs_for(soft->jobs, jobs, visit_vertices, &v);
    } else {
        visit_vertices(&v, 0, 0);
    }
}

void orr_soft_begin_vertices(const orr_soft *soft, const orr_soft_group *group, bool shared)
{
    visit(soft, group, BEGIN, 1.0, shared);
}

void orr_soft_accelerate_vertices(const orr_soft *soft, const orr_soft_group *group, double omega,
                                  bool shared)
{
    visit(soft, group, ACCELERATE, omega, shared);
}

void orr_soft_finish_vertices(const orr_soft *soft, const orr_soft_group *group, bool shared)
{
    visit(soft, group, FINISH, 1.0, shared);
}

double orr_soft_next_omega(const orr_soft *soft, int n, double omega)
{
    double square = soft->chebyshev * soft->chebyshev;
    return n == 1 ? 1.0 : n == 2 ? 2.0 / (2.0 - square) : 4.0 / (4.0 - square * omega);
}

static void step_group(const orr_soft *soft, const orr_soft_group *g, bool shared)
{
    double omega = 1.0;
    orr_soft_begin_pressure(soft, g);
    orr_soft_begin_vertices(soft, g, shared);
    for (int n = 1; n <= soft->iterations; n++) {
        for (int colour = 0; colour < soft->tables.colours; colour++) {
            orr_soft_relax_colour(soft, g, colour, shared);
        }
        if (soft->chebyshev > 0.0) {
            omega = orr_soft_next_omega(soft, n, omega);
            orr_soft_accelerate_vertices(soft, g, omega, shared);
        }
        orr_soft_update_pressure(soft, g);
    }
    orr_soft_finish_vertices(soft, g, shared);
    orr_soft_plastic_flow(soft, g);
}

static void step_alone(void *context, int i, int worker)
{
    (void)worker;
    const orr_soft *soft = context;
    for (int step = 0; step < soft->steps; step++) {
        step_group(soft, &soft->group[i], false);
    }
}

void orr_soft_step(orr_soft *soft, int steps)
{
    if (soft->device) {
        orr_soft_device_step(soft, steps);
        return;
    }
    soft->steps = steps;
    if (soft->groups > 1) {
        orr_jobs_for(soft->jobs, soft->groups, step_alone, soft);
        return;
    }
    if (soft->jobs) {
        orr_jobs_expect_more(soft->jobs); // one for each colour of each iteration
    }
    for (int step = 0; step < steps; step++) {
        step_group(soft, soft->group, true);
    }
    if (soft->jobs) {
        orr_jobs_expect_no_more(soft->jobs);
    }
}

orr_cuda *orr_soft_get_cuda(const orr_soft *soft)
{
    return soft->device ? orr_soft_device_cuda(soft->device) : NULL;
}

orr_result orr_soft_check(const orr_soft *soft, orr_error *error)
{
    return soft->device ? orr_soft_device_check(soft->device, error) : ORR_OK;
}

void orr_soft_set_conditions(orr_soft *soft, double time_step, int stands_for, const double gravity[3])
{
    soft->constants.time_step = time_step;
    soft->constants.stands_for = stands_for;
    memcpy(soft->constants.gravity, gravity, sizeof soft->constants.gravity);
}

static size_t place(const orr_soft *soft, int world, int number) // in an array of the world's group
{
    return (size_t)number * (size_t)soft->group_worlds + (size_t)(world % soft->group_worlds);
}

static void get(const orr_soft *soft, const void *array, int world, double *values)
{
    for (int i = 0; i < soft->model->vertices * 3; i++) {
        values[i] = orr_soft_number(soft, array, (ptrdiff_t)place(soft, world, i));
    }
}

static void set(const orr_soft *soft, void *array, int world, const double *values)
{
    for (int i = 0; i < soft->model->vertices * 3; i++) {
        orr_soft_set_number(soft, array, (ptrdiff_t)place(soft, world, i), values[i]);
    }
}

static void clear(const orr_soft *soft, void *array, int world)
{
    for (int i = 0; i < soft->model->vertices * 3; i++) {
        orr_soft_set_number(soft, array, (ptrdiff_t)place(soft, world, i), 0.0);
    }
}

void orr_soft_get(const orr_soft *soft, int world, double *position, double *velocity)
{
    const orr_soft_group *g = &soft->group[world / soft->group_worlds];
    if (soft->device) {
        orr_soft_device_fetch(soft);
    }
    if (position) {
        get(soft, g->position, world, position);
    }
    if (velocity) {
        get(soft, g->velocity, world, velocity);
    }
}

void orr_soft_set(orr_soft *soft, int world, const double *position, const double *velocity)
{
    const orr_soft_group *g = &soft->group[world / soft->group_worlds];
    if (soft->device) {
        orr_soft_device_change(soft);
    }
    if (position) {
        set(soft, g->position, world, position);
    }
    if (velocity) {
        set(soft, g->velocity, world, velocity);
        clear(soft, g->change, world);
    }
}

int orr_soft_strain_numbers(const orr_soft_model *model)
{
    return model->yield_stress > 0.0 ? model->tets * 9 : 0;
}

void orr_soft_get_strain(const orr_soft *soft, int world, double *strain)
{
    const orr_soft_group *g = &soft->group[world / soft->group_worlds];
    if (g->plastic && soft->device) {
        orr_soft_device_get_strain(soft, world);
    }
    if (g->plastic) {
        memcpy(strain, g->plastic, (size_t)soft->model->tets * 9 * sizeof *strain);
    }
}

void orr_soft_set_strain(orr_soft *soft, int world, const double *strain)
{
    const orr_soft_group *g = &soft->group[world / soft->group_worlds];
    if (g->plastic) {
        orr_soft_plastic_set(soft, g, strain);
    }
    if (g->plastic && soft->device) {
        orr_soft_device_set_strain(soft, world);
    }
}

void orr_soft_unstrain(orr_soft *soft, int world)
{
    const orr_soft_group *g = &soft->group[world / soft->group_worlds];
    if (g->plastic) {
        orr_soft_plastic_clear(soft, g);
    }
    if (g->plastic && soft->device) {
        orr_soft_device_set_strain(soft, world);
    }
}
