#define ORR_SCALAR
#include "render/training/splat_photos.h"

#include "neural/capture/fisheye.h"
#include "neural/capture/ray_camera.h"
#include "render/splat/splat_photo_inputs.h"

#include <string.h>

enum { ROWS = 16 }; // per job

// ---- without distortion ----

typedef struct undistort_job {
    const orr_capture_image *image;
    orr_splat_photo *photo;
    photo_lens lens;
} undistort_job;

// Between the middles of pixels. False: partly outside of the photo, or where its mask leaves out.
static bool sample(const orr_capture_image *image, float x, float y, uint8_t *out)
{
    x -= 0.5f;
    y -= 0.5f;
    if (!(x >= 0.0f && y >= 0.0f && x <= (float)(image->width - 1) && y <= (float)(image->height - 1))) {
        return false;
    }
    int left = (int)x, top = (int)y;
    left = left < image->width - 1 ? left : image->width - 2;
    top = top < image->height - 1 ? top : image->height - 2;
    left = left > 0 ? left : 0;
    top = top > 0 ? top : 0;
    int right = left + 1 < image->width ? left + 1 : left, below = top + 1 < image->height ? top + 1 : top;
    const int64_t at[4] = {(int64_t)top * image->width + left, (int64_t)top * image->width + right,
                           (int64_t)below * image->width + left, (int64_t)below * image->width + right};
    float u = x - (float)left, v = y - (float)top;
    const float share[4] = {(1.0f - u) * (1.0f - v), u * (1.0f - v), (1.0f - u) * v, u * v};
    for (int i = 0; i < 4; i++) {
        if (image->mask && image->mask[at[i]] == 0) {
            return false;
        }
    }
    for (int c = 0; c < image->channels; c++) {
        float sum = 0.5f;
        for (int i = 0; i < 4; i++) {
            sum += share[i] * (float)image->pixels[at[i] * image->channels + c];
        }
        out[c] = (uint8_t)sum;
    }
    return true;
}

static void undistort_rows(void *context, int job_index, int worker)
{
    (void)worker;
    const undistort_job *job = context;
    const orr_capture_image *image = job->image;
    int end = (job_index + 1) * ROWS < image->height ? (job_index + 1) * ROWS : image->height;
    for (int y = job_index * ROWS; y < end; y++) {
        for (int x = 0; x < image->width; x++) {
            real3 direction = make_real3(((float)x + 0.5f - image->centre[0]) / image->focal[0],
                                         ((float)y + 0.5f - image->centre[1]) / image->focal[1], 1.0f);
            real2 from = photo_pixel(job->lens, direction);
            int64_t at = (int64_t)y * image->width + x;
            uint8_t *to = job->photo->own_pixels + at * image->channels;
            memset(to, 0, (size_t)image->channels);
            const bool shown = !image->fisheye || fisheye_shows(job->lens, from);
            job->photo->own_mask[at] = shown && sample(image, from.x, from.y, to) ? 255 : 0;
        }
    }
}

static bool is_distorted(const orr_capture_image *image)
{
    if (image->fisheye) {
        return true;
    }
    for (int i = 0; i < 4; i++) {
        if (image->radial[i] != 0.0f || (i < 2 && image->tangential[i] != 0.0f)) {
            return true;
        }
    }
    return false;
}

static orr_result undistort(const orr_capture_image *image, orr_jobs *jobs, orr_splat_photo *photo,
                            orr_error *error)
{
    size_t pixels = (size_t)image->width * (size_t)image->height;
    ORR_ALLOC(photo->own_pixels, pixels * (size_t)image->channels, image->path, error);
    ORR_ALLOC(photo->own_mask, pixels, image->path, error);
    undistort_job job = {.image = image,
                         .photo = photo,
                         .lens = {image->focal[0], image->focal[1], image->centre[0], image->centre[1],
                                  image->radial[0], image->radial[1], image->radial[2], image->radial[3],
                                  image->tangential[0], image->tangential[1],
                                  image->fisheye ? orr_fisheye_limit(image->radial) : 0.0f}};
    orr_jobs_for(jobs, orr_blocks(image->height, ROWS), undistort_rows, &job);
    photo->pixels = photo->own_pixels;
    photo->mask = photo->own_mask;
    return ORR_OK;
}

