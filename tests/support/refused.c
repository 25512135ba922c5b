#include "tests/support/refused.h"
#include "tests/support/support.h"

#include <string.h>

orr_error why;

void assert_call_refused(orr_result result, orr_result expected, const char *words)
{
    assert_int_equal(result, expected);
    if (!strstr(why.message, words)) {
        fail_msg("%s: expected '%s'", why.message, words);
    }
}

void assert_argument_refused(orr_result result, const char *words)
{
    assert_call_refused(result, ORR_ERROR_ARGUMENT, words);
}
