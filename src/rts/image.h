/* SPDX-License-Identifier: MIT */
/* image.h - shared objects that hold kernels. */
#ifndef VINCI_RTS_IMAGE_H
#define VINCI_RTS_IMAGE_H

#include <dlfcn.h>

#include "rts/rts.h"

/* Loads the object of @size bytes at @data, which messages call @what; *dl is dlopen()'s. 107000 */
int image_load(const void *data, size_t size, const char *what, void **dl);
/* The addresses that the loaded object fills. False: there are gaps in them. */
bool image_span(void *dl, void **base, size_t *size);
/* Calls @each for what of it can be written, until one answers something other than 0. */
int image_for_variables(void *dl, int (*each)(uintptr_t base, size_t size, void *arg), void *arg);
/* Calls @each with the names that the object exports. */
void image_for_symbols(void *dl, void (*each)(const char *name, void *arg), void *arg);
/* Bytes of the exported function (STT_FUNC) or variable (STT_OBJECT) at @address; 0: there is none. */
size_t image_symbol_bytes(const void *address, int type);

#endif
