// The model as lane programs read it (the names of model.h, numbers as uniform_real), and the arrays of a
// block of worlds.
#pragma once

#include "physics/lanes/lane.h"
#include "physics/model/spatial_formula.h"
#include "physics/plan/plan.h"

#define LANE_TYPE_double uniform_real
#define LANE_TYPE_float float
#define LANE_TYPE_int32_t int32_t
#define LANE_TYPE_uint8_t uint8_t
#define LANE_TYPE_char char

typedef struct lane_model {
#define LANE_MODEL_SIZE(name) int32_t name;
    ORR_MODEL_SIZES(LANE_MODEL_SIZE)
#undef LANE_MODEL_SIZE
    orr_model_option opt;
    orr_model_statistic stat;
#define LANE_MODEL_ARRAY(type, name, rows, columns) const LANE_TYPE_##type *name;
    ORR_MODEL_ARRAYS(LANE_MODEL_ARRAY)
#undef LANE_MODEL_ARRAY
    const orr_plan *plan;
} lane_model;

// The arrays of a world, as MuJoCo's mjData. X(name, count): `count` reals per world, written with sizes of
// the model m. Vectors have 3 numbers, quaternions 4 (w first), matrices 9 (row-major), spatial vectors 6
// (rotational part first; in world axes about the centre of mass of the body's kinematic tree). Units: m, kg,
// s, rad, N, N m.

// A block of the factor of H: ORR_BLOCK_DOFS rows of LANE_BLOCK_ROW, which fill the registers of one world
// alone.
#if defined(ORR_SCALAR)
enum { LANE_BLOCK_ROW = 8 };
#else
enum { LANE_BLOCK_ROW = ORR_BLOCK_DOFS };
#endif
enum { LANE_BLOCK_SIZE = ORR_BLOCK_DOFS * LANE_BLOCK_ROW };

// Rows of H where it is dense.
FN int dense_rows(const lane_model *m)
{
    return m->plan->block_count > 0 ? 0 : m->nv;
}

// A row of H is stored in whole strips: one world alone has vectors of columns.
#if defined(ORR_SCALAR)
enum { LANE_STRIP = 8 };
#else
enum { LANE_STRIP = 1 };
#endif

// Where row k of H, or of its factor, begins.
FN int row_start(int k)
{
    unsigned strip = (unsigned)k / LANE_STRIP, in_strip = (unsigned)k % LANE_STRIP;
    return (int)(LANE_STRIP * (strip + 1) * (LANE_STRIP * strip + 2 * in_strip) / 2);
}

// Words of a row of the pattern of H: a bit for each column.
// Are the forces of worlds with few rows solved for (solver/dual.h)?
#if defined(__CUDACC__) || defined(ORR_SCALAR_DOUBLE)
#define LANE_DUAL 0
#else
#define LANE_DUAL 1
#endif

// Has one world the vectors to itself in the solver, too (solver/alone.h)?
#if defined(ORR_SCALAR) && !defined(ORR_SCALAR_DOUBLE)
#define LANE_ALONE 1
#else
#define LANE_ALONE 0
#endif

FN int dual_room(const lane_model *m)
{
    return LANE_DUAL && m->plan->dual_rows > 0 ? ORR_DUAL_ROWS * (m->nv + 2 * ORR_DUAL_ROWS) : 0;
}

FN int pattern_words(const lane_model *m)
{
    return (m->nv + 31) / 32;
}

// Vertices of soft bodies, where elements of some touch.
FN int touched_points(const lane_model *m)
{
    return m->plan->pair_count > m->plan->point_pairs ? m->nflexpoint : 0;
}

// Can trees fall asleep (lanes/sleep.h)?
FN int can_sleep(const lane_model *m)
{
    return m->ntree > 0 && (m->opt.enableflags & ORR_ENABLE_SLEEP) != 0;
}

// Are there contacts of what is about to touch (collision/speculative.h)?
FN int speculates(const lane_model *m)
{
    return m->opt.enableflags & ORR_ENABLE_SPECULATIVE && !(m->opt.disableflags & ORR_DISABLE_NATIVECCD);
}

FN int sleep_trees(const lane_model *m)
{
    return can_sleep(m) ? m->ntree : 0;
}

