// Folders: what is in them, made, and removed with all they hold.
#pragma once

#include "engine/core/result.h"

bool orr_path_is_file(const char *path);   // a regular file, or a link to one
bool orr_path_is_folder(const char *path); // likewise
// `name` in `folder`, or `name` itself where the folder is ""; free with orr_free; NULL when out of memory.
char *orr_path_join(const char *folder, const char *name);

typedef struct orr_names {
    char **items; // count, in the order of their bytes
    int count;
} orr_names;

// The names of the regular files in a folder, without those that begin with a dot. Free with orr_names_free.
orr_result orr_folder_list(const char *path, orr_names *names, orr_error *error);
void orr_names_free(orr_names *names);

// One that is there already is no error.
orr_result orr_folder_make(const char *path, orr_error *error);
// Removes a folder with all that is in it, links but not what they lead to. What cannot be removed stays.
void orr_folder_remove(const char *path);
// Whether nothing is at `path`, or an empty folder.
bool orr_folder_free(const char *path);
// Copies a regular file, whole or not at all.
orr_result orr_file_copy(const char *from, const char *to, orr_error *error);
