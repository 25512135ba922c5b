// Task files, for a cart with a pole.
#include "engine/env/task_file.h"
#include "physics/load/load.h"
#include "tests/fuzz/fuzz_target.h"

#include <stdlib.h>
#include <string.h>

static const char cart[] =
    "<mujoco><worldbody><body name='cart'><joint name='slider' type='slide' axis='1 0 0'/><geom size='0.1'/>"
    "<body name='pole'><joint name='hinge' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 0.6' "
    "size='0.05'/>"
    "<site name='tip'/></body></body><body name='ball'><freejoint name='free'/><geom size='1'/></body>"
    "<body name='goal' mocap='true'/></worldbody><actuator><motor joint='slider'/></actuator>"
    "<sensor><jointpos joint='hinge' name='angle'/></sensor></mujoco>";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static orr_model *model;
    orr_error error = {0};
    if (!model && orr_model_parse(cart, strlen(cart), "cart.xml", &model, &error) != ORR_OK) {
        abort();
    }
    char *text = fuzz_text(data, size);
    env_task_file *file;
    orr_result result = env_task_file_read(text, "fuzz.json", &file, &error);
    fuzz_expect(result, file != NULL, &error);
    static const char *const softs[] = {"cube"};
    const env_objects objects = {.model = model, .softs = softs, .soft_count = 1};
    if (file && env_task_file_bind(file, &objects, &error) == ORR_OK) {
        const env_robot robot = {.model = model};
        if (file->task.observation_count(&file->task, &robot) < 1) {
            abort(); // a task observes something
        }
    }
    env_task_file_destroy(file);
    free(text);
    return 0;
}
