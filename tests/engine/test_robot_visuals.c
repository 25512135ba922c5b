// The visuals of a URDF in pictures: of every kind, in their own colours, in place of what collides.
#include "engine/core/file.h"
#include "engine/image/image.h"
#include "engine/maths/camera.h"
#include "engine/scene/scene.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 48, HEIGHT = 32, PIXELS = WIDTH * HEIGHT, MIDDLE = HEIGHT / 2 * WIDTH + WIDTH / 2 };

static orr_engine *gpu;     // NULL where Vulkan is absent
static char said[2048];     // by the engine of the CPU
static orr_engine *talking; // it

static void remember(void *user, orr_log_level level, int code, const char *line)
{
    (void)code;
    (void)user;
    if (level == ORR_LOG_WARNING) {
        strncat(said, line, sizeof said - strlen(said) - 2);
        strcat(said, "\n");
    }
}

static int open_engines(void **state)
{
    orr_engine_desc vulkan = {.threads = 2, .device = ORR_DEVICE_VULKAN, .validate = true};
    orr_engine_desc cpu = {.threads = 2, .device = ORR_DEVICE_CPU, .log = remember};
    (void)state;
    if (orr_engine_create(&vulkan, &gpu, NULL) != ORR_OK) {
        gpu = NULL;
    }
    return orr_engine_create(&cpu, &talking, NULL) == ORR_OK ? 0 : -1;
}

static int close_engines(void **state)
{
    (void)state;
    orr_engine_destroy(gpu);
    orr_engine_destroy(talking);
    return 0;
}

static orr_engine *machine(int i)
{
    return i == 0 ? talking : gpu;
}

static void write_text(const char *name, const char *text)
{
    assert_ok(orr_file_write(scratch_path(name), text, strlen(text), &error));
}

static void write_meshes(void)
{
    static const uint8_t green[4] = {0, 255, 0, 255};
    assert_ok(orr_png_save(scratch_path("green.png"), green, 1, 1, &error));
    write_text("own.mtl", "newmtl own\nKd 1 0 1\n");
    write_text("own.obj",
               "mtllib own.mtl\nv -1 -.5 -1\nv 1 -.5 -1\nv 1 -.5 1\nv -1 -.5 1\nusemtl own\nf 1 2 3 4\n");
    write_text("plain.obj", "v -1 -.5 -1\nv 1 -.5 -1\nv 1 -.5 1\nv -1 -.5 1\nf 1 2 3 4\n");
    write_text("large.stl", "solid s\nfacet normal 0 0 0\nouter loop\nvertex -1000 500 -1000\n"
                            "vertex 1000 500 -1000\nvertex 0 500 1000\nendloop\nendfacet\nendsolid s\n");
    // with a node that moves it, a unit, and an up axis that is not applied
    write_text(
        "own.dae",
        "<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'><asset>"
        "<unit meter='0.01'/><up_axis>Y_UP</up_axis></asset><library_effects><effect id='e'>"
        "<profile_COMMON><technique sid='t'><lambert><diffuse><color>1 1 0 1</color></diffuse></lambert>"
        "</technique></profile_COMMON></effect></library_effects><library_materials><material id='m'>"
        "<instance_effect url='#e'/></material></library_materials><library_geometries><geometry id='g'>"
        "<mesh><source id='p'><float_array id='a' count='12'>-100 -50 -100 100 -50 -100 100 -50 100 -100 -50 "
        "100"
        "</float_array>"
        "<technique_common><accessor source='#a' count='4' stride='3'><param name='X' "
        "type='float'/>"
        "<param name='Y' type='float'/><param name='Z' "
        "type='float'/></accessor></technique_common>"
        "</source><vertices id='v'><input semantic='POSITION' source='#p'/></vertices><triangles "
        "count='2' material='s'><input semantic='VERTEX' source='#v' offset='0'/><p>0 1 2 0 2 "
        "3</p>"
        "</triangles></mesh></geometry></library_geometries><library_visual_scenes>"
        "<visual_scene id='w'><node><instance_geometry url='#g'><bind_material><technique_common>"
        "<instance_material symbol='s' target='#m'/></technique_common></bind_material>"
        "</instance_geometry></node></visual_scene></library_visual_scenes><scene>"
        "<instance_visual_scene url='#w'/></scene></COLLADA>");
}

typedef struct link {
    const char *visuals;
    const char *name;     // of what is hit
    int red, green, blue; // is there some of it?
    float distance;       // from y = -6
} link;

