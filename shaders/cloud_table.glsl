// The clouds that cast shadows, and where their opacity maps are; orr_cloud_table of
// render/cloud_shadow/cloud_maps.h.
#include "render/cloud_shadow/cloud_shadow_formula.h"

struct cloud_caster {
    uint first, end; // its splats among the frame's
    int light_of[17]; // its numbers of the frame's lights; -1: it casts no shadow in that
    shadow_view values[4];
    int firsts[4]; // texel at which the maps of each begin
};

struct cloud_table {
    int count;
    int captured_light;
    cloud_caster casters[4];
};

#define CLOUD_TEXEL 6 // floats of a texel
