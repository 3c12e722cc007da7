'use strict';

// Programs that call the API, in six languages. Each works as it stands in a fresh demo restaurant.
//
// A program is a list of calls: {method, path, headers, body, keep, note, isQuiet}. `path` and the values of
// `headers` are lists of pieces: a text, or {use: NAME}, a value that an earlier call has kept. `keep` lists
// {name, header: NAME} or {name, at: ['data', 'id']}: what later calls need of the answer. `isQuiet`: of the answer
// only that is wanted.

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

// A UUID as a program of one's own makes them, but the same each time that the page is made: a page pasted again does nothing
// twice.
function uuidFor(text) {
  const hash = (seed) => [...text].reduce((sum, c) => Math.imul(sum ^ c.codePointAt(0), 0x01000193), seed) >>> 0;
  const hex = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35].map((seed) => hash(seed).toString(16).padStart(8, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), '4' + hex.slice(13, 16), 'a' + hex.slice(17, 20), hex.slice(20)].join('-');
}

function plainCall(api, {method, path, operation}, name, value) {
  const parameters = parametersOf(api, operation);
  const headers = {};
  if (needsKey(api, operation)) headers.Authorization = ['Bearer ', {use: 'key'}];
  const key = parameters.find((each) => each.name === 'Idempotency-Key');
  // A key of its own for each example.
  if (key && method === 'post') {
    headers['Idempotency-Key'] = [uuidFor(operation.operationId + '-' + name)];
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
const OPEN = '?filter[status]=PENDING,PREPARING&sort=created_at';
const WALK_KEYS = ['b7c1f0a2-3d4e-4f56-8a90-1c2d3e4f5a61', '0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c62',
  '5e4d3c2b-1a09-4f8e-a7d6-c5b4a3928163'];
const WALKS = [
  {id: 'first-order', steps: [
    ['placeOrder', 'Place an order. Send the Idempotency-Key again when you repeat it.',
      {idempotencyKey: WALK_KEYS[0], body: {service_type: 'TAKEAWAY'}, keep: [{name: 'id', at: ['data', 'id']}]}],
    ['addCombos', 'Two ceviches with more cancha: 85.00 in all.', {uses: 'id', idempotencyKey: WALK_KEYS[1], example: 'linked'}],
    ['addPayment', 'Paid in cash.', {uses: 'id', idempotencyKey: WALK_KEYS[2],
      body: {payment_method_code: 'cash', amount: 85, received_amount: 100}}],
    ['moveOrder', 'The kitchen begins.', {uses: 'id', body: {status: 'PREPARING'}}],
  ]},
  {id: 'display', steps: [
    ['listOrders', 'The open orders, with their tag.', {query: OPEN, keep: [{name: 'etag', header: 'ETag'}]}],
    ['listOrders', 'Unchanged: 304 without a body, which costs nothing.',
      {query: OPEN, headers: {'If-None-Match': [{use: 'etag'}]}}],
    ['listOrders', 'Wait until an order changes, at most 25 seconds. Repeat this with the tag of each answer.',
      {query: OPEN, headers: {'If-None-Match': [{use: 'etag'}], Prefer: ['wait=25']}}],
  ]},
  {id: 'erp', steps: [
    ['listOrders', 'Once: the orders, and the place in the feed where they were read.',
      {query: '?per_page=100', keep: [{name: 'cursor', header: 'X-Event-Cursor'}]}],
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
];

function walkProgram(api, walk) {
  return walk.steps.map(([operation, note, step], i) => {
    const call = callOf(api, operation);
    const [name, {value}] = bodiesOf(api, call).find(([each]) => each === step.example) || ['', {}];
    const made = plainCall(api, call, name, step.body || value);
    if (step.uses) made.path = call.path.split(/[{}]/).map((part, at) => (at === 1 ? {use: step.uses} : part));
    if (step.query) made.path[made.path.length - 1] += step.query;
    if (step.after) made.path.push({use: step.after});
    delete made.headers['Idempotency-Key'];
    if (step.idempotencyKey) made.headers['Idempotency-Key'] = [step.idempotencyKey];
    Object.assign(made.headers, step.headers);
    return {...made, keep: step.keep || [], note: i + 1 + '. ' + note};
  });
}

// From calls to text

const upper = (name) => name.replace(/[A-Z]/g, '_$&').toUpperCase();
const lower = (name) => upper(name).toLowerCase();
const capital = (name) => name[0].toUpperCase() + name.slice(1);
const pretty = (value) => JSON.stringify(value, null, 2);
const indented = (text, by) => text.replace(/\n/g, '\n' + by);
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

const LANGUAGES = {curl, javascript, python, kotlin, go, csharp};
const TITLES = {curl: 'curl', javascript: 'JavaScript', python: 'Python', kotlin: 'Kotlin', go: 'Go', csharp: 'C#'};

function curl(program, origin) {
  const inQuotes = (text) => "'" + text.replace(/'/g, "'\\''") + "'";
  const text = (pieces) => (isFixed(pieces) ? inQuotes(pieces.join(''))
    : '"' + spliced(pieces, (piece) => piece.replace(/[\\"$`]/g, '\\$&'), (name) => '$' + upper(name)) + '"');
  const one = ({method, path, headers, body, keep, note, isQuiet}) => {
    const hasHeader = keep.some(({header}) => header);
    const words = ['curl --cacert "$COMANDA_CA"' + (method === 'get' ? '' : ' -X ' + method.toUpperCase()) +
      (path.some((piece) => !piece.use && piece.includes('[')) ? ' -g' : '') + (headers['If-None-Match'] ? ' -i' : ''), text([origin, ...path])];
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
    return lines(note && '# ' + note, command, keep.filter(({header}) => header).map(({name, header}) =>
      `${upper(name)}=$(sed -n 's/^${header}: //p' headers.txt | tr -d '\\r')`));
  };
  return program.map(one).join(program.some(({note}) => note) ? '\n\n' : '\n');
}

function javascript(program, origin) {
  const text = (pieces) => (isFixed(pieces) ? "'" + pieces.join('').replace(/[\\']/g, '\\$&') + "'"
    : '`' + spliced(pieces, (piece) => piece.replace(/[\\`$]/g, '\\$&'), (name) => '${' + name + '}') + '`');
  const one = ({method, path, headers, body, keep, note}, i) => {
    const read = 'text' + (i + 1);
    const options = [
      method !== 'get' && `  method: '${method.toUpperCase()}',`,
      ...(Object.keys(headers).length || body !== undefined ? ['  headers: {',
        ...Object.entries(headers).map(([name, value]) => `    '${name}': ${text(value)},`),
        body !== undefined && "    'Content-Type': 'application/json',", '  },'] : []),
      body !== undefined && `  body: JSON.stringify(${indented(pretty(body), '  ')}),`,
    ].filter(Boolean);
    const all = text([origin, ...path]) + (options.length ? ', {\n' + options.join('\n') + '\n}' : '');
    return lines(note && '// ' + note, (i ? '' : program.length > 1 ? 'let ' : 'const ') + `answer = await fetch(${all});`,
      keep.some(({at}) => at) ? [`const ${read} = await answer.text();`, `console.log(answer.status, ${read});`] :
        'console.log(answer.status, await answer.text());',
      keep.map(({name, header, at}) => `const ${name} = ` +
        (header ? `answer.headers.get('${header}');` : `JSON.parse(${read}).${at.join('.')};`)));
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
  const one = ({method, path, headers, body, keep, note}) => {
    const words = [text([origin, ...path])];
    const sent = others({headers});
    if (sent.length) words.push('headers={' + sent.map(([name, pieces]) => quoted(name) + ': ' + text(pieces)).join(', ') + '}');
    if (body !== undefined) words.push('json=' + value(body, ''));
    return lines(note && '# ' + note, `answer = box.${method}(${words.join(', ')})`, 'print(answer.status_code, answer.text)',
      keep.map(({name, header, at}) => `${lower(name)} = ` + (header ? `answer.headers["${header}"]`
        : 'answer.json()' + at.map((part) => `["${part}"]`).join(''))));
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
    const result = call.keep.length ? `val answer${i + 1} = ` : '';
    return lines(call.note && '    // ' + call.note, `    ${result}call(${words.join(', ')})`,
      call.keep.map(({name, header, at}) => `    val ${name} = ` + (header ? `answer${i + 1}.first["${header}"]!!`
        : `Regex("\\"${at.at(-1)}\\":\\"([^\\"]+)").findAll(answer${i + 1}.second).${at.length > 1 ? 'first' : 'last'}().groupValues[1]`)));
  };
  return lines('// OkHttp 4 or newer. The device trusts the authority of /ca.crt (java: -Djavax.net.ssl.trustStore).',
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
  const text = (pieces) => pieces.map((piece) => (piece.use ? piece.use : quoted(piece))).join('+');
  const long = (json) => (json.includes('`') ? quoted(json) : '`' + json + '`');
  const one = (call, i) => {
    const words = argumentsOf(call, text, long, (name, value) => name + ', ' + value);
    if (words[2] === '') words[2] = '""';
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
