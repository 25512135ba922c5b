// URDF files: error messages, paths of meshes, and differences from MuJoCo. The constants are compared with
// MuJoCo's in test_mjcf.c.
#include "engine/core/file.h"
#include "engine/maths/rotation.h"
#include "physics/load/load.h"
#include "physics/model/visuals.h"
#include "tests/physics/model_mistakes.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12)) { // rounding
        fail_msg("expected %.17g, got %.17g", expected, value);
    }
}

static orr_model *parse(const char *text, orr_error *error)
{
    orr_model *model;
    (void)orr_model_parse(text, strlen(text), "test.urdf", &model, error);
    return model;
}

#define ROBOT(inside) "<robot name='r'><link name='a'/>" inside "</robot>"
#define MASS                                                                                                 \
    "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
#define LINK(name) "<link name='" name "'>" MASS "</link>"
#define ENDS(parent, child) "<parent link='" parent "'/><child link='" child "'/>"
#define HINGE(name, parent, child) "<joint name='" name "' type='continuous'>" ENDS(parent, child) "</joint>"
#define COLLISION(shape)                                                                                     \
    ROBOT("<link name='b'><collision><geometry>\n" shape "</geometry></collision></link>")

static void every_mistake_is_named_with_its_line(void **state)
{
    (void)state;
    static const model_mistake mistakes[] = {
        {"<robot>\n<link name='a'></robot>", "test.urdf:2: ", "well-formed"},
        {"<robot>\n<lnk name='a'/></robot>", "test.urdf:1: <robot>", "at least one <link>"},
        {ROBOT("\n<link/>"), "test.urdf:2: <link>", "name: expected one"},
        {ROBOT("\n<link name='a'/>"), "test.urdf:2: <link>", "name 'a' is taken already"},
        {ROBOT("\n<xacro:macro name='m'/>"), "test.urdf:2: <xacro:macro>", "not xacro"},
        {COLLISION("<box size='${width} 1 1'/>"), "test.urdf:2: <box>", "not xacro"},
        {COLLISION("<box size='1 1'/>"), "test.urdf:2: <box>", "size: expected 3 numbers"},
        {COLLISION("<box/>"), "test.urdf:2: <box>", "size: expected 3 numbers"},
        {COLLISION("<sphere radius='nan'/>"), "test.urdf:2: <sphere>", "radius: expected 1 number"},
        {COLLISION("<cylinder radius='1'/>"), "test.urdf:2: <cylinder>", "length: expected 1 number"},
        {COLLISION("<cone radius='1'/>"), "test.urdf:1: <geometry>", "expected one of box"},
        {COLLISION("<sphere radius='1'/><box size='1 1 1'/>"), "test.urdf:1: <geometry>",
         "expected one of box"},
        {COLLISION("<plane normal='0 0 0'/>"), "test.urdf:2: <plane>", "normal: expected a length above 0"},
        {COLLISION("<mesh/>"), "test.urdf:2: <mesh>", "filename: expected one"},
        {COLLISION("<mesh filename='package://p/nowhere.stl'/>"), "test.urdf:2: <mesh>", "nowhere.stl"},
        {ROBOT("<link name='b'>\n<collision/></link>"), "test.urdf:2: <collision>", "expected <geometry>"},
        {ROBOT("<link name='b'><collision>\n<geometry/></collision></link>"), "test.urdf:2: <geometry>",
         "expected one of box"},
        {ROBOT("<link name='b'>\n<collision><geometry><sphere radius='-1'/></geometry></collision></link>"),
         "test.urdf:2: <collision>", "positive"},
        {COLLISION("<box size='$(arg wide) 1 1'/>"), "test.urdf:2: <box>", "not xacro"},
        {COLLISION("<box size='$(optenv WIDE) 1 1'/>"), "test.urdf:2: <box>", "size: expected 3 numbers"},
        {ROBOT("\n<material name='m'><color rgba='1 2 0 1'/></material>"), "test.urdf:2: <color>", "0 to 1"},
        {ROBOT("\n<joint name='j' type='hinge'>" ENDS("a", "b") "</joint>" LINK("b")), "test.urdf:2: <joint>",
         "type: 'hinge'"},
        {ROBOT("\n<joint name='j'>" ENDS("a", "b") "</joint>" LINK("b")), "test.urdf:2: <joint>",
         "expected a name and a type"},
        {ROBOT("\n" HINGE("j", "a", "b")), "test.urdf:2: <child>", "there is no link 'b'"},
        {ROBOT(LINK("b") "\n<joint name='j' type='fixed'><parent link='a'/></joint>"), "test.urdf:2: <joint>",
         "expected <child>"},
        {ROBOT(LINK("b") HINGE("j", "a", "b") "\n" HINGE("k", "a", "b")), "test.urdf:2: <joint>",
         "is the child of the joint in line 1 already"},
        {ROBOT(LINK("b") LINK("c") HINGE("j", "b", "c") "\n" HINGE("k", "c", "b")), "test.urdf:2: <joint>",
         "is its own ancestor"},
        {ROBOT(LINK("b") LINK("c") HINGE("j", "a", "b") "\n" HINGE("j", "b", "c")),
         "test.urdf:2: <joint> 'j'", "taken already"},
        {ROBOT(LINK("b") "\n<joint name='j' type='revolute'>" ENDS("a", "b") "<axis xyz='0 0 0'/></joint>"),
         "test.urdf:2: <joint> 'j'", "axis"},
        {ROBOT(LINK("b") "<joint name='j' type='revolute'>" ENDS("a", "b") "\n<mimic/></joint>"),
         "test.urdf:2: <mimic>", "joint: expected the name"},
        {ROBOT(LINK("b") "<joint name='j' type='floating'>" ENDS("a", "b") "\n<mimic joint='j'/></joint>"),
         "test.urdf:2: <mimic>", "revolute, continuous or prismatic"},
        {ROBOT(LINK("b") LINK("c")
                   HINGE("j", "a", "b") "\n<joint name='k' type='floating'>" ENDS("b", "c") "</joint>"),
         "test.urdf:2: <joint> 'k'", "a free joint"},
        {ROBOT(
             "<link name='b'>\n<inertial><mass value='-1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' "
             "izz='1'/></inertial></link>"),
         "test.urdf:2: <inertial> 'b'", "no negative number"},
        {ROBOT("<link name='b'><inertial><mass value='1'/>\n<inertia ixx='1'/></inertial></link>"),
         "test.urdf:2: <inertia>", "iyy: expected 1 number"},
        {ROBOT("<link name='b'>\n<inertial><inertia ixx='1'/></inertial></link>"), "test.urdf:2: <inertial>",
         "expected <mass>"},
    };
    assert_mistakes(mistakes, sizeof mistakes / sizeof mistakes[0], "test.urdf");
}

