/*
 * orrery.h: the public interface of Orrery, a real-time neural rendering and simulation engine.
 *
 * STEP BY STEP
 *     orr_engine_create      threads, devices, and where log lines go
 *     orr_scene_load         a splat cloud, a mesh, a field, a robot, or a scene file that combines them
 *                            (or orr_scene_create and orr_scene_add_...)
 *     orr_world_create       what changes: transforms of layers and states of robots, in `count` copies
 *     orr_frame_create       the memory and the pipelines that drawing needs
 *     orr_frame_submit       draw one view of one copy of the world ...
 *     orr_frame_finish       ... and receive the picture in memory you own
 *
 * UNITS AND AXES
 *     Lengths are in scene units, angles in radians, image positions in pixels with pixel centres at +0.5.
 *     Cameras look along +z, x right, y down (the convention of COLMAP and of Gaussian splat files).
 *     Quaternions are w, x, y, z. Matrices are row-major. Arrays are dense, the last dimension innermost.
 *     Colours are display-referred, as splat files store them, unless linear is said: a value v becomes the
 *     byte round(255 v). Pictures are premultiplied by alpha, rows from the top.
 *
 * ARGUMENTS
 *     A desc that is all zero means the defaults, and so does NULL for it; each member says its default.
 *     Other pointers may be NULL only where that is said; orr_error always may. On failure a function
 *     changes nothing, and sets the handle that it would have made to NULL, unless it says otherwise.
 *     ORR_ERROR_ARGUMENT, in every build: a pointer that is NULL where it may not be, a number that is out of
 *     its range or NaN, a number that its enum does not have, the id of a layer of another scene, a world of
 *     another scene, a scene of another engine. Functions that return no orr_result then return zero.
 *
 * LIFETIMES
 *     The library copies what it is given. What orr_X_create and orr_X_load make is destroyed with
 *     orr_X_destroy, which accepts NULL: frames first, then worlds, scenes, trainers, and the engine last. A
 *     pointer that the library returns is its own: do not free it. How long it is valid is said at the
 *     function.
 *
 * BLOCKING
 *     A function returns when its work is done, and uses the engine's threads meanwhile. Exceptions, for work
 *     that a GPU does: orr_frame_submit, orr_world_step and orr_world_advance return when it is queued.
 *     orr_frame_advance returns after the time it is given. Nothing waits for a display or a network.
 *
 * THREADS
 *     An engine, and what is made on it (scenes, worlds, frames), take one call at a time, from any thread
 *     (with CUDA and several GPUs, from the thread that made the engine). Different engines are independent.
 *     Functions that take none of these (orr_splats_..., orr_camera_..., orr_version, orr_result_name) may be
 *     called from any thread, for one object one call at a time. Whatever floating-point mode the calling
 *     thread is in (rounding, flushed denormals, traps), results are those of the default mode, and the
 *     thread keeps its own.
 *
 * FORK
 *     A child has no threads of its parent's engines. There, functions of such an engine, and of the scenes,
 *     worlds and frames made on it, return ORR_ERROR_ARGUMENT, and those that destroy them do nothing. The
 *     child may create an engine of its own; with Vulkan or CUDA only if the parent had not used them.
 *
 * ERRORS
 *     Functions that can fail return orr_result and write one line into the orr_error. The library never
 *     exits and never prints: log lines go to orr_engine_desc.log, or nowhere.
 *
 * VERSIONS
 *     Descs, views, pictures, hits and infos grow: a later version adds members at their ends. Functions
 *     that take or fill one are inline: each calls the exported function of its name with _sized added (at
 *     the end of this header), and passes the size that your compiler saw. A library that is newer than your
 *     program takes members that you do not have as zero; an older one fills members that it does not have
 *     with zero, and refuses them (ORR_ERROR_UNSUPPORTED) where you set them. Bindings for other languages
 *     call the _sized functions. orr_error, orr_camera, orr_camera_list, orr_layer and orr_transform do not
 *     grow.
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

/* What went wrong, in orr_error.code, or what a log line is about. Numbers do not change and are not used
 * again; later versions add more. */
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
    char message[508]; /* one line: the file, the position in it, what was expected */
} orr_error;

/* "ok", "file", "format", ...; "unknown" for what this library does not know. */
ORR_API const char *orr_result_name(orr_result result);

/* ---- engine -------------------------------------------------------------------------------------------- */

typedef struct orr_engine orr_engine;

typedef enum orr_device_kind {
    ORR_DEVICE_AUTO = 0, /* a GPU for drawing if there is one, otherwise the CPU */
    ORR_DEVICE_CPU,      /* SIMD lanes on all threads */
    ORR_DEVICE_VULKAN,   /* compute and graphics queues of any Vulkan 1.3 device, lavapipe included */
    ORR_DEVICE_CUDA,     /* an NVIDIA GPU of compute capability 7.5 or later */
    /* Only to request: CUDA draws, and Vulkan presents in a window; the picture passes through memory that
     * both share when they are the same GPU, through pinned host memory otherwise (docs/devices.md). */
    ORR_DEVICE_CUDA_VULKAN,
    ORR_DEVICE_CUDA_VULKAN_COPIES /* the same, always through pinned host memory */
} orr_device_kind;

/* Calls body(context, i, worker) for every i in [0, count), from any threads, and returns when all calls have
 * returned. `worker` is in [0, threads); no two calls with the same worker overlap. */
typedef void (*orr_parallel_for_fn)(void *user, int count, void (*body)(void *context, int i, int worker),
                                    void *context);

typedef enum orr_log_level { ORR_LOG_INFO = 0, ORR_LOG_WARNING, ORR_LOG_ERROR } orr_log_level;

/* Receives one line of the log, on the thread that is calling the engine; it must not call the engine. `code`
 * is an orr_code; `line` is valid until the function returns. */
typedef void (*orr_log_fn)(void *user, orr_log_level level, int code, const char *line);

/* Called while a file is loaded, or a collider made (path: its layer's name), on the thread that does: before
 * each stage of the work ("reading", "ordering") and now and then in a long one. `share` of the work is
 * done, 0 .. 1, roughly. Return false to stop: the call fails with ORR_ERROR_INTERRUPTED. It must not call
 * the engine; the texts are valid until it returns. */
typedef bool (*orr_progress_fn)(void *user, const char *path, const char *stage, double share);

typedef struct orr_engine_desc {
    int threads;                      /* worker threads; 0: one per core this process may use */
    orr_parallel_for_fn parallel_for; /* the program's own thread pool, with `threads` workers; NULL: ours */
    void *parallel_for_user;
    orr_device_kind device; /* what draws; AUTO: what ORR_DEVICE in the environment names, or the best */
    bool validate;          /* Vulkan: load the validation layer and turn its messages into errors */
    orr_log_fn log;         /* NULL: no log */
    void *log_user;
    orr_progress_fn progress; /* of orr_scene_load, orr_scene_add_file, orr_trainer_create; NULL: not told */
    void *progress_user;
    bool no_pictures; /* for simulation only: robots without textures, URDFs without visuals */
} orr_engine_desc;

/* Starts threads and devices. ORR_ERROR_DEVICE when `device` names one that is not there. */
static inline orr_result orr_engine_create(const orr_engine_desc *desc, orr_engine **engine,
                                           orr_error *error);
/* Ends threads and closes devices. Frames, worlds and scenes of the engine must be destroyed before; with a
 * frame left, the engine stays as it is, and a log line says so. */
ORR_API void orr_engine_destroy(orr_engine *engine);
/* The number of workers. */
ORR_API int orr_engine_threads(const orr_engine *engine);
/* What frames are drawn on: ORR_DEVICE_CPU, ORR_DEVICE_VULKAN or ORR_DEVICE_CUDA. It changes when a device
 * fails. */
ORR_API orr_device_kind orr_engine_device(const orr_engine *engine);
/* One line about the devices in use, for example "CPU only: AVX-512, 2 threads"; valid until the engine is
 * destroyed. Its text changes when a device fails. */
ORR_API const char *orr_engine_describe(const orr_engine *engine);

/* ---- cameras ------------------------------------------------------------------------------------------- */

typedef enum orr_camera_model {
    ORR_CAMERA_PERSPECTIVE = 0,
    ORR_CAMERA_ORTHOGRAPHIC,
    ORR_CAMERA_FISHEYE /* distances from the centre grow as angles to the axis, not as their tangents */
} orr_camera_model;

typedef struct orr_camera {
    orr_camera_model model;
    float pose[12];   /* camera to world, row-major 3x4, rotation orthonormal; columns: right, down, forward,
                         position */
    float focal[2];   /* perspective: focal length [px]; orthographic: pixels per scene unit; fisheye: pixels
                         per radian at the centre */
    float centre[2];  /* principal point [px]; (0, 0): the middle of the picture */
    int width;        /* [px], 1 .. 16384 */
    int height;       /* [px], 1 .. 16384 */
    float near_plane; /* nothing closer is drawn; 0: 0.01; fisheye: by the distance, not the depth */
    float far_plane;  /* nothing farther is drawn; 0: 1e10 */
    /* Lens distortion as OpenCV defines it: of a perspective camera k1 .. k4 of r^2 .. r^8, and p1, p2; of a
     * fisheye k1 .. k4 of its angle^2 .. ^8, without p1 and p2. It bends fields, splats on the CPU, and what
     * is path-traced, but for a fisheye; where meshes or robots are visible, all is drawn by a pinhole. */
    float radial[4], tangential[2];
} orr_camera;

/* A camera at `eye` that looks at `target`; `up` is the direction that points up in the picture.
 * field_of_view is the vertical angle [rad] in (0, pi). */
ORR_API orr_camera orr_camera_look_at(const float eye[3], const float target[3], const float up[3],
                                      float field_of_view, int width, int height);

/* The cameras of a file. */
typedef struct orr_camera_list {
    orr_camera *cameras; /* count, in file order */
    const char **names;  /* count: the picture that the file names for each, "" where it names none */
    int count;
    bool distorted; /* a camera has lens distortion */
} orr_camera_list;

/* Reads a transforms.json (the convention of instant-ngp and nerfstudio: camera to world, OpenGL axes), or
 * the cameras of a folder that holds one or a COLMAP model. width x height: the size of cameras whose size
 * neither the file nor its photos give. Free with orr_camera_list_free. */
ORR_API orr_result orr_camera_file_load(const char *path, int width, int height, orr_camera_list *list,
                                        orr_error *error);
/* Writes a transforms.json of perspective cameras, whole or not at all. count 1 or more. names NULL, or a
 * name "": 0000.png, 0001.png, ... */
ORR_API orr_result orr_camera_file_save(const char *path, const orr_camera *cameras, const char *const *names,
                                        int count, orr_error *error);
/* Frees the arrays and sets the list to zero; a list of zeros is allowed. */
ORR_API void orr_camera_list_free(orr_camera_list *list);

/* ---- splat clouds -------------------------------------------------------------------------------------- */

/* A cloud of 3D Gaussians as files store it. It belongs to no engine. */
typedef struct orr_splats orr_splats;

typedef struct orr_splats_view {
    int64_t count;
    int sh_degree;       /* 0 .. 3 */
    bool antialiased;    /* trained with the Mip-Splatting 2D filter: draw with antialias */
    float *position;     /* count x 3, scene units */
    float *log_scale;    /* count x 3, natural logarithm of the standard deviation */
    float *rotation;     /* count x 4, unit quaternion w, x, y, z */
    float *opacity;      /* count, logit: sigmoid gives the opacity in 0 .. 1 */
    float *colour;       /* count x 3, SH coefficient of degree 0: display colour = 0.5 + 0.28209479 c */
    float *harmonics;    /* count x ((d+1)^2 - 1) x 3, SH coefficients of degree 1 .. d; NULL if d = 0 */
    int64_t dropped;     /* splats of the file that were left out because a value is invalid */
    const char *warning; /* one line about parts of the file that were not read; NULL: none */
} orr_splats_view;

/* All arrays allocated, rotations identity, everything else zero. count 0 .. 2^31 - 1, sh_degree 0 .. 3. */
ORR_API orr_result orr_splats_create(int64_t count, int sh_degree, orr_splats **splats, orr_error *error);
/* Reads .ply (INRIA, ASCII and binary; points with colours), .compressed.ply, .splat, .spz 1-4, .sog (v1, v2;
 * bundle, folder or its meta.json), .ksplat. Splats with a value that is not finite, or a rotation of zero,
 * are left out; an opacity of +-inf is 1 or 0, a scale of -inf is the smallest float. */
ORR_API orr_result orr_splats_load(const char *path, orr_splats **splats, orr_error *error);
/* Writes .ply, .compressed.ply, .splat, .spz (version 4; `.v3.spz` for version 3), whole or not at all. All
 * but .ply round values (docs/splat-formats.md). */
ORR_API orr_result orr_splats_save(const orr_splats *splats, const char *path, orr_error *error);
/* The cloud's arrays, to read and to write, and its warning; valid until the cloud is destroyed. */
static inline orr_splats_view orr_splats_data(const orr_splats *splats);
/* Frees the cloud. Layers made from it stay as they are. */
ORR_API void orr_splats_destroy(orr_splats *splats);

/* A box that divides a cloud into an inner and an outer part, by the centres of its splats. */
typedef struct orr_region {
    float centre[3];   /* units of the cloud */
    float size[3];     /* lengths of its edges, > 0 */
    float rotation[4]; /* of the box about its centre: quaternion w, x, y, z of any length; 0: identity */
    float falloff;     /* width of the border (half on each side) in which each splat is divided between both
                          parts; 0: none */
    bool outside;      /* keep the part outside, not the part inside */
    /* outside: the hole is closed where the cloud continues around a face of the box, from its splats within
     * this distance [units of the cloud] of the face; 0 (required of the inner part): it stays open */
    float rim;
} orr_region;

/* Keeps one of the two parts. A splat in the border keeps the opacity 1 - (1 - a)^s for a share s of 0 to 1,
 * so that both parts together hide as much at its centre as before. Without a falloff they look exactly as
 * the cloud did. The arrays may move (orr_splats_data). ORR_ERROR_ARGUMENT, which leaves the cloud unchanged:
 * no box, or no splat in this part. */
static inline orr_result orr_splats_crop(orr_splats *splats, const orr_region *region, orr_error *error);

/* ---- scene: what exists -------------------------------------------------------------------------------- */

/* Layers, cameras, background and sun. It may be edited only while no frame that draws it is in flight. */
typedef struct orr_scene orr_scene;

/* The id of a layer: a splat cloud, a mesh, a field or a robot. {0} is no layer; the id of a layer that was
 * removed stays invalid. */
typedef struct orr_layer {
    uint32_t slot; /* 1-based */
    uint32_t generation;
} orr_layer;

/* x -> scale * rotation(x) + position. */
typedef struct orr_transform {
    float position[3]; /* scene units, up to 1e15 */
    float rotation[4]; /* quaternion w, x, y, z, of any length; all zero: identity */
    float scale;       /* uniform, > 0, up to 1e15; 0: 1 */
} orr_transform;

typedef enum orr_layer_kind {
    ORR_LAYER_SPLATS = 1,
    ORR_LAYER_MESH,
    ORR_LAYER_FIELD,
    ORR_LAYER_ROBOT
} orr_layer_kind;

typedef struct orr_layer_info {
    orr_layer_kind kind;
    const char *name;      /* the name given, or that of the file; valid until the layer is removed */
    int64_t count;         /* splats, triangles of a mesh or a robot, or parameters of a field */
    size_t bytes;          /* host memory that the layer's drawing form takes */
    float low[3], high[3]; /* bounds in the layer's own space; splats: without 0.5 % at each end of an axis */
    orr_transform transform; /* as built; a world may change it */
} orr_layer_info;

/* A mesh in memory, with one material. Front faces are counter-clockwise. */
typedef struct orr_mesh_desc {
    int64_t vertex_count;    /* 1 .. 2^31 / 9 */
    int64_t index_count;     /* a multiple of 3, 3 .. 2^31 - 1 */
    const float *positions;  /* vertex_count x 3, finite, the layer's space */
    const uint32_t *indices; /* index_count, each below vertex_count: three per triangle */
    /* vertex_count x 3, of any length. NULL: smooth ones, as for files that have none; edges sharper than 60
     * degrees stay edges, and vertices on them are split. */
    const float *normals;
    /* vertex_count x 2, (0, 0) at the texture's top left; outside 0 .. 1 the texture repeats. NULL: 0 */
    const float *texcoords;
    /* vertex_count x 4, 0 .. 1, straight alpha; factors of the base colour. NULL: 1 */
    const float *colours;
    float base_colour[4];   /* linear, straight alpha; a factor of the texture; all zero: 1, 1, 1, 1 */
    const uint8_t *texture; /* texture_height x texture_width x 4, sRGB with straight alpha; NULL: none */
    int texture_width, texture_height; /* 1 .. 32768 */
    bool two_sided;                    /* false: triangles are not seen from behind */
    bool blended;                      /* what is behind shows by 1 - alpha; false: opaque */
    float alpha_cutoff;                /* 0 .. 1: nothing is drawn where alpha is less */
} orr_mesh_desc;

/* An empty scene. */
ORR_API orr_result orr_scene_create(orr_engine *engine, orr_scene **scene, orr_error *error);
/* A scene of one layer from a splat cloud (as orr_splats_load), a mesh (.glb .gltf .obj .stl .ply .dae), a
 * trained field (.ingp) or a robot (.xml MJCF, .urdf); or what a scene file lists (.json,
 * docs/scene-file.md). Contents of a mesh file that are not drawn give one warning in the log. */
ORR_API orr_result orr_scene_load(orr_engine *engine, const char *path, orr_scene **scene, orr_error *error);
/* Adds the layers of such a file; *layer is the first of them. `transform`, of all its layers, and `layer`
 * may be NULL. Cameras, background and sun of a scene file are not taken. */
ORR_API orr_result orr_scene_add_file(orr_scene *scene, const char *path, const orr_transform *transform,
                                      orr_layer *layer, orr_error *error);
/* Adds a cloud: finite values, rotations that are not zero. name NULL: "splats"; `transform` and `layer` may
 * be NULL. */
ORR_API orr_result orr_scene_add_splats(orr_scene *scene, const char *name, const orr_splats *splats,
                                        const orr_transform *transform, orr_layer *layer, orr_error *error);
/* Adds a mesh. name NULL: "mesh"; `transform` and `layer` may be NULL. */
static inline orr_result orr_scene_add_mesh(orr_scene *scene, const char *name, const orr_mesh_desc *desc,
                                            const orr_transform *transform, orr_layer *layer,
                                            orr_error *error);
/* Makes a cloud, mesh or field move with a body of a robot: from now on its transform, in every world, is
 * relative to the body's frame. When the robot is removed it is relative to the scene again. */
ORR_API orr_result orr_scene_bind(orr_scene *scene, orr_layer layer, orr_layer robot, const char *body,
                                  orr_error *error);
/* The collision shape of a mesh, cloud or field. */
typedef enum orr_body_shape {
    ORR_BODY_AUTO = 0,  /* fixed: grid; moving: hull of a mesh, decompose for a cloud or field */
    ORR_BODY_HULL,      /* the convex hull: of a mesh's vertices, or of the inside of a grid */
    ORR_BODY_GRID,      /* a signed distance grid of the surface, hollows included; it cannot move */
    ORR_BODY_DECOMPOSE, /* at most `parts` convex hulls of the inside of a grid, for concave moving bodies */
    ORR_BODY_BOXES      /* the same with boxes along the layer's axes */
} orr_body_shape;

enum { ORR_BODY_PINS_MAX = 8 };

