#include "samples/orrery/view/resolution.h"

#include <math.h>

static const float SIXTEENTH = 1.0f / 16.0f;
static const double QUICK = 8.0; // budgets that a full picture may take without a rougher one before it

resolution resolution_start(double frames_per_second)
{
    // a tenth of the frame is left for presenting it and for what else the machine does
    return (resolution){.adaptive = true, .full = 1.0f, .moving = 1.0f, .budget = 900.0 / frames_per_second};
}

float resolution_scale(const resolution *r, bool moving)
{
    return moving && r->adaptive ? fminf(r->moving, r->full) : r->full;
}

float resolution_least(const resolution *r)
{
    return r->adaptive ? fminf(2.0f * SIXTEENTH, r->full) : r->full;
}

float resolution_sharpen(const resolution *r, float drawn, double milliseconds)
{
    double more = (double)(r->full / drawn);
    return !r->adaptive || milliseconds * more * more <= QUICK * r->budget ? r->full
                                                                           : fminf(2.0f * drawn, r->full);
}

void resolution_measure(resolution *r, float scale, double milliseconds)
{
    double wanted = (double)scale * sqrt(r->budget / fmax(milliseconds, 0.01)); // if cost were all per pixel
    float next = scale;
    if (milliseconds > r->budget) {
        next = floorf((float)wanted / SIXTEENTH) * SIXTEENTH;
        next = fmaxf(next, 0.5f * scale); // one slow frame is not a slow machine
        next = fminf(next, scale - SIXTEENTH);
    } else if (wanted >= (double)(scale + 1.5f * SIXTEENTH)) {
        next = scale + SIXTEENTH; // the next step up fits the budget with a margin
    }
    next = roundf(next / SIXTEENTH) * SIXTEENTH;
    r->moving = fminf(fmaxf(next, 2.0f * SIXTEENTH), 1.0f);
}
