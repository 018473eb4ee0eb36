"""Ground floor: configuration, run directories, event logs, distributed helpers."""
