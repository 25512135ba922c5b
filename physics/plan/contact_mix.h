// Parameters of a contact from those of what touches.
#pragma once

#include "physics/plan/plan.h"

// What touches: a geom, or a vertex of a soft body that nodes move.
typedef struct orr_contact_side {
    int condim, priority;
    double margin, gap, adhesion, solmix;
    const double *solref, *solimp, *friction;
    double invweight; // of its translation, 1/kg
} orr_contact_side;

orr_contact_side orr_contact_side_of(const orr_model *model, int geom);
// Of a soft body that no nodes move; the inverse weight is left 0.
orr_contact_side orr_contact_side_of_flex(const orr_model *model, int flex);
// MuJoCo's rules: the higher priority wins; between equals friction is the larger, adhesion the sum, the
// rest is weighted by solmix.
void orr_contact_mix(const orr_contact_side *a, const orr_contact_side *b, orr_pair *pair);
// Sliding twice, torsional, rolling twice. declared: the model's pair, -1: none.
void orr_contact_mix_friction(const orr_model *model, int declared, const orr_contact_side *a,
                              const orr_contact_side *b, double friction[5]);
// The flag override: the option's parameters for all contacts.
void orr_contact_override(const orr_model *model, orr_pair *pair);
