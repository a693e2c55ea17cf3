# preload
