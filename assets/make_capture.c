// Photographs the orrery for examples and tests of training: two captures of 24 photos.
//
//     make_capture CLOUD OBJECT LENS
//
// OBJECT: 128 x 128 pixels with alpha and camera_angle_x, as the synthetic sets of NeRF's paper; LENS: 128 x
// 96 pixels, opaque, through a lens with OpenCV's distortion, and two photos listed that are not there. Both
// are folders with transforms.json and images. Their world is centred on the orrery, 0.75 times its size,
// with z up.
#define ORR_SCALAR
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/orrery.h"
#include "neural/capture/ray_formula.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PHOTOS = 24, ABSENT = 2, FINE = 4 }; // FINE: pixels of the drawing along one pixel of a photo

static const float scale = 0.75f, height_of_centre = 0.84f; // of the orrery, whose up is -y

typedef struct photo_plan {
    const char *folder;
    int width, height, absent;
    bool opaque;
    float distance, lowest, highest; // of the cameras from the world's centre; elevations [rad]
    photo_lens lens;                 // [px] of the photo
    const char *suffix;              // of file_path in transforms.json
} photo_plan;

typedef struct studio {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
} studio;

static orr_result studio_open(const char *cloud, studio *s, orr_error *error)
{
    const orr_engine_desc desc = {.device = ORR_DEVICE_CPU}; // the same photos on every machine
    ORR_TRY(orr_engine_create(&desc, &s->engine, error));
    ORR_TRY(orr_scene_load(s->engine, cloud, &s->scene, error));
    ORR_TRY(orr_world_create(s->scene, 1, &s->world, error));
    return orr_frame_create(s->engine, NULL, &s->frame, error);
}

static void studio_close(studio *s)
{
    orr_frame_destroy(s->frame);
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
}

// Cameras on a spiral with the golden angle. eye: in the capture's world
static void camera_position(const photo_plan *plan, int i, float eye[3])
{
    float azimuth = 2.3999632f * (float)i;
    float elevation = plan->lowest + (plan->highest - plan->lowest) * ((float)i + 0.5f) / (float)PHOTOS;
    eye[0] = plan->distance * cosf(elevation) * cosf(azimuth);
    eye[1] = plan->distance * cosf(elevation) * sinf(azimuth);
    eye[2] = plan->distance * sinf(elevation);
}

// A pinhole over all that the lens sees, in the cloud's space.
static orr_camera drawing_camera(const photo_plan *plan, const float eye[3])
{
    const float from[3] = {eye[0] / scale, -eye[2] / scale - height_of_centre, eye[1] / scale};
    const float target[3] = {0.0f, -height_of_centre, 0.0f}, up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera camera = orr_camera_look_at(from, target, up, 1.0f, FINE * plan->width, FINE * plan->height);
    float widest = 1.0f; // how far beyond the ideal picture the lens sees
    for (int corner = 0; corner < 4; corner++) {
        real2 pixel =
            make_real2(corner % 2 ? (float)plan->width : 0.0f, corner / 2 ? (float)plan->height : 0.0f);
        real3 d = photo_direction(plan->lens, pixel);
        widest = fmaxf(widest, fabsf(d.x) * plan->lens.focal_x * 2.0f / (float)plan->width);
        widest = fmaxf(widest, fabsf(d.y) * plan->lens.focal_y * 2.0f / (float)plan->height);
    }
    camera.focal[0] = FINE * plan->lens.focal_x / widest;
    camera.focal[1] = FINE * plan->lens.focal_y / widest;
    return camera;
}

static void add_bilinear(const float *rgba, int width, int height, float x, float y, float sum[4])
{
    x = fminf(fmaxf(x - 0.5f, 0.0f), (float)width - 1.001f);
    y = fminf(fmaxf(y - 0.5f, 0.0f), (float)height - 1.001f);
    int column = (int)x, row = (int)y;
    float u = x - (float)column, v = y - (float)row;
    const float *p = rgba + 4 * ((ptrdiff_t)row * width + column), *q = p + 4 * (ptrdiff_t)width;
    for (int c = 0; c < 4; c++) {
        sum[c] += (1.0f - v) * ((1.0f - u) * p[c] + u * p[c + 4]) + v * ((1.0f - u) * q[c] + u * q[c + 4]);
    }
}

