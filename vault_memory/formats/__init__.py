"""What memories look like elsewhere: one format a module, each with `read` and, where it is of use, `write`."""
