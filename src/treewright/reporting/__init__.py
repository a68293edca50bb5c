"""The report of a tree as plain values (report), and the interactive page that shows it (html_page, page/*.js)."""
