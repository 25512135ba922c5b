// Elastic elements as vertex block descent needs them: the force on one vertex and its 3 x 3 block of the
// Hessian, positive semidefinite. `own` is that vertex; the element's other vertices are relative to it, so
// that small deformations keep their digits.
#ifndef ORR_SOFT_ELEMENT_FORMULA_H
#define ORR_SOFT_ELEMENT_FORMULA_H

#include "engine/maths/vector_formula.h"

// Force (N) on a vertex and minus its derivative (N/m), a symmetric matrix.
STRUCT(soft_system)
{
    real3 force;
    real xx, xy, xz, yy, yz, zz;
}
END_STRUCT(soft_system)

FN soft_system soft_add_diagonal(soft_system s, real a) // + a I
{
    s.xx = s.xx + a;
    s.yy = s.yy + a;
    s.zz = s.zz + a;
    return s;
}

FN soft_system soft_add_outer(soft_system s, real a, real3 v) // + a v v^T
{
    real3 w = scale3(v, a);
    s.xx = fma_(w.x, v.x, s.xx);
    s.xy = fma_(w.x, v.y, s.xy);
    s.xz = fma_(w.x, v.z, s.xz);
    s.yy = fma_(w.y, v.y, s.yy);
    s.yz = fma_(w.y, v.z, s.yz);
    s.zz = fma_(w.z, v.z, s.zz);
    return s;
}

// The solution of the system by L D L^T; its matrix is positive definite.
FN real3 soft_solve(soft_system s)
{
    real i1 = R(1.0) / s.xx;
    real l21 = s.xy * i1, l31 = s.xz * i1;
    real i2 = R(1.0) / (s.yy - l21 * s.xy);
    real c32 = s.yz - l31 * s.xy;
    real l32 = c32 * i2;
    real i3 = R(1.0) / (s.zz - l31 * s.xz - l32 * c32);
    real y2 = s.force.y - l21 * s.force.x;
    real z = (s.force.z - l31 * s.force.x - l32 * y2) * i3;
    real y = y2 * i2 - l32 * z;
    return make_real3(s.force.x * i1 - l21 * y - l31 * z, y, z);
}

// A matrix of three columns.
STRUCT(soft_columns)
{
    real3 a, b, c;
}
END_STRUCT(soft_columns)

// F = sum over the other vertices k of d_k m_k^T; d_k: position relative to the own vertex, m_k: row k of the
// inverse of the same differences at rest.
FN soft_columns soft_gradient3(real3 d1, real3 d2, real3 d3, real3 m1, real3 m2, real3 m3)
{
    soft_columns f;
    f.a = add_scaled3(add_scaled3(scale3(d1, m1.x), d2, m2.x), d3, m3.x);
    f.b = add_scaled3(add_scaled3(scale3(d1, m1.y), d2, m2.y), d3, m3.y);
    f.c = add_scaled3(add_scaled3(scale3(d1, m1.z), d2, m2.z), d3, m3.z);
    return f;
}

FN real3 soft_apply(soft_columns f, real3 v)
{
    return add_scaled3(add_scaled3(scale3(f.a, v.x), f.b, v.y), f.c, v.z);
}

// Stable Neo-Hookean (Smith et al. 2018, without the logarithm): per unit of volume
// mu/2 (|F|^2 - 3) + l/2 (J - alpha)^2 with l = lambda + mu, alpha = 1 + mu / l.
FN real tet_energy(soft_columns f, uniform_real mu, uniform_real l, uniform_real alpha)
{
    real square = dot3(f.a, f.a) + dot3(f.b, f.b) + dot3(f.c, f.c);
    real j = dot3(f.a, cross3(f.b, f.c)) - alpha;
    return R(0.5) * (mu * (square - R(3.0)) + l * j * j);
}

// volume: at rest; m: of the own vertex, minus the sum of the others'. The second derivative of J drops out
// of a block, which is therefore positive semidefinite for every F.
FN soft_system tet_system(soft_system s, soft_columns f, real3 m, real volume, uniform_real mu,
                          uniform_real l, uniform_real alpha)
{
    real3 bc = cross3(f.b, f.c);
    soft_columns cofactor;
    cofactor.a = bc;
    cofactor.b = cross3(f.c, f.a);
    cofactor.c = cross3(f.a, f.b);
    real j = dot3(f.a, bc) - alpha;
    real3 g = soft_apply(cofactor, m);
    real stiff = volume * mu, bulk = volume * l;
    s.force = add_scaled3(s.force, soft_apply(f, m), -stiff);
    s.force = add_scaled3(s.force, g, -(bulk * j));
    s = soft_add_diagonal(s, stiff * dot3(m, m));
    return soft_add_outer(s, bulk, g);
}