static void what_urdf_does_not_have_is_noted(void **state)
{
    (void)state;
    static const struct {
        const char *text, *first;
        int count;
    } models[] = {
        {ROBOT("<link name='b' concave='yes'>" MASS "<gravity value='0'/></link>"
               "<joint name='j' type='continuous'>" ENDS(
                   "a", "b") "\n"
                             "<joint_properties damping='1'/></joint>\ntext"),
         "test.urdf:", 4},
        {ROBOT("\n<lnk/>"), "test.urdf:2: <lnk>: element in 'robot': unknown", 1},
        {ROBOT("\n<link name='b' mass='3'><visul/></link>"), "test.urdf:2: <link>: attribute 'mass': unknown",
         2},
        {COLLISION("<box size='1 1 1' radius='1'/><shade/>"), "test.urdf:2: <shade>", 2},
        {ROBOT(LINK("b") "<joint name='j' type='revolute'>" ENDS("a", "b") "\n<limit force='3'/></joint>"),
         "test.urdf:2: <limit>: attribute 'force': unknown", 1},
        {ROBOT(LINK("b") "\n<joint name='j' type='fixed' dont_collapse='true'>" ENDS("a", "b") "</joint>"),
         "test.urdf:2: <joint>: attribute 'dont_collapse': unknown", 1},
        {ROBOT(LINK("b") "<joint name='j' type='fixed'>" ENDS("a", "b") "\n<mimic joint='k'/></joint>"),
         "test.urdf:2: <mimic>: of a fixed joint", 1},
        {ROBOT(LINK("b") "<joint name='j' type='revolute'>" ENDS("a", "b") "\n<mimic joint='k'/></joint>"),
         "test.urdf:2: <mimic>: there is no joint 'k'", 1},
        {ROBOT("<link name='b'>\n<collision><geometry><plane/></geometry></collision>" MASS
               "</link>" HINGE("j", "a", "b")),
         "test.urdf:2: <collision>: a plane of a link that moves", 1},
        {ROBOT("<mujoco>\n<contact><exclude body1='a' body2='b'/></contact></mujoco>"),
         "test.urdf:2: <contact>: element in 'mujoco': unknown", 1},
        {ROBOT("<link name='b' other:mass='3' xmlns:other='x'><other:part/></link>"), "", 0},
        {COLLISION("<box size='1, 1, 1'/>"), "test.urdf:2: <box>: size: read as '1  1  1'", 1},
        {COLLISION("<box size='$(optenv WIDE 1 1 1)'/>"), "test.urdf:2: <box>: size: read as ' 1 1 1 '", 1},
        {COLLISION("<sphere radius='0'/>"), "test.urdf:2: <sphere>: a size of 0: no shape", 1},
        {COLLISION("<box size='1 0 1'/>"), "test.urdf:2: <box>: a size of 0: no shape", 1},
        {ROBOT("\n<link name='b'/>" HINGE("j", "a", "b")), "test.urdf:2: <link> 'b': moves without mass", 1},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        orr_error error = {0};
        orr_model *model = parse(models[i].text, &error);
        if (!model) {
            fail_msg("%s", error.message);
        }
        assert_int_equal(model->unused.count, models[i].count);
        assert_memory_equal(model->unused.first, models[i].first, strlen(models[i].first));
        orr_model_destroy(model);
    }
}

