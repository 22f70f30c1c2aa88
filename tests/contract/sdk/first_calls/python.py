import os

from specd_payment import ApiClient, Configuration, InvoiceCreation, InvoicesApi

configuration = Configuration(host="http://127.0.0.1:8080", access_token=os.environ["KEY"])
order = InvoiceCreation(
    external_order_id="order-2001", attempt_no=1, amount="1.5", payment_method_id="tusd-local"
)
invoice = InvoicesApi(ApiClient(configuration)).create_invoice("order-2001:1", order)
print(invoice.status.value, invoice.amount, invoice.deposit_address)
