// Bodies that joints hold together, as soft bodies push them: in the freedoms of their joints, with the
// inertia that these have. A link is as hard to move as all that hangs on it, not as itself.
#include "engine/core/memory.h"
#include "engine/loop/world/soft/soft_contact.h"
#include "engine/maths/rotation.h"

#include <string.h>

static const char what[] = "contacts of soft bodies";

// A tree of bodies in one copy.
typedef struct joint_tree {
    const orr_soft_contact *contact;
    const orr_world_physics *physics;
    const orr_soft_frame *frame;
    int world, first, count; // its freedoms in the model
} joint_tree;

static const double *numbers_of(const joint_tree *t, orr_physics_quantity quantity)
{
    return orr_soft_contact_numbers(t->contact, t->physics->physics, t->world, quantity);
}

static joint_tree find_tree(const orr_soft_contact *c, const orr_world_physics *p, int world,
                            const orr_soft_frame *frame, int body)
{
    const orr_model *m = p->model;
    joint_tree t = {.contact = c, .physics = p, .frame = frame, .world = world};
    while (m->dof_treeid[t.first] != m->body_treeid[body]) {
        t.first++;
    }
    while (t.first + t.count < m->nv && m->dof_treeid[t.first + t.count] == m->body_treeid[body]) {
        t.count++;
    }
    return t;
}

// The last freedom that moves the body.
static int last_of(const orr_model *m, int body)
{
    const int weld = m->body_weldid[body];
    return m->body_dofadr[weld] + m->body_dofnum[weld] - 1;
}

// Velocity of the body's centre, and its spin, by the freedoms: 6 x count, in the scene's frame.
static void find_jacobian(const joint_tree *t, int body, double *jacobian)
{
    const orr_model *m = t->physics->model;
    const double *centre = numbers_of(t, ORR_PHYSICS_XIPOS) + (ptrdiff_t)body * 3;
    const double *about = numbers_of(t, ORR_PHYSICS_SUBTREE_COM) + (ptrdiff_t)m->body_rootid[body] * 3;
    const double arm[3] = {centre[0] - about[0], centre[1] - about[1], centre[2] - about[2]};
    memset(jacobian, 0, 6 * (size_t)t->count * sizeof *jacobian);
    for (int dof = last_of(m, body); dof >= 0; dof = m->dof_parentid[dof]) {
        const double *spatial = numbers_of(t, ORR_PHYSICS_CDOF) + (ptrdiff_t)dof * 6;
        double velocity[3], turned[3];
        vec3_cross(spatial, arm, velocity);
        for (int k = 0; k < 3; k++) {
            velocity[k] += spatial[3 + k];
        }
        mat_apply(t->frame->rotation, velocity, velocity);
        mat_apply(t->frame->rotation, spatial, turned);
        for (int k = 0; k < 3; k++) {
            jacobian[k * t->count + dof - t->first] = velocity[k];
            jacobian[(3 + k) * t->count + dof - t->first] = turned[k];
        }
    }
}

// What its joints feel of the forces that the physics holds for the copy.
static void find_push(const joint_tree *t, double *jacobian, double *push)
{
    const orr_model *m = t->physics->model;
    const int size = orr_physics_size(t->physics->physics, ORR_PHYSICS_XFRC_APPLIED);
    const double *forces = t->physics->pushed + (ptrdiff_t)t->world * size;
    memset(push, 0, (size_t)t->count * sizeof *push);
    for (int body = 1; body < m->nbody; body++) {
        const double *force = forces + (ptrdiff_t)body * 6;
        if (m->body_treeid[body] != m->dof_treeid[t->first] ||
            (vec3_dot(force, force) == 0.0 && vec3_dot(force + 3, force + 3) == 0.0)) {
            continue;
        }
        double f[6];
        mat_apply(t->frame->rotation, force, f);
        mat_apply(t->frame->rotation, force + 3, f + 3);
        find_jacobian(t, body, jacobian);
        for (int i = 0; i < 6 * t->count; i++) {
            push[i % t->count] += jacobian[i] * f[i / t->count];
        }
    }
}

// The inertia of the freedoms, with what their damping adds in a step that is implicit in it.
static void find_inertia(const joint_tree *t, double time_step, double *inertia)
{
    const orr_model *m = t->physics->model;
    const double *rows = numbers_of(t, ORR_PHYSICS_QM);
    memset(inertia, 0, (size_t)t->count * (size_t)t->count * sizeof *inertia);
    for (int r = 0; r < t->count; r++) {
        const int adr = m->M_rowadr[t->first + r];
        for (int k = adr; k < adr + m->M_rownnz[t->first + r]; k++) {
            const int c = m->M_colind[k] - t->first;
            inertia[r * t->count + c] = inertia[c * t->count + r] = rows[k];
        }
        inertia[r * t->count + r] += time_step * m->dof_damping[t->first + r];
    }
}

// Room for so many numbers of joints; writes where they begin.
static orr_result take(orr_soft_found *f, int count, int *at, orr_error *error)
{
    ORR_GROW(f->joints, f->joint_capacity, f->joint_count + count, what, error);
    *at = f->joint_count;
    f->joint_count += count;
    return ORR_OK;
}

static orr_result add_linkage(const joint_tree *t, double time_step, orr_soft_found *f, orr_error *error)
{
    const double *qvel = numbers_of(t, ORR_PHYSICS_QVEL) + t->first;
    const double *qacc = numbers_of(t, ORR_PHYSICS_QACC) + t->first;
    const int n = t->count;
    int at = 0, scratch = 0;
    ORR_TRY(take(f, n * n + 2 * n, &at, error));
    ORR_TRY(take(f, 6 * n, &scratch, error));
    const orr_soft_linkage linkage = {n, at, at + n * n, at + n * n + n};
    find_inertia(t, time_step, f->joints + linkage.inertia);
    find_push(t, f->joints + scratch, f->joints + linkage.push);
    for (int i = 0; i < n; i++) {
        f->joints[linkage.speed + i] = qvel[i] + time_step * qacc[i];
    }
    ORR_GROW(f->linkage, f->linkage_capacity, f->linkage_count + 1, what, error);
    ORR_GROW(f->tree, f->tree_capacity, f->linkage_count + 1, what, error);
    f->tree[f->linkage_count] = t->physics->model->dof_treeid[t->first];
    f->linkage[f->linkage_count++] = linkage;
    return ORR_OK;
}

orr_result orr_soft_contact_link(const orr_soft_contact *c, const orr_world_physics *p, int index,
                                 const orr_soft_frame *frame, int body, double time_step, orr_soft_found *f,
                                 orr_soft_body *out, orr_error *error)
{
    const joint_tree tree = find_tree(c, p, index, frame, body);
    out->linked = true;
    out->linkage = 0;
    while (out->linkage < f->linkage_count && f->tree[out->linkage] != p->model->body_treeid[body]) {
        out->linkage++;
    }
    if (out->linkage == f->linkage_count) {
        ORR_TRY(add_linkage(&tree, time_step, f, error));
    }
    ORR_TRY(take(f, 6 * tree.count, &out->jacobian, error));
    double *jacobian = f->joints + out->jacobian;
    const double *speed = f->joints + f->linkage[out->linkage].speed;
    find_jacobian(&tree, body, jacobian);
    for (int k = 0; k < 6; k++) {
        double *to = k < 3 ? &out->velocity[k] : &out->spin[k - 3];
        for (int i = 0; i < tree.count; i++) {
            *to += jacobian[k * tree.count + i] * speed[i];
        }
    }
    return ORR_OK;
}
