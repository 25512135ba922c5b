// MJCF text into a tree of nodes, with the line of each.
#include "physics/mjcf/mjcf.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "physics/mjcf/xml_text.h"

#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct open_file {
    const char *path;
    struct open_file *next;
} open_file;

typedef struct reading { // of a model and all it includes
    orr_arena *arena;
    const char *main_path;
    open_file *files; // read so far: a file may be included once
    orr_error *error;
} reading;

typedef struct parsing { // of one file
    reading *all;
    const char *file;
    XML_Parser parser;
    mjcf_node *open[MJCF_DEPTH_MAX + 1];  // the first one is the document
    mjcf_node **next[MJCF_DEPTH_MAX + 1]; // the link that the next child of each open node is written to
    int depth;
    mjcf_node *root;
    orr_result result;
} parsing;

spec_location mjcf_location(const mjcf_node *node)
{
    return (spec_location){node->file, node->line, node->name};
}

bool mjcf_is(const mjcf_node *node, const char *name)
{
    return strcmp(node->name, name) == 0;
}

const char *mjcf_find(const mjcf_node *node, const char *attribute)
{
    for (const mjcf_attribute *a = node->attributes; a; a = a->next) {
        if (strcmp(a->name, attribute) == 0) {
            return a->value;
        }
    }
    return NULL;
}

const char *mjcf_find_name(const mjcf_node *node, const char *attribute)
{
    const char *name = mjcf_find(node, attribute);
    return name && name[0] ? name : NULL;
}

orr_result mjcf_fail(const mjcf_node *node, orr_error *error, const char *format, ...)
{
    char what[384];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return orr_fail(error, ORR_CODE_MODEL_FILE, "%s:%d: <%.64s>: %s", node->file, node->line, node->name,
                    what);
}

// Elements that MuJoCo has and this engine has not, or not here: soft bodies, plugins, layers of textures.
static bool is_unsupported(const mjcf_node *node)
{
    static const char *const names[] = {"flex",   "flexvert", "flexstrain",  "deformable", "skin",
                                        "plugin", "layer",    "orientation", "config"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (mjcf_is(node, names[i])) {
            return true;
        }
    }
    return false;
}

orr_result mjcf_unknown(const mjcf_node *node, const mjcf_node *parent, orr_error *error)
{
    if (is_unsupported(node)) {
        return mjcf_fail(node, error, "this element of MuJoCo's is not supported");
    }
    return mjcf_fail(node, error, "unknown element inside <%.64s>", parent->name);
}

orr_result mjcf_no_children(const mjcf_node *node, orr_error *error)
{
    return node->children ? mjcf_unknown(node->children, node, error) : ORR_OK;
}

orr_result mjcf_no_head(const mjcf_node *node, orr_error *error)
{
    const char *found = mjcf_find(node, "name") ? "name" : mjcf_find(node, "class") ? "class" : NULL;
    return found ? mjcf_fail(node, error, "unknown attribute '%s'", found) : ORR_OK;
}

void mjcf_note_text(orr_spec *spec, const mjcf_node *node)
{
    spec_note(spec, node->file, node->text_line, "text between elements: expected attributes only");
}

