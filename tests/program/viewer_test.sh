#!/bin/sh
# Tries `orrery view` the way a person does: in a window on a virtual display, with xdotool's hands and
# ImageMagick's eyes. usage: viewer_test.sh ORRERY FAULT_LAYER [DROP_FILE]
orrery=$1
fault_layer=$2
drop_file=${3:-}
. "$(dirname "$0")/viewer_window.sh"

# make_cloud FILE COUNT X: an ASCII .ply of coloured splats in a box around (X, 0, 0), unlike from every side
make_cloud() {
    awk -v n="$2" -v centre="$3" 'BEGIN {
        print "ply\nformat ascii 1.0\nelement vertex " n
        split("x y z f_dc_0 f_dc_1 f_dc_2 opacity scale_0 scale_1 scale_2 rot_0 rot_1 rot_2 rot_3", names)
        for (i = 1; i <= 14; i++) print "property float " names[i]
        print "end_header"
        srand(7)
        for (i = 0; i < n; i++) {
            x = 2 * rand() - 1; y = 2 * rand() - 1; z = 2 * rand() - 1
            print x + centre, y, z, 2 * x, 2 * y, 2 * z, 3, -3.2, -3.2, -3.2, 1, 0, 0, 0
        }
    }' >"$1"
}
make_cloud cloud.ply 3000 0
make_cloud more.ply 1000 2

start() { # extra options
    view cloud.ply cloud.ply --size 640x400 --threads 1 "$@"
}

# becomes NAME OTHER MESSAGE [same]: the window's picture, once it is close to OTHER, or the same
becomes() {
    for i in $(seq 50); do
        see "$1"
        "${4:-close}" "$1" "$2" && return
        sleep 0.2
    done
    fail "$3"
}

shows_cloud() {
    colours=$(convert "$1.ppm" -format '%k' info:)
    [ "$colours" -gt 1000 ] || fail "$2: the picture has $colours colours"
}

drag() { # button, right, down
    xdotool mousemove --window "$window" 450 200 mousedown "$1"
    for i in 1 2 3 4; do xdotool mousemove_relative --sync -- "$2" "$3"; done
    xdotool mouseup "$1"
}

# --- hands on -----------------------------------------------------------------------------------------------
start --validate
look panel
shows_cloud panel "at the start"
xdotool key F1
look start panel
changed panel start "F1 hides the panel"
shows_cloud start "without the panel"

xdotool key p
wait_for cloud.png
becomes start cloud "the screenshot is not what the window shows" same

drag 1 25 10
look orbited start
changed start orbited "left drag orbits"
xdotool key k
drag 3 15 5
look looked orbited
changed orbited looked "right drag looks around"
drag 2 15 5
look panned looked
changed looked panned "middle drag pans"
xdotool keydown w; sleep 0.3; xdotool keyup w
look flown panned
changed panned flown "W flies"
xdotool key bracketleft bracketleft bracketleft
look zoomed flown
changed flown zoomed "the field of view narrows"
xdotool mousemove --window "$window" 380 240 click --repeat 2 --delay 60 1
look focused zoomed
changed zoomed focused "a double click focuses"
xdotool click 4 click 4
look dollied focused
changed focused dollied "the wheel closes in"

xdotool key k ctrl+s
wait_for transforms.json
"$orrery" render cloud.ply --cameras transforms.json --camera 0 -o key.png >/dev/null 2>&1 ||
    fail "render does not read the saved path"
close key orbited || fail "the path's first picture is not the view it began with"
xdotool key space
sleep 0.7
see playing
changed dollied playing "Space plays the path"
becomes played dollied "the path does not end in its last key"

xdotool key Home
becomes home start "Home does not lead back to the start"
xdotool key v
look vulkan
shows_cloud vulkan "drawn with Vulkan"
close vulkan start || fail "Vulkan draws another picture than the CPU"
xdotool key p
wait_for cloud-2.png # drawn in full: so is what the window shows after it, however slow the device
becomes vulkan cloud-2 "the screenshot is not what the window shows, which Vulkan drew" same
xdotool mousemove --window "$window" 380 240 click --repeat 2 --delay 60 1
look vulkan_focused vulkan
changed vulkan vulkan_focused "a double click focuses on what Vulkan drew"
xdotool key v
becomes switched vulkan_focused "switching back to the CPU changes the picture"
xdotool key v Home
becomes vulkan_home start "Home does not lead back to the start"

if [ -n "$drop_file" ]; then
    "$drop_file" "$window" "$folder/more.ply" || fail "the window does not take a dropped file"
    look dropped home
    changed home dropped "a dropped cloud joins the scene"
    "$drop_file" "$window" "$folder/number" || fail "the window does not take a dropped file"
    sleep 0.5
    kill -0 $viewer || fail "a dropped file that is no scene ends the viewer"
    becomes unharmed dropped "a dropped file that is no scene changes the picture"
