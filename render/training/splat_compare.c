// A photo beside the splats' picture of it.
#include "render/training/splat_trainer_state.h"

#include <math.h>
#include <string.h>

static bool is_learned(const orr_splat_trainer *t, int index)
{
    bool learned = false;
    for (int i = 0; i < t->desc.image_count; i++) {
        learned = learned || t->images[i] == index;
    }
    return learned;
}

// Where the left half is left out too; in the arena.
static orr_result right_half(const uint8_t *kept, int width, int height, orr_arena *arena,
                             const uint8_t **half, orr_error *error)
{
    uint8_t *made = orr_arena_take(arena, (size_t)width * (size_t)height, 1);
    if (!made) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a mask of %d x %d", width, height);
    }
    for (int64_t i = 0; i < (int64_t)width * height; i++) {
        made[i] = i % width >= width / 2 && (!kept || kept[i] != 0);
    }
    *half = made;
    return ORR_OK;
}

// Fills in the picture of a photo as it is to be compared.
static orr_result compose(orr_splat_trainer *t, int index, orr_arena *arena, orr_compose_job *c,
                          orr_error *error)
{
    float fitted[ORR_EXPOSURE];
    const bool learned = is_learned(t, index);
    if (t->grids && learned) {
        ORR_TRY(orr_splat_trainer_fetch_grids(t, error));
        c->grid = t->grids[index].value;
    } else if (t->desc.exposures && learned) {
        c->exposure = t->views[index].exposure;
    } else if (t->desc.exposures || t->grids) {
        orr_exposure_fit(c, fitted);
        c->exposure = fitted;
        ORR_TRY(right_half(c->mask, c->photo.width, c->photo.height, arena, &c->mask, error));
    }
    orr_result result = orr_picture_compose(t->desc.jobs, t->desc.isa, arena, c, error);
    c->exposure = NULL;
    return result;
}

orr_result orr_splat_trainer_compare(orr_splat_trainer *t, int index, int shrink, orr_arena *arena,
                                     orr_splat_comparison *out, orr_error *error)
{
    const orr_splat_photo *photo = &t->photos[index];
    const orr_lens lens = orr_splat_photo_lens(photo, shrink);
    const size_t pixels = (size_t)lens.width * (size_t)lens.height;
    orr_splat_drawing d;
    orr_profile unused = {0};
    ORR_TRY(orr_splat_trainer_fetch(t, error));
    ORR_TRY(orr_splat_trainer_draw(t, &lens, false, arena, &d, &unused, error));
    orr_compose_job c = {.rgba = d.rgba};
    memcpy(c.background, t->background, sizeof c.background);
    orr_splat_photo_picture taken;
    ORR_TRY(orr_splat_photo_take(photo, shrink, t->background, t->desc.jobs, arena, &taken, error));
    c.photo = taken.planes;
    c.mask = taken.kept;
    ORR_TRY(compose(t, index, arena, &c, error));
    *out = (orr_splat_comparison){.width = lens.width,
                                  .height = lens.height,
                                  .photo = orr_arena_take(arena, 3 * pixels, sizeof(float)),
                                  .drawn = orr_arena_take(arena, 3 * pixels, sizeof(float)),
                                  .mask = c.mask};
    if (!out->photo || !out->drawn) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture of %d x %d", lens.width,
                        lens.height);
    }
    for (int y = 0; y < lens.height; y++) {
        for (int x = 0; x < lens.width; x++) {
            for (int k = 0; k < 3; k++) {
                int64_t at = 3 * ((int64_t)y * lens.width + x) + k;
                out->photo[at] = orr_loss_row(&c.photo, k, y)[x];
                out->drawn[at] = fminf(fmaxf(orr_loss_row(&c.picture, k, y)[x], 0.0f), 1.0f);
            }
        }
    }
    return ORR_OK;
}
