// Derivatives of neural materials against central differences in double.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "engine/maths/rng.h"
#include "render/appearance/neural_backward_formula.h"
#include "tests/support/support.h"

#include <math.h>

static void assert_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.9g: expected %.9g, within %.3g", value, expected, tolerance);
    }
}

typedef struct point {
    real right[3], normal[3]; // what the frame is made of
    real3 direction, half_way, by_turned;
    real by_ridge;
} point;

static double draw(orr_rng *random)
{
    return 2.0 * (double)orr_rng_uniform(random) - 1.0;
}

static real3 draw3(orr_rng *random)
{
    const double x = draw(random), y = draw(random), z = draw(random);
    return make_real3(x, y, z);
}

static real3 of(const real v[3])
{
    return make_real3(v[0], v[1], v[2]);
}

static double value_of(const point *p)
{
    const neural_frame f = neural_frame_of(of(p->right), of(p->normal));
    return dot3(p->by_turned, neural_turn(f, p->direction)) +
           p->by_ridge * neural_ridge(neural_turn(f, p->half_way));
}

static void frames_have_their_derivatives(void **state)
{
    (void)state;
    orr_rng random = {3, 0, 0};
    for (int i = 0; i < 200; i++) {
        point p = {.direction = normalise3(draw3(&random)),
                   .half_way = normalise3(draw3(&random)),
                   .by_turned = draw3(&random),
                   .by_ridge = draw(&random)};
        for (int k = 0; k < 3; k++) {
            p.right[k] = 0.5 * draw(&random);
            p.normal[k] = 0.5 * draw(&random);
        }
        const real3 right = of(p.right), normal = of(p.normal);
        const neural_frame f = neural_frame_of(right, normal);
        neural_frame_slope slope = {{0, 0, 0}, {0, 0, 0}};
        slope = neural_turn_backward(slope, f, p.direction, p.by_turned);
        slope = neural_turn_backward(slope, f, p.half_way,
                                     neural_ridge_backward(neural_turn(f, p.half_way), p.by_ridge));
        slope = neural_frame_backward(slope, f, right, normal);
        const double known[6] = {slope.right.x,  slope.right.y,  slope.right.z,
                                 slope.normal.x, slope.normal.y, slope.normal.z};
        for (int k = 0; k < 6; k++) {
            const double step = 1e-6;
            point low = p, high = p;
            (k < 3 ? low.right : low.normal)[k % 3] -= step;
            (k < 3 ? high.right : high.normal)[k % 3] += step;
            const double difference = (value_of(&high) - value_of(&low)) / (2.0 * step);
            assert_close(known[k], difference, 1e-6 * (1.0 + fabs(difference)));
        }
    }
}

static void brightness_has_its_derivatives(void **state)
{
    (void)state;
    for (int i = 0; i <= 40; i++) {
        const double value = -6.0 + 0.45 * i, step = 1e-6, light = neural_reflectance(value); // up to 12
        const double by_value =
            (neural_reflectance(value + step) - neural_reflectance(value - step)) / (2.0 * step);
        assert_close(neural_reflectance_slope(value - 1e-9, light), i < 40 ? by_value : light,
                     1e-6 * (1.0 + light));
        const double by_light =
            (neural_brightness(light + 1e-6 * light) - neural_brightness(light - 1e-6 * light)) /
            (2e-6 * light);
        assert_close(neural_brightness_slope(light), by_light, 1e-6 * (1.0 + by_light));
    }
    assert_close(neural_reflectance_slope(12.5, 1.0), 0.0, 0.0); // no longer grows
    assert_close(neural_reflectance(12.5), neural_reflectance(12.0), 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_have_their_derivatives),
        cmocka_unit_test(brightness_has_its_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
