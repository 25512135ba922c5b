// Keys and mouse of the viewer's window.
#include "samples/orrery/view/view.h"

#include <math.h>
#include <string.h>

static const double DOUBLE_CLICK_SECONDS = 0.35;
static const double DOUBLE_CLICK_REACH = 5.0; // [window coordinates]

// Keys that move the camera while they are held: right and left, up and down, forward and back.
static const int flight_keys[VIEW_FLIGHT_KEYS] = {GLFW_KEY_D, GLFW_KEY_A, GLFW_KEY_E,
                                                  GLFW_KEY_Q, GLFW_KEY_W, GLFW_KEY_S};

typedef struct binding {
    int key;
    int modifiers; // all of Ctrl, Alt and Super; Shift where it is named
    view_action action;
} binding;

static const binding bindings[] = {
    {GLFW_KEY_ESCAPE, 0, VIEW_QUIT},
    {GLFW_KEY_HOME, 0, VIEW_HOME},
    {GLFW_KEY_F, 0, VIEW_SEE_ALL},
    {GLFW_KEY_P, 0, VIEW_SCREENSHOT},
    {GLFW_KEY_F12, 0, VIEW_SCREENSHOT},
    {GLFW_KEY_K, 0, VIEW_KEY_ADD},
    {GLFW_KEY_SPACE, 0, VIEW_PATH_PLAY},
    {GLFW_KEY_S, GLFW_MOD_CONTROL, VIEW_SAVE},
    {GLFW_KEY_Z, GLFW_MOD_CONTROL, VIEW_UNDO},
    {GLFW_KEY_Y, GLFW_MOD_CONTROL, VIEW_REDO},
    {GLFW_KEY_Z, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT, VIEW_REDO},
    {GLFW_KEY_V, 0, VIEW_SWITCH_DEVICE},
    {GLFW_KEY_O, 0, VIEW_SWITCH_PROJECTION},
    {GLFW_KEY_F1, 0, VIEW_SWITCH_PANEL},
    {GLFW_KEY_T, 0, VIEW_TRAINING_PAUSE},
    {GLFW_KEY_M, 0, VIEW_MODEL_SAVE},
    {GLFW_KEY_PERIOD, 0, VIEW_ROBOT_STEP},
    {GLFW_KEY_N, 0, VIEW_ROBOT_KEYFRAME},
    {GLFW_KEY_BACKSPACE, 0, VIEW_ROBOT_RESET},
    {GLFW_KEY_MINUS, 0, VIEW_ROBOT_SLOWER},
    {GLFW_KEY_EQUAL, 0, VIEW_ROBOT_FASTER},
    {GLFW_KEY_C, 0, VIEW_ROBOT_CONTACTS},
    {GLFW_KEY_X, 0, VIEW_SWITCH_COLLIDERS},
    {GLFW_KEY_H, 0, VIEW_SWITCH_SHADOWS},
    {GLFW_KEY_R, 0, VIEW_SWITCH_REGION},
    {GLFW_KEY_G, 0, VIEW_SWITCH_GIZMO},
    {GLFW_KEY_S, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT, VIEW_SCENE_SAVE},
    {GLFW_KEY_ENTER, 0, VIEW_REGION_CUT},
    {GLFW_KEY_ENTER, GLFW_MOD_CONTROL, VIEW_REGION_CUT_SOFT},
    {GLFW_KEY_B, 0, VIEW_DROP_BALL},
    {GLFW_KEY_B, GLFW_MOD_SHIFT, VIEW_DROP_BOX},
    {GLFW_KEY_B, GLFW_MOD_CONTROL, VIEW_DROP_SOFT},
};

// NULL while a file is loaded, when the scene cannot be moved or changed.
static viewer *viewer_of(GLFWwindow *window)
{
    viewer *v = glfwGetWindowUserPointer(window);
    view_attend(v);
    return v->load.going ? NULL : v;
}

static void hold_flight_key(viewer *v, int key, bool held)
{
    for (int i = 0; i < VIEW_FLIGHT_KEYS; i++) {
        if (flight_keys[i] == key) {
            v->flight_held[i] = held;
            v->flight_tapped[i] |= held;
        }
    }
}

