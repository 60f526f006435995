"""Robots seen in a browser: the scene, what it is moved by, the panels beside it. Needs the packages of mbros[viewer]."""
