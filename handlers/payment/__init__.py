"""The payment service's operations. Functions bear their operationId."""