#define VISUAL(shape, rest) "<visual>" rest "<geometry>" shape "</geometry></visual>"
#define COLOUR(rgb) "<material name=''><color rgba='" rgb " 1'/></material>"
#define BALL "<sphere radius='0.5'/>"
#define GREY 1, 1, 1, 5.0f // the collision: a box of 2 m

static const link links[] = {
    {VISUAL(BALL, "<material name='red'/>"), "link0", 1, 0, 0, 5.5f},
    {"<visual name='shell'><geometry><box size='1 1 1'/></geometry>" COLOUR("0 1 0") "</visual>", "shell", 0,
     1, 0, 5.5f},
    {VISUAL("<cylinder radius='0.25' length='2'/>",
            "<origin xyz='0 -1 0' rpy='1.5707963 0 0'/>" COLOUR("0 0 1")),
     "link2", 0, 0, 1, 4.0f},
    {VISUAL("<mesh filename='own.obj'/>", COLOUR("0 1 0")), "link3", 1, 0, 1, 5.5f},   // its own counts
    {VISUAL("<mesh filename='plain.obj'/>", COLOUR("0 1 1")), "link4", 0, 1, 1, 5.5f}, // it has none
    {VISUAL("<mesh filename='package://p/own.dae'/>", COLOUR("0 0 1")), "link5", 1, 1, 0, 5.5f},
    {VISUAL("<mesh filename='large.stl' scale='.001 -.001 .001'/>", "<material name='red'/>"), "link6", 1, 0,
     0, 5.5f},
    {VISUAL("<box size='1 1 1'/>", "<material name='picture'/>"), "link7", 0, 1, 0, 5.5f},
    {VISUAL("<mesh filename='plain.obj'/>", "<material name='picture'/>"), "link8", 0, 1, 0, 5.5f},
    {VISUAL("<mesh filename='nowhere.obj'/>", COLOUR("0 0 1")), "", GREY},
    {VISUAL(BALL, COLOUR("0 0 1")) VISUAL("<mesh filename='robot.urdf'/>", COLOUR("0 0 1")), "", GREY},
    {"", "", GREY},
    {VISUAL(BALL, "<material name=''><color rgba='1 1 1 0'/></material>"), NULL, 0, 0, 0, 0.0f},
};
enum { LINKS = sizeof links / sizeof links[0] };

// Link i is at x = 4 i; all collide as boxes of 2 m.
static void write_robot(const char *compiler, int count)
{
    static char text[16384];
    int used =
        snprintf(text, sizeof text,
                 "<robot name='r'><mujoco><compiler %s/></mujoco><material name='red'><color rgba='1 0 "
                 "0 1'/></material><material name='picture'><texture filename='green.png'/></material>"
                 "<link name='base'/>",
                 compiler);
    for (int i = 0; i < count; i++) {
        used +=
            snprintf(text + used, sizeof text - (size_t)used,
                     "<link name='link%d'><collision><geometry><box size='2 2 2'/></geometry></collision>%s"
                     "</link><joint name='j%d' type='%s'><origin xyz='%d 0 0'/><parent link='base'/>"
                     "<child link='link%d'/><axis xyz='0 1 0'/></joint>",
                     i, links[i].visuals, i, i == 1 ? "prismatic" : "fixed", 4 * i, i);
    }
    snprintf(text + used, sizeof text - (size_t)used, "</robot>");
    write_text("robot.urdf", text);
}

typedef struct shown {
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    float rgba[PIXELS * 4], depth[PIXELS];
} shown;

static void open(shown *s, orr_engine *with)
{
    said[0] = 0;
    assert_ok(orr_scene_load(with, scratch_path("robot.urdf"), &s->scene, &error));
    assert_ok(orr_world_create(s->scene, 1, &s->world, &error));
    assert_ok(orr_frame_create(with, NULL, &s->frame, &error));
}

static void shut(shown *s)
{
    orr_frame_destroy(s->frame);
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
}

static orr_view view_of(int i)
{
    const float x = 4.0f * (float)i;
    return (orr_view){.camera = orr_camera_look_at((float[]){x, -6, 0}, (float[]){x, 0, 0},
                                                   (float[]){0, 0, 1}, 0.5f, WIDTH, HEIGHT),
                      .has_background = true};
}

