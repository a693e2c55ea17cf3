# SPDX-License-Identifier: Apache-2.0
# The man page of one command, from those parts of syncwatch.1 that concern it:
#
#     awk -f man_page.awk -v command=report syncwatch.1
#
# Its lines of SYNOPSIS, its entry of COMMANDS, the options that name it or no command, the rows of EXIT STATUS, and the
# sections in `extra` of this file.
BEGIN {
	sections["run"] = "READING A FINDING,SUPPRESSIONS,THE FILE .SYNCWATCH,PROCESSES,RANKS,ENVIRONMENT"
	sections["confirm"] = "CONFIRMING,READING A FINDING,SUPPRESSIONS,THE FILE .SYNCWATCH,ENVIRONMENT"
	sections["report"] = "READING A FINDING,SUPPRESSIONS,THE FILE .SYNCWATCH,ENVIRONMENT"
	sections["merge"] = "RANKS,SUPPRESSIONS,THE FILE .SYNCWATCH"
	sections["diff"] = "COMPARING RUNS,SUPPRESSIONS,THE FILE .SYNCWATCH"
	sections["pack"] = "PACKING"
	sections["calibrate"] = "CALIBRATION"
	split("run,confirm,report,merge,diff", list, ",")
	for (i in list)
		judges[list[i]] = 1
	count = split(sections[command], list, ",")
	for (i = 1; i <= count; i++)
		extra[list[i]] = 1
}
# The lines of an entry are kept until its end, when it is known whether it concerns the command.
function flush_entry() {
	if (entry != "" && (mine || !named))
		options = options entry
	entry = ""
	mine = named = 0
}
/^\.TH / { next }
/^\.SH / {
	flush_entry()
	section = substr($0, 5)
	gsub(/"/, "", section)
	gsub(/\\-/, "-", section)
	if (toupper(section) in extra)
		kept[section] = $0 "\n"
	if (toupper(section) in extra)
		order[++n] = section
	next
}
section == "SYNOPSIS" && index($0, "\\fBsyncwatch " command "\\fR") == 1 { synopsis = synopsis $0 "\n" }
section == "COMMANDS" {
	if ($0 == ".TP")
		next
	if ($0 ~ /^\.B syncwatch /)
		about = ($3 == command)
	else if (about)
		description = description $0 "\n"
}
section == "OPTIONS" {
	if ($0 == ".TP")
		flush_entry()
	entry = entry $0 "\n"
	if ($0 ~ /^\.RB \( /) {
		named = 1
		line = " " $0 " "
		gsub(/[()",]/, " ", line)
		if (index(line, " " command " "))
			mine = 1
	}
}
section == "EXIT STATUS" && /^\.TE/ { section = "" }
section == "EXIT STATUS" && /;/ && !/^tab/ {
	row = $0
	if (row ~ /\\fB[a-z]+\\fR: / && !index(row, "\\fB" command "\\fR: "))
		next
	sub(/\\fB[a-z]+\\fR: /, "", row)
	if (row ~ /^[0-9N]+;with \\-\\-error\\-exitcode/ && !(command in judges))
		next
	rows = rows row "\n"
}
toupper(section) in extra { kept[section] = kept[section] $0 "\n" }
END {
	if (description == "" || synopsis == "") {
		print "man_page.awk: syncwatch.1 says nothing of " command > "/dev/stderr"
		exit 1
	}
	text = description
	sub(/^[^A-Za-z]*/, "", text)
	summary = text
	sub(/[.:;]( |\n).*/, "", summary)
	gsub(/\n/, " ", summary)
	gsub(/\\f[BIRP]/, "", summary)
	printf "'\\\" t\n.\\\" SPDX-License-Identifier: Apache-2.0\n.TH SYNCWATCH-%s 1 \"\" \"syncwatch\" \"User Commands\"\n", toupper(command)
	printf ".SH NAME\nsyncwatch\\-%s \\- %s\n", command, tolower(substr(summary, 1, 1)) substr(summary, 2)
	printf ".SH SYNOPSIS\n.nf\n%s.fi\n.SH DESCRIPTION\n%s", synopsis, description
	printf ".SH OPTIONS\n%s", options
	for (i = 1; i <= n; i++)
		printf "%s", kept[order[i]]
	printf ".SH EXIT STATUS\n.TS\ntab(;);\nl l.\n%s.TE\n", rows
	print ".SH SEE ALSO\n.BR syncwatch (1),\n.BR libsyncwatch (7)"
}
