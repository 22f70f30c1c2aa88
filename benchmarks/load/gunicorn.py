"""The gunicorn configuration of every server; the command line adds bind, workers and the app."""

worker_class = "benchmarks.load.worker.Worker"
control_socket_disable = True
accesslog = None
loglevel = "warning"
keepalive = 5
graceful_timeout = 3
timeout = 30
