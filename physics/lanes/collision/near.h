// Which geoms are near, for models with many pairs of geoms: those whose boxes in all lanes of the block
// overlap, found by comparing boxes or by a tree over them. What becomes of the pairs does not depend on
// which, and their order is that of their geoms.
#pragma once

#include "physics/lanes/collision/speculative.h"
#include "physics/lanes/share.h"
#include "physics/lanes/sleep.h"

enum { BOXES_PER_LEAF = 4 };

// The box of what reaches so far from a centre along an axis, in all lanes. A tolerance for rounding is
// included; what is not a number is left out.
FN void extent_along(real centre, real reach, float *least, float *most)
{
    real tolerance = R(1e-5) * (R(1.0) + abs_(centre) + reach);
    real low = centre - reach - tolerance, high = centre + reach + tolerance;
    real none = R(-1e30);
    float below = most_in_lanes(sel(low < -none, -low, none));
    float above = most_in_lanes(sel(high > none, high, none));
    *least = below < 1e30f ? -below : -1e30f;
    *most = above < 1e30f ? above : 1e30f;
}

// How far from its surface a geom can have contacts: its share of a pair's margin.
FN double geom_reach(const lane_model *m, int geom)
{
    int common = m->opt.enableflags & ORR_ENABLE_OVERRIDE;
    return (common ? 0.5 * m->opt.o_margin : (double)m->geom_margin[geom]) + (double)m->geom_gap[geom];
}

// Half the sides of the box around a geom along the world's axes, and its centre. Grids and height fields
// have the box of their bounding sphere.
FN real3 world_box(const lane_model *m, const lane_data *d, int geom, real3 *centre)
{
    int type = m->geom_type[geom];
    if (type == ORR_GEOM_SDF || type == ORR_GEOM_HFIELD) {
        real radius = geom_rbound(m, d, geom);
        *centre = load3(d->geom_xpos, geom);
        return make_real3(radius, radius, radius);
    }
    lane_geom g = load_geom(m, d, geom);
    real3 half = lane_box(m, &g, geom, centre);
    *centre = add3(*centre, g.pos);
    matrix3 f = g.frame;
    return make_real3(fma_(half.x, abs_(f.x.x), fma_(half.y, abs_(f.y.x), half.z * abs_(f.z.x))),
                      fma_(half.x, abs_(f.x.y), fma_(half.y, abs_(f.y.y), half.z * abs_(f.z.y))),
                      fma_(half.x, abs_(f.x.z), fma_(half.y, abs_(f.y.z), half.z * abs_(f.z.z))));
}

// The box of number `k` of the plan's list.
LANE_FN void find_extent(const lane_model *m, const lane_data *d, int k, lane_extent *e)
{
    int geom = m->plan->boxed_geom[k];
    real3 centre, half = world_box(m, d, geom, &centre);
    real reach = R(geom_reach(m, geom));
    if (speculates(m) || m->ngrid > 0) { // all that it passes in this step
        lane_geom g = load_geom(m, d, geom);
        lane_motion motion = motion_of_geom(m, d, geom, &g);
        real3 slide = scale3(motion.slide, R(0.5));
        centre = add3(centre, slide);
        half = add3(half, make_real3(abs_(slide.x), abs_(slide.y), abs_(slide.z)));
        reach = reach + motion.spin;
    }
    extent_along(centre.x, half.x + reach, &e->low[0], &e->high[0]);
    extent_along(centre.y, half.y + reach, &e->low[1], &e->high[1]);
    extent_along(centre.z, half.z + reach, &e->low[2], &e->high[2]);
    e->geom = geom;
    e->weld = m->body_weldid[m->geom_bodyid[geom]];
}

// The axis along which the boxes' middles are farthest apart.
LANE_FN int widest_axis(const lane_extent *extent, int count)
{
    float widest = -1.0f;
    int best = 0;
    for (int axis = 0; axis < 3; axis++) {
        float least = 1e30f, most = -1e30f;
        for (int k = 0; k < count; k++) {
            float middle = 0.5f * (extent[k].low[axis] + extent[k].high[axis]);
            least = middle < least ? middle : least;
            most = middle > most ? middle : most;
        }
        if (most - least > widest) {
            widest = most - least;
            best = axis;
        }
    }
    return best;
}

