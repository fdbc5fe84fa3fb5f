"""How a page is made: blocks, tables, figures and numbers as one self-contained HTML file."""
