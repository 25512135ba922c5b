// Actuators: MJCF's shortcuts (motor, position, velocity, damper, cylinder, muscle, adhesion, pid,
// dcmotor, orientation) into gain, bias and dynamics.
#include "physics/mjcf/mjcf.h"

#include <math.h>
#include <string.h>

static const char *const kind_names[] = {"general",     "motor",  "position", "velocity",
                                         "intvelocity", "damper", "cylinder", "muscle",
                                         "adhesion",    "pid",    "dcmotor",  "orientation"};
static const char *const general_own[] = {"input", "velrange", "ffrange", NULL};
static const char *const servo_own[] = {"kp", "kv", "dampratio", "timeconst", "inheritrange", NULL};
static const char *const intvelocity_own[] = {"kp",       "kv",         "dampratio", "inheritrange",
                                              "actrange", "actlimited", NULL};
static const char *const velocity_own[] = {"kv", NULL};
static const char *const muscle_own[] = {"timeconst", "tausmooth", "range", "force", "scale", "lmin",
                                         "lmax",      "vmax",      "fpmax", "fvmax", NULL};
static const char *const pid_own[] = {"kp",    "kv",       "dampratio", "ki",      "imax",         "slewmax",
                                      "input", "posrange", "velrange",  "ffrange", "inheritrange", NULL};
static const char *const dcmotor_own[] = {"resistance", "motorconst", "nominal", "inductance",
                                          "saturation", "cogging",    "input",   NULL};
static const char *const orientation_own[] = {"kp", "kv", "dampratio", "input", NULL};
static const char *const adhesion_own[] = {"gain", NULL};
static const char *const cylinder_own[] = {"timeconst", "bias", "area", "diameter", NULL};
static const char *const *const kind_own[] = {
    general_own, NULL,         servo_own, velocity_own, intvelocity_own, velocity_own, cylinder_own,
    muscle_own,  adhesion_own, pid_own,   dcmotor_own,  orientation_own}; // attributes beside the common ones

static orr_result read_one(mjcf_reader *reader, const mjcf_node *node, const char *name, double *value,
                           bool *given)
{
    int count;
    ORR_TRY(mjcf_read_numbers(node, name, 1, 1, value, &count, reader->error));
    *given = count == 1;
    return ORR_OK;
}

static void set_fixed(spec_actuator *a, int dyntype, int biastype)
{
    a->dyntype = dyntype;
    a->gaintype = ORR_GAIN_FIXED;
    a->biastype = biastype;
}

// A range that an element gives counts more than an inheritrange of its class, and the reverse.
static orr_result choose_range(mjcf_reader *reader, const mjcf_node *node, bool in_class, bool integrates,
                               spec_actuator *a)
{
    const char *name = integrates ? "actrange" : "ctrlrange";
    double *range = integrates ? a->actrange : a->ctrlrange;
    bool gives_range = mjcf_find(node, name) != NULL,
         inherits = a->inheritrange > 0.0 && mjcf_find(node, "inheritrange");
    if (gives_range && !inherits) {
        a->inheritrange = 0.0;
    }
    if (inherits && !gives_range) {
        range[0] = range[1] = 0.0;
    }
    if (a->inheritrange > 0.0 && (inherits || !in_class) && (range[0] != 0.0 || range[1] != 0.0)) {
        return mjcf_fail(node, reader->error, "%s and inheritrange: expected one of them", name);
    }
    return ORR_OK;
}

