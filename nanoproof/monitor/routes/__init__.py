"""The routes of the monitor's API, one file for each part of it; all of them only read."""