typedef struct orr_body_desc {
    double mass;     /* [kg] of a body that moves freely; 0: fixed */
    double friction; /* sliding; 0: 1; negative: none. Of two things that touch the larger one counts */
    double cell;     /* grids: edge of a cell in scene units; 0: the longest side / 256, of parts / 128 */
    orr_body_shape shape;
    int parts;      /* decompose and boxes: at most this many, 1 .. 64; 0: 16 */
    bool soft;      /* closed meshes, and clouds: deformable, filled with tetrahedra; `mass` must be 0 */
    int resolution; /* soft: cells along its longest side, 2 to 64; 0: 12 */
    double density; /* soft: [kg/m^3]; 0: 300 */
    double young;   /* soft: Young's modulus [Pa]; 0: 5e4 */
    double poisson; /* soft: Poisson's ratio, below 0.5; 0: 0.4 */
    double damping; /* soft: [s], time by which strain lags; 0: 0.005 */
    double cloth;   /* soft meshes, open or closed: thickness [m] of cloth made of their triangles, with
                       young 1e6 and poisson 0.3 by default; 0: a solid */
    float pin[ORR_BODY_PINS_MAX][4]; /* soft: balls (centre, radius) in the layer's space; vertices inside
                                        are held in place, or by the body to which the layer is bound */
    int pins;                        /* number of balls */
    int iterations; /* soft: per step, 1 to 200; stiff, light bodies of many elements need more; 0: 12 */
    /* cloth, of a closed mesh with triangles counter-clockwise from outside: pressure of the enclosed gas
     * [Pa] above that of the surroundings, at the volume of the mesh; 0: no gas, unless `ambient` is
     * given */
    double pressure;
    double ambient; /* pressure of the surroundings [Pa], 1e5 in air: the amount of gas is constant, (pressure
                       + ambient) x volume = const; 0: the pressure is constant, as by a pump */
    /* solids: von Mises stress [Pa] beyond which they stay deformed; 0: never. The plastic deformation is
     * not read by orr_world_get_soft; resets and setting the transform undo it */
    double yield_stress;
    double flow; /* [1/s] rate at which stress above yield_stress decays; 0: at once */
} orr_body_desc;

/* Makes a layer a body, which collides with robots whose layers have scale 1 and with other bodies. Its
 * metres are scene units. A moving body has the state of a free joint (qpos 7, qvel 6), which the functions
 * for robots read and set. The state of a soft body is that of its vertices (orr_world_get_soft); resets of
 * robots also reset it, and setting the layer's transform puts it there at rest. Distance grids are kept
 * beside the layer's file, as FILE.collider or, with a cell, FILE.CELL.collider. A soft layer can be bound to
 * a body before (orr_scene_bind); its pins then hold it to that body, which feels the pull. desc NULL: no
 * body. ORR_ERROR_UNSUPPORTED: a grid that moves, a soft field. */
static inline orr_result orr_scene_set_physics(orr_scene *scene, orr_layer layer, const orr_body_desc *desc,
                                               orr_error *error);
/* Draws a material of a mesh by a network that reproduces it (orr_material_trainer), from a .material file;
 * holes, transparency and emission stay those of the mesh. material: its index in the file of the mesh, from
 * 0. path NULL: restores the mesh's own material. No frame may be in flight. */
ORR_API orr_result orr_scene_set_material(orr_scene *scene, orr_layer layer, int material, const char *path,
                                          orr_error *error);
/* A transmissive surface, as in glTF (KHR_materials_transmission, _ior, _volume). */
typedef struct orr_glass_desc {
    float transmission; /* the part of the light that is not reflected which goes through, 0 .. 1; 0: 1. The
                           rest is reflected in all directions */
    float ior;          /* index of refraction, 1 or more; 0: 1.5 */
    float thickness;    /* of the body whose surface it is, as a whole, for pictures that do not follow light
                           through it [units of the mesh]; 0: the surface is thin, light goes straight on */
    float roughness;    /* 0 (clear) .. 1 (frosted) */
    float attenuation_distance;  /* of bodies: after this way in it [units of the scene] white light has */
    float attenuation_colour[3]; /* this colour, linear, 0 .. 1; distance 0: it absorbs nothing */
    float colour[3];             /* by which its surface tints light, linear, 0 .. 1; 0, 0, 0: the material's
                                    base colour */
} orr_glass_desc;
/* Makes a material of a mesh, or one of a robot's model (orr_scene_robot_find), glass: of the mesh's file its
 * textures stay, and so does its base colour where `colour` is 0. Of a robot's, all geoms and sites that have
 * the material are, and their alpha and reflectance have no effect. desc NULL: as its file has it. No frame
 * may be in flight. Of networks (orr_scene_set_material): ORR_ERROR_ARGUMENT */
static inline orr_result orr_scene_set_glass(orr_scene *scene, orr_layer layer, int material,
                                             const orr_glass_desc *desc, orr_error *error);
/* When a cloud casts shadows, on everything but itself. */
typedef enum orr_shadow_casting {
    ORR_SHADOW_CASTING_MOVING, /* while it is bound, soft or has a mass: the light in which the others were
                                  captured has the shadow of one that stands still; the default */
    ORR_SHADOW_CASTING_ALWAYS,
    ORR_SHADOW_CASTING_NEVER
} orr_shadow_casting;
/* "casts_shadow" of a scene file. ORR_ERROR_ARGUMENT: no cloud of the scene, no such value. */
ORR_API orr_result orr_scene_set_shadow_casting(orr_scene *scene, orr_layer layer, orr_shadow_casting casting,
                                                orr_error *error);
/* Light from all around a scene, from a latitude-longitude picture: rows from straight up to straight down;
 * a camera that looks at the scene from the front sees the middle column behind it. */
typedef struct orr_environment_desc {
    const char *path;  /* .hdr or .exr, in linear light; NULL: `rgb` */
    const float *rgb;  /* height x width x 3, linear radiance, 0 or more; copied */
    int width, height; /* of rgb [px]: width = 2 height, at most 16384 wide */
    float rotation;    /* [degrees] about the scene's up axis, counter-clockwise seen from above */
    float strength;    /* factor of its radiance; 0: 1 */
} orr_environment_desc;
/* Gives a scene an environment, in place of its default sun, of ambient light and of a robot's headlight; a
 * sun of the scene file and the lights of robots' models shine besides. It is behind everything unless the
 * view or the scene has a background. Meshes and robots are lit by it: diffuse light by spherical harmonics
 * of degree 2, and materials of the metallic-roughness model mirror it, without shadows; path-traced
 * pictures sample the picture itself. Infinite values are taken as 65504, with a warning. desc NULL: none. No
 * frame may be in flight. */
static inline orr_result orr_scene_set_environment(orr_scene *scene, const orr_environment_desc *desc,
                                                   orr_error *error);
/* The sun of a scene. */
typedef struct orr_sun_desc {
    float direction[3]; /* towards the sun, of any length but 0 */
    float colour[3];    /* linear radiance of a white surface that faces it, 0 or more */
    float ambient[3];   /* that of one in its shadow, from all around, 0 or more */
    /* How bright clouds and fields are in the full shadow of a mesh or robot, of what they are without it, in
     * linear light, up to 1: no shadow falls on them; 0: as it is, 0.4 at first. */
    float umbra;
    float radius; /* half of the angle that it takes in the sky [degrees, at most 30]; 0: its shadows have
                     hard edges */
} orr_sun_desc;
/* Gives a scene a sun, as "sun" of a scene file: it shines besides lights and an environment, and the lights
 * of robots' models are off. desc NULL: the scene has none of its own. No frame may be in flight. */
static inline orr_result orr_scene_set_sun(orr_scene *scene, const orr_sun_desc *desc, orr_error *error);
/* The sun by which captured surfaces are lit. */
typedef struct orr_sun_estimate {
    bool found; /* false: no sun explains how bright they are; the rest is 0 */
    /* White is what the capture shows as white in the sun; its umbra is that of a level surface. */
    orr_sun_desc sun;
    /* 0 .. 1: how much of the differences in brightness between surfaces of one hue the sun explains, by
     * how surfaces face it and by the shadows that the capture casts on itself */
    float explained;
} orr_sun_estimate;
/* Estimates the sun from the clouds and radiance fields of a scene. Runs on the CPU for up to some seconds.
 * ORR_ERROR_ARGUMENT: the scene has neither. */
static inline orr_result orr_scene_estimate_sun(const orr_scene *scene, orr_sun_estimate *estimate,
                                                orr_error *error);
/* Probes: what clouds, fields and other meshes show around a mesh, robot or soft body lights it, diffuse and
 * mirrored, in place of ambient light; behind them is the environment, or the ambient light. The four largest
 * layers have their own, others share the nearest. The CPU makes a probe whole at first, then in parts over
 * six frames while something moves, so that pictures depend on the frames before. A robot that moves and is
 * the only mesh layer in a capture is lit by the capture alone. On by default if lamps alone light several
 * meshes and there is no capture, otherwise off. Paths need none. No frame may be in flight. */
ORR_API orr_result orr_scene_set_probes(orr_scene *scene, bool on, orr_error *error);
/* Rays: smooth surfaces of glTF's metallic-roughness model (roughness at most 0.2), curved ones too, show the
 * meshes, robots, soft bodies, clouds and fields around them, by a ray from each pixel and four at edges of
 * what they meet, and light goes through glass (KHR_materials_transmission); the CPU draws this for all. What
 * no ray meets is as without: the environment, or the ambient light. Off at first. No frame in flight. */
ORR_API orr_result orr_scene_set_rays(orr_scene *scene, bool on, orr_error *error);

/* A light, as in glTF (KHR_lights_punctual), or a rectangle; `radius` gives one a size for the edges of its
 * shadows. */
typedef enum orr_light_kind {
    ORR_LIGHT_KIND_DIRECTIONAL, /* infinitely far away */
    ORR_LIGHT_KIND_POINT,
    ORR_LIGHT_KIND_SPOT,
    ORR_LIGHT_KIND_AREA /* a rectangle that shines evenly to one side; it is not seen itself */
} orr_light_kind;
typedef struct orr_light_desc {
    orr_light_kind kind;
    float position[3];  /* of points and spots, middle of a rectangle [scene units] */
    float direction[3]; /* into which all but points shine, of any length but 0 */
    float colour[3];    /* linear, 0 or more; all 0: white */
    /* Directional: irradiance of a surface that faces it; pi: a white surface has radiance 1. Rectangles: pi
     * times their radiance, which a white surface has that sees nothing else. Others: radiant intensity, the
     * same at a distance of 1; falls with the square of the distance. 0: pi. */
    float intensity;
    float range;        /* distance at which it ends smoothly [scene units]; 0: nowhere */
    float inner, outer; /* spots: half angles between which the cone fades [degrees], inner < outer <= 90;
                           outer 0: 45 */
    bool no_shadows;
    float radius;    /* how large it is, for the edges of its shadows: points and spots [scene units],
                     directional lights half of the angle that they take in the sky [degrees, at most 30]; 0:
                     edges are hard, of a rectangle those of a disc of its area. Path-traced pictures take
                     such a light for a sphere, or a disc in the sky */
    float size[2];   /* of rectangles, along `across` and at a right angle to it, over 0 [scene units] */
    float across[3]; /* of rectangles: a direction that is not `direction`'s; 0: any */
    /* Lights fields, too, less what meshes keep off, and clouds that the scene has when it is added, by their
     * splats' shortest axes as normals, less what clouds keep off. Captured colours are taken for albedos in
     * the scene's sun and ambient light, or without a sun in a light in which white is 1. Takes up to some
     * seconds, and in frames, for clouds that moved or bend, 1 s of one core for a million splats. */
    bool clouds;
} orr_light_desc;
/* Adds a light. A scene with lights has neither its default sun nor the lights of robots' models, but a sun
 * of its scene file. Lights of .glb and .gltf files (KHR_lights_punctual) are lights of the scene too; they
 * come after these, move with their layer and are off while it is hidden. A radiance of 1 is 1 cd/m^2 there:
 * candela and lux are intensities as they are, times the square of the layer's scale, which multiplies
 * ranges. ORR_ERROR_CAPACITY beyond 16; of those in files, the rest is left out with a warning. */
static inline orr_result orr_scene_add_light(orr_scene *scene, const orr_light_desc *light, orr_error *error);
/* Those that were added or are of the scene file. Clouds have the colours of their files again. */
ORR_API orr_result orr_scene_clear_lights(orr_scene *scene, orr_error *error);

/* The mesh of a soft body. The arrays are valid until the layer's body is set again or removed. */
typedef struct orr_soft_info {
    int vertex_count, tet_count, triangle_count;
    const double *mass;  /* vertex_count [kg] */
    const double *rest;  /* vertex_count x 3 [m]: at rest in the layer's space, times the layer's scale */
    const int32_t *tets; /* tet_count x 4: vertices, (b - a) x (c - a) . (d - a) > 0 at rest */
    const int32_t *triangles; /* triangle_count x 3: vertices, of cloth */
    int edge_count;           /* of a rope of a robot's model; others: 0 */
    const int32_t *edges;     /* edge_count x 2: vertices */
} orr_soft_info;
/* ORR_ERROR_ARGUMENT: the layer is not soft. */
static inline orr_result orr_scene_soft_info(const orr_scene *scene, orr_layer layer, orr_soft_info *info,
                                             orr_error *error);
/* Removes a layer and frees what it holds; a robot with the soft bodies of its model. */
ORR_API orr_result orr_scene_remove(orr_scene *scene, orr_layer layer, orr_error *error);
/* The number of layers. */
ORR_API int orr_scene_layer_count(const orr_scene *scene);
/* The layers in the order in which they were added; {0} outside [0, layer_count). */
ORR_API orr_layer orr_scene_layer(const orr_scene *scene, int index);
/* Fills in what a layer is. */
static inline orr_result orr_scene_layer_info(const orr_scene *scene, orr_layer layer, orr_layer_info *info,
                                              orr_error *error);
/* The number of cameras that the scene file names. */
ORR_API int orr_scene_camera_count(const orr_scene *scene);
/* One of them, valid until the scene is destroyed; NULL outside [0, camera_count). */
ORR_API const orr_camera *orr_scene_camera(const orr_scene *scene, int index);
/* A camera that sees every layer, for scenes that name none. */
ORR_API orr_camera orr_scene_default_camera(const orr_scene *scene, int width, int height);
/* Frees the scene and its layers. Its worlds must be destroyed before, and no frame of it be in flight. */
ORR_API void orr_scene_destroy(orr_scene *scene);

/* ---- colliders: signed distances of captured worlds ---------------------------------------------------- */

/* A sparse signed distance grid of a cloud, a mesh or a field, in the layer's space: negative inside solid
 * matter. It is constant and belongs to no engine; several threads may read it. */
typedef struct orr_collider orr_collider;

/* Which side of the surfaces of a cloud or a radiance field is free space; everything else is solid. */
typedef enum orr_collider_side {
    ORR_COLLIDER_AUTO = 0, /* inside, if a space is enclosed that takes most of the bounds */
    ORR_COLLIDER_OUTSIDE,  /* what surrounds the capture: an object, or a place without walls */
    ORR_COLLIDER_INSIDE    /* the largest space that surfaces enclose: a room */
} orr_collider_side;

/* Zero: the defaults. Lengths are in units of the layer. */
typedef struct orr_collider_desc {
    double cell;    /* edge of a cell; 0: a 256th of the longest side of the bounds */
    double opacity; /* clouds, radiance fields: where a cell of this opacity is solid, 0 .. 1; 0: 0.3, 0.5 */
    double gap;     /* clouds, radiance fields: gaps in surfaces up to this width are closed; 0: 4 cells */
    double island;  /* pieces smaller than this share of the largest are left out, 0 .. 1; 0: 0.005 */
    orr_collider_side side; /* clouds, radiance fields */
    float up[3]; /* clouds: free space is above surfaces with free space on both sides; zero: the scene's */
    const float
        *eyes;     /* clouds, radiance fields: eye_count x 3, positions in free space, which decide about */
    int eye_count; /* AUTO; a position that is not in empty space is not used */
} orr_collider_desc;

typedef struct orr_collider_info {
    double cell;            /* edge of a cell */
    double low[3], high[3]; /* the grid's box; outside: the distance at its nearest point + the way to it */
    int64_t bricks;         /* of 8 x 8 x 8 cells, with distances */
    int64_t haze;           /* splats left out, too large to be a surface; 0 where it was loaded */
    int64_t islands;        /* small pieces left out; 0 where it was loaded */
    orr_collider_side side; /* the free side; AUTO: unknown, or a mesh */
} orr_collider_info;

/* Makes the collider of a layer, in seconds. desc NULL: that of the layer's body, or the one that it would
 * have, kept as FILE.collider (see orr_scene_set_physics), without a report of what was left out.
 * ORR_ERROR_ARGUMENT: a robot, or no surface. ORR_ERROR_CAPACITY: the cells are too small for the size. Same
 * numbers for any number of threads. */
static inline orr_result orr_scene_make_collider(const orr_scene *scene, orr_layer layer,
                                                 const orr_collider_desc *desc, orr_collider **collider,
                                                 orr_error *error);
/* Adds its surface to a scene, as a mesh to look at. colour: linear, straight alpha. NULL: as in
 * orr_scene_add_mesh. */
ORR_API orr_result orr_scene_add_collider(orr_scene *scene, const char *name, const orr_collider *collider,
                                          const float colour[4], const orr_transform *transform,
                                          orr_layer *layer, orr_error *error);
/* Reads a .collider file, in milliseconds. */
ORR_API orr_result orr_collider_load(const char *path, orr_collider **collider, orr_error *error);
/* Writes .collider, or the surface as .ply, .obj or .glb, whole or not at all. */
ORR_API orr_result orr_collider_save(const orr_collider *collider, const char *path, orr_error *error);
/* Fills in size, cells and counts. */
static inline orr_result orr_collider_describe(const orr_collider *collider, orr_collider_info *info,
                                               orr_error *error);
/* Signed distances at `count` points (x 3, 0 or more), and their gradients (count x 3, nullable), which point
 * away from solid matter; both of the trilinear interpolation. */
ORR_API orr_result orr_collider_distance(const orr_collider *collider, const double *points, int64_t count,
                                         double *distances, double *gradients, orr_error *error);
/* Frees it. Bodies and layers made from it stay as they are. */
ORR_API void orr_collider_destroy(orr_collider *collider);

/* ---- world: what changes ------------------------------------------------------------------------------- */

/* Copies of a scene's state, one per environment. `index` is a copy, 0 .. count - 1. */
typedef struct orr_world orr_world;

enum { ORR_WORLD_MAX = 10000000 }; /* copies of a scene */

/* The floating-point precision in which robots are simulated. */
typedef enum orr_precision {
    ORR_PRECISION_AUTO = 0, /* float, or double where the inertia matrix is too ill-conditioned for float */
    ORR_PRECISION_F32,
    ORR_PRECISION_F64
} orr_precision;

typedef struct orr_world_desc {
    int count;              /* copies, 1 .. ORR_WORLD_MAX; 0: one */
    orr_device_kind device; /* the device that simulates robots, see orr_world_set_device; unlike there,
                               a robot that does not fit CUDA's memory is ORR_ERROR_MEMORY */
    orr_precision precision;
    int contact_capacity; /* most contacts of a step: on a CPU of the copies of a block (16, 8 or 4) together,
                             on CUDA of each copy; 0: no limit, memory grows as needed. Without a limit, steps
                             on CUDA wait if a model can have more than 2048 and than 16 for each geom */
    int team; /* CUDA: threads that step one copy, 1, 2, 4 or 8, with the same bits; 0: chosen for the GPU */
} orr_world_desc;

