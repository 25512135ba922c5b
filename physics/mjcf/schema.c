// The attributes of each element, and the members that they fill. Attributes that MuJoCo has and this engine
// has not are listed, so that they get an error line of their own.
#include "physics/mjcf/mjcf.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define REAL(type, name, member, low, high)                                                                  \
    {                                                                                                        \
        name, MJCF_REAL, offsetof(type, member), low, high, NULL                                             \
    }
#define RANGE(type, name, member)                                                                            \
    {                                                                                                        \
        name, MJCF_RANGE, offsetof(type, member), 2, 2, NULL                                                 \
    }
#define SINGLE(type, name, member, low, high)                                                                \
    {                                                                                                        \
        name, MJCF_SINGLE, offsetof(type, member), low, high, NULL                                           \
    }
#define INTEGER(type, name, member, low, high)                                                               \
    {                                                                                                        \
        name, MJCF_INTEGER, offsetof(type, member), low, high, NULL                                          \
    }
#define KEYWORD(type, name, member, keys)                                                                    \
    {                                                                                                        \
        name, MJCF_KEYWORD, offsetof(type, member), 1, 1, keys                                               \
    }
#define TEXT(type, name, member)                                                                             \
    {                                                                                                        \
        name, MJCF_TEXT, offsetof(type, member), 1, 1, NULL                                                  \
    }
#define NUMBERS(type, name, member)                                                                          \
    {                                                                                                        \
        name, MJCF_NUMBERS, offsetof(type, member), 0, SPEC_NUMBERS_MAX, NULL                                \
    }
#define NO_EFFECT(name)                                                                                      \
    {                                                                                                        \
        name, MJCF_NO_EFFECT, 0, 0, 0, NULL                                                                  \
    }
#define UNSUPPORTED(name)                                                                                    \
    {                                                                                                        \
        name, MJCF_UNSUPPORTED, 0, 0, 0, NULL                                                                \
    }
#define END                                                                                                  \
    {                                                                                                        \
        NULL, MJCF_TEXT, 0, 0, 0, NULL                                                                       \
    }

#define TURN(type)                                                                                           \
    REAL(type, "quat", orientation.quat, 4, 4), REAL(type, "axisangle", orientation.axisangle, 4, 4),        \
        REAL(type, "xyaxes", orientation.xyaxes, 6, 6), REAL(type, "zaxis", orientation.zaxis, 3, 3),        \
        REAL(type, "euler", orientation.euler, 3, 3)
#define POSE(type) REAL(type, "pos", pos, 3, 3), TURN(type)

const mjcf_key mjcf_bool_keys[] = {{"false", 0}, {"true", 1}, {NULL, 0}};
const mjcf_key mjcf_tristate_keys[] = {{"false", 0}, {"true", 1}, {"auto", SPEC_AUTO}, {NULL, 0}};
const mjcf_key mjcf_joint_keys[] = {{"free", ORR_JOINT_FREE},
                                    {"ball", ORR_JOINT_BALL},
                                    {"slide", ORR_JOINT_SLIDE},
                                    {"hinge", ORR_JOINT_HINGE},
                                    {NULL, 0}};
const mjcf_key mjcf_geom_keys[] = {{"plane", ORR_GEOM_PLANE},
                                   {"hfield", ORR_GEOM_HFIELD},
                                   {"sphere", ORR_GEOM_SPHERE},
                                   {"capsule", ORR_GEOM_CAPSULE},
                                   {"ellipsoid", ORR_GEOM_ELLIPSOID},
                                   {"cylinder", ORR_GEOM_CYLINDER},
                                   {"box", ORR_GEOM_BOX},
                                   {"mesh", ORR_GEOM_MESH},
                                   {"sdf", ORR_GEOM_SDF},
                                   {NULL, 0}};
const mjcf_key mjcf_object_keys[] = {{"body", ORR_OBJECT_BODY},         {"xbody", ORR_OBJECT_XBODY},
                                     {"joint", ORR_OBJECT_JOINT},       {"geom", ORR_OBJECT_GEOM},
                                     {"site", ORR_OBJECT_SITE},         {"camera", ORR_OBJECT_CAMERA},
                                     {"light", ORR_OBJECT_LIGHT},       {"mesh", ORR_OBJECT_MESH},
                                     {"hfield", ORR_OBJECT_HFIELD},     {"texture", ORR_OBJECT_TEXTURE},
                                     {"material", ORR_OBJECT_MATERIAL}, {"pair", ORR_OBJECT_PAIR},
                                     {"exclude", ORR_OBJECT_EXCLUDE},   {"equality", ORR_OBJECT_EQUALITY},
                                     {"tendon", ORR_OBJECT_TENDON},     {"actuator", ORR_OBJECT_ACTUATOR},
                                     {"sensor", ORR_OBJECT_SENSOR},     {"numeric", ORR_OBJECT_NUMERIC},
                                     {"text", ORR_OBJECT_TEXT},         {"tuple", ORR_OBJECT_TUPLE},
                                     {"key", ORR_OBJECT_KEY},           {NULL, 0}};

static const mjcf_key angle_keys[] = {{"radian", 0}, {"degree", 1}, {NULL, 0}};
static const mjcf_key integrator_keys[] = {{"Euler", ORR_INTEGRATOR_EULER},
                                           {"RK4", ORR_INTEGRATOR_RK4},
                                           {"implicit", ORR_INTEGRATOR_IMPLICIT},
                                           {"implicitfast", ORR_INTEGRATOR_IMPLICITFAST},
                                           {"discrete", ORR_INTEGRATOR_IMPLICITFAST}, // noted in mjcf.c
                                           {NULL, 0}};
static const mjcf_key cone_keys[] = {
    {"pyramidal", ORR_CONE_PYRAMIDAL}, {"elliptic", ORR_CONE_ELLIPTIC}, {NULL, 0}};
