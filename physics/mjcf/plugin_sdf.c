// Distances as functions: the plugins mujoco.sdf.* of meshes and geoms. Their <config>s are the parameters of
// model/distance_function.h.
#include "physics/mjcf/mjcf.h"
#include "physics/model/distance_function.h"

#include <stdio.h>
#include <string.h>

static const char prefix[] = "mujoco.sdf.";

typedef struct parameter {
    const char *name;
    double usual, above; // expected above this
} parameter;

static const struct {
    const char *name; // behind the prefix
    parameter parameters[ORR_NFUNCTION];
} functions[] = {
    [ORR_FUNCTION_BOLT] = {"bolt", {[BOLT_RADIUS] = {"radius", 0.26, 0.0}}},
    [ORR_FUNCTION_BOWL] = {"bowl",
                           {[BOWL_HEIGHT] = {"height", 0.4, -INFINITY},
                            [BOWL_RADIUS] = {"radius", 1.0, 0.0},
                            [BOWL_THICKNESS] = {"thickness", 0.02, 0.0}}},
    [ORR_FUNCTION_GEAR] = {"gear",
                           {[GEAR_ALPHA] = {"alpha", 0.0, -INFINITY},
                            [GEAR_DIAMETER] = {"diameter", 2.8, 0.0},
                            [GEAR_TEETH] = {"teeth", 25.0, 0.0},
                            [GEAR_THICKNESS] = {"thickness", 0.2, 0.0},
                            [GEAR_INNER] = {"innerdiameter", -1.0, -INFINITY}}},
    [ORR_FUNCTION_NUT] = {"nut", {[BOLT_RADIUS] = {"radius", 0.26, 0.0}}},
    [ORR_FUNCTION_TORUS] =
        {"torus", {[TORUS_RADIUS1] = {"radius1", 0.35, 0.0}, [TORUS_RADIUS2] = {"radius2", 0.15, 0.0}}},
    // of MuJoCo before its own octrees; the side of its grid's box has no effect here
    [ORR_FUNCTION_OCTREE] = {"sdflib", {{"aabb", 0.0, -INFINITY}}}};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

int mjcf_function_kind(const mjcf_node *plugin)
{
    const char *name = mjcf_find(plugin, "plugin");
    if (!name || strncmp(name, prefix, sizeof prefix - 1) != 0) {
        return ORR_FUNCTION_NONE;
    }
    for (int i = 1; i < FUNCTIONS; i++) {
        if (strcmp(name + sizeof prefix - 1, functions[i].name) == 0) {
            return i;
        }
    }
    return ORR_FUNCTION_NONE;
}

static orr_result read_config(const mjcf_node *node, spec_function *f, bool given[ORR_NFUNCTION],
                              orr_error *error)
{
    const parameter *parameters = functions[f->kind].parameters;
    const char *key = mjcf_find(node, "key");
    int i = 0, count = 0;
    while (i < ORR_NFUNCTION && parameters[i].name && !(key && strcmp(key, parameters[i].name) == 0)) {
        i++;
    }
    if (i == ORR_NFUNCTION || !parameters[i].name || given[i]) {
        char names[128] = "";
        for (int k = 0; k < ORR_NFUNCTION && parameters[k].name; k++) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", k ? ", " : "", parameters[k].name);
        }
        return mjcf_fail(node, error, "key: expected %s, each once", names);
    }
    given[i] = true;
    ORR_TRY(mjcf_read_numbers(node, "value", 1, 1, &f->prm[i], &count, error));
    if (count == 0 || !isfinite(f->prm[i]) || f->prm[i] <= parameters[i].above) {
        return mjcf_fail(node, error, "value of %s: expected a number%s", parameters[i].name,
                         parameters[i].above == 0.0 ? " above 0" : "");
    }
    return ORR_OK;
}

// What the functions need of several parameters.
static orr_result check(const mjcf_node *node, const spec_function *f, orr_error *error)
{
    const double *prm = f->prm;
    if (f->kind == ORR_FUNCTION_BOWL && !(fabs(prm[BOWL_HEIGHT]) < prm[BOWL_RADIUS])) {
        return mjcf_fail(node, error, "height of a bowl: expected less than its radius");
    }
    if (f->kind == ORR_FUNCTION_GEAR) { // beyond, the flanks of a tooth cross, or its base circle is none
        double teeth = prm[GEAR_TEETH];
        double pressure = 3.096e-5 * teeth * teeth - 6.557e-3 * teeth + 0.551;
        double base = 0.5 * prm[GEAR_DIAMETER] * cos(pressure);
        double root = 0.5 * prm[GEAR_DIAMETER] * (1.0 - 2.4 / teeth);
        if (!(teeth >= 4.0 && teeth <= 200.0) || !(base > root)) {
            return mjcf_fail(node, error,
                             "teeth of a gear: expected 4 to 200, with a base circle outside of "
                             "the roots of the teeth");
        }
    }
    return ORR_OK;
}

// The one <plugin> of an element; NULL: there is none.
static orr_result find_plugin(const mjcf_node *node, const mjcf_node **found, orr_error *error)
{
    *found = NULL;
    for (const mjcf_node *child = node->children; child; child = child->next) {
        if (!mjcf_is(child, "plugin") || *found) {
            return mjcf_unknown(child, node, error);
        }
        *found = child;
    }
    return ORR_OK;
}

orr_result mjcf_read_function(mjcf_reader *reader, const mjcf_node *node, spec_function *f)
{
    static const char *const known[] = {"plugin", "instance", NULL};
    const mjcf_node *plugin, *holder = NULL;
    bool given[ORR_NFUNCTION] = {false};
    ORR_TRY(find_plugin(node, &plugin, reader->error));
    if (!plugin) {
        return ORR_OK;
    }
    ORR_TRY(mjcf_check_attributes(plugin, known, reader->error));
    f->kind =
        mjcf_find(plugin, "plugin") ? mjcf_function_kind(plugin) : mjcf_instance_function(reader, plugin);
    if (f->kind == ORR_FUNCTION_NONE) {
        return mjcf_fail(plugin, reader->error,
                         "expected the instance or the name of a plugin mujoco.sdf.bolt, bowl, gear, nut, "
                         "torus or sdflib of an <extension>");
    }
    char name[32];
    snprintf(name, sizeof name, "%s%s", prefix, functions[f->kind].name);
    ORR_TRY(mjcf_find_config(reader, plugin, name, &holder));
    for (int i = 0; i < ORR_NFUNCTION; i++) {
        f->prm[i] = functions[f->kind].parameters[i].usual;
    }
    for (const mjcf_node *config = holder->children; config; config = config->next) {
        ORR_TRY(mjcf_check_config(config, holder, reader->error));
        ORR_TRY(read_config(config, f, given, reader->error));
    }
    return check(holder, f, reader->error);
}
