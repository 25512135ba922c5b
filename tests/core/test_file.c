// Tests of files: what is read, and that what is written is whole whoever writes, whatever fails, whoever is
// killed.
#define _GNU_SOURCE
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "tests/support/support.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static orr_error why;

// In place of the C library's, so that a test can foretell the names of temporary files.
static bool foretold;

ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    (void)flags;
    memset(buffer, 0, size);
    if (!foretold) {
        FILE *source = fopen("/dev/urandom", "rb");
        size = source ? fread(buffer, 1, size, source) : 0;
        fclose(source);
    }
    return (ssize_t)size;
}

// In place of the C library's too: what was synced, in order, f a file and d a folder, in capitals when the
// target was there already.
static char synced[8];
static const char *synced_target;
static bool sync_fails;

int fsync(int file)
{
    struct stat status;
    if (sync_fails || fstat(file, &status) != 0) {
        errno = EIO;
        return -1;
    }
    if (synced_target) {
        bool there = access(synced_target, F_OK) == 0;
        size_t length = strlen(synced);
        snprintf(synced + length, sizeof synced - length, "%s",
                 S_ISDIR(status.st_mode) ? there ? "D" : "d"
                 : there                 ? "F"
                                         : "f");
    }
    return 0;
}

// ---- helpers ----

static const char *made_folder(const char *name)
{
    const char *path = scratch_path(name);
    assert_int_equal(mkdir(path, 0700), 0);
    return path;
}

static void remove_folder(const char *path)
{
    char command[600];
    snprintf(command, sizeof command, "rm -r '%s'", path);
    assert_int_equal(system(command), 0);
}

// hidden files in a folder, but for "." and ".."
static int count_hidden(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        count +=
            entry->d_name[0] == '.' && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(folder);
    return count;
}

static void assert_content(const char *path, const char *expected)
{
    orr_bytes bytes;
    assert_ok(orr_file_read(path, &bytes, &error));
    assert_string_equal((const char *)bytes.data, expected);
    orr_free(bytes.data);
}

static void assert_unreadable(const char *path, const char *expected)
{
    orr_bytes bytes;
    assert_int_equal(orr_file_read(path, &bytes, &why), ORR_ERROR_FILE);
    assert_null(bytes.data);
    if (!strstr(why.message, expected) || !strstr(why.message, path)) {
        fail_msg("'%s' does not say '%s' and '%s'", why.message, expected, path);
    }
}

static bool is_unwritable(const char *path, const char *expected)
{
    for (int i = 0; i < 2; i++) {
        why.message[0] = 0;
        orr_result result = i ? orr_file_try(path, &why) : orr_file_write(path, "a", 1, &why);
        if (result != ORR_ERROR_FILE || !strstr(why.message, expected) || !strstr(why.message, path)) {
            print_error("'%s' does not say '%s' and '%s'\n", why.message, expected, path);
            return false;
        }
    }
    return true;
}

static void assert_unwritable(const char *path, const char *expected)
{
    assert_true(is_unwritable(path, expected));
}

// Runs a test in a process of its own, which may change its user, its limits or its mounts; 0: it passed. An
// assertion in it would go on with the next test.
static int run_apart(int (*run)(const char *folder), const char *folder)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        _exit(run(folder));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

// ---- reading ----

static void only_regular_files_are_read(void **state)
{
    (void)state;
    const char *pipe = scratch_path("pipe"), *empty = scratch_path("empty");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_unreadable(pipe, "a pipe"); // and does not wait for a writer
    assert_unreadable("/tmp", "a folder");
    assert_unreadable("/dev/zero", "a device");
    assert_unreadable("/nonexistent", strerror(ENOENT));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", scratch_path("socket"));
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_unreadable(address.sun_path, "a socket");
    close(listener);
    assert_ok(orr_file_write(empty, "", 0, &error));
    assert_content(empty, "");
}

// ---- writing ----

static void files_appear_whole_or_not_at_all(void **state)
{
    (void)state;
    const char *path = scratch_path("whole.bin");
    orr_file_writer writer;
    assert_ok(orr_file_begin(&writer, path, &error));
    orr_file_put(&writer, "half", 4);
    assert_unreadable(path, strerror(ENOENT)); // not there yet
    orr_file_abort(&writer);
    assert_unreadable(path, strerror(ENOENT));

    assert_ok(orr_file_try(path, &error)); // changes nothing
    assert_unreadable(path, strerror(ENOENT));
    assert_ok(orr_file_write(path, "hello", 5, &error));
    orr_bytes bytes;
    assert_ok(orr_file_read(path, &bytes, &error));
    assert_int_equal(bytes.size, 5);
    assert_memory_equal(bytes.data, "hello", 6); // with the zero behind the end
    orr_free(bytes.data);
    assert_ok(orr_file_try(path, &error));
    assert_content(path, "hello");
}