static const mjcf_key jacobian_keys[] = {
    {"dense", ORR_JACOBIAN_DENSE}, {"sparse", ORR_JACOBIAN_SPARSE}, {"auto", ORR_JACOBIAN_AUTO}, {NULL, 0}};
static const mjcf_key solver_keys[] = {
    {"PGS", ORR_SOLVER_PGS}, {"CG", ORR_SOLVER_CG}, {"Newton", ORR_SOLVER_NEWTON}, {NULL, 0}};
static const mjcf_key camera_mode_keys[] = {{"fixed", ORR_CAMERA_FIXED},
                                            {"track", ORR_CAMERA_TRACK},
                                            {"trackcom", ORR_CAMERA_TRACKCOM},
                                            {"targetbody", ORR_CAMERA_TARGETBODY},
                                            {"targetbodycom", ORR_CAMERA_TARGETBODYCOM},
                                            {NULL, 0}};
static const mjcf_key projection_keys[] = {{"perspective", 0}, {"orthographic", 1}, {NULL, 0}};
static const mjcf_key light_keys[] = {
    {"spot", ORR_LIGHT_SPOT}, {"directional", ORR_LIGHT_DIRECTIONAL}, {"point", ORR_LIGHT_POINT}, {NULL, 0}};
static const mjcf_key mesh_inertia_keys[] = {{"convex", SPEC_MESH_CONVEX},
                                             {"exact", SPEC_MESH_EXACT},
                                             {"legacy", SPEC_MESH_LEGACY},
                                             {"shell", SPEC_MESH_SHELL},
                                             {NULL, 0}};
static const mjcf_key mesh_builtin_keys[] = {{"none", SPEC_MESH_NOT_BUILTIN},
                                             {"sphere", SPEC_MESH_SPHERE},
                                             {"hemisphere", SPEC_MESH_HEMISPHERE},
                                             {"cone", SPEC_MESH_CONE},
                                             {"supersphere", SPEC_MESH_SUPERSPHERE},
                                             {"supertorus", SPEC_MESH_SUPERTORUS},
                                             {"wedge", SPEC_MESH_WEDGE},
                                             {"plate", SPEC_MESH_PLATE},
                                             {NULL, 0}};
static const mjcf_key texture_keys[] = {
    {"2d", ORR_TEXTURE_2D}, {"cube", ORR_TEXTURE_CUBE}, {"skybox", ORR_TEXTURE_SKYBOX}, {NULL, 0}};
static const mjcf_key colour_space_keys[] = {
    {"auto", ORR_COLOUR_AUTO}, {"linear", ORR_COLOUR_LINEAR}, {"sRGB", ORR_COLOUR_SRGB}, {NULL, 0}};
static const mjcf_key builtin_keys[] = {{"none", SPEC_BUILTIN_NONE},
                                        {"gradient", SPEC_BUILTIN_GRADIENT},
                                        {"checker", SPEC_BUILTIN_CHECKER},
                                        {"flat", SPEC_BUILTIN_FLAT},
                                        {NULL, 0}};
static const mjcf_key mark_keys[] = {{"none", SPEC_MARK_NONE},
                                     {"edge", SPEC_MARK_EDGE},
                                     {"cross", SPEC_MARK_CROSS},
                                     {"random", SPEC_MARK_RANDOM},
                                     {NULL, 0}};
static const mjcf_key dynamics_keys[] = {{"none", ORR_DYNAMICS_NONE},
                                         {"integrator", ORR_DYNAMICS_INTEGRATOR},
                                         {"filter", ORR_DYNAMICS_FILTER},
                                         {"filterexact", ORR_DYNAMICS_FILTEREXACT},
                                         {"muscle", ORR_DYNAMICS_MUSCLE},
                                         {"pid", ORR_DYNAMICS_PID},
                                         {"dcmotor", ORR_DYNAMICS_DCMOTOR},
                                         {"user", ORR_DYNAMICS_USER},
                                         {NULL, 0}};
static const mjcf_key gain_keys[] = {{"fixed", ORR_GAIN_FIXED},     {"affine", ORR_GAIN_AFFINE},
                                     {"muscle", ORR_GAIN_MUSCLE},   {"pid", ORR_GAIN_PID},
                                     {"dcmotor", ORR_GAIN_DCMOTOR}, {"so3", ORR_GAIN_SO3},
                                     {"user", ORR_GAIN_USER},       {NULL, 0}};
static const mjcf_key bias_keys[] = {{"none", ORR_BIAS_NONE},
                                     {"affine", ORR_BIAS_AFFINE},
                                     {"muscle", ORR_BIAS_MUSCLE},
                                     {"dcmotor", ORR_BIAS_DCMOTOR},
                                     {"so3", ORR_BIAS_SO3},
                                     {"user", ORR_BIAS_USER},
                                     {NULL, 0}};
const mjcf_key mjcf_interpolation_keys[] = {
    {"zoh", ORR_DELAY_HOLD}, {"linear", ORR_DELAY_LINEAR}, {"cubic", ORR_DELAY_CUBIC}, {NULL, 0}};
static const mjcf_key conflict_keys[] = {{"warning", 0}, {NULL, 0}}; // the options of the main model apply
static const mjcf_key length_mode_keys[] = {{"none", SPEC_LENGTH_NONE},
                                            {"muscle", SPEC_LENGTH_MUSCLE},
                                            {"muscleuser", SPEC_LENGTH_MUSCLEUSER},
                                            {"all", SPEC_LENGTH_ALL},
                                            {NULL, 0}};
static const mjcf_key sleep_keys[] = {{"auto", ORR_SLEEP_AUTO},
                                      {"never", ORR_SLEEP_NEVER},
                                      {"allowed", ORR_SLEEP_ALLOWED},
                                      {"init", ORR_SLEEP_INIT},
                                      {NULL, 0}};
