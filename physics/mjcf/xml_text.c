#include "physics/mjcf/xml_text.h"

#include <stdint.h>
#include <string.h>

typedef struct copying {
    const char *text;
    size_t size, at; // at: what is read next
    char *copy;
    size_t used;
    bool tag;
    char quote; // that ends the value which is being read; 0: none
} copying;

static bool begins(const copying *c, const char *with)
{
    size_t length = strlen(with);
    return c->size - c->at >= length && memcmp(c->text + c->at, with, length) == 0;
}

// The end of what the next `ending` closes; 0: nothing does.
static size_t find_end(const copying *c, size_t from, const char *ending)
{
    size_t length = strlen(ending);
    for (size_t i = from; i + length <= c->size; i++) {
        if (memcmp(c->text + i, ending, length) == 0) {
            return i + length;
        }
    }
    return 0;
}

// <!DOCTYPE ...>, which may have declarations inside.
static size_t find_declaration_end(const copying *c)
{
    int open = 0;
    for (size_t i = c->at; i < c->size; i++) {
        open += (c->text[i] == '<') - (c->text[i] == '>');
        if (open == 0) {
            return i + 1;
        }
    }
    return 0;
}

static void put(copying *c, const char *text)
{
    size_t length = strlen(text);
    memcpy(c->copy + c->used, text, length);
    c->used += length;
}

// As it is, or blank. What has no end is the parser's to refuse.
static void put_until(copying *c, size_t end, bool blank)
{
    end = end > c->at ? end : c->size;
    for (; c->at < end; c->at++) {
        c->copy[c->used++] = (char)(blank && c->text[c->at] != '\n' ? ' ' : c->text[c->at]);
    }
}

// Comments, CDATA sections, instructions and declarations.
static bool put_section(copying *c)
{
    size_t end = 0;
    bool blank = true;
    if (begins(c, "<!--")) {
        end = find_end(c, c->at + 4, "-->");
    } else if (begins(c, "<![CDATA[")) {
        end = find_end(c, c->at, "]]>");
        blank = false;
    } else if (begins(c, "<?")) {
        end = find_end(c, c->at, "?>");
    } else if (begins(c, "<!")) {
        end = find_declaration_end(c);
    } else {
        return false;
    }
    put_until(c, end, blank && end > 0);
    return true;
}

// Does an entity begin here that XML knows? All others are the characters that they are written with.
static bool begins_entity(const copying *c)
{
    static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (begins(c, names[i])) {
            return true;
        }
    }
    bool hexadecimal = begins(c, "&#x");
    const char *digits = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
    size_t first = c->at + (hexadecimal ? 3 : 2), i = first;
    while (begins(c, "&#") && i < c->size && c->text[i] && strchr(digits, c->text[i])) {
        i++;
    }
    return i > first && i < c->size && c->text[i] == ';';
}

static void put_character(copying *c)
{
    char next = c->text[c->at];
    bool ended = c->quote && next == c->quote;
    if ((c->quote || !c->tag) && next == '&' && !begins_entity(c)) {
        put(c, "&amp;");
    } else if (c->quote && next == '<') {
        put(c, "&lt;");
    } else {
        c->copy[c->used++] = next;
    }
    c->at++;
    if (ended && c->at < c->size && !strchr(" \t\r\n>/?", c->text[c->at])) {
        put(c, " ");
    }
    if (c->quote) {
        c->quote = ended ? 0 : c->quote;
    } else if (c->tag) {
        c->quote = next == '"' || next == '\'' ? next : 0;
        c->tag = next != '>';
    } else {
        c->tag = next == '<';
    }
}

size_t mjcf_strict_text(const char *text, size_t size, char *copy)
{
    copying c = {.text = text, .size = size, .copy = copy};
    while (c.at < c.size) {
        if (c.tag || !put_section(&c)) {
            put_character(&c);
        }
    }
    return c.used;
}

bool mjcf_is_utf8(const char *text, size_t size)
{
    size_t i = 0;
    while (i < size) {
        uint8_t first = (uint8_t)text[i++];
        int more = first < 0x80   ? 0
                   : first < 0xc2 ? -1
                   : first < 0xe0 ? 1
                   : first < 0xf0 ? 2
                   : first < 0xf5 ? 3
                                  : -1;
        if (more < 0 || size - i < (size_t)more) {
            return false;
        }
        for (; more > 0; more--) {
            if (((uint8_t)text[i++] & 0xc0) != 0x80) {
                return false;
            }
        }
    }
    return true;
}
