// Structs of orrery.h that grow at their ends (VERSIONS there): copied by the size that the caller's header
// gives them. A new member goes to the end of its struct, and never where an older struct had padding.
#pragma once

#include "engine/core/result.h"

// Copies *given, which may be NULL, into *own; members that are not given are zero. ORR_ERROR_UNSUPPORTED
// when members that this version does not have are not zero. `name`: of the struct, for the message.
orr_result orr_sized_read(void *own, size_t own_size, const void *given, size_t given_size, const char *name,
                          orr_error *error);
// Copies *own into *out as far as that goes; members that this version does not have are zero.
void orr_sized_write(const void *own, size_t own_size, void *out, size_t out_size);
