/* SPDX-License-Identifier: MIT */
/* each.h - EACH(f, int, char *) is f(2, int), f(1, char *); up to ten. */
#ifndef VINCI_UTIL_EACH_H
#define VINCI_UTIL_EACH_H

#define EACH1(f, t) f(1, t)
#define EACH2(f, t, ...) f(2, t), EACH1(f, __VA_ARGS__)
#define EACH3(f, t, ...) f(3, t), EACH2(f, __VA_ARGS__)
#define EACH4(f, t, ...) f(4, t), EACH3(f, __VA_ARGS__)
#define EACH5(f, t, ...) f(5, t), EACH4(f, __VA_ARGS__)
#define EACH6(f, t, ...) f(6, t), EACH5(f, __VA_ARGS__)
#define EACH7(f, t, ...) f(7, t), EACH6(f, __VA_ARGS__)
#define EACH8(f, t, ...) f(8, t), EACH7(f, __VA_ARGS__)
#define EACH9(f, t, ...) f(9, t), EACH8(f, __VA_ARGS__)
#define EACH10(f, t, ...) f(10, t), EACH9(f, __VA_ARGS__)

#define EACH_COUNT_(a, b, c, d, e, f, g, h, i, j, n, ...) n
#define EACH_COUNT(...) EACH_COUNT_(__VA_ARGS__, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, )
#define EACH_JOIN_(count, ...) EACH##count(__VA_ARGS__)
#define EACH_JOIN(count, ...) EACH_JOIN_(count, __VA_ARGS__)
#define EACH(f, ...) EACH_JOIN(EACH_COUNT(__VA_ARGS__), f, __VA_ARGS__)

#endif
