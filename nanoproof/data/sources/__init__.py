"""Where data sets come from: catalogue, downloads and manifests."""
