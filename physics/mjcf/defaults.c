// Default classes: the values that an element's attributes have before it is read.
#include "physics/mjcf/mjcf.h"

#include <math.h>
#include <string.h>

#define NOT_GIVEN ((double)NAN)
#define SOLREF                                                                                               \
    {                                                                                                        \
        0.02, 1.0                                                                                            \
    }
#define SOLIMP                                                                                               \
    {                                                                                                        \
        0.9, 0.95, 0.001, 0.5, 2.0                                                                           \
    }
#define TURN                                                                                                 \
    {                                                                                                        \
        {1.0, 0.0, 0.0, 0.0}, {NOT_GIVEN}, {NOT_GIVEN}, {NOT_GIVEN},                                         \
        {                                                                                                    \
            NOT_GIVEN                                                                                        \
        }                                                                                                    \
    }
#define GREY                                                                                                 \
    {                                                                                                        \
        0.5f, 0.5f, 0.5f, 1.0f                                                                               \
    }

void mjcf_class_init(mjcf_class *main_class)
{
    *main_class = (mjcf_class){
        .name = "main",
        .joint = {.type = ORR_JOINT_HINGE,
                  .limited = SPEC_AUTO,
                  .actfrclimited = SPEC_AUTO,
                  .align = SPEC_AUTO,
                  .axis = {0.0, 0.0, 1.0},
                  .solref_limit = SOLREF,
                  .solimp_limit = SOLIMP,
                  .solref_friction = SOLREF,
                  .solimp_friction = SOLIMP},
        .geom = {.type = ORR_GEOM_SPHERE,
                 .contype = 1,
                 .conaffinity = 1,
                 .condim = 3,
                 .fitscale = 1.0,
                 .castshadow = 1,
                 .fromto = {NOT_GIVEN},
                 .orientation = TURN,
                 .friction = {1.0, 0.005, 0.0001},
                 .mass = NOT_GIVEN,
                 .density = 1000.0,
                 .solmix = 1.0,
                 .fluidcoef = {0.5, 0.25, 1.5, 1.0, 1.0},
                 .solref = SOLREF,
                 .solimp = SOLIMP,
                 .rgba = GREY},
        .site = {.type = ORR_GEOM_SPHERE,
                 .size = {0.005, 0.005, 0.005},
                 .fromto = {NOT_GIVEN},
                 .orientation = TURN,
                 .rgba = GREY},
        .camera = {.orientation = TURN, .fovy = 45.0, .ipd = 0.068, .resolution = {1, 1}},
        .light = {.directional = -1,
                  .castshadow = 1,
                  .active = 1,
                  .dir = {0.0, 0.0, -1.0},
                  .bulbradius = 0.02f,
                  .softness = 0.2f,
                  .range = 10.0f,
                  .attenuation = {1.0f, 0.0f, 0.0f},
                  .cutoff = 45.0f,
                  .exponent = 10.0f,
                  .diffuse = {0.7f, 0.7f, 0.7f},
                  .specular = {0.3f, 0.3f, 0.3f}},
        .mesh = {.refquat = {1.0, 0.0, 0.0, 0.0},
                 .scale = {1.0, 1.0, 1.0},
                 .inertia = SPEC_MESH_LEGACY,
                 .maxhullvert = -1},
        .texture = {.type = ORR_TEXTURE_CUBE,
                    .nchannel = 3,
                    .rgb1 = {0.8, 0.8, 0.8},
                    .rgb2 = {0.5, 0.5, 0.5},
                    .random = 0.01,
                    .gridsize = {1, 1},
                    .gridlayout = "............"},
        .material = {.texrepeat = {1.0f, 1.0f},
                     .specular = 0.5f,
                     .shininess = 0.5f,
                     .metallic = -1.0f,
                     .roughness = -1.0f,
                     .rgba = {1.0f, 1.0f, 1.0f, 1.0f}},
        .pair = {.condim = 3,
                 .friction = {1.0, 1.0, 0.005, 0.0001, 0.0001},
                 .solref = SOLREF,
                 .solimp = SOLIMP},
        .equality = {.active = 1,
                     .solref = SOLREF,
                     .solimp = SOLIMP,
                     .anchor = {NOT_GIVEN, 0.0, 0.0},
                     .relpose = {0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0},
                     .torquescale = 1.0,
                     .polycoef = {0.0, 1.0, 0.0, 0.0, 0.0}},
        .tendon = {.limited = SPEC_AUTO,
                   .actfrclimited = SPEC_AUTO,
                   .springlength = {-1.0, -1.0},
                   .width = 0.003,
                   .solref_limit = SOLREF,
                   .solimp_limit = SOLIMP,
                   .solref_friction = SOLREF,
                   .solimp_friction = SOLIMP,
                   .rgba = GREY},
    };
    for (int kind = 0; kind < MJCF_ACTUATOR_KINDS; kind++) {
        main_class->actuator[kind] = (spec_actuator){.ctrllimited = SPEC_AUTO,
                                                     .forcelimited = SPEC_AUTO,
                                                     .actlimited = SPEC_AUTO,
                                                     .actdim = -1,
                                                     .inputs = ORR_INPUT_POSITION | ORR_INPUT_VELOCITY,
                                                     .gear = {1.0},
                                                     .dynprm = {1.0},
                                                     .gainprm = {1.0}};
    }
    spec_actuator *motor = &main_class->actuator[MJCF_DCMOTOR];
    motor->dynprm[0] = motor->gainprm[0] = 0.0;
    spec_actuator *pid = &main_class->actuator[MJCF_PID];
    pid->dynprm[0] = pid->gainprm[0] = 0.0;
    pid->biasprm[1] = -1.0;
}