// position and intvelocity: a spring to the target, and a damper
static orr_result read_servo(mjcf_reader *reader, const mjcf_node *node, bool in_class, bool integrates,
                             spec_actuator *a)
{
    double kp = a->gainprm[0], kv = 0.0, ratio = 0.0, time = 0.0;
    bool has_kp, has_kv, has_ratio, has_time, has_inherit;
    ORR_TRY(mjcf_read(node, mjcf_actuator_members, integrates ? intvelocity_own : servo_own, a, reader->spec,
                      reader->error));
    ORR_TRY(read_one(reader, node, "kp", &kp, &has_kp));
    ORR_TRY(read_one(reader, node, "kv", &kv, &has_kv));
    ORR_TRY(read_one(reader, node, "dampratio", &ratio, &has_ratio));
    ORR_TRY(read_one(reader, node, "inheritrange", &a->inheritrange, &has_inherit));
    if (has_kv && has_ratio) {
        return mjcf_fail(node, reader->error, "kv and dampratio: expected one of them");
    }
    if (kp < 0.0 || kv < 0.0 || ratio < 0.0 || a->inheritrange < 0.0) {
        return mjcf_fail(node, reader->error,
                         "kp, kv, dampratio and inheritrange: expected no negative number");
    }
    a->gainprm[0] = kp;
    a->biasprm[0] = 0.0; // a default for `general` may give it
    a->biasprm[1] = -kp;
    a->biasprm[2] = has_kv ? -kv : has_ratio ? ratio : a->biasprm[2]; // a positive one is resolved at qpos0
    if (integrates) {
        const char *limited = mjcf_find(node, "actlimited");
        int count;
        ORR_TRY(mjcf_read_numbers(node, "actrange", 2, 2, a->actrange, &count, reader->error));
        a->actlimited = in_class ? a->actlimited : 1;
        if (limited && strcmp(limited, "true") != 0) {
            return mjcf_fail(node, reader->error, "actlimited: expected true");
        }
        set_fixed(a, ORR_DYNAMICS_INTEGRATOR, ORR_BIAS_AFFINE);
        return choose_range(reader, node, in_class, true, a);
    }
    ORR_TRY(read_one(reader, node, "timeconst", &time, &has_time));
    if (time < 0.0) {
        return mjcf_fail(node, reader->error, "timeconst: expected no negative number");
    }
    if (has_time) {
        a->dynprm[0] = time;
        a->dyntype = time > 0.0 ? ORR_DYNAMICS_FILTEREXACT : ORR_DYNAMICS_NONE;
    }
    set_fixed(a, a->dyntype, ORR_BIAS_AFFINE);
    return choose_range(reader, node, in_class, false, a);
}

static orr_result read_velocity(mjcf_reader *reader, const mjcf_node *node, spec_actuator *a)
{
    double kv = a->gainprm[0];
    bool given;
    ORR_TRY(mjcf_read(node, mjcf_actuator_members, velocity_own, a, reader->spec, reader->error));
    ORR_TRY(read_one(reader, node, "kv", &kv, &given));
    memset(a->biasprm, 0, sizeof a->biasprm);
    a->gainprm[0] = kv;
    a->biasprm[2] = -kv;
    set_fixed(a, ORR_DYNAMICS_NONE, ORR_BIAS_AFFINE);
    return ORR_OK;
}

static orr_result read_damper(mjcf_reader *reader, const mjcf_node *node, bool in_class, spec_actuator *a)
{
    double kv = 0.0;
    bool given;
    ORR_TRY(mjcf_read(node, mjcf_actuator_members, velocity_own, a, reader->spec, reader->error));
    ORR_TRY(read_one(reader, node, "kv", &kv, &given));
    if (kv < 0.0) {
        return mjcf_fail(node, reader->error, "kv: expected no negative number");
    }
    if (!in_class && (a->ctrlrange[0] < 0.0 || a->ctrlrange[1] < 0.0)) {
        return mjcf_fail(node, reader->error, "ctrlrange: expected no negative number");
    }
    memset(a->gainprm, 0, sizeof a->gainprm);
    a->gainprm[2] = -kv;
    a->ctrllimited = 1;
    a->dyntype = ORR_DYNAMICS_NONE;
    a->gaintype = ORR_GAIN_AFFINE;
    a->biastype = ORR_BIAS_NONE;
    return ORR_OK;
}

static orr_result read_cylinder(mjcf_reader *reader, const mjcf_node *node, spec_actuator *a)
{
    double diameter = 0.0;
    bool given, has_diameter;
    int count;
    ORR_TRY(mjcf_read(node, mjcf_actuator_members, cylinder_own, a, reader->spec, reader->error));
    ORR_TRY(read_one(reader, node, "timeconst", &a->dynprm[0], &given));
    ORR_TRY(mjcf_read_numbers(node, "bias", 3, 3, a->biasprm, &count, reader->error));
    ORR_TRY(read_one(reader, node, "area", &a->gainprm[0], &given));
    ORR_TRY(read_one(reader, node, "diameter", &diameter, &has_diameter));
    if (has_diameter && diameter >= 0.0) {
        a->gainprm[0] = 0.25 * 3.14159265358979323846 * diameter * diameter;
    }
    set_fixed(a, ORR_DYNAMICS_FILTER, ORR_BIAS_AFFINE);
    return ORR_OK;
}