// Lists of what a step computes (lanes/rest.h): X(name, how many there are of the kind). On the CPU.
#define LANE_LISTS(X)                                                                                        \
    X(body, m->nbody)                                                                                        \
    X(dof, m->nv)                                                                                            \
    X(joint, m->njnt)                                                                                        \
    X(geom, m->ngeom)                                                                                        \
    X(site, m->nsite)                                                                                        \
    X(tree, m->ntree)                                                                                        \
    X(block, m->plan->block_count)

FN int list_room(const lane_model *m, int count)
{
    return LANE_THREADS == 1 && can_sleep(m) ? count : 0;
}

FN int sleep_coordinates(const lane_model *m)
{
    return can_sleep(m) ? m->nq : 0;
}

enum {
    LANE_BOXES = 32,         // that are compared with one at once: a word of the plan's pair_bits
    LANE_COMPARISONS = 4096, // of a step; beyond them a tree is faster
};

// Are near pairs found by the boxes around geoms (collision/near.h)? Of one world alone also where there are
// few: its boxes are small, those around the geoms of many worlds often overlap where no world's geoms do.
FN int boxes_searched(const lane_model *m)
{
    const orr_plan *plan = m->plan;
    int many = plan->pairs_mixed || plan->geom_pairs > ORR_PAIRS_TESTED;
    return plan->boxed_count > 0 && (many || (LANE_STRIDE == 1 && !can_sleep(m) && !speculates(m)));
}

// Are the boxes of what moves compared with all? On the CPU, where pairs are listed.
FN int boxes_compared(const lane_model *m)
{
    const orr_plan *plan = m->plan;
    return LANE_THREADS == 1 && boxes_searched(m) && !plan->pairs_mixed && !can_sleep(m) &&
           (int64_t)plan->boxed_moving * plan->pair_words <= LANE_COMPARISONS;
}

FN int box_sides(const lane_model *m)
{
    return boxes_compared(m) ? 6 * (LANE_BOXES + 1) * m->plan->pair_words : 0;
}

// The state: what lasts from step to step. Set by the caller, unless a comment names the function that
// computes it.
#define LANE_STATE(X)                                                                                        \
    X(time, 1)                    /* s; advanced by pass_time */                                             \
    X(time_rest, 1)               /* what time lacks of the sum of steps by rounding; follows it */          \
    X(qpos, m->nq)                /* generalised position; advanced by integrate_position */                 \
    X(qvel, m->nv)                /* generalised velocity; advanced by advance, step_rk4 */                  \
    X(act, m->na)                 /* activations; advanced by advance_activations */                         \
    X(ctrl, m->nu)                /* controls */                                                             \
    X(qfrc_applied, m->nv)        /* generalised force from outside */                                       \
    X(xfrc_applied, 6 * m->nbody) /* nbody x 6: force [N], torque [N m] at the centre of mass of a body */   \
    X(eq_active, m->neq)          /* is an equality constraint active? 1 or 0 */                             \
    X(mocap_pos, 3 * m->nmocap)   /* nmocap x 3 */                                                           \
    X(mocap_quat, 4 * m->nmocap)  /* nmocap x 4 */                                                           \
    X(plastic, m->nplastic)       /* where springs that yield rest; advanced by yield_springs */             \
    X(delayed, m->ndelayed)       /* of steps before, lanes/delay.h; by remember_controls, delay_sensors */  \
    /* where trees can sleep: lanes/sleep.h; by begin_sleep, fall_asleep */                                  \
    X(tree_asleep, sleep_trees(m))                                                                           \
    X(asleep_qpos, sleep_coordinates(m)) /* qpos when they fell asleep */                                    \
    X(qacc, m->nv)           /* generalised acceleration; computed by solve_constraints, noslip */           \
    X(qacc_warmstart, m->nv) /* of the last step; copied by step, step_rk4 */                                \
    /* what is known of directions that separate pairs of geoms, changes no result; by not_apart */          \
    X(apart, 3 * m->plan->apart_count)                                                                       \
    X(varied, m->plan->varied_count) /* parameters that differ between worlds (model/vary.h); must be last */

