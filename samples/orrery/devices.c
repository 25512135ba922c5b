// orrery devices: what the engine can compute and draw on.
#include "engine/core/isa.h"
#include "engine/core/memory.h"
#include "engine/device/cuda.h"
#include "engine/device/vulkan.h"
#include "samples/orrery/commands.h"

#include <cjson/cJSON.h>
#include <stdio.h>

enum { VULKAN_MAX = 16, CUDA_MAX = 16 };

typedef struct device_list {
    const char *isa;  // in use
    const char *best; // what this CPU has
    int lanes, threads;
    char description[320]; // what an engine made with these options uses
    orr_vk_info vulkan[VULKAN_MAX];
    int vulkan_count;
    orr_error vulkan_absent; // why there is none
    orr_cuda_info cuda[CUDA_MAX];
    int cuda_count;
    orr_error cuda_absent; // why there is none
} device_list;

static orr_result list_devices(const common_options *common, device_list *list, orr_error *error)
{
    orr_isa isa;
    ORR_TRY(orr_isa_choose(&isa, error));
    static const int lanes[ORR_ISA_COUNT] = {4, 8, 16};
    list->isa = orr_isa_name(isa);
    list->best = orr_isa_name(orr_isa_best());
    list->lanes = lanes[isa];
    orr_engine *engine;
    ORR_TRY(command_engine(common, &engine, error));
    list->threads = orr_engine_threads(engine);
    snprintf(list->description, sizeof list->description, "%s", orr_engine_describe(engine));
    orr_engine_destroy(engine);
    if (orr_vk_list(list->vulkan, VULKAN_MAX, &list->vulkan_count, &list->vulkan_absent) != ORR_OK) {
        list->vulkan_count = 0;
    } else if (list->vulkan_count == 0) {
        orr_fail(&list->vulkan_absent, ORR_CODE_DEVICE_ABSENT, "Vulkan: no device");
    }
    list->vulkan_count = list->vulkan_count > VULKAN_MAX ? VULKAN_MAX : list->vulkan_count;
    if (orr_cuda_list(list->cuda, CUDA_MAX, &list->cuda_count, &list->cuda_absent) != ORR_OK) {
        list->cuda_count = 0;
    }
    list->cuda_count = list->cuda_count > CUDA_MAX ? CUDA_MAX : list->cuda_count;
    return ORR_OK;
}

static void print_text(const device_list *list)
{
    printf("CPU       %s, %d lanes, %d threads", list->isa, list->lanes, list->threads);
    if (list->isa != list->best) {
        printf(" (this CPU has %s)", list->best);
    }
    printf("\n");
    for (int i = 0; i < list->vulkan_count; i++) {
        const orr_vk_info *v = &list->vulkan[i];
        printf("Vulkan %d  %s (%s), Vulkan %u.%u.%u, %.1f GiB, %s%s%s\n", i, v->name, v->type, v->api[0],
               v->api[1], v->api[2], (double)v->memory / (1 << 30), v->driver, v->lacks ? "; lacks " : "",
               v->lacks ? v->lacks : "");
    }
    if (list->vulkan_count == 0) {
        printf("%s\n", list->vulkan_absent.message);
    }
    for (int i = 0; i < list->cuda_count; i++) {
        const orr_cuda_info *c = &list->cuda[i];
        printf("CUDA %d    %s, compute capability %d.%d, %d multiprocessors, %.1f GiB%s%s\n", i, c->name,
               c->compute[0], c->compute[1], c->processors, (double)c->memory / (1 << 30),
               c->lacks ? "; lacks " : "", c->lacks ? c->lacks : "");
    }
    if (list->cuda_count == 0) {
        printf("%s\n", list->cuda_absent.message);
    }
    printf("in use    %s\n", list->description);
}

// Equal ones are one GPU.
static void add_uuid(cJSON *device, const uint8_t uuid[16])
{
    char text[33];
    for (int i = 0; i < 16; i++) {
        snprintf(text + 2 * i, 3, "%02x", uuid[i]);
    }
    cJSON_AddStringToObject(device, "uuid", text);
}

