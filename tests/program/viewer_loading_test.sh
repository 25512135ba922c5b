#!/bin/sh
# Tries how `orrery view` loads: the window is there before the file is, Escape and Ctrl-C end at once, and a
# file that cannot be read is told in the window and on stderr.
# usage: viewer_loading_test.sh ORRERY [DROP_FILE]
orrery=$1
drop_file=${2:-}
. "$(dirname "$0")/viewer_window.sh"

# cloud COUNT SECOND: an ASCII .ply of two splats, the second repeated; text takes long to read
cloud() {
    echo "ply\nformat ascii 1.0\nelement vertex $1"
    for name in x y z f_dc_0 f_dc_1 f_dc_2 opacity scale_0 scale_1 scale_2 rot_0 rot_1 rot_2 rot_3; do
        echo "property float $name"
    done
    echo "end_header\n-1 -1 -1 0 2 0 3 -2 -2 -2 1 0 0 0"
    yes "$2" | head -$(($1 - 1))
}
cloud 2 "1 1 1 2 0 0 3 -1 -1 -1 1 0 0 0" >small.ply
cloud 4000000 "1.00001 1.00001 1.00001 2 0 0.00001 3.00001 -1.00001 -1 -1 1 0.00001 0 0" >large.ply
cloud 100000 "1 1 1 2 0 nonsense" >broken.ply

is_lit() { # PICTURE: something is on the black
    [ "$(convert "$1.ppm" -threshold 10% -format '%[fx:int(mean*w*h)]' info:)" -gt 300 ]
}
shows_progress() {
    for i in $(seq 50); do
        see "$1"
        is_lit "$1" && return
        sleep 0.1
    done
    fail "no progress is shown"
}

# --- the window is there while the file is read, and ends with it -------------------------------------------
open "Loading large.ply - Orrery" large.ply --size 640x400 --threads 1
shows_progress loading
xdotool key Escape
ended 0
[ -s errors.txt ] && fail "ending while loading complains"
open "Loading large.ply - Orrery" large.ply --size 640x400 --threads 1
shows_progress loading
xdotool windowactivate --sync "$window" key alt+F4
ended 0
open "Loading large.ply - Orrery" large.ply --size 640x400 --threads 1
shows_progress loading
kill -INT $viewer
ended 130
view small.ply small.ply --size 640x400 # and Ctrl-C after loading
kill -INT $viewer
ended 130

# --- what cannot be loaded ----------------------------------------------------------------------------------
view broken.ply broken.ply --size 640x400
for i in $(seq 100); do [ -s errors.txt ] && break; sleep 0.1; done
[ "$(wc -l <errors.txt)" = 1 ] && grep -q broken.ply errors.txt || fail "expected one line about broken.ply"
shows_progress failure
kill -0 $viewer || fail "the window closes before its message is read"
xdotool key Escape
ended 2
"$orrery" view broken.ply --frames 1 2>errors.txt
[ $? = 2 ] && [ "$(wc -l <errors.txt)" = 1 ] || fail "--frames: expected one line and exit code 2"
"$orrery" view absent.ply 2>errors.txt
[ $? = 2 ] && grep -q "absent.ply" errors.txt || fail "an absent file: expected one line and exit code 2"

# --- a dropped file loads in the window, and can be stopped -------------------------------------------------
if [ -n "$drop_file" ]; then
    view small.ply small.ply --size 640x400 --threads 1
    xdotool key F1
    look start
    "$drop_file" "$window" "$folder/large.ply" || fail "the window does not take a dropped file"
    look_at=0
    for i in $(seq 50); do
        see adding
        same start adding || { look_at=1; break; }
        sleep 0.1
    done
    [ $look_at = 1 ] || fail "no progress is shown for a dropped file"
    xdotool key Escape
    look stopped adding
    same start stopped || fail "a dropped file that is stopped changes the picture"
    kill -0 $viewer || fail "stopping a dropped file ends the viewer"
    xdotool key Escape
    ended 0
fi
echo "passed"