// A key without Ctrl, Alt or Super, which the flight and the numbers of cameras must not react to.
static void press_plain(viewer *v, int key, int action)
{
    if (action == GLFW_PRESS) {
        hold_flight_key(v, key, true);
    }
    if (key == GLFW_KEY_LEFT_BRACKET || key == GLFW_KEY_RIGHT_BRACKET) {
        view_cameras_leave(v);
        navigator_zoom(&v->navigator, key == GLFW_KEY_LEFT_BRACKET ? 1.0 : -1.0);
    }
    int camera = key - GLFW_KEY_1; // 1 .. 9: the scene's own cameras, then its robots'
    if (camera >= 0 && camera < 9 && camera < v->cameras.count) {
        view_cameras_choose(v, camera);
    }
}

static void on_key(GLFWwindow *window, int key, int scancode, int action, int modifiers)
{
    (void)scancode;
    viewer *v = glfwGetWindowUserPointer(window);
    view_attend(v);
    if (v->load.going) {
        v->load.stop |= key == GLFW_KEY_ESCAPE && action == GLFW_PRESS;
        return;
    }
    if (action == GLFW_RELEASE) {
        hold_flight_key(v, key, false);
        return;
    }
    if (panel_wants_keys(v->panel)) {
        return;
    }
    modifiers &= GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER | GLFW_MOD_SHIFT;
    if ((modifiers & ~GLFW_MOD_SHIFT) == 0) {
        press_plain(v, key, action);
    }
    for (size_t i = 0; i < sizeof bindings / sizeof bindings[0] && action == GLFW_PRESS; i++) {
        if (bindings[i].key == key && bindings[i].modifiers == modifiers) {
            bool robot = view_robot_moves(v) && bindings[i].action == VIEW_PATH_PLAY;
            view_do(v, robot ? VIEW_ROBOT_PAUSE : bindings[i].action);
        }
    }
}

static void on_character(GLFWwindow *window, unsigned codepoint)
{
    viewer *v = viewer_of(window);
    if (v && codepoint == '?' && !panel_wants_keys(v->panel)) { // wherever the layout has it
        view_do(v, VIEW_SWITCH_HELP);
    }
}

static void on_content_scale(GLFWwindow *window, float x, float y)
{
    (void)x, (void)y;
    viewer_of(window); // the panel follows it
}

static void on_button(GLFWwindow *window, int button, int action, int modifiers)
{
    viewer *v = viewer_of(window);
    if (!v) {
        return;
    }
    view_gizmo_release(v);
    v->drag = VIEW_DRAG_NONE;
    view_hand_release(v);
    if (action != GLFW_PRESS || panel_covers(v->panel, v->cursor[0], v->cursor[1])) {
        return;
    }
    if (button == GLFW_MOUSE_BUTTON_LEFT && modifiers & GLFW_MOD_CONTROL && modifiers & GLFW_MOD_SHIFT) {
        v->drag = VIEW_DRAG_SUN;
    } else if (button == GLFW_MOUSE_BUTTON_LEFT && modifiers & GLFW_MOD_CONTROL) {
        v->drag = view_hand_grab(v) ? VIEW_DRAG_PULL : VIEW_DRAG_NONE;
    } else if (button == GLFW_MOUSE_BUTTON_LEFT && view_gizmo_grab(v)) {
        v->drag = VIEW_DRAG_GIZMO;
    } else if (button == GLFW_MOUSE_BUTTON_LEFT && view_region_grab(v)) {
        v->drag = VIEW_DRAG_REGION;
    } else if (button == GLFW_MOUSE_BUTTON_RIGHT) {
        v->drag = VIEW_DRAG_LOOK;
    } else if (button == GLFW_MOUSE_BUTTON_MIDDLE || modifiers & GLFW_MOD_SHIFT) {
        v->drag = VIEW_DRAG_PAN;
    } else if (button == GLFW_MOUSE_BUTTON_LEFT) {
        v->drag = VIEW_DRAG_ORBIT;
        double now = glfwGetTime();
        double moved = hypot(v->cursor[0] - v->last_click_at[0], v->cursor[1] - v->last_click_at[1]);
        if (now - v->last_click < DOUBLE_CLICK_SECONDS && moved < DOUBLE_CLICK_REACH) {
            view_focus_under_cursor(v);
            now = 0.0; // a third click is a first one
        }
        v->last_click = now;
        v->last_click_at[0] = v->cursor[0];
        v->last_click_at[1] = v->cursor[1];
    }
}

