#!/bin/sh
# Tries `orrery view` of a robot the way a person does: in a window on a virtual display, with xdotool's hands
# and ImageMagick's eyes. usage: viewer_robot_test.sh ORRERY
orrery=$1
. "$(dirname "$0")/viewer_window.sh"

# a red ball above a dark floor, seen from the front
cat >ball.xml <<'END'
<mujoco>
    <option timestep="0.005"/>
    <worldbody>
        <camera name="front" pos="0 -4 1" xyaxes="1 0 0 0 0 1" fovy="45"/>
        <geom type="plane" size="0 0 1" rgba="0.1 0.1 0.2 1"/>
        <body name="ball" pos="0 0 1">
            <camera name="with it" mode="track" pos="0 -4 0" xyaxes="1 0 0 0 0 1"/>
            <joint name="right" type="slide" axis="1 0 0" damping="1"/>
            <joint name="up" type="slide" axis="0 0 1"/>
            <geom size="0.25" rgba="1 0 0 1" mass="1"/>
        </body>
    </worldbody>
    <actuator><motor name="push" joint="right" ctrlrange="-5 5"/></actuator>
    <keyframe><key name="aside" qpos="0.8 0.2"/></keyframe>
</mujoco>
END

view ball.xml ball.xml --size 640x400 --threads 1 --paused

# ball PICTURE: the middle of the ball's pixels, "x y", or of what else has that colour
colour="r 3"
ball() {
    mostly "$1" $colour 15 -trim -format '%[fx:page.x+w/2] %[fx:page.y+h/2]'
}

# is PICTURE LOW_X HIGH_X LOW_Y HIGH_Y SENTENCE
is() {
    place=$(ball "$1")
    echo "$place" | awk "{ exit !(\$1 >= $2 && \$1 <= $3 && \$2 >= $4 && \$2 <= $5) }" ||
        fail "$6: the ball is at $place"
}

# comes LOW_X HIGH_X LOW_Y HIGH_Y SENTENCE: sooner or later, however busy the machine
comes() {
    for i in $(seq 150); do
        sleep 0.2
        see moving
        place=$(ball moving)
        echo "$place" | awk "{ exit !(\$1 >= $1 && \$1 <= $2 && \$2 >= $3 && \$2 <= $4) }" && return
    done
    fail "$5: the ball is at $place"
}

# 640 x 400 with 45 degrees over the height: 483 pixels at a distance of 1, 121 for a metre at the ball
look panel
xdotool key F1
look start
is start 315 325 195 205 "at the start"

# --- time ---------------------------------------------------------------------------------------------------
xdotool key --delay 40 $(yes period | head -40)
look stepped # after 40 steps of 5 ms it has fallen 0.2 m
is stepped 315 325 218 229 "40 steps"
xdotool key BackSpace
look reset
same reset start || fail "Backspace does not lead back to the start"
xdotool key n
look keyframe
is keyframe 412 422 171 181 "the keyframe"
xdotool key BackSpace
look reset
same reset start || fail "Backspace after a keyframe does not lead back to the start"
xdotool key space
comes 315 325 285 297 "it falls to the floor"
xdotool key space
look landed

# --- contacts -----------------------------------------------------------------------------------------------
xdotool key c
look contacts
same landed contacts && fail "C shows no contacts"
xdotool key c
look bare
same bare landed || fail "C does not hide the contacts again"

# --- the hand -----------------------------------------------------------------------------------------------
xdotool key space
xdotool mousemove --window "$window" 320 290
sleep 0.3
xdotool keydown ctrl mousedown 1
for i in 1 2 3 4 5 6; do xdotool mousemove_relative --sync 20 -20; sleep 0.05; done
comes 400 460 150 235 "Ctrl + drag pulls the ball up to the right"
xdotool mouseup 1 keyup ctrl
comes 330 640 285 297 "the ball that is let go falls"
xdotool key space
look dropped
xdotool mousemove --window "$window" 320 60 keydown ctrl mousedown 1 \
    mousemove_relative --sync 30 30 mouseup 1 keyup ctrl
look missed
same missed dropped || fail "Ctrl + drag beside the robot does something"

# --- cameras and the panel ----------------------------------------------------------------------------------
xdotool key 2
look followed
is followed 310 330 190 210 "the camera that goes along"
xdotool key 1
look front
same front dropped || fail "the first camera is not the one at the start"
xdotool key BackSpace F1
look panel
"$orrery" view ball.xml --size 640x400 --frames 3 --screenshot "$folder/shot.png" --ctrl sine \
    >/dev/null 2>>errors.txt ||
    fail "--frames and --ctrl end the viewer"
xdotool key Escape
ended 0
[ -s errors.txt ] && fail "the viewer complains"

