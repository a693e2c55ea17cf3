/* SPDX-License-Identifier: Apache-2.0 */
#include "help/completion.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "detect/detect.h"

static const struct {
	const char *name, *operands, *text;
	int bit;
} commands[] = {
#define SW_COMMAND_ROW(name, upper, operands, text) {#name, operands, text, SW_FOR_##upper},
	SW_COMMANDS(SW_COMMAND_ROW)
#undef SW_COMMAND_ROW
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

enum values { NONE, FILES, WORDS, ANY };

/* Kinds of values of an option: a file, one of some words ("text|json"), or free text. */
static enum values values_of(const struct sw_option_info *option)
{
	const char *argument = option->argument;
	if (!argument || option->optional)
		return NONE;
	if (strcmp(argument, "FILE") == 0 || strcmp(argument, "TRACE") == 0 || strcmp(argument, "FILE|none") == 0)
		return FILES;
	return strchr(argument, '|') ? WORDS : ANY;
}

/* Prints the choices of an option as words: "text|json" -> "text json". */
static void put_words(const char *argument)
{
	for (; *argument; argument++)
		putchar(*argument == '|' ? ' ' : *argument);
}

/* Prints text in single quotes, with a backslash before what zsh's _arguments takes apart (`special`). */
static void put_quoted(const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'') {
			fputs("'\\''", stdout);
			continue;
		}
		if (strchr(special, *text))
			putchar('\\');
		putchar(*text);
	}
}

/* Prints the words that `explain` takes. */
static void put_findings(void)
{
	const struct sw_finding_info *info;
	fputs("terms", stdout);
	for (size_t i = 0; (info = sw_finding_info_at(i)); i++)
		printf(" SW%03d %s", info->number, info->kind);
}

/* Prints the names of all commands. */
static void put_commands(void)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("%s%s", i ? " " : "", commands[i].name);
}

/* ---- bash -------------------------------------------------------------------------------------------------------- */

/* Prints which options of a command take a value, and of which kind. */
static void bash_values(size_t command)
{
	struct sw_option_info option;
	for (size_t i = 0; sw_option_info(i, &option); i++) {
		enum values values = values_of(&option);
		if (!(option.commands & commands[command].bit) || values == NONE)
			continue;
		printf("\t%s:--%s", commands[command].name, option.name);
		if (option.letter)
			printf("|%s:-%c", commands[command].name, option.letter);
		fputs(") ", stdout);
		if (values == FILES)
			fputs("_syncwatch_files \"$current\"", stdout);
		if (values == WORDS) {
			fputs("mapfile -t COMPREPLY < <(compgen -W '", stdout);
			put_words(option.argument);
			fputs("' -- \"$current\")", stdout);
		}
		puts(values == ANY ? "return ;;" : "; return ;;");
	}
}

/* Prints the options of a command. */
static void bash_options(size_t command)
{
	struct sw_option_info option;
	printf("\t%s:-*) mapfile -t COMPREPLY < <(compgen -W '", commands[command].name);
	for (size_t i = 0; sw_option_info(i, &option); i++)
		if (option.commands & commands[command].bit)
			printf("--%s ", option.name);
	puts("' -- \"$current\"); return ;;");
}

