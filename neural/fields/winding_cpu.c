// Winding numbers in lanes, which are over the terms: a single point uses all of them.
#include "neural/fields/winding_cpu.h"

#include "neural/fields/winding_formula.h"

typedef float terms_row[ORR_WINDING_TERMS];

FN real3 load3(const terms_row *rows, int i)
{
    return make_real3(real_load(rows[0] + i), real_load(rows[1] + i), real_load(rows[2] + i));
}

FN winding_moments load_moments(const terms_row *rows, int i)
{
    winding_moments m;
    m.area = load3(rows, i);
    real *members[] = {&m.xx,  &m.xy,  &m.xz,  &m.yy,  &m.yz,  &m.zz,  &m.xxx, &m.xxy,
                       &m.xxz, &m.xyy, &m.xyz, &m.xzz, &m.yyy, &m.yyz, &m.yzz, &m.zzz};
    for (int k = 0; k < ORR_WINDING_MOMENTS - 3; k++) {
        *members[k] = real_load(rows[3 + k] + i);
    }
    return m;
}

FN real add_clusters(const orr_winding_terms *t, real3 point, real sum)
{
    for (int i = 0; i < t->cluster_count; i += ORR_LANES) {
        real3 y = sub3(load3(t->cluster, i), point);
        real w = winding_of_cluster(load_moments(t->cluster + 3, i), y);
        sum += sel(lanes_below(t->cluster_count - i), w, R(0.0));
    }
    return sum;
}

FN real add_triangles(const orr_winding_terms *t, real3 point, real sum)
{
    for (int i = 0; i < t->triangle_count; i += ORR_LANES) {
        real3 a = sub3(load3(t->triangle, i), point), b = sub3(load3(t->triangle + 3, i), point),
              c = sub3(load3(t->triangle + 6, i), point);
        sum += sel(lanes_below(t->triangle_count - i), winding_of_triangle(a, b, c), R(0.0));
    }
    return sum;
}

void ORR_ISA_NAME(orr_winding_add)(const orr_winding_terms *terms, const float (*points)[3], int count,
                                   double *sums)
{
    for (int p = 0; p < count; p++) {
        real3 point = make_real3(R(points[p][0]), R(points[p][1]), R(points[p][2]));
        sums[p] += real_sum_double(add_triangles(terms, point, add_clusters(terms, point, R(0.0))));
    }
}
