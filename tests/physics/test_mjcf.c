// MJCF files against MuJoCo's compiled models, and error messages for files that are wrong.
#include "engine/core/file.h"
#include "physics/load/load.h"
#include "physics/model/range.h"
#include "tests/physics/golden_model.h"
#include "tests/physics/model_mistakes.h"
#include "tests/support/robots.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static orr_model *parse(const char *text, orr_error *error)
{
    orr_model *model;
    (void)orr_model_parse(text, strlen(text), "test.xml", &model, error);
    return model;
}

static void check_robot(const char *name, const char *path)
{
    const char *golden = source_path("tests/golden/compiled/robot_%s.txt", name);
    orr_model *model;
    assert_ok(orr_model_load(path, &model, &error));
    assert_true(assert_golden_model(model, golden) > 100);
    orr_model_destroy(model);
}

static void robots_compile_to_what_mujoco_makes_of_them(void **state)
{
    (void)state;
    for_each_robot(check_robot);
}

static void check_model(const char *name, const char *ending)
{
    const char *path = source_path("tests/golden/models/%s%s", name, ending);
    const char *golden = source_path("tests/golden/compiled/%s.txt", name);
    orr_model *model = NULL;
    assert_ok(orr_model_load(path, &model, &error));
    assert_true(assert_golden_model(model, golden) > 100);
    orr_model_destroy(model);
}

static void feature_models_compile_to_what_mujoco_makes_of_them(void **state)
{
    (void)state;
    static const char *const models[] = {"orientations",   "classes",
                                         "joints",         "geoms",
                                         "inertia",        "links",
                                         "actuators",      "sensors",
                                         "tendons",        "meshes",
                                         "custom",         "fused",
                                         "replicated",     "fitted",
                                         "fitted_aabb",    "attached",
                                         "muscles",        "drives",
                                         "muscles_limits", "muscles_all",
                                         "plastic",        "surfaces",
                                         "delays",         "shells",
                                         "polygons",       "shortcuts",
                                         "round_meshes",   "pid",
                                         "dcmotor",        "cables",
                                         "general_types",  "nothing",
                                         "builtin_meshes", "functions",
                                         "inputs",         "actranges",
                                         "octrees",        "orientation_servos",
                                         "open_ranges",    "user_types",
                                         "unusual"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        check_model(models[i], ".xml");
    }
}

// in the style of the MuJoCo Menagerie: nested classes, visual and collision geoms, a scene that includes a
// robot
static void menagerie_models_compile_to_what_mujoco_makes_of_them(void **state)
{
    (void)state;
    check_model("arm_hand", ".xml");
    check_model("scene_quadruped", ".xml");
}

static void urdf_models_compile_to_what_mujoco_makes_of_them(void **state)
{
    (void)state;
    check_model("urdf_arm", ".urdf");
    check_model("urdf_joints", ".urdf");
    check_model("urdf_meshes", ".urdf");
}

#define BUILTIN(shape, params)                                                                               \
    "<mujoco><asset>\n<mesh name='m' builtin='" shape "' params='" params "'/></asset></mujoco>"
#define TACTILE(attributes)                                                                                  \
    "<mujoco><asset><mesh name='m' builtin='plate' params='2 2'/></asset><worldbody><geom name='g' "         \
    "size='1'/>"                                                                                             \
    "</worldbody><sensor>\n<tactile name='t' " attributes "/></sensor></mujoco>"
#define MESH(attributes)                                                                                     \
    "<mujoco><asset>\n<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' " attributes "/></asset></mujoco>"
#define SIZE "<config key='size' value='2 3'/>"
#define FOV "<config key='fov' value='90 45'/>"
#define TOUCH(attributes, config)                                                                            \
    "<plugin plugin='mujoco.sensor.touch_grid' " attributes ">" config "</plugin>"
#define EXTENSION(inside)                                                                                    \
    "<mujoco><extension><plugin plugin='mujoco.sensor.touch_grid'>" inside "</plugin></extension>"
#define GRID(sensor)                                                                                         \
    EXTENSION("<instance name='a'>" SIZE FOV "</instance>")                                                  \
    "<worldbody><site name='s'/></worldbody><sensor>" sensor "</sensor></mujoco>"
#define BODY(inside) "<mujoco><worldbody><body name='a'>" inside "</body></worldbody></mujoco>"
#define BALL "<geom size='1'/>"
#define GENERAL(attributes)                                                                                  \
    "<mujoco><worldbody><body><joint name='j'/>" BALL                                                        \
    "</body></worldbody><actuator>\n<general joint='j' " attributes "/></actuator></mujoco>"
#define FIXED(attributes)                                                                                    \
    "<mujoco><worldbody><body><joint name='j'/>" BALL "</body></worldbody><tendon>\n<fixed " attributes      \
    "><joint joint='j' coef='1'/></fixed></tendon></mujoco>"
#define TURNED(actuator)                                                                                     \
    "<mujoco><worldbody><body><joint name='hinge'/><site name='s'/>" BALL "<body><joint name='j' "           \
    "type='ball'/>" BALL "</body></body></worldbody><actuator>\n" actuator "</actuator></mujoco>"
#define ORIENTATION(attributes) TURNED("<orientation " attributes "/>")
#define SERVO(attributes) TURNED("<general joint='j' gaintype='so3' biastype='so3' " attributes "/>")
#define PID "dyntype='pid' gaintype='pid' biastype='affine'"
#define MOTOR "dyntype='dcmotor' gaintype='dcmotor' biastype='dcmotor' actearly='true'"