// Hoare's selection: `half` boxes before the others along the axis.
LANE_FN void split_extents(lane_extent *extent, int count, int half, int axis)
{
    int left = 0, right = count - 1;
    while (left < right) {
        float pivot = extent[half].low[axis] + extent[half].high[axis];
        int i = left, j = right;
        while (i <= j) {
            while (extent[i].low[axis] + extent[i].high[axis] < pivot) {
                i++;
            }
            while (extent[j].low[axis] + extent[j].high[axis] > pivot) {
                j--;
            }
            if (i <= j) {
                lane_extent e = extent[i];
                extent[i++] = extent[j];
                extent[j--] = e;
            }
        }
        left = j < half ? i : left;
        right = i > half ? j : right;
    }
}

FN void join_box(lane_box_node *node, const float low[3], const float high[3])
{
    for (int axis = 0; axis < 3; axis++) {
        node->low[axis] = low[axis] < node->low[axis] ? low[axis] : node->low[axis];
        node->high[axis] = high[axis] > node->high[axis] ? high[axis] : node->high[axis];
    }
}

// A tree over d->extent[first ...], in preorder: the children of an inner node are the next node and the one
// at which that child's subtree ends. Returns the number of nodes.
LANE_FN int build_tree(lane_data *d, lane_box_node *node, int first, int count)
{
    int waiting[2][32], nodes = 0; // ranges: first, count
    waiting[0][0] = first;
    waiting[1][0] = count;
    for (int open = count > 0; open > 0;) {
        int at = waiting[0][--open], size = waiting[1][open];
        node[nodes].first = at;
        node[nodes++].count = size;
        if (size > BOXES_PER_LEAF) {
            lane_extent *extent = d->extent + at;
            split_extents(extent, size, size / 2, widest_axis(extent, size));
            waiting[0][open] = at + size / 2; // halves: never more than 31 wait
            waiting[1][open++] = size - size / 2;
            waiting[0][open] = at;
            waiting[1][open++] = size / 2;
        }
    }
    for (int i = nodes - 1; i >= 0; i--) {
        int leaf = node[i].count <= BOXES_PER_LEAF;
        for (int axis = 0; axis < 3; axis++) {
            node[i].low[axis] = 1e30f;
            node[i].high[axis] = -1e30f;
        }
        for (int k = 0; k < node[i].count && leaf; k++) {
            join_box(&node[i], d->extent[node[i].first + k].low, d->extent[node[i].first + k].high);
        }
        if (!leaf) {
            int second = node[i + 1].end;
            join_box(&node[i], node[i + 1].low, node[i + 1].high);
            join_box(&node[i], node[second].low, node[second].high);
        }
        node[i].end = leaf ? i + 1 : node[node[i + 1].end].end;
    }
    return nodes;
}

// The undeclared pair of two geoms, or -1.
FN int find_pair(const orr_plan *plan, int geom1, int geom2)
{
    int low = geom1 < geom2 ? geom1 : geom2, high = geom1 < geom2 ? geom2 : geom1;
    int64_t word = (int64_t)low * plan->pair_words + high / 32;
    uint32_t bits = plan->pair_bits[word] >> high % 32;
    return bits & 1 ? plan->pair_before[word] + bits_set(plan->pair_bits[word]) - bits_set(bits) : -1;
}

// Geoms whose boxes overlap: a listed pair gets its bit; others are written down.
FN void add_near(const lane_model *m, lane_data *d, int a, int b)
{
    if (!m->plan->pairs_mixed) {
        int pair = find_pair(m->plan, a, b);
        if (pair >= 0) {
            d->near_pair[pair / 32] |= 1u << pair % 32;
        }
    } else if (d->near_count < m->plan->near_capacity) {
        d->near_geoms[2 * d->near_count] = a < b ? a : b;
        d->near_geoms[2 * d->near_count++ + 1] = a < b ? b : a;
    } else {
        d->near_missed++;
    }
}

