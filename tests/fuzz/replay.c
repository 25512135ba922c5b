// Runs a fuzz target over every file of the folder that is named: what libFuzzer's -runs=0 does, for
// compilers that lack it.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "tests/fuzz/fuzz_target.h"

#include <dirent.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    DIR *folder = count == 2 ? opendir(arguments[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
        return 2;
    }
    int files = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        orr_bytes bytes;
        snprintf(path, sizeof path, "%s/%s", arguments[1], entry->d_name);
        if (orr_file_read(path, &bytes, NULL) == ORR_OK) {
            LLVMFuzzerTestOneInput(bytes.data, bytes.size);
            orr_free(bytes.data);
            files++;
        }
    }
    closedir(folder);
    printf("%d inputs\n", files);
    return files == 0;
}
