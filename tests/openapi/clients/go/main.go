// Takes orders through the client that openapi-generator makes for Go; prints what it saw.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	comanda "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func known(answer *comanda.OrderAnswer, _ any, err error) comanda.Order {
	if err != nil {
		fail(err)
	}
	return answer.Data
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	if refused, ok := err.(*comanda.GenericOpenAPIError); ok {
		fmt.Fprintln(os.Stderr, string(refused.Body()))
	}
	os.Exit(1)
}

func main() {
	configuration := comanda.NewConfiguration()
	configuration.Servers = comanda.ServerConfigurations{{URL: os.Getenv("COMANDA_URL")}}
	configuration.AddDefaultHeader("Authorization", "Bearer "+os.Getenv("COMANDA_KEY"))
	client := comanda.NewAPIClient(configuration)
	api := client.OrdersAPI
	ctx := context.Background()

	toPlace := comanda.NewOrderInput(comanda.TAKEAWAY)
	toPlace.SetComment("Sin cubiertos.")
	toPlace.SetOrderTitleNil()
	placed := known(toOrder(api.PlaceOrder(ctx).IdempotencyKey("go-1").OrderInput(*toPlace).Execute()))

	causa := comanda.NewComboInput(2, 18.5)
	causa.SetProductName("Causa limeña")
	banquet := comanda.NewComboInput(1, 1234567.89)
	banquet.SetProductName("Banquete")
	combos := comanda.NewCombosInput([]comanda.ComboInput{*causa, *banquet})
	filled := known(toOrder(api.AddCombos(ctx, placed.Id).CombosInput(*combos).Execute()))

	payment := comanda.NewPaymentInput()
	payment.SetPaymentMethodCode("cash")
	payment.SetAmount(filled.PendingAmount)
	payment.SetReceivedAmount(filled.PendingAmount + 13)
	paid := known(toOrder(api.AddPayment(ctx, placed.Id).PaymentInput(*payment).Execute()))

	read := known(toOrder(api.GetOrder(ctx, placed.Id).Execute()))
	listed, _, err := api.ListOrders(ctx).Sort("-created_at").FilterPaid(true).Execute()
	if err != nil {
		fail(err)
	}
	if listed.Data[0].Id != paid.Id {
		fail(fmt.Errorf("the order is not listed"))
	}

	other := known(toOrder(api.PlaceOrder(ctx).IdempotencyKey("go-2").OrderInput(*toPlace).Execute()))
	reason := comanda.NewOrderCancel("A try.")
	cancelled := known(toOrder(api.CancelOrder(ctx, other.Id).OrderCancel(*reason).Execute()))

	change := comanda.NewProductChange()
	change.SetDescription("Con ají")
	if _, _, err := client.MenuAPI.ChangeProduct(ctx, os.Getenv("COMANDA_PRODUCT")).ProductChange(*change).Execute(); err != nil {
		fail(err)
	}

	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"total": read.Total, "paid": read.Paid, "change": paid.Payments[0].ChangeAmount.Get(),
		"title": read.OrderTitle.Get(), "cancelled": cancelled.Status,
	})
}

// The raw answer has no part in the checks.
func toOrder[Raw any](answer *comanda.OrderAnswer, raw Raw, err error) (*comanda.OrderAnswer, any, error) {
	return answer, raw, err
}
