// orrery insert: an object on a surface of a captured world, as a scene file or in the photos of its
// capture.
#include "engine/core/file.h"
#include "engine/core/folder.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/scene/scene.h"
#include "neural/capture/capture_file.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/interrupt.h"
#include "samples/orrery/progress.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct insertion {
    const char *room, *object, *output;
    const char *over;   // a capture whose photos the object is drawn into; NULL: a scene file is written
    const char *shadow; // names of its shadows' pictures
    const char *camera; // of the capture: number or name of the photo
    const char *at;     // "X,Y" [px]; NULL: in the middle, two thirds down
    double turn, scale; // degrees; 0: 1
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_camera_list cameras;  // of the capture
    orr_capture_file capture; // where its photos are
    orr_layer layer;
    orr_transform transform;
    bool no_sun;          // it is not to be estimated
    orr_sun_estimate sun; // of the room, where it has no light of its own
} insertion;

static bool is_captured(const orr_scene *scene)
{
    bool captured = false;
    for (int i = 0; i < scene->layer_count; i++) {
        const orr_layer_data *layer = &scene->layers[i];
        captured = captured || layer->kind == ORR_LAYER_SPLATS ||
                   (layer->kind == ORR_LAYER_FIELD && orr_field_layer_kind(layer->field) == ORR_FIELD_NERF);
    }
    return captured;
}

// A room without any light of its own gets that by which it was captured.
static orr_result find_sun(insertion *n, orr_error *error)
{
    const orr_scene *scene = n->scene;
    if (n->no_sun || !orr_scene_has_default_sun(scene) || !is_captured(scene)) {
        return ORR_OK;
    }
    ORR_TRY(orr_scene_estimate_sun(n->scene, &n->sun, error));
    return n->sun.found ? orr_scene_set_sun(n->scene, &n->sun.sun, error) : ORR_OK;
}

static orr_result open_scene(insertion *n, orr_error *error)
{
    ORR_TRY(orr_scene_load(n->engine, n->room, &n->scene, error));
    ORR_TRY(find_sun(n, error));
    const orr_transform scaled = {.scale = (float)n->scale};
    ORR_TRY(orr_scene_add_file(n->scene, n->object, &scaled, &n->layer, error));
    return orr_world_create(n->scene, 1, &n->world, error);
}

// ---- where ----

static orr_result find_camera(const insertion *n, orr_camera *camera, orr_error *error)
{
    if (!n->cameras.count) {
        const orr_camera *first = orr_scene_camera(n->scene, 0);
        if (n->camera) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "insert: --camera: expected --over CAPTURE");
        }
        orr_world_set_visible(n->world, 0, n->layer, false, NULL); // not in the view of all
        *camera = first ? *first : orr_scene_default_camera(n->scene, 1280, 720);
        return ORR_OK;
    }
    double place = 0.0;
    const char *rest;
    bool number =
        n->camera && options_read_real(n->camera, 0, 0.0, INT_MAX, &place, &rest) && floor(place) == place;
    int index = (int)place;
    for (int i = 0; n->camera && !number && i < n->cameras.count; i++) {
        if (strcmp(orr_path_name(n->cameras.names[i]), n->camera) == 0) {
            index = i;
            number = true;
        }
    }
    if ((n->camera && !number) || index < 0 || index >= n->cameras.count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: --camera %s: expected 0 to %d, or the name of a photo",
                        n->over, n->camera, n->cameras.count - 1);
    }
    *camera = n->cameras.cameras[index];
    return ORR_OK;
}

// Of the photos: the mean of what is up in them.
static void up_of_cameras(const orr_camera_list *list, float up[3])
{
    for (int i = 0; i < list->count; i++) {
        for (int k = 0; k < 3; k++) {
            up[k] -= list->cameras[i].pose[4 * k + 1];
        }
    }
}

