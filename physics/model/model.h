// A compiled model (load/load.h): the constants of a robot and its surroundings, in the form that the
// dynamics read. Simulation does not change it; the state of a world is elsewhere (simulation/world.h).
//
// Names, sizes and meanings are those of MuJoCo 4.0's mjModel, so that its documentation describes these
// arrays too. Bodies are in depth-first order, parents before children; body 0 is the world. Joints, geoms
// and sites are in the order of their bodies. Units: m, kg, s, rad, N. Quaternions are w, x, y, z and of
// length 1. Frames: a body's is given in its parent's frame, all others in the frame of their body.
#pragma once

#include "engine/core/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ORR_NREF = 2,     // solref: time constant and damping ratio, or -stiffness and -damping
    ORR_NIMP = 5,     // solimp: d0, dwidth, width, midpoint, power
    ORR_NEQDATA = 11, // constants of an equality
    ORR_NDYN = 10,
    ORR_NGAIN = 10,
    ORR_NBIAS = 10,
    ORR_NFLUID = 12,
    ORR_NPOLY = 2, // higher coefficients of stiffness and damping
};

typedef enum orr_joint_type {
    ORR_JOINT_FREE,
    ORR_JOINT_BALL,
    ORR_JOINT_SLIDE,
    ORR_JOINT_HINGE
} orr_joint_type;

typedef enum orr_geom_type {
    ORR_GEOM_PLANE,     // size: half width x, y (0: endless), spacing of the drawn grid; normal +z
    ORR_GEOM_HFIELD,    // geom_dataid: the height field
    ORR_GEOM_SPHERE,    // size: radius
    ORR_GEOM_CAPSULE,   // size: radius, half length of the cylindrical part; axis z
    ORR_GEOM_ELLIPSOID, // size: half axes
    ORR_GEOM_CYLINDER,  // size: radius, half length; axis z
    ORR_GEOM_BOX,       // size: half sizes
    ORR_GEOM_MESH,      // geom_dataid: the mesh; collides as its convex hull. size: reach along each axis
    // geom_dataid: the distance grid, in the geom's frame; or with a geom_function the mesh of its surface.
    // size: reach along each axis
    ORR_GEOM_SDF,
} orr_geom_type;

// Distances as functions, MuJoCo's plugins mujoco.sdf.*; their parameters are in model/distance_function.h.
typedef enum orr_function {
    ORR_FUNCTION_NONE,
    ORR_FUNCTION_BOLT,
    ORR_FUNCTION_BOWL,
    ORR_FUNCTION_GEAR,
    ORR_FUNCTION_NUT,
    ORR_FUNCTION_TORUS,
    ORR_FUNCTION_OCTREE // of the geom's mesh; without parameters
} orr_function;
enum { ORR_NFUNCTION = 5 }; // parameters of a function, at most

typedef enum orr_integrator {
    ORR_INTEGRATOR_EULER,
    ORR_INTEGRATOR_RK4,
    ORR_INTEGRATOR_IMPLICIT,
    ORR_INTEGRATOR_IMPLICITFAST
} orr_integrator;

typedef enum orr_cone { ORR_CONE_PYRAMIDAL, ORR_CONE_ELLIPTIC } orr_cone;
typedef enum orr_jacobian { ORR_JACOBIAN_DENSE, ORR_JACOBIAN_SPARSE, ORR_JACOBIAN_AUTO } orr_jacobian;
typedef enum orr_solver { ORR_SOLVER_PGS, ORR_SOLVER_CG, ORR_SOLVER_NEWTON } orr_solver;

typedef enum orr_disable { // bits of orr_model_option.disableflags
    ORR_DISABLE_CONSTRAINT = 1 << 0,
    ORR_DISABLE_EQUALITY = 1 << 1,
    ORR_DISABLE_FRICTIONLOSS = 1 << 2,
    ORR_DISABLE_LIMIT = 1 << 3,
    ORR_DISABLE_CONTACT = 1 << 4,
    ORR_DISABLE_SPRING = 1 << 5,
    ORR_DISABLE_DAMPER = 1 << 6,
    ORR_DISABLE_GRAVITY = 1 << 7,
    ORR_DISABLE_CLAMPCTRL = 1 << 8,
    ORR_DISABLE_WARMSTART = 1 << 9,
    ORR_DISABLE_FILTERPARENT = 1 << 10, // a body and its parent collide too
    ORR_DISABLE_ACTUATION = 1 << 11,
    ORR_DISABLE_REFSAFE = 1 << 12, // solref's time constant may be under two time steps
    ORR_DISABLE_SENSOR = 1 << 13,
    ORR_DISABLE_MIDPHASE = 1 << 14,
    ORR_DISABLE_EULERDAMP = 1 << 15,
    ORR_DISABLE_AUTORESET = 1 << 16,
    ORR_DISABLE_NATIVECCD = 1 << 17,
    ORR_DISABLE_ISLAND = 1 << 18,
    ORR_DISABLE_MULTICCD = 1 << 19,
} orr_disable;

typedef enum orr_enable { // bits of orr_model_option.enableflags
    ORR_ENABLE_OVERRIDE = 1 << 0,
    ORR_ENABLE_ENERGY = 1 << 1,
    ORR_ENABLE_FWDINV = 1 << 2,
    ORR_ENABLE_INVDISCRETE = 1 << 3,
    ORR_ENABLE_SLEEP = 1 << 4,
    ORR_ENABLE_DIAGEXACT = 1 << 5,
    ORR_ENABLE_SPECULATIVE = 1 << 7, // as in MuJoCo
} orr_enable;

typedef enum orr_sleep_policy { // of a kinematic tree, MuJoCo's mjtSleepPolicy
    ORR_SLEEP_AUTO = 0,         // in a file: one of the next two
    ORR_SLEEP_AUTO_NEVER = 1,   // an actuator, or a tendon with a spring or damper to another tree, moves it
    ORR_SLEEP_AUTO_ALLOWED = 2, // no such thing
    ORR_SLEEP_NEVER = 3,
    ORR_SLEEP_ALLOWED = 4,
    ORR_SLEEP_INIT = 5 // allowed, and asleep from the start
} orr_sleep_policy;

typedef enum orr_equality_type {
    ORR_EQUALITY_CONNECT, // data: anchor in body 1 (3), anchor in body 2 (3)
    ORR_EQUALITY_WELD,  // data: anchor in body 2 (3), pose of body 2 in body 1: position (3), quaternion (4);
                        // torque scale
    ORR_EQUALITY_JOINT, // data: y - y0 = sum of data[i] (x - x0)^i, i 0 .. 4
    ORR_EQUALITY_TENDON,    // data: the same
    ORR_EQUALITY_FLEXSTRAIN // a cell of a soft body keeps its shape
} orr_equality_type;

typedef enum orr_wrap_type {
    ORR_WRAP_NONE,
    ORR_WRAP_JOINT,   // prm: coefficient
    ORR_WRAP_PULLEY,  // prm: divisor
    ORR_WRAP_SITE,    // the path passes through it
    ORR_WRAP_SPHERE,  // prm: side site, or -1
    ORR_WRAP_CYLINDER // prm: side site, or -1
} orr_wrap_type;

typedef enum orr_transmission {
    ORR_TRANSMISSION_JOINT,         // trnid: joint, -1
    ORR_TRANSMISSION_JOINTINPARENT, // trnid: joint, -1
    ORR_TRANSMISSION_SLIDERCRANK,   // trnid: site of the crank, site of the slider
    ORR_TRANSMISSION_TENDON,        // trnid: tendon, -1
    ORR_TRANSMISSION_SITE,          // trnid: site, reference site or -1
    ORR_TRANSMISSION_BODY,          // trnid: body, -1; acts on the body's contacts
    ORR_TRANSMISSION_SO3            // trnid: ball joint, -1, or site, reference site; three outputs
} orr_transmission;

typedef enum orr_dynamics_type { // of an actuator's activation a
    ORR_DYNAMICS_NONE,
    ORR_DYNAMICS_INTEGRATOR,  // a' = u
    ORR_DYNAMICS_FILTER,      // a' = (u - a) / dynprm[0]
    ORR_DYNAMICS_FILTEREXACT, // the same, integrated exactly
    ORR_DYNAMICS_MUSCLE,      // follows u in 0 .. 1; dynprm: time constants (s) of rise, fall; transition
    // the setpoint that the controller follows, if dynprm[1], its largest rate, is not 0; then the integral
    // of the position error, if gainprm[0] is not 0, which grows up to dynprm[0] (0: without limit)
    ORR_DYNAMICS_DCMOTOR, // current; dynprm: its time constant (s), 0: no activation; its largest rate or 0
    ORR_DYNAMICS_PID,
    ORR_DYNAMICS_USER // as in MuJoCo without a callback: actdim activations that stay; the last one counts
} orr_dynamics_type;

