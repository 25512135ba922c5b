// The version of the library at run time.
#include "engine/orrery.h"

const char *orr_version(void)
{
    return ORR_VERSION;
}
