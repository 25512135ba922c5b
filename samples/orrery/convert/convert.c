// orrery convert: splat clouds from one file format to another; meshes likewise (convert_mesh.c), models to
// meshes (convert_model.c), colliders (convert_collider.c).
#include "engine/core/file.h"
#include "engine/core/profile.h"
#include "neural/ingp/ingp.h"
#include "physics/grid/collider_file.h"
#include "render/formats/splat_formats.h"
#include "render/mesh.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/convert/convert_collider.h"
#include "samples/orrery/convert/convert_mesh.h"
#include "samples/orrery/convert/convert_model.h"
#include "samples/orrery/interrupt.h"

#include <cjson/cJSON.h>
#include <stdio.h>

typedef struct conversion {
    const char *from, *to;
    int64_t count;
    int64_t dropped;
    int sh_degree;
    char lost[508]; // what the format written does not keep; "": nothing
    double read_seconds, write_seconds;
    float box[6]; // of the region; 0: none
    double falloff;
    bool outside;
} conversion;

static bool has_region(const conversion *c)
{
    return c->box[3] > 0.0f;
}

static orr_result crop(const conversion *c, orr_splats *splats, orr_error *error)
{
    const orr_region region = {.centre = {c->box[0], c->box[1], c->box[2]},
                               .size = {c->box[3], c->box[4], c->box[5]},
                               .falloff = (float)c->falloff,
                               .outside = c->outside};
    orr_error why = {0};
    return orr_splats_crop(splats, &region, &why) == ORR_OK
               ? ORR_OK
               : orr_fail(error, (orr_code)why.code, "%s: %s", c->from, why.message);
}

static double seconds_since(uint64_t start)
{
    return (double)(orr_clock_nanoseconds() - start) * 1e-9;
}

static orr_result convert(conversion *c, orr_error *error)
{
    const orr_splat_format *format = orr_splat_format_to_write(c->to);
    if (!format) {
        return orr_fail(
            error, ORR_CODE_FILE_TYPE,
            "%s: expected a name that ends in .ply, .compressed.ply, .splat, .sog or .spz (.v3.spz for "
            "version 3)",
            c->to);
    }
    ORR_TRY(orr_file_try(c->to, error));
    uint64_t start = orr_clock_nanoseconds();
    orr_splats *splats;
    ORR_TRY(orr_splats_load(c->from, &splats, error));
    c->read_seconds = seconds_since(start);
    orr_result result = has_region(c) ? crop(c, splats, error) : ORR_OK;
    if (result != ORR_OK) {
        orr_splats_destroy(splats);
        return result;
    }
    orr_splats_view view = orr_splats_data(splats);
    c->count = view.count;
    c->dropped = view.dropped;
    c->sh_degree = view.sh_degree;
    if (view.warning) {
        orr_log_line(command_log(), ORR_LOG_WARNING, ORR_CODE_IGNORED, "%s: %s", c->from, view.warning);
    }
    if (orr_splats_losses(&view, format, c->lost, sizeof c->lost)) {
        fprintf(stderr, "%s: lossy: %s\n", c->to, c->lost);
    }
    interrupt_begin(); // Ctrl-C waits for the file to be whole
    start = orr_clock_nanoseconds();
    result = orr_splats_save(splats, c->to, error);
    c->write_seconds = seconds_since(start);
    orr_splats_destroy(splats);
    return result;
}

static int print_json(const conversion *c)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "file", c->to);
    cJSON_AddNumberToObject(json, "splats", (double)c->count);
    cJSON_AddNumberToObject(json, "dropped", (double)c->dropped);
    cJSON_AddNumberToObject(json, "sh_degree", c->sh_degree);
    cJSON_AddStringToObject(json, "lost", c->lost);
    cJSON_AddNumberToObject(json, "read_seconds", c->read_seconds);
    cJSON_AddNumberToObject(json, "write_seconds", c->write_seconds);
    return command_print_json(json);
}