static void on_cursor(GLFWwindow *window, double x, double y)
{
    viewer *v = viewer_of(window);
    if (!v) {
        return;
    }
    int width, height;
    glfwGetWindowSize(window, &width, &height);
    double right = (x - v->cursor[0]) / fmax(height, 1.0), down = (y - v->cursor[1]) / fmax(height, 1.0);
    v->cursor[0] = x;
    v->cursor[1] = y;
    if (right == 0.0 && down == 0.0) {
        return; // so that a click does not end a move under way
    }
    if (v->drag == VIEW_DRAG_ORBIT || v->drag == VIEW_DRAG_LOOK || v->drag == VIEW_DRAG_PAN) {
        view_cameras_leave(v);
    }
    switch (v->drag) {
    case VIEW_DRAG_NONE:
    case VIEW_DRAG_PULL: // the spring follows when time passes
        break;
    case VIEW_DRAG_REGION:
        view_region_drag(v, right * height, down * height);
        break;
    case VIEW_DRAG_SUN:
        view_light_drag(v, right, down);
        break;
    case VIEW_DRAG_GIZMO:
        view_gizmo_drag(v);
        break;
    case VIEW_DRAG_ORBIT:
        navigator_orbit(&v->navigator, right, down);
        break;
    case VIEW_DRAG_LOOK:
        navigator_look(&v->navigator, right, down);
        break;
    case VIEW_DRAG_PAN:
        navigator_pan(&v->navigator, right, down);
        break;
    }
}

static void on_wheel(GLFWwindow *window, double right, double up)
{
    (void)right;
    viewer *v = viewer_of(window);
    if (v && !panel_covers(v->panel, v->cursor[0], v->cursor[1])) {
        view_cameras_leave(v);
        navigator_wheel(&v->navigator, up);
    }
}

static void on_drop(GLFWwindow *window, int count, const char **paths)
{
    viewer *v = viewer_of(window);
    if (v) {
        memcpy(v->dropped_at, v->cursor, sizeof v->dropped_at);
    }
    for (int i = 0; i < count && v; i++) {
        view_drop_file(v, paths[i]);
    }
}

static void on_size(GLFWwindow *window, int width, int height)
{
    (void)width, (void)height;
    viewer_of(window);
}

static void on_refresh(GLFWwindow *window)
{
    viewer_of(window);
}

static void on_iconify(GLFWwindow *window, int iconified)
{
    (void)iconified;
    viewer_of(window);
}

void view_connect(viewer *v)
{
    glfwSetWindowUserPointer(v->window, v);
    // from here on the callback sets it: a later query is ahead of the events still to come
    glfwGetCursorPos(v->window, &v->cursor[0], &v->cursor[1]);
    glfwSetKeyCallback(v->window, on_key);
    glfwSetCharCallback(v->window, on_character);
    glfwSetWindowContentScaleCallback(v->window, on_content_scale);
    glfwSetMouseButtonCallback(v->window, on_button);
    glfwSetCursorPosCallback(v->window, on_cursor);
    glfwSetScrollCallback(v->window, on_wheel);
    glfwSetDropCallback(v->window, on_drop);
    glfwSetFramebufferSizeCallback(v->window, on_size);
    glfwSetWindowRefreshCallback(v->window, on_refresh);
    glfwSetWindowIconifyCallback(v->window, on_iconify);
}

static bool is_down(const viewer *v, int key)
{
    return glfwGetKey(v->window, key) == GLFW_PRESS;
}

// -1, 0 or 1 along each of the flight's axes; taps are used up.
static bool take_flight(viewer *v, double direction[3])
{
    bool fly = false;
    for (int axis = 0; axis < 3; axis++) {
        direction[axis] = 0.0;
        for (int side = 0; side < 2; side++) {
            int i = 2 * axis + side;
            bool on = v->flight_held[i] || v->flight_tapped[i];
            direction[axis] += on ? 1.0 - 2.0 * side : 0.0;
            v->flight_tapped[i] = false;
        }
        fly |= direction[axis] != 0.0;
    }
    return fly;
}

bool view_move(viewer *v, double seconds)
{
    double direction[3];
    bool fly = take_flight(v, direction);
    if (fly) {
        view_cameras_leave(v);
        bool fast = is_down(v, GLFW_KEY_LEFT_SHIFT) || is_down(v, GLFW_KEY_RIGHT_SHIFT);
        navigator_fly(&v->navigator, direction, fast ? 4.0 * seconds : seconds);
    }
    bool going = navigator_step(&v->navigator, seconds);
    if (v->playing) {
        double duration = camera_recorder_duration(&v->recorder);
        v->path_time = fmin(v->path_time + seconds, duration);
        if (fly || v->drag != VIEW_DRAG_NONE || v->path_time >= duration) {
            view_do(v, VIEW_PATH_PLAY); // pauses
        }
        going = true;
    }
    return going || fly;
}
