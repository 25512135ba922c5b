// Model files from memory: bytes as they are, and the same as the content of a zlib stream, whose checksum no
// mutation would meet.
#include "engine/core/memory.h"
#include "neural/ingp/ingp.h"
#include "tests/fuzz/fuzz_target.h"

#include <zlib.h>

static void read_model(const uint8_t *data, size_t size)
{
    orr_field_model model;
    orr_error error = {0};
    orr_result result =
        orr_field_model_read(data, size, "fuzz.ingp", orr_isa_best(), ORR_MLP_FP32, &model, &error);
    fuzz_expect(result, model.field != NULL, &error);
    orr_field_model_free(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uLongf packed_size = compressBound((uLong)size);
    uint8_t *packed = orr_alloc(packed_size, 1);
    if (packed && compress2(packed, &packed_size, data, (uLong)size, Z_NO_COMPRESSION) == Z_OK) {
        read_model(packed, packed_size);
    }
    orr_free(packed);
    read_model(data, size);
    return 0;
}
