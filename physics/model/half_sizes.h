// The box around a geom that is given by its sizes alone; for the model compiler and lane programs. In double
// and with arrays, so not a formula that GLSL compiles.
#ifndef ORR_HALF_SIZES_H
#define ORR_HALF_SIZES_H

#include "engine/maths/formula.h"
#include "physics/model/model.h"

// Half sizes of the box along the geom's axes, which are also the half axes of the ellipsoid that models it
// in a fluid. type: orr_geom_type, but not a plane. In double on every machine.
FN void primitive_half_sizes(int type, const double size[3], double half[3])
{
    half[0] = size[0];
    half[1] = size[1];
    half[2] = size[2];
    if (type == ORR_GEOM_SPHERE) {
        half[1] = half[2] = size[0];
    } else if (type == ORR_GEOM_CAPSULE || type == ORR_GEOM_CYLINDER) {
        half[1] = size[0];
        half[2] = size[1] + (type == ORR_GEOM_CAPSULE ? size[0] : 0.0);
    }
}

#endif
