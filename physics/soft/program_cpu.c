// A step of vertex block descent on one group of worlds: compiled once per instruction set;
// program_double.c compiles it in plain double. Lanes are the vertices of a block, of one world, or the
// worlds of a group, vertex by vertex.
#include "engine/core/isa.h"
#include "physics/lanes/lane.h"
#include "physics/soft/element_formula.h"
#include "physics/soft/obstacle_formula.h"
#include "physics/soft/program.h"

typedef uniform_real number;

// How a vertex is read: `across` is constant; when set, lanes are worlds and `lane` is the vertex of the
// block.
typedef struct reader {
    int across, lane;
} reader;

FN real read_number(reader r, const number *p)
{
#if defined(ORR_SCALAR)
    return p[r.lane];
#else
    return r.across ? R(p[r.lane]) : real_load(p);
#endif
}

FN real3 read_point(reader r, const number *points, const int32_t *index)
{
#if defined(ORR_SCALAR)
    const number *p = points + (ptrdiff_t)index[r.lane] * 3;
    return make_real3(p[0], p[1], p[2]);
#else
    if (r.across) {
        const number *p = points + (ptrdiff_t)index[r.lane] * (3 * ORR_LANES);
        return make_real3(real_load(p), real_load(p + ORR_LANES), real_load(p + 2 * ORR_LANES));
    }
    real row[3];
    real_gather_point(points, (const uint32_t *)index, row);
    return make_real3(row[0], row[1], row[2]);
#endif
}

FN void write_point(reader r, number *points, const int32_t *index, int vertices, real3 value)
{
#if defined(ORR_SCALAR)
    (void)vertices;
    number *p = points + (ptrdiff_t)index[r.lane] * 3;
    p[0] = value.x, p[1] = value.y, p[2] = value.z;
#else
    if (r.across) {
        number *p = points + (ptrdiff_t)index[r.lane] * (3 * ORR_LANES);
        real_store(p, value.x);
        real_store(p + ORR_LANES, value.y);
        real_store(p + 2 * ORR_LANES, value.z);
        return;
    }
    for (int lane = 0; lane < vertices; lane++) {
        number *p = points + (ptrdiff_t)index[lane] * 3;
        p[0] = value.x[lane], p[1] = value.y[lane], p[2] = value.z[lane];
    }
#endif
}

FN void write_number(reader r, number *numbers, const int32_t *index, int vertices, real value)
{
#if defined(ORR_SCALAR)
    (void)vertices;
    numbers[index[r.lane]] = value;
#else
    if (r.across) {
        real_store(numbers + (ptrdiff_t)index[r.lane] * ORR_LANES, value);
        return;
    }
    for (int lane = 0; lane < vertices; lane++) {
        numbers[index[lane]] = value[lane];
    }
#endif
}

// A number of each world.
FN real read_world(reader r, const number *p)
{
#if defined(ORR_SCALAR)
    (void)r;
    return p[0];
#else
    return r.across ? real_load(p) : R(p[0]);
#endif
}

FN real3 read_row(reader r, const number *p)
{
    return make_real3(read_number(r, p), read_number(r, p + ORR_LANES), read_number(r, p + 2 * ORR_LANES));
}

// What the elements of a vertex are evaluated with.
typedef struct context {
    const number *position, *start;
    number mu, l, alpha, eta, rate;
    real3 own, own_start;
} context;

FN soft_system add_tet(reader r, const context *c, soft_system s, const int32_t *index, const number *p)
{
    real3 m1 = read_row(r, p), m2 = read_row(r, p + 3 * ORR_LANES), m3 = read_row(r, p + 6 * ORR_LANES);
    real volume = read_number(r, p + 9 * ORR_LANES);
    real3 m = make_real3(-(m1.x + m2.x + m3.x), -(m1.y + m2.y + m3.y), -(m1.z + m2.z + m3.z));
    soft_columns f =
        soft_gradient3(sub3(read_point(r, c->position, index), c->own),
                       sub3(read_point(r, c->position, index + ORR_LANES), c->own),
                       sub3(read_point(r, c->position, index + 2 * ORR_LANES), c->own), m1, m2, m3);
    s = tet_system(s, f, m, volume, c->mu, c->l, c->alpha);
    if (c->eta > 0) {
        soft_columns before =
            soft_gradient3(sub3(read_point(r, c->start, index), c->own_start),
                           sub3(read_point(r, c->start, index + ORR_LANES), c->own_start),
                           sub3(read_point(r, c->start, index + 2 * ORR_LANES), c->own_start), m1, m2, m3);
        s = tet_damping(s, f, before, m, volume, c->eta, c->rate);
    }
    return s;
}

