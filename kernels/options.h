/* SPDX-License-Identifier: Apache-2.0 */
/* Options and self-description of the programs in this folder.  Knows no CUDA: the driver-API program shares it. */
#ifndef KERNELS_OPTIONS_H
#define KERNELS_OPTIONS_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

class Options
{
      public:
	bool fixed = false;

	/*
	 * Reads the command line: [--fixed] [VARIANT], or --help, or --list (the variants, one a line, "-" where there
	 * is only one way to run the program).  A variant is one or more words.  `shows` names the findings.
	 */
	Options(int argc, char **argv, const char *shows, const char *wrong, const char *mended,
		std::initializer_list<const char *> variants = {})
	{
		std::string given;

		for (int i = 1; i < argc; i++) {
			if (!strcmp(argv[i], "--help"))
				help(argv[0], shows, wrong, mended, variants);
			else if (!strcmp(argv[i], "--list"))
				list(variants);
			else if (!strcmp(argv[i], "--fixed"))
				fixed = true;
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

      private:
	std::string variant;

	static bool known(const std::string &given, std::initializer_list<const char *> variants)
	{
		for (const char *v : variants)
			if (given == v)
				return true;
		return variants.size() == 0 && given.empty();
	}

	[[noreturn]] static void help(const char *name, const char *shows, const char *wrong, const char *mended,
				      std::initializer_list<const char *> variants)
	{
		printf("usage: %s [--fixed]%s | --help | --list\n\nShows: %s\nWrong: %s\nFixed: %s\n", name,
		       variants.size() ? " VARIANT" : "", shows, wrong, mended);
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

#endif
