"""The vertex stage, and running of the shader stages that follow it."""
