// A link: its inertia, and its geoms with their colours.
#include "physics/model/compile.h"
#include "physics/urdf/urdf.h"

#include <math.h>
#include <string.h>

static orr_result read_colour(urdf_reader *reader, const mjcf_node *node, float rgba[4])
{
    static const char *const attributes[] = {"rgba", NULL};
    double values[4];
    ORR_TRY(urdf_check(reader, node, attributes, NULL));
    ORR_TRY(urdf_numbers(reader, node, "rgba", 4, true, values));
    for (int i = 0; i < 4; i++) {
        if (!(values[i] >= 0.0 && values[i] <= 1.0)) {
            return mjcf_fail(node, reader->error, "rgba: expected numbers of 0 to 1");
        }
        rgba[i] = (float)values[i];
    }
    return ORR_OK;
}

static const urdf_material *find_material(const urdf_reader *reader, const char *name)
{
    const urdf_material *m = reader->materials;
    while (m && strcmp(m->name, name) != 0) {
        m = m->next;
    }
    return m;
}

orr_result urdf_read_materials(urdf_reader *reader, const mjcf_node *node)
{
    const char *name = mjcf_find(node, "name");
    const mjcf_node *colour = urdf_child(node, "color");
    if (mjcf_is(node, "material") && name && colour && !find_material(reader, name)) {
        urdf_material *material = orr_arena_take(&reader->spec->arena, 1, sizeof *material);
        if (!material) {
            return spec_memory_fail(reader->error);
        }
        *material = (urdf_material){.name = name, .next = reader->materials};
        ORR_TRY(read_colour(reader, colour, material->rgba));
        reader->materials = material;
    }
    for (const mjcf_node *child = node->children; child; child = child->next) {
        ORR_TRY(urdf_read_materials(reader, child));
    }
    return ORR_OK;
}

// The colour of a visual, its own or by name; textures are not drawn.
static orr_result read_material(urdf_reader *reader, const mjcf_node *visual, float rgba[4], bool *coloured)
{
    static const char *const attributes[] = {"name", NULL}, *const children[] = {"color", "texture", NULL};
    const mjcf_node *node = urdf_child(visual, "material");
    if (!node) {
        return ORR_OK;
    }
    ORR_TRY(urdf_check(reader, node, attributes, children));
    const mjcf_node *colour = urdf_child(node, "color");
    const char *name = mjcf_find(node, "name");
    const urdf_material *material = name ? find_material(reader, name) : NULL;
    if (colour) {
        *coloured = true;
        return read_colour(reader, colour, rgba);
    }
    if (material) {
        *coloured = true;
        memcpy(rgba, material->rgba, 4 * sizeof *rgba);
    }
    return ORR_OK;
}

// The moment of a ball of water.
static double ball_moment(double mass)
{
    double radius = cbrt(3.0 * mass / (4.0 * 3.14159265358979324 * 1000.0));
    return 0.4 * mass * radius * radius;
}

static bool is_fixed(const mjcf_node *joint)
{
    const char *type = mjcf_find(joint, "type");
    return type && strcmp(type, "fixed") == 0;
}

// Does a link move whose inertia can only be its own? Frames alone, which hold nothing, may be fixed to it.
static bool moves_alone(const urdf_reader *reader, const urdf_link *link)
{
    bool alone = link->joint && !is_fixed(link->joint);
    for (int i = link->child; i >= 0 && alone; i = reader->links[i].sibling) {
        const urdf_link *child = &reader->links[i];
        alone = !is_fixed(child->joint) || (!urdf_child(child->node, "inertial") && child->child < 0);
    }
    return alone;
}

static void set_ball(double moment, double f[6])
{
    f[0] = f[1] = f[2] = moment;
    f[3] = f[4] = f[5] = 0.0;
}

