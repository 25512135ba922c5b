// Files that ship with the program: assets of its build or installation.
#pragma once

// The path of a file of the assets ("walker.json"), beside the program's folder; NULL: it is not there. Free
// with orr_free.
char *shipped_file(const char *name);

// The same of the task of orr_env_shipped_task that has the name; NULL: none has, or it is not there.
char *shipped_task(const char *name);
