/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures as the table of entry points writes them, (type, name, type, name ...), turned into C:
 * SW_PARAMS(sig) declares, SW_ARGS(sig) passes on.
 */
#ifndef SW_API_SIGNATURE_H
#define SW_API_SIGNATURE_H

#define SW_COUNT(...)                                                                                                  \
	SW_COUNT_AT(_ __VA_OPT__(, ) __VA_ARGS__, 16, 0, 15, 0, 14, 0, 13, 0, 12, 0, 11, 0, 10, 0, 9, 0, 8, 0, 7, 0,   \
		    6, 0, 5, 0, 4, 0, 3, 0, 2, 0, 1, 0, 0, 0)
#define SW_COUNT_AT(_0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,     \
		    a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, n, ...)                                \
	n

#define SW_PASTE_(a, b) a##b
#define SW_PASTE(a, b)	SW_PASTE_(a, b)

#define SW_PARAMS(...)		SW_PASTE(SW_PARAMS_, SW_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define SW_PARAMS_0()		void
#define SW_PARAMS_1(t, n)	t n
#define SW_PARAMS_2(t, n, ...)	t n, SW_PARAMS_1(__VA_ARGS__)
#define SW_PARAMS_3(t, n, ...)	t n, SW_PARAMS_2(__VA_ARGS__)
#define SW_PARAMS_4(t, n, ...)	t n, SW_PARAMS_3(__VA_ARGS__)
#define SW_PARAMS_5(t, n, ...)	t n, SW_PARAMS_4(__VA_ARGS__)
#define SW_PARAMS_6(t, n, ...)	t n, SW_PARAMS_5(__VA_ARGS__)
#define SW_PARAMS_7(t, n, ...)	t n, SW_PARAMS_6(__VA_ARGS__)
#define SW_PARAMS_8(t, n, ...)	t n, SW_PARAMS_7(__VA_ARGS__)
#define SW_PARAMS_9(t, n, ...)	t n, SW_PARAMS_8(__VA_ARGS__)
#define SW_PARAMS_10(t, n, ...) t n, SW_PARAMS_9(__VA_ARGS__)
#define SW_PARAMS_11(t, n, ...) t n, SW_PARAMS_10(__VA_ARGS__)
#define SW_PARAMS_12(t, n, ...) t n, SW_PARAMS_11(__VA_ARGS__)
#define SW_PARAMS_13(t, n, ...) t n, SW_PARAMS_12(__VA_ARGS__)
#define SW_PARAMS_14(t, n, ...) t n, SW_PARAMS_13(__VA_ARGS__)
#define SW_PARAMS_15(t, n, ...) t n, SW_PARAMS_14(__VA_ARGS__)

#define SW_ARGS(...) SW_PASTE(SW_ARGS_, SW_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define SW_ARGS_0()
#define SW_ARGS_1(t, n)	      n
#define SW_ARGS_2(t, n, ...)  n, SW_ARGS_1(__VA_ARGS__)
#define SW_ARGS_3(t, n, ...)  n, SW_ARGS_2(__VA_ARGS__)
#define SW_ARGS_4(t, n, ...)  n, SW_ARGS_3(__VA_ARGS__)
#define SW_ARGS_5(t, n, ...)  n, SW_ARGS_4(__VA_ARGS__)
#define SW_ARGS_6(t, n, ...)  n, SW_ARGS_5(__VA_ARGS__)
#define SW_ARGS_7(t, n, ...)  n, SW_ARGS_6(__VA_ARGS__)
#define SW_ARGS_8(t, n, ...)  n, SW_ARGS_7(__VA_ARGS__)
#define SW_ARGS_9(t, n, ...)  n, SW_ARGS_8(__VA_ARGS__)
#define SW_ARGS_10(t, n, ...) n, SW_ARGS_9(__VA_ARGS__)
#define SW_ARGS_11(t, n, ...) n, SW_ARGS_10(__VA_ARGS__)
#define SW_ARGS_12(t, n, ...) n, SW_ARGS_11(__VA_ARGS__)
#define SW_ARGS_13(t, n, ...) n, SW_ARGS_12(__VA_ARGS__)
#define SW_ARGS_14(t, n, ...) n, SW_ARGS_13(__VA_ARGS__)
#define SW_ARGS_15(t, n, ...) n, SW_ARGS_14(__VA_ARGS__)

/* SW_PLACES(sig): the names as enumerators sw_at_NAME, from 0 on. */
#define SW_PLACES(...)	       SW_PASTE(SW_PLACES_, SW_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define SW_PLACES_1(t, n)      sw_at_##n
#define SW_PLACES_2(t, n, ...) sw_at_##n, SW_PLACES_1(__VA_ARGS__)
#define SW_PLACES_3(t, n, ...) sw_at_##n, SW_PLACES_2(__VA_ARGS__)
#define SW_PLACES_4(t, n, ...) sw_at_##n, SW_PLACES_3(__VA_ARGS__)
#define SW_PLACES_5(t, n, ...) sw_at_##n, SW_PLACES_4(__VA_ARGS__)
#define SW_PLACES_6(t, n, ...) sw_at_##n, SW_PLACES_5(__VA_ARGS__)

#define SW_UNPAREN(...)	     __VA_ARGS__
#define SW_APPLY(macro, ...) macro(__VA_ARGS__)

#endif