// Position stage: computed from qpos by positions() and factorise_inertia().
#define LANE_POSITION(X)                                                                                     \
    /* computed by kinematics, in the world's frame */                                                       \
    X(xpos, 3 * m->nbody)                    /* nbody x 3: origins of the bodies' frames */                  \
    X(xquat, 4 * m->nbody)                   /* nbody x 4: their rotations */                                \
    X(xmat, 9 * m->nbody)                    /* nbody x 9: the same as matrices */                           \
    X(xipos, 3 * m->nbody)                   /* nbody x 3: centres of mass of the bodies */                  \
    X(ximat, 9 * m->nbody)                   /* nbody x 9: their principal axes of inertia */                \
    X(xanchor, 3 * m->njnt)                  /* njnt x 3: anchors of the joints */                           \
    X(xaxis, 3 * m->njnt)                    /* njnt x 3: axes of the joints */                              \
    X(geom_xpos, 3 * m->ngeom)               /* ngeom x 3 */                                                 \
    X(geom_xmat, 9 * m->ngeom)               /* ngeom x 9 */                                                 \
    X(flexpoint_xpos, 3 * touched_points(m)) /* nflexpoint x 3, where elements touch; by collide_elements */ \
    X(site_xpos, 3 * m->nsite)               /* nsite x 3 */                                                 \
    X(site_xmat, 9 * m->nsite)               /* nsite x 9 */                                                 \
    /* computed by centres_of_mass */                                                                        \
    X(subtree_com, 3 * m->nbody) /* nbody x 3: centre of mass of a body and all below it */                  \
    X(cinert, 10 * m->nbody)     /* nbody x 10: struct inertia of a body */                                  \
    X(cdof, 6 * m->nv)           /* nv x 6: motion of a dof of velocity 1 */                                 \
    /* computed by tendons */                                                                                \
    X(ten_length, m->ntendon)         /* m, or of a fixed tendon the unit of its joints */                   \
    X(ten_J, m->plan->tendon_entries) /* d length / d dof, for the dofs of each tendon's chain */            \
    /* computed by transmissions; those that act on contacts by body_transmissions */                        \
    X(actuator_length, m->nout)                                                                              \
    X(actuator_moment, m->plan->output_entries) /* d length / d dof, for the dofs of its chain */            \
    /* computed by inertia_matrix; armature of tendons is added by tendon_inertia */                         \
    X(crb, 10 * m->nbody) /* nbody x 10: composite inertia of a body and all below it */                     \
    X(qM, m->nM)          /* the inertia matrix M, its lower triangle by rows (M_rowadr) */                  \
    /* computed by factorise_inertia: M = L^T D L */                                                         \
    X(qLD, m->nM)       /* L below the diagonal, D on it */                                                  \
    X(column, m->nv)    /* a column of L, while factorise computes */                                        \
    X(qLDiagInv, m->nv) /* 1 / D */

// Velocity stage: computed from qpos and qvel by velocities().
#define LANE_VELOCITY(X)                                                                                     \
    /* computed by body_velocities */                                                                        \
    X(cvel, 6 * m->nbody)  /* nbody x 6: velocity of a body */                                               \
    X(cdof_dot, 6 * m->nv) /* nv x 6: time derivative of cdof */                                             \
    /* computed by tendon_velocities, actuator_velocities */                                                 \
    X(ten_velocity, m->ntendon)                                                                              \
    X(actuator_velocity, m->nout)

// Forces: computed by smooth_forces().
#define LANE_FORCE(X)                                                                                        \
    /* computed by newton_euler */                                                                           \
    X(cacc, 6 * m->nbody)      /* nbody x 6: acceleration of a body minus gravity; with qacc by reactions */ \
    X(cfrc_body, 6 * m->nbody) /* nbody x 6: force that a body and all below it need for their motion */     \
    /* computed by actuation */                                                                              \
    X(actuator_force, m->nout)                                                                               \
    X(act_dot, m->na) /* d act / dt */                                                                       \
    /* generalised forces: computed by gravity_compensation, passive_forces, bias_forces, actuation */       \
    X(qfrc_gravcomp, m->nv)                                                                                  \
    X(qfrc_passive, m->nv) /* springs, dampers, the medium, adhesion, gravity compensation */                \
    X(qfrc_bias, m->nv)    /* gravity, Coriolis and centripetal: on the other side of the equation */        \
    X(qfrc_actuator, m->nv)                                                                                  \
    /* computed by smooth_forces: all forces but those of constraints */                                     \
    X(qfrc_smooth, m->nv)

