#include "engine/collider/convex_parts.h"

#include "engine/core/memory.h"

#include <libqhull_r/qhull_ra.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SIDE = 64,  // voxels along the longest side
    PLANES = 7, // that are tried across each axis of a part
    LINES = (SIDE + 1) * (SIDE + 1),
    POINTS = 2 * LINES,
    TURNS = 4 // steps towards the surface
};

// Voxels of all parts; a part is a box of the lattice and the voxels in it that carry its number, so that
// parts whose boxes meet stay apart.
typedef struct lattice {
    const orr_distance_grid *grid;
    bool boxes;
    double origin[3], step; // corner of voxel 0; edge of a voxel
    int size[3];
    uint8_t *part;   // size[2] x size[1] x size[0]: 0 empty, otherwise 1 + number of the part
    double *points;  // POINTS x 3, for one hull
    int16_t *extent; // LINES x 2: lowest and highest corner along x of the solid voxels around a line
    FILE *silence;   // qhull writes its messages to a stream
} lattice;

typedef struct part {
    int low[3], high[3];  // voxels low .. high - 1
    double solid, around; // volume of the voxels, and of their hull or box; in voxels
} part;

static size_t index_of(const lattice *l, int x, int y, int z)
{
    return ((size_t)z * (size_t)l->size[1] + (size_t)y) * (size_t)l->size[0] + (size_t)x;
}

static void widen(int16_t *extent, int x)
{
    if (extent[1] < 0) {
        extent[0] = extent[1] = (int16_t)x;
    }
    extent[0] = (int16_t)(x < extent[0] ? x : extent[0]);
    extent[1] = (int16_t)(x + 1 > extent[1] ? x + 1 : extent[1]);
}

// Appends the vertices of the hull of a layer's corners on one side: end 0 of its lines, or 1. Returns the
// number of points.
static int add_chain(lattice *l, int z, int end, int count)
{
    const double side = end == 0 ? 1.0 : -1.0;
    const int first = count;
    for (int y = 0; y <= SIDE; y++) {
        const int16_t *extent = l->extent + 2 * ((size_t)z * (SIDE + 1) + (size_t)y);
        if (extent[1] < 0) {
            continue;
        }
        const double point[3] = {extent[end], y, z};
        while (count - first >= 2) { // the last one is not outside the line from the one before
            const double *b = l->points + (size_t)3 * (size_t)(count - 1), *a = b - 3;
            if (side * ((b[0] - a[0]) * (point[1] - a[1]) - (point[0] - a[0]) * (b[1] - a[1])) < 0.0) {
                break;
            }
            count--;
        }
        memcpy(l->points + (size_t)3 * (size_t)count++, point, sizeof point);
    }
    return count;
}

// The corners of voxels numbered `a` or `b` within low .. high that can be vertices of their hull: those of
// the hulls of the layers along z. Returns their number; *solid counts the voxels.
static int find_corners(lattice *l, const int low[3], const int high[3], int a, int b, double *solid)
{
    *solid = 0.0;
    for (int i = 0; i < LINES; i++) {
        l->extent[2 * i + 1] = -1;
    }
    for (int z = low[2]; z < high[2]; z++) {
        for (int y = low[1]; y < high[1]; y++) {
            for (int x = low[0]; x < high[0]; x++) {
                int number = l->part[index_of(l, x, y, z)];
                if (number == 0 || (number != a && number != b)) {
                    continue;
                }
                *solid += 1.0;
                for (int corner = 0; corner < 4; corner++) {
                    int line = (z + corner / 2) * (SIDE + 1) + y + corner % 2;
                    widen(l->extent + (size_t)2 * (size_t)line, x);
                }
            }
        }
    }
    int count = 0;
    for (int z = low[2]; z <= high[2]; z++) {
        count = add_chain(l, z, 0, count);
        count = add_chain(l, z, 1, count);
    }
    return count;
}

static void bounds_of(const double *points, int count, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY, high[k] = -INFINITY;
        for (int i = 0; i < count; i++) {
            low[k] = fmin(low[k], points[3 * i + k]);
            high[k] = fmax(high[k], points[3 * i + k]);
        }
    }
}

static double box_volume(const double *points, int count)
{
    double low[3], high[3];
    bounds_of(points, count, low, high);
    return (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]);
}

// One of `count` directions that are spread over the sphere.
static void find_way(int number, int count, double way[3])
{
    double z = 1.0 - (2.0 * number + 1.0) / count, angle = 2.399963229728653 * number; // the golden angle
    double r = sqrt(1.0 - z * z);
    way[0] = r * cos(angle);
    way[1] = r * sin(angle);
    way[2] = z;
}

