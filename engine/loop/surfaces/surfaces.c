// What is varied, and how each copy has it.
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/surfaces/surfaces_data.h"
#include "render/pattern.h"

#include <math.h>
#include <string.h>

enum { TARGETS_MAX = 1024, TEXTURES_MAX = 4096, SIDE = 64, SIDE_MAX = 1024, CELLS = 8 };

static const float EMISSION_MAX = 1000.0f;

// ---- making ----

static orr_result check_desc(const orr_eyes_surfaces_desc *desc, orr_error *error)
{
    if (desc->target_count < 1 || desc->target_count > TARGETS_MAX || !desc->targets) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "varied surfaces: %d targets: expected 1 to %d",
                        desc->target_count, TARGETS_MAX);
    }
    if (desc->texture_count < 0 || desc->texture_count > TEXTURES_MAX ||
        (desc->texture_count > 0 && !desc->textures)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "varied surfaces: %d textures: expected 0 to %d",
                        desc->texture_count, TEXTURES_MAX);
    }
    const int side = desc->pattern_side;
    if (side != 0 && (side < 2 || side > SIDE_MAX || (side & (side - 1)) != 0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "varied surfaces: patterns of %d texels: expected a power of two, 2 to %d", side,
                        SIDE_MAX);
    }
    return ORR_OK;
}

static orr_result make(orr_surfaces *s, const orr_world *world, const orr_eyes_surfaces_desc *desc,
                       orr_error *error)
{
    s->copies = world->count;
    s->targets = desc->target_count;
    s->side = desc->pattern_side ? desc->pattern_side : SIDE;
    s->scene = world->scene;
    s->chain = 4 * orr_mip_texels(s->side, s->side);
    ORR_TRY(varied_layers_find(world, desc, &s->layers, error));
    ORR_TRY(varied_textures_read(world->scene, desc, &s->textures, error));
    for (int i = 0; i < s->layers.count; i++) {
        s->mesh_total += s->layers.list[i].count;
        s->material_total += s->layers.list[i].materials;
        s->texture_total += s->layers.list[i].textures;
    }
    const size_t surfaces = (size_t)s->copies * (size_t)s->targets;
    s->now = orr_alloc_zero(surfaces, sizeof *s->now);
    s->varied = orr_alloc_zero((size_t)s->copies, sizeof *s->varied);
    s->stale = orr_alloc_zero(surfaces, sizeof *s->stale);
    s->patterns = orr_alloc_zero(surfaces, s->chain);
    return s->now && s->varied && s->stale && s->patterns
               ? ORR_OK
               : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu varied surfaces of %zu bytes",
                          surfaces, s->chain);
}

orr_result orr_surfaces_create(const orr_world *world, const orr_eyes_surfaces_desc *desc, orr_surfaces **out,
                               orr_error *error)
{
    *out = NULL;
    ORR_TRY(check_desc(desc, error));
    orr_surfaces *s = orr_alloc_zero(1, sizeof *s);
    if (!s) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: varied surfaces");
    }
    const orr_result result = make(s, world, desc, error);
    if (result != ORR_OK) {
        orr_surfaces_destroy(s);
        return result;
    }
    *out = s;
    return ORR_OK;
}

void orr_surfaces_destroy(orr_surfaces *s)
{
    if (!s) {
        return;
    }
    varied_layers_clear(&s->layers);
    varied_textures_clear(&s->textures);
    orr_free(s->now);
    orr_free(s->varied);
    orr_free(s->stale);
    orr_free(s->patterns);
    orr_free(s);
}

// ---- setting ----

static orr_result check_number(const char *name, float value, float most, int copy, int target,
                               orr_error *error)
{
    return value >= 0.0f && value <= most
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "copy %d, target %d: %s %g: expected 0 to %g", copy,
                          target, name, (double)value, (double)most);
}

static bool is_bare(const orr_surfaces *s, int target)
{
    for (int i = 0; i < s->layers.count; i++) {
        const varied_layer *v = &s->layers.list[i];
        for (int k = 0; k < v->count && v->bare; k++) {
            if (v->target[k] == target) {
                return true;
            }
        }
    }
    return false;
}

