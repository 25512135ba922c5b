#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "tests/splats/splat_reference.h"

#include "render/splat/splat_formula.h"

#include <stdlib.h>
#include <string.h>

// The reference writes the projection a second time, in the textbook form (covariance matrix, inverse, xx xy
// yy), so that it shares no algebra with the formula it checks; only the harmonics are common.
typedef struct reference_splat {
    double x, y, depth, opacity;
    double inverse_xx, inverse_xy, inverse_yy;
    double colour[3];
    int64_t index; // in the order of layers and files
} reference_splat;

static double sh_colour(const orr_splats_view *s, int64_t i, int channel, const double v[3])
{
    real3 d = {v[0], v[1], v[2]};
    sh_band1 b1 = sh_degree1(d);
    sh_band2 b2 = sh_degree2(d);
    sh_band3 b3 = sh_degree3(d);
    const double basis[15] = {b1.a, b1.b, b1.c, b2.a, b2.b, b2.c, b2.d, b2.e,
                              b3.a, b3.b, b3.c, b3.d, b3.e, b3.f, b3.g};
    double sum = 0.5 + SH_0 * (double)s->colour[3 * i + channel];
    int rest = orr_sh_rest(s->sh_degree);
    for (int k = 0; k < rest; k++) {
        sum += basis[k] * (double)s->harmonics[(i * rest + k) * 3 + channel];
    }
    return sum > 0.0 ? sum : 0.0;
}

static bool project(const orr_lens *lens, const reference_layer *layer, int64_t i, reference_splat *out)
{
    const orr_splats_view *s = &layer->splats;
    double world[3], camera[3], linear[3][3];
    for (int r = 0; r < 3; r++) {
        world[r] = (double)layer->model[4 * r + 3];
        for (int c = 0; c < 3; c++) {
            world[r] += (double)layer->model[4 * r + c] * (double)s->position[3 * i + c];
        }
    }
    for (int r = 0; r < 3; r++) {
        camera[r] = (double)lens->view[4 * r + 3];
        for (int c = 0; c < 3; c++) {
            camera[r] += (double)lens->view[4 * r + c] * world[c];
            linear[r][c] = 0.0;
            for (int k = 0; k < 3; k++) {
                linear[r][c] += (double)lens->view[4 * r + k] * (double)layer->model[4 * k + c];
            }
        }
    }
    double z = camera[2];
    if (!(z >= (double)lens->near_plane && z <= (double)lens->far_plane)) {
        return false;
    }

    // Sigma = R S S R', rotation matrix from the quaternion
    double w = (double)s->rotation[4 * i], x = (double)s->rotation[4 * i + 1],
           y = (double)s->rotation[4 * i + 2], q = (double)s->rotation[4 * i + 3];
    const double rotation[3][3] = {{1 - 2 * (y * y + q * q), 2 * (x * y - w * q), 2 * (x * q + w * y)},
                                   {2 * (x * y + w * q), 1 - 2 * (x * x + q * q), 2 * (y * q - w * x)},
                                   {2 * (x * q - w * y), 2 * (y * q + w * x), 1 - 2 * (x * x + y * y)}};
    double sigma[3][3] = {{0}};
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                sigma[r][c] += rotation[r][k] * rotation[c][k] * exp(2.0 * (double)s->log_scale[3 * i + k]);
            }
        }
    }

    double jacobian[2][3] = {{(double)lens->focal[0], 0, 0}, {0, (double)lens->focal[1], 0}};
    double centre[2];
    for (int a = 0; a < 2; a++) {
        double focal = (double)lens->focal[a];
        if (lens->orthographic) {
            centre[a] = focal * camera[a] + (double)lens->centre[a];
            continue;
        }
        double slope = camera[a] / z;
        centre[a] = focal * slope + (double)lens->centre[a];
        slope = fmin(fmax(slope, (double)lens->slope_low[a]), (double)lens->slope_high[a]);
        jacobian[a][a] = focal / z;
        jacobian[a][2] = -focal * slope / z;
    }
    double t[2][3] = {{0}}, cov[2][2] = {{0}};
    for (int a = 0; a < 2; a++) {
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                t[a][c] += jacobian[a][k] * linear[k][c];
            }
        }
    }
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) {
            for (int r = 0; r < 3; r++) {
                for (int c = 0; c < 3; c++) {
                    cov[a][b] += t[a][r] * sigma[r][c] * t[b][c];
                }
            }
        }
    }
    double sharp = cov[0][0] * cov[1][1] - cov[0][1] * cov[0][1];
    cov[0][0] += 0.3;
    cov[1][1] += 0.3;
    double determinant = cov[0][0] * cov[1][1] - cov[0][1] * cov[0][1];
    double opacity = 1.0 / (1.0 + exp(-(double)s->opacity[i]));
    if (layer->antialias) {
        opacity *= sqrt(fmax(sharp / determinant, 0.005 * 0.005));
    }

    // the camera's position in the layer: model is a similarity, so its inverse is its transpose over scale^2
    double offset[3], direction[3], length = 0.0, scale2 = 0.0;
    for (int k = 0; k < 3; k++) {
        offset[k] = world[k] - (double)lens->position[k];
        scale2 += (double)layer->model[4 * k] * (double)layer->model[4 * k];
    }
    for (int c = 0; c < 3; c++) {
        direction[c] = 0.0;
        for (int r = 0; r < 3; r++) {
            direction[c] += (double)layer->model[4 * r + c] * offset[r] / scale2;
        }
        length += direction[c] * direction[c];
    }
    for (int c = 0; c < 3; c++) {
        direction[c] /= sqrt(length);
    }

    *out = (reference_splat){.x = centre[0],
                             .y = centre[1],
                             .depth = z,
                             .opacity = opacity,
                             .inverse_xx = cov[1][1] / determinant,
                             .inverse_xy = -cov[0][1] / determinant,
                             .inverse_yy = cov[0][0] / determinant};
    for (int channel = 0; channel < 3; channel++) {
        out->colour[channel] = sh_colour(s, i, channel, direction);
    }
    return true;
}