static orr_result place(insertion *n, const float up[3], orr_error *error)
{
    orr_view view = {0};
    const char *rest;
    ORR_TRY(find_camera(n, &view.camera, error));
    double x = 0.5 * view.camera.width, y = 2.0 / 3.0 * view.camera.height;
    if (n->at && !(options_read_real(n->at, ',', -1e6, 1e6, &x, &rest) &&
                   options_read_real(rest, 0, -1e6, 1e6, &y, &rest))) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "insert: --at %s: expected X,Y in pixels of the camera's picture", n->at);
    }
    orr_place_desc desc = {.turn = (float)(n->turn * 3.14159265358979323846 / 180.0)};
    memcpy(desc.up, up, sizeof desc.up);
    if (n->cameras.count && up[0] == 0.0f && up[1] == 0.0f && up[2] == 0.0f) {
        up_of_cameras(&n->cameras, desc.up);
    }
    ORR_TRY(orr_world_place(n->world, &view, (float)x, (float)y, n->layer, &desc, error));
    ORR_TRY(orr_world_set_visible(n->world, 0, n->layer, true, error));
    return orr_world_get(n->world, 0, n->layer, &n->transform, NULL, error);
}

// ---- into photos ----

static orr_result load_photo(const insertion *n, int i, float *rgba, orr_error *error)
{
    orr_image8 image;
    const orr_camera *camera = &n->cameras.cameras[i];
    char *path;
    ORR_TRY(orr_capture_file_photo(&n->capture, n->cameras.names[i], &path, error));
    if (!path) {
        return orr_fail(error, ORR_CODE_FILE_OPEN, "%s: no photo %s", n->over, n->cameras.names[i]);
    }
    orr_result result = orr_image8_load(path, &image, error);
    if (result == ORR_OK && (image.width != camera->width || image.height != camera->height)) {
        result =
            orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: %d x %d pixels: expected %d x %d, as in its camera",
                     path, image.width, image.height, camera->width, camera->height);
        orr_image8_free(&image);
    } else if (result == ORR_OK) {
        for (int64_t k = 0; k < 4 * (int64_t)image.width * image.height; k++) {
            float alpha = (float)image.rgba[k | 3] / 255.0f; // 4 bytes a pixel, the last is alpha
            rgba[k] = (k & 3) == 3 ? alpha : alpha * (float)image.rgba[k] / 255.0f;
        }
        orr_image8_free(&image);
    }
    orr_free(path);
    return result;
}

static orr_result compose(insertion *n, int i, orr_output *pictures, orr_output *shadows, orr_error *error)
{
    const orr_view view = {.camera = n->cameras.cameras[i]};
    int width = view.camera.width, height = view.camera.height;
    size_t pixels = (size_t)width * (size_t)height;
    float *photo = orr_alloc(pixels, 16), *rgba = orr_alloc(pixels, 16), *shadow = orr_alloc(pixels, 4);
    orr_result result = photo && rgba && shadow
                            ? load_photo(n, i, photo, error)
                            : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture");
    if (result == ORR_OK) {
        result = orr_frame_compose(n->frame, n->scene, n->world, &view, n->layer, photo, rgba, shadow, error);
    }
    if (result == ORR_OK) {
        result = orr_output_put(pictures, i, rgba, width, height, error);
    }
    if (result == ORR_OK && shadows) {
        for (size_t k = 0; k < pixels; k++) {
            rgba[4 * k] = rgba[4 * k + 1] = rgba[4 * k + 2] = shadow[k];
            rgba[4 * k + 3] = 1.0f;
        }
        result = orr_output_put(shadows, i, rgba, width, height, error);
    }
    orr_free(photo);
    orr_free(rgba);
    orr_free(shadow);
    return result;
}

