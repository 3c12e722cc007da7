// Takes orders through the client that openapi-generator makes for Kotlin with kotlinx.serialization; prints what it saw.
import java.util.UUID
import org.openapitools.client.apis.MenuApi
import org.openapitools.client.apis.OrdersApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.ComboInput
import org.openapitools.client.models.CombosInput
import org.openapitools.client.models.OrderCancel
import org.openapitools.client.models.OrderInput
import org.openapitools.client.models.PaymentInput
import org.openapitools.client.models.ProductChange
import org.openapitools.client.models.ServiceType

fun main() {
    // Else it sends its unset fields as null, and a PATCH clears them.
    Serializer.kotlinxSerializationJsonConfiguration = { explicitNulls = false }
    ApiClient.accessToken = System.getenv("COMANDA_KEY")
    val api = OrdersApi(System.getenv("COMANDA_URL"))

    val toPlace = OrderInput(serviceType = ServiceType.TAKEAWAY, comment = "Sin cubiertos.", orderTitle = null)
    val placed = api.placeOrder("kotlin-1", toPlace).data
    val filled = api.addCombos(placed.id.toString(), CombosInput(listOf(
        ComboInput(quantity = 2.0, variantPrice = 18.5, productName = "Causa limeña"),
        ComboInput(quantity = 1.0, variantPrice = 1234567.89, productName = "Banquete")))).data
    val paid = api.addPayment(placed.id.toString(), PaymentInput(
        paymentMethodCode = "cash", amount = filled.pendingAmount, receivedAmount = filled.pendingAmount + 13)).data
    val read = api.getOrder(placed.id.toString()).data
    val listed = api.listOrders(sort = "-created_at", filterPaid = true)
    check(listed.`data`[0].id == paid.id) { "the order is not listed" }

    val other = api.placeOrder("kotlin-2", toPlace).data
    val cancelled = api.cancelOrder(other.id.toString(), OrderCancel("A try.")).data
    MenuApi(System.getenv("COMANDA_URL"))
        .changeProduct(UUID.fromString(System.getenv("COMANDA_PRODUCT")), ProductChange(description = "Con ají"))
    println("""{"total": ${read.total.toBigDecimal().toPlainString()}, "paid": ${read.paid}, "change": """ +
        """${paid.payments[0].changeAmount}, "title": ${read.orderTitle}, "cancelled": "${cancelled.status.value}"}""")
}
