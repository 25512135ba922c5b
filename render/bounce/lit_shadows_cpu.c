// The lookups of frames, of one point in all lanes: rays of grids are few.
#include "render/bounce/lit_shadows.h"
#include "render/cloud_shadow/cloud_shadow_cpu.h"

float ORR_ISA_NAME(orr_lit_left)(const orr_lit_shadows *s, int light, const float position[3],
                                 const float normal[3])
{
    const real3 at = make_real3(R(position[0]), R(position[1]), R(position[2])),
                n = make_real3(R(normal[0]), R(normal[1]), R(normal[2]));
    const orr_shadow_values *walls = &s->walls[light];
    real left = R(1.0);
    if (walls->size > 0.0f) {
        left = shadow_lookup_in(s->texels[light], shadow_view_of(walls), at, n);
    }
    return (left * cloud_shadow_lookup(&s->clouds, light, at, R(-1.0)))[0];
}
