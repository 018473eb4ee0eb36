"""The dashboard: a Flask app over a run's event files."""
