// Reading and writing worlds.
#include "physics/simulation/world_state.h"

// How much has to be worked out for a field.
static orr_program_call call_for(orr_physics_field field)
{
    switch (field) {
    case ORR_PHYSICS_XPOS:
    case ORR_PHYSICS_XQUAT:
    case ORR_PHYSICS_XMAT:
    case ORR_PHYSICS_XIPOS:
    case ORR_PHYSICS_XIMAT:
    case ORR_PHYSICS_XANCHOR:
    case ORR_PHYSICS_XAXIS:
    case ORR_PHYSICS_GEOM_XPOS:
    case ORR_PHYSICS_GEOM_XMAT:
    case ORR_PHYSICS_SITE_XPOS:
    case ORR_PHYSICS_SITE_XMAT:
    case ORR_PHYSICS_CAM_XPOS:
    case ORR_PHYSICS_CAM_XMAT:
    case ORR_PHYSICS_SUBTREE_COM:
    case ORR_PHYSICS_CDOF:
    case ORR_PHYSICS_CINERT:
    case ORR_PHYSICS_QM:
    case ORR_PHYSICS_TEN_LENGTH:
    case ORR_PHYSICS_ACTUATOR_LENGTH:
        return ORR_PROGRAM_POSITIONS;
    case ORR_PHYSICS_CVEL:
    case ORR_PHYSICS_SUBTREE_LINVEL:
    case ORR_PHYSICS_SUBTREE_ANGMOM:
    case ORR_PHYSICS_TEN_VELOCITY:
    case ORR_PHYSICS_ACTUATOR_VELOCITY:
    case ORR_PHYSICS_ENERGY:
        return ORR_PROGRAM_VELOCITIES;
    case ORR_PHYSICS_SENSORDATA:
        return ORR_PROGRAM_SENSORS;
    case ORR_PHYSICS_QFRC_INVERSE:
        return ORR_PROGRAM_INVERSE;
    default:
        return ORR_PROGRAM_ACCELERATIONS;
    }
}

static const char *const field_names[] = {
#define FIELD_NAME(NAME, name) #name,
    ORR_PHYSICS_STATE(FIELD_NAME) ORR_PHYSICS_DERIVED(FIELD_NAME)
#undef FIELD_NAME
};

const char *orr_physics_field_name(orr_physics_field field)
{
    assert(field >= 0 && field < ORR_PHYSICS_FIELD_COUNT);
    return field_names[field];
}

// Where the numbers of a field stand.
typedef struct field_place {
    int at, count;
    bool lasts; // in the state, not in the scratch of a thread
} field_place;

static field_place find_field(const orr_physics *physics, orr_physics_field field)
{
    field_place place;
    place.at = physics->program->field_at(physics->program_model, field, &place.count, &place.lasts);
    return place;
}

int orr_physics_size(const orr_physics *physics, orr_physics_field field)
{
    return find_field(physics, field).count;
}

static void copy_out(const orr_physics *physics, const char *array, field_place place, int lane,
                     double *values)
{
    for (int i = 0; i < place.count; i++) {
        values[i] = read_number(physics->program, array, place.at + i, lane);
    }
}

void orr_physics_get(const orr_physics *physics, orr_physics_field field, int world, double *values)
{
    assert(world >= 0 && world < physics->worlds);
    int lanes = physics->program->lanes;
    field_place place = find_field(physics, field);
    assert(place.lasts);
    copy_out(physics, read_state(physics, world / lanes), place, world % lanes, values);
}

void orr_physics_set(orr_physics *physics, orr_physics_field field, int world, const double *values)
{
    assert(world >= 0 && world < physics->worlds);
    int lanes = physics->program->lanes, block = world / lanes, lane = world % lanes;
    field_place place = find_field(physics, field);
    assert(place.lasts);
    if (!physics->device || !orr_device_write(physics, world, place.at, place.count, values)) {
        char *state = write_state(physics, block);
        for (int i = 0; i < place.count; i++) {
            write_number(physics->program, state, place.at + i, lane, values[i]);
        }
    }
    physics->diverged[block] &= ~(1u << lane);
}

// Works out what can be read of a world's block, in the first thread's scratch.
static void evaluate(orr_physics *physics, int world, orr_program_call call)
{
    if (physics->device) {
        orr_device_evaluate(physics, world / physics->program->lanes, 1, call);
        return;
    }
    physics->program->run(physics->program_model, block_state(physics, world / physics->program->lanes),
                          physics->scratch, call, 0, &physics->contacts_needed[0]);
}

