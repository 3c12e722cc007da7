'use strict';

// Programs that receive webhooks and verify their signatures (Standard Webhooks), one in each language of programs.js; that
// of the shell verifies one message that was kept. They listen on port 8099.

const RECEIVERS = {
  curl: String.raw`# A shell receives nothing, but it says whether a message that you have kept is genuine: its body, byte for byte, in body.json;
# three of its headers in $WEBHOOK_ID, $WEBHOOK_TIMESTAMP and $WEBHOOK_SIGNATURE; the secret, which the answer of
# createWebhook shows once, in $COMANDA_WEBHOOK_SECRET.
KEY=$(printf %s "$COMANDA_WEBHOOK_SECRET" | cut -c 7- | base64 -d | od -An -v -tx1 | tr -d ' \n')
WANTED=$({ printf %s. "$WEBHOOK_ID" "$WEBHOOK_TIMESTAMP"; cat body.json; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64)
AGE=$(($(date +%s) - WEBHOOK_TIMESTAMP))
case " $WEBHOOK_SIGNATURE " in
  *" v1,$WANTED "*) ;;
  *) echo 'forged: answer 400'; exit 1 ;;
esac
if [ "$AGE" -gt 300 ] || [ "$AGE" -lt -300 ]; then echo 'too old: answer 400'; exit 1; fi
echo 'genuine: answer 204'`,

  javascript: String.raw`// Node 18 or newer, as a module (.mjs), with the secret that createWebhook answers in COMANDA_WEBHOOK_SECRET
import {createHmac, timingSafeEqual} from 'node:crypto';
import {createServer} from 'node:http';

const key = Buffer.from(process.env.COMANDA_WEBHOOK_SECRET.slice('whsec_'.length), 'base64');

function isGenuine(headers, body) {
  const sent = headers['webhook-timestamp'];
  if (!(Math.abs(Date.now() / 1000 - sent) <= 300)) return false;
  const mac = createHmac('sha256', key).update(headers['webhook-id'] + '.' + sent + '.').update(body);
  const wanted = Buffer.from('v1,' + mac.digest('base64'));
  return (headers['webhook-signature'] || '').split(' ').map((each) => Buffer.from(each))
    .some((each) => each.length === wanted.length && timingSafeEqual(each, wanted));
}

createServer(async (request, answer) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  const genuine = isGenuine(request.headers, body);
  answer.writeHead(genuine ? 204 : 400).end();
  // Store it, each webhook-id once, before you answer; do the work afterwards.
  if (genuine) console.log(request.headers['webhook-id'], body.toString());
}).listen(8099);`,

  python: String.raw`# With the secret that createWebhook answers in COMANDA_WEBHOOK_SECRET
import base64
import hmac
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = base64.b64decode(os.environ["COMANDA_WEBHOOK_SECRET"].removeprefix("whsec_"))


def is_genuine(headers, body):
    sent = headers.get("webhook-timestamp", "")
    if not sent.isdecimal() or abs(time.time() - int(sent)) > 300:
        return False
    text = f"{headers['webhook-id']}.{sent}.".encode() + body
    wanted = b"v1," + base64.b64encode(hmac.digest(KEY, text, "sha256"))
    return any(hmac.compare_digest(each.encode(), wanted) for each in headers.get("webhook-signature", "").split())


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        genuine = is_genuine(self.headers, body)
        self.send_response(204 if genuine else 400)
        self.end_headers()
        # Store it, each webhook-id once, before you answer; do the work afterwards.
        if genuine:
            print(self.headers["webhook-id"], body.decode())


HTTPServer(("", 8099), Receiver).serve_forever()`,

  kotlin: String.raw`// With the secret that createWebhook answers in COMANDA_WEBHOOK_SECRET. The server is the JVM's own; isGenuine() fits any.
import com.sun.net.httpserver.HttpServer
import java.net.InetSocketAddress
import java.security.MessageDigest
import java.util.Base64
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec
import kotlin.math.abs

val secret: String = System.getenv("COMANDA_WEBHOOK_SECRET")
val key = SecretKeySpec(Base64.getDecoder().decode(secret.removePrefix("whsec_")), "HmacSHA256")

fun isGenuine(header: (String) -> String?, body: ByteArray): Boolean {
    val sent = header("webhook-timestamp")?.toLongOrNull() ?: return false
    if (abs(System.currentTimeMillis() / 1000 - sent) > 300) return false
    val mac = Mac.getInstance("HmacSHA256")
    mac.init(key)
    mac.update((header("webhook-id") + ".$sent.").toByteArray())
    val wanted = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))
    return header("webhook-signature").orEmpty().split(" ")
        .any { MessageDigest.isEqual(it.toByteArray(), wanted.toByteArray()) }
}

fun main() {
    val server = HttpServer.create(InetSocketAddress(8099), 0)
    server.createContext("/") { exchange ->
        val body = exchange.requestBody.readBytes()
        val genuine = isGenuine(exchange.requestHeaders::getFirst, body)
        exchange.sendResponseHeaders(if (genuine) 204 else 400, -1)
        exchange.close()
        // Store it, each webhook-id once, before you answer; do the work afterwards.
        if (genuine) println(exchange.requestHeaders.getFirst("webhook-id") + " " + String(body))
    }
    server.start()
}`,

  go: String.raw`// With the secret that createWebhook answers in COMANDA_WEBHOOK_SECRET
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func isGenuine(key []byte, head http.Header, body []byte) bool {
	sent, err := strconv.ParseInt(head.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(sent, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", head.Get("webhook-id"), sent, body)
	wanted := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, each := range strings.Fields(head.Get("webhook-signature")) {
		if hmac.Equal([]byte(each), []byte(wanted)) {
			return true
		}
	}
	return false
}

func main() {
	secret := strings.TrimPrefix(os.Getenv("COMANDA_WEBHOOK_SECRET"), "whsec_")
	key, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/", func(answer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil || !isGenuine(key, request.Header, body) {
			answer.WriteHeader(http.StatusBadRequest)
			return
		}
		// Store it, each webhook-id once, before you answer; do the work afterwards.
		answer.WriteHeader(http.StatusNoContent)
		fmt.Println(request.Header.Get("webhook-id"), string(body))
	})
	panic(http.ListenAndServe(":8099", nil))
}`,

  csharp: String.raw`// .NET 8, a project of Microsoft.NET.Sdk.Web, with the secret that createWebhook answers in COMANDA_WEBHOOK_SECRET
using System.Security.Cryptography;
using System.Text;

var secret = Environment.GetEnvironmentVariable("COMANDA_WEBHOOK_SECRET")!;
var key = Convert.FromBase64String(secret["whsec_".Length..]);

var app = WebApplication.Create();
app.MapPost("/{**path}", async (HttpRequest request) =>
{
    var copy = new MemoryStream();
    await request.Body.CopyToAsync(copy);
    var body = copy.ToArray();
    if (!IsGenuine(request.Headers, body)) return Results.BadRequest();
    // Store it, each webhook-id once, before you answer; do the work afterwards.
    Console.WriteLine(request.Headers["webhook-id"] + " " + Encoding.UTF8.GetString(body));
    return Results.NoContent();
});
app.Run("http://*:8099");

bool IsGenuine(IHeaderDictionary headers, byte[] body)
{
    var id = headers["webhook-id"].ToString();
    var sent = headers["webhook-timestamp"].ToString();
    if (!long.TryParse(sent, out var seconds)) return false;
    if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - seconds) > 300) return false;
    var mac = HMACSHA256.HashData(key, Encoding.UTF8.GetBytes($"{id}.{sent}.").Concat(body).ToArray());
    var wanted = Encoding.UTF8.GetBytes("v1," + Convert.ToBase64String(mac));
    return headers["webhook-signature"].ToString().Split(' ')
        .Any(each => CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(each), wanted));
}`,

  php: String.raw`<?php
// PHP 8, with the secret that createWebhook answers: COMANDA_WEBHOOK_SECRET=whsec_… php -S 0.0.0.0:8099 receive.php
function isGenuine(string $body): bool
{
    $sent = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($sent) || abs(time() - (int) $sent) > 300) {
        return false;
    }
    $key = base64_decode(substr(getenv('COMANDA_WEBHOOK_SECRET'), strlen('whsec_')));
    $text = ($_SERVER['HTTP_WEBHOOK_ID'] ?? '') . ".$sent.$body";
    $wanted = 'v1,' . base64_encode(hash_hmac('sha256', $text, $key, true));
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $each) {
        if (hash_equals($wanted, $each)) {
            return true;
        }
    }
    return false;
}

$body = file_get_contents('php://input');
$genuine = isGenuine($body);
http_response_code($genuine ? 204 : 400);
if ($genuine) {
    // Store it, each webhook-id once, before you answer; do the work afterwards.
    file_put_contents('php://stderr', $_SERVER['HTTP_WEBHOOK_ID'] . " $body\n");
}`,

  dart: String.raw`// Dart 3 with the package crypto, and the secret that createWebhook answers in COMANDA_WEBHOOK_SECRET
import 'dart:convert';
import 'dart:io';
import 'package:crypto/crypto.dart';

final secret = Platform.environment['COMANDA_WEBHOOK_SECRET']!;
final key = base64.decode(secret.substring('whsec_'.length));

bool isGenuine(HttpHeaders head, List<int> body) {
  final sent = int.tryParse(head.value('webhook-timestamp') ?? '');
  if (sent == null) return false;
  if ((DateTime.now().millisecondsSinceEpoch ~/ 1000 - sent).abs() > 300) return false;
  final text = utf8.encode((head.value('webhook-id') ?? '') + '.$sent.') + body;
  // Digests are compared in constant time.
  final wanted = Digest(utf8.encode('v1,' + base64.encode(Hmac(sha256, key).convert(text).bytes)));
  final given = (head.value('webhook-signature') ?? '').split(' ');
  return given.any((each) => Digest(utf8.encode(each)) == wanted);
}

Future<void> main() async {
  final server = await HttpServer.bind(InternetAddress.anyIPv4, 8099);
  await for (final request in server) {
    final body = await request.expand((part) => part).toList();
    final genuine = isGenuine(request.headers, body);
    request.response.statusCode = genuine ? 204 : 400;
    await request.response.close();
    // Store it, each webhook-id once, before you answer; do the work afterwards.
    if (genuine) print((request.headers.value('webhook-id') ?? '') + ' ' + utf8.decode(body));
  }
}`,
};
