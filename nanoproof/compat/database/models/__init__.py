"""What a database of LeanDojo-v2 holds, each in the module where it is known to be."""

from nanoproof.compat.database.models.annotations import AnnotatedTactic, Annotation
from nanoproof.compat.database.models.premises import Premise, PremiseFile
from nanoproof.compat.database.models.repository import Repository
from nanoproof.compat.database.models.theorems import Theorem

__all__ = ["AnnotatedTactic", "Annotation", "Premise", "PremiseFile", "Repository", "Theorem"]