// Numbers of what evaluate() worked out, in the first thread's scratch.
static field_place found(orr_physics *physics, orr_physics_field field)
{
    field_place place = find_field(physics, field);
    if (physics->device) {
        size_t number_bytes = (size_t)physics->program->lanes * physics->program->real_bytes;
        orr_device_take(physics, 0, 1, place.at, place.count,
                        physics->scratch + (size_t)place.at * number_bytes);
    }
    return place;
}

void orr_physics_read(orr_physics *physics, orr_physics_field field, int world, double *values)
{
    assert(world >= 0 && world < physics->worlds);
    field_place place = find_field(physics, field);
    if (place.lasts) {
        orr_physics_get(physics, field, world, values);
        return;
    }
    evaluate(physics, world, call_for(field));
    copy_out(physics, physics->scratch, found(physics, field), world % physics->program->lanes, values);
}

// ---- all worlds at once ----

typedef struct read_job {
    orr_physics *physics;
    field_place places[ORR_PHYSICS_FIELD_COUNT];
    orr_program_call calls[ORR_PHYSICS_FIELD_COUNT];
    int fields, size; // size: numbers of a world, of all fields
    double *wide;     // one of these
    float *narrow;
} read_job;

static read_job begin_read(orr_physics *physics, const orr_physics_field *fields, int count)
{
    assert(count >= 0 && count <= ORR_PHYSICS_FIELD_COUNT);
    read_job job = {.physics = physics, .fields = count};
    for (int i = 0; i < count; i++) {
        job.places[i] = find_field(physics, fields[i]);
        job.calls[i] = call_for(fields[i]);
        job.size += job.places[i].count;
    }
    return job;
}

static int block_worlds(const orr_physics *physics, int block)
{
    int lanes = physics->program->lanes, left = physics->worlds - block * lanes;
    return left < lanes ? left : lanes;
}

// Numbers of a float program as floats: what learners read, without a choice for each of them.
static void copy_floats(const char *from, size_t stride, int count, float *to)
{
    for (int k = 0; k < count; k++) {
        memcpy(&to[k], from + (size_t)k * stride, sizeof *to);
    }
}

// Field `i` of the worlds of a block, which begins at `numbers`; `before`: numbers of the fields before it.
static void copy_field(const read_job *job, int block, const char *numbers, int i, int before)
{
    const orr_program *program = job->physics->program;
    size_t lanes = (size_t)program->lanes, stride = lanes * program->real_bytes;
    const field_place place = {.count = job->places[i].count};
    for (int lane = 0; lane < block_worlds(job->physics, block); lane++) {
        size_t world = (size_t)block * lanes + (size_t)lane, to = world * (size_t)job->size + (size_t)before;
        if (job->wide) {
            copy_out(job->physics, numbers, place, lane, job->wide + to);
        } else if (program->real_bytes == sizeof(float)) {
            copy_floats(numbers + (size_t)lane * sizeof(float), stride, place.count, job->narrow + to);
        } else {
            for (int k = 0; k < place.count; k++) {
                job->narrow[to + (size_t)k] = (float)read_number(program, numbers, k, lane);
            }
        }
    }
}

// The deepest call that the fields need, inverse dynamics or those before; ORR_PROGRAM_STEP: none.
static orr_program_call deepest(const read_job *job, bool inverse)
{
    orr_program_call call = ORR_PROGRAM_STEP;
    for (int i = 0; i < job->fields; i++) {
        if (!job->places[i].lasts && (job->calls[i] == ORR_PROGRAM_INVERSE) == inverse &&
            job->calls[i] > call) {
            call = job->calls[i];
        }
    }
    return call;
}

static void read_block(void *context, int block, int worker)
{
    const read_job *job = context;
    const orr_physics *physics = job->physics;
    char *state = block_state(physics, block);
    char *scratch = physics->scratch + (size_t)worker * physics->scratch_bytes;
    size_t number_bytes = (size_t)physics->program->lanes * physics->program->real_bytes;
    // inverse dynamics write over the rest, and come last
    for (int inverse = 0; inverse < 2; inverse++) {
        orr_program_call call = deepest(job, inverse);
        if (call != ORR_PROGRAM_STEP) {
            physics->program->run(physics->program_model, state, scratch, call, 0,
                                  &physics->contacts_needed[worker]);
        }
        for (int i = 0, before = 0; i < job->fields; before += job->places[i++].count) {
            if ((job->calls[i] == ORR_PROGRAM_INVERSE) == inverse) {
                size_t at = (size_t)job->places[i].at * number_bytes;
                copy_field(job, block, (job->places[i].lasts ? state : scratch) + at, i, before);
            }
        }
    }
}