// Kelvin-Voigt damping: the stress eta C' with C = F^T F, C' its difference to the step's start over the time
// step. Does not resist rotation. eta: Pa s; rate: 1 / time step.
FN soft_system tet_damping(soft_system s, soft_columns f, soft_columns start, real3 m, real volume,
                           uniform_real eta, uniform_real rate)
{
    real weight = volume * (eta * rate);
    real aa = dot3(f.a, f.a) - dot3(start.a, start.a), ab = dot3(f.a, f.b) - dot3(start.a, start.b);
    real ac = dot3(f.a, f.c) - dot3(start.a, start.c), bb = dot3(f.b, f.b) - dot3(start.b, start.b);
    real bc = dot3(f.b, f.c) - dot3(start.b, start.c), cc = dot3(f.c, f.c) - dot3(start.c, start.c);
    real3 cm = make_real3(aa * m.x + ab * m.y + ac * m.z, ab * m.x + bb * m.y + bc * m.z,
                          ac * m.x + bc * m.y + cc * m.z);
    real twice = R(2.0) * weight;
    s.force = add_scaled3(s.force, soft_apply(f, cm), -twice);
    real square = twice * dot3(m, m);
    s = soft_add_outer(s, square, f.a);
    s = soft_add_outer(s, square, f.b);
    s = soft_add_outer(s, square, f.c);
    return soft_add_outer(s, twice, soft_apply(f, m));
}

// The membrane of cloth: the same energy per unit of area, F is 3 x 2 with columns a and b, J the ratio of
// areas. mu, l: N/m, of plane stress. mx, my: of the own vertex.
FN real membrane_energy(real3 a, real3 b, uniform_real mu, uniform_real l, uniform_real alpha)
{
    real3 n = cross3(a, b);
    real j = sqrt_(max_(dot3(n, n), R(1e-30))) - alpha;
    return R(0.5) * (mu * (dot3(a, a) + dot3(b, b) - R(2.0)) + l * j * j);
}

// What a block has of a membrane's tension, which it has across its plane, too: all of it, unless the
// triangle is compressed, where the block would be negative. In flat cloth it takes away what mu adds there;
// cloth that keeps that falls slowly from where it is held.
FN real membrane_tension(real ww, real square, real tension, uniform_real mu)
{
    return max_(tension, -(mu * square) / max_(ww, R(1e-30)));
}

FN soft_system membrane_system(soft_system s, real3 a, real3 b, real mx, real my, real area, uniform_real mu,
                               uniform_real l, uniform_real alpha)
{
    real aa = dot3(a, a), ab = dot3(a, b), bb = dot3(b, b);
    real3 n = cross3(a, b);
    real j = sqrt_(max_(dot3(n, n), R(1e-30)));
    real inverse = R(1.0) / j;
    real pressure = l * (j - alpha), square = mx * mx + my * my;
    // g: derivative of J by the vertex, in the plane of the triangle; w: F m turned by a quarter in it
    real3 ga = scale3(add_scaled3(scale3(a, bb), b, -ab), inverse);
    real3 gb = scale3(add_scaled3(scale3(b, aa), a, -ab), inverse);
    real3 g = add_scaled3(scale3(ga, mx), gb, my);
    real3 w = add_scaled3(scale3(b, mx), a, -my);
    real3 fm = add_scaled3(scale3(a, mx), b, my);
    real ww = dot3(w, w), r = membrane_tension(ww, square, pressure * inverse, mu);
    s.force = add_scaled3(s.force, fm, -(area * mu));
    s.force = add_scaled3(s.force, g, -(area * pressure));
    s = soft_add_diagonal(s, area * (mu * square + r * ww));
    s = soft_add_outer(s, area * (l - r), g);
    return soft_add_outer(s, -(area * r), w);
}

// By how much the block of a membrane that is not stretched is less than without its tension, N/m.
FN real membrane_firmness(real3 a, real3 b, real mx, real my, real area, uniform_real mu, uniform_real l,
                          uniform_real alpha)
{
    real3 n = cross3(a, b), w = add_scaled3(scale3(b, mx), a, -my);
    real j = sqrt_(max_(dot3(n, n), R(1e-30))), ww = dot3(w, w);
    real r = membrane_tension(ww, mx * mx + my * my, l * (j - alpha) / j, mu);
    return area * ww * max_(-r, R(0.0));
}

// How the volume that closed triangles enclose grows with a corner of one: summed over the triangles of a
// vertex, the derivative of the volume by it. d1, d2: the corners that follow, relative to the own one.
FN real3 triangle_swell(real3 d1, real3 d2)
{
    return scale3(cross3(d1, d2), R(1.0 / 6.0));
}

