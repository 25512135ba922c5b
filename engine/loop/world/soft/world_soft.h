// Soft layers in a world: their states, stepped with the physics of scale 1, which they touch.
//
// A step of theirs lasts as many steps of the physics as come nearest to orr_softs_time_step, or to a part
// of it where flexes of MJCF are fast, at least one; the physics feels its mean forces until the next.
#pragma once

#include "engine/loop/world/soft/soft_contact.h"
#include "engine/loop/world/world_robots.h"
#include "engine/scene/soft/soft_layer.h"

static const double orr_softs_time_step = 1.0 / 240.0; // s

// A vertex that the viewer's hand holds.
typedef struct orr_soft_held {
    int32_t vertex;
    double offset[3]; // where it is to be, from the hand
} orr_soft_held;

typedef struct orr_soft_hand { // soft_pull.h
    int count, capacity;       // count 0: it holds nothing
    orr_soft_held *held;
    double mass; // of what it holds
    double to[3];
} orr_soft_hand;

// One soft layer in all copies of a world. Positions are in the scene's frame.
typedef struct orr_world_soft {
    orr_pool_id id;
    orr_soft_layer *layer;
    orr_soft **copies;  // world count
    double *position;   // world count x vertices x 3; the last that were finite
    double *still;      // vertices x 3: zeros, the velocities at rest
    double *state;      // scratch, vertices x 6
    bool *diverged;     // world count: its numbers were not finite, and it stands still
    orr_soft_hand hand; // in copy 0
} orr_world_soft;

typedef struct orr_world_softs {
    orr_world_soft *bodies; // count, in the order of the layers
    int count, capacity;
    bool left;      // a device, for the CPU: it has failed
    double pending; // [s] time to simulate that is less than a step, where no robot is beside them
    struct orr_soft_contact *contact;
    struct orr_soft_worker *workers; // worker_count: scratch of threads
    int worker_count;
    uint8_t *restarted;           // scratch, world count
    struct orr_soft_sleep *sleep; // world count; NULL before the first step
} orr_world_softs;

// How many numbers the positions of one copy are: vertices x 3.
static inline size_t orr_world_soft_numbers(const orr_world_soft *s)
{
    return 3 * (size_t)s->layer->cage->vertices;
}

orr_result orr_world_softs_create(orr_world_softs **softs, orr_error *error);
void orr_world_softs_destroy(orr_world_softs *softs, int worlds); // NULL is allowed

// Makes them those of the scene as it is now; bodies that stay keep their states.
orr_result orr_world_softs_update(const orr_world *world, orr_error *error);
// The physics that touches them: that of scale 1. NULL: there is none, or it cannot be simulated.
orr_world_physics *orr_world_softs_physics(const orr_world *world);
// Takes the memory of steps, which the first one takes otherwise.
orr_result orr_world_softs_prepare(const orr_world *world, orr_world_physics *physics, orr_error *error);
// Advances all of them in the chosen copies (a byte of each; NULL: all), and steps `physics` (nullable), with
// the forces that it gets from them.
orr_result orr_world_softs_step(orr_world *world, orr_world_physics *physics, const uint8_t *chosen,
                                orr_error *error);
// Sets the state of a body in one copy; NULL: as it is.
void orr_world_soft_set(const orr_world *world, int index, const orr_world_soft *soft, const double *position,
                        const double *velocity);
// To rest where the layer is: one body, or all of a copy.
void orr_world_soft_place(const orr_world *world, int index, const orr_layer_data *layer);
void orr_world_softs_reset(const orr_world *world, int index);
// Moves a body in one copy, by `shift` of the scene.
void orr_world_soft_shift(const orr_world *world, int index, const orr_world_soft *soft,
                          const double shift[3]);
// Its centre of mass and the velocity of that in one copy, in the scene. One call at a time.
void orr_world_soft_centre(const orr_world_soft *soft, int index, double position[3], double velocity[3]);
// Where the physics that touches them is in the scene, in one copy.
orr_soft_frame orr_world_softs_frame(const orr_world *world, int index, const orr_world_physics *physics);
// The body of a layer, after bringing all up to date: ORR_ERROR_ARGUMENT where it is not soft, or there is no
// such copy.
orr_result orr_world_soft_open(const orr_world *world, int index, orr_layer id, const orr_world_soft **soft,
                               orr_error *error);
// From the next step on, the bodies of a copy push anew.
void orr_world_softs_let_go(const orr_world *world, int index);
// The body of a layer after an update; NULL: it is not soft.
const orr_world_soft *orr_world_soft_find(const orr_world *world, const orr_layer_data *layer);
// Points of its cage at rest (vertex: their numbers, NULL: the first `count`), moved by a transform without
// its scale, x 3.
void orr_world_soft_points(const orr_world_soft *soft, const orr_transform *transform, const int32_t *vertex,
                           int count, double *points);
// Positions of its vertices in one copy.
const double *orr_world_soft_positions(const orr_world_soft *soft, int index);
