// An MJCF file: its sections in the order in which they build on each other, whatever the order in the file.
#include "physics/mjcf/mjcf.h"

#include <string.h>

orr_result mjcf_head(mjcf_reader *reader, const mjcf_node *node, spec_head *head)
{
    (void)reader;
    head->location = mjcf_location(node);
    head->name = mjcf_find(node, "name");
    head->name = head->name && head->name[0] ? head->name : NULL;
    return ORR_OK;
}

static orr_result read_flags(mjcf_reader *reader, const mjcf_node *node)
{
    static const struct {
        const char *name;
        int bit;
        bool enables; // else the bit disables it
    } flags[] = {{"constraint", ORR_DISABLE_CONSTRAINT, false},
                 {"equality", ORR_DISABLE_EQUALITY, false},
                 {"frictionloss", ORR_DISABLE_FRICTIONLOSS, false},
                 {"limit", ORR_DISABLE_LIMIT, false},
                 {"contact", ORR_DISABLE_CONTACT, false},
                 {"spring", ORR_DISABLE_SPRING, false},
                 {"damper", ORR_DISABLE_DAMPER, false},
                 {"gravity", ORR_DISABLE_GRAVITY, false},
                 {"clampctrl", ORR_DISABLE_CLAMPCTRL, false},
                 {"warmstart", ORR_DISABLE_WARMSTART, false},
                 {"filterparent", ORR_DISABLE_FILTERPARENT, false},
                 {"actuation", ORR_DISABLE_ACTUATION, false},
                 {"refsafe", ORR_DISABLE_REFSAFE, false},
                 {"sensor", ORR_DISABLE_SENSOR, false},
                 {"midphase", ORR_DISABLE_MIDPHASE, false},
                 {"eulerdamp", ORR_DISABLE_EULERDAMP, false},
                 {"autoreset", ORR_DISABLE_AUTORESET, false},
                 {"nativeccd", ORR_DISABLE_NATIVECCD, false},
                 {"island", ORR_DISABLE_ISLAND, false},
                 {"multiccd", ORR_DISABLE_MULTICCD, false},
                 {"override", ORR_ENABLE_OVERRIDE, true},
                 {"energy", ORR_ENABLE_ENERGY, true},
                 {"fwdinv", ORR_ENABLE_FWDINV, true},
                 {"invdiscrete", ORR_ENABLE_INVDISCRETE, true},
                 {"sleep", ORR_ENABLE_SLEEP, true},
                 {"diagexact", ORR_ENABLE_DIAGEXACT, true},
                 {"speculative", ORR_ENABLE_SPECULATIVE, true},
                 {"ipc", 0, true}};
    orr_model_option *option = &reader->spec->option;
    for (const mjcf_attribute *a = node->attributes; a; a = a->next) {
        size_t i = 0, count = sizeof flags / sizeof flags[0];
        while (i < count && strcmp(flags[i].name, a->name) != 0) {
            i++;
        }
        bool enabled = strcmp(a->value, "enable") == 0;
        if (i == count || (!enabled && strcmp(a->value, "disable") != 0)) {
            return i == count ? mjcf_fail(node, reader->error, "unknown attribute '%.64s'", a->name)
                              : mjcf_fail(node, reader->error, "%s: expected enable or disable", a->name);
        }
        if (flags[i].bit == 0 && enabled) { // ipc
            spec_note(reader->spec, node->file, node->line,
                      "<flag>: ipc: flexes touch by the contacts of soft bodies, with friction");
        }
        int32_t *bits = flags[i].enables ? &option->enableflags : &option->disableflags;
        *bits = flags[i].enables == enabled ? *bits | flags[i].bit : *bits & ~flags[i].bit;
    }
    return mjcf_no_children(node, reader->error);
}

