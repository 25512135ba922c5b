// A model from a file: MJCF or URDF, as its root element says (mjcf/, urdf/), compiled (model/), with the
// constants that follow from its rest pose (pose/) and the lengths that its muscles can have
// (load/length_range.h).
#pragma once

#include "physics/model/model.h"

// Reads an MJCF or URDF file and the files that it names. Errors are "file:line: <element> 'name': what was
// expected", with ORR_CODE_MODEL_FILE or the code of the file that cannot be read. Free the model with
// orr_model_destroy.
orr_result orr_model_load(const char *path, orr_model **model, orr_error *error);
// The same from `size` bytes of memory. `path` is for messages, and the files that the text names are beside
// it.
orr_result orr_model_parse(const char *text, size_t size, const char *path, orr_model **model,
                           orr_error *error);
