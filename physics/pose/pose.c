#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/pose/pose.h"

#include "engine/core/memory.h"
#include "physics/lanes/memory.h"

static size_t count_numbers(const lane_model *m)
{
    size_t count = 0;
#define COUNT(name, n) count += (size_t)(n);
    LANE_STATE(COUNT)
    LANE_POSITION(COUNT)
#undef COUNT
    return count;
}

static void bind_numbers(orr_pose *pose)
{
    const lane_model *m = &pose->m;
    double *next = pose->numbers;
#define BIND(name, n)                                                                                        \
    pose->d.name = next;                                                                                     \
    next += (n);
    LANE_STATE(BIND)
    LANE_POSITION(BIND)
#undef BIND
}

static void set_mocap_bodies(orr_pose *pose)
{
    const lane_model *m = &pose->m;
    for (int body = 0; body < m->nbody; body++) {
        int id = m->body_mocapid[body];
        if (id >= 0) {
            store3(pose->d.mocap_pos, id, uniform3(m->body_pos, body));
            store_quaternion(pose->d.mocap_quat, id, uniform4(m->body_quat, body));
        }
    }
}

orr_result orr_pose_create(const orr_model *model, orr_pose *pose, orr_error *error)
{
    memset(pose, 0, sizeof *pose);
    ORR_TRY(orr_plan_create_positions(model, &pose->plan, error));
    fill_model(pose->plan, &pose->m, NULL);
    size_t count = count_numbers(&pose->m);
    pose->numbers = orr_alloc_zero(count, sizeof *pose->numbers);
    if (!pose->numbers) {
        orr_pose_destroy(pose);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu bytes for a pose",
                        count * sizeof *pose->numbers);
    }
    bind_numbers(pose);
    set_mocap_bodies(pose);
    return ORR_OK;
}

void orr_pose_destroy(orr_pose *pose)
{
    orr_plan_destroy(pose->plan);
    orr_free(pose->numbers);
    memset(pose, 0, sizeof *pose);
}

bool orr_pose_set(orr_pose *pose, const double *qpos)
{
    const lane_model *m = &pose->m;
    bool regular = true;
    memcpy(pose->d.qpos, qpos, (size_t)m->nq * sizeof *qpos);
    positions(m, &pose->d);
    factorise_inertia(m, &pose->d);
    for (int i = 0; i < m->nv; i++) {
        double inverse = pose->d.qLDiagInv[i];
        regular = regular && inverse > 0.0 && inverse < 1e15;
    }
    return regular;
}

void orr_pose_solve(const orr_pose *pose, double *x)
{
    orr_pose_solve_trees(pose, x, 0, pose->m.nv);
}

void orr_pose_solve_trees(const orr_pose *pose, double *x, int first, int end)
{
    solve_trees(&pose->m, &pose->d, pose->d.qLD, pose->d.qLDiagInv, x, first, end);
}