static orr_result read_option(mjcf_reader *reader, const mjcf_node *node)
{
    orr_model_option *option = &reader->spec->option;
    static const char *const own[] = {"actuatorgroupdisable", NULL};
    ORR_TRY(mjcf_read(node, mjcf_option_members, own, option, reader->spec, reader->error));
    const char *integrator = mjcf_find(node, "integrator");
    if (integrator && strcmp(integrator, "discrete") == 0) {
        spec_note(reader->spec, node->file, node->line,
                  "<option>: integrator: rigid bodies are stepped as with \"implicitfast\"");
    }
    double groups[31];
    int count;
    ORR_TRY(mjcf_read_numbers(node, own[0], 0, 31, groups, &count, reader->error));
    for (int i = 0; i < count; i++) {
        if (!(groups[i] >= 0.0 && groups[i] <= 30.0)) {
            return mjcf_fail(node, reader->error, "actuatorgroupdisable: expected numbers of 0 to 30");
        }
        option->disableactuator |= 1 << (int)groups[i];
    }
    if (!(option->timestep > 0.0)) {
        return mjcf_fail(node, reader->error, "timestep: expected more than 0");
    }
    if (!(option->impratio > 0.0) || option->iterations < 0 || option->ls_iterations < 0 ||
        option->noslip_iterations < 0 || option->ccd_iterations < 0 || option->sdf_iterations < 0 ||
        option->sdf_initpoints < 0 || option->density < 0.0 || option->viscosity < 0.0) {
        return mjcf_fail(node, reader->error,
                         "expected a positive impratio, and no negative iterations, density or viscosity");
    }
    for (const mjcf_node *child = node->children; child; child = child->next) {
        if (!mjcf_is(child, "flag")) {
            return mjcf_unknown(child, node, reader->error);
        }
        ORR_TRY(read_flags(reader, child));
    }
    return ORR_OK;
}

static orr_result read_length_range(mjcf_reader *reader, const mjcf_node *node)
{
    spec_length_range *range = &reader->spec->length_range;
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_read(node, mjcf_length_range_members, NULL, range, reader->spec, reader->error));
    double step = range->timestep > 0.0 ? range->timestep : 1e-4;
    return range->accel > 0.0 && range->timestep >= 0.0 && range->interval > 0.0 && range->inttotal > 0.0 &&
                   range->inttotal / step <= 1e5
               ? ORR_OK
               : mjcf_fail(node, reader->error,
                           "expected a positive accel, interval and inttotal, no negative timestep, and "
                           "up to 100000 steps");
}

static orr_result read_compiler(mjcf_reader *reader, const mjcf_node *node)
{
    spec_compiler *c = &reader->spec->compiler;
    ORR_TRY(mjcf_read(node, mjcf_compiler_members, NULL, c, reader->spec, reader->error));
    for (const mjcf_node *child = node->children; child; child = child->next) {
        if (!mjcf_is(child, "lengthrange")) {
            return mjcf_unknown(child, node, reader->error);
        }
        ORR_TRY(read_length_range(reader, child));
    }
    if (strlen(c->eulerseq) != 3 || strspn(c->eulerseq, "xyzXYZ") != 3) {
        return mjcf_fail(node, reader->error, "eulerseq: expected three letters of x y z X Y Z");
    }
    if (c->boundmass < 0.0 || c->boundinertia < 0.0) {
        return mjcf_fail(node, reader->error, "boundmass and boundinertia: expected no negative number");
    }
    return ORR_OK;
}

orr_result mjcf_read_settings(mjcf_reader *reader, const mjcf_node *section)
{
    if (mjcf_is(section, "compiler")) {
        return read_compiler(reader, section);
    }
    if (mjcf_is(section, "option")) {
        return read_option(reader, section);
    }
    ORR_TRY(mjcf_no_children(section, reader->error));
    if (mjcf_is(section, "size")) {
        ORR_TRY(
            mjcf_read(section, mjcf_size_members, NULL, &reader->spec->size, reader->spec, reader->error));
        const spec_size *size = &reader->spec->size;
        const int32_t counts[] = {
            size->nkey,       size->nuserdata, size->nuser_body,   size->nuser_jnt,      size->nuser_geom,
            size->nuser_site, size->nuser_cam, size->nuser_tendon, size->nuser_actuator, size->nuser_sensor};
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            if (counts[i] < -1 || counts[i] > 1 << 20) {
                return mjcf_fail(section, reader->error, "expected counts of up to %d", 1 << 20);
            }
        }
        return ORR_OK;
    }
    return mjcf_read(section, mjcf_statistic_members, NULL, &reader->spec->statistic, reader->spec,
                     reader->error);
}

