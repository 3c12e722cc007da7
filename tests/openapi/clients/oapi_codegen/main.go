// Takes orders through the client that oapi-codegen makes; prints what it saw.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/google/uuid"
	"take_orders/comanda"
)

// The order of an answer; ends the program where the box refused.
func known(order *comanda.OrderAnswer, body []byte, err error) comanda.Order {
	if err != nil || order == nil {
		fmt.Fprintln(os.Stderr, err, string(body))
		os.Exit(1)
	}
	return order.Data
}

func text(value string) *string { return &value }

func main() {
	withKey := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("COMANDA_KEY"))
		return nil
	}
	api, err := comanda.NewClientWithResponses(os.Getenv("COMANDA_URL"), comanda.WithRequestEditorFn(withKey))
	if err != nil {
		panic(err)
	}
	ctx := context.Background()

	place := func(key string) comanda.Order {
		body := comanda.OrderInput{ServiceType: comanda.TAKEAWAY, Comment: text("Sin cubiertos."), OrderTitle: nil}
		answer, err := api.PlaceOrderWithResponse(ctx, &comanda.PlaceOrderParams{IdempotencyKey: key}, body)
		return known(answer.JSON201, answer.Body, err)
	}
	placed := place("oapi-codegen-1")
	id := placed.Id.String()
	combos := []comanda.ComboInput{
		{Quantity: 2, VariantPrice: 18.5, ProductName: text("Causa limeña")},
		{Quantity: 1, VariantPrice: 1234567.89, ProductName: text("Banquete")},
	}
	added, err := api.AddCombosWithResponse(ctx, id, nil, comanda.CombosInput{Combos: combos})
	filled := known(added.JSON200, added.Body, err)
	received := filled.PendingAmount + 13
	answered, err := api.AddPaymentWithResponse(ctx, id, nil, comanda.PaymentInput{
		PaymentMethodCode: text("cash"), Amount: &filled.PendingAmount, ReceivedAmount: &received})
	paid := known(answered.JSON200, answered.Body, err)
	got, err := api.GetOrderWithResponse(ctx, id, nil)
	read := known(got.JSON200, got.Body, err)
	listed, err := api.ListOrdersWithResponse(ctx, &comanda.ListOrdersParams{Sort: text("-created_at")})
	if err != nil || listed.JSON200 == nil || listed.JSON200.Data[0].Id != placed.Id {
		fmt.Fprintln(os.Stderr, "the order is not listed", err)
		os.Exit(1)
	}
	other := place("oapi-codegen-2")
	ended, err := api.CancelOrderWithResponse(ctx, other.Id.String(), nil, comanda.OrderCancel{Reason: "A try."})
	cancelled := known(ended.JSON200, ended.Body, err)

	product := uuid.MustParse(os.Getenv("COMANDA_PRODUCT"))
	changed, err := api.ChangeProductWithResponse(ctx, product, nil, comanda.ProductChange{Description: text("Con ají")})
	if err != nil || changed.JSON200 == nil {
		fmt.Fprintln(os.Stderr, "the product is not changed", err)
		os.Exit(1)
	}

	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"total": read.Total, "paid": read.Paid, "change": paid.Payments[0].ChangeAmount, "title": read.OrderTitle,
		"cancelled": cancelled.Status,
	})
}
