"""What our HTTP servers share: waitress with limits, JSON in and out, who may call, metrics, an orderly end."""
