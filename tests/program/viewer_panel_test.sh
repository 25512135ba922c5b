#!/bin/sh
# Tries what the panel and the keys of `orrery view` do beside moving: undo, saving, cameras by name, the
# table of keys, the scale. usage: viewer_panel_test.sh ORRERY
orrery=$1
. "$(dirname "$0")/viewer_window.sh"

# a scene of a red and a green splat, one beside the other, and two cameras
for colour in red green; do
    {
        echo "ply\nformat ascii 1.0\nelement vertex 1"
        for name in x y z f_dc_0 f_dc_1 f_dc_2 opacity scale_0 scale_1 scale_2 rot_0 rot_1 rot_2 rot_3; do
            echo "property float $name"
        done
        echo end_header
        place="0 0 0 2 -2"
        [ $colour = green ] && place="1 0 0 -2 2"
        echo "$place -2 4 -1 -1 -1 1 0 0 0"
    } >$colour.ply
done
cat >pair.json <<'END'
{"orrery": 1, "layers": [{"file": "red.ply"}, {"file": "green.ply"}],
 "cameras": [{"name": "front", "eye": [0.5, 0, -5], "target": [0.5, 0, 0]},
             {"name": "side", "eye": [-5, -1, 0], "target": [0, 0, 0]}]}
END
start() {
    view pair.json pair.json --size 640x400 --threads 1 "$@"
}

# --- cameras by name ----------------------------------------------------------------------------------------
"$orrery" render pair.json --camera side --size 640x400 -o side.png >/dev/null 2>errors.txt ||
    fail "render --camera NAME"
start --camera side
xdotool key F1
look side_view
close side side_view || fail "--camera side does not begin with that camera"
xdotool key 1
look front side_view
xdotool key 2
look back front
close side back || fail "key 2 is not the camera side"
xdotool key 1
look front back

# --- keys with Ctrl do not fly, also when it is let go first ------------------------------------------------
for control in Control_L Control_R; do
    rm -f pair.png
    xdotool keydown $control keydown s
    wait_for pair.png # without keys of a path or a training, a screenshot is what there is to save
    xdotool keyup $control
    sleep 0.3
    xdotool keyup s
    look still
    same front still || fail "$control + S flies"
done
xdotool keydown alt keydown d
sleep 0.3
xdotool keyup alt
sleep 0.2
xdotool keyup d
look still
same front still || fail "Alt + D flies"

# --- undo ---------------------------------------------------------------------------------------------------
has() { # PICTURE CHANNEL: how many pixels are mostly of that colour
    mostly "$1" "$2" 2 40 -format '%[fx:int(mean*w*h)]'
}
[ "$(has front r)" -gt 1000 ] && [ "$(has front g)" -gt 1000 ] || fail "the front view shows no two splats"
xdotool key k k ctrl+z ctrl+z ctrl+s # both keys of the path are taken back: there is no path to save
wait_for pair-2.png
[ -e transforms.json ] && fail "Ctrl+Z does not take back keys of the camera path"
xdotool key ctrl+y ctrl+s
wait_for transforms.json
rm transforms.json
xdotool key F1
look panel front
xdotool mousemove --window "$window" 26 166 # the x beside the first layer
sleep 0.3
xdotool click 1
for i in $(seq 50); do # the red splat goes, behind the panel and beside it
    see removed
    [ "$(has removed r)" -lt 100 ] && break
    sleep 0.2
done
xdotool key F1
look removed
[ "$(has removed r)" -lt 100 ] && [ "$(has removed g)" -gt 1000 ] || fail "x does not remove the red layer"
xdotool key ctrl+z
look undone removed
same front undone || fail "Ctrl+Z does not bring the layer back"
xdotool key ctrl+shift+z
look redone undone
same removed redone || fail "Ctrl+Shift+Z does not remove the layer again"
xdotool key ctrl+z
look undone redone
same front undone || fail "Ctrl+Z does not bring the layer back a second time"

