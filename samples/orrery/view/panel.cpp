// The one C++ file: it lays out the panel and copies nothing but the list of parts.
#include "samples/orrery/view/panel.h"

#include "samples/orrery/view/key_help.h"
#include "samples/orrery/view/panel_font.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <new>
#include <vector>

static const float WIDTH = 320.0f, ITEM_WIDTH = 160.0f; // of the panel and its sliders, unscaled
static const float FONT_SIZE = 14.0f;                   // [px], unscaled

static_assert(sizeof(ImDrawVert) == sizeof(orr_overlay_vertex) && sizeof(ImDrawIdx) == sizeof(uint16_t) &&
                  offsetof(ImDrawVert, uv) == offsetof(orr_overlay_vertex, texture) &&
                  offsetof(ImDrawVert, col) == offsetof(orr_overlay_vertex, rgba),
              "Dear ImGui's vertices are handed on as they are");

struct panel {
    ImGuiContext *context;
    GLFWwindow *window;
    double user_scale;
    float scale;                     // of sizes in the panel, in window coordinates
    float pixel_scale;               // of framebuffer pixels to window coordinates
    char font[PANEL_FONT_PATH_SIZE]; // empty: Dear ImGui's bitmap font
    int font_index;
    std::vector<ImVec4> areas; // of the window that are covered: low and high x, y
    std::vector<orr_overlay_part> parts;
    std::vector<orr_overlay_list> lists;
    orr_overlay overlay;
};

// Text and sizes for the display that the window is on; it may have moved to another.
static void follow_display(panel *p)
{
    float content, framebuffer = 1.0f;
    int width, height, pixels, rows;
    glfwGetWindowContentScale(p->window, &content, nullptr);
    glfwGetWindowSize(p->window, &width, &height);
    glfwGetFramebufferSize(p->window, &pixels, &rows);
    if (width > 0 && pixels > 0) {
        framebuffer = float(pixels) / float(width);
    }
    const float scale = content / framebuffer * float(p->user_scale);
    if (scale == p->scale && framebuffer == p->pixel_scale) {
        return;
    }
    p->scale = scale;
    p->pixel_scale = framebuffer;
    ImGuiIO &io = ImGui::GetIO();
    ImGui::GetStyle() = ImGuiStyle();
    ImGui::StyleColorsDark();
    ImGui::GetStyle().WindowRounding = 4.0f;
    ImGui::GetStyle().ScaleAllSizes(scale);
    io.Fonts->Clear();
    ImFontConfig config;
    config.FontNo = p->font_index;
    config.SizePixels = floorf((p->font[0] ? FONT_SIZE : 13.0f) * scale * framebuffer);
    if (p->font[0]) {
        io.Fonts->AddFontFromFileTTF(p->font, config.SizePixels, &config);
    } else {
        io.Fonts->AddFontDefault(&config);
    }
    io.FontGlobalScale = 1.0f / framebuffer;
    unsigned char *coverage;
    io.Fonts->GetTexDataAsAlpha8(&coverage, &p->overlay.texture_width, &p->overlay.texture_height);
    p->overlay.coverage = coverage;
    p->overlay.revision++;
}

extern "C" panel *panel_create(GLFWwindow *window, double scale)
{
    panel *p = new (std::nothrow) panel{};
    if (!p) {
        return nullptr;
    }
    IMGUI_CHECKVERSION();
    p->context = ImGui::CreateContext();
    ImGuiIO &io = ImGui::GetIO();
    io.IniFilename = nullptr; // no file beside the user's
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    ImGui_ImplGlfw_InitForVulkan(window, true);
    p->window = window;
    p->user_scale = scale;
    if (!panel_font_find(p->font, &p->font_index)) {
        p->font[0] = 0;
    }
    follow_display(p);
    return p;
}

extern "C" void panel_destroy(panel *p)
{
    if (p) {
        ImGui_ImplGlfw_Shutdown();
        ImGui::DestroyContext(p->context);
        delete p;
    }
}