// A field of blocks that has come from a device: [block][number][lane].
typedef struct taken_field {
    const read_job *job;
    const char *numbers;
    size_t block_bytes;
    int first, i, before;
} taken_field;

static void copy_taken(void *context, int block, int worker)
{
    const taken_field *taken = context;
    (void)worker;
    copy_field(taken->job, taken->first + block, taken->numbers + (size_t)block * taken->block_bytes,
               taken->i, taken->before);
}

// Field `i` of `blocks` blocks from first, worked out on the device; as many at once as the host's scratch can hold.
static void take_field(const read_job *job, int first, int blocks, int i, int before)
{
    orr_physics *physics = job->physics;
    field_place place = job->places[i];
    size_t bytes = (size_t)place.count * (size_t)physics->program->lanes * physics->program->real_bytes;
    int room = place.count > 0 ? (int)(physics->scratch_bytes / bytes) : blocks;
    for (int done = 0; done < blocks; done += room) {
        int count = blocks - done < room ? blocks - done : room;
        taken_field taken = {job, physics->scratch, bytes, first + done, i, before};
        orr_device_take(physics, done, count, place.at, place.count, physics->scratch);
        orr_jobs_for(physics->jobs, count, copy_taken, &taken);
    }
}

static void copy_lasting(void *context, int block, int worker)
{
    const read_job *job = context;
    const orr_physics *physics = job->physics;
    size_t number_bytes = (size_t)physics->program->lanes * physics->program->real_bytes;
    (void)worker;
    for (int i = 0, before = 0; i < job->fields; before += job->places[i++].count) {
        if (job->places[i].lasts) {
            copy_field(job, block, block_state(physics, block) + (size_t)job->places[i].at * number_bytes, i,
                       before);
        }
    }
}

static void read_device(read_job *job)
{
    orr_physics *physics = job->physics;
    orr_device_fetch(physics, 0, physics->blocks);
    orr_jobs_for(physics->jobs, physics->blocks, copy_lasting, job);
    int at_once = orr_device_blocks(physics);
    for (int first = 0; first < physics->blocks; first += at_once) {
        int left = physics->blocks - first, blocks = left < at_once ? left : at_once;
        for (int inverse = 0; inverse < 2; inverse++) {
            orr_program_call call = deepest(job, inverse);
            if (call == ORR_PROGRAM_STEP) {
                continue;
            }
            orr_device_evaluate(physics, first, blocks, call);
            for (int i = 0, before = 0; i < job->fields; before += job->places[i++].count) {
                if (!job->places[i].lasts && (job->calls[i] == ORR_PROGRAM_INVERSE) == inverse) {
                    take_field(job, first, blocks, i, before);
                }
            }
        }
    }
}

static void read_all(read_job *job)
{
    if (job->physics->device) {
        read_device(job);
    } else {
        orr_jobs_for(job->physics->jobs, job->physics->blocks, read_block, job);
    }
}

void orr_physics_read_all(orr_physics *physics, const orr_physics_field *fields, int count, double *values)
{
    read_job job = begin_read(physics, fields, count);
    job.wide = values;
    read_all(&job);
}

void orr_physics_read_all_f32(orr_physics *physics, const orr_physics_field *fields, int count, float *values)
{
    read_job job = begin_read(physics, fields, count);
    job.narrow = values;
    read_all(&job);
}

typedef struct write_job {
    orr_physics *physics;
    field_place place;
    const double *wide; // one of these
    const float *narrow;
} write_job;

static void write_block(void *context, int block, int worker)
{
    const write_job *job = context;
    const orr_physics *physics = job->physics;
    (void)worker;
    for (int lane = 0; lane < block_worlds(physics, block); lane++) {
        size_t world = (size_t)block * (size_t)physics->program->lanes + (size_t)lane;
        for (int k = 0; k < job->place.count; k++) {
            size_t i = world * (size_t)job->place.count + (size_t)k;
            write_number(physics->program, block_state(physics, block), job->place.at + k, lane,
                         job->wide ? job->wide[i] : (double)job->narrow[i]);
        }
    }
    physics->diverged[block] = 0;
}

