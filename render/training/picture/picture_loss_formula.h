// The loss of a picture against a photo: L1 and structural dissimilarity, with their derivatives (Kerbl et
// al. 2023 and Wang et al. 2004).
#ifndef ORR_PICTURE_LOSS_FORMULA_H
#define ORR_PICTURE_LOSS_FORMULA_H

#include "engine/maths/formula.h"

#define LOSS_C1 (0.01 * 0.01)
#define LOSS_C2 (0.03 * 0.03)

// The window along one axis: exp(-x^2 / (2 1.5^2)) at -5 .. 5, divided by their sum.
#define LOSS_RADIUS 5
#define LOSS_WINDOW                                                                                          \
    {                                                                                                        \
        0.0010283801f, 0.0075987581f, 0.0360007721f, 0.1093606895f, 0.2130055377f, 0.2660117249f,            \
            0.2130055377f, 0.1093606895f, 0.0360007721f, 0.0075987581f, 0.0010283801f                        \
    }

// Means under a window of the picture x, the photo y, and their products.
STRUCT(window_means)
{
    real x, y, xx, yy, xy;
}
END_STRUCT(window_means)

// A window's similarity, and its derivatives by the means of x, xx and xy.
STRUCT(window_similarity)
{
    real value, by_x, by_xx, by_xy;
}
END_STRUCT(window_similarity)

FN window_similarity similarity_of(window_means m)
{
    real two = R(2.0);
    real luminance = m.x * m.x + m.y * m.y + R(LOSS_C1);
    // a variance is at least 0 but for rounding
    real contrast = max_(m.xx - m.x * m.x, R(0.0)) + max_(m.yy - m.y * m.y, R(0.0)) + R(LOSS_C2);
    real same_luminance = two * (m.x * m.y) + R(LOSS_C1);
    real same_contrast = two * (m.xy - m.x * m.y) + R(LOSS_C2);
    real inverse = R(1.0) / (luminance * contrast);
    window_similarity s;
    s.value = same_luminance * same_contrast * inverse;
    s.by_xx = -s.value / contrast;
    s.by_xy = two * same_luminance * inverse;
    s.by_x = two * (m.y * (same_contrast - same_luminance) * inverse +
                    m.x * s.value * (R(1.0) / contrast - R(1.0) / luminance));
    return s;
}

// The derivative of the loss by a value p of the picture, whose photo has q. by: means under the window of
// the derivatives of similarity_of; plain, similar: factors of |p - q| and of the similarity in the loss.
FN real loss_slope(real p, real q, real by_x, real by_xx, real by_xy, uniform_real plain,
                   uniform_real similar)
{
    real difference = p - q;
    real sign = sel(difference > R(0.0), R(plain), sel(difference < R(0.0), R(-plain), R(0.0)));
    return fma_(R(similar), by_x + R(2.0) * p * by_xx + q * by_xy, sign);
}

#endif