static void draw(shown *s, const orr_view *view)
{
    assert_ok(orr_frame_submit(s->frame, s->scene, s->world, view, &error));
    assert_ok(orr_frame_finish(s->frame, &(orr_picture){s->rgba, s->depth}, &error));
}

static void check(const shown *s, int i, const link *expected)
{
    const float *rgb = s->rgba + 4 * MIDDLE;
    const int some[3] = {expected->red, expected->green, expected->blue};
    for (int k = 0; k < 3; k++) {
        // lit by the headlight, at a right angle; its highlight is white
        if (some[k] ? rgb[k] < 0.48f : rgb[k] > 0.45f) {
            fail_msg("link %d: expected %d %d %d, got %g %g %g", i, some[0], some[1], some[2], (double)rgb[0],
                     (double)rgb[1], (double)rgb[2]);
        }
    }
    // the pixel is half a pixel off, and a ball's triangles are up to 0.004 m inside of it
    assert_float_equal(s->depth[MIDDLE], expected->distance, 0.012);
}

static void links_show_their_visuals_and_not_what_collides(void **state)
{
    (void)state;
    static shown s;
    write_robot("", LINKS);
    for (int m = 0; m < 2 && machine(m); m++) {
        open(&s, machine(m));
        for (int i = 0; i < LINKS; i++) {
            orr_view view = view_of(i);
            draw(&s, &view);
            check(&s, i, &links[i]);
        }
        shut(&s);
    }
}

static void what_collides_is_in_a_later_group(void **state)
{
    (void)state;
    static shown s;
    static const link box = {.red = 1, .green = 1, .blue = 1, .distance = 5.0f}, nothing = {0};
    open(&s, talking);
    orr_view view = view_of(0);
    view.geom_groups = 1 << 3;
    draw(&s, &view);
    check(&s, 0, &box);
    view.geom_groups = 1 << 1;
    draw(&s, &view);
    check(&s, 0, &nothing);
    shut(&s);
}

static void visuals_that_cannot_be_drawn_are_said_once(void **state)
{
    (void)state;
    static shown s;
    open(&s, talking);
    shut(&s);
    const char *first = strstr(said, "2 visuals are not drawn");
    assert_non_null(first);
    assert_non_null(strstr(first, "robot.urdf:1: <mesh>: filename: 'nowhere.obj'"));
    assert_null(strstr(first + 9, "visuals are not drawn"));
}

static void visuals_are_picked_by_their_names(void **state)
{
    (void)state;
    static shown s;
    open(&s, talking);
    const orr_model *m = s.scene->layers[0].robot->model;
    for (int i = 0; i < LINKS; i++) {
        orr_view view = view_of(i);
        orr_hit hit;
        assert_ok(orr_world_pick(s.world, &view, WIDTH / 2.0f, HEIGHT / 2.0f, &hit, &error));
        if (!links[i].name) {
            assert_int_equal(hit.geom, -1);
            continue;
        }
        assert_string_equal(orr_scene_robot_geom(s.scene, hit.layer, hit.geom), links[i].name);
        assert_int_equal(hit.geom >= m->ngeom, links[i].name[0] != 0);
        assert_int_equal(hit.body, i == 1); // others are the world's
    }
    const orr_layer robot = orr_scene_layer(s.scene, 0);
    assert_null(orr_scene_robot_geom(s.scene, robot, m->ngeom + m->visuals->count));
    shut(&s);
}

// Kept as geoms of the model, as MuJoCo keeps them, they look the same; discarded, the boxes are shown.
static void discardvisual_decides(void **state)
{
    (void)state;
    static shown s, kept;
    static const link box = {.red = 1, .green = 0, .blue = 0, .distance = 5.0f};
    for (int i = 0; i < 3; i++) {
        orr_view view = view_of(i);
        write_robot("", 3);
        open(&s, talking);
        draw(&s, &view);
        shut(&s);
        write_robot("discardvisual='false'", 3);
        open(&kept, talking);
        assert_true(kept.scene->layers[0].robot->model->ngeom == 6);
        draw(&kept, &view);
        assert_memory_equal(kept.rgba, s.rgba, sizeof s.rgba);
        shut(&kept);
    }
    write_robot("discardvisual='true'", 3);
    open(&s, talking);
    orr_view view = view_of(0);
    draw(&s, &view);
    assert_float_equal(s.depth[MIDDLE], box.distance, 1e-3);
    shut(&s);
}