// A muscle's parameters are gainprm, and biasprm repeats them; those that neither it nor its class gives have
// defaults.
static orr_result read_muscle(mjcf_reader *reader, const mjcf_node *node, spec_actuator *a)
{
    static const char *const names[] = {"force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"};
    static const double defaults[] = {0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2};
    int count;
    bool given;
    ORR_TRY(mjcf_read(node, mjcf_actuator_members, muscle_own, a, reader->spec, reader->error));
    a->dynprm[0] = a->dynprm[0] == 1.0 ? 0.01 : a->dynprm[0]; // the default of `general`: not given
    a->dynprm[1] = a->dynprm[1] == 0.0 ? 0.04 : a->dynprm[1];
    for (int k = 0; k < 9; k++) {
        a->gainprm[k] = a->gainprm[k] == (k == 0 ? 1.0 : 0.0) ? defaults[k] : a->gainprm[k];
    }
    ORR_TRY(mjcf_read_numbers(node, "timeconst", 2, 2, a->dynprm, &count, reader->error));
    ORR_TRY(read_one(reader, node, "tausmooth", &a->dynprm[2], &given));
    ORR_TRY(mjcf_read_numbers(node, "range", 2, 2, a->gainprm, &count, reader->error));
    for (int k = 0; k < 7; k++) {
        ORR_TRY(read_one(reader, node, names[k], &a->gainprm[2 + k], &given));
    }
    if (a->dynprm[2] < 0.0 || !(a->gainprm[0] < a->gainprm[1])) {
        return mjcf_fail(node, reader->error,
                         "expected no negative tausmooth, and the smaller end of range first");
    }
    memcpy(a->biasprm, a->gainprm, sizeof a->biasprm);
    a->dyntype = ORR_DYNAMICS_MUSCLE;
    a->gaintype = ORR_GAIN_MUSCLE;
    a->biastype = ORR_BIAS_MUSCLE;
    return ORR_OK;
}

static orr_result read_adhesion(mjcf_reader *reader, const mjcf_node *node, bool in_class, spec_actuator *a)
{
    bool given;
    ORR_TRY(mjcf_read(node, mjcf_actuator_members, adhesion_own, a, reader->spec, reader->error));
    ORR_TRY(read_one(reader, node, "gain", &a->gainprm[0], &given));
    a->ctrllimited = 1;
    if (a->gainprm[0] < 0.0 || a->ctrlrange[0] < 0.0 || (!in_class && !a->body)) {
        return mjcf_fail(node, reader->error, "expected a body, and no negative gain or ctrlrange");
    }
    set_fixed(a, ORR_DYNAMICS_NONE, ORR_BIAS_NONE);
    return ORR_OK;
}

// What the control of a fixed or an affine gain is. MuJoCo writes an empty one where a class says otherwise.
static orr_result read_input(mjcf_reader *reader, const mjcf_node *node, int32_t *input)
{
    const char *text = mjcf_find(node, "input");
    if (!text) {
        return ORR_OK;
    }
    *input = strcmp(text, "pos") == 0        ? ORR_INPUT_POSITION
             : strcmp(text, "vel") == 0      ? ORR_INPUT_VELOCITY
             : strcmp(text, "pressure") == 0 ? ORR_INPUT_PRESSURE
                                             : 0;
    return *input || text[0] == '\0'
               ? ORR_OK
               : mjcf_fail(node, reader->error, "input: expected pos, vel or pressure with this gaintype");
}

// A list of inputs, in their order.
static orr_result read_inputs(mjcf_reader *reader, const mjcf_node *node, int32_t *inputs)
{
    static const char *const lists[] = {"pos", "vel", "pos vel", "ff", "pos ff", "vel ff", "pos vel ff"};
    const char *text = mjcf_find(node, "input");
    if (!text) {
        return ORR_OK;
    }
    for (int i = 0; i < 7; i++) { // bit by bit as orr_input
        if (strcmp(text, lists[i]) == 0) {
            *inputs = i + 1;
            return ORR_OK;
        }
    }
    return mjcf_fail(node, reader->error, "input: expected some of pos, vel and ff, in this order");
}