static orr_result compose_all(insertion *n, orr_error *error)
{
    const orr_output_desc desc = {.path = n->output, .count = n->cameras.count};
    const orr_output_desc shadow = {.path = n->shadow, .count = n->cameras.count};
    orr_output *pictures, *shadows = NULL;
    ORR_TRY(orr_frame_create(n->engine, NULL, &n->frame, error));
    ORR_TRY(orr_output_create(&desc, &pictures, error));
    orr_result result = n->shadow ? orr_output_create(&shadow, &shadows, error) : ORR_OK;
    progress shown;
    progress_begin(&shown, "photos", n->cameras.count);
    interrupt_begin();
    for (int i = 0; result == ORR_OK && i < n->cameras.count; i++) {
        result = interrupt_requested()
                     ? orr_fail(error, ORR_CODE_INTERRUPTED, "%s: stopped after %d photos", n->output, i)
                     : compose(n, i, pictures, shadows, error);
        progress_show(&shown, i + 1);
    }
    progress_end(&shown);
    result = result == ORR_OK ? orr_output_finish(pictures, error) : result;
    result = result == ORR_OK && shadows ? orr_output_finish(shadows, error) : result;
    orr_output_destroy(pictures);
    orr_output_destroy(shadows);
    return result;
}

// ---- the command ----

static orr_result load_capture(insertion *n, orr_error *error)
{
    ORR_TRY(orr_camera_file_load(n->over, 0, 0, &n->cameras, error));
    ORR_TRY(orr_capture_file_read(n->over, &n->capture, error));
    if (n->cameras.distorted) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: its lenses distort: expected photos of pinholes (orrery capture --undistort)",
                        n->over);
    }
    return ORR_OK;
}

static orr_result run(insertion *n, const common_options *common, const float up[3], orr_error *error)
{
    bool scene_file = orr_path_has_ending(n->output, ".json");
    if (!scene_file && !n->over) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "insert: -o %s: expected a scene file (.json), or pictures with --over", n->output);
    }
    ORR_TRY(scene_file ? orr_file_try(n->output, error) : ORR_OK);
    ORR_TRY(n->over ? load_capture(n, error) : ORR_OK);
    ORR_TRY(command_engine(common, &n->engine, error));
    ORR_TRY(open_scene(n, error));
    ORR_TRY(place(n, up, error));
    return !scene_file    ? compose_all(n, error)
           : n->sun.found ? orr_world_save(n->world, 0, NULL, n->output, error)
                          : orr_scene_file_insert(n->room, n->object, NULL, &n->transform, n->output, error);
}

static int print_json(const insertion *n, int photos)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "file", n->output);
    cJSON_AddItemToObject(json, "position", cJSON_CreateFloatArray(n->transform.position, 3));
    cJSON_AddItemToObject(json, "rotation", cJSON_CreateFloatArray(n->transform.rotation, 4));
    cJSON_AddNumberToObject(json, "scale", (double)n->transform.scale);
    cJSON_AddNumberToObject(json, "photos", photos);
    command_add_sun(json, &n->sun);
    return command_print_json(json);
}

// "X,Y,Z", not all of them 0.
static bool read_direction(const char *text, float v[3])
{
    for (int k = 0; k < 3; k++) {
        double value;
        if (!options_read_real(text, k < 2 ? ',' : 0, -1e6, 1e6, &value, &text)) {
            return false;
        }
        v[k] = (float)value;
    }
    return v[0] != 0.0f || v[1] != 0.0f || v[2] != 0.0f;
}

