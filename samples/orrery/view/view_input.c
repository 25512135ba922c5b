// Keys and mouse of the viewer's window.
#include "samples/orrery/view/view.h"

#include <math.h>

static const double DOUBLE_CLICK_SECONDS = 0.35;
static const double DOUBLE_CLICK_REACH = 5.0; // [window coordinates]

typedef struct binding {
    int key;
    bool control;
    view_action action;
} binding;

static const binding bindings[] = {
    {GLFW_KEY_ESCAPE, false, VIEW_QUIT},        {GLFW_KEY_HOME, false, VIEW_HOME},
    {GLFW_KEY_F, false, VIEW_SEE_ALL},          {GLFW_KEY_P, false, VIEW_SCREENSHOT},
    {GLFW_KEY_F12, false, VIEW_SCREENSHOT},     {GLFW_KEY_K, false, VIEW_KEY_ADD},
    {GLFW_KEY_SPACE, false, VIEW_PATH_PLAY},    {GLFW_KEY_S, true, VIEW_PATH_SAVE},
    {GLFW_KEY_V, false, VIEW_SWITCH_DEVICE},    {GLFW_KEY_O, false, VIEW_SWITCH_PROJECTION},
    {GLFW_KEY_F1, false, VIEW_SWITCH_PANEL},    {GLFW_KEY_T, false, VIEW_TRAINING_PAUSE},
    {GLFW_KEY_M, false, VIEW_MODEL_SAVE},       {GLFW_KEY_PERIOD, false, VIEW_ROBOT_STEP},
    {GLFW_KEY_N, false, VIEW_ROBOT_KEYFRAME},   {GLFW_KEY_BACKSPACE, false, VIEW_ROBOT_RESET},
    {GLFW_KEY_MINUS, false, VIEW_ROBOT_SLOWER}, {GLFW_KEY_EQUAL, false, VIEW_ROBOT_FASTER},
    {GLFW_KEY_C, false, VIEW_ROBOT_CONTACTS},
};

static viewer *viewer_of(GLFWwindow *window)
{
    viewer *v = glfwGetWindowUserPointer(window);
    view_attend(v);
    return v;
}

static void on_key(GLFWwindow *window, int key, int scancode, int action, int modifiers)
{
    (void)scancode;
    viewer *v = viewer_of(window);
    if (action == GLFW_RELEASE || panel_wants_keys(v->panel)) {
        return;
    }
    if (key == GLFW_KEY_LEFT_BRACKET || key == GLFW_KEY_RIGHT_BRACKET) {
        navigator_zoom(&v->navigator, key == GLFW_KEY_LEFT_BRACKET ? 1.0 : -1.0);
    }
    int camera = key - GLFW_KEY_1; // 1 .. 9: the scene's own cameras, then its robots'
    if (camera >= 0 && camera < 9 && camera < orr_world_camera_count(v->world)) {
        view_robot_follow(v, camera);
    }
    for (size_t i = 0; i < sizeof bindings / sizeof bindings[0] && action == GLFW_PRESS; i++) {
        bool control = modifiers & GLFW_MOD_CONTROL;
        if (bindings[i].key == key && bindings[i].control == control) {
            bool robot = v->robot.present && bindings[i].action == VIEW_PATH_PLAY;
            view_do(v, robot ? VIEW_ROBOT_PAUSE : bindings[i].action);
        }
    }
}

static void on_button(GLFWwindow *window, int button, int action, int modifiers)
{
    viewer *v = viewer_of(window);
    v->drag = VIEW_DRAG_NONE;
    view_robot_release(v);
    if (action != GLFW_PRESS || (!v->panel_hidden && panel_covers(v->panel, v->cursor[0], v->cursor[1]))) {
        return;
    }
    if (button == GLFW_MOUSE_BUTTON_LEFT && modifiers & GLFW_MOD_CONTROL) {
        v->drag = view_robot_grab(v) ? VIEW_DRAG_PULL : VIEW_DRAG_NONE;
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
    int width, height;
    glfwGetWindowSize(window, &width, &height);
    double right = (x - v->cursor[0]) / fmax(height, 1.0), down = (y - v->cursor[1]) / fmax(height, 1.0);
    v->cursor[0] = x;
    v->cursor[1] = y;
    if (right == 0.0 && down == 0.0) {
        return; // so that a click does not end a move under way
    }
    if (v->drag != VIEW_DRAG_NONE && v->drag != VIEW_DRAG_PULL) {
        view_robot_unfollow(v);
    }
    switch (v->drag) {
    case VIEW_DRAG_NONE:
    case VIEW_DRAG_PULL: // the spring follows when time passes
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
    if (v->panel_hidden || !panel_covers(v->panel, v->cursor[0], v->cursor[1])) {
        view_robot_unfollow(v);
        navigator_wheel(&v->navigator, up);
    }
}

static void on_drop(GLFWwindow *window, int count, const char **paths)
{
    for (int i = 0; i < count; i++) {
        view_add_file(viewer_of(window), paths[i]);
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
    glfwSetInputMode(v->window, GLFW_STICKY_KEYS, GLFW_TRUE); // a tap between two frames counts
    glfwSetKeyCallback(v->window, on_key);
    glfwSetMouseButtonCallback(v->window, on_button);
    glfwSetCursorPosCallback(v->window, on_cursor);
    glfwSetScrollCallback(v->window, on_wheel);
    glfwSetDropCallback(v->window, on_drop);
    glfwSetFramebufferSizeCallback(v->window, on_size);
    glfwSetWindowRefreshCallback(v->window, on_refresh);
    glfwSetWindowIconifyCallback(v->window, on_iconify);
}

static double key_axis(const viewer *v, int more, int less)
{
    bool plus = glfwGetKey(v->window, more) == GLFW_PRESS, minus = glfwGetKey(v->window, less) == GLFW_PRESS;
    return (double)plus - (double)minus;
}

bool view_move(viewer *v, double seconds)
{
    const double direction[3] = {key_axis(v, GLFW_KEY_D, GLFW_KEY_A), key_axis(v, GLFW_KEY_E, GLFW_KEY_Q),
                                 key_axis(v, GLFW_KEY_W, GLFW_KEY_S)};
    bool control = key_axis(v, GLFW_KEY_LEFT_CONTROL, GLFW_KEY_UNKNOWN) > 0.0;
    bool fly = (direction[0] != 0.0 || direction[1] != 0.0 || direction[2] != 0.0) && !control &&
               !panel_wants_keys(v->panel);
    if (fly) {
        view_robot_unfollow(v);
        bool fast = glfwGetKey(v->window, GLFW_KEY_LEFT_SHIFT) == GLFW_PRESS;
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
