#include "engine/env/objects.h"

#include <string.h>

int env_objects_find(const env_objects *objects, orr_object kind, const char *name)
{
    const orr_model *m = objects->model;
    int found = name ? orr_model_find(m, kind, name) : -1;
    for (int i = 0; name && found < 0 && i < orr_model_count(m, kind); i++) {
        const char *full = orr_model_name(m, kind, i), *own = full ? strchr(full, '/') : NULL;
        found = own && strcmp(own + 1, name) == 0 ? i : found;
    }
    return found;
}

int env_objects_soft(const env_objects *objects, const char *name)
{
    int found = -1;
    for (int i = 0; name && i < objects->soft_count; i++) {
        const char *own = strrchr(objects->softs[i], '/'); // ROBOT/FLEX
        const bool whole = strcmp(objects->softs[i], name) == 0, part = own && strcmp(own + 1, name) == 0;
        found = whole || (part && found < 0) ? i : found;
    }
    return found;
}