extern "C" bool panel_covers(const panel *p, double x, double y)
{
    bool covers = false;
    for (const ImVec4 &area : p->areas) {
        covers |= x >= double(area.x) && x < double(area.z) && y >= double(area.y) && y < double(area.w);
    }
    return covers;
}

extern "C" bool panel_wants_keys(const panel *)
{
    return ImGui::GetIO().WantTextInput;
}

static void action_button(panel_state *state, view_action action, const char *label, const char *hint)
{
    if (ImGui::Button(label)) {
        state->action = action;
    }
    if (ImGui::IsItemHovered()) {
        ImGui::SetTooltip("%s", hint);
    }
}

// Takes the last change back, or makes it again; `change` says which.
static void change_button(panel_state *state, view_action action, const char *label, const char *key,
                          const char *change)
{
    ImGui::BeginDisabled(!change);
    if (ImGui::Button(label)) {
        state->action = action;
    }
    ImGui::EndDisabled();
    if (change && ImGui::IsItemHovered()) {
        ImGui::SetTooltip("%s (%s)", change, key);
    }
}

static void slider(const char *label, double *value, double low, double high, const char *format,
                   bool logarithmic)
{
    ImGui::SliderScalar(label, ImGuiDataType_Double, value, &low, &high, format,
                        ImGuiSliderFlags_AlwaysClamp | (logarithmic ? ImGuiSliderFlags_Logarithmic : 0));
}

static void show_status(panel_state *state)
{
    if (state->frames_per_second > 0.0) {
        ImGui::Text("%5.1f frames/s   %d x %d", state->frames_per_second, state->width, state->height);
    } else {
        ImGui::Text("  at rest        %d x %d", state->width, state->height);
    }
    // of one height, so that nothing below jumps
    if (ImGui::BeginChild("message", ImVec2(0.0f, 3.0f * ImGui::GetTextLineHeightWithSpacing()))) {
        ImGui::TextWrapped("%s", state->message);
    }
    ImGui::EndChild();
    change_button(state, VIEW_UNDO, "Undo", "Ctrl+Z", state->undo);
    ImGui::SameLine();
    change_button(state, VIEW_REDO, "Redo", "Ctrl+Y", state->redo);
    ImGui::SameLine();
    action_button(state, VIEW_SWITCH_HELP, "Keys", "a table of keys and mouse buttons (?)");
}

// What each stage of the frame drawn last took.
static void show_stages(const panel_state *state)
{
    double total = 0.0;
    for (int i = 0; i < state->stage_count; i++) {
        total += state->stages[i].milliseconds;
    }
    if (ImGui::BeginTable("stages", 3)) {
        for (int i = 0; i < state->stage_count; i++) {
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(state->stages[i].name);
            ImGui::TableNextColumn();
            ImGui::Text("%8.2f ms", state->stages[i].milliseconds);
            ImGui::TableNextColumn();
            ImGui::Text("%10lld", static_cast<long long>(state->stages[i].items));
        }
        ImGui::TableNextColumn();
        ImGui::TextUnformatted("all");
        ImGui::TableNextColumn();
        ImGui::Text("%8.2f ms", total);
        ImGui::EndTable();
    }
}