static void every_mistake_is_named_with_its_line(void **state)
{
    (void)state;
    static const model_mistake mistakes[] = {
        {"<mujoco>\n<worldbody>\n</mujoco>", "test.xml:3: ", "well-formed"},
        {"", "test.xml:1: ", "well-formed"},
        {"<mujoco>\n<worldbody>\n", "test.xml:3: ", "<worldbody> has no end"},
        {"<mujoco/>\nand", "test.xml:2: ", "text outside of elements"},
        {"<mujoco/></document><document>", "test.xml:1: ", "well-formed"},
        {"\xff\xfe<", "test.xml: ", "UTF-8"},
        {"<scene/>", "test.xml:1: <scene>", "expected <mujoco> or <robot>"},
        {"<robot/>", "test.xml:1: <robot>", "expected at least one <link>"},
        {"<mujoco>\n<wordlbody/></mujoco>", "test.xml:2: <wordlbody>", "unknown element"},
        {BODY("\n<geom sise='1'/>"), "test.xml:2: <geom>", "unknown attribute 'sise'"},
        {BODY("\n<geom size='1 a'/>"), "test.xml:2: <geom>", "size: expected 1 to 3 numbers"},
        {BODY("\n<geom size='1e999'/>"), "test.xml:2: <geom>", "size: expected"},
        {BODY("\n<geom type='cone' size='1'/>"), "test.xml:2: <geom>", "type: 'cone'"},
        {BODY("\n<geom name='g' size='0'/>"), "test.xml:2: <geom> 'g'", "positive"},
        {BODY("\n<geom size='1' surfacevel='1 0 0 0 0 0 0'/>"), "test.xml:2: <geom>",
         "surfacevel: expected 1 to 6"},
        {BODY("\n<geom size='1' adhesion='-1'/>"), "test.xml:2: <geom>", "adhesion: expected no negative"},
        {BODY("\n<geom type='mesh' mesh='m'/>"), "test.xml:2: <geom>", "there is no mesh 'm'"},
        {BODY("\n<geom size='1' material='m'/>"), "test.xml:2: <geom>", "there is no material 'm'"},
        {BODY("\n<geom class='c' size='1'/>"), "test.xml:2: <geom>", "there is no default class 'c'"},
        {BODY("\n<joint name='j' axis='0 0 0'/>" BALL), "test.xml:2: <joint> 'j'", "axis"},
        {BODY("\n<joint damping='inf'/>" BALL), "test.xml:2: <joint>", "damping: expected 1 to 3 numbers"},
        {BODY("\n<joint range='nan 1'/>" BALL), "test.xml:2: <joint>", "range: expected 2 numbers"},
        {BODY("\n<joint limited='true'/>" BALL), "test.xml:2: <joint>", "range"},
        {BODY("\n<geom size='1' quat='0 0 0 0'/>"), "test.xml:2: <geom>", "orientation"},
        {BODY("\n<geom size='1' euler='0 0 0' zaxis='0 0 1'/>"), "test.xml:2: <geom>",
         "expected one of quat"},
        {BODY("<joint/>"), "test.xml:1: <body> 'a'", "mass and inertia of a body that moves"},
        {BODY("<joint/>\n<inertial pos='0 0 0' mass='1' diaginertia='1 1 9'/>"), "test.xml:2: <inertial> 'a'",
         "balanceinertia"},
        {BODY("<joint/>\n<inertial pos='0 0 0' mass='1' fullinertia='1 1 1 2 2 2'/>"),
         "test.xml:2: <inertial> 'a'", "definite"},
        {BODY("<joint/>\n<inertial pos='0 0 0' mass='0' diaginertia='1 1 1'/>"), "test.xml:2: <inertial> 'a'",
         "expected more than 1e-15"},
        {BODY("<joint/>\n<inertial pos='0 0 0' mass='1' diaginertia='0 1 1'/>"), "test.xml:2: <inertial> 'a'",
         "expected more than 1e-15"},
        {BODY("<joint/>\n<inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/>"),
         "test.xml:2: <inertial> 'a'", "no negative number"},
        {BODY("\n<geom size='1' mass='-1'/>"), "test.xml:2: <geom>", "no negative number"},
        {BODY("\n<body name='a'/>"), "test.xml:2: <body> 'a'", "taken already"},
        {"<mujoco><worldbody>\n<replicate/></worldbody></mujoco>", "test.xml:2: <replicate>",
         "count: expected"},
        {"<mujoco><worldbody>\n<replicate count='1e9'/></worldbody></mujoco>", "test.xml:2: <replicate>",
         "count: expected"},
        {"<mujoco><worldbody>\n<replicate count='2' offest='1 0 0'/></worldbody></mujoco>",
         "test.xml:2: <replicate>", "unknown attribute 'offest'"},
        {"<mujoco><worldbody><replicate count='4096'><replicate count='4096'>\n" BALL
         "</replicate></replicate></worldbody></mujoco>",
         "test.xml:", "in all copies"},
        {"<mujoco><worldbody><body>\n<attach model='m' body='b' prefix='p'/></body></worldbody></mujoco>",
         "test.xml:2: <attach>", "there is no model 'm'"},
        {"<mujoco><worldbody><body name='b'/>\n<attach body='b' prefix='p'/></worldbody></mujoco>",
         "test.xml:2: <attach>", "expected model and prefix"},
        {"<mujoco><asset>\n<model name='m' file='nowhere.xml'/></asset></mujoco>", "test.xml:2: <model>",
         "nowhere.xml"},
        {"<mujoco>\n<compiler conflict='merge'/></mujoco>", "test.xml:2: <compiler>", "conflict"},
        {"<mujoco>\n<include file='nowhere.xml'/></mujoco>", "test.xml:2: <include>", "nowhere.xml"},
        {"<mujoco><asset>\n<mesh name='m' file='nowhere.stl'/></asset></mujoco>", "test.xml:2: <mesh> 'm'",
         "nowhere.stl"},
        {"<mujoco><asset>\n<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 1 1 0'/></asset></mujoco>",
         "test.xml:2: <mesh> 'm'", "volume"},
        {MESH("inertia='exact' face='0 1 2 0 3 1 0 2 3 1 3 2'"), "test.xml:2: <mesh> 'm'",
         "counter-clockwise from outside"},
        {MESH("scale='1e-6 1e-6 1e-6'"), "test.xml:2: <mesh> 'm'",
         "size 1e-06 x 1e-06 x 1e-06 m, volume 1.67e-19 m^3: expected more than 1e-15 m^3"},
        {MESH("inertia='shell' scale='1e-9 1e-9 1e-9'"), "test.xml:2: <mesh> 'm'",
         "size 1e-09 x 1e-09 x 1e-09 m, area 2.37e-18 m^2: expected more than 1e-15 m^2"},
        {TACTILE("mesh='m'"), "test.xml:2: <tactile>", "exactly one of geom"},
        {TACTILE("geom='g'"), "test.xml:2: <tactile>", "exactly one of mesh"},
        {TACTILE("geom='g' mesh='x'"), "test.xml:2: <tactile> 't'", "there is no such object 'x'"},
        {TACTILE("geom='x' mesh='m'"), "test.xml:2: <tactile> 't'", "there is no such object 'x'"},
        {TACTILE("geom='g' mesh='m' noise='1'"), "test.xml:2: <tactile>", "unknown attribute 'noise'"},
        {TACTILE("geom='g' mesh='m' cutoff='-1'"), "test.xml:2: <tactile> 't'", "no negative number"},
        {"<mujoco><asset>\n<mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' normal='0 0 1'/></asset></mujoco>",
         "test.xml:2: <mesh> 'm'", "3 (or 9: with two tangents)"},
        {BUILTIN("sphere", "5"), "test.xml:2: <mesh> 'm'",
         "params: expected a number of subdivisions, 0 to 4"},
        {BUILTIN("sphere", "1.5"), "test.xml:2: <mesh> 'm'", "subdivisions"},
        {BUILTIN("sphere", "1 1"), "test.xml:2: <mesh> 'm'", "subdivisions"},
        {BUILTIN("hemisphere", "-1"), "test.xml:2: <mesh> 'm'", "subdivisions, 0 to 10"},
        {BUILTIN("cone", "2 1"), "test.xml:2: <mesh> 'm'", "edges"},
        {BUILTIN("cone", "3 1.1"), "test.xml:2: <mesh> 'm'", "radius, 0 to 1"},
        {BUILTIN("supersphere", "1e9 1 1"), "test.xml:2: <mesh> 'm'", "resolution, 3 to 1024"},
        {BUILTIN("supersphere", "3 1 -1"), "test.xml:2: <mesh> 'm'", "exponents"},
        {BUILTIN("supertorus", "3 0 1 1"), "test.xml:2: <mesh> 'm'", "radius above 0"},
        {BUILTIN("wedge", "3 3 60 91 0"), "test.xml:2: <mesh> 'm'", "angles above 0, to 180 and 90"},
        {BUILTIN("wedge", "1 3 60 60 0"), "test.xml:2: <mesh> 'm'", "4 vertices or more, not 3"},
        {BUILTIN("plate", "0 3"), "test.xml:2: <mesh> 'm'", "resolutions"},
        {BUILTIN("prism", "5"), "test.xml:2: <mesh>", "builtin: 'prism'"},
        {BUILTIN("sphere", "1' face='0 1 2"), "test.xml:2: <mesh>", "no normal, texcoord or face"},
        {BUILTIN("sphere", "1' file='a.obj"), "test.xml:2: <mesh>", "expected a file, or a name"},
        {"<mujoco><asset>\n<texture name='t' type='2d' builtin='flat' width='999999999' "
         "height='9'/></asset></mujoco>",
         "test.xml:2: <texture> 't'", "width and height"},
        {"<mujoco>\n<size nkey='999999999'/></mujoco>", "test.xml:2: <size>", "counts"},
        {"<mujoco><size nkey='1048576' nuserdata='1'/><worldbody><replicate "
         "count='999'><body><freejoint/>" BALL "</body></replicate></worldbody></mujoco>",
         "test.xml: ", "nkey 1048576"},
        {"<mujoco><asset>\n<hfield name='h' nrow='99999' ncol='99999' size='1 1 1 1'/></asset></mujoco>",
         "test.xml:2: <hfield> 'h'", "rows and columns"},
        {"<mujoco><custom>\n<numeric name='n' size='2000000000'/></custom></mujoco>", "test.xml:2: <numeric>",
         "size"},
        {"<mujoco>\n<option timestep='0'/></mujoco>", "test.xml:2: <option>", "timestep"},
        {"<mujoco><compiler discardvisual='true' inertiafromgeom='true'/><worldbody><body><freejoint/>" BALL
         "\n<geom size='1' contype='0' conaffinity='0'/></body></worldbody></mujoco>",
         "test.xml:2: <geom>", "expected no mass, as inertiafromgeom is true"},
        {"<mujoco><actuator>\n<motor joint='j'/></actuator></mujoco>", "test.xml:2: <motor>",
         "there is no joint 'j'"},
        {"<mujoco><worldbody><body name='a'><joint name='j'/>" BALL "</body></worldbody><actuator>\n"
         "<general joint='j' dyntype='integrator' actdim='2000000000'/></actuator></mujoco>",
         "test.xml:2: <general>", "actdim"},
        {ORIENTATION("joint='hinge'"), "test.xml:2: <orientation>",
         "expected a ball joint, or site and refsite"},
        {ORIENTATION("site='s'"), "test.xml:2: <orientation>", "expected a ball joint, or site and refsite"},
        {ORIENTATION("joint='j' gear='2'"), "test.xml:2: <orientation>", "unknown attribute 'gear'"},
        {ORIENTATION("joint='j' input='pos'"), "test.xml:2: <orientation>", "expected expmap or quat"},
        {ORIENTATION("joint='j' kv='1' dampratio='1'"), "test.xml:2: <orientation>", "one of them"},
        {ORIENTATION("joint='j' forcerange='-1 1'"), "test.xml:2: <orientation>", "forcerange: expected 0"},
        {GENERAL("gaintype='so3'"), "test.xml:2: <general>", "expected a ball joint"},
        {SERVO("biasprm='0 -2'"), "test.xml:2: <general>", "the same stiffness"},
        {SERVO("biasprm='0 -1' dyntype='filter'"), "test.xml:2: <general>", "dyntype none, or integrator"},
        {SERVO("biasprm='0 -1' dyntype='integrator' input='quat'"), "test.xml:2: <general>", "dyntype none"},
        {"<mujoco><actuator>\n<dcmotor joint='j'/></actuator></mujoco>", "test.xml:2: <dcmotor>",
         "a resistance and a motor constant"},
        {"<mujoco><actuator>\n<dcmotor joint='j' thermal='1 2'/></actuator></mujoco>",
         "test.xml:2: <dcmotor>", "thermal: this attribute is not supported"},
        {"<mujoco><worldbody><body><joint name='j'/>" BALL "</body></worldbody><sensor>\n"
         "<jointpos joint='j' interval='0.1 0.02' nsample='2'/></sensor></mujoco>",
         "test.xml:2: <jointpos>", "a negative phase"},
        {GENERAL("gaintype='pid'"), "test.xml:2: <general>", "expected biastype affine"},
        {GENERAL("dyntype='pid' gaintype='fixed'"), "test.xml:2: <general>", "expected biastype affine"},
        {GENERAL(PID " dynprm='0' gainprm='0'"), "test.xml:2: <general>", "none without"},
        {GENERAL("gaintype='pid' biastype='affine' gainprm='2'"), "test.xml:2: <general>", "none without"},
        {GENERAL(PID " gainprm='-2'"), "test.xml:2: <general>", "no negative number"},
        {GENERAL(PID " input='vel'"), "test.xml:2: <general>", "expected the input pos"},
        {GENERAL(PID " actdim='2'"), "test.xml:2: <general>", "actdim: expected 1"},
        {GENERAL("dyntype='user' actdim='0'"), "test.xml:2: <general>", "actdim: expected at least 1"},
        {GENERAL("gaintype='user' input='pos'"), "test.xml:2: <general>", "input: only"},
        {FIXED("actuatorfrcrange='1 2'"), "test.xml:2: <fixed>",
         "actuatorfrcrange: expected a range around 0"},
        {FIXED("frictionloss='-1'"), "test.xml:2: <fixed>", "no negative armature, frictionloss"},
        {"<mujoco><worldbody><site name='s'/><site name='t' pos='1 0 0'/></worldbody><tendon>\n<spatial "
         "width='0'>"
         "<site site='s'/><site site='t'/></spatial></tendon></mujoco>",
         "test.xml:2: <spatial>", "width: expected more than 0"},
        {"<mujoco><worldbody><body>\n<joint type='free' springyield='1'/>" BALL
         "</body></worldbody></mujoco>",
         "test.xml:2: <joint>", "none for a free joint"},
        {"<mujoco><worldbody>\n<geom type='capsule' size='1' fromto='0 0 0 0 0 1' pos='0 0 "
         "1'/></worldbody></mujoco>",
         "test.xml:2: <geom>", "pos and fromto: expected one of them"},
        {"<mujoco><default><site pos='0 0 1'/></default><worldbody>\n<site type='capsule' size='1' fromto='0 "
         "0 0 0 0 1'/></worldbody></mujoco>",
         "test.xml:2: <site>", "pos and fromto: expected one of them"},
        {GENERAL("gaintype='pid' biastype='affine' gainprm='0' actrange='-1 1'"), "test.xml:2: <general>",
         "actrange: expected with activations only"},
        {GENERAL("input='ff'"), "test.xml:2: <general>", "input: expected pos, vel or pressure"},
        {GENERAL("input='pos vel' gaintype='affine'"), "test.xml:2: <general>",
         "input: expected pos, vel or pressure"},
        {GENERAL("dyntype='muscle' gaintype='muscle' biastype='muscle' input='pos'"), "test.xml:2: <general>",
         "input: only"},
        {GENERAL("dyntype='dcmotor'"), "test.xml:2: <general>", "and actearly"},
        {GENERAL(MOTOR " gainprm='0 1'"), "test.xml:2: <general>", "above 0"},
        {GENERAL(MOTOR " gainprm='2 1' input='pos'"), "test.xml:2: <general>", "only voltage"},
        {GENERAL(MOTOR " gainprm='2 1' dynprm='0 0 3'"), "test.xml:2: <general>", "the first 2 numbers"},
        {"<mujoco><default>\n<general gaintype='pid' input='pos'/></default></mujoco>",
         "test.xml:2: <general>", "defaults of fixed and affine gains"},
        {"<mujoco><actuator>\n<pid joint='j' input='vel pos'/></actuator></mujoco>", "test.xml:2: <pid>",
         "in this order"},
        {"<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody><actuator>\n"
         "<muscle joint='j'/></actuator></mujoco>",
         "test.xml:2: <muscle>", "lengthrange"},
        {"<mujoco><worldbody><geom name='g' size='.1'/><site name='s'/><site name='t' pos='1 0 "
         "0'/></worldbody>"
         "<tendon>\n<spatial armature='1'><site site='s'/><geom geom='g'/><site site='t'/></spatial>"
         "</tendon></mujoco>",
         "test.xml:2: <spatial>", "armature"},
        {"<mujoco><deformable>\n<flex/></deformable></mujoco>", "test.xml:2: <flex>",
         "body: expected the bodies"},
        {"<mujoco><deformable>\n<flex node='a'/></deformable></mujoco>", "test.xml:2: <flex>",
         "body: expected the bodies"},
        {"<mujoco><deformable>\n<flex name='f' body='a b' element='0 1'/></deformable></mujoco>",
         "test.xml:2: <flex>", "body: 'a': expected the name of a body"},
        {"<mujoco><worldbody><body name='a'/><body name='b'/></worldbody><deformable>\n<flex name='f' "
         "body='a b' "
         "vertex='0 0 0' element='0 1'/></deformable></mujoco>",
         "test.xml:2: <flex>", "vertex: expected three numbers for each of 2 vertices"},
        {"<mujoco><worldbody><body name='a'/><body name='b'/></worldbody><deformable>\n<flex name='f' "
         "body='a b' "
         "element='0 1'/></deformable></mujoco>",
         "test.xml:2: <flex>", "vertex 1: expected a body with an inertia and three slide joints"},
        {"<mujoco><equality>\n<flex flex='f'/></equality></mujoco>", "test.xml:2: <flex>",
         "flex: 'f': expected the name of a flex"},
        {"<mujoco><equality>\n<flexstrain flex='f'/></equality></mujoco>", "test.xml:2: <flexstrain>",
         "flex: 'f': expected the name of a flex"},
        {BODY("\n<flexcomp name='f' type='grid' mesh='m'/>"), "test.xml:2: <flexcomp>",
         "mesh: expected the type mesh"},
        {BODY("\n<flexcomp name='f' mesh='m'/>"), "test.xml:2: <flexcomp>", "mesh: there is no mesh 'm'"},
        {BODY("\n<flexcomp name='f' type='gmsh'/>"), "test.xml:2: <flexcomp>", "expected a file"},
        {BODY("\n<flexcomp name='f' type='gmsh' file='absent.msh'/>"), "test.xml:2: <flexcomp>",
         "absent.msh"},
        {BODY("\n<flexcomp name='f'/>"), "test.xml:2: <flexcomp>", "axis 2: expected a count of 1 to 1"},
        {BODY("\n<flexcomp count='2 2 1'/>"), "test.xml:2: <flexcomp>", "expected a name"},
        {BODY("\n<flexcomp name='f' count='2 2 1' mass='0'/>"), "test.xml:2: <flexcomp>", "mass: expected"},
        {BODY("<flexcomp name='f' count='2 2 1'>\n<pin id='4'/></flexcomp>"), "test.xml:2: <pin>",
         "expected points from 0 to 3, not 4"},
        {BODY("<flexcomp name='f' count='2 2 1'>\n<pin grid='0 2'/></flexcomp>"), "test.xml:2: <pin>",
         "axis 1 of a grid: expected 0 to 1"},
        {BODY("<flexcomp name='f' count='2 2 1'>\n<pin gridrange='0 1'/></flexcomp>"), "test.xml:2: <pin>",
         "twice as many in gridrange"},
        {BODY("<flexcomp name='f' type='direct' point='0 0 0 1 0 0 0 1 0' element='0 1 3'/>"),
         "test.xml:1: <flexcomp>", "element 0: expected points from 0 to 2, not 3"},
        {BODY("\n<flexcomp name='f' type='direct' dim='3' point='9 9 9 0 0 0 1 0 0 0 1 0 0 0 1 1 1 0' "
              "element='1 2 3 4 1 3 2 5'/>"),
         "test.xml:2: <flexcomp>", "element 1 (points 1 3 2 5): expected a volume above 0, not 0 m^3"},
        {BODY("\n<flexcomp name='f' type='direct' point='9 9 9 0 0 0 1 0 0 0 1 0 2 0 0' element='1 2 3 1 2 "
              "4'/>"),
         "test.xml:2: <flexcomp>", "element 1 (points 1 2 4): expected an area above 0, not 0 m^2"},
        {BODY("<flexcomp name='f' type='mesh' dim='3' file='a.obj'/>"), "test.xml:1: <flexcomp>",
         "an origin"},
        {BODY("<flexcomp name='f' type='mesh' file='absent.obj'/>"), "test.xml:1: <flexcomp>", "absent.obj"},
        {BODY("<flexcomp name='f' count='2 2 1'><elasticity elastic2d='bend' young='1'/></flexcomp>"),
         "test.xml:1: <flexcomp>", "elastic2d: expected a thickness above 0"},
        {BODY("<flexcomp name='f' count='2 2 1'><elasticity poisson='.5'/></flexcomp>"),
         "test.xml:1: <flexcomp>", "poisson: expected less than 0.5"},
        {BODY("<flexcomp name='f' count='2 2 1'><edge stiffness='5'/></flexcomp>"), "test.xml:1: <flexcomp>",
         "edge stiffness: expected dim 1"},
        {"<mujoco>\n<compiler name='c'/></mujoco>", "test.xml:2: <compiler>", "unknown attribute 'name'"},
        {"<mujoco><sensor>\n<contact data='force found'/></sensor></mujoco>", "test.xml:2: <contact>",
         "data: 'found' is unknown or out of order"},
        {"<mujoco><sensor>\n<contact num='0'/></sensor></mujoco>", "test.xml:2: <contact>", "num: expected"},
        {"<mujoco><sensor>\n<contact geom1='a' body1='b'/></sensor></mujoco>", "test.xml:2: <contact>",
         "at most one of geom1 body1 subtree1 site"},
        {"<mujoco><sensor>\n<distance geom1='a'/></sensor></mujoco>", "test.xml:2: <distance>",
         "exactly one of geom2 body2"},
        {"<mujoco><sensor>\n<user dim='3' datatype='quaternion'/></sensor></mujoco>", "test.xml:2: <user>",
         "dim: expected"},
        {"<mujoco><extension>\n<plugin plugin='mujoco.pid'/></extension></mujoco>", "test.xml:2: <plugin>",
         "plugin: 'mujoco.pid' is not supported: expected mujoco.sensor.touch_grid"},
        {"<mujoco><extension>\n<plugin/></extension></mujoco>", "test.xml:2: <plugin>",
         "plugin: '' is not supported"},
        {EXTENSION("<instance name='a'/>\n<instance name='a'/>") "</mujoco>", "test.xml:2: <instance>",
         "name: expected one that no other"},
        {EXTENSION("\n<config key='size' value='2 2'/>") "</mujoco>", "test.xml:2: <config>",
         "this element of MuJoCo's is not supported"},
        {EXTENSION("\n<instance name='a' gamma='1'/>") "</mujoco>", "test.xml:2: <instance>",
         "unknown attribute 'gamma'"},
        {"<mujoco><sensor>\n" TOUCH("objtype='site' objname='s'", SIZE FOV) "</sensor></mujoco>",
         "test.xml:2: <plugin>", "plugin: expected an <extension> with it"},
        {GRID("\n<plugin plugin='mujoco.elasticity.cable' objtype='site' objname='s'/>"),
         "test.xml:2: <plugin>", "plugin: 'mujoco.elasticity.cable' is not supported"},
        {GRID("\n<plugin objtype='site' objname='s'/>"), "test.xml:2: <plugin>",
         "plugin: '' is not supported"},
        {GRID("\n<plugin instance='b' objtype='site' objname='s'/>"), "test.xml:2: <plugin>",
         "instance: expected one of an <extension>"},
        {GRID("\n<plugin instance='a' objtype='site' objname='s'>" FOV "</plugin>"), "test.xml:2: <plugin>",
         "instance: expected one of an <extension>, and no <config>"},
        {GRID("\n" TOUCH("objtype='site' objname='s'", FOV)), "test.xml:2: <plugin>",
         "expected a <config> of size: two whole numbers"},
        {GRID("\n" TOUCH("objtype='site' objname='s'", SIZE)), "test.xml:2: <plugin>",
         "expected a <config> of fov: two angles"},
        {GRID(TOUCH("objtype='site' objname='s'", SIZE FOV "\n<config key='colour' value='1'/>")),
         "test.xml:2: <config>", "key: expected nchannel, size, fov or gamma"},
        {GRID(TOUCH("objtype='site' objname='s'", SIZE FOV "\n" FOV)), "test.xml:2: <config>", "each once"},
        {GRID(TOUCH("objtype='site' objname='s'", FOV "\n<config key='size' value='2'/>")),
         "test.xml:2: <config>", "value of size: expected two whole numbers"},
        {GRID(TOUCH("objtype='site' objname='s'", FOV "\n<config key='size' value='2.5 1'/>")),
         "test.xml:2: <config>", "value of size"},
        {GRID(TOUCH("objtype='site' objname='s'", SIZE "\n<config key='fov' value='0 10'/>")),
         "test.xml:2: <config>",
         "value of fov: expected two angles in degrees, above 0 and up to 180 and 90"},
        {GRID(TOUCH("objtype='site' objname='s'", SIZE "\n<config key='fov' value='10 91'/>")),
         "test.xml:2: <config>", "value of fov"},
        {GRID(TOUCH("objtype='site' objname='s'", SIZE FOV "\n<config key='gamma' value='-.1'/>")),
         "test.xml:2: <config>", "value of gamma: expected 0 to 1"},
        {GRID(TOUCH("objtype='site' objname='s'", SIZE FOV "\n<config key='nchannel' value='7'/>")),
         "test.xml:2: <config>", "value of nchannel: expected 1 to 6"},
        {GRID("\n" TOUCH("objtype='body' objname='world'", SIZE FOV)), "test.xml:2: <plugin>",
         "expected the objtype site, and objname"},
        {GRID("\n" TOUCH("objtype='site' objname='s' noise='1'", SIZE FOV)), "test.xml:2: <plugin>",
         "unknown attribute 'noise'"},
        {GRID("\n" TOUCH("objtype='site' objname='s'", FOV "<config key='size' value='2000 2000'/>")),
         "test.xml:2: <plugin>", "expected a sensor of up to"},
        {"<mujoco><worldbody><site name='s'/></worldbody><actuator>\n<motor site='s' damping='1'/></actuator>"
         "</mujoco>",
         "test.xml:2: <motor>", "armature and damping"},
        {"<mujoco><compiler>\n<lengthrange timestep='1e-9'/></compiler></mujoco>",
         "test.xml:2: <lengthrange>", "steps"},
        {"<mujoco><option timestep='1e-12'/><compiler><lengthrange timestep='0'/></compiler><worldbody><body>"
         "<joint name='j'/><geom size='1'/></body></worldbody><actuator>\n<muscle joint='j'/></actuator>"
         "</mujoco>",
         "test.xml:2: <muscle>", "too many steps"},
        {"<mujoco><sensor>\n<gyro site='s'/></sensor></mujoco>", "test.xml:2: <gyro>", "'s'"},
        {"<mujoco><keyframe>\n<key qpos='1'/></keyframe></mujoco>", "test.xml:2: <key>",
         "qpos: expected 0 numbers or fewer"},
        {BODY("<freejoint/>" BALL "\n<geom type='plane' size='1 1 1'/>"), "test.xml:2: <geom>",
         "cannot move"},
    };
    assert_mistakes(mistakes, sizeof mistakes / sizeof mistakes[0], "test.xml");
}

