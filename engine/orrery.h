/*
 * orrery.h: the public interface of Orrery, a real-time neural rendering and simulation engine.
 *
 * STEP BY STEP
 *     orr_engine_create      threads, devices and a place for log lines
 *     orr_scene_load         a splat cloud, a mesh, a field, a robot, or a scene file that combines them
 *                            (or orr_scene_create + add)
 *     orr_world_create       what changes: where each layer stands, in `count` copies
 *     orr_frame_create       the machinery that draws, with its own memory
 *     orr_frame_submit       draw one view of one world ...
 *     orr_frame_finish       ... and receive the picture in memory you own
 *
 * CONVENTIONS
 *     Lengths are in scene units, angles in radians, image positions in pixels with pixel centres at +0.5.
 *     Cameras look along +z, x right, y down (the convention of COLMAP and of Gaussian splat files).
 *     Quaternions are w, x, y, z. Matrices are row-major.
 *     Colours are as captured (display-referred, the way splat files store them): a value v becomes the byte
 *     round(255 v). Pictures are premultiplied by alpha.
 *     A desc struct that is all zero asks for the defaults; each default stands beside its field.
 *
 * ERRORS
 *     Functions that can fail return orr_result and write one line into a nullable orr_error. The library
 *     never exits and never prints: log lines go to orr_engine_desc.log, or nowhere.
 *
 * THREADS
 *     An engine may be used from one thread at a time. Different engines are independent.
 *
 * WHAT ORRERY DOES NOT DO
 *     It does not download anything, does not keep global state, and does not need a GPU.
 */
#ifndef ORRERY_H
#define ORRERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "orrery_version.h" /* ORR_VERSION "major.minor.patch", ORR_VERSION_MAJOR, _MINOR, _PATCH */

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ORR_API __attribute__((visibility("default")))
#else
#define ORR_API
#endif

/* ---- version and results ------------------------------------------------------------------------------- */

/* The version of the library in use, "major.minor.patch"; ORR_VERSION is that of this header. */
ORR_API const char *orr_version(void);

typedef enum orr_result {
    ORR_OK = 0,
    ORR_ERROR_FILE,        /* could not be opened, read or written */
    ORR_ERROR_FORMAT,      /* the content is not what its format promises */
    ORR_ERROR_ARGUMENT,    /* a value handed in is out of its range, or an id is stale */
    ORR_ERROR_MEMORY,      /* out of memory, on the host or on a device */
    ORR_ERROR_DEVICE,      /* a device is absent, lost, or a call to it failed */
    ORR_ERROR_UNSUPPORTED, /* understood, but not available in this build or on this machine */
    ORR_ERROR_CAPACITY,    /* a fixed capacity was too small; the message names the number that is enough */
    ORR_ERROR_INTERRUPTED  /* stopped on request */
} orr_result;

