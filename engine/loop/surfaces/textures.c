#include "engine/loop/surfaces/textures.h"

#include "engine/core/memory.h"

#include <string.h>

enum { SIDE_MAX = 32768 };

const char *varied_name(const orr_layer_data *robot, const char *name)
{
    const size_t length = strlen(robot->name);
    return name && strncmp(name, robot->name, length) == 0 && name[length] == '/' ? name + length + 1 : name;
}

static orr_result take_memory(const orr_eyes_texture *t, int number, orr_image8 *out, orr_error *error)
{
    if (t->width < 1 || t->height < 1 || t->width > SIDE_MAX || t->height > SIDE_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "texture %d: %d x %d pixels: expected 1 to %d on a side",
                        number, t->width, t->height, SIDE_MAX);
    }
    const size_t texels = (size_t)t->width * (size_t)t->height;
    uint8_t *rgba;
    ORR_ALLOC(rgba, 4 * texels, "a texture", error);
    for (size_t i = 0; i < texels; i++) {
        memcpy(rgba + 4 * i, t->rgb + 3 * i, 3);
    }
    *out = (orr_image8){t->width, t->height, rgba};
    return ORR_OK;
}

// Makes a picture opaque, and adds its mip chain.
static orr_result complete(orr_image8 *image, orr_error *error)
{
    for (size_t i = 0; i < (size_t)image->width * (size_t)image->height; i++) {
        image->rgba[4 * i + 3] = 255;
    }
    orr_mesh carrier = {.textures = image, .texture_count = 1};
    return orr_mesh_build_mips(&carrier, error);
}

static const orr_image8 *find_in_robot(const orr_layer_data *layer, const char *name)
{
    const orr_model *m = layer->kind == ORR_LAYER_ROBOT ? layer->robot->model : NULL;
    const int index = m ? orr_model_find(m, ORR_OBJECT_TEXTURE, varied_name(layer, name)) : -1;
    return index >= 0 && m->tex_type[index] == ORR_TEXTURE_2D ? &layer->robot->textures[index] : NULL;
}

static orr_result borrow(const orr_scene *scene, const orr_eyes_texture *t, int number, orr_image8 *out,
                         orr_error *error)
{
    const bool any = t->robot.slot == 0 && t->robot.generation == 0;
    const int named = any ? -1 : orr_scene_find(scene, t->robot);
    const orr_image8 *found = NULL;
    ORR_TRY(any || named >= 0 ? ORR_OK : orr_scene_stale(t->robot, error));
    for (int i = any ? 0 : named; i < (any ? scene->layer_count : named + 1) && !found; i++) {
        found = find_in_robot(&scene->layers[i], t->name);
    }
    if (!found) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "texture %d: expected a robot with a flat texture %s",
                        number, t->name);
    }
    *out = *found;
    return ORR_OK;
}

orr_result varied_textures_read(const orr_scene *scene, const orr_eyes_surfaces_desc *desc,
                                varied_textures *textures, orr_error *error)
{
    textures->list = orr_alloc_zero((size_t)desc->texture_count + 1, sizeof *textures->list);
    textures->borrowed = orr_alloc_zero((size_t)desc->texture_count + 1, sizeof *textures->borrowed);
    if (!textures->list || !textures->borrowed) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: textures");
    }
    for (int i = 0; i < desc->texture_count; i++) {
        const orr_eyes_texture *t = &desc->textures[i];
        orr_image8 *image = &textures->list[i];
        if ((t->path != NULL) + (t->rgb != NULL) + (t->name != NULL) != 1) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "texture %d: expected one of path, rgb and name", i);
        }
        textures->borrowed[i] = t->name != NULL;
        textures->count = i + 1; // what it holds is freed, whatever happens
        ORR_TRY(t->path  ? orr_image8_load(t->path, image, error)
                : t->rgb ? take_memory(t, i, image, error)
                         : borrow(scene, t, i, image, error));
        ORR_TRY(t->name ? ORR_OK : complete(image, error));
    }
    return ORR_OK;
}

void varied_textures_clear(varied_textures *textures)
{
    for (int i = 0; i < textures->count; i++) {
        if (!textures->borrowed[i]) {
            orr_image8_free(&textures->list[i]);
        }
    }
    orr_free(textures->list);
    orr_free(textures->borrowed);
}
