#define ORR_SCALAR
#include "render/appearance/material_texels.h"

#include "engine/core/memory.h"
#include "render/formula_inputs.h"
#include "render/reference/picture.h"

#include <string.h>

typedef struct texel_source {
    const orr_mesh *mesh;
    const orr_mesh_material *material;
    float linear[256]; // of a byte of sRGB
} texel_source;

// ---- textures ----

// White where there is no texture.
static real4 sample(const texel_source *s, orr_texture_use use, real2 uv)
{
    const int index = orr_material_texture(s->material, use);
    return index < 0 ? make_real4(1.0f, 1.0f, 1.0f, 1.0f)
                     : picture_sample(s->linear, &s->mesh->textures[index], &s->material->samplers[use], uv.x,
                                      uv.y);
}

static float component(real texel)
{
    return (texel - ORR_NORMAL_CENTRE) / (1.0f - ORR_NORMAL_CENTRE);
}

static material_texel make_texel(const texel_source *s, real2 uv)
{
    const orr_mesh_material *m = s->material;
    const real4 base = sample(s, ORR_TEXTURE_BASE, uv), surface = sample(s, ORR_TEXTURE_SURFACE, uv);
    material_texel t = {
        .base = {m->base_colour[0] * base.x, m->base_colour[1] * base.y, m->base_colour[2] * base.z},
        .metallic = m->metallic * surface.z,
        .roughness = m->roughness * surface.y,
        .normal = {0.0f, 0.0f, 1.0f},
        .occlusion = surface.x,
        .f0 = {0.04f, 0.04f, 0.04f},
        .f90 = 1.0f};
    if (m->has_highlight) {
        memcpy(t.f0, m->highlight, sizeof t.f0);
        t.f90 = m->highlight_grazing;
    }
    if (m->normal_texture >= 0) {
        const real4 bent = sample(s, ORR_TEXTURE_NORMAL, uv);
        const real3 n =
            normalise3(make_real3(component(bent.x), component(bent.y), fmaxf(component(bent.z), 1e-3f)));
        t.normal[0] = n.x;
        t.normal[1] = n.y;
        t.normal[2] = n.z;
    }
    if (m->coat_texture >= 0) {
        const real4 coat = sample(s, ORR_TEXTURE_COAT, uv);
        t.coated = coat.x;
        t.coat_roughness = coat.y;
    }
    return t;
}

// ---- the chain ----

static void reduce(const material_texels *t, int level)
{
    const int wide = orr_mip_side(t->width, level - 1), high = orr_mip_side(t->height, level - 1);
    const int width = orr_mip_side(t->width, level), height = orr_mip_side(t->height, level);
    const material_texel *from = t->texels + t->first[level - 1];
    for (int i = 0; i < width * height; i++) {
        const int column = 2 * (i % width), row = 2 * (i / width);
        float *to = (float *)(t->texels + t->first[level] + i);
        memset(to, 0, sizeof(material_texel));
        for (int k = 0; k < 4; k++) {
            const int x = column + k % 2, y = row + k / 2;
            const float *values =
                (const float *)(from + (y < high ? y : high - 1) * wide + (x < wide ? x : wide - 1));
            for (int v = 0; v < MATERIAL_FLOATS; v++) {
                to[v] += 0.25f * values[v];
            }
        }
    }
}

static orr_result check(const orr_mesh *mesh, int material, int side, orr_error *error)
{
    if (material < 0 || material >= mesh->material_count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "material %d: expected 0 .. %d", material,
                        mesh->material_count - 1);
    }
    const orr_mesh_material *m = &mesh->materials[material];
    if (!m->metallic_roughness || m->unlit) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "material %d: expected one of the metallic-roughness model, as glTF files have, and lit",
            material);
    }
    if (orr_material_has_second(m)) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "material %d: expected textures that are all laid on alike, by one set of coordinates", material);
    }
    if (side < 1 || side > 4096) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "size %d: expected 1 .. 4096 texels", side);
    }
    return ORR_OK;
}

