#include "assets/splatting.h"

#include "assets/material.h"
#include "assets/orrery.h"
#include "engine/core/memory.h"
#include "render/splat/splat_formula.h"

enum { DIRECTIONS = 96, TERMS_MOST = 16, BLOCK = 256 };

// One least-squares fit: how three colours depend on the direction.
typedef struct fit {
    float matrix[TERMS_MOST][TERMS_MOST];
    float right[TERMS_MOST][3];
} fit;

static int harmonic_terms(int degree)
{
    return (degree + 1) * (degree + 1);
}

static void harmonics(real3 v, float basis[TERMS_MOST])
{
    sh_band1 b1 = sh_degree1(v);
    sh_band2 b2 = sh_degree2(v);
    sh_band3 b3 = sh_degree3(v);
    const float all[TERMS_MOST] = {(float)SH_0, b1.a, b1.b, b1.c, b2.a, b2.b, b2.c, b2.d,
                                   b2.e,        b3.a, b3.b, b3.c, b3.d, b3.e, b3.f, b3.g};
    for (int i = 0; i < TERMS_MOST; i++) {
        basis[i] = all[i];
    }
}

// The nearest value that .spz can hold: 5 bits in band 1, 4 bits above.
static float storable(int term, float x)
{
    float step = term == 0 ? 0.0f : term < 4 ? 0.0625f : 0.125f;
    return step > 0.0f ? step * rintf(fminf(fmaxf(x, -0.9375f), 0.9375f) / step) : x;
}

// Cholesky, in place: the matrix is symmetric and positive because of the ridge on its diagonal. Coefficients
// are rounded as they are found, highest band first, so that the lower ones make up for what the rounding
// lost (Babai, "On Lovász' lattice reduction and the nearest lattice point problem", 1986).
static void solve(fit *f, int n)
{
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            float sum = f->matrix[i][j];
            for (int k = 0; k < j; k++) {
                sum -= f->matrix[i][k] * f->matrix[j][k];
            }
            f->matrix[i][j] = i == j ? sqrtf(fmaxf(sum, 1e-12f)) : sum / f->matrix[j][j];
        }
    }
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < i; k++) {
                f->right[i][c] -= f->matrix[i][k] * f->right[k][c];
            }
            f->right[i][c] /= f->matrix[i][i];
        }
        for (int i = n - 1; i >= 0; i--) {
            for (int k = i + 1; k < n; k++) {
                f->right[i][c] -= f->matrix[k][i] * f->right[k][c];
            }
            f->right[i][c] = storable(i, f->right[i][c] / f->matrix[i][i]);
        }
    }
}

// Shape coordinates (y up) to those of splat files (y down).
static real3 to_file(real3 v)
{
    return make_real3(v.x, -v.y, -v.z);
}

// How many coefficients a material is worth.
static int useful_terms(int m, int degree)
{
    if (m == MATERIAL_TABLE) {
        return 1; // on dark ground the rounding of .spz would show more than the gleam
    }
    // metals mirror the studio; the faint gleam of lacquer shows in band 1 alone
    return harmonic_terms(material_find(m)->metal > 0.0f || degree < 1 ? degree : 1);
}

// Fits display colours as seen from all around the front; what no camera sees may be anything, so the few
// coefficients serve the directions that count: those before the surface, most of all from the side or above.
static void fit_colour(const studio *scene, const studio_point *point, int degree, fit *f)
{
    int n = useful_terms(point->material, degree);
    *f = (fit){0};
    for (int i = 0; i < DIRECTIONS; i++) {
        real3 out = sphere_point(i, DIRECTIONS);
        float facing = dot3(out, point->normal);
        if (facing < -0.4f) {
            continue;
        }
        float weight = (0.25f + fmaxf(facing, 0.0f)) * (out.y > -0.25f ? 1.0f : 0.15f);
        // discs at a silhouette are seen a little from behind: there they have the colour that they have from
        // the side
        real3 before = facing < 0.03f ? unit3(add3(out, scale3(point->normal, 0.03f - facing))) : out;
        real3 colour = studio_develop(studio_radiance(scene, point, before));
        const float target[3] = {colour.x - 0.5f, colour.y - 0.5f, colour.z - 0.5f};
        float basis[TERMS_MOST];
        harmonics(to_file(scale3(out, -1.0f)),
                  basis); // the basis takes the direction from the camera to the splat
        for (int a = 0; a < n; a++) {
            for (int b = 0; b <= a; b++) {
                f->matrix[a][b] += weight * basis[a] * basis[b];
            }
            for (int c = 0; c < 3; c++) {
                f->right[a][c] += weight * basis[a] * target[c];
            }
        }
    }
    for (int a = 0; a < n; a++) { // the higher the band, the stronger it is regularised towards zero
        f->matrix[a][a] += a == 0 ? 1e-4f : a < 4 ? 0.05f : a < 9 ? 0.12f : 0.25f;
    }
    solve(f, n);
}

