#include "engine/env/task_surfaces.h"

#include "engine/core/file.h"
#include "engine/core/folder.h"
#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

enum { TARGETS_MAX = 1024, TEXTURES_MAX = 4096, PATTERNS = 4, CELLS_MAX = 32, FINISHES = 6 };

// Numbers of a material that are drawn between two bounds, in the order of orr_eyes_surface.
static const struct {
    const char *name;
    unsigned change;
    double most;
} finishes[FINISHES] = {
    {"emission", ORR_SURFACE_EMISSION, 1000.0}, {"specular", ORR_SURFACE_SPECULAR, 1.0},
    {"shininess", ORR_SURFACE_SHININESS, 1.0},  {"metallic", ORR_SURFACE_METALLIC, 1.0},
    {"roughness", ORR_SURFACE_ROUGHNESS, 1.0},  {"reflectance", ORR_SURFACE_REFLECTANCE, 1.0}};

typedef struct env_surface {
    int targets; // that follow those of the entries before
    bool each;   // every one of them is drawn, not one for all
    orr_pattern pattern[PATTERNS];
    int patterns;
    int first_texture, textures; // of the entry
    double low[3], high[3];      // of the colours of patterns
    bool has_colour;
    double colour_low[3], colour_high[3];
    int cells[2];
    unsigned changes;
    double finish[FINISHES][2];
} env_surface;

// ---- drawing ----

static float draw_between(env_noise *noise, double low, double high)
{
    return (float)env_uniform(noise, low, high);
}

static int draw_whole(env_noise *noise, int low, int high)
{
    const int number = low + (int)env_uniform(noise, 0.0, (double)(high - low) + 1.0);
    return number < high ? number : high;
}

// Takes as many random numbers whatever they say.
static orr_eyes_surface draw_surface(const env_surface *e, env_noise *noise)
{
    orr_eyes_surface surface = {.changes = e->changes | (e->has_colour ? ORR_SURFACE_COLOUR : 0)};
    const int choices = e->patterns + e->textures, chosen = draw_whole(noise, 0, choices - 1);
    if (choices > 0) {
        surface.pattern = chosen < e->patterns ? e->pattern[chosen] : ORR_PATTERN_PICTURE;
        surface.picture = chosen < e->patterns ? 0 : e->first_texture + chosen - e->patterns;
    }
    surface.cells = draw_whole(noise, e->cells[0], e->cells[1]);
    surface.seed = (uint32_t)env_uniform(noise, 0.0, 4294967296.0);
    for (int k = 0; k < 3; k++) {
        surface.colours[0][k] = draw_between(noise, e->low[k], e->high[k]);
        surface.colours[1][k] = draw_between(noise, e->low[k], e->high[k]);
        surface.colour[k] = draw_between(noise, e->colour_low[k], e->colour_high[k]);
    }
    float *const numbers[FINISHES] = {&surface.emission, &surface.specular,  &surface.shininess,
                                      &surface.metallic, &surface.roughness, &surface.reflectance};
    for (int i = 0; i < FINISHES; i++) {
        *numbers[i] = draw_between(noise, e->finish[i][0], e->finish[i][1]);
    }
    return surface;
}

void env_surfaces_draw(const env_surfaces *s, env_noise *noise, orr_eyes_surface *surface)
{
    for (int i = 0; i < s->count; i++) {
        for (int k = 0; k < s->list[i].targets; k++, surface++) {
            *surface = k == 0 || s->list[i].each ? draw_surface(&s->list[i], noise) : surface[-1];
        }
    }
}

orr_eyes_surfaces_desc env_surfaces_desc(const env_surfaces *s)
{
    return (orr_eyes_surfaces_desc){.targets = s->target,
                                    .target_count = s->target_count,
                                    .textures = s->texture,
                                    .texture_count = s->texture_count};
}

// ---- reading ----

static bool is_of_materials(const orr_json *json)
{
    const cJSON *of = cJSON_GetObjectItemCaseSensitive(json->node, "of");
    return cJSON_IsString(of) && strcmp(of->valuestring, "material_surface") == 0;
}

bool env_surfaces_has(const orr_json *json)
{
    const cJSON *of = cJSON_GetObjectItemCaseSensitive(json->node, "of");
    return is_of_materials(json) || (cJSON_IsString(of) && strcmp(of->valuestring, "geom_surface") == 0);
}

// Keeps a text, which is freed with the surfaces; takes it, on failure too.
static orr_result keep(env_surfaces *s, char *text, const char **kept, orr_error *error)
{
    if (!text) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a task");
    }
    void *room = orr_grown(s->text, &s->text_capacity, s->text_count + 1, sizeof *s->text);
    if (!room) {
        orr_free(text);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a task");
    }
    s->text = room;
    s->text[s->text_count++] = text;
    *kept = text;
    return ORR_OK;
}