/* Copies of a scene, each as it was built. Layers added to the scene later appear in every copy. The scene
 * must outlive the world. */
static inline orr_result orr_world_create_with(const orr_scene *scene, const orr_world_desc *desc,
                                               orr_world **world, orr_error *error);
/* The same with `count` copies and the defaults. */
ORR_API orr_result orr_world_create(const orr_scene *scene, int count, orr_world **world, orr_error *error);
/* Moves a layer in one copy. transform NULL: identity. */
ORR_API orr_result orr_world_set_transform(orr_world *world, int index, orr_layer layer,
                                           const orr_transform *transform, orr_error *error);
/* Shows or hides a layer in one copy. */
ORR_API orr_result orr_world_set_visible(orr_world *world, int index, orr_layer layer, bool visible,
                                         orr_error *error);
/* The transform of a layer and whether it is shown; either may be NULL. */
ORR_API orr_result orr_world_get(const orr_world *world, int index, orr_layer layer, orr_transform *transform,
                                 bool *visible, orr_error *error);
/* Frees all copies. No frame of the world may be in flight. */
ORR_API void orr_world_destroy(orr_world *world);

/* ---- robots: layers that physics moves -----------------------------------------------------------------
 * A robot is an MJCF or URDF file with MuJoCo's semantics; names and sizes are those of MuJoCo's model.
 * Robots whose layers have the same scale are simulated together and collide with each other. They use the
 * smallest of their time steps, and the gravity and all other options of the first robot. Each robot keeps
 * its own names, and its state is in the frame of its layer. Robots of scale 1 also collide with clouds,
 * meshes and fields that have a body (orr_scene_set_physics). */

typedef struct orr_robot_info {
    int qpos_count, qvel_count, act_count, ctrl_count;
    int body_count; /* including body 0, the world */
    int keyframe_count;
    double timestep;    /* [s], the smallest of the robots simulated together */
    int equality_count; /* equality constraints: connect, weld, joint, tendon */
    int mocap_count;    /* mocap bodies, whose poses are set by the caller */
    int joint_count, actuator_count, sensor_count;
    int sensor_number_count; /* numbers of all sensors */
    int geom_count, site_count, tendon_count, camera_count;
    int soft_count;           /* soft bodies without nodes; in a scene each is a layer of its own */
    int unused_count;         /* parts of the file that have no effect on the simulation */
    const char *unused_first; /* the first of them; "" when there are none; valid until the layer is
                                  removed */
    int output_count;         /* forces of all actuators: three of an orientation servo, one of others */
    int material_count;
} orr_robot_info;

typedef enum orr_robot_element_kind {
    ORR_ROBOT_ELEMENT_JOINT = 0, /* has numbers of ORR_ROBOT_QPOS and of ORR_ROBOT_QVEL */
    ORR_ROBOT_ELEMENT_ACTUATOR,  /* of ORR_ROBOT_CTRL */
    ORR_ROBOT_ELEMENT_SENSOR     /* of ORR_ROBOT_SENSOR */
} orr_robot_element_kind;

typedef struct orr_robot_element {
    const char *name;                   /* "" when it has none; valid until the layer is removed */
    int first, count;                   /* the range of its numbers there */
    int first_velocity, velocity_count; /* joints: the range in ORR_ROBOT_QVEL */
    bool limited;                       /* joints, actuators: low and high apply */
    double low, high; /* of positions [m, rad] (a ball joint: 0 and the largest angle), of each control */
    int first_output, output_count; /* actuators: the range in ORR_ROBOT_ACTUATOR_FORCE ... */
} orr_robot_element;

typedef enum orr_robot_quantity {
    ORR_ROBOT_TIME = 0,    /* 1 [s] */
    ORR_ROBOT_QPOS,        /* qpos_count: generalised coordinates */
    ORR_ROBOT_QVEL,        /* qvel_count: generalised velocities */
    ORR_ROBOT_ACT,         /* act_count: activations of actuators */
    ORR_ROBOT_CTRL,        /* ctrl_count: controls of actuators; they stay until they are set again */
    ORR_ROBOT_FORCE,       /* body_count x 6: force, then torque, on each body at its centre of mass, in the
                           axes of the robot's layer [N, N m]; they stay until they are set again */
    ORR_ROBOT_EQUALITY,    /* equality_count: 1 for an equality constraint that is active, 0 for one that is
                           not, such as the weld of an object that a gripper has let go */
    ORR_ROBOT_JOINT_FORCE, /* qvel_count: additional generalised forces [N, N m]; they stay */
    ORR_ROBOT_MOCAP_POSITION, /* mocap_count x 3: of mocap bodies [m] */
    ORR_ROBOT_MOCAP_ROTATION, /* mocap_count x 4: unit quaternions w x y z */
    /* these and all that follow are computed from the current state, and cannot be set, except as noted */
    ORR_ROBOT_ACCELERATION,   /* qvel_count: time derivative of QVEL, at the start of the last step */
    ORR_ROBOT_BODY_POSITION,  /* body_count x 3: of the bodies' frames, in the layer's [m] */
    ORR_ROBOT_BODY_ROTATION,  /* body_count x 4: unit quaternions w x y z */
    ORR_ROBOT_CONTACT_FORCE,  /* body_count x 6: MuJoCo's cfrc_ext: torque, then force, on each body by
                                contacts, equality constraints and FORCE, at the centre of mass of its tree
                                [N m, N] */
    ORR_ROBOT_ACTUATOR_FORCE, /* output_count [N, N m] */
    ORR_ROBOT_SENSOR,         /* sensor_number_count: MuJoCo's sensordata */
    /* Other arrays of MuJoCo's mjData, by their names there. Matrices are 3 x 3, by rows. These three belong
     * to the state, and can be set: */
    ORR_ROBOT_PLASTIC,        /* rest positions of springs that yield [m, rad] */
    ORR_ROBOT_DELAYED,        /* for each control of a delayed actuator its values in the last nsample steps,
                                 the newest first; then for each number of a delayed sensor its last nsample
                                 samples, preceded, with an interval, by the steps since the last one was
                                 due, less that number at the start */
    ORR_ROBOT_QACC_WARMSTART, /* qvel_count: where the constraint solver starts [m/s^2, rad/s^2] */
    ORR_ROBOT_XMAT,           /* body_count x 9 */
    ORR_ROBOT_XIPOS,          /* body_count x 3: centres of mass [m] */
    ORR_ROBOT_XIMAT,          /* body_count x 9: frames of inertia */
    ORR_ROBOT_XANCHOR,        /* joint_count x 3 [m] */
    ORR_ROBOT_XAXIS,          /* joint_count x 3: unit vectors */
    ORR_ROBOT_GEOM_XPOS,      /* geom_count x 3 [m] */
    ORR_ROBOT_GEOM_XMAT,      /* geom_count x 9 */
    ORR_ROBOT_SITE_XPOS,      /* site_count x 3 [m] */
    ORR_ROBOT_SITE_XMAT,      /* site_count x 9 */
    ORR_ROBOT_CAM_XPOS,       /* camera_count x 3 [m] */
    ORR_ROBOT_CAM_XMAT,       /* camera_count x 9 */
    ORR_ROBOT_SUBTREE_COM,    /* body_count x 3: of a body with its descendants [m] */
    ORR_ROBOT_SUBTREE_LINVEL, /* body_count x 3 [m/s] */
    ORR_ROBOT_SUBTREE_ANGMOM, /* body_count x 3 [kg m^2/s] */
    ORR_ROBOT_CDOF,         /* qvel_count x 6: motions of dofs, angular, then linear, about the centre of mass
                                 of the tree */
    ORR_ROBOT_CINERT,       /* body_count x 10 */
    ORR_ROBOT_CVEL,         /* body_count x 6: angular, then linear */
    ORR_ROBOT_CACC,         /* body_count x 6, less gravity */
    ORR_ROBOT_CFRC_INT,     /* body_count x 6: torque and force between a body and its parent */
    ORR_ROBOT_QM,           /* lower triangle of the inertia matrix, by rows; robots simulated alone */
    ORR_ROBOT_TEN_LENGTH,   /* tendon_count [m, rad] */
    ORR_ROBOT_TEN_VELOCITY, /* tendon_count */
    ORR_ROBOT_ACTUATOR_LENGTH,   /* output_count [m, rad] */
    ORR_ROBOT_ACTUATOR_VELOCITY, /* output_count */
    ORR_ROBOT_QFRC_BIAS,         /* qvel_count each: generalised forces [N, N m] */
    ORR_ROBOT_QFRC_PASSIVE,
    ORR_ROBOT_QFRC_ACTUATOR,
    ORR_ROBOT_QFRC_CONSTRAINT,
    ORR_ROBOT_QFRC_INVERSE, /* the force that would give ACCELERATION */
    ORR_ROBOT_ENERGY,       /* 2: potential, kinetic [J]; robots simulated alone */
    /* With MuJoCo's flag sleep (otherwise 0 numbers), of robots simulated alone. They can be set: */
    ORR_ROBOT_TREE_ASLEEP, /* for each kinematic tree. 0 or more: it sleeps, with the trees of the same
                               number. -11 .. -1: it is awake; steps since it last moved */
    ORR_ROBOT_ASLEEP_QPOS, /* qpos_count: QPOS when trees fell asleep; a difference wakes a tree */
    ORR_ROBOT_QUANTITIES   /* how many quantities there are */
} orr_robot_quantity;

typedef enum orr_number_kind { ORR_NUMBER_F64 = 0, ORR_NUMBER_F32 } orr_number_kind;

/* Fills in the sizes of a robot's model. */
static inline orr_result orr_scene_robot_info(const orr_scene *scene, orr_layer robot, orr_robot_info *info,
                                              orr_error *error);
/* A joint, actuator or sensor: its name, numbers and range. ORR_ERROR_ARGUMENT: the index is out of
 * range. */
static inline orr_result orr_scene_robot_element(const orr_scene *scene, orr_layer robot,
                                                 orr_robot_element_kind kind, int index,
                                                 orr_robot_element *element, orr_error *error);
/* Kinds of named elements of a robot. orr_robot_info has the number of each. */
typedef enum orr_robot_object {
    ORR_ROBOT_OBJECT_BODY = 0,
    ORR_ROBOT_OBJECT_GEOM,
    ORR_ROBOT_OBJECT_SITE,
    ORR_ROBOT_OBJECT_JOINT,
    ORR_ROBOT_OBJECT_TENDON,
    ORR_ROBOT_OBJECT_ACTUATOR,
    ORR_ROBOT_OBJECT_SENSOR,
    ORR_ROBOT_OBJECT_CAMERA,
    ORR_ROBOT_OBJECT_EQUALITY,
    ORR_ROBOT_OBJECT_KEYFRAME,
    ORR_ROBOT_OBJECT_MATERIAL
} orr_robot_object;
/* The name of one, "" if it has none, NULL if the index is out of range; valid until the layer is removed. */
ORR_API const char *orr_scene_robot_name(const orr_scene *scene, orr_layer robot, orr_robot_object kind,
                                         int index);
/* The index of the element with this name; -1: none. */
ORR_API int orr_scene_robot_find(const orr_scene *scene, orr_layer robot, orr_robot_object kind,
                                 const char *name);
/* MuJoCo's name of a quantity, such as "qpos" or "sensordata"; NULL for an invalid quantity. */
ORR_API const char *orr_robot_quantity_name(orr_robot_quantity quantity);
/* The name of a body, "" when it has none, NULL outside [0, body_count); valid until the layer is removed. */
ORR_API const char *orr_scene_robot_body(const orr_scene *scene, orr_layer robot, int body);

/* Chooses the device that simulates all robots of a world: ORR_DEVICE_CPU, or ORR_DEVICE_CUDA, where states
 * stay in the GPU's memory and frames that CUDA draws read bodies from there. ORR_DEVICE_AUTO, the default,
 * is CUDA when the engine draws with CUDA and there are at least 512 copies per thread of the engine, because
 * a GPU is slow with few. States are copied; the results of both agree to rounding. A robot that does not fit
 * a device's memory stays on the CPU, and a log line says so. If the device fails later, the next call that
 * notices returns ORR_ERROR_DEVICE once, and robots continue on the CPU, each block of 32 copies from the
 * state that was last set or read. For soft layers see docs/devices.md. */
ORR_API orr_result orr_world_set_device(orr_world *world, orr_device_kind device, orr_error *error);
/* ORR_DEVICE_CUDA when a robot is simulated there, otherwise ORR_DEVICE_CPU. */
ORR_API orr_device_kind orr_world_device(const orr_world *world);

/* Simulates `steps` time steps of every robot in every copy; robots that touch have the same time step.
 * ORR_ERROR_UNSUPPORTED names a feature of a model that the simulation lacks; robots before it in the
 * scene have moved, and it is drawn in its initial pose. On CUDA it returns when the steps are queued;
 * functions that read a state wait for them. */
ORR_API orr_result orr_world_step(orr_world *world, int steps, orr_error *error);
/* The same in the copies whose byte of `mask` (one for each copy) is not 0; the others keep their state, to
 * the bit. mask NULL: all copies. */
ORR_API orr_result orr_world_step_masked(orr_world *world, int steps, const uint8_t *mask, orr_error *error);
/* The same for 0 .. 1e6 seconds, in whole time steps; the remainder is kept for the next call. */
ORR_API orr_result orr_world_advance(orr_world *world, double seconds, orr_error *error);
/* Sets a robot in one copy to its initial state (keyframe -1) or to one of the model's keyframes. */
ORR_API orr_result orr_world_reset_robot(orr_world *world, int index, orr_layer robot, int keyframe,
                                         orr_error *error);
/* Sets all robots of the copies whose byte of `mask` is not 0 to their initial state; mask NULL: all
 * copies. */
ORR_API orr_result orr_world_reset_masked(orr_world *world, const uint8_t *mask, orr_error *error);
/* Waits until all steps are done, and reports a device that has failed. On the CPU it returns at once. */
ORR_API orr_result orr_world_wait(orr_world *world, orr_error *error);
/* Computes ACCELERATION for the current states and controls; nothing moves. */
ORR_API orr_result orr_world_forward(orr_world *world, orr_error *error);
/* Reads or sets one quantity in one copy; `values` has the size given at orr_robot_quantity.
 * ORR_ERROR_UNSUPPORTED: QM, CDOF and ENERGY of a robot that is simulated with others. */
ORR_API orr_result orr_world_get_robot(const orr_world *world, int index, orr_layer robot,
                                       orr_robot_quantity quantity, double *values, orr_error *error);
ORR_API orr_result orr_world_set_robot(orr_world *world, int index, orr_layer robot,
                                       orr_robot_quantity quantity, const double *values, orr_error *error);
/* The same in all copies whose byte of `mask` (one for each copy) is not 0; mask NULL: in all. values: floats
 * or doubles as `kind` says, copies x the quantity's size; rows of other copies are neither read nor written.
 * One call is much faster than one for each copy. */
ORR_API orr_result orr_world_get_robots(const orr_world *world, orr_layer robot, orr_robot_quantity quantity,
                                        const uint8_t *mask, orr_number_kind kind, void *values,
                                        orr_error *error);
ORR_API orr_result orr_world_set_robots(orr_world *world, orr_layer robot, orr_robot_quantity quantity,
                                        const uint8_t *mask, orr_number_kind kind, const void *values,
                                        orr_error *error);
/* How many numbers of a quantity a robot has in each copy. */
ORR_API orr_result orr_world_robot_numbers(const orr_world *world, orr_layer robot,
                                           orr_robot_quantity quantity, int *count, orr_error *error);
/* Reads several different quantities, 1 .. ORR_ROBOT_QUANTITIES; what they have in common is computed once.
 * values: copies x the numbers of one quantity after the other. */
ORR_API orr_result orr_world_read_robots(const orr_world *world, orr_layer robot,
                                         const orr_robot_quantity *quantities, int count, const uint8_t *mask,
                                         orr_number_kind kind, void *values, orr_error *error);

/* Parameters of a robot's model that can differ between copies (domain randomisation). */
typedef enum orr_robot_parameter {
    ORR_PARAMETER_BODY_MASS = 0, /* body_count [kg]; inertias are not changed with it */
    ORR_PARAMETER_BODY_INERTIA,  /* body_count x 3: principal moments [kg m^2] */
    ORR_PARAMETER_GEOM_FRICTION, /* geom_count x 3: sliding, torsional [m], rolling [m]; pairs that the model
                                     declares are not affected */
    ORR_PARAMETER_GEOM_SIZE,     /* geom_count x 3 [m], for collisions; inertias and pictures are not changed;
                                     not of meshes, height fields and distance grids */
    ORR_PARAMETER_DOF_DAMPING,   /* qvel_count [N s/m, N m s/rad] */
    ORR_PARAMETER_DOF_ARMATURE,  /* qvel_count [kg, kg m^2] */
    ORR_PARAMETER_ACTUATOR_GAIN, /* actuator_count x 10: MuJoCo's gainprm */
    ORR_PARAMETER_ACTUATOR_BIAS, /* actuator_count x 10: biasprm */
    ORR_PARAMETER_GRAVITY,       /* 3 [m/s^2]; of robots simulated together only the first has it */
    ORR_PARAMETER_START_QPOS,    /* qpos_count: the QPOS of a reset */
    ORR_PARAMETER_START_QVEL     /* qvel_count */
} orr_robot_parameter;

/* How many numbers of a parameter a robot has in each copy. */
ORR_API orr_result orr_world_parameter_numbers(const orr_world *world, orr_layer robot,
                                               orr_robot_parameter parameter, int *count, orr_error *error);
/* Reads or sets a parameter in the copies whose byte of `mask` is not 0 (NULL: all): copies x its numbers;
 * rows of other copies are neither read nor written. What follows from a parameter (inverse weights, mixed
 * friction, bounding spheres) is computed again, as by MuJoCo's mj_setConst. Copies that are not set keep the
 * bits of the model. A value stays until it is set again, also through resets and changes of the device.
 * ORR_ERROR_ARGUMENT: a number that is not finite or out of range. ORR_ERROR_UNSUPPORTED: masses and inertias
 * in a fluid, among others. A model whose inertia matrix becomes singular is refused. */
ORR_API orr_result orr_world_get_parameters(const orr_world *world, orr_layer robot,
                                            orr_robot_parameter parameter, const uint8_t *mask,
                                            double *values, orr_error *error);
ORR_API orr_result orr_world_set_parameters(orr_world *world, orr_layer robot, orr_robot_parameter parameter,
                                            const uint8_t *mask, const double *values, orr_error *error);

/* Two geoms that are nearer than their margin. */
typedef struct orr_contact {
    int geom1, geom2; /* of the robot (ORR_ROBOT_OBJECT_GEOM); -1: of another layer, or of a soft body */
    int dimension;    /* MuJoCo's condim: 1, 3, 4 or 6 */
    double distance;  /* [m], negative: penetration */
    double position[3];
    double frame[9]; /* rows: the normal, from geom1 to geom2, and two tangents */
    double force[6]; /* in that frame: normal and tangential force [N], torques [N m] */
} orr_contact;

/* The contacts of the copies whose byte of `mask` is not 0 (NULL: all), in their current states and in the
 * frame of the robot's layer. Of contacts between two robots it has those whose first geom is its own.
 * counts: copies: the number in each; contacts: copies x capacity, of which the first counts[i] of row i are
 * written. Copies that have diverged have none. */
static inline orr_result orr_world_get_contacts(const orr_world *world, orr_layer robot, const uint8_t *mask,
                                                int capacity, orr_contact *contacts, int *counts,
                                                orr_error *error);
