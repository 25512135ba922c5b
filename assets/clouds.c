#include "assets/clouds.h"

#include "engine/maths/rng.h"
#include "render/splat/splat_cloud.h"

#include <math.h>

static float normal(orr_rng *rng)
{
    float u = 1.0f - orr_rng_uniform(rng);
    return sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * orr_rng_uniform(rng));
}

static void draw_position(orr_rng *rng, cloud_kind kind, float p[3])
{
    do {
        for (int k = 0; k < 3; k++) {
            p[k] = orr_rng_range(rng, -1.0f, 1.0f);
        }
    } while (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] > 1.0f);
    if (kind == CLOUD_FLAT) {
        p[2] = 0.0f;
    }
}

orr_splats *make_cloud(cloud_kind kind, int64_t count, int sh_degree, uint32_t seed)
{
    orr_splats *splats;
    if (orr_splats_create(count, sh_degree, &splats, NULL) != ORR_OK) {
        return NULL;
    }
    const orr_splats_view *s = &splats->data;
    // neighbours overlap about as much as those of a capture whatever the count
    float spacing = powf(4.2f / (float)(count > 0 ? count : 1), 1.0f / 3.0f);
    for (int64_t i = 0; i < count; i++) {
        orr_rng rng = {.seed = seed, .stream = (uint32_t)i};
        draw_position(&rng, kind, s->position + 3 * i);
        float size = logf(0.4f * spacing);
        if (kind == CLOUD_HUGE) {
            size = logf(0.5f);
        }
        for (int k = 0; k < 3; k++) {
            s->log_scale[3 * i + k] = size + 0.6f * normal(&rng);
        }
        if (kind == CLOUD_NEEDLES) {
            s->log_scale[3 * i] += 4.0f;
            s->log_scale[3 * i + 1] -= 3.0f;
            s->log_scale[3 * i + 2] -= 3.0f;
        }
        float length = 0.0f, *q = s->rotation + 4 * i;
        for (int k = 0; k < 4; k++) {
            q[k] = normal(&rng);
            length += q[k] * q[k];
        }
        for (int k = 0; k < 4; k++) {
            q[k] /= sqrtf(length);
        }
        s->opacity[i] = 2.0f * normal(&rng);
        for (int k = 0; k < 3; k++) {
            s->colour[3 * i + k] = 1.2f * normal(&rng);
        }
        int rest = 3 * orr_sh_rest(sh_degree);
        for (int k = 0; k < rest; k++) {
            s->harmonics[rest * i + k] = 0.15f * normal(&rng);
        }
    }
    return splats;
}
