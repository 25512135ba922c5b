// What the mirrors of a frame show, drawn by the CPU.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "render/mirror/mirror.h"

struct orr_kept_view;

// The pictures of the list's mirrors (orr_mirror_list), in the arena. kept, nullable: of the list
// (kept_view.h).
orr_result orr_mirror_pictures_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                                    const struct orr_kept_view *kept, orr_mirror_pictures *pictures,
                                    orr_error *error);
