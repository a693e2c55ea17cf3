# reader
