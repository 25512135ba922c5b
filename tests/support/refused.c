#include "tests/support/refused.h"
#include "tests/support/support.h"

#include <string.h>

orr_error why;

void assert_argument_refused(orr_result result, const char *words)
{
    assert_int_equal(result, ORR_ERROR_ARGUMENT);
    if (!strstr(why.message, words)) {
        fail_msg("%s: expected '%s'", why.message, words);
    }
}
