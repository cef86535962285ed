"""The arrays of a world are made as their classes say."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import Vehicles
from rushhour.traffic.sim.fields import dtype_of
from rushhour.traffic.sim.state import new_vehicles


@pytest.mark.parametrize(
    "annotation",
    [
        NDArray[np.float32],
        np.ndarray[Any, np.dtype[np.float32]],
        tuple[np.float32],  # has one argument, as numpy's own alias from 2.5 on
    ],
)
def test_the_dtype_of_a_field_is_that_of_its_annotation(annotation: Any) -> None:
    assert dtype_of(annotation) is np.float32


def test_every_column_of_vehicles_has_a_row_for_each_and_nobody_is_on_a_lane() -> None:
    veh = new_vehicles(7)
    assert all(len(column) == 7 for column in veh)
    assert (veh.lane == -1).all()
    kinds = {name: getattr(veh, name).dtype for name in Vehicles._fields}
    assert kinds["lane"] == np.int32 and kinds["speed"] == np.float64