// ---- as photographed ----

// Is a pixel where the lens's polynomial rises? Others show nothing. most: distance from the centre there
static bool is_shown(photo_lens lens, float most, float x, float y)
{
    if (lens.fisheye_limit > 0.0f) {
        return fisheye_shows(lens, make_real2(x, y));
    }
    const float right = (x - lens.centre_x) / lens.focal_x, down = (y - lens.centre_y) / lens.focal_y;
    return right * right + down * down <= most * most;
}

static orr_result mask_unseen(const orr_capture_image *image, orr_splat_photo *photo, orr_error *error)
{
    const photo_lens lens = orr_photo_lens_of(&photo->lens);
    const float most = lens_distance(lens, orr_lens_rise(image->radial, 10.0));
    const int width = image->width, pixels = width * image->height;
    int at = 0;
    while (at < pixels && is_shown(lens, most, (float)(at % width) + 0.5f, (float)(at / width) + 0.5f)) {
        at++;
    }
    if (at == pixels) {
        return ORR_OK;
    }
    ORR_ALLOC(photo->own_mask, (size_t)pixels, image->path, error);
    for (int i = 0; i < pixels; i++) {
        const bool shown = is_shown(lens, most, (float)(i % width) + 0.5f, (float)(i / width) + 0.5f);
        photo->own_mask[i] = shown ? image->mask ? image->mask[i] : 255 : 0;
    }
    photo->mask = photo->own_mask;
    return ORR_OK;
}

static orr_result check_mask(const orr_splat_photo *photo, const char *path, orr_error *error)
{
    const size_t pixels = (size_t)photo->lens.width * (size_t)photo->lens.height;
    for (size_t i = 0; photo->mask && i < pixels; i++) {
        if (photo->mask[i] != 0) {
            return ORR_OK;
        }
    }
    return photo->mask ? orr_fail(error, ORR_CODE_IMAGE_FILE,
                                  "%s: no pixel is left without distortion and mask: expected some to learn "
                                  "from",
                                  path)
                       : ORR_OK;
}

orr_result orr_splat_photo_aim(orr_splat_photo *photo, const orr_capture_image *image,
                               const orr_splat_view *view, orr_error *error)
{
    const orr_camera camera = orr_splat_view_camera(view, image, photo->keeps_lens);
    orr_error why;
    if (orr_camera_resolve(&camera, &photo->lens, &why) != ORR_OK) {
        return orr_fail(error, ORR_CODE_CAMERA_FILE, "%s: %s", image->path, why.message);
    }
    return ORR_OK;
}

// The image with what its mask leaves out transparent; its pixels are new.
static orr_result cut_out(const orr_capture_image *image, orr_capture_image *cut, orr_error *error)
{
    const size_t pixels = (size_t)image->width * (size_t)image->height, channels = (size_t)image->channels;
    *cut = *image;
    cut->channels = 4;
    cut->mask = NULL;
    ORR_ALLOC(cut->pixels, 4 * pixels, image->path, error);
    for (size_t i = 0; i < pixels; i++) {
        memcpy(cut->pixels + 4 * i, image->pixels + channels * i, 3);
        const uint8_t alpha = channels == 4 ? image->pixels[4 * i + 3] : 255;
        cut->pixels[4 * i + 3] = image->mask[i] ? alpha : 0;
    }
    return ORR_OK;
}

static orr_result make_photo(const orr_capture_image *image, orr_splat_lenses lenses, orr_jobs *jobs,
                             orr_splat_photo *photo, orr_error *error)
{
    const orr_splat_view view = orr_splat_view_begin(image);
    photo->keeps_lens = lenses == ORR_SPLAT_LENSES_KEEP;
    ORR_TRY(orr_splat_photo_aim(photo, image, &view, error));
    photo->channels = image->channels;
    photo->pixels = image->pixels;
    photo->mask = image->mask;
    if (photo->lens.distorted) {
        photo->distortion = orr_splat_photo_of(&photo->lens);
        ORR_TRY(mask_unseen(image, photo, error));
    } else if (is_distorted(image)) {
        ORR_TRY(undistort(image, jobs, photo, error));
    }
    return check_mask(photo, image->path, error);
}

