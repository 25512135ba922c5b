#include "engine/core/sized.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

orr_result orr_sized_read(void *own, size_t own_size, const void *given, size_t given_size, const char *name,
                          orr_error *error)
{
    memset(own, 0, own_size);
    if (!given) {
        return ORR_OK;
    }
    const unsigned char *bytes = given;
    for (size_t i = own_size; i < given_size; i++) {
        if (bytes[i] != 0) {
            return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                            "%s: a member is set that this library, version " ORR_VERSION ", does not have",
                            name);
        }
    }
    memcpy(own, given, smaller(own_size, given_size));
    return ORR_OK;
}

void orr_sized_write(const void *own, size_t own_size, void *out, size_t out_size)
{
    memset(out, 0, out_size);
    memcpy(out, own, smaller(own_size, out_size));
}
