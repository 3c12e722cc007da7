'use strict';

// Programs that call the API, in eight languages (those that it calls are in receivers.js). Each works as it stands in a fresh demo restaurant.
//
// A program is a list of calls: {method, path, headers, body, keep, note, isQuiet, isPaged}. `path` and the values of
// `headers` are lists of pieces: a text, or {use: NAME}, a value that an earlier call has kept. `keep` lists
// {name, header: NAME} or {name, at: ['data', 'id']}: what later calls need of the answer. `isQuiet`: of the answer
// only that is wanted. `isPaged`: the call is made for each page, whose number is {use: 'page'}.

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

function resolve(api, thing) {
  while (thing && thing.$ref) {
    thing = thing.$ref.slice(2).split('/').reduce((at, part) => at[part], api);
  }
  return thing;
}

function operationsOf(api) {
  return Object.entries(api.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({method, path, operation: item[method]})));
}

const callOf = (api, id) => operationsOf(api).find(({operation}) => operation.operationId === id);

function examplesOf(api, content) {
  if (content.example !== undefined) return [['Example', {value: content.example}]];
  return Object.entries(content.examples || {}).map(([name, example]) => [name, resolve(api, example)]);
}

// [[name, {summary, value}], …] of what may be sent; one without a value where nothing is.
function bodiesOf(api, {operation}) {
  const body = resolve(api, operation.requestBody);
  return body ? examplesOf(api, body.content['application/json']) : [['', {}]];
}

const needsKey = (api, operation) => (operation.security || api.security || []).length > 0;

function exampleOf(api, parameter) {
  return parameter.example !== undefined ? parameter.example : resolve(api, parameter.schema).default;
}

const parametersOf = (api, operation) => (operation.parameters || []).map((each) => resolve(api, each));

// From the document to calls

