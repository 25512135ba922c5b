// The capture's world: up, origin and scale, of which photos say only as much as their cameras were held.
//
// Whoever takes photos keeps the horizon level: the horizontal axes of the pictures lie in one plane, however
// far cameras look up or down, and up is its normal. Where the axes are all parallel there is no plane, and
// up is the mean of what is up in the photos.
#include "engine/registration/registration.h"

#include "engine/core/memory.h"
#include "engine/image/exif.h"
#include "engine/maths/diagonalise.h"
#include "engine/maths/rotation.h"
#include "neural/capture/world_fit.h"

#include <math.h>
#include <string.h>

static const double THIN = 0.02; // spread of axes across the plane's first direction below which it is none

typedef struct axis_pair {
    double right[3], up[3];
} axis_pair;

// Of a photo as seen, in the world; orientation: of EXIF, where rows and columns of the stored picture lie.
static axis_pair axes_of(const orr_photo *photo, int orientation)
{
    // right and up in the stored picture's axes right, down; mirrored photos count as they are stored
    static const int axes[9][4] = {{1, 0, 0, -1}, {1, 0, 0, -1},  {1, 0, 0, -1}, {-1, 0, 0, 1}, {1, 0, 0, -1},
                                   {1, 0, 0, -1}, {0, -1, -1, 0}, {1, 0, 0, -1}, {0, 1, 1, 0}};
    const int *a = axes[orientation];
    axis_pair pair;
    for (int k = 0; k < 3; k++) {
        double right = (double)photo->pose[4 * k], down = (double)photo->pose[4 * k + 1];
        pair.right[k] = a[0] * right + a[1] * down;
        pair.up[k] = a[2] * right + a[3] * down;
    }
    return pair;
}

void orr_up_of_axes(const orr_photo_list *list, const int *orientations, double up[3], orr_up_source *source,
                    double *spread)
{
    double sums[3][3] = {{0}}, vectors[3][3], mean[3] = {0};
    for (int n = 0; n < list->count; n++) {
        axis_pair pair = axes_of(&list->photos[n], orientations ? orientations[n] : 0);
        for (int i = 0; i < 3; i++) {
            mean[i] += pair.up[i];
            for (int j = 0; j < 3; j++) {
                sums[i][j] += pair.right[i] * pair.right[j] / list->count;
            }
        }
    }
    if (vec3_normalise(mean) < 1e-9) {
        mean[0] = mean[1] = 0.0;
        mean[2] = 1.0;
    }
    mat_diagonalise(sums, vectors);
    int least = 0, most = 0;
    for (int i = 1; i < 3; i++) {
        least = sums[i][i] < sums[least][least] ? i : least;
        most = sums[i][i] > sums[most][most] ? i : most;
    }
    int middle = 3 - least - most;
    double normal[3] = {vectors[0][least], vectors[1][least], vectors[2][least]};
    double along = vec3_dot(normal, mean);
    *spread = asin(fmin(1.0, sqrt(fmax(0.0, sums[least][least]))));
    // within 60 degrees of the mean, or the cameras were not held level
    bool plane = least != most && sums[middle][middle] > THIN * sums[most][most] && fabs(along) > 0.5;
    *source = plane ? ORR_UP_CAMERAS : ORR_UP_MEAN;
    for (int k = 0; k < 3; k++) {
        up[k] = plane ? (along < 0.0 ? -normal[k] : normal[k]) : mean[k];
    }
}

static orr_result read_orientations(orr_registration *r, int *orientations, orr_error *error)
{
    for (int i = 0; i < r->list.count; i++) {
        char *path = orr_path_join(r->folder, r->list.photos[i].file);
        if (!path) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a name");
        }
        orientations[i] = orr_exif_orientation_of(path);
        r->info.oriented += orientations[i] != 0;
        orr_free(path);
    }
    return ORR_OK;
}

static const orr_photo *find_photo(const orr_registration *r, const char *name, orr_error *error)
{
    for (int i = 0; i < r->list.count; i++) {
        if (strcmp(r->list.photos[i].file, name) == 0) {
            return &r->list.photos[i];
        }
    }
    orr_fail(error, ORR_CODE_ARGUMENT, "%s: scale: %s has no pose: expected a photo that has", r->desc.source,
             name);
    return NULL;
}

static orr_result metres_per_unit(const orr_registration *r, double *scale, orr_error *error)
{
    const orr_photo *a = find_photo(r, r->desc.scale_from, error);
    const orr_photo *b = a ? find_photo(r, r->desc.scale_to, error) : NULL;
    if (!b) {
        return ORR_ERROR_ARGUMENT;
    }
    double d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = (double)a->pose[4 * k + 3] - (double)b->pose[4 * k + 3];
    }
    double length = vec3_length(d);
    if (!(length > 1e-9)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: scale: %s and %s are at one place", r->desc.source,
                        r->desc.scale_from, r->desc.scale_to);
    }
    *scale = r->desc.scale_metres / length;
    return ORR_OK;
}

// x -> scale axes (x - middle)
static void move(const orr_world_frame *frame, double scale, const double x[3], float out[3])
{
    double d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = x[k] - frame->middle[k];
    }
    for (int i = 0; i < 3; i++) {
        out[i] = (float)(scale * vec3_dot(frame->axes[i], d));
    }
}

static void move_photo(const orr_world_frame *frame, double scale, orr_photo *photo)
{
    float position[3];
    double x[3], turned[3][3];
    for (int i = 0; i < 3; i++) {
        x[i] = (double)photo->pose[4 * i + 3];
        for (int j = 0; j < 3; j++) {
            turned[i][j] = 0.0;
            for (int k = 0; k < 3; k++) {
                turned[i][j] += frame->axes[i][k] * (double)photo->pose[4 * k + j];
            }
        }
    }
    move(frame, scale, x, position);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            photo->pose[4 * i + j] = (float)turned[i][j];
        }
        photo->pose[4 * i + 3] = position[i];
    }
}

static orr_result find_up(orr_registration *r, double up[3], orr_error *error)
{
    int *orientations;
    ORR_ALLOC(orientations, r->list.count, "orientations of photos", error);
    orr_result result = read_orientations(r, orientations, error);
    if (result == ORR_OK) {
        orr_up_of_axes(&r->list, orientations, up, &r->info.up, &r->info.up_spread);
        r->info.up = r->info.up == ORR_UP_CAMERAS && r->info.oriented > 0 ? ORR_UP_EXIF : r->info.up;
    }
    orr_free(orientations);
    return result;
}

orr_result orr_registration_level(orr_registration *r, orr_error *error)
{
    double up[3], scale;
    ORR_TRY(find_up(r, up, error));
    const orr_world_frame frame = orr_world_frame_of(&r->list, up);
    double usual = frame.distance > 1e-9 ? (double)ORR_WORLD_DISTANCE / frame.distance : 1.0;
    scale = usual;
    r->info.metric = r->desc.scale_from != NULL;
    if (r->info.metric) {
        ORR_TRY(metres_per_unit(r, &scale, error));
    }
    for (int i = 0; i < r->list.count; i++) {
        move_photo(&frame, scale, &r->list.photos[i]);
    }
    for (int i = 0; i < r->points.count; i++) {
        float *p = r->points.position + 3 * (size_t)i;
        const double x[3] = {(double)p[0], (double)p[1], (double)p[2]};
        move(&frame, scale, x, p);
    }
    const double offset[3] = {0.5, 0.5, 0.5};
    r->unit_scale = ORR_WORLD_SCALE * usual / scale;
    orr_unit_map(r->unit_scale, offset, r->list.to_unit);
    return ORR_OK;
}