// The mean of FINE x FINE samples; straight alpha, or before the background.
static void develop(const photo_plan *plan, const orr_camera *camera, const float *rgba, uint8_t *photo)
{
    static const float background[3] = {0.30f, 0.33f, 0.38f};
    for (int i = 0; i < plan->width * plan->height; i++) {
        float sum[4] = {0.0f};
        for (int k = 0; k < FINE * FINE; k++) {
            real2 pixel = make_real2((float)(i % plan->width) + ((float)(k % FINE) + 0.5f) / FINE,
                                     (float)(i / plan->width) + ((float)(k / FINE) + 0.5f) / FINE);
            real3 d = photo_direction(plan->lens, pixel);
            add_bilinear(rgba, camera->width, camera->height,
                         camera->focal[0] * d.x + 0.5f * (float)camera->width,
                         camera->focal[1] * d.y + 0.5f * (float)camera->height, sum);
        }
        float alpha = sum[3] / (FINE * FINE);
        for (int c = 0; c < 3; c++) {
            float colour = plan->opaque ? sum[c] / (FINE * FINE) + (1.0f - alpha) * background[c]
                                        : sum[c] / fmaxf(sum[3], 1e-6f);
            photo[4 * i + c] = (uint8_t)(255.0f * fminf(fmaxf(colour, 0.0f), 1.0f) + 0.5f);
        }
        photo[4 * i + 3] = plan->opaque ? 255 : (uint8_t)(255.0f * fminf(alpha, 1.0f) + 0.5f);
    }
}

static orr_result take_photo(const photo_plan *plan, studio *s, int i, float *rgba, uint8_t *photo,
                             orr_error *error)
{
    float eye[3];
    char path[1024];
    camera_position(plan, i, eye);
    orr_view view = {.camera = drawing_camera(plan, eye)};
    ORR_TRY(orr_frame_submit(s->frame, s->scene, s->world, &view, error));
    ORR_TRY(orr_frame_finish(s->frame, &(orr_picture){.rgba = rgba}, error));
    develop(plan, &view.camera, rgba, photo);
    snprintf(path, sizeof path, "%s/images/%02d.png", plan->folder, i);
    return orr_png_save(path, photo, plan->width, plan->height, error);
}

// Camera to world in OpenGL's axes: right, up, backward.
static cJSON *transform_matrix(const float eye[3])
{
    const float up[3] = {0.0f, 0.0f, 1.0f}, centre[3] = {0.0f};
    orr_camera camera = orr_camera_look_at(eye, centre, up, 1.0f, 1, 1);
    cJSON *matrix = cJSON_CreateArray();
    for (int row = 0; row < 4; row++) {
        double numbers[4] = {0.0, 0.0, 0.0, 1.0};
        for (int k = 0; k < 4 && row < 3; k++) {
            numbers[k] = 0.0 + (k == 1 || k == 2 ? -1.0 : 1.0) * (double)camera.pose[4 * row + k];
        }
        cJSON_AddItemToArray(matrix, cJSON_CreateDoubleArray(numbers, 4));
    }
    return matrix;
}

static void add_lens(const photo_plan *plan, cJSON *root)
{
    if (!plan->opaque) {
        double angle = 2.0 * atan(0.5 * plan->width / (double)plan->lens.focal_x);
        cJSON_AddNumberToObject(root, "camera_angle_x", angle);
        return;
    }
    const struct {
        const char *name;
        float value;
    } numbers[] = {{"w", (float)plan->width},    {"h", (float)plan->height},  {"fl_x", plan->lens.focal_x},
                   {"fl_y", plan->lens.focal_y}, {"cx", plan->lens.centre_x}, {"cy", plan->lens.centre_y},
                   {"k1", plan->lens.k1},        {"k2", plan->lens.k2},       {"p1", plan->lens.p1},
                   {"p2", plan->lens.p2},        {"aabb_scale", 1.0f}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.9g", (double)numbers[i].value);
        cJSON_AddRawToObject(root, numbers[i].name, text);
    }
}

