// The exposure of a photo: an affine map of display colours, with its derivatives. One text for CPU lanes,
// CUDA and plain C (see engine/maths/formula.h).
#ifndef ORR_PICTURE_EXPOSURE_FORMULA_H
#define ORR_PICTURE_EXPOSURE_FORMULA_H

#include "engine/maths/vector_formula.h"

// Rows of three factors and a shift: red = x.x red + x.y green + x.z blue + shift.x. It maps the colours of
// splats: the background is not photographed.
STRUCT(exposure_map)
{
    real3 x, y, z, shift;
}
END_STRUCT(exposure_map)

// colour: premultiplied by alpha, as the result is.
FN real3 exposure_apply(exposure_map e, real3 colour, real alpha)
{
    return make_real3(fma_(e.shift.x, alpha, dot3(e.x, colour)), fma_(e.shift.y, alpha, dot3(e.y, colour)),
                      fma_(e.shift.z, alpha, dot3(e.z, colour)));
}

// g: the loss by the exposed colour; returns it by the colour before.
FN real3 exposure_backward(exposure_map e, real3 g)
{
    return add3(add3(scale3(e.x, g.x), scale3(e.y, g.y)), scale3(e.z, g.z));
}

// The loss by the map, added to what other pixels gave.
FN exposure_map exposure_add(exposure_map sum, real3 g, real3 colour, real alpha)
{
    sum.x = add_scaled3(sum.x, colour, g.x);
    sum.y = add_scaled3(sum.y, colour, g.y);
    sum.z = add_scaled3(sum.z, colour, g.z);
    sum.shift = add_scaled3(sum.shift, g, alpha);
    return sum;
}

#endif
