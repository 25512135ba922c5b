// Pictures on the six faces of a cube: which one a direction meets, and where, as OpenGL's cube maps have it.
// The faces +x, -x, +y, -y, +z, -z lie one below the other in one picture.
#ifndef ORR_CUBE_FORMULA_H
#define ORR_CUBE_FORMULA_H

#include "engine/maths/formula.h"

// 0 .. 5
FN real cube_face(real3 r)
{
    real x = abs_(r.x), y = abs_(r.y), z = abs_(r.z);
    mask is_x = and_(x >= y, x >= z), is_y = y >= z;
    real along = sel(is_x, r.x, sel(is_y, r.y, r.z));
    real first = sel(is_x, R(0.0), sel(is_y, R(2.0), R(4.0)));
    return first + sel(along < R(0.0), R(1.0), R(0.0));
}

// The coordinates of a direction in the frame of a face: right and down across it, and how far along it.
FN real3 cube_on_face(real face, real3 r)
{
    mask is_x = face < R(1.5), is_y = and_(face > R(1.5), face < R(3.5));
    real half_ = face * R(0.5), sign = sel(half_ > floor_(half_), R(-1.0), R(1.0));
    return make_real3(sel(is_x, -sign * r.z, sel(is_y, r.x, sign * r.x)), sel(is_y, sign * r.z, -r.y),
                      sign * sel(is_x, r.x, sel(is_y, r.y, r.z)));
}

// Where in the picture a direction in the frame of a face is: 0 .. 1; margin: as far it keeps from the face's
// rim, of its width.
FN real2 cube_place(real face, real3 on_face, real margin)
{
    real inverse = R(0.5) / max_(abs_(on_face.z), R(1e-12)), most = R(1.0) - margin;
    real u = min_(max_(fma_(on_face.x, inverse, R(0.5)), margin), most),
         v = min_(max_(fma_(on_face.y, inverse, R(0.5)), margin), most);
    return make_real2(u, (face + v) * R(1.0 / 6.0));
}

// How the place changes with a step of the direction.
FN real2 cube_step(real3 on_face, real3 step)
{
    real inverse = R(1.0) / max_(abs_(on_face.z), R(1e-12)), nearer = step.z * inverse;
    return make_real2(R(0.5) * inverse * (step.x - on_face.x * nearer),
                      R(0.5 / 6.0) * inverse * (step.y - on_face.y * nearer));
}

#endif
