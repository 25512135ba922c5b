#include "samples/orrery/look_options.h"

#include "samples/orrery/drop_file.h"

#include <string.h>

look_options look_options_default(void)
{
    return (look_options){.background = {-1.0f}};
}

void look_options_list(look_options *look, option list[LOOK_OPTION_COUNT])
{
    const option options[LOOK_OPTION_COUNT] = {
        {.name = "--background",
         .kind = OPTION_COLOUR,
         .value = look->background,
         .expect = "R,G,B",
         .help = "background colour, each channel 0 to 1 (default: the scene's, or black)"},
        {.name = "--environment",
         .kind = OPTION_TEXT,
         .value = &look->environment,
         .expect = "FILE",
         .help = "environment map, which lights the scene and is its background: a latitude-longitude "
                 "picture, .hdr or .exr"},
        {.name = "--probes",
         .kind = OPTION_FLAG,
         .value = &look->probes,
         .help = "light meshes and robots by what is around them (\"probes\" in scene files)"},
        {.name = "--rays",
         .kind = OPTION_FLAG,
         .value = &look->rays,
         .help = "trace rays for reflections on smooth surfaces and refraction in glass (\"rays\" in scene "
                 "files); CPU only"},
        {.name = "--antialias",
         .kind = OPTION_FLAG,
         .value = &look->antialias,
         .help = "compensate the opacity of splats that are smaller than a pixel (Mip-Splatting)"},
        {.name = "--no-antialias",
         .kind = OPTION_FLAG,
         .value = &look->no_antialias,
         .help = "draw edges of meshes and robots with one sample per pixel"},
        {.name = "--no-shadows",
         .kind = OPTION_FLAG,
         .value = &look->no_shadows,
         .help = "draw no shadows of the sun and of lights in robot models"},
        {.name = "--no-mirrors",
         .kind = OPTION_FLAG,
         .value = &look->no_mirrors,
         .help = "draw no mirror images on surfaces of robot models that have a reflectance"},
        {.name = "--fog",
         .kind = OPTION_FLAG,
         .value = &look->fog,
         .help = "fade meshes, robots and the sky into the fog that the first robot's model defines"},
        {.name = "--ambient-occlusion",
         .kind = OPTION_REAL,
         .value = &look->occlusion_radius,
         .expect = "RADIUS",
         .help = "darken surfaces that meshes and robots within RADIUS shield from ambient light, in scene "
                 "units (default: as in the scene file; -1: off)",
         .low = -1.0,
         .high = 1e6},
        {.name = "--ambient-occlusion-strength",
         .kind = OPTION_REAL,
         .value = &look->occlusion_strength,
         .expect = "STRENGTH",
         .help = "strength of ambient occlusion, above 0 to 1 (default 1)",
         .low = 1e-3,
         .high = 1.0},
        {.name = "--exposure",
         .kind = OPTION_REAL,
         .value = &look->exposure,
         .expect = "EV",
         .help = "multiply the light on meshes and robots by 2^EV (default 0)",
         .low = -20.0,
         .high = 20.0},
        {.name = "--tone",
         .kind = OPTION_TONE,
         .value = &look->tone,
         .expect = "none|neutral|agx|aces",
         .help = "tone mapping of meshes and robots (default none)"},
        {.name = "--policy",
         .kind = OPTION_TEXT,
         .value = &look->controls.policy,
         .expect = "FILE.policy",
         .help = "control the first robot's actuators by a policy (orrery train policy)"},
        {.name = "--drop",
         .kind = OPTION_TEXT,
         .value = &look->dropped,
         .expect = "FILE",
         .help = "let a soft cloud or mesh, 0.6 m wide, fall on the first robot"},
        {.name = "--physics",
         .kind = OPTION_DEVICE,
         .value = &look->physics,
         .expect = "auto|cpu|cuda",
         .help = "device that simulates robots (default auto: the CPU for a single world)"},
    };
    memcpy(list, options, sizeof options);
}

orr_result look_options_apply(const look_options *look, orr_scene *scene, orr_error *error)
{
    if (look->dropped) {
        ORR_TRY(drop_file(scene, look->dropped, error));
    }
    if (look->environment) {
        const orr_environment_desc around = {.path = look->environment};
        ORR_TRY(orr_scene_set_environment(scene, &around, error));
    }
    if (look->probes) {
        ORR_TRY(orr_scene_set_probes(scene, true, error));
    }
    return look->rays ? orr_scene_set_rays(scene, true, error) : ORR_OK;
}

orr_view look_options_view(const look_options *look, const orr_camera *camera)
{
    orr_view view = {.camera = *camera,
                     .antialias = look->antialias,
                     .hard_edges = look->no_antialias,
                     .no_shadows = look->no_shadows,
                     .no_mirrors = look->no_mirrors,
                     .fog = look->fog,
                     .occlusion_radius = (float)look->occlusion_radius,
                     .occlusion_strength = (float)look->occlusion_strength,
                     .exposure = (float)look->exposure,
                     .tone = look->tone,
                     .has_background = look->background[0] >= 0.0f};
    for (int i = 0; i < 3 && view.has_background; i++) {
        view.background[i] = look->background[i];
    }
    return view;
}
