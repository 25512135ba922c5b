#include "neural/capture/colmap_cursor.h"

#include "engine/core/bytes.h"
#include "engine/core/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

orr_result orr_cursor_fail(const orr_cursor *in, orr_error *error, const char *expected)
{
    if (in->text) {
        return orr_fail(error, ORR_CODE_CAMERA_FILE, "%s: line %d: expected %s", in->name, in->line,
                        expected);
    }
    return orr_fail(error, ORR_CODE_CAMERA_FILE, "%s: expected %s", in->name, expected);
}

// ---- binary ----

bool orr_cursor_take(orr_cursor *in, void *value, size_t size)
{
    return orr_take_bytes(&in->at, in->end, value, size);
}

orr_result orr_cursor_count(orr_cursor *in, size_t smallest, int limit, int *count, orr_error *error)
{
    uint64_t value;
    if (!orr_cursor_take(in, &value, sizeof value)) {
        return orr_cursor_fail(in, error, "a count of 8 bytes: the file is cut short");
    }
    if (value > (uint64_t)limit || value * smallest > (size_t)(in->end - in->at)) {
        return orr_cursor_fail(in, error, "as many entries as its count says: the file is cut short");
    }
    *count = (int)value;
    return ORR_OK;
}

// ---- text ----

// The next line that is neither a comment nor, unless requested, empty. False: the file ends.
bool orr_cursor_line(orr_cursor *in, bool empty_too, orr_cursor *line)
{
    while (in->at < in->end) {
        const uint8_t *start = in->at, *stop = memchr(start, '\n', (size_t)(in->end - start));
        stop = stop ? stop : in->end;
        in->at = stop < in->end ? stop + 1 : stop;
        in->line++;
        *line = (orr_cursor){in->name, start, stop, true, in->line};
        while (line->at < line->end && isspace(*line->at)) {
            line->at++;
        }
        while (line->end > line->at && isspace(line->end[-1])) {
            line->end--;
        }
        if (start < stop && *start == '#') {
            continue;
        }
        if (empty_too || line->at < line->end) {
            return true;
        }
    }
    return false;
}

bool orr_cursor_word(orr_cursor *line, char *word, size_t size)
{
    while (line->at < line->end && isspace(*line->at)) {
        line->at++;
    }
    size_t length = 0;
    while (line->at < line->end && !isspace(*line->at)) {
        if (length + 1 >= size) {
            return false;
        }
        word[length++] = (char)*line->at++;
    }
    word[length] = 0;
    return length > 0;
}

bool orr_cursor_number(orr_cursor *line, double *value)
{
    char word[64];
    const char *stop;
    if (!orr_cursor_word(line, word, sizeof word)) {
        return false;
    }
    *value = orr_number_parse(word, &stop);
    return *stop == 0 && isfinite(*value);
}

bool orr_cursor_whole(orr_cursor *line, uint64_t limit, uint64_t *value)
{
    double number;
    if (!orr_cursor_number(line, &number) || !(number >= 0.0) || number > (double)limit ||
        number != floor(number)) {
        return false;
    }
    *value = (uint64_t)number;
    return true;
}