int command_insert(int argc, char **argv)
{
    common_options common = {.device = ORR_DEVICE_AUTO};
    insertion n = {.scale = 1.0};
    const char *up_text = NULL;
    float up[3] = {0.0f};
    const option list[] = {
        {.name = "--output",
         .letter = 'o',
         .kind = OPTION_TEXT,
         .value = &n.output,
         .expect = "OUT",
         .help = "scene file (.json); with --over pictures (frame_%04d.png) or a video (.mp4)"},
        {.name = "--at",
         .kind = OPTION_TEXT,
         .value = &n.at,
         .expect = "X,Y",
         .help = "pixel at which the object lands (default: the middle, two thirds down)"},
        {.name = "--over",
         .kind = OPTION_TEXT,
         .value = &n.over,
         .expect = "CAPTURE",
         .help = "photos of ROOM: --at and the up direction refer to their cameras, and pictures are drawn "
                 "over them"},
        {.name = "--camera",
         .kind = OPTION_TEXT,
         .value = &n.camera,
         .expect = "N|PHOTO",
         .help = "photo of CAPTURE that --at refers to (default: the first)"},
        {.name = "--turn",
         .kind = OPTION_REAL,
         .value = &n.turn,
         .expect = "DEG",
         .help = "rotation about the vertical, counterclockwise as seen from above",
         .low = -1e6,
         .high = 1e6},
        {.name = "--scale",
         .kind = OPTION_REAL,
         .value = &n.scale,
         .expect = "S",
         .help = "units of ROOM per unit of OBJECT (default 1: both are in metres)",
         .low = 1e-9,
         .high = 1e9},
        {.name = "--up",
         .kind = OPTION_TEXT,
         .value = &up_text,
         .expect = "X,Y,Z",
         .help = "up direction in ROOM (default: that of CAPTURE's photos; without photos -y for a cloud)"},
        {.name = "--no-sun",
         .kind = OPTION_FLAG,
         .value = &n.no_sun,
         .help = "do not estimate the sun of ROOM's cloud: a ROOM without lights keeps the default light"},
        {.name = "--shadow-pass",
         .kind = OPTION_TEXT,
         .value = &n.shadow,
         .expect = "OUT",
         .help = "with --over: also write the shadow alone, as the fraction of the light that remains"},
    };
    const command_usage usage = {
        .name = "insert",
        .operands = "ROOM OBJECT -o OUT",
        .purpose = "Puts a mesh, robot or cloud upright on a surface of a captured world.",
        .notes =
            "ROOM is a cloud, a field or a scene file. It hides the object where it is nearer to the camera.",
        .operand_min = 2,
        .operand_max = 2,
        .options = list,
        .option_count = sizeof list / sizeof list[0],
        .common = &common,
        .common_used = COMMON_DEVICE | COMMON_THREADS | COMMON_JSON};
    int operand_count, exit_code;
    if (!options_read(&usage, argc, argv, &operand_count, &exit_code)) {
        return exit_code;
    }
    orr_error error;
    n.room = argv[0];
    n.object = argv[1];
    orr_result result =
        n.output ? ORR_OK : orr_fail(&error, ORR_CODE_ARGUMENT, "insert: -o missing: expected a name");
    if (result == ORR_OK && up_text && !read_direction(up_text, up)) {
        result = orr_fail(&error, ORR_CODE_ARGUMENT, "insert: --up %s: expected a direction X,Y,Z", up_text);
    }
    if (result == ORR_OK && n.shadow && !n.over) {
        result = orr_fail(&error, ORR_CODE_ARGUMENT, "insert: --shadow-pass: expected --over CAPTURE");
    }
    result = result == ORR_OK ? run(&n, &common, up, &error) : result;
    int photos = n.cameras.count;
    orr_frame_destroy(n.frame);
    orr_world_destroy(n.world);
    orr_scene_destroy(n.scene);
    orr_engine_destroy(n.engine);
    orr_camera_list_free(&n.cameras);
    orr_capture_file_free(&n.capture);
    if (result != ORR_OK) {
        return command_fail(result, &error);
    }
    fprintf(stderr, "%s: %s at %.3f %.3f %.3f\n", n.output, orr_path_name(n.object),
            (double)n.transform.position[0], (double)n.transform.position[1],
            (double)n.transform.position[2]);
    if (n.sun.found) {
        fprintf(stderr, "sun of %s: towards %.3f %.3f %.3f, %.2f times as bright as the light from around\n",
                orr_path_name(n.room), (double)n.sun.sun.direction[0], (double)n.sun.sun.direction[1],
                (double)n.sun.sun.direction[2], (double)(n.sun.sun.colour[1] / n.sun.sun.ambient[1]));
    }
    return common.json ? print_json(&n, photos) : 0;
}