FN int boxes_overlap(const float low1[3], const float high1[3], const float low2[3], const float high2[3])
{
    return low1[0] <= high2[0] && low2[0] <= high1[0] && low1[1] <= high2[1] && low2[1] <= high1[1] &&
           low1[2] <= high2[2] && low2[2] <= high1[2];
}

// Pairs of extent k with those of a tree that come behind it in d->extent.
LANE_FN void search_tree(const lane_model *m, lane_data *d, int k, const lane_box_node *node, int nodes)
{
    const lane_extent e = d->extent[k];
    for (int i = 0; i < nodes;) {
        int end = node[i].first + node[i].count;
        if (end <= k + 1 || !boxes_overlap(e.low, e.high, node[i].low, node[i].high)) {
            i = node[i].end;
            continue;
        }
        int first = node[i].first > k ? node[i].first : k + 1;
        for (int other = first; other < end && node[i].count <= BOXES_PER_LEAF; other++) {
            const lane_extent *o = &d->extent[other];
            if (e.weld != o->weld && boxes_overlap(e.low, e.high, o->low, o->high)) {
                add_near(m, d, e.geom, o->geom);
            }
        }
        i++;
    }
}

// Which of LANE_BOXES boxes overlap one. Written for the compiler to vectorise.
LANE_FN uint32_t boxes_overlapping(const float *side, const lane_extent *e)
{
    const float *low = side, *high = side + 3 * LANE_BOXES;
    uint32_t bits = 0;
    for (int k = 0; k < LANE_BOXES; k++) {
        int x = (e->low[0] <= high[k]) & (low[k] <= e->high[0]);
        int y = (e->low[1] <= high[LANE_BOXES + k]) & (low[LANE_BOXES + k] <= e->high[1]);
        int z = (e->low[2] <= high[2 * LANE_BOXES + k]) & (low[2 * LANE_BOXES + k] <= e->high[2]);
        bits |= x & y & z ? 1u << k : 0u;
    }
    return bits;
}

// Of each 32 geoms, the box around their boxes: low x, y, z, then high ones.
FN float *box_of_word(const lane_model *m, const lane_data *d, int word)
{
    return d->box_side + (m->plan->pair_words * LANE_BOXES + word) * 6;
}

// Written for the compiler to vectorise.
LANE_FN void join_sides(const float *side, float *joined)
{
    for (int axis = 0; axis < 3; axis++) {
        const float *low = side + axis * LANE_BOXES, *high = side + (3 + axis) * LANE_BOXES;
        float least = low[0], most = high[0];
        for (int k = 1; k < LANE_BOXES; k++) {
            least = low[k] < least ? low[k] : least;
            most = high[k] > most ? high[k] : most;
        }
        joined[axis] = least;
        joined[3 + axis] = most;
    }
}

// Boxes of the geoms that move, and at first of those that cannot; other geoms have none that overlaps.
LANE_FN void place_boxes(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    for (int i = 0; i < plan->pair_words * 6 * LANE_BOXES && d->fixed_nodes == 0; i++) {
        d->box_side[i] = i / LANE_BOXES % 6 < 3 ? 1e30f : -1e30f;
    }
    int count = d->fixed_nodes == 0 ? plan->boxed_count : plan->boxed_moving;
    for (int k = 0; k < count; k++) {
        lane_extent *e = &d->extent[k];
        find_extent(m, d, k, e);
        float *side = d->box_side + e->geom / LANE_BOXES * 6 * LANE_BOXES + e->geom % LANE_BOXES;
        for (int axis = 0; axis < 3; axis++) {
            side[axis * LANE_BOXES] = e->low[axis];
            side[(3 + axis) * LANE_BOXES] = e->high[axis];
        }
    }
    for (int word = 0; word < plan->pair_words; word++) {
        join_sides(d->box_side + word * 6 * LANE_BOXES, box_of_word(m, d, word));
    }
    d->fixed_nodes = 1; // kept like their tree
}

