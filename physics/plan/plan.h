// The plan of a model: what follows from it and is the same for all worlds and steps. Which geoms can collide
// and with which contact parameters, which dofs move what, and how much memory a step can need.
#pragma once

#include "physics/model/vary.h"

// The dofs that move two bodies relative to each other, a tendon or an actuator; descending.
typedef struct orr_chain {
    int32_t first, count; // in plan->chain_dof and plan->chain_part
} orr_chain;

enum { ORR_CHAIN_FIRST = 1, ORR_CHAIN_SECOND = 2 }; // bits of chain_part: which of the bodies the dof moves

// Numbers of a pair, which follow from friction and inverse weights of bodies: offsets and counts.
enum {
    ORR_PAIR_FRICTION = 0, // 5
    ORR_PAIR_MU = 5,       // elliptic cones: regularised friction of the cone,
    ORR_PAIR_CONE = 6,     // 1 / (mu^2 (1 + mu^2))
    ORR_PAIR_WEIGHT = 7,   // 6: inverse weight of the rows; of a pyramid all edges have the first
    ORR_PAIR_NUMBERS = 13
};

// Two geoms that can collide, or a geom and a vertex or an element of a soft body that nodes move; parameters
// are combined by MuJoCo's rules.
typedef struct orr_pair {
    int32_t geom1, geom2; // type of 1 <= type of 2; geom2: -1 where `point` or `element` is what touches
    int32_t point;        // of the model's nflexpoint, -1: none
    int32_t element;      // of the model's nflexelement, -1: none; ORR_PAIR_WEIGHT are of inverse weight 1
    int32_t condim;
    int32_t slots;                // most contacts it can have
    int32_t chain;                // in plan->chain; of a pair that a step has mixed: the number of its dofs
    double margin, includemargin; // m; a contact exists below margin and has a force below includemargin
    double adhesion;              // N: how much it pulls, below margin
    int32_t declared;             // the model's pair, or -1
    double numbers[ORR_PAIR_NUMBERS];
    double friction[5];
    double least_weight[6]; // in float: of the rows, as ORR_PAIR_WEIGHT
    double solref[ORR_NREF], solreffriction[ORR_NREF], solimp[ORR_NIMP];
} orr_pair;

enum {
    ORR_PAIR_CONTACTS = 50, // most contacts of a pair in one world
    ORR_GRID_CONTACTS = 4   // the same with a distance grid
};

// What tree_asleep is of a tree that has just moved: so many steps at rest, and it may fall asleep.
enum { ORR_AWAKE = -11 };

// The rows whose forces are solved for at once (lanes/solver/dual.h).
enum { ORR_DUAL_ROWS = 32 };

enum { ORR_MOST_CELLS = 16, ORR_EXTREME_BLOCK = 8 };

// Of a set of points those that can be the farthest along a direction, and few others. A direction leaves a
// cube around the origin through one of cells x cells squares of a side: the number of a square is ((2 axis +
// 1 on the negative side) cells + row) cells + column, by the coordinates of the next axis and the one after.
typedef struct orr_extremes {
    int32_t cells;
    int32_t *range;     // 6 cells^2 x 2: of each square, its first candidate and the one behind its last
    int32_t *candidate; // numbers of points, ascending in each square
    // the same in blocks of ORR_EXTREME_BLOCK, of which the last of a square repeats its last candidate
    int32_t *block;  // 6 cells^2 + 1: the first block of each square
    int32_t *number; // of each place of the blocks: the point's number
    float *at;       // of each block 3 x ORR_EXTREME_BLOCK: x, y and z
} orr_extremes;

// Triangles of a hull that are less high than this share of its size are slivers: their vertices' rounding in
// float decides where their normals point.
#define ORR_HULL_SLIVER 5e-3

// The flat faces of a mesh's convex hull, and where its vertices are in a direction.
typedef struct orr_hull {
    int32_t face_count;
    const double *normal;              // face_count x 3, outward
    const int32_t *first;              // face_count + 1: first corner of a face in `vertex`
    const int32_t *vertex;             // vertices of the hull, counter-clockwise from outside
    const int32_t *of_first, *of_face; // + 1: the first of a vertex' faces in `of_face`
    // the planes of its triangles, ORR_EXTREME_BLOCK at a time: normals' x, y and z, distances from the
    // origin; those behind the last face have everything inside, those of slivers all vertices. Not on a
    // device
    int32_t plane_blocks;
    const float *plane;
    const int32_t (*triangle)[3]; // their vertices, of the model
    orr_extremes vertices;
} orr_hull;

// A box of the tree around a mesh's triangles, in the order of a search.
typedef struct orr_triangle_node {
    double middle[3], radius; // m: of the sphere around the box
    int32_t end;              // the node behind all that is in the box
    int32_t face;             // of a leaf, counted from the mesh's first; -1: of none
} orr_triangle_node;