/* A soft pad with a grid of sensing points (taxels) on a geom of a robot, as TacSL's (arXiv 2408.06506). The
 * pad's frame has x along the columns, y along the rows and z out of the geom. Taxels are on the geom's
 * surface below (along -z) a flat rectangle, the outer ones below its sides. */
typedef struct orr_tactile_desc {
    int geom;          /* of the robot (ORR_ROBOT_OBJECT_GEOM); not a plane */
    int rows, columns; /* 1 .. 1024; 0: 20 and 25 */
    double normal[3];  /* z of the pad, in the geom's frame; 0: the geom's z */
    double across[3];  /* x of the pad is the part of this perpendicular to z; 0: the geom's axis after the
                          one that is nearest to the normal (x after z) */
    double centre[3];  /* of the rectangle, from the middle of the geom's box, in its frame [m] */
    double size[2];    /* of the rectangle [m]; 0: that of the geom's box, less 3 mm at each side */
    double stiffness;  /* of a taxel [N/m]; 0: 1 */
    double damping;    /* of a taxel that slides [N s/m]; 0: 0.1 */
    double friction;   /* 0: 2 */
    double thickness;  /* of the pad, the most that heights can be [m]; 0: 0.004 */
} orr_tactile_desc;

/* The forces on a pad in the copies whose byte of `mask` is not 0 (NULL: all), in their current states.
 * forces: copies x rows x columns x 3 [N], nullable. Where a taxel is at depth d > 0 in another geom with the
 * outward normal n, it gets f = stiffness d n - min(damping |v|, friction stiffness d) v / |v|, where v is
 * the velocity of the taxel less that of the geom's nearest point, perpendicular to n. Written are -f_z,
 * f_x and f_y. heights: copies x rows x columns [m], nullable: how far geoms reach into the pad along its
 * normal, 0 .. thickness. Rows of other copies are not written, those of copies that have diverged are 0.
 * The pad feels geoms that can collide, of this robot and of those simulated with it, except geoms of its
 * own body, of the parent and of excluded bodies; and soft solids and closed cloth that its body does not
 * hold, which sink into a pad that collides with nothing. The deepest counts. The pad itself exerts no force:
 * solref and solimp of its geom decide how far others sink in. On the CPU, also for robots on CUDA. */
static inline orr_result orr_world_get_tactile(const orr_world *world, orr_layer robot,
                                               const orr_tactile_desc *desc, const uint8_t *mask,
                                               float *forces, float *heights, orr_error *error);

/* What the camera behind the gel of a GelSight-like sensor sees of heights (orr_world_get_tactile), by the
 * table of Taxim (Si and Yuan, arXiv 2109.04027), as TacSL draws it. */
typedef struct orr_tactile_colours {
    int rows, columns; /* of heights and of a picture, 3 .. 1024 */
    double pixel;      /* distance between heights [m], more than 0 */
    int bins;          /* of the table, 2 .. 1024 a side; 0 without one */
    /* bins x bins x 3 x 6: by steepness, direction and channel the factors of x^2, y^2, x y, x, y and 1 in
       what is added to the background, where x is the column and y the row. NULL: a matte gel under a red, a
       green and a blue lamp, 120 degrees apart and 45 degrees above the pad; red shines from the last
       column. */
    const float *table;
    const float *background; /* rows x columns x 3, 0 .. 255: the picture of a flat gel; NULL: 128 */
} orr_tactile_colours;

/* Draws `count` pictures of heights: count x rows x columns [m], finite, and rgb: count x rows x columns x 3.
 * Heights are blurred by a binomial 5 x 5; with the slopes a along columns and b along rows, the steepness
 * atan(sqrt(a^2 + b^2)) in 0 .. pi / 2 and the direction atan2(b, a) in -pi .. pi choose the bin. */
static inline orr_result orr_tactile_pictures(const orr_engine *engine, const orr_tactile_colours *colours,
                                              int count, const float *heights, uint8_t *rgb,
                                              orr_error *error);

/* Jacobians of a point of a body, geom or site (MuJoCo's mj_jac), in the axes of the robot's layer: its
 * velocity is jacp qvel, the angular velocity of its body jacr qvel. jacp, jacr: copies x 3 x qvel_count.
 * points: copies x 3, positions in the layer [m]; NULL: the origin of the object's frame. */
ORR_API orr_result orr_world_get_jacobians(const orr_world *world, orr_layer robot, orr_robot_object kind,
                                           int index, const uint8_t *mask, const double *points, double *jacp,
                                           double *jacr, orr_error *error);

/* How a robot and those simulated with it are computed, and how accurately so far. */
typedef struct orr_simulation_info {
    bool double_precision;
    int lanes;             /* copies of a block: the lanes of SIMD, 32 on CUDA */
    int team;              /* CUDA: threads that step one copy; CPU: 1 */
    int64_t world_bytes;   /* of state, of a copy */
    int64_t scratch_bytes; /* of a thread; on CUDA of a block of 32 copies */
    int contact_capacity;  /* as given, or the number there is memory for so far */
    int contacts_needed;   /* the most that a step has needed, of a block, or on CUDA of a copy; above the
                            capacity contacts were left out, the last in the order of pairs */
    int inaccurate_worlds; /* copies in which a step was inaccurate: the solver of constraints stopped at the
                                model's limit of iterations before it had converged, or rounding left two
                                digits of a pivot of the inertia matrix's factor, or less */
    int64_t inaccurate_steps; /* of all copies */
    int iterations;           /* of the solver: the most that a block has needed */
    int diverged_worlds;      /* copies whose numbers are no longer finite */
    int64_t restarts;         /* resets after divergence (orr_world_set_autoreset) */
    orr_device_kind device;
    const char *device_name; /* "cpu", or the GPU's; valid until the world is destroyed */
} orr_simulation_info;

/* Waits for steps that are queued. */
static inline orr_result orr_world_simulation(const orr_world *world, orr_layer robot,
                                              orr_simulation_info *info, orr_error *error);

/* A quantity of all copies in the memory of a CUDA device: number i of copy w is a float, or a double, at
 * ((char *)numbers + w / 32 * block_bytes)[i][w % 32]. */
typedef struct orr_cuda_view {
    void *numbers; /* device pointer, in CUDA's primary context */
    int64_t block_bytes;
    int count; /* numbers of a copy */
    orr_number_kind kind;
    int device;   /* CUDA's index */
    void *stream; /* cudaStream_t, in which the world steps */
} orr_cuda_view;

/* Gives access to a quantity without a copy, of a robot that is simulated alone on CUDA. It waits for steps
 * that are queued. A computed quantity is valid until the next call with this world, one of the state until
 * a parameter is set for the first time or the device changes. Other work may write a quantity of the state
 * before the next call, and must ask for it again before it writes again. Time in f32 is rounded there, and
 * not to be written. ORR_ERROR_ARGUMENT: the robot is on the CPU. */
static inline orr_result orr_world_robot_device_view(orr_world *world, orr_layer robot,
                                                     orr_robot_quantity quantity, orr_cuda_view *view,
                                                     orr_error *error);
/* The transform of a body's frame in the scene. */
ORR_API orr_result orr_world_body_transform(const orr_world *world, int index, orr_layer robot, int body,
                                            orr_transform *transform, orr_error *error);
/* Reads or sets the vertices of a soft body in one copy: vertex_count x 3, positions in the scene [m] and
 * velocities [m/s], finite; NULL: not read, or unchanged. Steps from a state that was set have the same bits
 * each time; pinned vertices stay where they are set. A soft body with nodes follows QPOS: read only. */
ORR_API orr_result orr_world_get_soft(const orr_world *world, int index, orr_layer layer, double *positions,
                                      double *velocities, orr_error *error);
ORR_API orr_result orr_world_set_soft(orr_world *world, int index, orr_layer layer, const double *positions,
                                      const double *velocities, orr_error *error);
/* Takes hold of a body of a robot, of a moving body (body: 1) or of a soft body (body: any) at a point of the
 * scene, in copy 0, as the mouse does in the viewer. A critically damped spring, as stiff as the model says
 * (<visual><map stiffness>), keeps it there until it is pulled elsewhere or released. ORR_ERROR_ARGUMENT: it
 * cannot move, or nodes of a robot move it. */
ORR_API orr_result orr_world_grab(orr_world *world, orr_layer layer, int body, const double point[3],
                                  orr_error *error);
/* Moves the point that is held to a place of the scene: x, y, z. Steps follow it. */
ORR_API orr_result orr_world_pull(orr_world *world, orr_layer layer, const double to[3], orr_error *error);
ORR_API orr_result orr_world_release(orr_world *world, orr_layer layer, orr_error *error);
/* Whether the state of a robot or soft body in one copy is no longer finite. It then keeps its last finite
 * pose, without being simulated, until it is reset or set; other copies continue. */
ORR_API orr_result orr_world_robot_diverged(const orr_world *world, int index, orr_layer robot,
                                            bool *diverged, orr_error *error);
/* With autoreset on (default off), a robot whose numbers diverge returns to its initial state in the same
 * step, with all robots simulated with it in that copy, unless the model's flag disables it. */
ORR_API orr_result orr_world_set_autoreset(orr_world *world, bool on, orr_error *error);
/* How often that has happened to a robot in one copy, since robots were last added, removed or moved to
 * another device. */
ORR_API orr_result orr_world_robot_restarts(const orr_world *world, int index, orr_layer robot, int *count,
                                            orr_error *error);

/* The number of cameras in one copy: those of the scene, then those of each robot, in the order of the
 * layers. */
ORR_API int orr_world_camera_count(const orr_world *world);
/* The name of a camera: what its scene file or its robot says, or the picture that a cameras_file names for
 * it; "" when it has none, NULL outside [0, camera_count). Valid until the scene is destroyed, a robot's
 * until its layer is removed. */
ORR_API const char *orr_world_camera_name(const orr_world *world, int camera);
/* The current state of a camera; robots move theirs. width 0: the size in its file, or 1280 x 720. */
ORR_API orr_result orr_world_camera(const orr_world *world, int index, int camera, int width, int height,
                                    orr_camera *out, orr_error *error);

/* ---- registration: photos and videos become captures --------------------------------------------------- */

/* Finds the cameras of photos or of a video's frames with COLMAP, a program that runs as a child process
 * (Debian's package colmap; the first "colmap" on PATH), and writes them as a capture: a folder with
 *
 *     transforms.json    cameras and lenses, as instant-ngp and nerfstudio read them
 *     images/            the photos that have a pose
 *     masks/NAME.png     of photos that have masks: black is not to be learned from
 *     points.ply         the points that COLMAP found, with colours; transforms.json names it (ply_file_path)
 *     sparse/0/          the same cameras and points as a COLMAP model, which also says what sees what
 *     cameras.png        a picture of cameras and points
 *
 * Its world has z up, the point that all photos look at as its origin, and cameras at a mean distance of 4
 * from there, or metres where a distance is given. COLMAP's own results differ a little from run to run. */
typedef struct orr_registration orr_registration;

/* Called ten times a second, and before each stage: `done` of `total` parts of it are. Return false to
 * stop: the call fails with ORR_ERROR_INTERRUPTED, and leaves nothing. It must not call the engine; `stage`
 * is valid until it returns. */
typedef bool (*orr_registration_progress_fn)(void *user, const char *stage, int64_t done, int64_t total);

typedef struct orr_registration_desc {
    /* A folder of photos (.jpg .jpeg .png .bmp), or with a folder "images" of them; a video (.mp4 .mov .mkv
     * .webm .avi .ts); or a folder with a COLMAP model and its images, which needs no COLMAP. */
    const char *source;
    const char *output; /* the capture's folder: one that is empty or not there; it appears whole or not */
    const char *masks;  /* folder of masks NAME.png or NAME.jpg.png for photos NAME.jpg; NULL: "masks" in the
                           photos' folder or beside it, if it is there. dynamic_mask_NAME.png beside a photo,
                           where everything but black is left out, needs no folder */
    int frames;         /* of a video, at most, 3 .. 10000; 0: 150 */
    int features;       /* of a photo, at most, 100 .. 100000; 0: 2048 */
    int feature_side;   /* features are found in photos whose longer side is at most so long [px], 200 ..
                           16384; 0: 1600 */
    bool sequential;    /* photos are in order: each is compared with neighbours only, as frames always are;
                           false: with all others */
    bool undistort;     /* photos are drawn anew as pinhole cameras take them; false: lenses are kept */
    const char *scale_from, *scale_to; /* two photos whose cameras are scale_metres apart; NULL: no metres */
    double scale_metres;
    orr_registration_progress_fn progress; /* NULL: none */
    void *progress_user;
} orr_registration_desc;

/* Where the direction of up comes from. */
typedef enum orr_up_source {
    ORR_UP_CAMERAS = 0, /* cameras are held level: the plane of their horizontal axes */
    ORR_UP_EXIF,        /* the same, of photos turned as their EXIF orientation says */
    ORR_UP_MEAN         /* horizontal axes that do not span a plane: the mean of what is up in the photos */
} orr_up_source;

typedef struct orr_registration_info {
    int photos;          /* that were given, or frames that were chosen */
    int registered;      /* of these, that have a pose */
    int masks;           /* that were honoured */
    int models;          /* that COLMAP found, which do not hang together; the largest is the capture */
    int64_t frames_read; /* of a video; 0: of photos */
    int64_t points;
    double reprojection_error; /* mean over the points [px] */
    double photos_per_point;   /* mean */
    orr_up_source up;
    int oriented;     /* registered photos whose EXIF data say their orientation */
    double up_spread; /* root mean square of the angles between horizontal axes and the plane [rad] */
    bool metric, undistorted;
    orr_camera camera; /* the first, as it was written */
} orr_registration_info;

static inline orr_result orr_registration_create(orr_engine *engine, const orr_registration_desc *desc,
                                                 orr_registration **registration, orr_error *error);
static inline orr_result orr_registration_describe(const orr_registration *registration,
                                                   orr_registration_info *info, orr_error *error);
/* The names of the photos that have no pose, with "unreadable: " before those that could not be opened; NULL
 * outside their number. Valid until the registration is destroyed. */
ORR_API const char *orr_registration_left_out(const orr_registration *registration, int index);
ORR_API void orr_registration_destroy(orr_registration *registration);

/* ---- environments: tasks for reinforcement learning, many at once -------------------------------------- */

/* Copies of a robot with a task: observations, rewards, and how episodes begin and end.
 * Tasks are Gymnasium's MuJoCo environments of version 5 with their default parameters:
 * observations, rewards, ends and starts as in gymnasium/envs/mujoco, with positions and forces as MuJoCo
 * leaves them after a step, of when forces were computed last. They are simulated on the CPU. After
 * orr_env_create nothing is allocated, except for contacts of soft bodies, as many as there are. Random
 * starts are a function of an environment's seed and of how many episodes it has begun; all numbers are the
 * same for any number of threads and environments, except that one environment alone rounds differently. */
typedef struct orr_env orr_env;

enum { ORR_ENV_MAX = 1 << 20 }; /* environments together */

/* What follows the end of an episode, terminated or truncated. */
typedef enum orr_autoreset {
    ORR_AUTORESET_NEXT_STEP = 0, /* the next step begins an episode in its place: its action is not used, its
                                    reward is 0 */
    ORR_AUTORESET_SAME_STEP,     /* the same step begins the next one: `observation` is the first of that,
                                    `final_observation` the last of the episode that has ended */
    ORR_AUTORESET_DISABLED       /* a step is refused until orr_env_reset */
} orr_autoreset;

/* Environments as the functions of orr_env_callbacks see them: first .. first + count - 1, with which all
 * arrays begin. A function is about those whose byte of `mask` is not 0, and must not write to the rows of
 * others. All of it is the library's and valid during the call. */
typedef struct orr_env_batch {
    int first, count;
    const uint8_t *mask; /* count */
    /* count x number_count: what orr_env_callbacks.quantities names, one after the other; NULL in randomise
       and start. Forces are those of the last time step; what follows from a state (positions of bodies,
       sensors) is as MuJoCo leaves it after mj_step, of when forces were computed last, or, with up_to_date,
       of the state. After a start all of it is of the state, and contact forces are 0. */
    const double *numbers;
    const double *before;     /* the same before this step; after a start: equal to `numbers` */
    const int *offsets;       /* of each quantity in a row of `numbers` and `before` */
    const float *actions;     /* count x action_count, as orr_env_step got them; NULL unless it is a step */
    const int32_t *steps;     /* count: of the episode, with this one; 0 at its start */
    const uint32_t *seeds;    /* count: of the environments */
    const uint32_t *episodes; /* count: begun with that seed; in randomise and start without the new one */
    int number_count, action_count, qpos_count, qvel_count, observation_count;
    double seconds; /* of a step */
    /* count x soft_count x 6: centres of mass of the scene's soft bodies and their velocities [m, m/s], in
       the frame of its robots; NULL in randomise and start. */
    const double *softs;
    int soft_count;
} orr_env_batch;

/* A task as functions of the caller, in place of a name or a file. The library calls them during
 * orr_env_create, _reset, _step and _set_state; they must not call functions of these environments or of
 * their engine. Episodes are the same for any number of threads and environments when what they write for an
 * environment depends on its row of the batch alone, and on random numbers of orr_env_uniform. Memory of
 * their own may be kept behind `user`, by the index of the environment (first + row). */
typedef struct orr_env_callbacks {
    size_t size; /* sizeof(orr_env_callbacks) */
    void *user;  /* of the caller, given to each function */
    /* true: they are called for blocks of up to 32 environments, from several threads at once. false: for all
       environments at once, from the thread that called the library. */
    bool parallel;
    int frame_skip;        /* time steps of the model in a step; 0: 1 */
    int observation_count; /* numbers of an observation, 1 .. 1,000,000 */
    /* quantity_count: what the functions read, each once; not ORR_ROBOT_QFRC_INVERSE. */
    const orr_robot_quantity *quantities;
    int quantity_count;
    /* parameter_count: what `randomise` sets, each once; not ORR_PARAMETER_START_QPOS and _QVEL. */
    const orr_robot_parameter *parameters;
    int parameter_count;
    /* Number `index` of `parameters`, before an episode: count x size, which hold the model's. A number that
       is out of range makes the call that begins the episode fail. NULL: they stay the model's. */
    void (*randomise)(void *user, const orr_env_batch *batch, int index, int size, double *values);
    /* Where episodes begin: count x qpos_count, count x qvel_count, which hold the model's qpos0, and zeros.
       NULL: there. */
    void (*start)(void *user, const orr_env_batch *batch, double *qpos, double *qvel);
    /* After a step: 1 where it ended the episode (count, all 0 before). NULL: never. */
    void (*terminate)(void *user, const orr_env_batch *batch, uint8_t *terminated);
    /* Then its rewards (count, all 0 before). NULL: 0. */
    void (*reward)(void *user, const orr_env_batch *batch, const uint8_t *terminated, double *reward);
    /* Then, and after starts: count x observation_count. */
    void (*observe)(void *user, const orr_env_batch *batch, double *observation);
    /* Positions and velocities of bodies, geoms and sites, and sensors of them, are computed again after a
       step, from its state, as dm_control does. */
    bool up_to_date;
} orr_env_callbacks;

