#include "samples/orrery/view/navigator.h"

#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;
static const double PITCH_LIMIT = 1.55;  // [rad]: straight up and down have no yaw
static const double MOVE_SECONDS = 0.35; // of a focus or home move

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static void add_scaled(double a[3], const double b[3], double scale)
{
    for (int i = 0; i < 3; i++) {
        a[i] += scale * b[i];
    }
}

// right, up and forward of a pose, in the world
static void view_axes(const navigator *n, const navigator_pose *pose, double right[3], double up[3],
                      double forward[3])
{
    double sy = sin(pose->yaw), cy = cos(pose->yaw), sp = sin(pose->pitch), cp = cos(pose->pitch);
    for (int i = 0; i < 3; i++) {
        const double *row = n->axes + 3 * i;
        right[i] = cy * row[0] - sy * row[2];
        double level = sy * row[0] + cy * row[2];
        forward[i] = cp * level + sp * row[1];
        up[i] = cp * row[1] - sp * level;
    }
}

static void focus_of(const navigator *n, double focus[3])
{
    double right[3], up[3], forward[3];
    view_axes(n, &n->pose, right, up, forward);
    memcpy(focus, n->pose.position, sizeof n->pose.position);
    add_scaled(focus, forward, n->pose.distance);
}

// puts the camera where the focus comes to lie at `focus`
static void place_before(const navigator *n, navigator_pose *pose, const double focus[3])
{
    double right[3], up[3], forward[3];
    view_axes(n, pose, right, up, forward);
    memcpy(pose->position, focus, sizeof pose->position);
    add_scaled(pose->position, forward, -pose->distance);
}

static void turn_towards(const navigator *n, navigator_pose *pose, const double direction[3])
{
    double along[3] = {0};
    for (int i = 0; i < 3; i++) {
        add_scaled(along, n->axes + 3 * i, direction[i]);
    }
    double level = hypot(along[0], along[2]);
    if (level > 0.0) {
        pose->yaw = atan2(along[0], along[2]);
    }
    pose->pitch = clamp(atan2(along[1], level), -PITCH_LIMIT, PITCH_LIMIT);
}

static void set_level(navigator *n, const double up[3], const double forward[3])
{
    double right[3], north[3];
    vec3_cross(forward, up, right);
    double length = sqrt(vec3_dot(right, right));
    for (int i = 0; i < 3; i++) {
        right[i] /= length;
    }
    vec3_cross(up, right, north);
    for (int i = 0; i < 3; i++) {
        n->axes[3 * i] = right[i];
        n->axes[3 * i + 1] = up[i];
        n->axes[3 * i + 2] = north[i];
    }
}

void navigator_adopt(navigator *n, const orr_camera *camera)
{
    double right[3], up[3], forward[3];
    for (int i = 0; i < 3; i++) {
        right[i] = (double)camera->pose[4 * i];
        up[i] = -(double)camera->pose[4 * i + 1];
        forward[i] = (double)camera->pose[4 * i + 2];
        n->pose.position[i] = (double)camera->pose[4 * i + 3];
    }
    int axis = 0;
    for (int i = 1; i < 3; i++) {
        axis = fabs(up[i]) > fabs(up[axis]) ? i : axis;
    }
    bool rolls = fabs(right[axis]) > 5e-3 || fabs(forward[axis]) > sin(PITCH_LIMIT);
    if (rolls) {
        set_level(n, up, forward);
    } else {
        double level[3] = {0};
        level[axis] = up[axis] > 0.0 ? 1.0 : -1.0;
        set_level(n, level, forward);
    }
    n->pose.yaw = n->pose.pitch = 0.0;
    turn_towards(n, &n->pose, forward);
    n->progress = 1.0;
    n->orthographic = camera->model == ORR_CAMERA_ORTHOGRAPHIC;
    double half = 0.5 * camera->height / (double)camera->focal[1];
    if (n->orthographic) {
        n->field_of_view = PI / 4.0;
        n->pose.distance = half / tan(0.5 * n->field_of_view);
    } else {
        n->field_of_view = 2.0 * atan(half);
        n->pose.distance = n->pose.distance > 0.0 ? n->pose.distance : 1.0;
    }
}

void navigator_start(navigator *n, const orr_camera *camera, const float centre[3], float radius)
{
    *n = (navigator){0};
    navigator_adopt(n, camera);
    double right[3], up[3], forward[3], towards[3];
    view_axes(n, &n->pose, right, up, forward);
    for (int i = 0; i < 3; i++) {
        towards[i] = (double)centre[i] - n->pose.position[i];
    }
    double size = radius > 0.0f ? (double)radius : 1.0;
    if (!n->orthographic) {
        n->pose.distance = fmax(vec3_dot(towards, forward), 0.1 * size);
    }
    n->speed = 0.5 * size;
}

orr_camera navigator_camera(const navigator *n, int width, int height)
{
    double right[3], up[3], forward[3];
    view_axes(n, &n->pose, right, up, forward);
    double half = tan(0.5 * n->field_of_view) * (n->orthographic ? n->pose.distance : 1.0);
    orr_camera camera = {.width = width, .height = height};
    camera.model = n->orthographic ? ORR_CAMERA_ORTHOGRAPHIC : ORR_CAMERA_PERSPECTIVE;
    camera.focal[0] = camera.focal[1] = (float)(0.5 * height / half);
    for (int i = 0; i < 3; i++) {
        camera.pose[4 * i] = (float)right[i];
        camera.pose[4 * i + 1] = (float)-up[i];
        camera.pose[4 * i + 2] = (float)forward[i];
        camera.pose[4 * i + 3] = (float)n->pose.position[i];
    }
    return camera;
}