typedef enum orr_gain_type {
    ORR_GAIN_FIXED,   // gainprm[0]
    ORR_GAIN_AFFINE,  // gainprm[0] + gainprm[1] length + gainprm[2] velocity
    ORR_GAIN_MUSCLE,  // force by length and velocity: see lanes/muscle.h
    ORR_GAIN_DCMOTOR, // gainprm: resistance (Ohm), motor constant (N m / A); the control is a voltage
    ORR_GAIN_SO3,     // gainprm[0] times the rotation vector to the target: see lanes/orientation_servo.h
    // -biasprm[1] position - biasprm[2] velocity + feedforward + gainprm[0] integral of the position error;
    // the first three are controls, those that actuator_ctrlspec has
    ORR_GAIN_PID,
    ORR_GAIN_USER // 1, as in MuJoCo without a callback
} orr_gain_type;

typedef enum orr_delay_type { // of actuators and sensors with a delay
    ORR_DELAY_HOLD,           // the last one before
    ORR_DELAY_LINEAR,
    ORR_DELAY_CUBIC
} orr_delay_type;

typedef enum orr_input { // bits of actuator_ctrlspec: the controls of a PID controller, in this order
    ORR_INPUT_POSITION = 1,
    ORR_INPUT_VELOCITY = 2,
    ORR_INPUT_FEEDFORWARD = 4,
    ORR_INPUT_VOLTAGE = 8,  // of a DC motor, whose only input it is
    ORR_INPUT_PRESSURE = 32 // of cylinders
} orr_input;

typedef enum orr_chart {  // actuator_ctrlspec of ORR_GAIN_SO3: what its controls are
    ORR_CHART_EXPMAP = 1, // a rotation vector [rad], 3 numbers
    ORR_CHART_QUATERNION  // w x y z, 4 numbers
} orr_chart;

typedef enum orr_bias_type {
    ORR_BIAS_NONE,
    ORR_BIAS_AFFINE,  // biasprm[0] + biasprm[1] length + biasprm[2] velocity
    ORR_BIAS_MUSCLE,  // a passive force by length: see lanes/muscle.h
    ORR_BIAS_DCMOTOR, // cogging: biasprm[0] sin(biasprm[1] length + biasprm[2])
    ORR_BIAS_SO3,     // biasprm[2] times the angular velocity
    ORR_BIAS_USER     // 0, as in MuJoCo without a callback
} orr_bias_type;

typedef enum orr_elastic2d { // which stiffness the triangles of a flex have
    ORR_ELASTIC_NONE,
    ORR_ELASTIC_BEND,
    ORR_ELASTIC_STRETCH,
    ORR_ELASTIC_BOTH
} orr_elastic2d;

typedef enum orr_object { // kinds of named objects, MuJoCo's mjtObj
    ORR_OBJECT_UNKNOWN = 0,
    ORR_OBJECT_BODY = 1,  // with sensors: its inertial frame
    ORR_OBJECT_XBODY = 2, // its regular frame
    ORR_OBJECT_JOINT = 3,
    ORR_OBJECT_GEOM = 5,
    ORR_OBJECT_SITE = 6,
    ORR_OBJECT_CAMERA = 7,
    ORR_OBJECT_LIGHT = 8,
    ORR_OBJECT_FLEX = 9,
    ORR_OBJECT_MESH = 10,
    ORR_OBJECT_HFIELD = 12,
    ORR_OBJECT_TEXTURE = 13,
    ORR_OBJECT_MATERIAL = 14,
    ORR_OBJECT_PAIR = 15,
    ORR_OBJECT_EXCLUDE = 16,
    ORR_OBJECT_EQUALITY = 17,
    ORR_OBJECT_TENDON = 18,
    ORR_OBJECT_ACTUATOR = 19,
    ORR_OBJECT_SENSOR = 20,
    ORR_OBJECT_NUMERIC = 21,
    ORR_OBJECT_TEXT = 22,
    ORR_OBJECT_TUPLE = 23,
    ORR_OBJECT_KEY = 24,
} orr_object;

typedef enum orr_sensor_type {    // MuJoCo's mjtSensor; dimensions in brackets
    ORR_SENSOR_TOUCH = 0,         // sum of normal forces inside the site [1]
    ORR_SENSOR_ACCELEROMETER = 1, // in the site's frame [3]
    ORR_SENSOR_VELOCIMETER = 2,
    ORR_SENSOR_GYRO = 3,
    ORR_SENSOR_FORCE = 4, // between the site's body and its parent, in the site's frame [3]
    ORR_SENSOR_TORQUE = 5,
    ORR_SENSOR_MAGNETOMETER = 6,
    ORR_SENSOR_RANGEFINDER = 7,   // along the site's +z, or through the pixels of a camera: orr_ray_data
    ORR_SENSOR_CAMPROJECTION = 8, // where the site is in the camera's image, pixels [2]
    ORR_SENSOR_JOINTPOS = 9,
    ORR_SENSOR_JOINTVEL = 10,
    ORR_SENSOR_TENDONPOS = 11,
    ORR_SENSOR_TENDONVEL = 12,
    ORR_SENSOR_ACTUATORPOS = 13,
    ORR_SENSOR_ACTUATORVEL = 14,
    ORR_SENSOR_ACTUATORFRC = 15,
    ORR_SENSOR_JOINTACTFRC = 16,
    ORR_SENSOR_TENDONACTFRC = 17,
    ORR_SENSOR_BALLQUAT = 18, // [4]
    ORR_SENSOR_BALLANGVEL = 19,
    ORR_SENSOR_JOINTLIMITPOS = 20,
    ORR_SENSOR_JOINTLIMITVEL = 21,
    ORR_SENSOR_JOINTLIMITFRC = 22,
    ORR_SENSOR_TENDONLIMITPOS = 23,
    ORR_SENSOR_TENDONLIMITVEL = 24,
    ORR_SENSOR_TENDONLIMITFRC = 25,
    ORR_SENSOR_FRAMEPOS = 26,
    ORR_SENSOR_FRAMEQUAT = 27, // [4]
    ORR_SENSOR_FRAMEXAXIS = 28,
    ORR_SENSOR_FRAMEYAXIS = 29,
    ORR_SENSOR_FRAMEZAXIS = 30,
    ORR_SENSOR_FRAMELINVEL = 31,
    ORR_SENSOR_FRAMEANGVEL = 32,
    ORR_SENSOR_FRAMELINACC = 33,
    ORR_SENSOR_FRAMEANGACC = 34,
    ORR_SENSOR_SUBTREECOM = 35,
    ORR_SENSOR_SUBTREELINVEL = 36,
    ORR_SENSOR_SUBTREEANGMOM = 37,
    // 1: the object's origin is in the site, or 0; with intprm[0] how far it protrudes from it [m], -: inside
    ORR_SENSOR_INSIDESITE = 38,
    ORR_SENSOR_GEOMDIST =
        39, // m between two geoms or the nearest two of bodies, up to the cutoff; < 0: depth
    ORR_SENSOR_GEOMNORMAL = 40, // from the first to the second surface [3]
    ORR_SENSOR_GEOMFROMTO = 41, // nearest points [6]
    ORR_SENSOR_CONTACT = 42,    // orr_contact_data of intprm[2] contacts, chosen by orr_contact_reduce
    ORR_SENSOR_E_POTENTIAL = 43,
    ORR_SENSOR_E_KINETIC = 44,
    ORR_SENSOR_CLOCK = 45,
    ORR_SENSOR_TACTILE = 46,    // at each of its points: depth [m], then sliding along two tangents [m/s]
    ORR_SENSOR_TOUCH_GRID = 47, // a plugin: contact forces by direction, intprm: channels x rows x columns
    ORR_SENSOR_USER = 48,       // zeros: there is no callback
} orr_sensor_type;