enum {
    ORR_BLOCK_DOFS = 6, // most dofs of a block
    ORR_BLOCK_FILL = 64 // room for so many blocks of the factor per block of dofs
};

// Of more pairs of geoms those that are near are searched by bounding boxes (lanes/collision/near.h), in one
// world alone of more than the second.
enum { ORR_PAIRS_TESTED = 512, ORR_PAIRS_TESTED_ALONE = 32 };

// The bodies, joints, dofs and coordinates of a kinematic tree: the first of each, and the one behind the
// last.
typedef struct orr_tree_range {
    int32_t body, body_end, joint, joint_end, dof, dof_end, qpos, qpos_end;
} orr_tree_range;

// Room that a step lacks: for how many contacts, and near pairs, there must be some. 0: there is enough.
typedef struct orr_plan_room {
    int32_t contacts, near;
} orr_plan_room;

typedef struct orr_plan {
    const orr_model *model;
    orr_pair *pair;
    int32_t
        pair_count; // those of geoms, then those with vertices, by vertices, those with elements, by these:
    int32_t geom_pairs;  // how many are of two geoms
    int32_t point_pairs; // how many are of these or with vertices
    int32_t pairs_mixed; // 1: too many to list: only declared ones are in `pair`, a step mixes the others
    int32_t for_device;  // 1: all are listed, and there are no blocks
    uint64_t *excluded, *declared; // pairs of bodies, of geoms: the lower one << 32 | the other; sorted
    orr_chain *chain;              // of pairs, then of equalities, cells, tendons and outputs of actuators
    int32_t chain_count, equality_chain, flexcell_chain, tendon_chain, output_chain;
    int32_t *chain_dof;
    uint8_t *chain_part;
    // of pairs with vertices: for each entry of their chains the share of the vertex that the dof moves, less
    // 1 where it moves the geom; the first entry is chain_dof[point_entry]
    double *point_share;
    int32_t point_entry, point_entries;
    // of pairs with elements: for each entry of their chains the node that the dof moves, of the soft body's;
    // -1: those of chain_part's ORR_CHAIN_SECOND that it moves; the first entry is chain_dof[element_entry]
    int32_t *entry_node;
    int32_t element_entry, element_entries;
    int32_t tendon_entry, tendon_entries; // entries of their chains in chain_dof: the first, their number
    int32_t output_entry, output_entries; // likewise
    int32_t chain_dof_count;
    int32_t *dof_descending; // nv - 1 ... 0
    int32_t *dof_ascending;  // 0 ... nv - 1
    // models with many dofs are solved island by island (lanes/solver/islands.h), with second derivatives in
    // blocks of dofs: neighbours in a tree, whose first block is block_tree. block_count: 0 for other
    // models
    int32_t block_count, block_capacity; // blocks of dofs, of the factor
    int32_t *block_first, *block_tree;   // block_count + 1, block_count
    int32_t *dof_block;                  // nv
    int32_t *last_dof; // nbody: the last dof that moves the body, -1: none; dof_parentid leads to the others
    int32_t *dof_end;  // nv: one past the last of the dofs that the dof moves, which are contiguous
    int32_t *level_body, *level_first; // bodies without the world, by depth in the tree; level_count + 1
    int32_t level_count;
    // room for contacts and what follows from them: as many as a step can need; where that would be too much
    // few at first, and more when a step needs them (orr_plan_reserve)
    int32_t contact_capacity, row_capacity, jacobian_capacity;
    int32_t near_capacity; // where pairs are mixed: room for those that are near
    int32_t contact_limit; // of more contacts than these the last are left out; INT32_MAX: of none
    int32_t room_grows;    // 1: a step can need more room than there is
    // search for near geoms (lanes/collision/near.h); counts are 0 where pairs are few
    int32_t boxed_count, boxed_moving; // those that move are first
    int32_t *boxed_geom;               // all that collide but planes
    uint32_t *boxed_fixed;             // one bit per geom: it is boxed, and cannot move
    int32_t plane_count;
    int32_t *plane_geom;
    int32_t pair_dofs; // most dofs of a pair that a step mixes
    // Geoms of one kind have the same parameters in pairs, which are mixed once, the kind of the lower geom
    // first. 0: pairs are listed, or kinds are too many
    int32_t kind_count;
    uint8_t *geom_kind;  // ngeom
    orr_pair *kind_pair; // kind_count x kind_count, without geoms; slots 0: they cannot collide
    // The undeclared pair of the geoms low < high exists if bit high % 32 of the word low x pair_words +
    // high / 32 of pair_bits is set: pair_before of that word, and one more for each lower bit that is set.
    // 0 words: pairs are not searched
    int32_t pair_words;
    uint32_t *pair_bits;
    int32_t *pair_before;
    uint32_t *always_near; // one bit per pair: those with planes and declared ones
    // with the flag `speculative`, otherwise 0 words: bit k % 32 of the word body x meets_words + k / 32 is
    // set where a geom of the body can collide with geom k
    int32_t meets_words;
    uint32_t *meets;
    orr_hull *hull; // hulls, one per mesh; no faces where the mesh has no hull
    int32_t hulls;
    double *hull_normal;
    float *hull_plane;
    int32_t *hull_first, *hull_vertex, *hull_of_first, *hull_of_face; // memory of the hulls
    int32_t *triangle_first; // nmesh + 1: the first node of a mesh; no nodes: it meets no function
    orr_triangle_node *triangle_node;
    // directions that are kept of pairs whose geoms are searched for planes that separate them
    // (lanes/collision/hull.h); 0: none, or the plan is for a device
    int32_t apart_count;
    int32_t surfaces_move; // 1: some geom has a surface velocity
    int32_t adheres;       // 1: some geom or pair has adhesion
    // most rows of a world whose forces are solved for in place of its accelerations (lanes/solver/dual.h)
    int32_t dual_rows;
    int32_t rk4_copies;
    uint8_t *gyroscopic; // nv: of a free body alone in its tree, which implicitfast treats as implicit does
    int32_t unsymmetric; // 1: the integrator's matrix is not symmetric
    // of noslip, otherwise 0: rows; responses of what can slip, their dofs (lanes/solver/noslip.h)
    int32_t response_rows, response_capacity, response_dofs;
    int32_t fluid_slopes;              // 1: the integrator differentiates forces of the medium
    int32_t varied_at[ORR_VARY_COUNT]; // offset in `varied` of a world; -1: the same in all worlds
    int32_t varied_count;
    // ntree, where the model has the flag sleep, else NULL: tree_asleep at the start (lanes/sleep.h)
    int32_t *tree_start;
    orr_tree_range *tree_range; // the same: what belongs to each
    int32_t autoreset;          // 1: a world that diverges in a step starts again (lanes/restart.h)
    double pivot_loss; // the most that elimination takes from a diagonal entry of M at qpos0: entry / pivot
} orr_plan;

