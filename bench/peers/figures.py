"""What peers did on a machine of two cores, measured earlier with the same method.

PostgreSQL 15, gunicorn with two processes of four threads, 32 raters; 50,000 tasks imported and
150,000 answers exported through their own HTTP interface. Their statements include PostgreSQL's
checks of foreign keys, which ours leave out.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figures:
    name: str
    cycles_per_second: float
    cpu_ms_per_cycle: float
    statements_per_cycle: float
    import_seconds: float
    import_memory_mb: float
    export_seconds: float
    export_memory_mb: float

    def import_(self) -> dict[str, float]:
        return {"total_seconds": self.import_seconds, "peak_memory_mb": self.import_memory_mb}

    def export(self) -> dict[str, float]:
        return {"total_seconds": self.export_seconds, "peak_memory_mb": self.export_memory_mb}


EARLIER = [
    Figures("Turkle 3.1.0", 11.5, 139, 44, 23.9, 117, 137, 845),
    Figures("Label Studio 1.23.2", 8.1, 230, 133, 18.7, 426, 235, 1372),
]
