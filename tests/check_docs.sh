#!/usr/bin/env bash
# The pages name what exists: check_docs.sh SOURCE_DIR
#   - all pages: a relative link leads to a file; a source file in backticks exists, as a path or as the end
#     of one (* and NAME match anything)
#   - architecture, glossary and recipes in docs/: so do folders, options and identifiers; where a paragraph,
#     a row of a table or an item of a list names files, an identifier must be in one of them
#   - no folder includes what the table in docs/architecture.md does not allow
set -euo pipefail
cd "$1"

sources='c|h|cu|cpp|comp|vert|frag|glsl|cmake|sh|py'
declare -A path_of words # of files and folders, and of the ends of their paths; of identifiers in the sources
folders='engine|physics|neural|render|shaders|samples|tests|assets'
identifier='[A-Za-z_][A-Za-z0-9_]*'
failures=0

fail() { # PAGE:LINE WHAT
    echo "$1: $2"
    failures=$((failures + 1))
}

read_tree() {
    local path rest folder word files=()
    while read -r path; do
        [ -e "$path" ] || continue
        [[ $path =~ \.($sources)$ || $path == *CMakeLists.txt ]] && files+=("$path")
        rest=$path
        path_of[$rest]=$path
        while [[ $rest == */* ]]; do
            rest=${rest#*/}
            path_of[$rest]=$path
        done
        folder=$path
        while [[ $folder == */* ]]; do
            folder=${folder%/*}
            path_of[$folder/]=$folder
        done
    done < <(git ls-files --cached --others --exclude-standard)
    while read -r word; do
        words[$word]=1
    done < <(grep -ohE "$identifier" "${files[@]}" | sort -u)
}

tokens=()
read_tokens() { # TEXT: what is in its backticks
    local text=$1
    tokens=()
    while [[ $text =~ \`([^\`]+)\` ]]; do
        tokens+=("${BASH_REMATCH[1]}")
        text=${text#*"${BASH_REMATCH[0]}"}
    done
}

found=()
find_paths() { # TOKEN: of files or folders; fails when there is none
    local token=$1 path
    found=()
    while [[ $token == ../* ]]; do
        token=${token#../}
    done
    token=${token//NAME/*}
    if [[ $token == *\** ]]; then
        for path in "${!path_of[@]}"; do
            # shellcheck disable=SC2053
            [[ $path == $token ]] && found+=("${path_of[$path]}")
        done
    elif [ -n "${path_of[$token]:-}" ]; then
        found=("${path_of[$token]}")
    fi
    [ ${#found[@]} -gt 0 ]
}

is_file() { [[ $1 =~ ^[A-Za-z0-9_./*-]+\.($sources|md)$ || $1 == *CMakeLists.txt ]]; }

check_line() { # PAGE:LINE TEXT
    local token text=$2 link folder
    folder=${1%:*}
    [[ $folder == */* ]] && folder=${folder%/*} || folder=.
    while [[ $text =~ \]\(([^\)]+)\) ]]; do
        link=${BASH_REMATCH[1]}
        text=${text#*"${BASH_REMATCH[0]}"}
        if [[ $link != http* && $link != \#* && ! -e $folder/${link%%#*} ]]; then
            fail "$1" "no file for the link $link"
        fi
    done
    read_tokens "$2"
    for token in "${tokens[@]}"; do
        if is_file "$token"; then
            find_paths "$token" || fail "$1" "no file $token"
        fi
    done
}

check_names() { # PAGE:LINE TEXT
    local token name files=()
    read_tokens "$2"
    for token in "${tokens[@]}"; do
        if is_file "$token" || [[ $token == */ ]]; then
            find_paths "$token" || [[ $token != */ ]] || fail "$1" "no folder $token"
            files+=("${found[@]}")
        fi
    done
    for token in "${tokens[@]}"; do
        if [[ $token =~ ^--[a-z-]+$ ]]; then
            grep -rqF -- "\"$token\"" samples || fail "$1" "no option $token"
        elif [[ $token =~ ^$identifier((\.|->)$identifier)*$ ]] && ! is_file "$token"; then
            for name in ${token//[^A-Za-z0-9_]/ }; do
                if [ -z "${words[$name]:-}" ]; then
                    fail "$1" "no $name in the sources"
                elif [ ${#files[@]} -gt 0 ] && ! grep -rqw -- "$name" "${files[@]}"; then
                    fail "$1" "no $name in ${files[*]}"
                fi
            done
        fi
    done
}

check_paragraphs() { # PAGE
    local line number=0 first=1 text=""
    while IFS= read -r line; do
        number=$((number + 1))
        if [[ $line =~ ^([0-9]+\.|-)\  || $line == '|'* || -z $line ]]; then
            check_names "$1:$first" "$text"
            text="" first=$number
        fi
        text+=" $line"
    done < "$1"
    check_names "$1:$first" "$text"
}

# Rows "| `folder/` | `folder/`, ... |": the folder's files include headers of these folders and its own only.
check_includes() {
    local line folder file header allowed
    while IFS= read -r line; do
        read_tokens "$line"
        folder=${tokens[0]}
        while IFS=: read -r file header; do
            header=${header#*\"}
            header=${header%\"*}
            for allowed in "${tokens[@]}"; do
                [[ $header == "$allowed"* ]] && continue 2
            done
            fail "$file" "includes $header, which docs/architecture.md does not allow in $folder"
        done < <(grep -rHE "^#include \"($folders)/" "$folder")
    done < <(sed -n '/^| folder | may include |/,/^$/p' docs/architecture.md | grep '`')
}

read_tree
check_includes
while IFS=: read -r page number line; do
    check_line "$page:$number" "$line"
done < <(git ls-files -z --cached --others --exclude-standard '*.md' | xargs -0 grep -HnE '`|\]\(')
for page in architecture glossary recipes; do
    check_paragraphs docs/$page.md
done
[ $failures = 0 ] || { echo "$failures findings"; exit 1; }
