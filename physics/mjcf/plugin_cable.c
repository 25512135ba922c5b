// Cables: the plugin mujoco.elasticity.cable of bodies. Its <config>s are twist and bend, the moduli of shear
// and of elasticity [Pa]; flat: whether the cable is straight without stress; vmax, which colours it.
#include "physics/mjcf/mjcf.h"

#include <string.h>

enum { TWIST, BEND, FLAT, VMAX, KEYS };

static orr_result read_config(const mjcf_node *node, spec_cable *cable, bool given[KEYS], orr_error *error)
{
    static const char *const keys[KEYS] = {"twist", "bend", "flat", "vmax"};
    const char *key = mjcf_find(node, "key"), *value = mjcf_find(node, "value");
    int i = 0, count = 0;
    while (i < KEYS && !(key && strcmp(key, keys[i]) == 0)) {
        i++;
    }
    if (i == KEYS || given[i]) {
        return mjcf_fail(node, error, "key: expected twist, bend, flat or vmax, each once");
    }
    given[i] = true;
    if (i == FLAT) {
        cable->flat = value && strcmp(value, "true") == 0;
        return cable->flat || (value && strcmp(value, "false") == 0)
                   ? ORR_OK
                   : mjcf_fail(node, error, "value of flat: expected true or false");
    }
    double number = 0.0;
    ORR_TRY(mjcf_read_numbers(node, "value", 1, 1, &number, &count, error));
    if (count == 0 || number < 0.0) {
        return mjcf_fail(node, error, "value of %s: expected a number of at least 0", keys[i]);
    }
    cable->twist = i == TWIST ? number : cable->twist;
    cable->bend = i == BEND ? number : cable->bend;
    return ORR_OK;
}

orr_result mjcf_read_body_plugin(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at)
{
    static const char *const known[] = {"plugin", "instance", NULL};
    spec_body *body = &reader->spec->bodies[at->body];
    const mjcf_node *holder;
    bool given[KEYS] = {false};
    ORR_TRY(mjcf_check_attributes(node, known, reader->error));
    ORR_TRY(mjcf_find_config(reader, node, mjcf_cable, &holder));
    if (at->body == 0 || body->cable.instance) {
        return mjcf_fail(node, reader->error, "expected once in a body that is not the world");
    }
    body->cable.instance = holder;
    body->kept = 1;
    for (const mjcf_node *config = holder->children; config; config = config->next) {
        ORR_TRY(mjcf_check_config(config, holder, reader->error));
        ORR_TRY(read_config(config, &body->cable, given, reader->error));
    }
    if (given[VMAX] && reader->spec->bodies[body->parent].cable.instance != holder) {
        spec_note(reader->spec, node->file, node->line, "vmax: cables are not coloured by their stress");
    }
    return ORR_OK;
}
