#define ORR_SCALAR
#include "render/reference/bsdf.h"

static real mean3(real3 a)
{
    return (a.x + a.y + a.z) * (1.0f / 3.0f);
}

bsdf bsdf_lambert(real3 normal, real3 to_eye, real3 base)
{
    return (bsdf){.normal = normal, .to_eye = to_eye, .diffuse = base, .alpha = 1.0f};
}

bsdf bsdf_metallic(const bsdf_table *table, real3 normal, real3 to_eye, real3 base, real metallic,
                   real roughness)
{
    real dull = 1.0f - metallic, lost = 0.0f;
    if (table) {
        lost = 1.0f / bsdf_table_at(table, roughness, dot3(normal, to_eye)) - 1.0f;
    }
    real3 f0 = make_real3(0.04f * dull + metallic * base.x, 0.04f * dull + metallic * base.y,
                          0.04f * dull + metallic * base.z);
    return (bsdf){.normal = normal,
                  .to_eye = to_eye,
                  .diffuse = scale3(base, dull),
                  .f0 = f0,
                  .gain = make_real3(1.0f + f0.x * lost, 1.0f + f0.y * lost, 1.0f + f0.z * lost),
                  .alpha = fmaxf(roughness * roughness, BSDF_ALPHA_MIN),
                  .glossy = true};
}

// Smith's shadowing: sqrt(alpha^2 + (1 - alpha^2) c^2)
static real smith_root(real alpha, real cosine)
{
    return sqrtf(alpha * alpha + (1.0f - alpha * alpha) * cosine * cosine);
}

// How often the highlight is drawn, not the cosine.
static real gloss_share(const bsdf *b)
{
    real gloss = mean3(b->f0), dull = mean3(b->diffuse);
    real share = gloss + dull > 0.0f ? gloss / (gloss + dull) : 0.5f;
    return fminf(fmaxf(share, 0.1f), dull > 0.0f ? 0.9f : 1.0f);
}

bsdf_value bsdf_eval(const bsdf *b, real3 to_light)
{
    bsdf_value value = {{0.0f, 0.0f, 0.0f}, 0.0f};
    real light = dot3(b->normal, to_light), eye = fmaxf(dot3(b->normal, b->to_eye), 1e-4f);
    if (!(light > 0.0f)) {
        return value;
    }
    if (!b->glossy) {
        value.weight = scale3(b->diffuse, light / BSDF_PI);
        value.pdf = light / BSDF_PI;
        return value;
    }
    real3 half_way = normalise3(add3(to_light, b->to_eye));
    real height = fmaxf(dot3(b->normal, half_way), 0.0f);
    real miss = 1.0f - fmaxf(dot3(b->to_eye, half_way), 0.0f);
    real fresnel = miss * miss * miss * miss * miss;
    // 1 - height^2 from the cross product: the difference loses the narrow peaks
    real3 off = cross3(b->normal, half_way);
    real a2 = b->alpha * b->alpha, spread = dot3(off, off) + a2 * height * height;
    real peak = a2 / (BSDF_PI * spread * spread);
    real eye_root = smith_root(b->alpha, eye), light_root = smith_root(b->alpha, light);
    real visible = 0.5f / (light * eye_root + eye * light_root);
    real3 f = make_real3(b->f0.x + (1.0f - b->f0.x) * fresnel, b->f0.y + (1.0f - b->f0.y) * fresnel,
                         b->f0.z + (1.0f - b->f0.z) * fresnel);
    real highlight = peak * visible;
    value.weight = make_real3(light * ((1.0f - f.x) * b->diffuse.x / BSDF_PI + f.x * b->gain.x * highlight),
                              light * ((1.0f - f.y) * b->diffuse.y / BSDF_PI + f.y * b->gain.y * highlight),
                              light * ((1.0f - f.z) * b->diffuse.z / BSDF_PI + f.z * b->gain.z * highlight));
    real share = gloss_share(b), shadow = 2.0f * eye / (eye + eye_root);
    value.pdf = share * shadow * peak / (4.0f * eye) + (1.0f - share) * light / BSDF_PI;
    return value;
}