FN soft_columns membrane_columns(real3 d1, real3 d2, real x1, real y1, real x2, real y2)
{
    soft_columns f;
    f.a = add_scaled3(scale3(d1, x1), d2, x2);
    f.b = add_scaled3(scale3(d1, y1), d2, y2);
    f.c = make_real3(R(0.0), R(0.0), R(0.0));
    return f;
}

// swell: what the triangle adds to the derivative of the enclosed volume.
FN soft_system add_triangle(reader r, const context *c, soft_system s, const int32_t *index, const number *p,
                            real3 *swell)
{
    real x1 = read_number(r, p), y1 = read_number(r, p + ORR_LANES);
    real x2 = read_number(r, p + 2 * ORR_LANES), y2 = read_number(r, p + 3 * ORR_LANES);
    real area = read_number(r, p + 4 * ORR_LANES), mx = -(x1 + x2), my = -(y1 + y2);
    real3 d1 = sub3(read_point(r, c->position, index), c->own);
    real3 d2 = sub3(read_point(r, c->position, index + ORR_LANES), c->own);
    soft_columns f = membrane_columns(d1, d2, x1, y1, x2, y2);
    *swell = add_scaled3(*swell, triangle_swell(d1, d2), R(1.0));
    s = membrane_system(s, f.a, f.b, mx, my, area, c->mu, c->l, c->alpha);
    if (c->eta > 0) {
        soft_columns before =
            membrane_columns(sub3(read_point(r, c->start, index), c->own_start),
                             sub3(read_point(r, c->start, index + ORR_LANES), c->own_start), x1, y1, x2, y2);
        s = tet_damping(s, f, before, make_real3(mx, my, R(0.0)), area, c->eta, c->rate);
    }
    return s;
}

// Damping is of first order: by how much the way since the step's start has bent the hinge.
FN soft_system add_hinge(reader r, const context *c, soft_system s, const int32_t *index, const number *p)
{
    real3 x[4];
    for (int k = 0; k < 4; k++) {
        x[k] = read_point(r, c->position, index + (ptrdiff_t)k * ORR_LANES);
    }
    soft_hinge h = hinge_angle(x[0], x[1], x[2], x[3]);
    real3 g = scale3(h.g0, read_number(r, p));
    g = add_scaled3(g, h.g1, read_number(r, p + ORR_LANES));
    g = add_scaled3(g, h.g2, read_number(r, p + 2 * ORR_LANES));
    g = add_scaled3(g, h.g3, read_number(r, p + 3 * ORR_LANES));
    real stiffness = read_number(r, p + 4 * ORR_LANES), angle = atan2_(abs_(h.sine), h.cosine);
    real off = sel(h.sine < R(0.0), -angle, angle) - read_number(r, p + 5 * ORR_LANES);
    off = off - R(6.283185307179586) * floor_(off * R(0.15915494309189535) + R(0.5));
    s.force = add_scaled3(s.force, g, -(stiffness * off));
    if (c->eta > 0) {
        const real3 gradient[4] = {h.g0, h.g1, h.g2, h.g3};
        real bent = R(0.0), lag = stiffness * (c->eta * c->rate);
        for (int k = 0; k < 4; k++) {
            bent = bent +
                   dot3(gradient[k], sub3(x[k], read_point(r, c->start, index + (ptrdiff_t)k * ORR_LANES)));
        }
        s.force = add_scaled3(s.force, g, -(lag * bent));
        stiffness = stiffness + lag;
    }
    return soft_add_outer(s, stiffness, g);
}

FN soft_system add_edge(reader r, const context *c, soft_system s, const int32_t *index, const number *p,
                        bool damped)
{
    real stiffness = read_number(r, p), rest = read_number(r, p + ORR_LANES);
    real3 d = sub3(read_point(r, c->position, index), c->own);
    s = edge_system(s, d, stiffness, rest);
    if (damped) {
        real3 before = sub3(read_point(r, c->start, index), c->own_start);
        s = edge_damping(s, d, before, read_number(r, p + 2 * ORR_LANES), c->rate);
    }
    return s;
}

