// Tests of neural/metrics against scikit-image (tests/golden/ssim.py).
#include "engine/image/metrics.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 53, HEIGHT = 37, VALUES = WIDTH * HEIGHT * 3 };

static void ssim_and_psnr_are_those_of_scikit_image(void **state)
{
    (void)state;
    static const double golden[3][2] = {
        {0.6757152963, 12.5782323838},
        {0.7969007465, 16.2034934595},
        {-0.9816257509, 4.6546825821},
    };
    static float a[VALUES], b[3][VALUES];
    for (int y = 0, i = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            for (int c = 0; c < 3; c++, i++) {
                int v = x * 7 + y * 13 + c * 5 + x * y;
                a[i] = (float)(v % 64 / 63.0);
                b[0][i] = (float)((v + (x * x + 3 * y) % 9) % 64 / 63.0);
                b[1][i] = 0.5f * a[i] + 0.2f;
                b[2][i] = 1.0f - a[i];
            }
        }
    }
    for (int threads = 1; threads <= 2; threads++) {
        orr_jobs *jobs;
        assert_ok(orr_jobs_create(threads, NULL, NULL, &jobs, &error));
        for (int n = 0; n < 3; n++) {
            double ssim;
            assert_ok(orr_ssim(a, b[n], NULL, WIDTH, HEIGHT, 3, jobs, &ssim, &error));
            assert_true(fabs(ssim - golden[n][0]) < 2e-6); // float moments
            assert_true(fabs(orr_psnr(a, b[n], VALUES) - golden[n][1]) < 1e-5);
        }
        double one, none;
        assert_ok(orr_ssim(a, a, NULL, WIDTH, HEIGHT, 3, jobs, &one, &error));
        assert_true(fabs(one - 1.0) < 1e-12);
        assert_int_equal(orr_ssim(a, a, NULL, 10, 37, 3, jobs, &none, NULL), ORR_ERROR_ARGUMENT);
        orr_jobs_destroy(jobs);
    }
    assert_true(isinf(orr_psnr(a, a, VALUES)));
}

// What the mask leaves out may be anything: the means are those of the rest alone.
static void a_mask_leaves_pixels_out_of_ssim(void **state)
{
    (void)state;
    static float a[VALUES], b[VALUES];
    static uint8_t mask[WIDTH * HEIGHT];
    for (int i = 0; i < VALUES; i++) {
        int x = i / 3 % WIDTH;
        a[i] = (float)(i * 7 % 64) / 63.0f;
        b[i] = x < 20 ? 1.0f - a[i] : a[i];
        mask[i / 3] = x >= 25 ? 255 : 0; // windows reach 5 pixels to the left
    }
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    double masked, all, none;
    assert_ok(orr_ssim(a, b, mask, WIDTH, HEIGHT, 3, jobs, &masked, &error));
    assert_ok(orr_ssim(a, b, NULL, WIDTH, HEIGHT, 3, jobs, &all, &error));
    assert_true(fabs(masked - 1.0) < 1e-12 && all < 0.7);
    memset(mask, 0, sizeof mask);
    assert_ok(orr_ssim(a, b, mask, WIDTH, HEIGHT, 3, jobs, &none, &error));
    assert_true(none == 1.0);
    orr_jobs_destroy(jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ssim_and_psnr_are_those_of_scikit_image),
                                       cmocka_unit_test(a_mask_leaves_pixels_out_of_ssim)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
