# SPDX-License-Identifier: Apache-2.0
# awk -f driver_versions.awk cuda.def driver.def: rows SW_RT_ENTRY(name, version) for all that the runtime asks for.
# libcudart 13.0 asks for the newest version up to its own.
BEGIN {
	newest = 13000
	FS = "[(,] *|[)]"
	print "/* SPDX-License-Identifier: Apache-2.0 */"
	print "/* Made from cuda.def and driver.def by driver_versions.awk. */"
}
/^SW_CU(_PASS|_WAY)?[(]/ {
	while (NF < 6 && $0 !~ /[)]$/ && (getline line) > 0)
		$0 = $0 line
	name = $3
	gsub(/"/, "", name)
	since = ($1 == "SW_CU" ? $5 : $4) + 0
	if (since <= newest && since > version[name])
		version[name] = since
}
/^SW_RT_ASKS[(]/ {
	if (!version[$2]) {
		print FILENAME ": cuda.def has no version of " $2 > "/dev/stderr"
		exit failed = 1
	}
	print "SW_RT_ENTRY(" $2 ", " version[$2] ")"
}
/^SW_RT_ENTRY[(]/
/^#/ && FILENAME ~ /driver.def$/
END { exit failed }
