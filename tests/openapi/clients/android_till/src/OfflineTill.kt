// An Android till's client for Comanda with an offline queue: OkHttp and org.json, which Android has itself (here, on a
// plain JVM, it comes from Maven). On Android, the screen calls open() to close(), a worker calls sendAll() when there is a
// network (WorkManager), and network_security_config.xml has the app trust the box (README). The key has the role `till`.
//
// The queue is a file of lines, each written and synced before the call returns. A sale's steps keep their
// Idempotency-Keys: after a cut line, a crash or an empty battery the same requests are sent again, and the box answers
// each with what it answered first.

import java.io.Closeable
import java.io.File
import java.io.IOException
import java.io.RandomAccessFile
import java.math.BigDecimal
import java.time.Duration
import java.time.Instant
import java.util.UUID
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import org.json.JSONArray
import org.json.JSONException
import org.json.JSONObject

/** One request of a sale. `path` has "{order}" and "{1}", "{2}", … in the place of the ids of the order and its lines. */
class Step(val method: String, val path: String, val body: String, val key: String, val at: String)

class Sale(val id: String, val steps: MutableList<Step> = mutableListOf(), var sent: Int = 0, var orderId: String = "",
           var lineIds: List<String> = listOf(), var problem: String = "")

/** An answer without a record. `laterMs`: the same request may succeed after that time. */
class Answer(val status: Int, why: String, val laterMs: Long? = null) : IOException("$status $why")

/** The sales on disk. Lines: {"step": sale, …}, {"done": sale, "order": id, "lines": ids}, {"parked": sale, "why": …}. */
class Queue(file: File) : Closeable {
    private val sales = LinkedHashMap<String, Sale>()
    private val disk = RandomAccessFile(file, "rw")

    init {
        val bytes = ByteArray(disk.length().toInt()).also(disk::readFully)
        // A line without an end was being written when the power went: it was never promised.
        val whole = bytes.lastIndexOf('\n'.code.toByte()) + 1
        String(bytes, 0, whole).lineSequence().filter(String::isNotEmpty).forEach { apply(JSONObject(it)) }
        disk.setLength(whole.toLong())
        disk.seek(whole.toLong())
    }

    private fun apply(line: JSONObject) {
        val text = line::getString
        when {
            line.has("step") -> sales.getOrPut(text("step")) { Sale(text("step")) }
                .steps.add(Step(text("method"), text("path"), text("body"), text("key"), text("at")))
            line.has("done") -> sales.getValue(text("done"))
                .apply { sent++; orderId = text("order"); lineIds = line.getJSONArray("lines").map(Any::toString) }
            else -> sales.getValue(text("parked")).problem = text("why")
        }
    }

    @Synchronized
    fun write(line: JSONObject) {
        disk.write((line.toString() + "\n").toByteArray())
        disk.fd.sync()
        apply(line)
    }

    @Synchronized
    fun next(left: Set<Sale>, late: Set<Sale>): Sale? =
        sales.values.filter { it.sent < it.steps.size && it.problem.isEmpty() && it !in left }.minByOrNull { it in late }

    @Synchronized
    fun state() = JSONObject(mapOf("sold" to sales.size, "sent" to sales.values.count { it.sent == it.steps.size },
        "parked" to sales.values.count { it.problem.isNotEmpty() }))

    override fun close() = disk.close()
}

class OfflineTill(private val queue: Queue, private val menuFile: File, private val url: String, private val apiKey: String) {
    private val http = OkHttpClient.Builder().callTimeout(Duration.ofSeconds(10)).build()

    /** Reads what can be sold; to be repeated when the menu changes. */
    fun readMenu() = menuFile.writeText(call(Step("GET", "/v1/menu", "", "", "")).toString())

    private fun enter(sale: String, method: String, path: String, body: Map<String, Any?>) = queue.write(JSONObject(mapOf(
        "step" to sale, "method" to method, "path" to "/v1/orders$path", "body" to JSONObject(body).toString(),
        "key" to UUID.randomUUID().toString(), "at" to Instant.now().toString())))

    /** Begins an order; returns its sale. */
    fun open(comment: String) = UUID.randomUUID().toString().also {
        enter(it, "POST", "", mapOf("service_type" to "TAKEAWAY", "order_title" to it, "comment" to comment.ifEmpty { null }))
    }

    /** `wanted` is a sku of the menu, or a name. Returns what the line costs. */
    fun add(sale: String, quantity: String, wanted: String, comment: String): BigDecimal {
        val objects = { list: JSONArray -> list.map { it as JSONObject } }
        val (product, variant) = objects(JSONObject(menuFile.readText()).getJSONArray("categories"))
            .flatMap { objects(it.getJSONArray("products")) }
            .flatMap { product -> objects(product.getJSONArray("variants")).map { product to it } }
            .first { (product, variant) -> wanted in listOf(variant.optString("sku"), product.getString("name")) }
        // An unknown sku is taken as a line without a link, an unknown id is refused: the menu may have changed meanwhile.
        val link = if (variant.isNull("sku")) "variant_id" to variant.getString("id") else "sku" to variant.getString("sku")
        enter(sale, "POST", "/{order}/combos", mapOf("combos" to listOf(mapOf(link, "product_name" to product.getString("name"),
            "variant_name" to variant.getString("name"), "quantity" to BigDecimal(quantity),
            "variant_price" to variant.getBigDecimal("price"), "comment" to comment.ifEmpty { null }))))
        return BigDecimal(quantity) * variant.getBigDecimal("price")
    }

