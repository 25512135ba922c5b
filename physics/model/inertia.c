// Masses and moments of inertia.
#include "physics/model/build.h"
#include "physics/model/rotation.h"

static const double pi = 3.14159265358979323846;

double primitive_volume(int type, const double size[3])
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
        break;
    }
    return 0.0;
}

void primitive_moment(int type, const double size[3], double mass, double moment[3])
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
        break;
    }
}

// Jacobi rotations, kept as a quaternion so that the axes stay orthonormal.
void principal_moments(const double matrix[9], double moment[3], double quat[4])
{
    static const double small = 1e-12;
    quat[0] = 1.0, quat[1] = quat[2] = quat[3] = 0.0;
    for (int step = 0; step < 500; step++) {
        double axes[9], d[9];
        quat_matrix(quat, axes);
        for (int i = 0; i < 3; i++) {
            double column[3] = {axes[i], axes[i + 3], axes[i + 6]}, image[3];
            mat_apply(matrix, column, image);
            mat_apply_transposed(axes, image, d + 3 * i); // d is symmetric: its rows are its columns
            moment[i] = d[4 * i];
        }
        // the largest entry off the diagonal, d[row][column]
        int row = 1, column = 2, axis = 0;
        if (fabs(d[1]) > fabs(d[2]) && fabs(d[1]) > fabs(d[5])) {
            row = 0, column = 1, axis = 2;
        } else if (fabs(d[2]) > fabs(d[5])) {
            row = 0, column = 2, axis = 1;
        }
        double off = d[3 * row + column];
        if (fabs(off) < small) {
            break;
        }
        double tau = (d[4 * column] - d[4 * row]) / (2.0 * off), root = sqrt(1.0 + tau * tau);
        double tangent = tau >= 0.0 ? 1.0 / (tau + root) : -1.0 / (root - tau);
        double cosine = 1.0 / sqrt(1.0 + tangent * tangent);
        if (cosine > 1.0 - small) {
            break;
        }
        double half = sqrt(0.5 - 0.5 * cosine), turn[4] = {0.0};
        turn[axis + 1] = (tau >= 0.0) == (axis != 1) ? -half : half;
        turn[0] = sqrt(1.0 - half * half);
        quat_multiply(quat, turn, quat);
        vec_normalise(quat, 4);
    }
    for (int pass = 0; pass < 3; pass++) { // three exchanges of neighbours sort three numbers
        int i = pass % 2;
        if (moment[i] + small < moment[i + 1]) {
            double swap = moment[i], quarter[4] = {sqrt(0.5), 0.0, 0.0, 0.0};
            moment[i] = moment[i + 1], moment[i + 1] = swap;
            quarter[(i + 2) % 3 + 1] = sqrt(0.5);
            quat_multiply(quat, quarter, quat);
            vec_normalise(quat, 4);
        }
    }
}

void merge_inertia(const inertia *parts, int count, inertia *whole)
{
    *whole = (inertia){.quat = {1.0, 0.0, 0.0, 0.0}};
    if (count == 1) {
        *whole = parts[0];
        return;
    }
    for (int k = 0; k < count; k++) {
        whole->mass += parts[k].mass;
        for (int i = 0; i < 3; i++) {
            whole->pos[i] += parts[k].mass * parts[k].pos[i];
        }
    }
    if (count == 0 || !(whole->mass > 0.0)) {
        return;
    }
    double matrix[9] = {0.0};
    for (int i = 0; i < 3; i++) {
        whole->pos[i] /= whole->mass;
    }
    for (int k = 0; k < count; k++) {
        double axes[9], arm[3];
        quat_matrix(parts[k].quat, axes);
        for (int i = 0; i < 3; i++) {
            arm[i] = parts[k].pos[i] - whole->pos[i];
        }
        double square = vec_dot(arm, arm);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double turned = 0.0;
                for (int a = 0; a < 3; a++) {
                    turned += axes[3 * i + a] * parts[k].moment[a] * axes[3 * j + a];
                }
                matrix[3 * i + j] += turned + parts[k].mass * ((i == j ? square : 0.0) - arm[i] * arm[j]);
            }
        }
    }
    principal_moments(matrix, whole->moment, whole->quat);
}
