// Configurations from memory, over the NeRF's: what they say or one line of error, and then nothing has
// changed.
#include "engine/core/memory.h"
#include "neural/network/encoding.h"
#include "tests/fuzz/fuzz_target.h"

#include <cjson/cJSON.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = orr_alloc(size + 1, 1);
    orr_field_config config;
    orr_error error = {0};
    if (!text || orr_field_config_base(ORR_FIELD_NERF, &config, &error) != ORR_OK) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = 0;
    orr_result result = orr_field_config_parse(text, "fuzz.json", &config, &error);
    if (result != ORR_OK && (error.message[0] == 0 || config.encoding.levels != 8)) {
        abort();
    }
    // what was read can be written, and made or refused
    cJSON *json = orr_field_config_json(&config);
    orr_encoding encoding;
    if (!json) {
        abort();
    }
    if (orr_encoding_create(&config.encoding, 3, &encoding, &error) == ORR_OK) {
        orr_encoding_destroy(&encoding);
    }
    cJSON_Delete(json);
    orr_field_config_free(&config);
    orr_free(text);
    return 0;
}
