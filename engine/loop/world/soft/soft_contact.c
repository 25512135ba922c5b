#include "engine/loop/world/soft/soft_contact.h"

#include "engine/core/memory.h"
#include "engine/loop/world/soft/soft_plane.h"
#include "engine/maths/rotation.h"

#include <math.h>
#include <string.h>

static const double reach = 0.05; // m: vertices farther away touch nothing in a step
static const char what[] = "contacts of soft bodies";

// What is read of a physics, in this order.
static const orr_physics_quantity quantities[] = {
    ORR_PHYSICS_GEOM_XPOS,   ORR_PHYSICS_GEOM_XMAT, ORR_PHYSICS_XIPOS, ORR_PHYSICS_XIMAT, ORR_PHYSICS_CVEL,
    ORR_PHYSICS_SUBTREE_COM, ORR_PHYSICS_QVEL,      ORR_PHYSICS_QACC,  ORR_PHYSICS_CDOF,  ORR_PHYSICS_QM};
enum { QUANTITIES = 10 };

void orr_soft_contact_clear(orr_soft_contact *c)
{
    orr_free(c->numbers);
    orr_free(c->applied);
    orr_free(c->pushed);
}

orr_result orr_soft_worker_open(orr_soft_worker *w, orr_error *error)
{
    ORR_TRY(orr_soft_coupling_create(&w->coupling, error));
    return orr_soft_collisions_create(&w->collisions, error);
}

void orr_soft_worker_clear(orr_soft_worker *w)
{
    orr_free(w->found.touch);
    orr_free(w->found.tie);
    orr_free(w->found.pair);
    orr_free(w->point);
    orr_free(w->found.body);
    orr_free(w->found.body_of);
    orr_free(w->found.linkage);
    orr_free(w->found.tree);
    orr_free(w->found.joints);
    orr_free(w->found.near);
    orr_free(w->found.clear);
    orr_free(w->found.seen);
    for (int i = 0; i < w->found.blocks; i++) {
        orr_free(w->found.block[i].pair);
    }
    orr_free(w->found.block);
    orr_soft_coupling_destroy(w->coupling);
    orr_soft_collisions_destroy(w->collisions);
    orr_free(w->soft);
    orr_free(w->collider);
    orr_free(w->body);
    orr_free(w->now);
}

static int world_numbers(const orr_physics *physics)
{
    int count = 0;
    for (int i = 0; i < QUANTITIES; i++) {
        count += orr_physics_size(physics, quantities[i]);
    }
    return count;
}

const double *orr_soft_contact_numbers(const orr_soft_contact *c, const orr_physics *physics, int world,
                                       orr_physics_quantity quantity)
{
    const double *at = c->numbers + (ptrdiff_t)world * world_numbers(physics);
    for (int i = 0; quantities[i] != quantity; i++) {
        at += orr_physics_size(physics, quantities[i]);
    }
    return at;
}

orr_result orr_soft_contact_read(orr_soft_contact *c, orr_world_physics *p, orr_error *error)
{
    int worlds = orr_physics_worlds(p->physics);
    ORR_GROW(c->numbers, c->number_capacity, worlds * world_numbers(p->physics), what, error);
    orr_physics_read_all(p->physics, quantities, QUANTITIES, c->numbers);
    return ORR_OK;
}

// ---- what is near

static void matrix_product(const double a[9], const double b[9], double out[9])
{
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            out[r * 3 + c] = a[r * 3] * b[c] + a[r * 3 + 1] * b[3 + c] + a[r * 3 + 2] * b[6 + c];
        }
    }
}

static void to_scene(const orr_soft_frame *frame, const double p[3], double out[3])
{
    double turned[3];
    mat_apply(frame->rotation, p, turned);
    for (int k = 0; k < 3; k++) {
        out[k] = turned[k] + frame->position[k];
    }
}

static bool flies_free(const orr_model *m, int body)
{
    bool leaf = m->body_jntnum[body] == 1 && m->jnt_type[m->body_jntadr[body]] == ORR_JOINT_FREE;
    for (int i = body + 1; i < m->nbody && leaf; i++) {
        leaf = m->body_parentid[i] != body;
    }
    return leaf;
}

