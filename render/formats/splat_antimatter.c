// .splat (antimatter15): records of 32 bytes without a header; scales are lengths, no SH.
#include "engine/core/memory.h"
#include "render/formats/splat_bytes.h"

enum { RECORD = 32 }; // 3 x f32 position, 3 x f32 scale, 4 x u8 RGBA, 4 x u8 rotation w, x, y, z

orr_result orr_read_splat(orr_splat_source source, orr_splats **splats, orr_error *error)
{
    *splats = NULL;
    if (source.size % RECORD != 0) {
        return orr_fail(error, ORR_CODE_FILE_TRUNCATED,
                        "%s: byte %zu: %zu bytes of a splat, expected records of %d bytes", source.name,
                        source.size - source.size % RECORD, source.size % RECORD, RECORD);
    }
    if (source.size / RECORD > INT32_MAX) {
        return orr_fail(error, ORR_CODE_FILE_TOO_LARGE, "%s: %zu splats, expected at most 2^31 - 1",
                        source.name, source.size / RECORD);
    }
    orr_splats *cloud;
    ORR_TRY(orr_splats_create((int64_t)(source.size / RECORD), 0, &cloud, error));
    const orr_splats_view *d = &cloud->data;
    float logit[256];
    orr_logit_table(logit);
    for (int64_t i = 0; i < d->count; i++) {
        const uint8_t *record = source.data + i * RECORD, *rgba = record + 24, *rotation = record + 28;
        for (int k = 0; k < 3; k++) {
            d->position[3 * i + k] = orr_get_f32(record + 4 * k);
            d->log_scale[3 * i + k] = orr_log_scale(orr_get_f32(record + 12 + 4 * k));
            d->colour[3 * i + k] = ((float)rgba[k] / 255.0f - 0.5f) / ORR_SH_C0;
        }
        d->opacity[i] = logit[rgba[3]];
        for (int k = 0; k < 4; k++) {
            d->rotation[4 * i + k] = ((float)rotation[k] - 128.0f) / 128.0f;
        }
    }
    return orr_splats_finish(cloud, ORR_OK, source.name, splats, error);
}

orr_result orr_write_splat(const orr_splats *splats, orr_file_writer *out, orr_error *error)
{
    (void)error; // nothing here can fail before the commit
    const orr_splats_view *d = &splats->data;
    for (int64_t i = 0; i < d->count; i++) {
        uint8_t record[RECORD];
        for (int k = 0; k < 3; k++) {
            orr_put_f32(record + 4 * k, d->position[3 * i + k]);
            // e^88 is the largest in a float
            orr_put_f32(record + 12 + 4 * k, expf(orr_clamp(d->log_scale[3 * i + k], -87.0f, 88.0f)));
            record[24 + k] = (uint8_t)orr_quantise(255.0f * (0.5f + ORR_SH_C0 * d->colour[3 * i + k]), 255);
        }
        record[27] = (uint8_t)orr_opacity_byte(d->opacity[i]);
        for (int k = 0; k < 4; k++) {
            record[28 + k] = (uint8_t)orr_quantise(d->rotation[4 * i + k] * 128.0f + 128.0f, 255);
        }
        orr_file_put(out, record, RECORD);
    }
    return ORR_OK;
}
