// Paths of the meshes of a URDF file: they are named by package, and the package is a folder somewhere above
// the file.
#include "physics/urdf/urdf.h"

#include "engine/core/file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The file `name` in `folder` beside the model; NULL when there is none. `steps` folders further up.
static char *find_beside(urdf_reader *reader, int steps, const char *folder, const char *name)
{
    char path[4096];
    size_t used = 0;
    bool absolute = (folder && folder[0] == '/') || name[0] == '/';
    for (int i = 0; i < steps && !absolute && used < sizeof path - 4; i++) {
        used += (size_t)snprintf(path + used, sizeof path - used, "../");
    }
    bool inside = folder && folder[0] && name[0] != '/';
    if (snprintf(path + used, sizeof path - used, "%s%s%s", inside ? folder : "", inside ? "/" : "", name) >=
        (int)(sizeof path - used)) {
        return NULL;
    }
    char *beside = orr_path_beside(reader->spec->path, path), *found = NULL;
    if (beside && access(beside, R_OK) == 0) {
        found = orr_arena_take(&reader->spec->arena, strlen(beside) + 1, 1);
        if (found) {
            memcpy(found, beside, strlen(beside) + 1);
        }
    }
    orr_free(beside);
    return found;
}

// "$(find PACKAGE)/NAME" of ROS as "package://PACKAGE/NAME"; others as they are. NULL: out of memory.
static const char *as_package(urdf_reader *reader, const char *name)
{
    static const char find[] = "$(find ", scheme[] = "package://";
    const char *close = strncmp(name, find, sizeof find - 1) == 0 ? strchr(name, ')') : NULL;
    if (!close) {
        return name;
    }
    const char *package = name + sizeof find - 1;
    size_t bytes = sizeof scheme + strlen(package);
    char *made = orr_arena_take(&reader->spec->arena, bytes, 1);
    if (made) {
        snprintf(made, bytes, "%s%.*s%s", scheme, (int)(close - package), package, close + 1);
    }
    return made;
}

// As written, in meshdir or beside the model; then in each folder above it, with the package's folder and
// without; at last by its name alone, which with strippath comes first.
const char *urdf_find_file(urdf_reader *reader, const char *name)
{
    enum { FOLDERS_ABOVE = 8 };
    const spec_compiler *compiler = &reader->spec->compiler;
    const char *folder = compiler->meshdir ? compiler->meshdir : compiler->assetdir;
    name = as_package(reader, name);
    if (!name) {
        return NULL;
    }
    const char *inside = strstr(name, "://");
    bool package = inside && strncmp(name, "file://", 7) != 0;
    name = inside ? inside + 3 : name;
    const char *unpacked = package ? strchr(name, '/') : NULL;
    char *stripped = find_beside(reader, 0, folder, orr_path_name(name));
    char *found = compiler->strippath ? stripped : NULL;
    found = found ? found : find_beside(reader, 0, folder, name);
    for (int steps = 0; steps < FOLDERS_ABOVE && !found; steps++) {
        found = find_beside(reader, steps, NULL, name);
        if (!found && unpacked) {
            found = find_beside(reader, steps, NULL, unpacked + 1);
        }
    }
    return found ? found : stripped;
}

// "name", or "name2" when another file, or another scale of the same one, has that name.
static char *new_name(urdf_reader *reader, const char *file)
{
    const char *base = orr_path_name(file), *dot = strrchr(base, '.');
    int length = dot ? (int)(dot - base) : (int)strlen(base);
    size_t bytes = (size_t)length + 12;
    char *name = orr_arena_take(&reader->spec->arena, bytes, 1);
    for (int i = 0; name; i++) {
        snprintf(name, bytes, i ? "%.*s%d" : "%.*s", length, base, i);
        if (SPEC_FIND(reader->spec, meshes, name) < 0) {
            break;
        }
    }
    return name;
}

orr_result urdf_find_mesh(urdf_reader *reader, const mjcf_node *node, const char **file, double scale[3])
{
    static const char *const attributes[] = {"filename", "scale", NULL};
    const char *filename = mjcf_find(node, "filename");
    scale[0] = scale[1] = scale[2] = 1.0;
    ORR_TRY(urdf_check(reader, node, attributes, NULL));
    ORR_TRY(urdf_numbers(reader, node, "scale", 3, false, scale));
    if (!filename || !filename[0]) {
        return mjcf_fail(node, reader->error, "filename: expected one");
    }
    *file = urdf_find_file(reader, filename);
    return *file ? ORR_OK
                 : mjcf_fail(node, reader->error,
                             "filename: '%.200s' is neither beside this file nor above it", filename);
}

orr_result urdf_read_mesh(urdf_reader *reader, const mjcf_node *node, const char **name)
{
    orr_spec *spec = reader->spec;
    const char *file;
    double scale[3];
    ORR_TRY(urdf_find_mesh(reader, node, &file, scale));
    for (int i = 0; i < spec->meshes_count; i++) {
        const spec_mesh *mesh = &spec->meshes[i];
        if (strcmp(mesh->file, file) == 0 && memcmp(mesh->scale, scale, sizeof scale) == 0) {
            *name = mesh->head.name;
            return ORR_OK;
        }
    }
    char *taken = new_name(reader, file);
    spec_mesh *mesh = taken ? SPEC_APPEND(spec, meshes) : NULL;
    if (!mesh) {
        return spec_memory_fail(reader->error);
    }
    *mesh = reader->defaults->mesh;
    mesh->head = (spec_head){mjcf_location(node), taken};
    mesh->file = file;
    mesh->thickens = true;
    memcpy(mesh->scale, scale, sizeof mesh->scale);
    *name = taken;
    return ORR_OK;
}