static const mjcf_key fuse_keys[] = {{"true", 0}, {"false", 1}, {NULL, 0}};
static const mjcf_key fluid_keys[] = {{"none", 0}, {"ellipsoid", 1}, {NULL, 0}};
static const mjcf_key coordinate_keys[] = {{"local", 0}, {NULL, 0}};

const mjcf_member mjcf_compiler_members[] = {
    KEYWORD(spec_compiler, "angle", degree, angle_keys),
    KEYWORD(spec_compiler, "autolimits", autolimits, mjcf_bool_keys),
    KEYWORD(spec_compiler, "inertiafromgeom", inertiafromgeom, mjcf_tristate_keys),
    KEYWORD(spec_compiler, "balanceinertia", balanceinertia, mjcf_bool_keys),
    KEYWORD(spec_compiler, "discardvisual", discardvisual, mjcf_bool_keys),
    KEYWORD(spec_compiler, "strippath", strippath, mjcf_bool_keys),
    KEYWORD(spec_compiler, "fusestatic", fusestatic, mjcf_bool_keys),
    KEYWORD(spec_compiler, "alignfree", alignfree, mjcf_bool_keys),
    KEYWORD(spec_compiler, "fitaabb", fitaabb, mjcf_bool_keys),
    KEYWORD(spec_compiler, "coordinate", coordinate, coordinate_keys),
    INTEGER(spec_compiler, "inertiagrouprange", inertiagrouprange, 2, 2),
    REAL(spec_compiler, "boundmass", boundmass, 1, 1),
    REAL(spec_compiler, "boundinertia", boundinertia, 1, 1),
    REAL(spec_compiler, "settotalmass", settotalmass, 1, 1),
    TEXT(spec_compiler, "eulerseq", eulerseq),
    TEXT(spec_compiler, "meshdir", meshdir),
    TEXT(spec_compiler, "texturedir", texturedir),
    TEXT(spec_compiler, "assetdir", assetdir),
    NO_EFFECT("usethread"),
    NO_EFFECT("saveinertial"),
    NO_EFFECT("savecanonical"),
    NO_EFFECT("savecompiled"),
    NO_EFFECT("passthrough"),
    KEYWORD(spec_compiler, "conflict", conflict, conflict_keys),
    END};

const mjcf_member mjcf_length_range_members[] = {
    KEYWORD(spec_length_range, "mode", mode, length_mode_keys),
    KEYWORD(spec_length_range, "useexisting", useexisting, mjcf_bool_keys),
    KEYWORD(spec_length_range, "uselimit", uselimit, mjcf_bool_keys),
    REAL(spec_length_range, "accel", accel, 1, 1),
    REAL(spec_length_range, "maxforce", maxforce, 1, 1),
    REAL(spec_length_range, "timeconst", timeconst, 1, 1),
    REAL(spec_length_range, "timestep", timestep, 1, 1),
    REAL(spec_length_range, "inttotal", inttotal, 1, 1),
    REAL(spec_length_range, "interval", interval, 1, 1),
    REAL(spec_length_range, "tolrange", tolrange, 1, 1),
    END};

const mjcf_member mjcf_option_members[] = {
    REAL(orr_model_option, "timestep", timestep, 1, 1),
    REAL(orr_model_option, "impratio", impratio, 1, 1),
    REAL(orr_model_option, "tolerance", tolerance, 1, 1),
    REAL(orr_model_option, "ls_tolerance", ls_tolerance, 1, 1),
    REAL(orr_model_option, "noslip_tolerance", noslip_tolerance, 1, 1),
    REAL(orr_model_option, "ccd_tolerance", ccd_tolerance, 1, 1),
    REAL(orr_model_option, "gravity", gravity, 3, 3),
    REAL(orr_model_option, "wind", wind, 3, 3),
    REAL(orr_model_option, "magnetic", magnetic, 3, 3),
    REAL(orr_model_option, "density", density, 1, 1),
    REAL(orr_model_option, "viscosity", viscosity, 1, 1),
    REAL(orr_model_option, "o_margin", o_margin, 1, 1),
    REAL(orr_model_option, "o_solref", o_solref, 1, ORR_NREF),
    REAL(orr_model_option, "o_solimp", o_solimp, 1, ORR_NIMP),
    REAL(orr_model_option, "o_friction", o_friction, 1, 5),
    KEYWORD(orr_model_option, "integrator", integrator, integrator_keys),
    KEYWORD(orr_model_option, "cone", cone, cone_keys),
    KEYWORD(orr_model_option, "jacobian", jacobian, jacobian_keys),
    KEYWORD(orr_model_option, "solver", solver, solver_keys),
    INTEGER(orr_model_option, "iterations", iterations, 1, 1),
    INTEGER(orr_model_option, "ls_iterations", ls_iterations, 1, 1),
    INTEGER(orr_model_option, "noslip_iterations", noslip_iterations, 1, 1),
    INTEGER(orr_model_option, "ccd_iterations", ccd_iterations, 1, 1),
    INTEGER(orr_model_option, "sdf_iterations", sdf_iterations, 1, 1),
    INTEGER(orr_model_option, "sdf_initpoints", sdf_initpoints, 1, 1),
    REAL(orr_model_option, "sleep_tolerance", sleep_tolerance, 1, 1),
    END};

const mjcf_member mjcf_size_members[] = {INTEGER(spec_size, "nkey", nkey, 1, 1),
                                         INTEGER(spec_size, "nuserdata", nuserdata, 1, 1),
                                         INTEGER(spec_size, "nuser_body", nuser_body, 1, 1),
                                         INTEGER(spec_size, "nuser_jnt", nuser_jnt, 1, 1),
                                         INTEGER(spec_size, "nuser_geom", nuser_geom, 1, 1),
                                         INTEGER(spec_size, "nuser_site", nuser_site, 1, 1),
                                         INTEGER(spec_size, "nuser_cam", nuser_cam, 1, 1),
                                         INTEGER(spec_size, "nuser_tendon", nuser_tendon, 1, 1),
                                         INTEGER(spec_size, "nuser_actuator", nuser_actuator, 1, 1),
                                         INTEGER(spec_size, "nuser_sensor", nuser_sensor, 1, 1),
                                         NO_EFFECT("memory"),
                                         NO_EFFECT("nstack"),
                                         NO_EFFECT("nconmax"),
                                         NO_EFFECT("njmax"),
                                         END};

