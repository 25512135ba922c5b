// The engine across fork(), and when its shared library is unloaded.
#define _GNU_SOURCE
#include "tests/support/engine.h"
#include "tests/support/robots.h"
#include "tests/support/support.h"
#include "tests/support/typical_job.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 100 }; // [s] a child that hangs ends by SIGALRM

static void expect_success(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static typical_result drawn, expected;

// ---- before ----

// Of a child that was forked before this process had an engine, in memory that both share.
static typical_result *of_child;
static pid_t early_child;

static int fork_early(void)
{
    of_child = mmap(NULL, sizeof *of_child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    early_child = of_child == MAP_FAILED ? -1 : fork();
    if (early_child == 0) {
        alarm(LIMIT);
        _exit(run_typical_job(own_robot("quadruped"), NULL, of_child, NULL) == ORR_OK ? 0 : 1);
    }
    return early_child < 0;
}

static void a_child_that_was_forked_before_draws_the_same(void **state)
{
    (void)state;
    expect_success(early_child);
    assert_memory_equal(of_child, &expected, sizeof expected);
}

// ---- after ----

static orr_scene *scene;
static orr_world *world;
static orr_frame *frame;
static orr_view view;

#define REFUSED(call)                                                                                        \
    do {                                                                                                     \
        orr_error why = {0};                                                                                 \
        if ((call) != ORR_ERROR_ARGUMENT || !strstr(why.message, "fork")) {                                  \
            fprintf(stderr, "%s: expected an error, not \"%s\"\n", #call, why.message);                      \
            return 1;                                                                                        \
        }                                                                                                    \
    } while (0)

static int use_the_parents_engine(void)
{
    orr_scene *other;
    orr_world *more;
    orr_frame *another;
    orr_layer_info info;
    orr_hit hit;
    bool ready;
    REFUSED(orr_world_step(world, 1, &why));
    REFUSED(orr_world_create(scene, 1, &more, &why));
    REFUSED(orr_scene_create(engine, &other, &why));
    REFUSED(orr_scene_load(engine, own_robot("biped"), &other, &why));
    REFUSED(orr_scene_add_file(scene, own_robot("biped"), NULL, NULL, &why));
    REFUSED(orr_scene_layer_info(scene, orr_scene_layer(scene, 0), &info, &why));
    REFUSED(orr_frame_create(engine, NULL, &another, &why));
    REFUSED(orr_frame_submit(frame, scene, world, &view, &why));
    REFUSED(orr_frame_advance(frame, 1.0, &ready, &why));
    REFUSED(orr_frame_finish(frame, NULL, &why));
    REFUSED(orr_world_pick(world, &view, 1, 1, &hit, &why));
    orr_frame_discard(frame);
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
    // an engine of its own works
    orr_result result = run_typical_job(own_robot("quadruped"), NULL, &drawn, NULL);
    return result == ORR_OK && memcmp(&drawn, &expected, sizeof drawn) == 0 ? 0 : 2;
}

static void a_child_that_was_forked_after_is_told_so_and_does_not_hang(void **state)
{
    (void)state;
    assert_ok(orr_scene_load(engine, own_robot("quadruped"), &scene, &error));
    assert_ok(orr_world_create(scene, 2, &world, &error));
    assert_ok(orr_world_step(world, 3, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    view = (orr_view){.camera = orr_scene_default_camera(scene, JOB_WIDTH, JOB_HEIGHT)};
    assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(LIMIT);
        _exit(use_the_parents_engine());
    }
    expect_success(pid);
    // and the parent goes on
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = drawn.rgba}, &error));
    assert_ok(orr_world_step(world, 1, &error));
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// ---- unloading ----

#ifdef ORR_LIBRARY
static int count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = -2; // . and ..
    while (folder && readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

static bool is_mapped(const char *path)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    bool found = false;
    while (maps && fgets(line, sizeof line, maps)) {
        found = found || strstr(line, path);
    }
    fclose(maps);
    return found;
}

#define FIND(name) __typeof__(&(name)) name##_ = (__typeof__(&(name)))(uintptr_t)dlsym(library, #name)

static void draw_with(void *library)
{
    FIND(orr_engine_create_sized);
    FIND(orr_scene_load);
    FIND(orr_scene_default_camera);
    FIND(orr_world_create);
    FIND(orr_world_step);
    FIND(orr_frame_create_sized);
    FIND(orr_frame_submit_sized);
    FIND(orr_frame_finish_sized);
    FIND(orr_frame_destroy);
    FIND(orr_world_destroy);
    FIND(orr_scene_destroy);
    FIND(orr_engine_destroy);
    const orr_engine_desc desc = {.threads = 4, .device = ORR_DEVICE_CPU};
    orr_engine *e;
    assert_ok(orr_engine_create_sized_(&desc, sizeof desc, &e, &error));
    assert_ok(orr_scene_load_(e, own_robot("quadruped"), &scene, &error));
    assert_ok(orr_world_create_(scene, 2, &world, &error));
    assert_ok(orr_world_step_(world, 3, &error));
    assert_ok(orr_frame_create_sized_(e, NULL, 0, &frame, &error));
    view = (orr_view){.camera = orr_scene_default_camera_(scene, JOB_WIDTH, JOB_HEIGHT)};
    assert_ok(orr_frame_submit_sized_(frame, scene, world, &view, sizeof view, &error));
    const orr_picture picture = {.rgba = drawn.rgba};
    assert_ok(orr_frame_finish_sized_(frame, &picture, sizeof picture, &error));
    orr_frame_destroy_(frame);
    orr_world_destroy_(world);
    orr_scene_destroy_(scene);
    orr_engine_destroy_(e);
}

static void the_shared_library_is_unloaded_without_a_trace(void **state)
{
    (void)state;
    const int threads = count_threads();
    for (int round = 0; round < 3; round++) {
        void *library = dlopen(ORR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fail_msg("%s", dlerror());
        }
        assert_true(is_mapped("liborrery.so"));
        draw_with(library);
        assert_int_equal(count_threads(), threads);
        assert_int_equal(dlclose(library), 0);
#ifndef ORR_SANITIZED // which keeps libraries in memory
        assert_false(is_mapped("liborrery.so"));
#endif
    }
}
#endif

static int open_all(void **state)
{
    return open_engine(state) || run_typical_job(own_robot("quadruped"), NULL, &expected, NULL) != ORR_OK;
}

int main(void)
{
    if (fork_early() != 0) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_that_was_forked_before_draws_the_same),
        cmocka_unit_test(a_child_that_was_forked_after_is_told_so_and_does_not_hang),
#ifdef ORR_LIBRARY
        cmocka_unit_test(the_shared_library_is_unloaded_without_a_trace),
#endif
    };
    return cmocka_run_group_tests(tests, open_all, close_engine);
}
