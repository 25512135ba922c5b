#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "engine/loop/world/soft_contact.h"

#include "engine/core/memory.h"
#include "engine/core/rotation.h"
#include "physics/grid/distance_grid.h"
#include "physics/soft/obstacle_formula.h"

#include <math.h>
#include <string.h>

static const double reach = 0.05;         // m: vertices farther away touch nothing in a step
static const double least_mass = 1e-3;    // kg: of links that are lighter, so that they do not fly off
static const double least_inertia = 1e-6; // kg m^2

// What is read of a physics, in this order.
static const orr_physics_quantity quantities[] = {ORR_PHYSICS_GEOM_XPOS, ORR_PHYSICS_GEOM_XMAT,
                                                  ORR_PHYSICS_XIPOS,     ORR_PHYSICS_XIMAT,
                                                  ORR_PHYSICS_CVEL,      ORR_PHYSICS_SUBTREE_COM};
enum { QUANTITIES = 6 };

void orr_soft_contact_clear(orr_soft_contact *c)
{
    orr_free(c->numbers);
    orr_free(c->applied);
    orr_free(c->pushed);
    orr_free(c->touch);
    orr_free(c->body);
    orr_free(c->body_of);
}

static int world_numbers(const orr_physics *physics)
{
    int count = 0;
    for (int i = 0; i < QUANTITIES; i++) {
        count += orr_physics_size(physics, quantities[i]);
    }
    return count;
}

static const double *numbers_of(const orr_soft_contact *c, const orr_physics *physics, int world,
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
    static const orr_physics_quantity force = ORR_PHYSICS_XFRC_APPLIED;
    int worlds = orr_physics_worlds(p->physics), forces = worlds * orr_physics_size(p->physics, force);
    ORR_GROW(c->numbers, c->number_capacity, worlds * world_numbers(p->physics), "contacts of soft bodies",
             error);
    ORR_GROW(c->applied, c->applied_capacity, forces, "contacts of soft bodies", error);
    ORR_GROW(c->pushed, c->pushed_capacity, forces, "contacts of soft bodies", error);
    orr_physics_read_all(p->physics, quantities, QUANTITIES, c->numbers);
    orr_physics_read_all(p->physics, &force, 1, c->applied);
    memcpy(c->pushed, c->applied, (size_t)forces * sizeof *c->pushed);
    return ORR_OK;
}

// ---- distances

static obstacle_distance cylinder_distance(real3 p, double radius, double half)
{
    double across = hypot(p.x, p.y);
    obstacle_distance d = box_distance(make_real3(across, 0.0, p.z), radius, 1e30, half);
    double x = across > 0.0 ? p.x / across : 1.0, y = across > 0.0 ? p.y / across : 0.0;
    d.normal = make_real3(d.normal.x * x, d.normal.x * y, d.normal.z);
    return d;
}

// Exact at the surface to first order.
static obstacle_distance ellipsoid_distance(real3 p, const double size[3])
{
    real3 q = make_real3(p.x / size[0], p.y / size[1], p.z / size[2]);
    real3 g = make_real3(q.x / size[0], q.y / size[1], q.z / size[2]);
    double k = sqrt(dot3(q, q)), slope = fmax(sqrt(dot3(g, g)), 1e-12);
    obstacle_distance d = {k > 1e-6 ? k * (k - 1.0) / slope : -fmin(size[0], fmin(size[1], size[2])),
                           make_real3(g.x / slope, g.y / slope, g.z / slope)};
    return d;
}

// The farthest of the planes of its faces: too small beside edges, exact on faces.
static obstacle_distance hull_distance(const orr_model *m, int mesh, const double p[3])
{
    obstacle_distance best = {-INFINITY, {0.0, 0.0, 1.0}};
    const double *vertex = m->hull_vert + 3 * (ptrdiff_t)m->mesh_hullvertadr[mesh];
    for (int f = 0; f < m->mesh_hullfacenum[mesh]; f++) {
        const int32_t *face = m->hull_face + 3 * (ptrdiff_t)(m->mesh_hullfaceadr[mesh] + f);
        double u[3], v[3], n[3], d[3];
        for (int k = 0; k < 3; k++) {
            u[k] = vertex[3 * face[1] + k] - vertex[3 * face[0] + k];
            v[k] = vertex[3 * face[2] + k] - vertex[3 * face[0] + k];
            d[k] = p[k] - vertex[3 * face[0] + k];
        }
        vec3_cross(u, v, n);
        if (vec3_normalise(n) > 0.0 && vec3_dot(n, d) > best.distance) {
            best.distance = vec3_dot(n, d);
            best.normal = make_real3(n[0], n[1], n[2]);
        }
    }
    return best;
}

