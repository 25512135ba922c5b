// What is the same for many frames of a camera that stands still, and of its mirrors: splats, while neither
// the camera nor the clouds move, and opaque meshes (kept_meshes.h). Splats are projected, sorted and binned
// once, and blended once in front of the meshes that stand still. A frame then blends splats only in pixels
// where other surfaces show, with the same bits as without.
#pragma once

#include "render/cpu/kept/kept_meshes.h"
#include "render/cpu/splats_cpu.h"

// ORR_ERROR_MEMORY. It holds nothing yet.
orr_result orr_kept_view_create(orr_kept_view **kept, orr_error *error);
void orr_kept_view_destroy(orr_kept_view *kept); // NULL is allowed

// Are the list's splats those that it holds? Not with more than 8 clouds or 4 million splats, a deformed
// cloud, or no_reuse.
bool orr_kept_view_has_splats(const orr_kept_view *kept, const orr_draw_list *list);

// Called for each list before it is drawn: how many lists in a row have been alike in something that it could
// hold and does not; 0: there is nothing. Holding splats costs about as much as drawing them twice.
orr_result orr_kept_view_repeats(orr_kept_view *kept, const orr_draw_list *list, int *repeats,
                                 orr_error *error);

// Holds what of the list stands still, in place of others: some 100 bytes for each splat that is in the
// clouds, 4 for each block of 4 x 4 pixels that one reaches, and 60 for each pixel; for each mirror as much
// again. Nothing may draw with it meanwhile.
orr_result orr_kept_view_hold(orr_kept_view *kept, orr_jobs *jobs, orr_isa isa, const orr_draw_list *list,
                              orr_error *error);

// Of those that it holds: what orr_splats_find found, and what the blend kernel kept of a tile.
const orr_cpu_splats *orr_kept_view_splats(const orr_kept_view *kept);
const orr_kept_tile *orr_kept_view_tile(const orr_kept_view *kept, int tile);

// What it holds of a list's meshes, and for what its mirror of that number shows; NULL: nothing. kept:
// nullable.
const orr_kept_meshes_picture *orr_kept_view_meshes(const orr_kept_view *kept, const orr_draw_list *list);
const orr_kept_view *orr_kept_view_mirror(const orr_kept_view *kept, int mirror);
