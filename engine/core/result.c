#include "engine/core/result.h"

#include <stdarg.h>
#include <stdio.h>

static orr_result result_of(orr_code code)
{
    switch (code) {
#define ORR_CODE_CASE(name, number, result)                                                                  \
    case ORR_CODE_##name:                                                                                    \
        return result;
        ORR_CODES(ORR_CODE_CASE)
#undef ORR_CODE_CASE
    case ORR_CODE_NONE:
        break;
    }
    return ORR_OK;
}

const char *orr_result_name(orr_result result)
{
    switch (result) {
    case ORR_OK:
        return "ok";
    case ORR_ERROR_FILE:
        return "file";
    case ORR_ERROR_FORMAT:
        return "format";
    case ORR_ERROR_ARGUMENT:
        return "argument";
    case ORR_ERROR_MEMORY:
        return "memory";
    case ORR_ERROR_DEVICE:
        return "device";
    case ORR_ERROR_UNSUPPORTED:
        return "unsupported";
    case ORR_ERROR_CAPACITY:
        return "capacity";
    case ORR_ERROR_INTERRUPTED:
        return "interrupted";
    }
    return "unknown";
}

// one line whatever a hostile file name holds: control characters become '?'
static void keep_to_one_line(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 127) {
            *text = '?';
        }
    }
}

orr_result orr_fail(orr_error *error, orr_code code, const char *format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        vsnprintf(error->message, sizeof error->message, format, args);
        va_end(args);
        keep_to_one_line(error->message);
        error->code = (int)code;
    }
    return result_of(code);
}

void orr_log_line(orr_log log, orr_log_level level, orr_code code, const char *format, ...)
{
    if (!log.write) {
        return;
    }
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    keep_to_one_line(line);
    log.write(log.user, level, (int)code, line);
}
