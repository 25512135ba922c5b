// Parameters that can differ between worlds (domain randomisation), and what follows from them.
#pragma once

#include "physics/model/model.h"

// Arrays of the model. X(NAME, name, numbers per world), with sizes of the model m
#define ORR_VARY_ARRAYS(X)                                                                                   \
    X(BODY_MASS, body_mass, m->nbody) /* inertias are not changed with it */                                 \
    X(BODY_INERTIA, body_inertia, 3 * m->nbody)                                                              \
    X(GEOM_FRICTION, geom_friction, 3 * m->ngeom) /* declared pairs are not affected */                      \
    X(GEOM_SIZE, geom_size, 3 * m->ngeom) /* for collisions; inertias are not changed; not of meshes */      \
    X(DOF_DAMPING, dof_damping, m->nv)                                                                       \
    X(DOF_ARMATURE, dof_armature, m->nv)                                                                     \
    X(ACTUATOR_GAINPRM, actuator_gainprm, ORR_NGAIN * m->nactuator)                                          \
    X(ACTUATOR_BIASPRM, actuator_biasprm, ORR_NBIAS * m->nactuator)

#define ORR_VARY_OTHERS(X)                                                                                   \
    X(GRAVITY, gravity, 3)                                                                                   \
    X(START_QPOS, start_qpos, m->nq) /* where a reset puts the world */                                      \
    X(START_QVEL, start_qvel, m->nv)

// Computed from those above, as by MuJoCo's mj_setConst.
#define ORR_VARY_DERIVED(X)                                                                                  \
    X(BODY_SUBTREEMASS, body_subtreemass, m->nbody)                                                          \
    X(BODY_INVWEIGHT0, body_invweight0, 2 * m->nbody)                                                        \
    X(DOF_INVWEIGHT0, dof_invweight0, m->nv)                                                                 \
    X(TENDON_INVWEIGHT0, tendon_invweight0, m->ntendon)                                                      \
    X(ACTUATOR_ACC0, actuator_acc0, m->nout) /* peak forces of muscles depend on it */                       \
    X(GEOM_RBOUND, geom_rbound, m->ngeom)

typedef enum orr_vary {
#define ORR_VARY_ENUM(NAME, name, count) ORR_VARY_##NAME,
    ORR_VARY_ARRAYS(ORR_VARY_ENUM) ORR_VARY_OTHERS(ORR_VARY_ENUM) // what can be set
    ORR_VARY_DERIVED(ORR_VARY_ENUM)
#undef ORR_VARY_ENUM
        ORR_VARY_PAIR, // numbers of pairs of geoms (plan.h)
    ORR_VARY_COUNT
} orr_vary;