static char *copy_of(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = orr_alloc(size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

typedef orr_result add_text(const orr_json *json, const env_objects *objects, env_surfaces *s,
                            const char *text, orr_error *error);

// A text, or a list of some. Returns how many there are in *count; absent: 0.
static orr_result read_texts(const orr_json *json, const char *key, const env_objects *objects,
                             env_surfaces *s, add_text *add, int *count, orr_error *error)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(json->node, key);
    const cJSON *one = cJSON_IsArray(node) ? node->child : node;
    *count = 0;
    if (node && !one) {
        return orr_json_expected(json, key, error, "a text, or a list of some");
    }
    for (; one; one = cJSON_IsArray(node) ? one->next : NULL) {
        if (!cJSON_IsString(one)) {
            return orr_json_expected(json, key, error, "a text, or a list of some");
        }
        ORR_TRY(add(json, objects, s, one->valuestring, error));
        ++*count;
    }
    return ORR_OK;
}

static orr_result add_target(const orr_json *json, const env_objects *objects, env_surfaces *s,
                             const char *text, orr_error *error)
{
    const bool material = is_of_materials(json);
    const char *name = NULL;
    if (text) {
        if (env_objects_find(objects, material ? ORR_OBJECT_MATERIAL : ORR_OBJECT_GEOM, text) < 0) {
            return orr_json_expected(json, "name", error, "names of %s of this robot, which has no %s",
                                     material ? "materials" : "geoms", text);
        }
        ORR_TRY(keep(s, copy_of(text), &name, error));
    }
    if (s->target_count >= TARGETS_MAX) {
        return orr_json_expected(json, NULL, error, "at most %d surfaces that vary", TARGETS_MAX);
    }
    ORR_GROW(s->target, s->target_capacity, s->target_count + 1, "a task", error);
    s->target[s->target_count++] =
        (orr_eyes_target){.geom = material ? NULL : name, .material = material ? name : NULL};
    return ORR_OK;
}

static orr_result add_texture(const orr_json *json, env_surfaces *s, orr_eyes_texture texture,
                              orr_error *error)
{
    if (s->texture_count >= TEXTURES_MAX) {
        return orr_json_expected(json, NULL, error, "at most %d pictures and textures", TEXTURES_MAX);
    }
    ORR_GROW(s->texture, s->texture_capacity, s->texture_count + 1, "a task", error);
    s->texture[s->texture_count++] = texture;
    return ORR_OK;
}

static orr_result add_picture(const orr_json *json, const env_objects *objects, env_surfaces *s,
                              const char *text, orr_error *error)
{
    (void)objects;
    const char *path;
    ORR_TRY(keep(s, orr_path_beside(json->file, text), &path, error));
    if (!orr_path_is_file(path)) {
        return orr_json_expected(json, "picture", error, "pictures beside this file, there is no %s", path);
    }
    return add_texture(json, s, (orr_eyes_texture){.path = path}, error);
}

static orr_result add_own_texture(const orr_json *json, const env_objects *objects, env_surfaces *s,
                                  const char *text, orr_error *error)
{
    const char *name;
    // in a scene robots are joined without textures: orr_eyes_vary_surfaces finds them in the robots
    if (objects->model->ntex > 0 && env_objects_find(objects, ORR_OBJECT_TEXTURE, text) < 0) {
        return orr_json_expected(json, "texture", error, "names of textures of this robot, which has no %s",
                                 text);
    }
    ORR_TRY(keep(s, copy_of(text), &name, error));
    return add_texture(json, s, (orr_eyes_texture){.name = name}, error);
}

static orr_result add_pattern(const orr_json *json, const env_objects *objects, env_surfaces *s,
                              const char *text, orr_error *error)
{
    static const char *const names[PATTERNS] = {"flat", "checker", "gradient", "noise"};
    (void)objects;
    env_surface *e = &s->list[s->count - 1];
    for (int i = 0; i < PATTERNS; i++) {
        if (strcmp(text, names[i]) == 0 && e->patterns < PATTERNS) {
            e->pattern[e->patterns++] = (orr_pattern)(ORR_PATTERN_FLAT + i);
            return ORR_OK;
        }
    }
    return orr_json_expected(json, "pattern", error, "some of flat, checker, gradient and noise");
}

// Bounds of the red, green and blue of a display colour.
static orr_result read_colours(const orr_json *json, const char *key, double low[3], double high[3],
                               orr_error *error)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(json->node, key);
    const cJSON *rows[2] = {node ? node->child : NULL, node && node->child ? node->child->next : NULL};
    bool fits = cJSON_IsArray(node) && cJSON_GetArraySize(node) == 2;
    for (int i = 0; i < 2 && fits; i++) {
        fits = cJSON_IsArray(rows[i]) && cJSON_GetArraySize(rows[i]) == 3;
        for (int k = 0; k < 3 && fits; k++) {
            const cJSON *number = cJSON_GetArrayItem(rows[i], k);
            fits = cJSON_IsNumber(number) && number->valuedouble >= 0.0 && number->valuedouble <= 1.0;
            (i ? high : low)[k] = number->valuedouble;
        }
    }
    for (int k = 0; k < 3 && fits; k++) {
        fits = low[k] <= high[k];
    }
    return fits ? ORR_OK
                : orr_json_expected(json, key, error,
                                    "[LOW, HIGH] of three numbers each, 0 to 1, with LOW <= HIGH");
}

