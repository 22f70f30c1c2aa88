"""The rehearsal of a whole installation on one machine: `scripts/cluster`."""
