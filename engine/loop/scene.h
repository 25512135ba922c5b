// The scene (what exists) and the world (what changes) from the inside: the loop's own rooms read these.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "engine/core/pool.h"
#include "engine/device/cuda.h"
#include "engine/loop/robot.h"
#include "engine/loop/shared_device.h"
#include "render/draw.h"

struct orr_engine {
    orr_engine_desc desc; // as given
    orr_log log;
    orr_jobs *jobs;
    orr_isa isa;
    orr_device_kind device;           // not AUTO
    orr_cuda *cuda;                   // NULL until something draws on CUDA
    orr_vk *vk;                       // NULL until something draws on Vulkan
    int vk_users;                     // frames that draw on it, and a window
    bool vk_lost;                     // opened anew once nobody uses it any more
    const char *const *vk_extensions; // vk_extension_count: for a window; NULL: the device need not present
    int vk_extension_count;
    char description[320];
    uint64_t next_key; // names uploaded contents (orr_draw_splats.key); never reused
};

// One layer: a cloud, a mesh, a field or a robot, and where it stands when a world begins.
typedef struct orr_layer_data {
    orr_pool_id id;
    orr_layer_kind kind;
    char *name;
    orr_splat_pack *splats; // ORR_LAYER_SPLATS
    orr_mesh *mesh;         // ORR_LAYER_MESH
    orr_field_layer *field; // ORR_LAYER_FIELD
    orr_robot *robot;       // ORR_LAYER_ROBOT
    uint64_t key;           // the first of its keys: a robot has one for each of its meshes
    int key_count;
    orr_transform transform;
    orr_pool_id bound_to; // a robot's layer, whose `bound_body` the transform is against; {0}: none
    int bound_body;
    bool visible;
    bool
        antialias; // splats: always draw with the Mip-Splatting compensation, as a cloud trained so is anyway
} orr_layer_data;

// The bounds in the layer's own space; robust ones for splats.
void orr_layer_bounds(const orr_layer_data *layer, float low[3], float high[3]);

struct orr_scene {
    orr_engine *engine; // borrowed
    orr_pool ids;
    orr_layer_data *layers; // layer_count, in the order added
    int layer_count, layer_capacity;
    orr_camera *cameras; // camera_count, as the scene file names them
    int camera_count;
    orr_draw_sun sun; // always valid: the scene file's, or the default one
    bool has_sun;     // the scene file's
    bool has_background;
    float background[3];
};

// Index into scene->layers, or -1 when the id is stale.
int orr_scene_find(const orr_scene *scene, orr_layer layer);
orr_result orr_scene_stale(orr_layer layer, orr_error *error); // the error for such an id

// Puts a layer behind the others. The scene takes what the layer holds (splats or mesh), on failure too; it
// gives it its id, its key, a copy of `name` and the resolved transform.
orr_result orr_scene_append(orr_scene *scene, orr_layer_data layer, const char *name,
                            const orr_transform *transform, orr_error *error);
// Layers bound to this one stand by themselves again.
void orr_scene_unbind(orr_scene *scene, orr_pool_id robot);
// The sun of a scene whose file gives none. With a robot it only says from where the first of the model's lights comes.
void orr_scene_light(orr_scene *scene);
// Sun and lights as they fall in one copy, into a list whose lens is set: the scene's sun, or the lights of the first robot's
// model, which its bodies carry.
orr_result orr_world_light(const orr_world *world, int index, orr_draw_list *list, orr_error *error);
// Takes layers away from the end until `count` are left.
void orr_scene_truncate(orr_scene *scene, int count);

// Which way is up where a scene does not say: captured clouds and images have y down; meshes and signed distances y up, as
// glTF says; radiance fields and volumes z up, as the captures of Blender and COLMAP tools have it. The first cloud
// decides, or else the first field, or else the meshes.
typedef enum orr_up { ORR_UP_MINUS_Y = 0, ORR_UP_Y, ORR_UP_Z } orr_up;
orr_up orr_scene_up(const orr_scene *scene);
// The middle of the box around every layer: what the default camera looks at.
void orr_scene_centre(const orr_scene *scene, float centre[3]);
// The light of a scene whose file gives none: from above, behind the default camera's shoulder.
orr_draw_sun orr_default_sun(orr_up up);

// What one world changes of one layer. Kept by slot, so that a layer added later finds its place; a slot
// whose generation differs from the layer's starts as the scene was built.
typedef struct orr_layer_state {
    uint32_t generation;
    bool visible;
    orr_transform transform;
} orr_layer_state;

struct orr_world {
    const orr_scene *scene; // borrowed
    int count;
    uint32_t slots;          // slots per world
    orr_layer_state *states; // count x slots
    orr_world_robots *robots;
};

// The state of a layer in one world.
orr_layer_state orr_world_state(const orr_world *world, int index, const orr_layer_data *layer);
// Where it stands in the scene: its state's transform, on the body it is bound to.
orr_result orr_world_place(const orr_world *world, int index, const orr_layer_data *layer,
                           const orr_transform *own, orr_transform *place, orr_error *error);
// The same as the scene was built.
orr_transform orr_scene_place(const orr_scene *scene, const orr_layer_data *layer);
// The robot whose sky stands behind the scene; NULL: none has one, or the scene has what stands behind it.
const orr_layer_data *orr_scene_sky(const orr_scene *scene);
// Puts that sky into a list whose lens is set.
orr_result orr_scene_draw_sky(const orr_layer_data *robot, orr_draw_list *list, orr_error *error);