const mjcf_member mjcf_statistic_members[] = {REAL(orr_model_statistic, "meaninertia", meaninertia, 1, 1),
                                              REAL(orr_model_statistic, "meanmass", meanmass, 1, 1),
                                              REAL(orr_model_statistic, "meansize", meansize, 1, 1),
                                              REAL(orr_model_statistic, "extent", extent, 1, 1),
                                              REAL(orr_model_statistic, "center", centre, 3, 3),
                                              END};

const mjcf_member mjcf_body_members[] = {POSE(spec_body),
                                         KEYWORD(spec_body, "mocap", mocap, mjcf_bool_keys),
                                         REAL(spec_body, "gravcomp", gravcomp, 1, 1),
                                         TEXT(spec_body, "childclass", childclass),
                                         NUMBERS(spec_body, "user", user),
                                         KEYWORD(spec_body, "fuse", kept, fuse_keys),
                                         NO_EFFECT("simple"), // shortcuts of MuJoCo's
                                         KEYWORD(spec_body, "sleep", sleep, sleep_keys),
                                         END};

const mjcf_member mjcf_inertial_members[] = {POSE(spec_inertial), REAL(spec_inertial, "mass", mass, 1, 1),
                                             REAL(spec_inertial, "diaginertia", diaginertia, 3, 3),
                                             REAL(spec_inertial, "fullinertia", fullinertia, 6, 6), END};

const mjcf_member mjcf_frame_members[] = {POSE(spec_frame), TEXT(spec_frame, "childclass", childclass), END};

const mjcf_member mjcf_replicate_members[] = {REAL(spec_frame, "offset", pos, 3, 3),
                                              REAL(spec_frame, "euler", orientation.euler, 3, 3),
                                              TEXT(spec_frame, "childclass", childclass), END};

const mjcf_member mjcf_joint_members[] = {
    KEYWORD(spec_joint, "type", type, mjcf_joint_keys),
    INTEGER(spec_joint, "group", group, 1, 1),
    KEYWORD(spec_joint, "limited", limited, mjcf_tristate_keys),
    KEYWORD(spec_joint, "actuatorfrclimited", actfrclimited, mjcf_tristate_keys),
    KEYWORD(spec_joint, "actuatorgravcomp", actgravcomp, mjcf_bool_keys),
    REAL(spec_joint, "pos", pos, 3, 3),
    REAL(spec_joint, "axis", axis, 3, 3),
    REAL(spec_joint, "stiffness", stiffness, 1, 1 + ORR_NPOLY),
    REAL(spec_joint, "damping", damping, 1, 1 + ORR_NPOLY),
    REAL(spec_joint, "armature", armature, 1, 1),
    REAL(spec_joint, "frictionloss", frictionloss, 1, 1),
    REAL(spec_joint, "margin", margin, 1, 1),
    RANGE(spec_joint, "range", range),
    RANGE(spec_joint, "actuatorfrcrange", actfrcrange),
    REAL(spec_joint, "ref", ref, 1, 1),
    REAL(spec_joint, "springref", springref, 1, 1),
    REAL(spec_joint, "springdamper", springdamper, 2, 2),
    REAL(spec_joint, "springyield", springyield, 1, 1),
    REAL(spec_joint, "solreflimit", solref_limit, 1, ORR_NREF),
    REAL(spec_joint, "solimplimit", solimp_limit, 1, ORR_NIMP),
    REAL(spec_joint, "solreffriction", solref_friction, 1, ORR_NREF),
    REAL(spec_joint, "solimpfriction", solimp_friction, 1, ORR_NIMP),
    NUMBERS(spec_joint, "user", user),
    END};

const mjcf_member mjcf_freejoint_members[] = {INTEGER(spec_joint, "group", group, 1, 1),
                                              KEYWORD(spec_joint, "align", align, mjcf_tristate_keys), END};

const mjcf_member mjcf_geom_members[] = {POSE(spec_geom),
                                         KEYWORD(spec_geom, "type", type, mjcf_geom_keys),
                                         INTEGER(spec_geom, "contype", contype, 1, 1),
                                         INTEGER(spec_geom, "conaffinity", conaffinity, 1, 1),
                                         INTEGER(spec_geom, "condim", condim, 1, 1),
                                         INTEGER(spec_geom, "group", group, 1, 1),
                                         INTEGER(spec_geom, "priority", priority, 1, 1),
                                         KEYWORD(spec_geom, "fluidshape", fluidshape, fluid_keys),
                                         REAL(spec_geom, "size", size, 1, 3),
                                         REAL(spec_geom, "fromto", fromto, 6, 6),
                                         REAL(spec_geom, "friction", friction, 1, 3),
                                         REAL(spec_geom, "mass", mass, 1, 1),
                                         REAL(spec_geom, "density", density, 1, 1),
                                         REAL(spec_geom, "solmix", solmix, 1, 1),
                                         REAL(spec_geom, "solref", solref, 1, ORR_NREF),
                                         REAL(spec_geom, "solimp", solimp, 1, ORR_NIMP),
                                         REAL(spec_geom, "margin", margin, 1, 1),
                                         REAL(spec_geom, "gap", gap, 1, 1),
                                         REAL(spec_geom, "fluidcoef", fluidcoef, 1, 5),
                                         SINGLE(spec_geom, "rgba", rgba, 4, 4),
                                         TEXT(spec_geom, "material", material),
                                         TEXT(spec_geom, "mesh", mesh),
                                         TEXT(spec_geom, "hfield", hfield),
                                         NUMBERS(spec_geom, "user", user),
                                         KEYWORD(spec_geom, "shellinertia", shellinertia, mjcf_bool_keys),
                                         KEYWORD(spec_geom, "castshadow", castshadow, mjcf_bool_keys),
                                         REAL(spec_geom, "fitscale", fitscale, 1, 1),
                                         REAL(spec_geom, "surfacevel", surfacevel, 1, 6),
                                         REAL(spec_geom, "adhesion", adhesion, 1, 1),
                                         END};

