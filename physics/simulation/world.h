// Worlds: a compiled model and any number of copies of its state, which move. Semantics are MuJoCo's: the
// same qpos, qvel, act and ctrl give the same qacc.
//
// Worlds advance in blocks of 16, 8 or 4 (one per SIMD lane), on CUDA of 32; blocks go to threads. On the CPU
// those that touch alike come to share a block. A world's numbers do not depend on the number of worlds or
// threads, nor on other worlds, with two exceptions. One world alone is computed in scalar float, which
// rounds differently, unless `as_of_many` is set; and in models of many bodies, whose islands are solved
// separately, last bits depend on the other worlds of a block. On CUDA the bits are the same in every run on
// a GPU, but differ from the CPU's.
//
// Calls on one orr_physics must not overlap. On the CPU they return when they are done. On CUDA calls that
// return no numbers are asynchronous, in the device's stream; calls that read wait for it, and a failure of
// the device may be reported later than it happened (orr_physics_check).
#pragma once

#include "engine/core/jobs.h"
#include "engine/device/cuda.h"
#include "physics/lanes/quantity.h"
#include "physics/model/vary.h"

typedef struct orr_physics orr_physics;

typedef struct orr_physics_desc {
    int32_t worlds; // 0: one
    // The lane program in double instead of float. Without it, in double too where the model's inertia matrix
    // is too ill-conditioned for float, unless single_precision says that float is wanted all the same.
    bool double_precision, single_precision;
    bool as_of_many; // one world is computed in a block too, with the bits of one of many: it takes longer
    // Most contacts of a step, of the worlds of a block together, on CUDA of each world. 0: all, for which
    // memory is taken when a step needs it.
    int32_t contact_capacity;
    orr_cuda *cuda; // the device that stores and steps the worlds; NULL: the CPU. It must outlive the physics
    int32_t
        team; // CUDA: threads that step one world, 1, 2, 4 or 8, with the same bits; 0: chosen for the GPU
} orr_physics_desc;

// The model and the jobs must outlive the physics. Worlds start at qpos0, at rest. ORR_CODE_FEATURE_ABSENT:
// the model needs a feature, which the message names, that the dynamics do not have.
orr_result orr_physics_create(const orr_physics_desc *desc, const orr_model *model, orr_jobs *jobs,
                              orr_physics **physics, orr_error *error);
void orr_physics_destroy(orr_physics *physics); // NULL is allowed

void orr_physics_step(orr_physics *physics, int steps);
void orr_physics_forward(orr_physics *physics);          // computes qacc; the state does not move
void orr_physics_reset(orr_physics *physics, int world); // to the start: qpos0 at rest, unless varied
// The same for some worlds, in parallel. mask: a byte of each world, not 0: it takes part. The others keep
// their state, to the bit.
void orr_physics_step_masked(orr_physics *physics, int steps, const uint8_t *mask);
void orr_physics_reset_masked(orr_physics *physics, const uint8_t *mask);

// How many trees are awake at the start although the model says that they sleep (sleep="init"), because they
// touch one that does not. *first: the first of their bodies.
int orr_physics_sleepless(const orr_physics *physics, int *first);

int orr_physics_size(const orr_physics *physics, orr_physics_quantity quantity); // numbers per world
// One world's numbers of a quantity of the state: `size` numbers.
void orr_physics_get(const orr_physics *physics, orr_physics_quantity quantity, int world, double *values);
void orr_physics_set(orr_physics *physics, orr_physics_quantity quantity, int world, const double *values);
// One world's numbers of any quantity; derived ones are computed from the current state, which does not
// change.
void orr_physics_read(orr_physics *physics, orr_physics_quantity quantity, int world, double *values);

// Quantities of all worlds, in parallel: [world][the numbers of one quantity after the other]. What is
// derived is computed once for all quantities. At most ORR_PHYSICS_QUANTITY_COUNT of them.
void orr_physics_read_all(orr_physics *physics, const orr_physics_quantity *quantities, int count,
                          double *values);
