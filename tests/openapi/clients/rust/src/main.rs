//! Takes orders through the client that openapi-generator makes for Rust; prints what it saw.
use openapi::apis::configuration::Configuration;
use openapi::apis::{menu_api, orders_api};
use openapi::models::{
    ComboInput, CombosInput, Order, OrderCancel, OrderInput, PaymentInput, ProductChange, ServiceType,
};
use std::env;

async fn place(box_: &Configuration, key: &str) -> Result<Order, Box<dyn std::error::Error>> {
    let mut body = OrderInput::new(ServiceType::Takeaway);
    body.comment = Some(Some("Sin cubiertos.".to_string()));
    body.order_title = Some(None);
    Ok(*orders_api::place_order(box_, key, body, None).await?.data)
}

fn combo(name: &str, quantity: f64, price: f64) -> ComboInput {
    let mut combo = ComboInput::new(quantity, price);
    combo.product_name = Some(Some(name.to_string()));
    combo
}

async fn take_orders() -> Result<(), Box<dyn std::error::Error>> {
    let authority = reqwest::Certificate::from_pem(&std::fs::read(env::var("SSL_CERT_FILE")?)?)?;
    let mut at_box = Configuration::new();
    at_box.base_path = env::var("COMANDA_URL")?;
    at_box.bearer_access_token = Some(env::var("COMANDA_KEY")?);
    at_box.client = reqwest::Client::builder().add_root_certificate(authority).build()?;

    let placed = place(&at_box, "rust-1").await?;
    let id = placed.id.to_string();
    let combos = CombosInput::new(vec![combo("Causa limeña", 2.0, 18.5), combo("Banquete", 1.0, 1234567.89)]);
    let filled = orders_api::add_combos(&at_box, &id, combos, None, None, None).await?.data;
    let mut payment = PaymentInput::new();
    payment.payment_method_code = Some(Some("cash".to_string()));
    payment.amount = Some(Some(filled.pending_amount));
    payment.received_amount = Some(Some(filled.pending_amount + 13.0));
    let paid = orders_api::add_payment(&at_box, &id, payment, None, None, None).await?.data;
    let read = orders_api::get_order(&at_box, &id, None).await?.data;

    let other = place(&at_box, "rust-2").await?.id.to_string();
    let reason = OrderCancel::new("A try.".to_string());
    let cancelled = orders_api::cancel_order(&at_box, &other, reason, None, None, None).await?.data;
    let mut change = ProductChange::new();
    change.description = Some(Some("Con ají".to_string()));
    menu_api::change_product(&at_box, &env::var("COMANDA_PRODUCT")?, change, None).await?;
    println!(
        "{}",
        serde_json::json!({"total": read.total, "paid": read.paid, "change": paid.payments[0].change_amount,
                           "title": read.order_title, "cancelled": cancelled.status})
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(take_orders())
}
