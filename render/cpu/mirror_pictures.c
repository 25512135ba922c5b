#include "render/cpu/mirror_pictures.h"

#include "render/cpu/splats_cpu.h"

static orr_result draw_picture(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                               orr_mirror_picture *picture, orr_error *error)
{
    const size_t pixels = (size_t)list->lens.width * (size_t)list->lens.height;
    float *rgba = orr_arena_take(arena, pixels, 4 * sizeof *rgba);
    if (!rgba) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a mirror's picture of %zu pixels",
                        pixels);
    }
    orr_profile profile; // the whole counts as one stage of the frame's
    orr_draw_list seen = *list;
    orr_mirror_lens(&picture->mirror, &list->lens, &seen.lens);
    seen.mirrors = false;
    seen.left_out_mesh = picture->mirror.mesh + 1;
    seen.left_out_part = picture->mirror.part;
    seen.backdrop.mesh = NULL;
    seen.haze = (orr_draw_haze){0}; // it is before the mirror
    seen.opaque = list->opaque && list->environment_behind;
    ORR_TRY(orr_draw_cpu(jobs, isa, arena, &seen, NULL, &(orr_picture){.rgba = rgba}, NULL, &profile, error));
    picture->rgba = rgba;
    return ORR_OK;
}

orr_result orr_mirror_pictures_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                                    orr_mirror_pictures *pictures, orr_error *error)
{
    orr_mirror found[ORR_MIRRORS];
    pictures->count = 0;
    const int count = list->mirrors && !list->lens.distorted ? orr_mirrors_find(list, found) : 0;
    for (int i = 0; i < count; i++) {
        pictures->items[i].mirror = found[i];
        ORR_TRY(draw_picture(jobs, isa, arena, list, &pictures->items[i], error));
        pictures->count++;
    }
    return ORR_OK;
}

const orr_mirror_picture *orr_mirror_pictures_of(const orr_mirror_pictures *pictures, int mesh, int part)
{
    for (int i = 0; pictures && i < pictures->count; i++) {
        const orr_mirror_picture *picture = &pictures->items[i];
        if (picture->mirror.mesh == mesh && picture->mirror.part == part) {
            return picture;
        }
    }
    return NULL;
}
