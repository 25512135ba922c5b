#include "engine/training/curve.h"

void orr_curve_add(orr_curve *c, double seconds, double value)
{
    if (c->count == ORR_CURVE_POINTS) {
        for (int i = 0; i < ORR_CURVE_POINTS / 2; i++) {
            c->seconds[i] = c->seconds[2 * i];
            c->values[i] = c->values[2 * i];
        }
        c->count = ORR_CURVE_POINTS / 2;
    }
    c->seconds[c->count] = seconds;
    c->values[c->count++] = value;
}