/* What went wrong, in orr_error.code, or what a log line is about. Numbers do not change and are not used again; later versions add more. */
typedef enum orr_code {
    ORR_CODE_NONE = 0,           /* nothing went wrong */
    ORR_CODE_OUT_OF_MEMORY = 1,  /* of the host */
    ORR_CODE_INTERRUPTED = 2,    /* stopped on request */
    ORR_CODE_ARGUMENT = 3,       /* an argument is out of its range */
    ORR_CODE_STALE_ID = 4,       /* an orr_layer that is not, or no longer, in the scene */
    ORR_CODE_FEATURE_ABSENT = 5, /* this build, or this version, does not have the feature */
    ORR_CODE_CAPACITY = 6,    /* a fixed capacity was exceeded; the message names the number that is enough */
    ORR_CODE_FILE_OPEN = 100, /* a file cannot be opened */
    ORR_CODE_FILE_READ = 101, /* a file cannot be read to its end */
    ORR_CODE_FILE_WRITE = 102,        /* a file cannot be written */
    ORR_CODE_FILE_TYPE = 103,         /* a kind of file that is not read here */
    ORR_CODE_FILE_TRUNCATED = 104,    /* a file ends early */
    ORR_CODE_FILE_HEADER = 105,       /* a file's header is not what its format says */
    ORR_CODE_FILE_VALUE = 106,        /* a value in a file is out of its range */
    ORR_CODE_FILE_TOO_LARGE = 107,    /* a file holds more than the engine can */
    ORR_CODE_FILE_COMPRESSION = 108,  /* compressed data is damaged */
    ORR_CODE_FILE_VERSION = 109,      /* a version of a format that is not supported */
    ORR_CODE_SCENE_FILE = 200,        /* a scene file (.json) */
    ORR_CODE_CAMERA_FILE = 201,       /* a camera file (transforms.json, COLMAP) */
    ORR_CODE_MESH_FILE = 202,         /* a mesh, or the texture of one */
    ORR_CODE_IMAGE_FILE = 203,        /* an image */
    ORR_CODE_CAMERA = 204,            /* an orr_camera that cannot draw */
    ORR_CODE_CONFIG = 205,            /* the configuration of a network or of a training run */
    ORR_CODE_MODEL_FILE = 206,        /* a robot (.xml, .urdf) */
    ORR_CODE_DEVICE_ABSENT = 300,     /* the device asked for is not on this machine */
    ORR_CODE_DEVICE_CALL = 301,       /* a call to a device's driver failed */
    ORR_CODE_DEVICE_LOST = 302,       /* a device stopped working */
    ORR_CODE_DEVICE_MEMORY = 303,     /* a device's memory is full */
    ORR_CODE_DEVICE_VALIDATION = 304, /* a message of Vulkan's validation layer */
    ORR_CODE_DEVICE_CHOSEN = 305,     /* log only: the devices in use */
    ORR_CODE_DEVICE_SHARING = 306,    /* CUDA and Vulkan cannot share memory */
    ORR_CODE_WINDOW = 310,            /* a window cannot be opened or presented to */
    ORR_CODE_VIDEO = 320,             /* a video cannot be encoded or written */
    ORR_CODE_IGNORED = 400            /* log only: a part of a file is not used */
} orr_code;

typedef struct orr_error {
    int code;          /* an orr_code */
    char message[508]; /* one line: the file, the place in it, and what was expected */
} orr_error;

ORR_API const char *orr_result_name(orr_result result);

typedef enum orr_log_level { ORR_LOG_INFO = 0, ORR_LOG_WARNING, ORR_LOG_ERROR } orr_log_level;
typedef void (*orr_log_fn)(void *user, orr_log_level level, int code, const char *line);

/* ---- engine -------------------------------------------------------------------------------------------- */

typedef struct orr_engine orr_engine;

typedef enum orr_device_kind {
    ORR_DEVICE_AUTO = 0, /* the best there is: a real GPU for drawing if one answers, otherwise the CPU */
    ORR_DEVICE_CPU,      /* SIMD lanes on all threads */
    ORR_DEVICE_VULKAN,   /* compute and graphics queues of any Vulkan 1.3 device, lavapipe included */
    ORR_DEVICE_CUDA,     /* an NVIDIA GPU of compute capability 7.5 or later */
    /* To ask for only: CUDA draws, and a window's Vulkan device takes the pictures over; in memory that both share when they are
     * the same card, through pinned memory of the host otherwise. What of it does not work falls to the next with a line. */
    ORR_DEVICE_CUDA_VULKAN,
    ORR_DEVICE_CUDA_VULKAN_COPIES /* the same, always through pinned memory */
} orr_device_kind;

/* Runs body(context, i, worker) for every i in [0, count) and returns when all are done. `worker` is in
 * [0, worker_count) and no two calls with the same worker run at once. */
typedef void (*orr_parallel_for_fn)(void *user, int count, void (*body)(void *context, int i, int worker),
                                    void *context);

typedef struct orr_engine_desc {
    int threads;                      /* worker threads; 0: one per core this process may use */
    orr_parallel_for_fn parallel_for; /* a host's own thread pool, with `threads` workers; NULL: our own */
    void *parallel_for_user;
    orr_device_kind
        device;     /* default ORR_DEVICE_AUTO; the environment variable ORR_DEVICE decides that case */
    bool validate;  /* Vulkan: load the validation layer and turn its messages into errors */
    orr_log_fn log; /* receives log lines; NULL: silence */
    void *log_user;
} orr_engine_desc;

