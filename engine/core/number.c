#define _GNU_SOURCE // strtod_l
#include "engine/core/number.h"

#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>

// Made by whoever comes first, and kept.
static locale_t plain_locale(void)
{
    static locale_t locale;
    locale_t found = __atomic_load_n(&locale, __ATOMIC_ACQUIRE);
    if (!found) {
        locale_t expected = NULL;
        found = newlocale(LC_ALL_MASK, "C", NULL);
        if (!__atomic_compare_exchange_n(&locale, &expected, found, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            freelocale(found);
            found = expected;
        }
    }
    return found;
}

double orr_number_parse(const char *text, const char **end)
{
    char *stop;
    double value = strtod_l(text, &stop, plain_locale());
    *end = stop;
    return value;
}
