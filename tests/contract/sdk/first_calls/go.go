package main

import (
	"context"
	"fmt"
	"os"

	sdk "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func main() {
	configuration := sdk.NewConfiguration()
	configuration.Servers = sdk.ServerConfigurations{{URL: "http://127.0.0.1:8080"}}
	ctx := context.WithValue(context.Background(), sdk.ContextAccessToken, os.Getenv("KEY"))
	order := sdk.NewInvoiceCreation("order-2001", 1, "1.5", "tusd-local")
	invoice, _, err := sdk.NewAPIClient(configuration).InvoicesAPI.CreateInvoice(ctx).
		IdempotencyKey("order-2001:1").InvoiceCreation(*order).Execute()
	if err != nil {
		panic(err)
	}
	fmt.Println(invoice.Status, invoice.Amount, invoice.DepositAddress)
}
