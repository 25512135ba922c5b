// Physics: a compiled model and any number of worlds in which it moves.
//
// Worlds advance in blocks of 16, 8 or 4 (one per SIMD lane), a whole step inside cache; blocks go to threads.
// A world's numbers do not depend on the number of worlds or threads, nor on what happens in other worlds; but one
// world alone is worked out by a program of its own, which rounds differently.
// On CUDA 32 worlds are a block; its bits are the same in every run on a card, but not the CPU's.
// Semantics are MuJoCo's: the same qpos, qvel, act and ctrl give the same qacc.
#pragma once

#include "engine/core/jobs.h"
#include "engine/device/cuda.h"
#include "physics/lanes/quantity.h"
#include "physics/model/vary.h"

typedef struct orr_physics orr_physics;

typedef struct orr_physics_desc {
    int32_t worlds;        // 0: one
    bool double_precision; // the same program in double, one world per lane of width one
    // Most contacts of a step, of the worlds of a block together. 0: as many as the model can have, but not more than
    // 2048 or 16 per geom, whichever is more
    int32_t contact_capacity;
    orr_cuda *cuda; // the worlds live on this device; NULL: on the CPU. It must outlive the physics
    int32_t
        team; // threads of it that step a world together: 1, 2, 4 or 8, to the same bits; 0: as many as pay
} orr_physics_desc;

// The model must outlive the physics; jobs must too. Worlds begin at qpos0, at rest.
// ORR_CODE_FEATURE_ABSENT names what the model needs and the dynamics do not have.
orr_result orr_physics_create(const orr_physics_desc *desc, const orr_model *model, orr_jobs *jobs,
                              orr_physics **physics, orr_error *error);
void orr_physics_destroy(orr_physics *physics); // NULL is allowed

void orr_physics_step(orr_physics *physics, int steps);
void orr_physics_forward(orr_physics *physics); // qacc of the state as it is; nothing moves
void orr_physics_reset(orr_physics *physics, int world);

int orr_physics_size(const orr_physics *physics, orr_physics_quantity quantity); // numbers per world
// One world's part of the state: `size` numbers.
void orr_physics_get(const orr_physics *physics, orr_physics_quantity quantity, int world, double *values);
void orr_physics_set(orr_physics *physics, orr_physics_quantity quantity, int world, const double *values);
// Any quantity of one world; derived ones are computed from the state as it is, which does not change.
void orr_physics_read(orr_physics *physics, orr_physics_quantity quantity, int world, double *values);

// Quantities of all worlds, over the threads: [world][the numbers of one quantity after the other]. What is derived is
// computed once for all of the quantities. At most ORR_PHYSICS_QUANTITY_COUNT of them.
void orr_physics_read_all(orr_physics *physics, const orr_physics_quantity *quantities, int count,
                          double *values);
void orr_physics_read_all_f32(orr_physics *physics, const orr_physics_quantity *quantities, int count,
                              float *values);
// A part of the state of all worlds: [world][size].
void orr_physics_set_all(orr_physics *physics, orr_physics_quantity quantity, const double *values);
void orr_physics_set_all_f32(orr_physics *physics, orr_physics_quantity quantity, const float *values);

// How a point moves with the dofs, in the world's axes: its velocity is jacp qvel, the angular velocity of its body
// jacr qvel; both 3 x nv, row-major. kind: ORR_OBJECT_BODY (its centre of mass), _XBODY, _GEOM or _SITE.
// point: nullable, in the world; another place that moves with the object than its own (mj_jac).
void orr_physics_jacobian(orr_physics *physics, int world, orr_object kind, int id, const double *point,
                          double *jacp, double *jacr);

// Contacts of a world's state as it is, with forces for it. Returns how many there are; writes at most capacity.
int orr_physics_contacts(orr_physics *physics, int world, orr_physics_contact *contacts, int capacity);

