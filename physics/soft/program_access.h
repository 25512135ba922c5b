// How a step of vertex block descent reads and writes: the model's numbers in blocks of LANE_STRIDE vertices,
// positions by the numbers of vertices, and what is the same for all vertices. Private to this folder.
//
// On the CPU lanes are the vertices of a block, of one world, or the worlds of a group, vertex by vertex. On
// a GPU a thread is one vertex of a block in one world, and the threads of a warp are what lanes are there.
#pragma once

#include "physics/lanes/lane.h"
#include "physics/soft/program.h"

typedef uniform_real number;

// ---- what is the same for all vertices in a step

typedef struct soft_obstacle {
    orr_soft_shape shape;
    number position[3], axis[9], size[3], friction;
} soft_obstacle;

typedef struct soft_material {
    number mu, l, alpha, eta;
} soft_material;

typedef struct soft_hold { // orr_soft_hold, with 1 / width, 1 / middle and 1 / (1 - middle)
    number stiffness, damping, low, high, steepness, middle, below, above;
} soft_hold;

typedef struct soft_numbers {
    number step, rate, inertia, slip;      // s, 1/s, 1/s^2; m: friction is full from there
    number end_share, gain;                // orr_soft_end_share; 1/s: of a velocity, by a way
    number gravity[3], along[3], strength; // m/s^2, its direction and length
    number contact_stiffness;              // 0: relative to the mass
    soft_material solid, cloth;
    number bending_damping;
    bool edges_damped, edges_held;
    soft_hold hold;
    int obstacles;
    soft_obstacle obstacle[ORR_SOFT_OBSTACLES_MAX];
} soft_numbers;

static inline soft_material material_of(const orr_soft_elastic *e)
{
    soft_material m = {(number)e->mu, (number)e->l, (number)e->alpha, (number)e->eta};
    return m;
}

static inline soft_hold hold_of(const orr_soft_hold *h)
{
    soft_hold out = {(number)h->stiffness,
                     (number)h->damping,
                     (number)h->low,
                     (number)h->high,
                     (number)(1.0 / fmax(h->width, 1e-15)),
                     (number)h->middle,
                     (number)(1.0 / fmax(h->middle, 1e-15)),
                     (number)(1.0 / fmax(1.0 - h->middle, 1e-15))};
    return out;
}

static inline void fill_numbers(const orr_soft_constants *k, soft_numbers *n)
{
    const double size =
        sqrt(k->gravity[0] * k->gravity[0] + k->gravity[1] * k->gravity[1] + k->gravity[2] * k->gravity[2]);
    n->step = (number)k->time_step;
    n->rate = (number)(1.0 / k->time_step);
    n->end_share = (number)orr_soft_end_share(k);
    n->gain = (number)(1.0 / (k->time_step * orr_soft_end_share(k)));
    n->inertia = n->rate * n->gain;
    n->slip = (number)(1e-2 * k->time_step); // full from 1 cm/s
    n->strength = (number)size;
    for (int c = 0; c < 3; c++) {
        n->gravity[c] = (number)k->gravity[c];
        n->along[c] = (number)(size > 0.0 ? k->gravity[c] / size : 0.0);
    }
    n->contact_stiffness = (number)k->contact_stiffness;
    n->solid = material_of(&k->solid), n->cloth = material_of(&k->cloth);
    n->bending_damping = (number)k->bending_damping;
    n->edges_damped = k->edges_damped;
    n->edges_held = k->edges_held;
    n->hold = hold_of(&k->hold);
    n->obstacles = k->obstacles;
    for (int i = 0; i < k->obstacles; i++) {
        const orr_soft_obstacle *from = &k->obstacle[i];
        soft_obstacle *o = &n->obstacle[i];
        o->shape = from->shape;
        o->friction = (number)from->friction;
        for (int c = 0; c < 9; c++) {
            o->axis[c] = (number)from->axis[c];
        }
        for (int c = 0; c < 3; c++) {
            o->position[c] = (number)from->position[c], o->size[c] = (number)from->size[c];
        }
    }
}

// ---- how a vertex is read

#if defined(__CUDACC__)
typedef struct reader {
    int lane, world; // the vertex of the block; of the group, in which state is strided by `worlds`
    ptrdiff_t worlds;
} reader;

FN real read_number(reader r, const number *p)
{
    return p[r.lane];
}

FN real3 read_point(reader r, const number *points, const int32_t *index)
{
    const number *p = points + (ptrdiff_t)index[r.lane] * 3 * r.worlds + r.world;
    return make_real3(p[0], p[r.worlds], p[2 * r.worlds]);
}

FN void write_point(reader r, number *points, const int32_t *index, int vertices, real3 value)
{
    (void)vertices;
    number *p = points + (ptrdiff_t)index[r.lane] * 3 * r.worlds + r.world;
    p[0] = value.x, p[r.worlds] = value.y, p[2 * r.worlds] = value.z;
}

FN void write_number(reader r, number *numbers, const int32_t *index, int vertices, real value)
{
    (void)vertices;
    numbers[(ptrdiff_t)index[r.lane] * r.worlds + r.world] = value;
}

FN real read_world(reader r, const number *p)
{
    return p[r.world];
}
#else
// `across` is constant; when set, lanes are worlds and `lane` is the vertex of the
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
#endif

FN real3 read_row(reader r, const number *p)
{
    return make_real3(read_number(r, p), read_number(r, p + LANE_STRIDE),
                      read_number(r, p + 2 * LANE_STRIDE));
}
