#include "assets/room.h"

#include "engine/maths/rng.h"

#define LATHE(s, sides, ...)                                                                                 \
    shape_lathe(s, (const real2[]){__VA_ARGS__}, sizeof((const real2[]){__VA_ARGS__}) / sizeof(real2), sides)

enum { SHADES = 8, RINGS = 6 };

// What the room is made of.
typedef enum room_material {
    ROOM_BOARD, // one of the shades of floor boards
    ROOM_BOOK = ROOM_BOARD + SHADES,
    ROOM_RUG = ROOM_BOOK + SHADES, // rings, from the middle
    ROOM_WALL = ROOM_RUG + RINGS,
    ROOM_PANEL,
    ROOM_TRIM,
    ROOM_PANE,
    ROOM_OAK,
    ROOM_CLAY,
    ROOM_GLAZE,
    ROOM_LEAF,
    ROOM_CLOTH,
    ROOM_METAL,
    ROOM_SHADE,
    ROOM_PAPER,
    ROOM_SKY, // of the picture on the wall
    ROOM_HILL,
    ROOM_MATERIALS
} room_material;

const real3 room_window = {-1.8f, 1.35f, 0.15f};
const float room_window_size[2] = {0.55f, 0.65f};

static const float height = 2.3f, panel = 0.62f; // of the walls, and of the panels on them

static const real3 colours[ROOM_MATERIALS] = {
    {0.36f, 0.20f, 0.095f}, {0.33f, 0.18f, 0.08f},   {0.40f, 0.23f, 0.115f}, {0.30f, 0.16f, 0.07f},
    {0.38f, 0.22f, 0.105f}, {0.34f, 0.19f, 0.09f},   {0.42f, 0.25f, 0.13f},  {0.31f, 0.165f, 0.08f},
    {0.42f, 0.07f, 0.05f},  {0.06f, 0.14f, 0.28f},   {0.55f, 0.45f, 0.24f},  {0.07f, 0.20f, 0.12f},
    {0.30f, 0.13f, 0.05f},  {0.60f, 0.56f, 0.48f},   {0.16f, 0.08f, 0.20f},  {0.08f, 0.27f, 0.30f},
    {0.58f, 0.50f, 0.38f},  {0.33f, 0.06f, 0.05f},   {0.56f, 0.44f, 0.28f},  {0.06f, 0.12f, 0.22f},
    {0.55f, 0.47f, 0.34f},  {0.30f, 0.055f, 0.045f}, {0.62f, 0.60f, 0.53f},  {0.20f, 0.32f, 0.30f},
    {0.72f, 0.70f, 0.64f},  {0.0f, 0.0f, 0.0f},      {0.27f, 0.15f, 0.07f},  {0.46f, 0.17f, 0.08f},
    {0.10f, 0.25f, 0.42f},  {0.07f, 0.22f, 0.045f},  {0.62f, 0.33f, 0.06f},  {0.12f, 0.11f, 0.10f},
    {0.80f, 0.72f, 0.55f},  {0.75f, 0.72f, 0.65f},   {0.45f, 0.60f, 0.72f},  {0.25f, 0.34f, 0.16f},
};

real3 room_colour(int m, real3 p)
{
    if (m < ROOM_BOOK) { // the grain of wood
        float grain = sinf(60.0f * p.z + 3.0f * sinf(2.3f * p.x + (float)m)) *
                      sinf(23.0f * p.z + 1.7f * sinf(3.1f * p.x));
        return scale3(colours[m], 1.0f + 0.16f * grain);
    }
    return colours[m];
}

bool room_is_pane(int material)
{
    return material == ROOM_PANE;
}

bool room_is_plain(int material)
{
    return material == ROOM_WALL || material == ROOM_PANEL || material == ROOM_PANE;
}

// A box without its bottom.
static void box(shape_mesh *s, real3 a, real3 b)
{
    shape_set_frame(s, make_real3(0, 0, 0), 0);
    const real3 lower[4] = {{a.x, a.y, a.z}, {b.x, a.y, a.z}, {b.x, a.y, b.z}, {a.x, a.y, b.z}};
    const real3 upper[4] = {{a.x, b.y, a.z}, {b.x, b.y, a.z}, {b.x, b.y, b.z}, {a.x, b.y, b.z}};
    static const real3 out[4] = {{0, 0, -1}, {1, 0, 0}, {0, 0, 1}, {-1, 0, 0}};
    shape_rectangle(s, upper, make_real3(0, 1, 0));
    for (int i = 0; i < 4; i++) {
        int j = (i + 1) % 4;
        shape_rectangle(s, (real3[]){lower[i], lower[j], upper[j], upper[i]}, out[i]);
    }
}

