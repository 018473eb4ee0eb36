"""Provers and replicas of the policy that come and go, on Ray (the extra `cluster`); nothing else imports this."""
