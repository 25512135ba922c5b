// One merged splat for several: the moments, and what it covers.
//
// Its mean and covariance are those of the sum of the Gaussians, each with the weight of what it covers
// (Kerbl et al. 2024). What it covers is an optical depth, which adds up; a splat's own is its opacity. It is
// described by these numbers, of which merged_project of splat_cut_formula.h makes an opacity:
//
//   density  sum of depth x area over the node's own area: its optical depth where it is larger than a pixel
//   crowd    sum of the depths: what counts where each splat is smaller than the blur of a pixel, which
//            gives all of them the same area
//   breadth  mean square size of the splats, weighted by depth, over the node's own: between these two
//
//   opacity  mean opacity of the splats, weighted by depth: a pixel gets nothing of a splat that covers less
//            than 1/255 of it, which takes the more, the fainter the splats are
//
// Areas are means over all directions.
#pragma once

enum { ORR_MERGE_MOST = 4 };

// Units of the layer.
typedef struct orr_merge_node {
    double mean[3];
    double axes[3][3]; // each scaled by its standard deviation
    double density, crowd, breadth, opacity;
} orr_merge_node;

// Geometric mean of the two standard deviations on the screen, squared; over all directions. Within 1.1 % for
// ellipsoids (Thomsen's formula of their surface, a quarter of which they show on average).
double orr_merge_area(const orr_merge_node *node);
// Variance along a line of the screen, over all directions; twice.
double orr_merge_spread(const orr_merge_node *node);
double orr_merge_longest(const orr_merge_node *node); // standard deviation

// Merges `count` nodes, at most ORR_MERGE_MOST. blur: variance that the blur of a pixel adds where the
// result will be drawn, relative to its longest axis squared; 0: none. shares: of each, what it weighs; their
// sum is 1.
void orr_merge(const orr_merge_node *nodes, int count, double blur, orr_merge_node *merged, double *shares);