// MuJoCo 4.0's numbers: the rest is qpos0, and 0.
static void short_keyframes_are_padded(void **state)
{
    (void)state;
    static const double qpos[] = {0.5, 3.0, 1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0};
    orr_error error = {0};
    orr_model *model = parse("<mujoco><worldbody><body><joint name='a'/>" BALL
                             "<body><joint name='b' type='slide' ref='3'/>" BALL
                             "</body></body><body pos='1 2 3'><freejoint/>" BALL "</body></worldbody>"
                             "<actuator><motor joint='a'/><motor joint='b'/></actuator>"
                             "<keyframe><key qpos='.5' qvel='2' ctrl='7'/></keyframe></mujoco>",
                             &error);
    assert_non_null(model);
    assert_memory_equal(model->key_qpos, qpos, sizeof qpos);
    assert_true(model->key_qvel[0] == 2.0 && model->key_qvel[1] == 0.0);
    assert_true(model->key_ctrl[0] == 7.0 && model->key_ctrl[1] == 0.0);
    orr_model_destroy(model);
}

// As in MuJoCo: estimated numbers of real robots can be below 0, and a held ball joint has the range 0 0.
static void joints_may_be_driven_and_held(void **state)
{
    (void)state;
    orr_error error = {0};
    orr_model *model =
        parse("<mujoco><worldbody><body><joint damping='-.1' stiffness='-2'/>" BALL
              "</body><body><joint type='ball' limited='true'/>" BALL "</body></worldbody></mujoco>",
              &error);
    assert_non_null(model);
    assert_true(model->dof_damping[0] == -0.1);
    assert_true(model->jnt_stiffness[0] == -2.0);
    assert_true(model->jnt_limited[1] == 1 && model->jnt_range[2] == 0.0 && model->jnt_range[3] == 0.0);
    orr_model_destroy(model);
}

