#include "assets/shape.h"

#include "engine/core/memory.h"

#include <stdlib.h>
#include <string.h>

static const float crease_cosine = 0.766f; // 40 degrees

void shape_destroy(shape_mesh *s)
{
    orr_free(s->triangles);
    *s = (shape_mesh){0};
}

void shape_set_frame(shape_mesh *s, real3 origin, float yaw)
{
    shape_set_frame_tilted(s, origin, yaw, 0.0f);
}

void shape_set_frame_tilted(shape_mesh *s, real3 o, float yaw, float tilt)
{
    float c = cosf(yaw), n = sinf(yaw), ct = cosf(tilt), st = sinf(tilt);
    s->frame = (affine){c, st * n, ct * n, o.x, 0.0f, ct, -st, o.y, -n, st * c, ct * c, o.z};
}

void shape_finish(shape_mesh *s, int material, float spacing)
{
    s->material = material;
    s->spacing = spacing;
}

static real3 turn(const shape_mesh *s, real3 v)
{
    return sub3(affine_point(s->frame, v), make_real3(s->frame.xw, s->frame.yw, s->frame.zw));
}

static bool reserve(shape_mesh *s)
{
    if (s->count < s->capacity) {
        return true;
    }
    int capacity = s->capacity ? 2 * s->capacity : 1 << 14;
    shape_triangle *bigger = orr_alloc((size_t)capacity, sizeof *bigger);
    if (!bigger) {
        s->out_of_memory = true;
        return false;
    }
    if (s->count) {
        memcpy(bigger, s->triangles, (size_t)s->count * sizeof *bigger);
    }
    orr_free(s->triangles);
    s->triangles = bigger;
    s->capacity = capacity;
    return true;
}

// Positions and normals in the part's frame; the corners are put in the order that agrees with the normals.
static void add_triangle(shape_mesh *s, const real3 p[3], const real3 n[3])
{
    real3 face = cross3(sub3(p[1], p[0]), sub3(p[2], p[0]));
    if (dot3(face, face) < 1e-18f || !reserve(s)) {
        return;
    }
    bool flip = dot3(face, add3(n[0], add3(n[1], n[2]))) < 0.0f;
    shape_triangle *t = &s->triangles[s->count++];
    *t = (shape_triangle){.material = s->material, .spacing = s->spacing};
    for (int i = 0; i < 3; i++) {
        int from = flip ? (3 - i) % 3 : i;
        t->position[i] = affine_point(s->frame, p[from]);
        t->normal[i] = turn(s, n[from]);
    }
}

static void add_quad(shape_mesh *s, const real3 p[4], const real3 n[4])
{
    add_triangle(s, p, n);
    add_triangle(s, (real3[]){p[0], p[2], p[3]}, (real3[]){n[0], n[2], n[3]});
}

static void add_flat_quad(shape_mesh *s, real3 a, real3 b, real3 c, real3 d, real3 normal)
{
    add_quad(s, (real3[]){a, b, c, d}, (real3[]){normal, normal, normal, normal});
}

static real3 around(real2 p, float angle)
{
    return make_real3(p.x * cosf(angle), p.y, p.x * sinf(angle));
}

static real2 profile_normal(real2 a, real2 b)
{
    float x = b.y - a.y, y = a.x - b.x, length = fmaxf(sqrtf(x * x + y * y), 1e-20f);
    return (real2){x / length, y / length};
}

// the normal of segment `segment` at one of its ends, shared with its neighbour there unless the corner is
// sharp
static real2 corner_normal(const real2 *profile, int count, int segment, int neighbour)
{
    real2 n = profile_normal(profile[segment], profile[segment + 1]);
    if (neighbour < 0 || neighbour >= count - 1) {
        return n;
    }
    real2 m = profile_normal(profile[neighbour], profile[neighbour + 1]);
    if (n.x * m.x + n.y * m.y < crease_cosine) {
        return n;
    }
    float x = n.x + m.x, y = n.y + m.y, length = sqrtf(x * x + y * y);
    return (real2){x / length, y / length};
}

void shape_lathe(shape_mesh *s, const real2 *profile, int count, int sides)
{
    for (int i = 0; i + 1 < count; i++) {
        real2 low = corner_normal(profile, count, i, i - 1);
        real2 high = corner_normal(profile, count, i, i + 1);
        for (int k = 0; k < sides; k++) {
            float a = tau * (float)k / (float)sides, b = tau * (float)((k + 1) % sides) / (float)sides;
            add_quad(s,
                     (real3[]){around(profile[i], a), around(profile[i], b), around(profile[i + 1], b),
                               around(profile[i + 1], a)},
                     (real3[]){around(low, a), around(low, b), around(high, b), around(high, a)});
        }
    }
}