ORR_API orr_result orr_engine_create(const orr_engine_desc *desc, orr_engine **engine, orr_error *error);
ORR_API void orr_engine_destroy(orr_engine *engine); /* NULL is allowed; after its frames and scenes */
ORR_API int orr_engine_threads(const orr_engine *engine);
/* The device frames are drawn on: ORR_DEVICE_CPU, ORR_DEVICE_VULKAN or ORR_DEVICE_CUDA. */
ORR_API orr_device_kind orr_engine_device(const orr_engine *engine);
/* One line about the rung of the device ladder in use, for example "CPU only: AVX-512, 2 threads". */
ORR_API const char *orr_engine_describe(const orr_engine *engine);

/* ---- cameras ------------------------------------------------------------------------------------------- */

typedef enum orr_camera_model { ORR_CAMERA_PERSPECTIVE = 0, ORR_CAMERA_ORTHOGRAPHIC } orr_camera_model;

typedef struct orr_camera {
    orr_camera_model model;
    float pose[12];   /* camera to world, row-major 3x4, rotation orthonormal; columns: right, down, forward,
                         place */
    float focal[2];   /* perspective: focal length [px]; orthographic: pixels per scene unit */
    float centre[2];  /* principal point [px]; (0, 0): the middle of the picture */
    int width;        /* [px], 1 .. 16384 */
    int height;       /* [px], 1 .. 16384 */
    float near_plane; /* nothing closer is drawn; 0: 0.01 */
    float far_plane;  /* nothing farther is drawn; 0: 1e10 */
    /* OpenCV's lens distortion, k1 .. k4 of r^2 .. r^8 and p1, p2, of a perspective camera. Where only fields are visible they
     * are drawn through it, as photos were taken; pictures with splats or meshes are a pinhole's. */
    float radial[4], tangential[2];
} orr_camera;

/* A camera at `eye` that looks at `target`; `up` is the direction that points up in the picture.
 * field_of_view is the vertical angle [rad] in (0, pi). */
ORR_API orr_camera orr_camera_look_at(const float eye[3], const float target[3], const float up[3],
                                      float field_of_view, int width, int height);

/* ---- splat clouds -------------------------------------------------------------------------------------- */

/* A cloud of 3D Gaussians as files hold it, one value per splat and channel. */
typedef struct orr_splats orr_splats;

typedef struct orr_splats_view {
    int64_t count;
    int sh_degree;    /* 0 .. 3 */
    bool antialiased; /* trained with the Mip-Splatting 2D filter: draw with antialias */
    float *position;  /* count x 3, scene units */
    float *log_scale; /* count x 3, natural logarithm of the standard deviation */
    float *rotation;  /* count x 4, unit quaternion w, x, y, z */
    float *opacity;   /* count, logit: sigmoid gives the opacity in 0 .. 1 */
    float *colour;    /* count x 3, SH coefficient of degree 0: display colour = 0.5 + 0.28209479 c */
    float *harmonics; /* count x ((d+1)^2 - 1) x 3, SH coefficients of degree 1 .. d, colour innermost; NULL
                         if d = 0 */
} orr_splats_view;

/* All arrays allocated, rotations identity, everything else zero. count 0 .. 2^31 - 1. */
ORR_API orr_result orr_splats_create(int64_t count, int sh_degree, orr_splats **splats, orr_error *error);
/* Reads .ply (INRIA, ASCII and binary), .compressed.ply, .splat, .spz 1-4, .sog (v1, v2; bundle or its
 * meta.json), .ksplat. */
ORR_API orr_result orr_splats_load(const char *path, orr_splats **splats, orr_error *error);
/* Writes .ply, .compressed.ply, .splat, .spz (version 4; `.v3.spz` for version 3), whole or not at all. */
ORR_API orr_result orr_splats_save(const orr_splats *splats, const char *path, orr_error *error);
ORR_API orr_splats_view orr_splats_data(const orr_splats *splats); /* pointers stay valid until destroy */
ORR_API void orr_splats_destroy(orr_splats *splats);               /* NULL is allowed */

