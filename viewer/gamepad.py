"""The first gamepad, where glfw shows the window and somebody has one."""

import warnings
from typing import NamedTuple


class Pressed(NamedTuple):
    """What is pressed, -1 to 1."""

    throttle: float  # right trigger less left trigger
    steer: float  # left stick, left positive
    hand_brake: bool  # the button A


def pressed_gamepad() -> Pressed | None:
    """What the first gamepad says; None where there is none, or no window of glfw."""
    try:
        import glfw
    except ImportError:
        return None
    try:
        with warnings.catch_warnings():  # glfw warns where no window of it is open
            warnings.simplefilter("ignore")
            there = glfw.joystick_is_gamepad(glfw.JOYSTICK_1)
        if not there:
            return None
        state = glfw.get_gamepad_state(glfw.JOYSTICK_1)
    except glfw.GLFWError:  # glfw was not begun: the window is another one's
        return None
    if state is None:
        return None
    axes = state.axes
    gas = 0.5 * (axes[glfw.GAMEPAD_AXIS_RIGHT_TRIGGER] + 1.0)
    brake = 0.5 * (axes[glfw.GAMEPAD_AXIS_LEFT_TRIGGER] + 1.0)
    return Pressed(
        gas - brake,
        -float(axes[glfw.GAMEPAD_AXIS_LEFT_X]),
        bool(state.buttons[glfw.GAMEPAD_BUTTON_A]),
    )
