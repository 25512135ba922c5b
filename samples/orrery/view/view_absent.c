// orrery view in a build without a window.
#include "samples/orrery/commands.h"

int command_view(int argc, char **argv)
{
    (void)argc, (void)argv;
    orr_error error;
    return command_fail(
        orr_fail(&error, ORR_CODE_FEATURE_ABSENT,
                 "view: this build has no window: expected Debian's libglfw3-dev, libimgui-dev, "
                 "libfontconfig-dev, libvulkan-dev, libvulkan-volk-dev and glslc when it was configured"),
        &error);
}