    /** Cancels one line of the sale; the first is 1. */
    fun cancel(sale: String, line: String) = enter(sale, "DELETE", "/{order}/combos/{$line}", mapOf())

    fun pay(sale: String, method: String, amount: BigDecimal, tip: BigDecimal) = enter(sale, "POST", "/{order}/payments",
        mapOf("payment_method_code" to method, "amount" to amount, "tip_amount" to tip))

    /** Paid, by several payments where a bill is split, and handed over. */
    fun close(sale: String) = enter(sale, "PATCH", "/{order}/status", mapOf("status" to "FINALIZED"))

    /** Returns when everything is sent or parked, but for sales at which the box itself fails: they wait for the next call.
     *  A sale whose request gets no answer comes again when each of the others has had its turn. */
    fun sendAll() {
        var waitMs = 100L
        val (left, late) = mutableSetOf<Sale>() to mutableSetOf<Sale>()
        while (true) {
            val sale = queue.next(left, late) ?: return
            try {
                val order = send(sale.steps[sale.sent], sale)
                val lines = order.getJSONArray("combos").map { (it as JSONObject).getString("id") }
                queue.write(JSONObject(mapOf("done" to sale.id, "order" to order.getString("id"), "lines" to lines)))
                waitMs = 100
            } catch (answer: Answer) {
                System.err.println("sale ${sale.id}: ${answer.message}")
                if (answer.laterMs != null) {
                    if (!late.add(sale)) late.retainAll(setOf(sale))
                    Thread.sleep(maxOf(waitMs, answer.laterMs))
                    waitMs = minOf(waitMs * 2, 30_000)
                } else if (answer.status >= 500) {
                    left.add(sale)
                } else {
                    queue.write(JSONObject(mapOf("parked" to sale.id, "why" to answer.message)))
                }
            }
        }
    }

    private fun send(step: Step, sale: Sale): JSONObject {
        // A step that waited for longer was entered offline: the box is told when.
        val isDated = Duration.between(Instant.parse(step.at), Instant.now()) > Duration.ofMinutes(1)
        return try { call(step, sale, isDated) } catch (answer: Answer) {
            if (isDated && answer.status == 400) call(step, sale, false) else throw answer  // the till's clock is wrong
        }
    }

    /** The record in the answer. */
    private fun call(step: Step, sale: Sale = Sale(""), isDated: Boolean = false): JSONObject {
        val attempt = UUID.randomUUID().toString()
        val ids = sale.lineIds.mapIndexed { i, id -> "{${i + 1}}" to id } + ("{order}" to sale.orderId)
        val path = ids.fold(step.path) { path, (name, id) -> path.replace(name, id) }
        val request = Request.Builder().url(url + path).header("Authorization", "Bearer $apiKey").header("X-Request-Id", attempt)
            .method(step.method, step.body.takeIf(String::isNotEmpty)?.toRequestBody("application/json".toMediaType()))
        if (step.key.isNotEmpty()) request.header("Idempotency-Key", step.key)
        if (isDated) request.header("Comanda-Occurred-At", step.at)
        try {
            http.newCall(request.build()).execute().use { answer ->
                // A kept connection may bring the answer to an earlier request, where something between repeats it.
                if ((answer.header("X-Request-Id") ?: attempt) != attempt) {
                    answer.close()  // only now the pool has the connection
                    http.connectionPool.evictAll()
                    throw Answer(0, "the answer to another request", 0)
                }
                val read = JSONObject(answer.body!!.string())
                if (answer.isSuccessful) return read.getJSONObject("data")
                // With a key that was revoked, too, sales wait for the new one.
                val laterMs = (answer.header("Retry-After")?.toLongOrNull() ?: 1) * 1000
                throw Answer(answer.code, read.toString(), laterMs.takeIf { answer.code in listOf(401, 403, 408, 429, 503) })
            }
        } catch (half: JSONException) { throw Answer(0, half.toString(), 0)
        } catch (error: IOException) { throw error as? Answer ?: Answer(0, error.toString(), 0) }
    }
}

/** OfflineTill FILE menu | open … | add … | cancel … | pay … | close … | sell COUNT | send: prints the sale or the state. */
fun main(words: Array<String>) = Queue(File(words[0])).use { queue ->
    val till = OfflineTill(queue, File(words[0] + ".menu"), System.getenv("COMANDA_URL"), System.getenv("COMANDA_KEY"))
    val word = { i: Int -> words.getOrElse(i) { "" } }
    when (words[1]) {
        "menu" -> till.readMenu()
        "open" -> return println(JSONObject.quote(till.open(word(2))))
        "add" -> till.add(word(2), word(3), word(4), word(5))
        "cancel" -> till.cancel(word(2), word(3))
        "pay" -> till.pay(word(2), word(3), BigDecimal(word(4)), BigDecimal(words.getOrElse(5) { "0" }))
        "close" -> till.close(word(2))
        "sell" -> repeat(word(2).toInt()) {
            val sale = till.open("")
            val total = till.add(sale, "2", "Ceviche clásico", "") + till.add(sale, "1", "Chicha morada", "")
            till.pay(sale, "cash", total, BigDecimal.ZERO)
            till.close(sale)
        }
        "send" -> till.sendAll()
    }
    println(queue.state())
}
