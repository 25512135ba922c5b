// The visual section: what concerns drawing in general is read; sizes and colours of MuJoCo's own decorations
// are not.
#include "physics/mjcf/mjcf.h"

#define VALUE(name, kind, member, count)                                                                     \
    {                                                                                                        \
        name, kind, offsetof(orr_model_visual, member), count, count, NULL                                   \
    }
#define IGNORED(name)                                                                                        \
    {                                                                                                        \
        name, MJCF_NO_EFFECT, 0, 0, 0, NULL                                                                  \
    }
#define END                                                                                                  \
    {                                                                                                        \
        NULL, MJCF_TEXT, 0, 0, 0, NULL                                                                       \
    }

static const mjcf_member global_fields[] = {VALUE("fovy", MJCF_SINGLE, fovy, 1),
                                            VALUE("azimuth", MJCF_SINGLE, azimuth, 1),
                                            VALUE("elevation", MJCF_SINGLE, elevation, 1),
                                            VALUE("offwidth", MJCF_INTEGER, offwidth, 1),
                                            VALUE("offheight", MJCF_INTEGER, offheight, 1),
                                            IGNORED("cameraid"),
                                            IGNORED("orthographic"),
                                            IGNORED("ipd"),
                                            IGNORED("linewidth"),
                                            IGNORED("glow"),
                                            IGNORED("realtime"),
                                            IGNORED("ellipsoidinertia"),
                                            IGNORED("bvactive"),
                                            END};
static const mjcf_member quality_fields[] = {IGNORED("shadowsize"), IGNORED("offsamples"),
                                             IGNORED("numslices"),  IGNORED("numstacks"),
                                             IGNORED("numquads"),   END};
static const mjcf_member headlight_fields[] = {VALUE("ambient", MJCF_SINGLE, headlight_ambient, 3),
                                               VALUE("diffuse", MJCF_SINGLE, headlight_diffuse, 3),
                                               VALUE("specular", MJCF_SINGLE, headlight_specular, 3),
                                               VALUE("active", MJCF_INTEGER, headlight_active, 1), END};
static const mjcf_member map_fields[] = {VALUE("znear", MJCF_SINGLE, znear, 1),
                                         VALUE("zfar", MJCF_SINGLE, zfar, 1),
                                         VALUE("fogstart", MJCF_SINGLE, fogstart, 1),
                                         VALUE("fogend", MJCF_SINGLE, fogend, 1),
                                         VALUE("haze", MJCF_SINGLE, haze, 1),
                                         VALUE("force", MJCF_SINGLE, force_scale, 1),
                                         VALUE("stiffness", MJCF_SINGLE, stiffness, 1),
                                         VALUE("stiffnessrot", MJCF_SINGLE, stiffnessrot, 1),
                                         IGNORED("torque"),
                                         IGNORED("alpha"),
                                         IGNORED("shadowclip"),
                                         IGNORED("shadowscale"),
                                         IGNORED("actuatortendon"),
                                         END};
static const mjcf_member scale_fields[] = {VALUE("contactwidth", MJCF_SINGLE, contactwidth, 1),
                                           VALUE("contactheight", MJCF_SINGLE, contactheight, 1),
                                           VALUE("forcewidth", MJCF_SINGLE, forcewidth, 1),
                                           IGNORED("actuatorlength"),
                                           IGNORED("actuatorwidth"),
                                           IGNORED("camera"),
                                           IGNORED("com"),
                                           IGNORED("connect"),
                                           IGNORED("constraint"),
                                           IGNORED("framelength"),
                                           IGNORED("framewidth"),
                                           IGNORED("frustum"),
                                           IGNORED("jointlength"),
                                           IGNORED("jointwidth"),
                                           IGNORED("light"),
                                           IGNORED("selectpoint"),
                                           IGNORED("slidercrank"),
                                           END};
static const mjcf_member rgba_fields[] = {VALUE("fog", MJCF_SINGLE, fog_rgba, 4),
                                          VALUE("haze", MJCF_SINGLE, haze_rgba, 4),
                                          IGNORED("actuator"),
                                          IGNORED("actuatornegative"),
                                          IGNORED("actuatorpositive"),
                                          IGNORED("bv"),
                                          IGNORED("bvactive"),
                                          IGNORED("camera"),
                                          IGNORED("com"),
                                          IGNORED("connect"),
                                          IGNORED("constraint"),
                                          IGNORED("contactforce"),
                                          IGNORED("contactfriction"),
                                          IGNORED("contactgap"),
                                          IGNORED("contactpoint"),
                                          IGNORED("contacttorque"),
                                          IGNORED("crankbroken"),
                                          IGNORED("force"),
                                          IGNORED("frustum"),
                                          IGNORED("inertia"),
                                          IGNORED("joint"),
                                          IGNORED("light"),
                                          IGNORED("rangefinder"),
                                          IGNORED("selectpoint"),
                                          IGNORED("slidercrank"),
                                          END};

orr_result mjcf_read_visual(mjcf_reader *reader, const mjcf_node *section)
{
    static const struct {
        const char *name;
        const mjcf_member *members;
    } parts[] = {{"global", global_fields}, {"quality", quality_fields}, {"headlight", headlight_fields},
                 {"map", map_fields},       {"scale", scale_fields},     {"rgba", rgba_fields}};
    enum { PART_COUNT = sizeof parts / sizeof parts[0] };
    for (const mjcf_node *node = section->children; node; node = node->next) {
        int i = 0;
        while (i < PART_COUNT && !mjcf_is(node, parts[i].name)) {
            i++;
        }
        if (i == PART_COUNT) {
            return mjcf_unknown(node, section, reader->error);
        }
        ORR_TRY(mjcf_no_children(node, reader->error));
        ORR_TRY(mjcf_read(node, parts[i].members, NULL, &reader->spec->visual, reader->spec, reader->error));
    }
    return ORR_OK;
}
