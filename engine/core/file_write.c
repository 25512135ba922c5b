// Files that are written. The bytes go to a hidden file in the target's folder, `.NAME.orr-tmp-` and 16
// hexadecimal digits at random, created exclusively and locked (flock) as long as its writer lives. A lock,
// unlike a process id, means the same in every container that shares the folder: a temporary file whose lock
// can be taken has no writer any more.
#define _GNU_SOURCE
#include "engine/core/file.h"

#include "engine/core/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINKS_MAX = 40,  // as many as Linux follows
    NAME_KEPT = 200, // [bytes] of the target's name, so that a long one stays below the 255 of file systems
    RANDOM_DIGITS = 16,
    TRIES_MAX = 100,
    LARGE_FOLDER = 256 << 10 // [bytes] of the folder itself: about 6,000 files on ext4
};

static const char mark[] = ".orr-tmp-";

static orr_result fail_write(const char *path, int why, orr_error *error)
{
    return orr_fail(error, why == ENOMEM ? ORR_CODE_OUT_OF_MEMORY : ORR_CODE_FILE_WRITE,
                    "%s: cannot write: %s", path, strerror(why));
}

// ---- the target ----

// Where symbolic links lead, whether or not a file is there. NULL and errno where they go in circles.
static char *follow_links(const char *path)
{
    char *target = orr_path_beside("", path);
    for (int i = 0; target && i <= LINKS_MAX; i++) {
        char link[PATH_MAX];
        ssize_t length = readlink(target, link, sizeof link - 1);
        if (length < 0) {
            return target;
        }
        link[length] = 0;
        char *next = orr_path_beside(target, link);
        orr_free(target);
        target = next;
    }
    errno = target ? ELOOP : ENOMEM;
    orr_free(target);
    return NULL;
}

// Is there a file at `path`, and may it be replaced? A rename over /dev/null would succeed for root, and take
// the device away; and a file without write permission is protected by intention.
static orr_result check_old(const char *path, struct stat *old, bool *exists, orr_error *error)
{
    *exists = stat(path, old) == 0; // fails for links that the kernel does not trust (protected_symlinks)
    if (!*exists) {
        return errno == ENOENT ? ORR_OK : fail_write(path, errno, error);
    }
    if (!S_ISREG(old->st_mode)) {
        return orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot write: not a regular file", path);
    }
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? ORR_OK : fail_write(path, errno, error);
}

// ---- temporary files ----

// the folder of a path, as a path: "a/" of "a/b", "./" of "b"; freed with orr_free
static char *folder_of(const char *path)
{
    return orr_path_name(path) == path ? orr_path_beside("", "./") : orr_path_beside(path, "");
}

static uint64_t random_bits(void)
{
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != (ssize_t)sizeof bits) {
        bits = (uint64_t)getpid() << 32 ^ (uintptr_t)&bits; // exclusive creation makes up for collisions
    }
    return bits;
}

static bool is_temporary(const char *name)
{
    size_t length = strlen(name), end = sizeof mark - 1 + RANDOM_DIGITS;
    return name[0] == '.' && length > end && strncmp(name + length - end, mark, sizeof mark - 1) == 0 &&
           strspn(name + length - RANDOM_DIGITS, "0123456789abcdef") == RANDOM_DIGITS;
}

// Removes a temporary file unless its writer lives. What fails is tried again by the next save.
static void remove_if_stale(int folder, const char *name)
{
    int file = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        flock(file, LOCK_EX | LOCK_NB) == 0) {
        unlinkat(folder, name, 0);
    }
    if (file >= 0) {
        close(file);
    }
}

