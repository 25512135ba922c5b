// A bundle, and the same bytes as a meta.json whose pictures are whole.
#include "engine/core/memory.h"
#include "tests/fuzz/fuzz_splats.h"
#include "tests/render/sog_sample.h"
#include "tests/render/splat_samples.h"

// the pictures of one small cloud, kept for all inputs
static sog_sample *pictures(void)
{
    static sog_sample sample;
    if (sample.count == 0) {
        orr_splats *cloud = sample_cloud(20, 1, 1);
        orr_splats_view d = orr_splats_data(cloud);
        if (!sog_sample_make(&d, 2, &sample)) {
            abort();
        }
        orr_splats_destroy(cloud);
        orr_free(sample.file[0].data);
    }
    return &sample;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == '{') {
        sog_sample sample = *pictures();
        sample.file[0] = (orr_bytes){(uint8_t *)(uintptr_t)data, size};
        orr_bytes bundle = sog_sample_bundle(&sample);
        fuzz_splats(orr_read_sog, "fuzz.sog", bundle.data, bundle.size);
        orr_free(bundle.data);
    }
    return fuzz_splats(orr_read_sog, "/nowhere/meta.json", data, size);
}