typedef struct orr_env_desc {
    /* One of orr_env_task, or a task file (.json, docs/task-file.md); with callbacks: a name, or NULL. */
    const char *task;
    /* The robot's file, for example Gymnasium's ant.xml, or a scene file (.json) with robots: then what they
       touch is in the environments too, captured surfaces, bodies and soft bodies. NULL: the one of the task
       file. */
    const char *model;
    int count;     /* environments, 1 .. ORR_ENV_MAX */
    int max_steps; /* an episode is truncated after this many; 0: as the task says */
    uint32_t seed; /* environment i has the seed `seed` + i */
    orr_autoreset autoreset;
    bool double_precision;
    const char *task_text; /* the content of a task file, in place of the file `task`; NULL: none */
    /* The task as functions, which are copied; max_steps 0 is 1000 then. NULL: `task` says what it is. */
    const orr_env_callbacks *callbacks;
} orr_env_desc;

typedef struct orr_env_info {
    int count, observation_count, action_count, max_steps;
    int frame_skip;                        /* time steps of the model in a step */
    int qpos_count, qvel_count;            /* of the model's state */
    double seconds;                        /* of a step */
    const float *action_low, *action_high; /* action_count; valid until the environments are destroyed */
    const char *task, *task_text, *model;  /* the task's name, the text of its file (NULL: it is one of
                                              orr_env_task), the file of the robot or scene; valid as
                                              long */
} orr_env_info;

/* The environments' own arrays, which orr_env_step and orr_env_reset write; valid until they are
 * destroyed. */
typedef struct orr_env_results {
    double *observation;       /* count x observation_count */
    double *final_observation; /* the same; see ORR_AUTORESET_SAME_STEP */
    double *reward;            /* count: of the step */
    uint8_t *terminated;       /* count: 1 where the task ended the episode, or numbers diverged */
    uint8_t *truncated;        /* count: 1 where max_steps did */
    double *episode_return;    /* count: sum of the rewards of the episode, of the one that this step ended */
    int32_t *episode_steps;    /* count: its steps */
    int32_t *diverged;         /* count: episodes so far that ended because numbers became infinite or NaN */
} orr_env_results;

/* Random numbers for callbacks, uniform in [0, 1): numbers `first` and on of a sequence that depends on the
 * seed and the episode alone. */
ORR_API void orr_env_uniform(uint32_t seed, uint32_t episode, uint32_t first, int count, double *numbers);
/* The names of the tasks, "Ant-v5" ...; NULL outside their number. */
ORR_API const char *orr_env_task(int index);
/* The names of the tasks that ship as files, "QuadrupedTerrain" ... (docs/task-file.md); NULL outside their
 * number. file, nullable: where it is in the folder of the assets (build/NAME/assets, share/orrery of an
 * installation), "tasks/terrain.json", for orr_env_desc.task. */
ORR_API const char *orr_env_shipped_task(int index, const char **file);
/* Makes environments, each at the start of its first episode. */
static inline orr_result orr_env_create(orr_engine *engine, const orr_env_desc *desc, orr_env **env,
                                        orr_error *error);
static inline orr_result orr_env_describe(const orr_env *env, orr_env_info *info, orr_error *error);
static inline orr_result orr_env_get_results(const orr_env *env, orr_env_results *results, orr_error *error);
/* Begins an episode in the environments whose byte of `mask` is not 0 (NULL: in all). seeds: `count` numbers,
 * of which those of these environments become their seeds; NULL: the next episode of the seeds they have. */
ORR_API orr_result orr_env_reset(orr_env *env, const uint8_t *mask, const uint32_t *seeds, orr_error *error);
/* Steps all environments. actions: count x action_count; they are limited by the model's control ranges.
 * ORR_ERROR_ARGUMENT, and nothing moves: an action that is not finite, or a step after the end of an episode
 * with autoreset disabled. */
ORR_API orr_result orr_env_step(orr_env *env, const float *actions, orr_error *error);
/* Reads or sets the state of one environment; setting it keeps its episode and its number of steps. */
ORR_API orr_result orr_env_get_state(const orr_env *env, int index, double *qpos, double *qvel,
                                     orr_error *error);
/* The states of all environments: count x qpos_count, count x qvel_count. */
ORR_API orr_result orr_env_get_states(const orr_env *env, double *qpos, double *qvel, orr_error *error);
ORR_API orr_result orr_env_set_state(orr_env *env, int index, const double *qpos, const double *qvel,
                                     orr_error *error);
/* How many numbers of a quantity an environment has. */
ORR_API orr_result orr_env_quantity_numbers(const orr_env *env, orr_robot_quantity quantity, int *count,
                                            orr_error *error);
/* A quantity of all environments in their states as they are: count x its numbers. */
ORR_API orr_result orr_env_get_quantity(const orr_env *env, orr_robot_quantity quantity, double *values,
                                        orr_error *error);
/* Sets a quantity that can be set, such as MOCAP_POSITION or ACT, in the environments whose byte of `mask` is
 * not 0 (NULL: all). Observations follow with the next step or orr_env_set_state. */
ORR_API orr_result orr_env_set_quantity(orr_env *env, orr_robot_quantity quantity, const uint8_t *mask,
                                        const double *values, orr_error *error);
/* The world that the environments are in, where their model is a scene file or has soft bodies, or their task
 * observes pixels: a copy for each, for eyes and frames between two steps. *scene (nullable) becomes its
 * scene. Both belong to the environments; change nothing in them. NULL: they are of a robot's file. */
ORR_API orr_world *orr_env_world(orr_env *env, orr_scene **scene);
ORR_API void orr_env_destroy(orr_env *env);

/* ---- policies: what acts in environments, and how it learns -------------------------------------------- */

/* A network from observations of one task to actions. */
typedef struct orr_policy orr_policy;

typedef struct orr_policy_info {
    const char *task; /* that it was trained on; valid until the policy is destroyed */
    int observation_count, action_count;
    int64_t parameter_count;
    int64_t steps;         /* of environments, that it was trained on */
    const char *task_text; /* of a task from a file, as orr_env_desc takes it; NULL: one of orr_env_task */
} orr_policy_info;

/* Reads and writes a .policy file; engine/policy/policy_file.c has its layout. */
ORR_API orr_result orr_policy_load(const char *path, orr_policy **policy, orr_error *error);
ORR_API orr_result orr_policy_save(const orr_policy *policy, const char *path, orr_error *error);
static inline orr_result orr_policy_describe(const orr_policy *policy, orr_policy_info *info,
                                             orr_error *error);
/* Its most likely actions (count x action_count) for observations (count x observation_count), 0 or more. */
ORR_API orr_result orr_policy_act(orr_policy *policy, const double *observations, int count, float *actions,
                                  orr_error *error);
ORR_API void orr_policy_destroy(orr_policy *policy);

/* Learns a policy by proximal policy optimisation (arXiv 1707.06347). Environments, rollouts, networks and
 * updates are in one process and memory, on the CPU; with the same desc the policy has the same bits for any
 * number of threads. */
typedef struct orr_policy_trainer orr_policy_trainer;

typedef struct orr_policy_train_desc {
    const char *task;  /* one of orr_env_task, or a task file */
    const char *model; /* the robot's file; NULL: the one of the task file */
    int count;         /* environments, a multiple of 64; 0: 128 */
    int horizon;       /* steps of each environment between two updates; 0: 64 */
    int width;         /* of the two hidden layers: 16, 32, 64 or 128; 0: 64 */
    uint32_t seed;
    const char *resume; /* a file of orr_policy_trainer_save of the same task and robot, from which it goes on
                           to the same bits; count, horizon, width (0, or equal) and seed are the file's;
                           NULL: from the beginning */
} orr_policy_train_desc;

typedef struct orr_policy_progress {
    int64_t steps;      /* of all environments */
    int64_t episodes;   /* that have ended */
    double mean_return; /* of the last 100 of them */
    double learning_rate;
    double simulation_seconds, inference_seconds, update_seconds; /* so far */
} orr_policy_progress;

static inline orr_result orr_policy_trainer_create(orr_engine *engine, const orr_policy_train_desc *desc,
                                                   orr_policy_trainer **trainer, orr_error *error);
/* One rollout of count x horizon steps, and the update that follows. */
ORR_API orr_result orr_policy_trainer_step(orr_policy_trainer *trainer, orr_error *error);
static inline orr_result orr_policy_trainer_describe(const orr_policy_trainer *trainer,
                                                     orr_policy_progress *progress, orr_error *error);
/* The policy as it is now; the trainer's own, which each step changes. */
ORR_API orr_policy *orr_policy_trainer_policy(orr_policy_trainer *trainer);
/* Writes the policy with the state of its training: a .policy file that also resumes. */
ORR_API orr_result orr_policy_trainer_save(orr_policy_trainer *trainer, const char *path, orr_error *error);
ORR_API void orr_policy_trainer_destroy(orr_policy_trainer *trainer);

/* ---- training: materials as networks ------------------------------------------------------------------- */

/* Learns a material of a mesh, with its layers and textures, as a small network (Zeltner et al. 2024,
 * "Real-time neural appearance models", arXiv 2305.02678): eight values in each texel of a texture, and
 * matrices that turn these and two directions into reflected light. On the CPU; with the same desc the
 * material has the same bits for any number of threads. */
typedef struct orr_material_trainer orr_material_trainer;

typedef struct orr_material_train_desc {
    const char *mesh; /* its file, .glb or .gltf; a material of the metallic-roughness model */
    int material;     /* its number in the file, from 0 */
    int width;        /* of the network's two hidden layers: 16, which is drawn faster, or 32; 0: 32 */
    int size;      /* [texels] sides of the texture: those of the largest of the material's, at most this, 1
                         to 4096; 0: 512 */
    int64_t steps; /* over which the learning rate falls; 0: 3000 */
    uint32_t seed;
} orr_material_train_desc;

static inline orr_result orr_material_trainer_create(orr_engine *engine, const orr_material_train_desc *desc,
                                                     orr_material_trainer **trainer, orr_error *error);
/* One step, of 8192 pairs of directions. *mean, which may be NULL: the mean error of this step, of the cube
 * root of reflectance times cosine [1/sr]. */
ORR_API orr_result orr_material_trainer_step(orr_material_trainer *trainer, double *mean, orr_error *error);
/* Writes the material as it is now: a .material file. */
ORR_API orr_result orr_material_trainer_save(orr_material_trainer *trainer, const char *path,
                                             orr_error *error);
ORR_API void orr_material_trainer_destroy(orr_material_trainer *trainer);

/* ---- training: clouds and fields from photos and other data -------------------------------------------- */

/* Learns a splat cloud or a neural field: create, step until it is good enough, save. On the CPU what is
 * learned has the same bits for any number of threads, where the plan is one of steps. Destroy it after the
 * scenes that show it. */
typedef struct orr_trainer orr_trainer;

typedef enum orr_trainer_kind {
    ORR_TRAINER_SPLATS = 0, /* photos become a splat cloud */
    ORR_TRAINER_NERF,       /* photos become a radiance field */
    ORR_TRAINER_SDF,        /* a mesh becomes a field of signed distances */
    ORR_TRAINER_IMAGE,      /* a picture becomes a field */
    ORR_TRAINER_VOLUME      /* a grid of densities becomes a field */
} orr_trainer_kind;

/* How the rays of a radiance field are sampled. */
typedef enum orr_nerf_sampling {
    ORR_SAMPLING_AUTO = 0,  /* as the model to resume, or else by occupancy */
    ORR_SAMPLING_OCCUPANCY, /* by an occupancy grid of a cube */
    ORR_SAMPLING_PROPOSAL   /* by a small field of proposals, in unbounded space */
} orr_nerf_sampling;

/* What a mask beside a photo says of the pixels that it leaves out. */
typedef enum orr_train_masks {
    ORR_MASKS_IGNORE = 0, /* nothing: they are not learned from */
    ORR_MASKS_EMPTY       /* nothing is there: they are learned as transparent */
} orr_train_masks;

/* What becomes of the distortion of photos' lenses, which clouds have none of. */
typedef enum orr_train_lenses {
    ORR_LENSES_UNDISTORT = 0, /* photos are resampled to a pinhole, of a fisheye's their middle */
    ORR_LENSES_KEEP           /* photos stay as they are, and splats are drawn as the lens shows them, while
                                 they learn and in comparisons */
} orr_train_lenses;

/* How a cloud gets splats where they are missing. */
typedef enum orr_train_strategy {
    ORR_STRATEGY_ADC = 0, /* those that the loss pulls hardest are divided (Kerbl et al. 2023), by absolute
                             gradients (Ye et al. 2024) */
    ORR_STRATEGY_MCMC     /* copies of opaque ones, and noise (Kheradmand et al. 2024) */
} orr_train_strategy;

typedef struct orr_train_desc {
    orr_trainer_kind kind; /* which members are used: the others do not matter */
    /* Photos with poses: a transforms.json, its folder, or a folder with a COLMAP model; splats begin at its
       points (points3D, or the .ply that ply_file_path names). SDF: a mesh (.obj .stl .glb .ply). Image:
       .png .jpg .webp .exr .hdr .bmp .tga .gif. Volume: a three-dimensional .npy, or "cloud" for a computed
       one. */
    const char *data;
    /* A file of orr_trainer_save, with resumable, of the same kind and data, from which it goes on to the
       same bits. Configuration, exposures, bilateral_grid, number of splats, harmonics, antialias, masks,
       lenses, refine_poses, depth_weight, strategy, prune and a cloud's seed are the file's, and where they
       are 0 here a field's batch, holdout and seed. NULL: from the beginning */
    const char *resume;
    uint32_t seed;
    /* Photos: every Kth is held out for testing; 0: 8; -1: none; -2: those of transforms_test.json beside, or
       of test_filenames (or val_filenames) in the file, which then learns from its train_filenames. */
    int holdout;
    /* ORR_DEVICE_CUDA takes the steps on the GPU; AUTO: what ORR_DEVICE in the environment names; otherwise
       the CPU. Splats on the GPU, with bilateral_grid, depths and kept lenses too, get the same bits in
       every run, but others than on the CPU. */
    orr_device_kind device;
    /* Splats: no more than these, up to 2^28. 0: 150,000 max(1, S / 180)^(2/3), at most 1,000,000, by a plan
       of S seconds alone; otherwise 150,000. */
    int splats;
    int sh_degree;  /* splats: of the spherical harmonics, 1 .. 3; 0: 3; -1: degree 0 */
    bool antialias; /* splats: with the Mip-Splatting 2D filter */
    /* Fields: a file of encodings and networks, JSON of instant-ngp; NULL: the kind's own. */
    const char *config;
    int batch; /* fields: samples of a step, 64 .. 2^22; 0: the kind's own */
    /* Photos of different exposures. nerf: a gain for each photo and channel is learned; splats: an affine
       map of colours for each photo, and held-out photos are compared in their right halves, after a fit to
       the left ones. */
    bool exposures;
    bool fast_scatter;          /* nerf, CPU: about 2 % faster, and bits differ between runs */
    orr_nerf_sampling sampling; /* nerf */
    orr_train_masks masks;      /* splats */
    /* Splats: corrections of the poses of the photos that are learned from are learned too; orr_trainer_save
       writes the cameras as NAME.transforms.json beside the cloud NAME.ply. */
    bool refine_poses;
    orr_train_strategy strategy; /* splats */
    /* Splats: weight in the loss of the mean |1 / drawn depth - 1 / depth| of the points that a photo sees,
       times the cameras' extent (1.1 times the largest distance from their mean), 0 .. 100; 0: not learned
       from. It needs points3D of a COLMAP model, which says what sees what: a capture of
       orr_registration_create has one. */
    float depth_weight;
    /* Splats: in place of exposures, a bilateral grid for each photo, 16 x 16 x 8 affine maps of colours by
       place in the picture and brightness, for cameras that map tones locally or darken corners. Held-out
       photos are compared as with exposures. ORR_ERROR_ARGUMENT: both */
    bool bilateral_grid;
    /* Splats: the share of them, 0 .. 0.95, that goes in the second half of the training: those with the
       least blending weight in all photos learned from. 0: none */
    float prune;
    orr_train_lenses lenses; /* splats */
} orr_train_desc;

typedef struct orr_train_info {
    orr_trainer_kind kind;
    int64_t steps;           /* since the very beginning, also before `resume` */
    int64_t count;           /* splats now, or parameters of the field */
    int64_t samples;         /* that steps since creation have evaluated: of networks, or pixels of splats */
    double progress;         /* share of the plan that is over, 0 .. 1 */
    double loss;             /* mean of about the last 20 steps; 0 before the first */
    double psnr;             /* [dB] of the last orr_trainer_measure; 0: none. Not of an sdf */
    double ssim;             /* likewise, of splats */
    double iou;              /* likewise, of an sdf: intersection over union */
    double steps_per_second; /* since creation, by the time spent in calls */
    double seconds;          /* spent in calls, creation among them */
    double seconds_left;     /* until the plan is over; infinite without a plan */
    int train_count, held_out_count; /* photos */
    /* Splats: points of the capture (points3D, or the ply_file_path of a transforms.json), and how many of
       them splats began at, up to orr_train_desc.splats; 0 after `resume`. Where they are fewer than 30 % of
       that, the rest began at random points that photos agree on. */
    int64_t points, points_used;
    /* Photos do not belong to their cameras, by those held out: the ones evaluated since the last step are
       less than 5 dB better in the mean than one colour in their place, or else that of the last measure is
       less than 1 dB. A warning of the log says so once early, and when all have been evaluated. */
    bool mismatch;
} orr_train_info;

/* How close the result is to the data; 0: not a figure of this kind of training. */
typedef struct orr_train_quality {
    const char *file;             /* the photo; valid until the trainer is destroyed; NULL: no photos */
    double psnr;                  /* [dB] of the photo, the image or the density */
    double ssim;                  /* of the photo */
    double iou;                   /* sdf: volume inside both over volume inside either */
    double normal_degrees;        /* sdf: mean angle between gradients and normals of triangles */
    double smooth_normal_degrees; /* the same with the normals of the mesh's vertices */
    double surface_error;         /* sdf: mean |distance| on the surface [units of the mesh] */
    double constant_psnr; /* [dB] of the photo's mean colour in place of what was learned; infinite: it has no
                             other colour */
} orr_train_quality;

typedef struct orr_stage_time {
    const char *name; /* valid for as long as the library is loaded */
    double milliseconds;
    int64_t items; /* splats, pairs or pixels that the stage processed */
} orr_stage_time;

typedef struct orr_train_picture {
    const float *rgba; /* height x width x 4, premultiplied; valid until the trainer's next call */
    int width, height; /* [px] */
} orr_train_picture;

/* Reads the data and makes what learns from it. The plan is 30,000 steps for splats, and none for fields.
 * What cannot be learned with CUDA is learned on the CPU, and a line of the log says so.
 * ORR_ERROR_ARGUMENT: fewer photos to learn from than it takes (splats: 2), cameras all in one place, a file
 * to resume of another kind or of other photos. ORR_ERROR_INTERRUPTED: orr_engine_desc.progress said so. */
static inline orr_result orr_trainer_create(orr_engine *engine, const orr_train_desc *desc,
                                            orr_trainer **trainer, orr_error *error);
/* Plans how long the training is: until `steps` since the very beginning, or `seconds` spent in calls from
 * now on, whichever is first; 0: no bound. Learning rates, sizes of pictures and numbers of splats follow the
 * share of the plan that is over, which does not go back; fields do not depend on it. Of splats, whose first
 * steps are cheap, that is the square root of the share of the seconds. */
ORR_API orr_result orr_trainer_plan(orr_trainer *trainer, int64_t steps, double seconds, orr_error *error);
/* Takes up to `steps` steps in about `milliseconds`, at least one; 0: no bound, of one of the two. It returns
 * when the plan is over; a call after that goes on learning. ORR_ERROR_INTERRUPTED: orr_trainer_cancel. After
 * ORR_ERROR_DEVICE or ORR_ERROR_MEMORY the training can be saved, and not go on. */
