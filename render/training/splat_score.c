#include "engine/image/metrics.h"
#include "render/training/splat_trainer.h"

#include <math.h>

orr_result orr_splat_comparison_score(const orr_splat_comparison *c, orr_jobs *jobs, double *psnr,
                                      double *ssim, orr_error *error)
{
    const int64_t pixels = (int64_t)c->width * c->height;
    int64_t kept = 0;
    for (int64_t i = 0; i < pixels; i++) {
        kept += !c->mask || c->mask[i];
        for (int k = 0; k < 3; k++) { // as a file would have it
            c->drawn[3 * i + k] =
                c->mask && !c->mask[i] ? c->photo[3 * i + k] : roundf(255.0f * c->drawn[3 * i + k]) / 255.0f;
        }
    }
    // differences are 0 where the mask leaves out: they are in the mean of all, not in that of the rest
    *psnr = orr_psnr(c->drawn, c->photo, 3 * pixels);
    if (kept > 0 && kept < pixels) {
        *psnr += 10.0 * log10((double)kept / (double)pixels);
    }
    return orr_ssim(c->drawn, c->photo, c->mask, c->width, c->height, 3, jobs, ssim, error);
}