const mjcf_member mjcf_site_members[] = {POSE(spec_site),
                                         UNSUPPORTED("mesh"),
                                         KEYWORD(spec_site, "type", type, mjcf_geom_keys),
                                         INTEGER(spec_site, "group", group, 1, 1),
                                         REAL(spec_site, "size", size, 1, 3),
                                         REAL(spec_site, "fromto", fromto, 6, 6),
                                         SINGLE(spec_site, "rgba", rgba, 4, 4),
                                         TEXT(spec_site, "material", material),
                                         NUMBERS(spec_site, "user", user),
                                         END};

static const mjcf_key flex_type_keys[] = {{"grid", MJCF_FLEX_GRID},
                                          {"box", MJCF_FLEX_BOX},
                                          {"cylinder", MJCF_FLEX_CYLINDER},
                                          {"ellipsoid", MJCF_FLEX_ELLIPSOID},
                                          {"square", MJCF_FLEX_SQUARE},
                                          {"disc", MJCF_FLEX_DISC},
                                          {"circle", MJCF_FLEX_CIRCLE},
                                          {"mesh", MJCF_FLEX_MESH},
                                          {"gmsh", MJCF_FLEX_GMSH},
                                          {"direct", MJCF_FLEX_DIRECT},
                                          {NULL, 0}};
static const mjcf_key flex_dof_keys[] = {
    {"full", MJCF_FLEX_FULL},           {"radial", MJCF_FLEX_RADIAL}, {"trilinear", MJCF_FLEX_TRILINEAR},
    {"quadratic", MJCF_FLEX_QUADRATIC}, {"2d", MJCF_FLEX_2D},         {NULL, 0}};
static const mjcf_key elastic2d_keys[] = {{"none", ORR_ELASTIC_NONE},
                                          {"bend", ORR_ELASTIC_BEND},
                                          {"stretch", ORR_ELASTIC_STRETCH},
                                          {"both", ORR_ELASTIC_BOTH},
                                          {NULL, 0}};
static const mjcf_key edge_equality_keys[] = {
    {"false", MJCF_FLEX_FREE}, {"true", MJCF_FLEX_EDGES}, {"strain", MJCF_FLEX_STRAIN}, {NULL, 0}};

const mjcf_member mjcf_flexcomp_members[] = {POSE(spec_flex),
                                             INTEGER(spec_flex, "dim", dim, 1, 1),
                                             KEYWORD(mjcf_flexcomp, "dof", dof, flex_dof_keys),
                                             KEYWORD(mjcf_flexcomp, "type", type, flex_type_keys),
                                             INTEGER(mjcf_flexcomp, "count", count, 1, 3),
                                             REAL(mjcf_flexcomp, "spacing", spacing, 1, 3),
                                             NUMBERS(mjcf_flexcomp, "point", point),
                                             NUMBERS(mjcf_flexcomp, "element", element),
                                             REAL(spec_flex, "mass", mass, 1, 1),
                                             TEXT(mjcf_flexcomp, "file", file),
                                             KEYWORD(mjcf_flexcomp, "rigid", rigid, mjcf_bool_keys),
                                             REAL(mjcf_flexcomp, "scale", scale, 3, 3),
                                             REAL(mjcf_flexcomp, "origin", origin, 3, 3),
                                             REAL(spec_flex, "radius", radius, 1, 1),
                                             TEXT(spec_flex, "material", material),
                                             SINGLE(spec_flex, "rgba", rgba, 4, 4),
                                             INTEGER(spec_flex, "group", group, 1, 1),
                                             INTEGER(mjcf_flexcomp, "cellcount", cellcount, 3, 3),
                                             REAL(spec_flex, "inertiabox", inertiabox, 1, 1),
                                             NO_EFFECT("texcoord"), // it is drawn in its colour
                                             NO_EFFECT("elemtexcoord"),
                                             NO_EFFECT("flatskin"),
                                             TEXT(mjcf_flexcomp, "mesh", mesh),
                                             END};

#define FLEX_TOUCH                                                                                           \
    INTEGER(spec_flex, "contype", touch.contype, 1, 1),                                                      \
        INTEGER(spec_flex, "conaffinity", touch.conaffinity, 1, 1),                                          \
        INTEGER(spec_flex, "condim", touch.condim, 1, 1),                                                    \
        INTEGER(spec_flex, "priority", touch.priority, 1, 1), REAL(spec_flex, "solmix", touch.solmix, 1, 1), \
        REAL(spec_flex, "solref", touch.solref, 1, ORR_NREF),                                                \
        REAL(spec_flex, "solimp", touch.solimp, 1, ORR_NIMP), REAL(spec_flex, "margin", touch.margin, 1, 1), \
        REAL(spec_flex, "gap", touch.gap, 1, 1), NO_EFFECT("internal"), NO_EFFECT("passive")

// Of one that nodes move.
const mjcf_member mjcf_flex_touch_members[] = {FLEX_TOUCH, NO_EFFECT("selfcollide"),
                                               INTEGER(spec_flex, "activelayers", touch.layers, 1, 1), END};

static const mjcf_key selfcollide_keys[] = {{"none", 0}, {"narrow", 1}, {"bvh", 1},
                                            {"sap", 1},  {"auto", 1},   {NULL, 0}};

