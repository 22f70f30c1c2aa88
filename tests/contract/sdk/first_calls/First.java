import org.openapitools.client.ApiClient;
import org.openapitools.client.api.InvoicesApi;
import org.openapitools.client.model.Invoice;
import org.openapitools.client.model.InvoiceCreation;

public final class First {
    public static void main(String[] words) throws Exception {
        ApiClient client = new ApiClient().setBasePath("http://127.0.0.1:8080");
        client.setBearerToken(System.getenv("KEY"));
        InvoiceCreation order =
                new InvoiceCreation()
                        .externalOrderId("order-2001")
                        .attemptNo(1)
                        .amount("1.5")
                        .paymentMethodId("tusd-local");
        Invoice invoice = new InvoicesApi(client).createInvoice("order-2001:1", order);
        System.out.println(
                invoice.getStatus() + " " + invoice.getAmount() + " " + invoice.getDepositAddress());
        System.exit(0); // okhttp's threads wait for more calls
    }
}
