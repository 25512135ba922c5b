// Splats that are the same for many frames: neither the camera nor the clouds move. They are projected,
// sorted and binned once, and blended once in front of the meshes that are there. A frame then blends splats
// only in the blocks of pixels where other surfaces show, with the same bits as without.
#pragma once

#include "render/cpu/splats_cpu.h"

// ORR_ERROR_MEMORY. It holds nothing yet.
orr_result orr_kept_splats_create(orr_kept_splats **kept, orr_error *error);
void orr_kept_splats_destroy(orr_kept_splats *kept);

// Are the list's splats those that it holds? Not with more than 8 clouds or 4 million splats, a deformed
// cloud, or no_reuse.
bool orr_kept_splats_are(const orr_kept_splats *kept, const orr_draw_list *list);

// Called for each list before it is drawn: how many lists in a row have had these splats, while it does not
// hold them; 0: it does, or cannot. Holding them costs about as much as drawing them twice.
int orr_kept_splats_repeats(orr_kept_splats *kept, const orr_draw_list *list);

// Holds the list's splats, in place of others: some 100 bytes for each that is in the clouds, 4 for each
// block of 4 x 4 pixels that one reaches, and 32 for each pixel. Nothing may draw with it meanwhile.
orr_result orr_kept_splats_hold(orr_kept_splats *kept, orr_jobs *jobs, orr_isa isa, const orr_draw_list *list,
                                orr_error *error);

// Of those that it holds: what orr_splats_find found, and what the blend kernel kept of a tile.
const orr_cpu_splats *orr_kept_splats_found(const orr_kept_splats *kept);
const orr_kept_tile *orr_kept_splats_tile(const orr_kept_splats *kept, int tile);
