"""Classes of LeanDojo-v2 by their known names, as thin wrappers, so that its scripts run after a changed import.

from nanoproof.compat.agent import HFAgent                   # was: from lean_dojo_v2.agent import HFAgent
from nanoproof.compat.database import DynamicDatabase        # was: from lean_dojo_v2.database import DynamicDatabase
"""
