#include "physics/grid/collider_file.h"

#include "engine/core/memory.h"

#include <string.h>
#include <zstd.h>

enum {
    HEADER_SIZE = 96,
    VERSION = 1,
    STREAMS = 3,
    RATIO_MAX = 1 << 16, // between a stream and its content; of equal bytes it is about 2^15
    ZSTD_LEVEL = 3
};

static const char MAGIC[8] = "ORRCOLL";

typedef struct file_header {
    char magic[8];
    uint32_t version, zero;
    double origin[3], cell;
    int32_t bricks[3], brick_count;
    uint64_t source, packed[STREAMS];
} file_header;

_Static_assert(sizeof(file_header) == HEADER_SIZE, "the header has no gaps");

typedef struct stream_content {
    void *data;
    size_t size;
} stream_content;

static void list_contents(const orr_distance_grid *grid, stream_content contents[STREAMS])
{
    size_t nx = (size_t)grid->bricks[0], ny = (size_t)grid->bricks[1], nz = (size_t)grid->bricks[2];
    contents[0] = (stream_content){grid->brick, nx * ny * nz * sizeof *grid->brick};
    contents[1] = (stream_content){grid->corner, (nx + 1) * (ny + 1) * (nz + 1) * sizeof *grid->corner};
    contents[2] =
        (stream_content){grid->sample, (size_t)grid->brick_count * ORR_GRID_SAMPLES * sizeof *grid->sample};
}

bool orr_collider_readable(const char *path)
{
    return orr_path_has_ending(path, ".collider");
}

// ---- reading ----

static orr_result check_header(const file_header *h, size_t size, const char *name, orr_error *error)
{
    if (memcmp(h->magic, MAGIC, sizeof MAGIC) != 0) {
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: byte 0: expected a collider, which begins with %s",
                        name, MAGIC);
    }
    if (h->version != VERSION || h->zero != 0) {
        return orr_fail(error, ORR_CODE_FILE_VERSION, "%s: byte 8: version %u of colliders: expected %d",
                        name, h->version, VERSION);
    }
    uint64_t left = size - HEADER_SIZE;
    for (int i = 0; i < STREAMS; i++) {
        if (h->packed[i] > left) {
            return orr_fail(error, ORR_CODE_FILE_TRUNCATED,
                            "%s: byte %d: stream %d of %llu bytes: %llu are left", name,
                            HEADER_SIZE - 8 * (STREAMS - i), i, (unsigned long long)h->packed[i],
                            (unsigned long long)left);
        }
        left -= h->packed[i];
    }
    // before memory for its samples is taken
    uint64_t content = h->brick_count > 0 ? (uint64_t)h->brick_count * ORR_GRID_SAMPLES * sizeof(float) : 0;
    if (left > 0 || content / RATIO_MAX > h->packed[STREAMS - 1]) {
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: byte 72: the sizes of streams do not fit %d bricks",
                        name, h->brick_count);
    }
    return ORR_OK;
}

static orr_result unpack(const file_header *h, const uint8_t *at, const char *name, orr_distance_grid *grid,
                         orr_error *error)
{
    stream_content contents[STREAMS];
    list_contents(grid, contents);
    for (int i = 0; i < STREAMS; at += h->packed[i++]) {
        size_t got = ZSTD_decompress(contents[i].data, contents[i].size, at, (size_t)h->packed[i]);
        if (ZSTD_isError(got) || got != contents[i].size) {
            return orr_fail(error, ORR_CODE_FILE_COMPRESSION, "%s: stream %d: expected %zu bytes in zstd: %s",
                            name, i, contents[i].size,
                            ZSTD_isError(got) ? ZSTD_getErrorName(got) : "too short");
        }
    }
    for (int k = 0; k < 3; k++) {
        grid->origin[k] = h->origin[k];
    }
    grid->cell = h->cell;
    grid->source = h->source;
    return orr_distance_grid_check(grid, name, error);
}

orr_result orr_distance_grid_read(const uint8_t *data, size_t size, const char *name,
                                  orr_distance_grid **grid, orr_error *error)
{
    *grid = NULL;
    file_header h;
    if (size < HEADER_SIZE) {
        return orr_fail(error, ORR_CODE_FILE_TRUNCATED, "%s: %zu bytes: expected a header of %d", name, size,
                        HEADER_SIZE);
    }
    memcpy(&h, data, sizeof h);
    ORR_TRY(check_header(&h, size, name, error));
    orr_error why = {0};
    orr_distance_grid *made;
    if (orr_distance_grid_create(h.bricks, h.brick_count, &made, &why) != ORR_OK) {
        return orr_fail(error, (orr_code)why.code, "%s: byte 48: %s", name, why.message);
    }
    orr_result result = unpack(&h, data + HEADER_SIZE, name, made, error);
    if (result != ORR_OK) {
        orr_distance_grid_destroy(made);
        return result;
    }
    *grid = made;
    return ORR_OK;
}

orr_result orr_distance_grid_load(const char *path, orr_distance_grid **grid, orr_error *error)
{
    *grid = NULL;
    orr_bytes bytes;
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_result result = orr_distance_grid_read(bytes.data, bytes.size, path, grid, error);
    orr_free(bytes.data);
    return result;
}

uint64_t orr_collider_file_source(const char *path)
{
    FILE *stream;
    orr_error unread;
    file_header h;
    if (orr_file_open(path, &stream, &unread) != ORR_OK) {
        return 0;
    }
    bool whole = fread(&h, sizeof h, 1, stream) == 1;
    (void)fclose(stream);
    return whole && memcmp(h.magic, MAGIC, sizeof MAGIC) == 0 && h.version == VERSION ? h.source : 0;
}

// ---- writing ----

orr_result orr_distance_grid_save(const orr_distance_grid *grid, const char *path, orr_error *error)
{
    file_header h = {
        .version = VERSION, .cell = grid->cell, .brick_count = grid->brick_count, .source = grid->source};
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    memcpy(h.origin, grid->origin, sizeof h.origin);
    memcpy(h.bricks, grid->bricks, sizeof h.bricks);
    stream_content contents[STREAMS];
    list_contents(grid, contents);
    size_t room = HEADER_SIZE, used = HEADER_SIZE;
    for (int i = 0; i < STREAMS; i++) {
        room += ZSTD_compressBound(contents[i].size);
    }
    uint8_t *bytes;
    ORR_ALLOC(bytes, room, path, error);
    orr_result result = ORR_OK;
    for (int i = 0; i < STREAMS && result == ORR_OK; i++) {
        size_t got = ZSTD_compress(bytes + used, room - used, contents[i].data, contents[i].size, ZSTD_LEVEL);
        if (ZSTD_isError(got)) {
            result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: zstd: %s", path, ZSTD_getErrorName(got));
        } else {
            h.packed[i] = got;
            used += got;
        }
    }
    memcpy(bytes, &h, sizeof h);
    result = result == ORR_OK ? orr_file_write(path, bytes, used, error) : result;
    orr_free(bytes);
    return result;
}