// The constraint solver and the integrators: computed by accelerations() and step().
#define LANE_SOLVER(X)                                                                                       \
    /* computed by accelerations */                                                                          \
    X(qacc_smooth, m->nv)     /* M^-1 qfrc_smooth */                                                         \
    X(qfrc_constraint, m->nv) /* J^T efc_force; computed by constraint_force */                              \
    /* computed by solve_constraints and its parts */                                                        \
    X(Ma, m->nv)                   /* M qacc */                                                              \
    X(Mv, m->nv)                   /* M search; in newton_direction: D of H = L^T D L */                     \
    X(gradient, m->nv)             /* of the cost */                                                         \
    X(search, m->nv)               /* direction of the line search */                                        \
    X(H, row_start(dense_rows(m))) /* lower triangle by rows: M + J^T weight J, then its factor L */         \
    X(work, 8 * m->nv)             /* of whatever function is at work */                                     \
    X(dual, dual_room(m))          /* of solve_dual */                                                       \
    /* computed by block_direction: the blocks of U, H = U^T U; 1 / the diagonal of U */                     \
    X(factor, LANE_BLOCK_SIZE * m->plan->block_capacity)                                                     \
    X(block_inverse, ORR_BLOCK_DOFS * m->plan->block_count)                                                  \
    X(block_x, LANE_BLOCK_ROW * m->plan->block_count)                                                        \
    X(block_y, LANE_BLOCK_ROW * m->plan->block_count)                                                        \
    X(block_residual, LANE_BLOCK_ROW * m->plan->block_count)                                                 \
    X(block_along, LANE_BLOCK_ROW * m->plan->block_count)                                                    \
    X(block_found, LANE_BLOCK_ROW * m->plan->block_count)                                                    \
    X(spill, LANE_PARTS *LANE_BLOCK_ROW * m->plan->block_count) /* of products, by blocks_times */           \
    /* computed by implicit_matrix, factorised by implicit_solve: M - h dF/dv */                             \
    X(qH, m->nM)                        /* lower triangle */                                                 \
    X(qU, m->plan->unsymmetric * m->nM) /* upper triangle, mirrored */                                       \
    X(qHDiagInv, m->nv)                 /* inverse of the diagonal of its factor */                          \
    /* computed by newton_euler_slope: derivatives of cvel, cacc, cfrc_body by the velocity of one dof */    \
    X(cvel_slope, m->plan->unsymmetric * 6 * m->nbody)                                                       \
    X(cacc_slope, m->plan->unsymmetric * 6 * m->nbody)                                                       \
    X(cfrc_slope, m->plan->unsymmetric * 6 * m->nbody)                                                       \
    /* computed by add_fluid_shape: motion of a shape by one dof, derivative of its drag */                  \
    X(fluid_motion, m->plan->fluid_slopes * 6 * m->nv)                                                       \
    X(fluid_slope, m->plan->fluid_slopes * 6 * m->nv)                                                        \
    /* computed by begin_sleep, fall_asleep: lanes/sleep.h */                                                \
    X(tree_awake, sleep_trees(m))                                                                            \
    X(tree_mark, sleep_trees(m))                                                                             \
    X(tree_island, sleep_trees(m))                                                                           \
    /* computed by step_rk4: qpos, qvel, act at the start; sums of the stages; the stage's rates */          \
    X(rk4, m->plan->rk4_copies *(m->nq + 4 * m->nv + 2 * m->na))

// The reals of a world's state.
LANE_FN int state_reals(const lane_model *m)
{
    int count = 0;
#define COUNT(name, n) count += (n);
    LANE_STATE(COUNT)
#undef COUNT
    return count;
}

// Is a step that lacks room for contacts undone here? On CUDA whole calls are (simulation/world_device.c).
FN int room_grows(const lane_model *m)
{
    return LANE_THREADS == 1 && m->plan->room_grows;
}

// Not on CUDA, which does not read after steps.
FN int kept_state(const lane_model *m)
{
    return LANE_THREADS == 1 && (can_sleep(m) || room_grows(m)) ? state_reals(m) : 0;
}