// A body that flies free, as the soft ones push it.
static orr_soft_body describe(const orr_soft_contact *c, const orr_world_physics *p, int world,
                              const orr_soft_frame *frame, int body, double time_step)
{
    const orr_model *m = p->model;
    const double *spin =
        orr_soft_contact_numbers(c, p->physics, world, ORR_PHYSICS_CVEL) + (ptrdiff_t)body * 6;
    const double *centre =
        orr_soft_contact_numbers(c, p->physics, world, ORR_PHYSICS_XIPOS) + (ptrdiff_t)body * 3;
    const double *about = orr_soft_contact_numbers(c, p->physics, world, ORR_PHYSICS_SUBTREE_COM) +
                          (ptrdiff_t)m->body_rootid[body] * 3;
    double axes[9], arm[3], velocity[3], turned[3];
    orr_soft_body out = {.mass = m->body_mass[body]};
    matrix_product(frame->rotation,
                   orr_soft_contact_numbers(c, p->physics, world, ORR_PHYSICS_XIMAT) + (ptrdiff_t)body * 9,
                   axes);
    for (int i = 0; i < 9; i++) {
        for (int k = 0; k < 3; k++) {
            out.inertia[i] +=
                axes[i / 3 * 3 + k] * m->body_inertia[(ptrdiff_t)body * 3 + k] * axes[i % 3 * 3 + k];
        }
    }
    for (int k = 0; k < 3; k++) {
        arm[k] = centre[k] - about[k];
    }
    vec3_cross(spin, arm, turned);
    for (int k = 0; k < 3; k++) {
        velocity[k] = spin[3 + k] + turned[k] + time_step * m->opt.gravity[k];
    }
    mat_apply(frame->rotation, velocity, out.velocity);
    mat_apply(frame->rotation, spin, out.spin);
    return out;
}

static orr_result find_body(const orr_soft_contact *c, const orr_world_physics *p, int world,
                            const orr_soft_frame *frame, int body, double time_step, orr_soft_found *f,
                            int *index, orr_error *error)
{
    *index = -1;
    if (p->model->body_weldid[body] == 0) {
        return ORR_OK;
    }
    for (*index = 0; *index < f->body_count; ++*index) {
        if (f->body_of[*index] == body) {
            return ORR_OK;
        }
    }
    ORR_GROW(f->body, f->body_capacity, f->body_count + 1, what, error);
    ORR_GROW(f->body_of, f->body_of_capacity, f->body_count + 1, what, error);
    orr_soft_body found = {.linked = false};
    if (flies_free(p->model, body)) {
        found = describe(c, p, world, frame, body, time_step);
    }
    to_scene(frame, orr_soft_contact_numbers(c, p->physics, world, ORR_PHYSICS_XIPOS) + (ptrdiff_t)body * 3,
             found.centre);
    if (!flies_free(p->model, body)) {
        ORR_TRY(orr_soft_contact_link(c, p, world, frame, body, time_step, f, &found, error));
    }
    f->body[f->body_count] = found;
    f->body_of[f->body_count++] = body;
    return ORR_OK;
}

static void box_of(const double *position, int vertices, double centre[3], double *radius)
{
    double size = 0.0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < vertices; i++) {
            low = fmin(low, position[(ptrdiff_t)i * 3 + k]),
            high = fmax(high, position[(ptrdiff_t)i * 3 + k]);
        }
        centre[k] = 0.5 * (low + high);
        size += 0.25 * (high - low) * (high - low);
    }
    *radius = sqrt(size);
}

static bool is_near(const orr_model *m, int geom, const double at[3], const double centre[3], double radius)
{
    double d[3], bound = m->geom_rbound[geom] + radius + reach;
    for (int k = 0; k < 3; k++) {
        d[k] = centre[k] - at[k];
    }
    return m->geom_type[geom] == ORR_GEOM_PLANE || vec3_dot(d, d) < bound * bound;
}