// Removes what killed writers have left in the target's folder. Reading a folder takes about a millisecond
// for 2,000 files; where it holds many, such as the frames of a long video, only one save in 64 does it.
static void remove_stale(const char *target)
{
    char *path = folder_of(target);
    DIR *folder = path ? opendir(path) : NULL;
    orr_free(path);
    struct stat status;
    bool skipped = folder && fstat(dirfd(folder), &status) == 0 && status.st_size > LARGE_FOLDER &&
                   random_bits() % 64 != 0;
    for (struct dirent *entry; folder && !skipped && (entry = readdir(folder));) {
        if (is_temporary(entry->d_name)) {
            remove_if_stale(dirfd(folder), entry->d_name);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

// Creates a temporary file and locks it; -1 and errno on failure. EEXIST: another name.
static int create_locked(const char *temporary, mode_t mode)
{
    int file = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file < 0) {
        return -1;
    }
    // between creation and lock it looks stale to another writer, who may remove it. File systems without
    // locks refuse both.
    struct stat status;
    bool taken = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && fstat(file, &status) != 0) { // it is ours, and nothing is known of it
        int why = errno;
        unlink(temporary);
        close(file);
        errno = why;
        return -1;
    }
    if (taken || status.st_nlink == 0) {
        close(file);
        errno = EEXIST;
        return -1;
    }
    return file;
}

static int create_temporary(orr_file_writer *writer, mode_t mode)
{
    char name[NAME_MAX + 1];
    snprintf(name, sizeof name, ".%.*s%s%0*d", NAME_KEPT, orr_path_name(writer->target), mark, RANDOM_DIGITS,
             0);
    writer->temporary = orr_path_beside(writer->target, name);
    if (!writer->temporary) {
        errno = ENOMEM;
        return -1;
    }
    char *digits = writer->temporary + strlen(writer->temporary) - RANDOM_DIGITS;
    uint64_t bits = random_bits();
    int file = -1;
    errno = EEXIST;
    for (int i = 0; i < TRIES_MAX && file < 0 && errno == EEXIST; i++) {
        snprintf(digits, RANDOM_DIGITS + 1, "%0*llx", RANDOM_DIGITS, (unsigned long long)bits++);
        file = create_locked(writer->temporary, mode);
    }
    return file;
}

// ---- writing ----

orr_result orr_file_begin(orr_file_writer *writer, const char *path, orr_error *error)
{
    *writer = (orr_file_writer){.path = path};
    struct stat old;
    bool exists;
    ORR_TRY(check_old(path, &old, &exists, error));
    writer->target = follow_links(path);
    if (!writer->target) {
        return fail_write(path, errno, error);
    }
    if (!orr_path_name(writer->target)[0]) {
        orr_file_abort(writer);
        return orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot write: expected the name of a file", path);
    }
    // one that replaces a file gets that file's mode when it is finished, and is nobody else's before
    int file = create_temporary(writer, exists ? 0600 : 0666);
    if (file < 0) {
        int why = errno;
        orr_free(writer->temporary); // not ours
        writer->temporary = NULL;
        orr_file_abort(writer);
        return fail_write(path, why, error);
    }
    writer->stream = fdopen(file, "wb");
    if (!writer->stream) {
        close(file);
        orr_file_abort(writer);
        return fail_write(path, ENOMEM, error);
    }
    remove_stale(writer->target);
    return ORR_OK;
}

void orr_file_put(orr_file_writer *writer, const void *data, size_t size)
{
    if (size > 0 && fwrite(data, 1, size, writer->stream) != size && !writer->failure) {
        writer->failure = errno ? errno : EIO;
    }
}

// Owner and mode of the file that is replaced. Where the group cannot be kept, ours gets no more than all. A
// file system without modes, which refuses them, is no reason to lose the file.
static void keep_permissions(int file, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;
    if (fchown(file, old->st_uid, old->st_gid) != 0 && fchown(file, (uid_t)-1, old->st_gid) != 0) {
        mode = (mode & ~(mode_t)070) | (mode & 07) << 3;
    }
    (void)!fchmod(file, mode);
}

// errno, or 0; file systems that cannot sync are as good as synced
static int sync_descriptor(int file)
{
    while (fsync(file) != 0) {
        if (errno != EINTR) {
            return errno == EINVAL || errno == ENOSYS || errno == ENOTSUP ? 0 : errno;
        }
    }
    return 0;
}

// A rename is on the disk when its folder is. A folder that may be written but not read cannot be synced.
static int sync_folder(const char *target)
{
    char *path = folder_of(target);
    int folder = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    orr_free(path);
    int why = folder < 0 ? 0 : sync_descriptor(folder);
    if (folder >= 0) {
        close(folder);
    }
    return why;
}

static int finish_temporary(orr_file_writer *writer, const struct stat *old)
{
    if (fflush(writer->stream) != 0 && !writer->failure) {
        writer->failure = errno;
    }
    if (ferror(writer->stream) && !writer->failure) { // of a write that nobody asked about, fprintf's for one
        writer->failure = EIO;
    }
    if (!writer->failure && old) {
        keep_permissions(fileno(writer->stream), old);
    }
    return writer->failure ? writer->failure : sync_descriptor(fileno(writer->stream));
}

orr_result orr_file_commit(orr_file_writer *writer, orr_error *error)
{
    const char *path = writer->path;
    struct stat old;
    bool exists;
    orr_result result = check_old(writer->target, &old, &exists, error);
    if (result == ORR_OK) {
        int why = finish_temporary(writer, exists ? &old : NULL);
        if (!why && rename(writer->temporary, writer->target) != 0) {
            why = errno;
        } else if (!why) {
            orr_free(writer->temporary);
            writer->temporary = NULL;
            why = sync_folder(writer->target);
        }
        result = why ? fail_write(path, why, error) : ORR_OK;
    }
    orr_file_abort(writer); // what is left of it
    return result;
}

void orr_file_abort(orr_file_writer *writer)
{
    if (writer->temporary) {
        unlink(writer->temporary); // before its lock goes with the stream
    }
    if (writer->stream) {
        fclose(writer->stream);
    }
    orr_free(writer->temporary);
    orr_free(writer->target);
    *writer = (orr_file_writer){0};
}

orr_result orr_file_write(const char *path, const void *data, size_t size, orr_error *error)
{
    orr_file_writer writer;
    ORR_TRY(orr_file_begin(&writer, path, error));
    orr_file_put(&writer, data, size);
    return orr_file_commit(&writer, error);
}

orr_result orr_file_try(const char *path, orr_error *error)
{
    orr_file_writer writer;
    ORR_TRY(orr_file_begin(&writer, path, error));
    orr_file_abort(&writer);
    return ORR_OK;
}
