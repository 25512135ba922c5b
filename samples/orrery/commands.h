// The commands of the orrery program, and what they share. A command gets its own name as argv[0] and returns
// the exit code: 0 done, 1 the machine failed (memory, a device), 2 the input or the command line is wrong
// (or names a device that is not there) or a file cannot be written, 130 stopped by Ctrl-C.
#pragma once

#include "engine/device/cuda.h"
#include "samples/orrery/options.h"

int command_view(int argc, char **argv);
int command_render(int argc, char **argv);
int command_sim(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_convert(int argc, char **argv);
int command_capture(int argc, char **argv);
int command_train(int argc, char **argv);
int command_insert(int argc, char **argv);
int command_info(int argc, char **argv);
int command_devices(int argc, char **argv);

// Prints the error's line to stderr and returns the exit code that belongs to the result.
int command_fail(orr_result result, const orr_error *error);

// Log lines of warnings and errors, to stderr.
orr_log command_log(void);

// An engine by the common options; warnings go to stderr.
orr_result command_engine(const common_options *common, orr_engine **engine, orr_error *error);

// An engine for a command that draws nothing, which looks for no driver of Vulkan, and what simulates robots:
// CUDA when --device, or ORR_DEVICE where that is auto, names a device with CUDA, otherwise the CPU.
orr_result command_physics_engine(const common_options *common, orr_engine **engine, orr_device_kind *device,
                                  orr_error *error);

// For a command without an engine: the CUDA device when --device, or ORR_DEVICE where that is auto, names a
// rung with CUDA; otherwise NULL.
orr_result command_cuda(const common_options *common, orr_cuda **cuda, orr_error *error);

struct cJSON;
// Prints to stdout what the command found, frees it, and returns the exit code (1: out of memory).
int command_print_json(struct cJSON *json);

// Adds "sun" as `insert` and `info --sun` say it: null where none was found.
void command_add_sun(struct cJSON *json, const orr_sun_estimate *estimate);
