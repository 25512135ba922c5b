// Tests of engine/scene/scene_file: what a scene file may say, and what it is told when it says it wrongly.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/scene/scene_file.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

#define LAYERS "\"layers\": [{\"file\": \"a.ply\"}]"

static orr_scene_file parsed(const char *text)
{
    orr_scene_file file;
    assert_ok(orr_scene_file_parse(text, "folder/scene.json", &file, &error));
    return file;
}

static void layers_are_read_with_their_defaults(void **state)
{
    (void)state;
    orr_scene_file file =
        parsed("{\"orrery\": 1, \"layers\": [{\"file\": \"a.ply\"},"
               "{\"file\": \"/b.glb\", \"name\": \"desk\", \"position\": [1, 2, 3], \"scale\": 2,"
               "\"rotation\": [0, 2, 0, 0], \"visible\": false, \"antialias\": true,"
               "\"casts_shadow\": false}]}");
    assert_int_equal(file.layer_count, 2);
    const orr_scene_file_layer *a = &file.layers[0], *b = &file.layers[1];
    assert_string_equal(a->file, "folder/a.ply"); // beside the scene file
    assert_null(a->name);
    assert_true(a->visible);
    assert_false(a->antialias);
    assert_false(a->has_casts_shadow);
    assert_float_equal(a->transform.scale, 1.0f, 0.0);
    assert_float_equal(a->transform.rotation[0], 1.0f, 0.0);
    assert_string_equal(b->file, "/b.glb");
    assert_string_equal(b->name, "desk");
    assert_false(b->visible);
    assert_true(b->antialias);
    assert_true(b->has_casts_shadow);
    assert_false(b->casts_shadow);
    assert_float_equal(b->transform.position[2], 3.0f, 0.0);
    assert_float_equal(b->transform.scale, 2.0f, 0.0);
    assert_float_equal(b->transform.rotation[1], 1.0f, 0.0); // made a unit quaternion
    assert_int_equal(file.cameras.count, 0);
    assert_false(file.has_background);
    assert_false(file.has_sun);
    assert_null(file.cameras_file);
    orr_scene_file_free(&file);
}

static void physics_of_layers_is_read(void **state)
{
    (void)state;
    orr_scene_file file =
        parsed("{\"orrery\": 1, \"layers\": [{\"file\": \"a.ply\"}, {\"file\": \"b.ply\", \"physics\": "
               "{\"static\": true, \"cell\": 0.05}}, {\"file\": \"c.glb\", \"physics\": {\"mass\": 2, "
               "\"friction\": 0.5, \"shape\": \"hull\"}}]}");
    assert_false(file.layers[0].has_physics);
    assert_true(file.layers[1].has_physics && file.layers[2].has_physics);
    assert_true(file.layers[1].physics.mass == 0.0 && file.layers[1].physics.cell == 0.05);
    assert_true(file.layers[2].physics.mass == 2.0 && file.layers[2].physics.friction == 0.5);
    assert_int_equal(file.layers[2].physics.shape, ORR_BODY_HULL);
    orr_scene_file_free(&file);
    file = parsed(
        "{\"orrery\": 1, \"layers\": [{\"file\": \"a.glb\", \"physics\": {\"mass\": 2, \"friction\": 0}}, "
        "{\"file\": \"b.glb\", \"physics\": {\"soft\": {\"friction\": 0}}}]}");
    assert_true(file.layers[0].physics.friction < 0.0 && file.layers[1].physics.friction < 0.0); // none
    orr_scene_file_free(&file);
    file =
        parsed("{\"orrery\": 1, \"layers\": [{\"file\": \"a.ply\", \"physics\": {\"soft\": {\"density\": 90, "
               "\"young\": 2e4, \"poisson\": 0.3, \"damping\": 0.01, \"friction\": 0.7, \"resolution\": 9, "
               "\"iterations\": "
               "30, \"cloth\": 0.001, \"pressure\": 2000, \"ambient\": 1e5, \"yield_stress\": "
               "300, \"flow\": 2}}}]}");
    const orr_body_desc *soft = &file.layers[0].physics;
    assert_true(file.layers[0].has_physics && soft->soft && soft->density == 90.0 && soft->young == 2e4);
    assert_true(soft->poisson == 0.3 && soft->damping == 0.01 && soft->friction == 0.7 &&
                soft->resolution == 9 && soft->iterations == 30);
    assert_true(soft->cloth == 0.001 && soft->pressure == 2000.0 && soft->ambient == 1e5);
    assert_true(soft->yield_stress == 300.0 && soft->flow == 2.0);
    orr_scene_file_free(&file);
}

