# Takes orders through the client that openapi-generator makes for Ruby; prints what it saw.
require 'json'
require 'uri'
require 'openapi_client'

OpenapiClient.configure do |settings|
  box = URI(ENV.fetch('COMANDA_URL'))
  settings.scheme = box.scheme
  settings.host = "#{box.host}:#{box.port}"
  settings.server_index = nil
  settings.access_token = ENV.fetch('COMANDA_KEY')
  settings.ssl_ca_cert = ENV.fetch('SSL_CERT_FILE')
end
api = OpenapiClient::OrdersApi.new

to_place = OpenapiClient::OrderInput.new(service_type: 'TAKEAWAY', comment: 'Sin cubiertos.', order_title: nil)
placed = api.place_order('ruby-1', to_place).data
filled = api.add_combos(placed.id, OpenapiClient::CombosInput.new(combos: [
  OpenapiClient::ComboInput.new(quantity: 2, variant_price: 18.5, product_name: 'Causa limeña'),
  OpenapiClient::ComboInput.new(quantity: 1, variant_price: 1234567.89, product_name: 'Banquete')
])).data
paid = api.add_payment(placed.id, OpenapiClient::PaymentInput.new(
  payment_method_code: 'cash', amount: filled.pending_amount, received_amount: filled.pending_amount + 13
)).data
read = api.get_order(placed.id).data
listed = api.list_orders(sort: '-created_at', filter_paid: true).data
raise 'the order is not listed' unless listed.first.id == paid.id

other = api.place_order('ruby-2', to_place).data
cancelled = api.cancel_order(other.id, OpenapiClient::OrderCancel.new(reason: 'A try.')).data
OpenapiClient::MenuApi.new.change_product(ENV.fetch('COMANDA_PRODUCT'), OpenapiClient::ProductChange.new(description: 'Con ají'))
puts JSON.generate(total: read.total, paid: read.paid, change: paid.payments.first.change_amount, title: read.order_title,
                   cancelled: cancelled.status)
