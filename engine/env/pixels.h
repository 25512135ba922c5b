// Pictures as a part of observations: what a task file's "pixels" says, and the eyes of environments, which
// draw them. They follow the numbers of the terms: of each camera height x width x 3, as displayed, 0 .. 1.
#pragma once

#include "engine/core/json.h"

enum { ENV_CAMERAS = 8 };

// Of a task file; no cameras at all: none is observed.
typedef struct env_pixels {
    const char *camera[ENV_CAMERAS]; // of the JSON; NULL: the first
    int camera_count;
    int width, height; // of a picture [px]
    int samples;       // pixels that are drawn for one, along each side; it is their mean
} env_pixels;

orr_result env_pixels_read(const orr_json *root, env_pixels *pixels, orr_error *error);
int env_pixels_numbers(const env_pixels *pixels); // of an observation

struct orr_env;
// The eyes of environments whose task observes pixels.
orr_result env_eyes_create(struct orr_env *env, orr_error *error);
void env_eyes_destroy(struct orr_env *env);
// An episode begins in the environments whose byte of `begins` is set: they look as the task draws it.
orr_result env_eyes_begin(const struct orr_env *env, orr_error *error);
// Observes the pixels of the environments whose byte of the mask is not 0, as they are now.
orr_result env_eyes_see(struct orr_env *env, const uint8_t *mask, orr_error *error);
