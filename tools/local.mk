# the syncwatch command and the scripts that the README names