static orr_result read_pid(mjcf_reader *reader, const mjcf_node *node, bool in_class, spec_actuator *a)
{
    double kp = 0.0, kv = 0.0, ratio = 0.0;
    bool has_kp, has_kv, has_ratio, given;
    int count;
    ORR_TRY(mjcf_read(node, mjcf_actuator_members, pid_own, a, reader->spec, reader->error));
    ORR_TRY(read_one(reader, node, "kp", &kp, &has_kp));
    ORR_TRY(read_one(reader, node, "kv", &kv, &has_kv));
    ORR_TRY(read_one(reader, node, "dampratio", &ratio, &has_ratio));
    ORR_TRY(read_one(reader, node, "ki", &a->gainprm[0], &given));
    ORR_TRY(read_one(reader, node, "imax", &a->dynprm[0], &given));
    ORR_TRY(read_one(reader, node, "slewmax", &a->dynprm[1], &given));
    ORR_TRY(read_one(reader, node, "inheritrange", &a->inheritrange, &given));
    ORR_TRY(read_inputs(reader, node, &a->inputs));
    ORR_TRY(mjcf_read_numbers(node, "posrange", 2, 2, a->ctrlrange, &count, reader->error));
    ORR_TRY(mjcf_read_numbers(node, "velrange", 2, 2, a->velrange, &count, reader->error));
    ORR_TRY(mjcf_read_numbers(node, "ffrange", 2, 2, a->ffrange, &count, reader->error));
    if (has_kv && has_ratio) {
        return mjcf_fail(node, reader->error, "kv and dampratio: expected one of them");
    }
    if (kp < 0.0 || kv < 0.0 || ratio < 0.0 || a->gainprm[0] < 0.0 || a->dynprm[0] < 0.0 ||
        a->dynprm[1] < 0.0) {
        return mjcf_fail(node, reader->error,
                         "kp, kv, dampratio, ki, imax and slewmax: expected no negative number");
    }
    a->biasprm[0] = 0.0; // a default for `general` may give it
    a->biasprm[1] = has_kp ? -kp : a->biasprm[1];
    a->biasprm[2] = has_kv ? -kv : has_ratio ? ratio : a->biasprm[2]; // a positive one is resolved at qpos0
    a->dynprm[0] = a->gainprm[0] > 0.0 ? a->dynprm[0] : 0.0;          // imax is of the integral
    bool remembers = a->gainprm[0] > 0.0 || a->dynprm[1] > 0.0;
    a->dyntype = remembers ? ORR_DYNAMICS_PID : ORR_DYNAMICS_NONE;
    a->gaintype = ORR_GAIN_PID;
    a->biastype = ORR_BIAS_AFFINE;
    if (remembers && !in_class && !(a->inputs & ORR_INPUT_POSITION)) {
        return mjcf_fail(node, reader->error, "ki and slewmax: expected the input pos");
    }
    return choose_range(reader, node, in_class, false, a);
}

// Resistance and motor constant from what is given: each itself, or the operating point.
static void find_motor(const spec_actuator *a, double *resistance, double *constant)
{
    const double *nominal = a->nominal; // V, N m, rad/s
    double torque = a->motorconst[0], back = a->motorconst[1];
    if (back == 0.0 && nominal[2] > 0.0) {
        back = nominal[0] / nominal[2];
    }
    *constant = torque > 0.0 && back > 0.0 ? sqrt(torque * back) : fmax(torque, back);
    *resistance =
        a->resistance == 0.0 && nominal[1] > 0.0 ? *constant * nominal[0] / nominal[1] : a->resistance;
}

