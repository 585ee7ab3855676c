/* SPDX-License-Identifier: MIT */
/* few_addresses.h - ThreadSanitizer leaves a program less address space than some clients reserve. */
#ifndef VINCI_FEW_ADDRESSES_H
#define VINCI_FEW_ADDRESSES_H

#if defined(__SANITIZE_THREAD__)
#define FEW_ADDRESSES 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FEW_ADDRESSES 1
#endif
#endif
#ifndef FEW_ADDRESSES
#define FEW_ADDRESSES 0
#endif

#endif