static void cameras_background_and_sun_are_read(void **state)
{
    (void)state;
    orr_scene_file file = parsed(
        "{\"orrery\": 1, " LAYERS ", \"background\": [0, 0.5, 1], \"cameras_file\": \"transforms.json\","
        "\"sun\": {\"direction\": [0, -2, 0], \"colour\": [3, 2, 1]}, \"shadow\": 0.25,"
        "\"ambient_occlusion\": {\"radius\": 0.5, \"strength\": 0.75},"
        "\"cameras\": [{\"name\": \"front\", \"eye\": [0, 0, -4], \"target\": [0, 0, 0], \"field_of_view\": "
        "90,"
        "\"width\": 400, \"height\": 200, \"near\": 0.5, \"far\": 50},"
        "{\"model\": \"orthographic\", \"eye\": [0, -4, 0], \"target\": [0, 0, 0], \"up\": [0, 0, 1],"
        "\"view_height\": 8, \"width\": 640, \"height\": 480}]}");
    assert_int_equal(file.cameras.count, 2);
    const orr_camera *front = &file.cameras.cameras[0], *plan = &file.cameras.cameras[1];
    assert_string_equal(file.cameras.names[0], "front");
    assert_string_equal(file.cameras.names[1], "");
    assert_int_equal(front->model, ORR_CAMERA_PERSPECTIVE);
    assert_float_equal(front->focal[1], 100.0f, 1e-4); // 90 degrees over 200 pixels
    assert_float_equal(front->pose[11], -4.0f, 0.0);
    assert_float_equal(front->pose[0], 1.0f, 0.0); // up is -y when the file does not say: right is +x
    assert_float_equal(front->pose[5], 1.0f, 0.0);
    assert_float_equal(front->near_plane, 0.5f, 0.0);
    assert_float_equal(front->far_plane, 50.0f, 0.0);
    assert_int_equal(plan->model, ORR_CAMERA_ORTHOGRAPHIC);
    assert_float_equal(plan->focal[0], 60.0f, 0.0); // 480 pixels for 8 units
    assert_float_equal(plan->focal[1], 60.0f, 0.0);
    assert_float_equal(plan->pose[9], -1.0f, 1e-6); // down in the picture is -z
    assert_string_equal(file.cameras_file, "folder/transforms.json");
    assert_true(file.has_background);
    assert_float_equal(file.background[1], 0.5f, 0.0);
    assert_true(file.has_sun);
    assert_float_equal(file.sun.direction[1], -1.0f, 0.0);
    assert_float_equal(file.sun.colour[0], 3.0f, 0.0);
    assert_true(file.sun.ambient[0] > 0.0f); // not given: the usual
    assert_float_equal(file.umbra, 0.25f, 0.0);
    assert_true(file.occlusion_radius == 0.5f && file.occlusion_strength == 0.75f);
    orr_scene_file_free(&file);
}