# --- the table of keys, and the scale -----------------------------------------------------------------------
lit() { # PICTURE OTHER: the size of the box around what differs, "width height"
    compare -metric AE "$1.ppm" "$2.ppm" -compose src -highlight-color white -lowlight-color black \
        difference.png 2>/dev/null
    convert difference.png -trim -format '%w %h' info:
}
xdotool key question
look table front
changed front table "? shows no table of keys"
xdotool key Escape
look closed table
same front closed || fail "Escape does not close the table of keys"
kill -0 $viewer || fail "Escape ends the viewer, not the table of keys"
xdotool key F1
look panel front
small=$(lit panel front)
xdotool key Escape
ended 0
start --ui-scale 1.5
look large
xdotool key F1
look bare large
large=$(lit large bare)
[ $((${large% *} * 2)) -gt $((${small% *} * 2 * 5 / 4)) ] ||
    fail "--ui-scale 1.5: the panel is $large, and $small without it"
xdotool key Escape
ended 0

# --- a box cuts a cloud in two ------------------------------------------------------------------------------
{ sed 's/vertex 1/vertex 2/' red.ply; tail -1 green.ply | sed 's/1/2/'; } >both.ply
cat >both.json <<'END'
{"orrery": 1, "layers": [{"file": "both.ply"}], "cameras": [{"eye": [1, 0, -5], "target": [1, 0, 0]}]}
END
view both.json both.json --size 640x400 --threads 1
xdotool key F1
look whole
xdotool key r
look box whole # between the splats: a quarter of the distance of 5 wide, so 54 pixels to each side
xdotool mousemove --window "$window" 374 200
sleep 0.2
xdotool mousedown 1
sleep 0.2
xdotool mousemove --window "$window" 424 200
sleep 0.2
xdotool mousemove --window "$window" 474 200
sleep 0.2
xdotool mouseup 1
look wider box # only the box: a drag of a handle does not turn the camera
xdotool key r
look whole_again wider
same whole whole_again || fail "a drag of the box's handle moves the camera"
xdotool key r Return
wait_for both-cut.json
look cut
same whole cut || fail "two parts in place do not look as the whole"
grep -q '"keep":.*"inside"' both-cut.json && grep -q '"keep":.*"outside"' both-cut.json ||
    fail "both-cut.json does not list two parts"
"$orrery" render both-cut.json --size 640x400 -o parts.png >/dev/null 2>parts.txt || fail "$(cat parts.txt)"
xdotool key ctrl+z ctrl+z
look back
same whole back || fail "Ctrl+Z does not bring the whole back"
xdotool key Return
look still
[ -e both-cut-2.json ] && fail "Enter cuts without a box"
xdotool key Escape
ended 0

# --- shadows ------------------------------------------------------------------------------------------------
cat >shade.xml <<'END'
<mujoco><worldbody>
    <light directional="true" dir="0.5 0.3 -1" diffuse="0.8 0.8 0.8"/>
    <geom type="plane" size="0 0 1" rgba="0.8 0.8 0.8 1"/>
    <geom type="box" size="0.5 0.5 0.1" pos="0 0 1" rgba="0.9 0.2 0.2 1"/>
</worldbody></mujoco>
END
view shade.xml shade.xml --size 640x400 --threads 1 --paused
xdotool key F1
look shaded
xdotool key h
look bright shaded
changed shaded bright "H leaves the shadow"
xdotool key h
look shaded_again bright
same shaded shaded_again || fail "H does not bring the shadow back"
xdotool key Escape
ended 0

# --- mirrors ------------------------------------------------------------------------------------------------
cat >wet.xml <<'END'
<mujoco><asset><material name="wet" rgba="0.1 0.1 0.1 1" reflectance="0.8"/></asset><worldbody>
    <geom type="plane" size="0 0 1" material="wet"/>
    <geom type="box" size="0.5 0.5 0.5" pos="0 0 0.6" rgba="0.9 0.2 0.2 1"/>
</worldbody></mujoco>
END
for option in --antialias --no-mirrors; do # the former changes nothing of this scene
    view wet.xml wet.xml --size 640x400 --threads 1 --paused --device cpu $option
    xdotool key F1
    look "wet$option"
    xdotool key Escape
    ended 0
done
changed wet--antialias wet--no-mirrors "--no-mirrors leaves the mirror"
[ -s errors.txt ] && fail "the viewer complains"
echo "passed"
