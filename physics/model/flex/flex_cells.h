// Cells of a soft body that nodes move (MuJoCo's <flexcomp> with dof trilinear or quadratic): a box of equal
// cells around the body, each with 8 or 27 nodes, between which positions are interpolated. The shares of the
// mass that the nodes have, and the stiffness of linear elasticity, of what fills each cell.
#pragma once

#include "engine/core/result.h"

#include <stdint.h>

enum { FLEX_ORDER_MAX = 2, FLEX_CELL_NODES_MAX = 27 };

typedef struct flex_cells {
    int order;              // 1: trilinear, 8 nodes in a cell; 2: quadratic, 27
    int count[3];           // cells along each axis, 1 or more
    double low[3], size[3]; // m: the box; size: above 0
    double young, poisson;  // Pa; 0 to below 0.5
} flex_cells;

// Nodes along an axis; of a cell; of all. Node (i, j, k) is number k + nz (j + ny i).
int flex_nodes_along(const flex_cells *cells, int axis);
int flex_nodes_of_cell(const flex_cells *cells);
int flex_node_count(const flex_cells *cells);
int flex_cell_count(const flex_cells *cells); // cell (i, j, k) is number k + cz (j + cy i)
void flex_cell_place(const flex_cells *cells, int cell, int32_t at[3]);
// The numbers of a cell's nodes, in the order of the rows of its stiffness.
void flex_nodes_in_cell(const flex_cells *cells, int cell, int32_t node[FLEX_CELL_NODES_MAX]);

// The nodes between which a point is interpolated and their weights, of sum 1; those of weight 0 are left
// out.
// Points outside of the box follow the cell that is nearest along each axis. Returns how many.
int flex_nodes_around(const flex_cells *cells, const double point[3], int32_t node[FLEX_CELL_NODES_MAX],
                      double weight[FLEX_CELL_NODES_MAX]);

// point: points x 3, m. element: elements x (dim + 1), with dim 3 tetrahedra and with dim 2 triangles of a
// closed surface around what is solid.
// share: zeroed, nodes; not normalised. stiffness: zeroed, cells x (3 nodes of a cell)^2 [N/m], as MuJoCo's
// flex_stiffness less than 0: forces are its product with displacements. empty: cells; nothing is in it.
// *why: what was expected, where the surface is not closed or the body has no volume; else NULL.
orr_result flex_fill_cells(const flex_cells *cells, const double *point, const int32_t *element, int elements,
                           int dim, double *share, double *stiffness, uint8_t *empty, const char **why,
                           orr_error *error);