// contact_limit: most contacts of a step, of more the last are left out; 0: all are kept. for_device: as a
// program on a device needs it.
// ORR_CODE_FEATURE_ABSENT: the model needs a feature, which is named, that the dynamics do not have.
orr_result orr_plan_create(const orr_model *model, int contact_limit, bool for_device, orr_plan **plan,
                           orr_error *error);
// More room, for at least so many contacts and near pairs; memory that is as large as the plan says has to be
// taken anew. ORR_CODE_CAPACITY: they are too many to be counted; the plan is as it was.
orr_result orr_plan_reserve(orr_plan *plan, orr_plan_room wanted, orr_error *error);
// Cuts the dofs into blocks; the chains are known.
orr_result orr_plan_blocks(orr_plan *plan, orr_error *error);
// Lists the pairs of geoms that can collide, declared ones first, then in ascending order.
orr_result orr_plan_pairs(orr_plan *plan, orr_error *error);
// Finds the kinds of geoms, and the pairs of two kinds.
orr_result orr_plan_kinds(orr_plan *plan, orr_error *error);
// Fills in a pair of two geoms that meet. declared: the model's, -1: it is mixed, with a as the first geom.
// False: their types cannot collide.
bool orr_pair_fill(const orr_model *model, int a, int b, int declared, orr_pair *pair);
// The inverse weight that turning gives a geom's surface, 1/kg.
double orr_geom_surface_weight(const orr_model *model, int geom);
// The pair of two geoms, without its chain. False: it is declared, or they cannot collide.
bool orr_plan_mix_pair(const orr_plan *plan, int a, int b, orr_pair *pair);
// The dofs that move one of two bodies and not the other, descending, and which body. Returns how many.
int orr_plan_pair_dofs(const orr_plan *plan, int body1, int body2, int32_t *dof, uint8_t *part);
// Finds the flat faces of the hulls.
orr_result orr_plan_hulls(orr_plan *plan, orr_error *error);
// Makes the trees of triangles of meshes that can meet functions.
orr_result orr_plan_triangles(orr_plan *plan, orr_error *error);
// Divides the directions until there are as many squares as points. point: count x 3, count > 0.
orr_result orr_extremes_find(const double *point, int count, orr_extremes *extremes, orr_error *error);
void orr_extremes_destroy(orr_extremes *extremes);
// Finds which dofs move what: chains of pairs (known already), equalities, tendons and actuators, in that
// order.
orr_result orr_plan_chains(orr_plan *plan, orr_error *error);
// A plan for positions() alone: without pairs of geoms, rows and what the integrator needs.
orr_result orr_plan_create_positions(const orr_model *model, orr_plan **plan, orr_error *error);
void orr_plan_destroy(orr_plan *plan);
// The numbers of a pair, for a model that differs from the plan's in friction and weights alone.
void orr_pair_numbers(const orr_model *model, const orr_pair *pair, double numbers[ORR_PAIR_NUMBERS]);
