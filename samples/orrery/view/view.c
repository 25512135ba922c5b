// orrery view: a window on a scene.
#include "samples/orrery/view/view.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "neural/capture/capture.h"
#include "neural/capture/capture_file.h"
#include "render/formats/splat_formats.h"
#include "samples/orrery/camera_sequence.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/interrupt.h"
#include "samples/orrery/view/key_help.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const double FRAMES_PER_SECOND = 30.0; // held while moving
static const double INTERRUPT_SECONDS = 0.25; // how soon Ctrl-C is seen at rest
static const double STEP_SECONDS_MAX = 0.1;   // a slow frame is not a leap

// Lines of the engine's log: those that the command prints are also shown in the panel.
static void take_log_line(void *user, orr_log_level level, int code, const char *line)
{
    viewer *v = user;
    command_log().write(NULL, level, code, line);
    if (level >= ORR_LOG_WARNING && v->load.going) {
        view_load_warn(&v->load, line);
    } else if (level >= ORR_LOG_WARNING) {
        view_say(v, "%s", line);
    }
}

static orr_result attach(void *user, orr_vk *vk, orr_error *error)
{
    viewer *v = user;
    ORR_TRY(orr_present_attach(v->present, vk, error));
    v->vk = vk;
    return ORR_OK;
}

static void detach(void *user)
{
    viewer *v = user;
    orr_present_detach(v->present);
    v->vk = NULL;
}

static orr_result create_engine(viewer *v, const common_options *common, bool validate, orr_error *error)
{
    const orr_engine_desc desc = {
        .threads = common->threads,
        .device = common->device,
        .validate = validate,
        .log = take_log_line,
        .log_user = v,
        .progress = view_load_progress,
        .progress_user = v,
    };
    orr_window window = {.attach = attach, .detach = detach, .user = v};
    window.extensions = orr_present_extensions(v->present, &window.extension_count);
    ORR_TRY(orr_engine_create_for_window(&desc, &window, &v->engine, error));
    return orr_engine_attach_window(v->engine, error);
}

static orr_result load_scene(viewer *v, const char *path, orr_error *error)
{
    if (!v->train && !v->resume && (!orr_capture_readable(path) || orr_splat_folder(path))) {
        ORR_TRY(orr_scene_load(v->engine, path, &v->scene, error));
        return look_options_apply(&v->look, v->scene, error);
    }
    const orr_train_desc desc = {.kind = v->learns,
                                 .data = path,
                                 .resume = v->resume,
                                 .seed = (uint32_t)v->seed,
                                 .holdout = -1,
                                 .device = ORR_DEVICE_CPU}; // drawing may have the GPU
    ORR_TRY(view_training_open(v->engine, &desc, &v->scene, &v->training, error));
    v->training->step_ended = glfwPostEmptyEvent;
    return ORR_OK;
}

static orr_result open_scene(viewer *v, orr_error *error)
{
    char title[256];
    snprintf(title, sizeof title, "%s - Orrery", orr_path_name(v->scene_path));
    orr_result result = view_load_run(v, v->scene_path, load_scene, error);
    v->load.failed = result != ORR_OK;
    glfwSetWindowTitle(v->window, title);
    ORR_TRY(result);
    v->device = orr_engine_device(v->engine);
    ORR_TRY(orr_world_create(v->scene, 1, &v->world, error));
    ORR_TRY(orr_world_set_device(v->world, v->look.physics, error));
    ORR_TRY(view_cameras_list(v, error));
    return view_robot_open(v, v->seed, error);
}

static orr_result open_window(viewer *v, const common_options *common, orr_error *error)
{
    char title[256];
    snprintf(title, sizeof title, "Loading %s - Orrery", orr_path_name(v->scene_path));
    const orr_present_desc desc = {
        .title = title,
        .width = common->size[0] ? common->size[0] : 1280,
        .height = common->size[1] ? common->size[1] : 720,
    };
    ORR_TRY(orr_present_open(v->present, &desc, error));
    v->window = orr_present_window(v->present);
    view_connect(v);
    v->panel = panel_create(v->window, v->ui_scale);
    return v->panel ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the panel");
}