// Domain randomisation: gives `count` worlds from `world` on their own values of a quantity; values: count x
// orr_physics_vary_size(). What follows from it (inverse weights, friction of pairs, bounding spheres) follows, as
// MuJoCo's mj_setConst has it. Other worlds keep the model's values, to the bit. The first time that a quantity
// differs, all worlds get room for it. Fails on values that are not finite or below what they can be, on an inertia
// matrix that is singular, on masses and inertias in a fluid, and on sizes of meshes, height fields and ellipsoids in a fluid; worlds
// before the one it names have their new values then.
orr_result orr_physics_vary(orr_physics *physics, orr_vary what, int world, int count, const double *values,
                            orr_error *error);
int orr_physics_vary_size(const orr_physics *physics, orr_vary what); // numbers per world

// On CUDA calls that give the host nothing return at once, and what they began runs in the device's stream; calls that read
// wait for it. So a failure of the device can show later than it happened.
// ORR_OK, or what a CUDA device said when it failed: since then worlds stand still and what is read of them is old, for each
// block of worlds as it was when the host read or set it last. Waits for the steps under way.
orr_result orr_physics_check(const orr_physics *physics, orr_error *error);
// The same, as far as it is known without waiting.
orr_result orr_physics_status(const orr_physics *physics, orr_error *error);
orr_cuda *orr_physics_cuda(const orr_physics *physics); // the device that worlds live on; NULL: the CPU

// A quantity of all worlds where it is on their device, without a copy: number i of world w stands at
// ((char *)numbers + w / 32 * block_bytes)[i][w % 32], a float, or a double.
typedef struct orr_physics_view {
    void *numbers; // memory of the device
    size_t block_bytes;
    int32_t count; // numbers per world
} orr_physics_view;

// What is derived is worked out, and stays until the next call with this physics. A part of the state stays there until
// worlds begin to differ in a new quantity (orr_physics_vary); others may write it before the next call, and ask again
// before they write again.
// Fails with ORR_CODE_ARGUMENT for worlds on the CPU, with _CAPACITY for derived quantities of more worlds than move at once.
orr_result orr_physics_device_view(orr_physics *physics, orr_physics_quantity quantity,
                                   orr_physics_view *view, orr_error *error);

// Memory of a CUDA device for where the bodies of one world are. Zero is an empty one.
typedef struct orr_physics_bodies {
    orr_cuda *cuda;
    void *memory;
    const float *position; // on the device: count x 3 [m]
    const float *rotation; // on the device: count x 4, unit quaternions
    int32_t count;
} orr_physics_bodies;

// Puts there where the bodies of a world on that device are now, in the device's stream and without waiting: for what follows
// in the stream, as drawing does. Of a world that has diverged: where the bodies were of the world that was asked for last.
// DEVICE_MEMORY when the device has no room for them, which does the worlds no harm.
orr_result orr_physics_device_bodies(orr_physics *physics, int world, orr_physics_bodies *bodies,
                                     orr_error *error);
void orr_physics_bodies_release(orr_physics_bodies *bodies); // before its device goes

// Has the world's state become infinite, not a number, or larger than 1e10? It stays so until it is reset or
// set; other worlds are not touched.
bool orr_physics_diverged(const orr_physics *physics, int world);

// The most contacts that a step of any world's block has needed so far. Above the capacity contacts were left out, the
// last in the order of pairs.
int orr_physics_contacts_needed(const orr_physics *physics);
int orr_physics_contact_capacity(const orr_physics *physics);

int orr_physics_worlds(const orr_physics *physics);
int orr_physics_lanes(const orr_physics *physics);
int orr_physics_team(const orr_physics *physics); // threads that step a world together; 1 on the CPU
size_t orr_physics_world_bytes(const orr_physics *physics);   // of state per world
size_t orr_physics_scratch_bytes(const orr_physics *physics); // per thread, at most; on CUDA per 32 worlds
