// The polytope of ONE pair that a search for its depth grows (lane_depth.h): the lanes of a vector are its
// faces, or their edges. A pair costs what its own polytope costs, however long the others' searches are.
#pragma once

#include "physics/lanes/state.h"

#if ORR_LANES > 1

enum {
    DEPTH_VERTICES = 32,
    DEPTH_FACES = 2 * DEPTH_VERTICES - 4, // n vertices have 2 n - 4 faces
    DEPTH_PLACES = 64 + ORR_LANES,
    DEPTH_EDGES = DEPTH_VERTICES + ORR_LANES,
    DEPTH_AT_ONCE = ORR_LANES < 8 ? ORR_LANES : 8, // faces that are appended
    DEPTH_FEW = 4                                  // faces of which the rim is found without a loop
};

// Behind the last face distances are LANE_HUGE, as that of a face without an area is.
typedef struct depth_polytope {
    _Alignas(64) point_table vertex; // of the difference
    float normal[3][DEPTH_PLACES];   // outward
    float distance[DEPTH_PLACES];    // of a face's plane from the origin
    int32_t corner[DEPTH_PLACES];    // a | b << 8 | c << 16, counter-clockwise from outside
} depth_polytope;

// Directed edges, from | to << 8.
typedef struct depth_edges {
    _Alignas(64) int32_t edge[DEPTH_EDGES];
    int32_t count;
} depth_edges;

// The vertices whose numbers are the `byte`-th bytes of some numbers.
FN real3 depth_vertices(const depth_polytope *t, const int32_t *of, int byte)
{
    real at[4];
    look_up_points_32(&t->vertex, of, byte, at);
    return make_real3(at[0], at[1], at[2]);
}

// Sets the faces from place `first` on, and the lanes behind them to none: from an edge (from | to << 8) to a
// corner of a number, which is at p.
FN void depth_set_faces(depth_polytope *t, int first, const int32_t *edge, sint corner, real3 p, int count)
{
    mask used = lanes_below(count);
    real3 a = depth_vertices(t, edge, 0), n = cross3(sub3(depth_vertices(t, edge, 1), a), sub3(p, a));
    real square = dot3(n, n); // of twice the area
    used = and_(used, square > R(1e-30));
    n = scale3(n, inverse_root_of_8(max_(square, R(1e-30))));
    real_store(&t->normal[0][first], n.x);
    real_store(&t->normal[1][first], n.y);
    real_store(&t->normal[2][first], n.z);
    real_store(&t->distance[first], sel(used, dot3(n, a), R(LANE_HUGE)));
    sint_store(&t->corner[first], sint_load(edge) | corner << 16);
}

// Makes the tetrahedron of vertices 0 to 3. above: is 3 on the side to which the normal of 0, 1, 2 points?
FN void depth_tetrahedron(depth_polytope *t, int above)
{
    static const int32_t edge[2][16] = {{0 | 1 << 8, 1 | 0 << 8, 2 | 1 << 8, 0 | 2 << 8},
                                        {1 | 0 << 8, 0 | 1 << 8, 1 | 2 << 8, 2 | 0 << 8}};
    static const int32_t corner[16] = {2, 3, 3, 3};
    for (int k = 0; k < DEPTH_PLACES; k += ORR_LANES) {
        real_store(&t->distance[k], R(LANE_HUGE));
    }
    depth_set_faces(t, 0, edge[above ? 1 : 0], sint_load(corner), depth_vertices(t, corner, 0), 4);
}

// The face that is closest to the origin.
FN int depth_closest(const depth_polytope *t, int faces)
{
    real least = real_load(t->distance);
    for (int k = ORR_LANES; k < faces; k += ORR_LANES) {
        least = min_(real_load(&t->distance[k]), least);
    }
    least = -real_spread_most(-least);
    uint64_t farther = 0;
    for (int k = 0; k < faces; k += ORR_LANES) {
        farther |= (uint64_t)bits_above(real_load(&t->distance[k]), least) << k;
    }
    return lowest_bit64(~farther | (uint64_t)1 << 63) & 63;
}