static void only_regular_files_are_replaced(void **state)
{
    (void)state;
    const char *folder = made_folder("kinds");
    char pipe[600], inside[600];
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    snprintf(inside, sizeof inside, "%s/new/", folder);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_unwritable(pipe, "not a regular file");
    assert_unwritable(folder, "not a regular file");
    assert_unwritable("/dev/null", "not a regular file");
    assert_unwritable("/nonexistent/x", strerror(ENOENT));
    assert_unwritable(inside, "the name of a file");
    assert_unwritable("", "the name of a file");
    // one that becomes a pipe while it is written
    orr_file_writer writer;
    char late[600];
    snprintf(late, sizeof late, "%s/late", folder);
    assert_ok(orr_file_begin(&writer, late, &error));
    assert_int_equal(mkfifo(late, 0600), 0);
    assert_int_equal(orr_file_commit(&writer, &why), ORR_ERROR_FILE);
    struct stat status;
    assert_int_equal(stat(late, &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    assert_int_equal(count_hidden(folder), 0);
    remove_folder(folder);
}

static void names_as_long_as_the_file_system_allows_are_written(void **state)
{
    (void)state;
    const char *folder = made_folder("long");
    char path[1000], name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(orr_file_write(path, "long", 4, &error));
    assert_content(path, "long");
    remove_folder(folder);
}

static void links_are_written_through(void **state)
{
    (void)state;
    const char *folder = made_folder("links");
    char real[600], link[600], chain[600], dangling[600], created[600], circle[600];
    snprintf(real, sizeof real, "%s/inner", folder);
    assert_int_equal(mkdir(real, 0700), 0);
    snprintf(real, sizeof real, "%s/inner/real", folder);
    snprintf(created, sizeof created, "%s/inner/created", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(chain, sizeof chain, "%s/chain", folder);
    snprintf(dangling, sizeof dangling, "%s/dangling", folder);
    snprintf(circle, sizeof circle, "%s/circle", folder);
    assert_ok(orr_file_write(real, "old", 3, &error));
    assert_int_equal(symlink("inner/real", link), 0);
    assert_int_equal(symlink(link, chain), 0); // absolute
    assert_int_equal(symlink("inner/created", dangling), 0);
    assert_int_equal(symlink("circle", circle), 0);

    assert_ok(orr_file_write(chain, "new", 3, &error));
    assert_content(real, "new");
    assert_ok(orr_file_write(link, "newer", 5, &error));
    assert_content(real, "newer");
    assert_ok(orr_file_write(dangling, "made", 4, &error));
    assert_content(created, "made");
    assert_unwritable(circle, strerror(ELOOP));
    struct stat status;
    const char *const links[] = {link, chain, dangling, circle};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(lstat(links[i], &status), 0);
        assert_true(S_ISLNK(status.st_mode));
    }
    assert_int_equal(count_hidden(folder), 0);
    remove_folder(folder);
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

static void permissions_are_kept(void **state)
{
    (void)state;
    const char *path = scratch_path("modes");
    mode_t before = umask(027);
    assert_ok(orr_file_write(path, "a", 1, &error));
    assert_int_equal(mode_of(path), 0640);
    umask(before);
    static const mode_t modes[] = {0600, 0644, 0666, 0755, 0200};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        orr_file_writer writer;
        assert_ok(orr_file_begin(&writer, path, &error));
        orr_file_put(&writer, "b", 1);
        assert_int_equal(mode_of(writer.temporary), 0600); // nobody reads it before
        assert_ok(orr_file_commit(&writer, &error));
        assert_int_equal(mode_of(path), modes[i]);
    }
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 65534, 12345), 0);
        assert_ok(orr_file_write(path, "c", 1, &error));
        struct stat status;
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_uid, 65534);
        assert_int_equal(status.st_gid, 12345);
    }
}

// to a user whom permissions bind
static bool become_nobody(void)
{
    return geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
}

static int refuse_protected_file(const char *folder)
{
    char path[600];
    snprintf(path, sizeof path, "%s/protected", folder);
    return !become_nobody() || orr_file_write(path, "a", 1, &why) != ORR_OK || chmod(path, 0444) != 0 ||
           !is_unwritable(path, strerror(EACCES));
}

static int refuse_protected_folder(const char *folder)
{
    char path[600];
    snprintf(path, sizeof path, "%s/new", folder);
    return !become_nobody() || !is_unwritable(path, strerror(EACCES));
}

