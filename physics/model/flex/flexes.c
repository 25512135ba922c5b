// Soft bodies of a model: points in their body's frame, elements and material.
#include "physics/model/compile.h"

#include "engine/maths/rotation.h"

#include <string.h>

// How it touches where no nodes move it.
static void build_contact(orr_model *m, int i, const spec_touch *touch)
{
    m->flex_contype[i] = touch->contype, m->flex_conaffinity[i] = touch->conaffinity;
    m->flex_condim[i] = touch->condim;
    m->flex_priority[i] = touch->priority;
    m->flex_selfcollide[i] = touch->selfcollide;
    m->flex_solmix[i] = touch->solmix;
    memcpy(m->flex_solref + ORR_NREF * (ptrdiff_t)i, touch->solref, sizeof touch->solref);
    memcpy(m->flex_solimp + ORR_NIMP * (ptrdiff_t)i, touch->solimp, sizeof touch->solimp);
    memcpy(m->flex_friction + 3 * (ptrdiff_t)i, touch->friction, sizeof touch->friction);
    m->flex_margin[i] = touch->margin, m->flex_gap[i] = touch->gap;
}

static orr_result build_flex(model_builder *b, int i, int *vert, int *elemdata)
{
    orr_model *m = b->m;
    const spec_flex *flex = &b->spec->flexes[i];
    const int material = SPEC_FIND(b->spec, materials, flex->material);
    const size_t indices = (size_t)flex->elements * ((size_t)flex->dim + 1);
    ORR_TRY(builder_found(b, &flex->head, "material", material, flex->material));
    m->flex_dim[i] = flex->dim;
    m->flex_bodyid[i] = flex->body;
    m->flex_matid[i] = material;
    m->flex_group[i] = flex->group;
    m->flex_collides[i] = flex->collides;
    m->flex_elastic2d[i] = flex->elastic2d;
    m->flex_edgeequality[i] = flex->edge_equality;
    m->flex_vertadr[i] = *vert, m->flex_vertnum[i] = flex->points;
    m->flex_elemnum[i] = flex->elements;
    m->flex_elemdataadr[i] = *elemdata;
    m->flex_mass[i] = flex->mass / flex->points;
    m->flex_radius[i] = flex->radius;
    build_contact(m, i, &flex->touch);
    m->flex_young[i] = flex->young;
    m->flex_poisson[i] = flex->poisson;
    m->flex_damping[i] = flex->damping;
    m->flex_thickness[i] = flex->thickness;
    memcpy(m->flex_edgesolref + ORR_NREF * (ptrdiff_t)i, flex->strain_solref, sizeof flex->strain_solref);
    memcpy(m->flex_edgesolimp + ORR_NIMP * (ptrdiff_t)i, flex->strain_solimp, sizeof flex->strain_solimp);
    m->flex_edgestiffness[i] = flex->edge_stiffness;
    m->flex_edgedamping[i] = flex->edge_damping;
    memcpy(m->flex_rgba + 4 * (ptrdiff_t)i, flex->rgba, sizeof flex->rgba);
    memcpy(m->flex_elem + *elemdata, flex->element, indices * sizeof *flex->element);
    memcpy(m->flex_pinned + *vert, flex->pinned, (size_t)flex->points);
    for (int p = 0; p < flex->points; p++) {
        double *at = m->flex_vert + 3 * (ptrdiff_t)(*vert + p);
        quat_apply(flex->orientation.quat, flex->point + 3 * (ptrdiff_t)p, at);
        for (int k = 0; k < 3; k++) {
            at[k] += flex->pos[k];
        }
    }
    *vert += flex->points, *elemdata += (int)indices;
    return ORR_OK;
}

orr_result build_flexes(model_builder *b)
{
    int vert = 0, elemdata = 0;
    model_place nodes = {0};
    for (int i = 0; i < b->spec->flexes_count; i++) {
        ORR_TRY(build_flex(b, i, &vert, &elemdata));
        ORR_TRY(build_flex_nodes(b, i, &nodes));
        ORR_TRY(build_flex_touch(b, i, &nodes));
    }
    return ORR_OK;
}