// Not needed by a step: computed by evaluate() and inverse() when it is read.
#define LANE_OUTPUT(X)                                                                                       \
    X(energy, 2) /* potential, kinetic [J]; computed by energies */                                          \
    /* computed by cameras */                                                                                \
    X(cam_xpos, 3 * m->ncam) /* ncam x 3 */                                                                  \
    X(cam_xmat, 9 * m->ncam) /* ncam x 9 */                                                                  \
    /* computed by subtree_velocities */                                                                     \
    X(subtree_linvel, 3 * m->nbody) /* nbody x 3: velocity of subtree_com */                                 \
    X(subtree_angmom, 3 * m->nbody) /* nbody x 3: angular momentum about subtree_com */                      \
    /* computed by reactions */                                                                              \
    X(cfrc_ext, 6 * m->nbody) /* nbody x 6: force on a body from contacts, equalities, xfrc_applied */       \
    X(cfrc_int, 6 * m->nbody) /* nbody x 6: force on a body from its parent */                               \
    X(sensordata, m->nsensordata)                                                                            \
    X(qfrc_inverse, m->nv)   /* force that would give qacc; computed by inverse */                           \
    X(before, kept_state(m)) /* the state before the last step; computed by keep_state */

// Contacts and the rows of the constraint Jacobian: computed by constraint_rows(). Sizes are capacities;
// d->contact_count and d->row_count are in use. They come last: when they grow, what can be read stays where
// it is.
#define LANE_CONSTRAINT(X)                                                                                   \
    /* computed by add_contact */                                                                            \
    X(contact_dist, m->plan->contact_capacity)      /* m, negative: depth; LANE_HUGE: not in this world */   \
    X(contact_pos, 3 * m->plan->contact_capacity)   /* x 3: midpoint between the surfaces */                 \
    X(contact_frame, 9 * m->plan->contact_capacity) /* x 9, rows: normal, two tangents */                    \
    /* 1: it acts at any distance, before it touches (collision/speculative.h); 0 without the flag */        \
    X(contact_speculative, speculates(m) ? m->plan->contact_capacity : 0)                                    \
    /* computed by set_contact_rows */                                                                       \
    /* m/s^2 along the normal that end the step in a grid no deeper than may be, or 0 (grid_stop.h) */       \
    X(contact_stops, m->ngrid > 0 ? m->plan->contact_capacity : 0)                                           \
    X(contact_friction, ORR_PAIR_WEIGHT * m->plan->contact_capacity) /* the pair's numbers (plan.h) */       \
    /* computed by equality_rows, friction_loss_rows, limit_rows, set_contact_rows */                        \
    X(efc_J, m->plan->jacobian_capacity) /* entries of the rows' dofs (lane_row) */                          \
    /* computed by set_row_of_group; efc_D is corrected by correct_diagonals */                              \
    X(efc_pos, m->plan->row_capacity)      /* position minus margin */                                       \
    X(efc_D, m->plan->row_capacity)        /* 1 / regulariser; 0: the row does not exist in this world */    \
    X(efc_diagonal, m->plan->row_capacity) /* estimate of the diagonal of J M^-1 J^T, for the regulariser */ \
    X(efc_aref, m->plan->row_capacity)     /* reference acceleration */                                      \
    /* computed by prepare_slides */                                                                         \
    X(row_response, m->plan->response_capacity) /* entries of the directions' dofs (lane_response) */        \
    /* computed by constraint_residual, move_rows, constraint_forces */                                      \
    X(efc_jar, m->plan->row_capacity)       /* J qacc - aref */                                              \
    X(efc_magnitude, m->plan->row_capacity) /* |J| |qacc|; computed by slope_rounding */                     \
    X(efc_jv, m->plan->row_capacity)        /* J search; before that, J qvel */                              \
    X(efc_force, m->plan->row_capacity)     /* force of the row */                                           \
    X(efc_weight, m->plan->row_capacity)    /* second derivative of the row's cost; of a cone row_forces */

// All that a step computes: one set per thread, reused for block after block, so that it stays in cache.
#define LANE_SCRATCH(X)                                                                                      \
    LANE_POSITION(X)                                                                                         \
    LANE_VELOCITY(X)                                                                                         \
    LANE_FORCE(X)                                                                                            \
    LANE_SOLVER(X)                                                                                           \
    LANE_OUTPUT(X)                                                                                           \
    LANE_CONSTRAINT(X)