static mjcf_class *find_class(mjcf_reader *reader, const char *name)
{
    for (mjcf_class *c = reader->classes; c; c = c->next) {
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}

orr_result mjcf_class_of(mjcf_reader *reader, const mjcf_node *node, const char *childclass,
                         const mjcf_class **found)
{
    const char *name = mjcf_find(node, "class");
    if (node->plain) {
        *found = reader->plain;
        return ORR_OK;
    }
    name = name ? name : childclass;
    *found = name ? find_class(reader, name) : reader->classes;
    return *found ? ORR_OK : mjcf_fail(node, reader->error, "there is no default class '%.64s'", name);
}

static orr_result read_element(mjcf_reader *reader, const mjcf_node *node, const mjcf_node *parent,
                               const mjcf_class *outer, mjcf_class *c)
{
    const struct {
        const char *element;
        const mjcf_member *members;
        void *target;
    } elements[] = {{"joint", mjcf_joint_members, &c->joint},
                    {"site", mjcf_site_members, &c->site},
                    {"camera", mjcf_camera_members, &c->camera},
                    {"light", mjcf_light_members, &c->light},
                    {"mesh", mjcf_mesh_members, &c->mesh},
                    {"texture", mjcf_texture_members, &c->texture},
                    {"material", mjcf_material_members, &c->material},
                    {"pair", mjcf_pair_members, &c->pair},
                    {"equality", mjcf_equality_members, &c->equality},
                    {"geom", mjcf_geom_members, &c->geom}};
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_no_head(node, reader->error));
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        if (mjcf_is(node, elements[i].element)) {
            spec_orientation *orientation = mjcf_is(node, "geom")     ? &c->geom.orientation
                                            : mjcf_is(node, "site")   ? &c->site.orientation
                                            : mjcf_is(node, "camera") ? &c->camera.orientation
                                                                      : NULL;
            if (orientation) {
                mjcf_clear_orientation(node, orientation);
            }
            return mjcf_read(node, elements[i].members, NULL, elements[i].target, reader->spec,
                             reader->error);
        }
    }
    if (mjcf_is(node, "tendon")) {
        return mjcf_read_tendon_values(reader, node, &c->tendon);
    }
    int kind = mjcf_actuator_kind(node);
    return kind >= 0 ? mjcf_read_actuator_default(reader, node, kind, outer, c)
                     : mjcf_unknown(node, parent, reader->error);
}

static orr_result read_class(mjcf_reader *reader, const mjcf_node *node, const mjcf_class *outer,
                             mjcf_class *c)
{
    for (const mjcf_node *child = node->children; child; child = child->next) {
        if (!mjcf_is(child, "default")) {
            ORR_TRY(read_element(reader, child, node, outer, c));
        }
    }
    for (const mjcf_node *child = node->children; child; child = child->next) {
        if (!mjcf_is(child, "default")) {
            continue;
        }
        const char *name = mjcf_find(child, "class");
        if (!name || !name[0]) {
            return mjcf_fail(child, reader->error, "class: expected a name");
        }
        if (find_class(reader, name)) {
            return mjcf_fail(child, reader->error, "class '%.64s' is defined a second time", name);
        }
        mjcf_class *inner = orr_arena_take(&reader->spec->arena, 1, sizeof *inner);
        if (!inner) {
            return spec_memory_fail(reader->error);
        }
        *inner = *c;
        inner->name = name;
        inner->next = reader->classes->next;
        reader->classes->next = inner;
        ORR_TRY(mjcf_read(child, mjcf_no_members, NULL, NULL, reader->spec, reader->error));
        ORR_TRY(read_class(reader, child, c, inner));
    }
    return ORR_OK;
}

orr_result mjcf_read_defaults(mjcf_reader *reader, const mjcf_node *node)
{
    const char *name = mjcf_find(node, "class");
    ORR_TRY(mjcf_read(node, mjcf_no_members, NULL, NULL, reader->spec, reader->error));
    if (name) {
        reader->classes->name = name;
    }
    mjcf_class plain; // around the main class
    mjcf_class_init(&plain);
    return read_class(reader, node, &plain, reader->classes);
}
