// What other folders use of outputs (orr_output of engine/orrery.h) besides: their names and their order.
#pragma once

#include "engine/core/result.h"

// Whether pictures must be put one after the other from one thread at a time (a video); otherwise any thread
// may put any picture at any time.
bool orr_output_in_order(const orr_output *output);
// The file of picture `index`; free with orr_free.
orr_result orr_output_name(const orr_output *output, int64_t index, char **name, orr_error *error);

// The file of one picture: `path` with its %d or %0Nd replaced by `index`; free with orr_free. Exactly one
// number is allowed when `numbered`, none otherwise.
orr_result orr_output_file_name(const char *path, bool numbered, int64_t index, char **name,
                                orr_error *error);
