#include "engine/core/json.h"

#include "engine/core/memory.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

orr_result orr_json_expected(const orr_json *object, const char *key, orr_error *error, const char *format,
                             ...)
{
    char expected[256];
    va_list args;
    va_start(args, format);
    vsnprintf(expected, sizeof expected, format, args);
    va_end(args);
    const char *dot = object->path[0] && key ? "." : "";
    const char *colon = object->path[0] || key ? ": " : "";
    return orr_fail(error, object->code, "%s: %s%s%.60s%sexpected %s", object->file, object->path, dot,
                    key ? key : "", colon, expected);
}

static orr_result syntax_error(const char *text, const char *end, const orr_json *root, orr_error *error)
{
    int line = 1, column = 1;
    for (const char *c = text; c < end && *c; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    return orr_fail(error, root->code, "%s: line %d, column %d: expected JSON", root->file, line, column);
}

// Comments, // to the end of the line and /* to */, become spaces: lines and columns stay where they are.
static void blank_comments(char *text)
{
    bool quoted = false;
    for (char *c = text; *c; c++) {
        if (quoted) {
            quoted = *c != '"';
            c += *c == '\\' && c[1]; // what is escaped ends no text
        } else if (*c == '"') {
            quoted = true;
        } else if (*c == '/' && (c[1] == '/' || c[1] == '*')) {
            bool line = c[1] == '/';
            char *end = line ? c + strcspn(c, "\n") : strstr(c + 2, "*/");
            if (!end) {
                return; // a comment that does not end is no JSON
            }
            end += line ? 0 : 2;
            for (; c < end; c++) {
                *c = *c == '\n' ? '\n' : ' ';
            }
            c--;
        }
    }
}

orr_result orr_json_parse(const char *text, const char *file, orr_code code, orr_json *root, orr_error *error)
{
    *root = (orr_json){.file = file, .code = code};
    size_t size = strlen(text) + 1;
    char *plain;
    ORR_ALLOC(plain, size, file, error);
    memcpy(plain, text, size);
    blank_comments(plain);
    const char *end = plain;
    root->node = cJSON_ParseWithLengthOpts(plain, size, &end, true);
    orr_result result = root->node ? ORR_OK : syntax_error(plain, end, root, error);
    orr_free(plain);
    ORR_TRY(result);
    if (!cJSON_IsObject(root->node)) {
        orr_json_free(root);
        return orr_json_expected(root, NULL, error, "an object { ... }");
    }
    return ORR_OK;
}

void orr_json_free(orr_json *root)
{
    cJSON_Delete((cJSON *)root->node);
    root->node = NULL;
}

orr_result orr_json_check_keys(const orr_json *object, const char *const *keys, orr_error *error)
{
    unsigned seen = 0;
    for (const cJSON *member = object->node->child; member; member = member->next) {
        unsigned k = 0;
        while (keys[k] && strcmp(keys[k], member->string) != 0) {
            k++;
        }
        if (!keys[k]) {
            char list[200] = "";
            for (k = 0; keys[k]; k++) {
                size_t used = strlen(list);
                snprintf(list + used, sizeof list - used, "%s%s", k ? ", " : "", keys[k]);
            }
            return orr_json_expected(object, member->string, error, "one of the keys %s", list);
        }
        assert(k < 8 * sizeof seen);
        if (seen & 1u << k) {
            return orr_json_expected(object, member->string, error, "this key only once");
        }
        seen |= 1u << k;
    }
    return ORR_OK;
}

static const cJSON *find(const orr_json *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object->node, key);
}

bool orr_json_has(const orr_json *object, const char *key)
{
    return find(object, key) != NULL;
}

orr_result orr_json_require(const orr_json *object, const char *key, const char *expected, orr_error *error)
{
    return find(object, key) ? ORR_OK : orr_json_expected(object, key, error, "%s", expected);
}

// a number that a float can hold
static bool is_number(const cJSON *node)
{
    return cJSON_IsNumber(node) && isfinite((float)node->valuedouble);
}

orr_result orr_json_number(const orr_json *object, const char *key, double *value, orr_error *error)
{
    const cJSON *node = find(object, key);
    if (!node) {
        return ORR_OK;
    }
    if (!is_number(node)) {
        return orr_json_expected(object, key, error, "a number");
    }
    *value = node->valuedouble;
    return ORR_OK;
}

