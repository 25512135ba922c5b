// The materials of .obj files.
#pragma once

#include "engine/core/memory.h"
#include "engine/mesh/mesh_reader.h"

// Base colour of faces without a material, and of materials without Kd.
#define ORR_OBJ_GREY 0.6f

typedef struct orr_obj_material {
    const char *name;
    int material;
} orr_obj_material;

typedef struct orr_obj_materials {
    orr_obj_material *list; // by name
    int count, room;
    orr_arena names;
} orr_obj_materials;

// Adds those of a .mtl file; of those with one name the first counts. `text` ends with a zero byte.
orr_result orr_obj_read_mtl(orr_mesh_reader *reader, const char *name, const orr_bytes *text,
                            orr_obj_materials *materials);