static void show_training(panel_state *state)
{
    const training_figures *t = state->training;
    const orr_train_info *info = &t->info;
    ImGui::Text("step %lld   %.1f steps/s   %.2f M samples/s", static_cast<long long>(info->steps),
                info->steps_per_second, t->samples_per_second * 1e-6);
    ImGui::Text("loss %.3g", t->loss);
    if (info->psnr > 0.0) {
        ImGui::SameLine();
        ImGui::Text("PSNR %.2f dB", info->psnr);
    }
    if (info->iou > 0.0) {
        ImGui::SameLine();
        ImGui::Text("IoU %.4f", info->iou);
    }
    if (info->ssim > 0.0) {
        ImGui::SameLine();
        ImGui::Text("SSIM %.3f", info->ssim);
    }
    if (info->kind == ORR_TRAINER_SPLATS) {
        ImGui::Text("%lld splats   %.0f %% done", static_cast<long long>(info->count),
                    100.0 * info->progress);
        if (info->progress < 1.0) {
            const int left = int(info->seconds_left + 0.5);
            ImGui::SameLine();
            ImGui::Text("  %d:%02d left", left / 60, left % 60);
        }
    } else {
        ImGui::Text("after %.0f s of steps", t->seconds);
    }
    ImGui::PlotLines("##loss", t->curve, t->curve_count, 0, "log loss", FLT_MAX, FLT_MAX,
                     ImVec2(ImGui::GetContentRegionAvail().x, 4.0f * ImGui::GetTextLineHeight()));
    action_button(state, VIEW_TRAINING_PAUSE, t->paused ? "Go on" : "Pause", "training (T)");
    ImGui::SameLine();
    action_button(state, VIEW_MODEL_SAVE, "Save model",
                  info->kind == ORR_TRAINER_SPLATS ? "as .ply, with .ply.training to go on from (M)"
                                                   : "as .ingp, for orrery view and orrery render (M)");
}

static void show_sliders(const char *title, panel_slider *sliders, int count, bool shown)
{
    if (count == 0 || !ImGui::CollapsingHeader(title, shown ? ImGuiTreeNodeFlags_DefaultOpen : 0)) {
        return;
    }
    ImGui::PushID(title);
    for (int i = 0; i < count; i++) {
        panel_slider *s = &sliders[i];
        ImGui::PushID(i);
        s->changed = ImGui::SliderScalar(s->name[0] ? s->name : "(no name)", ImGuiDataType_Double, &s->value,
                                         &s->low, &s->high, s->format);
        ImGui::PopID();
    }
    ImGui::PopID();
}

static void show_groups(panel_state *state)
{
    static const char *const names[] = {"geoms", "sites", "tendons"};
    if (!ImGui::CollapsingHeader("Groups")) {
        return;
    }
    for (int part = 0; part < 3; part++) {
        ImGui::PushID(part);
        for (int group = 0; group < 6; group++) {
            unsigned char *switched = &state->robot->groups[part];
            bool shown = (group < 3) != ((*switched >> group & 1) != 0);
            char label[4];
            snprintf(label, sizeof label, "%d", group);
            if (ImGui::Checkbox(label, &shown)) {
                *switched = static_cast<unsigned char>(*switched ^ (1 << group));
                state->redraw = true;
            }
            ImGui::SameLine();
        }
        ImGui::TextUnformatted(names[part]);
        ImGui::PopID();
    }
}

static void show_robot(panel_state *state)
{
    panel_robot *r = state->robot;
    ImGui::Text("%.3f s%s", r->time, r->driven ? "   driven from the command line" : "");
    action_button(state, VIEW_ROBOT_PAUSE, r->paused ? "Go on" : "Pause", "time (Space)");
    ImGui::SameLine();
    action_button(state, VIEW_ROBOT_STEP, "Step", "one time step (.)");
    ImGui::SameLine();
    action_button(state, VIEW_ROBOT_RESET, "Reset", "the pose the model is given in (Backspace)");
    if (r->keyframe_count > 0) {
        ImGui::SameLine();
        action_button(state, VIEW_ROBOT_KEYFRAME, "Keyframe", "the next one (N)");
    }
    slider("speed of time", &r->speed, 1.0 / 64.0, 4.0, "%.3g x", true);
    bool contacts = r->contacts;
    if (ImGui::Checkbox("contacts and their forces (C)", &contacts)) {
        state->action = VIEW_ROBOT_CONTACTS;
    }
    show_groups(state);
    show_sliders("Actuators", r->controls, r->control_count, true);
    show_sliders("Joints", r->joints, r->joint_count, false);
}

