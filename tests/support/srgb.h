// The sRGB transfer functions in double (IEC 61966-2-1), of one channel. Tests compute expected colours with
// them; they are written apart from srgb_to_linear and linear_to_srgb of the engine, which they check.
#pragma once

double srgb_decode(double display); // display -> linear light
double srgb_encode(double light);   // linear light -> display
