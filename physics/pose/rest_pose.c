#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/pose/rest_pose.h"

#include "physics/pose/pose.h"

orr_result orr_model_rest_pose(const orr_model *model, double *xpos, double *xquat, orr_error *error)
{
    orr_pose pose;
    ORR_TRY(orr_pose_create(model, &pose, error));
    (void)orr_pose_set(&pose, model->qpos0);
    memcpy(xpos, pose.d.xpos, 3 * (size_t)model->nbody * sizeof *xpos);
    memcpy(xquat, pose.d.xquat, 4 * (size_t)model->nbody * sizeof *xquat);
    orr_pose_destroy(&pose);
    return ORR_OK;
}