const mjcf_member mjcf_flex_contact_members[] = {
    FLEX_TOUCH, KEYWORD(spec_flex, "selfcollide", touch.selfcollide, selfcollide_keys),
    NO_EFFECT("activelayers"), END};

const mjcf_member mjcf_flex_edge_members[] = {
    KEYWORD(mjcf_flexcomp, "equality", equality, edge_equality_keys),
    REAL(spec_flex, "stiffness", edge_stiffness, 1, 1),
    REAL(spec_flex, "damping", edge_damping, 1, 1),
    REAL(spec_flex, "solref", strain_solref, 1, ORR_NREF),
    REAL(spec_flex, "solimp", strain_solimp, 1, ORR_NIMP),
    END};

// Of one with equality="strain".
const mjcf_member mjcf_flex_strain_members[] = {
    KEYWORD(mjcf_flexcomp, "equality", equality, edge_equality_keys),
    REAL(spec_flex, "solref", strain_solref, 1, ORR_NREF),
    REAL(spec_flex, "solimp", strain_solimp, 1, ORR_NIMP),
    NO_EFFECT("stiffness"),
    NO_EFFECT("damping"),
    END};

const mjcf_member mjcf_flex_elasticity_members[] = {
    REAL(spec_flex, "young", young, 1, 1),
    REAL(spec_flex, "poisson", poisson, 1, 1),
    REAL(spec_flex, "damping", damping, 1, 1),
    REAL(spec_flex, "thickness", thickness, 1, 1),
    KEYWORD(spec_flex, "elastic2d", elastic2d, elastic2d_keys),
    UNSUPPORTED("section"),
    UNSUPPORTED("sectionsize"),
    UNSUPPORTED("shear"),
    UNSUPPORTED("yield"),
    END};

const mjcf_member mjcf_flex_pin_members[] = {
    NUMBERS(mjcf_flex_pin, "id", id), NUMBERS(mjcf_flex_pin, "range", range),
    NUMBERS(mjcf_flex_pin, "grid", grid), NUMBERS(mjcf_flex_pin, "gridrange", gridrange), END};

const mjcf_member mjcf_flex_members[] = {NUMBERS(mjcf_flex_vertices, "vertex", vertex), END};

const mjcf_member mjcf_camera_members[] = {POSE(spec_camera),
                                           KEYWORD(spec_camera, "mode", mode, camera_mode_keys),
                                           KEYWORD(spec_camera, "projection", projection, projection_keys),
                                           INTEGER(spec_camera, "resolution", resolution, 2, 2),
                                           REAL(spec_camera, "fovy", fovy, 1, 1),
                                           REAL(spec_camera, "ipd", ipd, 1, 1),
                                           SINGLE(spec_camera, "focal", focal, 2, 2),
                                           SINGLE(spec_camera, "focalpixel", focalpixel, 2, 2),
                                           SINGLE(spec_camera, "principal", principal, 2, 2),
                                           SINGLE(spec_camera, "principalpixel", principalpixel, 2, 2),
                                           SINGLE(spec_camera, "sensorsize", sensorsize, 2, 2),
                                           TEXT(spec_camera, "target", target),
                                           NUMBERS(spec_camera, "user", user),
                                           NO_EFFECT("output"), // the caller chooses the image
                                           END};

const mjcf_member mjcf_light_members[] = {KEYWORD(spec_light, "mode", mode, camera_mode_keys),
                                          KEYWORD(spec_light, "type", type, light_keys),
                                          KEYWORD(spec_light, "directional", directional, mjcf_bool_keys),
                                          KEYWORD(spec_light, "castshadow", castshadow, mjcf_bool_keys),
                                          KEYWORD(spec_light, "active", active, mjcf_bool_keys),
                                          REAL(spec_light, "pos", pos, 3, 3),
                                          REAL(spec_light, "dir", dir, 3, 3),
                                          SINGLE(spec_light, "bulbradius", bulbradius, 1, 1),
                                          SINGLE(spec_light, "intensity", intensity, 1, 1),
                                          SINGLE(spec_light, "range", range, 1, 1),
                                          SINGLE(spec_light, "attenuation", attenuation, 3, 3),
                                          SINGLE(spec_light, "cutoff", cutoff, 1, 1),
                                          SINGLE(spec_light, "softness", softness, 1, 1),
                                          SINGLE(spec_light, "exponent", exponent, 1, 1),
                                          SINGLE(spec_light, "ambient", ambient, 3, 3),
                                          SINGLE(spec_light, "diffuse", diffuse, 3, 3),
                                          SINGLE(spec_light, "specular", specular, 3, 3),
                                          TEXT(spec_light, "target", target),
                                          UNSUPPORTED("texture"),
                                          END};

const mjcf_member mjcf_mesh_members[] = {TEXT(spec_mesh, "file", file),
                                         REAL(spec_mesh, "refpos", refpos, 3, 3),
                                         REAL(spec_mesh, "refquat", refquat, 4, 4),
                                         REAL(spec_mesh, "scale", scale, 3, 3),
                                         KEYWORD(spec_mesh, "inertia", inertia, mesh_inertia_keys),
                                         INTEGER(spec_mesh, "maxhullvert", maxhullvert, 1, 1),
                                         KEYWORD(spec_mesh, "smoothnormal", smoothnormal, mjcf_bool_keys),
                                         NUMBERS(spec_mesh, "vertex", vertex),
                                         NUMBERS(spec_mesh, "normal", normal),
                                         NUMBERS(spec_mesh, "texcoord", texcoord),
                                         NUMBERS(spec_mesh, "face", face),
                                         KEYWORD(spec_mesh, "builtin", builtin, mesh_builtin_keys),
                                         NUMBERS(spec_mesh, "params", params),
                                         UNSUPPORTED("material"),
                                         NO_EFFECT("content_type"), // the root element decides
                                         END};

