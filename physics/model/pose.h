// A model at one pose, in the world: what the compiler needs to derive constants. Double precision, one world; the
// dynamics have their own, for many.
#pragma once

#include "physics/model/build.h"

typedef struct model_pose {
    const orr_model *m;
    double *xpos, *xquat, *xmat; // nbody x 3, 4, 9
    double *xipos;               // nbody x 3
    double *xanchor, *xaxis;     // njnt x 3
    double *com;                 // nbody x 3: centre of mass of the subtree
    double *cdof;                // nv x 6: turning and moving of the point com[root] by a unit of velocity
    double *inertia;             // nM: the inertia matrix
    double *factor, *diagonal;   // nM, nv: its L^T D L
    double *bare;                // nv: the diagonal of the inertia matrix without armature of tendons
    double *jacobian[2];         // 6 x nv each: scratch
    double *whole;               // nbody x 13: scratch
    double *ten_length, *ten_J;  // ntendon, ntendon x nv
    orr_arena arena;
} model_pose;

orr_result pose_create(model_pose *pose, const orr_model *m, orr_error *error);
void pose_destroy(model_pose *pose);
// Where everything is when the coordinates are qpos.
void pose_kinematics(model_pose *pose, const double *qpos);
// The inertia matrix and its factors. Needs kinematics and tendons. False: it is singular.
bool pose_inertia(model_pose *pose);
// x = M^-1 x
void pose_solve(const model_pose *pose, double *x);
// Rows 0 .. 2: velocity of a point of a body, 3 .. 5: the body's angular velocity; 6 x nv.
void pose_jacobian(const model_pose *pose, int body, const double point[3], double *jacobian);
// The last dof that moves a body, or -1; those before it on its way up are row M_colind of that dof.
int pose_last_dof(const orr_model *m, int body);
// An actuator's length, and how it changes with each dof (`moment`, nv). Needs kinematics and tendons.
double pose_transmission(const model_pose *pose, int id, const double *qpos, double *moment);
// Lengths of all tendons and how they change with each dof. Needs kinematics.
void pose_tendons(model_pose *pose, const double *qpos);
