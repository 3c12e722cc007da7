// An Android till's client for Comanda with an offline queue: OkHttp and org.json, which Android has itself (here, on a
// plain JVM, it comes from Maven). On Android, sell() is called by the screen and sendAll() by a worker when there is a
// network (WorkManager); OfflineTill does not care who calls.
//
// The queue is a file of lines, each written and synced before sell() returns. A sale's requests keep their
// Idempotency-Keys: after a cut line, a crash or an empty battery the same requests are sent again, and the box answers
// each with what it answered first.

import java.io.Closeable
import java.io.File
import java.io.IOException
import java.io.RandomAccessFile
import java.time.Instant
import java.util.UUID
import java.util.concurrent.TimeUnit
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import org.json.JSONArray
import org.json.JSONException
import org.json.JSONObject

data class Line(val name: String, val quantity: Int, val unitCents: Long)

/** One request of a sale. `path` has "{}" in the place of the order's id. */
class Step(val path: String, val body: String, val key: String)

class Sale(val id: String, val at: String, val steps: List<Step>, var sent: Int = 0, var orderId: String = "", var problem: String = "")

/** What has to be repeated later: no network, or a box that is busy, restarts or does not know the key. */
class Later(why: String, val waitMs: Long = 0) : IOException(why)

/** What the box will never take. */
class Refused(why: String) : IOException(why)

/** The sales on disk. Lines: {"sale": …} with its steps, {"done": id, "order": …} for a step, {"parked": id, "why": …}. */
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
        if (line.has("sale")) {
            val steps = line.getJSONArray("steps")
            sales[line.getString("sale")] = Sale(line.getString("sale"), line.optString("at"), List(steps.length()) {
                val step = steps.getJSONObject(it)
                Step(step.getString("path"), step.getString("body"), step.getString("key"))
            })
        } else if (line.has("done")) {
            sales.getValue(line.getString("done")).apply { sent++; orderId = line.getString("order") }
        } else {
            sales.getValue(line.getString("parked")).problem = line.getString("why")
        }
    }

    @Synchronized
    fun write(line: JSONObject) {
        disk.write((line.toString() + "\n").toByteArray())
        disk.fd.sync()
        apply(line)
    }

    @Synchronized
    fun next(): Sale? = sales.values.firstOrNull { it.sent < it.steps.size && it.problem.isEmpty() }

    @Synchronized
    fun state() = JSONObject(mapOf("sold" to sales.size, "sent" to sales.values.count { it.sent == it.steps.size },
        "parked" to sales.values.count { it.problem.isNotEmpty() }))

    override fun close() = disk.close()
}

class OfflineTill(private val queue: Queue, private val url: String, private val apiKey: String) {
    private val http = OkHttpClient.Builder().callTimeout(10, TimeUnit.SECONDS).build()

    /** Writes a sale down; the customer may go. */
    fun sell(lines: List<Line>) {
        val major = { cents: Long -> cents.toBigDecimal().movePointLeft(2) }
        val combos = lines.map { mapOf("product_name" to it.name, "quantity" to it.quantity, "variant_price" to major(it.unitCents)) }
        val payment = mapOf("payment_method_code" to "cash", "amount" to major(lines.sumOf { it.quantity * it.unitCents }))
        val sale = UUID.randomUUID().toString()
        val steps = listOf(
            "/v1/orders" to JSONObject(mapOf("service_type" to "TAKEAWAY", "order_title" to sale)),
            "/v1/orders/{}/combos" to JSONObject(mapOf("combos" to combos)),
            "/v1/orders/{}/payments" to JSONObject(payment),
        ).map { (path, body) -> mapOf("path" to path, "body" to body.toString(), "key" to UUID.randomUUID().toString()) }
        queue.write(JSONObject(mapOf("sale" to sale, "at" to Instant.now().toString(), "steps" to JSONArray(steps))))
    }

    /** Returns when everything is sent or parked. */
    fun sendAll() {
        var waitMs = 100L
        while (true) {
            val sale = queue.next() ?: return
            try {
                val order = post(sale.steps[sale.sent], sale.orderId, sale.at)
                queue.write(JSONObject(mapOf("done" to sale.id, "order" to order)))
                waitMs = 100
            } catch (refused: Refused) {
                queue.write(JSONObject(mapOf("parked" to sale.id, "why" to refused.message)))
            } catch (error: IOException) {
                Thread.sleep(maxOf(waitMs, (error as? Later)?.waitMs ?: 0))
                waitMs = minOf(waitMs * 2, 30_000)
            }
        }
    }

    /** The id of the order in the answer. A key with the scope orders:sync has the box date it by `at`, when it was sold, unless
     *  this till's clock is wrong or the sale is too old. */
    private fun post(step: Step, orderId: String, at: String): String {
        val attempt = UUID.randomUUID().toString()
        val request = Request.Builder().url(url + step.path.replace("{}", orderId))
            .header("Authorization", "Bearer $apiKey").header("Idempotency-Key", step.key).header("X-Request-Id", attempt)
            .apply { if (at.isNotEmpty()) header("Comanda-Occurred-At", at) }
            .post(step.body.toRequestBody("application/json".toMediaType())).build()
        http.newCall(request).execute().use { answer ->
            val text = answer.body!!.string()
            // A kept connection may bring the answer to an earlier request, where something between repeats it.
            if ((answer.header("X-Request-Id") ?: attempt) != attempt) {
                http.connectionPool.evictAll()
                throw Later("the answer to another request")
            }
            if (answer.code >= 500 || answer.code in listOf(401, 403, 408, 429)) {
                throw Later("${answer.code} $text", (answer.header("Retry-After")?.toLongOrNull() ?: 1) * 1000)
            }
            if (at.isNotEmpty() && answer.code == 400 && "invalid_header" in text) return post(step, orderId, "")
            if (!answer.isSuccessful) throw Refused("${answer.code} $text")
            try {
                return JSONObject(text).getJSONObject("data").getString("id")
            } catch (half: JSONException) {
                throw Later("not the whole answer: $half")
            }
        }
    }
}

/** OfflineTill FILE sell COUNT | send; prints the state. COMANDA_URL and COMANDA_KEY say where the box is. */
fun main(words: Array<String>) = Queue(File(words[0])).use { queue ->
    val till = OfflineTill(queue, System.getenv("COMANDA_URL"), System.getenv("COMANDA_KEY"))
    if (words[1] == "sell") repeat(words[2].toInt()) { till.sell(listOf(Line("Ceviche", 2, 3_800), Line("Chicha", 1, 990))) }
    if (words[1] == "send") till.sendAll()
    println(queue.state())
}