const mjcf_member mjcf_hfield_members[] = {TEXT(spec_hfield, "file", file),
                                           INTEGER(spec_hfield, "nrow", nrow, 1, 1),
                                           INTEGER(spec_hfield, "ncol", ncol, 1, 1),
                                           REAL(spec_hfield, "size", size, 4, 4),
                                           NUMBERS(spec_hfield, "elevation", elevation),
                                           NO_EFFECT("content_type"),
                                           END};

const mjcf_member mjcf_texture_members[] = {
    KEYWORD(spec_texture, "type", type, texture_keys),
    KEYWORD(spec_texture, "builtin", builtin, builtin_keys),
    KEYWORD(spec_texture, "mark", mark, mark_keys),
    INTEGER(spec_texture, "width", width, 1, 1),
    INTEGER(spec_texture, "height", height, 1, 1),
    INTEGER(spec_texture, "nchannel", nchannel, 1, 1),
    KEYWORD(spec_texture, "hflip", hflip, mjcf_bool_keys),
    KEYWORD(spec_texture, "vflip", vflip, mjcf_bool_keys),
    REAL(spec_texture, "rgb1", rgb1, 3, 3),
    REAL(spec_texture, "rgb2", rgb2, 3, 3),
    REAL(spec_texture, "markrgb", markrgb, 3, 3),
    REAL(spec_texture, "random", random, 1, 1),
    TEXT(spec_texture, "file", file),
    INTEGER(spec_texture, "gridsize", gridsize, 2, 2),
    TEXT(spec_texture, "gridlayout", gridlayout),
    TEXT(spec_texture, "fileright", side[0]),
    TEXT(spec_texture, "fileleft", side[1]),
    TEXT(spec_texture, "fileup", side[2]),
    TEXT(spec_texture, "filedown", side[3]),
    TEXT(spec_texture, "filefront", side[4]),
    TEXT(spec_texture, "fileback", side[5]),
    KEYWORD(spec_texture, "colorspace", colour_space, colour_space_keys),
    NO_EFFECT("embed"), // what MuJoCo saves
    NO_EFFECT("content_type"),
    END};

const mjcf_member mjcf_material_members[] = {TEXT(spec_material, "texture", texture),
                                             KEYWORD(spec_material, "texuniform", texuniform, mjcf_bool_keys),
                                             SINGLE(spec_material, "texrepeat", texrepeat, 2, 2),
                                             SINGLE(spec_material, "emission", emission, 1, 1),
                                             SINGLE(spec_material, "specular", specular, 1, 1),
                                             SINGLE(spec_material, "shininess", shininess, 1, 1),
                                             SINGLE(spec_material, "reflectance", reflectance, 1, 1),
                                             SINGLE(spec_material, "metallic", metallic, 1, 1),
                                             SINGLE(spec_material, "roughness", roughness, 1, 1),
                                             SINGLE(spec_material, "rgba", rgba, 4, 4),
                                             END};

const mjcf_member mjcf_pair_members[] = {TEXT(spec_pair, "geom1", geom1),
                                         TEXT(spec_pair, "geom2", geom2),
                                         INTEGER(spec_pair, "condim", condim, 1, 1),
                                         REAL(spec_pair, "friction", friction, 1, 5),
                                         REAL(spec_pair, "solref", solref, 1, ORR_NREF),
                                         REAL(spec_pair, "solreffriction", solreffriction, 1, ORR_NREF),
                                         REAL(spec_pair, "solimp", solimp, 1, ORR_NIMP),
                                         REAL(spec_pair, "margin", margin, 1, 1),
                                         REAL(spec_pair, "gap", gap, 1, 1),
                                         REAL(spec_pair, "adhesion", adhesion, 1, 1),
                                         END};

const mjcf_member mjcf_exclude_members[] = {TEXT(spec_exclude, "body1", body1),
                                            TEXT(spec_exclude, "body2", body2), END};

const mjcf_member mjcf_equality_members[] = {KEYWORD(spec_equality, "active", active, mjcf_bool_keys),
                                             REAL(spec_equality, "solref", solref, 1, ORR_NREF),
                                             REAL(spec_equality, "solimp", solimp, 1, ORR_NIMP), END};

const mjcf_member mjcf_tendon_members[] = {
    INTEGER(spec_tendon, "group", group, 1, 1),
    KEYWORD(spec_tendon, "limited", limited, mjcf_tristate_keys),
    KEYWORD(spec_tendon, "actuatorfrclimited", actfrclimited, mjcf_tristate_keys),
    RANGE(spec_tendon, "range", range),
    RANGE(spec_tendon, "actuatorfrcrange", actfrcrange),
    REAL(spec_tendon, "margin", margin, 1, 1),
    REAL(spec_tendon, "stiffness", stiffness, 1, 1 + ORR_NPOLY),
    REAL(spec_tendon, "damping", damping, 1, 1 + ORR_NPOLY),
    REAL(spec_tendon, "armature", armature, 1, 1),
    REAL(spec_tendon, "frictionloss", frictionloss, 1, 1),
    REAL(spec_tendon, "springlength", springlength, 1, 2),
    REAL(spec_tendon, "springyield", springyield, 1, 1),
    REAL(spec_tendon, "width", width, 1, 1),
    REAL(spec_tendon, "solreflimit", solref_limit, 1, ORR_NREF),
    REAL(spec_tendon, "solimplimit", solimp_limit, 1, ORR_NIMP),
    REAL(spec_tendon, "solreffriction", solref_friction, 1, ORR_NREF),
    REAL(spec_tendon, "solimpfriction", solimp_friction, 1, ORR_NIMP),
    SINGLE(spec_tendon, "rgba", rgba, 4, 4),
    TEXT(spec_tendon, "material", material),
    NUMBERS(spec_tendon, "user", user),
    END};