static void one_springlength_of_a_class_is_both_ends(void **state)
{
    (void)state;
    static const double expected[] = {0.3, 0.3, 0.1, 0.2, 0.1, 0.1};
    orr_error error = {0};
    orr_model *model =
        parse("<mujoco><default><tendon springlength='.3'/></default><worldbody><body><joint name='j'/>" BALL
              "</body></worldbody><tendon><fixed><joint joint='j' coef='1'/></fixed>"
              "<fixed springlength='.1 .2'><joint joint='j' coef='1'/></fixed>"
              "<fixed springlength='.1'><joint joint='j' coef='1'/></fixed></tendon></mujoco>",
              &error);
    assert_non_null(model);
    assert_memory_equal(model->tendon_lengthspring, expected, sizeof expected);
    orr_model_destroy(model);
}

static void a_model_without_a_name_has_that_of_its_file(void **state)
{
    (void)state;
    static const char part[] =
        "<mujoco model='kid'><worldbody><body name='b'>" BALL "</body></worldbody></mujoco>";
    static const char whole[] = "<mujoco><asset><model file='unnamed_part.xml'/></asset><worldbody>"
                                "<attach model='kid' body='b' prefix='x'/></worldbody></mujoco>";
    char path[512];
    orr_model *model = NULL;
    snprintf(path, sizeof path, "%s", scratch_path("unnamed_part.xml"));
    assert_ok(orr_file_write(path, part, strlen(part), &error));
    snprintf(path, sizeof path, "%s", scratch_path("unnamed_whole.xml"));
    assert_ok(orr_file_write(path, whole, strlen(whole), &error));
    assert_ok(orr_model_load(path, &model, &error));
    assert_int_equal(orr_model_find(model, ORR_OBJECT_BODY, "xb"), 1);
    orr_model_destroy(model);
}

