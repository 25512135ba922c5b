#define _GNU_SOURCE
#include "engine/core/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { ASK_MILLISECONDS = 100, END_MILLISECONDS = 2000 };

typedef struct child {
    const orr_child_desc *desc;
    pid_t process;
    int pipe;
    char line[ORR_CHILD_LINE_MAX + 1];
    int length;
    char last[ORR_CHILD_LINE_MAX + 1]; // that is not empty; one that says ERROR stays
    bool stopped;
} child;

static void end_line(child *c)
{
    c->line[c->length] = 0;
    c->length = 0;
    const char *text = c->line + strspn(c->line, " \t\r");
    if (text[0] && !strstr(c->last, "ERROR")) {
        memmove(c->last, text, strlen(text) + 1);
    }
    if (c->desc->line) {
        c->desc->line(c->desc->user, c->line);
    }
}

// False: the pipe has ended.
static bool read_some(child *c)
{
    char block[512];
    ssize_t got = read(c->pipe, block, sizeof block);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
        return true;
    }
    for (ssize_t i = 0; i < got; i++) {
        if (block[i] == '\n' || block[i] == '\r') {
            end_line(c);
        } else if (c->length < ORR_CHILD_LINE_MAX) {
            c->line[c->length++] = block[i];
        }
    }
    return got > 0;
}

static void listen(child *c)
{
    for (bool open = true; open && !c->stopped;) {
        struct pollfd ready = {.fd = c->pipe, .events = POLLIN};
        int count = poll(&ready, 1, ASK_MILLISECONDS);
        if (count > 0) {
            open = read_some(c);
        }
        c->stopped = c->desc->go_on && !c->desc->go_on(c->desc->user);
    }
    if (c->length > 0) {
        end_line(c);
    }
}

// SIGTERM, and SIGKILL where that is not enough.
static void end_process(const child *c, int *status)
{
    kill(c->process, SIGTERM);
    for (int waited = 0; waited < END_MILLISECONDS; waited += 10) {
        if (waitpid(c->process, status, WNOHANG) != 0) {
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    }
    kill(c->process, SIGKILL);
    while (waitpid(c->process, status, 0) < 0 && errno == EINTR) {
    }
}

static orr_result spawn(child *c, int output, orr_error *error)
{
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files) != 0) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a process");
    }
    int why = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    why = why ? why : posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    why = why ? why : posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    const char *name = c->desc->arguments[0];
    why =
        why ? why : posix_spawnp(&c->process, name, &files, NULL, (char *const *)c->desc->arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    if (why == ENOENT || why == EACCES) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "%s: no such program on PATH", name);
    }
    return why ? orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: cannot run: %s", name, strerror(why)) : ORR_OK;
}

orr_result orr_child_run(const orr_child_desc *desc, orr_error *error)
{
    child c = {.desc = desc};
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return orr_fail(error, ORR_CODE_FILE_OPEN, "%s: cannot open a pipe: %s", desc->arguments[0],
                        strerror(errno));
    }
    orr_result result = spawn(&c, ends[1], error);
    close(ends[1]);
    c.pipe = ends[0];
    if (result == ORR_OK) {
        listen(&c);
        if (c.stopped) {
            end_process(&c, &status);
        } else {
            while (waitpid(c.process, &status, 0) < 0 && errno == EINTR) {
            }
        }
    }
    close(ends[0]);
    ORR_TRY(result);
    if (c.stopped || (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)) {
        return orr_fail(error, ORR_CODE_INTERRUPTED, "%s: stopped", desc->arguments[0]);
    }
    if (WIFSIGNALED(status)) {
        return orr_fail(error, ORR_CODE_FILE_READ, "%s: ended by signal %d", desc->arguments[0],
                        WTERMSIG(status));
    }
    return WEXITSTATUS(status) == 0
               ? ORR_OK
               : orr_fail(error, ORR_CODE_FILE_READ, "%s: failed: %s", desc->arguments[0],
                          c.last[0] ? c.last : "it has said nothing");
}
