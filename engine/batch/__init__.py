"""Forms over tables: what is asked, of which rows, how it runs, and what comes out."""