static obstacle_distance grid_distance(const orr_model *m, int grid, const double p[3])
{
    const orr_distance_grid view = {
        .origin = {m->grid_origin[3 * grid], m->grid_origin[3 * grid + 1], m->grid_origin[3 * grid + 2]},
        .cell = m->grid_cell[grid],
        .bricks = {m->grid_bricks[3 * grid], m->grid_bricks[3 * grid + 1], m->grid_bricks[3 * grid + 2]},
        .brick = m->grid_brick + m->grid_brickadr[grid],
        .corner = m->grid_corner + m->grid_corneradr[grid],
        .sample = m->grid_sample + m->grid_sampleadr[grid]};
    double n[3];
    obstacle_distance d = {orr_distance_grid_at(&view, p, n), {0.0, 0.0, 0.0}};
    d.distance = vec3_normalise(n) > 0.0 ? d.distance : INFINITY;
    d.normal = make_real3(n[0], n[1], n[2]);
    return d;
}

// In the geom's frame. Height fields touch nothing.
static obstacle_distance distance_of(const orr_model *m, int geom, const double p[3])
{
    const double *size = m->geom_size + (ptrdiff_t)geom * 3;
    const real3 at = make_real3(p[0], p[1], p[2]);
    switch ((orr_geom_type)m->geom_type[geom]) {
    case ORR_GEOM_PLANE:
        return plane_distance(at);
    case ORR_GEOM_SPHERE:
        return sphere_distance(at, size[0]);
    case ORR_GEOM_CAPSULE:
        return capsule_distance(at, size[0], size[1]);
    case ORR_GEOM_ELLIPSOID:
        return ellipsoid_distance(at, size);
    case ORR_GEOM_CYLINDER:
        return cylinder_distance(at, size[0], size[1]);
    case ORR_GEOM_BOX:
        return box_distance(at, size[0], size[1], size[2]);
    case ORR_GEOM_MESH:
        return hull_distance(m, m->geom_dataid[geom], p);
    case ORR_GEOM_SDF:
        return grid_distance(m, m->geom_dataid[geom], p);
    default:
        return (obstacle_distance){INFINITY, {0.0, 0.0, 1.0}};
    }
}

// ---- what is near

typedef struct near_geom {
    double rotation[9], position[3]; // of the geom in the scene
    int geom, body;                  // body: of the touched ones; -1: fixed
} near_geom;

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

// A body as the soft ones push it: by its own mass. A link of a robot is at least as hard to move, and what
// else moves it in this step is not known yet; a body that flies free falls.
static orr_soft_body describe(const orr_soft_contact *c, const orr_world_physics *p, int world,
                              const orr_soft_frame *frame, int body, double time_step)
{
    const orr_model *m = p->model;
    const double *spin = numbers_of(c, p->physics, world, ORR_PHYSICS_CVEL) + (ptrdiff_t)body * 6;
    const double *centre = numbers_of(c, p->physics, world, ORR_PHYSICS_XIPOS) + (ptrdiff_t)body * 3;
    const double *about =
        numbers_of(c, p->physics, world, ORR_PHYSICS_SUBTREE_COM) + (ptrdiff_t)m->body_rootid[body] * 3;
    double axes[9], arm[3], velocity[3], turned[3];
    orr_soft_body out = {.mass = fmax(m->body_mass[body], least_mass)};
    matrix_product(frame->rotation, numbers_of(c, p->physics, world, ORR_PHYSICS_XIMAT) + (ptrdiff_t)body * 9,
                   axes);
    for (int i = 0; i < 9; i++) {
        for (int k = 0; k < 3; k++) {
            double inertia = fmax(m->body_inertia[(ptrdiff_t)body * 3 + k], least_inertia);
            out.inertia[i] += axes[i / 3 * 3 + k] * inertia * axes[i % 3 * 3 + k];
        }
    }
    to_scene(frame, centre, out.centre);
    for (int k = 0; k < 3; k++) {
        arm[k] = centre[k] - about[k];
    }
    vec3_cross(spin, arm, turned);
    for (int k = 0; k < 3; k++) {
        velocity[k] = spin[3 + k] + turned[k] + (flies_free(m, body) ? time_step * m->opt.gravity[k] : 0.0);
    }
    mat_apply(frame->rotation, velocity, out.velocity);
    mat_apply(frame->rotation, spin, out.spin);
    return out;
}

