"""Forms over tables: reading tables, rendering rows, running, exporting, analysing."""
