// JSON that people write: every mistake gets one line with the file, the path in it (`layers[2].scale`) and
// what was expected.
#pragma once

#include "engine/core/result.h"

#include <cjson/cJSON.h>

// An object in a JSON file, and where in the file it is.
typedef struct orr_json {
    const cJSON *node;
    const char *file; // borrowed, for messages
    orr_code code;    // of every error about it
    char path[128];   // "layers[2].camera"; empty at the root
} orr_json;

// `text` ends with a zero byte and holds one object. A syntax error names line and column. Free with
// orr_json_free; on failure there is nothing to free.
orr_result orr_json_parse(const char *text, const char *file, orr_code code, orr_json *root,
                          orr_error *error);
void orr_json_free(orr_json *root);

// Fails on a key that is not among `keys` (ends with NULL) or occurs there twice.
orr_result orr_json_check_keys(const orr_json *object, const char *const *keys, orr_error *error);
bool orr_json_has(const orr_json *object, const char *key);

// Members. When the key is absent the value stays as it is; use orr_json_require for those that must be
// there.
orr_result orr_json_require(const orr_json *object, const char *key, const char *expected, orr_error *error);
orr_result orr_json_number(const orr_json *object, const char *key, double *value, orr_error *error);
// A whole number from low to high; `of` (nullable) says of what, for the message.
orr_result orr_json_whole(const orr_json *object, const char *key, const char *of, int low, int high,
                          int *value, orr_error *error);
orr_result orr_json_not_negative(const orr_json *object, const char *key, double *value, orr_error *error);
orr_result orr_json_positive(const orr_json *object, const char *key, double *value, orr_error *error);
orr_result orr_json_numbers(const orr_json *object, const char *key, int count, double *values,
                            orr_error *error);
// The same, rounded; at most 4.
orr_result orr_json_floats(const orr_json *object, const char *key, int count, float *values,
                           orr_error *error);
orr_result orr_json_bool(const orr_json *object, const char *key, bool *value, orr_error *error);
orr_result orr_json_string(const orr_json *object, const char *key, const char **value, orr_error *error);
// An object inside; absent: inner->node is NULL.
orr_result orr_json_member(const orr_json *object, const char *key, orr_json *inner, orr_error *error);
// The first element of an array of objects and how many there are; absent: 0. Walk with ->next.
orr_result orr_json_array(const orr_json *object, const char *key, const cJSON **first, int *count,
                          orr_error *error);
orr_result orr_json_element(const orr_json *object, const char *key, int index, const cJSON *node,
                            orr_json *element, orr_error *error);

// "file: path.key: expected ..."; key NULL: about the object itself.
orr_result orr_json_expected(const orr_json *object, const char *key, orr_error *error, const char *format,
                             ...) __attribute__((format(printf, 4, 5)));
