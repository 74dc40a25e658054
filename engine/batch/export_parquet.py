"""A run as Parquet: typed columns, a batch of rows in memory at a time, the manifest in the file's metadata."""

from __future__ import annotations

from itertools import batched
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from engine.batch.export_rows import ExportTable
from engine.batch.manifest import manifest_text
from engine.store.runs import RunView

GROUP = 20_000  # rows of a row group
METADATA = b"diffusion_desk.manifest"


def write_parquet(table: ExportTable, part: Path, view: RunView) -> None:
    """Write all rows."""
    kinds = {"text": pa.string(), "number": pa.float64(), "count": pa.int64(), "truth": pa.bool_()}
    fields = [pa.field(name, kinds[kind]) for name, kind in zip(table.names, table.types, strict=True)]
    schema = pa.schema(fields, metadata={METADATA: manifest_text(view).encode()})
    with pq.ParquetWriter(part, schema, compression="zstd") as writer:
        for rows in batched(table.rows(), GROUP):
            columns = [
                pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), schema, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