FN obstacle_distance distance_of(const orr_soft_obstacle *o, real3 p)
{
    const number x = (number)o->size[0], y = (number)o->size[1], z = (number)o->size[2];
    switch (o->shape) {
    case ORR_SOFT_PLANE:
        return plane_distance(p);
    case ORR_SOFT_SPHERE:
        return sphere_distance(p, x);
    case ORR_SOFT_CAPSULE:
        return capsule_distance(p, x, y);
    default:
        return box_distance(p, x, y, z);
    }
}

// touch: the largest depth.
FN soft_system add_obstacle(const orr_soft_obstacle *o, const context *c, soft_system s, real stiffness,
                            number slip, real *touch)
{
    const real3 x = make_real3(R(o->axis[0]), R(o->axis[3]), R(o->axis[6]));
    const real3 y = make_real3(R(o->axis[1]), R(o->axis[4]), R(o->axis[7]));
    const real3 z = make_real3(R(o->axis[2]), R(o->axis[5]), R(o->axis[8]));
    real3 p = sub3(c->own_start, make_real3(R(o->position[0]), R(o->position[1]), R(o->position[2])));
    obstacle_distance d = distance_of(o, make_real3(dot3(x, p), dot3(y, p), dot3(z, p)));
    real3 normal = add_scaled3(scale3(x, d.normal.x), y, d.normal.y);
    normal = add_scaled3(normal, z, d.normal.z);
    real3 moved = sub3(c->own, c->own_start);
    real depth = -(d.distance + dot3(normal, moved));
    *touch = max_(*touch, depth);
    return plane_contact(s, depth, moved, normal, stiffness, R(o->friction), slip);
}

// The half-spaces that a vertex touches in this step, whatever they are of.
FN soft_system add_touches(reader r, const orr_soft_group *g, const int32_t *own, const context *c,
                           soft_system s, real stiffness, number slip, real *touch)
{
    const ptrdiff_t size = (ptrdiff_t)g->vertices * 3 * g->worlds;
    const number *plane = g->planes;
    for (int i = 0; i < g->plane_slots; i++, plane += 3 * size) {
        real3 normal = read_point(r, plane, own), shift = read_point(r, plane + size, own);
        real3 more = read_point(r, plane + 2 * size, own); // distance, friction, strength
        real3 moved = sub3(sub3(c->own, c->own_start), shift);
        real depth = -(more.x + dot3(normal, moved));
        *touch = max_(*touch, sel(more.z > R(0.0), depth, R(-1.0)));
        s = plane_contact(s, depth, moved, normal, stiffness * more.z, more.y, slip);
    }
    return s;
}

// What has been computed of a vertex before.
FN soft_system add_pushed(reader r, const orr_soft_group *g, const int32_t *own, soft_system s, real *touch)
{
    const ptrdiff_t size = (ptrdiff_t)g->vertices * 3;
    const number *pushed = g->pushed;
    real3 force = read_point(r, pushed, own), x = read_point(r, pushed + size, own);
    real3 rest = read_point(r, pushed + 2 * size, own); // yy, yz, zz
    s.force = add_scaled3(s.force, force, R(1.0));
    s.xx = s.xx + x.x, s.xy = s.xy + x.y, s.xz = s.xz + x.z;
    s.yy = s.yy + rest.x, s.yz = s.yz + rest.y, s.zz = s.zz + rest.z;
    *touch = max_(*touch, x.x + rest.x + rest.z);
    return s;
}

static context with_material(const context *c, const orr_soft_elastic *e)
{
    context r = *c;
    r.mu = (number)e->mu, r.l = (number)e->l, r.alpha = (number)e->alpha, r.eta = (number)e->eta;
    return r;
}

