// Plugins: those that a model declares in <extension>, and where the numbers of one are: in the <config>s of
// the element that uses it or of an <instance> that it names.
#include "physics/mjcf/mjcf.h"

#include <string.h>

const char mjcf_touch_grid[] = "mujoco.sensor.touch_grid", mjcf_cable[] = "mujoco.elasticity.cable";

orr_result mjcf_check_attributes(const mjcf_node *node, const char *const *known, orr_error *error)
{
    for (const mjcf_attribute *a = node->attributes; a; a = a->next) {
        int i = 0;
        while (known[i] && strcmp(known[i], a->name) != 0) {
            i++;
        }
        if (!known[i]) {
            return mjcf_fail(node, error, "unknown attribute '%.64s'", a->name);
        }
    }
    return ORR_OK;
}

static bool names(const mjcf_node *node, const char *plugin)
{
    const char *name = mjcf_find(node, "plugin");
    return name && strcmp(name, plugin) == 0;
}

static orr_result not_supported(const mjcf_node *node, const char *expected, orr_error *error)
{
    const char *name = mjcf_find(node, "plugin");
    return mjcf_fail(node, error, "plugin: '%.64s' is not supported: expected %s", name ? name : "",
                     expected);
}

// ---- what a model declares

static bool is_extension(const mjcf_node *section)
{
    return mjcf_is(section, "extension");
}

mjcf_node *mjcf_declared_plugin(const mjcf_node *root, const char *plugin)
{
    for (mjcf_node *section = root->children; section; section = section->next) {
        mjcf_node *node = is_extension(section) ? section->children : NULL;
        while (node && !names(node, plugin)) {
            node = node->next;
        }
        if (node) {
            return node;
        }
    }
    return NULL;
}

// The first instance of this name in an extension, of a plugin or (NULL) of any; NULL: there is none.
static const mjcf_node *find_instance(const mjcf_node *root, const char *of, const char *name)
{
    for (const mjcf_node *section = root->children; section; section = section->next) {
        const mjcf_node *plugin = is_extension(section) ? section->children : NULL;
        for (; plugin; plugin = plugin->next) {
            for (const mjcf_node *node = plugin->children; node; node = node->next) {
                const char *own = mjcf_find(node, "name");
                if (own && strcmp(own, name) == 0 && (!of || names(plugin, of))) {
                    return node;
                }
            }
        }
    }
    return NULL;
}

int mjcf_instance_function(const mjcf_reader *reader, const mjcf_node *node)
{
    const char *instance = mjcf_find(node, "instance");
    const mjcf_node *section = reader->root->children;
    for (; section && instance; section = section->next) {
        const mjcf_node *plugin = is_extension(section) ? section->children : NULL;
        for (; plugin; plugin = plugin->next) {
            for (const mjcf_node *own = plugin->children; own; own = own->next) {
                const char *name = mjcf_find(own, "name");
                if (name && strcmp(name, instance) == 0) {
                    return mjcf_function_kind(plugin);
                }
            }
        }
    }
    return ORR_FUNCTION_NONE;
}

orr_result mjcf_read_extension(mjcf_reader *reader, const mjcf_node *section)
{
    static const char *const of_plugin[] = {"plugin", NULL}, *const of_instance[] = {"name", NULL};
    for (const mjcf_node *plugin = section->children; plugin; plugin = plugin->next) {
        if (!mjcf_is(plugin, "plugin")) {
            return mjcf_unknown(plugin, section, reader->error);
        }
        ORR_TRY(mjcf_check_attributes(plugin, of_plugin, reader->error));
        if (!names(plugin, mjcf_touch_grid) && !names(plugin, mjcf_cable) && !mjcf_function_kind(plugin)) {
            return not_supported(plugin,
                                 "mujoco.sensor.touch_grid, mujoco.elasticity.cable or mujoco.sdf.bolt, "
                                 "bowl, gear, nut, torus or sdflib",
                                 reader->error);
        }
        for (const mjcf_node *node = plugin->children; node; node = node->next) {
            const char *name = mjcf_find(node, "name");
            if (!mjcf_is(node, "instance")) {
                return mjcf_unknown(node, plugin, reader->error);
            }
            ORR_TRY(mjcf_check_attributes(node, of_instance, reader->error));
            if (!name || !name[0] || find_instance(reader->root, NULL, name) != node) {
                return mjcf_fail(node, reader->error, "name: expected one that no other instance has");
            }
        }
    }
    return ORR_OK;
}

orr_result mjcf_find_config(const mjcf_reader *reader, const mjcf_node *node, const char *plugin,
                            const mjcf_node **holder)
{
    const char *instance = mjcf_find(node, "instance");
    if ((!instance || mjcf_find(node, "plugin")) && !names(node, plugin)) {
        return not_supported(node, plugin, reader->error);
    }
    if (!mjcf_declared_plugin(reader->root, plugin)) {
        return mjcf_fail(node, reader->error, "plugin: expected an <extension> with it");
    }
    *holder = instance ? find_instance(reader->root, plugin, instance) : node;
    return *holder && !(instance && node->children)
               ? ORR_OK
               : mjcf_fail(node, reader->error, "instance: expected one of an <extension>, and no <config>");
}

orr_result mjcf_check_config(const mjcf_node *node, const mjcf_node *holder, orr_error *error)
{
    static const char *const known[] = {"key", "value", NULL};
    if (!mjcf_is(node, "config")) {
        return mjcf_unknown(node, holder, error);
    }
    ORR_TRY(mjcf_check_attributes(node, known, error));
    return mjcf_no_children(node, error);
}
