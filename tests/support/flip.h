// FLIP: how different two pictures look to someone who switches between them, from where 67 pixels are a
// degree (Andersson et al. 2020, "FLIP: A Difference Evaluator for Alternating Images").
#pragma once

// Pictures of width x height x 4, display-referred, alpha ignored. The mean of the pixels' errors, each 0
// (the same) to 1. errors: width x height, nullable.
double flip(const float *reference, const float *other, int width, int height, float *errors);
