// Attributes into the members of a struct, by the tables of mjcf/schema.c.
#include "engine/core/number.h"
#include "physics/mjcf/mjcf.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The next number of a list, or false at its end; *bad: there is something else. infinite: it may be that.
static bool next_number(const char **text, bool infinite, double *value, bool *bad)
{
    while (**text && strchr(" \t\r\n", **text)) {
        (*text)++;
    }
    if (!**text) {
        return false;
    }
    const char *end;
    *value = orr_number_parse(*text, &end);
    *bad =
        end == *text || (*end && !strchr(" \t\r\n", *end)) || (infinite ? isnan(*value) : !isfinite(*value));
    *text = end;
    return !*bad;
}

static orr_result expected_numbers(const mjcf_node *node, const char *name, int min, int max,
                                   orr_error *error)
{
    if (min == max) {
        return mjcf_fail(node, error, "%s: expected %d number%s", name, min, min == 1 ? "" : "s");
    }
    return max == SPEC_NUMBERS_MAX ? mjcf_fail(node, error, "%s: expected finite numbers", name)
                                   : mjcf_fail(node, error, "%s: expected %d to %d numbers", name, min, max);
}

static orr_result read_numbers(const mjcf_node *node, const char *name, int min, int max, bool infinite,
                               double *values, int *count, orr_error *error)
{
    const char *text = mjcf_find(node, name);
    *count = 0;
    if (!text) {
        return ORR_OK;
    }
    double value;
    bool bad = false;
    while (next_number(&text, infinite, &value, &bad)) {
        if (*count == max) {
            return expected_numbers(node, name, min, max, error);
        }
        values[(*count)++] = value;
    }
    return bad || *count < min ? expected_numbers(node, name, min, max, error) : ORR_OK;
}

orr_result mjcf_read_numbers(const mjcf_node *node, const char *name, int min, int max, double *values,
                             int *count, orr_error *error)
{
    return read_numbers(node, name, min, max, false, values, count, error);
}

static orr_result read_list(const mjcf_node *node, const mjcf_member *member, spec_numbers *list,
                            orr_spec *spec, orr_error *error)
{
    const char *text = mjcf_find(node, member->name);
    size_t length = strlen(text), capacity = length / 2 + 1; // each number takes at least two characters
    list->count = 0;
    list->values =
        capacity < SPEC_NUMBERS_MAX ? orr_arena_take(&spec->arena, capacity, sizeof(double)) : NULL;
    return list->values ? mjcf_read_numbers(node, member->name, member->min, (int)capacity, list->values,
                                            &list->count, error)
                        : spec_memory_fail(error);
}

orr_result mjcf_read_keyword(const mjcf_node *node, const char *name, const mjcf_key *keys, const char *text,
                             int32_t *value, orr_error *error)
{
    char choices[256] = "";
    for (const mjcf_key *key = keys; key->name; key++) {
        if (strcmp(key->name, text) == 0) {
            *value = key->value;
            return ORR_OK;
        }
        strncat(choices, " ", sizeof choices - strlen(choices) - 1);
        strncat(choices, key->name, sizeof choices - strlen(choices) - 1);
    }
    return mjcf_fail(node, error, "%s: '%.64s' is unknown or unsupported: expected one of%s", name, text,
                     choices);
}

static orr_result read_member(const mjcf_node *node, const mjcf_member *member, const char *text,
                              char *target, orr_spec *spec, orr_error *error)
{
    double values[16];
    int count = 0;
    switch (member->kind) {
    case MJCF_TEXT:
        *(const char **)(void *)target = text[0] ? text : NULL; // an empty name is none, as in MuJoCo
        return ORR_OK;
    case MJCF_KEYWORD:
        return mjcf_read_keyword(node, member->name, member->keys, text, (int32_t *)(void *)target, error);
    case MJCF_NUMBERS:
        return read_list(node, member, (spec_numbers *)(void *)target, spec, error);
    case MJCF_NO_EFFECT:
        return ORR_OK;
    case MJCF_UNSUPPORTED:
        return mjcf_fail(node, error, "%s: this attribute is not supported", member->name);
    case MJCF_REAL:
    case MJCF_RANGE:
    case MJCF_SINGLE:
    case MJCF_INTEGER:
        break;
    }
    ORR_TRY(read_numbers(node, member->name, member->min, member->max, member->kind == MJCF_RANGE, values,
                         &count, error));
    for (int i = 0; i < count; i++) {
        if (member->kind == MJCF_REAL || member->kind == MJCF_RANGE) {
            ((double *)(void *)target)[i] = values[i];
        } else if (member->kind == MJCF_SINGLE) {
            if (fabs(values[i]) > (double)FLT_MAX) {
                return mjcf_fail(node, error, "%s: expected a number in the range of float", member->name);
            }
            ((float *)(void *)target)[i] = (float)values[i];
        } else if (fabs(values[i]) > INT32_MAX || values[i] != rint(values[i])) {
            return mjcf_fail(node, error, "%s: expected an integer", member->name);
        } else {
            ((int32_t *)(void *)target)[i] = (int32_t)values[i];
        }
    }
    return ORR_OK;
}

static bool listed(const char *const *names, const char *name)
{
    for (; names && *names; names++) {
        if (strcmp(*names, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_nameless(const mjcf_node *node)
{
    static const char *const names[] = {
        "compiler", "lengthrange", "option", "size",       "statistic", "global",    "quality", "headlight",
        "map",      "scale",       "rgba",   "inertial",   "element",   "pulley",    "attach",  "replicate",
        "default",  "worldbody",   "edge",   "elasticity", "pin",       "composite", NULL};
    return listed(names, node->name);
}

// Elements that have no attributes but name and class.
static bool has_class(const mjcf_node *node)
{
    static const char *const names[] = {
        "mesh",     "material",    "texture",  "joint",    "geom",        "site",     "camera",
        "light",    "pair",        "connect",  "weld",     "tendon",      "spatial",  "fixed",
        "general",  "motor",       "position", "velocity", "damper",      "cylinder", "muscle",
        "adhesion", "intvelocity", "pid",      "dcmotor",  "orientation", "default",  NULL};
    return listed(names, node->name);
}

orr_result mjcf_read(const mjcf_node *node, const mjcf_member *members, const char *const *own, void *target,
                     orr_spec *spec, orr_error *error)
{
    for (const mjcf_attribute *a = node->attributes; a; a = a->next) {
        bool head = strcmp(a->name, "name") == 0 ? !is_nameless(node)
                                                 : strcmp(a->name, "class") == 0 && has_class(node);
        if (head || listed(own, a->name)) {
            continue;
        }
        const mjcf_member *member = members;
        while (member->name && strcmp(member->name, a->name) != 0) {
            member++;
        }
        if (!member->name) {
            return mjcf_fail(node, error, "unknown attribute '%.64s'", a->name);
        }
        ORR_TRY(read_member(node, member, a->value, (char *)target + member->offset, spec, error));
    }
    return ORR_OK;
}