void shape_sphere(shape_mesh *s, real3 centre, float radius, int sides)
{
    enum { MOST = 64 };
    real2 profile[MOST + 1];
    int rings = sides / 2 < MOST ? sides / 2 : MOST;
    for (int i = 0; i <= rings; i++) {
        float angle = tau * (0.5f * (float)i / (float)rings - 0.25f);
        profile[i] = (real2){i % rings ? radius * cosf(angle) : 0.0f, radius * sinf(angle)};
    }
    affine frame = s->frame;
    real3 origin = affine_point(frame, centre);
    s->frame.xw = origin.x;
    s->frame.yw = origin.y;
    s->frame.zw = origin.z;
    shape_lathe(s, profile, rings + 1, sides);
    s->frame = frame;
}

void shape_tube(shape_mesh *s, const real3 *path, const float *radius, int count, int sides)
{
    real3 side = make_real3(0, 0, 0), before[2] = {{0}}; // before: tangent frame of the previous ring
    for (int i = 0; i < count; i++) {
        real3 along = unit3(sub3(path[i + 1 < count ? i + 1 : i], path[i > 0 ? i - 1 : i]));
        real3 a, b;
        tangents3(along, &a, &b);
        if (i > 0) { // carried on without a twist
            a = unit3(sub3(side, scale3(along, dot3(side, along))));
            b = cross3(along, a);
        }
        side = a;
        for (int k = 0; k < sides; k++) {
            float u = tau * (float)k / (float)sides, v = tau * (float)((k + 1) % sides) / (float)sides;
            real3 nu = add3(scale3(a, cosf(u)), scale3(b, sinf(u)));
            real3 nv = add3(scale3(a, cosf(v)), scale3(b, sinf(v)));
            real3 pu = add3(path[i], scale3(nu, radius[i])), pv = add3(path[i], scale3(nv, radius[i]));
            if (i == 0 || i == count - 1) {
                real3 out = scale3(along, i == 0 ? -1.0f : 1.0f);
                add_triangle(s, (real3[]){path[i], pu, pv}, (real3[]){out, out, out});
            }
            if (i > 0) {
                real3 mu = add3(scale3(before[0], cosf(u)), scale3(before[1], sinf(u)));
                real3 mv = add3(scale3(before[0], cosf(v)), scale3(before[1], sinf(v)));
                add_quad(s,
                         (real3[]){add3(path[i - 1], scale3(mu, radius[i - 1])),
                                   add3(path[i - 1], scale3(mv, radius[i - 1])), pv, pu},
                         (real3[]){mu, mv, nv, nu});
            }
        }
        before[0] = a;
        before[1] = b;
    }
}

// Walls of a prism whose outline runs through four (x, z) points, its top and its bottom.
static void add_prism(shape_mesh *s, const real2 outline[4], float y0, float y1)
{
    real3 low[4], high[4], middle = make_real3(0, 0, 0);
    for (int i = 0; i < 4; i++) {
        low[i] = make_real3(outline[i].x, y0, outline[i].y);
        high[i] = make_real3(outline[i].x, y1, outline[i].y);
        middle = add3(middle, scale3(low[i], 0.25f));
    }
    for (int i = 0; i < 4; i++) {
        int j = (i + 1) % 4;
        real3 out = unit3(cross3(sub3(low[j], low[i]), make_real3(0, 1, 0)));
        if (dot3(out, sub3(low[i], middle)) < 0.0f) {
            out = scale3(out, -1.0f);
        }
        add_flat_quad(s, low[i], low[j], high[j], high[i], out);
    }
    add_flat_quad(s, high[0], high[1], high[2], high[3], make_real3(0, 1, 0));
    add_flat_quad(s, low[0], low[1], low[2], low[3], make_real3(0, -1, 0));
}

void shape_rectangle(shape_mesh *s, const real3 corner[4], real3 normal)
{
    add_flat_quad(s, corner[0], corner[1], corner[2], corner[3], normal);
}

void shape_bar(shape_mesh *s, float x0, float x1, float w0, float w1, float y0, float y1)
{
    add_prism(s, (real2[]){{x0, -0.5f * w0}, {x1, -0.5f * w1}, {x1, 0.5f * w1}, {x0, 0.5f * w0}}, y0, y1);
}

// the outline of one tooth in polar form: fractions of the pitch, heights in modules above the pitch circle
static const real2 tooth_outline[] = {{-0.30f, -1.15f}, {-0.23f, 0.0f}, {-0.11f, 0.95f},
                                      {0.11f, 0.95f},   {0.23f, 0.0f},  {0.30f, -1.15f}};
enum { TOOTH_POINTS = sizeof tooth_outline / sizeof tooth_outline[0] };

static real2 gear_point(int i, int teeth, float module, float phase)
{
    real2 p = tooth_outline[i % TOOTH_POINTS];
    float angle = tau * ((float)(i / TOOTH_POINTS) + p.x + phase) / (float)teeth;
    float radius = 0.5f * module * (float)teeth + module * p.y;
    return (real2){radius * cosf(angle), radius * sinf(angle)};
}