static void write_all(orr_physics *physics, orr_physics_field field, const double *wide, const float *narrow)
{
    write_job job = {physics, find_field(physics, field), wide, narrow};
    assert(job.place.lasts);
    if (physics->device) {
        orr_device_change(physics, 0, physics->blocks);
    }
    orr_jobs_for(physics->jobs, physics->blocks, write_block, &job);
}

void orr_physics_set_all(orr_physics *physics, orr_physics_field field, const double *values)
{
    write_all(physics, field, values, NULL);
}

void orr_physics_set_all_f32(orr_physics *physics, orr_physics_field field, const float *values)
{
    write_all(physics, field, NULL, values);
}

orr_result orr_physics_device_view(orr_physics *physics, orr_physics_field field, orr_physics_view *view,
                                   orr_error *error)
{
    if (!physics->device) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: expected worlds on a CUDA device, not on the CPU",
                        orr_physics_field_name(field));
    }
    field_place place = find_field(physics, field);
    int blocks = orr_device_blocks(physics);
    if (!place.lasts && blocks < physics->blocks) {
        return orr_fail(error, ORR_CODE_CAPACITY, "%s: expected at most %d worlds on this device, not %d",
                        orr_physics_field_name(field), blocks * physics->program->lanes, physics->worlds);
    }
    if (!place.lasts) {
        orr_device_evaluate(physics, 0, blocks, call_for(field));
    }
    view->count = place.count;
    return orr_device_view(physics, place.lasts, place.at, view, error);
}

orr_result orr_physics_device_bodies(orr_physics *physics, int world, orr_physics_bodies *bodies,
                                     orr_error *error)
{
    assert(world >= 0 && world < physics->worlds);
    if (!physics->device) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "bodies: expected worlds on a CUDA device, not on the CPU");
    }
    int position_at = find_field(physics, ORR_PHYSICS_XPOS).at;
    return orr_device_take_bodies(physics, world, position_at, find_field(physics, ORR_PHYSICS_XQUAT).at,
                                  bodies, error);
}

// ---- contacts and Jacobians ----

int orr_physics_contacts(orr_physics *physics, int world, orr_physics_contact *contacts, int capacity)
{
    assert(world >= 0 && world < physics->worlds);
    if (physics->device) {
        return orr_device_contacts(physics, world, contacts, capacity);
    }
    int lanes = physics->program->lanes;
    return physics->program->contacts(physics->program_model, block_state(physics, world / lanes),
                                      physics->scratch, world % lanes, contacts, capacity);
}

// The body that carries an object, and the field in which the object's place stands.
static int carrier(const orr_model *m, orr_object kind, int id, orr_physics_field *origin)
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

void orr_physics_jacobian(orr_physics *physics, int world, orr_object kind, int id, const double *point,
                          double *jacp, double *jacr)
{
    assert(world >= 0 && world < physics->worlds);
    assert(id >= 0 && id < orr_model_count(physics->model, kind));
    const orr_model *m = physics->model;
    const orr_program *program = physics->program;
    int lane = world % program->lanes, nv = m->nv;
    evaluate(physics, world, ORR_PROGRAM_POSITIONS);
    orr_physics_field origin;
    int body = carrier(m, kind, id, &origin);
    int com = found(physics, ORR_PHYSICS_SUBTREE_COM).at + 3 * m->body_rootid[body];
    int cdof = found(physics, ORR_PHYSICS_CDOF).at, at = found(physics, origin).at + 3 * id;
    double arm[3]; // from the centre of mass of the tree, about which the motions are given
    for (int k = 0; k < 3; k++) {
        arm[k] = (point ? point[k] : read_number(program, physics->scratch, at + k, lane)) -
                 read_number(program, physics->scratch, com + k, lane);
    }
    for (int i = 0; i < 3 * nv; i++) {
        jacp[i] = 0.0;
        jacr[i] = 0.0;
    }
    while (body > 0 && m->body_dofnum[body] == 0) {
        body = m->body_parentid[body];
    }
    int dof = body > 0 ? m->body_dofadr[body] + m->body_dofnum[body] - 1 : -1;
    for (; dof >= 0; dof = m->dof_parentid[dof]) {
        double motion[6];
        for (int k = 0; k < 6; k++) {
            motion[k] = read_number(program, physics->scratch, cdof + 6 * dof + k, lane);
        }
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            jacr[k * nv + dof] = motion[k];
            jacp[k * nv + dof] = motion[3 + k] + motion[a] * arm[b] - motion[b] * arm[a];
        }
    }
}