static orr_result read_dcmotor(mjcf_reader *reader, const mjcf_node *node, spec_actuator *a)
{
    double inductance[2] = {0.0}, saturation[3] = {0.0}, resistance, constant;
    bool given;
    int count;
    const char *input = mjcf_find(node, "input");
    if (input && strcmp(input, "voltage") != 0) {
        return mjcf_fail(node, reader->error, "input: only voltage is supported");
    }
    ORR_TRY(mjcf_read(node, mjcf_actuator_members, dcmotor_own, a, reader->spec, reader->error));
    ORR_TRY(read_one(reader, node, "resistance", &a->resistance, &given));
    ORR_TRY(mjcf_read_numbers(node, "motorconst", 1, 2, a->motorconst, &count, reader->error));
    ORR_TRY(mjcf_read_numbers(node, "nominal", 3, 3, a->nominal, &count, reader->error));
    ORR_TRY(mjcf_read_numbers(node, "cogging", 1, 3, a->biasprm, &count, reader->error));
    find_motor(a, &resistance, &constant);
    if (!(resistance > 0.0 && constant > 0.0)) {
        return mjcf_fail(node, reader->error,
                         "expected a resistance and a motor constant above 0, or a nominal operating point");
    }
    a->gainprm[0] = resistance;
    a->gainprm[1] = constant;
    ORR_TRY(mjcf_read_numbers(node, "inductance", 1, 2, inductance, &count, reader->error));
    if (count > 0) {
        a->dynprm[0] = inductance[0] > 0.0 ? inductance[0] / resistance : inductance[1];
    }
    ORR_TRY(mjcf_read_numbers(node, "saturation", 1, 3, saturation, &count, reader->error));
    if (count > 0) {
        double torque = saturation[0] > 0.0 ? saturation[0] : constant * saturation[1];
        a->forcerange[0] = -torque;
        a->forcerange[1] = torque;
        a->dynprm[1] = saturation[2];
    }
    if (a->dynprm[0] < 0.0 || a->dynprm[1] < 0.0 || a->forcerange[1] < 0.0) {
        return mjcf_fail(node, reader->error, "inductance and saturation: expected no negative number");
    }
    a->actlimited = 0; // whatever actrange a default gives
    a->dyntype = ORR_DYNAMICS_DCMOTOR;
    a->gaintype = ORR_GAIN_DCMOTOR;
    a->biastype = ORR_BIAS_DCMOTOR;
    a->actearly = 1;
    return ORR_OK;
}

// What the controls of an orientation servo are.
static orr_result read_chart(mjcf_reader *reader, const mjcf_node *node, int32_t *chart)
{
    const char *text = mjcf_find(node, "input");
    if (!text || strcmp(text, "expmap") == 0) {
        *chart = text || *chart != ORR_CHART_QUATERNION ? ORR_CHART_EXPMAP : *chart;
        return ORR_OK;
    }
    *chart = ORR_CHART_QUATERNION;
    return strcmp(text, "quat") == 0 ? ORR_OK
                                     : mjcf_fail(node, reader->error, "input: expected expmap or quat");
}

static orr_result read_orientation(mjcf_reader *reader, const mjcf_node *node, spec_actuator *a)
{
    double kv = 0.0, ratio = 0.0;
    bool given, has_kv, has_ratio;
    ORR_TRY(mjcf_read(node, mjcf_orientation_members, orientation_own, a, reader->spec, reader->error));
    ORR_TRY(read_one(reader, node, "kp", &a->gainprm[0], &given));
    ORR_TRY(read_one(reader, node, "kv", &kv, &has_kv));
    ORR_TRY(read_one(reader, node, "dampratio", &ratio, &has_ratio));
    if ((has_kv && has_ratio) || kv < 0.0 || ratio < 0.0) {
        return mjcf_fail(node, reader->error, "kv and dampratio: expected one of them, not negative");
    }
    a->biasprm[1] = -a->gainprm[0];
    a->biasprm[2] = has_kv ? -kv : has_ratio ? ratio : a->biasprm[2]; // a positive one is resolved at qpos0
    a->dyntype = ORR_DYNAMICS_NONE;
    a->gaintype = ORR_GAIN_SO3;
    a->biastype = ORR_BIAS_SO3;
    return read_chart(reader, node, &a->input);
}

static bool all_zero(const double *values, int first, int count)
{
    bool zero = true;
    for (int i = first; i < count; i++) {
        zero = zero && values[i] == 0.0;
    }
    return zero;
}

// What <pid> would have made of it.
static orr_result check_general_pid(mjcf_reader *reader, const mjcf_node *node, const spec_actuator *a)
{
    bool dynamic = a->dyntype == ORR_DYNAMICS_PID, remembers = a->gainprm[0] > 0.0 || a->dynprm[1] > 0.0;
    if (a->gaintype != ORR_GAIN_PID || a->biastype != ORR_BIAS_AFFINE ||
        !(dynamic || a->dyntype == ORR_DYNAMICS_NONE)) {
        return mjcf_fail(node, reader->error,
                         "gaintype pid: expected biastype affine and dyntype pid or none");
    }
    if (a->gainprm[0] < 0.0 || (dynamic && (a->dynprm[0] < 0.0 || a->dynprm[1] < 0.0))) {
        return mjcf_fail(node, reader->error, "ki, imax and slewmax: expected no negative number");
    }
    if (dynamic ? !remembers : a->gainprm[0] > 0.0) {
        return mjcf_fail(node, reader->error,
                         "dyntype: expected pid with ki (gainprm) or slewmax (dynprm), none without");
    }
    if (dynamic && !(a->inputs & ORR_INPUT_POSITION)) {
        return mjcf_fail(node, reader->error, "ki and slewmax: expected the input pos");
    }
    return ORR_OK;
}

