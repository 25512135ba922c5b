#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/model/primitive.h"

#include "engine/maths/vector.h"
#include "physics/model/half_sizes.h"

#include <math.h>

#define ENDLESS 1e10 // m, half size of the box around a plane

static const double pi = 3.14159265358979323846;

double orr_primitive_volume(int type, const double size[3])
{
    double r = size[0];
    switch ((orr_geom_type)type) {
    case ORR_GEOM_SPHERE:
        return 4.0 / 3.0 * pi * r * r * r;
    case ORR_GEOM_CAPSULE:
        return pi * r * r * (2.0 * size[1] + 4.0 / 3.0 * r);
    case ORR_GEOM_CYLINDER:
        return 2.0 * pi * r * r * size[1];
    case ORR_GEOM_ELLIPSOID:
        return 4.0 / 3.0 * pi * size[0] * size[1] * size[2];
    case ORR_GEOM_BOX:
        return 8.0 * size[0] * size[1] * size[2];
    case ORR_GEOM_PLANE:
    case ORR_GEOM_HFIELD:
    case ORR_GEOM_MESH:
    case ORR_GEOM_SDF:
        break;
    }
    return 0.0;
}

void orr_primitive_moment(int type, const double size[3], double mass, double moment[3])
{
    double r = size[0], height = 2.0 * size[1];
    moment[0] = moment[1] = moment[2] = 0.0;
    switch ((orr_geom_type)type) {
    case ORR_GEOM_SPHERE:
        moment[0] = moment[1] = moment[2] = 0.4 * mass * r * r;
        break;
    case ORR_GEOM_CAPSULE: {
        // a cylinder, and two half balls whose centres of mass lie 3/8 r from their flat sides
        double ball = mass * 4.0 * r / (4.0 * r + 3.0 * height), tube = mass - ball;
        moment[0] = moment[1] = tube * (3.0 * r * r + height * height) / 12.0 + 0.4 * ball * r * r +
                                ball * height * (3.0 * r + 2.0 * height) / 8.0;
        moment[2] = 0.5 * tube * r * r + 0.4 * ball * r * r;
        break;
    }
    case ORR_GEOM_CYLINDER:
        moment[0] = moment[1] = mass * (3.0 * r * r + height * height) / 12.0;
        moment[2] = 0.5 * mass * r * r;
        break;
    case ORR_GEOM_ELLIPSOID:
    case ORR_GEOM_BOX:
        for (int i = 0; i < 3; i++) {
            double a = size[(i + 1) % 3], b = size[(i + 2) % 3];
            moment[i] = mass * (a * a + b * b) / (type == ORR_GEOM_BOX ? 3.0 : 5.0);
        }
        break;
    case ORR_GEOM_PLANE:
    case ORR_GEOM_HFIELD:
    case ORR_GEOM_MESH:
    case ORR_GEOM_SDF:
        break;
    }
}

double orr_primitive_area(int type, const double size[3])
{
    double r = size[0];
    switch ((orr_geom_type)type) {
    case ORR_GEOM_SPHERE:
        return 4.0 * pi * r * r;
    case ORR_GEOM_CAPSULE:
        return 4.0 * pi * r * (r + size[1]);
    case ORR_GEOM_CYLINDER:
        return 2.0 * pi * r * (r + 2.0 * size[1]);
    case ORR_GEOM_ELLIPSOID: { // Thomsen's formula
        double p = 1.6075, a = pow(size[0], p), b = pow(size[1], p), c = pow(size[2], p);
        return 4.0 * pi * pow((a * b + b * c + c * a) / 3.0, 1.0 / p);
    }
    case ORR_GEOM_BOX:
        return 8.0 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0]);
    case ORR_GEOM_PLANE:
    case ORR_GEOM_HFIELD:
    case ORR_GEOM_MESH:
    case ORR_GEOM_SDF:
        break;
    }
    return 0.0;
}

