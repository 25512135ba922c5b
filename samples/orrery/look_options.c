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
         .help = "colour behind everything, 0 to 1 (default: the scene's, or black)"},
        {.name = "--environment",
         .kind = OPTION_TEXT,
         .value = &look->environment,
         .expect = "FILE",
         .help = "light from all around, and what is behind everything: a latitude-longitude picture, .hdr "
                 "or .exr"},
        {.name = "--probes",
         .kind = OPTION_FLAG,
         .value = &look->probes,
         .help = "what is around meshes and robots lights them, as \"probes\" of a scene file"},
        {.name = "--rays",
         .kind = OPTION_FLAG,
         .value = &look->rays,
         .help =
             "smooth surfaces, curved ones too, show what is around them, and glass refracts it, as \"rays\" "
             "of a scene file; on the CPU"},
        {.name = "--antialias",
         .kind = OPTION_FLAG,
         .value = &look->antialias,
         .help = "Mip-Splatting compensation for small splats"},
        {.name = "--no-antialias",
         .kind = OPTION_FLAG,
         .value = &look->no_antialias,
         .help = "one sample per pixel at the edges of meshes and robots"},
        {.name = "--no-shadows",
         .kind = OPTION_FLAG,
         .value = &look->no_shadows,
         .help = "the sun and the lights of robots' models cast no shadows"},
        {.name = "--no-mirrors",
         .kind = OPTION_FLAG,
         .value = &look->no_mirrors,
         .help = "surfaces of robots' models that have a reflectance do not mirror (default: they do)"},
        {.name = "--fog",
         .kind = OPTION_FLAG,
         .value = &look->fog,
         .help = "meshes, robots and the sky of a model fade into the fog of the first robot's model"},
        {.name = "--ambient-occlusion",
         .kind = OPTION_REAL,
         .value = &look->occlusion_radius,
         .expect = "RADIUS",
         .help = "meshes and robots keep light from all around off surfaces within RADIUS [scene units] "
                 "(default: as the scene file says; -1: none)",
         .low = -1.0,
         .high = 1e6},
        {.name = "--ambient-occlusion-strength",
         .kind = OPTION_REAL,
         .value = &look->occlusion_strength,
         .expect = "STRENGTH",
         .help = "how much of it, over 0 to 1 (default 1)",
         .low = 1e-3,
         .high = 1.0},
        {.name = "--exposure",
         .kind = OPTION_REAL,
         .value = &look->exposure,
         .expect = "EV",
         .help = "the light of meshes and robots times 2^EV (default 0)",
         .low = -20.0,
         .high = 20.0},
        {.name = "--tone",
         .kind = OPTION_TONE,
         .value = &look->tone,
         .expect = "none|neutral|agx|aces",
         .help = "how that light is mapped to the display (default none)"},
        {.name = "--policy",
         .kind = OPTION_TEXT,
         .value = &look->controls.policy,
         .expect = "FILE.policy",
         .help = "controls of the first robot's actuators by a policy (orrery train policy)"},
        {.name = "--drop",
         .kind = OPTION_TEXT,
         .value = &look->dropped,
         .expect = "FILE",
         .help = "a cloud or a mesh, soft and 0.6 m wide, falls on the first robot"},
        {.name = "--physics",
         .kind = OPTION_DEVICE,
         .value = &look->physics,
         .expect = "auto|cpu|cuda",
         .help = "device that simulates robots (default auto: the CPU, for one world)"},
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