static void write_scratch(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(orr_file_write(path, text, strlen(text), &error));
}

// The body of an <attach> is one of the attached model, whatever the bodies around it are called.
static void copies_attach_the_same_body(void **state)
{
    (void)state;
    char folder[512], path[600];
    snprintf(folder, sizeof folder, "%s", scratch_path("copies"));
    mkdir(folder, 0777);
    write_scratch(folder, "part.xml",
                  "<mujoco model='part'><worldbody><body name='b'/></worldbody></mujoco>");
    write_scratch(folder, "model.xml",
                  "<mujoco><asset><model file='part.xml'/></asset><worldbody><replicate count='2' "
                  "offset='1 0 0'><body name='b'><attach model='part' body='b' prefix='p_'/></body>"
                  "</replicate></worldbody></mujoco>");
    snprintf(path, sizeof path, "%s/model.xml", folder);
    orr_model *model = NULL;
    assert_ok(orr_model_load(path, &model, &error));
    assert_int_equal(orr_model_find(model, ORR_OBJECT_BODY, "p_b1"), 4);
    orr_model_destroy(model);
}

// A file beside the model is preferred to one beside the included file, below meshdir too.
static void files_are_looked_for_beside_an_included_file(void **state)
{
    (void)state;
    static const char tetrahedron[] =
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    static const char *const folders[] = {"", "/part", "/part/deep", "/meshes", "/meshes/part"};
    char folder[512], path[600];
    snprintf(folder, sizeof folder, "%s", scratch_path("included"));
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s%s", folder, folders[i]);
        mkdir(path, 0777);
    }
    write_scratch(folder, "model.xml", "<mujoco><include file='part/part.xml'/></mujoco>");
    write_scratch(folder, "meshdir.xml",
                  "<mujoco><compiler meshdir='meshes'/><include file='part/part.xml'/></mujoco>");
    write_scratch(folder, "part/part.xml",
                  "<mujoco><asset><mesh file='m.obj'/></asset><include file='deep/body.xml'/>"
                  "<include file='both.xml'/></mujoco>");
    write_scratch(folder, "part/deep/body.xml",
                  "<mujoco><worldbody><geom type='mesh' mesh='m'/></worldbody></mujoco>");
    write_scratch(folder, "both.xml",
                  "<mujoco><worldbody><body name='beside the model'/></worldbody></mujoco>");
    write_scratch(folder, "part/both.xml", "<mujoco/>");
    write_scratch(folder, "part/m.obj", tetrahedron);
    write_scratch(folder, "meshes/part/n.obj", tetrahedron);
    write_scratch(folder, "beside.xml", "<mujoco><include file='beside_part.xml'/></mujoco>");
    write_scratch(folder, "beside_part.xml", // looked for in meshes/part, then in part
                  "<mujoco><compiler meshdir='meshes'/><asset><mesh file='part/m.obj'/></asset>"
                  "<include file='part/deep/body.xml'/><include file='both.xml'/></mujoco>");
    write_scratch(folder, "below.xml",
                  "<mujoco><compiler meshdir='meshes'/><include file='part/below_part.xml'/></mujoco>");
    write_scratch(folder, "part/below_part.xml", // only in meshes/part
                  "<mujoco><asset><mesh name='m' file='n.obj'/></asset><include file='deep/body.xml'/>"
                  "<include file='both.xml'/></mujoco>");
    static const char *const models[] = {"model.xml", "meshdir.xml", "beside.xml", "below.xml"};
    for (int i = 0; i < 4; i++) {
        orr_model *model = NULL;
        snprintf(path, sizeof path, "%s/%s", folder, models[i]);
        assert_ok(orr_model_load(path, &model, &error));
        assert_int_equal(model->nmesh, 1);
        assert_int_equal(orr_model_find(model, ORR_OBJECT_BODY, "beside the model"), 1);
        orr_model_destroy(model);
    }
}

