// The scene from the inside: what exists, built once and then const. What changes is in worlds
// (engine/loop/world/world.h).
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "engine/core/pool.h"
#include "engine/core/progress.h"
#include "engine/scene/robot/robot.h"
#include "render/draw.h"

// What an engine lends to the scenes made on it; it outlives them.
typedef struct orr_scene_context {
    orr_engine *engine; // for the worlds and frames of the scene: nothing here reads it
    orr_jobs *jobs;
    orr_isa isa;
    orr_log log;
    orr_progress progress; // its path is that of the file being loaded
    bool no_pictures;      // what only pictures need is not read
    uint64_t *next_key;    // of orr_layer_data.key: counted up for all scenes of the engine, never reused
} orr_scene_context;

// Does a cloud cast shadows? One that may move does where its file says nothing: the light that others were
// captured in has their shadows already.

// What a program or a scene file has made of one of a layer's materials.
typedef struct orr_layer_material {
    char *path; // of the network that it is; NULL: it is none
    bool is_glass;
    orr_glass_desc glass;
    orr_mesh_material *own; // of glass: as the layer's meshes had it
} orr_layer_material;

// One layer: a cloud, a mesh, a field or a robot, and its transform when a world begins.
typedef struct orr_layer_data {
    orr_pool_id id;
    orr_layer_kind kind;
    char *name;
    char *path;      // of the file it comes from; NULL: a program has made it
    bool has_region; // only what is there of the cloud in that file
    orr_region region;
    bool part;              // its name can be of a file
    orr_splat_pack *splats; // ORR_LAYER_SPLATS
    float *captured; // harmonics of its file, where lamps have changed those of `splats`; NULL: they have not
    struct orr_cloud_shape *shape; // of `splats`, for lamps (light/cloud_light.c); NULL: they do not light it
    orr_mesh *mesh;                // ORR_LAYER_MESH
    orr_layer_material *materials; // material_count: of its mesh, or of the robot's model
    int material_count;            // 0: all are as its file has them
    orr_field_layer *field;        // ORR_LAYER_FIELD
    orr_robot *robot;              // ORR_LAYER_ROBOT
    orr_robot *body;               // what physics has of another layer; NULL: nothing
    struct orr_soft_layer *soft;   // soft_layer.h; NULL: it is rigid
    bool has_body;                 // that a program or a scene file gave it:
    orr_body_desc body_desc;
    const orr_trainer *trainer; // that it shows; NULL: none
    bool absent;  // physics does not have it for now: a viewer has removed it, and may undo that
    uint64_t key; // the first of its keys: a robot has one for each of its meshes
    int key_count;
    orr_transform transform;
    orr_pool_id bound_to; // a robot's layer, whose `bound_body` the transform is against; {0}: none
    int bound_body;
    orr_pool_id flex_of; // the robot that it is a soft body of, and is removed with; {0}: none
    bool visible;
    bool
        antialias; // splats: always draw with the Mip-Splatting compensation, as a cloud trained so is anyway
    orr_shadow_casting shadow_casting; // splats
} orr_layer_data;

// May a cloud move: is it bound, soft, or has it a mass?
bool orr_layer_moves(const orr_layer_data *layer);
// Does it cast shadows of its own?
bool orr_layer_casts_shadow(const orr_layer_data *layer);
// The coefficient that orr_body_desc.friction means.
static inline double orr_body_friction(double given)
{
    return given < 0.0 ? 0.0 : given == 0.0 ? 1.0 : given;
}
// The bounds in the layer's own space; robust ones for splats.
void orr_layer_bounds(const orr_layer_data *layer, float low[3], float high[3]);
double orr_layer_longest_side(const orr_layer_data *layer); // of these bounds

#define ORR_UMBRA 0.4f // of scenes whose file says nothing: a floor outdoors or below a window

// Whether what is around meshes lights them: by itself where lamps are all that does, which leave black what
// they do not reach.
typedef enum orr_scene_probes {
    ORR_SCENE_PROBES_BY_LAMPS,
    ORR_SCENE_PROBES_ON,
    ORR_SCENE_PROBES_OFF
} orr_scene_probes;

