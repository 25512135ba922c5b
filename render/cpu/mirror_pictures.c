#include "render/cpu/mirror_pictures.h"

#include "render/cpu/kept/kept_view.h"

static orr_result draw_picture(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                               const orr_kept_view *kept, orr_mirror_picture *picture, orr_error *error)
{
    const size_t pixels = (size_t)list->lens.width * (size_t)list->lens.height;
    float *rgba = orr_arena_take(arena, pixels, 4 * sizeof *rgba);
    if (!rgba) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a mirror's picture of %zu pixels",
                        pixels);
    }
    orr_profile profile; // the whole counts as one stage of the frame's
    const orr_draw_list seen = orr_mirror_list(&picture->mirror, list);
    ORR_TRY(orr_draw_cpu(jobs, isa, arena, &seen, kept, &(orr_picture){.rgba = rgba}, NULL, &profile, error));
    picture->rgba = rgba;
    return ORR_OK;
}

orr_result orr_mirror_pictures_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                                    const orr_kept_view *kept, orr_mirror_pictures *pictures,
                                    orr_error *error)
{
    orr_mirror found[ORR_MIRRORS];
    pictures->count = 0;
    const int count = orr_mirrors_find(list, found);
    for (int i = 0; i < count; i++) {
        pictures->items[i].mirror = found[i];
        ORR_TRY(
            draw_picture(jobs, isa, arena, list, orr_kept_view_mirror(kept, i), &pictures->items[i], error));
        pictures->count++;
    }
    return ORR_OK;
}
