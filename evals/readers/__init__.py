"""Readers: files in, plain data out. Each knows one format; `discover` knows the layouts of folders."""
