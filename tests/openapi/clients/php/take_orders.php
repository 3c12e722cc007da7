<?php
// Takes orders through the client that openapi-generator makes for PHP; prints what it saw.
// Debian's Guzzle instead of Composer's, so the classes of the client are found here.
require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $name): void {
    $file = getenv('COMANDA_CLIENT') . '/lib/' . strtr(substr($name, strlen('OpenAPI\Client\\')), '\\', '/') . '.php';
    if (str_starts_with($name, 'OpenAPI\Client\\') && is_file($file)) {
        require $file;
    }
});

use OpenAPI\Client\Api\MenuApi;
use OpenAPI\Client\Api\OrdersApi;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\ComboInput;
use OpenAPI\Client\Model\CombosInput;
use OpenAPI\Client\Model\OrderCancel;
use OpenAPI\Client\Model\OrderInput;
use OpenAPI\Client\Model\PaymentInput;
use OpenAPI\Client\Model\ProductChange;
use OpenAPI\Client\Model\ServiceType;

$settings = Configuration::getDefaultConfiguration()->setHost(getenv('COMANDA_URL'))->setAccessToken(getenv('COMANDA_KEY'))
    ->setBooleanFormatForQueryString(Configuration::BOOLEAN_FORMAT_STRING);  // else true is sent as 1
$http = new GuzzleHttp\Client(['verify' => getenv('SSL_CERT_FILE')]);
$api = new OrdersApi($http, $settings);

$toPlace = new OrderInput(['service_type' => ServiceType::TAKEAWAY, 'comment' => 'Sin cubiertos.', 'order_title' => null]);
$placed = $api->placeOrder('php-1', $toPlace)->getData();
$filled = $api->addCombos($placed->getId(), new CombosInput(['combos' => [
    new ComboInput(['quantity' => 2, 'variant_price' => 18.5, 'product_name' => 'Causa limeña']),
    new ComboInput(['quantity' => 1, 'variant_price' => 1234567.89, 'product_name' => 'Banquete']),
]]))->getData();
$pending = $filled->getPendingAmount();
$paid = $api->addPayment($placed->getId(), new PaymentInput(
    ['payment_method_code' => 'cash', 'amount' => $pending, 'received_amount' => $pending + 13]))->getData();
$read = $api->getOrder($placed->getId())->getData();
$listed = $api->listOrders(sort: '-created_at', filter_paid: true)->getData();
if ($listed[0]->getId() !== $paid->getId()) {
    throw new Exception('the order is not listed');
}
$other = $api->placeOrder('php-2', $toPlace)->getData();
$cancelled = $api->cancelOrder($other->getId(), new OrderCancel(['reason' => 'A try.']))->getData();
(new MenuApi($http, $settings))->changeProduct(getenv('COMANDA_PRODUCT'), new ProductChange(['description' => 'Con ají']));
echo json_encode(['total' => $read->getTotal(), 'paid' => $read->getPaid(), 'change' => $paid->getPayments()[0]->getChangeAmount(),
    'title' => $read->getOrderTitle(), 'cancelled' => $cancelled->getStatus()]), "\n";