static orr_result look_from_home(viewer *v, orr_error *error)
{
    int width, height;
    glfwGetFramebufferSize(v->window, &width, &height);
    v->robot.before = glfwGetTime();
    ORR_TRY(camera_find(v->world, v->first_camera, v->scene_path, &v->cameras.current, error));
    if (v->cameras.current < 0 ||
        orr_world_camera(v->world, 0, v->cameras.current, 0, 0, &v->home, NULL) != ORR_OK) {
        v->home = orr_scene_default_camera(v->scene, width, height);
    }
    float centre[3], radius;
    view_bounds(v, centre, &radius);
    navigator_start(&v->navigator, &v->home, centre, radius);
    v->seen = view_camera(v, width, height); // a key may ask for it before the loop's first round
    return ORR_OK;
}

static bool is_training(const viewer *v)
{
    return v->training && !v->training->figures.paused &&
           !view_history_hides(&v->history, orr_scene_find(v->scene, v->training->layer));
}

static void wait_for_events(const viewer *v, bool going)
{
    double now = glfwGetTime();
    if (v->training && view_training_is_busy(v->training)) {
        glfwWaitEventsTimeout(0.02); // the end of the step is an event
    } else if (is_training(v) || view_robot_is_going(v) || v->hand.pulling) {
        glfwPollEvents(); // also behind a window that is not seen
    } else if (glfwGetWindowAttrib(v->window, GLFW_ICONIFIED)) {
        glfwWaitEventsTimeout(INTERRUPT_SECONDS);
    } else if (going || v->stale || v->drawing.going || v->attention > 0 || v->limit > 0) {
        glfwPollEvents();
    } else if (view_is_moving(v, now)) {
        glfwWaitEventsTimeout(0.02); // until it rests
    } else {
        glfwWaitEventsTimeout(INTERRUPT_SECONDS);
    }
}

// Is a step of training under way, or does one begin? It has the engine's threads: only the panel goes on.
static bool is_learning(viewer *v, bool moving)
{
    if (!v->training) {
        return false;
    }
    if (view_training_is_busy(v->training)) {
        return true;
    }
    view_training_wait(v->training);
    if (v->training->news[0]) {
        view_say(v, "%s", v->training->news);
        v->training->news[0] = 0;
        v->again = true; // what was learned last
    }
    if (!is_training(v)) {
        return false;
    }
    view_save_checkpoint(v, glfwGetTime());
    return view_training_begin_step(v->training, moving, v->drawing.going);
}

static orr_result run(viewer *v, orr_error *error)
{
    bool going = false;
    double before = glfwGetTime();
    while (!glfwWindowShouldClose(v->window) && !interrupt_requested() &&
           (v->limit == 0 || v->presented < v->limit)) {
        wait_for_events(v, going);
        double now = glfwGetTime();
        // what begins now begins with one ordinary step, however long nothing happened
        double seconds = going ? fmin(now - before, STEP_SECONDS_MAX) : 1.0 / 60.0;
        before = now;
        going = view_move(v, seconds);
        view_add_dropped(v);
        if (!is_learning(v, going || view_is_moving(v, now))) {
            view_robot_turn(v, now);
            bool due = v->training && view_training_picture_due(v->training, now);
            v->again = v->again || v->limit > 0 || (due && !v->drawing.going);
            view_refresh(v, now);
        }
        ORR_TRY(view_show(v, now, error));
    }
    return ORR_OK;
}

// The display is gone: nothing can be shown, and nobody can be asked.
static void leave(void *user)
{
    fprintf(stderr, "orrery: window: the display is gone\n");
    view_keep(user);
    fflush(NULL);
}

