// One run of orrery render: what was asked for, what is made for it, and what it reports.
#pragma once

#include "samples/orrery/camera_sequence.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/look_options.h"
#include "samples/orrery/render/picture_queue.h"
#include "samples/orrery/render/surface_pictures.h"

typedef struct render_request {
    common_options common;
    const char *scene;
    const char *path;
    const char *depth_path, *normals_path, *flow_path, *segmentation_path; // NULL: none
    camera_request cameras;
    look_options look;
    bool transparent, contacts, keep_partial, continues;
    double frames_per_second; // 0: not given
    int reference;            // samples per pixel; 0: the picture is drawn, not traced
} render_request;

// Everything that is made for one render, freed by render_close in any state.
typedef struct render_job {
    const render_request *request;
    camera_sequence cameras;
    orr_output *colour, *depth;
    surface_pictures surfaces;
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    robot_drive drive;
    orr_frame *frame;
    picture_queue *queue;
    int64_t *wanted; // indices of the pictures that are drawn, wanted_count; the others are there already
    int64_t wanted_count;
    orr_reference_info traced; // of the last picture
    double seconds;
} render_job;

// Opens the files, loads the scene, and places the cameras. What is cheap to refuse is refused first.
orr_result render_open(render_job *job, orr_error *error);
// Draws all pictures that are not there yet, and writes them.
orr_result render_draw(render_job *job, orr_error *error);
// Says on stderr, and with --json on stdout, what was drawn. Returns the exit code.
int render_report(const render_job *job);
void render_close(render_job *job);
