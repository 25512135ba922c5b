#include "tests/training/lens_scores.h"

#include "render/training/splat_trainer_state.h"
#include "tests/support/support.h"

lens_score score_beside(orr_splat_trainer *trainer, const orr_capture *photos, orr_splat_lenses lenses,
                        const int *images, int count)
{
    lens_score score = {0.0, 0.0};
    orr_splat_photo *own = trainer->photos;
    const orr_splat_trainer_desc *desc = &trainer->desc;
    assert_int_equal(photos->count, desc->capture->count);
    assert_ok(orr_splat_photos_create(photos, desc->masks, lenses, desc->jobs, &trainer->photos, &error));
    for (int i = 0; i < count; i++) {
        orr_arena arena = {0};
        orr_splat_comparison seen;
        double psnr, ssim;
        assert_ok(orr_splat_trainer_compare(trainer, images[i], 1, &arena, &seen, &error));
        assert_ok(orr_splat_comparison_score(&seen, desc->jobs, &psnr, &ssim, &error));
        score.psnr += psnr / count;
        score.ssim += ssim / count;
        orr_arena_destroy(&arena);
    }
    orr_splat_photos_destroy(trainer->photos, photos->count);
    trainer->photos = own;
    return score;
}