enum {
    KEPT = 2, // touches of a vertex that is no flex's
    VERTICES_OF_BLOCK = 512,
    SEEN = 4 // geoms whose distances are kept
};

orr_result orr_soft_found_share(orr_soft_found *f, int blocks, orr_jobs *jobs, orr_job_fn work, void *context,
                                orr_error *error)
{
    ORR_GROW(f->block, f->block_capacity, blocks, what, error);
    for (; f->blocks < blocks; f->blocks++) {
        f->block[f->blocks] = (orr_soft_block){.pair = NULL};
    }
    if (jobs && blocks > 1) {
        orr_jobs_for(jobs, blocks, work, context);
        return ORR_OK;
    }
    for (int i = 0; i < blocks; i++) {
        work(context, i, 0);
    }
    return ORR_OK;
}

// Keeps the touches of a vertex by distance.
static void insert(orr_soft_touch *touch, int *count, const orr_soft_touch *found)
{
    int at = *count < KEPT ? (*count)++ : KEPT - 1;
    if (at == KEPT - 1 && *count == KEPT && touch[at].vertex == found->vertex &&
        touch[at].distance <= found->distance) {
        return;
    }
    touch[at] = *found;
    if (at > 0 && touch[at].distance < touch[at - 1].distance) {
        orr_soft_touch nearer = touch[at];
        touch[at] = touch[at - 1], touch[at - 1] = nearer;
    }
}

// A search for what the vertices of a soft body touch.
typedef struct vertex_search {
    const orr_world_physics *physics;
    const orr_soft_collider *collider;
    orr_soft_found *found;
    orr_soft_touch *touch; // `most` for each vertex
    bool of_flex;
    int soft, most;
} vertex_search;

// How far vertex is from near geom number n, kept for its triangles; INFINITY: beyond reach.
static orr_geom_distance see(const vertex_search *s, int vertex, int n)
{
    const orr_model *m = s->physics->model;
    const orr_soft_near *g = &s->found->near[n];
    const double *x = s->collider->position + (ptrdiff_t)vertex * 3;
    const bool is_plane = m->geom_type[g->geom] == ORR_GEOM_PLANE;
    const double bound = m->geom_rbound[g->geom] + reach;
    double d[3], at[3], *clear = &s->found->clear[vertex];
    orr_geom_distance found = {.distance = NAN};
    for (int k = 0; k < 3; k++) {
        d[k] = x[k] - g->position[k];
    }
    if (!is_plane && vec3_dot(d, d) > bound * bound) {
        const double outside = sqrt(vec3_dot(d, d)) - m->geom_rbound[g->geom];
        *clear = outside < *clear ? outside : *clear;
    } else {
        mat_apply_transposed(g->rotation, d, at);
        found = orr_geom_distance_at(m, g->geom, at);
        if (!is_plane && !(found.distance > *clear)) {
            *clear = found.distance;
        }
    }
    if (n < s->found->seen_geoms && !is_plane) {
        s->found->seen[(ptrdiff_t)n * s->found->vertices + vertex] = found;
    }
    return found;
}

// Returns how many touches it has.
static int touch_vertex(const vertex_search *s, int vertex, orr_soft_touch *out)
{
    const orr_soft_collider *collider = s->collider;
    const double *x = collider->position + (ptrdiff_t)vertex * 3;
    const double *velocity = collider->velocity + (ptrdiff_t)vertex * 3;
    const orr_model *m = s->physics->model;
    const orr_soft_found *f = s->found;
    orr_soft_touch touch[KEPT] = {{.vertex = -1}, {.vertex = -1}};
    int count = 0;
    for (int i = 0; i < f->near_count; i++) {
        const orr_soft_near *g = &f->near[i];
        const orr_geom_distance found = see(s, vertex, i);
        if (found.distance < reach) {
            const orr_soft_plane plane = orr_soft_plane_ahead(m, f, g, x, velocity, &found, f->time_step);
            orr_soft_touch t = {.soft = s->soft,
                                .vertex = vertex,
                                .body = g->body,
                                .distance = plane.distance + collider->margin,
                                .friction =
                                    fmax(collider->friction, m->geom_friction[(ptrdiff_t)g->geom * 3])};
            memcpy(t.normal, plane.normal, sizeof t.normal);
            memcpy(t.ahead, plane.ahead, sizeof t.ahead);
            insert(touch, &count, &t);
        }
    }
    memcpy(out, touch, (size_t)count * sizeof *touch);
    return count;
}

