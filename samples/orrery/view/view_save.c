// What the viewer saves: the camera path, the model in training and the scene, when it is asked to; a
// checkpoint of the model now and then; and when it ends, what is in no file yet, however it ends.
#include "samples/orrery/view/view.h"

#include "engine/core/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double PATH_FRAMES_PER_SECOND = 30.0;

// ---- names ----

// NAME.png, or NAME-2.png and so on when there is one already
static void unused_name(char out[VIEW_PATH_SIZE], const char *name, const char *ending)
{
    snprintf(out, VIEW_PATH_SIZE, "%s%s", name, ending);
    for (int i = 2; i < 10000; i++) {
        if (access(out, F_OK) != 0) {
            return;
        }
        snprintf(out, VIEW_PATH_SIZE, "%s-%d%s", name, i, ending);
    }
}

enum { STEM_SIZE = 200 };

// the scene's name without what follows the first dot; a folder's may end in a slash
static void scene_stem(const viewer *v, char stem[STEM_SIZE])
{
    size_t length = strlen(v->scene_path);
    while (length > 1 && v->scene_path[length - 1] == '/') {
        length--;
    }
    size_t start = length;
    while (start > 0 && v->scene_path[start - 1] != '/') {
        start--;
    }
    snprintf(stem, STEM_SIZE, "%.*s", (int)(length - start), v->scene_path + start);
    stem[strcspn(stem, ".")] = 0;
    if (!stem[0]) {
        snprintf(stem, STEM_SIZE, "orrery");
    }
}

void view_new_file(const viewer *v, const char *addition, const char *ending, char path[VIEW_PATH_SIZE])
{
    char stem[STEM_SIZE], name[STEM_SIZE + 16];
    scene_stem(v, stem);
    snprintf(name, sizeof name, "%s%s", stem, addition);
    unused_name(path, name, ending);
}

// ---- what is saved ----

static orr_result write_path(viewer *v, const char *path, orr_error *error)
{
    ORR_TRY(camera_recorder_save(&v->recorder, path, PATH_FRAMES_PER_SECOND, v->seen.width & ~1,
                                 v->seen.height & ~1, error));
    v->path_changed = false;
    return ORR_OK;
}

static orr_result write_model(viewer *v, const char *path, orr_error *error)
{
    view_draw_drop(v); // what it draws is about to change
    view_training_wait(v->training);
    v->again = true;
    return view_training_save(v->training, path, error);
}

void view_save_path(viewer *v)
{
    if (v->recorder.count == 0) {
        view_say(v, "The camera path has no keys yet: K adds this view.");
        return;
    }
    char path[VIEW_PATH_SIZE];
    orr_error error;
    unused_name(path, "transforms", ".json");
    if (write_path(v, path, &error) == ORR_OK) {
        view_say(v, "%s saved. To a video: orrery render %s --cameras %s -o path.mp4", path, v->scene_path,
                 path);
    } else {
        view_say(v, "%s", error.message);
    }
}

// Where the model goes: the file of the checkpoints, if there is one, or a new one.
static void model_name(const viewer *v, char path[VIEW_PATH_SIZE])
{
    if (v->checkpoint[0]) {
        snprintf(path, VIEW_PATH_SIZE, "%s", v->checkpoint);
    } else {
        view_new_file(v, "", view_training_ending(v->training), path);
    }
}

void view_save_model(viewer *v)
{
    if (!v->training) {
        return;
    }
    char path[VIEW_PATH_SIZE];
    orr_error error;
    model_name(v, path);
    if (write_model(v, path, &error) == ORR_OK) {
        v->training->saved = v->training->figures.info.steps;
        v->checkpoint[0] = 0; // the file is the user's: the next checkpoint is another
        view_say(v, "%s: the model after %lld steps, for orrery view %s --resume", path,
                 (long long)v->training->figures.info.steps, orr_path_name(v->scene_path));
    } else {
        view_say(v, "%s", error.message);
    }
}

void view_save_checkpoint(viewer *v, double now)
{
    const double seconds = 60.0 * v->checkpoint_minutes;
    if (seconds == 0.0 || now - v->checkpoint_at < seconds || !view_training_is_unsaved(v->training)) {
        return;
    }
    char path[VIEW_PATH_SIZE];
    orr_error error;
    model_name(v, path);
    if (write_model(v, path, &error) == ORR_OK) {
        snprintf(v->checkpoint, sizeof v->checkpoint, "%s", path);
        view_say(v, "%s: a checkpoint after %lld steps", path, (long long)v->training->figures.info.steps);
    } else {
        view_say(v, "%s: no checkpoint, the training goes on", error.message);
    }
    v->checkpoint_at = glfwGetTime();
}

void view_save(viewer *v)
{
    view_do(v, v->recorder.count > 0 ? VIEW_PATH_SAVE
               : v->training         ? VIEW_MODEL_SAVE
               : v->scene_changed    ? VIEW_SCENE_SAVE
                                     : VIEW_SCREENSHOT);
}

// ---- what is left behind ----

// Into this file, or a new one in the folder of temporary files where it cannot be written.
static void keep(viewer *v, const char *path, const char *name, const char *ending, const char *what,
                 orr_result (*write)(viewer *v, const char *path, orr_error *error))
{
    const char *temporary = getenv("TMPDIR");
    char other[VIEW_PATH_SIZE], elsewhere[VIEW_PATH_SIZE];
    orr_error error, second;
    orr_result result = write(v, path, &error);
    if (result != ORR_OK) {
        snprintf(other, sizeof other, "%s/%s", temporary && temporary[0] ? temporary : "/tmp", name);
        unused_name(elsewhere, other, ending);
        path = elsewhere;
        result = write(v, path, &second);
    }
    if (result == ORR_OK) {
        fprintf(stderr, "orrery: %s: %s, saved on exit\n", path, what);
    } else {
        fprintf(stderr, "orrery: %s: %s is lost\n", error.message, what);
    }
}

void view_keep(viewer *v)
{
    char stem[STEM_SIZE], what[128], path[VIEW_PATH_SIZE];
    scene_stem(v, stem);
    view_load_end(v);
    view_training_wait(v->training);
    if (v->training && view_training_is_unsaved(v->training)) {
        snprintf(what, sizeof what, "the model after %lld steps", (long long)v->training->figures.info.steps);
        model_name(v, path);
        keep(v, path, stem, view_training_ending(v->training), what, write_model);
    }
    if (v->path_changed && v->recorder.count > 0) {
        unused_name(path, "transforms", ".json");
        keep(v, path, "transforms", ".json", "the camera path", write_path);
    }
    if (v->scene_changed) {
        unused_name(path, stem, ".json");
        keep(v, path, stem, ".json", "the scene as it was changed", view_scene_write);
    }
}
