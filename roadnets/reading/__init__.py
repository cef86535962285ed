"""What the readers of all formats share: values, tables and elements of files that are not trusted."""