static void protected_files_and_folders_are_refused(void **state)
{
    (void)state;
    const char *folder = made_folder("protected");
    assert_int_equal(chmod(scratch_path(""), 0711), 0); // for nobody
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(run_apart(refuse_protected_file, folder), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    assert_int_equal(run_apart(refuse_protected_folder, folder), 0);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(count_hidden(folder), 0);
    remove_folder(folder);
}

// ---- full disks ----

static void a_full_device_is_reported(void **state)
{
    (void)state;
    orr_file_writer writer;
    const char *path = scratch_path("full.bin");
    assert_ok(orr_file_begin(&writer, path, &error));
    // a stream on a device that is always full stands in for the disk
    writer.stream = freopen("/dev/full", "wb", writer.stream);
    assert_non_null(writer.stream);
    orr_file_put(&writer, "hello", 5);
    assert_int_equal(orr_file_commit(&writer, &why), ORR_ERROR_FILE);
    assert_non_null(strstr(why.message, strerror(ENOSPC)));
    assert_unreadable(path, strerror(ENOENT));
}

enum { LARGE = 1 << 20 };

// writes what does not fit over a file that is there; the file stays as it is
static int overflow(const char *folder, int expected)
{
    char path[600];
    snprintf(path, sizeof path, "%s/file", folder);
    char *large = calloc(LARGE, 1);
    orr_result before = orr_file_write(path, "old", 3, &why);
    orr_result result = orr_file_write(path, large, LARGE, &why);
    free(large);
    orr_bytes bytes;
    if (before != ORR_OK || result != ORR_ERROR_FILE || !strstr(why.message, strerror(expected)) ||
        orr_file_read(path, &bytes, NULL) != ORR_OK || strcmp((const char *)bytes.data, "old") != 0) {
        print_error("%s\n", result == ORR_OK ? "no error" : why.message);
        return 1;
    }
    orr_free(bytes.data);
    return count_hidden(folder);
}

static int overflow_limit(const char *folder)
{
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {LARGE / 2, LARGE / 2};
    return setrlimit(RLIMIT_FSIZE, &limit) == 0 ? overflow(folder, EFBIG) : 2;
}

static int overflow_disk(const char *folder)
{
    // seen by this process alone
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", folder, "tmpfs", 0, "size=512k") != 0) {
        return 77;
    }
    return overflow(folder, ENOSPC);
}

static void a_full_disk_keeps_the_old_file(void **state)
{
    (void)state;
    const char *folder = made_folder("full");
    assert_int_equal(run_apart(overflow_limit, folder), 0);
    int code = run_apart(overflow_disk, folder);
    assert_true(code == 0 || code == 77); // 77: no right to mount a small disk
    remove_folder(folder);
}

static void files_are_synced_before_they_appear_and_folders_after(void **state)
{
    (void)state;
    const char *folder = made_folder("synced");
    char path[600];
    snprintf(path, sizeof path, "%s/file", folder);
    synced_target = path;
    assert_ok(orr_file_write(path, "old", 3, &error));
    synced_target = NULL;
    assert_string_equal(synced, "fD");
    sync_fails = true; // as a disk does that breaks, or one over a network that is full
    assert_int_equal(orr_file_write(path, "new", 3, &why), ORR_ERROR_FILE);
    sync_fails = false;
    assert_non_null(strstr(why.message, strerror(EIO)));
    assert_content(path, "old");
    assert_int_equal(count_hidden(folder), 0);
    remove_folder(folder);
}

// ---- several at once ----

enum { SAVERS = 4, SAVES = 250, SIZE_MAX_SAVED = 40000 };

// a file of `size` equal bytes, both chosen by the saver and the number of its save
static int save_many(const char *path, int saver)
{
    char *bytes = malloc(SIZE_MAX_SAVED);
    int failed = 0;
    for (int i = 0; i < SAVES && !failed; i++) {
        size_t size = (size_t)(1 + (saver * 7919 + i * 104729) % SIZE_MAX_SAVED);
        memset(bytes, 'a' + (int)(size % 26), size);
        orr_error error;
        failed = orr_file_write(path, bytes, size, &error) != ORR_OK;
        if (failed) {
            fprintf(stderr, "%s\n", error.message);
        }
    }
    free(bytes);
    return failed;
}

static bool is_whole(const orr_bytes *bytes)
{
    char expected = (char)('a' + (int)(bytes->size % 26));
    for (size_t i = 0; i < bytes->size; i++) {
        if ((char)bytes->data[i] != expected) {
            return false;
        }
    }
    return bytes->size > 0;
}

typedef struct saver {
    const char *path;
    int number, failed;
} saver;

static void *run_saver(void *argument)
{
    saver *s = argument;
    s->failed = save_many(s->path, s->number);
    return NULL;
}