// The quaternion w, x, y, z of the rotation with these columns (Shepperd 1978). In float, unlike
// quat_from_axes: the numbers that orrery.spz stores depend on its roundings.
static void quaternion_of(real3 x, real3 y, real3 z, float q[4])
{
    const float trace[4] = {x.x + y.y + z.z, x.x - y.y - z.z, y.y - x.x - z.z, z.z - x.x - y.y};
    int most = 0;
    for (int i = 1; i < 4; i++) {
        most = trace[i] > trace[most] ? i : most;
    }
    const float a = y.z - z.y, b = z.x - x.z, c = x.y - y.x, d = x.y + y.x, e = z.x + x.z, g = y.z + z.y;
    const float rows[4][4] = {{0, a, b, c}, {a, 0, d, e}, {b, d, 0, g}, {c, e, g, 0}};
    float largest = 0.5f * sqrtf(1.0f + trace[most]);
    for (int i = 0; i < 4; i++) {
        q[i] = i == most ? largest : rows[most][i] * 0.25f / largest;
    }
}

// The glow of the sun in the air: large faint balls about its middle.
static const struct {
    float size, opacity;
    real3 colour;
} halos[] = {
    {0.17f, 0.30f, {1.0f, 0.62f, 0.20f}},
    {0.34f, 0.11f, {1.0f, 0.55f, 0.22f}},
};
enum { HALOS = sizeof halos / sizeof halos[0] };

static void write_halo(const orr_splats_view *out, int64_t i, int halo)
{
    real3 centre = to_file(make_real3(0, sun_height, 0));
    const float position[3] = {centre.x, centre.y, centre.z};
    const float colour[3] = {halos[halo].colour.x, halos[halo].colour.y, halos[halo].colour.z};
    for (int c = 0; c < 3; c++) {
        out->position[3 * i + c] = position[c];
        out->log_scale[3 * i + c] = logf(halos[halo].size);
        out->colour[3 * i + c] = (colour[c] - 0.5f) / (float)SH_0;
    }
    out->opacity[i] = logf(halos[halo].opacity / (1.0f - halos[halo].opacity));
}

typedef struct splatting {
    const studio *scene;
    const surface_sample *samples;
    int count;
    orr_splats_view out;
} splatting;

void splat_place(const orr_splats_view *out, int64_t i, const surface_sample *s, float opacity)
{
    real3 p = to_file(s->position), x = to_file(s->tangent), z = to_file(s->normal), y = cross3(z, x);
    const float position[3] = {p.x, p.y, p.z};
    const float sizes[3] = {s->size[0], s->size[1], 0.12f * s->size[1]};
    out->opacity[i] = logf(opacity / (1.0f - opacity));
    quaternion_of(x, y, z, &out->rotation[4 * i]);
    for (int c = 0; c < 3; c++) {
        out->position[3 * i + c] = position[c];
        out->log_scale[3 * i + c] = logf(fmaxf(sizes[c], 1e-4f));
    }
}

static void write_splat(const splatting *work, int i)
{
    const surface_sample *s = &work->samples[i];
    const orr_splats_view *out = &work->out;
    studio_point point = studio_gather(work->scene, s->position, s->normal, s->material);
    fit f;
    fit_colour(work->scene, &point, out->sh_degree, &f);

    // the table fades into the background towards its rim
    float fade = s->material == MATERIAL_TABLE
                     ? smooth_step(table_radius, 0.55f * table_radius, length3(s->position))
                     : 1.0f;
    splat_place(out, i, s, fmaxf(0.985f * fade, 0.004f));
    int rest = harmonic_terms(out->sh_degree) - 1;
    for (int c = 0; c < 3; c++) {
        out->colour[3 * i + c] = f.right[0][c];
        for (int k = 0; k < rest; k++) {
            out->harmonics[3 * (rest * i + k) + c] = f.right[k + 1][c];
        }
    }
}

static void write_block(void *context, int block, int worker)
{
    (void)worker;
    const splatting *work = context;
    for (int i = BLOCK * block; i < BLOCK * (block + 1) && i < work->count; i++) {
        write_splat(work, i);
    }
}

orr_result splat_samples(const studio *scene, const surface_sample *samples, int count, int sh_degree,
                         orr_jobs *jobs, orr_splats **splats, orr_error *error)
{
    ORR_TRY(orr_splats_create(count + HALOS, sh_degree, splats, error));
    splatting work = {scene, samples, count, orr_splats_data(*splats)};
    orr_jobs_for(jobs, orr_blocks(count, BLOCK), write_block, &work);
    for (int i = 0; i < HALOS; i++) {
        write_halo(&work.out, count + i, i);
    }
    return ORR_OK;
}

orr_result splat_surface(const shape_mesh *surface, int skip, int most, splat_maker *make, const char *path,
                         orr_error *error)
{
    ray_tree tree = {0};
    surface_sample *samples = NULL;
    orr_jobs *jobs = NULL;
    orr_splats *splats = NULL;
    int count = 0;
    orr_result result = rays_build(surface, skip, &tree, error);
    if (result == ORR_OK) {
        result = sample_surface(surface, most, &samples, &count, error);
    }
    if (result == ORR_OK) {
        result = orr_jobs_create(0, NULL, NULL, &jobs, error);
    }
    if (result == ORR_OK) {
        result = make(&tree, samples, count, jobs, &splats, error);
    }
    if (result == ORR_OK) {
        result = orr_splats_save(splats, path, error);
    }
    orr_splats_destroy(splats);
    orr_jobs_destroy(jobs);
    orr_free(samples);
    rays_destroy(&tree);
    return result;
}