static void floor_boards(shape_mesh *s)
{
    const float wide = 0.15f, gap = 0.002f, h = room_half;
    orr_rng rng = {.seed = 5};
    shape_set_frame(s, make_real3(0, 0, 0), 0);
    for (int row = 0; row < 30; row++) {
        float z = -h + wide * (float)row, x = -h, next = -h + 0.25f + 0.9f * orr_rng_uniform(&rng);
        while (x < h) {
            next = next > h - 0.2f ? h : next;
            shape_finish(s, ROOM_BOARD + (int)(SHADES * orr_rng_uniform(&rng)), 1.9f);
            shape_rectangle(s,
                            (real3[]){{x + gap, 0, z + gap},
                                      {next - gap, 0, z + gap},
                                      {next - gap, 0, z + wide - gap},
                                      {x + gap, 0, z + wide - gap}},
                            make_real3(0, 1, 0));
            x = next, next += 0.9f + 0.5f * orr_rng_uniform(&rng);
        }
    }
}

static void rug(shape_mesh *s)
{
    static const float radius[RINGS + 1] = {0.0f, 0.28f, 0.40f, 0.62f, 0.72f, 0.88f, 0.95f};
    shape_set_frame(s, make_real3(0, 0.006f, 0), 0);
    for (int i = 0; i < RINGS; i++) {
        shape_finish(s, ROOM_RUG + i, 1.5f);
        LATHE(s, 72, {radius[i + 1], 0}, {radius[i], 0});
    }
    LATHE(s, 72, {radius[RINGS], -0.006f}, {radius[RINGS], 0});
}

// A rectangle of a wall at x, from y0 to y1 and from z0 to z1, and of one at z.
static void side_wall(shape_mesh *s, float x, float y0, float y1, float z0, float z1)
{
    shape_rectangle(s, (real3[]){{x, y0, z0}, {x, y0, z1}, {x, y1, z1}, {x, y1, z0}},
                    make_real3(x < 0.0f ? 1.0f : -1.0f, 0, 0));
}

static void end_wall(shape_mesh *s, float z, float y0, float y1)
{
    const float h = room_half;
    shape_rectangle(s, (real3[]){{-h, y0, z}, {h, y0, z}, {h, y1, z}, {-h, y1, z}},
                    make_real3(0, 0, z < 0.0f ? 1.0f : -1.0f));
}

static void walls(shape_mesh *s)
{
    const float h = room_half, f = room_front;
    const float low = room_window.y - room_window_size[0], high = room_window.y + room_window_size[0];
    const float from = room_window.z - room_window_size[1], to = room_window.z + room_window_size[1];
    shape_set_frame(s, make_real3(0, 0, 0), 0);
    shape_finish(s, ROOM_PANEL, 3.0f);
    side_wall(s, -h, 0, panel, -h, f);
    side_wall(s, h, 0, panel, -h, f);
    end_wall(s, -h, 0, panel);
    end_wall(s, f, 0, panel);
    shape_finish(s, ROOM_WALL, 3.2f);
    end_wall(s, -h, panel, height);
    side_wall(s, -h, panel, low, -h, f);
    side_wall(s, -h, high, height, -h, f);
    side_wall(s, -h, low, high, -h, from);
    side_wall(s, -h, low, high, to, f);
    shape_finish(s, ROOM_WALL, 4.0f);
    end_wall(s, f, panel, height);
    side_wall(s, h, panel, height, -h, f);
    shape_finish(s, ROOM_TRIM, 4.4f);
    shape_rectangle(s, (real3[]){{-h, height, -h}, {h, height, -h}, {h, height, f}, {-h, height, f}},
                    make_real3(0, -1, 0));
    shape_finish(s, ROOM_PANE, 3.0f);
    side_wall(s, -h, low, high, from, to);
}

// The frame of the window and its bars, the sill, the skirting, and the rail on the panels.
static void trim(shape_mesh *s)
{
    const float h = room_half, deep = 0.07f, bar = 0.045f;
    const float low = room_window.y - room_window_size[0], high = room_window.y + room_window_size[0];
    const float from = room_window.z - room_window_size[1], to = room_window.z + room_window_size[1];
    shape_finish(s, ROOM_TRIM, 1.8f);
    box(s, make_real3(-h, low, from - deep), make_real3(-h + 0.03f, high, from));
    box(s, make_real3(-h, low, to), make_real3(-h + 0.03f, high, to + deep));
    box(s, make_real3(-h, high, from - deep), make_real3(-h + 0.03f, high + deep, to + deep));
    box(s, make_real3(-h, low - 0.04f, from - 0.11f), make_real3(-h + 0.13f, low, to + 0.11f));
    box(s, make_real3(-h, low, room_window.z - 0.5f * bar),
        make_real3(-h + 0.02f, high, room_window.z + 0.5f * bar));
    box(s, make_real3(-h, room_window.y + 0.12f, from),
        make_real3(-h + 0.02f, room_window.y + 0.12f + bar, to));
    box(s, make_real3(-h, 0, -h), make_real3(-h + 0.018f, 0.1f, room_front));
    box(s, make_real3(-h + 0.018f, 0, -h), make_real3(h, 0.1f, -h + 0.018f));
    box(s, make_real3(-h, panel, -h), make_real3(-h + 0.02f, panel + 0.035f, room_front));
    box(s, make_real3(-h + 0.02f, panel, -h), make_real3(h, panel + 0.035f, -h + 0.02f));
}