static void what_is_not_used_is_noted_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *first;
        int count;
    } models[] = {
        {"<mujoco>\n<visual/></mujoco>", "", 0},
        {"<mujoco>\n<visual/>> <worldbody/>-</mujoco>", "test.xml:2: text between elements", 1},
        {"<mujoco><asset>\n<skin name='s' file='s.skn'><bone body='b' vertid='0'/></skin></asset>\n"
         "<deformable><skin/></deformable></mujoco>",
         "test.xml:2: <skin>", 2},
        {"<mujoco><option>\n<flag ipc='enable' speculative='enable'/></option></mujoco>",
         "test.xml:2: <flag>: ipc", 1},
        {"<mujoco><option>\n<flag ipc='disable'/></option></mujoco>", "", 0},
        {GENERAL("dyntype='user' gaintype='user' biastype='user'"),
         "test.xml:2: <general>: dyntype user: activations stay", 3},
        {"<mujoco><worldbody><flexcomp name='f' dim='3' count='2 2 2' type='grid'>\n<contact internal='true' "
         "passive='true'/></flexcomp></worldbody></mujoco>",
         "test.xml:2: <contact>: internal: vertices do not touch the faces", 2},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        orr_error error = {0};
        orr_model *model = parse(models[i].text, &error);
        assert_non_null(model);
        assert_int_equal(model->unused.count, models[i].count);
        assert_memory_equal(model->unused.first, models[i].first, strlen(models[i].first));
        orr_model_destroy(model);
    }
}

// As MuJoCo's reader does.
static void blank_lines_before_and_zeros_behind_are_passed_over(void **state)
{
    (void)state;
    static const char text[] = "\n \r\n<?xml version='1.0'?>\n<mujoco>\n<wordlbody/></mujoco>\n\0";
    orr_error error = {0};
    orr_model *model;
    assert_int_equal(orr_model_parse(text, sizeof text, "test.xml", &model, &error), ORR_ERROR_FORMAT);
    assert_memory_equal(error.message, "test.xml:5: <wordlbody>", 23);
}

// What random starts, random controls and sliders are in where a range has no end.
// MuJoCo's reader takes them; lines are counted through them.
static void comments_and_attributes_need_not_be_strict_xml(void **state)
{
    (void)state;
    static const char text[] = "<!-- -- caf\xe9 --->\n<mujoco><!--\n---- 'legs -- \" ---->\n<worldbody>"
                               "<geom type='box'size=\"1 2 3\"name='a > b'/>\n%s</worldbody></mujoco>";
    char whole[512];
    orr_error error;
    snprintf(whole, sizeof whole, text, "");
    orr_model *model;
    assert_ok(orr_model_parse(whole, strlen(whole), "test.xml", &model, &error));
    assert_int_equal(model->ngeom, 1);
    assert_true(model->geom_size[2] == 3.0);
    orr_model_destroy(model);
    static const char *const wrong[] = {"<geom size='x'/>", "<!-- without an end", "<geom size='1'"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(whole, sizeof whole, text, wrong[i]);
        assert_int_not_equal(orr_model_parse(whole, strlen(whole), "test.xml", &model, &error), ORR_OK);
        assert_non_null(strstr(error.message, "test.xml:5: "));
    }
}

// What MuJoCo 4.0.0 takes a joint's name for; bytes that are no UTF-8 are read as Latin-1.
static void xml_is_read_as_mujoco_reads_it(void **state)
{
    (void)state;
#define NAMED(name) "<mujoco><worldbody><body><joint name='" name "'/>" BALL "</body></worldbody></mujoco>"
    static const struct {
        const char *text, *name;
        int unused; // line of what has no effect
    } cases[] = {
        {NAMED("a & b&c"), "a & b&c", 0},
        {NAMED("a<b<!--"), "a<b<!--", 0},
        {NAMED("&lt;&#65;&#x42;&amp;"), "<AB&", 0},
        {NAMED("&foo;&#;&#xg;&amp"), "&foo;&#;&#xg;&amp", 0},
        {"<!DOCTYPE mujoco [<!ENTITY foo 'bar'>]>\n<?note?>" NAMED("&foo;"), "&foo;", 0},
        {NAMED("one") "<!-- x -->\n" NAMED("two"), "one", 2},
        {"<?xml version='1.1' encoding='gb2312'?>" NAMED("caf\xc3\xa9"), "caf\xc3\xa9", 0},
        {"<?xml version='1.0' encoding='windows-1252'?>" NAMED("caf\xe9"), "caf\xc3\xa9", 0},
        {"\xef\xbb\xbf" NAMED("j"), "j", 0},
        {"<mujoco xmlns='u' xsi:schemaLocation='v'>rock & roll<worldbody><body><joint name='j'/>" BALL
         "</body></worldbody></mujoco>",
         "j", 1},
    };
#undef NAMED
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        orr_error error;
        orr_model *model = parse(cases[i].text, &error);
        assert_non_null(model);
        assert_string_equal(orr_model_name(model, ORR_OBJECT_JOINT, 0), cases[i].name);
        assert_int_equal(model->unused.count, cases[i].unused > 0);
        if (cases[i].unused > 0) {
            char place[32];
            snprintf(place, sizeof place, "test.xml:%d:", cases[i].unused);
            assert_non_null(strstr(model->unused.first, place));
        }
        orr_model_destroy(model);
    }
}

