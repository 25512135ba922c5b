// A link: its inertia, its geoms, and what it looks like.
#include "engine/core/memory.h"
#include "engine/core/number.h"
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"
#include "physics/urdf/urdf.h"

#include <math.h>
#include <string.h>

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

static bool moves(const urdf_reader *reader, const urdf_link *link)
{
    while (link->joint && is_fixed(link->joint)) {
        link = &reader->links[link->parent];
    }
    return link->joint != NULL;
}

// Has a link an <inertial> with a mass? Files give frames one of 0.
static bool weighs(const urdf_link *link)
{
    const mjcf_node *inertial = urdf_child(link->node, "inertial"),
                    *mass = inertial ? urdf_child(inertial, "mass") : NULL;
    const char *value = mass ? mjcf_find(mass, "value") : NULL, *end;
    return value && orr_number_parse(value, &end) != 0.0;
}

// Does a link move whose inertia can only be its own? Frames alone, which hold nothing, may be fixed to it.
static bool moves_alone(const urdf_reader *reader, const urdf_link *link)
{
    bool alone = link->joint && !is_fixed(link->joint);
    for (int i = link->child; i >= 0 && alone; i = reader->links[i].sibling) {
        const urdf_link *child = &reader->links[i];
        alone = !is_fixed(child->joint) || (!weighs(child) && child->child < 0);
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

// Names of geoms need not differ, unlike those of links: one that is taken is left out. visual: the geom is
// that, which does not collide; NULL: it is a collision.
static orr_result add_geom(urdf_reader *reader, const urdf_link *link, const mjcf_node *node,
                           const spec_visual *visual, const float *rgba)
{
    orr_spec *spec = reader->spec;
    spec_geom geom = reader->defaults->geom;
    urdf_shape shape;
    const char *name = mjcf_find(node, "name");
    ORR_TRY(urdf_read_shape(reader, node, &shape));
    if (shape.type == ORR_GEOM_PLANE && moves(reader, link)) {
        spec_note(spec, node->file, node->line, "<%.32s>: a plane of a link that moves: no shape",
                  node->name);
        shape.empty = true;
    }
    if (shape.empty) {
        return ORR_OK;
    }
    geom.head =
        (spec_head){mjcf_location(node), name && name[0] && SPEC_FIND(spec, geoms, name) < 0 ? name : NULL};
    geom.body = link->body;
    geom.type = shape.type;
    memcpy(geom.size, shape.size, sizeof geom.size);
    geom.link = visual ? NULL : link->node;
    if (visual) {
        geom.contype = geom.conaffinity = 0;
        geom.group = visual->group;
        geom.density = 0.0;
        geom.visual = visual->element;
    }
    if (rgba) {
        memcpy(geom.rgba, rgba, sizeof geom.rgba);
    }
    if (shape.mesh) {
        ORR_TRY(urdf_read_mesh(reader, shape.mesh, &geom.mesh));
    }
    ORR_TRY(urdf_origin(reader, node, geom.pos, geom.orientation.quat));
    if (shape.type == ORR_GEOM_PLANE) {
        quat_multiply(geom.orientation.quat, shape.turn, geom.orientation.quat);
    }
    spec_geom *added = SPEC_APPEND(spec, geoms);
    if (!added) {
        return spec_memory_fail(reader->error);
    }
    *added = geom;
    return ORR_OK;
}

// A visual is drawn, and is a geom of the model besides where the file keeps those.
static orr_result read_visual(urdf_reader *reader, const urdf_link *link, const mjcf_node *node,
                              const urdf_material *own, const float *rgba)
{
    const orr_spec *spec = reader->spec;
    const int before = spec->visuals_count;
    if (!reader->hides_visuals) {
        ORR_TRY(urdf_read_visual(reader, link, node, own));
    }
    const spec_visual *added = spec->visuals_count > before ? &spec->visuals[before] : NULL;
    return added && !added->wrong && !spec->compiler.discardvisual ? add_geom(reader, link, node, added, rgba)
                                                                   : ORR_OK;
}

// Collisions have the colour of the last visual before them.
orr_result urdf_read_link(urdf_reader *reader, const urdf_link *link)
{
    // those after collision are for other programs
    static const char *const attributes[] = {"name", "type", NULL};
    static const char *const children[] = {"inertial", "visual", "collision", "self_collision_checking",
                                           "contact",  NULL};
    urdf_material last = {0};
    ORR_TRY(urdf_check(reader, link->node, attributes, children));
    for (const mjcf_node *node = link->node->children; node; node = node->next) {
        if (mjcf_is(node, "inertial") && link->body > 0) {
            ORR_TRY(read_inertial(reader, link, node));
        } else if (mjcf_is(node, "visual")) {
            urdf_material own;
            ORR_TRY(urdf_read_material(reader, node, &own));
            last = own.coloured ? own : last;
            ORR_TRY(read_visual(reader, link, node, &own, last.coloured ? last.rgba : NULL));
        } else if (mjcf_is(node, "collision")) {
            ORR_TRY(add_geom(reader, link, node, NULL, last.coloured ? last.rgba : NULL));
        }
    }
    return ORR_OK;
}

// ---- links that move without mass

// Has a body mass of its own? Collisions have the density of water.
static void find_heavy(const orr_spec *spec, bool *heavy)
{
    for (int i = 0; i < spec->geoms_count; i++) {
        heavy[spec->geoms[i].body] |= spec->geoms[i].link != NULL;
    }
    for (int i = 0; i < spec->bodies_count; i++) {
        heavy[i] = spec->bodies[i].has_inertial ? spec->bodies[i].mass > 0.0 : heavy[i];
    }
}

// A ball of water of 1 g, which changes little and can be accelerated. MuJoCo refuses such a robot; links
// between two joints are often without mass, and so are all of a file that is for looking at.
static void give_mass(urdf_reader *reader, spec_body *body)
{
    static const double least = 1e-3; // kg
    const spec_location *at = &body->head.location;
    body->has_inertial = 1;
    body->inertial = body->head;
    body->mass = least;
    memset(body->ipos, 0, sizeof body->ipos);
    memcpy(body->iquat, (const double[4]){1.0, 0.0, 0.0, 0.0}, sizeof body->iquat);
    set_ball(ball_moment(least), body->full_inertia);
    spec_note(reader->spec, at->file, at->line, "<link> '%.64s': moves without mass", body->head.name);
}

orr_result urdf_give_masses(urdf_reader *reader)
{
    orr_spec *spec = reader->spec;
    const size_t count = (size_t)spec->bodies_count;
    bool *heavy = orr_alloc_zero(count, sizeof *heavy), *moves = orr_alloc_zero(count, sizeof *moves);
    if (heavy && moves) {
        find_heavy(spec, heavy);
        for (int i = 0; i < spec->joints_count; i++) {
            moves[spec->joints[i].body] = true;
        }
        for (int i = spec->bodies_count - 1; i > 0; i--) { // children before their parents
            if (moves[i] && !heavy[i]) {
                give_mass(reader, &spec->bodies[i]);
            }
            heavy[spec->bodies[i].parent] |= !moves[i] && heavy[i];
        }
    }
    orr_result result = heavy && moves ? ORR_OK : spec_memory_fail(reader->error);
    orr_free(heavy);
    orr_free(moves);
    return result;
}
