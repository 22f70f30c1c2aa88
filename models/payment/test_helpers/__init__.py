"""Test helpers: merchants simulate payments and failures to test their shops."""