static orr_result make_cut_photo(const orr_capture_image *image, orr_splat_lenses lenses, orr_jobs *jobs,
                                 orr_splat_photo *photo, orr_error *error)
{
    orr_capture_image cut;
    ORR_TRY(cut_out(image, &cut, error));
    orr_result result = make_photo(&cut, lenses, jobs, photo, error);
    if (result == ORR_OK && !photo->own_pixels) {
        photo->own_pixels = cut.pixels;
    } else {
        orr_free(cut.pixels);
    }
    return result;
}

orr_result orr_splat_photos_create(const orr_capture *capture, orr_splat_masks masks, orr_splat_lenses lenses,
                                   orr_jobs *jobs, orr_splat_photo **out, orr_error *error)
{
    orr_splat_photo *photos = orr_alloc_zero((size_t)capture->count, sizeof *photos);
    if (!photos) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d photos", capture->count);
    }
    for (int i = 0; i < capture->count; i++) {
        const orr_capture_image *image = &capture->images[i];
        orr_result result = image->mask && masks == ORR_SPLAT_MASKS_EMPTY
                                ? make_cut_photo(image, lenses, jobs, &photos[i], error)
                                : make_photo(image, lenses, jobs, &photos[i], error);
        if (result != ORR_OK) {
            orr_splat_photos_destroy(photos, capture->count);
            return result;
        }
    }
    *out = photos;
    return ORR_OK;
}

void orr_splat_photos_destroy(orr_splat_photo *photos, int count)
{
    for (int i = 0; photos && i < count; i++) {
        orr_free(photos[i].own_pixels);
        orr_free(photos[i].own_mask);
    }
    orr_free(photos);
}

// ---- smaller ----

orr_lens orr_splat_photo_lens(const orr_splat_photo *photo, int shrink)
{
    orr_lens lens = photo->lens;
    lens.width /= shrink;
    lens.height /= shrink;
    for (int i = 0; i < 2; i++) {
        lens.focal[i] /= (float)shrink;
        lens.centre[i] /= (float)shrink;
    }
    return lens;
}

bool orr_splat_lens_sees(const orr_lens *lens, const splat_photo_values *distortion, const float point[3],
                         float pixel[2], float *depth)
{
    float p[3];
    for (int r = 0; r < 3; r++) {
        p[r] = lens->view[4 * r + 3];
        for (int c = 0; c < 3; c++) {
            p[r] += lens->view[4 * r + c] * point[c];
        }
    }
    bool seen = true;
    *depth = p[2];
    if (distortion) {
        const splat_point at =
            splat_point_of(splat_photo_of(distortion), make_real3(p[0], p[1], p[2]), lens->near_plane);
        pixel[0] = lens->focal[0] * at.at.x + lens->centre[0];
        pixel[1] = lens->focal[1] * at.at.y + lens->centre[1];
        *depth = lens->fisheye ? sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) : p[2];
        seen = at.seen;
    } else {
        pixel[0] = lens->focal[0] * p[0] / p[2] + lens->centre[0];
        pixel[1] = lens->focal[1] * p[1] / p[2] + lens->centre[1];
    }
    return seen && *depth > lens->near_plane && pixel[0] >= 0.0f && pixel[1] >= 0.0f &&
           pixel[0] < (float)lens->width && pixel[1] < (float)lens->height;
}

