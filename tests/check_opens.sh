#!/usr/bin/env bash
# Files are opened by engine/core/file.c and file_write.c alone, which refuse pipes and devices and write
# whole files: check_opens.sh SOURCE_DIR finds other calls that open a file by its name. Each exception has
# its reason.
set -euo pipefail
cd "$1"

calls='\b(fopen|freopen|tmpfile|mkstemp|creat|openat|opendir|gzopen|zip_open|stbi_load|stbi_info'
calls+='|exr_start_[a-z]+|avio_open2?|avformat_open_input|[io]?fstream)\b *[({<]'
calls+='|\bopen\((.*\bO_|")'

declare -A allowed=(
    [engine/collider/convex_parts.c]='/dev/null, for the messages of qhull'
    [engine/core/file.c]='reads'
    [engine/core/folder.c]='lists folders'
    [engine/core/file_write.c]='writes'
    [engine/image/decode_exr.c]='OpenEXR reads through callbacks; the name is for messages'
    [engine/image/image_exr.c]='OpenEXR writes to the temporary file of an orr_file_writer'
    [engine/image/video_reader.c]='libav reads through callbacks; the name is empty'
    [engine/image/video.c]='libav writes to the temporary file of an orr_file_writer'
    [physics/model/mesh/mesh_hull.c]='/dev/null, for the messages of qhull'
    [samples/hello_splats.c]='writes a picture with the public interface alone'
    [samples/orrery/main.c]='/dev/null, in place of a standard stream that is closed'
)

failures=0
declare -A seen
while IFS=: read -r file line text; do
    seen[$file]=1
    if [ -z "${allowed[$file]:-}" ]; then
        echo "$file:$line: opens a file by its name; expected orr_file_open, _read or _begin:$text"
        failures=1
    fi
done < <(grep -rnE "$calls" --include='*.c' --include='*.h' --include='*.cpp' --include='*.cu' \
    engine neural physics render samples)
for file in "${!allowed[@]}"; do
    if [ -z "${seen[$file]:-}" ]; then
        echo "tests/check_opens.sh: $file opens no file any more: expected no exception for it"
        failures=1
    fi
done
exit $failures