// What <dcmotor> would have made of it: resistance and motor constant, electrical time constant and the
// current's highest rate, cogging. Further parameters are of what is not supported.
static orr_result check_general_motor(mjcf_reader *reader, const mjcf_node *node, const spec_actuator *a)
{
    const char *input = mjcf_find(node, "input");
    if (a->dyntype != ORR_DYNAMICS_DCMOTOR || a->gaintype != ORR_GAIN_DCMOTOR ||
        a->biastype != ORR_BIAS_DCMOTOR || !a->actearly) {
        return mjcf_fail(node, reader->error,
                         "type dcmotor: expected it of dyntype, gaintype and biastype, and actearly");
    }
    if (input && strcmp(input, "voltage") != 0) {
        return mjcf_fail(node, reader->error, "input: only voltage is supported");
    }
    if (!(a->gainprm[0] > 0.0 && a->gainprm[1] > 0.0) || a->dynprm[0] < 0.0 || a->dynprm[1] < 0.0) {
        return mjcf_fail(node, reader->error,
                         "type dcmotor: expected a resistance and a motor constant above "
                         "0 (gainprm), and no negative dynprm");
    }
    if (!all_zero(a->gainprm, 2, ORR_NGAIN) || !all_zero(a->dynprm, 2, ORR_NDYN) ||
        !all_zero(a->biasprm, 3, ORR_NBIAS)) {
        return mjcf_fail(node, reader->error,
                         "type dcmotor: only the first 2 numbers of gainprm and dynprm "
                         "and 3 of biasprm are supported");
    }
    return ORR_OK;
}

static orr_result read_general_members(mjcf_reader *reader, const mjcf_node *node, spec_actuator *a)
{
    int count;
    ORR_TRY(mjcf_read(node, mjcf_general_members, general_own, a, reader->spec, reader->error));
    ORR_TRY(mjcf_read_numbers(node, "velrange", 2, 2, a->velrange, &count, reader->error));
    return mjcf_read_numbers(node, "ffrange", 2, 2, a->ffrange, &count, reader->error);
}

// A program that simulates with MuJoCo defines these types; the file alone does not.
static void note_user_types(mjcf_reader *reader, const mjcf_node *node, const spec_actuator *a)
{
    if (a->dyntype == ORR_DYNAMICS_USER) {
        spec_note(reader->spec, node->file, node->line, "<general>: dyntype user: activations stay");
    }
    if (a->gaintype == ORR_GAIN_USER) {
        spec_note(reader->spec, node->file, node->line, "<general>: gaintype user: a gain of 1");
    }
    if (a->biastype == ORR_BIAS_USER) {
        spec_note(reader->spec, node->file, node->line, "<general>: biastype user: a bias of 0");
    }
}

static orr_result read_general(mjcf_reader *reader, const mjcf_node *node, bool in_class, spec_actuator *a)
{
    int32_t gaintype = a->gaintype;
    ORR_TRY(read_general_members(reader, node, a));
    a->input = a->gaintype == gaintype ? a->input : 0; // of a class, it is what that gain's control is
    if (a->gaintype == ORR_GAIN_SO3) {
        return read_chart(reader, node, &a->input);
    }
    if (!in_class) {
        note_user_types(reader, node, a);
    }
    bool pid = a->gaintype == ORR_GAIN_PID || a->dyntype == ORR_DYNAMICS_PID;
    bool motor = a->dyntype == ORR_DYNAMICS_DCMOTOR || a->gaintype == ORR_GAIN_DCMOTOR ||
                 a->biastype == ORR_BIAS_DCMOTOR;
    if (!(pid || motor) && (a->gaintype == ORR_GAIN_FIXED || a->gaintype == ORR_GAIN_AFFINE)) {
        return read_input(reader, node, &a->input);
    }
    if (mjcf_find(node, "input") && (in_class || !(pid || motor))) {
        return mjcf_fail(node, reader->error,
                         "input: only elements of the types pid and dcmotor, and elements and defaults of "
                         "fixed and affine gains are supported");
    }
    if (in_class || !(pid || motor)) {
        return ORR_OK;
    }
    if (motor) {
        ORR_TRY(check_general_motor(reader, node, a));
    } else {
        ORR_TRY(read_inputs(reader, node, &a->inputs));
        ORR_TRY(check_general_pid(reader, node, a));
    }
    return ORR_OK;
}