static double along_way(const double point[3], const double way[3])
{
    return point[0] * way[0] + point[1] * way[1] + point[2] * way[2];
}

// Keeps the farthest points along ORR_CONVEX_POINTS directions, which spiral over the sphere; returns their
// number.
static int pick_points(double *points, int count)
{
    double picked[3 * ORR_CONVEX_POINTS];
    int chosen[ORR_CONVEX_POINTS], number = 0;
    for (int d = 0; d < ORR_CONVEX_POINTS; d++) {
        double way[3], farthest = -INFINITY;
        int best = 0;
        find_way(d, ORR_CONVEX_POINTS, way);
        for (int i = 0; i < count; i++) {
            double along = along_way(points + (ptrdiff_t)3 * i, way);
            if (along > farthest) {
                farthest = along, best = i;
            }
        }
        bool known = false;
        for (int i = 0; i < number; i++) {
            known |= chosen[i] == best;
        }
        if (!known) {
            chosen[number++] = best;
        }
    }
    for (int i = 0; i < number; i++) {
        memcpy(picked + (ptrdiff_t)3 * i, points + (ptrdiff_t)3 * chosen[i], 3 * sizeof *points);
    }
    memcpy(points, picked, 3 * sizeof *points * (size_t)number);
    return number;
}

// 0 where the points are in a plane.
static double hull_volume(const lattice *l, int count)
{

    qhT state, *qh = &state;
    char options[] = "qhull FA";
    double volume = 0.0;
    qh_zero(qh, l->silence);
    if (qh_new_qhull(qh, 3, count, l->points, False, options, l->silence, l->silence) == qh_ERRnone) {
        qh_getarea(qh, qh->facet_list);
        volume = qh->totvol;
    }
    int left, total;
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &left, &total);
    return volume;
}

// The volume of the hull or box around voxels; 0: there are none.
static double measure(lattice *l, const int low[3], const int high[3], int a, int b, double *solid)
{
    int count = find_corners(l, low, high, a, b, solid);
    if (count == 0) {
        return 0.0;
    }
    return l->boxes ? box_volume(l->points, count) : hull_volume(l, pick_points(l->points, count));
}

// What is around both sides of a plane, and a little for sides of different size: a tray has no plane that
// takes empty space away, but its halves have. INFINITY: a side is empty.
static double measure_split(lattice *l, const part *p, int number, int axis, int at)
{
    int high[3] = {p->high[0], p->high[1], p->high[2]}, low[3] = {p->low[0], p->low[1], p->low[2]};
    double below, above;
    high[axis] = low[axis] = at;
    double around = measure(l, p->low, high, number, number, &below);
    around += measure(l, low, p->high, number, number, &above);
    return below > 0.0 && above > 0.0 ? around + 0.02 * fabs(below - above) : INFINITY;
}

// The best of PLANES planes across each axis, and then of those near it. false: none has voxels on both
// sides.
static bool find_plane(lattice *l, const part *p, int number, int *axis, int *at)
{
    double best = INFINITY;
    int middle = 0, step = 0;
    for (int k = 0; k < 3; k++) {
        int length = p->high[k] - p->low[k], planes = length - 1 < PLANES ? length - 1 : PLANES;
        for (int i = 1; i <= planes; i++) {
            int cut = p->low[k] + i * length / (planes + 1);
            double cost = measure_split(l, p, number, k, cut);
            if (cost < best) {
                best = cost, *axis = k, *at = middle = cut, step = length / (planes + 1);
            }
        }
    }
    for (int cut = middle - step + 1; cut < middle + step; cut++) {
        double cost = cut == middle ? best : measure_split(l, p, number, *axis, cut);
        if (cost < best) {
            best = cost, *at = cut;
        }
    }
    return best < INFINITY;
}

static void renumber(lattice *l, const part *p, int from, int to)
{
    for (int z = p->low[2]; z < p->high[2]; z++) {
        for (int y = p->low[1]; y < p->high[1]; y++) {
            for (int x = p->low[0]; x < p->high[0]; x++) {
                uint8_t *number = &l->part[index_of(l, x, y, z)];
                *number = (uint8_t)(*number == from ? to : *number);
            }
        }
    }
}

