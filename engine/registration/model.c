// The capture as a COLMAP model too, sparse/0: which photo sees which point, for training with depths and for
// other trainers. Cameras, poses and points are those of transforms.json: level, of its scale, of photos that
// were drawn anew. What a photo shows of a point is written where its camera has the point.
#include "engine/registration/registration.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/maths/rotation.h"
#include "engine/registration/undistort.h"

#include <string.h>

enum { PINHOLE = 1, OPENCV = 4, OPENCV_FISHEYE = 5 }; // COLMAP's numbers of lenses

typedef struct model {
    const orr_registration *r;
    const char *const *names; // of the photos in the capture: images/NAME
    orr_colmap_sights sights;
    uint32_t *next; // of each photo, the number of its next point
} model;

static void put_u64(orr_file_writer *out, uint64_t value)
{
    orr_file_put(out, &value, sizeof value);
}

static void put_u32(orr_file_writer *out, uint32_t value)
{
    orr_file_put(out, &value, sizeof value);
}

static bool same_lens(const orr_photo_lens *a, const orr_photo_lens *b)
{
    return memcmp(a->size, b->size, sizeof a->size) == 0 &&
           memcmp(a->focal, b->focal, sizeof a->focal) == 0 &&
           memcmp(a->angle, b->angle, sizeof a->angle) == 0 &&
           memcmp(a->centre, b->centre, sizeof a->centre) == 0 &&
           memcmp(a->radial, b->radial, sizeof a->radial) == 0 &&
           memcmp(a->tangential, b->tangential, sizeof a->tangential) == 0 && a->fisheye == b->fisheye;
}

// The first photo of the list with the same lens: its camera is the photo's.
static uint32_t camera_of(const orr_photo_list *list, int photo)
{
    int first = 0;
    while (!same_lens(&list->photos[first].lens, &list->photos[photo].lens)) {
        first++;
    }
    return (uint32_t)first + 1;
}

static void put_cameras(const model *m, orr_file_writer *out)
{
    const orr_photo_list *list = &m->r->list;
    uint64_t count = 0;
    for (int i = 0; i < list->count; i++) {
        count += camera_of(list, i) == (uint32_t)i + 1;
    }
    put_u64(out, count);
    for (int i = 0; i < list->count; i++) {
        const orr_photo_lens *lens = &list->photos[i].lens;
        const bool distorted = orr_photo_lens_distorted(lens);
        const double *last = lens->fisheye ? lens->radial + 2 : lens->tangential;
        const double parameters[8] = {lens->focal[0],  lens->focal[1],  lens->centre[0], lens->centre[1],
                                      lens->radial[0], lens->radial[1], last[0],         last[1]};
        if (camera_of(list, i) == (uint32_t)i + 1) {
            put_u32(out, (uint32_t)i + 1);
            put_u32(out, lens->fisheye ? OPENCV_FISHEYE : distorted ? OPENCV : PINHOLE);
            put_u64(out, (uint64_t)lens->size[0]);
            put_u64(out, (uint64_t)lens->size[1]);
            orr_file_put(out, parameters, distorted ? sizeof parameters : 4 * sizeof parameters[0]);
        }
    }
}

// The point in the camera's axes.
static void from_camera(const float pose[12], const float point[3], double at[3])
{
    for (int k = 0; k < 3; k++) {
        at[k] = 0.0;
        for (int i = 0; i < 3; i++) {
            at[k] += (double)pose[4 * i + k] * ((double)point[i] - (double)pose[4 * i + 3]);
        }
    }
}

static void put_pose(const orr_photo *photo, orr_file_writer *out)
{
    static const float origin[3] = {0.0f, 0.0f, 0.0f};
    double axes[3][3], to_world[4], pose[7];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            axes[k][i] = (double)photo->pose[4 * i + k];
        }
    }
    quat_from_axes(axes[0], axes[1], axes[2], to_world);
    quat_conjugate(to_world, pose);
    from_camera(photo->pose, origin, pose + 4);
    orr_file_put(out, pose, sizeof pose);
}

