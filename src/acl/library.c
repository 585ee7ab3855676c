/* SPDX-License-Identifier: MIT */
/* library.c - gives libascendcl.so an object of its own; all code comes from vinci_core. */
typedef int vinci_library_is_not_empty;
