import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.stats.scales import ATANH, IDENTITY, LOG, LOG_ONE_MINUS, LOGIT, Scale

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

INSIDE = {
    LOGIT: st.floats(1e-3, 1 - 1e-3),
    LOG_ONE_MINUS: st.floats(-20, 1 - 1e-3),
    ATANH: st.floats(-1 + 1e-3, 1 - 1e-3),
    LOG: st.floats(1e-3, 1e4),
    IDENTITY: st.floats(-1e4, 1e4),
}
SCALES = pytest.mark.parametrize("scale", INSIDE, ids=lambda scale: scale.name)


@pytest.mark.parametrize(
    ("scale", "x", "forward", "slope"),
    [  # logit(.8) = log 4, slope 1/(.8·.2); -log(.25), 1/.25; artanh(.6) = log 2, 1/(1-.36); log 8, 1/8
        (LOGIT, 0.8, np.log(4), 6.25),
        (LOG_ONE_MINUS, 0.75, np.log(4), 4.0),
        (ATANH, 0.6, np.log(2), 1.5625),
        (LOG, 8.0, 3 * np.log(2), 0.125),
        (IDENTITY, -3.0, -3.0, 1.0),
    ],
)
def test_by_hand(scale: Scale, x: float, forward: float, slope: float) -> None:
    assert scale.forward(np.array(x)) == pytest.approx(forward, abs=1e-14)
    assert scale.derivative(np.array(x)) == pytest.approx(slope, rel=1e-14)


@SCALES
@given(data=st.data())
def test_inverse_undoes_forward(scale: Scale, data: st.DataObject) -> None:
    x = data.draw(INSIDE[scale])
    assert scale.inverse(scale.forward(np.array(x))) == pytest.approx(x, rel=1e-10, abs=1e-10)


@SCALES
@given(data=st.data())
def test_derivative_is_the_slope_of_forward(scale: Scale, data: st.DataObject) -> None:
    x = data.draw(INSIDE[scale])
    step = 1e-5 * min(1.0, abs(x) + 1e-3, *(abs(x - end) for end in scale.domain if np.isfinite(end)))
    above, below = scale.forward(np.array([x + step, x - step]))
    assert scale.derivative(np.array(x)) == pytest.approx((above - below) / (2 * step), rel=1e-5)


@SCALES
@given(data=st.data())
def test_forward_rises(scale: Scale, data: st.DataObject) -> None:
    low, high = sorted(data.draw(st.tuples(INSIDE[scale], INSIDE[scale])))
    assert scale.forward(np.array(low)) <= scale.forward(np.array(high))


@SCALES
def test_inverse_stays_in_the_closed_domain(scale: Scale) -> None:
    # 1e150: what a t quantile at a sliver of a degree of freedom makes of an end; overflow is silent
    low, high = scale.inverse(np.array([-1e150, 1e150]))
    assert scale.domain[0] <= low < high <= scale.domain[1]


@SCALES
def test_outside_the_domain_is_not_finite(scale: Scale) -> None:
    ends = np.array([end for end in scale.domain if np.isfinite(end)])
    beyond = ends + np.sign(ends - 0.5)
    assert not np.isfinite(scale.forward(ends)).any()
    assert not np.isfinite(scale.forward(beyond)).any()
