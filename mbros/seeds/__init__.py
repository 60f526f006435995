"""Which capability of the seed documents is served by what: one module of ROWS per owner, made into docs/seeds.md by a test."""
