// The lights of a frame, what highlights reflect of light from everywhere (render/bsdf_table.h), its haze,
// the shadow maps of some lights, its mirrors and ambient occlusion; light_buffer of
// render/vulkan/mesh_passes.h.
#include "engine/maths/clip_formula.h"
#include "render/environment/environment_formula.h"
#include "render/backdrop/haze_formula.h"
#include "render/light_formula.h"
#include "render/occlusion/occlusion_formula.h"
#include "render/shadow/cascade_formula.h"
#include "render/shadow/shadow_formula.h"

struct bsdf_table {
    float highlight[BSDF_TABLE * BSDF_TABLE];
    float grazing[BSDF_TABLE * BSDF_TABLE];
    float dull[BSDF_TABLE];
};

struct frame_light {
    bsdf_table integrals;
    tone_curve tone;
    vec3 ambient;
    int count;
    light_source lights[17];
    environment_view environments[5];
    haze_view haze;
    int caster_of[17];  // the light's number among those that cast shadows; -1: it casts none
    int shadow_tops[4]; // of these: the row of the image at which its maps begin
    shadow_view shadows[4];
    int cascade_firsts[4]; // of a light's cascades, the finest first
    int cascade_counts[4];
    shadow_cascade cascades[6];
    shadow_eye eye; // of what shadows fall on besides meshes
    clip_plane clip; // camera space: what mirrors show is in front of it
    vec2 size;       // of the picture [px]
    float reflectances[4]; // of the mirrors
    occlusion_view occlusion; // radius 0: none
    shadow_view self_shadow;  // of captured surfaces on one another; size 0: none
    int self_first;           // of the texels of all such maps, behind those of the environments
    int captured_firsts[4];   // of those that casters' light has to pass before it reaches meshes, after them
    shadow_view captured[4];  // size 0: there is none
};