void orr_splat_photo_direction(const orr_splat_photo *photo, const float pixel[2], float direction[3])
{
    const orr_lens *lens = &photo->lens;
    if (lens->distorted) {
        const real3 d =
            photo_direction(splat_photo_of(&photo->distortion).lens, make_real2(pixel[0], pixel[1]));
        direction[0] = d.x;
        direction[1] = d.y;
        direction[2] = d.z;
        return;
    }
    direction[0] = (pixel[0] - lens->centre[0]) / lens->focal[0];
    direction[1] = (pixel[1] - lens->centre[1]) / lens->focal[1];
    direction[2] = 1.0f;
}

typedef struct planes_job {
    const orr_splat_photo *photo;
    int shrink;
    float background[3];
    orr_loss_planes planes;
    uint8_t *kept;
    float *alpha;
} planes_job;

// Means of shrink x shrink pixels over the background: sums of colour times alpha, and of alpha, of bytes.
static void fill_row(const planes_job *job, int y)
{
    const int s = job->shrink, width = job->planes.width, channels = job->photo->channels;
    const int64_t stride = job->photo->lens.width;
    float *to[3] = {orr_loss_row(&job->planes, 0, y), orr_loss_row(&job->planes, 1, y),
                    orr_loss_row(&job->planes, 2, y)};
    const float share = 1.0f / (float)(s * s);
    for (int x = 0; x < width; x++) {
        const uint8_t *block = job->photo->pixels + channels * ((int64_t)y * s * stride + (int64_t)x * s);
        uint32_t sum[3] = {0}, opaque = 0;
        for (int i = 0; i < s; i++) {
            const uint8_t *bytes = block + channels * i * stride;
            for (int k = 0; k < s; k++, bytes += channels) {
                const uint32_t alpha = channels == 4 ? bytes[3] : 255;
                opaque += alpha;
                for (int c = 0; c < 3; c++) {
                    sum[c] += alpha * bytes[c];
                }
            }
        }
        const float covered = share * (1.0f / 255.0f) * (float)opaque;
        for (int c = 0; c < 3; c++) {
            to[c][x] = share * (1.0f / 65025.0f) * (float)sum[c] + (1.0f - covered) * job->background[c];
        }
        if (job->alpha) {
            job->alpha[(int64_t)y * width + x] = covered;
        }
    }
}

static void fill_kept(const planes_job *job, int y)
{
    const int s = job->shrink, width = job->planes.width;
    for (int x = 0; x < width; x++) {
        bool kept = true;
        for (int i = 0; i < s * s; i++) {
            kept = kept &&
                   job->photo->mask[(int64_t)(y * s + i / s) * job->photo->lens.width + x * s + i % s] != 0;
        }
        job->kept[(int64_t)y * width + x] = kept;
    }
}

static void fill_rows(void *context, int job_index, int worker)
{
    (void)worker;
    const planes_job *job = context;
    const int height = job->planes.height;
    const int end = (job_index + 1) * ROWS < height ? (job_index + 1) * ROWS : height;
    for (int y = job_index * ROWS; y < end; y++) {
        fill_row(job, y);
        if (job->kept) {
            fill_kept(job, y);
        }
    }
}

orr_result orr_splat_photo_take(const orr_splat_photo *photo, int shrink, const float background[3],
                                orr_jobs *jobs, orr_arena *arena, orr_splat_photo_picture *picture,
                                orr_error *error)
{
    planes_job job = {.photo = photo, .shrink = shrink};
    const int width = photo->lens.width / shrink, height = photo->lens.height / shrink;
    const size_t pixels = (size_t)width * (size_t)height;
    memcpy(job.background, background, sizeof job.background);
    ORR_TRY(orr_loss_planes_take(arena, width, height, &job.planes, error));
    job.kept = photo->mask ? orr_arena_take(arena, pixels, 1) : NULL;
    job.alpha = photo->channels == 4 ? orr_arena_take(arena, pixels, sizeof(float)) : NULL;
    if ((photo->mask && !job.kept) || (photo->channels == 4 && !job.alpha)) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a photo of %d x %d", width, height);
    }
    orr_jobs_for(jobs, orr_blocks(height, ROWS), fill_rows, &job);
    *picture = (orr_splat_photo_picture){job.planes, job.kept, job.alpha};
    return ORR_OK;
}
