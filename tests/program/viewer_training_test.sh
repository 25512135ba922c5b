#!/bin/sh
# Tries `orrery view` of a capture: a radiance field that learns while it is watched, in a window on a virtual
# display. usage: viewer_training_test.sh ORRERY
orrery=$1
. "$(dirname "$0")/viewer_window.sh"

# photos of an orange ball, the same from all sides, before nothing
mkdir photos
convert -size 64x64 xc:none -fill '#e07030' -draw 'circle 32,32 32,14' PNG32:photos/ball.png
awk 'BEGIN {
    printf "{\"camera_angle_x\": 0.7, \"frames\": ["
    for (i = 0; i < 8; i++) {
        c = cos(0.785398 * i); s = sin(0.785398 * i)
        printf "%s{\"file_path\": \"ball.png\", \"transform_matrix\": ", i ? ", " : ""
        printf "[[%f, 0, %f, %f], [%f, 0, %f, %f], [0, 1, 0, 0], [0, 0, 0, 1]]}", -s, c, 4 * c, c, s, 4 * s
    }
    print "]}"
}' >photos/transforms.json

learn() { # NAME FRAMES [SCENE]: the picture after so many
    "$orrery" view "${3:-photos}" --size 160x120 --frames "$2" --screenshot "$1.png" \
        >/dev/null 2>errors.txt ||
        fail "a capture is not shown"
}
brightness() { # PICTURE PLACE: of 2 x 2 pixels, 0 .. 100
    convert "$1.png" -crop "2x2+$2" +repage -scale '1x1!' -format '%[fx:int(100*r)]' info:
}
is_ball() { # PICTURE: bright in the middle and dark in a corner
    [ "$(brightness "$1" 79+59)" -gt 60 ] && [ "$(brightness "$1" 5+5)" -lt 20 ]
}
learn early 1
for frames in 16 60 240; do # a frame learns for a time, in which a busy machine takes fewer steps
    learn late "$frames"
    is_ball late && break
done
is_ball late || fail "after learning: no ball in the middle, or something beside it"
[ "$(pixels_that_differ early late)" -gt 500 ] || fail "the field does not learn"

view photos photos --size 640x400
see learning
for i in $(seq 120); do # a busy machine takes a while to its first picture
    sleep 0.5
    see learned
    count=$(pixels_that_differ learning learned)
    [ "${count%%[!0-9]*}" -gt 3000 ] && break
done
changed learning learned "the picture follows the learning"
xdotool key p # neither keys nor what they ask for wait for the learning to end
wait_for photos.png
[ "$(convert photos.png -format '%wx%h' info:)" = 640x400 ] ||
    fail "a screenshot while learning is not in full"
xdotool key t
look paused # it comes to rest only when training does
xdotool key m
wait_for photos.ingp
xdotool key Escape
ended 0
steps_of() {
    "$orrery" info "$1" --json | sed -n 's/.*"steps":[^0-9]*\([0-9]*\).*/\1/p'
}
"$orrery" train nerf photos --holdout 0 --resume photos.ingp -o more.ingp --steps 2 >/dev/null 2>errors.txt ||
    fail "training does not go on from the viewer's model"
[ "$(steps_of more.ingp)" = $(($(steps_of photos.ingp) + 2)) ] ||
    fail "training begins anew after the viewer's"
learn model 1 photos.ingp
shows_learned=$(convert model.png -format '%k' info:)
[ "$shows_learned" -gt 20 ] || fail "the saved model is not shown"
# splats
shown() { # NAME FRAMES: the picture of splats after so many
    "$orrery" view photos --train splats --size 160x120 --frames "$2" --screenshot "$1.png" \
        >/dev/null 2>errors.txt || fail "splats in training are not shown"
}
shown seeds 1
shown splats 60
[ "$(pixels_that_differ seeds splats)" -gt 500 ] || fail "splats do not learn"
view photos photos --train splats --size 640x400
see learning
for i in $(seq 120); do
    sleep 0.5
    see learned
    count=$(pixels_that_differ learning learned)
    [ "${count%%[!0-9]*}" -gt 3000 ] && break
done
changed learning learned "the picture follows the learning of splats"
xdotool key t
look paused
xdotool key m
wait_for photos.ply
wait_for photos.ply.training
[ -n "${KEEP_PICTURE:-}" ] && see panel && convert panel.ppm "$KEEP_PICTURE"
xdotool key Escape
ended 0
"$orrery" train splats photos --holdout 0 --resume photos.ply -o more.ply --steps 2 >/dev/null 2>errors.txt ||
    fail "training does not go on from the viewer's splats"
"$orrery" view photos --resume photos.ply --size 160x120 --frames 1 --screenshot again.png \
    >/dev/null 2>errors.txt || fail "the viewer does not go on from its splats"
[ "$(pixels_that_differ seeds again)" -gt 500 ] || fail "the viewer begins anew"
# killed at once: the last checkpoint is left, whole; a save takes the checkpoint's file over
view photos photos --train splats --size 320x200 --checkpoint 0.01
wait_for photos-2.ply.training
wait_for photos-2.ply
xdotool key m
wait_for photos-3.ply.training
wait_for photos-3.ply
kill -9 $viewer
wait $viewer 2>/dev/null
viewer=
for model in photos-2 photos-3; do
    "$orrery" train splats photos --holdout 0 --resume $model.ply -o more.ply --steps 2 \
        >/dev/null 2>errors.txt ||
        fail "training does not go on from the checkpoint $model.ply"
done
[ ! -e photos-4.ply ] || fail "each checkpoint is a file of its own"
# the display goes away: what was learned is in a file, as after any other end
view photos photos --train splats --size 320x200
xdotool key k
see learning
for i in $(seq 120); do
    sleep 0.5
    see learned
    same learning learned || break
done
kill $display
ended 1
display=
[ "$(wc -l <errors.txt)" = 3 ] && grep -q "the display is gone" errors.txt &&
    grep -q "photos-4.ply: the model after" errors.txt &&
    grep -q "transforms.json: the camera path" errors.txt ||
    fail "a display that goes away: expected lines about it, the model and the camera path"
"$orrery" train splats photos --holdout 0 --resume photos-4.ply -o more.ply --steps 2 \
    >/dev/null 2>errors.txt ||
    fail "training does not go on from what a lost display left"
"$orrery" info transforms.json >/dev/null || fail "a lost display leaves no camera path"
"$orrery" view photos --train stars >/dev/null 2>errors.txt
[ $? = 2 ] && grep -q "expected splats" errors.txt || fail "an unknown kind is not refused"
"$orrery" render photos -o never.png >/dev/null 2>errors.txt
[ $? = 2 ] && grep -q "train" errors.txt ||
    fail "render does not say that a capture is to be trained on first"