// Splits the part with the most empty space, until that is under `slack` or there are max_parts parts.
static int split(lattice *l, part *parts, int max_parts, double slack)
{
    bool whole[ORR_BODY_PARTS_MAX] = {false}; // a voxel wide
    int count = 1;
    while (count < max_parts) {
        int worst = -1, axis = 0, at = 0;
        for (int i = 0; i < count; i++) {
            double empty = parts[i].around - parts[i].solid;
            if (!whole[i] && empty > slack * parts[i].solid &&
                (worst < 0 || empty > parts[worst].around - parts[worst].solid)) {
                worst = i;
            }
        }
        if (worst < 0) {
            break;
        }
        if (!find_plane(l, &parts[worst], worst + 1, &axis, &at)) {
            whole[worst] = true;
            continue;
        }
        part *low = &parts[worst], *high = &parts[count];
        *high = *low;
        low->high[axis] = high->low[axis] = at;
        renumber(l, high, worst + 1, count + 1);
        low->around = measure(l, low->low, low->high, worst + 1, worst + 1, &low->solid);
        high->around = measure(l, high->low, high->high, count + 1, count + 1, &high->solid);
        count++;
    }
    return count;
}

static void box_of_two(const part *a, const part *b, part *both)
{
    for (int k = 0; k < 3; k++) {
        both->low[k] = a->low[k] < b->low[k] ? a->low[k] : b->low[k];
        both->high[k] = a->high[k] > b->high[k] ? a->high[k] : b->high[k];
    }
}

// Empty space that the hull or box of two parts adds; INFINITY: they do not touch.
static double measure_join(lattice *l, const part *parts, int i, int k, part *both)
{
    const part *a = &parts[i], *b = &parts[k];
    for (int axis = 0; axis < 3; axis++) {
        if (a->high[axis] < b->low[axis] || b->high[axis] < a->low[axis]) {
            return INFINITY;
        }
    }
    box_of_two(a, b, both);
    both->around = measure(l, both->low, both->high, i + 1, k + 1, &both->solid);
    return both->around - a->around - b->around;
}

// Joins the pair that adds the least empty space, while that is under `slack` of the pair or there are more
// than max_parts.
static int join(lattice *l, part *parts, int count, int max_parts, double slack)
{
    double added[ORR_BODY_PARTS_MAX][ORR_BODY_PARTS_MAX];
    part both;
    for (int i = 0; i < count; i++) {
        for (int k = i + 1; k < count; k++) {
            added[i][k] = measure_join(l, parts, i, k, &both);
        }
    }
    for (;;) {
        int first = -1, second = -1;
        double least = INFINITY;
        for (int i = 0; i < count; i++) {
            for (int k = i + 1; k < count; k++) {
                if (added[i][k] < least) {
                    least = added[i][k], first = i, second = k;
                }
            }
        }
        if (first < 0 ||
            (least >= slack * (parts[first].solid + parts[second].solid) && count <= max_parts)) {
            return count;
        }
        measure_join(l, parts, first, second, &both);
        count--;
        renumber(l, &both, second + 1, first + 1);
        renumber(l, &parts[count], count + 1, second + 1);
        parts[second] = parts[count];
        parts[first] = both;
        const int changed[2] = {first, second};
        for (int c = 0; c < 2; c++) {
            for (int i = 0; i < count; i++) {
                int low = i < changed[c] ? i : changed[c], high = i < changed[c] ? changed[c] : i;
                if (low < high && high < count) {
                    added[low][high] = measure_join(l, parts, low, high, &both);
                }
            }
        }
    }
}

// How far the surface is from the middle of a voxel's face, against the face's outward normal; in voxels,
// negative where the surface is outside.
static double depth_of_surface(const lattice *l, const int voxel[3], int axis, int outward)
{
    double middle[3], depth = 0.0;
    for (int k = 0; k < 3; k++) {
        middle[k] = l->origin[k] + l->step * (voxel[k] + 0.5 + (k == axis ? 0.5 * outward : 0.0));
    }
    for (int turn = 0; turn < TURNS; turn++) {
        double point[3] = {middle[0], middle[1], middle[2]};
        point[axis] -= outward * depth * l->step;
        depth = fmax(-0.5, fmin(1.0, depth + orr_distance_grid_at(l->grid, point, NULL) / l->step));
    }
    return depth;
}

// The number of the part that a voxel belongs to; 0: empty, or not of the lattice.
static int part_at(const lattice *l, const int voxel[3])
{
    for (int k = 0; k < 3; k++) {
        if (voxel[k] < 0 || voxel[k] >= l->size[k]) {
            return 0;
        }
    }
    return l->part[index_of(l, voxel[0], voxel[1], voxel[2])];
}