ORR_API orr_result orr_trainer_step(orr_trainer *trainer, int64_t steps, double milliseconds,
                                    orr_error *error);
/* Makes the call to orr_trainer_step or _evaluate that is under way, or else the next one, return
 * ORR_ERROR_INTERRUPTED, with all steps so far complete. From any thread, also from a signal handler. */
ORR_API void orr_trainer_cancel(orr_trainer *trainer);
/* Where the training is. */
static inline orr_result orr_trainer_describe(const orr_trainer *trainer, orr_train_info *info,
                                              orr_error *error);
/* Measures the quality quickly, for orr_train_info: of a small picture of the first held-out photo (or the
 * first of all), or of some samples. */
ORR_API orr_result orr_trainer_measure(orr_trainer *trainer, orr_error *error);
/* A picture of what was learned, as of the last orr_trainer_measure: of the photo that it compares, of the
 * image, or of the shape from a corner. ORR_ERROR_ARGUMENT: nothing was measured. */
static inline orr_result orr_trainer_picture(orr_trainer *trainer, orr_train_picture *picture,
                                             orr_error *error);
/* Compares with all there is, in full size: with held-out photo `index` in 0 .. held_out_count - 1, or with
 * the mesh, image or volume (index 0). Photos and pictures are over white where photos have alpha.
 * ORR_ERROR_INTERRUPTED: it would take longer than `milliseconds` (0: no bound), or orr_trainer_cancel. */
static inline orr_result orr_trainer_evaluate(orr_trainer *trainer, int index, double milliseconds,
                                              orr_train_quality *quality, orr_error *error);
/* The time of the stages of all steps, as orr_frame_stages. */
static inline int orr_trainer_stages(const orr_trainer *trainer, orr_stage_time *stages, int capacity);
/* Whether a training of this kind could be saved there: its ending, and that a file can be written. */
ORR_API orr_result orr_trainer_check_path(orr_trainer_kind kind, const char *path, bool resumable,
                                          orr_error *error);
/* Writes what was learned: a field as .ingp or .msgpack, a cloud as orr_splats_save. resumable: with what
 * orr_train_desc.resume needs, in the same file, or for a cloud in PATH.training beside it. Whole or not at
 * all. */
ORR_API orr_result orr_trainer_save(orr_trainer *trainer, const char *path, bool resumable, orr_error *error);
/* Writes a picture (.png) of loss and quality over time; none, and no error, before the 17th step. title
 * NULL: the kind. */
ORR_API orr_result orr_trainer_save_plot(const orr_trainer *trainer, const char *title, const char *path,
                                         orr_error *error);
/* The current cloud, in the coordinates of the capture; the caller destroys it. */
ORR_API orr_result orr_trainer_splats(orr_trainer *trainer, orr_splats **splats, orr_error *error);
/* Adds the model in training as a layer, in the coordinates of the data; a scene without cameras also gets
 * those of the photos. Steps do not change it: orr_scene_refresh_trainer shows what was learned since, while
 * no frame that draws the scene is in flight. name NULL: the kind; `transform` and `layer` may be NULL. */
ORR_API orr_result orr_scene_add_trainer(orr_scene *scene, const char *name, orr_trainer *trainer,
                                         const orr_transform *transform, orr_layer *layer, orr_error *error);
ORR_API orr_result orr_scene_refresh_trainer(orr_scene *scene, orr_layer layer, orr_trainer *trainer,
                                             orr_error *error);
ORR_API void orr_trainer_destroy(orr_trainer *trainer);

/* ---- frame: draw --------------------------------------------------------------------------------------- */

/* What draws: memory, pipelines and a queue of frames in flight. A frame may draw any scene of its engine. */
typedef struct orr_frame orr_frame;

/* How light is mapped to what a display shows. */
typedef enum orr_tone {
    ORR_TONE_NONE,    /* clipped at white */
    ORR_TONE_NEUTRAL, /* Khronos PBR Neutral: base colours stay, highlights go to white */
    ORR_TONE_AGX,     /* AgX: bright colours lose saturation */
    ORR_TONE_ACES     /* ACES, the fit by Hill: contrast as in films */
} orr_tone;

typedef struct orr_view {
    orr_camera camera;
    int world;           /* which copy of the world, 0 .. count - 1 */
    bool antialias;      /* Mip-Splatting opacity compensation; clouds trained with it always have it */
    bool has_background; /* false: the scene's background, or transparent */
    float background[3]; /* opaque colour behind everything */
    bool contact_points; /* robots: contact points, as discs */
    bool contact_forces; /* robots: contact forces, as arrows */
    /* Robots: groups 0 to 2 of geoms, sites and tendons are drawn, and 3 to 5 are not; bit g inverts that of
     * group g. */
    unsigned char geom_groups, site_groups, tendon_groups;
    bool no_shadows; /* the sun and the lights of robots' models cast no shadows */
    /* The light of meshes and robots is multiplied by 2^exposure [EV], -20 to 20, and mapped by the curve.
     * Clouds, fields, backgrounds and unlit meshes keep their colours, which a camera has mapped already.
     * Path-traced pictures take neither: they are linear, or clipped. */
    float exposure; /* added to that of the scene file */
    orr_tone tone;  /* ORR_TONE_NONE: that of the scene file */
    /* Edges of opaque meshes and robots are not anti-aliased. With false, a pixel that has an edge shows the
     * mean of four samples, and what is between and behind the surfaces in it by their shares; its depth, as
     * what orr_pick finds there, stays that of its centre. Edges of transparent surfaces are never
     * anti-aliased. */
    bool hard_edges;
    /* Nothing is taken over from earlier frames, for measuring. Otherwise the CPU keeps the order of splats,
     * and the pixels where nothing has changed in depth, while the camera and the clouds stand still; the
     * bits are the same. */
    bool no_reuse;
    /* Ambient occlusion: opaque meshes, robots and soft bodies keep light from all around, not that of the
     * sun and of lamps, off surfaces within this distance [scene units], 0 to 1e6, by what the picture shows
     * of them; less from half of it on. It darkens meshes, and clouds and fields by the share of light that
     * their shadows leave (umbra), as if they were level there. 0: as the scene file says; negative: none.
     * Path-traced pictures have the exact one instead. */
    float occlusion_radius;
    float occlusion_strength; /* 0 .. 1: how much of it, where the view gives a radius; 0: 1 */
    /* Flat surfaces whose material has a reflectance, as those of robots' models, do not mirror. With false,
     * what up to four of them show is drawn, which takes as long as a picture each. */
    bool no_mirrors;
    /* Meshes, robots and the sky of a model fade with their depth into the fog of the first robot's model
     * (visual/map fogstart and fogend, visual/rgba fog); clouds and fields, which have the air of their
     * captures, and backgrounds do not. Path-traced pictures have neither fog nor haze. */
    bool fog;
} orr_view;

/* Memory of the caller that receives a picture; each plane may be NULL. */
typedef struct orr_picture {
    float *rgba;  /* height x width x 4, premultiplied, unquantised */
    float *depth; /* height x width, alpha-weighted mean depth along the camera's axis [scene units]; 0:
                     nothing is there */
} orr_picture;

typedef struct orr_frame_desc {
    /* What draws. ORR_DEVICE_AUTO: the engine's device; where it fails or its memory is full, the next one of
     * docs/devices.md draws instead, and a warning says so. Any other: that device, or an error. */
    orr_device_kind device;
    int frames_in_flight; /* how many frames may be submitted before the first is finished, 1 .. 8; 0: 2 */
} orr_frame_desc;

/* Opens the device that draws. Memory for pictures is taken when the first one of a size is drawn. */
static inline orr_result orr_frame_create(orr_engine *engine, const orr_frame_desc *desc, orr_frame **frame,
                                          orr_error *error);
/* Submits one picture. It shows the world as it is now, which may change afterwards; the scene must stay as
 * it is, and the world exist, until the frame is finished. A GPU begins at once; the CPU draws in
 * orr_frame_finish or orr_frame_advance. ORR_ERROR_CAPACITY when frames_in_flight frames are not yet
 * finished. */
static inline orr_result orr_frame_submit(orr_frame *frame, const orr_scene *scene, const orr_world *world,
                                          const orr_view *view, orr_error *error);
/* Completes the frame that was submitted first and writes its picture; picture NULL: it is dropped when it is
 * done. When drawing has failed, that frame is dropped too. */
static inline orr_result orr_frame_finish(orr_frame *frame, const orr_picture *picture, orr_error *error);
/* Works on the frame that was submitted first for about `milliseconds`. The CPU marches fields, which may
 * take seconds; a program that must stay responsive calls this until *ready, when orr_frame_finish takes no
 * longer than for the same frame without fields. After a failure the frame is dropped. */
ORR_API orr_result orr_frame_advance(orr_frame *frame, double milliseconds, bool *ready, orr_error *error);
/* Drops every submitted frame. It waits for those that a GPU draws. */
ORR_API void orr_frame_discard(orr_frame *frame);
/* The stages of the frame that was finished last, in order: returns their number and writes at most
 * `capacity` of them; `stages` may be NULL when that is 0. */
static inline int orr_frame_stages(const orr_frame *frame, orr_stage_time *stages, int capacity);
/* What draws: ORR_DEVICE_CPU, ORR_DEVICE_VULKAN or ORR_DEVICE_CUDA. */
ORR_API orr_device_kind orr_frame_device(const orr_frame *frame);
/* Drops every submitted frame, as orr_frame_discard, and frees what drawing took. */
ORR_API void orr_frame_destroy(orr_frame *frame);

/* ---- eyes: small pictures of many copies at once ------------------------------------------------------- */

/* What learners see: the same cameras in every copy of a world, drawn by the CPU, a picture for each thread,
 * or by CUDA. A picture's bits are those of a frame's on the same device (but for light of probes and rays of
 * smooth surfaces, which eyes do not draw), with hard_edges where smooth_edges is false and detail is 0, and
 * do not depend on threads or other copies. On the CPU, what stands still is drawn once for each camera that
 * sees it from the same place in two pictures in a row: clouds, in mirrors too (some 100 bytes per splat,
 * each time), and meshes where nothing changes their light (no shadows, mirrors, occlusion, environments). */
typedef struct orr_eyes orr_eyes;

typedef struct orr_eyes_desc {
    const int *cameras; /* camera_count: of the world (orr_world_camera), where they are in each copy */
    int camera_count;
    const orr_camera
        *views;        /* view_count: the same in each copy, after the cameras; their sizes are ignored */
    int view_count;    /* one camera or view at least */
    int width, height; /* of a picture [px], 1 .. 4096 */
    orr_view look;     /* other settings of the pictures; its camera and world are ignored */
    bool smooth_edges; /* edges of meshes and robots are anti-aliased, unless look.hard_edges says not */
    /* Largest error of outlines of spheres, capsules, cylinders and ellipsoids of robots in pixels,
     * 0 or more: rays find the CPU's that are opaque, with hard edges; others have fewer triangles. Merged
     * splats stand for those of clouds whose standard deviation is at most 2 times as many pixels, 4 with
     * look.antialias (0.1: 36 to 41 dB of RGB in the cloud of BENCHMARKS.md); what merges them is made when a
     * cloud is first seen, and takes 1.4 times its memory. Clouds of soft bodies and those in training are
     * drawn in full. 0: everything is, as frames draw it. */
    float detail;
    /* Where everything was is kept for orr_eyes_pictures.flow: per copy some 150 bytes for each object and
     * 400 for each camera, and 48 for each vertex of a soft body's cage. */
    bool flow;
    /* What draws. ORR_DEVICE_AUTO, ORR_DEVICE_CPU: the CPU, whatever draws frames. ORR_DEVICE_CUDA: CUDA, on
     * any engine, or an error: one picture after the other, from meshes and clouds that are uploaded once for
     * all copies. Then robots that CUDA simulates cast no shadows, unless `flow` is set, with which the host
     * reads where they are; and ORR_ERROR_UNSUPPORTED answers orr_eyes_vary_surfaces, as well as
     * ORR_DEVICE_VULKAN. */
    orr_device_kind device;
    /* `detail` of clouds. 0: that of round shapes; below 0: they are drawn in full, for cameras that stand
     * still, which draw a cloud once. */
    float cloud_detail;
} orr_eyes_desc;

/* Memory of the caller, copies x (camera_count + view_count) x height x width x what is said; each may be
 * NULL. Pictures of copies that are not drawn are not written. */
typedef struct orr_eyes_pictures {
    uint8_t *rgb; /* x 3: display bytes, over black where the background is transparent */
    float *rgba;  /* x 4: as orr_picture */
    float *depth; /* as orr_picture */
    /* x 2: position in the scene, from 0, of the cloud that covers more than a half, or else of the nearest
       opaque layer; geom of a robot (orr_scene_robot_geom), -1 of other layers. -1, -1: none. Fields are not
       in it. */
    int32_t *segmentation;
    /* x 3: unit, of the surface that segmentation names, on the side that is seen, along the camera's right,
       down and forward; zeros where it names none. Of meshes, robots and soft bodies it is what lights them,
       interpolated between vertices, without textures of normals; of clouds an estimate, from the depths of
       neighbouring pixels that show the same cloud. */
    float *normals;
    /* x 2: optical flow [px], to the right and down: where the point that segmentation's surface shows is in
       this picture less where it was in the one that was drawn before of the same copy by the same camera, by
       the poses of cameras and bodies and the vertices of soft meshes. Less it, a pixel's centre is where its
       point was, which may be outside of the picture or hidden. Zeros where segmentation names none; in first
       pictures; on what was not in the picture before or was behind its camera; on soft clouds. Points of
       clouds are as deep as is drawn. ORR_ERROR_ARGUMENT: orr_eyes_desc.flow was false. */
    float *flow;
} orr_eyes_pictures;

/* The world must outlive it. Memory is taken while the first pictures are drawn, and no more later. */
static inline orr_result orr_eyes_create(const orr_world *world, const orr_eyes_desc *desc, orr_eyes **eyes,
                                         orr_error *error);
/* Draws the copies whose byte of `mask` is not 0 (NULL: all) as they are now. What CUDA draws is copied to
 * the caller's memory at the end. */
static inline orr_result orr_eyes_draw(orr_eyes *eyes, const uint8_t *mask, const orr_eyes_pictures *pictures,
                                       orr_error *error);

/* What orr_eyes_draw_cuda draws. */
enum {
    ORR_EYES_RGB = 1,
    ORR_EYES_RGBA = 2,
    ORR_EYES_DEPTH = 4,
    ORR_EYES_SEGMENTATION = 8,
    ORR_EYES_NORMALS = 16,
    ORR_EYES_FLOW = 32 /* of eyes with orr_eyes_desc.flow */
};

/* Pictures in the memory of a CUDA device: copies x cameras x height x width x what is said, without gaps;
 * the numbers are those of orr_eyes_pictures. NULL: never asked for. They belong to the eyes, and stay where
 * they are until the eyes are destroyed. */
typedef struct orr_eyes_cuda_pictures {
    uint8_t *rgb;        /* x 3 */
    float *rgba;         /* x 4 */
    float *depth;        /* x 1 */
    int copies, cameras; /* cameras: and views */
    int width, height;
    int device;   /* CUDA's index; the memory is that of its primary context, as the runtime API uses it */
    void *stream; /* cudaStream_t, in which they are drawn */
    int32_t *segmentation; /* x 2 */
    float *normals;        /* x 3 */
    float *flow;           /* x 2 */
} orr_eyes_cuda_pictures;

/* Draws as orr_eyes_draw into CUDA's memory, and copies nothing to the host. planes: ORR_EYES_... together.
 * The first call that asks for a plane takes its memory, for all copies, filled with zeros; pictures of
 * copies that are not drawn stay as they are. They are complete when it returns: any stream may read them.
 *
 * after: the cudaStream_t in which pictures are read; what is in it at the call is done before any is
 * written. NULL: the legacy default stream, which is PyTorch's. Readers in other streams have to be waited
 * for.
 *
 * ORR_ERROR_UNSUPPORTED: eyes on the CPU. ORR_ERROR_ARGUMENT: no plane, one that is not named above, or flow
 * of eyes that were made without it.
 * ORR_ERROR_DEVICE and _MEMORY: of CUDA. */
static inline orr_result orr_eyes_draw_cuda(orr_eyes *eyes, const uint8_t *mask, unsigned planes, void *after,
                                            orr_eyes_cuda_pictures *pictures, orr_error *error);
/* Moves the views of orr_eyes_desc for the next pictures: view_count of them, whose sizes are ignored. */
ORR_API orr_result orr_eyes_set_views(orr_eyes *eyes, const orr_camera *views, orr_error *error);
/* The next pictures of the copies whose byte of `mask` is not 0 (NULL: all) have none before them: their flow
 * is 0, as when an episode begins. */
ORR_API orr_result orr_eyes_forget(orr_eyes *eyes, const uint8_t *mask, orr_error *error);
/* How the pictures of one copy differ from what its world shows; all zero: not at all. */
typedef struct orr_eyes_look {
    float camera_offset[3]; /* of the cameras, along their own axes [scene units] */
    float camera_turn[3];   /* about their own axes: a rotation vector [rad] */
    float light_turn[3];    /* of the directions of the sun and the lights, about the scene's axes: a rotation
                               vector [rad] */
    float light[3];         /* how much brighter they are in red, green and blue [EV]; an environment's light
                               stays as it is */
    float exposure;         /* added to that of orr_eyes_desc.look [EV] */
    bool has_background;    /* false: as orr_eyes_desc.look says */
    float background[3];
} orr_eyes_look;

/* Sets the looks of the copies whose byte of `mask` is not 0 (NULL: all); looks: one for each copy; those of
 * other copies are not read. They stay until they are set again. ORR_ERROR_ARGUMENT: a number that is not
 * finite, or more than 20 EV. */
static inline orr_result orr_eyes_set_looks(orr_eyes *eyes, const uint8_t *mask, const orr_eyes_look *looks,
                                            orr_error *error);
/* The looks that a task file draws for the episodes at hand of environments (docs/task-file.md, "randomise"):
 * one for each, zeros where it draws none. They change when an episode begins. */
static inline orr_result orr_env_get_looks(const orr_env *env, orr_eyes_look *looks, orr_error *error);

/* What is laid over a surface in place of its texture. The colours of patterns are those of the picture's
 * texels: light falls on them as on any texture. */
typedef enum orr_pattern {
    ORR_PATTERN_OWN,      /* nothing: the surface keeps its texture */
    ORR_PATTERN_FLAT,     /* the first colour */
    ORR_PATTERN_CHECKER,  /* cells x cells squares of two colours, from the first at the top left */
    ORR_PATTERN_GRADIENT, /* from the first colour at the top to the second in the middle, and back */
    ORR_PATTERN_NOISE,    /* value noise (Ebert et al., Texturing and modeling, 2003): a share of the second
                             colour at cells x cells lattice points, and smooth steps between them */
    ORR_PATTERN_PICTURE   /* one of the pictures of orr_eyes_surfaces_desc */
} orr_pattern;

/* Surfaces that are varied together. */
typedef struct orr_eyes_target {
    /* A robot or a mesh. {0}: the first robot that has what is named; names may begin with the robot's, as in
       "arm/elbow" */
    orr_layer layer;
    const char *geom;     /* robots: the name of a geom; NULL: all geoms */
    const char *material; /* robots: the name of a material, for the geoms that have it; NULL: any */
    int part;             /* meshes: 1 + the number of a material; 0: all */
} orr_eyes_target;