// bits of sensor_intprm[0] of a contact sensor; frames point from object 1 to object 2
typedef enum orr_contact_data {
    ORR_CONTACT_FOUND = 1 << 0, // number of contacts that match [1]
    ORR_CONTACT_FORCE = 1 << 1, // in the contact's frame [3]
    ORR_CONTACT_TORQUE = 1 << 2,
    ORR_CONTACT_DIST = 1 << 3,
    ORR_CONTACT_POS = 1 << 4,
    ORR_CONTACT_NORMAL = 1 << 5,
    ORR_CONTACT_TANGENT = 1 << 6,
} orr_contact_data;

typedef enum orr_contact_reduce { // sensor_intprm[1]: which of the contacts that match
    ORR_REDUCE_NONE,              // the first ones, in no particular order
    ORR_REDUCE_MINDIST,
    ORR_REDUCE_MAXFORCE,
    ORR_REDUCE_NETFORCE // all as one: force and torque at their centre, in world axes
} orr_contact_reduce;

typedef enum orr_ray_data { // bits of sensor_intprm[0] of a rangefinder
    ORR_RAY_DIST = 1 << 0,  // m, -1: no hit [1]
    ORR_RAY_DIR = 1 << 1,   // [3]; this and all below: zeros without a hit
    ORR_RAY_ORIGIN = 1 << 2,
    ORR_RAY_POINT = 1 << 3,
    ORR_RAY_NORMAL = 1 << 4, // of the surface
    ORR_RAY_DEPTH = 1 << 5,  // from the plane of the camera, -1: no hit [1]
} orr_ray_data;

typedef enum orr_stage { ORR_STAGE_NONE, ORR_STAGE_POS, ORR_STAGE_VEL, ORR_STAGE_ACC } orr_stage;

typedef enum orr_sensor_data {
    ORR_DATA_REAL,     // cut off to -cutoff .. cutoff
    ORR_DATA_POSITIVE, // cut off to .. cutoff
    ORR_DATA_AXIS,
    ORR_DATA_QUATERNION
} orr_sensor_data;

typedef enum orr_camera_mode { // of cameras and lights
    ORR_CAMERA_FIXED,
    ORR_CAMERA_TRACK,
    ORR_CAMERA_TRACKCOM,
    ORR_CAMERA_TARGETBODY,
    ORR_CAMERA_TARGETBODYCOM
} orr_camera_mode;

typedef enum orr_light_type { ORR_LIGHT_SPOT, ORR_LIGHT_DIRECTIONAL, ORR_LIGHT_POINT } orr_light_type;
// MuJoCo's numbers. Its renderer shows the bytes of linear textures, and of sRGB ones what they decode to.
typedef enum orr_colour_space { ORR_COLOUR_AUTO, ORR_COLOUR_LINEAR, ORR_COLOUR_SRGB } orr_colour_space;

typedef enum orr_texture_type { ORR_TEXTURE_2D, ORR_TEXTURE_CUBE, ORR_TEXTURE_SKYBOX } orr_texture_type;

// Sizes. X(name): what it counts
#define ORR_MODEL_SIZES(X)                                                                                   \
    X(nq) /* generalised coordinates */                                                                      \
    X(nv) /* degrees of freedom */                                                                           \
    X(nu) /* controls */                                                                                     \
    X(nactuator)                                                                                             \
    X(nout)   /* forces of actuators: three of an orientation servo, one of others */                        \
    X(na)     /* activations */                                                                              \
    X(nbody)  /* bodies, the world included */                                                               \
    X(njnt)   /* joints */                                                                                   \
    X(ntree)  /* kinematic trees that can move */                                                            \
    X(nM)     /* entries of the inertia matrix: of each dof with itself and its ancestors */                 \
    X(ncable) /* joints of cables, which resist bending and twisting */                                      \
    X(ngeom)                                                                                                 \
    X(nsite)                                                                                                 \
    X(nflex)          /* soft bodies */                                                                      \
    X(nflexvert)      /* vertices of all of them */                                                          \
    X(nflexelemdata)  /* vertices of elements */                                                             \
    X(nflexnode)      /* nodes that move the vertices of some */                                             \
    X(nflexcell)      /* elastic cells between nodes */                                                      \
    X(nflexcellnode)  /* nodes of all cells */                                                               \
    X(nflexstiffness) /* numbers of their stiffness */                                                       \
    X(nflexmode)      /* numbers of their modes */                                                           \
    X(nflextouch)     /* soft bodies that nodes move and that touch */                                       \
    X(nflexpoint)     /* vertices of these */                                                                \
    X(nflexelement)   /* elements of these that touch */                                                     \
    X(nflexgrid)      /* nodes of these */                                                                   \
    X(nflexweight)    /* nodes of all these vertices */                                                      \
    X(ncam)                                                                                                  \
    X(nlight)                                                                                                \
    X(nmesh)                                                                                                 \
    X(nmeshvert) /* vertices of all meshes as drawn */                                                       \
    X(nmeshface) /* their triangles */                                                                       \
    X(nhullvert) /* vertices of all convex hulls */                                                          \
    X(nhullface) /* their triangles */                                                                       \
    X(nhulledge) /* their directed edges */                                                                  \
    X(noctree)   /* nodes of the octrees of all meshes */                                                    \
    X(nhfield)                                                                                               \
    X(nhfielddata)                                                                                           \
    X(ngrid)                                                                                                 \
    X(ngridbrick)  /* bricks of all distance grids */                                                        \
    X(ngridcorner) /* corners of their bricks */                                                             \
    X(ngridsample) /* samples of their bricks */                                                             \
    X(ntex)                                                                                                  \
    X(ntexdata)                                                                                              \
    X(nmat)                                                                                                  \
    X(npair)                                                                                                 \
    X(nexclude)                                                                                              \
    X(neq)                                                                                                   \
    X(ntendon)                                                                                               \
    X(nwrap)                                                                                                 \
    X(nsensor)                                                                                               \
    X(ntaxel) /* points of tactile sensors */                                                                \
    X(nsensordata)                                                                                           \
    X(nnumeric)                                                                                              \
    X(nnumericdata)                                                                                          \
    X(ntext)                                                                                                 \
    X(ntextdata)                                                                                             \
    X(ntuple)                                                                                                \
    X(ntupledata)                                                                                            \
    X(nkey)                                                                                                  \
    X(nmocap)                                                                                                \
    X(nplastic) /* numbers that say where springs that yield rest */                                         \
    X(ndelayed) /* controls and sensors of steps before, which those with a delay need */                    \
    X(nuserdata)                                                                                             \
    X(nuser_body)                                                                                            \
    X(nuser_jnt)                                                                                             \
    X(nuser_geom)                                                                                            \
    X(nuser_site)                                                                                            \
    X(nuser_cam)                                                                                             \
    X(nuser_tendon)                                                                                          \
    X(nuser_actuator)                                                                                        \
    X(nuser_sensor)                                                                                          \
    X(nnames) /* bytes of all names, each with its end */