static void touch_block(void *context, int block, int worker)
{
    (void)worker;
    const vertex_search *s = context;
    const int first = block * VERTICES_OF_BLOCK, last = first + VERTICES_OF_BLOCK;
    orr_soft_touch *out = s->touch + (ptrdiff_t)first * s->most;
    int count = 0;
    for (int v = first; v < last && v < s->found->vertices; v++) {
        s->found->clear[v] = INFINITY;
        count += s->of_flex ? orr_flex_touch_vertex(s->physics->model, s->collider, s->soft, v, s->found,
                                                    out + count)
                            : touch_vertex(s, v, out + count);
    }
    s->found->block[block].touches = count;
}

// Each block writes where its touches have room at most; then they are moved together.
static orr_result touch_vertices(vertex_search *s, orr_jobs *jobs, orr_error *error)
{
    orr_soft_found *f = s->found;
    const int blocks = orr_blocks(f->vertices, VERTICES_OF_BLOCK);
    f->seen_geoms = s->of_flex ? 0 : f->near_count < SEEN ? f->near_count : SEEN;
    ORR_GROW(f->clear, f->clear_capacity, f->vertices, what, error);
    ORR_GROW(f->seen, f->seen_capacity, f->seen_geoms * f->vertices, what, error);
    ORR_GROW(f->touch, f->touch_capacity, f->touch_count + s->most * f->vertices, what, error);
    s->touch = f->touch + f->touch_count;
    ORR_TRY(orr_soft_found_share(f, blocks, jobs, touch_block, s, error));
    for (int i = 0; i < blocks; i++) {
        memmove(f->touch + f->touch_count, s->touch + (ptrdiff_t)i * VERTICES_OF_BLOCK * s->most,
                (size_t)f->block[i].touches * sizeof *f->touch);
        f->touch_count += f->block[i].touches;
    }
    return ORR_OK;
}

// The rotation of a spin (rad/s; NULL: none) in the step.
static void turn_of(const double *spin, double time_step, double turn[9])
{
    double quat[4] = {1.0, 0.0, 0.0, 0.0}, axis[3] = {0.0, 0.0, 0.0};
    const double rate = spin ? sqrt(vec3_dot(spin, spin)) : 0.0;
    for (int k = 0; k < 3 && rate > 0.0; k++) {
        axis[k] = spin[k] / rate;
    }
    if (rate > 0.0) {
        quat_axis_angle(axis, rate * time_step, quat);
    }
    quat_matrix(quat, turn);
}

static orr_result find_near(const orr_soft_contact *c, const orr_world_physics *p, int world,
                            const orr_soft_frame *frame, const orr_flex_contact *flex, const double centre[3],
                            double radius, double time_step, orr_soft_found *f, orr_error *error)
{
    const orr_model *m = p->model;
    const double *position = orr_soft_contact_numbers(c, p->physics, world, ORR_PHYSICS_GEOM_XPOS);
    const double *rotation = orr_soft_contact_numbers(c, p->physics, world, ORR_PHYSICS_GEOM_XMAT);
    ORR_GROW(f->near, f->near_capacity, m->ngeom + 1, what, error);
    f->near_count = 0;
    for (int i = 0; i < m->ngeom; i++) {
        orr_soft_near *out = &f->near[f->near_count];
        to_scene(frame, position + (ptrdiff_t)i * 3, out->position);
        const bool meets =
            flex ? orr_flex_touch_meets(m, flex, i) : (m->geom_contype[i] | m->geom_conaffinity[i]) != 0;
        if (!meets || !is_near(m, i, out->position, centre, radius)) {
            continue;
        }
        matrix_product(frame->rotation, rotation + (ptrdiff_t)i * 9, out->rotation);
        out->geom = i;
        ORR_TRY(find_body(c, p, world, frame, m->geom_bodyid[i], time_step, f, &out->body, error));
        turn_of(out->body >= 0 ? f->body[out->body].spin : NULL, time_step, out->turn);
        if (flex) {
            orr_flex_touch_near(c, p, world, frame, flex, f, out);
        }
        f->near_count++;
    }
    return ORR_OK;
}

