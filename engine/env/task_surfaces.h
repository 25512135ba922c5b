// Looks of surfaces that a task file draws for each episode ("randomise"; docs/task-file.md).
#pragma once

#include "engine/core/json.h"
#include "engine/env/objects.h"
#include "engine/env/task.h"

typedef struct env_surfaces {
    orr_eyes_target *target; // target_count; of all entries, one after the other
    orr_eyes_texture *texture;
    struct env_surface *list; // count: entries
    char **text;              // text_count: names and paths, which targets and textures refer to
    int target_count, texture_count, count, text_count;
    int target_capacity, texture_capacity, list_capacity, text_capacity;
} env_surfaces;

// Is this entry of "randomise" one of surfaces?
bool env_surfaces_has(const orr_json *json);
// Adds an entry. It is cleared by the caller, whatever happens.
orr_result env_surfaces_read(const orr_json *json, const env_objects *objects, env_surfaces *surfaces,
                             orr_error *error);
void env_surfaces_clear(env_surfaces *surfaces);
orr_eyes_surfaces_desc env_surfaces_desc(const env_surfaces *surfaces);
// surface: target_count, which are written.
void env_surfaces_draw(const env_surfaces *surfaces, env_noise *noise, orr_eyes_surface *surface);