// Arrays: X(type, name, rows, columns), row-major. rows and columns are written with sizes of the model `m`.
// Addresses (adr) and ids are -1 where there is nothing.
#define ORR_MODEL_ARRAYS(X)                                                                                  \
    X(double, qpos0, m->nq, 1)       /* the pose the model is given in */                                    \
    X(double, qpos_spring, m->nq, 1) /* rest positions of joint springs */                                   \
    /* bodies */                                                                                             \
    X(int32_t, body_parentid, m->nbody, 1)                                                                   \
    X(int32_t, body_rootid, m->nbody, 1) /* ancestor that is a child of the world */                         \
    X(int32_t, body_weldid, m->nbody, 1) /* uppermost ancestor that it is fixed to */                        \
    X(int32_t, body_mocapid, m->nbody, 1)                                                                    \
    X(int32_t, body_jntnum, m->nbody, 1)                                                                     \
    X(int32_t, body_jntadr, m->nbody, 1)                                                                     \
    X(int32_t, body_dofnum, m->nbody, 1)                                                                     \
    X(int32_t, body_dofadr, m->nbody, 1)                                                                     \
    X(int32_t, body_treeid, m->nbody, 1) /* -1: cannot move */                                               \
    X(int32_t, body_geomnum, m->nbody, 1)                                                                    \
    X(int32_t, body_geomadr, m->nbody, 1)                                                                    \
    X(double, body_pos, m->nbody, 3)         /* in the parent's frame */                                     \
    X(double, body_quat, m->nbody, 4)        /* in the parent's frame */                                     \
    X(double, body_ipos, m->nbody, 3)        /* centre of mass */                                            \
    X(double, body_iquat, m->nbody, 4)       /* principal axes of inertia */                                 \
    X(double, body_mass, m->nbody, 1)        /* kg */                                                        \
    X(double, body_subtreemass, m->nbody, 1) /* kg, of the body and its descendants */                       \
    X(double, body_inertia, m->nbody, 3)     /* kg m^2, about the principal axes */                          \
    X(double, body_invweight0, m->nbody,                                                                     \
      2) /* mean inverse inertia at qpos0: linear 1/kg, angular 1/(kg m^2) */                                \
    X(double, body_gravcomp, m->nbody, 1) /* upward force in units of the weight */                          \
    X(double, body_user, m->nbody, m->nuser_body)                                                            \
    /* joints; rows of qpos: free 7 (position, quaternion), ball 4, slide and hinge 1; of qvel: 6, 3, 1 */   \
    X(int32_t, jnt_type, m->njnt, 1) /* orr_joint_type */                                                    \
    X(int32_t, jnt_qposadr, m->njnt, 1)                                                                      \
    X(int32_t, jnt_dofadr, m->njnt, 1)                                                                       \
    X(int32_t, jnt_bodyid, m->njnt, 1)                                                                       \
    X(int32_t, jnt_group, m->njnt, 1)                                                                        \
    X(uint8_t, jnt_limited, m->njnt, 1)                                                                      \
    X(uint8_t, jnt_actfrclimited, m->njnt, 1) /* is the sum of actuator forces limited? */                   \
    X(uint8_t, jnt_actgravcomp, m->njnt, 1)   /* does gravity compensation count as an actuator's force? */  \
    X(double, jnt_solref, m->njnt, ORR_NREF)  /* of the limit */                                             \
    X(double, jnt_solimp, m->njnt, ORR_NIMP)                                                                 \
    X(double, jnt_pos, m->njnt, 3)                   /* anchor */                                            \
    X(double, jnt_axis, m->njnt, 3)                  /* of length 1 */                                       \
    X(double, jnt_stiffness, m->njnt, 1)             /* N/m or N m/rad */                                    \
    X(double, jnt_stiffnesspoly, m->njnt, ORR_NPOLY) /* of |x| x, x^3 */                                     \
    X(double, jnt_range, m->njnt, 2)                 /* m or rad; ball: 0 and the largest angle */           \
    X(double, jnt_actfrcrange, m->njnt, 2)           /* N or N m */                                          \
    X(int32_t, jnt_plasticadr, m->njnt, 1)           /* its first number in the state `plastic` */           \
    X(double, jnt_springyield, m->njnt, 1) /* m or rad that its spring bears before it yields; 0: any */     \
    X(double, jnt_margin, m->njnt, 1)      /* m or rad before the limit at which it begins to act */         \
    X(double, jnt_user, m->njnt, m->nuser_jnt)                                                               \
    /* ball joints of cables, each between two bodies (passive/cable.h) */                                   \
    X(int32_t, cable_jntid, m->ncable, 1)                                                                    \
    X(double, cable_stiffness, m->ncable, 3) /* N m/rad: twisting about x, bending about y and z */          \
    X(double, cable_rest, m->ncable, 4)      /* quaternion of the body in its parent without stress */       \
    /* degrees of freedom */                                                                                 \
    X(int32_t, dof_bodyid, m->nv, 1)                                                                         \
    X(int32_t, dof_jntid, m->nv, 1)                                                                          \
    X(int32_t, dof_parentid, m->nv, 1) /* its parent dof, -1: none */                                        \
    X(int32_t, dof_treeid, m->nv, 1)                                                                         \
    X(double, dof_solref, m->nv, ORR_NREF) /* of friction loss */                                            \
    X(double, dof_solimp, m->nv, ORR_NIMP)                                                                   \
    X(double, dof_frictionloss, m->nv, 1) /* N or N m */                                                     \
    X(double, dof_armature, m->nv, 1)     /* kg or kg m^2, added to the diagonal of the inertia matrix */    \
    X(double, dof_damping, m->nv, 1)      /* N s/m or N m s/rad */                                           \
    X(double, dof_dampingpoly, m->nv, ORR_NPOLY) /* of |v| v, v^3 */                                         \
    X(double, dof_drive, m->nv, 2 + ORR_NPOLY)   /* added by actuators: armature, damping, its polynomial */ \
    X(double, dof_invweight0, m->nv, 1) /* diagonal of the inverse inertia matrix at qpos0, one per joint */ \
    X(double, dof_length, m->nv,                                                                             \
      1) /* m per unit of its velocity: 1 of translations, the body's reach of rotations */                  \
    X(double, dof_M0, m->nv, 1)    /* diagonal of the inertia matrix at qpos0 */                             \
    X(int32_t, M_rownnz, m->nv, 1) /* inertia matrix by rows: entries of a row, */                           \
    X(int32_t, M_rowadr, m->nv, 1) /* the first of them, */                                                  \
    X(int32_t, M_colind, m->nM, 1) /* and their columns, ascending, the diagonal last */                     \
    /* kinematic trees */                                                                                    \
    X(int32_t, tree_sleep_policy, m->ntree, 1) /* orr_sleep_policy */                                        \
    /* geoms */                                                                                              \
    X(int32_t, geom_type, m->ngeom, 1)        /* orr_geom_type */                                            \
    X(int32_t, geom_contype, m->ngeom, 1)     /* bits; a and b collide if contype of one meets */            \
    X(int32_t, geom_conaffinity, m->ngeom, 1) /* conaffinity of the other */                                 \
    X(int32_t, geom_condim, m->ngeom, 1)      /* 1, 3, 4 or 6 */                                             \
    X(int32_t, geom_bodyid, m->ngeom, 1)                                                                     \
    X(int32_t, geom_dataid, m->ngeom, 1)   /* mesh, height field, grid */                                    \
    X(int32_t, geom_function, m->ngeom, 1) /* of type sdf: orr_function */                                   \
    X(double, geom_functionprm, m->ngeom, ORR_NFUNCTION)                                                     \
    X(int32_t, geom_matid, m->ngeom, 1)                                                                      \
    X(uint8_t, geom_castshadow, m->ngeom, 1)                                                                 \
    X(int32_t, geom_group, m->ngeom, 1)                                                                      \
    X(int32_t, geom_priority, m->ngeom, 1)                                                                   \
    X(double, geom_solmix, m->ngeom, 1)                                                                      \
    X(double, geom_solref, m->ngeom, ORR_NREF)                                                               \
    X(double, geom_solimp, m->ngeom, ORR_NIMP)                                                               \
    X(double, geom_size, m->ngeom, 3)   /* m, see orr_geom_type */                                           \
    X(double, geom_aabb, m->ngeom, 6)   /* box around it in its own frame: centre, half sizes */             \
    X(double, geom_rbound, m->ngeom, 1) /* radius of the sphere around it; 0: plane */                       \
    X(double, geom_pos, m->ngeom, 3)                                                                         \
    X(double, geom_quat, m->ngeom, 4)                                                                        \
    X(double, geom_friction, m->ngeom, 3)       /* sliding, torsional (m), rolling (m) */                    \
    X(double, geom_margin, m->ngeom, 1)         /* m */                                                      \
    X(double, geom_gap, m->ngeom, 1)            /* m */                                                      \
    X(double, geom_surfacevel, m->ngeom, 6)     /* of its surface, in its frame: m/s at the origin, rad/s */ \
    X(double, geom_adhesion, m->ngeom, 1)       /* N, by which its contacts pull */                          \
    X(double, geom_fluid, m->ngeom, ORR_NFLUID) /* [0] != 0: the ellipsoid model of fluid forces */          \
    X(double, geom_user, m->ngeom, m->nuser_geom)                                                            \
    X(float, geom_rgba, m->ngeom, 4)                                                                         \
    /* sites */                                                                                              \
    X(int32_t, site_type, m->nsite, 1) /* orr_geom_type */                                                   \
    X(int32_t, site_bodyid, m->nsite, 1)                                                                     \
    X(int32_t, site_matid, m->nsite, 1)                                                                      \
    X(int32_t, site_group, m->nsite, 1)                                                                      \
    X(double, site_size, m->nsite, 3)                                                                        \
    X(double, site_pos, m->nsite, 3)                                                                         \
    X(double, site_quat, m->nsite, 4)                                                                        \
    X(double, site_user, m->nsite, m->nuser_site)                                                            \
    X(float, site_rgba, m->nsite, 4)                                                                         \
    /* soft bodies (flexes), which are no degrees of freedom of the model: the scene simulates them */       \
    X(int32_t, flex_dim, m->nflex, 1)    /* 1: edges, 2: triangles, 3: tetrahedra */                         \
    X(int32_t, flex_bodyid, m->nflex, 1) /* of whose frame they are; it holds the pinned ones */             \
    X(int32_t, flex_matid, m->nflex, 1)                                                                      \
    X(int32_t, flex_group, m->nflex, 1)                                                                      \
    X(int32_t, flex_collides, m->nflex, 1)     /* 0: it touches nothing */                                   \
    X(int32_t, flex_elastic2d, m->nflex, 1)    /* orr_elastic2d, of triangles */                             \
    X(int32_t, flex_edgeequality, m->nflex, 1) /* 1: edges keep their lengths */                             \
    X(int32_t, flex_vertadr, m->nflex, 1)                                                                    \
    X(int32_t, flex_vertnum, m->nflex, 1)                                                                    \
    X(int32_t, flex_elemnum, m->nflex, 1)                                                                    \
    X(int32_t, flex_elemdataadr, m->nflex, 1)                                                                \
    X(int32_t, flex_elem, m->nflexelemdata, 1) /* vertices of its elements, dim + 1 each, from 0 */          \
    X(uint8_t, flex_pinned, m->nflexvert, 1)                                                                 \
    X(double, flex_vert, m->nflexvert, 3) /* m, at rest */                                                   \
    X(double, flex_mass, m->nflex, 1)     /* kg, of each vertex */                                           \
    X(double, flex_radius, m->nflex, 1)   /* m, by which contact keeps off */                                \
    /* its contacts where no nodes move it; parameters as of geoms */                                        \
    X(int32_t, flex_contype, m->nflex, 1)                                                                    \
    X(int32_t, flex_conaffinity, m->nflex, 1)                                                                \
    X(int32_t, flex_condim, m->nflex, 1)                                                                     \
    X(int32_t, flex_priority, m->nflex, 1)                                                                   \
    X(int32_t, flex_selfcollide, m->nflex, 1) /* 0: its parts do not touch each other */                     \
    X(double, flex_solmix, m->nflex, 1)                                                                      \
    X(double, flex_solref, m->nflex, ORR_NREF)                                                               \
    X(double, flex_solimp, m->nflex, ORR_NIMP)                                                               \
    X(double, flex_friction, m->nflex, 3)                                                                    \
    X(double, flex_margin, m->nflex, 1)                                                                      \
    X(double, flex_gap, m->nflex, 1)                                                                         \
    X(double, flex_young, m->nflex, 1) /* Pa; 0: its elements have no stiffness */                           \
    X(double, flex_poisson, m->nflex, 1)                                                                     \
    X(double, flex_damping, m->nflex, 1)           /* s */                                                   \
    X(double, flex_thickness, m->nflex, 1)         /* m, of triangles */                                     \
    X(double, flex_edgesolref, m->nflex, ORR_NREF) /* of edges that keep their lengths */                    \
    X(double, flex_edgesolimp, m->nflex, ORR_NIMP)                                                           \
    X(double, flex_edgestiffness, m->nflex, 1) /* N/m */                                                     \
    X(double, flex_edgedamping, m->nflex, 1)   /* N s/m */                                                   \
    X(float, flex_rgba, m->nflex, 4)                                                                         \
    X(int32_t, flex_interp, m->nflex, 1)  /* 1, 2: nodes move it, trilinear or quadratic; 0: none */         \
    X(int32_t, flex_cellnum, m->nflex, 3) /* cells of nodes along the axes */                                \
    X(int32_t, flex_nodeadr, m->nflex, 1)                                                                    \
    X(int32_t, flex_nodenum, m->nflex, 1)                                                                    \
    X(int32_t, flex_nodebodyid, m->nflexnode, 1) /* its own body, or the flex's that holds it */             \
    X(double, flex_node, m->nflexnode, 3)        /* m, in that body */                                       \
    X(double, flex_node0, m->nflexnode, 3)       /* m, at rest, in the axes of the cells */                  \
    /* their elasticity (lanes/flex_nodes.h), which the flexes themselves are not needed for */              \
    X(int32_t, flexcell_interp, m->nflexcell, 1) /* as flex_interp */                                        \
    X(int32_t, flexcell_nodeadr, m->nflexcell, 1)                                                            \
    X(int32_t, flexcell_stiffnessadr, m->nflexcell, 1)                                                       \
    X(double, flexcell_size, m->nflexcell, 3)        /* m */                                                 \
    X(double, flexcell_damping, m->nflexcell, 1)     /* s, times the stiffness */                            \
    X(int32_t, flexcell_bodyid, m->nflexcellnode, 1) /* of each node */                                      \
    X(double, flexcell_node, m->nflexcellnode, 3)    /* m, the node in that body */                          \
    /* N/m, of pairs of coordinates of nodes, with the sign of MuJoCo's flex_stiffness: forces are its */    \
    /* product with displacements */                                                                         \
    X(double, flexcell_stiffness, m->nflexstiffness, 1)                                                      \
    /* sqrt(N/m), modes x (3 nodes of a cell): minus the stiffness is the sum of their squares; of cells */  \
    /* whose modes are rows of the solver (lanes/flex_rows.h), others have none */                           \
    X(double, flexcell_mode, m->nflexmode, 1)                                                                \
    X(int32_t, flexcell_modeadr, m->nflexcell, 1)                                                            \
    X(int32_t, flexcell_modenum, m->nflexcell, 1)                                                            \
    X(uint8_t, flexcell_strain, m->nflexcell, 1) /* equalities alone hold it: it has no elasticity */        \
    /* their contacts (lanes/collision/flex_contact.h), likewise; parameters as of geoms */                  \
    X(int32_t, flextouch_contype, m->nflextouch, 1)                                                          \
    X(int32_t, flextouch_conaffinity, m->nflextouch, 1)                                                      \
    X(int32_t, flextouch_condim, m->nflextouch, 1)                                                           \
    X(int32_t, flextouch_priority, m->nflextouch, 1)                                                         \
    X(double, flextouch_solmix, m->nflextouch, 1)                                                            \
    X(double, flextouch_solref, m->nflextouch, ORR_NREF)                                                     \
    X(double, flextouch_solimp, m->nflextouch, ORR_NIMP)                                                     \
    X(double, flextouch_friction, m->nflextouch, 3)                                                          \
    X(double, flextouch_margin, m->nflextouch, 1)                                                            \
    X(double, flextouch_gap, m->nflextouch, 1)                                                               \
    X(double, flextouch_radius, m->nflextouch, 1)   /* m, of the spheres at the vertices */                  \
    X(int32_t, flextouch_interp, m->nflextouch, 1)  /* as flex_interp */                                     \
    X(int32_t, flextouch_along, m->nflextouch, 3)   /* nodes along the axes */                               \
    X(int32_t, flextouch_gridadr, m->nflextouch, 1) /* its first node, of nflexgrid */                       \
    X(int32_t, flexgrid_bodyid, m->nflexgrid, 1)                                                             \
    X(int32_t, flexpoint_touchid, m->nflexpoint, 1) /* of which of them it is a vertex */                    \
    X(int32_t, flexpoint_weightadr, m->nflexpoint, 1)                                                        \
    X(int32_t, flexpoint_weightnum, m->nflexpoint, 1)                                                        \
    X(double, flexpoint_coord, m->nflexpoint, 3)     /* where it is at rest, in cells */                     \
    X(int32_t, flexweight_bodyid, m->nflexweight, 1) /* the node's body */                                   \
    X(double, flexweight_node, m->nflexweight, 3)    /* m, the node in that body */                          \
    X(double, flexweight, m->nflexweight, 1)         /* its share of the vertex, of sum 1 */                 \
    X(int32_t, flexelement_touchid, m->nflexelement, 1)                                                      \
    X(int32_t, flexelement_elem, m->nflexelement, 1)  /* its number in its flex */                           \
    X(int32_t, flexelement_point, m->nflexelement, 4) /* vertices; of a triangle the first comes twice */    \
    /* the nodes that may move it: the first and the last along x, y and z */                                \
    X(int32_t, flexelement_span, m->nflexelement, 6)                                                         \
    /* cameras look along -z, y is up */                                                                     \
    X(int32_t, cam_mode, m->ncam, 1) /* orr_camera_mode */                                                   \
    X(int32_t, cam_bodyid, m->ncam, 1)                                                                       \
    X(int32_t, cam_targetbodyid, m->ncam, 1)                                                                 \
    X(int32_t, cam_orthographic, m->ncam, 1)                                                                 \
    X(double, cam_pos, m->ncam, 3)                                                                           \
    X(double, cam_quat, m->ncam, 4)                                                                          \
    X(double, cam_poscom0, m->ncam, 3) /* at qpos0, from the centre of mass of the subtree, world axes */    \
    X(double, cam_pos0, m->ncam, 3)    /* at qpos0, from the body, world axes */                             \
    X(double, cam_mat0, m->ncam, 9)    /* at qpos0, in the world */                                          \
    X(double, cam_fovy, m->ncam, 1)    /* degrees; orthographic: m */                                        \
    X(double, cam_ipd, m->ncam, 1)     /* m between the eyes */                                              \
    X(int32_t, cam_resolution, m->ncam, 2) /* pixels */                                                      \
    X(float, cam_sensorsize, m->ncam, 2)   /* m; 0: by fovy */                                               \
    X(float, cam_intrinsic, m->ncam, 4)    /* m: focal length x, y, principal point x, y */                  \
    X(double, cam_user, m->ncam, m->nuser_cam)                                                               \
    /* lights */                                                                                             \
    X(int32_t, light_mode, m->nlight, 1) /* orr_camera_mode */                                               \
    X(int32_t, light_bodyid, m->nlight, 1)                                                                   \
    X(int32_t, light_targetbodyid, m->nlight, 1)                                                             \
    X(int32_t, light_type, m->nlight, 1) /* orr_light_type */                                                \
    X(uint8_t, light_castshadow, m->nlight, 1)                                                               \
    X(uint8_t, light_active, m->nlight, 1)                                                                   \
    X(float, light_bulbradius, m->nlight, 1)                                                                 \
    X(float, light_intensity, m->nlight, 1) /* candela */                                                    \
    X(float, light_range, m->nlight, 1)                                                                      \
    X(double, light_pos, m->nlight, 3)                                                                       \
    X(double, light_dir, m->nlight, 3)     /* of length 1 */                                                 \
    X(double, light_poscom0, m->nlight, 3) /* as cam_poscom0 */                                              \
    X(double, light_pos0, m->nlight, 3)                                                                      \
    X(double, light_dir0, m->nlight, 3)                                                                      \
    X(float, light_attenuation, m->nlight, 3) /* constant, linear, quadratic */                              \
    X(float, light_cutoff, m->nlight, 1)      /* degrees */                                                  \
    X(float, light_softness, m->nlight, 1)                                                                   \
    X(float, light_exponent, m->nlight, 1)                                                                   \
    X(float, light_ambient, m->nlight, 3)                                                                    \
    X(float, light_diffuse, m->nlight, 3)                                                                    \
    X(float, light_specular, m->nlight, 3)                                                                   \
    /* meshes, in their own principal frame: centre of mass at 0, axes of inertia x, y, z */                 \
    X(int32_t, mesh_vertadr, m->nmesh, 1)                                                                    \
    X(int32_t, mesh_vertnum, m->nmesh, 1)                                                                    \
    X(int32_t, mesh_faceadr, m->nmesh, 1)                                                                    \
    X(int32_t, mesh_facenum, m->nmesh, 1)                                                                    \
    X(int32_t, mesh_hullvertadr, m->nmesh, 1)                                                                \
    X(int32_t, mesh_hullvertnum, m->nmesh, 1)                                                                \
    X(int32_t, mesh_hullfaceadr, m->nmesh, 1)                                                                \
    X(int32_t, mesh_hullfacenum, m->nmesh, 1)                                                                \
    X(double, mesh_scale, m->nmesh, 3) /* applied to the vertices of the file, */                            \
    X(double, mesh_pos, m->nmesh, 3)   /* which then were moved by -pos */                                   \
    X(double, mesh_quat, m->nmesh, 4)  /* and turned by the inverse of quat */                               \
    X(float, mesh_vert, m->nmeshvert, 3)                                                                     \
    X(float, mesh_normal, m->nmeshvert, 3)                                                                   \
    X(float, mesh_texcoord, m->nmeshvert, 2)                                                                 \
    X(int32_t, mesh_face, m->nmeshface, 3) /* vertices counted from the mesh's first */                      \
    X(double, hull_vert, m->nhullvert, 3)                                                                    \
    X(int32_t, hull_face, m->nhullface,                                                                      \
      3) /* counted from the hull's first, counter-clockwise from outside */                                 \
    X(int32_t, hull_face_angle, m->nhullface, 2) /* azimuth and polar angle of its normal in the file, */    \
    /* in units of 0.01 rad: triangles of a flat side have the same */                                       \
    X(int32_t, hull_edgeadr, m->nhullvert, 1) /* neighbours of a hull vertex: the first, */                  \
    X(int32_t, hull_edgenum, m->nhullvert, 1) /* how many, */                                                \
    X(int32_t, hull_edge, m->nhulledge, 1)    /* and which, counted from the hull's first */                 \
    /* octrees of meshes, as model/octree_distance.h says */                                                 \
    X(int32_t, mesh_octreeadr, m->nmesh, 1)                                                                  \
    X(int32_t, mesh_octreenum, m->nmesh, 1) /* nodes, 0: the mesh has none */                                \
    X(double, mesh_octreebox, m->nmesh, 6)  /* m, around the root: centre, half sizes */                     \
    X(int32_t, octree_child, m->noctree, 1) /* the first of eight, counted from the root; -1: a leaf */      \
    X(double, octree_coeff, m->noctree, 8)  /* m, distances of the corners */                                \
    /* height fields: nrow x ncol samples of 0 .. 1; row 0 at -y, column 0 at -x */                          \
    X(double, hfield_size, m->nhfield, 4) /* m: half width x, y, height of a sample 1, depth of the base */  \
    X(int32_t, hfield_nrow, m->nhfield, 1)                                                                   \
    X(int32_t, hfield_ncol, m->nhfield, 1)                                                                   \
    X(int32_t, hfield_adr, m->nhfield, 1)                                                                    \
    X(float, hfield_data, m->nhfielddata, 1)                                                                 \
    /* distance grids, laid out as physics/grid/distance_grid.h says */                                      \
    X(double, grid_origin, m->ngrid, 3)      /* m */                                                         \
    X(double, grid_cell, m->ngrid, 1)        /* m */                                                         \
    X(int32_t, grid_bricks, m->ngrid, 3)     /* along x, y, z */                                             \
    X(int32_t, grid_brickadr, m->ngrid, 1)   /* of its first brick */                                        \
    X(int32_t, grid_corneradr, m->ngrid, 1)  /* of its first corner */                                       \
    X(int32_t, grid_sampleadr, m->ngrid, 1)  /* of its first sample */                                       \
    X(int32_t, grid_brick, m->ngridbrick, 1) /* index of the brick's samples within its grid, -1: none */    \
    X(float, grid_corner, m->ngridcorner, 1) /* m */                                                         \
    X(float, grid_sample, m->ngridsample, 1) /* m */                                                         \
    /* textures: 2d, or six square faces one below the other: +x, -x, +y, -y, +z, -z */                      \
    X(int32_t, tex_type, m->ntex, 1) /* orr_texture_type */                                                  \
    X(int32_t, tex_height, m->ntex, 1)                                                                       \
    X(int32_t, tex_width, m->ntex, 1)                                                                        \
    X(int32_t, tex_nchannel, m->ntex, 1)                                                                     \
    X(int32_t, tex_adr, m->ntex, 1)                                                                          \
    X(int32_t, tex_colorspace, m->ntex, 1) /* orr_colour_space */                                            \
    X(uint8_t, tex_data, m->ntexdata, 1)                                                                     \
    /* materials */                                                                                          \
    X(int32_t, mat_texid, m->nmat, 1)                                                                        \
    X(uint8_t, mat_texuniform, m->nmat, 1) /* does the texture repeat per metre, not per object? */          \
    X(float, mat_texrepeat, m->nmat, 2)                                                                      \
    X(float, mat_emission, m->nmat, 1)                                                                       \
    X(float, mat_specular, m->nmat, 1)                                                                       \
    X(float, mat_shininess, m->nmat, 1)                                                                      \
    X(float, mat_reflectance, m->nmat, 1)                                                                    \
    X(float, mat_metallic, m->nmat, 1)  /* -1: not given */                                                  \
    X(float, mat_roughness, m->nmat, 1) /* -1: not given */                                                  \
    X(float, mat_rgba, m->nmat, 4)                                                                           \
    /* pairs of geoms that collide regardless of filters */                                                  \
    X(int32_t, pair_dim, m->npair, 1)                                                                        \
    X(int32_t, pair_geom1, m->npair, 1)                                                                      \
    X(int32_t, pair_geom2, m->npair, 1)                                                                      \
    X(int32_t, pair_signature, m->npair, 1) /* (body1 << 16) + body2, body1 <= body2 */                      \
    X(double, pair_solref, m->npair, ORR_NREF)                                                               \
    X(double, pair_solreffriction, m->npair, ORR_NREF) /* 0 0: solref */                                     \
    X(double, pair_solimp, m->npair, ORR_NIMP)                                                               \
    X(double, pair_margin, m->npair, 1)                                                                      \
    X(double, pair_gap, m->npair, 1)                                                                         \
    X(double, pair_adhesion, m->npair, 1)         /* N */                                                    \
    X(double, pair_friction, m->npair, 5)         /* sliding 2, torsional, rolling 2 */                      \
    X(int32_t, exclude_signature, m->nexclude, 1) /* as pair_signature */                                    \
    /* equalities */                                                                                         \
    X(int32_t, eq_type, m->neq, 1)    /* orr_equality_type */                                                \
    X(int32_t, eq_obj1id, m->neq, 1)  /* of a flexstrain: its cell, of nflexcell */                          \
    X(int32_t, eq_obj2id, m->neq, 1)  /* -1: none (a joint alone) */                                         \
    X(int32_t, eq_objtype, m->neq, 1) /* ORR_OBJECT_BODY or _SITE: what connect and weld join */             \
    X(uint8_t, eq_active0, m->neq, 1) /* at the start */                                                     \
    X(double, eq_solref, m->neq, ORR_NREF)                                                                   \
    X(double, eq_solimp, m->neq, ORR_NIMP)                                                                   \
    X(double, eq_data, m->neq, ORR_NEQDATA)                                                                  \
    /* tendons */                                                                                            \
    X(int32_t, tendon_adr, m->ntendon, 1) /* first wrap object */                                            \
    X(int32_t, tendon_num, m->ntendon, 1)                                                                    \
    X(int32_t, tendon_matid, m->ntendon, 1)                                                                  \
    X(int32_t, tendon_group, m->ntendon, 1)                                                                  \
    X(uint8_t, tendon_limited, m->ntendon, 1)                                                                \
    X(uint8_t, tendon_actfrclimited, m->ntendon, 1)                                                          \
    X(double, tendon_width, m->ntendon, 1)                                                                   \
    X(double, tendon_solref_lim, m->ntendon, ORR_NREF)                                                       \
    X(double, tendon_solimp_lim, m->ntendon, ORR_NIMP)                                                       \
    X(double, tendon_solref_fri, m->ntendon, ORR_NREF)                                                       \
    X(double, tendon_solimp_fri, m->ntendon, ORR_NIMP)                                                       \
    X(double, tendon_range, m->ntendon, 2)                                                                   \
    X(double, tendon_actfrcrange, m->ntendon, 2)                                                             \
    X(double, tendon_margin, m->ntendon, 1)                                                                  \
    X(double, tendon_stiffness, m->ntendon, 1)                                                               \
    X(double, tendon_stiffnesspoly, m->ntendon, ORR_NPOLY)                                                   \
    X(double, tendon_dampingpoly, m->ntendon, ORR_NPOLY)                                                     \
    X(double, tendon_drive, m->ntendon, 2 + ORR_NPOLY) /* as dof_drive */                                    \
    X(double, tendon_damping, m->ntendon, 1)                                                                 \
    X(double, tendon_armature, m->ntendon, 1)                                                                \
    X(double, tendon_frictionloss, m->ntendon, 1)                                                            \
    X(double, tendon_lengthspring, m->ntendon, 2) /* the spring rests between these lengths */               \
    X(int32_t, tendon_plasticadr, m->ntendon, 1)  /* as of joints */                                         \
    X(double, tendon_springyield, m->ntendon, 1)  /* m */                                                    \
    X(double, tendon_length0, m->ntendon, 1)      /* at qpos0 */                                             \
    X(double, tendon_invweight0, m->ntendon, 1)   /* J M^-1 J^T at qpos0 */                                  \
    X(double, tendon_user, m->ntendon, m->nuser_tendon)                                                      \
    X(float, tendon_rgba, m->ntendon, 4)                                                                     \
    X(int32_t, wrap_type, m->nwrap, 1)  /* orr_wrap_type */                                                  \
    X(int32_t, wrap_objid, m->nwrap, 1) /* joint, site or geom */                                            \
    X(double, wrap_prm, m->nwrap, 1)                                                                         \
    /* actuators */                                                                                          \
    X(int32_t, actuator_trntype, m->nactuator, 1)  /* orr_transmission */                                    \
    X(int32_t, actuator_dyntype, m->nactuator, 1)  /* orr_dynamics_type */                                   \
    X(int32_t, actuator_gaintype, m->nactuator, 1) /* orr_gain_type */                                       \
    X(int32_t, actuator_biastype, m->nactuator, 1) /* orr_bias_type */                                       \
    X(int32_t, actuator_trnid, m->nactuator, 2)                                                              \
    X(int32_t, actuator_ctrladr, m->nactuator, 1) /* its first control */                                    \
    X(int32_t, actuator_ctrlnum, m->nactuator, 1)                                                            \
    X(int32_t, actuator_ctrlspec, m->nactuator,                                                              \
      1) /* what controls mean: orr_input, orr_chart; 0: forces, activations */                              \
    X(int32_t, actuator_outadr, m->nactuator, 1) /* its first output */                                      \
    X(int32_t, actuator_outnum, m->nactuator, 1)                                                             \
    X(int32_t, actuator_actadr, m->nactuator, 1)                                                             \
    X(int32_t, actuator_actnum, m->nactuator, 1)                                                             \
    X(int32_t, actuator_history, m->nactuator, 2)  /* steps that it remembers; orr_delay_type */             \
    X(int32_t, actuator_delayadr, m->nactuator, 1) /* its first of ndelayed; -1: it has no delay */          \
    X(double, actuator_delay, m->nactuator, 1)     /* s */                                                   \
    X(int32_t, actuator_group, m->nactuator, 1)                                                              \
    X(uint8_t, actuator_ctrllimited, m->nu, 1)                                                               \
    X(uint8_t, actuator_forcelimited, m->nactuator, 1)                                                       \
    X(uint8_t, actuator_actlimited, m->nactuator, 1)                                                         \
    X(uint8_t, actuator_actearly, m->nactuator, 1) /* does the force use the next activation? */             \
    X(double, actuator_dynprm, m->nactuator, ORR_NDYN)                                                       \
    X(double, actuator_gainprm, m->nactuator, ORR_NGAIN)                                                     \
    X(double, actuator_biasprm, m->nactuator, ORR_NBIAS)                                                     \
    X(double, actuator_ctrlrange, m->nu, 2)                                                                  \
    X(double, actuator_forcerange, m->nactuator, 2)                                                          \
    X(double, actuator_actrange, m->nactuator, 2)                                                            \
    X(double, actuator_cranklength, m->nactuator, 1) /* of the rod between crank and slider */               \
    X(double, actuator_gear, m->nout, 6)                                                                     \
    X(double, actuator_armature, m->nactuator, 1) /* of what it moves, times gear^2 */                       \
    X(double, actuator_damping, m->nactuator, 1)                                                             \
    X(double, actuator_dampingpoly, m->nactuator, ORR_NPOLY)                                                 \
    X(double, actuator_acc0, m->nout, 1)    /* |M^-1 moment^T| at qpos0 */                                   \
    X(double, actuator_length0, m->nout, 1) /* at qpos0 */                                                   \
    X(double, actuator_lengthrange, m->nout, 2)                                                              \
    X(double, actuator_user, m->nactuator, m->nuser_actuator)                                                \
    /* sensors */                                                                                            \
    X(int32_t, sensor_type, m->nsensor, 1)      /* orr_sensor_type */                                        \
    X(int32_t, sensor_datatype, m->nsensor, 1)  /* orr_sensor_data */                                        \
    X(int32_t, sensor_needstage, m->nsensor, 1) /* orr_stage */                                              \
    X(int32_t, sensor_objtype, m->nsensor, 1)   /* orr_object */                                             \
    X(int32_t, sensor_objid, m->nsensor, 1)                                                                  \
    X(int32_t, sensor_reftype, m->nsensor, 1) /* frame it is measured in; */                                 \
    X(int32_t, sensor_refid, m->nsensor, 1)   /* -1: the world's */                                          \
    X(int32_t, sensor_intprm, m->nsensor, 3) /* orr_contact_data, orr_contact_reduce, number of contacts; */ \
                                             /* of a touch grid: channels, columns, rows */                  \
    X(double, sensor_fov, m->nsensor, 3)     /* of a touch grid: to each side, up and down [rad], gamma */   \
    X(int32_t, sensor_dim, m->nsensor, 1)                                                                    \
    X(int32_t, sensor_adr, m->nsensor, 1)                                                                    \
    X(int32_t, sensor_history, m->nsensor, 2)  /* samples that it remembers; orr_delay_type */               \
    X(int32_t, sensor_delayadr, m->nsensor, 1) /* its first of ndelayed; -1: none */                         \
    X(int32_t, sensor_taxeladr, m->nsensor, 1) /* the first point of a tactile sensor; -1: none */           \
    X(double, taxel_pos, m->ntaxel, 3)         /* m, in the frame of the sensor's geom */                    \
    X(double, taxel_tangent, m->ntaxel, 6)     /* two unit vectors; zeros: the mesh has none */              \
    X(double, sensor_delay, m->nsensor, 1)     /* s */                                                       \
    X(double, sensor_interval, m->nsensor,                                                                   \
      2)                                    /* s: between samples; when the one before the start was due */  \
    X(double, sensor_cutoff, m->nsensor, 1) /* 0: none */                                                    \
    X(double, sensor_noise, m->nsensor, 1)  /* standard deviation; never applied here */                     \
    X(double, sensor_user, m->nsensor, m->nuser_sensor)                                                      \
    /* custom elements and keyframes */                                                                      \
    X(int32_t, numeric_adr, m->nnumeric, 1)                                                                  \
    X(int32_t, numeric_size, m->nnumeric, 1)                                                                 \
    X(double, numeric_data, m->nnumericdata, 1)                                                              \
    X(int32_t, text_adr, m->ntext, 1)                                                                        \
    X(int32_t, text_size, m->ntext, 1) /* with the zero byte at the end */                                   \
    X(char, text_data, m->ntextdata, 1)                                                                      \
    X(int32_t, tuple_adr, m->ntuple, 1)                                                                      \
    X(int32_t, tuple_size, m->ntuple, 1)                                                                     \
    X(int32_t, tuple_objtype, m->ntupledata, 1) /* orr_object */                                             \
    X(int32_t, tuple_objid, m->ntupledata, 1)                                                                \
    X(double, tuple_objprm, m->ntupledata, 1)                                                                \
    X(double, key_time, m->nkey, 1)                                                                          \
    X(double, key_qpos, m->nkey, m->nq)                                                                      \
    X(double, key_qvel, m->nkey, m->nv)                                                                      \
    X(double, key_act, m->nkey, m->na)                                                                       \
    X(double, key_ctrl, m->nkey, m->nu)                                                                      \
    X(double, key_mpos, m->nkey, 3 * m->nmocap)                                                              \
    X(double, key_mquat, m->nkey, 4 * m->nmocap)                                                             \
    X(double, key_plastic, m->nkey, m->nplastic)                                                             \
    X(double, plastic0, m->nplastic, 1) /* `plastic` at the start */                                         \
    /* names: offset of each in `names`; without one: of an empty string */                                  \
    X(int32_t, name_bodyadr, m->nbody, 1)                                                                    \
    X(int32_t, name_jntadr, m->njnt, 1)                                                                      \
    X(int32_t, name_geomadr, m->ngeom, 1)                                                                    \
    X(int32_t, name_siteadr, m->nsite, 1)                                                                    \
    X(int32_t, name_camadr, m->ncam, 1)                                                                      \
    X(int32_t, name_lightadr, m->nlight, 1)                                                                  \
    X(int32_t, name_flexadr, m->nflex, 1)                                                                    \
    X(int32_t, name_meshadr, m->nmesh, 1)                                                                    \
    X(int32_t, name_hfieldadr, m->nhfield, 1)                                                                \
    X(int32_t, name_texadr, m->ntex, 1)                                                                      \
    X(int32_t, name_matadr, m->nmat, 1)                                                                      \
    X(int32_t, name_pairadr, m->npair, 1)                                                                    \
    X(int32_t, name_excludeadr, m->nexclude, 1)                                                              \
    X(int32_t, name_eqadr, m->neq, 1)                                                                        \
    X(int32_t, name_tendonadr, m->ntendon, 1)                                                                \
    X(int32_t, name_actuatoradr, m->nactuator, 1)                                                            \
    X(int32_t, name_sensoradr, m->nsensor, 1)                                                                \
    X(int32_t, name_numericadr, m->nnumeric, 1)                                                              \
    X(int32_t, name_textadr, m->ntext, 1)                                                                    \
    X(int32_t, name_tupleadr, m->ntuple, 1)                                                                  \
    X(int32_t, name_keyadr, m->nkey, 1)                                                                      \
    X(char, names, m->nnames, 1)