static void shelf(shape_mesh *s)
{
    const float x0 = 0.55f, x1 = 1.55f, back = -room_half + 0.02f, front = back + 0.28f;
    orr_rng rng = {.seed = 9};
    shape_finish(s, ROOM_OAK, 1.6f);
    box(s, make_real3(x0, 0, back), make_real3(x0 + 0.03f, 1.5f, front));
    box(s, make_real3(x1 - 0.03f, 0, back), make_real3(x1, 1.5f, front));
    box(s, make_real3(x0, 1.5f, back), make_real3(x1, 1.53f, front + 0.01f));
    for (int i = 0; i < 4; i++) {
        float y = 0.06f + 0.36f * (float)i;
        shape_finish(s, ROOM_OAK, 1.6f);
        box(s, make_real3(x0 + 0.03f, y, back), make_real3(x1 - 0.03f, y + 0.025f, front));
        y += 0.025f;
        float x = x0 + 0.04f, end = x1 - 0.05f - 0.3f * orr_rng_uniform(&rng);
        for (int last = -1; x < end;) {
            float thick = 0.025f + 0.03f * orr_rng_uniform(&rng), tall = 0.2f + 0.09f * orr_rng_uniform(&rng);
            int colour = (int)(SHADES * orr_rng_uniform(&rng));
            colour = colour == last ? (colour + 3) % SHADES : colour;
            last = colour;
            shape_finish(s, ROOM_BOOK + colour, 1.15f);
            box(s, make_real3(x, y, back + 0.05f), make_real3(x + thick, y + tall, front - 0.03f));
            x += thick + 0.001f;
        }
    }
}

static void table(shape_mesh *s)
{
    shape_set_frame(s, make_real3(-1.15f, 0, -1.2f), 0);
    shape_finish(s, ROOM_OAK, 1.4f);
    LATHE(s, 48, {0.19f, 0}, {0.19f, 0.02f}, {0.04f, 0.04f}, {0.03f, 0.1f}, {0.03f, 0.45f}, {0.05f, 0.50f});
    LATHE(s, 60, {0.05f, 0.50f}, {0.33f, 0.50f}, {0.34f, 0.51f}, {0.34f, 0.525f}, {0.33f, 0.535f},
          {0, 0.535f});
    shape_set_frame(s, make_real3(-1.22f, 0.535f, -1.26f), 0);
    shape_finish(s, ROOM_GLAZE, 0.9f);
    LATHE(s, 40, {0.05f, 0}, {0.08f, 0.04f}, {0.098f, 0.1f}, {0.09f, 0.16f}, {0.055f, 0.22f}, {0.04f, 0.26f},
          {0.042f, 0.29f}, {0.06f, 0.315f}, {0.05f, 0.315f}, {0.03f, 0.27f});
    shape_finish(s, ROOM_LEAF, 0.8f);
    for (int i = 0; i < 9; i++) { // twigs
        real3 path[6];
        float radius[6], turn = tau * (float)i / 9.0f + 0.3f * (float)(i % 3);
        for (int k = 0; k < 6; k++) {
            float t = (float)k / 5.0f, out = 0.01f + (0.1f + 0.03f * (float)(i % 4)) * t * t;
            path[k] =
                make_real3(out * cosf(turn), 0.29f + (0.24f + 0.05f * (float)(i % 3)) * t, out * sinf(turn));
            radius[k] = 0.004f + 0.012f * t * (1.0f - 0.6f * t);
        }
        shape_tube(s, path, radius, 6, 8);
    }
    shape_set_frame(s, make_real3(-1.0f, 0.535f, -1.1f), 0.4f);
    shape_finish(s, ROOM_BOOK, 1.0f);
    shape_bar(s, -0.09f, 0.09f, 0.13f, 0.13f, 0, 0.025f);
    shape_finish(s, ROOM_BOOK + 7, 1.0f);
    shape_set_frame(s, make_real3(-1.0f, 0.56f, -1.1f), 0.1f);
    shape_bar(s, -0.08f, 0.08f, 0.12f, 0.12f, 0, 0.02f);
}