// An Idempotency-Key: a UUID of its own for each text, the same each time the page is made, so that a program which is
// pasted again does nothing twice.
function keyOf(text) {
  let [high, low] = [0x9e3779b9, 0x85ebca6b];
  for (const sign of text) {
    high = Math.imul(high ^ sign.codePointAt(0), 0x01000193);
    low = Math.imul(low ^ sign.codePointAt(0), 0x85ebca77) ^ high >>> 15;
  }
  const [a, b] = [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0'));
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${a.slice(1, 4)}-${b}${a.slice(4)}`;
}

// An example's call, after those that make the records of which it speaks.
function programOf(api, call, [name, {value}]) {
  const makers = parametersOf(api, call.operation).filter((each) => each['x-made-by'])
    .map((parameter) => makerOf(api, parameter));
  return [...makers, plainCall(api, call, name, value)];
}

function makerOf(api, parameter) {
  const call = callOf(api, parameter['x-made-by']);
  const [[, {value}]] = bodiesOf(api, call);
  const made = plainCall(api, call, '', value);
  delete made.headers['Idempotency-Key'];  // each program makes its own
  return {...made, keep: [{name: parameter.name, at: ['data', 'id']}], isQuiet: true};
}

function plainCall(api, {method, path, operation}, name, value) {
  const parameters = parametersOf(api, operation);
  const headers = {};
  if (needsKey(api, operation)) headers.Authorization = ['Bearer ', {use: 'key'}];
  const key = parameters.find((each) => each.name === 'Idempotency-Key');
  // A key of its own for each example.
  if (key && method === 'post') {
    headers['Idempotency-Key'] = [keyOf(operation.operationId + ' ' + name)];
  }
  const pieces = path.split(/[{}]/).map((part, i) => {
    if (i % 2 === 0) return part;
    const parameter = parameters.find((each) => each.name === part);
    return parameter['x-made-by'] ? {use: part} : encodeURIComponent(exampleOf(api, parameter));
  });
  return {method, path: joined(pieces), headers, body: value, keep: []};
}

// Without empty texts, and without two beside each other.
function joined(pieces) {
  const texts = [];
  for (const piece of pieces) {
    if (piece.use || texts.length === 0 || texts.at(-1).use) texts.push(piece);
    else texts[texts.length - 1] += piece;
  }
  return texts.filter((piece) => piece !== '');
}

// Walks

// Their titles are in docs.html. A step: [operation, what it does, what differs from the operation's own call].
const WALKS = [
  {id: 'first-order', steps: [
    ['placeOrder', 'Place an order. Send the Idempotency-Key again when you repeat it.',
      {idempotencyKey: keyOf('walk order'), body: {service_type: 'TAKEAWAY'}, keep: [{name: 'id', at: ['data', 'id']}]}],
    ['addCombos', 'Two ceviches with more cancha: 85.00 in all.', {uses: 'id', idempotencyKey: keyOf('walk items'), example: 'linked'}],
    ['addPayment', 'Paid in cash.', {uses: 'id', idempotencyKey: keyOf('walk cash'),
      body: {payment_method_code: 'cash', amount: 85, received_amount: 100}}],
    ['moveOrder', 'The kitchen begins.', {uses: 'id', body: {status: 'PREPARING'}}],
  ]},
  {id: 'display', steps: [
    ['listTickets', 'Once: what the kitchen is to make, and the place from which to follow.',
      {query: '?per_page=100', keep: [{name: 'cursor', header: 'X-Event-Cursor'}]}],
    ['followKitchen', 'What changed since: each ticket once, as it is now. Draw it, then store `next`. After 410 list again.',
      {query: '?after=', after: 'cursor', keep: [{name: 'next', at: ['next']}]}],
    ['followKitchen', 'Wait for more, and say who watches. Repeat this with the `next` of what is drawn. Cooks mark dishes by ' +
      'POST /v1/kitchen/tickets/{orderId}/done.',
      {query: '?display=parrilla1&after=', after: 'next', headers: {Prefer: ['wait=8']}}],
  ]},
  {id: 'erp', steps: [
    ['listOrders', 'Once: the place in the feed from which to follow, and the snapshot whose pages are read.',
      {query: '?per_page=1', keep: [{name: 'cursor', header: 'X-Event-Cursor'}, {name: 'snapshot', header: 'X-Snapshot'}]}],
    ['listOrders', 'All orders, page by page. One that changes meanwhile is in the feed too: its higher `version` counts.',
      {query: '?per_page=100&filter[snapshot]=', after: 'snapshot', isPaged: true}],
    ['readEvents', 'What happened since. Work on it, then store `next` in the same transaction.',
      {query: '?per_page=100&after=', after: 'cursor', keep: [{name: 'next', at: ['next']}]}],
    ['readEvents', 'Wait for more. Repeat this with the `next` of each answer.',
      {query: '?per_page=100&after=', after: 'next', headers: {Prefer: ['wait=25']}}],
  ]},
  {id: 'menu-upload', steps: [
    ['upsertProducts', 'Up to 500 rows at once, all or none. Rows match by id or sku.',
      {body: {products: [
        {sku: 'CHICHA-1L', name: 'Chicha morada, 1 litro', category_name: 'Bebidas', price: 14},
        {sku: 'LIMONADA-1L', name: 'Limonada, 1 litro', category_name: 'Bebidas', price: 12.5}]}}],
    ['upsertProducts', 'Another price. What is left out stays.', {body: {products: [{sku: 'CHICHA-1L', price: 15}]}}],
    ['upsertProducts', 'The same again: everything is `unchanged`.', {body: {products: [{sku: 'CHICHA-1L', price: 15}]}}],
    ['getMenu', 'What tills and displays see.', {}],
  ]},
  {id: 'webhooks', isReceiver: true, steps: [['createWebhook'], ['testWebhook'], ['redeliver']]},
];

// Calls; for webhooks, which the box makes, a text for each language (receivers.js).
function walkProgram(api, walk) {
  if (walk.isReceiver) return RECEIVERS;
  return walk.steps.map(([operation, note, step], i) => {
    const call = callOf(api, operation);
    const [name, {value}] = bodiesOf(api, call).find(([each]) => each === step.example) || ['', {}];
    const made = plainCall(api, call, name, step.body || value);
    if (step.uses) made.path = call.path.split(/[{}]/).map((part, at) => (at === 1 ? {use: step.uses} : part));
    if (step.query) made.path[made.path.length - 1] += step.query;
    if (step.after) made.path.push({use: step.after});
    if (step.isPaged) made.path.push('&page=', {use: 'page'});
    delete made.headers['Idempotency-Key'];
    if (step.idempotencyKey) made.headers['Idempotency-Key'] = [step.idempotencyKey];
    Object.assign(made.headers, step.headers);
    return {...made, keep: step.keep || [], note: i + 1 + '. ' + note, isPaged: step.isPaged};
  });
}

// From calls to text

const upper = (name) => name.replace(/[A-Z]/g, '_$&').toUpperCase();
const lower = (name) => upper(name).toLowerCase();
const capital = (name) => name[0].toUpperCase() + name.slice(1);
const pretty = (value) => JSON.stringify(value, null, 2);
const indented = (text, by) => text.replace(/\n/g, '\n' + by);
const shifted = (text, by) => by + indented(text, by);
const lines = (...parts) => parts.flat().filter((part) => part !== undefined).join('\n');
const isFixed = (pieces) => pieces.every((piece) => !piece.use);
// The headers without those that each language sends in its own way.
const others = ({headers}) => Object.entries(headers).filter(([name]) => name !== 'Authorization');
const hasKey = (program) => program.some(({headers}) => headers.Authorization);
const keepsBody = (program) => program.some(({keep}) => keep.some(({at}) => at));

function spliced(pieces, text, use) {
  return pieces.map((piece) => (piece.use ? use(piece.use) : text(piece))).join('');
}

// A text in double quotes: C, Go, Kotlin, C# and JSON agree on it.
const quoted = (text) => JSON.stringify(text);
const inside = (text) => quoted(text).slice(1, -1);

const written = (language, program, origin) =>
  (Array.isArray(program) ? LANGUAGES[language](program, origin) : program[language]);
const LANGUAGES = {curl, javascript, python, kotlin, go, csharp, php, dart};
const TITLES = {curl: 'curl', javascript: 'JavaScript', python: 'Python', kotlin: 'Kotlin', go: 'Go', csharp: 'C#', php: 'PHP',
  dart: 'Dart'};

function curl(program, origin) {
  const inQuotes = (text) => "'" + text.replace(/'/g, "'\\''") + "'";
  const text = (pieces) => (isFixed(pieces) ? inQuotes(pieces.join(''))
    : '"' + spliced(pieces, (piece) => piece.replace(/[\\"$`]/g, '\\$&'), (name) => '$' + upper(name)) + '"');
  const one = ({method, path, headers, body, keep, note, isQuiet, isPaged}) => {
    const hasHeader = keep.some(({header}) => header);
    const words = ['curl --cacert "$COMANDA_CA"' + (method === 'get' ? '' : ' -X ' + method.toUpperCase()) +
      (path.some((piece) => !piece.use && piece.includes('[')) ? ' -g' : ''), text([origin, ...path])];
    if (headers.Authorization) words.push('-H "Authorization: Bearer $COMANDA_KEY"');
    for (const [name, value] of others({headers})) words.push('-H ' + text([name + ': ', ...value]));
    if (body !== undefined) words.push("-H 'Content-Type: application/json'", '-d ' + inQuotes(pretty(body)));
    if (hasHeader) words.push('-D headers.txt');
    const kept = keep.find(({at}) => at);
    // The first id is the record's own, the last "next" the page's.
    const found = kept && `grep -o '"${kept.at.at(-1)}":"[^"]*'` + (isQuiet ? '' : ' answer.json') +
      ` | ${kept.at.length > 1 ? 'head' : 'tail'} -n 1 | cut -d '"' -f 4)`;
    let command = words.join(' \\\n  ');
    if (kept && isQuiet) command = upper(kept.name) + '=$(' + command + ' \\\n  | ' + found;
    else if (kept) command += ' | tee answer.json\n' + upper(kept.name) + '=$(' + found;
    if (isPaged) {
      command = lines('PAGE=1', 'while', shifted(command + ' | tee answer.json', '  '), `  grep -q '"has_more":true' answer.json`,
        'do PAGE=$((PAGE + 1)); done');
    }
    return lines(note && '# ' + note, command, keep.filter(({header}) => header).map(({name, header}) =>
      `${upper(name)}=$(sed -n 's/^${header}: //p' headers.txt | tr -d '\\r')`));
  };
  return program.map(one).join(program.some(({note}) => note) ? '\n\n' : '\n');
}