// The shell between an ellipsoid and one whose axes are 1e-6 m longer, of uniform density: as in MuJoCo its
// thickness is not uniform.
static void ellipsoid_shell_moment(const double size[3], double mass, double moment[3])
{
    const double outer[3] = {size[0] + 1e-6, size[1] + 1e-6, size[2] + 1e-6};
    double volume = orr_primitive_volume(ORR_GEOM_ELLIPSOID, size),
           outer_volume = orr_primitive_volume(ORR_GEOM_ELLIPSOID, outer), inner[3];
    double density = mass / (outer_volume - volume);
    orr_primitive_moment(ORR_GEOM_ELLIPSOID, size, density * volume, inner);
    orr_primitive_moment(ORR_GEOM_ELLIPSOID, outer, density * outer_volume, moment);
    for (int i = 0; i < 3; i++) {
        moment[i] -= inner[i];
    }
}

void orr_primitive_shell_moment(int type, const double size[3], double mass, double moment[3])
{
    double r = size[0], height = 2.0 * size[1], area = orr_primitive_area(type, size);
    moment[0] = moment[1] = moment[2] = 0.0;
    switch ((orr_geom_type)type) {
    case ORR_GEOM_SPHERE:
        moment[0] = moment[1] = moment[2] = 2.0 / 3.0 * mass * r * r;
        break;
    case ORR_GEOM_CAPSULE: { // a tube, and two half shells whose centres of mass lie r / 2 from their rims
        double tube = mass * 2.0 * pi * r * height / area, ball = mass - tube;
        moment[0] = moment[1] = tube * (6.0 * r * r + height * height) / 12.0 +
                                ball * (2.0 / 3.0 * r * r + 0.25 * height * height + 0.5 * height * r);
        moment[2] = tube * r * r + 2.0 / 3.0 * ball * r * r;
        break;
    }
    case ORR_GEOM_CYLINDER: { // a tube, and two discs
        double tube = mass * 2.0 * pi * r * height / area, discs = mass - tube;
        moment[0] = moment[1] =
            tube * (6.0 * r * r + height * height) / 12.0 + discs * (r * r + height * height) / 4.0;
        moment[2] = tube * r * r + 0.5 * discs * r * r;
        break;
    }
    case ORR_GEOM_ELLIPSOID:
        ellipsoid_shell_moment(size, mass, moment);
        break;
    case ORR_GEOM_BOX:
        for (int k = 0; k < 3; k++) { // the two sides across axis k
            int i = (k + 1) % 3, j = (k + 2) % 3;
            double sides = mass * 8.0 * size[i] * size[j] / area;
            moment[k] += sides * (size[i] * size[i] + size[j] * size[j]) / 3.0;
            moment[i] += sides * (size[j] * size[j] / 3.0 + size[k] * size[k]);
            moment[j] += sides * (size[i] * size[i] / 3.0 + size[k] * size[k]);
        }
        break;
    case ORR_GEOM_PLANE:
    case ORR_GEOM_HFIELD:
    case ORR_GEOM_MESH:
    case ORR_GEOM_SDF:
        break;
    }
}

void orr_primitive_bounds(int type, const double size[3], double box[6], double *radius)
{
    double r = size[0];
    box[0] = box[1] = box[2] = 0.0;
    primitive_half_sizes(type, size, box + 3);
    switch ((orr_geom_type)type) {
    case ORR_GEOM_SPHERE:
        *radius = r;
        break;
    case ORR_GEOM_CAPSULE:
        *radius = r + size[1];
        break;
    case ORR_GEOM_CYLINDER:
        *radius = sqrt(r * r + size[1] * size[1]);
        break;
    case ORR_GEOM_ELLIPSOID:
        *radius = fmax(fmax(size[0], size[1]), size[2]);
        break;
    case ORR_GEOM_BOX:
        *radius = vec3_length(size);
        break;
    case ORR_GEOM_PLANE: // the half space below it
        box[2] = -0.5 * ENDLESS;
        box[3] = box[4] = ENDLESS, box[5] = 0.5 * ENDLESS;
        *radius = 0.0;
        break;
    case ORR_GEOM_HFIELD:
    case ORR_GEOM_MESH:
    case ORR_GEOM_SDF:
        break;
    }
}
