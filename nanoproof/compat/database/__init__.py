"""`DynamicDatabase` and what it holds."""

from nanoproof.compat.database.dynamic_database import DynamicDatabase
from nanoproof.compat.database.models import AnnotatedTactic, Annotation, Premise, PremiseFile, Repository, Theorem

__all__ = ["AnnotatedTactic", "Annotation", "DynamicDatabase", "Premise", "PremiseFile", "Repository", "Theorem"]