// The faces that a vertex at p sees, being `height` above them, those without an area, and the closest, a bit
// each.
FN uint64_t depth_seen(const depth_polytope *t, int faces, const float p[3], float height, int closest)
{
    uint64_t seen = 0;
    real x = real_splat(&p[0]), y = real_splat(&p[1]), z = real_splat(&p[2]), least = real_splat(&height);
    for (int k = 0; k < faces; k += ORR_LANES) {
        real distance = real_load(&t->distance[k]);
        real along = fma_(real_load(&t->normal[0][k]), x,
                          fma_(real_load(&t->normal[1][k]), y, real_load(&t->normal[2][k]) * z));
        seen |= (uint64_t)(bits_above(along, distance + least) | bits_above(distance, R(1e29))) << k;
    }
    return (seen & (((uint64_t)1 << faces) - 1)) | (uint64_t)1 << closest;
}

// The edges of few faces that no two of them share.
FN void depth_rim_of_few(const depth_polytope *t, uint64_t faces, depth_edges *rim)
{
    int32_t corner[DEPTH_FEW];
    int count = __builtin_popcountll(faces);
    for (int k = 0; k < DEPTH_FEW; k++, faces &= faces - 1) { // a fixed number: none is guessed wrong
        corner[k] = t->corner[lowest_bit64(faces | (uint64_t)1 << 63)];
    }
    rim->count = unshared_edges(corner, count, rim->edge);
}

// The same of any number of faces; each vertex must have one such edge. Do they?
LANE_FN int depth_rim_of_many(const depth_polytope *t, uint64_t faces, depth_edges *rim)
{
    uint32_t next[DEPTH_VERTICES] = {0}, last[DEPTH_VERTICES] = {0}; // of each vertex: a bit for each other
    uint32_t vertices = 0, several = 0;
    for (; faces != 0; faces &= faces - 1) {
        int place = lowest_bit64(faces);
        const int corner[3] = {t->corner[place] & 31, t->corner[place] >> 8 & 31,
                               t->corner[place] >> 16 & 31};
        for (int e = 0; e < 3; e++) {
            int from = corner[e], to = corner[e == 2 ? 0 : e + 1];
            next[from] |= 1u << to;
            last[to] |= 1u << from;
            vertices |= 1u << from;
        }
    }
    for (rim->count = 0; vertices != 0; vertices &= vertices - 1) {
        int from = lowest_bit(vertices);
        uint32_t to = next[from] & ~last[from];
        if (to != 0) {
            rim->edge[rim->count++] = from | lowest_bit(to) << 8;
            several |= to & (to - 1);
        }
    }
    return several == 0;
}

// Finds the rim around faces that go. Is it one loop, with no vertex inside? That of few faces is one, if it
// has as many edges as such a loop.
FN int depth_find_rim(const depth_polytope *t, uint64_t faces, depth_edges *rim)
{
    int count = __builtin_popcountll(faces), simple = 1;
    if (count <= DEPTH_FEW) {
        depth_rim_of_few(t, faces, rim);
    } else {
        simple = depth_rim_of_many(t, faces, rim);
    }
    return simple && rim->count == count + 2;
}

// Puts faces from vertex `v` at p to a rim in the place of those inside: two more than before.
FN void depth_replace(depth_polytope *t, int faces, uint64_t inside, const depth_edges *rim, int v,
                      const float p[3])
{
    real3 to = make_real3(real_splat(&p[0]), real_splat(&p[1]), real_splat(&p[2]));
    void *const lists[5] = {t->normal[0], t->normal[1], t->normal[2], t->distance, t->corner};
    int first = remove_numbers(lists, 5, faces, inside);
    int left = rim->count;
    const int32_t *edge = rim->edge;
    do {
        int count = left < DEPTH_AT_ONCE ? left : DEPTH_AT_ONCE;
        depth_set_faces(t, first, edge, I(v), to, count);
        first += count;
        edge += count;
        left -= count;
    } while (left > 0);
    set_point_32(&t->vertex, v, p);
}
#endif