const mjcf_member mjcf_numeric_members[] = {INTEGER(spec_numeric, "size", size, 1, 1),
                                            NUMBERS(spec_numeric, "data", data), END};
const mjcf_member mjcf_text_members[] = {TEXT(spec_text, "data", data), END};
const mjcf_member mjcf_no_members[] = {END};
const mjcf_member mjcf_tuple_element_members[] = {
    KEYWORD(spec_tuple_element, "objtype", objtype, mjcf_object_keys),
    TEXT(spec_tuple_element, "objname", object), REAL(spec_tuple_element, "prm", prm, 1, 1), END};

const mjcf_member mjcf_key_members[] = {REAL(spec_key, "time", time, 1, 1),
                                        NUMBERS(spec_key, "qpos", qpos),
                                        NUMBERS(spec_key, "qvel", qvel),
                                        NUMBERS(spec_key, "act", act),
                                        NUMBERS(spec_key, "ctrl", ctrl),
                                        NUMBERS(spec_key, "mpos", mpos),
                                        NUMBERS(spec_key, "mquat", mquat),
                                        NUMBERS(spec_key, "plastic", plastic),
                                        END};

#define ACTUATOR_COMMON                                                                                      \
    INTEGER(spec_actuator, "group", group, 1, 1),                                                            \
        KEYWORD(spec_actuator, "ctrllimited", ctrllimited, mjcf_tristate_keys),                              \
        KEYWORD(spec_actuator, "forcelimited", forcelimited, mjcf_tristate_keys),                            \
        RANGE(spec_actuator, "ctrlrange", ctrlrange), RANGE(spec_actuator, "forcerange", forcerange),        \
        REAL(spec_actuator, "lengthrange", lengthrange, 2, 2), REAL(spec_actuator, "gear", gear, 1, 6),      \
        TEXT(spec_actuator, "joint", joint), TEXT(spec_actuator, "jointinparent", jointinparent),            \
        TEXT(spec_actuator, "tendon", tendon), TEXT(spec_actuator, "site", site),                            \
        TEXT(spec_actuator, "refsite", refsite), NUMBERS(spec_actuator, "user", user),                       \
        REAL(spec_actuator, "armature", armature, 1, 1),                                                     \
        REAL(spec_actuator, "damping", damping, 1, 1 + ORR_NPOLY),                                           \
        REAL(spec_actuator, "delay", delay, 1, 1),                                                           \
        KEYWORD(spec_actuator, "interp", interpolation, mjcf_interpolation_keys),                            \
        INTEGER(spec_actuator, "nsample", nsample, 1, 1), TEXT(spec_actuator, "body", body),                 \
        TEXT(spec_actuator, "cranksite", cranksite), TEXT(spec_actuator, "slidersite", slidersite),          \
        REAL(spec_actuator, "cranklength", cranklength, 1, 1), UNSUPPORTED("input"), UNSUPPORTED("ffrange"), \
        UNSUPPORTED("velrange"), UNSUPPORTED("controller"), UNSUPPORTED("lugre"), UNSUPPORTED("thermal")

const mjcf_member mjcf_actuator_members[] = {ACTUATOR_COMMON, END};
const mjcf_member mjcf_orientation_members[] = {
    INTEGER(spec_actuator, "group", group, 1, 1),
    KEYWORD(spec_actuator, "forcelimited", forcelimited, mjcf_tristate_keys),
    RANGE(spec_actuator, "ctrlrange", ctrlrange),
    RANGE(spec_actuator, "forcerange", forcerange),
    TEXT(spec_actuator, "joint", joint),
    TEXT(spec_actuator, "site", site),
    TEXT(spec_actuator, "refsite", refsite),
    NUMBERS(spec_actuator, "user", user),
    REAL(spec_actuator, "delay", delay, 1, 1),
    KEYWORD(spec_actuator, "interp", interpolation, mjcf_interpolation_keys),
    INTEGER(spec_actuator, "nsample", nsample, 1, 1),
    END};
const mjcf_member mjcf_general_members[] = {
    ACTUATOR_COMMON,
    KEYWORD(spec_actuator, "dyntype", dyntype, dynamics_keys),
    KEYWORD(spec_actuator, "gaintype", gaintype, gain_keys),
    KEYWORD(spec_actuator, "biastype", biastype, bias_keys),
    REAL(spec_actuator, "dynprm", dynprm, 1, ORR_NDYN),
    REAL(spec_actuator, "gainprm", gainprm, 1, ORR_NGAIN),
    REAL(spec_actuator, "biasprm", biasprm, 1, ORR_NBIAS),
    KEYWORD(spec_actuator, "actlimited", actlimited, mjcf_tristate_keys),
    KEYWORD(spec_actuator, "actearly", actearly, mjcf_bool_keys),
    RANGE(spec_actuator, "actrange", actrange),
    REAL(spec_actuator, "inheritrange", inheritrange, 1, 1),
    INTEGER(spec_actuator, "actdim", actdim, 1, 1),
    END};

static const mjcf_key composite_type_keys[] = {{"cable", 0}, {NULL, 0}};
static const mjcf_key initial_keys[] = {
    {"free", ORR_JOINT_FREE}, {"ball", ORR_JOINT_BALL}, {"none", MJCF_NO_JOINT}, {NULL, 0}};

const mjcf_member mjcf_composite_members[] = {KEYWORD(mjcf_composite, "type", type, composite_type_keys),
                                              INTEGER(mjcf_composite, "count", count, 1, 3),
                                              KEYWORD(mjcf_composite, "initial", initial, initial_keys),
                                              REAL(mjcf_composite, "size", size, 1, 3),
                                              REAL(mjcf_composite, "offset", offset, 3, 3),
                                              REAL(mjcf_composite, "quat", quat, 4, 4),
                                              TEXT(mjcf_composite, "curve", curve),
                                              NUMBERS(mjcf_composite, "vertex", vertex),
                                              END};