static void mistakes_are_named(void **state)
{
    (void)state;
#define CAMERA(more) "{\"orrery\": 1, " LAYERS ", \"cameras\": [{\"eye\": [0,0,0], " more "}]}"
#define LAYER(more) "{\"orrery\": 1, \"layers\": [{\"file\": \"a\"}, {\"file\": \"b\", " more "}]}"
#define ROOT(more) "{\"orrery\": 1, " LAYERS ", " more "}"
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\n  \"orrery\": 1,\n  \"layers\": [}\n", "line 3, column 14: expected JSON"},
        {"{\"orrery\": 1, " LAYERS, "line 1, column 44: expected JSON"},
        {"7", "expected an object"},
        {"{}", "orrery: expected 1"},
        {"{\"orrery\": 2, " LAYERS "}", "orrery: expected 1"},
        {"{\"orrery\": \"1\"}", "orrery: expected a number"},
        {"{\"frames\": []}", "a capture (transforms.json) holds only cameras"},
        {"{\"orrery_task\": 1}", "expected a scene; a task file"},
        {"{\"orrery\": 1}", "layers: expected an array of at least one layer"},
        {"{\"orrery\": 1, \"layers\": []}", "layers: expected an array of at least one layer"},
        {"{\"orrery\": 1, \"layers\": {}}", "layers: expected an array"},
        {"{\"orrery\": 1, \"layers\": [1]}", "layers[0]: expected an object"},
        {"{\"orrery\": 1, \"layers\": [{}]}", "layers[0].file: expected the path"},
        {"{\"orrery\": 1, \"layers\": [{\"file\": \"\"}]}", "layers[0].file: expected a text"},
        {LAYER("\"scael\": 2"), "layers[1].scael: expected one of the keys file, name, position"},
        {LAYER("\"scale\": 0"), "layers[1].scale: expected a number above 0"},
        {LAYER("\"scale\": \"2\""), "layers[1].scale: expected a number above 0"},
        {LAYER("\"scale\": 1e60"), "layers[1].scale: expected a number above 0"},
        {LAYER("\"position\": [1, 2]"), "layers[1].position: expected an array of 3 numbers"},
        {LAYER("\"position\": [1, 2, null]"), "layers[1].position: expected an array of 3 numbers"},
        {LAYER("\"rotation\": [0, 0, 0, 0]"), "layers[1].rotation: expected a quaternion"},
        {LAYER("\"region\": {\"centre\": [0, 0, 0]}"), "layers[1].region.size: expected the lengths"},
        {LAYER("\"region\": {\"centre\": [0, 0, 0], \"size\": [1, 1, 1], \"keep\": \"none\"}"),
         "layers[1].region.keep: expected \"inside\" or"},
        {LAYER("\"region\": {\"centre\": [0, 0, 0], \"size\": [1, 1, 1], \"rim\": 0.1}"),
         "layers[1].region.rim: expected \"keep\": \"outside\" beside it"},
        {LAYER("\"visible\": 1"), "layers[1].visible: expected true or false"},
        {LAYER("\"file\": \"c\""), "layers[1].file: expected this key only once"},
        {LAYER("\"scale\": 2, \"file\": \"c\""), "layers[1].file: expected this key only once"},
        {LAYER("\"physics\": {}"), "layers[1].physics: expected \"static\": true, a \"mass\", or \"soft\""},
        {LAYER("\"physics\": {\"soft\": {}, \"mass\": 1}"), "layers[1].physics: expected \"soft\" alone"},
        {LAYER("\"physics\": {\"soft\": {\"young\": 0}}"), "layers[1].physics.soft.young: expected"},
        {LAYER("\"physics\": {\"soft\": {\"pressure\": -1}}"), "layers[1].physics.soft.pressure: expected"},
        {LAYER("\"physics\": {\"soft\": {\"iterations\": 0}}"),
         "layers[1].physics.soft.iterations: expected"},
        {LAYER("\"physics\": {\"soft\": {\"resolution\": 2.5}}"),
         "layers[1].physics.soft.resolution: expected"},
        {LAYER("\"physics\": {\"static\": true, \"mass\": 1}"), "layers[1].physics: expected \"static\""},
        {LAYER("\"physics\": {\"mass\": 0}"), "layers[1].physics.mass: expected"},
        {LAYER("\"physics\": {\"static\": true, \"cell\": 0}"), "layers[1].physics.cell: expected"},
        {LAYER("\"physics\": {\"mass\": 1, \"shape\": \"ball\"}"), "layers[1].physics.shape: expected"},
        {ROOT("\"background\": [255, 0, 0]"), "background: expected red, green and blue in 0 to 1"},
        {ROOT("\"shadow\": 1.5"), "shadow: expected a brightness in 0 to 1"},
        {ROOT("\"ambient_occlusion\": {}"), "ambient_occlusion.radius: expected how far"},
        {ROOT("\"ambient_occlusion\": {\"radius\": 0}"),
         "ambient_occlusion.radius: expected a distance over 0"},
        {ROOT("\"ambient_occlusion\": {\"radius\": 1, \"strength\": 2}"),
         "ambient_occlusion.strength: expected 0 to 1"},
        {ROOT("\"exposure\": 21"), "exposure: expected -20 to 20 EV"},
        {ROOT("\"environment\": {}"), "environment.file: expected the path of a .hdr or .exr picture"},
        {ROOT("\"environment\": {\"file\": \"sky.hdr\", \"strength\": 0}"),
         "environment.strength: expected a number above 0"},
        {ROOT("\"environment\": \"sky.hdr\""), "environment: expected an object"},
        {ROOT("\"probes\": 1"), "probes: expected true or false"},
        {ROOT("\"rays\": \"on\""), "rays: expected true or false"},
        {ROOT("\"sun\": {\"direction\": [0, -1, 0], \"radius\": 31}"),
         "sun.radius: expected an angle in 0 to 30 degrees"},
        {ROOT("\"lights\": [{}]"),
         "lights[0].type: expected \"directional\", \"point\", \"spot\" or \"area\""},
        {ROOT("\"lights\": [{\"type\": \"torch\"}]"), "lights[0].type: expected \"directional\""},
        {ROOT("\"lights\": [{\"type\": \"area\", \"position\": [0, 1, 0], \"direction\": [0, -1, 0]}]"),
         "lights[0].size: expected width and height"},
        {ROOT("\"lights\": [{\"type\": \"point\"}]"), "lights[0].position: expected where the light is"},
        {ROOT("\"lights\": [{\"type\": \"directional\"}]"), "lights[0].direction: expected the direction"},
        {ROOT("\"lights\": [{\"type\": \"point\", \"position\": [0, 0, 0], \"colour\": [0, 0, 0]}]"),
         "lights[0].colour: expected red, green and blue of 0 or more, one of them more"},
        {ROOT("\"tone\": \"filmic\""), "tone: expected \"none\", \"neutral\""},
        {ROOT("\"sun\": 3"), "sun: expected an object"},
        {ROOT("\"sun\": {}"), "sun.direction: expected the direction towards the sun"},
        {ROOT("\"sun\": {\"direction\": [0, 0, 0]}"), "sun.direction: expected a direction that is not zero"},
        {ROOT("\"sun\": {\"direction\": [0, 1, 0], \"color\": [1, 1, 1]}"),
         "sun.color: expected one of the keys"},
        {ROOT("\"sun\": {\"direction\": [0, 1, 0], \"colour\": [1, -1, 1]}"), "sun.colour: expected red"},
        {ROOT("\"cameras\": [{}]"), "cameras[0].eye: expected the camera's position"},
        {CAMERA("\"up\": [0, 1, 0]"), "cameras[0].target: expected the point"},
        {CAMERA("\"target\": [0, 0, 0]"), "cameras[0].target: expected another point than eye"},
        {CAMERA("\"target\": [0, 0, 1], \"field_of_view\": 180"),
         "cameras[0].field_of_view: expected degrees"},
        {CAMERA("\"target\": [0, 0, 1], \"view_height\": 3"),
         "cameras[0].view_height: expected it only in ortho"},
        {CAMERA("\"target\": [0, 0, 1], \"model\": \"fisheye\""),
         "cameras[0].model: expected \"perspective\" or"},
        {CAMERA("\"target\": [0, 0, 1], \"model\": \"orthographic\""),
         "cameras[0].view_height: expected the height"},
        {CAMERA("\"target\": [0, 0, 1], \"width\": 0"), "cameras[0].width: expected a whole number"},
        {CAMERA("\"target\": [0, 0, 1], \"height\": 70000"), "cameras[0].height: expected a whole number"},
        {CAMERA("\"target\": [0, 0, 1], \"near\": 5, \"far\": 2"),
         "cameras[0]: expected a camera that can draw"},
        {ROOT("\"cameras_file\": false"), "cameras_file: expected a text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        orr_scene_file file;
        orr_error error;
        assert_int_equal(orr_scene_file_parse(cases[i].text, "s.json", &file, &error), ORR_ERROR_FORMAT);
        assert_int_equal(error.code, ORR_CODE_SCENE_FILE);
        assert_null(file.layers);
        if (!strstr(error.message, cases[i].says) || strncmp(error.message, "s.json: ", 8) != 0) {
            fail_msg("%s\nsays: %s\ninstead of: %s", cases[i].text, error.message, cases[i].says);
        }
    }
}