static orr_result write_transforms(const photo_plan *plan, orr_error *error)
{
    char path[1024];
    cJSON *root = cJSON_CreateObject(), *frames = cJSON_CreateArray();
    add_lens(plan, root);
    for (int i = 0; i < PHOTOS + plan->absent; i++) {
        float eye[3];
        camera_position(plan, i, eye);
        cJSON *frame = cJSON_CreateObject();
        snprintf(path, sizeof path, "images/%02d%s", i, plan->suffix);
        cJSON_AddStringToObject(frame, "file_path", path);
        cJSON_AddItemToObject(frame, "transform_matrix", transform_matrix(eye));
        cJSON_AddItemToArray(frames, frame);
    }
    cJSON_AddItemToObject(root, "frames", frames);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    snprintf(path, sizeof path, "%s/transforms.json", plan->folder);
    orr_result result = text ? orr_file_write(path, text, strlen(text), error)
                             : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
    cJSON_free(text);
    return result;
}

static orr_result make_folder(const char *path, orr_error *error)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return orr_fail(error, ORR_CODE_FILE_WRITE, "%s: %s", path, strerror(errno));
    }
    return ORR_OK;
}

static orr_result make_capture(const photo_plan *plan, studio *s, orr_error *error)
{
    char images[1024];
    snprintf(images, sizeof images, "%s/images", plan->folder);
    ORR_TRY(make_folder(plan->folder, error));
    ORR_TRY(make_folder(images, error));
    size_t pixels = (size_t)plan->width * (size_t)plan->height;
    float *rgba = orr_alloc(pixels * FINE * FINE, 4 * sizeof *rgba);
    uint8_t *photo = orr_alloc(pixels, 4);
    orr_result result =
        rgba && photo ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", images);
    for (int i = 0; i < PHOTOS && result == ORR_OK; i++) {
        result = take_photo(plan, s, i, rgba, photo, error);
    }
    orr_free(rgba);
    orr_free(photo);
    return result == ORR_OK ? write_transforms(plan, error) : result;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: make_capture CLOUD OBJECT LENS\n");
        return 2;
    }
    const photo_plan plans[2] = {
        {.folder = argv[2],
         .width = 128,
         .height = 128,
         .distance = 3.2f,
         .lowest = -0.1f,
         .highest = 1.1f,
         .lens = {.focal_x = 137.25f, .focal_y = 137.25f, .centre_x = 64, .centre_y = 64},
         .suffix = ""},
        {.folder = argv[3],
         .width = 128,
         .height = 96,
         .absent = ABSENT,
         .opaque = true,
         .distance = 2.8f,
         .lowest = 0.0f,
         .highest = 0.9f,
         .lens = {.focal_x = 104.5f,
                  .focal_y = 104.0f,
                  .centre_x = 65.25f,
                  .centre_y = 47.5f,
                  .k1 = -0.125f,
                  .k2 = 0.03125f,
                  .p1 = 0.001953125f,
                  .p2 = -0.0009765625f},
         .suffix = ".png"}};
    studio s = {0};
    orr_error error = {0};
    orr_result result = studio_open(argv[1], &s, &error);
    for (int i = 0; i < 2 && result == ORR_OK; i++) {
        result = make_capture(&plans[i], &s, &error);
    }
    studio_close(&s);
    if (result != ORR_OK) {
        fprintf(stderr, "make_capture: %s\n", error.message);
    }
    return result == ORR_OK ? 0 : 1;
}