/* ---- scene: what exists; edit it only while no frame is in flight -------------------------------------- */

typedef struct orr_scene orr_scene;

/* A layer of the scene: a splat cloud, a mesh, a field or a robot. {0} is no layer; a removed layer's id is stale for ever. */
typedef struct orr_layer {
    uint32_t slot; /* 1-based */
    uint32_t generation;
} orr_layer;

typedef struct orr_transform {
    float position[3]; /* scene units */
    float rotation[4]; /* quaternion w, x, y, z; all zero: identity */
    float scale;       /* uniform, > 0; 0: 1 */
} orr_transform;

typedef enum orr_layer_kind {
    ORR_LAYER_SPLATS = 1,
    ORR_LAYER_MESH,
    ORR_LAYER_FIELD,
    ORR_LAYER_ROBOT
} orr_layer_kind;

typedef struct orr_layer_info {
    orr_layer_kind kind;
    const char *name; /* the file it came from, or the name given */
    int64_t count;    /* splats, triangles of a mesh or a robot, or parameters of a field */
    size_t bytes;     /* host memory held for drawing */
    float low[3],
        high[3]; /* bounds in the layer's own coordinates; robust ones for splats: 0.5 % trimmed per side */
    orr_transform transform; /* as built; a world may move it */
} orr_layer_info;

ORR_API orr_result orr_scene_create(orr_engine *engine, orr_scene **scene, orr_error *error);
/* Any splat cloud, mesh, field or robot file becomes a scene of one layer; a .json scene file (docs/scene-file.md) may hold
 * many. */
ORR_API orr_result orr_scene_load(orr_engine *engine, const char *path, orr_scene **scene, orr_error *error);
/* Adds the layers of a file to an existing scene; on failure the scene is as it was. `layer`: the first one
 * added. Of a scene file only the layers come: cameras, background and sun stay as they are. */
ORR_API orr_result orr_scene_add_file(orr_scene *scene, const char *path, const orr_transform *transform,
                                      orr_layer *layer, orr_error *error);
/* Copies the cloud into its drawing form; the caller keeps `splats`. */
ORR_API orr_result orr_scene_add_splats(orr_scene *scene, const char *name, const orr_splats *splats,
                                        const orr_transform *transform, orr_layer *layer, orr_error *error);
/* From now on the layer stands in the frame of a body of a robot, and moves with it; its transform, in every world, is
 * against the body's. */
ORR_API orr_result orr_scene_bind(orr_scene *scene, orr_layer layer, orr_layer robot, const char *body,
                                  orr_error *error);
ORR_API orr_result orr_scene_remove(orr_scene *scene, orr_layer layer, orr_error *error);
ORR_API int orr_scene_layer_count(const orr_scene *scene);
ORR_API orr_layer orr_scene_layer(const orr_scene *scene,
                                  int index); /* in order added; {0} outside [0, layer_count) */
ORR_API orr_result orr_scene_layer_info(const orr_scene *scene, orr_layer layer, orr_layer_info *info,
                                        orr_error *error);
ORR_API int orr_scene_camera_count(const orr_scene *scene); /* cameras the scene file names */
/* NULL outside [0, camera_count). */
ORR_API const orr_camera *orr_scene_camera(const orr_scene *scene, int index);
/* A camera that sees every layer, for scenes that name none. */
ORR_API orr_camera orr_scene_default_camera(const orr_scene *scene, int width, int height);
ORR_API void orr_scene_destroy(orr_scene *scene); /* NULL is allowed; before its engine */

/* ---- world: what changes ------------------------------------------------------------------------------- */

typedef struct orr_world orr_world;

/* `count` copies of the scene's state, each starting as the scene was built; 1 .. 65536. Layers added later
 * appear in every copy. The scene must outlive the world. */
