"""Functions of GLSL over arrays: each says what the language says, or the text is refused."""

import numpy as np
import pytest

from rushhour.roadnets.errors import RunError
from rushhour.viewer.glsl import functions

X = np.linspace(-2.0, 2.0, 9)


def value(text: str, x: np.ndarray = X) -> np.ndarray:
    """What a function `f` of x comes to."""
    return np.asarray(functions(f"float f(float x) {{ {text} }}").f(x))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("return x > 0.5 ? 1.0 : x < -0.5 ? -1.0 : 0.0;", np.sign(np.trunc(X * 1.5))),
        ("float y = 1.0; if (x > 0.0) y = 2.0; return y;", np.where(X > 0.0, 2.0, 1.0)),
        ("float y = 1.0; if (x > 0.0) { float z = x; y = z; } return y;", np.where(X > 0, X, 1.0)),
        ("float y = 0.0; for (int k = 0; k < 3; k++) y = y + float(k) * x; return y;", 3.0 * X),
        ("float a = x, b = a * a; return b - a;", X * X - X),
        ("vec2 v = vec2(x, 1.0); v.y = -x; return v.x + v.y * 2.0;", -X),
        ("vec4 v = vec4(vec3(x), 1.0); v.rgb = v.rgb * 2.0; return v.r + v.a;", 2.0 * X + 1.0),
        ("return mod(x, 1.5);", np.mod(X, 1.5)),
        ("return length(vec2(x, 3.0));", np.hypot(X, 3.0)),
        ("return dot(normalize(vec2(3.0, 4.0)), vec2(x, x));", 1.4 * X),
        ("return smoothstep(0.0, 1.0, x);", np.where(X <= 0, 0, np.where(X >= 1, 1, X * X * (3 - 2 * X)))),
        ("return mix(2.0, 4.0, clamp(x, 0.0, 1.0));", 2.0 + 2.0 * np.clip(X, 0.0, 1.0)),
    ],
)  # fmt: skip
def test_a_text_says_what_the_language_says(text: str, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(value(text), wanted, atol=1e-12)


def test_one_condition_for_all_chooses_between_two_ways() -> None:
    text = "if (x > 0.0 || x < -1.0 && !(x < -3.0)) { return 1.0; } else return 2.0;"
    assert [value(text, np.array([x])).item() for x in (1.0, -0.5, -2.0, -4.0)] == [1, 2, 1, 2]


def test_what_is_given_stays_as_it_is() -> None:
    point = np.array([[1.0, -2.0], [3.0, 4.0]])
    before = point.copy()
    functions("float f(vec2 p) { p.x = abs(p.x); return p.x; }").f(point)
    np.testing.assert_array_equal(point, before)


@pytest.mark.parametrize(
    "text", ["mat2 f(float x) { return x; }", "float f(float x) { return x }", "float f(float x) { while (x) x; }"]
)  # fmt: skip
def test_what_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(RunError, match="shader"):
        functions(text)