static void show_layers(panel_state *state)
{
    for (int i = 0; i < orr_scene_layer_count(state->scene); i++) {
        orr_layer layer = orr_scene_layer(state->scene, i);
        orr_layer_info info;
        orr_transform transform;
        bool visible;
        if ((i < state->hidden_count && state->hidden[i].hidden) ||
            orr_scene_layer_info(state->scene, layer, &info, nullptr) != ORR_OK ||
            orr_world_get(state->world, 0, layer, &transform, &visible, nullptr) != ORR_OK) {
            continue;
        }
        ImGui::PushID(i);
        if (ImGui::SmallButton("x")) {
            state->remove = i;
        }
        if (ImGui::IsItemHovered()) {
            ImGui::SetTooltip("remove (Ctrl+Z brings it back)");
        }
        ImGui::SameLine();
        if (ImGui::SmallButton("move")) {
            state->move = i;
        }
        if (ImGui::IsItemHovered()) {
            ImGui::SetTooltip("by handles in the picture (G: the layer under the mouse)");
        }
        ImGui::SameLine();
        if (ImGui::Checkbox(info.name, &visible)) {
            orr_world_set_visible(state->world, 0, layer, visible, nullptr);
            state->redraw = true;
        }
        if (ImGui::IsItemHovered()) {
            ImGui::SetTooltip("%lld %s, %.1f MB", static_cast<long long>(info.count),
                              info.kind == ORR_LAYER_SPLATS  ? "splats"
                              : info.kind == ORR_LAYER_FIELD ? "parameters"
                                                             : "triangles",
                              double(info.bytes) * 1e-6);
        }
        ImGui::PopID();
    }
    action_button(state, VIEW_SWITCH_COLLIDERS, "colliders", "show or hide what robots touch (X)");
    ImGui::SameLine();
    action_button(state, VIEW_SCENE_SAVE, "Save scene",
                  "as a scene file: layers where they are (Ctrl+Shift+S)");
}

// The box in the picture, behind the panel.
static void draw_region(const panel_region *r)
{
    ImDrawList *list = ImGui::GetBackgroundDrawList();
    const ImU32 colour = IM_COL32(255, 210, 60, 255), shadow = IM_COL32(0, 0, 0, 160);
    for (int i = 0; i < r->lines; i++) {
        const float *l = r->line[i];
        list->AddLine(ImVec2(l[0], l[1]), ImVec2(l[2], l[3]), shadow, 3.0f);
        list->AddLine(ImVec2(l[0], l[1]), ImVec2(l[2], l[3]), colour, 1.5f);
    }
    for (int i = 0; i < 6 && r->shown; i++) {
        if (r->handle_seen[i]) {
            list->AddCircleFilled(ImVec2(r->handle[i][0], r->handle[i][1]), 6.0f, shadow);
            list->AddCircleFilled(ImVec2(r->handle[i][0], r->handle[i][1]), 4.5f, colour);
        }
    }
}

static void draw_handle(ImDrawList *list, const panel_gizmo *g, gizmo_part part)
{
    static const ImU32 colours[GIZMO_PARTS] = {IM_COL32(235, 80, 70, 255),  IM_COL32(110, 205, 80, 255),
                                               IM_COL32(80, 140, 250, 255), IM_COL32(255, 210, 60, 255),
                                               IM_COL32(255, 210, 60, 255), IM_COL32(240, 240, 240, 255)};
    const gizmo_line &l = g->line[part];
    const ImU32 colour = part == g->lit ? IM_COL32(255, 255, 255, 255) : colours[part],
                shadow = IM_COL32(0, 0, 0, 140);
    std::vector<ImVec2> points;
    for (int i = 0; i < l.count; i++) {
        points.push_back(ImVec2(float(l.point[i][0]), float(l.point[i][1])));
    }
    if (points.empty()) {
        return;
    }
    list->AddPolyline(points.data(), l.count, shadow, 0, 4.0f);
    list->AddPolyline(points.data(), l.count, colour, 0, part == g->lit ? 3.0f : 2.0f);
    const ImVec2 tip = points.back();
    if (part == GIZMO_SCALE) {
        list->AddRectFilled(ImVec2(tip.x - 5.0f, tip.y - 5.0f), ImVec2(tip.x + 5.0f, tip.y + 5.0f), colour);
    } else if (part == GIZMO_GROUND) {
        list->AddConvexPolyFilled(points.data(), l.count - 1, (colour & ~IM_COL32_A_MASK) | 0x50000000);
    } else if (part != GIZMO_TURN) {
        list->AddCircleFilled(tip, 5.0f, colour);
    }
}

