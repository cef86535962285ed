"""Studies on the workers of dask: the same bytes as here, also when workers die; and the jobs of Slurm."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from study_files import EIGHT, TABLES, folder_of_study, wants

from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.studies.engines import slurm_cluster
from rushhour.traffic.studies.study import study


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return folder_of_study(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as found:
        yield found


@pytest.mark.slow
def test_dask_gives_the_same_bytes_also_when_a_worker_is_killed(here: Path, cluster: Any) -> None:
    wants(EIGHT)
    killed: list[int] = []

    def progress(complete: int, failed: int, of: int) -> None:
        if complete == 2 and not killed:
            worker = next(iter(cluster.workers.values()))
            killed.append(worker.process.pid)
            os.kill(killed[0], signal.SIGKILL)

    address = cluster.scheduler_address.replace("tcp://", "dask://")
    found = study("study.toml", "on-dask", on=address, progress=progress, report=False)
    assert killed and found.failed == [] and len(found.table) == 8
    study("study.toml", "here", workers=0, report=False)
    for name in TABLES:
        assert (here / "on-dask" / name).read_bytes() == (here / "here" / name).read_bytes(), name


@pytest.mark.slow
def test_without_retries_a_run_whose_worker_is_killed_is_not_begun_again_on_dask(
    here: Path, cluster: Any
) -> None:
    wants(EIGHT)
    killed: list[int] = []

    def progress(complete: int, failed: int, of: int) -> None:
        if complete == 2 and not killed:
            for worker in cluster.workers.values():
                killed.append(worker.process.pid)
                os.kill(killed[-1], signal.SIGKILL)

    address = cluster.scheduler_address.replace("tcp://", "dask://")
    found = study("study.toml", "out", on=address, retries=0, progress=progress, report=False)
    assert 1 <= len(found.failed) <= 2 and len(found.table) == 8 - len(found.failed)
    for one in found.failed:
        assert "worker that ran it died" in one["why"] and one["tries"] == 1
    assert not list((here / "out").glob(".begun*"))
    again = study("study.toml", "out", on=address, retries=0, report=False)
    assert (again.ran, len(again.table)) == (len(found.failed), 8)


def test_a_slurm_profile_becomes_a_job_and_what_it_does_not_know_is_named(here: Path) -> None:
    pytest.importorskip("dask_jobqueue")
    profile = here / "slurm.toml"
    profile.write_text(
        'jobs = 3\ncores = 4\nprocesses = 4\nmemory = "8GB"\nqueue = "day"\naccount = "town"\nwalltime = "01:00:00"\n'
    )
    cluster, jobs = slurm_cluster(profile)
    with cluster:
        script = cluster.job_script()
    assert jobs == 3
    for line in ("#SBATCH -p day", "#SBATCH -A town", "#SBATCH -t 01:00:00", "--cpus-per-task=4"):
        assert line in script
    profile.write_text('jobs = 3\ncores = 4\nmemory = "8GB"\ncolour = "red"\n')
    with pytest.raises(RushhourError, match="dask-jobqueue refuses it .*colour"):
        slurm_cluster(profile)
    profile.write_text('cores = 4\nmemory = "8GB"\n')
    with pytest.raises(RushhourError, match="jobs = None: wanted how many jobs"):
        slurm_cluster(profile)