static orr_result read_numeric(mjcf_reader *reader, const mjcf_node *node)
{
    spec_numeric *numeric = SPEC_APPEND(reader->spec, numerics);
    if (!numeric) {
        return spec_memory_fail(reader->error);
    }
    ORR_TRY(mjcf_head(reader, node, &numeric->head));
    numeric->size = -1;
    ORR_TRY(mjcf_read(node, mjcf_numeric_members, NULL, numeric, reader->spec, reader->error));
    numeric->size = numeric->size < 0 ? numeric->data.count : numeric->size;
    if (!numeric->head.name || numeric->size < numeric->data.count || numeric->size < 1 ||
        numeric->size > 1 << 24) {
        return mjcf_fail(node, reader->error, "expected a name, and a size of at least that of the data");
    }
    return mjcf_no_children(node, reader->error);
}

static orr_result read_tuple(mjcf_reader *reader, const mjcf_node *node)
{
    spec_tuple tuple = {.first = reader->spec->tuple_elements_count};
    ORR_TRY(mjcf_head(reader, node, &tuple.head));
    ORR_TRY(mjcf_read(node, mjcf_no_members, NULL, &tuple, reader->spec, reader->error));
    for (const mjcf_node *child = node->children; child; child = child->next) {
        spec_tuple_element *element = SPEC_APPEND(reader->spec, tuple_elements);
        if (!mjcf_is(child, "element")) {
            return mjcf_unknown(child, node, reader->error);
        }
        if (!element) {
            return spec_memory_fail(reader->error);
        }
        ORR_TRY(mjcf_head(reader, child, &element->head));
        ORR_TRY(mjcf_read(child, mjcf_tuple_element_members, NULL, element, reader->spec, reader->error));
        ORR_TRY(mjcf_no_children(child, reader->error));
        if (!element->object || element->objtype == ORR_OBJECT_UNKNOWN) {
            return mjcf_fail(child, reader->error, "expected objtype and objname");
        }
        tuple.count++;
    }
    spec_tuple *added = SPEC_APPEND(reader->spec, tuples);
    if (!added) {
        return spec_memory_fail(reader->error);
    }
    *added = tuple;
    return tuple.head.name && tuple.count > 0
               ? ORR_OK
               : mjcf_fail(node, reader->error, "expected a name and at least one <element>");
}

orr_result mjcf_read_custom(mjcf_reader *reader, const mjcf_node *section)
{
    for (const mjcf_node *node = section->children; node; node = node->next) {
        if (mjcf_is(node, "numeric")) {
            ORR_TRY(read_numeric(reader, node));
        } else if (mjcf_is(node, "text")) {
            spec_text *text = SPEC_APPEND(reader->spec, texts);
            if (!text) {
                return spec_memory_fail(reader->error);
            }
            ORR_TRY(mjcf_head(reader, node, &text->head));
            ORR_TRY(mjcf_read(node, mjcf_text_members, NULL, text, reader->spec, reader->error));
            ORR_TRY(mjcf_no_children(node, reader->error));
            if (!text->head.name || !text->data || !text->data[0]) {
                return mjcf_fail(node, reader->error, "expected a name and data");
            }
        } else if (mjcf_is(node, "tuple")) {
            ORR_TRY(read_tuple(reader, node));
        } else {
            return mjcf_unknown(node, section, reader->error);
        }
    }
    return ORR_OK;
}