static orr_result read_numbers(const orr_json *json, env_surface *e, orr_error *error)
{
    double cells[2] = {2.0, 8.0};
    for (int k = 0; k < 3; k++) {
        e->high[k] = 1.0;
    }
    if (orr_json_has(json, "colours")) {
        ORR_TRY(read_colours(json, "colours", e->low, e->high, error));
    }
    e->has_colour = orr_json_has(json, "colour");
    if (e->has_colour) {
        ORR_TRY(read_colours(json, "colour", e->colour_low, e->colour_high, error));
    }
    ORR_TRY(orr_json_numbers(json, "cells", 2, cells, error));
    for (int i = 0; i < 2; i++) {
        if (!(cells[i] >= 1.0 && cells[i] <= CELLS_MAX && cells[i] == floor(cells[i]) &&
              cells[0] <= cells[1])) {
            return orr_json_expected(json, "cells", error, "[LOW, HIGH], whole numbers, 1 to %d", CELLS_MAX);
        }
        e->cells[i] = (int)cells[i];
    }
    for (int i = 0; i < FINISHES; i++) {
        if (orr_json_has(json, finishes[i].name)) {
            ORR_TRY(orr_json_numbers(json, finishes[i].name, 2, e->finish[i], error));
            if (!(e->finish[i][0] >= 0.0 && e->finish[i][0] <= e->finish[i][1] &&
                  e->finish[i][1] <= finishes[i].most)) {
                return orr_json_expected(json, finishes[i].name, error, "0 <= LOW <= HIGH <= %g",
                                         finishes[i].most);
            }
            e->changes |= finishes[i].change;
        }
    }
    return ORR_OK;
}

// Without names: all geoms are one surface; of materials, every one that has a name.
static orr_result read_targets(const orr_json *json, const env_objects *objects, env_surfaces *s,
                               env_surface *e, orr_error *error)
{
    ORR_TRY(read_texts(json, "name", objects, s, add_target, &e->targets, error));
    if (e->targets > 0) {
        return ORR_OK;
    }
    if (!is_of_materials(json)) {
        e->targets = 1;
        return e->each ? orr_json_expected(json, "name", error, "geoms, of which each is drawn")
                       : add_target(json, objects, s, NULL, error);
    }
    for (int i = 0; i < orr_model_count(objects->model, ORR_OBJECT_MATERIAL); i++) {
        const char *name = orr_model_name(objects->model, ORR_OBJECT_MATERIAL, i);
        if (name && *name) {
            ORR_TRY(add_target(json, objects, s, name, error));
            e->targets++;
        }
    }
    return e->targets > 0 ? ORR_OK : orr_json_expected(json, NULL, error, "a robot that has materials");
}

orr_result env_surfaces_read(const orr_json *json, const env_objects *objects, env_surfaces *s,
                             orr_error *error)
{
    static const char *const keys[] = {
        "of",     "name",     "each",     "pattern",   "picture",  "texture",   "colours",     "cells",
        "colour", "emission", "specular", "shininess", "metallic", "roughness", "reflectance", NULL};
    int patterns, pictures, textures;
    ORR_TRY(orr_json_check_keys(json, keys, error));
    ORR_GROW(s->list, s->list_capacity, s->count + 1, "a task", error);
    env_surface *e = &s->list[s->count++];
    *e = (env_surface){.first_texture = s->texture_count};
    ORR_TRY(orr_json_bool(json, "each", &e->each, error));
    ORR_TRY(read_targets(json, objects, s, e, error));
    ORR_TRY(read_texts(json, "pattern", objects, s, add_pattern, &patterns, error));
    ORR_TRY(read_texts(json, "picture", objects, s, add_picture, &pictures, error));
    ORR_TRY(read_texts(json, "texture", objects, s, add_own_texture, &textures, error));
    e->textures = pictures + textures;
    ORR_TRY(read_numbers(json, e, error));
    if (patterns + e->textures == 0 && e->changes == 0 && !e->has_colour) {
        return orr_json_expected(json, NULL, error,
                                 "pattern, picture, texture, colour or a number of materials");
    }
    return ORR_OK;
}

void env_surfaces_clear(env_surfaces *s)
{
    for (int i = 0; i < s->text_count; i++) {
        orr_free(s->text[i]);
    }
    orr_free(s->text);
    orr_free(s->target);
    orr_free(s->texture);
    orr_free(s->list);
}
