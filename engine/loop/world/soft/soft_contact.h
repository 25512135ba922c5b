// What soft bodies touch of a physics: its geoms as planes at their vertices, its bodies as masses that they
// push.
#pragma once

#include "engine/loop/world/geom_distance.h"
#include "engine/loop/world/world_physics.h"
#include "engine/scene/soft/soft_layer.h"
#include "physics/soft/collide/collide.h"
#include "physics/soft/contact_rows.h"

// Shared by all copies.
typedef struct orr_soft_contact {
    double *numbers; // of all copies, as orr_physics_read_all writes them
    int number_capacity;
    double *applied; // forces on bodies as a program has set them, of all copies
    double *pushed;  // scratch: the same with those of soft bodies
    int applied_capacity, pushed_capacity;
} orr_soft_contact;

// A geom that vertices may touch.
typedef struct orr_soft_near {
    double rotation[9], position[3]; // in the scene
    int geom, body;                  // body: of the touched ones; -1: fixed
    double turn[9];                  // how the body turns in the step
    // of a flex against it: how they push, 1/kg of the geom's body, and that body's motion
    orr_soft_law law;
    double invweight, velocity[3], spin[3], centre[3];
} orr_soft_near;

// What the bodies of one copy touch: scratch of a thread.
typedef struct orr_soft_found {
    orr_soft_touch *touch;
    int touch_count, touch_capacity;
    orr_soft_tie *tie; // tie_count
    int tie_count, tie_capacity;
    orr_soft_pair *pair; // pair_count: points of triangles against rigid bodies
    int pair_count, pair_capacity;
    orr_soft_body *body;       // body_count: those touched or tied
    int *body_of;              // body_count: their numbers in the model
    orr_soft_linkage *linkage; // linkage_count: those of touched bodies
    int *tree;                 // of each: its number in the model
    int linkage_count, linkage_capacity, tree_capacity;
    double *joints; // joint_count: inertia, speeds and pushes of linkages, and Jacobians of bodies
    int joint_count, joint_capacity;
    int body_count, body_capacity, body_of_capacity;
    orr_soft_near *near; // near_count
    int near_count, near_capacity;
    double *clear; // m, of the vertices of the last body: how far geoms other than planes are, at least
    orr_geom_distance
        *seen; // seen_geoms x vertices: of the first geoms that are near; distance NAN: not seen
    int seen_geoms, vertices;
    struct orr_soft_block *block; // blocks: what a block of vertices or triangles has found
    int blocks, clear_capacity, seen_capacity, block_capacity;
    double time_step; // s, of the step
    int stands_for;   // orr_soft_set_conditions, of flexes
} orr_soft_found;

// What a thread has found of a block.
typedef struct orr_soft_block {
    int touches;         // in its part of `touch`
    orr_soft_pair *pair; // pair_count
    int pair_count, pair_capacity;
    orr_result result;
    orr_error error;
} orr_soft_block;

// The physics in the scene's frame: x -> rotation x + position.
typedef struct orr_soft_frame {
    double rotation[9], position[3];
} orr_soft_frame;

// What a thread needs to step bodies.
typedef struct orr_soft_worker {
    orr_soft_found found;
    orr_soft_coupling *coupling;
    orr_soft_collisions *collisions;
    // of the bodies that step
    orr_soft **soft;
    orr_soft_collider *collider;
    int *body;     // their numbers in the world
    double *point; // where a body holds vertices
    int point_capacity;
    double *now; // their velocities, and then the positions of one of them after a step
    int now_capacity, soft_capacity, collider_capacity, body_capacity;
    orr_result result;
    orr_error error;
} orr_soft_worker;

void orr_soft_contact_clear(orr_soft_contact *contact);
// Numbers of one copy as they were read.
const double *orr_soft_contact_numbers(const orr_soft_contact *contact, const orr_physics *physics, int world,
                                       orr_physics_quantity quantity);
// soft_linkage.c: what holds a body of the model that other joints move too; writes its number among those
// found, its Jacobian, and the velocities that follow from its speed.
orr_result orr_soft_contact_link(const orr_soft_contact *contact, const orr_world_physics *physics, int index,
                                 const orr_soft_frame *frame, int body, double time_step,
                                 orr_soft_found *found, orr_soft_body *out, orr_error *error);