// The listed pairs whose boxes overlap: a few hundred geoms are compared sooner than sorted into a tree. Each
// is compared with the box around 32 others at first, which are often those of one body.
LANE_FN void compare_boxes(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    place_boxes(m, d);
    for (int k = 0; k < plan->boxed_moving; k++) {
        const lane_extent *e = &d->extent[k];
        const uint32_t *paired = plan->pair_bits + (int64_t)e->geom * plan->pair_words;
        for (int word = 0; word < plan->pair_words; word++) {
            // of two that move the first finds the pair: few words have one of its others
            uint32_t left = paired[word] | plan->boxed_fixed[word];
            const float *around = box_of_word(m, d, word);
            if (left == 0 || !boxes_overlap(e->low, e->high, around, around + 3)) {
                continue;
            }
            left &= boxes_overlapping(d->box_side + word * 6 * LANE_BOXES, e);
            for (; left != 0; left &= left - 1) {
                add_near(m, d, e->geom, word * LANE_BOXES + lowest_bit(left));
            }
        }
    }
}

// Pairs of planes with the geoms on their front that are near.
LANE_FN void search_planes(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    for (int i = 0; i < plan->plane_count; i++) {
        int plane = plan->plane_geom[i];
        int fixed = m->body_weldid[m->geom_bodyid[plane]] == 0;
        real3 pos = load3(d->geom_xpos, plane), normal = load_matrix(d->geom_xmat, plane).z;
        int listed = fixed && has_lists(d); // what rests does not meet what cannot move
        int count = listed ? d->kept->boxes_moving : fixed ? plan->boxed_moving : plan->boxed_count;
        for (int k = 0; k < count; k++) {
            int geom = d->extent[k].geom;
            real reach = geom_rbound(m, d, geom) + R(geom_reach(m, geom) + geom_reach(m, plane));
            if (speculates(m)) {
                lane_geom g = load_geom(m, d, geom);
                reach = reach + length3(motion_of_geom(m, d, geom, &g).slide);
            }
            if (any(dot3(sub3(load3(d->geom_xpos, geom), pos), normal) <= reach)) {
                add_near(m, d, plane, geom);
            }
        }
    }
}

#if !defined(__CUDACC__)
enum { BOXES_OF_PART = 128, BOX_PARTS_LEAST = 4 };

LANE_FN void find_part_of_extents(const lane_model *m, lane_data *d, const void *context, int part,
                                  int worker)
{
    (void)context;
    (void)worker;
    for (int k = part * BOXES_OF_PART; k < part_end(m->plan->boxed_moving, BOXES_OF_PART, part); k++) {
        find_extent(m, d, k, &d->extent[k]);
    }
}
#endif

// Boxes of geoms that move in front, in the plan's order, then those of what rests, with a tree over them.
LANE_FN void sort_boxes(const lane_model *m, lane_data *d)
{
    int moving = m->plan->boxed_moving, first = 0, behind = moving;
#if !defined(__CUDACC__)
    if (d->asleep == LANE_NONE_ASLEEP) { // all move
        share_parts(m, d, parts_of(moving, BOXES_OF_PART), BOX_PARTS_LEAST, find_part_of_extents, NULL);
        first = moving;
    }
#endif
    for (int k = first; k < moving; k++) {
        int rests = geom_rests(m, d, m->plan->boxed_geom[k]);
        if (!rests && has_lists(d)) {
            d->box_list[first] = k;
        }
        find_extent(m, d, k, &d->extent[rests ? --behind : first++]);
    }
    d->kept->boxes_moving = first;
    d->kept->rest_nodes = build_tree(d, d->box_node + 2 * first, first, moving - first);
    d->kept->boxes_sorted = has_lists(d);
}

