// Makes the places of the tasks that ship with the engine, splat clouds of surfaces by formula: uneven ground
// to walk on, and a shelf to reach into.
//
//     make_places GROUND SHELF
#include "assets/splatting.h"
#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "render/splat/splat_formula.h"

#include <stdio.h>

typedef struct place {
    orr_splats_view out;
    int count, capacity;
} place;

// A patch of a surface, in the axes of the scene: z up.
static void add(place *p, real3 at, real3 normal, float size, real3 colour)
{
    const real3 sun = unit3(make_real3(-0.4f, 0.5f, 0.8f));
    if (p->count == p->capacity) {
        return;
    }
    surface_sample s = {.position = make_real3(at.x, at.z, -at.y),
                        .normal = make_real3(normal.x, normal.z, -normal.y),
                        .size = {size, size}};
    real3 other;
    tangents3(s.normal, &s.tangent, &other);
    splat_place(&p->out, p->count, &s, 0.98f);
    const float light = 0.45f + 0.55f * fmaxf(dot3(normal, sun), 0.0f);
    const float shown[3] = {colour.x * light, colour.y * light, colour.z * light};
    for (int c = 0; c < 3; c++) {
        p->out.colour[3 * p->count + c] = (shown[c] - 0.5f) / (float)SH_0;
    }
    p->count++;
}

// ---- ground: 8 m along x, 3 m wide ----

static const float spacing = 0.03f; // of splats [m]
enum { LONG = 268, WIDE = 101 };

// Waves of several lengths that grow from the start, where the ground is level.
static float ground_height(float x, float y)
{
    const float grown = fminf(fmaxf((x - 0.3f) / 1.5f, 0.0f), 1.0f);
    return grown * (0.022f * sinf(4.1f * x + 0.6f * y) + 0.014f * sinf(2.3f * x - 5.2f * y + 1.0f) +
                    0.006f * sinf(11.0f * x + 7.0f * y) + 0.004f * sinf(3.0f * x - 17.0f * y));
}

static void add_ground(place *p)
{
    const float step = 1e-3f;
    orr_rng rng = {.seed = 5};
    for (int i = 0; i < LONG * WIDE; i++) {
        const float x = spacing * (float)(i % LONG) - 1.0f, y = spacing * (float)(i / LONG - WIDE / 2);
        const float z = ground_height(x, y);
        const real3 normal = unit3(make_real3((z - ground_height(x + step, y)) / step,
                                              (z - ground_height(x, y + step)) / step, 1.0f));
        const float shade = 0.75f + 0.25f * (float)(orr_rng_next(&rng) >> 8) * 0x1p-24f + 4.0f * z;
        const real3 sand = make_real3(0.62f, 0.52f, 0.38f), moss = make_real3(0.36f, 0.44f, 0.24f);
        const float mossy = fminf(fmaxf(0.5f + 0.5f * sinf(1.7f * x) * sinf(2.9f * y + x), 0.0f), 1.0f);
        add(p, make_real3(x, y, z), normal, 0.73f * spacing, scale3(mix3(sand, moss, mossy), shade));
    }
}

// ---- shelf: two boards between sides, and a back; open towards -x ----

static void add_side(place *p, real3 from, real3 u, real3 v, real3 colour)
{
    const float gap = 0.012f;
    const int rows = (int)ceilf(length3(u) / gap), columns = (int)ceilf(length3(v) / gap);
    const real3 normal = unit3(cross3(u, v));
    for (int i = 0; i < rows * columns; i++) {
        const float a = ((float)(i % rows) + 0.5f) / (float)rows,
                    b = ((float)(i / rows) + 0.5f) / (float)columns;
        const real3 at = add3(from, add3(scale3(u, a), scale3(v, b)));
        const float grain = 1.0f + 0.12f * sinf(90.0f * at.z + 40.0f * at.y + 3.0f * sinf(9.0f * at.x));
        add(p, at, normal, 0.73f * gap, scale3(colour, grain));
    }
}

static void add_box(place *p, real3 low, real3 high, real3 colour)
{
    const real3 size = sub3(high, low), x = make_real3(size.x, 0, 0), y = make_real3(0, size.y, 0),
                z = make_real3(0, 0, size.z);
    add_side(p, low, y, x, colour);
    add_side(p, low, x, z, colour);
    add_side(p, low, z, y, colour);
    add_side(p, add3(low, z), x, y, colour);
    add_side(p, add3(low, y), z, x, colour);
    add_side(p, add3(low, x), y, z, colour);
}

static void add_shelf(place *p)
{
    const real3 oak = make_real3(0.58f, 0.40f, 0.22f), dark = make_real3(0.42f, 0.28f, 0.16f);
    for (int i = 0; i < 3; i++) {
        const float z = 0.04f + 0.36f * (float)i;
        add_box(p, make_real3(0.45f, -0.40f, z), make_real3(0.75f, 0.40f, z + 0.04f), oak);
    }
    add_box(p, make_real3(0.45f, -0.44f, 0.0f), make_real3(0.79f, -0.40f, 0.80f), dark);
    add_box(p, make_real3(0.45f, 0.40f, 0.0f), make_real3(0.79f, 0.44f, 0.80f), dark);
    add_box(p, make_real3(0.75f, -0.40f, 0.0f), make_real3(0.79f, 0.40f, 0.80f), dark);
}

static orr_result make(const char *path, void (*fill)(place *), orr_error *error)
{
    enum { MOST = 65536 };
    orr_splats *room, *splats;
    ORR_TRY(orr_splats_create(MOST, 0, &room, error));
    place p = {.out = orr_splats_data(room), .capacity = MOST};
    fill(&p);
    orr_result result = orr_splats_create(p.count, 0, &splats, error);
    if (result == ORR_OK) { // the same again, in a cloud of their number
        p = (place){.out = orr_splats_data(splats), .capacity = p.count};
        fill(&p);
        result = orr_splats_save(splats, path, error);
        orr_splats_destroy(splats);
    }
    orr_splats_destroy(room);
    return result;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: make_places GROUND SHELF\n");
        return 2;
    }
    orr_error error;
    orr_result result = make(argv[1], add_ground, &error);
    if (result == ORR_OK) {
        result = make(argv[2], add_shelf, &error);
    }
    if (result != ORR_OK) {
        fprintf(stderr, "make_places: %s\n", error.message);
    }
    return result == ORR_OK ? 0 : 1;
}