fi

# --- what CUDA draws, on every rung of the ladder (an emulated device becomes Vulkan's own) -----------------
ORR_EMU_UUID=$("$orrery" devices --json |
    sed -n '/"vulkan"/,$s/.*"uuid":[^0-9a-f]*\([0-9a-f]*\).*/\1/p' | head -1)
export ORR_EMU_UUID
if "$orrery" devices --device cuda >/dev/null 2>&1; then
    xdotool key Escape
    ended 0
    for rung in cpu cuda+vulkan cuda+vulkan-copies cuda; do
        "$orrery" view cloud.ply --device $rung --size 160x100 --validate --frames 3 \
            --screenshot rung.png 2>errors.txt ||
            fail "$rung ends"
        [ -s errors.txt ] && fail "$rung: the viewer or the validation layer complains"
        [ $rung = cpu ] && mv rung.png expected.png && continue
        close rung expected || fail "$rung shows another picture than the CPU"
    done
    start --device cuda+vulkan --validate
    xdotool key F1
    becomes shared start "CUDA shows another picture than the CPU through shared memory"
    for next in "the CPU" Vulkan CUDA "the CPU" Vulkan; do # what follows is for Vulkan
        xdotool key v
        sleep 0.5
        becomes switched start "V shows another picture with $next"
    done
fi

# --- the window's life --------------------------------------------------------------------------------------
xdotool windowsize --sync "$window" 500 300
sleep 0.5
rm -f cloud-*.png
xdotool key p # a screenshot is drawn in full: so is what the window shows after it, however slow the device
wait_for cloud-2.png
look small
[ "$(convert small.ppm -format '%wx%h' info:)" = 500x300 ] || fail "the window was not resized"
shows_cloud small "after resizing"
xdotool windowminimize "$window"
sleep 0.5
kill -0 $viewer || fail "minimising ends the viewer"
xdotool windowmap "$window" windowactivate "$window"
becomes restored small "another picture after minimising"
xdotool key Escape
ended 0
grep -v "saved on exit" errors.txt | grep -q . && fail "the viewer or the validation layer complains"

start
xdotool windowactivate --sync "$window" key alt+F4 # the window manager asks it to close
ended 0

# --- what can go wrong --------------------------------------------------------------------------------------
echo '{"file_format_version": "1.0.0", "layer": {"name": "VK_LAYER_orrery_fault", "type": "GLOBAL",
"library_path": "'"$fault_layer"'", "api_version": "1.3.0", "implementation_version": "1",
"description": "test"}}' \
    >fault.json
survives() { # DEVICE FAULT
    rm -f survived.png
    VK_LAYER_PATH=$folder VK_INSTANCE_LAYERS=VK_LAYER_orrery_fault ORR_FAULT=$2 \
        "$orrery" view cloud.ply --size 160x100 --threads 1 --device "$1" --frames 8 \
        --screenshot survived.png 2>errors.txt ||
        fail "ends on a fault: $1: $2"
    grep -q "^fault: $2" errors.txt || fail "the fault layer was not used: $1: $2"
    close survived whole || fail "another picture after a fault: $1: $2"
}
"$orrery" view cloud.ply --size 160x100 --threads 1 --device cpu --frames 1 --screenshot whole.png \
    2>errors.txt || fail "a small window ends"
# out of date, surface lost, suboptimal, device lost
for fault in "acquire 3 -1000001004" "present 3 -1000001004" "acquire 3 -1000000000" "present 3 1000001003" \
    "acquire 3 -4" "present 3 -4" "submit 5 -4" "submit 6 -4" "submit 7 -4"; do
    survives vulkan "$fault"
done
for fault in "acquire 3 -4" "submit 3 -4"; do # the device that only presents
    survives cpu "$fault"
done
survives vulkan "submit 4 -2" # out of memory
grep -q "going on with cpu" errors.txt || fail "nothing says that the CPU draws instead of Vulkan"
if "$orrery" devices --device cuda >/dev/null 2>&1; then # the device that takes over what CUDA draws
    survives cuda+vulkan "submit 3 -4"
    survives cuda+vulkan-copies "submit 4 -4"
fi

for device in auto cpu vulkan cuda+vulkan; do
    VK_ICD_FILENAMES=/nowhere "$orrery" view cloud.ply --device $device --frames 1 2>errors.txt
    [ $? = 2 ] && [ "$(wc -l <errors.txt)" = 1 ] ||
        fail "$device: without a Vulkan driver: expected one line and exit code 2"
done
DISPLAY= "$orrery" view cloud.ply 2>errors.txt
[ $? = 2 ] && [ "$(wc -l <errors.txt)" = 1 ] || fail "without a display: expected one line and exit code 2"
echo "passed"
