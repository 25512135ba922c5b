// What moves a robot's actuators while a scene is filmed or watched: nothing, sines, random numbers, a file,
// or a policy.
#pragma once

#include "engine/core/trace.h"
#include "engine/maths/rng.h"
#include "engine/orrery.h"
#include "samples/orrery/npy.h"
#include "samples/orrery/policy_drive.h"

typedef enum robot_drive_kind {
    ROBOT_DRIVE_NONE = 0, // controls stay as they are set
    ROBOT_DRIVE_SINE, // a sine for each actuator; the model's numeric "sine" may hold its frequency [Hz], and
                      // then middle, amplitude and phase [degrees] of each
    ROBOT_DRIVE_RANDOM, // uniform in the actuator's range, anew at every time step
    ROBOT_DRIVE_FILE,   // a row per time step, of the first robot or of all
    ROBOT_DRIVE_POLICY  // a policy that has learnt a task, which sees the robot as that task says
} robot_drive_kind;

// The options --ctrl and --policy, of which one at most is given. Both NULL: controls stay as they are set.
typedef struct robot_controls {
    const char *ctrl;   // "sine", "random", or the path of a .npy or .policy file
    const char *policy; // the path of a policy, whatever its ending
} robot_controls;

// Another robot than the first.
typedef struct robot_drive_other {
    orr_layer robot;
    int count, first; // of its controls, in a row
} robot_drive_other;

typedef struct robot_drive {
    robot_drive_kind kind;
    orr_rng rng;
    orr_layer robot;           // the first of the scene; {0}: there is none, and time just passes
    bool robot_absent;         // a viewer has removed it: its controls are not set
    bool bodies;               // without one: other layers have bodies, which move
    double timestep;           // [s]
    int64_t step;              // next
    int count;                 // controls
    double *values;            // count
    double *low, *high;        // count: ranges
    double *sine;              // NULL, or what the model holds
    npy_array file;            // steps x count, or steps x that of all robots
    robot_drive_other *others; // other_count: that the file holds controls of
    int other_count;
    policy_drive policy;
    orr_trace *trace; // nullable: input and step of each time step
} robot_drive;

// scene_path: of the scene's file; nullable without a policy.
orr_result robot_drive_open(const robot_controls *controls, const orr_scene *scene, const char *scene_path,
                            uint64_t seed, robot_drive *drive, orr_error *error);
void robot_drive_close(robot_drive *drive);
// Moves the world on to so many seconds after the start, by whole time steps of the robot.
orr_result robot_drive_advance(robot_drive *drive, orr_world *world, double seconds, orr_error *error);
