# interception: the ways in, and the wrappers
