"""The push relay: hands encrypted notifications to the push services of phones."""
