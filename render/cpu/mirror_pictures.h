// What the mirrors of a frame show, drawn by the CPU.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "render/mirror.h"

typedef struct orr_mirror_picture {
    orr_mirror mirror;
    const float *rgba; // height x width x 4 as the mirrored camera sees it, premultiplied, display-referred
} orr_mirror_picture;

typedef struct orr_mirror_pictures {
    orr_mirror_picture items[ORR_MIRRORS]; // count
    int count;
} orr_mirror_pictures;

// The pictures of the list's mirrors, in the arena: meshes, splats and fields, and the environment that is
// behind everything, but no sky and no background. Mirrors in mirrors show their own light alone.
orr_result orr_mirror_pictures_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                                    orr_mirror_pictures *pictures, orr_error *error);

// That of a part of a mesh of the list; NULL: it shows none.
const orr_mirror_picture *orr_mirror_pictures_of(const orr_mirror_pictures *pictures, int mesh, int part);
