#include "assets/orrery.h"

#include "assets/material.h"

#define LATHE(s, sides, ...)                                                                                 \
    shape_lathe(s, (const real2[]){__VA_ARGS__}, sizeof((const real2[]){__VA_ARGS__}) / sizeof(real2), sides)

static const float module = 0.0125f; // of the wheels: pitch diameter per tooth
static const float dial = 0.262f;    // height of the dial's face

static real3 polar(float radius, float height, float angle)
{
    return make_real3(radius * cosf(angle), height, -radius * sinf(angle));
}

static void build_base(shape_mesh *s)
{
    shape_set_frame(s, make_real3(0, 0, 0), 0);
    shape_finish(s, MATERIAL_TABLE, 3.2f);
    LATHE(s, 72, {table_radius, 0}, {1.2f, 0}, {0.9f, 0}, {0.6f, 0}, {0.4f, 0});
    shape_finish(s, MATERIAL_BRASS, 0.9f);
    for (int i = 0; i < 6; i++) { // feet
        shape_set_frame(s, polar(0.60f, 0, tau * ((float)i + 0.5f) / 6.0f), 0);
        LATHE(s, 16, {0, 0}, {0.045f, 0}, {0.058f, 0.008f}, {0.062f, 0.022f}, {0.056f, 0.040f},
              {0.045f, 0.05f}, {0.050f, 0.056f}, {0.050f, 0.07f});
    }
    shape_set_frame(s, make_real3(0, 0, 0), 0);
    shape_finish(s, MATERIAL_WALNUT, 1.3f);
    LATHE(s, 72, {0, 0.062f}, {0.69f, 0.062f}, {0.72f, 0.067f}, {0.735f, 0.08f}, {0.737f, 0.092f},
          {0.73f, 0.106f}, {0.712f, 0.115f}, {0.705f, 0.115f}, {0.703f, 0.121f}, {0.685f, 0.126f},
          {0.664f, 0.138f}, {0.65f, 0.155f}, {0.645f, 0.172f});
    LATHE(s, 72, {0.648f, 0.196f}, {0.652f, 0.206f}, {0.662f, 0.218f}, {0.672f, 0.224f}, {0.680f, 0.226f},
          {0.680f, 0.236f}, {0.672f, 0.244f}, {0.66f, 0.247f});
    shape_finish(s, MATERIAL_GOLD_BRASS, 0.8f); // the bead between
    LATHE(s, 72, {0.645f, 0.172f}, {0.655f, 0.1735f}, {0.661f, 0.179f}, {0.663f, 0.184f}, {0.661f, 0.190f},
          {0.655f, 0.1945f}, {0.648f, 0.196f});
}

// The signs of the zodiac as pen strokes through grid points xy, 0 .. 6 each way; a comma lifts the pen.
static const char *const zodiac[12] = {
    "05 16 25 30 45 56 65",                            // the ram
    "06 24 44 66,24 13 11 20 40 51 53 44",             // the bull
    "06 15 55 66,25 21,45 41,00 11 51 60",             // the twins
    "65 36 15 04 13 24 15,01 30 51 62 53 42 51",       // the crab
    "13 22 11 02 13 15 26 46 55 42 50 60",             // the lion
    "06 15 11,15 26 35 31,35 46 55 51 60,54 64 62 40", // the maiden
    "00 60,02 22 13 15 26 46 55 53 42 62",             // the scales
    "06 15 11,15 26 35 31,35 46 55 51 60 62",          // the scorpion
    "00 66,36 66 63,13 31",                            // the archer
    "06 15 11,15 26 35 32 41 52 43 32 30 20",          // the goat
    "04 15 24 35 44 55 64,01 12 21 32 41 52 61",       // the water bearer
    "06 15 13 11 00,66 55 53 51 60,03 63",             // the fishes
};

// The point of a glyph's grid, on the dial: the top of the sign points outwards.
static real3 glyph_point(const char *xy, float angle)
{
    const float cell = 0.0125f, middle = 0.511f;
    float u = cell * (float)(xy[0] - '3'), v = cell * (float)(xy[1] - '3');
    return add3(polar(middle + v, dial, angle), polar(u, 0, angle - 0.25f * tau));
}

