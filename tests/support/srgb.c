#include "tests/support/srgb.h"

#include <math.h>

double srgb_decode(double display)
{
    return display <= 0.04045 ? display / 12.92 : pow((display + 0.055) / 1.055, 2.4);
}

double srgb_encode(double light)
{
    return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1.0 / 2.4) - 0.055;
}