static void every_shortened_file_is_refused(void **state)
{
    (void)state;
    static const char whole[] =
        "{\"orrery\": 1, \"layers\": [{\"file\": \"a.ply\", \"name\": \"\\u00e4\", \"position\":"
        " [1e3, -2.5, 0]}], \"cameras\": [{\"eye\": [0, 0, 1], \"target\": [0, 0, 0]}]}";
    orr_scene_file file = parsed(whole);
    orr_scene_file_free(&file);
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        char *text =
            orr_alloc_zero(length + 1, 1); // of that very size, so that a sanitizer sees a step outside
        memcpy(text, whole, length);
        orr_error error;
        assert_int_equal(orr_scene_file_parse(text, "s.json", &file, &error), ORR_ERROR_FORMAT);
        orr_free(text);
    }
}

// The example of the documentation is a scene file, and the schema names every key the parser takes.
static void the_documentation_is_true(void **state)
{
    (void)state;
    orr_bytes page, schema;
    assert_ok(orr_file_read(source_path("docs/scene-file.md"), &page, &error));
    assert_ok(orr_file_read(source_path("docs/scene.schema.json"), &schema, &error));
    char *start = strstr((char *)page.data, "```json\n");
    assert_non_null(start);
    start += 8;
    char *end = strstr(start, "```");
    assert_non_null(end);
    *end = 0;
    orr_scene_file file = parsed(start);
    assert_true(file.layer_count > 1);
    assert_true(file.cameras.count > 1);
    assert_true(file.has_sun);
    orr_scene_file_free(&file);
    static const char *const keys[] = {
        "orrery",  "cameras",   "cameras_file",  "background", "sun",         "layers",      "direction",
        "colour",  "ambient",   "file",          "name",       "position",    "rotation",    "scale",
        "visible", "antialias", "field_of_view", "model",      "eye",         "target",      "up",
        "width",   "height",    "near",          "far",        "view_height", "casts_shadow"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char quoted[32];
        snprintf(quoted, sizeof quoted, "\"%s\": {", keys[i]);
        if (!strstr((const char *)schema.data, quoted)) {
            fail_msg("docs/scene.schema.json does not describe %s", keys[i]);
        }
    }
    orr_free(page.data);
    orr_free(schema.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_read_with_their_defaults), cmocka_unit_test(physics_of_layers_is_read),
        cmocka_unit_test(cameras_background_and_sun_are_read), cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(every_shortened_file_is_refused),     cmocka_unit_test(the_documentation_is_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
