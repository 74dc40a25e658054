"""Qt widgets over plain data. They know Qt and ``engine.domain``; nothing here awaits."""