static void build_glyph(shape_mesh *s, const char *strokes, float angle)
{
    for (const char *p = strokes; p[2]; p += 3) {
        if (p[2] == ',') {
            continue;
        }
        real3 a = glyph_point(p, angle), b = glyph_point(p + 3, angle);
        float length = length3(sub3(b, a));
        shape_set_frame(s, a, atan2f(a.z - b.z, b.x - a.x));
        shape_bar(s, -0.0024f, length + 0.0018f, 0.0058f, 0.0058f, 0, 0.0012f);
    }
}

static void build_dial(shape_mesh *s)
{
    // the ink comes first: the enamel's samples then keep clear of it
    const float ink = dial + 0.0012f;
    shape_set_frame(s, make_real3(0, 0, 0), 0);
    shape_finish(s, MATERIAL_INK, 0.34f);
    LATHE(s, 72, {0.608f, ink}, {0.604f, ink});
    LATHE(s, 72, {0.574f, ink}, {0.570f, ink});
    LATHE(s, 72, {0.453f, ink}, {0.449f, ink});
    for (int i = 0; i < 180; i++) {
        shape_set_frame(s, make_real3(0, 0, 0), tau * (float)i / 180.0f);
        float start = i % 15 == 0 ? 0.452f : i % 5 == 0 ? 0.574f : 0.589f;
        float width = i % 15 == 0 ? 0.0050f : i % 5 == 0 ? 0.0050f : 0.0036f;
        shape_bar(s, start, 0.604f, width, width, dial, ink);
    }
    for (int i = 0; i < 12; i++) {
        build_glyph(s, zodiac[i], tau * ((float)i + 0.5f) / 12.0f);
    }
    shape_set_frame(s, make_real3(0, 0, 0), 0);
    shape_finish(s, MATERIAL_GOLD_BRASS, 0.8f);
    LATHE(s, 72, {0.66f, 0.247f}, {0.66f, 0.262f}, {0.654f, 0.268f}, {0.646f, 0.269f}, {0.638f, 0.268f},
          {0.632f, dial}, {0.612f, dial});
    shape_finish(s, MATERIAL_ENAMEL, 0.55f);
    LATHE(s, 72, {0.612f, dial}, {0.57f, dial}, {0.50f, dial}, {0.445f, dial});
    shape_finish(s, MATERIAL_GOLD_BRASS, 0.8f);
    LATHE(s, 72, {0.445f, dial}, {0.441f, 0.268f}, {0.434f, 0.27f}, {0.427f, 0.268f}, {0.423f, dial});
    shape_finish(s, MATERIAL_BRASS, 1.1f);
    LATHE(s, 72, {0.423f, dial}, {0.3f, dial}, {0.15f, dial}, {0.0f, dial});

    shape_finish(s, MATERIAL_STEEL, 0.5f);
    for (int i = 0; i < 12; i++) { // screws in the rim
        shape_set_frame(s, polar(0.622f, dial, tau * ((float)i + 0.5f) / 12.0f), 0.7f * (float)i);
        LATHE(s, 14, {0.0075f, 0}, {0.0075f, 0.003f}, {0.005f, 0.0055f}, {0, 0.006f});
    }
}

static void build_wheel(shape_mesh *s, real3 axle, float height, int teeth, int spokes, float phase,
                        int metal)
{
    shape_set_frame(s, make_real3(axle.x, height, axle.z), 0);
    shape_finish(s, metal, 0.5f);
    shape_gear(s, teeth, module, 0.022f, 0.03f, spokes, phase);
}

static void build_arbor(shape_mesh *s, real3 foot, float top)
{
    shape_set_frame(s, make_real3(foot.x, 0, foot.z), 0);
    shape_finish(s, MATERIAL_STEEL, 0.6f);
    LATHE(s, 20, {0.028f, dial}, {0.028f, dial + 0.012f}, {0.014f, dial + 0.02f}, {0.014f, top});
    shape_finish(s, MATERIAL_GOLD_BRASS, 0.55f);
    LATHE(s, 20, {0.014f, top}, {0.024f, top + 0.004f}, {0.026f, top + 0.010f}, {0.022f, top + 0.016f},
          {0.011f, top + 0.02f}, {0.010f, top + 0.026f}, {0.016f, top + 0.033f}, {0.018f, top + 0.042f},
          {0.015f, top + 0.051f}, {0.007f, top + 0.058f}, {0.004f, top + 0.068f}, {0, top + 0.072f});
}

