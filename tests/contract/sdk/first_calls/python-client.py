import os

from specd_payment_client import AuthenticatedClient
from specd_payment_client.api.invoices import create_invoice
from specd_payment_client.models import Invoice, InvoiceCreation

client = AuthenticatedClient(base_url="http://127.0.0.1:8080", token=os.environ["KEY"])
order = InvoiceCreation(
    external_order_id="order-2001", attempt_no=1, amount="1.5", payment_method_id="tusd-local"
)
invoice = create_invoice.sync(client=client, body=order, idempotency_key="order-2001:1")
assert isinstance(invoice, Invoice), invoice
print(invoice.status.value, invoice.amount, invoice.deposit_address)