static void pot(shape_mesh *s)
{
    shape_set_frame(s, make_real3(-1.35f, 0, 1.25f), 0);
    shape_finish(s, ROOM_CLAY, 1.3f);
    LATHE(s, 40, {0, 0}, {0.12f, 0}, {0.165f, 0.25f}, {0.185f, 0.25f}, {0.185f, 0.29f}, {0.155f, 0.29f},
          {0.15f, 0.24f}, {0, 0.24f});
    shape_finish(s, ROOM_LEAF, 1.0f);
    for (int i = 0; i < 13; i++) {
        real3 path[7];
        float radius[7], turn = 2.39996f * (float)i, up = 0.75f - 0.035f * (float)i,
                         far = 0.14f + 0.018f * (float)i;
        for (int k = 0; k < 7; k++) {
            float t = (float)k / 6.0f;
            path[k] =
                make_real3(far * t * cosf(turn), 0.24f + up * t * (1.3f - 0.45f * t), far * t * sinf(turn));
            radius[k] = 0.006f + 0.10f * t * t * (1.0f - t);
        }
        shape_tube(s, path, radius, 7, 10);
    }
}

static void lamp(shape_mesh *s)
{
    shape_set_frame(s, make_real3(0.2f, 0, -1.5f), 0);
    shape_finish(s, ROOM_METAL, 0.9f);
    LATHE(s, 36, {0.14f, 0}, {0.14f, 0.015f}, {0.02f, 0.03f}, {0.011f, 0.05f}, {0.011f, 1.35f});
    shape_finish(s, ROOM_SHADE, 1.4f);
    LATHE(s, 48, {0.2f, 1.25f}, {0.13f, 1.55f});
    LATHE(s, 48, {0.128f, 1.55f}, {0.198f, 1.25f}); // its inner side
}

static void picture(shape_mesh *s)
{
    const float z = -room_half;
    shape_set_frame(s, make_real3(-0.4f, 1.3f, z + 0.012f), 0);
    shape_finish(s, ROOM_SKY, 1.0f);
    shape_rectangle(s, (real3[]){{-0.22f, 0, 0}, {0.22f, 0, 0}, {0.22f, 0.22f, 0}, {-0.22f, 0.22f, 0}},
                    make_real3(0, 0, 1));
    shape_finish(s, ROOM_HILL, 0.8f);
    shape_rectangle(s, (real3[]){{-0.22f, -0.08f, 0}, {0.22f, -0.08f, 0}, {0.22f, 0, 0}, {-0.22f, 0, 0}},
                    make_real3(0, 0, 1));
    shape_finish(s, ROOM_OAK, 1.0f);
    box(s, make_real3(-0.75f, 1.1f, z), make_real3(-0.05f, 1.14f, z + 0.025f));
    box(s, make_real3(-0.75f, 1.61f, z), make_real3(-0.05f, 1.65f, z + 0.025f));
    box(s, make_real3(-0.75f, 1.14f, z), make_real3(-0.71f, 1.61f, z + 0.025f));
    box(s, make_real3(-0.09f, 1.14f, z), make_real3(-0.05f, 1.61f, z + 0.025f));
    shape_finish(s, ROOM_PAPER, 1.2f);
    box(s, make_real3(-0.71f, 1.14f, z), make_real3(-0.09f, 1.61f, z + 0.008f));
}

static void door(shape_mesh *s)
{
    const float z = room_front, x = -0.9f;
    shape_finish(s, ROOM_TRIM, 2.2f);
    box(s, make_real3(x - 0.07f, 0, z - 0.03f), make_real3(x, 2.05f, z));
    box(s, make_real3(x + 0.8f, 0, z - 0.03f), make_real3(x + 0.87f, 2.05f, z));
    box(s, make_real3(x - 0.07f, 2.05f, z - 0.03f), make_real3(x + 0.87f, 2.12f, z));
    shape_finish(s, ROOM_OAK, 2.4f);
    box(s, make_real3(x, 0, z - 0.015f), make_real3(x + 0.8f, 2.05f, z));
}

static void cushion(shape_mesh *s)
{
    shape_set_frame(s, make_real3(1.25f, 0, -0.55f), 0);
    shape_finish(s, ROOM_CLOTH, 1.4f);
    LATHE(s, 48, {0, 0}, {0.24f, 0}, {0.30f, 0.04f}, {0.32f, 0.1f}, {0.31f, 0.17f}, {0.26f, 0.23f},
          {0.16f, 0.26f}, {0, 0.265f});
}

orr_result room_build(shape_mesh *s, orr_error *error)
{
    // what lies on a surface comes before it: samples keep clear of those that are there
    rug(s);
    trim(s);
    shelf(s);
    table(s);
    pot(s);
    lamp(s);
    picture(s);
    cushion(s);
    door(s);
    floor_boards(s);
    walls(s);
    return shape_find_neighbours(s, error);
}
