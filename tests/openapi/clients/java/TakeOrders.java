// Takes orders through the client that openapi-generator makes for Java; prints what it saw.
import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.MenuApi;
import org.openapitools.client.api.OrdersApi;
import org.openapitools.client.model.ComboInput;
import org.openapitools.client.model.CombosInput;
import org.openapitools.client.model.Order;
import org.openapitools.client.model.OrderCancel;
import org.openapitools.client.model.OrderInput;
import org.openapitools.client.model.OrderPage;
import org.openapitools.client.model.PaymentInput;
import org.openapitools.client.model.ProductChange;
import org.openapitools.client.model.ServiceType;

public class TakeOrders {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("COMANDA_URL"));
    client.setBearerToken(System.getenv("COMANDA_KEY"));
    OrdersApi api = new OrdersApi(client);

    OrderInput toPlace =
        new OrderInput().serviceType(ServiceType.TAKEAWAY).comment("Sin cubiertos.").orderTitle(null);
    Order placed = api.placeOrder("java-1", toPlace, null).getData();
    CombosInput combos = new CombosInput().combos(List.of(
        new ComboInput().quantity(2.0).variantPrice(18.5).productName("Causa limeña"),
        new ComboInput().quantity(1.0).variantPrice(1234567.89).productName("Banquete")));
    Order filled = api.addCombos(placed.getId().toString(), combos, null, null, null).getData();
    double pending = filled.getPendingAmount();
    PaymentInput payment =
        new PaymentInput().paymentMethodCode("cash").amount(pending).receivedAmount(pending + 13);
    Order paid = api.addPayment(placed.getId().toString(), payment, null, null, null).getData();
    Order read = api.getOrder(placed.getId().toString(), null).getData();
    OrderPage listed = api.listOrders(1, 20, "-created_at", null, null, null, null, null, null, null, null, null,
        null, null, null, null, null, true, null, null, null, null, null, null);
    if (!listed.getData().get(0).getId().equals(paid.getId())) throw new Exception("the order is not listed");
    Order other = api.placeOrder("java-2", toPlace, null).getData();
    Order cancelled =
        api.cancelOrder(other.getId().toString(), new OrderCancel().reason("A try."), null, null, null).getData();
    new MenuApi(client).changeProduct(
        UUID.fromString(System.getenv("COMANDA_PRODUCT")), new ProductChange().description("Con ají"), null);
    System.out.printf(
        "{\"total\": %s, \"paid\": %s, \"change\": %s, \"title\": %s, \"cancelled\": \"%s\"}%n",
        new BigDecimal(read.getTotal().toString()).toPlainString(), read.getPaid(),
        paid.getPayments().get(0).getChangeAmount(), read.getOrderTitle(), cancelled.getStatus());
  }
}
