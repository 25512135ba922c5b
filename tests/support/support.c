#define _GNU_SOURCE
#include "tests/support/support.h"

#include "engine/core/file.h"
#include "engine/core/isa.h"
#include "engine/core/memory.h"
#include "engine/core/sanitizer.h"
#include "engine/device/cuda.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Of the environment, or else as it was built.
static const char *folder_of(const char *variable, const char *built)
{
    const char *folder = getenv(variable);
    return folder ? folder : built;
}

const char *source_path(const char *format, ...)
{
    static char paths[8][1024];
    static int next;
    char *path = paths[next++ % 8];
    int length = snprintf(path, sizeof paths[0], "%s/", folder_of("ORR_SOURCE_DIR", ORR_SOURCE_DIR));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path + length, sizeof paths[0] - (size_t)length, format, arguments);
    va_end(arguments);
    return path;
}

static const char *find_shared(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder_of("ORR_SHARED_DATA", ORR_SHARED_DATA), name);
    return access(path, R_OK) == 0 ? path : NULL;
}

const char *shared_data(const char *name)
{
    const char *path = find_shared(name);
    if (!path) {
        printf("left out: %s is not in the shared data\n", name); // run_all.sh counts these lines
    }
    return path;
}

const char *needed_shared_data(const char *name)
{
    const char *path = find_shared(name);
    if (!path) {
        printf("skipped: %s is not in the shared data\n", name);
        skip();
    }
    return path;
}

const char *made_asset(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder_of("ORR_ASSETS", ORR_ASSETS), name);
    if (access(path, R_OK) != 0) {
        fail_msg("%s: not there; `ninja orrery_assets orrery_captures` makes it", path);
    }
    return path;
}

static char scratch_folder[64];

static void remove_scratch(void)
{
    DIR *folder = opendir(scratch_folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", scratch_folder, entry->d_name);
        unlink(path);
    }
    if (folder) {
        closedir(folder);
    }
    rmdir(scratch_folder);
}

const char *scratch_path(const char *name)
{
    static char paths[8][512];
    static int next;
    if (!scratch_folder[0]) {
        strcpy(scratch_folder, "/tmp/orrery-test-XXXXXX");
        if (!mkdtemp(scratch_folder)) {
            fail_msg("cannot make a scratch folder");
        }
        atexit(remove_scratch);
    }
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
    return path;
}

const char *written(const char *name, const char *text)
{
    const char *path = scratch_path(name);
    assert_ok(orr_file_write(path, text, strlen(text), &error));
    return path;
}

int need_cuda(void **state)
{
    (void)state;
    orr_cuda *cuda;
    orr_error error = {0};
    if (orr_cuda_create(NULL, &cuda, &error) != ORR_OK) {
        print_message("skipped: %s\n", error.message);
        exit(77);
    }
    orr_cuda_destroy(cuda);
    return 0;
}

static void compare_files(const char *a, const char *b, bool same)
{
    orr_bytes x, y;
    assert_ok(orr_file_read(a, &x, &error));
    assert_ok(orr_file_read(b, &y, &error));
    const bool equal = x.size == y.size && memcmp(x.data, y.data, x.size) == 0;
    orr_free(x.data);
    orr_free(y.data);
    if (equal != same) {
        fail_msg("%s and %s are %s", a, b, equal ? "the same" : "different");
    }
}

void assert_same_files(const char *a, const char *b)
{
    compare_files(a, b, true);
}

void assert_different_files(const char *a, const char *b)
{
    compare_files(a, b, false);
}

double psnr(const float *a, const float *b, int64_t count)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double d = (double)a[i] - (double)b[i];
        sum += d * d;
    }
    return sum > 0.0 ? 10.0 * log10((double)count / sum) : 200.0;
}

double largest_difference(const float *a, const float *b, int64_t count)
{
    double largest = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double d = fabs((double)a[i] - (double)b[i]);
        largest = d > largest || isnan(d) ? d : largest;
    }
    return largest;
}

#ifdef ORR_ADDRESS_SANITIZER
// Drivers and layers keep tables for as long as the process lives. When Vulkan's loader unloads them before
// LeakSanitizer looks, these count as leaks that nothing can name; so nothing is unloaded in a sanitised
// test.
__attribute__((visibility("default"))) int dlclose(void *handle);

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
#endif

bool is_left_to_best_isa(void)
{
    orr_isa isa;
    assert_ok(orr_isa_choose(&isa, &error));
    if (isa != orr_isa_best()) {
        print_message("    left to %s, the best instruction set\n", orr_isa_name(orr_isa_best()));
    }
    return isa != orr_isa_best();
}
