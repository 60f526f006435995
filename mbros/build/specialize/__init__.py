"""A robot compiled to code of its own: expression graphs, C made of them, and the compiler at hand."""
