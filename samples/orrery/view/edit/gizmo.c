#include "samples/orrery/view/edit/gizmo.h"

#include "engine/maths/rotation.h"
#include "samples/orrery/view/edit/window_ray.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
static const double ARROW = 90.0;                    // length [window coordinates]
static const double GRIP = 8.0;                      // how near to a handle a click takes it
static const double NEAR_SIDE = 0.3, FAR_SIDE = 0.6; // of the square, RING and the arrows' length: 1
static const double RING = 0.8;
static const double ASIDE = 0.75;         // of the handle of the scale, right and up in the window
static const double STEEP = 0.05;         // sine of the least angle between the cursor's ray and the plane
static const double SCALE_STEP_MAX = 1e3; // of one drag

static void axis_of(const gizmo *g, int axis, double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = g->axes[3 * k + axis];
    }
}

// right, up, forward from the origin, in lengths of the arrows; false: behind the camera
static bool project(const gizmo *g, double right, double up, double forward, double out[2])
{
    double point[3], local[3];
    for (int k = 0; k < 3; k++) {
        const double *row = g->axes + 3 * k;
        point[k] = g->origin[k] + g->reach * (right * row[0] + up * row[1] + forward * row[2]);
    }
    window_camera(&g->camera, point, local);
    window_point(&g->camera, g->window, local, out);
    return g->camera.model == ORR_CAMERA_ORTHOGRAPHIC || local[2] > 0.0;
}

bool gizmo_open(gizmo *g, const orr_camera *camera, const double window[2], const double axes[9],
                const double origin[3])
{
    *g = (gizmo){.camera = *camera, .window = {window[0], window[1]}};
    for (int k = 0; k < 9; k++) {
        g->axes[k] = axes[k];
    }
    for (int k = 0; k < 3; k++) {
        g->origin[k] = origin[k];
    }
    double local[3];
    window_camera(camera, origin, local);
    const bool orthographic = camera->model == ORR_CAMERA_ORTHOGRAPHIC;
    const double per_unit = (double)camera->focal[1] / fmax(camera->height, 1.0) * window[1];
    g->reach = ARROW / per_unit * (orthographic ? 1.0 : local[2]);
    return g->reach > 0.0 && isfinite(g->reach);
}

void gizmo_draw(const gizmo *g, gizmo_part part, gizmo_line *line)
{
    bool seen = project(g, 0.0, 0.0, 0.0, line->point[0]);
    line->count = 2;
    switch (part) {
    case GIZMO_RIGHT:
        seen = project(g, 1.0, 0.0, 0.0, line->point[1]) && seen;
        break;
    case GIZMO_UP:
        seen = project(g, 0.0, 1.0, 0.0, line->point[1]) && seen;
        break;
    case GIZMO_FORWARD:
        seen = project(g, 0.0, 0.0, 1.0, line->point[1]) && seen;
        break;
    case GIZMO_GROUND:
        for (int i = 0; i < 5; i++) {
            const double right = i == 1 || i == 2 ? FAR_SIDE : NEAR_SIDE,
                         forward = i == 2 || i == 3 ? FAR_SIDE : NEAR_SIDE;
            seen = project(g, right, 0.0, forward, line->point[i]) && seen;
        }
        line->count = 5;
        break;
    case GIZMO_TURN:
        for (int i = 0; i < GIZMO_POINTS; i++) {
            const double angle = 2.0 * pi * i / (GIZMO_POINTS - 1);
            seen = project(g, RING * cos(angle), 0.0, RING * sin(angle), line->point[i]) && seen;
        }
        line->count = GIZMO_POINTS;
        break;
    case GIZMO_SCALE:
        line->point[1][0] = line->point[0][0] + ASIDE * ARROW;
        line->point[1][1] = line->point[0][1] - ASIDE * ARROW;
        break;
    case GIZMO_NONE:
    case GIZMO_PARTS:
        seen = false;
        break;
    }
    line->count = seen ? line->count : 0;
}

static double distance_to_segment(const double p[2], const double a[2], const double b[2])
{
    const double x = b[0] - a[0], y = b[1] - a[1], square = x * x + y * y;
    double t = square > 0.0 ? ((p[0] - a[0]) * x + (p[1] - a[1]) * y) / square : 0.0;
    t = fmin(fmax(t, 0.0), 1.0);
    return hypot(p[0] - a[0] - t * x, p[1] - a[1] - t * y);
}

static bool is_inside(const double p[2], const gizmo_line *l)
{
    bool inside = false;
    for (int i = 0; i + 1 < l->count; i++) {
        const double *a = l->point[i], *b = l->point[i + 1];
        inside ^=
            (a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0] + (b[0] - a[0]) * (p[1] - a[1]) / (b[1] - a[1]);
    }
    return inside;
}

gizmo_part gizmo_find(const gizmo *g, const double cursor[2])
{
    gizmo_part found = GIZMO_NONE;
    double best = GRIP;
    for (int part = 0; part < GIZMO_PARTS; part++) {
        gizmo_line line;
        gizmo_draw(g, (gizmo_part)part, &line);
        if (line.count == 0) {
            continue;
        }
        double distance = INFINITY;
        if (part == GIZMO_SCALE) { // its handle, not the line to it
            distance = hypot(cursor[0] - line.point[1][0], cursor[1] - line.point[1][1]);
        } else if (part == GIZMO_GROUND && is_inside(cursor, &line)) {
            distance = 0.5 * GRIP; // arrows and the ring that cross it go first
        }
        for (int i = 0; i + 1 < line.count && part != GIZMO_SCALE; i++) {
            distance = fmin(distance, distance_to_segment(cursor, line.point[i], line.point[i + 1]));
        }
        if (distance < best) {
            best = distance;
            found = (gizmo_part)part;
        }
    }
    return found;
}

