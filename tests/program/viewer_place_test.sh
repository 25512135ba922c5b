#!/bin/sh
# Tries placing things in the window of `orrery view`: a mesh that is dropped lands under the mouse, the gizmo
# moves it, undo takes it back, and the scene is saved. usage: viewer_place_test.sh ORRERY DROP_FILE
orrery=$1
drop_file=$2
. "$(dirname "$0")/viewer_window.sh"

# a captured floor: a grid of grey splats on the plane y = 0, with y down
awk 'BEGIN {
    n = 61
    print "ply\nformat ascii 1.0\nelement vertex " n * n
    split("x y z f_dc_0 f_dc_1 f_dc_2 opacity scale_0 scale_1 scale_2 rot_0 rot_1 rot_2 rot_3", names)
    for (i = 1; i <= 14; i++) print "property float " names[i]
    print "end_header"
    for (i = 0; i < n * n; i++)
        print -3 + 0.1 * (i % n), 0, -3 + 0.1 * int(i / n), "0.7 0.7 0.7 6 -2.8 -5 -2.8 1 0 0 0"
}' >floor.ply
cat >room.json <<'END'
{"orrery": 1, "sun": {"direction": [-0.6, -0.8, -0.2]}, "layers": [{"file": "floor.ply"}],
 "cameras": [{"eye": [0, -2, -4], "target": [0, 0, 0]}]}
END
# a red cube, 0.6 wide, that is far behind the camera in its own coordinates
cat >cube.mtl <<'END'
newmtl red
Kd 0.9 0.05 0.05
END
cat >cube.obj <<'END'
mtllib cube.mtl
usemtl red
v 49.7 50 -50.3
v 50.3 50 -50.3
v 50.3 50 -49.7
v 49.7 50 -49.7
v 49.7 50.6 -50.3
v 50.3 50.6 -50.3
v 50.3 50.6 -49.7
v 49.7 50.6 -49.7
f 1 2 3 4
f 5 8 7 6
f 1 5 6 2
f 2 6 7 3
f 3 7 8 4
f 4 8 5 1
END

red() { # PICTURE: how many pixels are red, and the middle of their box, "COUNT X Y"
    mostly "$1" r 2.5 25 -trim -format '%[fx:int(mean*w*h)] %w %h %X %Y' |
        tr -d + | awk '{ print $1, $4 + int($2 / 2), $5 + int($3 / 2) }'
}
dark() { # PICTURE: pixels of the floor in shadow
    convert "$1.ppm" -colorspace gray \( +clone -threshold 10% \) \( -clone 0 -threshold 55% -negate \) \
        -delete 0 -evaluate-sequence Min -format '%[fx:int(mean*w*h)]' info:
}
near() { # VALUE EXPECTED TOLERANCE
    [ $(($1 - $2)) -le "$3" ] && [ $(($2 - $1)) -le "$3" ]
}
drag() { # FROM_X FROM_Y TO_X TO_Y
    xdotool mousemove --window "$window" "$1" "$2"
    sleep 0.3
    xdotool mousedown 1
    sleep 0.2
    xdotool mousemove --window "$window" $((($1 + $3) / 2)) $((($2 + $4) / 2))
    sleep 0.2
    xdotool mousemove --window "$window" "$3" "$4"
    sleep 0.2
    xdotool mouseup 1
    xdotool mousemove --window "$window" 630 10 # off the handles
}

view room.json room.json --size 640x400 --threads 1
xdotool key F1
look floor
xdotool mousemove --window "$window" 400 260
eval "$(xdotool getmouselocation --shell)" # X, Y: where that is on the screen
"$drop_file" "$window" "$folder/cube.obj" "$X" "$Y" || fail "the window does not take the cube"
look dropped floor
xdotool key g # hides the handles
look cube dropped
set -- $(red cube)
# its foot is at 400, 260, and it is some 70 pixels high
[ "$1" -gt 1500 ] && near "$2" 400 25 && near "$3" 235 25 || fail "the cube is not where it was dropped: $*"
shaded=$(($(dark cube) - $(dark floor)))
[ $shaded -gt 300 ] || fail "the cube casts no shadow on the floor: $shaded pixels"

# --- the gizmo ----------------------------------------------------------------------------------------------
xdotool mousemove --window "$window" 400 240 key g
look handles cube
drag 458 260 538 260 # the arrow to the right
xdotool key g
look right handles
set -- $(red right)
near "$2" 480 30 && near "$3" 235 25 || fail "the gizmo's arrow does not move the cube: $*"
xdotool key ctrl+z
look undone right
same cube undone || fail "Ctrl+Z does not take the gizmo's move back"
xdotool key ctrl+y
look redone undone
same right redone || fail "Ctrl+Y does not make the move again"

# --- saving -------------------------------------------------------------------------------------------------
xdotool key ctrl+shift+s
wait_for room-2.json
"$orrery" render room-2.json --size 640x400 -o again.png >/dev/null 2>saved.txt || fail "$(cat saved.txt)"
close right again || fail "the saved scene does not look as the window"
xdotool key ctrl+z ctrl+z # where its own coordinates are: not in the picture
look away redone
same floor away || fail "Ctrl+Z does not bring the dropped cube to its own coordinates"
# --- what is in no file when the viewer ends ---
xdotool key Escape
ended 0
[ "$(wc -l <errors.txt)" = 1 ] && grep -q "room-3.json: the scene as it was changed" errors.txt ||
    fail "expected one line about the scene that was not saved"
"$orrery" render room-3.json --size 640x400 -o kept.png >/dev/null 2>saved.txt || fail "$(cat saved.txt)"
close away kept || fail "the scene that is left behind does not look as the window"
echo "passed"