/* A picture for surfaces: of a file, of memory, or of a robot's model. */
typedef struct orr_eyes_texture {
    const char *path;   /* a picture that engine/image reads (PNG, JPEG ...); NULL: none */
    const uint8_t *rgb; /* height x width x 3, sRGB, from the top row; NULL: none */
    int width, height;  /* of `rgb`, 1 .. 32768 */
    orr_layer robot;    /* whose model has the texture `name`; {0}: as of targets */
    const char *name;   /* of a texture that is no cube and no sky; NULL: none */
} orr_eyes_texture;

typedef struct orr_eyes_surfaces_desc {
    const orr_eyes_target *targets; /* target_count, 1 .. 1024; of two that name a surface, the last has it */
    int target_count;
    const orr_eyes_texture *textures; /* texture_count, 0 .. 4096; alpha is ignored */
    int texture_count;
    int pattern_side; /* [texels] of checkers, gradients and noise: a power of two, 2 .. 1024; 0: 64 */
} orr_eyes_surfaces_desc;

/* What orr_eyes_surface.changes has set; other numbers of materials stay. */
enum {
    ORR_SURFACE_COLOUR = 1,
    ORR_SURFACE_EMISSION = 2,
    ORR_SURFACE_SPECULAR = 4,
    ORR_SURFACE_SHININESS = 8,
    ORR_SURFACE_METALLIC = 16,
    ORR_SURFACE_ROUGHNESS = 32,
    ORR_SURFACE_REFLECTANCE = 64
};

/* How the surfaces of a target look in one copy; zero: as the world has them. */
typedef struct orr_eyes_surface {
    orr_pattern pattern;
    int picture; /* ORR_PATTERN_PICTURE: of the desc's, from 0 */
    int cells;   /* of checkers, which meet where they repeat if it is even, and of noise: 1 .. pattern_side /
                    2; 0: 8, or that */
    uint32_t seed;       /* of noise */
    float colours[2][3]; /* display colours of patterns, 0 .. 1 */
    unsigned changes;    /* ORR_SURFACE_... */
    /* Display colour, 0 .. 1, in place of the material's, which is a factor of its texture. Under a pattern
       it is white where it is not set. How transparent the material is stays. */
    float colour[3];
    /* 0 .. 1 but emission, 0 .. 1000. Specular and shininess are of robots' materials, and of meshes without
       the metallic-roughness model; metallic and roughness are of meshes with it; reflectance is of flat
       surfaces that mirror in the model. Elsewhere they have no effect. */
    float emission, specular, shininess, metallic, roughness, reflectance;
} orr_eyes_surface;

/* Says which surfaces may look different in each copy, with which pictures, instead of those said before. All
 * keep their look until orr_eyes_set_surfaces. It takes the memory for it: 5.4 pattern_side^2 bytes for each
 * target in each copy, the pictures with a third more, and coordinates of textures for geoms that have none:
 * seen along the axis they face, a picture covers the longest side of the geom, or 2 m of endless planes.
 * Materials that are networks keep their look, as do sites, tendons, skies, probes, and what path tracing
 * shows. ORR_ERROR_ARGUMENT names the target or texture that is not there; ORR_ERROR_FILE and _FORMAT: a
 * picture cannot be read. */
static inline orr_result orr_eyes_vary_surfaces(orr_eyes *eyes, const orr_eyes_surfaces_desc *desc,
                                                orr_error *error);
/* Sets how surfaces look in the copies whose byte of `mask` is not 0 (NULL: all); surfaces: copies x
 * target_count, of which those of other copies are not read. They stay until they are set again. Patterns
 * are drawn here, where they have changed, by all threads. Nothing is set on ORR_ERROR_ARGUMENT: numbers
 * outside of their ranges; a pattern for a soft body without coordinates of textures. */
static inline orr_result orr_eyes_set_surfaces(orr_eyes *eyes, const uint8_t *mask,
                                               const orr_eyes_surface *surfaces, orr_error *error);
/* The surfaces that a task file varies (docs/task-file.md, "randomise"), of the first robot, for
 * orr_eyes_vary_surfaces; target_count 0: none. Valid until the environments are destroyed. */
static inline orr_result orr_env_get_surfaces_desc(const orr_env *env, orr_eyes_surfaces_desc *desc,
                                                   orr_error *error);
/* How they look in the episodes at hand: environments x target_count. They change when an episode begins. */
static inline orr_result orr_env_get_surfaces(const orr_env *env, orr_eyes_surface *surfaces,
                                              orr_error *error);
ORR_API void orr_eyes_destroy(orr_eyes *eyes);

/* ---- reference: path-traced pictures ------------------------------------------------------------------- */

/* A picture of one view of one copy of the world by path tracing, on the CPU: shadows and light between
 * surfaces, sampled without bias. Its error falls with the square root of its samples. Meshes, robots and
 * soft bodies are lit; splats and fields are seen, shade and are mirrored as light that they emit and absorb.
 * Shadows fall on them as in frames (umbra), and nothing else lights them. */
typedef struct orr_reference orr_reference;

typedef struct orr_reference_info {
    int64_t samples;   /* of each pixel, so far */
    double error;      /* of the picture so far: the root of the mean square, over the pixels, of the standard
                          error of luminance, linear; infinite before the second sample */
    int64_t rays;      /* traced so far */
    int64_t triangles; /* in the view */
    int64_t left_out;  /* of these: without area, or with a coordinate that is not finite */
} orr_reference_info;

/* Poses the world as it is now, which may change afterwards; the scene must stay as it is until the reference
 * is destroyed, before the scene. References with the same seed have the same bits, whatever the number of
 * threads. */
static inline orr_result orr_reference_create(const orr_scene *scene, const orr_world *world,
                                              const orr_view *view, uint32_t seed, orr_reference **reference,
                                              orr_error *error);
/* Adds this many samples to each pixel. One takes about a second for 1280 x 720 on two cores. */
ORR_API orr_result orr_reference_advance(orr_reference *reference, int samples, orr_error *error);
static inline orr_result orr_reference_describe(const orr_reference *reference, orr_reference_info *info,
                                                orr_error *error);
/* Writes the mean of the samples so far. linear: linear radiance, without an upper bound; otherwise
 * display-referred, as frames are. */
static inline orr_result orr_reference_picture(const orr_reference *reference, bool linear,
                                               const orr_picture *picture, orr_error *error);
ORR_API void orr_reference_destroy(orr_reference *reference);

/* ---- picking: what is under a point of a picture ------------------------------------------------------- */

typedef struct orr_hit {
    orr_layer layer; /* {0}: nothing is there; then all else is 0, and the indices are -1 */
    orr_layer_kind kind;
    orr_layer robot;   /* the layer, if it is a robot, or the robot that it is bound to; {0}: none */
    int body;          /* of `robot`, as in orr_scene_robot_body; -1: none */
    int geom;          /* of a robot, as in orr_scene_robot_geom; -1: the layer is no robot */
    int64_t triangle;  /* of a mesh, 0 .. orr_layer_info.count - 1; -1: the layer is no mesh */
    float position[3]; /* in the scene */
    float depth;       /* along the camera's axis [scene units], as in orr_picture */
} orr_hit;

/* Finds what a view shows at a point of its picture, x in 0 .. width and y in 0 .. height [px]. For a picture
 * that is finished, pass the view that it was drawn from, before the world changes.
 *
 * Meshes and geoms of robots are hit at the nearest triangle that is drawn, opaque or transparent, also in
 * holes of a texture's alpha; sites, tendons and contacts are not hit. A cloud or a field is hit where its
 * alpha, drawn alone, is 0.5 or more, at its mean depth. The nearest hit counts. Without a hit, the
 * cloud or field with the largest alpha above 0 is hit.
 *
 * Runs on the CPU, whichever device draws, and needs no frame: about 10 ns per triangle and 7 ns per splat of
 * the scene on two threads, and one ray per field. Bodies that CUDA simulates are read back. Where no mesh or
 * robot is, clouds are hit through a lens that distorts, as the CPU draws them. Frames on Vulkan and CUDA
 * show them through a pinhole: for those, pass the view with ORR_CAMERA_PERSPECTIVE and no distortion.
 * ORR_ERROR_ARGUMENT: the point is outside the picture, or the camera or the copy of the world is wrong. */
static inline orr_result orr_world_pick(const orr_world *world, const orr_view *view, float x, float y,
                                        orr_hit *hit, orr_error *error);
/* The name of a robot's geom, "" when it has none; from geom_count on, of a visual of a URDF, or of its
 * link; NULL outside. Valid as long as the layer. */
ORR_API const char *orr_scene_robot_geom(const orr_scene *scene, orr_layer robot, int geom);

/* ---- insertion: objects in captured worlds ------------------------------------------------------------- */

typedef struct orr_place_desc {
    /* Of any length; zero: -y of the first cloud, or z of a field or robot, or y of a mesh, as placed. */
    float up[3];
    float turn;  /* about it, to the left as seen from above [rad] */
    float scale; /* of the layer, > 0; 0: as it is */
} orr_place_desc;

/* Puts a layer upright on the surface that the view shows at a point of its picture (orr_world_pick, without
 * the layer): the middle of its bottom is there. What is up in the layer is y for meshes and signed
 * distances, z for robots, radiance fields and volumes, -y for clouds. Changes its transform in the view's
 * copy of the world. desc NULL: the defaults. ORR_ERROR_ARGUMENT: nothing is seen there, or the layer is
 * bound. */
static inline orr_result orr_world_place(orr_world *world, const orr_view *view, float x, float y,
                                         orr_layer layer, const orr_place_desc *desc, orr_error *error);
/* Writes a scene file with what `room` holds (a scene file, or any file that orr_scene_load takes) and the
 * file `object` as a further layer, where `transform` says; whole or not at all. Files below the folder of
 * `path` are named relative to it. name, transform NULL: none, identity. */
ORR_API orr_result orr_scene_file_insert(const char *room, const char *object, const char *name,
                                         const orr_transform *transform, const char *path, orr_error *error);

/* Writes a scene file of what a copy of a world shows, whole or not at all: layers from files where the copy
 * has them, bodies where physics has moved them, robots in the poses of their models; cameras and light of
 * the scene. Layers, and an environment, that a program made are left out, with a warning in the log. Files
 * below the folder of `path` are named relative to it. camera: one more, behind those of the scene, with
 * square pixels, its axis in the middle and no distortion; NULL: none. ORR_ERROR_ARGUMENT: no layer is from a
 * file, or layers are bound to the second of two robots of one name. */
ORR_API orr_result orr_world_save(const orr_world *world, int index, const orr_camera *camera,
                                  const char *path, orr_error *error);

/* Draws a layer into a photo that was taken by the view's camera: the scene's other layers are what the photo
 * shows, so they hide parts of the layer by their depth, and are shaded by it. photo: height x width x 4,
 * as orr_picture. rgba: the same, of the composed picture; shadow: height x width, the share of light that
 * is left where the layer shades, 0 .. 1; either may be NULL. The camera's distortion is
 * not applied: the photo is one of a pinhole. Uses the frame for three pictures; none may be in flight. */
static inline orr_result orr_frame_compose(orr_frame *frame, const orr_scene *scene, orr_world *world,
                                           const orr_view *view, orr_layer layer, const float *photo,
                                           float *rgba, float *shadow, orr_error *error);

/* ---- output: pictures and videos into files ------------------------------------------------------------ */

typedef struct orr_output orr_output;

typedef struct orr_output_desc {
    /* Its ending is the format: .png (8 bits), .exr and .npy (32-bit floats), .mp4 (H.264, or MPEG-4 where
     * libavcodec has no encoder for it). %d or %0Nd numbers the pictures of a sequence, from 0:
     * frame_%04d.png; %% is a percent sign. */
    const char *path;
    /* 4: rgba, as in orr_picture; 3, 2, 1: normals (X, Y, Z), flow or segmentation (X, Y), as in
     * orr_eyes_pictures, depth (Z): .exr, with these channels, and .npy only; 0: 4 */
    int channels;
    int64_t count;            /* pictures that will be put; 0: not known. Unless 1: a numbered path or .mp4 */
    bool transparent;         /* .png: with straight alpha; false: over black, opaque */
    double frames_per_second; /* of a video, 0.1 .. 1000; 0: 30 */
} orr_output_desc;

/* Checks the desc and writes nothing yet. ORR_ERROR_ARGUMENT says what is wrong with it. The functions of an
 * output may be called from any thread; those of different outputs are independent. */
static inline orr_result orr_output_create(const orr_output_desc *desc, orr_output **output,
                                           orr_error *error);
/* Encodes and writes picture `index`, 0 .. count - 1: height x width x channels, sides 1 .. 16384. A still
 * appears whole or not at all; stills may be put in any order and several at once, by different threads.
 * Pictures of a video have one size and are put in the order 0, 1, 2 ..., one at a time; an odd side grows by
 * a repeated row or column. ORR_ERROR_UNSUPPORTED in a build without the format. */
ORR_API orr_result orr_output_put(orr_output *output, int64_t index, const float *values, int width,
                                  int height, orr_error *error);
/* Ends a video and moves it to its path, where nothing of it appears before. Stills need it no more than to
 * refuse further ones. */
ORR_API orr_result orr_output_finish(orr_output *output, orr_error *error);
/* A video that is not finished is removed. */
ORR_API void orr_output_destroy(orr_output *output);

/* ---- pictures in the memory of a CUDA device ----------------------------------------------------------- */

/* Rows from the top, without gaps between rows or pixels. Must not be written to. */
typedef struct orr_cuda_picture {
    const float *rgba;  /* device pointer: height x width x 4, as in orr_picture; 16 width bytes per row */
    const float *depth; /* device pointer: height x width, as in orr_picture; 4 width bytes per row */
    int width, height;
    int device;   /* CUDA's index; the memory is that of its primary context, as the runtime API uses it */
    void *stream; /* cudaStream_t, in which the frame draws */
} orr_cuda_picture;

/* Where CUDA has drawn the picture that was finished last. So that nothing is copied to the host, pass
 * orr_frame_finish NULL for the picture, or planes that are NULL. Does not block.
 *
 * The picture is complete: any stream may read it, and there is no event to wait for. It is valid until the
 * next orr_frame_submit, _advance, _finish, _discard or _destroy of this frame, which may write its memory
 * again or free it. Before orr_frame_submit, wait for what reads it, on the host or on the device:
 * cudaEventRecord(event, the reader's stream), then cudaStreamWaitEvent(stream, event, 0). Before
 * orr_frame_destroy, and before a submit of a larger picture, wait on the host.
 *
 * ORR_ERROR_UNSUPPORTED: another device draws the frame, also after CUDA has failed (see orr_frame_device).
 * ORR_ERROR_ARGUMENT: none was finished since one of the calls above. */
static inline orr_result orr_frame_cuda_picture(const orr_frame *frame, orr_cuda_picture *picture,
                                                orr_error *error);

/* ---- what the inline functions call: see VERSIONS above ------------------------------------------------ */

ORR_API orr_result orr_engine_create_sized(const orr_engine_desc *desc, size_t desc_size, orr_engine **engine,
                                           orr_error *error);
ORR_API void orr_splats_data_sized(const orr_splats *splats, orr_splats_view *view, size_t view_size);
ORR_API orr_result orr_splats_crop_sized(orr_splats *splats, const orr_region *region, size_t region_size,
                                         orr_error *error);
ORR_API orr_result orr_scene_add_mesh_sized(orr_scene *scene, const char *name, const orr_mesh_desc *desc,
                                            size_t desc_size, const orr_transform *transform,
                                            orr_layer *layer, orr_error *error);
ORR_API orr_result orr_scene_set_physics_sized(orr_scene *scene, orr_layer layer, const orr_body_desc *desc,
                                               size_t desc_size, orr_error *error);
ORR_API orr_result orr_scene_set_glass_sized(orr_scene *scene, orr_layer layer, int material,
                                             const orr_glass_desc *desc, size_t desc_size, orr_error *error);
ORR_API orr_result orr_scene_set_environment_sized(orr_scene *scene, const orr_environment_desc *desc,
                                                   size_t desc_size, orr_error *error);
ORR_API orr_result orr_scene_set_sun_sized(orr_scene *scene, const orr_sun_desc *desc, size_t desc_size,
                                           orr_error *error);
ORR_API orr_result orr_scene_estimate_sun_sized(const orr_scene *scene, orr_sun_estimate *estimate,
                                                size_t estimate_size, orr_error *error);
ORR_API orr_result orr_scene_add_light_sized(orr_scene *scene, const orr_light_desc *light, size_t light_size,
                                             orr_error *error);
ORR_API orr_result orr_scene_make_collider_sized(const orr_scene *scene, orr_layer layer,
                                                 const orr_collider_desc *desc, size_t desc_size,
                                                 orr_collider **collider, orr_error *error);
ORR_API orr_result orr_collider_describe_sized(const orr_collider *collider, orr_collider_info *info,
                                               size_t info_size, orr_error *error);
ORR_API orr_result orr_scene_soft_info_sized(const orr_scene *scene, orr_layer layer, orr_soft_info *info,
                                             size_t info_size, orr_error *error);
ORR_API orr_result orr_scene_layer_info_sized(const orr_scene *scene, orr_layer layer, orr_layer_info *info,
                                              size_t info_size, orr_error *error);
ORR_API orr_result orr_scene_robot_element_sized(const orr_scene *scene, orr_layer robot,
                                                 orr_robot_element_kind kind, int index,
                                                 orr_robot_element *element, size_t element_size,
                                                 orr_error *error);
ORR_API orr_result orr_scene_robot_info_sized(const orr_scene *scene, orr_layer robot, orr_robot_info *info,
                                              size_t info_size, orr_error *error);
ORR_API orr_result orr_registration_create_sized(orr_engine *engine, const orr_registration_desc *desc,
                                                 size_t desc_size, orr_registration **registration,
                                                 orr_error *error);
ORR_API orr_result orr_registration_describe_sized(const orr_registration *registration,
                                                   orr_registration_info *info, size_t info_size,
                                                   orr_error *error);
ORR_API orr_result orr_world_create_with_sized(const orr_scene *scene, const orr_world_desc *desc,
                                               size_t desc_size, orr_world **world, orr_error *error);
/* `contact_size`: from one element of `contacts` to the next */
ORR_API orr_result orr_world_get_contacts_sized(const orr_world *world, orr_layer robot, const uint8_t *mask,
                                                int capacity, orr_contact *contacts, size_t contact_size,
                                                int *counts, orr_error *error);
ORR_API orr_result orr_world_get_tactile_sized(const orr_world *world, orr_layer robot,
                                               const orr_tactile_desc *desc, size_t desc_size,
                                               const uint8_t *mask, float *forces, float *heights,
                                               orr_error *error);
ORR_API orr_result orr_tactile_pictures_sized(const orr_engine *engine, const orr_tactile_colours *colours,
                                              size_t colours_size, int count, const float *heights,
                                              uint8_t *rgb, orr_error *error);
ORR_API orr_result orr_world_simulation_sized(const orr_world *world, orr_layer robot,
                                              orr_simulation_info *info, size_t info_size, orr_error *error);
ORR_API orr_result orr_world_robot_device_view_sized(orr_world *world, orr_layer robot,
                                                     orr_robot_quantity quantity, orr_cuda_view *view,
                                                     size_t view_size, orr_error *error);
ORR_API orr_result orr_env_create_sized(orr_engine *engine, const orr_env_desc *desc, size_t desc_size,
                                        orr_env **env, orr_error *error);
ORR_API orr_result orr_env_describe_sized(const orr_env *env, orr_env_info *info, size_t info_size,
                                          orr_error *error);
