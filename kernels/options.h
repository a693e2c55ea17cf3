/* SPDX-License-Identifier: Apache-2.0 */
/* Options and self-description of the programs in this folder.  Knows no CUDA: the driver-API program shares it. */
#ifndef KERNELS_OPTIONS_H
#define KERNELS_OPTIONS_H

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

class Options
{
      public:
	bool fixed = false;
	int repeat = 1;

	/*
	 * Reads the command line: [--fixed] [--repeat N] [VARIANT], or --help, or --list (the variants, one a line, "-"
	 * where there is only one way to run the program).  A variant is one or more words.  `shows` names the
	 * findings.
	 * --repeat makes the hot phase of a program that measures one (hot_begin) N times as long.
	 */
	Options(int argc, char **argv, const char *shows, const char *wrong, const char *corrected,
		std::initializer_list<const char *> variants = {})
	{
		std::string given;

		for (int i = 1; i < argc; i++) {
			if (!strcmp(argv[i], "--help"))
				help(argv[0], shows, wrong, corrected, variants);
			else if (!strcmp(argv[i], "--list"))
				list(variants);
			else if (!strcmp(argv[i], "--fixed"))
				fixed = true;
			else if (!strcmp(argv[i], "--repeat") && i + 1 < argc && atoi(argv[i + 1]) > 0)
				repeat = atoi(argv[++i]);
			else
				given += (given.empty() ? "" : " ") + std::string(argv[i]);
		}
		if (!known(given, variants)) {
			fprintf(stderr, "%s: unknown or missing variant '%s'; see --help\n", argv[0], given.c_str());
			exit(2);
		}
		variant = given;
		/* The simulated CUDA does not execute kernels: it is told how long they take. */
		setenv("SYNCWATCH_SIM_KERNEL_TIME", "spin*=3ms", 0);
	}

	/* Word `at` of the variant, from 0. */
	std::string word(int at) const
	{
		size_t from = 0;

		while (at-- > 0)
			from = variant.find(' ', from) + 1;
		return variant.substr(from, variant.find(' ', from) - from);
	}

	bool is(const char *name) const
	{
		return variant == name;
	}

	/* How many rounds a loop makes that has `once` of them without --repeat. */
	int rounds(int once) const
	{
		return once * repeat;
	}

      private:
	std::string variant;

	static bool known(const std::string &given, std::initializer_list<const char *> variants)
	{
		for (const char *v : variants)
			if (given == v)
				return true;
		return variants.size() == 0 && given.empty();
	}

	[[noreturn]] static void help(const char *name, const char *shows, const char *wrong, const char *corrected,
				      std::initializer_list<const char *> variants)
	{
		printf("usage: %s [--fixed] [--repeat N]%s | --help | --list\n\nShows: %s\nWrong: %s\nFixed: %s\n",
		       name, variants.size() ? " VARIANT" : "", shows, wrong, corrected);
		for (const char *v : variants)
			printf("variant: %s\n", v);
		exit(0);
	}

	[[noreturn]] static void list(std::initializer_list<const char *> variants)
	{
		if (!variants.size())
			puts("-");
		for (const char *v : variants)
			puts(v);
		exit(0);
	}
};

/*
 * The hot phase: what the mistake makes slower, from the first work to the moment at which all of it is done.  Its wall
 * time is printed as one line, "hot_ms 123.456", so that a saving that was predicted can be held against the one that
 * --fixed achieves.
 */
inline std::chrono::steady_clock::time_point hot_began;

inline void hot_begin()
{
	hot_began = std::chrono::steady_clock::now();
}

/* Call when the work is known to be done; only the first call after hot_begin() counts. */
inline void hot_end()
{
	if (hot_began == std::chrono::steady_clock::time_point())
		return;
	printf("hot_ms %.3f\n",
	       std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - hot_began).count());
	hot_began = {};
}

/* Work of a program on the CPU meanwhile: lasts as long, whatever the machine. */
inline void host_work(unsigned ns)
{
	const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(ns);

	while (std::chrono::steady_clock::now() < end)
		;
}

#endif
