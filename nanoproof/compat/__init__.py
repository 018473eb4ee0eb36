"""Classes under the names and constructors that users of LeanDojo know; thin, over the commands of this project."""