// Kinds of rows of the constraint Jacobian; the same for all lanes.
typedef enum lane_row_type {
    LANE_ROW_EQUALITY,
    LANE_ROW_FRICTION,   // friction loss of a dof or tendon
    LANE_ROW_UNILATERAL, // limit, frictionless contact or edge of a friction pyramid: force >= 0
    LANE_ROW_CONE,       // of a contact with an elliptic friction cone
    LANE_ROW_ELASTIC     // of a cell of a soft body: as an equality, but its regulariser is no estimate
} lane_row_type;

// Rows come in groups: those of a contact, or a single row. The Jacobian of a group has `basis` rows: those
// of the group, or of a friction pyramid the normal n and the tangents t, of which its edges are n + f t and
// n - f t. All members but `type`, `index` and `frictionloss` belong to the group and are set in its first
// row.
typedef struct lane_row {
    uint8_t type;       // lane_row_type
    uint8_t dim;        // rows of the group
    uint8_t basis;      // rows of the group's Jacobian
    uint8_t index;      // of the row in its group
    int32_t count;      // entries of a row of the group's Jacobian
    const int32_t *dof; // their dofs, descending
    int32_t J;          // first of them in efc_J: basis x count
    int32_t limit;      // of a limit: 1 + joint, or 1 + njnt + tendon; else 0
    double frictionloss;
    reals friction; // of a contact: its contact_friction
} lane_row;

// The responses of the directions of a group that can slip (lanes/solver/noslip.h), `count` entries of each.
typedef struct lane_response {
    const int32_t *dof;   // of the entries, ascending
    int32_t count, first; // first: in row_response, of the first direction
} lane_response;

typedef struct lane_contact {
    int32_t pair, row; // row: its first one; -1: within the gap, without rows
} lane_contact;

// Box around a geom along the world's axes, in all lanes [m].
typedef struct lane_extent {
    float low[3], high[3];
    int32_t geom, weld; // weld: of its body; geoms of one weld never meet
} lane_extent;

// A node of a tree over boxes: the extents first ... first + count - 1, all inside its own box.
typedef struct lane_box_node {
    float low[3], high[3];
    int32_t first, count;
    int32_t end; // the node behind its subtree
} lane_box_node;

// What is known of a block of worlds where trees sleep, from step to step; on the CPU from call to call, as
// long as the same thread steps the same block, and nothing else is computed between.
typedef struct lane_kept {
    int32_t listed; // 1: the lists of lanes/rest.h are made; how many are in each
#define LANE_LISTED(name, count) int32_t name##_count;
    LANE_LISTS(LANE_LISTED)
#undef LANE_LISTED
    int32_t placed; // lane_data.placed, fixed_nodes
    int32_t fixed_nodes;
    int32_t boxes_sorted; // 1: the boxes of geoms are divided into those of what moves and of what rests,
    int32_t boxes_moving; // of so many geoms, in box_list; the others have a tree of so many nodes
    int32_t rest_nodes;
    int32_t cleared; // 1: accelerations of what rests are 0
} lane_kept;

// The threads that step a world together (lanes/team.h), as one of them sees them.
#if defined(__CUDACC__)
typedef struct lane_team {
    int member; // number of this thread, from 0
    int size;   // threads that divide work; 1 in the leader between team_single_begin and team_single_end
    int member_count; // threads of the team
    uint32_t lanes;   // of the warp, one bit each
} lane_team;
#endif

// A part of the near pairs that threads divide (collision/mixed.h), or of the boxes among which they are
// found (collision/near.h), of which what is said of contacts is true of near pairs.
enum { LANE_PAIRS_OF_PART = 32 };
typedef struct lane_part {
    int32_t worker;                  // who has found its contacts
    int32_t first_contact, contacts; // where they are among those of the worker, and how many
    int32_t first_met, met;          // the same of the pairs in contact
    int32_t to_contact, to_met;      // where they are among all
    int32_t missed;
} lane_part;

// Groups of rows that move the same dofs (solver/ties.h): the first; the next tie's follow.
typedef struct lane_tie {
    int32_t group;
    int32_t count, blocks; // of dofs
    int32_t block[2];      // the first two, -1: there is none
} lane_tie;

