#include "physics/model/spec.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void spec_init(orr_spec *spec, const char *path)
{
    *spec = (orr_spec){
        .name = "MuJoCo Model",
        .path = path,
        .compiler = {.autolimits = 1,
                     .degree = 1,
                     .inertiafromgeom = SPEC_AUTO,
                     .inertiagrouprange = {0, 5},
                     .settotalmass = -1.0,
                     .eulerseq = "xyz"},
        .length_range = {.mode = SPEC_LENGTH_MUSCLE,
                         .useexisting = 1,
                         .accel = 20.0,
                         .timeconst = 1.0,
                         .timestep = 0.01,
                         .inttotal = 10.0,
                         .interval = 2.0,
                         .tolrange = 0.05},
        .size = {.nkey = 0,
                 .nuserdata = 0,
                 .nuser_body = -1,
                 .nuser_jnt = -1,
                 .nuser_geom = -1,
                 .nuser_site = -1,
                 .nuser_cam = -1,
                 .nuser_tendon = -1,
                 .nuser_actuator = -1,
                 .nuser_sensor = -1},
        .option = {.timestep = 0.002,
                   .impratio = 1.0,
                   .tolerance = 1e-8,
                   .ls_tolerance = 0.01,
                   .noslip_tolerance = 1e-6,
                   .ccd_tolerance = 1e-6,
                   .sleep_tolerance = 1e-3,
                   .gravity = {0.0, 0.0, -9.81},
                   .magnetic = {0.0, -0.5, 0.0},
                   .o_solref = {0.02, 1.0},
                   .o_solimp = {0.9, 0.95, 0.001, 0.5, 2.0},
                   .o_friction = {1.0, 1.0, 0.005, 0.0001, 0.0001},
                   .jacobian = ORR_JACOBIAN_AUTO,
                   .solver = ORR_SOLVER_NEWTON,
                   .iterations = 100,
                   .ls_iterations = 50,
                   .ccd_iterations = 35,
                   .sdf_iterations = 10,
                   .sdf_initpoints = 40},
        .visual = {.headlight_ambient = {0.1f, 0.1f, 0.1f},
                   .headlight_diffuse = {0.4f, 0.4f, 0.4f},
                   .headlight_specular = {0.5f, 0.5f, 0.5f},
                   .headlight_active = 1,
                   .fovy = 45.0f,
                   .azimuth = 90.0f,
                   .elevation = -45.0f,
                   .offwidth = 640,
                   .offheight = 480,
                   .znear = 0.01f,
                   .zfar = 50.0f,
                   .fogstart = 3.0f,
                   .fogend = 10.0f,
                   .haze = 0.3f,
                   .fog_rgba = {0.0f, 0.0f, 0.0f, 1.0f},
                   .haze_rgba = {1.0f, 1.0f, 1.0f, 1.0f},
                   .force_scale = 0.005f,
                   .stiffness = 100.0f,
                   .stiffnessrot = 500.0f,
                   .contactwidth = 0.3f,
                   .contactheight = 0.1f,
                   .forcewidth = 0.1f},
        .statistic = {(double)NAN, (double)NAN, (double)NAN, (double)NAN, {(double)NAN, 0.0, 0.0}},
    };
}

void spec_destroy(orr_spec *spec)
{
    for (int i = 0; i < spec->models_count; i++) {
        if (spec->models[i].spec) {
            spec_destroy(spec->models[i].spec);
            orr_free(spec->models[i].spec);
        }
    }
#define SPEC_FREE(type, list) free(spec->list);
    SPEC_LISTS(SPEC_FREE)
#undef SPEC_FREE
    orr_arena_destroy(&spec->arena);
}

void spec_set_name(orr_spec *spec, const char *name)
{
    if (name) {
        size_t length = strlen(name), capacity = sizeof spec->name - 1;
        length = length < capacity ? length : capacity;
        memcpy(spec->name, name, length);
        spec->name[length] = 0;
    }
}

void *spec_append(void **list, int *count, int *capacity, size_t size)
{
    if (*count == *capacity) {
        int grown = *capacity < 1 << 28 ? 2 * *capacity + 8 : 0;
        void *moved = grown ? realloc(*list, (size_t)grown * size) : NULL;
        if (!moved) {
            return NULL;
        }
        *list = moved;
        *capacity = grown;
    }
    void *element = (char *)*list + (size_t)(*count)++ * size;
    return memset(element, 0, size);
}

int spec_find(const void *list, int count, size_t size, const char *name)
{
    for (int i = 0; i < count && name; i++) {
        const spec_head *head = (const void *)((const char *)list + (size_t)i * size);
        if (head->name && strcmp(head->name, name) == 0) {
            return i;
        }
    }
    return -1;
}

orr_result spec_fail(const spec_head *head, orr_error *error, const char *format, ...)
{
    char what[384];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    const spec_location *at = &head->location;
    if (at->line == 0) { // of no line of a file
        return orr_fail(error, ORR_CODE_MODEL_FILE, "%s: %s", at->file, what);
    }
    return head->name ? orr_fail(error, ORR_CODE_MODEL_FILE, "%s:%d: <%.64s> '%.64s': %s", at->file, at->line,
                                 at->element, head->name, what)
                      : orr_fail(error, ORR_CODE_MODEL_FILE, "%s:%d: <%.64s>: %s", at->file, at->line,
                                 at->element, what);
}

int spec_activations(const spec_actuator *a)
{
    if (a->actdim >= 0) {
        return a->actdim;
    }
    if (a->dyntype == ORR_DYNAMICS_DCMOTOR) {
        return a->dynprm[0] > 0.0;
    }
    if (a->gaintype == ORR_GAIN_SO3) {
        return a->dyntype == ORR_DYNAMICS_NONE ? 0 : spec_controls(a);
    }
    return a->dyntype == ORR_DYNAMICS_PID ? (a->dynprm[1] > 0.0) + (a->gainprm[0] != 0.0)
                                          : a->dyntype != ORR_DYNAMICS_NONE;
}

int spec_controls(const spec_actuator *a)
{
    if (a->gaintype == ORR_GAIN_SO3) {
        return a->input == ORR_CHART_QUATERNION ? 4 : 3;
    }
    return a->gaintype == ORR_GAIN_PID ? (a->inputs & 1) + (a->inputs >> 1 & 1) + (a->inputs >> 2 & 1) : 1;
}

int spec_outputs(const spec_actuator *a)
{
    return a->gaintype == ORR_GAIN_SO3 ? 3 : 1;
}

int spec_delayed(const spec_actuator *a)
{
    return a->delay != 0.0 ? a->nsample * spec_controls(a) : 0;
}

void spec_note(orr_spec *spec, const char *file, int line, const char *format, ...)
{
    orr_model_unused *unused = &spec->unused;
    if (unused->count++ > 0) {
        return;
    }
    char what[160];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(unused->first, sizeof unused->first, "%.256s:%d: %s", file, line, what);
}

orr_result spec_memory_fail(orr_error *error)
{
    return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a model");
}