// A visible normal of the microfacets, by the spherical cap of Dupuy and Benyoub (2023).
static real3 draw_half_way(const bsdf *b, real u, real v)
{
    real3 across, along;
    frame_around(b->normal, &across, &along);
    real3 eye = normalise3(make_real3(b->alpha * dot3(b->to_eye, across), b->alpha * dot3(b->to_eye, along),
                                      dot3(b->to_eye, b->normal)));
    real angle = 2.0f * BSDF_PI * u, z = (1.0f - v) * (1.0f + eye.z) - eye.z;
    real ring = sqrtf(fmaxf(1.0f - z * z, 0.0f));
    real3 h = make_real3(ring * cosf(angle) + eye.x, ring * sinf(angle) + eye.y, z + eye.z);
    return frame_out(b->normal, normalise3(make_real3(b->alpha * h.x, b->alpha * h.y, fmaxf(h.z, 1e-9f))));
}

bsdf_value bsdf_draw(const bsdf *b, real u, real v, real choice, real3 *to_light)
{
    if (b->glossy && choice < gloss_share(b)) {
        real3 h = draw_half_way(b, u, v);
        *to_light = normalise3(sub3(scale3(h, 2.0f * dot3(h, b->to_eye)), b->to_eye));
    } else {
        real angle = 2.0f * BSDF_PI * u, ring = sqrtf(v);
        *to_light = normalise3(frame_out(
            b->normal, make_real3(ring * cosf(angle), ring * sinf(angle), sqrtf(fmaxf(1.0f - v, 0.0f)))));
    }
    return bsdf_eval(b, *to_light);
}

// ---- what highlights lose ----

// By the mean of `PER_SIDE` squared directions that bsdf_draw would draw.
static float reflected(real roughness, real cosine)
{
    enum { PER_SIDE = 16 };
    const real3 up = {0.0f, 0.0f, 1.0f}, white = {1.0f, 1.0f, 1.0f};
    real3 eye = make_real3(sqrtf(fmaxf(1.0f - cosine * cosine, 0.0f)), 0.0f, cosine), light;
    const bsdf b = bsdf_metallic(NULL, up, eye, white, 1.0f, roughness);
    float sum = 0.0f;
    for (int i = 0; i < PER_SIDE * PER_SIDE; i++) {
        real u = ((float)(i / PER_SIDE) + 0.5f) / PER_SIDE, v = ((float)(i % PER_SIDE) + 0.5f) / PER_SIDE;
        bsdf_value value = bsdf_draw(&b, u, v, 0.0f, &light);
        sum += value.pdf > 0.0f ? value.weight.x / value.pdf : 0.0f;
    }
    return sum / (PER_SIDE * PER_SIDE);
}

void bsdf_table_fill(bsdf_table *table)
{
    for (int i = 0; i < BSDF_TABLE; i++) {
        for (int k = 0; k < BSDF_TABLE; k++) {
            real cosine = fmaxf((float)k / (BSDF_TABLE - 1), 0.01f);
            table->reflected[i][k] = reflected((float)i / (BSDF_TABLE - 1), cosine);
        }
    }
}

float bsdf_table_at(const bsdf_table *table, real roughness, real cosine)
{
    real row = fminf(fmaxf(roughness, 0.0f), 1.0f) * (BSDF_TABLE - 1),
         column = fminf(fmaxf(cosine, 0.0f), 1.0f) * (BSDF_TABLE - 1);
    int i = row < BSDF_TABLE - 2 ? (int)row : BSDF_TABLE - 2,
        k = column < BSDF_TABLE - 2 ? (int)column : BSDF_TABLE - 2;
    real down = row - (float)i, right = column - (float)k;
    const float *a = table->reflected[i] + k, *b = table->reflected[i + 1] + k;
    return (1.0f - down) * (a[0] + right * (a[1] - a[0])) + down * (b[0] + right * (b[1] - b[0]));
}
