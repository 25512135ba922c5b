// Contacts, and Jacobians of points: of one world or of many.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/model/spatial_formula.h"
#include "physics/simulation/world_state.h"

static uint32_t lanes_chosen(const orr_physics *physics, int block, const uint8_t *chosen)
{
    uint32_t lanes = 0;
    for (int lane = 0; lane < block_worlds(physics, block); lane++) {
        bool is_chosen = !chosen || chosen[world_at(physics, block, lane)];
        lanes |= (uint32_t)is_chosen << lane;
    }
    return lanes;
}

// ---- contacts ----

int orr_physics_contacts(orr_physics *physics, int world, orr_physics_contact *contacts, int capacity)
{
    assert(world >= 0 && world < physics->worlds);
    if (physics->device) {
        return orr_device_contacts(physics, world, contacts, capacity);
    }
    const world_slot at = slot_of(physics, world);
    const int32_t rows[ORR_CPU_LANES] = {0};
    int count;
    do {
        physics->program->contacts(physics->program_model, block_state(physics, at.block), physics->scratch,
                                   1u << at.lane, rows, contacts, capacity, &count, &physics->notes[0]);
    } while (orr_physics_grow(physics));
    return count;
}

// Where a world's contacts go; NULL: they are only counted.
static orr_physics_contact *contacts_of(orr_physics_contact *contacts, int capacity, size_t world)
{
    return contacts ? contacts + world * (size_t)capacity : NULL;
}

typedef struct contact_job {
    orr_physics *physics;
    const uint8_t *chosen;
    orr_physics_contact *contacts;
    int capacity, *counts;
} contact_job;

static bool list_block(void *context, int block, int worker)
{
    const contact_job *job = context;
    const orr_physics *physics = job->physics;
    const uint32_t lanes = lanes_chosen(physics, block, job->chosen);
    if (lanes == 0) {
        return true;
    }
    int32_t rows[ORR_CPU_LANES];
    for (int lane = 0; lane < block_worlds(physics, block); lane++) {
        rows[lane] = world_at(physics, block, lane);
    }
    physics->program->contacts(physics->program_model, block_state(physics, block),
                               physics->scratch + (size_t)worker * physics->scratch_bytes, lanes, rows,
                               job->contacts, job->capacity, job->counts, &physics->notes[worker]);
    return !lacked_room(&physics->notes[worker]);
}

void orr_physics_contacts_all(orr_physics *physics, const uint8_t *chosen, orr_physics_contact *contacts,
                              int capacity, int *counts)
{
    if (!physics->device) {
        contact_job job = {physics, chosen, contacts, capacity, counts};
        orr_physics_for_blocks(physics, list_block, &job);
        return;
    }
    for (int world = 0; world < physics->worlds; world++) {
        if (!chosen || chosen[world]) {
            counts[world] =
                orr_device_contacts(physics, world, contacts_of(contacts, capacity, (size_t)world), capacity);
        }
    }
}

// ---- Jacobians ----

// What a Jacobian is of, and where the numbers it needs are in the scratch.
typedef struct target {
    const orr_physics *physics;
    int id, body;
    int origin, com, cdof;
} target;

// The body that an object is fixed to, and the quantity with the object's position.
static int body_of(const orr_model *m, orr_object kind, int id, orr_physics_quantity *origin)
{
    switch (kind) {
    case ORR_OBJECT_BODY:
        *origin = ORR_PHYSICS_XIPOS;
        return id;
    case ORR_OBJECT_GEOM:
        *origin = ORR_PHYSICS_GEOM_XPOS;
        return m->geom_bodyid[id];
    case ORR_OBJECT_SITE:
        *origin = ORR_PHYSICS_SITE_XPOS;
        return m->site_bodyid[id];
    default:
        assert(kind == ORR_OBJECT_XBODY);
        *origin = ORR_PHYSICS_XPOS;
        return id;
    }
}

static target target_of(const orr_physics *physics, orr_object kind, int id, orr_physics_quantity *origin)
{
    assert(id >= 0 && id < orr_model_count(physics->model, kind));
    target t = {.physics = physics, .id = id, .body = body_of(physics->model, kind, id, origin)};
    t.origin = orr_physics_range(physics, *origin).first;
    t.com = orr_physics_range(physics, ORR_PHYSICS_SUBTREE_COM).first;
    t.cdof = orr_physics_range(physics, ORR_PHYSICS_CDOF).first;
    return t;
}