// The trees of boxes that a box that moves is searched in: of what moves, what rests and what cannot move.
LANE_FN void search_trees(const lane_model *m, lane_data *d, int k, int nodes)
{
    int moving = d->kept->boxes_moving;
    search_tree(m, d, k, d->box_node, nodes);
    search_tree(m, d, k, d->box_node + 2 * moving, d->kept->rest_nodes);
    search_tree(m, d, k, d->box_node + 2 * m->plan->boxed_moving, d->fixed_nodes);
}

#if !defined(__CUDACC__)
// A part of the boxes that move; what a worker has found so far is counted in its own part 0.
LANE_FN void search_part(const lane_model *m, lane_data *d, const void *context, int part, int worker)
{
    lane_data own, boxes = *d;
    bind_worker(m, d, worker, &own);
    lane_part *so_far = own.part, *p = d->part + part;
    boxes.near_geoms = own.near_geoms;
    boxes.near_count = p->first_contact = so_far->contacts;
    p->worker = worker;
    for (int k = part * BOXES_OF_PART; k < part_end(d->kept->boxes_moving, BOXES_OF_PART, part); k++) {
        search_trees(m, &boxes, k, *(const int *)context);
    }
    so_far->contacts = boxes.near_count;
    so_far->missed += boxes.near_missed - d->near_missed;
    p->contacts = so_far->contacts - p->first_contact;
}

// Searches over threads. Where there is no room for all near pairs they are only counted.
LANE_FN void search_parts(const lane_model *m, lane_data *d, int parts, int nodes)
{
    begin_workers(m, d);
    share_parts(m, d, parts, 1, search_part, &nodes);
    int count = 0, missed = workers_missed(m, d);
    for (int part = 0; part < parts; part++) {
        count += d->part[part].contacts;
    }
    if (missed > 0 || count > m->plan->near_capacity) {
        d->near_missed += missed + count;
        return;
    }
    for (int part = 0; part < parts; part++) {
        const lane_part *p = d->part + part;
        lane_data own;
        bind_worker(m, d, p->worker, &own);
        memcpy(d->near_geoms + 2 * d->near_count, own.near_geoms + 2 * p->first_contact,
               2 * (size_t)p->contacts * sizeof *d->near_geoms);
        d->near_count += p->contacts;
    }
}
#endif

// The near pairs of all boxes that move.
LANE_FN void search_boxes(const lane_model *m, lane_data *d, int nodes)
{
#if !defined(__CUDACC__)
    int parts = parts_of(d->kept->boxes_moving, BOXES_OF_PART);
    if (m->plan->pairs_mixed && parts_are_shared(d, parts, BOX_PARTS_LEAST)) {
        search_parts(m, d, parts, nodes);
        return;
    }
#endif
    for (int k = 0; k < d->kept->boxes_moving; k++) {
        search_trees(m, d, k, nodes);
    }
}

// Finds the pairs of geoms that may touch in some lane: geoms that move with each other, with those that rest
// and with those that cannot move. The trees of the last two are kept.
LANE_FN void find_near(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    int boxes = plan->boxed_moving, fixed = plan->boxed_count - boxes;
    memcpy(d->near_pair, plan->always_near, (size_t)(plan->geom_pairs + 31) / 32 * sizeof *d->near_pair);
    d->near_count = 0;
    if (boxes_compared(m)) {
        compare_boxes(m, d);
        return;
    }
    if (has_lists(d) && d->placed && d->kept->boxes_sorted) {
        for (int k = 0; k < d->kept->boxes_moving; k++) {
            find_extent(m, d, d->box_list[k], &d->extent[k]);
        }
    } else {
        sort_boxes(m, d);
    }
    int moving = d->kept->boxes_moving, nodes = build_tree(d, d->box_node, 0, moving);
    if (d->fixed_nodes == 0) {
        for (int k = boxes; k < boxes + fixed; k++) {
            find_extent(m, d, k, &d->extent[k]);
        }
        d->fixed_nodes = build_tree(d, d->box_node + 2 * boxes, boxes, fixed);
    }
    search_boxes(m, d, nodes);
    if (plan->pairs_mixed) {
        search_planes(m, d);
    }
}
