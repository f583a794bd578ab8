"""Files of tables as they are: text of any encoding and dialect, workbooks, files of statistics programs."""
