#include "physics/plan/contact_mix.h"

#include <math.h>
#include <string.h>

orr_contact_side orr_contact_side_of(const orr_model *m, int i)
{
    return (orr_contact_side){.condim = m->geom_condim[i],
                              .priority = m->geom_priority[i],
                              .margin = m->geom_margin[i],
                              .gap = m->geom_gap[i],
                              .adhesion = m->geom_adhesion[i],
                              .solmix = m->geom_solmix[i],
                              .solref = m->geom_solref + ORR_NREF * i,
                              .solimp = m->geom_solimp + ORR_NIMP * i,
                              .friction = m->geom_friction + 3 * i,
                              .invweight = m->body_invweight0[2 * m->geom_bodyid[i]]};
}

orr_contact_side orr_contact_side_of_flex(const orr_model *m, int i)
{
    return (orr_contact_side){.condim = m->flex_condim[i],
                              .priority = m->flex_priority[i],
                              .margin = m->flex_margin[i],
                              .gap = m->flex_gap[i],
                              .solmix = m->flex_solmix[i],
                              .solref = m->flex_solref + ORR_NREF * i,
                              .solimp = m->flex_solimp + ORR_NIMP * i,
                              .friction = m->flex_friction + 3 * i};
}

static double mix(double share, double a, double b)
{
    return share * a + (1.0 - share) * b;
}

void orr_contact_mix(const orr_contact_side *a, const orr_contact_side *b, orr_pair *pair)
{
    pair->includemargin = a->margin + b->margin;
    pair->margin = pair->includemargin + a->gap + b->gap;
    int priority = a->priority - b->priority;
    double weight1 = a->solmix, weight2 = b->solmix;
    double share = 0.5;
    if (priority != 0) {
        share = priority > 0 ? 1.0 : 0.0;
    } else if (weight1 >= 1e-15 && weight2 >= 1e-15) {
        share = weight1 / (weight1 + weight2);
    } else if (weight1 >= 1e-15 || weight2 >= 1e-15) {
        share = weight1 >= 1e-15 ? 1.0 : 0.0;
    }
    const double *ref1 = a->solref, *ref2 = b->solref;
    bool direct = priority == 0 && (ref1[0] <= 0.0 || ref2[0] <= 0.0);
    for (int k = 0; k < ORR_NREF; k++) {
        pair->solref[k] = direct ? fmin(ref1[k], ref2[k]) : mix(share, ref1[k], ref2[k]);
    }
    for (int k = 0; k < ORR_NIMP; k++) {
        pair->solimp[k] = mix(share, a->solimp[k], b->solimp[k]);
    }
    int dim1 = a->condim, dim2 = b->condim;
    pair->condim = priority ? (priority > 0 ? dim1 : dim2) : dim1 > dim2 ? dim1 : dim2;
    double pull1 = a->adhesion, pull2 = b->adhesion;
    pair->adhesion = priority ? (priority > 0 ? pull1 : pull2) : pull1 + pull2;
}

void orr_contact_mix_friction(const orr_model *m, int declared, const orr_contact_side *a,
                              const orr_contact_side *b, double friction[5])
{
    static const int unpack[5] = {0, 0, 1, 2, 2};
    int priority = a->priority - b->priority;
    for (int k = 0; k < 5; k++) {
        double friction1 = a->friction[unpack[k]], friction2 = b->friction[unpack[k]];
        double mixed = priority ? (priority > 0 ? friction1 : friction2) : fmax(friction1, friction2);
        friction[k] = declared >= 0 ? m->pair_friction[5 * declared + k] : mixed;
        friction[k] = m->opt.enableflags & ORR_ENABLE_OVERRIDE ? m->opt.o_friction[k] : friction[k];
        friction[k] = fmax(friction[k], 1e-5);
    }
}

void orr_contact_override(const orr_model *m, orr_pair *pair)
{
    if (!(m->opt.enableflags & ORR_ENABLE_OVERRIDE)) {
        return;
    }
    pair->margin += m->opt.o_margin - pair->includemargin; // the gap stays
    pair->includemargin = m->opt.o_margin;
    memcpy(pair->solref, m->opt.o_solref, sizeof pair->solref);
    memcpy(pair->solreffriction, m->opt.o_solref, sizeof pair->solreffriction);
    memcpy(pair->solimp, m->opt.o_solimp, sizeof pair->solimp);
}