// In the picture, behind the panel.
static void draw_gizmo(const panel_gizmo *g)
{
    for (int part = GIZMO_PARTS - 1; part >= 0 && g->shown; part--) {
        draw_handle(ImGui::GetBackgroundDrawList(), g, static_cast<gizmo_part>(part));
    }
}

// A hue and a strength, on one line; true when one of them changed.
static bool colour_row(const char *label, panel_colour *colour, double high)
{
    const double low = 0.0;
    ImGui::PushID(label);
    bool changed =
        ImGui::ColorEdit3("##hue", colour->hue, ImGuiColorEditFlags_Float | ImGuiColorEditFlags_NoInputs);
    ImGui::SameLine();
    changed |= ImGui::SliderScalar(label, ImGuiDataType_Double, &colour->strength, &low, &high, "%.3g",
                                   ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_Logarithmic);
    ImGui::PopID();
    return changed;
}

static bool angle_row(const char *label, double *value, double low, double high)
{
    return ImGui::SliderScalar(label, ImGuiDataType_Double, value, &low, &high, "%.0f deg",
                               ImGuiSliderFlags_AlwaysClamp);
}

static void show_light(panel_light *l)
{
    if (!l->own_sun) {
        ImGui::TextWrapped("The scene has no sun of its own: a change gives it this one.");
    }
    bool changed = angle_row("sun: towards", &l->azimuth, -180.0, 180.0);
    if (ImGui::IsItemHovered()) {
        ImGui::SetTooltip("0: ahead in the first view, 90: to its right (Ctrl + Shift + left drag)");
    }
    changed |= angle_row("sun: height", &l->elevation, -5.0, 89.0);
    changed |= colour_row("sun", &l->sun, 20.0);
    changed |= colour_row("ambient", &l->ambient, 5.0);
    const double low = 0.01, high = 1.0;
    changed |= ImGui::SliderScalar("shadows", ImGuiDataType_Double, &l->umbra, &low, &high, "%.2f",
                                   ImGuiSliderFlags_AlwaysClamp);
    if (ImGui::IsItemHovered()) {
        ImGui::SetTooltip("how bright captured surfaces are in the shadows of meshes and robots");
    }
    l->sun_changed = changed;
    l->lamps_changed = ImGui::Checkbox("what is around lights meshes", &l->probes);
    for (int i = 0; i < l->lamps; i++) {
        char label[24];
        snprintf(label, sizeof label, "lamp %d", i + 1);
        l->lamps_changed |= colour_row(label, &l->lamp[i], 1000.0);
    }
}

static void show_region(panel_state *state)
{
    static const char *const names[] = {"x", "y", "z", "length x", "length y", "length z"};
    panel_region *r = state->region;
    bool shown = r->shown;
    if (ImGui::Checkbox("box (R)", &shown)) {
        state->action = VIEW_SWITCH_REGION;
    }
    if (!r->shown) {
        return;
    }
    const float speed = float(r->reach) * 1e-3f;
    for (int k = 0; k < 6; k++) {
        double *value = k < 3 ? &r->centre[k] : &r->size[k - 3];
        const double low = k < 3 ? -1e9 : r->reach * 1e-4, high = 1e9;
        ImGui::DragScalar(names[k], ImGuiDataType_Double, value, speed, &low, &high, "%.4g",
                          ImGuiSliderFlags_AlwaysClamp);
    }
    slider("turn", &r->turn, -180.0, 180.0, "%.0f deg", false);
    slider("falloff", &r->falloff, 0.0, r->reach * 0.1, "%.3g units", false);
    action_button(state, VIEW_REGION_CUT, "Cut", "into what is inside and outside of the box (Enter)");
    ImGui::SameLine();
    action_button(state, VIEW_REGION_CUT_SOFT, "Cut, soft",
                  "what is inside falls as a soft body on what is outside (Ctrl+Enter)");
}