struct orr_scene {
    orr_scene_context context;
    orr_pool ids;
    orr_layer_data *layers; // layer_count, in the order added
    int layer_count, layer_capacity;
    orr_camera_list cameras; // as the scene file lists them
    char *cameras_file;      // of the last of them; NULL: none
    int cameras_in_file;
    orr_draw_sun sun; // always valid: the scene file's, or the default one
    bool has_sun;     // the scene file's
    float umbra;      // how bright clouds and fields are in the full shadow of a mesh, 0 .. 1
    float occlusion_radius, occlusion_strength; // of views that give no radius; radius 0: none
    float exposure;                             // [EV] added to a view's
    orr_tone tone;                              // of views that name none
    bool has_background;
    float background[3];
    orr_environment *environment; // NULL: there is none
    char *environment_path;       // of its picture; NULL: a program gave it
    uint64_t environment_key;     // counted as those of layers
    float environment_rotation;   // [degrees] about the up axis
    float environment_strength;
    orr_scene_probes probes;                // layers light meshes
    bool rays;                              // smooth surfaces show what is around them
    orr_draw_light lights[ORR_DRAW_LIGHTS]; // light_count: the scene's own
    int light_count;
};

// An empty scene; and what a file holds, its layers, cameras, background and sun, into an empty scene.
orr_result orr_scene_open(const orr_scene_context *context, orr_scene **scene, orr_error *error);
orr_result orr_scene_read(orr_scene *scene, const char *path, orr_error *error);

// What a caller of the public functions can get wrong about a scene: ORR_ERROR_ARGUMENT when it is NULL, or
// belongs to the parent of this process.
orr_result orr_scene_check(const orr_scene *scene, orr_error *error);

// Index into scene->layers, or -1 when the id is stale.
int orr_scene_find(const orr_scene *scene, orr_layer layer);
orr_result orr_scene_stale(orr_layer layer, orr_error *error); // the error for such an id

// Puts a layer behind the others. The scene takes what the layer holds (splats or mesh), on failure too; it
// gives it its id, its key, a copy of `name` and the resolved transform.
orr_result orr_scene_append(orr_scene *scene, orr_layer_data layer, const char *name,
                            const orr_transform *transform, orr_error *error);
// Layers bound to this one are in the scene's frame again.
void orr_scene_unbind(orr_scene *scene, orr_pool_id robot);
// A light of a layer, as it is drawn; at: of the layer. Lengths of a layer scale with it, and so does
// the light: surfaces that it lights look as they did.
orr_draw_light orr_scene_layer_light(const orr_light_desc *light, const orr_transform *at);
// A mesh or a robot of the scene that has such a material.
orr_result orr_layer_with_material(orr_scene *scene, orr_layer id, int material, orr_layer_data **layer,
                                   orr_error *error);
int orr_layer_material_count(const orr_layer_data *layer); // of its file
// Makes room for what becomes of them.
orr_result orr_layer_keep_materials(orr_layer_data *layer, orr_error *error);
void orr_layer_forget_materials(orr_layer_data *layer);
// Devices upload its meshes again.
void orr_layer_renew_keys(orr_scene *scene, orr_layer_data *layer);
// Gives the clouds that stand still the colours that they have in the light of these lamps, too
// (light/cloud_light.c), and others those of their files. For whoever changes lights, clouds or the sun.
orr_result orr_scene_light_clouds(orr_scene *scene, orr_error *error);
typedef struct orr_cloud_shape orr_cloud_shape;
void orr_cloud_shape_destroy(orr_cloud_shape *shape); // NULL is allowed
// Do the shadows of a sun in this direction (towards it, unit) explain those in the colours of clouds and
// radiance fields, by the measure of orr_scene_estimate_sun? A capture's own sun does; of another sun there
// is no shadow in it.
orr_result orr_scene_sun_explains(const orr_scene *scene, const float direction[3], bool *explains,
                                  orr_error *error);
