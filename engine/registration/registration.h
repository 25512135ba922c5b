// A registration at work: what its steps hand to each other.
#pragma once

#include "engine/core/folder.h"
#include "engine/core/jobs.h"
#include "neural/capture/colmap_points.h"
#include "neural/capture/photo_list.h"

struct orr_registration {
    orr_engine *engine;
    orr_registration_desc desc; // with defaults filled in
    orr_registration_info info;

    char *work;      // a hidden folder beside the output, removed at the end
    char *result;    // in it: what becomes the output
    char *folder;    // of the photos
    char *masks;     // of their masks; NULL: none is known
    orr_names names; // of the photos that can be opened, in `folder`
    bool same_size;  // all of them
    bool in_order;   // neighbours are compared
    bool video;

    orr_photo_list list; // those with a pose, first as COLMAP has them, then in the capture's world
    orr_colmap_points points;
    double unit_scale; // of the capture's world to the unit cube, about 0.5

    char **left_out; // left_out_count
    int left_out_count, left_out_capacity;
};

// Text made by a format, as snprintf; free with orr_free.
orr_result orr_registration_text(char **text, orr_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// `done` of `total` parts of a stage; ORR_ERROR_INTERRUPTED when the program stops the work.
orr_result orr_registration_progress(const orr_registration *r, const char *stage, int64_t done,
                                     int64_t total, orr_error *error);
// Notes a photo that gets no pose. prefix: before its name.
orr_result orr_registration_leave_out(orr_registration *r, const char *prefix, const char *name,
                                      orr_error *error);

// ---- the steps, in order ----

// photos.c: finds the photos of a folder and their masks.
orr_result orr_registration_find_photos(orr_registration *r, const char *folder, orr_error *error);
// The mask of a photo, height x width: 0 not to be learned from; *mask NULL: it has none.
orr_result orr_registration_mask(const orr_registration *r, const char *name, int width, int height,
                                 uint8_t **mask, orr_error *error);
// frames.c: chooses frames of a video, and writes them as photos.
orr_result orr_registration_take_frames(orr_registration *r, orr_error *error);
// colmap_steps.c: whether COLMAP is there, and its work: list and points.
orr_result orr_registration_find_colmap(orr_error *error);
orr_result orr_registration_run_colmap(orr_registration *r, orr_error *error);
// Reads points beside the cameras of a model, where there are any.
orr_result orr_registration_read_points(orr_registration *r, const char *model, bool text, orr_error *error);
// upright.c: the capture's world.
orr_result orr_registration_level(orr_registration *r, orr_error *error);
// Up from the horizontal axes of cameras; orientations: of EXIF, one for each photo; NULL: as stored. spread:
// as orr_registration_info.up_spread. Writes ORR_UP_CAMERAS or ORR_UP_MEAN.
void orr_up_of_axes(const orr_photo_list *list, const int *orientations, double up[3], orr_up_source *source,
                    double *spread);
// write.c: photos, masks, cameras and points of the capture.
orr_result orr_registration_write(orr_registration *r, orr_error *error);
// model.c: the capture's cameras and points as a COLMAP model in sparse/0. names: of the photos in the
// capture, images/NAME; ids: their IMAGE_ID; as many as photos in `list`.
orr_result orr_registration_write_model(const orr_registration *r, const char *const *names,
                                        const uint32_t *ids, orr_error *error);
// picture.c: cameras and points, drawn.
orr_result orr_registration_draw(orr_registration *r, const char *path, orr_error *error);
