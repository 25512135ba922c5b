// Meshes drawn by the CPU: depth and display colour of the nearest surface of each pixel.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "render/cloud_shadow/cloud_shadow_maps.h"
#include "render/cpu/kept/kept_meshes.h"
#include "render/cpu/mirror_pictures.h"
#include "render/cpu/occlusion_map.h"
#include "render/cpu/seen.h"
#include "render/cpu/shadow_maps.h"

// Colour of surfaces that start no rays, where the list says that only those that do have colours.
#define ORR_NOT_TRACED (-1.0f)

// Memory of the caller; pixel (x, y) is at y * width + x, rows from the top.
typedef struct orr_mesh_picture {
    float *depth;   // height x width, z along the camera's axis; +INFINITY: no mesh
    float *rgb;     // 3 x height x width: a plane of red, one of green, one of blue; display-referred; where
                    // there is no mesh 0, or the backdrop. NULL: only depth, and nothing of the rest
    int32_t *item;  // height x width: which of list->meshes is nearest, of opaque surfaces; -1: none.
                    // NULL: nobody asks
    float *normals; // height x width x 3, of the centre's surface: unit, in the camera's space, interpolated,
                    // on the side that is seen; 0: none. NULL: nobody asks
    float *flow;    // height x width x 2, of the same point, as orr_seen says. NULL: nobody asks
    const orr_before *before;           // of `flow`; NULL: nothing is known
    const orr_occlusion_map *occlusion; // of what is drawn; NULL: nothing is occluded
    const orr_cloud_shadows *clouds;    // that fall on it; NULL: none
    const orr_mirror_pictures *mirrors; // of what is drawn; NULL: nothing mirrors
    orr_edge_list *edges; // NULL: edges are not anti-aliased. In pixels of the list, `depth` is that of the
                          // farthest sample and `rgb` 0 or the backdrop; `item` stays that of the centre
    // Without edges, item, normals and flow. What was kept of the list's first meshes and the backdrop, which
    // are not drawn; what takes that down. NULL: nothing
    const orr_kept_meshes_picture *kept;
    const orr_kept_meshes_picture *keep;
} orr_mesh_picture;

typedef struct orr_mesh_counts {
    int64_t triangles; // in the list
    int64_t drawn;     // left after culling, cut at the view's edges where needed
} orr_mesh_counts;

// Draws list->meshes and the backdrop, without splats and sky: opaque surfaces into the picture's planes,
// transparent ones in front of them into `fragments`, which is allocated in the arena as all scratch is.
// shadows: what falls on them; NULL: nothing. The bits are the same for any number of workers. Of surfaces at
// equal depth the first in the list wins. Nothing nearer than the near plane or farther than the far plane is
// drawn. ORR_ERROR_MEMORY, or ORR_ERROR_ARGUMENT for more than 2^31 - 1 triangles; `counts` may be NULL.
orr_result orr_mesh_raster(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                           const orr_shadow_maps *shadows, orr_mesh_picture picture,
                           orr_fragment_lists *fragments, orr_mesh_counts *counts, orr_error *error);