ORR_API orr_result orr_env_get_results_sized(const orr_env *env, orr_env_results *results,
                                             size_t results_size, orr_error *error);
ORR_API orr_result orr_policy_describe_sized(const orr_policy *policy, orr_policy_info *info,
                                             size_t info_size, orr_error *error);
ORR_API orr_result orr_policy_trainer_create_sized(orr_engine *engine, const orr_policy_train_desc *desc,
                                                   size_t desc_size, orr_policy_trainer **trainer,
                                                   orr_error *error);
ORR_API orr_result orr_policy_trainer_describe_sized(const orr_policy_trainer *trainer,
                                                     orr_policy_progress *progress, size_t progress_size,
                                                     orr_error *error);
ORR_API orr_result orr_material_trainer_create_sized(orr_engine *engine, const orr_material_train_desc *desc,
                                                     size_t desc_size, orr_material_trainer **trainer,
                                                     orr_error *error);
ORR_API orr_result orr_trainer_create_sized(orr_engine *engine, const orr_train_desc *desc, size_t desc_size,
                                            orr_trainer **trainer, orr_error *error);
ORR_API orr_result orr_trainer_describe_sized(const orr_trainer *trainer, orr_train_info *info,
                                              size_t info_size, orr_error *error);
ORR_API orr_result orr_trainer_picture_sized(orr_trainer *trainer, orr_train_picture *picture,
                                             size_t picture_size, orr_error *error);
ORR_API orr_result orr_trainer_evaluate_sized(orr_trainer *trainer, int index, double milliseconds,
                                              orr_train_quality *quality, size_t quality_size,
                                              orr_error *error);
/* `stage_size`: from one element of `stages` to the next */
ORR_API int orr_trainer_stages_sized(const orr_trainer *trainer, orr_stage_time *stages, size_t stage_size,
                                     int capacity);
ORR_API orr_result orr_eyes_create_sized(const orr_world *world, const orr_eyes_desc *desc, size_t desc_size,
                                         orr_eyes **eyes, orr_error *error);
ORR_API orr_result orr_eyes_draw_sized(orr_eyes *eyes, const uint8_t *mask, const orr_eyes_pictures *pictures,
                                       size_t pictures_size, orr_error *error);
ORR_API orr_result orr_eyes_draw_cuda_sized(orr_eyes *eyes, const uint8_t *mask, unsigned planes, void *after,
                                            orr_eyes_cuda_pictures *pictures, size_t pictures_size,
                                            orr_error *error);
/* `look_size`: from one element of `looks` to the next */
ORR_API orr_result orr_eyes_set_looks_sized(orr_eyes *eyes, const uint8_t *mask, const orr_eyes_look *looks,
                                            size_t look_size, orr_error *error);
ORR_API orr_result orr_env_get_looks_sized(const orr_env *env, orr_eyes_look *looks, size_t look_size,
                                           orr_error *error);
ORR_API orr_result orr_eyes_vary_surfaces_sized(orr_eyes *eyes, const orr_eyes_surfaces_desc *desc,
                                                size_t desc_size, orr_error *error);
/* `surface_size`: from one element of `surfaces` to the next */
ORR_API orr_result orr_eyes_set_surfaces_sized(orr_eyes *eyes, const uint8_t *mask,
                                               const orr_eyes_surface *surfaces, size_t surface_size,
                                               orr_error *error);
ORR_API orr_result orr_env_get_surfaces_desc_sized(const orr_env *env, orr_eyes_surfaces_desc *desc,
                                                   size_t desc_size, orr_error *error);
ORR_API orr_result orr_env_get_surfaces_sized(const orr_env *env, orr_eyes_surface *surfaces,
                                              size_t surface_size, orr_error *error);
ORR_API orr_result orr_frame_create_sized(orr_engine *engine, const orr_frame_desc *desc, size_t desc_size,
                                          orr_frame **frame, orr_error *error);
ORR_API orr_result orr_frame_submit_sized(orr_frame *frame, const orr_scene *scene, const orr_world *world,
                                          const orr_view *view, size_t view_size, orr_error *error);
ORR_API orr_result orr_frame_finish_sized(orr_frame *frame, const orr_picture *picture, size_t picture_size,
                                          orr_error *error);
/* `stage_size`: from one element of `stages` to the next */
ORR_API int orr_frame_stages_sized(const orr_frame *frame, orr_stage_time *stages, size_t stage_size,
                                   int capacity);
ORR_API orr_result orr_reference_create_sized(const orr_scene *scene, const orr_world *world,
                                              const orr_view *view, size_t view_size, uint32_t seed,
                                              orr_reference **reference, orr_error *error);
ORR_API orr_result orr_reference_describe_sized(const orr_reference *reference, orr_reference_info *info,
                                                size_t info_size, orr_error *error);
ORR_API orr_result orr_reference_picture_sized(const orr_reference *reference, bool linear,
                                               const orr_picture *picture, size_t picture_size,
                                               orr_error *error);
ORR_API orr_result orr_world_pick_sized(const orr_world *world, const orr_view *view, size_t view_size,
                                        float x, float y, orr_hit *hit, size_t hit_size, orr_error *error);
ORR_API orr_result orr_frame_compose_sized(orr_frame *frame, const orr_scene *scene, orr_world *world,
                                           const orr_view *view, size_t view_size, orr_layer layer,
                                           const float *photo, float *rgba, float *shadow, orr_error *error);
ORR_API orr_result orr_world_place_sized(orr_world *world, const orr_view *view, size_t view_size, float x,
                                         float y, orr_layer layer, const orr_place_desc *desc,
                                         size_t desc_size, orr_error *error);
ORR_API orr_result orr_output_create_sized(const orr_output_desc *desc, size_t desc_size, orr_output **output,
                                           orr_error *error);
ORR_API orr_result orr_frame_cuda_picture_sized(const orr_frame *frame, orr_cuda_picture *picture,
                                                size_t picture_size, orr_error *error);

static inline orr_result orr_engine_create(const orr_engine_desc *desc, orr_engine **engine, orr_error *error)
{
    return orr_engine_create_sized(desc, sizeof *desc, engine, error);
}

static inline orr_splats_view orr_splats_data(const orr_splats *splats)
{
    orr_splats_view view;
    orr_splats_data_sized(splats, &view, sizeof view);
    return view;
}
static inline orr_result orr_splats_crop(orr_splats *splats, const orr_region *region, orr_error *error)
{
    return orr_splats_crop_sized(splats, region, sizeof *region, error);
}

static inline orr_result orr_scene_add_mesh(orr_scene *scene, const char *name, const orr_mesh_desc *desc,
                                            const orr_transform *transform, orr_layer *layer,
                                            orr_error *error)
{
    return orr_scene_add_mesh_sized(scene, name, desc, sizeof *desc, transform, layer, error);
}

static inline orr_result orr_scene_set_physics(orr_scene *scene, orr_layer layer, const orr_body_desc *desc,
                                               orr_error *error)
{
    return orr_scene_set_physics_sized(scene, layer, desc, sizeof *desc, error);
}
static inline orr_result orr_scene_set_glass(orr_scene *scene, orr_layer layer, int material,
                                             const orr_glass_desc *desc, orr_error *error)
{
    return orr_scene_set_glass_sized(scene, layer, material, desc, sizeof *desc, error);
}
static inline orr_result orr_scene_set_environment(orr_scene *scene, const orr_environment_desc *desc,
                                                   orr_error *error)
{
    return orr_scene_set_environment_sized(scene, desc, sizeof *desc, error);
}
static inline orr_result orr_scene_set_sun(orr_scene *scene, const orr_sun_desc *desc, orr_error *error)
{
    return orr_scene_set_sun_sized(scene, desc, sizeof *desc, error);
}
static inline orr_result orr_scene_estimate_sun(const orr_scene *scene, orr_sun_estimate *estimate,
                                                orr_error *error)
{
    return orr_scene_estimate_sun_sized(scene, estimate, sizeof *estimate, error);
}
static inline orr_result orr_scene_add_light(orr_scene *scene, const orr_light_desc *light, orr_error *error)
{
    return orr_scene_add_light_sized(scene, light, sizeof *light, error);
}
static inline orr_result orr_scene_soft_info(const orr_scene *scene, orr_layer layer, orr_soft_info *info,
                                             orr_error *error)
{
    return orr_scene_soft_info_sized(scene, layer, info, sizeof *info, error);
}

static inline orr_result orr_scene_make_collider(const orr_scene *scene, orr_layer layer,
                                                 const orr_collider_desc *desc, orr_collider **collider,
                                                 orr_error *error)
{
    return orr_scene_make_collider_sized(scene, layer, desc, sizeof *desc, collider, error);
}

static inline orr_result orr_collider_describe(const orr_collider *collider, orr_collider_info *info,
                                               orr_error *error)
{
    return orr_collider_describe_sized(collider, info, sizeof *info, error);
}

static inline orr_result orr_scene_layer_info(const orr_scene *scene, orr_layer layer, orr_layer_info *info,
                                              orr_error *error)
{
    return orr_scene_layer_info_sized(scene, layer, info, sizeof *info, error);
}

static inline orr_result orr_scene_robot_info(const orr_scene *scene, orr_layer robot, orr_robot_info *info,
                                              orr_error *error)
{
    return orr_scene_robot_info_sized(scene, robot, info, sizeof *info, error);
}

static inline orr_result orr_scene_robot_element(const orr_scene *scene, orr_layer robot,
                                                 orr_robot_element_kind kind, int index,
                                                 orr_robot_element *element, orr_error *error)
{
    return orr_scene_robot_element_sized(scene, robot, kind, index, element, sizeof *element, error);
}

static inline orr_result orr_registration_create(orr_engine *engine, const orr_registration_desc *desc,
                                                 orr_registration **registration, orr_error *error)
{
    return orr_registration_create_sized(engine, desc, sizeof *desc, registration, error);
}

static inline orr_result orr_registration_describe(const orr_registration *registration,
                                                   orr_registration_info *info, orr_error *error)
{
    return orr_registration_describe_sized(registration, info, sizeof *info, error);
}

static inline orr_result orr_world_create_with(const orr_scene *scene, const orr_world_desc *desc,
                                               orr_world **world, orr_error *error)
{
    return orr_world_create_with_sized(scene, desc, sizeof *desc, world, error);
}

static inline orr_result orr_world_get_contacts(const orr_world *world, orr_layer robot,
                                                const uint8_t *chosen, int capacity, orr_contact *contacts,
                                                int *counts, orr_error *error)
{
    return orr_world_get_contacts_sized(world, robot, chosen, capacity, contacts, sizeof *contacts, counts,
                                        error);
}

static inline orr_result orr_world_get_tactile(const orr_world *world, orr_layer robot,
                                               const orr_tactile_desc *desc, const uint8_t *chosen,
                                               float *forces, float *heights, orr_error *error)
{
    return orr_world_get_tactile_sized(world, robot, desc, sizeof *desc, chosen, forces, heights, error);
}

static inline orr_result orr_tactile_pictures(const orr_engine *engine, const orr_tactile_colours *colours,
                                              int count, const float *heights, uint8_t *rgb, orr_error *error)
{
    return orr_tactile_pictures_sized(engine, colours, sizeof *colours, count, heights, rgb, error);
}

static inline orr_result orr_world_simulation(const orr_world *world, orr_layer robot,
                                              orr_simulation_info *info, orr_error *error)
{
    return orr_world_simulation_sized(world, robot, info, sizeof *info, error);
}

static inline orr_result orr_world_robot_device_view(orr_world *world, orr_layer robot,
                                                     orr_robot_quantity quantity, orr_cuda_view *view,
                                                     orr_error *error)
{
    return orr_world_robot_device_view_sized(world, robot, quantity, view, sizeof *view, error);
}

static inline orr_result orr_env_create(orr_engine *engine, const orr_env_desc *desc, orr_env **env,
                                        orr_error *error)
{
    return orr_env_create_sized(engine, desc, sizeof *desc, env, error);
}

static inline orr_result orr_env_describe(const orr_env *env, orr_env_info *info, orr_error *error)
{
    return orr_env_describe_sized(env, info, sizeof *info, error);
}

static inline orr_result orr_env_get_results(const orr_env *env, orr_env_results *results, orr_error *error)
{
    return orr_env_get_results_sized(env, results, sizeof *results, error);
}

static inline orr_result orr_policy_describe(const orr_policy *policy, orr_policy_info *info,
                                             orr_error *error)
{
    return orr_policy_describe_sized(policy, info, sizeof *info, error);
}

static inline orr_result orr_policy_trainer_create(orr_engine *engine, const orr_policy_train_desc *desc,
                                                   orr_policy_trainer **trainer, orr_error *error)
{
    return orr_policy_trainer_create_sized(engine, desc, sizeof *desc, trainer, error);
}

static inline orr_result orr_policy_trainer_describe(const orr_policy_trainer *trainer,
                                                     orr_policy_progress *state, orr_error *error)
{
    return orr_policy_trainer_describe_sized(trainer, state, sizeof *state, error);
}

static inline orr_result orr_material_trainer_create(orr_engine *engine, const orr_material_train_desc *desc,
                                                     orr_material_trainer **trainer, orr_error *error)
{
    return orr_material_trainer_create_sized(engine, desc, sizeof *desc, trainer, error);
}

static inline orr_result orr_trainer_create(orr_engine *engine, const orr_train_desc *desc,
                                            orr_trainer **trainer, orr_error *error)
{
    return orr_trainer_create_sized(engine, desc, sizeof *desc, trainer, error);
}

static inline orr_result orr_trainer_describe(const orr_trainer *trainer, orr_train_info *info,
                                              orr_error *error)
{
    return orr_trainer_describe_sized(trainer, info, sizeof *info, error);
}

static inline orr_result orr_trainer_picture(orr_trainer *trainer, orr_train_picture *picture,
                                             orr_error *error)
{
    return orr_trainer_picture_sized(trainer, picture, sizeof *picture, error);
}

static inline orr_result orr_trainer_evaluate(orr_trainer *trainer, int index, double milliseconds,
                                              orr_train_quality *quality, orr_error *error)
{
    return orr_trainer_evaluate_sized(trainer, index, milliseconds, quality, sizeof *quality, error);
}

static inline int orr_trainer_stages(const orr_trainer *trainer, orr_stage_time *stages, int capacity)
{
    return orr_trainer_stages_sized(trainer, stages, sizeof *stages, capacity);
}

static inline orr_result orr_eyes_create(const orr_world *world, const orr_eyes_desc *desc, orr_eyes **eyes,
                                         orr_error *error)
{
    return orr_eyes_create_sized(world, desc, sizeof *desc, eyes, error);
}

static inline orr_result orr_eyes_draw(orr_eyes *eyes, const uint8_t *chosen,
                                       const orr_eyes_pictures *pictures, orr_error *error)
{
    return orr_eyes_draw_sized(eyes, chosen, pictures, sizeof *pictures, error);
}

static inline orr_result orr_eyes_draw_cuda(orr_eyes *eyes, const uint8_t *chosen, unsigned planes,
                                            void *after, orr_eyes_cuda_pictures *pictures, orr_error *error)
{
    return orr_eyes_draw_cuda_sized(eyes, chosen, planes, after, pictures, sizeof *pictures, error);
}

static inline orr_result orr_eyes_set_looks(orr_eyes *eyes, const uint8_t *chosen, const orr_eyes_look *looks,
                                            orr_error *error)
{
    return orr_eyes_set_looks_sized(eyes, chosen, looks, sizeof *looks, error);
}

static inline orr_result orr_env_get_looks(const orr_env *env, orr_eyes_look *looks, orr_error *error)
{
    return orr_env_get_looks_sized(env, looks, sizeof *looks, error);
}

static inline orr_result orr_eyes_vary_surfaces(orr_eyes *eyes, const orr_eyes_surfaces_desc *desc,
                                                orr_error *error)
{
    return orr_eyes_vary_surfaces_sized(eyes, desc, sizeof *desc, error);
}

static inline orr_result orr_eyes_set_surfaces(orr_eyes *eyes, const uint8_t *chosen,
                                               const orr_eyes_surface *surfaces, orr_error *error)
{
    return orr_eyes_set_surfaces_sized(eyes, chosen, surfaces, sizeof *surfaces, error);
}

static inline orr_result orr_env_get_surfaces_desc(const orr_env *env, orr_eyes_surfaces_desc *desc,
                                                   orr_error *error)
{
    return orr_env_get_surfaces_desc_sized(env, desc, sizeof *desc, error);
}

static inline orr_result orr_env_get_surfaces(const orr_env *env, orr_eyes_surface *surfaces,
                                              orr_error *error)
{
    return orr_env_get_surfaces_sized(env, surfaces, sizeof *surfaces, error);
}

static inline orr_result orr_frame_create(orr_engine *engine, const orr_frame_desc *desc, orr_frame **frame,
                                          orr_error *error)
{
    return orr_frame_create_sized(engine, desc, sizeof *desc, frame, error);
}

static inline orr_result orr_frame_submit(orr_frame *frame, const orr_scene *scene, const orr_world *world,
                                          const orr_view *view, orr_error *error)
{
    return orr_frame_submit_sized(frame, scene, world, view, sizeof *view, error);
}

static inline orr_result orr_frame_finish(orr_frame *frame, const orr_picture *picture, orr_error *error)
{
    return orr_frame_finish_sized(frame, picture, sizeof *picture, error);
}

static inline int orr_frame_stages(const orr_frame *frame, orr_stage_time *stages, int capacity)
{
    return orr_frame_stages_sized(frame, stages, sizeof *stages, capacity);
}

static inline orr_result orr_reference_create(const orr_scene *scene, const orr_world *world,
                                              const orr_view *view, uint32_t seed, orr_reference **reference,
                                              orr_error *error)
{
    return orr_reference_create_sized(scene, world, view, sizeof *view, seed, reference, error);
}

static inline orr_result orr_reference_describe(const orr_reference *reference, orr_reference_info *info,
                                                orr_error *error)
{
    return orr_reference_describe_sized(reference, info, sizeof *info, error);
}

static inline orr_result orr_reference_picture(const orr_reference *reference, bool linear,
                                               const orr_picture *picture, orr_error *error)
{
    return orr_reference_picture_sized(reference, linear, picture, sizeof *picture, error);
}

static inline orr_result orr_world_pick(const orr_world *world, const orr_view *view, float x, float y,
                                        orr_hit *hit, orr_error *error)
{
    return orr_world_pick_sized(world, view, sizeof *view, x, y, hit, sizeof *hit, error);
}

static inline orr_result orr_world_place(orr_world *world, const orr_view *view, float x, float y,
                                         orr_layer layer, const orr_place_desc *desc, orr_error *error)
{
    return orr_world_place_sized(world, view, sizeof *view, x, y, layer, desc, sizeof *desc, error);
}

static inline orr_result orr_frame_compose(orr_frame *frame, const orr_scene *scene, orr_world *world,
                                           const orr_view *view, orr_layer layer, const float *photo,
                                           float *rgba, float *shadow, orr_error *error)
{
    return orr_frame_compose_sized(frame, scene, world, view, sizeof *view, layer, photo, rgba, shadow,
                                   error);
}

static inline orr_result orr_output_create(const orr_output_desc *desc, orr_output **output, orr_error *error)
{
    return orr_output_create_sized(desc, sizeof *desc, output, error);
}

static inline orr_result orr_frame_cuda_picture(const orr_frame *frame, orr_cuda_picture *picture,
                                                orr_error *error)
{
    return orr_frame_cuda_picture_sized(frame, picture, sizeof *picture, error);
}

#ifdef __cplusplus
}
#endif

#endif