static void a_range_without_an_end_reaches_as_far_as_asked(void **state)
{
    (void)state;
    static const struct {
        bool limited;
        double range[2], ends[2];
    } cases[] = {{true, {-1.0, 2.0}, {-1.0, 2.0}},           {false, {0.0, 0.0}, {-3.0, 3.0}},
                 {true, {-INFINITY, INFINITY}, {-3.0, 3.0}}, {true, {-1.0, INFINITY}, {-1.0, 3.0}},
                 {true, {7.0, INFINITY}, {7.0, 10.0}},       {true, {-INFINITY, -7.0}, {-10.0, -7.0}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double ends[2];
        orr_model_range(cases[i].limited, cases[i].range, 3.0, ends);
        assert_true(ends[0] == cases[i].ends[0] && ends[1] == cases[i].ends[1]);
    }
}

// A range and inheritrange exclude each other: the one that is given later counts. An inherited range is for
// servos alone.
static void a_range_counts_over_an_inherited_one_and_the_reverse(void **state)
{
    (void)state;
    static const struct {
        const char *defaults, *actuator;
        double high;
    } cases[] = {{"<motor ctrlrange='-7 7'/><position inheritrange='1'/>", "<motor joint='j'/>", 0.0},
                 {"<motor ctrlrange='-7 7'/><position inheritrange='1'/>", "<position joint='j'/>", 90.0},
                 {"<position inheritrange='1'/><motor ctrlrange='-7 7'/>", "<position joint='j'/>", 7.0},
                 {"<position inheritrange='1'/>", "<position joint='j' ctrlrange='-2 2'/>", 2.0},
                 {"<position ctrlrange='-7 7'/>", "<position joint='j' inheritrange='0.5'/>", 45.0},
                 {"<position inheritrange='1'/>", "<velocity joint='j'/>", 0.0},
                 {"<general inheritrange='1'/>", "<position joint='j'/>", 90.0},
                 {"<general inheritrange='1' ctrlrange='-7 7'/>",
                  "<general joint='j' biastype='affine' gainprm='3' biasprm='0 -3'/>", 90.0},
                 {"<general inheritrange='1'/>", "<general joint='j' biastype='affine' gainprm='3'/>", 0.0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        orr_error error = {0};
        snprintf(text, sizeof text,
                 "<mujoco><default>%s</default><worldbody><body><joint name='j' range='-90 90'/>"
                 "<geom size='1'/></body></worldbody><actuator>%s</actuator></mujoco>",
                 cases[i].defaults, cases[i].actuator);
        orr_model *model = parse(text, &error);
        assert_non_null(model);
        double high = model->actuator_ctrlrange[1];
        assert_true(high == cases[i].high || fabs(high - cases[i].high / 90.0 * 1.5707963267948966) < 1e-15);
        orr_model_destroy(model);
    }
}

static void files_that_include_each_other_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"cycle.xml", "other.xml"};
    char path[512];
    orr_error error = {0};
    orr_model *model;
    for (int i = 0; i < 2; i++) {
        char text[128];
        snprintf(text, sizeof text, "<mujoco><worldbody>\n<include file='%s'/></worldbody></mujoco>",
                 names[1 - i]);
        snprintf(path, sizeof path, "%s", scratch_path(names[i]));
        assert_ok(orr_file_write(path, text, strlen(text), &error));
    }
    assert_int_equal(orr_model_load(path, &model, &error), ORR_ERROR_FORMAT);
    assert_non_null(
        strstr(error.message, "cycle.xml:2: <include>: file 'other.xml' is included a second time"));
    const char text[] = "<mujoco><worldbody>\n<include file='other.xml'/></worldbody></mujoco>"; // itself
    assert_ok(orr_file_write(path, text, sizeof text - 1, &error));
    assert_int_equal(orr_model_load(path, &model, &error), ORR_ERROR_FORMAT);
    assert_non_null(
        strstr(error.message, "other.xml:2: <include>: file 'other.xml' is included a second time"));
}

static void empty_includes_and_replicates_leave_nothing(void **state)
{
    (void)state;
    char text[] = "<mujoco><worldbody><include file='empty.xml'/><include file='empty2.xml'/><geom size='1'/>"
                  "<replicate count='0'>" BALL
                  "</replicate><replicate count='0'/><geom size='2'/></worldbody></mujoco>";
    char path[512], empty[] = "<mujoco/>";
    orr_model *model;
    assert_ok(orr_file_write(scratch_path("empty.xml"), empty, sizeof empty - 1, &error));
    assert_ok(orr_file_write(scratch_path("empty2.xml"), empty, sizeof empty - 1, &error));
    snprintf(path, sizeof path, "%s", scratch_path("includes.xml"));
    assert_ok(orr_file_write(path, text, sizeof text - 1, &error));
    assert_ok(orr_model_load(path, &model, &error));
    assert_int_equal(model->ngeom, 2);
    orr_model_destroy(model);
}

// MuJoCo's own format: 4 vertices, no normals, texture coordinates for each, 4 faces
// Also where a class has a name.
static void an_empty_name_refers_to_nothing(void **state)
{
    (void)state;
    static const char text[] =
        "<mujoco><asset><material name='m' texture=''/></asset><default><geom material='m'/></default>"
        "<worldbody><geom name='g' size='1' material='' mesh=''/><site name='s' material=''/><camera "
        "target=''/>"
        "<body name='b' pos='2 0 0'><joint name='j'/><geom size='1'/><site "
        "name='t'/></body></worldbody><tendon>"
        "<spatial><site site='s'/><geom geom='g' sidesite=''/><site site='t'/></spatial></tendon><equality>"
        "<weld body1='b' body2=''/><joint joint1='j' joint2=''/></equality></mujoco>";
    orr_error error = {0};
    orr_model *m = parse(text, &error);
    if (!m) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(m->geom_matid[0], -1);
    assert_int_equal(m->geom_matid[1], 0);
    assert_int_equal(m->neq, 2);
    assert_int_equal(m->eq_obj2id[0], 0);
    orr_model_destroy(m);
}

static void msh_files_are_read(void **state)
{
    (void)state;
    struct {
        int32_t counts[4];
        float vertices[12], texcoords[8];
        int32_t faces[12];
    } tetrahedron = {
        {4, 0, 4, 4}, {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3}, {0}, {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3}};
    const char text[] = "<mujoco><asset><mesh name='m' file='part.msh'/></asset><worldbody>"
                        "<geom type='mesh' mesh='m'/></worldbody></mujoco>";
    char path[512];
    orr_model *m;
    orr_error error = {0};
    snprintf(path, sizeof path, "%s", scratch_path("msh.xml"));
    assert_ok(orr_file_write(path, text, sizeof text - 1, &error));
    assert_ok(orr_file_write(scratch_path("part.msh"), &tetrahedron, sizeof tetrahedron, &error));
    assert_ok(orr_model_load(path, &m, &error));
    for (int i = 0; i < 3; i++) { // the centre of mass; 1e-6: floats
        assert_true(fabs(m->geom_pos[i] - 0.25 * (i + 1)) < 1e-6);
    }
    orr_model_destroy(m);
    assert_ok(orr_file_write(scratch_path("part.msh"), &tetrahedron, sizeof tetrahedron - 4, &error));
    assert_int_equal(orr_model_load(path, &m, &error), ORR_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "part.msh': expected 4 vertices or more"));
    tetrahedron.faces[5] = 4;
    assert_ok(orr_file_write(scratch_path("part.msh"), &tetrahedron, sizeof tetrahedron, &error));
    assert_int_equal(orr_model_load(path, &m, &error), ORR_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "part.msh': a face has a vertex that is not there"));
    tetrahedron.counts[3] = INT32_MAX;
    assert_ok(orr_file_write(scratch_path("part.msh"), &tetrahedron, sizeof tetrahedron, &error));
    assert_int_equal(orr_model_load(path, &m, &error), ORR_ERROR_FORMAT);
}

// Of Gmsh: two triangles, of which a <flexcomp> may not say that they are a solid, and what is damaged.
static void gmsh_files_are_read(void **state)
{
    (void)state;
    const char file[] =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n"
        "$EndNodes\n$Elements\n2\n1 2 0 1 2 3\n2 2 0 2 4 3\n$EndElements\n";
    static const char *const dims[] = {"", "dim='2'", "dim='3'"};
    char path[512], text[256];
    orr_model *m;
    orr_error error = {0};
    snprintf(path, sizeof path, "%s", scratch_path("gmsh.xml"));
    for (int i = 0; i < 4; i++) {
        snprintf(
            text, sizeof text,
            "<mujoco><worldbody>\n<flexcomp name='f' type='gmsh' file='part.msh' %s/></worldbody></mujoco>",
            dims[i % 3]);
        assert_ok(orr_file_write(path, text, strlen(text), &error));
        assert_ok(orr_file_write(scratch_path("part.msh"), file, sizeof file - (i == 3 ? 20 : 1), &error));
        if (i < 2) {
            assert_ok(orr_model_load(path, &m, &error));
            assert_int_equal(m->flex_elemnum[0], 2);
            orr_model_destroy(m);
            continue;
        }
        assert_int_equal(orr_model_load(path, &m, &error), ORR_ERROR_FORMAT);
        assert_non_null(strstr(error.message, "gmsh.xml:2: <flexcomp>"));
        assert_non_null(strstr(error.message, i == 2
                                                  ? "dim: expected 2, as the file has triangles, not 3"
                                                  : "part.msh: line 14: expected the tag of a node, 1 to 4"));
    }
}

