// Calls of the public header that are to be refused.
#pragma once

#include "engine/orrery.h"

extern orr_error why; // what such a call writes its message to

// The call returned this error, and `why` contains the words.
void assert_call_refused(orr_result result, orr_result expected, const char *words);
// The same for ORR_ERROR_ARGUMENT.
void assert_argument_refused(orr_result result, const char *words);
