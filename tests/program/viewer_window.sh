# What the tests of `orrery view` share: a window on a virtual display, xdotool's hands and ImageMagick's
# eyes. They source it with $orrery set; it leaves them in a folder of their own, with a display and a window
# manager that end when they end.
set -u
for tool in Xvfb xdotool openbox import compare convert; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
folder=$(mktemp -d)
cd "$folder" || exit 1
viewer= display= manager=
trap 'kill $viewer $manager $display 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT

fail() {
    echo "FAILED: $*"
    [ -n "${KEEP:-}" ] && cp -r "$folder" "$KEEP"
    cat errors.txt 2>/dev/null
    exit 1
}

Xvfb -displayfd 3 -screen 0 1000x700x24 -nolisten tcp 3>number 2>xvfb.txt &
display=$!
for i in $(seq 100); do [ -s number ] && break; sleep 0.1; done
[ -s number ] || fail "Xvfb does not start: $(cat xvfb.txt)"
DISPLAY=:$(cat number)
export DISPLAY
unset WAYLAND_DISPLAY
manager_answers() { # within 10 s
    openbox >/dev/null 2>manager.txt &
    manager=$!
    for i in $(seq 100); do
        xdotool get_num_desktops >/dev/null 2>&1 && return
        kill -0 $manager 2>/dev/null || return
        sleep 0.1
    done
}
# a window that appears while the window manager starts may be lost between the two; and once in a while none
# starts
for attempt in 1 2 3; do
    manager_answers
    xdotool get_num_desktops >/dev/null 2>&1 && break
    kill $manager 2>/dev/null
done
xdotool get_num_desktops >/dev/null 2>&1 || fail "no window manager: $(cat manager.txt)"

open() { # TITLE ARGUMENTS...: opens the viewer, and waits until its window has that title
    title="^$1\$"
    shift
    "$orrery" view "$@" 2>errors.txt &
    viewer=$!
    window=
    for i in $(seq 300); do
        window=$(xdotool search --onlyvisible --name "$title" 2>/dev/null | tail -1)
        [ -n "$window" ] && return
        kill -0 $viewer 2>/dev/null || fail "no window appears"
        sleep 0.1
    done
    fail "no window appears"
}

view() { # NAME ARGUMENTS...: opens a window on a file of that name, which is loaded on return
    name=$1
    shift
    open "$name - Orrery" "$@"
}

ended() { # expected exit code
    for i in $(seq 300); do kill -0 $viewer 2>/dev/null || break; sleep 0.1; done
    kill -0 $viewer 2>/dev/null && fail "still running"
    wait $viewer
    code=$?
    viewer=
    [ $code = "$1" ] || fail "exit code $code instead of $1"
}

see() { # NAME: the window's picture now, as the format that is written and compared fastest
    # without the window, import would wait for a click on another
    kill -0 "$viewer" 2>/dev/null || fail "the viewer has ended before its picture $1"
    timeout 30 import -silent -window "$window" "$1.ppm" 2>/dev/null
    [ $? != 124 ] || fail "no picture $1 of the window"
}

picture() { # NAME: the file that see or the viewer has written
    [ -e "$1.ppm" ] && echo "$1.ppm" || echo "$1.png"
}

pixels_that_differ() {
    compare -metric AE "$(picture "$1")" "$(picture "$2")" null: 2>&1 | cut -d' ' -f1
}

same() {
    cmp -s "$(picture "$1")" "$(picture "$2")" || [ "$(pixels_that_differ "$1" "$2")" = 0 ]
}

# mostly NAME CHANNEL FACTOR LEAST OPTIONS...: measures, by ImageMagick's OPTIONS, the picture that is white
# where the channel (r, g or b) exceeds LEAST percent and FACTOR times each of the others, and black elsewhere
mostly() {
    file=$(picture "$1")
    case $2 in # the channel less the others, and itself
    r) matrix="1 -$3 0  1 0 -$3  1 0 0" ;;
    g) matrix="-$3 1 0  0 1 -$3  0 1 0" ;;
    b) matrix="-$3 0 1  0 -$3 1  0 0 1" ;;
    esac
    least=$4%
    shift 4
    convert "$file" -alpha off -color-matrix "$matrix" -channel RG -threshold 0 -channel B \
        -threshold "$least" +channel -separate -evaluate-sequence Min "$@" info: 2>/dev/null
}

changed() { # NAME OTHER MESSAGE: by a good part of the picture, not only a line of text
    count=$(pixels_that_differ "$1" "$2")
    [ "${count%%[!0-9]*}" -gt 3000 ] 2>/dev/null || fail "$3: only $count pixels changed"
}

close() { # keys are rounded to floats for another size, so that a pixel may be a few steps of 255 off
    worst=$(compare -metric PAE "$(picture "$1")" "$(picture "$2")" null: 2>&1 |
        sed -n 's/.*(\([0-9.e+-]*\)).*/\1/p')
    [ -n "$worst" ] && awk "BEGIN { exit !($worst <= 0.02) }" # nothing is found for pictures of two sizes
}

wait_for() { # FILE, however busy the machine and slow the configuration
    for i in $(seq 300); do [ -s "$1" ] && return; sleep 0.1; done
    fail "$1 was not written"
}

# look NAME [OTHER]: the window's picture once it has come to rest, and is no longer OTHER. At rest: the same
# for about a second; on a busy machine the rough picture that a view is first drawn with is shown for half of
# that
look() {
    still=0
    see "$1"
    for i in $(seq 150); do
        sleep 0.2
        mv "$1.ppm" before.ppm
        see "$1"
        if same before "$1" && { [ -z "${2:-}" ] || ! same "$1" "$2"; }; then
            still=$((still + 1))
            [ $still = 4 ] && return
        else
            still=0
        fi
    done
    fail "the picture does not come to rest, or does not change (${2:-} to $1)"
}