// Moves a vertex to the minimum of its quadratic model; index, p: of its block.
FN void relax_vertex(reader r, const orr_soft_group *g, const orr_soft_block *block)
{
    const orr_soft_constants *k = g->constants;
    const int32_t *own = g->tables->index + block->index, *index = own + ORR_LANES;
    const number *p = (const number *)g->tables->number + block->number;
    const number rate = (number)(1.0 / k->time_step), inertia = rate * rate;
    real mass = read_number(r, p);
    p += ORR_LANES;
    context c = {.position = g->position, .start = g->start, .rate = rate};
    c.own = read_point(r, g->position, own);
    c.own_start = read_point(r, g->start, own);
    soft_system s = {.xx = mass * inertia, .yy = mass * inertia, .zz = mass * inertia};
    s.xy = s.xz = s.yz = R(0.0);
    s.force = scale3(sub3(read_point(r, g->target, own), c.own), mass * inertia);
    context solid = with_material(&c, &k->solid), cloth = with_material(&c, &k->cloth);
    for (int i = 0; i < block->slots[SOFT_TET]; i++) {
        s = add_tet(r, &solid, s, index, p);
        index += SOFT_TET_OTHERS * ORR_LANES, p += SOFT_TET_NUMBERS * ORR_LANES;
    }
    real3 swell = make_real3(R(0.0), R(0.0), R(0.0));
    for (int i = 0; i < block->slots[SOFT_TRIANGLE]; i++) {
        s = add_triangle(r, &cloth, s, index, p, &swell);
        index += SOFT_TRIANGLE_OTHERS * ORR_LANES, p += SOFT_TRIANGLE_NUMBERS * ORR_LANES;
    }
    c.eta = (number)k->hinge_damping;
    for (int i = 0; i < block->slots[SOFT_HINGE]; i++) {
        s = add_hinge(r, &c, s, index, p);
        index += SOFT_HINGE_OTHERS * ORR_LANES, p += SOFT_HINGE_NUMBERS * ORR_LANES;
    }
    for (int i = 0; i < block->slots[SOFT_EDGE]; i++) {
        s = add_edge(r, &c, s, index, p, k->edges_damped);
        index += SOFT_EDGE_OTHERS * ORR_LANES, p += SOFT_EDGE_NUMBERS * ORR_LANES;
    }
    real touch = R(-1.0);
    real stiffness = k->contact_stiffness > 0.0 ? R(k->contact_stiffness) : R(100.0) * mass * inertia;
    const number slip = (number)(1e-2 * k->time_step); // friction is full from 1 cm/s
    for (int i = 0; i < k->obstacles; i++) {
        s = add_obstacle(&k->obstacle[i], &c, s, stiffness, slip, &touch);
    }
    s = add_touches(r, g, own, &c, s, stiffness, slip, &touch);
    if (g->is_pushed) {
        s = add_pushed(r, g, own, s, &touch);
    }
    if (g->touch) {
        write_number(r, g->touch, own, block->vertices, touch);
    }
    if (g->pressure) {
        soft_system alone = s;
        alone.force = swell;
        write_number(r, g->swell, own, block->vertices, dot3(swell, soft_solve(alone)));
        s.force = add_scaled3(s.force, swell, read_world(r, g->pressure));
    }
    real3 step = soft_solve(s);
    write_point(r, g->position, own, block->vertices, add_scaled3(c.own, step, R(1.0)));
}

static void relax(const orr_soft_group *g, int first, int end)
{
    for (int i = first; i < end; i++) {
        const orr_soft_block *block = &g->tables->block[i];
        if (g->worlds > 1) {
            for (int lane = 0; lane < block->vertices; lane++) {
                relax_vertex((reader){1, lane}, g, block);
            }
        } else {
            relax_vertex((reader){0, 0}, g, block);
        }
    }
}

