// One level of a grid encoding: from a sample's coordinates to entries of the level's table, their weights,
// and the gradient by the coordinates (Müller et al. 2022, "Instant neural graphics primitives"; semantics
// are tiny-cuda-nn's).
//
// A level is a lattice. Its vertices have entries; a sample lies in a cell between 2^dims of them, its
// corners. Bit d of a corner's number: the upper vertex on axis d. dims: 2 to 4.
#ifndef ORR_GRID_FORMULA_H
#define ORR_GRID_FORMULA_H

#include "engine/maths/formula.h"

// A sample between the two vertices of its cell on one axis.
STRUCT(grid_axis)
{
    suint lower, upper; // what the vertices contribute to an entry's index: coordinate x factor of the axis
    real weight;        // of the upper vertex, 0 .. 1
    real slope;         // its derivative by the sample's coordinate
}
END_STRUCT(grid_axis)

STRUCT(grid_cell)
{
    grid_axis axes[4]; // dims of them
}
END_STRUCT(grid_cell)

FN real smoothstep_weight(real t)
{
    return t * t * (R(3.0) - R(2.0) * t);
}

FN real smoothstep_slope(real t)
{
    return R(6.0) * t * (R(1.0) - t);
}

// x: coordinate, 0 .. 1; scale: of the level, vertices per axis less one; use_smoothstep: otherwise linear
FN grid_axis grid_locate(real x, uniform_real scale, uniform_uint factor, bool use_smoothstep)
{
    grid_axis axis;
    real position = fma_(x, R(scale), R(0.5));
    real vertex = floor_(position);
    real t = position - vertex;
    axis.lower = to_uint(vertex) * factor;
    axis.upper = axis.lower + factor;
    axis.weight = use_smoothstep ? smoothstep_weight(t) : t;
    axis.slope = use_smoothstep ? smoothstep_slope(t) * scale : R(scale);
    return axis;
}

// ---- entries ----

FN suint grid_term(grid_axis axis, bool upper)
{
    return upper ? axis.upper : axis.lower;
}

FN suint grid_join(suint a, suint b, bool hashed)
{
    return hashed ? a ^ b : a + b;
}

// The index of a corner before it is brought into the table.
FN suint grid_index(grid_cell cell, int corner, int dims, bool hashed)
{
    suint index = grid_join(grid_term(cell.axes[0], (corner & 1) != 0),
                            grid_term(cell.axes[1], (corner & 2) != 0), hashed);
    if (dims > 2) {
        index = grid_join(index, grid_term(cell.axes[2], (corner & 4) != 0), hashed);
    }
    if (dims > 3) {
        index = grid_join(index, grid_term(cell.axes[3], (corner & 8) != 0), hashed);
    }
    return index;
}

// Every level has a power of two of entries when it is hashed.
FN suint grid_hashed_entry(grid_cell cell, int corner, int dims, uniform_uint entries)
{
    return grid_index(cell, corner, dims, true) & U(entries - 1u);
}

FN suint grid_tiled_entry(grid_cell cell, int corner, int dims, uniform_uint entries)
{
    return grid_index(cell, corner, dims, false) % U(entries);
}

// All vertices of the unit cube fit into a dense level, so that an index is below twice the entries; any
// other coordinates get some entry.
FN suint grid_dense_entry(grid_cell cell, int corner, int dims, uniform_uint entries)
{
    suint index = grid_index(cell, corner, dims, false);
    return min_uint(min_uint(index, index - U(entries)), U(entries - 1u));
}

// ---- values ----

FN real grid_axis_weight(grid_axis axis, bool upper)
{
    return upper ? axis.weight : R(1.0) - axis.weight;
}

// The product of a corner's weights over all axes but one; without = -1: all.
FN real grid_weight(grid_cell cell, int corner, int dims, int without)
{
    real weight = without == 0 ? R(1.0) : grid_axis_weight(cell.axes[0], (corner & 1) != 0);
    if (without != 1) {
        weight = weight * grid_axis_weight(cell.axes[1], (corner & 2) != 0);
    }
    if (dims > 2 && without != 2) {
        weight = weight * grid_axis_weight(cell.axes[2], (corner & 4) != 0);
    }
    if (dims > 3 && without != 3) {
        weight = weight * grid_axis_weight(cell.axes[3], (corner & 8) != 0);
    }
    return weight;
}

// A feature: its sum over corners, from 0, of weight times the entry's value.
FN real grid_interpolate(real sum, real weight, real value)
{
    return fma_(weight, value, sum);
}

// The derivative of an interpolated value by the weight of one axis: its sum over corners, from 0.
FN real grid_slope(real sum, grid_cell cell, int corner, int dims, int axis, real value)
{
    real weight = grid_weight(cell, corner, dims, axis);
    return sum + ((corner >> axis & 1) != 0 ? weight : -weight) * value;
}

// The derivative by a coordinate: its sum over levels, from 0. axis_slope: of grid_axis.
FN real grid_input_gradient(real sum, real slope, real axis_slope)
{
    return fma_(slope, axis_slope, sum);
}

#endif