static void close_viewer(viewer *v)
{
    orr_present_when_lost(NULL, NULL);
    panel_destroy(v->panel);
    orr_engine_detach_window(v->engine);
    orr_present_destroy(v->present);
    view_training_wait(v->training);
    for (int i = 0; i < VIEW_DEVICES; i++) {
        orr_frame_destroy(v->frames[i]);
    }
    view_robot_close(v);
    orr_world_destroy(v->world);
    orr_scene_destroy(v->scene);
    view_training_close(v->training);
    orr_engine_destroy(v->engine);
    camera_recorder_clear(&v->recorder);
    view_history_free(&v->history);
    view_cameras_free(v);
    orr_free(v->rgba);
    orr_free(v->shapes);
    orr_free(v->picture.rgba);
}

static orr_result view(viewer *v, const common_options *common, bool validate, const char *screenshot,
                       orr_error *error)
{
    struct stat status;
    if (stat(v->scene_path, &status) != 0) { // before a window flashes up for a mistyped name
        return orr_fail(error, ORR_CODE_FILE_OPEN, "%s: cannot open: %s", v->scene_path, strerror(errno));
    }
    ORR_TRY(orr_present_create(&v->present, error));
    ORR_TRY(open_window(v, common, error));
    ORR_TRY(create_engine(v, common, validate, error));
    ORR_TRY(open_scene(v, error));
    ORR_TRY(look_from_home(v, error));
    orr_present_when_lost(leave, v);
    v->checkpoint_at = glfwGetTime();
    orr_result result = run(v, error);
    if (v->limit == 0 || v->presented < v->limit) { // what --frames ends is not the work of a user
        view_keep(v);
    }
    ORR_TRY(result);
    return screenshot ? view_save_picture(v, screenshot, error) : ORR_OK;
}

static const char about[] =
    "A mesh, robot or cloud that is dropped on the window is placed on the surface under the mouse; G\n"
    "shows handles that move it. A robot (.xml .urdf) moves in real time. A capture (transforms.json,\n"
    "its folder, or a folder with a COLMAP model) trains a radiance field, or splats with --train\n"
    "splats, while you watch. M saves NAME.ingp or NAME.ply. To continue training from that file:\n"
    "orrery view CAPTURE --resume MODEL, or orrery train nerf|splats CAPTURE --holdout 0 --resume MODEL.\n"
    "\n"
    "Every ten minutes (--checkpoint) the model in training is saved to a new file. When the viewer\n"
    "ends, by Escape, by a signal or because the display is gone, it saves what is in no file yet: the\n"
    "model in training, the camera path, and the scene if it was changed. stderr lists the files.\n"
    "\n";

// A training that goes on from a cloud is one of splats.
static orr_result read_training(viewer *v, orr_error *error)
{
    static const char *const names[] = {"splats", "nerf", "sdf", "image", "volume"};
    const char *ending = v->resume ? strrchr(v->resume, '.') : NULL;
    const bool field = !ending || strcmp(ending, ".ingp") == 0 || strcmp(ending, ".msgpack") == 0;
    v->learns = field ? ORR_TRAINER_NERF : ORR_TRAINER_SPLATS;
    for (int i = 0; v->train && i < (int)(sizeof names / sizeof names[0]); i++) {
        if (strcmp(v->train, names[i]) == 0) {
            v->learns = (orr_trainer_kind)i;
            return ORR_OK;
        }
    }
    return v->train ? orr_fail(error, ORR_CODE_ARGUMENT,
                               "view: --train %s: expected splats, nerf, sdf, image or volume", v->train)
                    : ORR_OK;
}