orr_result orr_soft_contact_find(const orr_soft_contact *c, const orr_world_physics *p, int index,
                                 const orr_soft_frame *frame, int soft, const orr_soft_collider *collider,
                                 const orr_soft_layer *layer, orr_jobs *jobs, orr_soft_found *found,
                                 orr_error *error)
{
    double centre[3], radius;
    found->vertices = layer->cage->vertices;
    box_of(collider->position, found->vertices, centre, &radius);
    ORR_TRY(find_near(c, p, index, frame, layer->contact, centre, radius, found->time_step, found, error));
    vertex_search search = {.physics = p,
                            .collider = collider,
                            .found = found,
                            .of_flex = layer->contact,
                            .soft = soft,
                            .most = layer->contact ? ORR_SOFT_TOUCHES_MAX : KEPT};
    return found->near_count > 0 ? touch_vertices(&search, jobs, error) : ORR_OK;
}

void orr_soft_contact_geoms(const orr_soft_contact *c, const orr_world_physics *p, int index, double *geoms)
{
    const double *position = orr_soft_contact_numbers(c, p->physics, index, ORR_PHYSICS_GEOM_XPOS);
    const double *rotation = orr_soft_contact_numbers(c, p->physics, index, ORR_PHYSICS_GEOM_XMAT);
    for (int i = 0; i < p->model->ngeom; i++) {
        memcpy(geoms + (ptrdiff_t)i * 12, position + (ptrdiff_t)i * 3, 3 * sizeof *geoms);
        memcpy(geoms + (ptrdiff_t)i * 12 + 3, rotation + (ptrdiff_t)i * 9, 9 * sizeof *geoms);
    }
}

bool orr_soft_contact_disturbed(const orr_soft_contact *c, const orr_world_physics *p, int index,
                                const orr_soft_frame *frame, const double *position, int vertices,
                                const double *geoms, double tolerance)
{
    const orr_model *m = p->model;
    const double *at = orr_soft_contact_numbers(c, p->physics, index, ORR_PHYSICS_GEOM_XPOS);
    const double *rotation = orr_soft_contact_numbers(c, p->physics, index, ORR_PHYSICS_GEOM_XMAT);
    double centre[3], radius;
    box_of(position, vertices, centre, &radius);
    for (int i = 0; i < m->ngeom; i++) {
        double there[3], far = 0.0;
        to_scene(frame, at + (ptrdiff_t)i * 3, there);
        if ((m->geom_contype[i] | m->geom_conaffinity[i]) == 0 || !is_near(m, i, there, centre, radius)) {
            continue;
        }
        for (int k = 0; k < 12; k++) {
            const double now = k < 3 ? at[(ptrdiff_t)i * 3 + k] : rotation[(ptrdiff_t)i * 9 + k - 3];
            far = fmax(far, fabs(now - geoms[(ptrdiff_t)i * 12 + k]));
        }
        if (far > tolerance) {
            return true;
        }
    }
    return false;
}

