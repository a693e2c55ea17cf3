# the syncwatch command and the scripts that the README names
EXTRA_DIST += tools/deps tools/check tools/demo .ci/run
