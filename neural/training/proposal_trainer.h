// Training the small field of proposal sampling: the interlevel loss (interlevel.h) of both rounds'
// histograms against the radiance field's weights, which are taken as given. The same bits for any number of
// threads, as nerf_trainer.h says.
#pragma once

#include "engine/core/jobs.h"
#include "neural/nerf/march.h"

typedef struct orr_proposal_trainer orr_proposal_trainer;

// proposal: borrowed. group_count: the groups that a step's rays are cut into; group_rays: of these learns a
// group at most.
orr_result orr_proposal_trainer_create(orr_proposal *proposal, const orr_field_desc *field, orr_jobs *jobs,
                                       int group_count, int group_rays, orr_proposal_trainer **trainer,
                                       orr_error *error);
void orr_proposal_trainer_destroy(orr_proposal_trainer *trainer); // NULL is allowed
// What a step samples with: the parameters being trained; annealed in the first steps.
orr_proposal_model orr_proposal_trainer_model(const orr_proposal_trainer *trainer,
                                              const orr_nerf_kernels *kernels, int64_t step);
// Does this step train the small field? Every step at first, every fourth later on.
bool orr_proposal_due(int64_t step);
// One bundle after its march: adds to the group's gradients. A group is begun by the thread that runs it.
void orr_proposal_group_begin(orr_proposal_trainer *trainer, int group);
void orr_proposal_group_add(orr_proposal_trainer *trainer, int group, int worker,
                            const orr_proposal_model *model, const orr_nerf_bundle *bundle, int ray_count);
// Sums the groups, scatters, steps. Returns the loss: the mean over the rays that were learned from.
double orr_proposal_trainer_step(orr_proposal_trainer *trainer);
void orr_proposal_trainer_refresh(orr_proposal_trainer *trainer);

// The state, as in nerf_trainer.h.
size_t orr_proposal_trainer_state_size(const orr_proposal_trainer *trainer);
void orr_proposal_trainer_state_save(const orr_proposal_trainer *trainer, void *state);
orr_result orr_proposal_trainer_state_load(orr_proposal_trainer *trainer, const void *state,
                                           orr_error *error);