// The frame of a body in the scene.
static void body_frame(const orr_soft_contact *c, const orr_world_physics *p, int world,
                       const orr_soft_frame *frame, int body, double rotation[9], double position[3])
{
    const orr_model *m = p->model;
    const double *centre =
        orr_soft_contact_numbers(c, p->physics, world, ORR_PHYSICS_XIPOS) + (ptrdiff_t)body * 3;
    const double *axes =
        orr_soft_contact_numbers(c, p->physics, world, ORR_PHYSICS_XIMAT) + (ptrdiff_t)body * 9;
    double back[4], turn[9], own[9], arm[3], origin[3];
    quat_conjugate(m->body_iquat + (ptrdiff_t)body * 4, back);
    quat_matrix(back, turn);
    matrix_product(axes, turn, own);
    mat_apply(own, m->body_ipos + (ptrdiff_t)body * 3, arm);
    for (int k = 0; k < 3; k++) {
        origin[k] = centre[k] - arm[k];
    }
    matrix_product(frame->rotation, own, rotation);
    to_scene(frame, origin, position);
}

orr_result orr_soft_contact_tie(const orr_soft_contact *c, const orr_world_physics *p, int index,
                                const orr_soft_frame *frame, int soft, int body, const int32_t *vertex,
                                const double *point, int count, const double *position, double time_step,
                                orr_soft_found *f, orr_error *error)
{
    double rotation[9], origin[3];
    int held_by;
    ORR_TRY(find_body(c, p, index, frame, body, time_step, f, &held_by, error));
    ORR_GROW(f->tie, f->tie_capacity, f->tie_count + count, what, error);
    body_frame(c, p, index, frame, body, rotation, origin);
    for (int i = 0; i < count; i++) {
        orr_soft_tie *tie = &f->tie[f->tie_count++];
        *tie = (orr_soft_tie){.soft = soft, .vertex = vertex[i], .body = held_by};
        double at[3];
        mat_apply(rotation, point + (ptrdiff_t)i * 3, at);
        for (int k = 0; k < 3; k++) {
            tie->gap[k] = position[(ptrdiff_t)vertex[i] * 3 + k] - origin[k] - at[k];
        }
    }
    return ORR_OK;
}

// ---- forces

void orr_soft_contact_push(const orr_soft_found *found, const orr_world_physics *p, int index,
                           const orr_soft_frame *frame)
{
    const int size = orr_physics_size(p->physics, ORR_PHYSICS_XFRC_APPLIED);
    double *forces = p->pushed + (ptrdiff_t)index * size;
    memset(forces, 0, (size_t)size * sizeof *forces);
    for (int i = 0; found && i < found->body_count; i++) {
        double force[3], torque[3];
        mat_apply_transposed(frame->rotation, found->body[i].force, force);
        mat_apply_transposed(frame->rotation, found->body[i].torque, torque);
        for (int k = 0; k < 3; k++) {
            forces[(ptrdiff_t)found->body_of[i] * 6 + k] += force[k];
            forces[(ptrdiff_t)found->body_of[i] * 6 + 3 + k] += torque[k];
        }
    }
}

orr_result orr_soft_contact_step(orr_soft_contact *c, orr_world_physics *p, const uint8_t *chosen,
                                 uint8_t *restarted, orr_error *error)
{
    static const orr_physics_quantity force = ORR_PHYSICS_XFRC_APPLIED;
    const int worlds = orr_physics_worlds(p->physics), size = orr_physics_size(p->physics, force);
    ORR_GROW(c->applied, c->applied_capacity, worlds * size, what, error);
    ORR_GROW(c->pushed, c->pushed_capacity, worlds * size, what, error);
    orr_physics_read_all(p->physics, &force, 1, c->applied);
    for (int i = 0; i < worlds * size; i++) {
        c->pushed[i] = c->applied[i] + p->pushed[i];
    }
    for (int i = 0; i < worlds; i++) {
        p->restarts[i] = orr_physics_restarts(p->physics, i);
    }
    orr_physics_set_all(p->physics, force, c->pushed);
    orr_physics_step_masked(p->physics, 1, chosen);
    for (int i = 0; i < worlds; i++) {
        restarted[i] = orr_physics_restarts(p->physics, i) != p->restarts[i];
        if (restarted[i]) {
            memset(c->applied + (ptrdiff_t)i * size, 0, (size_t)size * sizeof *c->applied);
        }
    }
    orr_physics_set_all(p->physics, force, c->applied);
    return ORR_OK;
}