static float pitch_radius(int teeth)
{
    return 0.5f * module * (float)teeth;
}

// The wheel that meshes with another on the column: the phase that puts its tooth into the other's gap.
static float meshing_phase(int teeth, int other_teeth, float other_phase, float angle)
{
    // angle: from the other wheel's axle to this one's, turning from x to z
    float other = (float)other_teeth * angle / tau - other_phase; // the other's teeth passed at the contact
    float own = (float)teeth * (angle / tau + 0.5f);
    return own + other + 0.5f;
}

static void build_train(shape_mesh *s)
{
    static const struct {
        int centre_teeth, teeth;
        float height, angle;
    } pairs[] = {
        {40, 22, 0.285f, 2.55f}, {28, 34, 0.345f, 2.55f}, {40, 18, 0.285f, 0.75f},
        {20, 38, 0.405f, 0.75f}, {40, 24, 0.285f, 4.45f}, {32, 32, 0.465f, 4.45f},
    };
    const real3 centre = make_real3(0, 0, 0);
    build_wheel(s, centre, 0.285f, 40, 6, 0, MATERIAL_GOLD_BRASS);
    for (int i = 0; i < 6; i++) {
        // the two wheels of one arbor are at the same position
        float distance = pitch_radius(pairs[i & ~1].centre_teeth + pairs[i & ~1].teeth);
        real3 axle = make_real3(distance * cosf(pairs[i].angle), 0, distance * sinf(pairs[i].angle));
        float phase = meshing_phase(pairs[i].teeth, pairs[i].centre_teeth, 0, pairs[i].angle);
        build_wheel(s, axle, pairs[i].height, pairs[i].teeth, pairs[i].teeth > 30 ? 5 : 4, phase,
                    i % 2 ? MATERIAL_GOLD_BRASS : MATERIAL_BRASS);
        if (i % 2) {
            build_wheel(s, centre, pairs[i].height, pairs[i].centre_teeth, 4, 0, MATERIAL_BRASS);
            build_arbor(s, axle, pairs[i].height + 0.05f);
        }
    }
}

static void build_column(shape_mesh *s)
{
    shape_set_frame(s, make_real3(0, 0, 0), 0);
    shape_finish(s, MATERIAL_GOLD_BRASS, 0.8f);
    LATHE(s, 36, {0.085f, dial}, {0.085f, 0.272f}, {0.06f, 0.28f}, {0.05f, 0.285f}, {0.05f, 0.50f},
          {0.062f, 0.505f}, {0.082f, 0.515f}, {0.088f, 0.53f}, {0.082f, 0.545f}, {0.062f, 0.555f},
          {0.055f, 0.56f}, {0.058f, 0.575f}, {0.064f, 0.60f}, {0.062f, 0.625f}, {0.05f, 0.655f},
          {0.042f, 0.67f}, {0.042f, 0.68f}, {0.036f, 0.685f}, {0.036f, 0.98f}, {0.030f, 0.985f},
          {0.030f, 1.20f}, {0.024f, 1.205f}, {0.022f, 1.27f}, {0.034f, 1.276f}, {0.036f, 1.283f},
          {0.034f, 1.29f}, {0.024f, 1.296f}, {0.022f, 1.305f}, {0.05f, 1.322f}, {0.078f, 1.338f},
          {0.09f, 1.352f}, {0.088f, 1.36f});
    shape_finish(s, MATERIAL_SUN, 0.85f);
    shape_sphere(s, make_real3(0, sun_height, 0), sun_radius, 48);
}

typedef struct planet {
    int material;
    float radius, orbit, arm_height, angle, spacing;
} planet;

