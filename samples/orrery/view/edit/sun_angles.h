// The sun's direction as angles about a level up. Pure arithmetic.
#pragma once

// axes: columns right, up, forward. The azimuth is 0 ahead and 90 to the right [deg]; that of a sun straight
// above is 0.
void sun_angles(const double axes[9], const float direction[3], double *azimuth, double *elevation);
// The unit vector towards the sun.
void sun_direction(const double axes[9], double azimuth, double elevation, float direction[3]);
// As a drag turns it, in fractions of the window's height: the elevation stays in -5 to 89 degrees.
void sun_turn(double right, double down, double *azimuth, double *elevation);