// ---- drags ----

// How far along the axis through the origin the cursor's ray passes it.
static bool along_axis(const gizmo *g, int axis, const double cursor[2], double *t)
{
    double from[3], along[3], a[3], arm[3];
    window_ray(&g->camera, g->window, cursor, from, along);
    axis_of(g, axis, a);
    for (int k = 0; k < 3; k++) {
        arm[k] = from[k] - g->origin[k];
    }
    const double length = vec3_dot(along, along), across = vec3_dot(a, along);
    const double square = length - across * across; // of the ray, across the axis
    if (square < STEEP * STEEP * length) {
        return false;
    }
    *t = (length * vec3_dot(a, arm) - across * vec3_dot(along, arm)) / square;
    return true;
}

// Where the cursor's ray meets the ground plane through the origin, from there.
static bool on_ground(const gizmo *g, const double cursor[2], double out[3])
{
    double from[3], along[3], up[3], arm[3];
    window_ray(&g->camera, g->window, cursor, from, along);
    axis_of(g, 1, up);
    for (int k = 0; k < 3; k++) {
        arm[k] = from[k] - g->origin[k];
    }
    const double falls = vec3_dot(up, along), height = vec3_dot(up, arm);
    const double t = -height / falls;
    if (fabs(falls) < STEEP * sqrt(vec3_dot(along, along)) ||
        (g->camera.model != ORR_CAMERA_ORTHOGRAPHIC && t <= 0.0)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        out[k] = arm[k] + t * along[k];
    }
    return true;
}

static double bearing(const gizmo *g, const double arm[3])
{
    double right[3], forward[3];
    axis_of(g, 0, right);
    axis_of(g, 2, forward);
    return atan2(vec3_dot(arm, right), vec3_dot(arm, forward));
}

static bool find_turn(const gizmo *g, const double from[2], const double to[2], double quat[4])
{
    double before[3], now[3], up[3], forward[3], right[3], side[3];
    if (!on_ground(g, from, before) || !on_ground(g, to, now)) {
        return false;
    }
    axis_of(g, 0, right);
    axis_of(g, 1, up);
    axis_of(g, 2, forward);
    vec3_cross(up, forward, side); // the bearing grows from forward to right; a turn about up, to the side
    const double sense = vec3_dot(side, right) > 0.0 ? 1.0 : -1.0;
    quat_axis_angle(up, sense * (bearing(g, now) - bearing(g, before)), quat);
    return true;
}

static bool find_scale(const gizmo *g, const double from[2], const double to[2], double *factor)
{
    double middle[2];
    project(g, 0.0, 0.0, 0.0, middle);
    const double before = hypot(from[0] - middle[0], from[1] - middle[1]);
    *factor = hypot(to[0] - middle[0], to[1] - middle[1]) / before;
    *factor = fmin(fmax(*factor, 1.0 / SCALE_STEP_MAX), SCALE_STEP_MAX);
    return before > 0.0;
}

static bool find_shift(const gizmo *g, gizmo_part part, const double from[2], const double to[2],
                       double shift[3])
{
    double before[3], now[3], axis[3], t[2];
    if (part == GIZMO_GROUND) {
        if (!on_ground(g, from, before) || !on_ground(g, to, now)) {
            return false;
        }
        for (int k = 0; k < 3; k++) {
            shift[k] = now[k] - before[k];
        }
        return true;
    }
    if (!along_axis(g, (int)part, from, &t[0]) || !along_axis(g, (int)part, to, &t[1])) {
        return false;
    }
    axis_of(g, (int)part, axis);
    for (int k = 0; k < 3; k++) {
        shift[k] = (t[1] - t[0]) * axis[k];
    }
    return true;
}

bool gizmo_drag(const gizmo *g, gizmo_part part, const double from[2], const double to[2],
                const orr_transform *before, orr_transform *after)
{
    double quat[4] = {1.0, 0.0, 0.0, 0.0}, shift[3] = {0.0}, factor = 1.0, own[4], arm[3];
    const bool good = part == GIZMO_TURN    ? find_turn(g, from, to, quat)
                      : part == GIZMO_SCALE ? find_scale(g, from, to, &factor)
                                            : find_shift(g, part, from, to, shift);
    if (!good) {
        return false;
    }
    for (int k = 0; k < 4; k++) {
        own[k] = (double)before->rotation[k];
    }
    for (int k = 0; k < 3; k++) {
        arm[k] = factor * ((double)before->position[k] - g->origin[k]);
    }
    quat_multiply(quat, own, own);
    quat_apply(quat, arm, arm);
    *after = (orr_transform){.scale = (float)((double)before->scale * factor)};
    for (int k = 0; k < 4; k++) {
        after->rotation[k] = (float)own[k];
    }
    for (int k = 0; k < 3; k++) {
        after->position[k] = (float)(g->origin[k] + arm[k] + shift[k]);
    }
    return true;
}
