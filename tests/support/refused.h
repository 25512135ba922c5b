// Calls of the public header that are to be refused.
#pragma once

#include "engine/orrery.h"

extern orr_error why; // what such a call writes its message to

// The call returned ORR_ERROR_ARGUMENT, and `why` contains the words.
void assert_argument_refused(orr_result result, const char *words);
