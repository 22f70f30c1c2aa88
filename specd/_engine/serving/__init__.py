"""The running server: application, worker, probes, metrics, logs."""
