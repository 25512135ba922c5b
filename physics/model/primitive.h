// Geoms that are given by their sizes alone: volume, inertia, bounds. Of a mesh or height field volume and
// moments are 0, and bounds are not written. type: orr_geom_type; size: as there [m].
#pragma once

// m^3; 0 for a plane.
double orr_primitive_volume(int type, const double size[3]);
// Principal moments [kg m^2] about the centre, in the geom's axes; 0 for a plane.
void orr_primitive_moment(int type, const double size[3], double mass, double moment[3]);
// The same of its surface: m^2, and moments of a shell that has its mass there.
double orr_primitive_area(int type, const double size[3]);
void orr_primitive_shell_moment(int type, const double size[3], double mass, double moment[3]);
// The box around the geom in its own frame (centre, half sizes) and the radius of the sphere around its
// centre [m]. A plane's box is the half space below it, its radius 0.
void orr_primitive_bounds(int type, const double size[3], double box[6], double *radius);
