#include "render/splat_detail/splat_merge.h"

#include "engine/maths/diagonalise.h"

#include <math.h>
#include <string.h>

static double square(double a)
{
    return a * a;
}

static double length2(const double a[3])
{
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

double orr_merge_area(const orr_merge_node *node)
{
    const double p = 0.5 * 1.6075;
    const double a = pow(length2(node->axes[0]), p), b = pow(length2(node->axes[1]), p),
                 c = pow(length2(node->axes[2]), p);
    return pow((a * b + a * c + b * c) / 3.0, 0.5 / p);
}

double orr_merge_spread(const orr_merge_node *node)
{
    return 2.0 / 3.0 * (length2(node->axes[0]) + length2(node->axes[1]) + length2(node->axes[2]));
}

double orr_merge_longest(const orr_merge_node *node)
{
    return sqrt(fmax(fmax(length2(node->axes[0]), length2(node->axes[1])), length2(node->axes[2])));
}

// What a node covers where a pixel's blur adds the variance `blur` [layer units^2].
static double covered(const orr_merge_node *node, double blur)
{
    return sqrt(square(node->density * orr_merge_area(node)) +
                square(node->crowd) * blur * (node->breadth * orr_merge_spread(node) + blur));
}

// Mean and covariance of nodes that have these shares.
static void moments(const orr_merge_node *nodes, int count, const double *shares, double mean[3],
                    double covariance[3][3])
{
    memset(mean, 0, 3 * sizeof *mean);
    memset(covariance, 0, 9 * sizeof(double));
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            mean[k] += shares[i] * nodes[i].mean[k];
        }
    }
    for (int i = 0; i < count; i++) {
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++) {
                double sum = (nodes[i].mean[r] - mean[r]) * (nodes[i].mean[c] - mean[c]);
                for (int k = 0; k < 3; k++) {
                    sum += nodes[i].axes[k][r] * nodes[i].axes[k][c];
                }
                covariance[r][c] += shares[i] * sum;
            }
        }
    }
}

static void weigh(const orr_merge_node *nodes, int count, double blur, double *shares)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        shares[i] = covered(&nodes[i], blur);
        sum += shares[i];
    }
    for (int i = 0; i < count; i++) {
        shares[i] = sum > 0.0 ? shares[i] / sum : 1.0 / count;
    }
}

void orr_merge(const orr_merge_node *nodes, int count, double blur, orr_merge_node *merged, double *shares)
{
    double covariance[3][3], vectors[3][3];
    // the blur goes by the size of the result, which the shares decide in turn: twice is near enough
    double longest = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        weigh(nodes, count, blur * longest, shares);
        moments(nodes, count, shares, merged->mean, covariance);
        mat_diagonalise(covariance, vectors);
        longest = fmax(fmax(covariance[0][0], covariance[1][1]), covariance[2][2]);
    }
    for (int k = 0; k < 3; k++) {
        for (int r = 0; r < 3; r++) {
            merged->axes[k][r] = vectors[r][k] * sqrt(fmax(covariance[k][k], 0.0));
        }
    }
    double depth_area = 0.0, crowd = 0.0, breadth = 0.0, opacity = 0.0;
    for (int i = 0; i < count; i++) {
        depth_area += nodes[i].density * orr_merge_area(&nodes[i]);
        crowd += nodes[i].crowd;
        opacity += nodes[i].crowd * nodes[i].opacity;
        breadth += nodes[i].crowd * nodes[i].breadth * orr_merge_spread(&nodes[i]);
    }
    const double area = orr_merge_area(merged), spread = orr_merge_spread(merged);
    merged->density = area > 0.0 ? depth_area / area : crowd;
    merged->crowd = crowd;
    merged->opacity = crowd > 0.0 ? opacity / crowd : 0.0;
    merged->breadth = crowd * spread > 0.0 ? breadth / (crowd * spread) : 1.0;
}
