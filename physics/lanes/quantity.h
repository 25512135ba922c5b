// What can be read of a world, and written: quantities by name; contacts.
#pragma once

#include <assert.h>
#include <stdint.h>

// Quantities of a world. X(NAME, name): the array of lanes/state.h of that name, with MuJoCo's meaning
#define ORR_PHYSICS_STATE(X)                                                                                 \
    X(TIME, time)                                                                                            \
    X(QPOS, qpos)                                                                                            \
    X(QVEL, qvel)                                                                                            \
    X(ACT, act)                                                                                              \
    X(CTRL, ctrl)                                                                                            \
    X(QFRC_APPLIED, qfrc_applied)                                                                            \
    X(XFRC_APPLIED, xfrc_applied) /* force, then torque, per body */                                         \
    X(EQ_ACTIVE, eq_active)       /* of equality constraints: 1, or 0: not active */                         \
    X(MOCAP_POS, mocap_pos)                                                                                  \
    X(MOCAP_QUAT, mocap_quat)                                                                                \
    X(PLASTIC, plastic) /* where springs that yield rest */                                                  \
    X(DELAYED, delayed) /* controls and sensors of steps before, where they have a delay: lanes/delay.h */   \
    /* of kinematic trees, with the flag sleep (lanes/sleep.h): those that sleep have the lowest */          \
    /* tree of their island, others how far they are from sleep: -11 ... -1 */                               \
    X(TREE_ASLEEP, tree_asleep)                                                                              \
    X(ASLEEP_QPOS, asleep_qpos) /* qpos with which trees fell asleep: they wake where it differs */          \
    X(QACC, qacc)               /* of the start of the last step, or of forward */                           \
    X(QACC_WARMSTART, qacc_warmstart)

// Computed when they are read, from the state as it is.
#define ORR_PHYSICS_DERIVED(X)                                                                               \
    X(XPOS, xpos)                                                                                            \
    X(XQUAT, xquat)                                                                                          \
    X(XMAT, xmat)                                                                                            \
    X(XIPOS, xipos)                                                                                          \
    X(XIMAT, ximat)                                                                                          \
    X(XANCHOR, xanchor)                                                                                      \
    X(XAXIS, xaxis)                                                                                          \
    X(GEOM_XPOS, geom_xpos)                                                                                  \
    X(GEOM_XMAT, geom_xmat)                                                                                  \
    X(SITE_XPOS, site_xpos)                                                                                  \
    X(SITE_XMAT, site_xmat)                                                                                  \
    X(CAM_XPOS, cam_xpos)                                                                                    \
    X(CAM_XMAT, cam_xmat)                                                                                    \
    X(SUBTREE_COM, subtree_com)                                                                              \
    X(SUBTREE_LINVEL, subtree_linvel)                                                                        \
    X(SUBTREE_ANGMOM, subtree_angmom)                                                                        \
    X(CDOF, cdof)                                                                                            \
    X(CINERT, cinert)                                                                                        \
    X(CVEL, cvel)                                                                                            \
    X(CACC, cacc)                                                                                            \
    X(CFRC_INT, cfrc_int)                                                                                    \
    X(CFRC_EXT, cfrc_ext)                                                                                    \
    X(QM, qM)                                                                                                \
    X(TEN_LENGTH, ten_length)                                                                                \
    X(TEN_VELOCITY, ten_velocity)                                                                            \
    X(ACTUATOR_LENGTH, actuator_length)                                                                      \
    X(ACTUATOR_VELOCITY, actuator_velocity)                                                                  \
    X(ACTUATOR_FORCE, actuator_force)                                                                        \
    X(QFRC_BIAS, qfrc_bias)                                                                                  \
    X(QFRC_PASSIVE, qfrc_passive)                                                                            \
    X(QFRC_ACTUATOR, qfrc_actuator)                                                                          \
    X(QFRC_CONSTRAINT, qfrc_constraint)                                                                      \
    X(QFRC_INVERSE, qfrc_inverse) /* the force that would give QACC */                                       \
    X(ENERGY, energy)             /* potential, kinetic */                                                   \
    X(SENSORDATA, sensordata)     /* see sensor_adr and sensor_dim of the model */

typedef enum orr_physics_quantity {
#define ORR_PHYSICS_ENUM(NAME, name) ORR_PHYSICS_##NAME,
    ORR_PHYSICS_STATE(ORR_PHYSICS_ENUM) ORR_PHYSICS_DERIVED(ORR_PHYSICS_ENUM)
#undef ORR_PHYSICS_ENUM
        ORR_PHYSICS_QUANTITY_COUNT
} orr_physics_quantity;

// "qpos" for ORR_PHYSICS_QPOS.
static inline const char *orr_physics_quantity_name(orr_physics_quantity quantity)
{
    static const char *const names[] = {
#define ORR_PHYSICS_NAME(NAME, name) #name,
        ORR_PHYSICS_STATE(ORR_PHYSICS_NAME) ORR_PHYSICS_DERIVED(ORR_PHYSICS_NAME)
#undef ORR_PHYSICS_NAME
    };
    assert(quantity < ORR_PHYSICS_QUANTITY_COUNT);
    return names[quantity];
}

// Two geoms that are closer than their margin.
typedef struct orr_physics_contact {
    int32_t geom1, geom2, dim; // geom2: -1 where a soft body touches; dim: condim
    int32_t point, element;    // its vertex or element, of the model's nflexpoint, nflexelement; -1: none
    double dist;               // m, negative: penetration
    double pos[3], frame[9];   // rows of frame: normal from geom1 to geom2, two tangents
    double force[6]; // in the contact's frame: normal, two tangents, torques (MuJoCo's mj_contactForce)
} orr_physics_contact;
