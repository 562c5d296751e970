"""A process that has its job for itself."""

from collections.abc import Callable, Mapping, Sequence

from dedup.store.records import NewUrl, QueuedUrl


class Alone:
    """`dedup.store.interface.Workers` of one process: nobody to wait for, and nothing to tell."""

    is_shared = False

    def try_begin(self, *, waits: bool) -> bool:  # noqa: ARG002 -- nobody else writes
        return True

    def end(self) -> None: ...

    def on_signatures(self, call: Callable[..., object]) -> None: ...

    def before_commit(self, call: Callable[[], object]) -> None: ...

    def queue_many(self, urls: Sequence[NewUrl]) -> list[tuple[str, QueuedUrl]]:
        raise NotImplementedError("a single process queues URLs one by one")

    def note_hosts(self) -> None: ...

    def beat(
        self,
        *,
        pages: int,  # noqa: ARG002 -- nobody asks
        pause: float = 0.0,  # noqa: ARG002
        paused: Mapping[str, float] | None = None,  # noqa: ARG002
    ) -> int:
        return 1

    def take_hosts(self, at_most: int) -> list[str]:  # noqa: ARG002 -- all are its own
        return []

    def free_hosts(self, pauses: Mapping[str, float]) -> None: ...

    def queued_hosts(self) -> list[str]:
        return []

    def fair_share(self) -> int:
        return 1

    def has_queued(self) -> bool:
        return False

    def has_waiting(self) -> bool:
        return False

    def leave(self, pauses: Mapping[str, float]) -> None: ...
