// Drawing fields: the mathematics of one ray or pixel that signed distances, volumes and pictures of several fields share
// between the machines. Lengths are in the field's space, of which the unit cube is drawn.
#ifndef ORR_FIELD_FORMULA_H
#define ORR_FIELD_FORMULA_H

#include "engine/core/formula.h"

#define FIELD_HIT 2e-4       // nearer than this is on the surface
#define FIELD_STEP_SHARE 0.9 // of the distance: a learnt one may be too long
#define FIELD_TRACE_STEPS 128
#define FIELD_OPEN_MIN 1e-3     // a ray through a volume with less light left is full
#define FIELD_MARCH_STEPS 256.0 // of a volume, through the unit cube along an axis

FN real field_held(real v)
{
    return min_(max_(v, R(0.0)), R(1.0));
}

// The display value of a white surface under a sun and a sky; facing: cosine between its normal and the sun.
FN real field_lit(real facing)
{
    const real sky = R(0.35), sun = R(0.65), albedo = R(0.85);
    return albedo * (sky * (R(0.75) + R(0.25) * facing) + sun * max_(facing, R(0.0)));
}

// Where a ray meets the quad 0 .. 1 x 0 .. 1 of the plane z = 0; far behind it when it misses.
FN real field_meet_quad(real3 origin, real3 direction)
{
    mask meets = abs_(direction.z) > R(1e-12);
    real t = -origin.z / sel(meets, direction.z, R(1.0));
    real x = origin.x + t * direction.x, y = origin.y + t * direction.y;
    mask inside = and_(and_(not_(x < R(0.0)), not_(x > R(1.0))), and_(not_(y < R(0.0)), not_(y > R(1.0))));
    return sel(and_(meets, inside), t, R(-1e30));
}

// What the fields so far show at a pixel. depth: means something where alpha > 0.
STRUCT(field_pixel)
{
    real red, green, blue, alpha; // premultiplied
    real depth;
}
END_STRUCT(field_pixel)

FN real field_over(mask before, real drawn, real held, real left)
{
    return sel(before, drawn + left * held, held + left * drawn);
}

// A field that is drawn, in front of or behind what is held; an empty pixel is at depth infinity.
FN field_pixel field_merge(field_pixel held, field_pixel drawn)
{
    mask before = drawn.depth < held.depth;
    real front = sel(before, drawn.alpha, held.alpha), back = sel(before, held.alpha, drawn.alpha);
    real near = sel(before, drawn.depth, held.depth), far = sel(before, held.depth, drawn.depth);
    real left = R(1.0) - front, alpha = front + left * back;
    real between = (front * near + left * back * far) / sel(alpha > R(0.0), alpha, R(1.0));
    field_pixel merged;
    merged.red = field_over(before, drawn.red, held.red, left);
    merged.green = field_over(before, drawn.green, held.green, left);
    merged.blue = field_over(before, drawn.blue, held.blue, left);
    merged.alpha = field_over(before, drawn.alpha, held.alpha, left);
    merged.depth =
        sel(drawn.alpha > R(0.0), sel(and_(back > R(0.0), alpha > R(0.0)), between, near), held.depth);
    return merged;
}

#endif