static const planet planets[] = {
    {MATERIAL_MERCURY, 0.034f, 0.33f, 1.19f, 3.10f, 0.5f},
    {MATERIAL_VENUS, 0.052f, 0.47f, 1.12f, 3.75f, 0.55f},
    {MATERIAL_EARTH, 0.070f, 0.675f, 1.03f, 5.55f, 0.4f},
    {MATERIAL_MARS, 0.050f, 0.85f, 0.94f, 2.95f, 0.5f},
    {MATERIAL_JUPITER, 0.125f, 1.06f, 0.86f, 4.05f, 0.65f},
    {MATERIAL_SATURN, 0.098f, 1.30f, 0.78f, 6.25f, 0.6f},
    {MATERIAL_URANUS, 0.066f, 1.38f, 0.71f, 1.30f, 0.6f},
};
enum { PLANETS = sizeof planets / sizeof planets[0] };

static void build_collar(shape_mesh *s, float height)
{
    shape_set_frame(s, make_real3(0, height, 0), 0);
    shape_finish(s, MATERIAL_BRASS, 0.6f);
    LATHE(s, 24, {0.028f, -0.024f}, {0.050f, -0.024f}, {0.055f, -0.018f}, {0.055f, -0.012f},
          {0.051f, -0.008f}, {0.051f, 0.008f}, {0.055f, 0.012f}, {0.055f, 0.018f}, {0.050f, 0.024f},
          {0.028f, 0.024f});
}

// The cup a planet rests in, and the planet; the frame's y axis is the planet's.
static void build_planet(shape_mesh *s, const planet *p, real3 centre, float lean)
{
    float r = p->radius;
    shape_set_frame(s, sub3(centre, make_real3(0, r, 0)), 0);
    shape_finish(s, MATERIAL_GOLD_BRASS, 0.5f);
    LATHE(s, 18, {0.008f, -0.045f}, {0.014f, -0.040f}, {0.016f, -0.034f}, {0.012f, -0.028f},
          {0.009f, -0.022f}, {0.012f, -0.012f}, {0.3f * r + 0.006f, -0.002f}, {0.5f * r, 0.12f * r},
          {0.47f * r, 0.13f * r});
    shape_set_frame_tilted(s, centre, p->angle, lean);
    shape_finish(s, p->material, p->spacing);
    shape_sphere(s, make_real3(0, 0, 0), r, p->radius > 0.08f ? 44 : 32);
}

static void build_arm(shape_mesh *s, const planet *p)
{
    enum { POINTS = 18 };
    real3 path[POINTS];
    float radius[POINTS];
    float top = sun_height - p->radius - 0.04f;
    for (int i = 0; i < POINTS; i++) { // a Bezier curve: out, then up
        float t = (float)i / (POINTS - 1), u = 1.0f - t;
        float along = 3 * u * u * t * 0.55f * p->orbit + 3 * u * t * t * p->orbit + t * t * t * p->orbit;
        along += u * u * u * 0.045f;
        float up = (u * u * u + 3 * u * u * t) * p->arm_height +
                   3 * u * t * t * (p->arm_height + 0.12f * (top - p->arm_height)) + t * t * t * top;
        path[i] = polar(along, up, p->angle);
        radius[i] = 0.0165f - 0.0075f * t;
    }
    shape_set_frame(s, make_real3(0, 0, 0), 0);
    shape_finish(s, MATERIAL_BRASS, 0.46f);
    shape_tube(s, path, radius, POINTS, 10);
    build_collar(s, p->arm_height);
}

