#include "engine/core/result.h"

#include <stdarg.h>
#include <stdio.h>

static orr_result result_of(orr_code code)
{
    switch (code) {
    case ORR_CODE_NONE:
    case ORR_CODE_DEVICE_CHOSEN:
    case ORR_CODE_IGNORED:
        return ORR_OK;
    case ORR_CODE_OUT_OF_MEMORY:
    case ORR_CODE_DEVICE_MEMORY:
        return ORR_ERROR_MEMORY;
    case ORR_CODE_INTERRUPTED:
        return ORR_ERROR_INTERRUPTED;
    case ORR_CODE_ARGUMENT:
    case ORR_CODE_STALE_ID:
    case ORR_CODE_CAMERA:
        return ORR_ERROR_ARGUMENT;
    case ORR_CODE_FEATURE_ABSENT:
    case ORR_CODE_FILE_VERSION:
    case ORR_CODE_DEVICE_SHARING:
    case ORR_CODE_WINDOW:
        return ORR_ERROR_UNSUPPORTED;
    case ORR_CODE_CAPACITY:
        return ORR_ERROR_CAPACITY;
    case ORR_CODE_FILE_OPEN:
    case ORR_CODE_FILE_READ:
    case ORR_CODE_FILE_WRITE:
    case ORR_CODE_VIDEO:
        return ORR_ERROR_FILE;
    case ORR_CODE_FILE_TYPE:
    case ORR_CODE_FILE_TRUNCATED:
    case ORR_CODE_FILE_HEADER:
    case ORR_CODE_FILE_VALUE:
    case ORR_CODE_FILE_TOO_LARGE:
    case ORR_CODE_FILE_COMPRESSION:
    case ORR_CODE_SCENE_FILE:
    case ORR_CODE_CAMERA_FILE:
    case ORR_CODE_MESH_FILE:
    case ORR_CODE_IMAGE_FILE:
    case ORR_CODE_CONFIG:
    case ORR_CODE_MODEL_FILE:
        return ORR_ERROR_FORMAT;
    case ORR_CODE_DEVICE_ABSENT:
    case ORR_CODE_DEVICE_CALL:
    case ORR_CODE_DEVICE_LOST:
    case ORR_CODE_DEVICE_VALIDATION:
        return ORR_ERROR_DEVICE;
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
