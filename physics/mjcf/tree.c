// Elements that are made of others, in the XML tree: nodes and attributes that are in no file.
#include "physics/mjcf/mjcf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

mjcf_node *mjcf_add_child(orr_arena *arena, mjcf_node *parent, const char *name, const mjcf_node *where)
{
    mjcf_node *child = orr_arena_take(arena, 1, sizeof *child), **end = &parent->children;
    if (child) {
        *child = (mjcf_node){.name = name, .file = where->file, .line = where->line, .repeat = 1};
        while (*end) {
            end = &(*end)->next;
        }
        *end = child;
    }
    return child;
}

orr_result mjcf_set_attribute(orr_arena *arena, mjcf_node *node, const char *name, const char *value,
                              orr_error *error)
{
    for (mjcf_attribute *given = node->attributes; given; given = given->next) {
        if (strcmp(given->name, name) == 0) {
            given->value = value;
            return ORR_OK;
        }
    }
    mjcf_attribute *a = orr_arena_take(arena, 1, sizeof *a);
    if (!a) {
        return spec_memory_fail(error);
    }
    *a = (mjcf_attribute){name, value, node->attributes};
    node->attributes = a;
    return ORR_OK;
}

orr_result mjcf_print_attribute(orr_arena *arena, mjcf_node *node, const char *name, orr_error *error,
                                const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = orr_arena_take(arena, (size_t)length + 1, 1);
    if (!text) {
        return spec_memory_fail(error);
    }
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return mjcf_set_attribute(arena, node, name, text, error);
}
