// ORR_ADDRESS_SANITIZER is defined where AddressSanitizer instruments this file: gcc and clang say it in
// different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define ORR_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ORR_ADDRESS_SANITIZER 1
#endif
#endif