static void show_cameras(panel_cameras *cameras)
{
    const int rows = cameras->count < 8 ? cameras->count : 8; // more are scrolled
    const ImVec2 size(-FLT_MIN, (float(rows) + 0.25f) * ImGui::GetTextLineHeightWithSpacing());
    if (cameras->count == 0 || !ImGui::BeginListBox("##cameras", size)) {
        return;
    }
    for (int i = 0; i < cameras->count; i++) {
        ImGui::PushID(i);
        char label[96];
        snprintf(label, sizeof label, "%d  %s", i + 1, cameras->names[i][0] ? cameras->names[i] : "camera");
        if (ImGui::Selectable(label, cameras->current == i)) {
            cameras->wanted = i;
        }
        ImGui::PopID();
    }
    ImGui::EndListBox();
}

static void show_camera(panel_state *state)
{
    show_cameras(state->cameras);
    navigator *n = state->view;
    int mode = n->mode;
    ImGui::RadioButton("orbit", &mode, NAVIGATOR_ORBIT);
    ImGui::SameLine();
    ImGui::RadioButton("fly", &mode, NAVIGATOR_FLY);
    n->mode = static_cast<navigator_mode>(mode);
    ImGui::SameLine();
    bool orthographic = n->orthographic;
    if (ImGui::Checkbox("orthographic", &orthographic)) {
        state->action = VIEW_SWITCH_PROJECTION;
    }
    const double degree = 3.14159265358979323846 / 180.0;
    double degrees = n->field_of_view / degree;
    slider("field of view", &degrees, 10.0, 120.0, "%.0f deg", false);
    n->field_of_view = degrees * degree;
    slider("speed", &n->speed, 1e-3, 1e3, "%.3g units/s", true);
    action_button(state, VIEW_HOME, "Home", "the view at the start (Home)");
    ImGui::SameLine();
    action_button(state, VIEW_SEE_ALL, "See all", "every visible layer (F)");
    ImGui::SameLine();
    action_button(state, VIEW_SCREENSHOT, "Screenshot", "the picture as a PNG file (P, F12)");
}

static void show_quality(panel_state *state)
{
    resolution *r = state->quality;
    const float narrow = 4.0f; // px: of what is in the first line, which is full
    if (ImGui::Button(state->device)) {
        state->action = VIEW_SWITCH_DEVICE;
    }
    if (ImGui::IsItemHovered()) {
        ImGui::SetTooltip("draw with the CPU, Vulkan or CUDA (V); presented by %s", state->presenter);
    }
    ImGui::SameLine(0.0f, narrow);
    state->redraw |= ImGui::Checkbox("antialias", &state->antialias);
    ImGui::SameLine(0.0f, narrow);
    bool shadows = state->shadows;
    if (ImGui::Checkbox("shadows", &shadows)) {
        state->action = VIEW_SWITCH_SHADOWS;
    }
    if (ImGui::IsItemHovered()) {
        ImGui::SetTooltip("of meshes and robots (H)");
    }
    ImGui::SameLine(0.0f, narrow);
    state->redraw |= ImGui::Checkbox("mirrors", &state->mirrors);
    if (ImGui::IsItemHovered()) {
        ImGui::SetTooltip(
            "surfaces of robots' models with a reflectance, on the CPU: each takes as long as a picture");
    }
    const double none = 0.0, far = 10.0;
    state->redraw |=
        ImGui::SliderScalar("occlusion", ImGuiDataType_Double, &state->occlusion_radius, &none, &far,
                            "%.3f units", ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp);
    if (ImGui::IsItemHovered()) {
        ImGui::SetTooltip(
            "how far meshes and robots keep light from all around off surfaces; 0: as the scene "
            "file says");
    }
    const double low = -8.0, high = 8.0;
    state->redraw |= ImGui::SliderScalar("exposure", ImGuiDataType_Double, &state->exposure, &low, &high,
                                         "%.1f EV", ImGuiSliderFlags_AlwaysClamp);
    int tone = state->tone;
    if (ImGui::Combo("tone", &tone, "of the scene\0neutral\0agx\0aces\0")) {
        state->tone = static_cast<orr_tone>(tone);
        state->redraw = true;
    }
    int percent = int(r->full * 100.0f + 0.5f);
    if (ImGui::SliderInt("resolution", &percent, 13, 100, "%d %%", ImGuiSliderFlags_AlwaysClamp)) {
        r->full = float(percent) / 100.0f;
        state->redraw = true;
    }
    ImGui::Checkbox("less while moving, for 30 frames/s", &r->adaptive);
    state->redraw |= ImGui::Checkbox("fog", &state->fog);
    if (ImGui::IsItemHovered()) {
        ImGui::SetTooltip("that of the first robot's model");
    }
}

