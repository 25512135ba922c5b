#include "samples/orrery/load_progress.h"

#include "engine/core/file.h"
#include "samples/orrery/interrupt.h"
#include "samples/orrery/progress.h"

#include <stdio.h>
#include <string.h>

static const double QUIET_SECONDS = 1.5; // what takes less needs no line

// one loading at a time, as there is one terminal
static struct {
    progress shown;
    char path[256];
    double from; // share that was done when it began
} loading;

static void begin(const char *path, double share)
{
    progress_end(&loading.shown);
    progress_begin(&loading.shown, "%", 100);
    snprintf(loading.path, sizeof loading.path, "%s", path);
    loading.from = share;
}

bool load_progress(void *user, const char *path, const char *stage, double share)
{
    (void)user;
    if (strcmp(stage, "reading") == 0 || strcmp(stage, "ordering") == 0) {
        return !interrupt_requested(); // files: seconds at most, and nobody says when they are done
    }
    progress *shown = &loading.shown;
    if (shown->start == 0 || strncmp(loading.path, path, sizeof loading.path - 1) != 0 ||
        share < loading.from) {
        begin(path, share);
    }
    double seconds = progress_seconds(shown), done = share - loading.from;
    if (share >= 1.0) {
        progress_end(shown);
        shown->start = 0;
    } else if (seconds > QUIET_SECONDS && done > 0.0 && progress_due(shown)) {
        double rate = done / seconds;
        int left = (int)((1.0 - share) / rate + 0.5);
        progress_line(shown, "%s: %s, %.0f %%, %.1f %% per second, %d:%02d left", orr_path_name(path), stage,
                      100.0 * share, 100.0 * rate, left / 60, left % 60);
    }
    return !interrupt_requested();
}