// Moves a point by up to a voxel to where the distance is 0, along its gradient. Where it nearly is there it
// stays: the grid rounds edges.
static void move_to_surface(const lattice *l, double point[3])
{
    const double near_enough = 0.1 * l->step;
    double at[3] = {point[0], point[1], point[2]}, left = l->step;
    for (int turn = 0; turn < TURNS; turn++) {
        double gradient[3], distance = orr_distance_grid_at(l->grid, at, gradient);
        double square = gradient[0] * gradient[0] + gradient[1] * gradient[1] + gradient[2] * gradient[2];
        if (fabs(distance) < near_enough || square < 0.25) {
            break;
        }
        double step = fmax(-left, fmin(left, distance / sqrt(square)));
        left -= fabs(step);
        for (int k = 0; k < 3; k++) {
            at[k] -= step * gradient[k] / sqrt(square);
        }
    }
    memcpy(point, at, sizeof at);
}

// Moves a corner of a part's voxels onto the surface, along each axis by the mean depth of the surface under
// the part's bare faces at the corner: those towards other parts stay where they are.
static void place_point(const lattice *l, int number, double point[3])
{
    double depth[3] = {0.0};
    int faces[3] = {0};
    for (int side = 0; side < 8; side++) {
        int voxel[3];
        for (int k = 0; k < 3; k++) {
            voxel[k] = (int)point[k] - (side >> k & 1);
        }
        if (part_at(l, voxel) != number) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            int outward = side >> k & 1 ? 1 : -1, next[3] = {voxel[0], voxel[1], voxel[2]};
            next[k] += outward;
            if (part_at(l, next) == 0) {
                depth[k] -= outward * depth_of_surface(l, voxel, k, outward);
                faces[k]++;
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        double moved = point[k] + (faces[k] > 0 ? depth[k] / faces[k] : 0.0);
        point[k] = l->origin[k] + l->step * moved;
    }
    if (faces[0] + faces[1] + faces[2] > 0) {
        move_to_surface(l, point);
    }
}

// All corners of a part's voxels but those inside of it: of a curved surface not only the hull's corners,
// which are the rims of flat layers. points: nullable. Returns their number.
static size_t list_corners(const lattice *l, const part *of, int number, double *points)
{
    size_t count = 0;
    for (int z = of->low[2]; z <= of->high[2]; z++) {
        for (int y = of->low[1]; y <= of->high[1]; y++) {
            for (int x = of->low[0]; x <= of->high[0]; x++) {
                int around = 0;
                for (int side = 0; side < 8; side++) {
                    const int voxel[3] = {x - (side & 1), y - (side >> 1 & 1), z - (side >> 2)};
                    around += part_at(l, voxel) == number;
                }
                if (around == 0 || around == 8) {
                    continue;
                }
                if (points) {
                    const double corner[3] = {x, y, z};
                    memcpy(points + 3 * count, corner, sizeof corner);
                }
                count++;
            }
        }
    }
    return count;
}

// Keeps of many points those whose hull is closest to that of all: one after the other the farthest along the
// direction in which the hull of those before it falls short most. Returns how many.
static int pick_outermost(const double *points, size_t count, double least, double *picked)
{
    enum { WAYS = 1024 };
    double way[WAYS][3], all[WAYS], reached[WAYS];
    size_t farthest[WAYS];
    for (int d = 0; d < WAYS; d++) {
        find_way(d, WAYS, way[d]);
        all[d] = reached[d] = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            double along = along_way(points + 3 * i, way[d]);
            if (along > all[d]) {
                all[d] = along, farthest[d] = i;
            }
        }
    }
    int number = 0;
    for (int next = 0; number < ORR_CONVEX_POINTS; number++) {
        const double *point = points + 3 * farthest[next];
        memcpy(picked + (ptrdiff_t)3 * number, point, 3 * sizeof *point);
        for (int d = 0; d < WAYS; d++) {
            reached[d] = fmax(reached[d], along_way(point, way[d]));
        }
        for (int d = 0; d < WAYS; d++) {
            next = all[d] - reached[d] > all[next] - reached[next] ? d : next;
        }
        if (all[next] - reached[next] < least) {
            return number + 1;
        }
    }
    return number;
}

// Writes to l->points the corners of a part on the surface, as many as a hull or a box may have. Returns
// their number; -1: out of memory.
static int place_part(lattice *l, const part *of, int number)
{
    const size_t count = list_corners(l, of, number, NULL);
    double *points = orr_alloc(3 * count, sizeof *points);
    if (!points) {
        return -1;
    }
    list_corners(l, of, number, points);
    for (size_t k = 0; k < count; k++) {
        place_point(l, number, points + 3 * k);
    }
    int picked = 2;
    if (l->boxes) {
        bounds_of(points, (int)count, l->points, l->points + 3);
    } else {
        picked = pick_outermost(points, count, 0.02 * l->step, l->points);
    }
    orr_free(points);
    return picked;
}