static void show_path(panel_state *state)
{
    camera_recorder *recorder = state->recorder;
    action_button(state, VIEW_KEY_ADD, "Add key", "this view becomes a key of the path (K)");
    ImGui::SameLine();
    action_button(state, VIEW_PATH_PLAY, state->playing ? "Pause" : "Play", "fly through the keys (Space)");
    ImGui::SameLine();
    action_button(state, VIEW_PATH_SAVE, "Save", "as transforms.json, for orrery render --cameras (Ctrl+S)");
    ImGui::SameLine();
    action_button(state, VIEW_PATH_CLEAR, "Clear", "forget the keys");
    ImGui::Text("%d keys, %.1f of %.1f s", recorder->count, state->path_time, state->path_duration);
    slider("s per key", &recorder->seconds, 0.25, 10.0, "%.2f", false);
}

// The window being laid out takes the clicks on it.
static void note_area(panel *p)
{
    const ImVec2 low = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
    p->areas.push_back(ImVec4(low.x, low.y, low.x + size.x, low.y + size.y));
}

static void lay_out(panel *p, panel_state *state)
{
    const float width = WIDTH * p->scale;
    ImGui::SetNextWindowPos(ImVec2(10.0f, 10.0f), ImGuiCond_FirstUseEver);
    ImGui::SetNextWindowSizeConstraints(ImVec2(width, 0.0f),
                                        ImVec2(width, ImGui::GetIO().DisplaySize.y - 20.0f));
    ImGui::SetNextWindowBgAlpha(0.8f);
    ImGui::Begin("Orrery  (F1)", nullptr, ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoNav);
    ImGui::PushItemWidth(ITEM_WIDTH * p->scale);
    show_status(state);
    if (state->training && ImGui::CollapsingHeader("Training", ImGuiTreeNodeFlags_DefaultOpen)) {
        show_training(state);
    }
    if (state->robot && ImGui::CollapsingHeader("Robot", ImGuiTreeNodeFlags_DefaultOpen)) {
        show_robot(state);
    }
    if (ImGui::CollapsingHeader("Layers", ImGuiTreeNodeFlags_DefaultOpen)) {
        show_layers(state);
    }
    if (ImGui::CollapsingHeader("Light")) {
        show_light(state->light);
    }
    if (ImGui::CollapsingHeader("Cut", state->region->shown ? ImGuiTreeNodeFlags_DefaultOpen : 0)) {
        show_region(state);
    }
    if (ImGui::CollapsingHeader("Camera", ImGuiTreeNodeFlags_DefaultOpen)) {
        show_camera(state);
    }
    if (ImGui::CollapsingHeader("Drawing", ImGuiTreeNodeFlags_DefaultOpen)) {
        show_quality(state);
    }
    if (ImGui::CollapsingHeader("Camera path")) {
        show_path(state);
    }
    if (ImGui::CollapsingHeader("Times")) {
        show_stages(state);
    }
    ImGui::PopItemWidth();
    note_area(p);
    ImGui::End();
}