static void put_images(const model *m, orr_file_writer *out)
{
    const orr_photo_list *list = &m->r->list;
    put_u64(out, (uint64_t)list->count);
    for (int i = 0; i < list->count; i++) {
        const orr_photo *photo = &list->photos[i];
        const char *name = orr_path_name(m->names[i]);
        put_u32(out, photo->id);
        put_pose(photo, out);
        put_u32(out, camera_of(list, i));
        orr_file_put(out, name, strlen(name) + 1);
        put_u64(out, (uint64_t)(m->sights.first[i + 1] - m->sights.first[i]));
        for (int64_t k = m->sights.first[i]; k < m->sights.first[i + 1]; k++) {
            const uint32_t point = m->sights.seen[k];
            double at[3], pixel[2];
            from_camera(photo->pose, m->r->points.position + 3 * (size_t)point, at);
            orr_photo_project(&photo->lens, at, pixel);
            orr_file_put(out, pixel, sizeof pixel);
            put_u64(out, (uint64_t)point + 1);
        }
    }
}

static void put_points(const model *m, orr_file_writer *out)
{
    const orr_colmap_points *points = &m->r->points;
    put_u64(out, (uint64_t)points->count);
    for (int p = 0; p < points->count; p++) {
        const int64_t first = points->first[p], end = points->first[p + 1];
        uint64_t seen = 0;
        put_u64(out, (uint64_t)p + 1);
        for (int k = 0; k < 3; k++) {
            const double value = (double)points->position[3 * (size_t)p + (size_t)k];
            orr_file_put(out, &value, sizeof value);
        }
        orr_file_put(out, points->colour + 3 * (size_t)p, 3);
        orr_file_put(out, &points->error[p], sizeof points->error[p]);
        for (int64_t k = first; k < end; k++) {
            seen += m->sights.image[k] >= 0;
        }
        put_u64(out, seen);
        for (int64_t k = first; k < end; k++) {
            const int photo = m->sights.image[k];
            if (photo >= 0) {
                put_u32(out, m->r->list.photos[photo].id);
                put_u32(out, m->next[photo]++);
            }
        }
    }
}

static orr_result write_file(const model *m, const char *name, void (*put)(const model *, orr_file_writer *),
                             orr_error *error)
{
    orr_file_writer out;
    char *path = orr_path_join(m->r->result, name);
    orr_result result = path ? orr_file_begin(&out, path, error)
                             : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", name);
    if (result == ORR_OK) {
        put(m, &out);
        result = orr_file_commit(&out, error);
    }
    orr_free(path);
    return result;
}

static orr_result make_folder(const orr_registration *r, const char *name, orr_error *error)
{
    char *path = orr_path_join(r->result, name);
    orr_result result = path ? orr_folder_make(path, error)
                             : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", name);
    orr_free(path);
    return result;
}

static orr_result write_files(const model *m, orr_error *error)
{
    ORR_TRY(make_folder(m->r, "sparse", error));
    ORR_TRY(make_folder(m->r, "sparse/0", error));
    ORR_TRY(write_file(m, "sparse/0/cameras.bin", put_cameras, error));
    ORR_TRY(write_file(m, "sparse/0/images.bin", put_images, error));
    return write_file(m, "sparse/0/points3D.bin", put_points, error);
}

orr_result orr_registration_write_model(const orr_registration *r, const char *const *names,
                                        const uint32_t *ids, orr_error *error)
{
    model m = {.r = r, .names = names};
    ORR_TRY(orr_colmap_sights_find(&r->points, ids, r->list.count, &m.sights, error));
    m.next = orr_alloc_zero((size_t)r->list.count, sizeof *m.next);
    orr_result result = m.next ? write_files(&m, error)
                               : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", r->result);
    orr_free(m.next);
    orr_colmap_sights_free(&m.sights);
    return result;
}
