// Tests of neural/metrics against scikit-image (tests/golden/ssim.py).
#include "engine/image/metrics.h"
#include "tests/support/support.h"

#include <math.h>

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
            assert_ok(orr_ssim(a, b[n], WIDTH, HEIGHT, 3, jobs, &ssim, &error));
            assert_true(fabs(ssim - golden[n][0]) < 2e-6); // float moments
            assert_true(fabs(orr_psnr(a, b[n], VALUES) - golden[n][1]) < 1e-5);
        }
        double one, none;
        assert_ok(orr_ssim(a, a, WIDTH, HEIGHT, 3, jobs, &one, &error));
        assert_true(fabs(one - 1.0) < 1e-12);
        assert_int_equal(orr_ssim(a, a, 10, 37, 3, jobs, &none, NULL), ORR_ERROR_ARGUMENT);
        orr_jobs_destroy(jobs);
    }
    assert_true(isinf(orr_psnr(a, a, VALUES)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ssim_and_psnr_are_those_of_scikit_image)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
