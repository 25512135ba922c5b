#include "engine/mesh/mesh_text.h"

#include "engine/core/number.h"

#include <string.h>
#include <strings.h>

orr_mesh_text orr_mesh_text_of(const orr_bytes *bytes)
{
    char *data = (char *)bytes->data;
    const bool feeds = memchr(data, '\n', bytes->size) != NULL;
    for (size_t i = 0; i < bytes->size && !feeds; i++) {
        data[i] = data[i] == '\r' ? '\n' : data[i];
    }
    return (orr_mesh_text){data, data + bytes->size, 1};
}

// Past blanks; whether something of the line is left.
static bool skip_blanks(orr_mesh_text *text)
{
    for (; text->at < text->end && *text->at != '\n'; text->at++) {
        if (*text->at == '\\') {
            const char *next = text->at + 1 + (text->at[1] == '\r');
            if (*next != '\n') {
                return true;
            }
            text->at = next;
            text->line++;
        } else if ((unsigned char)*text->at > ' ') {
            return true;
        }
    }
    return false;
}

bool orr_mesh_text_word(orr_mesh_text *text, const char **word, size_t *length)
{
    if (!skip_blanks(text)) {
        return false;
    }
    *word = text->at++;
    while (text->at < text->end && (unsigned char)*text->at > ' ') {
        text->at++;
    }
    *length = (size_t)(text->at - *word);
    return true;
}

bool orr_mesh_text_number(orr_mesh_text *text, double *value)
{
    if (!skip_blanks(text)) {
        return false;
    }
    const char *end;
    *value = orr_number_parse(text->at, &end);
    bool good = end > text->at && (unsigned char)*end <= ' ';
    text->at = good ? end : text->at;
    return good;
}

int orr_mesh_text_floats(orr_mesh_text *text, float *values, int count)
{
    int got = 0;
    for (double value; got < count && orr_mesh_text_number(text, &value); got++) {
        values[got] = (float)value;
    }
    return got;
}

void orr_mesh_text_rest(orr_mesh_text *text, const char **rest, size_t *length)
{
    *rest = text->at;
    *length = 0;
    if (!skip_blanks(text)) {
        return;
    }
    *rest = text->at;
    const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
    text->at = end ? end : text->end;
    *length = (size_t)(text->at - *rest);
    while (*length > 0 && (unsigned char)(*rest)[*length - 1] <= ' ') {
        --*length;
    }
}

bool orr_mesh_text_next_line(orr_mesh_text *text)
{
    const char *end = text->at < text->end ? memchr(text->at, '\n', (size_t)(text->end - text->at)) : NULL;
    text->at = end ? end + 1 : text->end;
    text->line += end != NULL;
    return text->at < text->end;
}

bool orr_mesh_text_any_number(orr_mesh_text *text, double *value)
{
    while (!orr_mesh_text_number(text, value)) {
        bool blank = text->at == text->end || *text->at == '\n';
        if (!blank || !orr_mesh_text_next_line(text)) {
            return false;
        }
    }
    return true;
}

bool orr_mesh_text_any_word(orr_mesh_text *text, const char **word, size_t *length)
{
    while (!orr_mesh_text_word(text, word, length)) {
        if (!orr_mesh_text_next_line(text)) {
            return false;
        }
    }
    return true;
}

bool orr_mesh_text_is(const char *word, size_t length, const char *expected)
{
    return length == strlen(expected) && strncasecmp(word, expected, length) == 0;
}