orr_result orr_soft_worker_open(orr_soft_worker *worker, orr_error *error);
void orr_soft_worker_clear(orr_soft_worker *worker);
// Reads where everything is, in all copies.
orr_result orr_soft_contact_read(orr_soft_contact *contact, orr_world_physics *physics, orr_error *error);
// Finds what vertices of soft body number `soft` touch in one copy, beside what was found of others, in the
// same order for any number of threads. jobs: NULL: the calling thread searches alone.
orr_result orr_soft_contact_find(const orr_soft_contact *contact, const orr_world_physics *physics, int index,
                                 const orr_soft_frame *frame, int soft, const orr_soft_collider *collider,
                                 const orr_soft_layer *layer, orr_jobs *jobs, orr_soft_found *found,
                                 orr_error *error);
// Adds points of its triangles that are nearer to a geom than their corners are, after the call above.
orr_result orr_soft_contact_press(const orr_model *model, const orr_soft_collider *collider, int soft,
                                  double time_step, orr_jobs *jobs, orr_soft_found *found, orr_error *error);
// Grows found->block to `blocks`, and runs work for each, shared by the threads of jobs (NULL: none).
orr_result orr_soft_found_share(orr_soft_found *found, int blocks, orr_jobs *jobs, orr_job_fn work,
                                void *context, orr_error *error);
// flex_touch.c: may a flex touch the geom? Then what is near is completed.
bool orr_flex_touch_meets(const orr_model *model, const orr_flex_contact *contact, int geom);
void orr_flex_touch_near(const orr_soft_contact *contact, const orr_world_physics *physics, int index,
                         const orr_soft_frame *frame, const orr_flex_contact *flex,
                         const orr_soft_found *found, orr_soft_near *near);
// The touches of a vertex of a flex with planes; returns how many.
int orr_flex_touch_vertex(const orr_model *model, const orr_soft_collider *collider, int soft, int vertex,
                          const orr_soft_found *found, orr_soft_touch touch[ORR_SOFT_TOUCHES_MAX]);
// Adds what the elements of a flex touch but planes, after orr_soft_contact_find.
orr_result orr_flex_touch_elements(const orr_model *model, const orr_soft_collider *collider,
                                   const orr_flex_contact *flex, int soft, orr_soft_found *found,
                                   orr_error *error);
// Adds ties of soft body number `soft` to what was found: vertices (numbers, `count` of them) that a body of
// the physics holds at points (x 3) of its frame. position: of the soft body's vertices.
orr_result orr_soft_contact_tie(const orr_soft_contact *contact, const orr_world_physics *physics, int index,
                                const orr_soft_frame *frame, int soft, int body, const int32_t *vertex,
                                const double *point, int count, const double *position, double time_step,
                                orr_soft_found *found, orr_error *error);
// The forces on touched bodies become those that the physics holds for the copy. found NULL: there are none.
void orr_soft_contact_push(const orr_soft_found *found, const orr_world_physics *physics, int index,
                           const orr_soft_frame *frame);
// Where all geoms are in one copy: ngeom x 12, positions and rotations in the frame of the physics.
void orr_soft_contact_geoms(const orr_soft_contact *contact, const orr_world_physics *physics, int index,
                            double *geoms);
// Whether a geom that is near a soft body (of `vertices` x 3 positions in the scene) is not where `geoms`
// says, within a tolerance (m, and of the axes).
bool orr_soft_contact_disturbed(const orr_soft_contact *contact, const orr_world_physics *physics, int index,
                                const orr_soft_frame *frame, const double *position, int vertices,
                                const double *geoms, double tolerance);
// Steps the physics with the forces that it holds beside those of the program, which are afterwards as they
// were, but 0 in copies that have returned to their start; `restarted` has a 1 for each of those.
orr_result orr_soft_contact_step(orr_soft_contact *contact, orr_world_physics *physics, const uint8_t *chosen,
                                 uint8_t *restarted, orr_error *error);