// An inertia that no body can have, which many files have, becomes that of a ball of the same trace, as
// balanceinertia makes it, and is noted: MuJoCo refuses it.
static void correct_inertia(urdf_reader *reader, const mjcf_node *node, double mass, double f[6])
{
    const double matrix[9] = {f[0], f[3], f[4], f[3], f[1], f[5], f[4], f[5], f[2]};
    double moment[3], turn[4];
    principal_moments(matrix, false, moment, turn); // the last is the smallest
    bool possible = moment[0] + moment[1] >= moment[2] && moment[1] + moment[2] >= moment[0] &&
                    moment[2] + moment[0] >= moment[1];
    if (moment[2] > 0.0 && (possible || reader->spec->compiler.balanceinertia)) {
        return;
    }
    double mean = (fmax(moment[0], 0.0) + fmax(moment[1], 0.0) + fmax(moment[2], 0.0)) / 3.0;
    set_ball(mean > 1e-15 ? mean : ball_moment(mass), f); // less is rounding
    spec_note(reader->spec, node->file, node->line,
              "<inertia>: no body has principal moments of %.3g %.3g %.3g", moment[0], moment[1], moment[2]);
}

static orr_result read_inertia(urdf_reader *reader, const urdf_link *link, const mjcf_node *node, double mass,
                               double f[6])
{
    static const char *const attributes[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz", NULL};
    bool zero = true;
    ORR_TRY(urdf_check(reader, node, attributes, NULL));
    for (int i = 0; i < 6; i++) {
        ORR_TRY(urdf_numbers(reader, node, attributes[i], 1, true, &f[i]));
        zero = zero && f[i] == 0.0;
    }
    if (!zero) {
        correct_inertia(reader, node, mass, f);
    } else if (mass > 0.0 && moves_alone(reader, link)) {
        set_ball(ball_moment(mass), f);
        spec_note(reader->spec, node->file, node->line, "<inertia>: 0 of a link that moves");
    } else { // a point mass, with the inertia of links that are fixed to it
        f[0] = (double)NAN;
    }
    return ORR_OK;
}

static orr_result read_inertial(urdf_reader *reader, const urdf_link *link, const mjcf_node *node)
{
    static const char *const children[] = {"origin", "mass", "inertia", NULL};
    static const char *const mass_attributes[] = {"value", NULL};
    spec_body *body = &reader->spec->bodies[link->body];
    const mjcf_node *mass, *inertia = urdf_child(node, "inertia");
    ORR_TRY(urdf_check(reader, node, NULL, children));
    ORR_TRY(urdf_required_child(reader, node, "mass", &mass));
    ORR_TRY(urdf_check(reader, mass, mass_attributes, NULL));
    if (body->has_inertial) {
        return mjcf_fail(node, reader->error, "expected once in a link");
    }
    body->has_inertial = 1;
    body->inertial = (spec_head){mjcf_location(node), link->name};
    ORR_TRY(urdf_origin(reader, node, body->ipos, body->iquat));
    ORR_TRY(urdf_numbers(reader, mass, "value", 1, true, &body->mass));
    if (inertia) {
        return read_inertia(reader, link, inertia, body->mass, body->full_inertia);
    }
    set_ball(ball_moment(fmax(body->mass, 0.0)), body->full_inertia);
    spec_note(reader->spec, node->file, node->line, "<inertial>: no <inertia>");
    return ORR_OK;
}

static orr_result read_sizes(urdf_reader *reader, const mjcf_node *node, spec_geom *geom)
{
    static const char *const box[] = {"size", NULL}, *const sphere[] = {"radius", NULL},
                             *const round[] = {"radius", "length", NULL};
    if (geom->type == ORR_GEOM_BOX) {
        ORR_TRY(urdf_check(reader, node, box, NULL));
        ORR_TRY(urdf_numbers(reader, node, "size", 3, true, geom->size));
        for (int i = 0; i < 3; i++) {
            geom->size[i] *= 0.5;
        }
        return ORR_OK;
    }
    bool ball = geom->type == ORR_GEOM_SPHERE;
    ORR_TRY(urdf_check(reader, node, ball ? sphere : round, NULL));
    ORR_TRY(urdf_numbers(reader, node, "radius", 1, true, &geom->size[0]));
    if (!ball) {
        ORR_TRY(urdf_numbers(reader, node, "length", 1, true, &geom->size[1]));
        geom->size[1] *= 0.5;
    }
    return ORR_OK;
}

static orr_result read_geometry(urdf_reader *reader, const mjcf_node *node, spec_geom *geom)
{
    static const char *const shapes[] = {"box", "cylinder", "sphere", "capsule", "mesh", NULL};
    static const int types[] = {ORR_GEOM_BOX, ORR_GEOM_CYLINDER, ORR_GEOM_SPHERE, ORR_GEOM_CAPSULE,
                                ORR_GEOM_MESH};
    ORR_TRY(urdf_check(reader, node, NULL, shapes));
    const mjcf_node *shape = NULL;
    int count = 0;
    for (int i = 0; shapes[i]; i++) {
        for (const mjcf_node *child = node->children; child; child = child->next) {
            if (mjcf_is(child, shapes[i])) {
                shape = child;
                geom->type = types[i];
                count++;
            }
        }
    }
    if (count != 1) {
        return mjcf_fail(node, reader->error, "expected one of box, cylinder, sphere, capsule and mesh");
    }
    return geom->type == ORR_GEOM_MESH ? urdf_read_mesh(reader, shape, &geom->mesh)
                                       : read_sizes(reader, shape, geom);
}

// Names of geoms need not differ, unlike those of links: one that is taken is left out.
static orr_result add_geom(urdf_reader *reader, const urdf_link *link, const mjcf_node *node, bool visual,
                           const float *rgba)
{
    static const char *const attributes[] = {"name", NULL}, *const children[] = {"origin", "geometry",
                                                                                 "material", NULL};
    orr_spec *spec = reader->spec;
    spec_geom geom = reader->defaults->geom;
    const mjcf_node *geometry;
    const char *name = mjcf_find(node, "name");
    ORR_TRY(urdf_check(reader, node, attributes, children));
    ORR_TRY(urdf_required_child(reader, node, "geometry", &geometry));
    geom.head =
        (spec_head){mjcf_location(node), name && name[0] && SPEC_FIND(spec, geoms, name) < 0 ? name : NULL};
    geom.body = link->body;
    if (visual) {
        geom.contype = geom.conaffinity = 0;
        geom.group = 1;
        geom.density = 0.0;
    }
    if (rgba) {
        memcpy(geom.rgba, rgba, sizeof geom.rgba);
    }
    ORR_TRY(read_geometry(reader, geometry, &geom));
    ORR_TRY(urdf_origin(reader, node, geom.pos, geom.orientation.quat));
    spec_geom *added = SPEC_APPEND(spec, geoms);
    if (!added) {
        return spec_memory_fail(reader->error);
    }
    *added = geom;
    return ORR_OK;
}

// Collisions have the colour of the last visual before them. With discardvisual, meshes of visuals are not
// read.
orr_result urdf_read_link(urdf_reader *reader, const urdf_link *link)
{
    // those after collision are for other programs
    static const char *const attributes[] = {"name", "type", NULL};
    static const char *const children[] = {"inertial", "visual", "collision", "self_collision_checking",
                                           "contact",  NULL};
    float rgba[4];
    bool coloured = false;
    ORR_TRY(urdf_check(reader, link->node, attributes, children));
    for (const mjcf_node *node = link->node->children; node; node = node->next) {
        if (mjcf_is(node, "inertial") && link->body > 0) {
            ORR_TRY(read_inertial(reader, link, node));
        } else if (mjcf_is(node, "visual")) {
            ORR_TRY(read_material(reader, node, rgba, &coloured));
            if (!reader->spec->compiler.discardvisual) {
                ORR_TRY(add_geom(reader, link, node, true, coloured ? rgba : NULL));
            }
        } else if (mjcf_is(node, "collision")) {
            ORR_TRY(add_geom(reader, link, node, false, coloured ? rgba : NULL));
        }
    }
    return ORR_OK;
}
