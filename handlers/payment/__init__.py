"""The payment service's operations. Functions are named by their operationId."""
