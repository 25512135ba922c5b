// A bundle; or a meta.json beside pictures that are whole, in a folder, because writing a zip archive for
// each input would take most of the time.
#define _DEFAULT_SOURCE // mkdtemp
#include "engine/core/memory.h"
#include "tests/fuzz/splats/fuzz_splats.h"
#include "tests/splats/sog_sample.h"
#include "tests/splats/splat_samples.h"

#include <stdio.h>
#include <unistd.h>

static char folder[] = "/tmp/orrery-fuzz-XXXXXX", path[64];
static sog_sample sample;

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void remove_folder(void)
{
    for (int i = 1; i < sample.count; i++) {
        remove(in_folder(sample.name[i]));
    }
    rmdir(folder);
}

// the pictures of one small cloud, written once
static void write_pictures(void)
{
    orr_splats *cloud = sample_cloud(20, 1, 1);
    orr_splats_view d = orr_splats_data(cloud);
    if (!mkdtemp(folder) || !sog_sample_make(&d, 2, &sample)) {
        abort();
    }
    atexit(remove_folder);
    for (int i = 1; i < sample.count; i++) {
        if (orr_file_write(in_folder(sample.name[i]), sample.file[i].data, sample.file[i].size, NULL)) {
            abort();
        }
    }
    orr_splats_destroy(cloud);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (sample.count == 0) {
        write_pictures();
    }
    return fuzz_splats(orr_read_sog, in_folder("meta.json"), data, size);
}