static void turn(navigator *n, double yaw, double pitch)
{
    n->progress = 1.0;
    n->pose.yaw += yaw;
    n->pose.pitch = clamp(n->pose.pitch + pitch, -PITCH_LIMIT, PITCH_LIMIT);
}

void navigator_orbit(navigator *n, double right, double down)
{
    n->mode = NAVIGATOR_ORBIT;
    double focus[3];
    focus_of(n, focus);
    turn(n, PI * right, -PI * down); // the window's height turns half around
    place_before(n, &n->pose, focus);
}

void navigator_look(navigator *n, double right, double down)
{
    n->mode = NAVIGATOR_FLY;
    turn(n, -n->field_of_view * right, n->field_of_view * down);
}

void navigator_pan(navigator *n, double right, double down)
{
    n->progress = 1.0;
    double axis[3], up[3], forward[3];
    view_axes(n, &n->pose, axis, up, forward);
    double height = 2.0 * n->pose.distance * tan(0.5 * n->field_of_view);
    add_scaled(n->pose.position, axis, -height * right);
    add_scaled(n->pose.position, up, height * down);
}

void navigator_wheel(navigator *n, double notches)
{
    if (n->mode == NAVIGATOR_FLY) {
        n->speed = clamp(n->speed * pow(1.25, notches), 1e-6, 1e9);
        return;
    }
    n->progress = 1.0;
    double focus[3];
    focus_of(n, focus);
    n->pose.distance = clamp(n->pose.distance * pow(0.85, notches), 1e-6, 1e9);
    place_before(n, &n->pose, focus);
}

void navigator_fly(navigator *n, const double direction[3], double seconds)
{
    n->mode = NAVIGATOR_FLY;
    n->progress = 1.0;
    double right[3], up[3], forward[3];
    view_axes(n, &n->pose, right, up, forward);
    double step = n->speed * seconds;
    add_scaled(n->pose.position, right, step * direction[0]);
    add_scaled(n->pose.position, forward, step * direction[2]);
    for (int i = 0; i < 3; i++) {
        n->pose.position[i] += step * direction[1] * n->axes[3 * i + 1];
    }
}

void navigator_zoom(navigator *n, double notches)
{
    n->field_of_view = clamp(n->field_of_view * pow(0.95, notches), PI / 18.0, PI / 1.5);
}

static void begin_move(navigator *n, const navigator_pose *to)
{
    n->from = n->pose;
    n->to = *to;
    n->from.yaw = remainder(n->from.yaw, 2.0 * PI);
    n->to.yaw = n->from.yaw + remainder(to->yaw - n->from.yaw, 2.0 * PI); // by less than half a turn
    n->progress = 0.0;
}

void navigator_focus(navigator *n, const float point[3])
{
    double towards[3];
    for (int i = 0; i < 3; i++) {
        towards[i] = (double)point[i] - n->pose.position[i];
    }
    navigator_pose to = n->pose;
    double distance = sqrt(vec3_dot(towards, towards));
    if (distance > 0.0) {
        to.distance = distance;
        turn_towards(n, &to, towards);
        n->mode = NAVIGATOR_ORBIT;
        begin_move(n, &to);
    }
}

void navigator_see(navigator *n, const float centre[3], float radius)
{
    const double focus[3] = {(double)centre[0], (double)centre[1], (double)centre[2]};
    navigator_pose to = n->pose;
    to.distance = fmax((double)radius, 1e-6) / sin(0.5 * n->field_of_view);
    place_before(n, &to, focus);
    n->mode = NAVIGATOR_ORBIT;
    begin_move(n, &to);
}

void navigator_go_to(navigator *n, const orr_camera *camera, double distance)
{
    navigator there = *n;
    navigator_adopt(&there, camera);
    if (!there.orthographic) {
        there.pose.distance = distance;
    }
    // point along the new level from here, then move in it
    double right[3], up[3], forward[3];
    view_axes(n, &n->pose, right, up, forward);
    navigator_pose here = n->pose;
    memcpy(n->axes, there.axes, sizeof n->axes);
    turn_towards(n, &here, forward);
    n->pose = here;
    n->field_of_view = there.field_of_view;
    n->orthographic = there.orthographic;
    begin_move(n, &there.pose);
}

bool navigator_step(navigator *n, double seconds)
{
    if (n->progress >= 1.0) {
        return false;
    }
    n->progress = fmin(n->progress + seconds / MOVE_SECONDS, 1.0);
    double t = n->progress * n->progress * (3.0 - 2.0 * n->progress);
    for (int i = 0; i < 3; i++) {
        n->pose.position[i] = n->from.position[i] + t * (n->to.position[i] - n->from.position[i]);
    }
    n->pose.yaw = n->from.yaw + t * (n->to.yaw - n->from.yaw);
    n->pose.pitch = n->from.pitch + t * (n->to.pitch - n->from.pitch);
    n->pose.distance = n->from.distance + t * (n->to.distance - n->from.distance);
    if (n->progress >= 1.0) {
        n->pose = n->to;
    }
    return true;
}
