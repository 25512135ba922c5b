// Tests of the figures that describe a cloud.
#include "render/formats/splat_stats.h"
#include "tests/support/support.h"

#include <math.h>

static void figures_of_a_known_cloud(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    orr_splats *cloud;
    assert_ok(orr_splats_create(COUNT, 2, &cloud, &error));
    orr_splats_view d = orr_splats_data(cloud);
    for (int i = 0; i < COUNT; i++) {
        int shuffled = i * 377 % COUNT; // each number once
        d.position[3 * i] = (float)shuffled;
        d.position[3 * i + 1] = -(float)shuffled / 8;
        d.position[3 * i + 2] = shuffled == 0 ? -1e6f : 0.5f;
        // the longest axis: 0.002 for half of them, 300 for the others
        d.log_scale[3 * i] = -20.0f;
        d.log_scale[3 * i + 1] = -30.0f;
        d.log_scale[3 * i + 2] = i % 2 ? logf(0.002f) : logf(300.0f);
        d.opacity[i] = i < 250 ? logf(0.25f / 0.75f) : 20.0f;
    }
    orr_splat_stats s = orr_splat_stats_of(&d);
    assert_int_equal(s.count, COUNT);
    assert_int_equal(s.sh_degree, 2);
    assert_int_equal(s.bytes, COUNT * 4 * (3 + 3 + 4 + 1 + 3 + 24));
    assert_float_equal(s.low[0], 0.0f, 0.0f);
    assert_float_equal(s.high[0], 999.0f, 0.0f);
    assert_float_equal(s.robust_low[0], 5.0f, 0.0f); // 0.5 % of 1000
    assert_float_equal(s.robust_high[0], 994.0f, 0.0f);
    assert_float_equal(s.low[1], -999.0f / 8, 0.0f);
    assert_float_equal(s.robust_high[1], -5.0f / 8, 0.0f);
    assert_float_equal(s.low[2], -1e6f, 0.0f);
    assert_float_equal(s.robust_low[2], 0.5f, 0.0f);
    // 0.002 is 10^-2.7: bin 4 from 10^-3 to 10^-2.5; 300 is beyond the last bin's end of 10^2
    assert_int_equal(s.scale[4], 500);
    assert_int_equal(s.scale[ORR_STATS_SCALE_BINS - 1], 500);
    assert_int_equal(s.opacity[2], 250);
    assert_int_equal(s.opacity[ORR_STATS_OPACITY_BINS - 1], 750);
    orr_splats_destroy(cloud);
}

static void an_empty_cloud_has_figures_too(void **state)
{
    (void)state;
    orr_splats *cloud;
    assert_ok(orr_splats_create(0, 0, &cloud, &error));
    orr_splats_view d = orr_splats_data(cloud);
    orr_splat_stats s = orr_splat_stats_of(&d);
    assert_int_equal(s.count, 0);
    assert_int_equal(s.bytes, 0);
    assert_float_equal(s.high[1], 0.0f, 0.0f);
    orr_splats_destroy(cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_a_known_cloud),
        cmocka_unit_test(an_empty_cloud_has_figures_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
