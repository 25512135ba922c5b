#include "samples/orrery/view/key_help.h"

#include <stdio.h>

const key_help key_help_rows[] = {
    {NULL, "Camera"},
    {"left drag", "orbit around the focus"},
    {"right drag", "look around"},
    {"middle drag, Shift + left drag", "pan"},
    {"wheel", "closer or farther; while flying: faster or slower"},
    {"double click", "look at the point under the mouse"},
    {"W A S D Q E", "fly; faster with Shift"},
    {"[ ]", "field of view"},
    {"O", "orthographic or perspective"},
    {"F", "show all layers"},
    {"Home", "back to the first view"},
    {"1 .. 9", "the cameras of the scene and its robots"},
    {NULL, "Camera path"},
    {"K", "add the current view"},
    {"Space", "play or pause (in scenes where nothing moves)"},
    {NULL, "Robots and bodies"},
    {"Ctrl + left drag", "pull the body under the mouse"},
    {"Space", "pause or continue"},
    {".", "one time step"},
    {"Backspace", "reset"},
    {"N", "next keyframe"},
    {"-  =", "slower, faster"},
    {"C", "show or hide contact points and forces"},
    {"X", "show or hide colliders of clouds, meshes and fields"},
    {"B, Shift+B, Ctrl+B", "drop a ball, a box or a soft cube in front of the camera"},
    {NULL, "Layers and light"},
    {"G", "show or hide handles that move the layer under the mouse"},
    {"Ctrl + Shift + left drag", "move the sun: up, down, around"},
    {"Ctrl+Shift+S", "save the scene as it is now"},
    {NULL, "Cutting a cloud"},
    {"R", "show or hide a box; drag the handles of its faces"},
    {"Enter, Ctrl+Enter", "cut out what is in the box; and let it fall as a soft body"},
    {NULL, "Training on a capture"},
    {"T", "pause or continue"},
    {"M", "save the model as NAME.ingp or NAME.ply"},
    {NULL, "Program"},
    {"Ctrl+S", "save the path, else the model, the scene or a picture"},
    {"Ctrl+Z, Ctrl+Y", "undo, redo: changes of layers and of the camera path"},
    {"P, F12", "screenshot"},
    {"V", "draw with the CPU, Vulkan or CUDA"},
    {"H", "show or hide shadows of meshes and robots"},
    {"F1", "show or hide the panel"},
    {"?", "show or hide this table"},
    {"Escape", "quit"},
};
const int key_help_count = sizeof key_help_rows / sizeof key_help_rows[0];

void key_help_text(char text[KEY_HELP_TEXT_SIZE])
{
    int length = 0;
    for (int i = 0; i < key_help_count && length < KEY_HELP_TEXT_SIZE; i++) {
        const key_help *row = &key_help_rows[i];
        const char *end = i + 1 < key_help_count ? "\n" : "";
        size_t room = (size_t)(KEY_HELP_TEXT_SIZE - length);
        length += row->key ? snprintf(text + length, room, "    %-32s%s%s", row->key, row->meaning, end)
                           : snprintf(text + length, room, "%s%s", row->meaning, end);
    }
}