static void engines_without_pictures_do_not_read_them(void **state)
{
    (void)state;
    static shown s;
    orr_engine *plain;
    const orr_engine_desc desc = {
        .threads = 1, .device = ORR_DEVICE_CPU, .log = remember, .no_pictures = true};
    write_robot("", LINKS);
    assert_ok(orr_engine_create(&desc, &plain, &error));
    open(&s, plain);
    assert_string_equal(said, "");
    orr_view view = view_of(0);
    draw(&s, &view);
    assert_float_equal(s.depth[MIDDLE], 5.0f, 1e-3); // the box that collides
    shut(&s);
    write_text("picture.xml",
               "<mujoco><asset><texture name='t' type='2d' builtin='flat' rgb1='1 0 0' width='256' "
               "height='256'/><texture type='skybox' builtin='gradient' width='64' height='384'/>"
               "<material name='m' texture='t'/></asset><worldbody><geom type='box' size='1 1 1' "
               "material='m'/><geom size='1' material='m'/></worldbody></mujoco>");
    orr_layer_info with, without;
    orr_engine *const engines[2] = {talking, plain};
    for (int i = 0; i < 2; i++) { // half of the bytes are those of the model
        orr_scene *scene;
        assert_ok(orr_scene_load(engines[i], scratch_path("picture.xml"), &scene, &error));
        orr_layer_info *info = i == 0 ? &with : &without;
        assert_ok(orr_scene_layer_info(scene, orr_scene_layer(scene, 0), info, &error));
        assert_int_equal(scene->layers[0].robot->sky != NULL, i == 0);
        orr_scene_destroy(scene);
    }
    assert_int_equal(with.bytes - without.bytes, 4 * (256 * 256 + 64 * 384) * 4 / 3);
    orr_engine_destroy(plain);
}

// Segmentation names visuals, and surfaces that are varied, of a whole robot or by a name, are theirs too.
static void eyes_see_visuals(void **state)
{
    (void)state;
    static shown s;
    static uint8_t rgb[PIXELS * 3];
    static int32_t segmentation[PIXELS * 2];
    write_robot("", 3);
    open(&s, talking);
    const int geoms = s.scene->layers[0].robot->model->ngeom;
    const orr_camera views[2] = {view_of(0).camera, view_of(1).camera};
    static const char *const names[2] = {NULL, "shell"}; // of all, of the second link
    for (int i = 0; i < 2; i++) {
        orr_eyes *eyes;
        const orr_eyes_desc desc = {.views = &views[i], .view_count = 1, .width = WIDTH, .height = HEIGHT};
        const orr_eyes_pictures out = {.rgb = rgb, .segmentation = segmentation};
        const orr_eyes_target target = {.geom = names[i]};
        const orr_eyes_surface blue = {.changes = ORR_SURFACE_COLOUR, .colour = {0.0f, 0.0f, 1.0f}};
        assert_ok(orr_eyes_create(s.world, &desc, &eyes, &error));
        assert_ok(orr_eyes_draw(eyes, NULL, &out, &error));
        assert_int_equal(segmentation[2 * MIDDLE], 0);
        assert_int_equal(segmentation[2 * MIDDLE + 1], geoms + 2 * i); // in the order of bodies
        assert_true(rgb[3 * MIDDLE + i] > 2 * rgb[3 * MIDDLE + 2]);    // red, green
        assert_ok(orr_eyes_vary_surfaces(
            eyes, &(orr_eyes_surfaces_desc){.targets = &target, .target_count = 1}, &error));
        assert_ok(orr_eyes_set_surfaces(eyes, NULL, &blue, &error));
        assert_ok(orr_eyes_draw(eyes, NULL, &out, &error));
        assert_true(rgb[3 * MIDDLE + 2] > 2 * rgb[3 * MIDDLE + i]);
        orr_eyes_destroy(eyes);
    }
    shut(&s);
}

static int set_up(void **state)
{
    write_meshes();
    return open_engines(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_show_their_visuals_and_not_what_collides),
        cmocka_unit_test(what_collides_is_in_a_later_group),
        cmocka_unit_test(visuals_that_cannot_be_drawn_are_said_once),
        cmocka_unit_test(visuals_are_picked_by_their_names),
        cmocka_unit_test(discardvisual_decides),
        cmocka_unit_test(engines_without_pictures_do_not_read_them),
        cmocka_unit_test(eyes_see_visuals),
    };
    return cmocka_run_group_tests(tests, set_up, close_engines);
}