typedef struct orr_model_option {
    double timestep; // s
    double impratio; // ratio of the impedance of friction to that of the normal force, elliptic cones
    double tolerance, ls_tolerance, noslip_tolerance, ccd_tolerance;
    double sleep_tolerance; // m/s below which a kinematic tree may fall asleep, ORR_ENABLE_SLEEP
    double gravity[3];      // m/s^2
    double wind[3];         // m/s
    double magnetic[3];     // T
    double density;         // of the medium, kg/m^3
    double viscosity;       // of the medium, Pa s
    double o_margin, o_solref[ORR_NREF], o_solimp[ORR_NIMP],
        o_friction[5];                          // of all contacts, ORR_ENABLE_OVERRIDE
    int32_t integrator, cone, jacobian, solver; // orr_integrator ...
    int32_t iterations, ls_iterations, noslip_iterations, ccd_iterations;
    int32_t sdf_iterations, sdf_initpoints; // of the search for contacts of a geom_function: steps, starts
    int32_t disableflags, enableflags;      // orr_disable, orr_enable
    int32_t disableactuator;                // bit g: actuators of group g do nothing
} orr_model_option;

typedef struct orr_model_statistic { // at qpos0
    double meaninertia, meanmass, meansize;
    double extent, centre[3]; // m, of everything that is drawn
} orr_model_statistic;

