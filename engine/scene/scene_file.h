// Scene files: JSON that combines clouds, meshes, fields, robots, cameras and light (docs/scene-file.md,
// docs/scene.schema.json).
#pragma once

#include "engine/core/json.h"
#include "render/draw.h"

// A material of a layer that is not as the layer's file has it.
typedef struct orr_scene_file_material {
    char *name; // of a robot's; NULL: of a mesh, by its number
    char *path; // of the network that it is
    bool is_glass;
    orr_glass_desc glass;
} orr_scene_file_material;

typedef struct orr_scene_file_layer {
    char *file;              // path, already beside the scene file
    char *name;              // NULL: the file's own name
    char *robot, *body;      // what it is bound to: a robot layer's name, and a body's; NULL: nothing
    orr_transform transform; // resolved
    bool visible;
    bool antialias;
    bool has_casts_shadow, casts_shadow; // of a cloud
    bool has_physics, has_region;
    orr_scene_file_material *materials; // material_count
    int material_count;
    orr_body_desc physics;
    orr_region region;
} orr_scene_file_layer;

// What a scene file says. Nothing it names has been opened yet.
typedef struct orr_scene_file {
    orr_scene_file_layer *layers; // layer_count, in file order
    int layer_count;
    orr_camera_list cameras; // in file order
    char *cameras_file;      // a transforms.json whose cameras follow `cameras`; NULL: none
    bool has_background, has_sun;
    float background[3];
    orr_draw_sun sun;
    char *environment; // path of its picture; NULL: none
    float environment_rotation, environment_strength;
    bool has_probes, probes, rays;
    orr_light_desc *lights; // light_count
    int light_count;
    float umbra;                                // "shadow"
    float occlusion_radius, occlusion_strength; // "ambient_occlusion"
    float exposure;                             // [EV]
    orr_tone tone;
} orr_scene_file;

// The size of a picture whose camera gives none.
enum { ORR_SCENE_FILE_WIDTH = 1280, ORR_SCENE_FILE_HEIGHT = 720 };

// `text` ends with a zero byte; `name` is the file's path: it is used in messages, and the files it names are
// beside it. Every error names the member (`layers[2].scale`) and what was expected; keys that do not exist
// are errors. On failure there is nothing to free.
orr_result orr_scene_file_parse(const char *text, const char *name, orr_scene_file *file, orr_error *error);
void orr_scene_file_free(orr_scene_file *file);
// light/scene_file_light.c: the members of the root that say what lights the scene, and what is behind it.
orr_result orr_scene_file_read_light(const orr_json *root, orr_scene_file *file, orr_error *error);
// `file`, as the scene file `room` names it, as the scene file `path` is to name it: relative where it is
// below its folder. Free with orr_free.
orr_result orr_scene_file_rename(const char *room, const char *file, const char *path, char **name,
                                 orr_error *error);
