"""The catalog of data sets, the hosts they are downloaded from, and manifests of what is on disk."""
