"""The errors of todo. A refusal is an exception with the status and the code of its answer:

class OrderNotFound(Refusal):
    status, code, sentence = 404, "order_not_found", "There is no order {order_id}."
"""

from specd import ErrorTable

errors = ErrorTable()