static orr_result find_body(orr_soft_contact *c, const orr_world_physics *p, int world,
                            const orr_soft_frame *frame, int body, double time_step, int *index,
                            orr_error *error)
{
    *index = -1;
    if (p->model->body_weldid[body] == 0) {
        return ORR_OK;
    }
    for (*index = 0; *index < c->body_count; ++*index) {
        if (c->body_of[*index] == body) {
            return ORR_OK;
        }
    }
    ORR_GROW(c->body, c->body_capacity, c->body_count + 1, "contacts of soft bodies", error);
    ORR_GROW(c->body_of, c->body_of_capacity, c->body_count + 1, "contacts of soft bodies", error);
    c->body[c->body_count] = describe(c, p, world, frame, body, time_step);
    c->body_of[c->body_count++] = body;
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

// Keeps the touches of a vertex by distance.
static void insert(orr_soft_touch *touch, int *count, const orr_soft_touch *found)
{
    int at = *count < ORR_SOFT_TOUCHES_MAX ? (*count)++ : ORR_SOFT_TOUCHES_MAX - 1;
    if (at == ORR_SOFT_TOUCHES_MAX - 1 && *count == ORR_SOFT_TOUCHES_MAX &&
        touch[at].vertex == found->vertex && touch[at].distance <= found->distance) {
        return;
    }
    touch[at] = *found;
    if (at > 0 && touch[at].distance < touch[at - 1].distance) {
        orr_soft_touch nearer = touch[at];
        touch[at] = touch[at - 1], touch[at - 1] = nearer;
    }
}

static orr_result touch_vertex(orr_soft_contact *c, const orr_world_physics *p, const near_geom *g, int geoms,
                               const double *x, int vertex, double margin, double friction, orr_error *error)
{
    const orr_model *m = p->model;
    orr_soft_touch touch[ORR_SOFT_TOUCHES_MAX] = {{.vertex = -1}, {.vertex = -1}};
    int count = 0;
    for (int i = 0; i < geoms; i++) {
        double d[3], at[3];
        for (int k = 0; k < 3; k++) {
            d[k] = x[k] - g[i].position[k];
        }
        double bound = m->geom_rbound[g[i].geom] + reach;
        if (m->geom_type[g[i].geom] != ORR_GEOM_PLANE && vec3_dot(d, d) > bound * bound) {
            continue;
        }
        mat_apply_transposed(g[i].rotation, d, at);
        const obstacle_distance found = distance_of(m, g[i].geom, at);
        if (found.distance < reach) {
            const double normal[3] = {found.normal.x, found.normal.y, found.normal.z};
            orr_soft_touch t = {.vertex = vertex,
                                .body = g[i].body,
                                .distance = found.distance + margin,
                                .friction = fmax(friction, m->geom_friction[(ptrdiff_t)g[i].geom * 3])};
            mat_apply(g[i].rotation, normal, t.normal);
            insert(touch, &count, &t);
        }
    }
    ORR_GROW(c->touch, c->touch_capacity, c->touch_count + count, "contacts of soft bodies", error);
    memcpy(c->touch + c->touch_count, touch, (size_t)count * sizeof *touch);
    c->touch_count += count;
    return ORR_OK;
}

static orr_result find_near(orr_soft_contact *c, const orr_world_physics *p, int world,
                            const orr_soft_frame *frame, const double centre[3], double radius,
                            double time_step, near_geom *g, int *count, orr_error *error)
{
    const orr_model *m = p->model;
    const double *position = numbers_of(c, p->physics, world, ORR_PHYSICS_GEOM_XPOS);
    const double *rotation = numbers_of(c, p->physics, world, ORR_PHYSICS_GEOM_XMAT);
    *count = 0;
    for (int i = 0; i < m->ngeom; i++) {
        near_geom *out = &g[*count];
        to_scene(frame, position + (ptrdiff_t)i * 3, out->position);
        if ((m->geom_contype[i] | m->geom_conaffinity[i]) == 0 ||
            !is_near(m, i, out->position, centre, radius)) {
            continue;
        }
        matrix_product(frame->rotation, rotation + (ptrdiff_t)i * 9, out->rotation);
        out->geom = i;
        ORR_TRY(find_body(c, p, world, frame, m->geom_bodyid[i], time_step, &out->body, error));
        ++*count;
    }
    return ORR_OK;
}

orr_result orr_soft_contact_find(orr_soft_contact *c, const orr_world_physics *p, int world,
                                 const orr_soft_frame *frame, const double *position, int vertices,
                                 double margin, double friction, double time_step, orr_error *error)
{
    double centre[3], radius;
    c->touch_count = c->body_count = 0;
    box_of(position, vertices, centre, &radius);
    near_geom *g;
    int count;
    ORR_ALLOC(g, p->model->ngeom + 1, "contacts of soft bodies", error);
    orr_result result = find_near(c, p, world, frame, centre, radius, time_step, g, &count, error);
    for (int i = 0; i < vertices && result == ORR_OK && count > 0; i++) {
        result = touch_vertex(c, p, g, count, position + (ptrdiff_t)i * 3, i, margin, friction, error);
    }
    orr_free(g);
    return result;
}

void orr_soft_contact_push(orr_soft_contact *c, const orr_world_physics *p, int world,
                           const orr_soft_frame *frame)
{
    double *forces = c->pushed + (ptrdiff_t)world * orr_physics_size(p->physics, ORR_PHYSICS_XFRC_APPLIED);
    for (int i = 0; i < c->body_count; i++) {
        double force[3], torque[3];
        mat_apply_transposed(frame->rotation, c->body[i].force, force);
        mat_apply_transposed(frame->rotation, c->body[i].torque, torque);
        for (int k = 0; k < 3; k++) {
            forces[(ptrdiff_t)c->body_of[i] * 6 + k] += force[k];
            forces[(ptrdiff_t)c->body_of[i] * 6 + 3 + k] += torque[k];
        }
    }
}