// The first guess: as far as the last step's acceleration says that gravity is not held (Chen et al. 2024,
// section 3.7).
static void begin(const orr_soft_group *g)
{
    const orr_soft_constants *k = g->constants;
    const number h = (number)k->time_step;
    const double size =
        sqrt(k->gravity[0] * k->gravity[0] + k->gravity[1] * k->gravity[1] + k->gravity[2] * k->gravity[2]);
    const number strength = (number)size, rate = (number)1 / h;
    number *position = g->position, *start = g->start, *target = g->target;
    const number *velocity = g->velocity, *change = g->change;
    number along[3], gravity[3];
    for (int c = 0; c < 3; c++) {
        gravity[c] = (number)k->gravity[c];
        along[c] = (number)(size > 0.0 ? k->gravity[c] / size : 0.0);
    }
    const ptrdiff_t worlds = g->worlds;
    memcpy(start, position, (size_t)g->vertices * 3 * (size_t)worlds * sizeof(number));
    for (int v = 0; v < g->vertices; v++) {
        if (g->pinned[v]) {
            continue;
        }
        ptrdiff_t at = (ptrdiff_t)v * 3 * worlds;
        for (ptrdiff_t i = at; i < at + worlds; i++) {
            number a = rate * (change[i] * along[0] + change[i + worlds] * along[1] +
                               change[i + 2 * worlds] * along[2]);
            // nearer to gravity than this, rounding of positions would keep it from coming nearer
            bool falls = a > (number)0.99 * strength;
            a = a > (number)0 ? a : (number)0;
            for (int c = 0; c < 3; c++) {
                ptrdiff_t j = i + c * worlds;
                target[j] = start[j] + h * (velocity[j] + h * gravity[c]);
                position[j] = falls ? target[j] : start[j] + h * (velocity[j] + h * a * along[c]);
            }
        }
    }
    if (g->previous) {
        memcpy(g->previous, position, (size_t)g->vertices * 3 * (size_t)worlds * sizeof(number));
    }
}

// Wang 2015: x = omega (x - x before the previous) + x before the previous; not of vertices in contact.
static void accelerate(const orr_soft_group *g, double omega)
{
    const ptrdiff_t worlds = g->worlds;
    const number *touch = g->touch;
    number *position = g->position, *previous = g->previous, *older = g->before_previous;
    for (int v = 0; v < g->vertices; v++) {
        ptrdiff_t at = (ptrdiff_t)v * 3 * worlds;
        for (ptrdiff_t i = at; i < at + worlds; i++) {
            bool free = !g->pinned[v] && !(touch[v * worlds + i - at] > (number)0);
            for (ptrdiff_t j = i; j < i + 3 * worlds; j += worlds) {
                if (free && omega > 1.0) {
                    position[j] = (number)omega * (position[j] - older[j]) + older[j];
                }
                older[j] = previous[j];
                previous[j] = position[j];
            }
        }
    }
}

// The change of velocity is that of gravity and what lies between a position and its target: of the way from
// the start, velocities would take over the rounding of positions far from the origin.
static void finish(const orr_soft_group *g)
{
    const number h = (number)g->constants->time_step, rate = (number)(1.0 / g->constants->time_step);
    const number *position = g->position, *target = g->target;
    number *velocity = g->velocity, *change = g->change;
    for (int v = 0; v < g->vertices; v++) {
        for (int c = 0; c < 3; c++) {
            const number fall = h * (number)g->constants->gravity[c];
            ptrdiff_t at = ((ptrdiff_t)v * 3 + c) * g->worlds;
            for (ptrdiff_t i = at; i < at + g->worlds; i++) {
                number gained = g->pinned[v] ? -velocity[i] : fall + rate * (position[i] - target[i]);
                change[i] = gained;
                velocity[i] += gained;
            }
        }
    }
}

static void pull(const orr_soft_group *g, const double *mass, double sum[3])
{
    const number *position = g->position, *target = g->target;
    double x = 0.0, y = 0.0, z = 0.0;
    for (int v = 0; v < g->vertices; v++, position += 3, target += 3) {
        x += mass[v] * ((double)target[0] - (double)position[0]);
        y += mass[v] * ((double)target[1] - (double)position[1]);
        z += mass[v] * ((double)target[2] - (double)position[2]);
    }
    sum[0] = x, sum[1] = y, sum[2] = z;
}

static void translate(const orr_soft_group *g, const double by[3])
{
    number *position = g->position;
    for (int v = 0; v < g->vertices; v++, position += 3) {
        for (int k = 0; k < 3; k++) {
            position[k] = (number)((double)position[k] + by[k]);
        }
    }
}

const orr_soft_program *ORR_ISA_NAME(orr_soft_program)(void)
{
    static const orr_soft_program program = {.lanes = ORR_LANES,
                                             .in_double = sizeof(number) == sizeof(double),
                                             .begin = begin,
                                             .relax = relax,
                                             .accelerate = accelerate,
                                             .finish = finish,
                                             .pull = pull,
                                             .translate = translate};
    return &program;
}