/* Prints the completion for bash. */
static void print_bash(void)
{
	puts("# bash completion for syncwatch, made by 'syncwatch help --completion bash'\n"
	     "_syncwatch_files() {\n"
	     "\tcompopt -o filenames 2>/dev/null\n"
	     "\tmapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n"
	     "}\n"
	     "_syncwatch() {\n"
	     "\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} "
	     "command=${COMP_WORDS[1]}\n"
	     "\tCOMPREPLY=()\n"
	     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then");
	fputs("\t\tmapfile -t COMPREPLY < <(compgen -W '", stdout);
	put_commands();
	puts(" --help --version' -- \"$current\")\n\t\treturn\n\tfi\n\tcase $command:$previous in");
	for (size_t i = 0; i < N_COMMANDS; i++)
		bash_values(i);
	puts("\tesac\n\tcase $command:$current in");
	for (size_t i = 0; i < N_COMMANDS; i++)
		bash_options(i);
	fputs("\texplain:*) mapfile -t COMPREPLY < <(compgen -W '", stdout);
	put_findings();
	fputs("' -- \"$current\") ;;\n\thelp:*) mapfile -t COMPREPLY < <(compgen -W '", stdout);
	put_commands();
	puts("' -- \"$current\") ;;\n"
	     "\trun:*) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -c -f -- \"$current\") ;;\n"
	     "\t*) _syncwatch_files \"$current\" ;;\n"
	     "\tesac\n"
	     "}\n"
	     "complete -F _syncwatch syncwatch");
}

/* ---- zsh --------------------------------------------------------------------------------------------------------- */

/* Prints an option for zsh's _arguments. */
static void zsh_option(const struct sw_option_info *option)
{
	enum values values = values_of(option);
	if (option->letter)
		printf("\t\t\t'(-%c --%s)'{-%c,--%s%s}'[", option->letter, option->name, option->letter, option->name,
		       values == NONE ? "" : "=");
	else
		printf("\t\t\t'--%s%s[", option->name, option->optional ? "=-" : values == NONE ? "" : "=");
	put_quoted(option->help, "[]\\:");
	putchar(']');
	if (values == FILES)
		fputs(":file:_files", stdout);
	if (values == ANY)
		printf(":%s:", option->argument);
	if (values == WORDS) {
		fputs(":value:(", stdout);
		put_words(option->argument);
		putchar(')');
	}
	puts("' \\");
}

/* Prints the options and operands of a command. */
static void zsh_command(size_t command)
{
	struct sw_option_info option;
	printf("\t%s)\n\t\t_arguments -s -S \\\n", commands[command].name);
	for (size_t i = 0; sw_option_info(i, &option); i++)
		if (option.commands & commands[command].bit)
			zsh_option(&option);
	fputs("\t\t\t", stdout);
	if (commands[command].bit & (SW_FOR_RUN | SW_FOR_CONFIRM)) {
		puts("'*::program:_normal' ;;");
	} else if (commands[command].bit == SW_FOR_EXPLAIN || commands[command].bit == SW_FOR_HELP) {
		fputs("'1:what:(", stdout);
		if (commands[command].bit == SW_FOR_HELP)
			put_commands();
		else
			put_findings();
		puts(")' ;;");
	} else {
		puts("'*:file:_files' ;;");
	}
}

/* Prints the completion for zsh. */
static void print_zsh(void)
{
	puts("#compdef syncwatch\n# zsh completion for syncwatch, made by 'syncwatch help --completion zsh'\n"
	     "_syncwatch() {\n\tlocal -a commands\n\tcommands=(");
	for (size_t i = 0; i < N_COMMANDS; i++) {
		printf("\t\t'%s:", commands[i].name);
		put_quoted(commands[i].text, "\\:");
		puts("'");
	}
	puts("\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
	     "\tlocal command=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $command in");
	for (size_t i = 0; i < N_COMMANDS; i++)
		zsh_command(i);
	puts("\tesac\n}\n_syncwatch \"$@\"");
}

/* ---- fish -------------------------------------------------------------------------------------------------------- */

/* Prints an option for fish. */
static void fish_option(const struct sw_option_info *option)
{
	enum values values = values_of(option);
	fputs("complete -c syncwatch -n '__fish_seen_subcommand_from", stdout);
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (option->commands & commands[i].bit)
			printf(" %s", commands[i].name);
	printf("' -l %s", option->name);
	if (option->letter)
		printf(" -s %c", option->letter);
	fputs(values == FILES ? " -r -F" : values == NONE ? "" : " -x", stdout);
	if (values == WORDS) {
		fputs(" -a '", stdout);
		put_words(option->argument);
		putchar('\'');
	}
	fputs(" -d '", stdout);
	for (const char *p = option->help; *p; p++)
		printf(*p == '\'' || *p == '\\' ? "\\%c" : "%c", *p);
	puts("'");
}

/* Prints the completion for fish. */
static void print_fish(void)
{
	struct sw_option_info option;
	puts("# fish completion for syncwatch, made by 'syncwatch help --completion fish'");
	for (size_t i = 0; i < N_COMMANDS; i++) {
		printf("complete -c syncwatch -f -n __fish_use_subcommand -a %s -d '", commands[i].name);
		for (const char *p = commands[i].text; *p; p++)
			printf(*p == '\'' || *p == '\\' ? "\\%c" : "%c", *p);
		puts("'");
	}
	for (size_t i = 0; sw_option_info(i, &option); i++)
		fish_option(&option);
	fputs("complete -c syncwatch -f -n '__fish_seen_subcommand_from explain' -a '", stdout);
	put_findings();
	fputs("'\ncomplete -c syncwatch -f -n '__fish_seen_subcommand_from help' -a '", stdout);
	put_commands();
	puts("'");
}

/* Prints the completion for this shell; false: it is not supported. */
bool sw_completion_print(const char *shell)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
	for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
		if (strcmp(shells[i].name, shell) == 0) {
			shells[i].print();
			return true;
		}
	return false;
}
