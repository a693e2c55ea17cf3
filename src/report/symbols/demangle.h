/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names as people write them. Thread-safe. */
#ifndef SW_REPORT_SYMBOLS_DEMANGLE_H
#define SW_REPORT_SYMBOLS_DEMANGLE_H

/* The demangled name, or a copy of the name when it is not a mangled one (or the build has no demangler). malloc'ed. */
char *sw_demangle(const char *name);

/* "void ns::scale<float, 4>(float*, int)" -> "ns::scale": what a sentence or a suppression line calls it. malloc'ed. */
char *sw_demangled_base(const char *demangled);

#endif