// Parts that are flat once they are on the surface are left out. Returns whether there was memory.
static bool write_parts(lattice *l, const part *of, int count, orr_convex_parts *parts)
{
    const double least = 0.02 * l->step * l->step * l->step;
    for (int i = 0; i < count; i++) {
        const int points = place_part(l, &of[i], i + 1);
        float *to = parts->points + (size_t)3 * (size_t)parts->start[parts->count];
        if (points < 0) {
            return false;
        }
        if ((l->boxes ? box_volume(l->points, points) : hull_volume(l, points)) < least) {
            continue;
        }
        for (int k = 0; k < 3 * points; k++) {
            to[k] = (float)l->points[k];
        }
        parts->start[parts->count + 1] = parts->start[parts->count] + points;
        parts->count++;
    }
    return true;
}

// Voxels whose middle is inside, or so near the surface that a wall thinner than a voxel has no holes.
static double fill(lattice *l)
{
    const orr_distance_grid *g = l->grid;
    double solid = 0.0;
    for (int z = 0; z < l->size[2]; z++) {
        for (int y = 0; y < l->size[1]; y++) {
            for (int x = 0; x < l->size[0]; x++) {
                const double middle[3] = {l->origin[0] + l->step * (x + 0.5),
                                          l->origin[1] + l->step * (y + 0.5),
                                          l->origin[2] + l->step * (z + 0.5)};
                bool inside = orr_distance_grid_at(g, middle, NULL) < 0.35 * l->step;
                l->part[index_of(l, x, y, z)] = inside;
                solid += inside;
            }
        }
    }
    return solid;
}

static void lay_out(lattice *l)
{
    double length[3], longest = 0.0;
    for (int k = 0; k < 3; k++) {
        length[k] = l->grid->cell * ORR_GRID_BRICK * l->grid->bricks[k];
        longest = fmax(longest, length[k]);
    }
    l->step = longest / SIDE;
    for (int k = 0; k < 3; k++) {
        l->size[k] = (int)fmin(SIDE, fmax(1.0, ceil(length[k] / l->step - 1e-9)));
        l->origin[k] = l->grid->origin[k];
    }
}

orr_result orr_convex_parts_make(const orr_distance_grid *grid, int max_parts, double slack, bool boxes,
                                 const char *name, orr_convex_parts *parts, orr_error *error)
{
    *parts = (orr_convex_parts){0};
    lattice l = {.grid = grid, .boxes = boxes, .silence = fopen("/dev/null", "w")};
    lay_out(&l);
    l.part = orr_alloc(index_of(&l, 0, 0, l.size[2]), 1);
    l.points = orr_alloc(3 * (size_t)POINTS, sizeof *l.points);
    l.extent = orr_alloc(2 * (size_t)LINES, sizeof *l.extent);
    parts->points = orr_alloc(3 * (size_t)max_parts * ORR_CONVEX_POINTS, sizeof *parts->points);
    orr_result result = ORR_OK;
    if (!l.silence || !l.part || !l.points || !l.extent || !parts->points) {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: convex parts of %s", name);
    } else if (fill(&l) == 0.0) {
        result = orr_fail(error, ORR_CODE_ARGUMENT, "%s: a body: expected a shape with an inside", name);
    } else {
        part of[ORR_BODY_PARTS_MAX] = {{.high = {l.size[0], l.size[1], l.size[2]}}};
        of[0].around = measure(&l, of[0].low, of[0].high, 1, 1, &of[0].solid);
        int count = split(&l, of, 3 * max_parts < ORR_BODY_PARTS_MAX ? 3 * max_parts : ORR_BODY_PARTS_MAX,
                          slack); // some of the cuts only prepare others
        if (!write_parts(&l, of, join(&l, of, count, max_parts, slack), parts)) {
            result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: convex parts of %s", name);
        } else if (parts->count == 0) {
            result = orr_fail(error, ORR_CODE_ARGUMENT, "%s: a body: expected a shape with an inside", name);
        }
    }
    if (l.silence) {
        fclose(l.silence);
    }
    orr_free(l.part);
    orr_free(l.points);
    orr_free(l.extent);
    if (result != ORR_OK) {
        orr_convex_parts_free(parts);
    }
    return result;
}

void orr_convex_parts_free(orr_convex_parts *parts)
{
    orr_free(parts->points);
    *parts = (orr_convex_parts){0};
}