int command_view(int argc, char **argv)
{
    enum { CHECKPOINT_MINUTES = 10 };
    common_options common = {0};
    int frames = 0;
    const char *picture = NULL;
    bool validate = false;
    viewer v = {
        .look = look_options_default(),
        .seen_at = -INFINITY,
        .last_click = -INFINITY,
        .stale = true,
        .attention = 3,
        .resolution = resolution_start(FRAMES_PER_SECOND),
        .recorder = {.seconds = 2.0},
        .ui_scale = 1.0,
        .checkpoint_minutes = CHECKPOINT_MINUTES,
        .load = {.mutex = PTHREAD_MUTEX_INITIALIZER},
        .cameras = {.current = -1},
    };
    const option own[] = {
        {.name = "--train",
         .kind = OPTION_TEXT,
         .value = &v.train,
         .expect = "splats|nerf|sdf|image|volume",
         .help = "train this kind of model on SCENE, as orrery train does, and show it while it learns "
                 "(default for a capture: nerf)"},
        {.name = "--resume",
         .kind = OPTION_TEXT,
         .value = &v.resume,
         .expect = "MODEL",
         .help = "continue training from a model that this command saved"},
        {.name = "--checkpoint",
         .kind = OPTION_REAL,
         .value = &v.checkpoint_minutes,
         .expect = "MINUTES",
         .help = "interval at which the model in training is saved (default 10; 0: only at the end)",
         .low = 0.0,
         .high = 1e6},
        {.name = "--ctrl",
         .kind = OPTION_TEXT,
         .value = &v.look.controls.ctrl,
         .expect = "sine|random|FILE.npy|FILE.policy",
         .help =
             "controls of the first robot's actuators, in a .npy of all robots' (default: the sliders of the "
             "panel)"},
        {.name = "--paused",
         .kind = OPTION_FLAG,
         .value = &v.robot.panel.paused,
         .help = "start with robots paused: Space lets them move"},
        {.name = "--camera",
         .kind = OPTION_TEXT,
         .value = &v.first_camera,
         .expect = "INDEX|NAME",
         .help = "start at this camera of the scene or of a robot, given by its name or its index from 0"},
        {.name = "--ui-scale",
         .kind = OPTION_REAL,
         .value = &v.ui_scale,
         .expect = "X",
         .help = "size of the panel and its text relative to the scale of the display (default 1)",
         .low = 0.5,
         .high = 4.0},
        {.name = "--screenshot",
         .kind = OPTION_TEXT,
         .value = &picture,
         .expect = "FILE.png",
         .help = "save the picture when the window closes"},
        {.name = "--frames",
         .kind = OPTION_INT,
         .value = &frames,
         .expect = "N",
         .help = "draw N frames without pause, then close",
         .low = 1.0,
         .high = 1e9},
        {.name = "--validate",
         .kind = OPTION_FLAG,
         .value = &validate,
         .help = "load Vulkan's validation layer"},
    };
    enum { OWN_COUNT = sizeof own / sizeof own[0] };
    option options[OWN_COUNT + LOOK_OPTION_COUNT];
    memcpy(options, own, sizeof own);
    look_options_list(&v.look, options + OWN_COUNT);
    char notes[sizeof about + KEY_HELP_TEXT_SIZE];
    memcpy(notes, about, sizeof about);
    key_help_text(notes + sizeof about - 1);
    const command_usage usage = {
        .name = "view",
        .operands = "SCENE|CAPTURE",
        .purpose = "Opens a window on a scene, or on a model in training.",
        .notes = notes,
        .operand_min = 1,
        .operand_max = 1,
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .common = &common,
        .common_used = COMMON_DEVICE | COMMON_THREADS | COMMON_SEED | COMMON_SIZE,
    };
    int operand_count, exit_code;
    if (!options_read(&usage, argc, argv, &operand_count, &exit_code)) {
        return exit_code;
    }
    v.scene_path = argv[0];
    v.seed = common.seed;
    v.limit = frames;
    interrupt_begin();
    orr_error error;
    orr_result result = read_training(&v, &error);
    if (result == ORR_OK) {
        result = view(&v, &common, validate, picture, &error);
    }
    int code = result == ORR_OK ? 0 : command_fail(result, &error);
    if (v.load.failed && frames == 0) {
        view_load_show_failure(&v, &error);
    }
    close_viewer(&v);
    return code == 0 && interrupt_requested() ? 130 : code;
}
