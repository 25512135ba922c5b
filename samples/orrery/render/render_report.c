#include "engine/core/memory.h"
#include "samples/orrery/render/render_job.h"

#include <cjson/cJSON.h>
#include <stdio.h>

static cJSON *list_files(const orr_output *output, int64_t count)
{
    cJSON *files = cJSON_CreateArray();
    for (int64_t i = 0; i < count; i++) {
        char *name;
        if (orr_output_name(output, i, &name, NULL) != ORR_OK) {
            break;
        }
        cJSON_AddItemToArray(files, cJSON_CreateString(name));
        orr_free(name);
        if (orr_output_in_order(output)) {
            break; // all frames are in one file
        }
    }
    return files;
}

static int print_json(const render_job *job)
{
    int64_t count = job->cameras.count;
    orr_camera first = camera_sequence_at(&job->cameras, 0);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToObject(json, "files", list_files(job->colour, count));
    if (job->depth) {
        cJSON_AddItemToObject(json, "depth_files", list_files(job->depth, count));
    }
    if (job->surfaces.normals) {
        cJSON_AddItemToObject(json, "normals_files", list_files(job->surfaces.normals, count));
    }
    if (job->surfaces.segmentation) {
        cJSON_AddItemToObject(json, "segmentation_files", list_files(job->surfaces.segmentation, count));
    }
    if (job->surfaces.flow) {
        cJSON_AddItemToObject(json, "flow_files", list_files(job->surfaces.flow, count));
    }
    cJSON_AddNumberToObject(json, "frames", (double)count);
    cJSON_AddNumberToObject(json, "drawn", (double)job->wanted_count); // the others were there
    cJSON_AddNumberToObject(json, "seconds", job->seconds);
    cJSON_AddNumberToObject(json, "frames_per_second", (double)job->wanted_count / job->seconds);
    cJSON_AddItemToObject(json, "size", cJSON_CreateIntArray((int[2]){first.width, first.height}, 2));
    cJSON_AddStringToObject(json, "device", orr_engine_describe(job->engine));
    return command_print_json(json);
}

static void report_traced(const render_job *job)
{
    const orr_reference_info *traced = &job->traced;
    fprintf(stderr, "%s: %lld of %d samples per pixel, standard error %.2g, %.2f million rays per second\n",
            job->request->path, (long long)traced->samples, job->request->reference, traced->error,
            (double)traced->rays * 1e-6 * (double)job->wanted_count / job->seconds);
    if (traced->left_out > 0) {
        fprintf(stderr, "%s: %lld of %lld triangles left out: no area, or not finite\n", job->request->scene,
                (long long)traced->left_out, (long long)traced->triangles);
    }
}

// What a lens that distorts does not bend; NULL: it bends all.
static const char *drawn_by_pinhole(const render_job *job)
{
    const bool fisheye = job->cameras.keys[0].model == ORR_CAMERA_FISHEYE;
    bool solid = false, clouds = false;
    for (int i = 0; i < orr_scene_layer_count(job->scene); i++) {
        orr_layer_info info;
        if (orr_scene_layer_info(job->scene, orr_scene_layer(job->scene, i), &info, NULL) == ORR_OK) {
            solid = solid || info.kind == ORR_LAYER_MESH || info.kind == ORR_LAYER_ROBOT;
            clouds = clouds || info.kind == ORR_LAYER_SPLATS;
        }
    }
    if (job->request->reference) {
        return fisheye ? "path-traced pictures are not those of a fisheye" : NULL;
    }
    if (solid) {
        return "where meshes or robots are, all is drawn through a pinhole; --reference 64 bends them";
    }
    if (clouds && orr_engine_device(job->engine) != ORR_DEVICE_CPU) {
        return "this device draws splats through a pinhole; --device cpu bends them";
    }
    const render_request *r = job->request;
    return clouds && (r->normals_path || r->flow_path || r->segmentation_path)
               ? "normals, flow and segmentation are those of a pinhole"
               : NULL;
}

int render_report(const render_job *job)
{
    const render_request *request = job->request;
    const int64_t count = job->wanted_count;
    fprintf(stderr, "%s: %lld frame%s in %.2f s, %.1f per second (%s)\n", request->path, (long long)count,
            count == 1 ? "" : "s", job->seconds, (double)count / job->seconds,
            orr_engine_describe(job->engine));
    if (request->reference && count > 0) {
        report_traced(job);
    }
    const char *why = job->cameras.distorted ? drawn_by_pinhole(job) : NULL;
    if (why) {
        fprintf(stderr, "orrery: warning: %s: lens distortion is left out: %s\n", request->cameras.file, why);
    }
    return request->common.json ? print_json(job) : 0;
}