# --- bodies -------------------------------------------------------------------------------------------------
cat >floor.xml <<'END'
<mujoco>
    <worldbody>
        <camera name="front" pos="0 -4 1" xyaxes="1 0 0 0 0 1" fovy="45"/>
        <geom type="plane" size="2 2 1" rgba="0.1 0.1 0.2 1"/>
    </worldbody>
</mujoco>
END
view floor.xml floor.xml --size 640x400 --threads 1 --paused
xdotool key F1
look empty
xdotool key b space
# to where it lies: while it falls, it would leave its place before the hand comes there
comes 300 340 362 376 "B drops a ball, which falls to the floor"
xdotool mousemove --window "$window" "${place% *}" "${place#* }"
sleep 0.3
xdotool keydown ctrl mousedown 1
for i in 1 2 3 4 5 6; do xdotool mousemove_relative --sync 15 -20; sleep 0.05; done
comes 370 470 80 330 "Ctrl + drag pulls the ball up to the right"
xdotool mouseup 1 keyup ctrl
xdotool key space
sleep 0.3
xdotool key ctrl+z
look undone
same undone empty || fail "Ctrl+Z does not take the ball away"
xdotool key shift+b
look box
same box empty && fail "Shift+B drops no box"
xdotool key ctrl+z
look unboxed box
xdotool key b b
look balls unboxed
mostly balls r 3 15 -trim -format '%w %h' | awk '{ exit !($2 > 1.8 * $1) }' ||
    fail "two balls that are dropped while time stands are inside each other"
xdotool key ctrl+z ctrl+z
look empty_again balls
colour="g 1.3"
xdotool key ctrl+b space
comes 300 340 355 376 "Ctrl+B drops a soft cube, which falls to the floor"
xdotool mousemove --window "$window" "${place% *}" "${place#* }"
sleep 0.3
xdotool keydown ctrl mousedown 1
for i in 1 2 3 4 5 6; do xdotool mousemove_relative --sync 15 -20; sleep 0.05; done
comes 370 470 80 330 "Ctrl + drag pulls the soft cube up to the right"
xdotool mouseup 1 keyup ctrl
xdotool key Escape
ended 0

# --- colliders ----------------------------------------------------------------------------------------------
cat >cube.ply <<'END'
ply
format ascii 1.0
element vertex 8
property float x
property float y
property float z
element face 6
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
1 1 0
0 0 1
1 0 1
0 1 1
1 1 1
4 0 2 3 1
4 4 5 7 6
4 0 1 5 4
4 2 6 7 3
4 0 4 6 2
4 1 3 7 5
END
echo '{"orrery": 1, "layers": [{"file": "cube.ply", "physics": {"static": true, "cell": 0.05}}]}' >cube.json
view cube.json cube.json --size 640x400 --threads 1
xdotool key F1
look cube
# greener NAME: the mean of green over that of red: 1 for the grey cube, which covers most of the collider
greener() { convert "$1.ppm" -format '%[fx:mean.g/mean.r]' info:; }
xdotool key x
look shown
changed cube shown "X shows no collider"
echo "$(greener cube) $(greener shown)" | awk '{ exit !($1 < 1.01 && $2 > 1.03) }' ||
    fail "the collider is not green: $(greener cube), $(greener shown)"
[ -s cube.ply.0.05.collider ] || fail "the collider is not kept beside the file"
xdotool key x
look hidden
same hidden cube || fail "X does not hide the collider"
xdotool key x
look again
same again shown || fail "X does not show the collider again"
xdotool key Escape
ended 0
# a hull covers its body, also when that has fallen by more than its height
cat >hull.json <<'END'
{"orrery": 1, "layers": [{"file": "cube.ply", "name": "stone", "physics": {"mass": 1}}],
 "cameras": [{"eye": [0.5, 0, 12], "target": [0.5, -1, 0], "up": [0, 1, 0]}]}
END
green() { mostly "$1" g 1.03 3 -format '%[fx:mean] '; }
lit() {
    convert "$1.ppm" -channel RGB -separate -evaluate-sequence max -threshold 3% -format '%[fx:mean]' info:
}
view hull.json hull.json --size 640x400 --threads 1 --paused
xdotool key F1
look cube
xdotool key x
look shown
xdotool key --delay 2 $(yes period | head -300)
look fallen shown
for picture in shown fallen; do
    echo "$(green $picture) $(lit $picture)" | awk '{ exit !($1 > 0.002 && $1 > 0.9 * $2) }' ||
        fail "the hull does not cover its body: $(green $picture) of $(lit $picture) in $picture"
done
xdotool key Escape
ended 0
[ -s errors.txt ] && fail "the viewer complains"
echo "passed"
