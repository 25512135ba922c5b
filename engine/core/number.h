// Numbers written as text: with a point, whatever the host's language says (strtod would ask the locale).
#pragma once

// As strtod in the "C" locale: the number that `text` begins with, after white space; *end is behind it, or
// `text` when there is none. Any thread.
double orr_number_parse(const char *text, const char **end);