static int print_json(const device_list *list)
{
    cJSON *json = cJSON_CreateObject();
    cJSON *cpu = cJSON_AddObjectToObject(json, "cpu");
    cJSON_AddStringToObject(cpu, "instruction_set", list->isa);
    cJSON_AddStringToObject(cpu, "best_instruction_set", list->best);
    cJSON_AddNumberToObject(cpu, "lanes", list->lanes);
    cJSON_AddNumberToObject(cpu, "threads", list->threads);
    cJSON *vulkan = cJSON_AddArrayToObject(json, "vulkan");
    for (int i = 0; i < list->vulkan_count; i++) {
        const orr_vk_info *v = &list->vulkan[i];
        const int api[3] = {(int)v->api[0], (int)v->api[1], (int)v->api[2]};
        cJSON *device = cJSON_CreateObject();
        cJSON_AddStringToObject(device, "name", v->name);
        cJSON_AddStringToObject(device, "driver", v->driver);
        cJSON_AddStringToObject(device, "type", v->type);
        add_uuid(device, v->uuid);
        cJSON_AddItemToObject(device, "api", cJSON_CreateIntArray(api, 3));
        cJSON_AddNumberToObject(device, "memory_bytes", (double)v->memory);
        if (v->lacks) {
            cJSON_AddStringToObject(device, "lacks", v->lacks);
        }
        cJSON_AddItemToArray(vulkan, device);
    }
    cJSON *cuda = cJSON_AddArrayToObject(json, "cuda");
    for (int i = 0; i < list->cuda_count; i++) {
        const orr_cuda_info *c = &list->cuda[i];
        cJSON *device = cJSON_CreateObject();
        cJSON_AddStringToObject(device, "name", c->name);
        add_uuid(device, c->uuid);
        cJSON_AddItemToObject(device, "compute_capability", cJSON_CreateIntArray(c->compute, 2));
        cJSON_AddNumberToObject(device, "multiprocessors", c->processors);
        cJSON_AddNumberToObject(device, "memory_bytes", (double)c->memory);
        if (c->lacks) {
            cJSON_AddStringToObject(device, "lacks", c->lacks);
        }
        cJSON_AddItemToArray(cuda, device);
    }
    cJSON_AddStringToObject(json, "in_use", list->description);
    return command_print_json(json);
}

int command_devices(int argc, char **argv)
{
    common_options common = {0};
    const command_usage usage = {
        .name = "devices",
        .operands = "",
        .purpose = "Lists the devices that the engine can use.",
        .notes =
            "--device or ORR_DEVICE chooses one of these, from the fastest to the one that always works:\n"
            "  cuda+vulkan         CUDA draws, Vulkan presents, and they share memory (one GPU)\n"
            "  cuda+vulkan-copies  the same, with copies through pinned host memory\n"
            "  cuda                CUDA draws into host memory\n"
            "  vulkan              Vulkan draws and presents\n"
            "  cpu                 the CPU draws\n"
            "When Vulkan fails beside CUDA, the next one is used, with a warning.\n"
            "ORR_ISA=baseline|avx2|avx512 forces an instruction set.",
        .common = &common,
        .common_used = COMMON_DEVICE | COMMON_THREADS | COMMON_JSON};
    int operand_count, exit_code;
    if (!options_read(&usage, argc, argv, &operand_count, &exit_code)) {
        return exit_code;
    }
    device_list *list = orr_alloc_zero(1, sizeof *list);
    orr_error error;
    orr_result result = list ? list_devices(&common, list, &error)
                             : orr_fail(&error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the list of devices");
    if (result != ORR_OK) {
        exit_code = command_fail(result, &error);
    } else if (common.json) {
        exit_code = print_json(list);
    } else {
        print_text(list);
    }
    orr_free(list);
    return exit_code;
}