int command_convert(int argc, char **argv)
{
    common_options common = {0};
    model_conversion of_model = {0};
    collider_conversion collider = {0};
    conversion c = {0};
    const option list[] = {
        {.name = "--cell",
         .kind = OPTION_REAL,
         .value = &collider.desc.cell,
         .expect = "L",
         .help = "colliders: edge length of a cell (default: 1/256 of the longest side)",
         .low = 1e-9,
         .high = 1e9},
        {.name = "--free",
         .kind = OPTION_TEXT,
         .value = &collider.free_side,
         .expect = "SIDE",
         .help = "colliders of clouds and radiance fields: the side of the surface that is free space, "
                 "outside or inside (default auto: inside for a room)"},
        {.name = "--opacity",
         .kind = OPTION_REAL,
         .value = &collider.desc.opacity,
         .expect = "A",
         .help = "likewise: opacity at which the surface lies (default 0.3, fields 0.5)",
         .low = 1e-3,
         .high = 0.999},
        {.name = "--gap",
         .kind = OPTION_REAL,
         .value = &collider.desc.gap,
         .expect = "L",
         .help = "likewise: gaps up to this width are closed (default: 4 cells)",
         .low = 1e-9,
         .high = 1e9},
        {.name = "--island",
         .kind = OPTION_REAL,
         .value = &collider.desc.island,
         .expect = "S",
         .help = "likewise: pieces smaller than this fraction of the largest are left out (default 0.005)",
         .low = 1e-9,
         .high = 0.999},
        {.name = "--resolution",
         .kind = OPTION_INT,
         .value = &of_model.resolution,
         .expect = "N",
         .help = "fields: number of cells along each side (default 256)",
         .low = 2,
         .high = 2048},
        {.name = "--threshold",
         .kind = OPTION_REAL,
         .value = &of_model.threshold,
         .expect = "D",
         .help = "fields with a density: density at which the surface lies (default: depends on the field)",
         .low = 0.0,
         .high = 1e6},
        {.name = "--region",
         .kind = OPTION_BOX,
         .value = c.box,
         .expect = "BOX",
         .help = "clouds: keep only the splats in the box X,Y,Z,LX,LY,LZ: its centre and the lengths of its "
                 "edges"},
        {.name = "--outside",
         .kind = OPTION_FLAG,
         .value = &c.outside,
         .help = "keep only the splats outside that box"},
        {.name = "--falloff",
         .kind = OPTION_REAL,
         .value = &c.falloff,
         .expect = "L",
         .help = "width of the border of the box in which each splat is divided between inside and outside "
                 "(default 0)",
         .low = 0.0,
         .high = 1e9},
    };
    const command_usage usage = {
        .name = "convert",
        .operands = "IN OUT",
        .purpose = "Converts a splat cloud or a mesh to another format, the surface of a field (.ingp) or a "
                   "collider to\n"
                   "a mesh, or a cloud, a mesh or a field to a collider.",
        .notes =
            "Clouds: reads .ply .compressed.ply .splat .spz .sog .ksplat; writes .ply .compressed.ply .splat "
            ".spz\n"
            "(version 4; .v3.spz: version 3) .sog.\n"
            "Meshes (.glb .gltf .obj .stl .ply .dae) become .ply .obj .glb; base colours at the vertices "
            "replace\n"
            "materials and textures.\n"
            "Fields become meshes (.ply .obj .glb), or .ingp .msgpack without the state of the training.\n"
            "Clouds, meshes and fields become .collider: signed distances that robots collide with. "
            "Colliders\n"
            "become meshes (.ply .obj .glb).",
        .operand_min = 2,
        .operand_max = 2,
        .options = list,
        .option_count = sizeof list / sizeof list[0],
        .common = &common,
        .common_used = COMMON_THREADS | COMMON_JSON};
    int operand_count, exit_code;
    if (!options_read(&usage, argc, argv, &operand_count, &exit_code)) {
        return exit_code;
    }
    c.from = argv[0];
    c.to = argv[1];
    orr_error error;
    if (!has_region(&c) && (c.outside || c.falloff > 0.0)) {
        return command_fail(
            orr_fail(&error, ORR_CODE_ARGUMENT, "convert: --outside, --falloff: expected --region"), &error);
    }
    if (has_region(&c) && (orr_collider_readable(c.to) || orr_collider_readable(c.from) ||
                           orr_field_model_readable(c.from) || orr_mesh_readable(c.from))) {
        return command_fail(
            orr_fail(&error, ORR_CODE_ARGUMENT, "convert: --region: %s: expected a cloud to write", c.to),
            &error);
    }
    if (orr_collider_readable(c.to) || orr_collider_readable(c.from)) {
        collider.from = c.from;
        collider.to = c.to;
        collider.threads = common.threads;
        cJSON *json = common.json ? cJSON_CreateObject() : NULL;
        orr_result converted = orr_collider_readable(c.from) ? convert_from_collider(&collider, json, &error)
                                                             : convert_to_collider(&collider, json, &error);
        if (converted != ORR_OK) {
            cJSON_Delete(json);
            return command_fail(converted, &error);
        }
        return json ? command_print_json(json) : 0;
    }
    if (orr_field_model_readable(c.from)) {
        of_model.from = c.from;
        of_model.to = c.to;
        of_model.threads = common.threads;
        of_model.resolution = of_model.resolution ? of_model.resolution : 256;
        cJSON *json = common.json ? cJSON_CreateObject() : NULL;
        orr_result converted = convert_model(&of_model, json, &error);
        if (converted != ORR_OK) {
            cJSON_Delete(json);
            return command_fail(converted, &error);
        }
        return json ? command_print_json(json) : 0;
    }
    if (of_model.resolution || of_model.threshold > 0.0) {
        return command_fail(orr_fail(&error, ORR_CODE_ARGUMENT,
                                     "convert: %s: %s: expected a field (.ingp) to convert",
                                     of_model.resolution ? "--resolution" : "--threshold", c.from),
                            &error);
    }
    if (orr_mesh_readable(c.from)) {
        cJSON *json = common.json ? cJSON_CreateObject() : NULL;
        orr_result converted = convert_mesh(c.from, c.to, json, &error);
        if (converted != ORR_OK) {
            cJSON_Delete(json);
            return command_fail(converted, &error);
        }
        return json ? command_print_json(json) : 0;
    }
    orr_result result = convert(&c, &error);
    if (result != ORR_OK) {
        return command_fail(result, &error);
    }
    fprintf(stderr, "%s: %lld splats of SH degree %d, read in %.2f s, written in %.2f s\n", c.to,
            (long long)c.count, c.sh_degree, c.read_seconds, c.write_seconds);
    return common.json ? print_json(&c) : 0;
}