function javascript(program, origin) {
  const text = (pieces) => (isFixed(pieces) ? "'" + pieces.join('').replace(/[\\']/g, '\\$&') + "'"
    : '`' + spliced(pieces, (piece) => piece.replace(/[\\`$]/g, '\\$&'), (name) => '${' + name + '}') + '`');
  const one = ({method, path, headers, body, keep, note, isPaged}, i) => {
    const read = 'text' + (i + 1);
    const options = [
      method !== 'get' && `  method: '${method.toUpperCase()}',`,
      ...(Object.keys(headers).length || body !== undefined ? ['  headers: {',
        ...Object.entries(headers).map(([name, value]) => `    '${name}': ${text(value)},`),
        body !== undefined && "    'Content-Type': 'application/json',", '  },'] : []),
      body !== undefined && `  body: JSON.stringify(${indented(pretty(body), '  ')}),`,
    ].filter(Boolean);
    const all = text([origin, ...path]) + (options.length ? ', {\n' + options.join('\n') + '\n}' : '');
    const call = lines((i ? '' : program.length > 1 ? 'let ' : 'const ') + `answer = await fetch(${all});`,
      isPaged || keep.some(({at}) => at) ? [`const ${read} = await answer.text();`, `console.log(answer.status, ${read});`] :
        'console.log(answer.status, await answer.text());',
      keep.map(({name, header, at}) => `const ${name} = ` +
        (header ? `answer.headers.get('${header}');` : `JSON.parse(${read}).${at.join('.')};`)));
    return lines(note && '// ' + note, isPaged ? lines('for (let page = 1, more = true; more; page++) {', shifted(call, '  '),
      `  more = JSON.parse(${read}).pagination.has_more;`, '}') : call);
  };
  return lines('// Node 18 or newer, as a module (.mjs), with NODE_EXTRA_CA_CERTS=ca.crt',
    hasKey(program) ? 'const key = process.env.COMANDA_KEY;' : undefined, '', program.map(one).join('\n\n'));
}

function python(program, origin) {
  const value = (thing, by) => {
    if (thing === null) return 'None';
    if (typeof thing === 'boolean') return thing ? 'True' : 'False';
    if (typeof thing !== 'object') return quoted(thing);
    const isList = Array.isArray(thing);
    const rows = isList ? thing.map((each) => value(each, by + '    '))
      : Object.entries(thing).map(([name, each]) => quoted(name) + ': ' + value(each, by + '    '));
    const [open, close] = isList ? '[]' : '{}';
    return rows.length ? open + '\n' + rows.map((row) => by + '    ' + row + ',\n').join('') + by + close : open + close;
  };
  const text = (pieces) => (isFixed(pieces) ? quoted(pieces.join(''))
    : 'f"' + spliced(pieces, (piece) => inside(piece).replace(/[{}]/g, '$&$&'), (name) => `{${lower(name)}}`) + '"');
  const one = ({method, path, headers, body, keep, note, isPaged}) => {
    const words = [text([origin, ...path])];
    const sent = others({headers});
    if (sent.length) words.push('headers={' + sent.map(([name, pieces]) => quoted(name) + ': ' + text(pieces)).join(', ') + '}');
    if (body !== undefined) words.push('json=' + value(body, ''));
    const call = lines(`answer = box.${method}(${words.join(', ')})`, 'print(answer.status_code, answer.text)',
      keep.map(({name, header, at}) => `${lower(name)} = ` + (header ? `answer.headers["${header}"]`
        : 'answer.json()' + at.map((part) => `["${part}"]`).join(''))));
    return lines(note && '# ' + note, isPaged ? lines('page, more = 1, True', 'while more:', shifted(call, '    '),
      '    more = answer.json()["pagination"]["has_more"]', '    page += 1') : call);
  };
  return lines('import os', '', 'import requests', '', 'box = requests.Session()', 'box.verify = os.environ["COMANDA_CA"]',
    'box.trust_env = False  # no proxy, and no other authorities',
    hasKey(program) ? 'box.headers["Authorization"] = "Bearer " + os.environ["COMANDA_KEY"]' : undefined, '',
    program.map(one).join('\n\n'));
}

// The arguments of one call in the languages whose programs declare a function for it.
function argumentsOf({method, path, body, ...call}, text, long, pair) {
  return [quoted(method.toUpperCase()), text(path), body === undefined ? '' : long(pretty(body)),
    ...others(call).map(([name, value]) => pair(quoted(name), text(value)))];
}

function kotlin(program, origin) {
  const text = (pieces) => '"' + spliced(pieces, (piece) => inside(piece).replace(/\$/g, '\\$'), (name) => '$' + name) + '"';
  const long = (json) => '"""' + indented(json.replace(/\$/g, () => "${'$'}"), '    ') + '"""';
  const one = (call, i) => {
    const words = argumentsOf(call, text, long, (name, value) => name + ' to ' + value);
    if (words[2] === '') words[2] = 'null';
    if (call.isPaged) {
      return lines('    // ' + call.note, '    var page = 1', '    do {',
        `        val more = "\\"has_more\\":true" in call(${words.join(', ')}).second`, '        page++', '    } while (more)');
    }
    const result = call.keep.length ? `val answer${i + 1} = ` : '';
    return lines(call.note && '    // ' + call.note, `    ${result}call(${words.join(', ')})`,
      call.keep.map(({name, header, at}) => `    val ${name} = ` + (header ? `answer${i + 1}.first["${header}"]!!`
        : `Regex("\\"${at.at(-1)}\\":\\"([^\\"]+)").findAll(answer${i + 1}.second).${at.length > 1 ? 'first' : 'last'}().groupValues[1]`)));
  };
  return lines('// OkHttp 4 or newer. The device trusts the authority of /ca.crt (java: -Djavax.net.ssl.trustStore; an app needs a network_security_config).',
    'import java.util.concurrent.TimeUnit', 'import okhttp3.Headers', 'import okhttp3.MediaType.Companion.toMediaType',
    'import okhttp3.OkHttpClient', 'import okhttp3.Request', 'import okhttp3.RequestBody.Companion.toRequestBody', '',
    'val http = OkHttpClient.Builder().readTimeout(40, TimeUnit.SECONDS).build()', '',
    'fun call(method: String, path: String, body: String?, vararg headers: Pair<String, String>): Pair<Headers, String> {',
    `    val request = Request.Builder().url("${origin}" + path)`,
    '        .method(method, body?.toRequestBody("application/json".toMediaType()))',
    hasKey(program) ? '        .header("Authorization", "Bearer " + System.getenv("COMANDA_KEY"))' : undefined,
    '    for ((name, value) in headers) request.header(name, value)',
    '    http.newCall(request.build()).execute().use { answer ->',
    '        val text = answer.body!!.string()', '        println("${answer.code} $text")',
    '        return answer.headers to text', '    }', '}', '',
    'fun main() {', program.map(one).join('\n\n'), '}');
}

function go(program, origin) {
  const name = (use) => (use === 'page' ? 'fmt.Sprint(page)' : use);
  const text = (pieces) => pieces.map((piece) => (piece.use ? name(piece.use) : quoted(piece))).join('+');
  const long = (json) => (json.includes('`') ? quoted(json) : '`' + json + '`');
  const one = (call, i) => {
    const words = argumentsOf(call, text, long, (name, value) => name + ', ' + value);
    if (words[2] === '') words[2] = '""';
    if (call.isPaged) {
      return lines('\t// ' + call.note, '\tfor page, more := 1, true; more; page++ {', `\t\t_, rows := call(${words.join(', ')})`,
        '\t\tmore = strings.Contains(rows, `"has_more":true`)', '\t}');
    }
    const of = (found) => (call.keep.some(found) ? 1 : 0);
    const [head, body] = [of(({header}) => header) ? 'head' + (i + 1) : '_', of(({at}) => at) ? 'body' + (i + 1) : '_'];
    const result = call.keep.length ? `${head}, ${body} := ` : '';
    return lines(call.note && '\t// ' + call.note, `\t${result}call(${words.join(', ')})`,
      call.keep.map(({name, header, at}) => (header ? `\t${name} := ${head}.Get("${header}")`
        : lines(`\tvar made${i + 1} ${at.reduceRight((type, part) => `struct{ ${capital(part)} ${type} }`, 'string')}`,
          `\tcheck(json.Unmarshal([]byte(${body}), &made${i + 1}))`,
          `\t${name} := made${i + 1}.${at.map(capital).join('.')}`))));
  };
  return lines('// Run with SSL_CERT_FILE=ca.crt', 'package main', '', 'import (',
    keepsBody(program) ? '\t"encoding/json"' : undefined, '\t"fmt"', '\t"io"', '\t"net/http"',
    hasKey(program) ? '\t"os"' : undefined, '\t"strings"', ')', '',
    'func check(err error) {', '\tif err != nil {', '\t\tpanic(err)', '\t}', '}', '',
    'func call(method, path, body string, headers ...string) (http.Header, string) {',
    `\trequest, err := http.NewRequest(method, "${origin}"+path, strings.NewReader(body))`, '\tcheck(err)',
    hasKey(program) ? '\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("COMANDA_KEY"))' : undefined,
    '\tif body != "" {', '\t\trequest.Header.Set("Content-Type", "application/json")', '\t}',
    '\tfor i := 0; i < len(headers); i += 2 {', '\t\trequest.Header.Set(headers[i], headers[i+1])', '\t}',
    '\tanswer, err := http.DefaultClient.Do(request)', '\tcheck(err)', '\tdefer answer.Body.Close()',
    '\ttext, err := io.ReadAll(answer.Body)', '\tcheck(err)', '\tfmt.Println(answer.StatusCode, string(text))',
    '\treturn answer.Header, string(text)', '}', '', 'func main() {', program.map(one).join('\n\n'), '}');
}

function csharp(program, origin) {
  const text = (pieces) => (isFixed(pieces) ? quoted(pieces.join(''))
    : '$"' + spliced(pieces, (piece) => inside(piece).replace(/[{}]/g, '$&$&'), (name) => `{${name}}`) + '"');
  const long = (json) => '"""\n    ' + indented(json, '    ') + '\n    """';
  const one = (call, i) => {
    const words = argumentsOf(call, text, long, (name, value) => `(${name}, ${value})`);
    if (words[2] === '') words[2] = 'null';
    if (call.isPaged) {
      return lines('// ' + call.note, 'var page = 1;', 'var more = true;', 'while (more)', '{',
        `    var (_, rows) = await Call(${words.join(', ')});`, '    more = rows.Contains("\\"has_more\\":true");', '    page++;', '}');
    }
    const result = call.keep.length ? `var (head${i + 1}, text${i + 1}) = ` : '';
    return lines(call.note && '// ' + call.note, `${result}await Call(${words.join(', ')});`,
      call.keep.map(({name, header, at}) => `var ${name} = ` + (header ? `head${i + 1}.GetValues("${header}").First();`
        : `JsonDocument.Parse(text${i + 1}).RootElement` + at.map((part) => `.GetProperty("${part}")`).join('') + '.GetString();')));
  };
  return lines('// .NET 8. Run with SSL_CERT_FILE=ca.crt', 'using System.Net.Http.Headers;', 'using System.Text;',
    keepsBody(program) ? 'using System.Text.Json;' : undefined, '', `var http = new HttpClient { BaseAddress = new Uri("${origin}") };`,
    hasKey(program) ? 'http.DefaultRequestHeaders.Add("Authorization", "Bearer " + Environment.GetEnvironmentVariable("COMANDA_KEY"));'
      : undefined, '',
    program.map(one).join('\n\n'), '',
    'async Task<(HttpResponseHeaders, string)> Call(string method, string path, string? body, params (string, string)[] headers)',
    '{', '    var request = new HttpRequestMessage(new HttpMethod(method), path);',
    '    if (body != null) request.Content = new StringContent(body, Encoding.UTF8, "application/json");',
    '    foreach (var (name, value) in headers) request.Headers.TryAddWithoutValidation(name, value);',
    '    var answer = await http.SendAsync(request);', '    var text = await answer.Content.ReadAsStringAsync();',
    '    Console.WriteLine($"{(int)answer.StatusCode} {text}");', '    return (answer.Headers, text);', '}');
}

function php(program, origin) {
  const plain = (piece) => "'" + piece.replace(/[\\']/g, '\\$&') + "'";
  const text = (pieces) => pieces.map((piece) => (piece.use ? '$' + piece.use : plain(piece))).join(' . ');
  const one = (call, i) => {
    const sent = others(call).map(([name, value]) => text(joined([name + ': ', ...value])));
    const words = [plain(call.method.toUpperCase()), text(call.path)];
    if (call.body !== undefined) words.push("<<<'JSON'\n    " + indented(pretty(call.body), '    ') + '\n    JSON');
    else if (sent.length) words.push('null');
    if (sent.length) words.push('[' + sent.join(', ') + ']');
    const line = `call(${words.join(', ')});`;
    if (call.isPaged) {
      return lines('// ' + call.note, '$page = 0;', 'do {', '    $page++;', `    [, $rows] = ${line}`,
        '} while (json_decode($rows)->pagination->has_more);');
    }
    return lines(call.note && '// ' + call.note, (call.keep.length ? `[$head${i + 1}, $text${i + 1}] = ` : '') + line,
      call.keep.map(({name, header, at}) => `$${name} = ` + (header ? `$head${i + 1}['${header.toLowerCase()}'];`
        : `json_decode($text${i + 1})->${at.join('->')};`)));
  };
  return lines('<?php', '// PHP 8 with the extension curl. Run with COMANDA_CA=ca.crt',
    'function call(string $method, string $path, ?string $body = null, array $headers = []): array', '{', '    $head = [];',
    hasKey(program) ? "    $headers[] = 'Authorization: Bearer ' . getenv('COMANDA_KEY');" : undefined,
    '    if ($body !== null) {', "        $headers[] = 'Content-Type: application/json';", '    }',
    `    $curl = curl_init('${origin}' . $path);`, '    curl_setopt_array($curl, [', '        CURLOPT_CUSTOMREQUEST => $method,',
    '        CURLOPT_HTTPHEADER => $headers,', "        CURLOPT_CAINFO => getenv('COMANDA_CA'),", "        CURLOPT_PROXY => '',",
    '        CURLOPT_RETURNTRANSFER => true,', '        CURLOPT_HEADERFUNCTION => function ($curl, $line) use (&$head) {',
    "            [$name, $value] = explode(':', $line, 2) + [1 => ''];", '            $head[strtolower($name)] = trim($value);',
    '            return strlen($line);', '        },', '    ] + ($body === null ? [] : [CURLOPT_POSTFIELDS => $body]));',
    '    $text = curl_exec($curl);', '    if ($text === false) {', '        throw new Exception(curl_error($curl));', '    }',
    '    echo curl_getinfo($curl, CURLINFO_RESPONSE_CODE), " $text\\n";', '    return [$head, $text];', '}', '',
    program.map(one).join('\n\n'));
}

function dart(program, origin) {
  const text = (pieces) => '"' + spliced(pieces, (piece) => inside(piece).replace(/\$/g, '\\$'), (name) => '${' + name + '}') + '"';
  const long = (json) => "r'''\n" + json + "'''";
  const one = (call, i) => {
    const words = argumentsOf(call, text, long, (name, value) => name + ': ' + value);
    if (words[2] === '') words[2] = 'null';
    const line = `await call(${words.slice(0, 3).join(', ')}, {${words.slice(3).join(', ')}});`;
    if (call.isPaged) {
      return lines('  // ' + call.note, '  for (var page = 1, more = true; more; page++) {', `    final (_, rows) = ${line}`,
        "    more = jsonDecode(rows)['pagination']['has_more'];", '  }');
    }
    return lines(call.note && '  // ' + call.note, '  ' + (call.keep.length ? `final (head${i + 1}, text${i + 1}) = ` : '') + line,
      call.keep.map(({name, header, at}) => `  final ${name} = ` + (header ? `head${i + 1}.value("${header}");`
        : `jsonDecode(text${i + 1})` + at.map((part) => `['${part}']`).join('') + ';')));
  };
  return lines('// Dart 3. In Flutter give ca.crt to the app as an asset, and its bytes to setTrustedCertificatesBytes().',
    "import 'dart:convert';", "import 'dart:io';", '',
    "final trust = SecurityContext()..setTrustedCertificates(Platform.environment['COMANDA_CA']!);",
    'final http = HttpClient(context: trust);', '',
    'Future<(HttpHeaders, String)> call(String method, String path, String? body, Map<String, String> headers) async {',
    `  final request = await http.openUrl(method, Uri.parse("${origin}" + path));`,
    hasKey(program) ? "  request.headers.set('Authorization', 'Bearer ${Platform.environment['COMANDA_KEY']}');" : undefined,
    '  headers.forEach((name, value) => request.headers.set(name, value));', '  if (body != null) {',
    '    request.headers.contentType = ContentType.json;', '    request.add(utf8.encode(body));', '  }',
    '  final answer = await request.close();', '  final text = await utf8.decodeStream(answer);',
    "  print('${answer.statusCode} $text');", '  return (answer.headers, text);', '}', '',
    'Future<void> main() async {', program.map(one).join('\n\n'), '  http.close();', '}');
}