static void find_size(const orr_mesh *mesh, const orr_mesh_material *material, int side, material_texels *t)
{
    static const orr_texture_use uses[] = {ORR_TEXTURE_BASE, ORR_TEXTURE_SURFACE, ORR_TEXTURE_NORMAL,
                                           ORR_TEXTURE_COAT};
    t->width = t->height = 1;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        const int index = orr_material_texture(material, uses[i]);
        if (index >= 0) {
            const orr_image8 *texture = &mesh->textures[index];
            t->width = texture->width > t->width ? texture->width : t->width;
            t->height = texture->height > t->height ? texture->height : t->height;
        }
    }
    t->width = t->width < side ? t->width : side;
    t->height = t->height < side ? t->height : side;
}

orr_result material_texels_make(const orr_mesh *mesh, int material, int side, material_texels *texels,
                                orr_error *error)
{
    *texels = (material_texels){0};
    ORR_TRY(check(mesh, material, side, error));
    texel_source source = {.mesh = mesh, .material = &mesh->materials[material]};
    picture_decode_table(source.linear);
    find_size(mesh, source.material, side, texels);
    texels->levels = orr_mip_levels(texels->width, texels->height);
    int32_t count = 0;
    for (int level = 0; level < texels->levels; level++) {
        texels->first[level] = count;
        count += orr_mip_side(texels->width, level) * orr_mip_side(texels->height, level);
    }
    ORR_ALLOC(texels->texels, count, "texels of a material", error);
    for (int i = 0; i < texels->width * texels->height; i++) {
        const real2 uv = make_real2(((float)(i % texels->width) + 0.5f) / (float)texels->width,
                                    ((float)(i / texels->width) + 0.5f) / (float)texels->height);
        texels->texels[i] = make_texel(&source, uv);
    }
    for (int level = 1; level < texels->levels; level++) {
        reduce(texels, level);
    }
    return ORR_OK;
}

void material_texels_free(material_texels *texels)
{
    orr_free(texels->texels);
    *texels = (material_texels){0};
}

const material_texel *material_texel_at(const material_texels *texels, int column, int row)
{
    return texels->texels + (size_t)row * (size_t)texels->width + (size_t)column;
}

// ---- how it reflects ----

static const real3 up = {0.0f, 0.0f, 1.0f};

static real3 normal_of(const material_texel *t, real3 to_eye)
{
    const real3 n = normalise3(make_real3(t->normal[0], t->normal[1], t->normal[2]));
    return dot3(n, to_eye) > 0.0f ? n : up; // as the path tracer has it
}

bsdf material_bsdf(const material_texel *t, real3 to_eye)
{
    bsdf b = bsdf_dielectric(normal_of(t, to_eye), to_eye, make_real3(t->base[0], t->base[1], t->base[2]),
                             t->metallic, t->roughness, make_real3(t->f0[0], t->f0[1], t->f0[2]), t->f90);
    if (t->coated > 0.0f) {
        bsdf_add_coat(&b, up, up, t->coated, t->coat_roughness);
    }
    return b;
}

neural_lobes material_lobes(const material_texel *t, real3 to_eye)
{
    const bsdf b = material_bsdf(t, to_eye);
    const bsdf_integrals s = bsdf_integrals_at(&orr_bsdf_integrals, t->roughness, dot3(b.normal, to_eye));
    const real3 black = {0.0f, 0.0f, 0.0f};
    const real below = bsdf_passes_coat(&b);
    const real3 part = make_real3(below, below, below);
    return (neural_lobes){.matte = bsdf_split(b.metal, s, part, black),
                          .mirrored = bsdf_split(b.metal, s, black, part),
                          .roughness = t->roughness,
                          .normal = normal_of(t, up),
                          .coat = b.coated > 0.0f ? b.coated * b.coat_albedo : 0.0f,
                          .coat_roughness = t->coat_roughness,
                          .occlusion = t->occlusion};
}