// The same for the worlds whose byte of the mask is not 0, into their rows. Not of worlds on a device.
void orr_physics_read_masked(orr_physics *physics, const uint8_t *mask,
                             const orr_physics_quantity *quantities, int count, double *values);
void orr_physics_read_all_f32(orr_physics *physics, const orr_physics_quantity *quantities, int count,
                              float *values);
// A quantity of the state of all worlds: [world][size].
void orr_physics_set_all(orr_physics *physics, orr_physics_quantity quantity, const double *values);
void orr_physics_set_all_f32(orr_physics *physics, orr_physics_quantity quantity, const float *values);
// The same for the worlds whose byte of the mask is not 0; rows of the others are not read.
void orr_physics_set_masked(orr_physics *physics, orr_physics_quantity quantity, const uint8_t *mask,
                            const double *values);

// Steps (1 or more) the worlds whose byte of the mask is not 0 (NULL: all), and reads quantities of them, as
// orr_physics_read_all, into their rows. What is derived is not computed anew: it is as it was when forces
// were computed last, at the start of the last step or, with Runge-Kutta, at its last stage, as MuJoCo leaves
// it after mj_step. Not of worlds on a device; not QFRC_INVERSE.
void orr_physics_step_read(orr_physics *physics, int steps, const uint8_t *mask,
                           const orr_physics_quantity *quantities, int count, double *values);

// The Jacobian of a point of an object, in world axes (MuJoCo's mj_jac): its velocity is jacp qvel, the
// angular velocity of its body jacr qvel; both 3 x nv, row-major. kind: ORR_OBJECT_BODY (the centre of mass),
// _XBODY, _GEOM or _SITE. point: position in the world, instead of the object's own; nullable.
void orr_physics_jacobian(orr_physics *physics, int world, orr_object kind, int id, const double *point,
                          double *jacp, double *jacr);
// The same of the worlds whose byte of the mask is not 0 (NULL: all), in parallel, into their rows. points:
// [world][3], nullable.
void orr_physics_jacobians(orr_physics *physics, const uint8_t *mask, orr_object kind, int id,
                           const double *points, double *jacp, double *jacr);

// Contacts of a world's current state, with their forces. Returns how many there are; writes at most
// capacity.
int orr_physics_contacts(orr_physics *physics, int world, orr_physics_contact *contacts, int capacity);
// The same of the worlds whose byte of the mask is not 0 (NULL: all), in parallel: contacts
// [world][capacity], counts [world].
void orr_physics_contacts_all(orr_physics *physics, const uint8_t *mask, orr_physics_contact *contacts,
                              int capacity, int *counts);

// Domain randomisation: sets a parameter of `count` worlds from `world` on; values: count x
// orr_physics_vary_size(). Constants that depend on it (inverse weights, friction of pairs, bounding spheres)
// are computed again, as by MuJoCo's mj_setConst. Other worlds keep the model's values, to the bit. The first
// time that a parameter varies, the state of all worlds grows. Fails on values that are not finite or out of
// range, on a singular inertia matrix, on masses and inertias in a fluid, and on sizes of meshes, height
// fields and of ellipsoids in a fluid; worlds before the one that the message names have their new values
// then.
orr_result orr_physics_vary(orr_physics *physics, orr_vary what, int world, int count, const double *values,
                            orr_error *error);
int orr_physics_vary_size(const orr_physics *physics, orr_vary what); // numbers per world
// The same of the worlds whose byte of the mask is not 0, in parallel: values [world][size], whose other rows
// are not read. Takes memory the first time that a parameter varies, and no more after that. Fails as above,
// with the message of the first world that is refused; others may have their new values then.
orr_result orr_physics_vary_masked(orr_physics *physics, orr_vary what, const uint8_t *mask,
                                   const double *values, orr_error *error);