ORR_API orr_result orr_world_create(const orr_scene *scene, int count, orr_world **world, orr_error *error);
ORR_API orr_result orr_world_set_transform(orr_world *world, int index, orr_layer layer,
                                           const orr_transform *transform, orr_error *error);
ORR_API orr_result orr_world_set_visible(orr_world *world, int index, orr_layer layer, bool visible,
                                         orr_error *error);
ORR_API orr_result orr_world_get(const orr_world *world, int index, orr_layer layer, orr_transform *transform,
                                 bool *visible, orr_error *error);
ORR_API void orr_world_destroy(orr_world *world); /* NULL is allowed */

/* ---- robots: layers that move by themselves ------------------------------------------------------------
 * A robot is an MJCF file with MuJoCo's meaning; names and sizes are those of MuJoCo's model. Each robot of the scene
 * moves on its own: robots do not meet each other, nor clouds, meshes and fields. */

typedef struct orr_robot_info {
    int qpos_count, qvel_count, act_count, ctrl_count;
    int body_count; /* the world's body, 0, included */
    int keyframe_count;
    double timestep; /* [s] */
} orr_robot_info;

typedef enum orr_robot_quantity {
    ORR_ROBOT_TIME = 0, /* 1 [s] */
    ORR_ROBOT_QPOS,     /* qpos_count: generalised coordinates */
    ORR_ROBOT_QVEL,     /* qvel_count: their velocities */
    ORR_ROBOT_ACT,      /* act_count: activations of actuators */
    ORR_ROBOT_CTRL,     /* ctrl_count: what actuators are told; stays until it is set anew */
    ORR_ROBOT_FORCE /* body_count x 6: force, then torque, on each body at its centre of mass, in the axes of
                           the robot's own space [N, N m]; stays until it is set anew */
} orr_robot_quantity;

ORR_API orr_result orr_scene_robot_info(const orr_scene *scene, orr_layer robot, orr_robot_info *info,
                                        orr_error *error);
/* The name of a body, "" when it has none; NULL outside [0, body_count). */
ORR_API const char *orr_scene_robot_body(const orr_scene *scene, orr_layer robot, int body);

/* Which machine moves the robots of a world, all of them: ORR_DEVICE_CPU, or ORR_DEVICE_CUDA, where each copy has a thread and
 * its state stays; frames that CUDA draws find bodies there. ORR_DEVICE_AUTO, the default, is CUDA when the engine stands on
 * CUDA and there are at least 512 copies for each of its CPU threads, since a GPU is slow on few. Robots take their states
 * along, and numbers agree to rounding. A robot that a device cannot hold stays on the CPU, and a log line says so.
 * When the device fails later, the call that notices, not always the one that failed, returns ORR_ERROR_DEVICE once: all
 * robots go on on the CPU, each 32 copies from where they were set or read last. */
ORR_API orr_result orr_world_set_device(orr_world *world, orr_device_kind device, orr_error *error);
/* Where robots move now: ORR_DEVICE_CUDA as soon as one does. */
ORR_API orr_device_kind orr_world_device(const orr_world *world);

/* Moves every robot of every copy on by time steps of its own. ORR_ERROR_UNSUPPORTED names what a model needs and the
 * dynamics do not have; such a robot is drawn where it stands. On CUDA this does not wait: what asks for numbers does. */
ORR_API orr_result orr_world_step(orr_world *world, int steps, orr_error *error);
/* Moves them on by so much time, in whole time steps; what is left over is kept for the next call. 0 .. 1e6 s. */
ORR_API orr_result orr_world_advance(orr_world *world, double seconds, orr_error *error);
/* Back to the pose the model is given in, at rest (keyframe -1), or to one of its keyframes. */
ORR_API orr_result orr_world_reset_robot(orr_world *world, int index, orr_layer robot, int keyframe,
                                         orr_error *error);
ORR_API orr_result orr_world_get_robot(const orr_world *world, int index, orr_layer robot,
                                       orr_robot_quantity quantity, double *values, orr_error *error);
ORR_API orr_result orr_world_set_robot(orr_world *world, int index, orr_layer robot,
                                       orr_robot_quantity quantity, const double *values, orr_error *error);