int mjcf_actuator_kind(const mjcf_node *node)
{
    for (int kind = 0; kind < MJCF_ACTUATOR_KINDS; kind++) {
        if (mjcf_is(node, kind_names[kind])) {
            return kind;
        }
    }
    return -1;
}

static orr_result read_members(mjcf_reader *reader, const mjcf_node *node, int kind, bool in_class,
                               spec_actuator *a)
{
    switch ((mjcf_actuator)kind) {
    case MJCF_MOTOR:
        ORR_TRY(mjcf_read(node, mjcf_actuator_members, NULL, a, reader->spec, reader->error));
        memset(a->gainprm, 0, sizeof a->gainprm);
        memset(a->biasprm, 0, sizeof a->biasprm);
        a->gainprm[0] = 1.0;
        set_fixed(a, ORR_DYNAMICS_NONE, ORR_BIAS_NONE);
        return ORR_OK;
    case MJCF_POSITION:
    case MJCF_INTVELOCITY:
        return read_servo(reader, node, in_class, kind == MJCF_INTVELOCITY, a);
    case MJCF_VELOCITY:
        return read_velocity(reader, node, a);
    case MJCF_DAMPER:
        return read_damper(reader, node, in_class, a);
    case MJCF_CYLINDER:
        return read_cylinder(reader, node, a);
    case MJCF_MUSCLE:
        return read_muscle(reader, node, a);
    case MJCF_ADHESION:
        return read_adhesion(reader, node, in_class, a);
    case MJCF_DCMOTOR:
        return read_dcmotor(reader, node, a);
    case MJCF_PID:
        return read_pid(reader, node, in_class, a);
    case MJCF_ORIENTATION:
        return read_orientation(reader, node, a);
    default:
        return read_general(reader, node, in_class, a);
    }
}

// What the control of a shortcut is, with a fixed or an affine gain.
static int32_t input_of_kind(int kind)
{
    return kind == MJCF_POSITION                               ? ORR_INPUT_POSITION
           : kind == MJCF_VELOCITY || kind == MJCF_INTVELOCITY ? ORR_INPUT_VELOCITY
           : kind == MJCF_CYLINDER                             ? ORR_INPUT_PRESSURE
                                                               : 0;
}

static orr_result read_kind(mjcf_reader *reader, const mjcf_node *node, int kind, bool in_class,
                            spec_actuator *a)
{
    if (kind != MJCF_GENERAL && kind != MJCF_ORIENTATION) {
        a->input = input_of_kind(kind);
    }
    return read_members(reader, node, kind, in_class, a);
}

static void copy_own(const spec_actuator *from, spec_actuator *to)
{
    to->dyntype = from->dyntype;
    to->gaintype = from->gaintype;
    to->biastype = from->biastype;
    to->inheritrange = from->inheritrange;
    memcpy(to->dynprm, from->dynprm, sizeof to->dynprm);
    memcpy(to->gainprm, from->gainprm, sizeof to->gainprm);
    memcpy(to->biasprm, from->biasprm, sizeof to->biasprm);
    to->inputs = from->inputs;
    to->input = from->input;
    to->resistance = from->resistance;
    memcpy(to->motorconst, from->motorconst, sizeof to->motorconst);
    memcpy(to->nominal, from->nominal, sizeof to->nominal);
    memcpy(to->velrange, from->velrange, sizeof to->velrange);
    memcpy(to->ffrange, from->ffrange, sizeof to->ffrange);
}