#define BALL 0.00960586199597594 // 0.4 m r^2 of 3 kg of water, r = (3 m / (4000 pi))^(1/3)

// MuJoCo refuses them; files in common use have them.
static void inertias_that_no_body_has_are_corrected_and_noted(void **state)
{
    (void)state;
    static const struct {
        const char *inertia, *note;
        double moments[3];
    } cases[] = {
        {"<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='4'/>",
         "principal moments of 4 1 1",
         {2, 2, 2}},
        {"<inertia ixx='1' ixy='2' ixz='0' iyy='1' iyz='0' izz='3'/>",
         "principal moments of 3 3 -1",
         {2, 2, 2}},
        {"<inertia ixx='1' ixy='0' ixz='0' iyy='0.5' iyz='0' izz='0'/>",
         "principal moments of 1 0.5 0",
         {0.5, 0.5, 0.5}},
        {"<inertia ixx='-1' ixy='0' ixz='0' iyy='-1' iyz='0' izz='-1'/>",
         "principal moments of -1 -1 -1",
         {BALL, BALL, BALL}},
        {"<inertia ixx='0' ixy='0' ixz='0' iyy='4e-18' iyz='0' izz='0'/>",
         "principal moments of 4e-18 0 0",
         {BALL, BALL, BALL}},
        {"", "<inertial>: no <inertia>", {BALL, BALL, BALL}},
        {"<inertia ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='0'/>", "", {0, 0, 0}}, // a point mass
        {"<inertia ixx='1' ixy='0' ixz='0' iyy='2' iyz='0' izz='3'/>", "", {3, 2, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        orr_error error = {0};
        snprintf(text, sizeof text,
                 "<robot name='r'><mujoco><compiler fusestatic='false'/></mujoco><link name='a'/><link "
                 "name='b'><inertial><mass value='3'/>%s</inertial></link><joint name='j' type='fixed'>" ENDS(
                     "a", "b") "</joint></robot>",
                 cases[i].inertia);
        orr_model *model = parse(text, &error);
        if (!model) {
            fail_msg("%s", error.message);
        }
        assert_int_equal(model->unused.count, cases[i].note[0] != 0);
        if (!strstr(model->unused.first, cases[i].note)) {
            fail_msg("expected '%s' in '%s'", cases[i].note, model->unused.first);
        }
        assert_near(model->body_mass[2], 3.0);
        for (int k = 0; k < 3; k++) {
            assert_near(model->body_inertia[6 + k], cases[i].moments[k]);
        }
        orr_model_destroy(model);
    }
}

// A link that moves with a mass alone is a ball of water, unless one that is fixed to it has the inertia.
static void links_that_move_without_inertia_are_balls(void **state)
{
    (void)state;
    static const char zero[] =
        "<inertial><mass value='3'/><inertia ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='0'/></inertial>";
    static const char without_mass[] = "<link name='c'><inertial><mass value='0'/><inertia ixx='0' ixy='0' "
                                       "ixz='0' iyy='0' iyz='0' izz='0'/></inertial></link>";
    const char *const last[] = {LINK("c"), LINK("c"), "<link name='c'/>", without_mass};
    for (int held = 0; held < 4; held++) { // 2 and 3: by a frame alone, which has none
        char text[2048];
        orr_error error = {0};
        snprintf(text, sizeof text,
                 "<robot name='r'><mujoco><compiler fusestatic='false'/></mujoco><link name='a'/><link "
                 "name='b'>%s</link>" HINGE("j", "a", "b") "%s<joint name='k' type='%s'>" ENDS(
                     "b", "c") "</joint></robot>",
                 zero, last[held], held ? "fixed" : "continuous");
        orr_model *model = parse(text, &error);
        if (!model) {
            fail_msg("%s", error.message);
        }
        assert_int_equal(model->unused.count, held != 1);
        assert_near(model->body_inertia[6], held == 1 ? 0.0 : BALL);
        orr_model_destroy(model);
    }
}

// MuJoCo refuses them. Mass that is fixed to a link, or of its collisions, is enough.
static void links_that_move_without_mass_get_a_little(void **state)
{
    (void)state;
    static const struct {
        const char *inside;
        double mass;
        int noted;
    } links[] = {
        {"", 1e-3, 1},
        {"<visual><geometry><box size='1 1 1'/></geometry></visual>", 1e-3, 1},
        {"<inertial><mass value='0'/><inertia ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='0'/></inertial>",
         1e-3, 1},
        {"<collision><geometry><box size='1 1 1'/></geometry></collision>", 1000.0, 0},
        {MASS, 1.0, 0},
    };
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        char text[2048];
        orr_error error = {0};
        // b moves, and c, which is like it, is fixed to d, whose mass it shares
        snprintf(text, sizeof text,
                 "<robot name='r'><mujoco><compiler discardvisual='false'/></mujoco><link name='a'/><link "
                 "name='b'>%s</link>" HINGE("j", "a", "b") LINK("d") "<link name='c'/>" HINGE(
                     "k", "b", "c") "<joint name='f' type='fixed'>" ENDS("c", "d") "</joint></robot>",
                 links[i].inside);
        orr_model *model = parse(text, &error);
        if (!model) {
            fail_msg("%s", error.message);
        }
        assert_int_equal(model->unused.count, links[i].noted);
        assert_near(model->body_mass[1], links[i].mass);
        assert_near(model->body_mass[2], 1.0);
        orr_model_destroy(model);
    }
}

// MuJoCo 3.12 drops this rotation (its issue 3559, fixed later), so that there is no recording: compared with
// the same body in MJCF.
static void the_inertia_turns_with_its_origin(void **state)
{
    (void)state;
    orr_error error = {0};
    orr_model *urdf = parse(
        ROBOT(
            "<link name='b'><inertial><origin xyz='.1 .2 .3' rpy='0 0 1.5707963267948966'/><mass value='2'/>"
            "<inertia ixx='1' ixy='0' ixz='0' iyy='2' iyz='0' izz='2.5'/></inertial></link>" HINGE("j", "a",
                                                                                                   "b")),
        &error);
    orr_model *mjcf =
        parse("<mujoco><worldbody><body name='b'><joint axis='1 0 0'/>"
              "<inertial pos='.1 .2 .3' mass='2' fullinertia='2 1 2.5 0 0 0'/></body></worldbody></mujoco>",
              &error);
    assert_non_null(urdf);
    assert_non_null(mjcf);
    // about x: 2 of the rotated body, and its mass at a distance of sqrt(.2^2 + .3^2)
    assert_near(1.0 / urdf->dof_invweight0[0], 2.0 + 2.0 * 0.13);
    assert_near(1.0 / mjcf->dof_invweight0[0], 2.0 + 2.0 * 0.13);
    orr_model_destroy(urdf);
    orr_model_destroy(mjcf);
}

// MuJoCo ignores <mimic>; here it is the joint equality of an MJCF file.
static void a_joint_that_mimics_another_is_tied_to_it(void **state)
{
    (void)state;
    orr_error error = {0};
    orr_model *m =
        parse(ROBOT(LINK("b") LINK("c") HINGE("j", "a", "b") "<joint name='k' type='prismatic'>" ENDS(
                  "a", "c") "<mimic joint='j' multiplier='-2' offset='.5'/></joint>"),
              &error);
    assert_non_null(m);
    assert_int_equal(m->neq, 1);
    assert_int_equal(m->eq_type[0], ORR_EQUALITY_JOINT);
    assert_int_equal(m->eq_obj1id[0], orr_model_find(m, ORR_OBJECT_JOINT, "k"));
    assert_int_equal(m->eq_obj2id[0], orr_model_find(m, ORR_OBJECT_JOINT, "j"));
    assert_near(m->eq_data[0], 0.5);
    assert_near(m->eq_data[1], -2.0);
    orr_model_destroy(m);
}

// Of three joints that mimic others, the first follows one that is not there, the second one that is fixed.
static void a_joint_is_held_by_what_it_mimics_where_that_is(void **state)
{
    (void)state;
    orr_error error = {0};
    orr_model *m =
        parse(ROBOT(LINK("b") LINK("c") LINK("d") LINK("e") "<joint name='j' type='continuous'>" ENDS(
                  "a", "b") "<mimic joint='gone'/></joint><joint name='f' "
                            "type='fixed'>" ENDS("b", "c") "</joint>"
                                                           "<joint name='k' "
                                                           "type='continuous'>" ENDS(
                                                               "c", "d") "<mimic joint='f' "
                                                                         "multiplier='3' "
                                                                         "offset='.5'/></joint>"
                                                                         "<joint name='l' "
                                                                         "type='continuous'>" ENDS(
                                                                             "d", "e") "<mimic "
                                                                                       "joint='j'/"
                                                                                       "></joint>"),
              &error);
    assert_non_null(m);
    assert_int_equal(m->neq, 2);
    assert_int_equal(m->eq_obj1id[0], orr_model_find(m, ORR_OBJECT_JOINT, "k"));
    assert_int_equal(m->eq_obj2id[0], -1);
    assert_near(m->eq_data[0], 0.5);
    assert_int_equal(m->eq_obj2id[1], orr_model_find(m, ORR_OBJECT_JOINT, "j"));
    orr_model_destroy(m);
}

// Bullet's; MuJoCo refuses them.
static void planes_face_along_their_normals(void **state)
{
    (void)state;
    orr_error error = {0};
    orr_model *m = parse(
        ROBOT("<link name='b'><collision><origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/><geometry>"
              "<plane normal='2 0 0'/></geometry></collision><visual><geometry><plane/></geometry></visual>"
              "</link><joint name='j' type='fixed'>" ENDS("a", "b") "</joint>"),
        &error);
    assert_non_null(m);
    assert_int_equal(m->ngeom, 1);
    assert_int_equal(m->geom_type[0], ORR_GEOM_PLANE);
    assert_near(m->geom_pos[2], 3.0);
    double turned[9];
    quat_matrix(m->geom_quat, turned);
    const double up[3] = {0.0, 1.0, 0.0}; // x of the origin
    for (int i = 0; i < 3; i++) {
        assert_near(turned[3 * i + 2], up[i]);
    }
    assert_int_equal(m->visuals->count, 1);
    assert_non_null(strstr(m->visuals->list[0].wrong, "a plane: expected as what collides"));
    orr_model_destroy(m);
}

static void write_text(const char *path, const char *text)
{
    assert_ok(orr_file_write(path, text, strlen(text), &error));
}
// my_robot/urdf/robot.urdf and my_robot/meshes/part.obj
static void meshes_are_found_in_the_packages_above_the_file(void **state)
{
    (void)state;
    static const char *const names[] = {"package://my_robot/meshes/part.obj",
                                        "model://my_robot/meshes/part.obj",
                                        "../meshes/part.obj",
                                        "package://installed_elsewhere/meshes/part.obj",
                                        "file://../meshes/part.obj",
                                        "$(find my_robot)/meshes/part.obj",
                                        NULL};
    char path[512];
    mkdir(scratch_path("my_robot"), 0777);
    mkdir(scratch_path("my_robot/urdf"), 0777);
    mkdir(scratch_path("my_robot/meshes"), 0777);
    write_text(scratch_path("my_robot/meshes/part.obj"),
               "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    snprintf(path, sizeof path, "%s", scratch_path("my_robot/urdf/robot.urdf"));
    for (int i = 0; names[i]; i++) {
        char text[512];
        orr_model *m = NULL;
        snprintf(text, sizeof text, COLLISION("<mesh filename='%s'/>"), names[i]);
        write_text(path, text);
        assert_ok(orr_model_load(path, &m, &error));
        assert_int_equal(m->nmesh, 1);
        assert_string_equal(orr_model_name(m, ORR_OBJECT_MESH, 0), "part");
        orr_model_destroy(m);
    }
}

// MuJoCo refuses them. One triangle and a square, whose coordinates are in millimetres and mirrored, become
// 2 mm thick; points on a line do not.
static void flat_meshes_get_a_thickness(void **state)
{
    (void)state;
    static const struct {
        const char *obj, *scale;
        double volume;
        int corners;
    } flat[] = {
        {"v 0 0 1\nv 1 0 1\nv 0 1 1\nf 1 2 3\n", "1 1 1", 0.5, 6},
        {"v 0 0 0\nv 800 0 600\nv 800 500 600\nv 0 500 0\nf 1 2 3\nf 1 3 4\n", ".001 -.001 .001", 0.5, 8}};
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path("flat.urdf"));
    for (size_t i = 0; i < sizeof flat / sizeof flat[0]; i++) {
        char text[512];
        orr_model *m = NULL;
        write_text(scratch_path("flat.obj"), flat[i].obj);
        snprintf(text, sizeof text, COLLISION("<mesh filename='flat.obj' scale='%s'/>"), flat[i].scale);
        char *fixed = strstr(text, "</robot>");
        strcpy(fixed, HINGE("j", "a", "b") "</robot>");
        write_text(path, text);
        assert_ok(orr_model_load(path, &m, &error));
        assert_int_equal(m->unused.count, 1);
        assert_non_null(strstr(m->unused.first, "flat.urdf:2: <mesh>: 'flat' is flat"));
        assert_int_equal(m->mesh_hullvertnum[0], flat[i].corners);
        const double mass = 1000.0 * 0.002 * flat[i].volume; // of water; 1e-4: coordinates are floats
        assert_true(fabs(m->body_mass[1] - mass) < 1e-4 * mass);
        orr_model_destroy(m);
    }
    orr_error error = {0};
    orr_model *m = NULL;
    write_text(scratch_path("flat.obj"), "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nf 1 2 3\nf 1 3 4\n");
    write_text(path, COLLISION("<mesh filename='flat.obj'/>"));
    assert_int_not_equal(orr_model_load(path, &m, &error), ORR_OK);
    assert_non_null(strstr(error.message, "whose convex hull has a volume"));
}

// Their unit is applied, their up axis is not.
static void collada_meshes_keep_their_axes(void **state)
{
    (void)state;
    static const char dae[] =
        "<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'><asset>"
        "<unit name='centimetre' meter='0.01'/><up_axis>Z_UP</up_axis></asset><library_geometries><geometry "
        "id='g'>"
        "<mesh><source id='p'><float_array id='a' count='12'>0 0 0 100 0 0 0 200 0 0 0 300</float_array>"
        "<technique_common><accessor source='#a' count='4' stride='3'><param name='X' type='float'/>"
        "<param name='Y' type='float'/><param name='Z' type='float'/></accessor></technique_common></source>"
        "<vertices id='v'><input semantic='POSITION' source='#p'/></vertices><triangles count='4'>"
        "<input semantic='VERTEX' source='#v' offset='0'/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh>"
        "</geometry></library_geometries><library_visual_scenes><visual_scene id='s'><node id='n'>"
        "<instance_geometry url='#g'/></node></visual_scene></library_visual_scenes>"
        "<scene><instance_visual_scene url='#s'/></scene></COLLADA>";
    char path[512];
    orr_model *m = NULL;
    write_text(scratch_path("part.dae"), dae);
    snprintf(path, sizeof path, "%s", scratch_path("collada.urdf"));
    write_text(path, COLLISION("<mesh filename='part.dae'/>"));
    assert_ok(orr_model_load(path, &m, &error));
    // the centre of mass of a tetrahedron; 1e-6: floats
    assert_true(fabs(m->geom_pos[0] - 0.25) < 1e-6 && fabs(m->geom_pos[1] - 0.5) < 1e-6);
    assert_true(fabs(m->geom_pos[2] - 0.75) < 1e-6);
    orr_model_destroy(m);
}

// Two links, one fused with the world and one that moves; NAME for what they look like, behind what collides.
#define LOOKS(name, compiler)                                                                                \
    "<robot name='r'><mujoco><compiler " compiler "/></mujoco><material name='blue'><color rgba='0 0 1 1'/>" \
    "</material><link name='a'>"                                                                             \
    "<collision><geometry><box size='2 2 2'/></geometry></collision>"                                        \
    "<" name "><geometry><sphere radius='3'/></geometry><material name='blue'/></" name "></link>"           \
    "<link name='b'>" MASS "<collision><origin xyz='0 0 1'/><geometry><box size='1 1 1'/></geometry>"        \
    "</collision><" name " name='shell'><origin xyz='1 2 3' rpy='0 0 1.5'/><geometry>"                       \
    "<cylinder radius='2' length='6'/></geometry><material name='x'><color rgba='1 0 0 "                     \
    ".5'/></material></" name ">\n<" name                                                                    \
    "><geometry><mesh filename='nowhere.dae' scale='1 2 3'/></geometry></" name "></link>"                   \
    "<joint name='j' type='continuous'><origin xyz='0 0 5'/>" ENDS("a", "b") "</joint></robot>"

static void visuals_are_no_part_of_physics(void **state)
{
    (void)state;
    orr_error error = {0};
    orr_model *with = parse(LOOKS("visual", ""), &error), *without = parse(LOOKS("unknown", ""), &error);
    assert_non_null(with);
    assert_non_null(without);
    assert_int_equal(with->ngeom, 2);
    assert_int_equal(with->bytes, without->bytes);
    assert_memory_equal(with->memory, without->memory, with->bytes - sizeof *with);
    assert_null(without->visuals);
    orr_model_destroy(with);
    orr_model_destroy(without);
}

static void visuals_are_read_with_their_materials(void **state)
{
    (void)state;
    static const float blue[4] = {0, 0, 1, 1}, red[4] = {1, 0, 0, 0.5f};
    orr_error error = {0};
    orr_model *m = parse(LOOKS("visual", ""), &error);
    assert_non_null(m);
    const orr_visuals *v = m->visuals;
    assert_int_equal(v->count, 3);
    assert_string_equal(v->list[0].name, "a"); // its link's
    assert_int_equal(v->list[0].type, ORR_GEOM_SPHERE);
    assert_int_equal(v->list[0].body, 0);
    assert_memory_equal(v->list[0].rgba, blue, sizeof blue);
    assert_string_equal(v->list[1].name, "shell");
    assert_int_equal(v->list[1].type, ORR_GEOM_CYLINDER);
    assert_int_equal(v->list[1].body, 1);
    assert_near(v->list[1].size[0], 2.0);
    assert_near(v->list[1].size[1], 3.0); // half of its length
    assert_near(v->list[1].pos[1], 2.0);
    assert_near(v->list[1].quat[3], sin(0.75));
    assert_memory_equal(v->list[1].rgba, red, sizeof red);
    assert_null(v->list[1].wrong);
    assert_false(v->list[2].coloured);
    assert_non_null(strstr(v->list[2].wrong, "test.urdf:2: <mesh>: filename: 'nowhere.dae'"));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(v->list[i].geom, -1);
    }
    assert_int_equal(v->list[1].link, v->list[2].link);
    assert_int_equal(v->geom_link[0], v->list[0].link);
    assert_int_equal(v->geom_link[1], v->list[1].link);
    assert_int_not_equal(v->geom_link[0], v->geom_link[1]);
    orr_model_destroy(m);
}

