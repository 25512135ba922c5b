// The lights of a frame and the shadow maps of some of them; light_buffer of render/vulkan/meshes.c.
#include "render/light_formula.h"
#include "render/shadow_formula.h"

struct frame_light {
    vec3 ambient;
    int count;
    light_source lights[17];
    int shadow_size, shadow_count;
    int map_of[17]; // the number of the light's shadow map; -1: it casts no shadow
    shadow_view shadows[4];
    shadow_eye eye; // of what shadows fall on besides meshes
};
