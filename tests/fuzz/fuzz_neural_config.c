// Configurations from memory, over the NeRF's: what they say or one line of error, and then nothing has
// changed.
#include "neural/network/encoding.h"
#include "tests/fuzz/fuzz_target.h"

#include <cjson/cJSON.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    orr_field_config config;
    orr_error error = {0};
    if (orr_field_config_base(ORR_FIELD_NERF, &config, &error) != ORR_OK) {
        abort();
    }
    orr_result result = orr_field_config_parse(text, "fuzz.json", &config, &error);
    fuzz_expect(result, result == ORR_OK, &error);
    if (result != ORR_OK && config.encoding.levels != 8) {
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
    free(text);
    return 0;
}
