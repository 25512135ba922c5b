// Runs a fuzz target without libFuzzer: every file of the folders given, whole and cut at up to 16 places.
// That it returns is the test; the sanitizers of the dev preset look closer.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "tests/fuzz/fuzz_target.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

// The input in memory of exactly its size, so that AddressSanitizer sees a read behind it.
static int run_input(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + !size);
    if (!copy) {
        return 1;
    }
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    return 0;
}

static int replay_file(const char *path)
{
    orr_bytes bytes;
    orr_error error;
    if (orr_file_read(path, &bytes, &error) != ORR_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    int failed = run_input(bytes.data, bytes.size);
    size_t step = bytes.size / 16 + 1;
    for (size_t size = 0; size < bytes.size; size += step) {
        failed |= run_input(bytes.data, size);
    }
    orr_free(bytes.data);
    return failed;
}

static int replay_folder(const char *folder, int *count)
{
    DIR *entries = opendir(folder);
    if (!entries) {
        fprintf(stderr, "%s: cannot open this corpus\n", folder);
        return 1;
    }
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(entries));) {
        char path[4096];
        if (entry->d_name[0] != '.' &&
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path) {
            failed |= replay_file(path);
            (*count)++;
        }
    }
    closedir(entries);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0, count = 0;
    for (int i = 1; i < argc; i++) {
        failed |= replay_folder(argv[i], &count);
    }
    printf("%d inputs replayed\n", count);
    return failed || count == 0;
}
