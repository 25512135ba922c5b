// A splat cloud on the host: as files store it (orr_splats), and as it is drawn (orr_splat_pack).
#pragma once

#include "engine/core/jobs.h"
#include "engine/core/progress.h"
#include "engine/core/result.h"

struct orr_splats {
    orr_splats_view data;
    char warning[384]; // what data.warning points to
};

// SH coefficients of degree 1 .. degree, per channel: 0, 3, 8, 15.
static inline int orr_sh_rest(int degree)
{
    return (degree + 1) * (degree + 1) - 1;
}

// Adds a remark to the warning of the cloud, behind a semicolon where there is one already.
void orr_splats_warn(orr_splats *splats, const char *format, ...) __attribute__((format(printf, 2, 3)));

// What every reader ends with. Infinite logits of opacity become finite ones of the opacities 0 and 1, log
// scales of -inf that of the smallest float; rotations are normalised. A splat with any other value that is
// not finite, or with a rotation of zero, is left out: readers store NAN where a file has no valid value.
// The cloud's warning says how many there were. When none is left, fails with ORR_ERROR_FORMAT. `name`: the
// file, for the message.
orr_result orr_splats_clean(orr_splats *splats, const char *name, orr_error *error);

// Copies what a cloud says of one splat over what it says of another.
void orr_splats_move(const orr_splats_view *splats, int64_t from, int64_t to);

// What a program has put into a cloud: ORR_ERROR_ARGUMENT names the first splat with a value that is not
// finite or with a rotation of zero. Nothing is changed.
orr_result orr_splats_check(const orr_splats *splats, const char *name, orr_error *error);

// ---- the drawing form: the same arrays for CPU lanes, CUDA and Vulkan ----

enum {
    ORR_PACK_BLOCK =
        16, // splats side by side: one AVX-512 register, two cache lines apart from the next member
    // floats per splat: position xyz, three axes xyz each scaled by its standard deviation, opacity 0 .. 1
    ORR_PACK_GEOMETRY = 13
};

// Member k of splat i is at [((i / 16) * members + k) * 16 + i % 16]. Splats are in Morton order, so that
// splats near in space are near in memory; the last block is filled up with splats of opacity 0.
typedef struct orr_splat_pack {
    int64_t count;  // splats
    int64_t blocks; // blocks of 16
    int sh_degree;
    bool antialiased;
    float *geometry;  // blocks x 13 x 16
    float *harmonics; // blocks x 3 (d + 1)^2 x 16; coefficient-major, colour innermost: c0 r, c0 g, c0 b, c1
                      // r, ...
    uint32_t *original;    // blocks x 16: index in the file, which decides between splats of equal depth
    float low[3], high[3]; // bounds of the positions, 0.5 % trimmed at each side of each axis
} orr_splat_pack;

// `progress` is nullable.
orr_result orr_splat_pack_create(orr_jobs *jobs, const orr_splats_view *splats, const orr_progress *progress,
                                 orr_splat_pack **pack, orr_error *error);
void orr_splat_pack_destroy(orr_splat_pack *pack); // NULL is allowed
size_t orr_splat_pack_bytes(const orr_splat_pack *pack);
// Index in the pack of each splat of the file: pack->count indices.
void orr_splat_pack_indices(const orr_splat_pack *pack, uint32_t *indices);
// Splats first .. first + count of the file, from one of the pack's arrays of `members` four-byte numbers per
// splat, in the same layout. GPUs store clouds so: a stable sort by depth then leaves those of equal depth in
// the order of the file.
void orr_splat_pack_in_file_order(const void *array, int members, const uint32_t *indices, int64_t first,
                                  int64_t count, void *out);
