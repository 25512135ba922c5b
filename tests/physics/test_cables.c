// Cables of MJCF: the composites that make them.
#include "physics/load/load.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static orr_model *parse(const char *text)
{
    orr_model *model = NULL;
    assert_ok(orr_model_parse(text, strlen(text), "test.xml", &model, &error));
    return model;
}

// ---- composites; their numbers: test_mjcf

static orr_object kind_named(const char *name)
{
    return strcmp(name, "body") == 0    ? ORR_OBJECT_BODY
           : strcmp(name, "joint") == 0 ? ORR_OBJECT_JOINT
           : strcmp(name, "geom") == 0  ? ORR_OBJECT_GEOM
           : strcmp(name, "site") == 0  ? ORR_OBJECT_SITE
                                        : ORR_OBJECT_TEXT;
}

static void all_parts_have_mujocos_names(void **state)
{
    (void)state;
    orr_model *model = NULL;
    assert_ok(orr_model_load(source_path("tests/golden/models/cables.xml"), &model, &error));
    FILE *file = fopen(source_path("tests/golden/cables/names.txt"), "r");
    char line[128], kind[16], name[64];
    int id, lines = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        name[0] = 0;
        assert_true(sscanf(line, "%15s %d %63s", kind, &id, name) >= 2);
        assert_string_equal(orr_model_name(model, kind_named(kind), id), name);
        lines++;
    }
    fclose(file);
    assert_int_equal(lines, model->nbody + model->njnt + model->ngeom + model->nsite + model->ntext);
    orr_model_destroy(model);
}

#define CAPSULE "<geom type='capsule' size='.01'/>"
#define CABLE(attributes, inside)                                                                            \
    "<mujoco><worldbody>\n<composite type='cable' prefix='c' " attributes ">" inside                         \
    "</composite></worldbody></mujoco>"

// MuJoCo 3.12 has no contact exclude for two bodies: it looks for a body that does not exist, and fails.
static void a_cable_of_two_bodies_excludes_their_contact(void **state)
{
    (void)state;
    orr_model *model = parse(CABLE("count='3 1 1' curve='s' size='.5'", CAPSULE));
    assert_int_equal(model->nbody, 3);
    assert_int_equal(model->nexclude, 1);
    int first = orr_model_find(model, ORR_OBJECT_BODY, "cB_first"),
        last = orr_model_find(model, ORR_OBJECT_BODY, "cB_last");
    assert_int_equal(model->exclude_signature[0], (first << 16) + last);
    assert_true(fabs(model->body_pos[3 * last] - 0.25) < 1e-7);
    orr_model_destroy(model);
}

static void skins_of_cables_are_noted(void **state)
{
    (void)state;
    orr_model *model = parse(CABLE("count='3 1 1' curve='s'", CAPSULE "\n<skin group='2'/>"));
    assert_int_equal(model->unused.count, 1);
    assert_non_null(strstr(model->unused.first, "test.xml:3: <skin>"));
    orr_model_destroy(model);
}

static void every_mistake_is_named_with_its_line(void **state)
{
    (void)state;
    static const char composite[] = "test.xml:2: <composite>";
    static const struct {
        const char *text, *line, *what;
    } mistakes[] = {
        {"<mujoco><worldbody>\n<composite type='grid'/></worldbody></mujoco>", composite,
         "type: 'grid' is unknown or unsupported: expected one of cable"},
        {"<mujoco><worldbody>\n<composite/></worldbody></mujoco>", composite, "type: expected cable"},
        {CABLE("count='4 1 1' spacing='1'", CAPSULE), composite, "unknown attribute 'spacing'"},
        {CABLE("count='4 1 1' curve='s' initial='hinge'", CAPSULE), composite, "initial: 'hinge'"},
        {CABLE("count='4 1 1' curve='s t'", CAPSULE), composite, "curve: expected up to three of 0, s"},
        {CABLE("count='4 1 1' curve='s 0 0 0'", CAPSULE), composite, "curve: expected up to three of 0, s"},
        {CABLE("count='4 1 1'", CAPSULE), composite, "points 0 and 1 of the cable: expected a distance"},
        {CABLE("count='4 1 1' curve='s' size='0'", CAPSULE), composite, "points 0 and 1 of the cable"},
        {CABLE("count='1 1 1' curve='s'", CAPSULE), composite, "expected 2 to 512 vertices, or a count"},
        {CABLE("count='513' curve='s'", CAPSULE), composite, "expected 2 to 512 vertices, or a count"},
        {CABLE("count='4 2 1' curve='s'", CAPSULE), composite, "expected 2 to 512 vertices, or a count"},
        {CABLE("count='4' vertex='0 0 0 1 0 0'", CAPSULE), composite,
         "three numbers for each vertex, and no"},
        {CABLE("vertex='0 0 0 1 0 0 2'", CAPSULE), composite, "three numbers for each vertex"},
        {CABLE("vertex='0 0 0 1e39 0 0'", CAPSULE), composite, "points 0 and 1 of the cable"},
        {CABLE("vertex='0 0 0 1 0 0 1 0 0'", CAPSULE), composite, "points 1 and 2 of the cable"},
        {CABLE("count='4' curve='s' quat='0 0 0 0'", CAPSULE), composite, "quat: expected"},
        {CABLE("count='4' curve='s'", ""), composite, "expected a <geom> of the type capsule, cylinder or"},
        {CABLE("count='4' curve='s'", "\n<geom type='sphere'/>"), "test.xml:3: <geom>",
         "expected a <geom> of the type capsule, cylinder or box"},
        {CABLE("count='4' curve='s'", "\n<geom type='box' pos='0 0 0'/>"), "test.xml:3: <geom>",
         "unknown attribute 'pos'"},
        {CABLE("count='4' curve='s'", "<geom type='box' size='1 1 a'/>"), "test.xml:2: <geom>",
         "size: expected 1 to 3 numbers"},
        {CABLE("count='4' curve='s'", CAPSULE "\n" CAPSULE), "test.xml:3: <geom>", "expected once"},
        {CABLE("count='4' curve='s'", CAPSULE "\n<joint damping='1'/>"), "test.xml:3: <joint>",
         "kind: expected main"},
        {CABLE("count='4' curve='s'", CAPSULE "\n<joint kind='main' ref='1'/>"), "test.xml:3: <joint>",
         "unknown attribute 'ref'"},
        {CABLE("count='4' curve='s'", CAPSULE "\n<tendon/>"), "test.xml:3: <tendon>",
         "unknown element inside <composite>"},
        {CABLE("count='4' curve='s'", CAPSULE "</composite><composite type='cable' prefix='c' curve='s' "
                                              "count='4'>" CAPSULE),
         "test.xml:2: <body>", "taken already"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        orr_error error = {0};
        orr_model *model = NULL;
        const char *text = mistakes[i].text, *line = mistakes[i].line;
        (void)orr_model_parse(text, strlen(text), "test.xml", &model, &error);
        if (model || strncmp(error.message, line, strlen(line)) != 0 ||
            !strstr(error.message, mistakes[i].what)) {
            fail_msg("'%s': expected '%s... %s', got '%s'", text, line, mistakes[i].what, error.message);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_parts_have_mujocos_names),
        cmocka_unit_test(a_cable_of_two_bodies_excludes_their_contact),
        cmocka_unit_test(skins_of_cables_are_noted),
        cmocka_unit_test(every_mistake_is_named_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
