// A height field against a convex shape: each half of a cell is a prism from the base to the surface.
#pragma once

#include "physics/lanes/collision/convex.h"

// size: half widths, height of a sample 1, depth of the base; samples: rows x columns. Normals from the
// height field to the shape. At most ORR_PAIR_CONTACTS contacts, the first in the order of cells.
LANE_FN int hfield_contacts(const convex_frame *hfield, const uniform_real *size, const float *samples,
                            int rows, int columns, convex_shape *shape, const convex_search *search,
                            convex_hit *hits)
{
    convex_shape prism = {0};
    prism.type = ORR_GEOM_HFIELD;
    prism.bound = (double)(size[0] + size[1]);
    for (int k = 0; k < 3; k++) {
        prism.frame.axis[k] = make_point(k == 0, k == 1, k == 2);
    }
    convex_frame world = shape->frame; // calculate in the height field's frame
    shape->frame.pos = to_local(hfield, world.pos);
    for (int k = 0; k < 3; k++) {
        shape->frame.axis[k] = to_local_direction(hfield, world.axis[k]);
    }
    double low[3], high[3], reach = shape->radius + search->margin;
    for (int k = 0; k < 3; k++) {
        point axis = prism.frame.axis[k];
        low[k] = point_dot(core_support(shape, point_scaled(axis, -1.0)), axis) - reach;
        high[k] = point_dot(core_support(shape, axis), axis) + reach;
    }
    double half_x = (double)size[0], half_y = (double)size[1], scale = (double)size[2],
           base = -(double)size[3];
    double dx = 2.0 * half_x / (columns - 1), dy = 2.0 * half_y / (rows - 1);
    int first_column = (int)fmax(0.0, floor((low[0] + half_x) / dx));
    int first_row = (int)fmax(0.0, floor((low[1] + half_y) / dy));
    int last_column = (int)fmin(columns - 1.0, ceil((high[0] + half_x) / dx));
    int last_row = (int)fmin(rows - 1.0, ceil((high[1] + half_y) / dy));
    int count = 0;
    for (int row = first_row; row < last_row && high[2] >= base; row++) {
        // a triangle strip: corners alternate between the two rows
        for (int corner = 2 * first_column; corner <= 2 * last_column + 1; corner++) {
            int column = corner / 2, at = row + 1 - corner % 2;
            for (int k = 0; k < 2; k++) {
                prism.prism[k] = prism.prism[k + 1];
                prism.prism[k + 3] = prism.prism[k + 4];
            }
            double x = dx * column - half_x, y = dy * at - half_y;
            prism.prism[2] = make_point(x, y, base);
            prism.prism[5] = make_point(x, y, (double)samples[at * columns + column] * scale);
            if (corner < 2 * first_column + 2 ||
                (prism.prism[3].z < low[2] && prism.prism[4].z < low[2] && prism.prism[5].z < low[2])) {
                continue;
            }
            prism.frame.pos = make_point(0.0, 0.0, 0.0);
            if (count < ORR_PAIR_CONTACTS && convex_closest(&prism, shape, search, &hits[count])) {
                hits[count].pos = to_world(hfield, hits[count].pos);
                point normal = hits[count].normal;
                hits[count].normal = point_difference(to_world(hfield, normal), hfield->pos);
                count++;
            }
        }
    }
    shape->frame = world;
    return count;
}