// Adds a light, and leaves the clouds as they are.
orr_result orr_scene_put_light(orr_scene *scene, const orr_light_desc *light, orr_error *error);
// How many lights the scene has, and its meshes.
int orr_scene_light_total(const orr_scene *scene);
// Is its light the default sun, which depends on which layers there are?
bool orr_scene_has_default_sun(const orr_scene *scene);
// The sun of a scene whose file gives none. With a robot it only says from where the first of the model's
// lights comes.
void orr_scene_light(orr_scene *scene);
// Takes layers away from the end until `count` are left.
void orr_scene_truncate(orr_scene *scene, int count);

// The up axis where a scene file gives none: captured clouds and images have y down; meshes and signed
// distances y up, as glTF says; radiance fields, volumes and clouds in training z up, as the captures of
// Blender and COLMAP tools have it. The first cloud decides, or else the first field, or else the meshes.
typedef enum orr_up { ORR_UP_MINUS_Y = 0, ORR_UP_Y, ORR_UP_Z } orr_up;
orr_up orr_scene_up(const orr_scene *scene);
// Unit vectors that point up, and towards a viewer in front; right is x.
void orr_scene_axes(const orr_scene *scene, float up[3], float front[3]);
// The direction of up, a unit vector; and the one that is up in a layer's own space.
void orr_scene_up_direction(const orr_scene *scene, float up[3]);
void orr_layer_up_direction(const orr_layer_data *layer, float up[3]);
// Up in the scene as its first cloud stands in it, or field, robot or mesh: turned with that layer.
void orr_scene_level(const orr_scene *scene, float up[3]);
// The middle of its bottom, in its own space: what it stands on.
void orr_layer_foot(const orr_layer_data *layer, double foot[3]);
// The middle of the box around every layer: the target of the default camera.
void orr_scene_centre(const orr_scene *scene, float centre[3]);
// Do views of the whole scene count the layer? Floors, robots of planes alone, are as large as they are
// drawn: they count where there is nothing else.
bool orr_scene_looks_at(const orr_scene *scene, const orr_layer_data *layer);
// The light of a scene whose file gives none: from above, behind the default camera's shoulder.
orr_draw_sun orr_default_sun(orr_up up);

// The camera whose picture is that of a scene of one trained image and nothing else, in the size of the
// picture it was trained on; false for every other scene.
bool orr_scene_picture_camera(const orr_scene *scene, orr_camera *camera);
// The transform of a layer in the scene as it was built: its own, on the body at rest that it is bound to.
orr_transform orr_scene_layer_transform(const orr_scene *scene, const orr_layer_data *layer);
// The robot on whose body a layer is; NULL: it is bound to none.
const orr_layer_data *orr_scene_bound_robot(const orr_scene *scene, const orr_layer_data *layer);
// The robot that was added first, whose model lights the scene; NULL: there is none.
const orr_layer_data *orr_scene_first_robot(const orr_scene *scene);
// Do two robots or bodies touch each other? Lengths of a model are its own metres, so their layers must have
// one scale.
bool orr_scene_robots_touch(const orr_layer_data *a, const orr_layer_data *b);
// The time step [s] of a robot or body: the smallest of those of all robots that it can touch; that of a body
// where there are none.
double orr_scene_timestep(const orr_scene *scene, const orr_layer_data *robot);
// What physics has of a layer: a robot, or the body of another layer; NULL: nothing.
orr_robot *orr_layer_physical(const orr_layer_data *layer);
// The geom of a robot's layer that is drawn under a key; NULL: a site, a tendon, a mark, or no robot.
const orr_robot_geom *orr_layer_geom(const orr_layer_data *layer, uint64_t key);
// The layer of an id, if it is one that physics moves.
orr_result orr_robot_layer(const orr_scene *scene, orr_layer id, const orr_layer_data **layer,
                           orr_error *error);
// Where physics has a layer: bodies have their scale in their shapes, in metres that are units of the scene.
orr_transform orr_layer_frame(const orr_layer_data *layer, const orr_transform *transform);
// The robot whose sky is behind the scene; NULL: none has one, or the scene has a background of its own.
const orr_layer_data *orr_scene_sky(const orr_scene *scene);