orr_result mjcf_read_keyframes(mjcf_reader *reader, const mjcf_node *section)
{
    for (const mjcf_node *node = section->children; node; node = node->next) {
        if (!mjcf_is(node, "key")) {
            return mjcf_unknown(node, section, reader->error);
        }
        spec_key *key = SPEC_APPEND(reader->spec, keys);
        if (!key) {
            return spec_memory_fail(reader->error);
        }
        ORR_TRY(mjcf_head(reader, node, &key->head));
        ORR_TRY(mjcf_read(node, mjcf_key_members, NULL, key, reader->spec, reader->error));
        ORR_TRY(mjcf_no_children(node, reader->error));
    }
    return ORR_OK;
}

static orr_result read_model(mjcf_reader *reader, const mjcf_node *root)
{
    static const struct {
        const char *name;
        orr_result (*read)(mjcf_reader *reader, const mjcf_node *section);
        bool attributes; // may the section have any?
    } sections[] = {{"extension", mjcf_read_extension, false},
                    {"compiler", mjcf_read_settings, true},
                    {"option", mjcf_read_settings, true},
                    {"size", mjcf_read_settings, true},
                    {"statistic", mjcf_read_settings, true},
                    {"visual", mjcf_read_visual, false},
                    {"default", mjcf_read_defaults, true},
                    {"asset", mjcf_read_assets, false},
                    {"worldbody", NULL, true},
                    {"deformable", mjcf_read_deformables, false},
                    {"contact", mjcf_read_contact, false},
                    {"equality", mjcf_read_equality, false},
                    {"tendon", mjcf_read_tendon, false},
                    {"actuator", mjcf_read_actuators, false},
                    {"sensor", mjcf_read_sensors, false},
                    {"custom", mjcf_read_custom, false},
                    {"keyframe", mjcf_read_keyframes, false}};
    enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };
    for (const mjcf_node *node = root->children; node; node = node->next) {
        int known = 0;
        while (known < SECTION_COUNT && !mjcf_is(node, sections[known].name)) {
            known++;
        }
        if (known == SECTION_COUNT) {
            return mjcf_unknown(node, root, reader->error);
        }
        if (!sections[known].attributes && node->attributes) {
            return mjcf_fail(node, reader->error, "unknown attribute '%.64s'", node->attributes->name);
        }
    }
    for (int i = 0; i < SECTION_COUNT; i++) {
        if (!sections[i].read) { // all <worldbody> sections together
            ORR_TRY(mjcf_read_worldbody(reader, root));
            continue;
        }
        for (const mjcf_node *node = root->children; node; node = node->next) {
            if (mjcf_is(node, sections[i].name)) {
                ORR_TRY(sections[i].read(reader, node));
            }
        }
    }
    ORR_TRY(mjcf_strain_equalities(reader));
    return spec_attach_rest(reader->spec, reader->error);
}

static void note_texts(orr_spec *spec, const mjcf_node *node)
{
    if (node->text_line) {
        mjcf_note_text(spec, node);
    }
    for (const mjcf_node *child = node->children; child; child = child->next) {
        note_texts(spec, child);
    }
}

orr_result mjcf_read_mujoco(orr_spec *spec, mjcf_node *root, mjcf_read_file *read_file, orr_error *error)
{
    mjcf_class *main_class = orr_arena_take(&spec->arena, 2, sizeof *main_class);
    if (!main_class) {
        return spec_memory_fail(error);
    }
    mjcf_class_init(main_class);
    main_class[1] = *main_class;
    mjcf_reader reader = {.spec = spec,
                          .classes = main_class,
                          .plain = main_class + 1,
                          .read_file = read_file,
                          .error = error,
                          .root = root};
    note_texts(spec, root);
    ORR_TRY(mjcf_composites(spec, root, error));
    ORR_TRY(mjcf_replicate(root, &spec->arena, error));
    ORR_TRY(mjcf_flexes(spec, root, error));
    for (const mjcf_attribute *a = root->attributes; a; a = a->next) {
        bool namespaced = strchr(a->name, ':') || strcmp(a->name, "xmlns") == 0; // for other programs
        if (strcmp(a->name, "model") != 0 && !namespaced) {
            return mjcf_fail(root, error, "unknown attribute '%.64s'", a->name);
        }
    }
    spec_set_name(spec, mjcf_find(root, "model"));
    return read_model(&reader, root);
}