// in each of two processes, four threads; 2,000 saves in all
static int save_in_threads(const char *path)
{
    pthread_t threads[SAVERS];
    saver savers[SAVERS];
    int failed = 0;
    for (int i = 0; i < SAVERS; i++) {
        savers[i] = (saver){.path = path, .number = i + (int)(getpid() % 100)};
        failed |= pthread_create(&threads[i], NULL, run_saver, &savers[i]);
    }
    for (int i = 0; i < SAVERS; i++) {
        pthread_join(threads[i], NULL);
        failed |= savers[i].failed;
    }
    return failed;
}

static void many_savers_of_one_path_leave_whole_files(void **state)
{
    (void)state;
    const char *folder = made_folder("savers");
    char path[600];
    snprintf(path, sizeof path, "%s/file", folder);
    assert_ok(orr_file_write(path, "b", 1, &error));
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            _exit(save_in_threads(path));
        }
    }
    int bad = 0, reads = 0;
    for (int running = 2; running > 0;) {
        orr_bytes bytes;
        bad += orr_file_read(path, &bytes, &why) != ORR_OK || !is_whole(&bytes);
        reads++;
        orr_free(bytes.data);
        int status;
        pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended > 0) {
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
            running--;
        }
    }
    print_message("%d of %d reads were bad\n", bad, reads);
    assert_int_equal(bad, 0);
    assert_int_equal(count_hidden(folder), 0);
    remove_folder(folder);
}

// ---- killed writers ----

static int die_writing(const char *path)
{
    orr_file_writer writer;
    if (orr_file_begin(&writer, path, &why) == ORR_OK) {
        orr_file_put(&writer, "half", 4);
        fflush(writer.stream);
        raise(SIGKILL);
    }
    return 1;
}

static void what_killed_writers_leave_is_removed_by_the_next(void **state)
{
    (void)state;
    const char *folder = made_folder("killed");
    char path[600], other[1000], similar[600];
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(other, sizeof other, "%s/%0255d", folder, 0);
    snprintf(similar, sizeof similar, "%s/.file.orr-tmp-0123456789abcdeX", folder);
    fclose(fopen(similar, "w")); // the user's own
    assert_int_equal(run_apart(die_writing, path), 256 + SIGKILL);
    assert_int_equal(count_hidden(folder), 2);
    assert_int_equal(run_apart(die_writing, other), 256 + SIGKILL);
    assert_int_equal(count_hidden(folder), 2); // the second has removed what the first left

    // a writer who lives keeps his
    orr_file_writer living;
    assert_ok(orr_file_begin(&living, path, &error));
    orr_file_put(&living, "living", 6);
    assert_int_equal(count_hidden(folder), 2);
    assert_ok(orr_file_write(path, "whole", 5, &error));
    assert_content(path, "whole");
    assert_int_equal(count_hidden(folder), 2);
    assert_ok(orr_file_commit(&living, &error));
    assert_content(path, "living");
    assert_int_equal(count_hidden(folder), 1);
    assert_int_equal(access(similar, F_OK), 0);
    remove_folder(folder);
}

static void planted_names_are_not_followed(void **state)
{
    (void)state;
    const char *folder = made_folder("planted");
    char path[600], victim[600], planted[600];
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(victim, sizeof victim, "%s/victim", folder);
    assert_ok(orr_file_write(victim, "precious", 8, &error));
    snprintf(planted, sizeof planted, "%s/.file.orr-tmp-0000000000000000", folder);
    assert_int_equal(symlink(victim, planted), 0);
    snprintf(planted, sizeof planted, "%s/.file.orr-tmp-0000000000000001", folder);
    assert_int_equal(link(victim, planted), 0);
    foretold = true;
    assert_ok(orr_file_write(path, "mine", 4, &error));
    foretold = false;
    assert_content(path, "mine");
    assert_content(victim, "precious");
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_regular_files_are_read),
        cmocka_unit_test(files_appear_whole_or_not_at_all),
        cmocka_unit_test(only_regular_files_are_replaced),
        cmocka_unit_test(names_as_long_as_the_file_system_allows_are_written),
        cmocka_unit_test(links_are_written_through),
        cmocka_unit_test(permissions_are_kept),
        cmocka_unit_test(protected_files_and_folders_are_refused),
        cmocka_unit_test(a_full_device_is_reported),
        cmocka_unit_test(a_full_disk_keeps_the_old_file),
        cmocka_unit_test(files_are_synced_before_they_appear_and_folders_after),
        cmocka_unit_test(many_savers_of_one_path_leave_whole_files),
        cmocka_unit_test(what_killed_writers_leave_is_removed_by_the_next),
        cmocka_unit_test(planted_names_are_not_followed),
    };
    return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