orr_result orr_json_whole(const orr_json *object, const char *key, const char *of, int low, int high,
                          int *value, orr_error *error)
{
    double number = *value;
    ORR_TRY(orr_json_number(object, key, &number, error));
    if (!orr_json_has(object, key)) {
        return ORR_OK;
    }
    if (!(number >= low && number <= high && number == floor(number))) {
        return orr_json_expected(object, key, error, "a whole number%s%s, %d to %d", of ? " of " : "",
                                 of ? of : "", low, high);
    }
    *value = (int)number;
    return ORR_OK;
}

orr_result orr_json_not_negative(const orr_json *object, const char *key, double *value, orr_error *error)
{
    const cJSON *node = find(object, key);
    if (!node) {
        return ORR_OK;
    }
    if (!is_number(node) || node->valuedouble < 0.0) {
        return orr_json_expected(object, key, error, "a number of at least 0");
    }
    *value = node->valuedouble;
    return ORR_OK;
}

orr_result orr_json_positive(const orr_json *object, const char *key, double *value, orr_error *error)
{
    const cJSON *node = find(object, key);
    if (!node) {
        return ORR_OK;
    }
    if (!is_number(node) || !((float)node->valuedouble > 0.0f)) {
        return orr_json_expected(object, key, error, "a number above 0");
    }
    *value = node->valuedouble;
    return ORR_OK;
}

orr_result orr_json_numbers(const orr_json *object, const char *key, int count, double *values,
                            orr_error *error)
{
    const cJSON *node = find(object, key);
    if (!node) {
        return ORR_OK;
    }
    bool good = cJSON_IsArray(node) && cJSON_GetArraySize(node) == count;
    const cJSON *element = good ? node->child : NULL;
    for (int i = 0; good && i < count; i++, element = element->next) {
        good = is_number(element);
        values[i] = element->valuedouble;
    }
    return good ? ORR_OK : orr_json_expected(object, key, error, "an array of %d numbers", count);
}

orr_result orr_json_floats(const orr_json *object, const char *key, int count, float *values,
                           orr_error *error)
{
    double exact[4] = {0.0};
    assert(count <= 4);
    ORR_TRY(orr_json_numbers(object, key, count, exact, error));
    for (int i = 0; i < count && orr_json_has(object, key); i++) {
        values[i] = (float)exact[i];
    }
    return ORR_OK;
}

orr_result orr_json_bool(const orr_json *object, const char *key, bool *value, orr_error *error)
{
    const cJSON *node = find(object, key);
    if (!node) {
        return ORR_OK;
    }
    if (!cJSON_IsBool(node)) {
        return orr_json_expected(object, key, error, "true or false");
    }
    *value = cJSON_IsTrue(node);
    return ORR_OK;
}

orr_result orr_json_string(const orr_json *object, const char *key, const char **value, orr_error *error)
{
    const cJSON *node = find(object, key);
    if (!node) {
        return ORR_OK;
    }
    if (!cJSON_IsString(node) || !node->valuestring[0]) {
        return orr_json_expected(object, key, error, "a text in quotes");
    }
    *value = node->valuestring;
    return ORR_OK;
}

// "outer.key"; what does not fit is cut
static void inner_path(const orr_json *object, const char *key, char path[sizeof object->path])
{
    size_t used = strlen(object->path);
    memcpy(path, object->path, used + 1);
    snprintf(path + used, sizeof object->path - used, "%s%.60s", used ? "." : "", key);
}

orr_result orr_json_member(const orr_json *object, const char *key, orr_json *inner, orr_error *error)
{
    *inner = (orr_json){.node = find(object, key), .file = object->file, .code = object->code};
    inner_path(object, key, inner->path);
    if (inner->node && !cJSON_IsObject(inner->node)) {
        return orr_json_expected(inner, NULL, error, "an object { ... }");
    }
    return ORR_OK;
}

orr_result orr_json_array(const orr_json *object, const char *key, const cJSON **first, int *count,
                          orr_error *error)
{
    *first = NULL;
    *count = 0;
    const cJSON *node = find(object, key);
    if (!node) {
        return ORR_OK;
    }
    if (!cJSON_IsArray(node)) {
        return orr_json_expected(object, key, error, "an array [ ... ]");
    }
    *first = node->child;
    *count = cJSON_GetArraySize(node);
    return ORR_OK;
}

orr_result orr_json_element(const orr_json *object, const char *key, int index, const cJSON *node,
                            orr_json *element, orr_error *error)
{
    *element = (orr_json){.node = node, .file = object->file, .code = object->code};
    inner_path(object, key, element->path);
    size_t used = strlen(element->path);
    snprintf(element->path + used, sizeof element->path - used, "[%d]", index);
    return cJSON_IsObject(node) ? ORR_OK : orr_json_expected(element, NULL, error, "an object { ... }");
}