static orr_result check_pattern(const orr_surfaces *s, const orr_eyes_surface *look, int copy, int target,
                                orr_error *error)
{
    if (look->pattern < ORR_PATTERN_OWN || look->pattern > ORR_PATTERN_PICTURE) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "copy %d, target %d: pattern %d: expected 0 to %d", copy,
                        target, (int)look->pattern, ORR_PATTERN_PICTURE);
    }
    if (look->pattern == ORR_PATTERN_PICTURE && (look->picture < 0 || look->picture >= s->textures.count)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "copy %d, target %d: picture %d: expected one of %d", copy,
                        target, look->picture, s->textures.count);
    }
    if (look->cells < 0 || look->cells > s->side / 2) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "copy %d, target %d: %d cells: expected 1 to %d", copy,
                        target, look->cells, s->side / 2);
    }
    if (look->pattern != ORR_PATTERN_OWN && look->pattern != ORR_PATTERN_FLAT && is_bare(s, target)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "copy %d, target %d: a pattern for a soft body: expected a mesh with coordinates of "
                        "textures",
                        copy, target);
    }
    return ORR_OK;
}

static orr_result check(const orr_surfaces *s, const orr_eyes_surface *look, int copy, int target,
                        orr_error *error)
{
    const struct {
        const char *name;
        float value, most;
    } numbers[] = {{"emission", look->emission, EMISSION_MAX}, {"specular", look->specular, 1.0f},
                   {"shininess", look->shininess, 1.0f},       {"metallic", look->metallic, 1.0f},
                   {"roughness", look->roughness, 1.0f},       {"reflectance", look->reflectance, 1.0f}};
    ORR_TRY(check_pattern(s, look, copy, target, error));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        ORR_TRY(check_number(numbers[i].name, numbers[i].value, numbers[i].most, copy, target, error));
    }
    for (int k = 0; k < 3; k++) {
        ORR_TRY(check_number("a colour of", look->colour[k], 1.0f, copy, target, error));
        ORR_TRY(check_number("a colour of", look->colours[0][k], 1.0f, copy, target, error));
        ORR_TRY(check_number("a colour of", look->colours[1][k], 1.0f, copy, target, error));
    }
    if (look->changes >= 2 * ORR_SURFACE_REFLECTANCE) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "copy %d, target %d: changes %u: expected at most %d", copy,
                        target, look->changes, 2 * ORR_SURFACE_REFLECTANCE - 1);
    }
    return ORR_OK;
}

static orr_result read(const orr_surfaces *s, const orr_eyes_surface *given, size_t size, int copy,
                       int target, orr_eyes_surface *look, orr_error *error)
{
    const size_t at = ((size_t)copy * (size_t)s->targets + (size_t)target) * size;
    ORR_TRY(orr_sized_read(look, sizeof *look, (const char *)given + at, size, "orr_eyes_surface", error));
    return check(s, look, copy, target, error);
}

// Draws what has changed of a copy.
static void draw_patterns(void *context, int copy, int worker)
{
    (void)worker;
    const orr_surfaces *s = context;
    for (int target = 0; target < s->targets; target++) {
        const size_t number = (size_t)copy * (size_t)s->targets + (size_t)target;
        const orr_eyes_surface *look = &s->now[number];
        if (s->stale[number] && is_drawn_pattern(look->pattern)) {
            const orr_image8 image = pattern_of(s, number);
            const int cells = look->cells > 0 ? look->cells : s->side / 2 < CELLS ? s->side / 2 : CELLS;
            orr_pattern_draw(look->pattern, cells, look->seed, look->colours, s->side, image.rgba);
            orr_mips_fill(&image);
        }
        s->stale[number] = false;
    }
}

orr_result orr_surfaces_set(orr_surfaces *s, const uint8_t *chosen, const orr_eyes_surface *given,
                            size_t size, orr_error *error)
{
    orr_eyes_surface look;
    for (int i = 0; i < s->copies * s->targets; i++) {
        if (!chosen || chosen[i / s->targets]) {
            ORR_TRY(read(s, given, size, i / s->targets, i % s->targets, &look, error));
        }
    }
    bool any = false;
    for (int copy = 0; copy < s->copies; copy++) {
        bool varied = false;
        for (int target = 0; target < s->targets && (!chosen || chosen[copy]); target++) {
            static const orr_eyes_surface plain;
            const size_t number = (size_t)copy * (size_t)s->targets + (size_t)target;
            ORR_TRY(read(s, given, size, copy, target, &look, error));
            s->stale[number] = memcmp(&look, &s->now[number], sizeof look) != 0;
            any |= s->stale[number];
            varied |= memcmp(&look, &plain, sizeof look) != 0;
            s->now[number] = look;
        }
        s->varied[copy] = !chosen || chosen[copy] ? varied : s->varied[copy];
    }
    if (any) {
        orr_jobs_for(s->scene->context.jobs, s->copies, draw_patterns, s);
    }
    return ORR_OK;
}
