// Inertias of rigid parts: principal axes, and several parts as one.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"
#include "physics/model/spatial_formula.h"

// Jacobi rotations, kept as a quaternion so that the axes stay orthonormal. The tolerances are MuJoCo's: the
// axes of nearly equal moments depend on where the rotations stop, their order on which moments are equal.
void principal_moments(const double matrix[9], bool of_floats, double moment[3], double quat[4])
{
    double largest = 0.0;
    for (int i = 0; i < 9; i++) {
        largest = fmax(largest, fabs(matrix[i]));
    }
    double converged = (of_floats ? 1e-7 : 4e-15) * largest, equal = (of_floats ? 1e-7 : 1e-12) * largest;
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
        if (fabs(off) <= converged) {
            break;
        }
        double tau = (d[4 * column] - d[4 * row]) / (2.0 * off), root = sqrt(1.0 + tau * tau);
        double tangent = tau >= 0.0 ? 1.0 / (tau + root) : -1.0 / (root - tau);
        double cosine = 1.0 / sqrt(1.0 + tangent * tangent);
        double half = fabs(tangent) * cosine / sqrt(2.0 + 2.0 * cosine), turn[4] = {0.0};
        turn[axis + 1] = (tau >= 0.0) == (axis != 1) ? -half : half;
        turn[0] = sqrt(1.0 - half * half);
        quat_multiply(quat, turn, quat);
        quat_normalise(quat);
    }
    for (int pass = 0; pass < 3; pass++) { // three exchanges of neighbours sort three numbers
        int i = pass % 2;
        if (moment[i] + equal < moment[i + 1]) {
            double swap = moment[i], quarter[4] = {sqrt(0.5), 0.0, 0.0, 0.0};
            moment[i] = moment[i + 1], moment[i + 1] = swap;
            quarter[(i + 2) % 3 + 1] = sqrt(0.5);
            quat_multiply(quat, quarter, quat);
            quat_normalise(quat);
        }
    }
}

// Inertia of a part about a point, in the axes of the body.
static inertia inertia_about(const rigid_part *part, const double point[3])
{
    const double *pos = part->pos, *quat = part->quat, *moment = part->moment;
    real3 offset = make_real3(pos[0] - point[0], pos[1] - point[1], pos[2] - point[2]);
    matrix3 axes = quaternion_matrix(make_quaternion(quat[0], quat[1], quat[2], quat[3]));
    return body_inertia_about(make_real3(moment[0], moment[1], moment[2]), axes, offset, part->mass);
}

void merge_parts(const rigid_part *parts, int count, rigid_part *whole)
{
    *whole = (rigid_part){.quat = {1.0, 0.0, 0.0, 0.0}};
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
    for (int i = 0; i < 3; i++) {
        whole->pos[i] /= whole->mass;
    }
    inertia sum = {0};
    for (int k = 0; k < count; k++) {
        sum = add_inertia(sum, inertia_about(&parts[k], whole->pos));
    }
    const double matrix[9] = {sum.xx, sum.xy, sum.xz, sum.xy, sum.yy, sum.yz, sum.xz, sum.yz, sum.zz};
    principal_moments(matrix, false, whole->moment, whole->quat);
}
