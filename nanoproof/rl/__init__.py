"""Actors, matchmaker, replay buffer, collection and evaluation."""
