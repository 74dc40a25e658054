"""From a machine to a launch: the arithmetic of memory, the plan, the command line, the fixes that it rests on."""
