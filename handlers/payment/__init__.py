"""The payment service's operations. A function here is the operation of its name in the document."""
