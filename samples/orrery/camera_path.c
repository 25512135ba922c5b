#include "samples/orrery/camera_path.h"

#include "engine/core/memory.h"
#include "engine/loop/camera_file.h"

#include <math.h>
#include <string.h>

// a camera as numbers that can be interpolated
typedef struct key {
    double place[3];
    double log_focal;   // of a picture of height 1
    double rotation[4]; // w, x, y, z; sign chosen next to the previous key
} key;

static void quaternion_of(const float pose[12], double q[4])
{
    double m[3][3];
    for (int i = 0; i < 9; i++) {
        m[i / 3][i % 3] = (double)pose[4 * (i / 3) + i % 3];
    }
    // the largest component first: it is never near zero (Shepperd 1978)
    double squares[4] = {1.0 + m[0][0] + m[1][1] + m[2][2], 1.0 + m[0][0] - m[1][1] - m[2][2],
                         1.0 - m[0][0] + m[1][1] - m[2][2], 1.0 - m[0][0] - m[1][1] + m[2][2]};
    int largest = 0;
    for (int i = 1; i < 4; i++) {
        largest = squares[i] > squares[largest] ? i : largest;
    }
    double products[4][4];
    for (int i = 0; i < 4; i++) {
        products[i][i] = squares[i];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        products[0][i + 1] = products[i + 1][0] = m[k][j] - m[j][k];
        products[j + 1][k + 1] = products[k + 1][j + 1] = m[j][k] + m[k][j];
    }
    double length = 0.0;
    for (int i = 0; i < 4; i++) {
        q[i] = products[largest][i];
        length += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++) {
        q[i] /= sqrt(length);
    }
}

static key key_of(const orr_camera *camera, const key *previous)
{
    key k;
    for (int i = 0; i < 3; i++) {
        k.place[i] = (double)camera->pose[4 * i + 3];
    }
    k.log_focal = log((double)camera->focal[1] / camera->height);
    quaternion_of(camera->pose, k.rotation);
    double dot = 0.0;
    for (int i = 0; i < 4; i++) {
        dot += previous ? k.rotation[i] * previous->rotation[i] : 1.0;
    }
    for (int i = 0; i < 4 && dot < 0.0; i++) {
        k.rotation[i] = -k.rotation[i];
    }
    return k;
}

// a at t = 0, b at t = 1, and on beyond them
static key mix(const key *a, const key *b, double t)
{
    key out;
    for (int i = 0; i < 3; i++) {
        out.place[i] = a->place[i] + t * (b->place[i] - a->place[i]);
    }
    out.log_focal = a->log_focal + t * (b->log_focal - a->log_focal);
    double dot = 0.0, length = 0.0;
    for (int i = 0; i < 4; i++) {
        dot += a->rotation[i] * b->rotation[i];
    }
    double angle = acos(fmin(fmax(dot, -1.0), 1.0));
    bool near = sin(angle) < 1e-6; // then a straight line is as good
    double wa = near ? 1.0 - t : sin((1.0 - t) * angle) / sin(angle);
    double wb = near ? t : sin(t * angle) / sin(angle);
    for (int i = 0; i < 4; i++) {
        out.rotation[i] = wa * a->rotation[i] + wb * b->rotation[i];
        length += out.rotation[i] * out.rotation[i];
    }
    for (int i = 0; i < 4; i++) {
        out.rotation[i] /= sqrt(length);
    }
    return out;
}

orr_result camera_path_add(camera_path *path, const orr_camera *camera, orr_error *error)
{
    if (path->count == path->capacity) {
        int capacity = path->capacity ? 2 * path->capacity : 16;
        orr_camera *keys;
        ORR_ALLOC(keys, capacity, "camera keys", error);
        if (path->count) {
            memcpy(keys, path->keys, (size_t)path->count * sizeof *keys);
        }
        orr_free(path->keys);
        path->keys = keys;
        path->capacity = capacity;
    }
    path->keys[path->count++] = *camera;
    return ORR_OK;
}

double camera_path_duration(const camera_path *path)
{
    return path->count > 1 ? (path->count - 1) * path->seconds : 0.0;
}

orr_camera camera_path_at(const camera_path *path, double seconds, int width, int height)
{
    int last = path->count - 1;
    double t = last > 0 ? fmin(fmax(seconds / path->seconds, 0.0), last) : 0.0;
    int segment = last > 0 ? (int)fmin(floor(t), last - 1) : 0;
    t -= segment;
    key k[4]; // at t = -1, 0, 1, 2; the path's ends stand in for what lies beyond them
    for (int i = 0; i < 4; i++) {
        int index = segment + i - 1;
        index = index < 0 ? 0 : index > last ? last : index;
        k[i] = key_of(&path->keys[index], i ? &k[i - 1] : NULL);
    }
    key a = mix(&k[0], &k[1], t + 1.0), b = mix(&k[1], &k[2], t), c = mix(&k[2], &k[3], t - 1.0);
    key d = mix(&a, &b, 0.5 * (t + 1.0)), e = mix(&b, &c, 0.5 * t);
    key f = mix(&d, &e, t);

    double w = f.rotation[0], x = f.rotation[1], y = f.rotation[2], z = f.rotation[3];
    const double rotation[9] = {
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z),       2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),       1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),       2.0 * (y * z + w * x),       1.0 - 2.0 * (x * x + y * y)};
    orr_camera camera = {.model = path->keys[segment].model, .width = width, .height = height};
    camera.focal[0] = camera.focal[1] = (float)(exp(f.log_focal) * height);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            camera.pose[4 * i + j] = (float)rotation[3 * i + j];
        }
        camera.pose[4 * i + 3] = (float)f.place[i];
    }
    return camera;
}

orr_result camera_path_save(const camera_path *path, const char *file, double frames_per_second, int width,
                            int height, orr_error *error)
{
    int count = 1 + (int)floor(camera_path_duration(path) * frames_per_second + 1e-6);
    orr_camera *cameras;
    ORR_ALLOC(cameras, count, "the cameras of a path", error);
    for (int i = 0; i < count; i++) {
        cameras[i] = camera_path_at(path, i / frames_per_second, width, height);
    }
    orr_result result = orr_camera_file_save(file, cameras, count, error);
    orr_free(cameras);
    return result;
}

void camera_path_clear(camera_path *path)
{
    orr_free(path->keys);
    *path = (camera_path){.seconds = path->seconds};
}
