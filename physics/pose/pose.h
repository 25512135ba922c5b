// One world of a model at one pose, in double: the lane program's positions (lanes/positions.h), for the
// constants that follow from the rest pose. An includer defines ORR_SCALAR and ORR_SCALAR_DOUBLE first.
#pragma once

#if !defined(ORR_SCALAR_DOUBLE)
#error "pose.h needs the lane program in double: define ORR_SCALAR and ORR_SCALAR_DOUBLE"
#endif

#include "physics/lanes/positions.h"

#include <stdbool.h>

typedef struct orr_pose {
    lane_model m; // points into the model, which must outlive the pose
    lane_data d;  // LANE_STATE and LANE_POSITION of lanes/state.h; the rest is NULL
    orr_plan *plan;
    double *numbers;
} orr_pose;

orr_result orr_pose_create(const orr_model *model, orr_pose *pose, orr_error *error);
void orr_pose_destroy(orr_pose *pose);
// What follows when the joints are at qpos (nq) and mocap bodies where the model has them. Returns false when
// the inertia matrix is singular: then its factors are of no use.
bool orr_pose_set(orr_pose *pose, const double *qpos);
// x = M^-1 x, nv numbers.
void orr_pose_solve(const orr_pose *pose, double *x);
// The same of the dofs first ... end - 1, which are those of whole kinematic trees.
void orr_pose_solve_trees(const orr_pose *pose, double *x, int first, int end);

// ---- the rest pose (pose/inverse_weights.c)

// At qpos0; computes the model's body_subtreemass before. ORR_CODE_MODEL_FILE: the inertia matrix is
// singular; `name`: of the model, for that message.
orr_result orr_pose_at_rest(orr_model *model, const char *name, orr_pose *pose, orr_error *error);
// J M^-1 J^T of one row J (nv) at the pose; scratch: nv.
double orr_pose_inverse_weight(const orr_pose *pose, const double *row, double *scratch);
// What orr_inverse_weights_find writes, for a pose at rest.
orr_result orr_pose_inverse_weights(const orr_pose *pose, orr_model *model, orr_error *error);
