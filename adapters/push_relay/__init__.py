"""The push relay: delivers encrypted notifications to the push services of phones."""