// Bending of what is flat at rest, as a sum over pairs of vertices, each with the energy stiffness/2 d^2 and
// a stiffness of either sign (Bergou et al. 2006; hinges.c): the sum of those of a vertex is above 0.
FN soft_system bend_system(soft_system s, real3 d, real stiffness)
{
    s.force = add_scaled3(s.force, d, stiffness);
    return soft_add_diagonal(s, stiffness);
}

// Stretch of an edge: stiffness/2 (L - rest)^2; d: the other vertex relative to the own one. In compression
// the block leaves out the negative part across the edge.
FN soft_system edge_system(soft_system s, real3 d, real stiffness, real rest)
{
    real length = sqrt_(max_(dot3(d, d), R(1e-30)));
    real3 u = scale3(d, R(1.0) / length);
    real across = stiffness * max_(R(0.0), R(1.0) - rest / length);
    s.force = add_scaled3(s.force, u, stiffness * (length - rest));
    s = soft_add_diagonal(s, across);
    return soft_add_outer(s, stiffness - across, u);
}

// Damping along an edge; start: the other vertex relative to the own one at the step's start; viscosity in
// N s/m.
FN soft_system edge_damping(soft_system s, real3 d, real3 start, real viscosity, uniform_real rate)
{
    real length = sqrt_(max_(dot3(d, d), R(1e-30))), before = sqrt_(dot3(start, start));
    real3 u = scale3(d, R(1.0) / length);
    s.force = add_scaled3(s.force, u, viscosity * rate * (length - before));
    return soft_add_outer(s, viscosity * rate, u);
}

// An edge that is held by inertia x (pull - v'), v' the change of the speeds along it in the step, as a
// contact is (contact_rows.h); u: along it at the step's start, moved: of the other vertex against the own
// one since then. stiffness: N/m; pull: N where nothing moved. Like MuJoCo's rows it does not resist that an
// edge which turns becomes longer.
FN soft_system edge_hold(soft_system s, real3 u, real3 moved, real stiffness, real pull)
{
    s.force = add_scaled3(s.force, u, fma_(stiffness, dot3(u, moved), pull));
    return soft_add_outer(s, stiffness, u);
}

// A vertex against the half-space normal . x >= offset: a spring of `stiffness` N/m, and Coulomb friction
// against the way `moved` since the step's start, smoothed below `slip` m.
FN soft_system plane_contact(soft_system s, real depth, real3 moved, real3 normal, real stiffness,
                             real friction, uniform_real slip)
{
    real pushed = stiffness * max_(depth, R(0.0));
    s.force = add_scaled3(s.force, normal, pushed);
    s = soft_add_outer(s, sel(depth > R(0.0), stiffness, R(0.0)), normal);
    real3 t = add_scaled3(moved, normal, -dot3(moved, normal));
    real way = sqrt_(dot3(t, t)), inverse = R(1.0) / slip;
    real each = sel(way > slip, R(1.0) / max_(way, R(1e-15)), (R(2.0) - way * inverse) * inverse);
    real drag = friction * pushed * each;
    s.force = add_scaled3(s.force, t, -drag);
    s = soft_add_diagonal(s, drag);
    return soft_add_outer(s, -drag, normal);
}

// Two triangles that share the edge p0 p1, with p2 and p3 opposite: the sine and cosine of the angle between
// their normals, times a common length, and the angle's derivatives by the four vertices.
STRUCT(soft_hinge)
{
    real sine, cosine;
    real3 g0, g1, g2, g3;
}
END_STRUCT(soft_hinge)

FN soft_hinge hinge_angle(real3 p0, real3 p1, real3 p2, real3 p3)
{
    real3 e = sub3(p1, p0), a = sub3(p2, p0), b = sub3(p3, p0);
    real3 n1 = cross3(e, a), n2 = cross3(b, e);
    real length = sqrt_(max_(dot3(e, e), R(1e-30))), inverse = R(1.0) / length;
    real3 h1 = scale3(n1, length / max_(dot3(n1, n1), R(1e-30)));
    real3 h2 = scale3(n2, length / max_(dot3(n2, n2), R(1e-30)));
    real along1 = dot3(a, e) * inverse * inverse, along2 = dot3(b, e) * inverse * inverse;
    soft_hinge r;
    r.sine = dot3(cross3(n1, n2), e) * inverse;
    r.cosine = dot3(n1, n2);
    r.g2 = scale3(h1, R(-1.0));
    r.g3 = scale3(h2, R(-1.0));
    r.g0 = add_scaled3(scale3(h1, R(1.0) - along1), h2, R(1.0) - along2);
    r.g1 = add_scaled3(scale3(h1, along1), h2, along2);
    return r;
}

#endif