// MuJoCo leaves points out that no element has where it makes them of a <flexcomp>, not in a <flex>.
static void a_flex_keeps_its_points(void **state)
{
    (void)state;
#define SLIDE(axis) "<joint type='slide' axis='" axis "'/>"
#define POINT(name, pos)                                                                                     \
    "<body name='" name "' pos='" pos "'>" SLIDE("1 0 0") SLIDE("0 1 0")                                     \
        SLIDE("0 0 1") "<inertial pos='0 0 0' mass='.5' diaginertia='1 1 1'/></body>"
#define POINTS POINT("a", "0 0 0") POINT("b", "1 0 0") POINT("c", "5 5 5") POINT("d", "0 1 0")
    static const char text[] =
        "<mujoco><worldbody>" POINTS "</worldbody><deformable>"
        "<flex name='f' dim='2' body='a b c d' element='0 1 3'/></deformable></mujoco>";
    orr_model *m;
    assert_ok(orr_model_parse(text, sizeof text - 1, "flex.xml", &m, &error));
    assert_int_equal(m->flex_vertnum[0], 4);
    assert_int_equal(m->flex_elem[2], 3);
    assert_true(m->flex_mass[0] == 0.5);
    orr_model_destroy(m);
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    enum { DEEP = 400 };
    char text[DEEP * 6 + 64] = "<mujoco><worldbody>";
    for (int i = 0; i < DEEP; i++) {
        strcat(text, "<body>");
    }
    orr_error error = {0};
    assert_null(parse(text, &error));
    assert_non_null(strstr(error.message, "nested more than"));
}

static void names_are_found(void **state)
{
    (void)state;
    orr_error error;
    orr_model *model = parse(BODY("<joint name='j'/><geom name='g' size='1'/><body name='b'/>"), &error);
    assert_non_null(model);
    assert_int_equal(orr_model_find(model, ORR_OBJECT_BODY, "b"), 2);
    assert_int_equal(orr_model_find(model, ORR_OBJECT_BODY, "g"), -1);
    assert_int_equal(orr_model_find(model, ORR_OBJECT_JOINT, "j"), 0);
    assert_string_equal(orr_model_name(model, ORR_OBJECT_GEOM, 0), "g");
    assert_string_equal(orr_model_name(model, ORR_OBJECT_BODY, 0), "world");
    orr_model_destroy(model);
}

static void attached_parts_have_prefixed_names_and_a_model_is_no_part_of_itself(void **state)
{
    (void)state;
    char path[512], text[] = "<mujoco><asset>\n<model name='m' file='%s'/></asset></mujoco>", file[128];
    orr_error error = {0};
    orr_model *model;
    snprintf(path, sizeof path, "%s", source_path("tests/golden/models/attached.xml"));
    assert_ok(orr_model_load(path, &model, &error));
    assert_true(orr_model_find(model, ORR_OBJECT_BODY, "a_g_palm") > 0); // a part of a part
    assert_int_equal(orr_model_find(model, ORR_OBJECT_ACTUATOR, "c_pull"), 11);
    assert_int_equal(orr_model_find(model, ORR_OBJECT_ACTUATOR, "b_pull"), -1); // its tendon is not attached
    assert_int_equal(orr_model_find(model, ORR_OBJECT_KEY, "h_open"), 4);
    assert_true(orr_model_find(model, ORR_OBJECT_MESH, "e_pad") >= 0);
    orr_model_destroy(model);
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof file, text, i ? "ring0.xml" : "ring1.xml");
        snprintf(path, sizeof path, "%s", scratch_path(i ? "ring1.xml" : "ring0.xml"));
        assert_ok(orr_file_write(path, file, strlen(file), &error));
    }
    assert_int_equal(orr_model_load(path, &model, &error), ORR_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "ring0.xml:2: <model>: file: a model cannot be a part of itself"));
}

// How much of rgb1 a direction has, by its elevation in right angles: as MuJoCo blends, whose mean and
// deviation the compiled models have.
static double share_above(const double direction[3])
{
    double elevation = 2.0 / acos(-1.0) * atan2(direction[1], hypot(direction[0], direction[2]));
    return 0.5 + elevation / sqrt(2.0 + 2.0 * elevation * elevation);
}

static void a_gradient_of_a_cube_follows_the_elevation(void **state)
{
    (void)state;
    enum { SIDE = 8 };
    orr_error error = {0};
    orr_model *model = parse("<mujoco><asset><texture type='skybox' builtin='gradient' rgb1='1 0 0' "
                             "rgb2='0 1 0' width='8' height='8'/></asset></mujoco>",
                             &error);
    assert_non_null(model);
    assert_int_equal(model->tex_height[0], 6 * SIDE);
    for (int i = 0; i < 6 * SIDE * SIDE; i++) {
        const int face = i / (SIDE * SIDE);
        const double x = 2.0 * (i % SIDE) / (SIDE - 1) - 1.0, y = 2.0 * (i / SIDE % SIDE) / (SIDE - 1) - 1.0;
        const double up = face == 2 ? 1.0 : -1.0;
        const double at[3] = {x, face == 2 || face == 3 ? up : -y, face == 2 || face == 3 ? y : 1.0};
        const double above = 255.0 * share_above(at);
        const uint8_t *rgb = model->tex_data + 3 * i;
        assert_true(fabs(rgb[0] + 0.5 - above) < 0.51 && fabs(rgb[1] + 0.5 - (255.0 - above)) < 0.51);
        assert_int_equal(rgb[2], 0);
    }
    orr_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gradient_of_a_cube_follows_the_elevation),
        cmocka_unit_test(attached_parts_have_prefixed_names_and_a_model_is_no_part_of_itself),
        cmocka_unit_test(robots_compile_to_what_mujoco_makes_of_them),
        cmocka_unit_test(feature_models_compile_to_what_mujoco_makes_of_them),
        cmocka_unit_test(menagerie_models_compile_to_what_mujoco_makes_of_them),
        cmocka_unit_test(urdf_models_compile_to_what_mujoco_makes_of_them),
        cmocka_unit_test(every_mistake_is_named_with_its_line),
        cmocka_unit_test(short_keyframes_are_padded),
        cmocka_unit_test(files_are_looked_for_beside_an_included_file),
        cmocka_unit_test(copies_attach_the_same_body),
        cmocka_unit_test(joints_may_be_driven_and_held),
        cmocka_unit_test(one_springlength_of_a_class_is_both_ends),
        cmocka_unit_test(a_model_without_a_name_has_that_of_its_file),
        cmocka_unit_test(what_is_not_used_is_noted_with_its_line),
        cmocka_unit_test(blank_lines_before_and_zeros_behind_are_passed_over),
        cmocka_unit_test(comments_and_attributes_need_not_be_strict_xml),
        cmocka_unit_test(a_range_without_an_end_reaches_as_far_as_asked),
        cmocka_unit_test(a_range_counts_over_an_inherited_one_and_the_reverse),
        cmocka_unit_test(files_that_include_each_other_are_refused),
        cmocka_unit_test(empty_includes_and_replicates_leave_nothing),
        cmocka_unit_test(an_empty_name_refers_to_nothing),
        cmocka_unit_test(msh_files_are_read),
        cmocka_unit_test(gmsh_files_are_read),
        cmocka_unit_test(a_flex_keeps_its_points),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(xml_is_read_as_mujoco_reads_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