// As MuJoCo has it; but a visual that is wrong is left out.
static void discardvisual_is_obeyed(void **state)
{
    (void)state;
    orr_error error = {0};
    orr_model *m = parse(LOOKS("visual", "discardvisual='true'"), &error);
    assert_non_null(m);
    assert_null(m->visuals);
    assert_int_equal(m->ngeom, 2);
    orr_model_destroy(m);
    m = parse(LOOKS("visual", "discardvisual='false'"), &error);
    assert_non_null(m);
    assert_int_equal(m->ngeom, 4);
    const int geoms[3] = {1, 3, -1}; // of the visuals
    for (int i = 0; i < 3; i++) {
        assert_int_equal(m->visuals->list[i].geom, geoms[i]);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(m->geom_contype[i], i % 2 == 0);
        assert_int_equal(m->geom_group[i], i % 2);
        assert_int_equal(m->visuals->geom_link[i] >= 0, i % 2 == 0);
    }
    orr_model_destroy(m);
}

// Where their links are fused, and in another model.
static void visuals_move_with_their_bodies(void **state)
{
    (void)state;
    orr_error error = {0};
    orr_model *m =
        parse("<robot name='r'>" LINK("a")
                  LINK("b") "<link name='c'><visual><origin xyz='0 1 0'/>"
                            "<geometry><box size='1 1 1'/></geometry></visual></link>" HINGE(
                                "j", "a", "b") "<joint name='f' type='fixed'><origin xyz='3 0 0' rpy='0 0 "
                                               "1.5707963267948966'/>" ENDS("b", "c") "</joint></robot>",
              &error);
    assert_non_null(m);
    const orr_visual *v = m->visuals->list;
    assert_int_equal(m->nbody, 2);
    assert_int_equal(v->body, 1);
    assert_near(v->pos[0], 2.0);
    assert_near(v->pos[1], 0.0);
    orr_model_destroy(m);
    write_text(scratch_path("part.urdf"), "<robot name='r'><link name='b'>" MASS "<visual><geometry>"
                                          "<box size='1 1 1'/></geometry></visual></link></robot>");
    write_text(scratch_path("whole.xml"),
               "<mujoco><asset><model name='part' file='part.urdf'/></asset><worldbody><body pos='0 0 7'>"
               "<freejoint/><geom size='1'/><attach model='part' body='b' prefix='p/'/></body></worldbody>"
               "</mujoco>");
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path("whole.xml"));
    assert_ok(orr_model_load(path, &m, &error));
    assert_int_equal(m->visuals->count, 1);
    assert_string_equal(m->visuals->list[0].name, "p/b");
    assert_int_equal(m->visuals->list[0].body, orr_model_find(m, ORR_OBJECT_BODY, "p/b"));
    orr_model_destroy(m);
}