// Vector `i` of a quantity that has been computed.
static real3 vector_of(const target *t, const char *scratch, int first, int i, int lane)
{
    double v[3];
    for (int k = 0; k < 3; k++) {
        v[k] = read_number(t->physics->program, scratch, first + 3 * i + k, lane);
    }
    return make_real3(v[0], v[1], v[2]);
}

// Of one lane of a block whose positions are in the scratch.
static void find_jacobian(const target *t, const char *scratch, int lane, const double *point, double *jacp,
                          double *jacr)
{
    const orr_model *m = t->physics->model;
    const int nv = m->nv;
    real3 at = vector_of(t, scratch, t->origin, t->id, lane);
    at = point ? make_real3(point[0], point[1], point[2]) : at;
    // from the centre of mass of the tree, which the motions are about
    real3 arm = sub3(at, vector_of(t, scratch, t->com, m->body_rootid[t->body], lane));
    memset(jacp, 0, 3 * (size_t)nv * sizeof *jacp);
    memset(jacr, 0, 3 * (size_t)nv * sizeof *jacr);
    for (int dof = t->physics->plan->last_dof[t->body]; dof >= 0; dof = m->dof_parentid[dof]) {
        spatial motion = make_spatial(vector_of(t, scratch, t->cdof, 2 * dof, lane),
                                      vector_of(t, scratch, t->cdof, 2 * dof + 1, lane));
        real3 linear = velocity_at(motion, arm);
        const double columns[6] = {linear.x, linear.y, linear.z, motion.r.x, motion.r.y, motion.r.z};
        for (int k = 0; k < 3; k++) {
            jacp[k * nv + dof] = columns[k];
            jacr[k * nv + dof] = columns[3 + k];
        }
    }
}

void orr_physics_jacobian(orr_physics *physics, int world, orr_object kind, int id, const double *point,
                          double *jacp, double *jacr)
{
    assert(world >= 0 && world < physics->worlds);
    orr_physics_quantity origin;
    const target t = target_of(physics, kind, id, &origin);
    orr_physics_evaluate(physics, world, ORR_PROGRAM_POSITIONS);
    orr_physics_found(physics, origin);
    orr_physics_found(physics, ORR_PHYSICS_SUBTREE_COM);
    orr_physics_found(physics, ORR_PHYSICS_CDOF);
    find_jacobian(&t, physics->scratch, slot_of(physics, world).lane, point, jacp, jacr);
}

typedef struct jacobian_job {
    orr_physics *physics;
    const uint8_t *chosen;
    const double *points;
    double *jacp, *jacr;
    target target;
} jacobian_job;

static void find_block(void *context, int block, int worker)
{
    const jacobian_job *job = context;
    const orr_physics *physics = job->physics;
    const uint32_t lanes = lanes_chosen(physics, block, job->chosen);
    char *scratch = physics->scratch + (size_t)worker * physics->scratch_bytes;
    if (lanes == 0) {
        return;
    }
    physics->program->run(physics->program_model, block_state(physics, block), scratch, ORR_PROGRAM_POSITIONS,
                          0, &physics->notes[worker], NULL, NULL);
    for (int lane = 0; lane < block_worlds(physics, block); lane++) {
        const ptrdiff_t world = world_at(physics, block, lane);
        const ptrdiff_t row = world * 3 * physics->model->nv;
        if (lanes >> lane & 1) {
            find_jacobian(&job->target, scratch, lane, job->points ? job->points + 3 * world : NULL,
                          job->jacp + row, job->jacr + row);
        }
    }
}

void orr_physics_jacobians(orr_physics *physics, const uint8_t *chosen, orr_object kind, int id,
                           const double *points, double *jacp, double *jacr)
{
    if (!physics->device) {
        orr_physics_quantity origin;
        jacobian_job job = {physics, chosen, points, jacp, jacr, target_of(physics, kind, id, &origin)};
        orr_jobs_for(physics->jobs, physics->blocks, find_block, &job);
        return;
    }
    for (int world = 0; world < physics->worlds; world++) {
        const ptrdiff_t row = (ptrdiff_t)world * 3 * physics->model->nv;
        if (!chosen || chosen[world]) {
            orr_physics_jacobian(physics, world, kind, id, points ? points + 3 * (ptrdiff_t)world : NULL,
                                 jacp + row, jacr + row);
        }
    }
}
