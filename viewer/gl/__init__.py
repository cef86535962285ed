"""Drawing by OpenGL: the only files that import vispy.gloo."""
