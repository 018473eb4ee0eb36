"""Loop pieces that the training stages share."""
