# format
