#include "engine/scene/robot/rings.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

enum { BALL_STEP = 6 }; // corners that rings gain from the poles on: there triangles have equal sides

// How far apart two corners are around z [turns]; beyond the last of a ring the first comes again.
static double apart(int corner, int count, int other, int other_count)
{
    return fabs((double)corner / count - (double)other / other_count);
}

bool orr_band_next(orr_band *band, int corner[3])
{
    const int above = band->above, below = band->below, i = band->passed_above, j = band->passed_below;
    const bool left_above = above > 1 && i<above, left_below = below> 1 && j < below;
    if (!left_above && !left_below) {
        return false;
    }
    // the shorter of the two edges that may come next
    const bool shorter = apart(i + 1, above, j, below) < apart(i, above, j + 1, below) - 1e-9,
               step_above = !left_below || (left_above && shorter);
    corner[0] = i % above;
    corner[1] = above + j % below;
    corner[2] = step_above ? (i + 1) % above : above + (j + 1) % below;
    band->passed_above += step_above;
    band->passed_below += !step_above;
    return true;
}

int orr_ball_rows(int columns)
{
    return 2 * ((columns + 6) / 4);
}

int orr_ball_ring(int columns, int row)
{
    const int rows = orr_ball_rows(columns), from_pole = row < rows - row ? row : rows - row,
              count = BALL_STEP * from_pole;
    return count == 0 ? 1 : count < columns ? count : columns;
}

double orr_ball_inside(int columns)
{
    // the plane of a face beside the ring in the middle; all others come less near
    const double across = cos(pi / columns), step = pi / orr_ball_rows(columns);
    return across * sin(step) / hypot(across * (1.0 - cos(step)), sin(step));
}