static void a_long_chain_of_links_is_read(void **state)
{
    (void)state;
    enum { LINKS = 5000, ROOM = 200 };
    char *text = calloc(LINKS + 1, ROOM), *at = text;
    assert_non_null(text);
    at += sprintf(at, "<robot name='chain'><link name='l0'/>");
    for (int i = 1; i < LINKS; i++) {
        at += sprintf(at, "<link name='l%d'/><joint name='j%d' type='fixed'>" ENDS("l%d", "l%d") "</joint>",
                      i, i, i - 1, i);
    }
    strcpy(at, "</robot>");
    orr_error error = {0};
    orr_model *m = parse(text, &error);
    free(text);
    assert_non_null(m);
    assert_int_equal(m->nbody, 1); // all of them are the world
    orr_model_destroy(m);
}

static void cameras_stay_where_they_are_when_their_body_is_fused(void **state)
{
    (void)state;
    orr_error error = {0};
    orr_model *m = parse("<mujoco><compiler fusestatic='true'/><worldbody><body pos='1 0 0' euler='0 0 90'>"
                         "<camera pos='0 2 0'/><light pos='0 3 0' dir='1 0 0'/></body></worldbody></mujoco>",
                         &error);
    assert_non_null(m);
    assert_int_equal(m->nbody, 1);
    const double camera[3] = {-1.0, 0.0, 0.0}, light[3] = {-2.0, 0.0, 0.0}, direction[3] = {0.0, 1.0, 0.0};
    for (int i = 0; i < 3; i++) {
        assert_near(m->cam_pos[i], camera[i]);
        assert_near(m->light_pos[i], light[i]);
        assert_near(m->light_dir[i], direction[i]);
    }
    orr_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_is_named_with_its_line),
        cmocka_unit_test(what_urdf_does_not_have_is_noted),
        cmocka_unit_test(inertias_that_no_body_has_are_corrected_and_noted),
        cmocka_unit_test(links_that_move_without_inertia_are_balls),
        cmocka_unit_test(links_that_move_without_mass_get_a_little),
        cmocka_unit_test(the_inertia_turns_with_its_origin),
        cmocka_unit_test(a_joint_that_mimics_another_is_tied_to_it),
        cmocka_unit_test(a_joint_is_held_by_what_it_mimics_where_that_is),
        cmocka_unit_test(planes_face_along_their_normals),
        cmocka_unit_test(flat_meshes_get_a_thickness),
        cmocka_unit_test(meshes_are_found_in_the_packages_above_the_file),
        cmocka_unit_test(collada_meshes_keep_their_axes),
        cmocka_unit_test(visuals_are_no_part_of_physics),
        cmocka_unit_test(visuals_are_read_with_their_materials),
        cmocka_unit_test(discardvisual_is_obeyed),
        cmocka_unit_test(visuals_move_with_their_bodies),
        cmocka_unit_test(a_long_chain_of_links_is_read),
        cmocka_unit_test(cameras_stay_where_they_are_when_their_body_is_fused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
