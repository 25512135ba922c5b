// Numbers of one lane, as the plain doubles of routines that run lane after lane.
#pragma once

#include "physics/lanes/collision/convex_shape.h"

FN double value_in(const real *x, int lane)
{
#if defined(__CUDACC__) || defined(ORR_SCALAR)
    (void)lane;
    return (double)*x;
#else
    return (double)(*x)[lane];
#endif
}

FN void put_in(real *x, int lane, double value)
{
#if defined(__CUDACC__) || defined(ORR_SCALAR)
    (void)lane;
    *x = (real)value;
#else
    (*x)[lane] = (float)value;
#endif
}

// The largest of all lanes, none of which is NaN.
FN float most_in_lanes(real x)
{
#if defined(__CUDACC__) || defined(ORR_SCALAR)
    return (float)x;
#else
    return real_most(x);
#endif
}

FN uint32_t lanes_of(mask m)
{
#if defined(__CUDACC__) || defined(ORR_SCALAR)
    return m ? 1u : 0u;
#else
    return mask_bits(m);
#endif
}

FN point point_in(const real3 *p, int lane)
{
    return make_point(value_in(&p->x, lane), value_in(&p->y, lane), value_in(&p->z, lane));
}

FN void put_point(real3 *to, int lane, point p)
{
    put_in(&to->x, lane, p.x);
    put_in(&to->y, lane, p.y);
    put_in(&to->z, lane, p.z);
}

// extreme_square (convex_shape.h), in all lanes.
