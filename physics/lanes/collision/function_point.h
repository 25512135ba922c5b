// Points in geoms whose distance is a function (model/distance_function.h), lane after lane in double.
#pragma once

#include "physics/lanes/collision/function_contact.h"
#include "physics/lanes/collision/one_lane.h"

// Of geoms of the type sdf; the others are distance grids.
FN int has_function(const lane_model *m, int geom)
{
    return m->geom_type[geom] == ORR_GEOM_SDF && m->geom_function[geom] != ORR_FUNCTION_NONE;
}

LANE_FN function_shape function_of_geom(const lane_model *m, int geom)
{
    convex_shape shape; // in its own frame
    shape.type = ORR_GEOM_SDF;
    shape.frame.pos = make_point(0.0, 0.0, 0.0);
    for (int k = 0; k < 3; k++) {
        shape.frame.axis[k] = make_point(k == 0, k == 1, k == 2);
        shape.size[k] = 0.0;
    }
    return function_shape_of(m, &shape, geom);
}

// m, below 0 outside. p: in the geom's frame.
LANE_FN real function_depth(const lane_model *m, int geom, real3 p)
{
    const function_shape f = function_of_geom(m, geom);
    real depth = R(0.0);
    for (int lane = 0; lane < ORR_LANES; lane++) {
        put_in(&depth, lane, -shape_distance_at(&f, point_in(&p, lane)).d);
    }
    return depth;
}
