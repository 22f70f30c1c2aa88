"""Words that users want to be alerted to."""