// ORR_OK, or the error of a CUDA device that has failed: since then worlds do not move, and reading returns
// what the host read or set last, for each block of worlds. Waits for the steps in progress. On the CPU
// ORR_CODE_CAPACITY or ORR_CODE_OUT_OF_MEMORY when the last call needed room for contacts that could not be
// had: blocks of worlds that needed it are as they were before that step.
orr_result orr_physics_check(const orr_physics *physics, orr_error *error);
// The same as far as it is known without waiting.
orr_result orr_physics_status(const orr_physics *physics, orr_error *error);
orr_cuda *orr_physics_cuda(const orr_physics *physics); // the device of the worlds; NULL: the CPU

// A quantity of all worlds in device memory: number i of world w is a float, or a double, at
// ((char *)numbers + w / 32 * block_bytes)[i][w % 32].
typedef struct orr_physics_view {
    void *numbers; // memory of the device
    size_t block_bytes;
    int32_t count;  // numbers per world
    int32_t device; // CUDA's index
    void *stream;   // cudaStream_t, in which the worlds step
} orr_physics_view;

// Gives access to a quantity without a copy. A derived quantity is computed, and valid until the next call
// with this physics. A quantity of the state is valid until worlds begin to differ in a new parameter
// (orr_physics_vary); others may write it before the next call, and must call this again before they write
// again. ORR_CODE_ARGUMENT: the worlds are on the CPU. ORR_CODE_CAPACITY: a derived quantity of more worlds
// than there is scratch for.
orr_result orr_physics_device_view(orr_physics *physics, orr_physics_quantity quantity,
                                   orr_physics_view *view, orr_error *error);

// The poses of one world's bodies in memory of a CUDA device. Zero: no memory yet.
typedef struct orr_physics_bodies {
    orr_cuda *cuda;
    void *memory;
    const float *position; // on the device: count x 3 [m]
    const float *rotation; // on the device: count x 4, unit quaternions
    int32_t count;
} orr_physics_bodies;

// Writes the current poses of a world's bodies there, in the device's stream, for work that follows in the
// stream (drawing); does not wait. For a world that has diverged: the poses written last for a world that had
// not. ORR_CODE_DEVICE_MEMORY: the device has no memory for them; the worlds are not affected.
orr_result orr_physics_device_bodies(orr_physics *physics, int world, orr_physics_bodies *bodies,
                                     orr_error *error);
void orr_physics_bodies_release(orr_physics_bodies *bodies); // before its device is destroyed

// Has the world's state become infinite, not a number, or larger than 1e10? True until the world is reset or
// set; other worlds are not affected.
bool orr_physics_diverged(const orr_physics *physics, int world);

// MuJoCo's autoreset: worlds whose numbers become infinite, not a number or larger than 1e10 return to their
// start in the step in which that happens, unless the model's flag disables it. At first it is off: such
// worlds stay diverged until they are reset or set.
void orr_physics_set_autoreset(orr_physics *physics, bool on);
// How often that has happened to a world so far.
int orr_physics_restarts(const orr_physics *physics, int world);

// The most contacts that a step of any world's block has needed so far. Above the capacity (that of the desc,
// or for how many there is room so far) contacts were left out, the last in the order of pairs.
int orr_physics_contacts_needed(const orr_physics *physics);
int orr_physics_contact_capacity(const orr_physics *physics);

// How accurately steps were solved so far. A step is inaccurate in a world where the solver of constraints
// stopped at the model's limit of iterations before it had converged, or where rounding has left two digits
// of a pivot of the inertia matrix's factor, or less.
typedef struct orr_physics_accuracy {
    int worlds;     // in which any step was inaccurate
    int64_t steps;  // inaccurate ones, of all worlds
    int iterations; // of the solver: the most that any world's block has needed
} orr_physics_accuracy;

orr_physics_accuracy orr_physics_get_accuracy(const orr_physics *physics);

bool orr_physics_is_double(const orr_physics *physics);
int orr_physics_worlds(const orr_physics *physics);
int orr_physics_lanes(const orr_physics *physics);            // worlds of a block
int orr_physics_team(const orr_physics *physics);             // CUDA: threads that step one world; CPU: 1
size_t orr_physics_world_bytes(const orr_physics *physics);   // of state per world
size_t orr_physics_scratch_bytes(const orr_physics *physics); // per thread; on CUDA per block of 32 worlds