// The table of keys, in the middle of the window.
static void show_help(panel *p, panel_state *state)
{
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos(ImVec2(0.5f * display.x, 0.5f * display.y), ImGuiCond_Always, ImVec2(0.5f, 0.5f));
    ImGui::SetNextWindowSizeConstraints(ImVec2(0.0f, 0.0f), ImVec2(display.x - 20.0f, display.y - 20.0f));
    if (ImGui::Begin("Keys  (?)", &state->help, ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoNav) &&
        ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit)) {
        for (int i = 0; i < key_help_count; i++) {
            const key_help *row = &key_help_rows[i];
            ImGui::TableNextRow();
            ImGui::TableNextColumn();
            if (!row->key) {
                ImGui::TextDisabled("%s", row->meaning);
                continue;
            }
            ImGui::TextUnformatted(row->key);
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(row->meaning);
        }
        ImGui::EndTable();
    }
    note_area(p);
    ImGui::End();
}

static void collect(panel *p, const ImDrawData *data)
{
    const ImVec2 origin = data->DisplayPos, scale = data->FramebufferScale;
    p->parts.clear();
    p->lists.clear();
    for (int i = 0; i < data->CmdListsCount; i++) {
        for (const ImDrawCmd &command : data->CmdLists[i]->CmdBuffer) {
            const ImVec4 &clip = command.ClipRect;
            p->parts.push_back({command.IdxOffset,
                                command.ElemCount,
                                command.VtxOffset,
                                {(clip.x - origin.x) * scale.x, (clip.y - origin.y) * scale.y},
                                {(clip.z - origin.x) * scale.x, (clip.w - origin.y) * scale.y}});
        }
    }
    const orr_overlay_part *part = p->parts.data();
    for (int i = 0; i < data->CmdListsCount; i++) {
        ImDrawList *list = data->CmdLists[i];
        for (ImDrawVert &vertex : list->VtxBuffer) {
            vertex.pos = ImVec2((vertex.pos.x - origin.x) * scale.x, (vertex.pos.y - origin.y) * scale.y);
        }
        p->lists.push_back({reinterpret_cast<const orr_overlay_vertex *>(list->VtxBuffer.Data),
                            list->IdxBuffer.Data, part, uint32_t(list->VtxBuffer.Size),
                            uint32_t(list->IdxBuffer.Size), uint32_t(list->CmdBuffer.Size)});
        part += list->CmdBuffer.Size;
    }
    p->overlay.lists = p->lists.data();
    p->overlay.list_count = int(p->lists.size());
}

static void begin(panel *p)
{
    follow_display(p);
    p->areas.clear();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
}

static const orr_overlay *end(panel *p)
{
    ImGui::Render();
    collect(p, ImGui::GetDrawData());
    return &p->overlay;
}

extern "C" const orr_overlay *panel_build_loading(panel *p, const panel_loading *state)
{
    begin(p);
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const bool failed = state->error[0] != 0;
    const float width = fminf((failed ? 1.5f : 1.0f) * WIDTH * p->scale, display.x - 20.0f);
    ImGui::SetNextWindowPos(ImVec2(0.5f * display.x, 0.5f * display.y), ImGuiCond_Always, ImVec2(0.5f, 0.5f));
    ImGui::SetNextWindowSize(ImVec2(width, 0.0f));
    ImGui::Begin("##loading", nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoSavedSettings);
    if (failed) {
        ImGui::TextWrapped("%s", state->error);
        ImGui::TextDisabled("Escape closes the window.");
    } else {
        ImGui::TextWrapped("%s", state->file);
        const double left = state->seconds * (1.0 - state->share) / state->share;
        if (state->share > 0.05 && state->seconds > 0.5) {
            ImGui::Text("%s: %.0f s, about %.0f s left", state->stage, state->seconds, ceil(left));
        } else {
            ImGui::Text("%s: %.0f s", state->stage, state->seconds);
        }
        if (state->share > 0.0) { // of the first stage there is no telling
            ImGui::ProgressBar(float(state->share));
        }
        ImGui::TextDisabled("Escape stops.");
    }
    ImGui::End();
    return end(p);
}

extern "C" const orr_overlay *panel_build(panel *p, panel_state *state)
{
    begin(p);
    draw_region(state->region);
    draw_gizmo(state->gizmo);
    if (state->panel) {
        lay_out(p, state);
    }
    if (state->help) {
        show_help(p, state);
    }
    return end(p);
}