// What a default of `general` gives to a shortcut: the attributes that all have in common, but actearly, and,
// if its gain is fixed, those numbers of gainprm and biasprm that servos, motors of a velocity and cylinders
// have.
static orr_result read_general_for(mjcf_reader *reader, const mjcf_node *node, int kind, spec_actuator *a)
{
    const spec_actuator before = *a;
    ORR_TRY(read_general_members(reader, node, a));
    bool fixed = a->gaintype == ORR_GAIN_FIXED;
    bool filters = fixed && kind == MJCF_POSITION && a->dyntype == ORR_DYNAMICS_FILTEREXACT; // a timeconst
    a->dyntype = filters ? a->dyntype : before.dyntype;
    a->actearly = before.actearly;
    a->actdim = before.actdim;
    bool servo = fixed && (kind == MJCF_POSITION || kind == MJCF_VELOCITY || kind == MJCF_INTVELOCITY);
    bool pid = kind == MJCF_PID && a->gaintype == ORR_GAIN_PID, cylinder = fixed && kind == MJCF_CYLINDER;
    int gains = pid ? ORR_NGAIN : servo || cylinder || (fixed && kind == MJCF_ADHESION) ? 1 : 0;
    int biases = pid ? ORR_NBIAS : servo || cylinder ? 3 : 0;
    int times = cylinder || filters ? 1 : 0;
    memcpy(a->gainprm + gains, before.gainprm + gains, (size_t)(ORR_NGAIN - gains) * sizeof *a->gainprm);
    memcpy(a->biasprm + biases, before.biasprm + biases, (size_t)(ORR_NBIAS - biases) * sizeof *a->biasprm);
    memcpy(a->dynprm + times, before.dynprm + times, (size_t)(ORR_NDYN - times) * sizeof *a->dynprm);
    return ORR_OK;
}

// What a default of a shortcut gives to another one: the attributes that all have in common. What only the
// other has is as in the class around: of several defaults of one class, the last counts.
static orr_result read_common_for(mjcf_reader *reader, const mjcf_node *node, int given,
                                  const spec_actuator *outer, spec_actuator *a)
{
    double inherited = 0.0;
    bool inherits;
    int count;
    ORR_TRY(mjcf_read(node, mjcf_actuator_members, kind_own[given], a, reader->spec, reader->error));
    ORR_TRY(read_one(reader, node, "inheritrange", &inherited, &inherits));
    copy_own(outer, a);
    if (given == MJCF_INTVELOCITY) {
        ORR_TRY(mjcf_read_numbers(node, "actrange", 2, 2, a->actrange, &count, reader->error));
    }
    if (inherited > 0.0) {
        double *range = given == MJCF_INTVELOCITY ? a->actrange : a->ctrlrange;
        range[0] = range[1] = 0.0;
    }
    return ORR_OK;
}

orr_result mjcf_read_actuator_default(mjcf_reader *reader, const mjcf_node *node, int kind,
                                      const mjcf_class *outer, mjcf_class *c)
{
    ORR_TRY(read_kind(reader, node, kind, true, &c->actuator[kind]));
    for (int other = MJCF_GENERAL + 1; other < MJCF_ACTUATOR_KINDS; other++) {
        spec_actuator *a = &c->actuator[other];
        if (kind == MJCF_GENERAL) {
            ORR_TRY(read_general_for(reader, node, other, a));
        } else if (other != kind) {
            ORR_TRY(read_common_for(reader, node, kind, &outer->actuator[other], a));
            if (kind == MJCF_DCMOTOR && mjcf_find(node, "saturation")) { // all have it as forcerange
                memcpy(a->forcerange, c->actuator[kind].forcerange, sizeof a->forcerange);
            }
        }
    }
    c->actuator[MJCF_GENERAL] = c->actuator[kind]; // it takes all that a shortcut gives
    return ORR_OK;
}

orr_result mjcf_read_actuators(mjcf_reader *reader, const mjcf_node *section)
{
    for (const mjcf_node *node = section->children; node; node = node->next) {
        const mjcf_class *c;
        int kind = mjcf_actuator_kind(node);
        if (kind < 0) {
            return mjcf_unknown(node, section, reader->error);
        }
        ORR_TRY(mjcf_no_children(node, reader->error));
        ORR_TRY(mjcf_class_of(reader, node, NULL, &c));
        spec_actuator *a = SPEC_APPEND(reader->spec, actuators);
        if (!a) {
            return spec_memory_fail(reader->error);
        }
        *a = c->actuator[kind];
        ORR_TRY(mjcf_head(reader, node, &a->head));
        ORR_TRY(read_kind(reader, node, kind, false, a));
        if (kind != MJCF_GENERAL && kind != MJCF_POSITION && kind != MJCF_INTVELOCITY && kind != MJCF_PID) {
            a->inheritrange = 0.0; // of a default for `general`
        }
    }
    return ORR_OK;
}
