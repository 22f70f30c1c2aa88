"""What an operation costs in process, beside the least that its statements and bytes can cost."""