// A group of one world alone that acts on one or two free bodies (solver/run_rows.h): what products with its
// rows need of them, so that they do not read these.
typedef struct lane_runs {
    int32_t J;                // as that of its rows
    int32_t dof[2];           // the first of each run, which descends
    uint8_t count;            // entries of a row of its Jacobian; 0: it is none
    uint8_t type, dim, basis; // as those of its rows
    real friction[5];         // of a friction pyramid
} lane_runs;

// What a group of rows touches of a part of an island: entries of its Jacobian.
typedef struct lane_touch {
    int32_t group, row, first, end;
    int32_t again; // 1: others before touch it, too
} lane_touch;

// The blocks of H that a group of rows adds to whose Jacobian has all dofs of one block, or of two: of each
// the one on the diagonal, and the one that couples them.
typedef struct lane_couple {
    int32_t place[2]; // of the blocks, ascending
    int32_t between;  // the number of the block that couples them; -1: one only, or no room for it
    uint8_t blocks;   // 0: the Jacobian has others
    uint8_t first[2]; // entry of each block in a row of the Jacobian
    uint8_t begins;   // 1: no group before adds to `between`, which need not be cleared
} lane_couple;

// A part of a large island (solver/parts.h): where it begins; where it ends the next one does.
enum { LANE_PARTS = 8 };
typedef struct lane_island_part {
    int32_t group, row, dof, block, touch; // block: how many the parts before have
    int32_t place_first, place_end;        // of its blocks
    int32_t spill;                         // in `spill`: numbers for places of other parts
    real sum[3];                           // what its functions leave
} lane_island_part;

FN int touch_room(const lane_model *m)
{
    return m->plan->block_count > 0 ? 2 * m->plan->row_capacity : 0;
}

// How the solver has done on some islands.
typedef struct lane_outcome {
    int32_t iterations;
    mask inaccurate;
} lane_outcome;

struct orr_program_threads;