void shape_gear(shape_mesh *s, int teeth, float module, float thickness, float hub, int spokes, float phase)
{
    float pitch = 0.5f * module * (float)teeth;
    float inner = pitch - 2.9f * module, h = thickness;
    int points = teeth * TOOTH_POINTS;
    for (int i = 0; i < points; i++) {
        real2 a = gear_point(i, teeth, module, phase), b = gear_point((i + 1) % points, teeth, module, phase);
        float la = inner / sqrtf(a.x * a.x + a.y * a.y), lb = inner / sqrtf(b.x * b.x + b.y * b.y);
        real3 out = unit3(make_real3(b.y - a.y, 0.0f, a.x - b.x));
        real3 in_a = make_real3(-a.x, 0, -a.y), in_b = make_real3(-b.x, 0, -b.y);
        real3 top_a = {a.x, h, a.y}, top_b = {b.x, h, b.y}, low_a = {a.x, 0, a.y}, low_b = {b.x, 0, b.y};
        real3 ring_a = {a.x * la, h, a.y * la}, ring_b = {b.x * lb, h, b.y * lb};
        real3 under_a = {a.x * la, 0, a.y * la}, under_b = {b.x * lb, 0, b.y * lb};
        add_flat_quad(s, low_a, low_b, top_b, top_a, out);
        add_flat_quad(s, ring_a, ring_b, top_b, top_a, make_real3(0, 1, 0));
        add_flat_quad(s, under_a, under_b, low_b, low_a, make_real3(0, -1, 0));
        in_a = unit3(in_a);
        in_b = unit3(in_b);
        add_quad(s, (real3[]){under_a, under_b, ring_b, ring_a}, (real3[]){in_a, in_b, in_b, in_a});
    }
    for (int k = 0; k < spokes; k++) {
        float angle = tau * (float)k / (float)spokes, c = cosf(angle), n = sinf(angle);
        float w0 = 1.9f * module, w1 = 1.2f * module, x1 = inner + 0.5f * module;
        real2 outline[4] = {{hub, -w0}, {x1, -w1}, {x1, w1}, {hub, w0}};
        for (int i = 0; i < 4; i++) {
            outline[i] = (real2){c * outline[i].x - n * outline[i].y, n * outline[i].x + c * outline[i].y};
        }
        add_prism(s, outline, 0.15f * h, 0.85f * h);
    }
    const real2 boss[] = {{0.0f, -0.2f * h}, {hub, -0.2f * h}, {1.25f * hub, 0.0f},
                          {1.25f * hub, h},  {hub, 1.3f * h},  {0.0f, 1.3f * h}};
    shape_lathe(s, boss, 6, 16);
}

// An edge as its two welded corners, and which triangle's it is.
typedef struct edge {
    int64_t low[3], high[3];
    int triangle, corner;
} edge;

static int compare_edges(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    int order = memcmp(x->low, y->low, sizeof x->low + sizeof x->high);
    return order ? order : (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

static void weld(real3 p, int64_t key[3])
{
    const double grid = 1e-5; // far below any part, far above rounding
    key[0] = llround((double)p.x / grid);
    key[1] = llround((double)p.y / grid);
    key[2] = llround((double)p.z / grid);
}

static real3 face_normal(const shape_triangle *t)
{
    return unit3(cross3(sub3(t->position[1], t->position[0]), sub3(t->position[2], t->position[0])));
}

orr_result shape_find_neighbours(shape_mesh *s, orr_error *error)
{
    if (s->out_of_memory) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the shape");
    }
    edge *edges;
    ORR_ALLOC(edges, 3 * s->count, "edges", error);
    for (int i = 0; i < 3 * s->count; i++) {
        shape_triangle *t = &s->triangles[i / 3];
        edge *e = &edges[i];
        e->triangle = i / 3;
        e->corner = i % 3;
        t->neighbour[i % 3] = -1;
        weld(t->position[i % 3], e->low);
        weld(t->position[(i + 1) % 3], e->high);
        if (memcmp(e->low, e->high, sizeof e->low) > 0) {
            int64_t swap[3];
            memcpy(swap, e->low, sizeof swap);
            memcpy(e->low, e->high, sizeof swap);
            memcpy(e->high, swap, sizeof swap);
        }
    }
    qsort(edges, 3 * (size_t)s->count, sizeof *edges, compare_edges);
    for (int i = 0; i + 1 < 3 * s->count; i++) {
        const edge *a = &edges[i], *b = &edges[i + 1];
        if (memcmp(a->low, b->low, sizeof a->low + sizeof a->high) != 0) {
            continue;
        }
        shape_triangle *t = &s->triangles[a->triangle], *u = &s->triangles[b->triangle];
        if (dot3(face_normal(t), face_normal(u)) > crease_cosine && t->material == u->material) {
            t->neighbour[a->corner] = b->triangle;
            u->neighbour[b->corner] = a->triangle;
        }
    }
    orr_free(edges);
    return ORR_OK;
}