/* Where a body is, in the scene. */
ORR_API orr_result orr_world_body_transform(const orr_world *world, int index, orr_layer robot, int body,
                                            orr_transform *transform, orr_error *error);
/* Have its numbers become infinite? It then stays where it is drawn until it is reset or set; other copies go on. */
ORR_API orr_result orr_world_robot_diverged(const orr_world *world, int index, orr_layer robot,
                                            bool *diverged, orr_error *error);

/* Cameras as they stand in one copy: the scene's, then those of each robot, in the order of the layers. */
ORR_API int orr_world_camera_count(const orr_world *world);
/* The name of a robot's camera; "" when it has none, NULL outside [0, camera_count). */
ORR_API const char *orr_world_camera_name(const orr_world *world, int camera);
/* width 0: of the size that the camera names, or 1280 x 720. */
ORR_API orr_result orr_world_camera(const orr_world *world, int index, int camera, int width, int height,
                                    orr_camera *out, orr_error *error);

/* ---- frame: draw --------------------------------------------------------------------------------------- */

typedef struct orr_frame orr_frame;

typedef struct orr_view {
    orr_camera camera;
    int world;      /* which copy of the world, 0 .. count - 1 */
    bool antialias; /* Mip-Splatting opacity compensation; clouds that say they were trained so have it anyway
                     */
    bool has_background; /* false: the scene's background, or transparent */
    float background[3]; /* opaque colour behind everything */
    bool contact_points; /* robots: where they touch, as discs ... */
    bool contact_forces; /* ... and how strongly, as arrows */
    /* Robots: groups 0 to 2 of geoms, sites and tendons are drawn, and 3 to 5 are not; bit g here switches group g. */
    unsigned char geom_groups, site_groups, tendon_groups;
} orr_view;

/* Memory of the caller that receives a picture; each plane may be NULL. */
typedef struct orr_picture {
    float *rgba;  /* height x width x 4, premultiplied, unquantised */
    float *depth; /* height x width, alpha-weighted mean depth along the camera's axis [scene units]; 0:
                     nothing there */
} orr_picture;

typedef struct orr_stage_time {
    const char *name;
    double milliseconds;
    int64_t items; /* splats, pairs or pixels the stage handled */
} orr_stage_time;

typedef struct orr_frame_desc {
    /* What draws; default: the engine's choice, and where that device fails or is full, the next rung of the ladder
     * (docs/devices.md): a warning says so, and the frames under way are drawn there. */
    orr_device_kind device;
    int frames_in_flight; /* how many frames may be submitted before the first is finished; 0: 2 */
} orr_frame_desc;

ORR_API orr_result orr_frame_create(orr_engine *engine, const orr_frame_desc *desc, orr_frame **frame,
                                    orr_error *error);
/* Starts one frame. ORR_ERROR_CAPACITY when frames_in_flight frames are waiting to be finished. */
ORR_API orr_result orr_frame_submit(orr_frame *frame, const orr_scene *scene, const orr_world *world,
                                    const orr_view *view, orr_error *error);
/* Completes the oldest submitted frame and writes its picture. */
ORR_API orr_result orr_frame_finish(orr_frame *frame, const orr_picture *picture, orr_error *error);
/* Does work on the oldest submitted frame for about so long (at least a little). Fields are marched on the CPU and may take
 * seconds; a program that must not wait calls this between its other duties until `ready`, when what is left for
 * orr_frame_finish takes no longer than the same frame without fields. On failure the frame is dropped. */
ORR_API orr_result orr_frame_advance(orr_frame *frame, double milliseconds, bool *ready, orr_error *error);
/* Drops every submitted frame; what was done for them is lost. */
ORR_API void orr_frame_discard(orr_frame *frame);
/* Stages of the frame finished last, in order; returns how many there are and writes at most `capacity`. */
ORR_API int orr_frame_stages(const orr_frame *frame, orr_stage_time *stages, int capacity);
ORR_API orr_device_kind orr_frame_device(const orr_frame *frame);
ORR_API void orr_frame_destroy(orr_frame *frame); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