typedef struct lane_data {
#if defined(__CUDACC__)
    lane_team team;
#else
    const struct orr_program_threads *threads; // NULL: one thread steps the block
#endif
#define LANE_ARRAY(name, count) reals name;
    LANE_STATE(LANE_ARRAY)
    LANE_SCRATCH(LANE_ARRAY)
#undef LANE_ARRAY
    lane_row *row;
    lane_contact *contact;
    ints group; // first row of each group
    int32_t row_count, group_count, J_count, contact_count;
    int32_t contacts_missed, near_missed; // in this step: left out, without room for them
    int32_t contacts_needed;              // the most that a step so far has needed
    orr_plan_room *wanted;                // 1: what the steps of a call lack, on the CPU
    int32_t asleep;                       // LANE_NONE_ASLEEP ... of lanes/rest.h
    int32_t placed;                       // 1: xpos and the like are known of what sleeps, from a step before
    lane_kept *kept;
#define LANE_LIST(name, count) int32_t *name##_list;
    LANE_LISTS(LANE_LIST)
#undef LANE_LIST
    int32_t *tree_moves;   // of each tree: 1, 0: it sleeps in all lanes
    int32_t *tree_touches; // the same by tree_awake
    int32_t *box_list;     // numbers in plan->boxed_geom
    int32_t iterations;    // the most that the solver has needed
    mask inaccurate;       // in this step: lanes whose solver has not converged, or whose M lost a pivot
    real inaccurate_steps; // how many steps so far
    double stage_time;     // s: how long after the start of the step a stage of RK4 is
    real restarts;         // how often autoreset has returned the world to its start, so far
    lane_extent *extent;   // plan->boxed_count
    // of boxes_compared: of each 32 geoms low x, y, z, then high ones; then of the boxes around 32 together
    float *box_side;
    lane_box_node *box_node; // of the trees over geoms that move, that rest and that cannot move
    int32_t fixed_nodes;     // nodes of the last; 0: it is not built yet
    // where pairs are mixed (plan->pairs_mixed): near geoms, a < b, in the order of the tree of boxes; counts
    // for sorting; the pairs in contact, and the dofs of each: plan->pair_dofs apart
    int32_t *near_geoms, *near_first; // plan->near_capacity x 2, ngeom + 1
    int32_t near_count;
    orr_pair *met;
    int32_t *met_dof;
    uint8_t *met_part;
    lane_part *part;        // plan->near_capacity / LANE_PAIRS_OF_PART, rounded up
    int32_t rows_later;     // 1: contacts do not become rows when they are added
    int32_t *tree_rank;     // ntree: where kinematic trees are in the order of the tree of boxes
    int32_t *contact_order; // 2 contact_capacity; by order_contacts
    uint32_t *near_pair;    // one bit per pair: near in any lane
    ints fill;              // nv x nv: columns of the rows of H that are not zero, ascending
    ints fill_count;        // nv
    ints below;             // nv x nv: rows below the diagonal that are not zero in a column of H, descending
    ints below_count;
    ints filled;        // nv x pattern_words: a bit for each entry of H that is not zero
    const int32_t *dof; // the dofs that are solved: all, or those of an island; ascending
    int32_t dof_count;
    // islands (lanes/solver/islands.h); plan->block_count where no size is given
    int32_t *block_island; // number of a block's island, -1: it has no rows
    // + 1: where the rows, dofs, groups and ties of each end
    int32_t *island_row, *island_dof, *island_group, *island_tie;
    int32_t *dof_sorted;  // nv: dofs by island
    lane_row *row_sorted; // plan->row_capacity: another array of rows
    int32_t *row_place;   // plan->row_capacity: places of rows among the sorted ones; then groups by island
    lane_tie *tie, *tie_sorted; // plan->row_capacity; of an island its groups are numbered from 0
    int32_t tie_count;
    lane_runs *runs;    // of each group of one world alone; plan->row_capacity
    int32_t runs_known; // 1: they are found
    int32_t island_count;
    lane_outcome *outcome; // 1, of each thread
    // blocks of an island (lanes/solver/block_direction.h)
    int32_t *block_order, *block_at;       // blocks in the order of elimination; the place of each
    int32_t *edge_first, *edge_end, *edge; // the blocks that H couples a block with; 2 plan->block_capacity
    int32_t *fill_first,
        *fill_place; // of each place: its blocks of U (+ 1), their columns (plan->block_capacity)
    int32_t *block_mark, *block_scratch, *block_sibling;
    int32_t order_count;
    int32_t edges_of_trees; // 1: there was no room for edges between trees
    lane_couple *couple;    // of each group; plan->row_capacity
    int32_t couples_begin;  // 1: some group begins each block between trees
    // parts of a large island, for threads (lanes/solver/parts.h); of a world on CUDA row_first is 0
    int32_t row_first, group_first;     // of the part
    int32_t parts;                      // into which run_on_parts divides; 1: none, or this is one
    int32_t part_number, island_parts;  // this part, and of how many; 0, 1: the island is not divided
    int32_t place_first, place_end;     // of the part's blocks; of the island 0, order_count
    int32_t touched_first, touched_end; // of the part, in `touch`
    lane_island_part *island_part;      // LANE_PARTS + 1
    int32_t *tree_part;                 // of the island's trees
    int32_t *island_dofs;               // `dof`, to be sorted
    lane_touch *touch;                  // touch_room
    int32_t unilateral_first; // from this row on all are LANE_ROW_UNILATERAL, and regarded in vectors
    real gain_enough;         // of the cost, for another iteration; computed by solve_rows
    int32_t trees_only;       // 1: the factor leaves out what couples trees
    // 1: H has blocks for that, of each place (+ 1) with later ones (plan->block_capacity)
    int32_t between_known;
    int32_t *between_first, *between_place;
    int32_t *between_spill; // of those that another part has, where its numbers are in `spill`
    int32_t *spill_place;   // of which places the numbers in `spill` are; plan->block_capacity
    // which blocks of H are not what the rows make of it now: of each place, and of those between places
    int32_t weights_moved;                // 1: efc_jv has the efc_weight for which H was added up
    int32_t blocks_kept;                  // 1: blocks that are not stale are right
    uint8_t *block_stale, *between_stale; // plan->block_capacity
    const int32_t **coupled;              // dofs of the rows that add entries to M's pattern in `fill`
    ints coupled_length;                  // entries of each
    int32_t coupled_count;                // -1: `fill` is not computed yet
    lane_response *response;              // of noslip: plan->response_rows, by the first row of each group
    int32_t *response_dof;                // plan->response_dofs
    uint32_t *response_mark;              // pattern_words
} lane_data;
