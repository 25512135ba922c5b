// What the <geometry> of a visual or a collision holds.
#include "engine/maths/rotation.h"
#include "physics/urdf/urdf.h"

// Endless, with the normal in place of z: of Bullet.
static orr_result read_plane(const urdf_reader *reader, const mjcf_node *node, urdf_shape *shape)
{
    static const char *const attributes[] = {"normal", NULL};
    double normal[3] = {0.0, 0.0, 1.0};
    ORR_TRY(urdf_check(reader, node, attributes, NULL));
    ORR_TRY(urdf_numbers(reader, node, "normal", 3, false, normal));
    if (vec3_normalise(normal) < 1e-14) {
        return mjcf_fail(node, reader->error, "normal: expected a length above 0");
    }
    quat_from_z(normal, shape->turn);
    shape->size[2] = 1.0; // of the lines that are drawn on it
    return ORR_OK;
}

static orr_result read_sizes(const urdf_reader *reader, const mjcf_node *node, urdf_shape *shape)
{
    static const char *const box[] = {"size", NULL}, *const sphere[] = {"radius", NULL},
                             *const round[] = {"radius", "length", NULL};
    double *size = shape->size;
    if (shape->type == ORR_GEOM_BOX) {
        ORR_TRY(urdf_check(reader, node, box, NULL));
        ORR_TRY(urdf_numbers(reader, node, "size", 3, true, size));
        for (int i = 0; i < 3; i++) {
            size[i] *= 0.5;
        }
        return ORR_OK;
    }
    bool ball = shape->type == ORR_GEOM_SPHERE;
    ORR_TRY(urdf_check(reader, node, ball ? sphere : round, NULL));
    ORR_TRY(urdf_numbers(reader, node, "radius", 1, true, &size[0]));
    if (!ball) {
        ORR_TRY(urdf_numbers(reader, node, "length", 1, true, &size[1]));
        size[1] *= 0.5;
    }
    return ORR_OK;
}

// MuJoCo refuses a size of 0; files have it for shapes that are not there.
static void find_empty(const urdf_reader *reader, const mjcf_node *node, urdf_shape *shape)
{
    const int sizes = shape->type == ORR_GEOM_BOX ? 3 : shape->type == ORR_GEOM_SPHERE ? 1 : 2;
    for (int i = 0; i < sizes; i++) {
        shape->empty = shape->empty || shape->size[i] == 0.0;
    }
    if (shape->empty) {
        spec_note(reader->spec, node->file, node->line, "<%.32s>: a size of 0: no shape", node->name);
    }
}

orr_result urdf_read_shape(urdf_reader *reader, const mjcf_node *node, urdf_shape *shape)
{
    static const char *const attributes[] = {"name", NULL}, *const children[] = {"origin", "geometry",
                                                                                 "material", NULL};
    static const char *const shapes[] = {"box", "cylinder", "sphere", "capsule", "plane", "mesh", NULL};
    static const int types[] = {ORR_GEOM_BOX,     ORR_GEOM_CYLINDER, ORR_GEOM_SPHERE,
                                ORR_GEOM_CAPSULE, ORR_GEOM_PLANE,    ORR_GEOM_MESH};
    const mjcf_node *geometry, *found = NULL;
    int count = 0;
    *shape = (urdf_shape){.turn = {1.0}};
    ORR_TRY(urdf_check(reader, node, attributes, children));
    ORR_TRY(urdf_required_child(reader, node, "geometry", &geometry));
    ORR_TRY(urdf_check(reader, geometry, NULL, shapes));
    for (int i = 0; shapes[i]; i++) {
        for (const mjcf_node *child = geometry->children; child; child = child->next) {
            if (mjcf_is(child, shapes[i])) {
                found = child;
                shape->type = types[i];
                count++;
            }
        }
    }
    if (count != 1) {
        return mjcf_fail(geometry, reader->error,
                         "expected one of box, cylinder, sphere, capsule, plane and mesh");
    }
    if (shape->type == ORR_GEOM_MESH) {
        shape->mesh = found;
        return ORR_OK;
    }
    if (shape->type == ORR_GEOM_PLANE) {
        return read_plane(reader, found, shape);
    }
    ORR_TRY(read_sizes(reader, found, shape));
    find_empty(reader, found, shape);
    return ORR_OK;
}
