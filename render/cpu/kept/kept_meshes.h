// Opaque meshes that are the same for many frames of a camera that stands still: the first of a list, up to
// the one that moved last. They are rasterised and shaded once; a frame then draws the others over them, with
// the same bits. Only where nothing that moves can change their light: without shadows, mirrors, occlusion,
// environments, rays and smooth edges.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "render/draw.h"

// What they show, in planes of height x width, with ORR_KEPT_MESH_PADDING more that vectors read and write
// past the last.
enum { ORR_KEPT_MESH_PADDING = 64 };
typedef struct orr_kept_meshes_picture {
    int count;       // of the list's meshes
    float *nearness; // as tiles have it (mesh_triangle.h)
    int32_t *record; // ORR_KEPT_MESH where one is seen; -1: none
    float *rgb;      // 3 x height x width: as of orr_mesh_picture
} orr_kept_meshes_picture;
enum { ORR_KEPT_MESH = -2 };

typedef struct orr_kept_meshes orr_kept_meshes;

// ORR_ERROR_MEMORY. It holds nothing yet.
orr_result orr_kept_meshes_create(orr_kept_meshes **kept, orr_error *error);
void orr_kept_meshes_destroy(orr_kept_meshes *kept); // NULL is allowed

// Called for each list before it is drawn. Returns how many lists in a row have been alike but for meshes
// after those that stand still, while it does not hold these; 0: it does, or cannot.
orr_result orr_kept_meshes_repeats(orr_kept_meshes *kept, const orr_draw_list *list, int *repeats,
                                   orr_error *error);

// How many of the list's first meshes have stood still in the lists in a row that had its lens; all of them
// where the list before had another.
int orr_kept_meshes_still(const orr_kept_meshes *kept, const orr_draw_list *list);

// Holds the meshes that stand still, in place of others. Nothing may draw with it meanwhile.
orr_result orr_kept_meshes_hold(orr_kept_meshes *kept, orr_jobs *jobs, orr_isa isa, const orr_draw_list *list,
                                orr_error *error);

// What it holds of the list; NULL: nothing that can be used for it.
const orr_kept_meshes_picture *orr_kept_meshes_picture_of(const orr_kept_meshes *kept,
                                                          const orr_draw_list *list);
