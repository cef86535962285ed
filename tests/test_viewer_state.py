"""What keys and actions do to what is shown, without any window."""

import pytest

from rushhour.viewer import actions as do
from rushhour.viewer.camera import Camera
from rushhour.viewer.clock import PlaybackClock
from rushhour.viewer.keymap import KEYS, action_of, help_lines, key_name
from rushhour.viewer.view_state import ViewState, next_time, reduce

HOME = (0.0, 0.0, 100.0, 50.0)
STATE = ViewState(Camera(1.0, 2.0, 0.5, 400, 300), PlaybackClock(0.0, 60.0, 30.0), HOME)


def after(*given: do.Action, state: ViewState = STATE) -> ViewState:
    for action in given:
        state = reduce(state, action)
    return state


def test_time_is_played_skipped_and_sought():
    assert after(do.Play()).clock.playing and not after(do.Play(), do.Play()).clock.playing
    assert after(do.Skip(-10.0)).clock.time == 20.0
    assert after(do.Ends(True)).clock.time == 60.0 and after(do.Seek(-3.0)).clock.time == 0.0
    assert after(do.Rate(2)).clock.rate == 5.0 and after(do.Loop()).clock.loop


def test_following_needs_somebody_and_ends_with_a_pan():
    assert not after(do.Follow()).follow
    followed = after(do.Select(7), do.Follow())
    assert followed.follow and followed.selected == 7
    assert not after(do.Pan(1, 1), state=followed).follow
    assert not after(do.Select(None), state=followed).follow
    zoomed = after(do.Zoom(2.0, 0.0, 0.0), state=followed)  # who is followed stays in the middle
    assert (zoomed.camera.x, zoomed.camera.y, zoomed.camera.scale) == (1.0, 2.0, 0.25)


def test_colourings_go_round():
    names = {after(*[do.NextColour()] * k).colour for k in range(10)}
    assert len(names) == 10 and after(*[do.NextColour()] * 10).colour == STATE.colour
    assert after(do.NextColour(), do.NextColour(-1)) == STATE
    assert after(do.NextLanes()).lanes == "speed" and after(*[do.NextLanes()] * 6) == STATE


def test_bookmarks_are_kept_in_order_dropped_and_visited():
    marked = after(do.Mark(), do.Seek(10.0), do.Mark(), do.Seek(50.0), do.Mark())
    assert marked.bookmarks == (10.0, 30.0, 50.0)
    assert after(do.Mark(), state=marked).bookmarks == (10.0, 30.0)
    assert after(do.Jump("bookmark", True), state=marked).clock.time == 30.0
    assert after(do.Jump("bookmark"), state=marked).clock.time == 50.0
    assert next_time((1.0, 2.0), 2.0, False) is None


@pytest.mark.parametrize(
    "told", [("Space", " "), (" ", ""), ("Space", ""), ("SPACE", " ")], ids=str
)
def test_a_key_has_one_name_whatever_a_library_calls_it(told: tuple[str, str]):
    assert key_name(*told) == "space"


def test_letters_signs_and_arrows_are_told_apart():
    assert key_name("A", "a") == key_name("a") == key_name("A", "A", True) == "a"
    assert key_name("/", "?", True) == key_name("/", "", True) == "?"
    assert key_name("Left") == "left" and key_name("Escape") == "escape" and key_name(None) == ""


def test_every_key_of_the_help_does_what_it_says():
    for (key, shift), (_, action) in KEYS.items():
        assert action_of(key, shift, None) == action
    assert action_of("z", False, None) is None
    assert action_of("f", True, None) is None  # Shift with a letter is another key
    assert action_of("?", True, None) == do.Show("help")
    assert len(help_lines()) == len(KEYS) + 3


def test_an_id_is_typed_letter_by_letter():
    finding = ""
    for key, shift in (("c", True), ("a", False), ("x", False), ("backspace", False), ("7", False)):
        action = action_of(key, shift, finding)
        assert isinstance(action, do.Find) and action.text is not None
        finding = action.text
    assert finding == "Ca7"
    assert action_of("enter", False, finding) == do.Found()
    assert action_of("escape", False, finding) == do.Find(None)
    assert action_of("left", False, finding) is None