static int by_depth(const void *a, const void *b)
{
    const reference_splat *x = a, *y = b;
    // depths are compared as the machines hold them, in single precision
    float dx = (float)x->depth, dy = (float)y->depth;
    return dx != dy ? (dx > dy) - (dx < dy) : (x->index > y->index) - (x->index < y->index);
}

// what has been blended of one pixel, from front to back
typedef struct reference_pixel {
    double left, colour[3], weighted;
    bool stopped; // takes no more splats or fields
} reference_pixel;

static void blend_field(reference_pixel *p, const reference_planes *planes, int64_t pixel, int64_t pixels)
{
    double alpha = (double)planes->field_colour[3 * pixels + pixel];
    for (int c = 0; c < 3; c++) {
        p->colour[c] += p->left * (double)planes->field_colour[c * pixels + pixel];
    }
    p->weighted += p->left * alpha * (double)planes->field_depth[pixel];
    p->left *= 1.0 - alpha;
    p->stopped = p->left <= 1e-4;
}

static void blend_splat(reference_pixel *p, const reference_splat *s, double x, double y)
{
    double dx = x - s->x, dy = y - s->y;
    double power = 0.5 * (s->inverse_xx * dx * dx + 2.0 * s->inverse_xy * dx * dy + s->inverse_yy * dy * dy);
    if (power > 6.0) { // e^-6 is under 1/255 whatever the opacity
        return;
    }
    double alpha = fmin(0.99, s->opacity * exp(-power));
    if (alpha < 1.0 / 255.0) {
        return;
    }
    p->stopped = p->left * (1.0 - alpha) <= 1e-4;
    if (p->stopped) {
        return;
    }
    for (int c = 0; c < 3; c++) {
        p->colour[c] += p->left * alpha * s->colour[c];
    }
    p->weighted += p->left * alpha * s->depth;
    p->left *= 1.0 - alpha;
}

void draw_reference(const orr_lens *lens, const reference_layer *layers, int layer_count,
                    const float *background, const reference_planes *planes, float *rgba, float *depth)
{
    int64_t total = 0, count = 0;
    for (int l = 0; l < layer_count; l++) {
        total += layers[l].splats.count;
    }
    reference_splat *splats = malloc(((size_t)total + 1) * sizeof *splats);
    int64_t index = 0;
    for (int l = 0; l < layer_count; l++) {
        for (int64_t i = 0; i < layers[l].splats.count; i++, index++) {
            if (project(lens, &layers[l], i, &splats[count])) {
                splats[count++].index = index;
            }
        }
    }
    qsort(splats, (size_t)count, sizeof *splats, by_depth);

    int64_t pixels = (int64_t)lens->width * lens->height;
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
        double x = (double)(pixel % lens->width) + 0.5, y = (double)(pixel / lens->width) + 0.5;
        double mesh_z = planes && planes->mesh_depth ? (double)planes->mesh_depth[pixel] : INFINITY;
        double field_z = planes && planes->field_depth ? (double)planes->field_depth[pixel] : INFINITY;
        reference_pixel p = {.left = 1.0};
        for (int64_t i = 0; i < count && splats[i].depth < mesh_z && !p.stopped; i++) {
            if (field_z <= splats[i].depth) {
                blend_field(&p, planes, pixel, pixels);
                field_z = INFINITY;
            }
            if (!p.stopped) {
                blend_splat(&p, &splats[i], x, y);
            }
        }
        if (isfinite(field_z) && !p.stopped) {
            blend_field(&p, planes, pixel, pixels);
        }
        if (isfinite(mesh_z)) {
            for (int c = 0; c < 3; c++) {
                p.colour[c] += p.left * (double)planes->mesh_colour[c * pixels + pixel];
            }
            p.weighted += p.left * mesh_z;
            p.left = 0.0;
        }
        depth[pixel] = p.left < 1.0 ? (float)(p.weighted / (1.0 - p.left)) : 0.0f;
        for (int c = 0; background && c < 3; c++) {
            p.colour[c] += p.left * (double)background[c];
        }
        p.left = background ? 0.0 : p.left;
        for (int c = 0; c < 3; c++) {
            rgba[4 * pixel + c] = (float)p.colour[c];
        }
        rgba[4 * pixel + 3] = (float)(1.0 - p.left);
    }
    free(splats);
}