// The earth rides on a plate with wheels, which in the original keep the direction of its axis.
static void build_earth(shape_mesh *s, const planet *p)
{
    enum { TEETH = 18 };
    const float h = p->arm_height, step = 2.0f * pitch_radius(TEETH);
    build_collar(s, h);
    shape_set_frame(s, make_real3(0, h, 0), p->angle);
    shape_finish(s, MATERIAL_BRASS, 0.6f);
    shape_bar(s, 0.04f, 3.0f * step, 0.06f, 0.045f, -0.01f, 0.01f);
    shape_bar(s, -0.22f, -0.04f, 0.035f, 0.05f, -0.01f, 0.01f); // counterweight
    shape_set_frame(s, polar(-0.23f, h, p->angle), 0);
    shape_sphere(s, make_real3(0, 0, 0), 0.042f, 24);
    float phase = 0.0f;
    for (int i = 0; i < 4; i++) {
        real3 axle = polar(step * (float)i, 0, p->angle);
        if (i) {
            phase = meshing_phase(TEETH, TEETH, phase, -p->angle);
        }
        build_wheel(s, axle, h + 0.03f, TEETH, 4, phase, i % 2 ? MATERIAL_GOLD_BRASS : MATERIAL_BRASS);
        if (i == 1 || i == 2) {
            shape_set_frame(s, make_real3(axle.x, h, axle.z), 0);
            shape_finish(s, MATERIAL_STEEL, 0.45f);
            LATHE(s, 18, {0.022f, -0.02f}, {0.022f, -0.01f}, {0.012f, 0.01f}, {0.012f, 0.062f},
                  {0.02f, 0.064f}, {0.02f, 0.07f}, {0.012f, 0.076f}, {0, 0.078f});
        }
    }
    real3 end = polar(3.0f * step, 0, p->angle);
    shape_set_frame(s, end, 0);
    shape_finish(s, MATERIAL_GOLD_BRASS, 0.5f);
    LATHE(s, 20, {0, h - 0.03f}, {0.018f, h - 0.022f}, {0.024f, h - 0.01f}, {0.014f, h + 0.01f},
          {0.014f, h + 0.07f}, {0.026f, h + 0.075f}, {0.028f, h + 0.085f}, {0.02f, h + 0.095f},
          {0.009f, h + 0.105f}, {0.008f, sun_height - p->radius - 0.04f});
    // the moon's own little arm
    const float moon_angle = p->angle + 1.9f, reach = 0.155f;
    real3 path[9];
    float radius[9];
    for (int i = 0; i < 9; i++) {
        float t = (float)i / 8.0f;
        path[i] = add3(end, polar(reach * fminf(1.0f, 1.35f * t), 0, moon_angle));
        path[i].y = h + 0.20f + (sun_height + 0.01f - h - 0.20f) * t * t * t;
        radius[i] = 0.0065f - 0.002f * t;
    }
    shape_set_frame(s, make_real3(0, 0, 0), 0);
    shape_tube(s, path, radius, 9, 10);
    shape_set_frame(s, make_real3(end.x, h + 0.20f, end.z), 0);
    LATHE(s, 20, {0.008f, -0.012f}, {0.018f, -0.010f}, {0.018f, 0.010f}, {0.008f, 0.012f});
    const planet moon = {MATERIAL_MOON, 0.021f, 0, 0, 0, 0.4f};
    shape_set_frame(s, make_real3(path[8].x, path[8].y + 0.018f, path[8].z), 0);
    shape_finish(s, moon.material, moon.spacing);
    shape_sphere(s, make_real3(0, 0, 0), moon.radius, 24);
    build_planet(s, p, make_real3(end.x, sun_height, end.z), 0.41f);
}

static void build_ring(shape_mesh *s, const planet *p, float lean)
{
    shape_set_frame_tilted(s, polar(p->orbit, sun_height, p->angle), p->angle, lean);
    shape_finish(s, MATERIAL_RING, 0.45f);
    static const float bands[][2] = {{1.32f, 1.62f}, {1.66f, 1.92f}, {1.99f, 2.16f}};
    for (int i = 0; i < 3; i++) {
        float a = bands[i][0] * p->radius, b = bands[i][1] * p->radius;
        LATHE(s, 72, {a, 0.002f}, {a, -0.002f}, {b, -0.002f}, {b, 0.002f}, {a, 0.002f});
    }
}

orr_result orrery_build(shape_mesh *s, orr_error *error)
{
    build_base(s);
    build_dial(s);
    build_train(s);
    build_column(s);
    for (int i = 0; i < PLANETS; i++) {
        const planet *p = &planets[i];
        if (p->material == MATERIAL_EARTH) {
            build_earth(s, p);
            continue;
        }
        float lean = p->material == MATERIAL_SATURN ? -0.40f : 0.1f;
        build_arm(s, p);
        build_planet(s, p, polar(p->orbit, sun_height, p->angle), lean);
        if (p->material == MATERIAL_SATURN) {
            build_ring(s, p, lean);
        }
    }
    return shape_find_neighbours(s, error);
}