static char *copy_text(orr_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = orr_arena_take(arena, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

static void stop(parsing *p, orr_result result)
{
    p->result = result;
    XML_StopParser(p->parser, XML_FALSE);
}

static int line_of(const parsing *p)
{
    return (int)XML_GetCurrentLineNumber(p->parser);
}

static void begin_element(void *user, const XML_Char *name, const XML_Char **attributes)
{
    parsing *p = user;
    int line = line_of(p);
    if (p->depth > MJCF_DEPTH_MAX) {
        stop(p, orr_fail(p->all->error, ORR_CODE_MODEL_FILE, "%s:%d: elements are nested more than %d deep",
                         p->file, line, MJCF_DEPTH_MAX));
        return;
    }
    mjcf_node *node = orr_arena_take(p->all->arena, 1, sizeof *node);
    char *copy = node ? copy_text(p->all->arena, name) : NULL;
    if (!copy) {
        stop(p, spec_memory_fail(p->all->error));
        return;
    }
    *node = (mjcf_node){.name = copy, .file = p->file, .line = line};
    mjcf_attribute **last = &node->attributes;
    for (int i = 0; attributes[i]; i += 2) {
        mjcf_attribute *attribute = orr_arena_take(p->all->arena, 1, sizeof *attribute);
        char *key = copy_text(p->all->arena, attributes[i]),
             *value = copy_text(p->all->arena, attributes[i + 1]);
        if (!attribute || !key || !value) {
            stop(p, spec_memory_fail(p->all->error));
            return;
        }
        *attribute = (mjcf_attribute){key, value, NULL};
        *last = attribute;
        last = &attribute->next;
    }
    if (p->depth == 0) {
        p->root = node;
    } else {
        *p->next[p->depth - 1] = node;
        p->next[p->depth - 1] = &node->next;
    }
    p->open[p->depth] = node;
    p->next[p->depth] = &node->children;
    p->depth++;
}

static void end_element(void *user, const XML_Char *name)
{
    (void)name;
    ((parsing *)user)->depth--;
}

static void read_text(void *user, const XML_Char *text, int length)
{
    parsing *p = user;
    mjcf_node *node = p->depth ? p->open[p->depth - 1] : NULL;
    for (int i = 0; node && !node->text_line && i < length; i++) {
        if (!strchr(" \t\r\n", text[i])) {
            node->text_line = line_of(p);
        }
    }
}

static orr_result parse_file(reading *all, const char *text, size_t size, const char *file, mjcf_node **root);

// `file` in the folder of `beside`, or `file` itself when it is absolute.
static char *path_in_arena(orr_arena *arena, const char *beside, const char *file)
{
    char *path = orr_path_beside(beside, file), *copy = path ? copy_text(arena, path) : NULL;
    orr_free(path);
    return copy;
}

static bool is_readable(const char *path)
{
    return path && access(path, R_OK) == 0;
}

// `file`, which an element of the file `from` names: in `folder` beside the model. Where there is none and
// the model includes `from`, beside that file, as in MuJoCo for a model with an absolute path, or in the
// folder of its name below `folder`, as there for a relative one. NULL: out of memory.
static char *find_file(orr_arena *arena, const char *model, const char *from, const char *folder,
                       const char *file)
{
    const bool absolute = file[0] == '/', in_folder = folder && folder[0] && !absolute;
    const size_t before = (size_t)(orr_path_name(model) - model);
    const char *inside = strncmp(from, model, before) == 0 ? from + before : from;
    const int length = (int)(orr_path_name(inside) - inside);
    char joined[2][4096]; // beside the model; there below the name of the folder of `from`
    for (int i = 0; i < 2; i++) {
        if (snprintf(joined[i], sizeof joined[i], "%s%s%.*s%s", in_folder ? folder : "", in_folder ? "/" : "",
                     i == 0 ? 0 : length, inside, file) >= (int)sizeof joined[i]) {
            return NULL;
        }
    }
    char *path = path_in_arena(arena, model, joined[0]);
    if (!path || absolute || is_readable(path) || strcmp(from, model) == 0) {
        return path;
    }
    char *own = path_in_arena(arena, from, file), *below = path_in_arena(arena, model, joined[1]);
    return !own || !below ? NULL : is_readable(own) ? own : is_readable(below) ? below : path;
}

// The children of the root of an included file, as a list.
static orr_result read_included(reading *all, const mjcf_node *node, mjcf_node **children)
{
    const char *file = mjcf_find(node, "file");
    if (!file || !file[0] || node->attributes->next) {
        return mjcf_fail(node, all->error, "expected one attribute, file");
    }
    ORR_TRY(mjcf_no_children(node, all->error));
    char *path = find_file(all->arena, all->main_path, node->file, NULL, file);
    orr_bytes bytes;
    orr_error reason;
    if (!path) {
        return spec_memory_fail(all->error);
    }
    for (const open_file *f = all->files; f; f = f->next) {
        if (strcmp(f->path, path) == 0) {
            return mjcf_fail(node, all->error, "file '%.200s' is included a second time: expected once",
                             file);
        }
    }
    if (orr_file_read(path, &bytes, &reason) != ORR_OK) {
        return mjcf_fail(node, all->error, "file: %.300s", reason.message);
    }
    mjcf_node *root;
    orr_result result = parse_file(all, (const char *)bytes.data, bytes.size, path, &root);
    orr_free(bytes.data);
    *children = result == ORR_OK ? root->children : NULL;
    return result;
}

static orr_result expand_includes(reading *all, mjcf_node *node)
{
    for (mjcf_node **link = &node->children; *link;) {
        mjcf_node *child = *link;
        if (!mjcf_is(child, "include")) {
            ORR_TRY(expand_includes(all, child));
            link = &child->next;
            continue;
        }
        mjcf_node *first = NULL, **last = &first;
        ORR_TRY(read_included(all, child, &first)); // its own includes are expanded already
        while (*last) {
            last = &(*last)->next;
        }
        *last = child->next;
        *link = first;
        link = last == &first ? link : last; // an empty list leaves no last node
    }
    return ORR_OK;
}

// The elements that `text` has outside of others become the children of a node around them.
static orr_result parse_text(parsing *p, const char *text, size_t size)
{
    static const char before[] = "<document>", behind[] = "</document>";
    char *strict = orr_alloc(MJCF_STRICT_GROWTH * size + 1, 1);
    if (!strict) {
        return spec_memory_fail(p->all->error);
    }
    XML_SetUserData(p->parser, p);
    XML_SetElementHandler(p->parser, begin_element, end_element);
    XML_SetCharacterDataHandler(p->parser, read_text);
    size_t used = mjcf_strict_text(text, size, strict);
    bool parsed = XML_Parse(p->parser, before, (int)strlen(before), XML_FALSE) == XML_STATUS_OK &&
                  XML_Parse(p->parser, strict, (int)used, XML_FALSE) == XML_STATUS_OK;
    bool open = parsed && p->depth > 1;
    parsed = parsed && !open && XML_Parse(p->parser, behind, (int)strlen(behind), XML_TRUE) == XML_STATUS_OK;
    orr_free(strict);
    if (parsed || p->result != ORR_OK) {
        return p->result;
    }
    return orr_fail(p->all->error, ORR_CODE_MODEL_FILE, "%s:%d: expected well-formed XML: %s%.64s%s", p->file,
                    line_of(p), open ? "<" : "",
                    open ? p->open[p->depth - 1]->name : XML_ErrorString(XML_GetErrorCode(p->parser)),
                    open ? "> has no end" : "");
}

// The root is the first element; those after it have no effect, as in MuJoCo.
static orr_result find_root(const parsing *p, mjcf_node **root)
{
    const mjcf_node *document = p->root;
    *root = document->children;
    if (*root && document->text_line == 0) {
        return ORR_OK;
    }
    return orr_fail(p->all->error, ORR_CODE_MODEL_FILE, "%s:%d: expected well-formed XML: %s", p->file,
                    *root ? document->text_line : line_of(p),
                    *root ? "text outside of elements" : "no element found");
}

static orr_result parse_file(reading *all, const char *text, size_t size, const char *file, mjcf_node **root)
{
    int depth = 0;
    for (const open_file *f = all->files; f; f = f->next) {
        depth++;
    }
    while (size > 0 && !text[size - 1]) { // zeros after the root are allowed
        size--;
    }
    static const char mark[] = "\xef\xbb\xbf"; // of UTF-8
    if (size >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0) {
        text += strlen(mark);
        size -= strlen(mark);
    }
    if (size > INT32_MAX / MJCF_STRICT_GROWTH || depth >= MJCF_DEPTH_MAX) {
        return orr_fail(all->error, ORR_CODE_MODEL_FILE, "%s: expected at most %d MB, and %d files", file,
                        INT32_MAX / MJCF_STRICT_GROWTH / 1000000, MJCF_DEPTH_MAX);
    }
    if (size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
        return orr_fail(all->error, ORR_CODE_MODEL_FILE, "%s: expected XML in UTF-8, not in UTF-16", file);
    }
    open_file *entry = orr_arena_take(all->arena, 1, sizeof *entry);
    // MuJoCo does not heed what a declaration says of the encoding
    XML_Parser parser = XML_ParserCreate(mjcf_is_utf8(text, size) ? "UTF-8" : "ISO-8859-1");
    if (!entry || !parser) {
        XML_ParserFree(parser);
        return spec_memory_fail(all->error);
    }
    *entry = (open_file){file, all->files};
    all->files = entry;
    parsing p = {.all = all, .file = file, .parser = parser};
    orr_result result = parse_text(&p, text, size);
    if (result == ORR_OK) {
        result = find_root(&p, root);
    }
    XML_ParserFree(parser);
    return result == ORR_OK ? expand_includes(all, *root) : result;
}

orr_result mjcf_parse(const char *text, size_t size, const char *path, orr_arena *arena, mjcf_node **root,
                      orr_error *error)
{
    reading all = {.arena = arena, .main_path = path, .error = error};
    return parse_file(&all, text, size, path, root);
}

char *mjcf_file(orr_spec *spec, const mjcf_node *node, const char *folder, const char *file)
{
    return find_file(&spec->arena, spec->path, node->file, folder,
                     spec->compiler.strippath ? orr_path_name(file) : file);
}