typedef struct orr_model_visual { // settings for drawing
    float headlight_ambient[3], headlight_diffuse[3], headlight_specular[3];
    int32_t headlight_active;
    float fovy, azimuth, elevation; // of the free camera, degrees
    int32_t offwidth, offheight;    // pixels
    float znear, zfar;              // in units of the extent
    float fogstart, fogend, haze;   // in units of the extent
    float fog_rgba[4], haze_rgba[4];
    float force_scale;                             // m per N of a drawn force, in units of the mean size
    float stiffness, stiffnessrot;                 // of the mouse's spring
    float contactwidth, contactheight, forcewidth; // in units of the mean size
} orr_model_visual;

// Elements of a file that have no effect: skins, text between elements, URDF elements for other programs.
typedef struct orr_model_unused {
    int32_t count;
    char first[448]; // "file:line: what", of the first; "": nothing
} orr_model_unused;

typedef struct orr_model {
#define ORR_MODEL_SIZE(name) int32_t name;
    ORR_MODEL_SIZES(ORR_MODEL_SIZE)
#undef ORR_MODEL_SIZE
    orr_model_option opt;
    orr_model_statistic stat;
    orr_model_visual vis;
#define ORR_MODEL_ARRAY(type, name, rows, columns) type *name;
    ORR_MODEL_ARRAYS(ORR_MODEL_ARRAY)
#undef ORR_MODEL_ARRAY
    size_t bytes; // of everything
    void *memory; // all arrays
    char name[128];
    orr_model_unused unused;
    struct orr_visuals *visuals; // of a URDF (visuals.h); NULL: none
} orr_model;

void orr_model_destroy(orr_model *model); // NULL is allowed

// The name of an object, "" when it has none. `id` must be in range; the string is the model's.
const char *orr_model_name(const orr_model *model, orr_object kind, int id);
// The MJCF element of an orr_sensor_type: "touch".
const char *orr_model_sensor_kind(int sensor_type);
// The id of an object, or -1 when there is none of that name.
int orr_model_find(const orr_model *model, orr_object kind, const char *name);
int orr_model_count(const orr_model *model, orr_object kind);
