// What the numbers of a task are of: elements of a model, soft bodies beside it, and pads on its geoms.
#pragma once

#include "physics/model/model.h"

typedef struct env_objects {
    const orr_model *model;
    const char *const *softs; // names of soft bodies; soft_count
    int soft_count;
    const struct env_pads *pads; // NULL: none
} env_objects;

// An element's number by its name, -1: there is none. Names of a scene begin with their layer's
// ("arm/elbow"); without it a name is that of the first layer that has it.
int env_objects_find(const env_objects *objects, orr_object kind, const char *name);
int env_objects_soft(const env_objects *objects, const char *name);
