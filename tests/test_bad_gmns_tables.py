"""Lanes, segments, movements and signals of GMNS folders that cannot be meant: each in one line."""

from pathlib import Path

import pytest
from gmns_crossings import LINKS, crossing, eight_phases, tables
from gmns_texts import replaced
from test_bad_gmns import refused

from rushhour.roadnets.errors import NetworkError

LINE = "LINESTRING (700 1000, 1000 1000)"
GOOD = {
    **tables("signal"),
    **eight_phases(),
    "lane": "lane_id,link_id,lane_num,allowed_uses,width\na,wx,1,,3\nb,wx,2,,3\n",
    "segment_lane": "segment_lane_id,segment_id,lane_num,parent_lane_id,allowed_uses\n1,pw,-1,,\n",
    "links": LINKS.replace("lanes\n", "lanes,geometry_id\n")
    .replace(",2\n", ",2,g\n", 1)
    .replace(",2\n", ",2,\n"),
    "geometry": f'geometry_id,geometry\ng,"{LINE}"\n',
    "signal_coordination": "timing_plan_id,controller_id,coord_phase,coord_ref_to,offset\n"
    "day,c,2,begin_of_green,5\n",
}

BAD = {
    "lane.csv:3: lane of link 'wx': lane_num 1 is given twice": ("lane", "b,wx,2", "b,wx,1"),
    "lane_num 0; lanes count from 1": ("lane", "b,wx,2", "b,wx,0"),
    "lane_num '1.5'; give a whole number from -10 to 10": ("lane", "b,wx,2", "b,wx,1.5"),
    "lane.csv: 1 lanes of link 'q', which is not in link.csv": ("lane", "b,wx,2", "b,q,2"),
    "width '-3'": ("lane", "2,,3", "2,,-3"),
    "lane.csv: has no column lane_num": ("lane", "lane_num", "lane"),
    "segment.csv:3: segment_id 'pw' is given twice": ("segment", "pe,ex", "pw,ex"),
    "segment 'pw': unknown link 'q'": ("segment", "pw,wx", "pw,q"),
    "segment 'pw': ref_node_id 'n' is no end of link 'wx'": ("segment", "pw,wx,w", "pw,wx,n"),
    "start_lr 'nan'": ("segment", "w,220,", "w,nan,"),
    "l_lanes_added '99'": ("segment", "300,1,", "300,99,"),
    "14 lanes on link 'ex'; a link has at most 12": ("segment", "e,220,300,1,", "e,220,300,2,10"),
    "lane of segment 'q': no such segment": ("segment_lane", "1,pw", "1,q"),
    "unknown parent_lane_id 'z'": ("segment_lane", "-1,,", "-1,z,"),
    "lane_num 0 drops its parent lane": ("segment_lane", "-1,,", "0,,"),
    "unknown geometry_id 'h'; add it": ("links", "50,2,g", "50,2,h"),
    "lane of segment 'pw': lane_num -1 is given twice": ("segment_lane", "-1,,\n", "-1,,\n2,pw,-1,,\n"),
    "geometry.csv:2: geometry 'g': geometry 'POINT (1 2)'": ("geometry", LINE, "POINT (1 2)"),
    "movement 'wL': unknown node 'q'": ("movement", "wL,x", "wL,q"),
    "movement 'wL': unknown link 'q'": ("movement", "wL,x,wx", "wL,x,q"),
    "movement 'wL': link 'xn' does not end at node 'x'": ("movement", "wL,x,wx", "wL,x,xn"),
    "movement 'wL': link 'wx' does not start at node 'x'": ("movement", ",xn,1", ",wx,1"),
    "mvmt_id 'wL' is given twice": ("movement", "wT,x", "wL,x"),
    "has no mvmt_id": ("movement", "wT,x", ",x"),
    "start_ib_lane 'one'": ("movement", "wx,-1", "wx,one"),
    "movement.csv: has no column node_id": ("movement", "node_id", "node"),
    "timing plan 'day': unknown controller 'c'": ("signal_controller", "id\nc", "id\nk"),
    "cycle_length '1e9'": ("signal_timing_plan", "2359,", "2359,1e9"),
    "timing phase 'p1': unknown timing plan 'night'": ("signal_timing_phase", "p1,day", "p1,night"),
    "timing_phase_id 'p1' is given twice": ("signal_timing_phase", "p2,day", "p1,day"),
    "max_green '-1'": ("signal_timing_phase", "5,10,", "5,-1,"),
    "clearance 'inf'": ("signal_timing_phase", "10,5,", "10,inf,"),
    "ring ''; give a whole number": ("signal_timing_phase", "10,5,1,", "10,5,,"),
    "timing phase 'p77': is not in signal_timing_phase.csv": ("signal_phase_mvmt", "p1,eL", "p77,eL"),
    "unknown movement 'zz'": ("signal_phase_mvmt", "p1,eL", "p1,zz"),
    "serves nothing; give mvmt_id or link_id": ("signal_phase_mvmt", "p1,eL", "p1,"),
    "coordination of plan 'night'": ("signal_coordination", "day,c", "night,c"),
    "offset 'soon'": ("signal_coordination", "green,5", "green,soon"),
}  # fmt: skip


def test_the_good_tables_are_read(tmp_path: Path) -> None:
    network = crossing(tmp_path / "t", **{k: v for k, v in GOOD.items() if k != "config"})
    assert network.signal_ids == ("x",)


@pytest.mark.parametrize("message", BAD)
def test_a_table_that_cannot_be_meant_is_refused_in_one_line(tmp_path: Path, message: str) -> None:
    name, old, new = BAD[message]
    texts = dict(GOOD)
    texts[name] = replaced(texts[name], old, new)
    assert message in _refusal(tmp_path / "t", texts)


def test_more_than_an_intersection_or_a_link_can_have_is_refused_at_once(tmp_path: Path) -> None:
    texts = tables("")
    texts["movement"] = texts["movement"].splitlines()[0] + "\n"
    for i in range(15):
        texts["nodes"] += f"m{i},{1000 + 9 * i},1400,\n"
        texts["links"] += f"i{i},m{i},x,1,400,50,6\no{i},x,m{i},1,400,50,6\n"
        texts["movement"] += "".join(f"{i}-{k},x,i{i},1,6,o{k},1,6,thru,\n" for k in range(15))
    told = _refusal(tmp_path / "a", texts)
    assert "node.csv:2: node 'x': 1350 movements; an intersection has at most 400" in told
    many = GOOD["segment"] + "".join(f"s{i},wx,w,{i},300,,\n" for i in range(101))
    told = _refusal(tmp_path / "b", {**GOOD, "segment": many})
    assert "more than 100 segments of link 'wx'" in told


def _refusal(folder: Path, texts: dict[str, str]) -> str:
    with pytest.raises(NetworkError):
        crossing(folder, **texts)
    return refused(folder)
