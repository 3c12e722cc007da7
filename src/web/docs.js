'use strict';

// Shows /v1/openapi.json for people. Everything is made with the DOM, nothing as markup from text.

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const JSON_TYPES = ['application/json', 'application/problem+json'];
let api;

// -- small tools ------------------------------------------------------------------------------------

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

function resolve(thing) {
  while (thing && thing.$ref) {
    thing = thing.$ref.slice(2).split('/').reduce((at, part) => at[part], api);
  }
  return thing;
}

const nameOf = (thing) => (thing && thing.$ref ? thing.$ref.split('/').pop() : undefined);

// `code`, **strong** and addresses of one line.
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|https:\/\/[^\s`*)]+[^\s`*).,;:])/).map((piece) => {
    if (piece.startsWith('https://')) return make('a', {href: piece}, piece);
    if (piece.startsWith('`')) return make('code', {}, piece.slice(1, -1));
    if (piece.startsWith('**')) return make('strong', {}, piece.slice(2, -2));
    return piece;
  });
}

function prose(text) {
  return (text || '').split('\n\n').filter(Boolean).map((part) => (part.startsWith('- ')
    ? make('ul', {}, ...part.split('\n').map((line) => make('li', {}, ...inline(line.slice(2)))))
    : make('p', {}, ...inline(part))));
}

function say(text) {
  const told = document.getElementById('told');
  told.textContent = text;
  told.classList.add('now');
  setTimeout(() => told.classList.remove('now'), 1500);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say('Copied');
  } catch {
    say('Select it and copy it by hand');
  }
}

function shown(text, label) {
  const button = make('button', {type: 'button', 'aria-label': 'Copy ' + label}, 'Copy');
  button.addEventListener('click', () => copy(text));
  return make('div', {class: 'shown'}, make('pre', {tabindex: '0', 'aria-label': label}, make('code', {}, text)), button);
}

const pretty = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

// -- schemas ----------------------------------------------------------------------------------------

// All properties of an object, those of allOf too.
function membersOf(schema) {
  const found = {properties: {}, required: new Set()};
  const add = (part) => {
    part = resolve(part);
    (part.allOf || []).forEach(add);
    Object.assign(found.properties, part.properties);
    (part.required || []).forEach((name) => found.required.add(name));
  };
  add(schema);
  return found;
}

// Without the alternative null: [schema, whether null is allowed].
function withoutNull(schema) {
  const parts = schema.oneOf || [];
  if (parts.length !== 2) return [schema, [].concat(schema.type || []).includes('null')];
  return [parts.find((part) => part.type !== 'null') || parts[0], parts.some((part) => part.type === 'null')];
}

function kindOf(schema) {
  const [inner, nullable] = withoutNull(schema);
  const real = resolve(inner);
  let kind = [].concat(real.type || []).filter((type) => type !== 'null').join(' or ');
  if (real.allOf || real.properties) kind = nameOf(inner) || 'object';
  if (kind === 'array') kind = 'list of ' + kindOf(real.items || {});
  if (real.format) kind += ', ' + real.format;
  return (kind || 'anything') + (nullable ? ' or null' : '');
}

const isList = (schema) => [].concat(schema.type || []).includes('array');

function limitsOf(schema) {
  const real = resolve(withoutNull(schema)[0]);
  const says = [];
  const add = (label, value) => value !== undefined && says.push(label + ' ' + value);
  add('from', real.minimum);
  add('above', real.exclusiveMinimum);
  add('to', real.maximum);
  if (real.maxLength) says.push('at most ' + real.maxLength + ' characters');
  if (real.maxItems) says.push('at most ' + real.maxItems + ' items');
  add('default', real.default);
  add('always', real.const);
  if (isList(real)) add('each', limitsOf(real.items || {}) || undefined);
  return says.join(' · ');
}

// The values of an enumeration. Those of a list have a description of their own beside the list's.
function wordsOf(schema) {
  const real = resolve(withoutNull(schema)[0]);
  const one = isList(real) ? resolve(real.items || {}) : real;
  if (!one.enum) return undefined;
  return make('div', {}, ...(one === real ? [] : prose(one.description)),
    make('p', {}, ...one.enum.flatMap((word, i) => [i ? ' ' : '', make('code', {}, String(word))])));
}

// The object below a property or in its list; nothing where there is none.
function below(schema) {
  let [inner] = withoutNull(schema);
  let real = resolve(inner);
  if (isList(real)) [inner] = withoutNull(real.items || {});
  real = resolve(inner);
  return real.properties || real.allOf ? inner : undefined;
}

function fold(schema, open) {
  const details = make('details', {class: 'below', open}, make('summary', {}, 'Fields of ', nameOf(schema) || 'it'));
  details.addEventListener('toggle', () => details.open && details.children.length < 2 && details.append(fields(schema)));
  return details;
}

function fields(schema) {
  const {properties, required} = membersOf(schema);
  return make('dl', {class: 'rows'}, ...Object.entries(properties).map(([name, property]) => {
    const inner = below(property);
    const description = property.description || (property.$ref && resolve(property).description);
    return make('div', {class: 'row'},
      make('dt', {}, make('code', {}, name), required.has(name) ? '' : make('span', {class: 'kind'}, ' optional')),
      make('dd', {}, make('span', {class: 'kind'}, [kindOf(property), limitsOf(property)].filter(Boolean).join(' · ')),
        ...prose(description), wordsOf(property), inner && fold(inner, Object.keys(properties).length === 1)));
  }));
}

function schemaOf(schema) {
  const inner = below(schema);
  if (!inner) return make('p', {class: 'kind'}, kindOf(schema));
  const real = resolve(inner);
  return make('div', {}, ...prose(real.description), fields(inner));
}

// -- operations -------------------------------------------------------------------------------------

function exampleOf(parameter) {
  return parameter.example !== undefined ? parameter.example : resolve(parameter.schema).default;
}

function quoted(text) {
  return "'" + text.replace(/'/g, "'\\''") + "'";
}

// The commands. Each works as it stands in a fresh demo restaurant, pasted after those above it.

// One call. `name` is the example's: an Idempotency-Key of its own belongs to each. A call of which only the answer's id
// is wanted (isStep) has none, and the records that it speaks of have been made before it.
function curl({method, path, operation}, {value, name, isStep} = {}) {
  const parameters = (operation.parameters || []).map(resolve);
  const made = [];
  for (const parameter of parameters.filter((each) => each.in === 'path')) {
    const id = parameter['x-made-by'] ? '$' + variableOf(parameter) : encodeURIComponent(exampleOf(parameter));
    if (parameter['x-made-by']) made.push(parameter);
    path = path.replace('{' + parameter.name + '}', id);
  }
  const address = location.origin + path;
  const words = ['curl --cacert "$COMANDA_CA"' + (method === 'get' ? '' : ' -X ' + method.toUpperCase()),
    made.length ? '"' + address + '"' : quoted(address)];
  const security = operation.security || api.security || [];
  if (security.length) words.push('-H "Authorization: Bearer $COMANDA_KEY"');
  if (method === 'post' && !isStep) {
    for (const parameter of parameters.filter((each) => each.name === 'Idempotency-Key')) {
      const key = [exampleOf(parameter), operation.operationId, name].filter(Boolean).join('-');
      words.push('-H ' + quoted(parameter.name + ': ' + key));
    }
  }
  if (value !== undefined) words.push("-H 'Content-Type: application/json'", '-d ' + quoted(pretty(value)));
  return [...(isStep ? [] : made.map(maker)), words.join(' \\\n  ')].join('\n');
}

// ID of `id`, DELIVERY_ID of `deliveryId`.
const variableOf = (parameter) => parameter.name.replace(/[A-Z]/g, '_$&').toUpperCase();

// The command that makes the record of which the next one speaks, and takes its id from the answer.
function maker(parameter) {
  const call = operations().find(({operation}) => operation.operationId === parameter['x-made-by']);
  const [[, example]] = examplesOf(resolve(call.operation.requestBody).content['application/json']);
  return variableOf(parameter) + '=$(' + curl(call, {value: example.value, isStep: true}) +
    " \\\n  | grep -o '\"id\":\"[^\"]*' | head -n 1 | cut -d '\"' -f 4)";
}

// [[the example's summary, the command], …] of an operation.
function commandsOf(call) {
  const body = resolve(call.operation.requestBody);
  if (!body) return [['', curl(call)]];
  return examplesOf(body.content['application/json']).map(([name, example]) =>
    [example.summary || name, curl(call, {value: example.value, name})]);
}

function examplesOf(content) {
  if (content.example !== undefined) return [['Example', {value: content.example}]];
  return Object.entries(content.examples || {}).map(([name, example]) => [name, resolve(example)]);
}

function exampleBlock(label, value, open) {
  return make('details', {class: 'example', open}, make('summary', {}, label), shown(pretty(value), label));
}

function parametersOf(operation) {
  const parameters = (operation.parameters || []).map(resolve);
  if (!parameters.length) return [];
  return [make('h3', {}, 'Parameters'), parameterRows(parameters, (parameter) => [
    make('span', {class: 'kind'}, parameter.in), ' ',
    parameter.required ? make('span', {class: 'must'}, 'required') : ''])];
}

// `marks` gives what stands beside the name.
function parameterRows(parameters, marks) {
  return make('dl', {class: 'rows'}, ...parameters.map((parameter) =>
    make('div', {class: 'row'},
      make('dt', {}, make('code', {}, parameter.name), ' ', ...marks(parameter)),
      make('dd', {}, make('span', {class: 'kind'},
        [kindOf(parameter.schema), limitsOf(parameter.schema)].filter(Boolean).join(' · ')),
        ...prose(parameter.description), wordsOf(parameter.schema),
        make('p', {class: 'kind'}, 'as ', make('code', {}, String(exampleOf(parameter))))))));
}

function bodyOf(call) {
  const parts = [];
  const body = resolve(call.operation.requestBody);
  if (body) parts.push(make('h3', {}, 'Body'), schemaOf(body.content['application/json'].schema));
  parts.push(make('h3', {}, 'Call it'));
  for (const [summary, command] of commandsOf(call)) {
    if (summary) parts.push(make('h4', {}, summary));
    parts.push(shown(command, ['curl command', summary].filter(Boolean).join(': ')));
  }
  return parts;
}

// What the box itself sends because of an operation, and which answers it expects.
function callbacksOf(operation) {
  const items = Object.values(operation.callbacks || {}).flatMap((callback) => Object.values(callback));
  return items.flatMap((item) => METHODS.filter((method) => item[method]).map((method) => {
    const sent = item[method];
    const content = resolve(sent.requestBody).content['application/json'];
    return make('div', {class: 'sent'}, make('h3', {}, 'What the box sends'), ...prose(sent.description),
      make('h3', {}, 'Its headers'), parameterRows((sent.parameters || []).map(resolve), (header) => [
        header.required ? make('span', {class: 'kind'}, 'always') : '']),
      make('h3', {}, 'Its body'), schemaOf(content.schema),
      ...examplesOf(content).map(([name, example]) => exampleBlock(example.summary || name, example.value, false)),
      make('h3', {}, 'What to answer'), ...answersOf(sent));
  }));
}

// What succeeds first, what any request may meet last.
function answersOf(operation) {
  const rank = (status) => (status === 'default' ? 2 : status.startsWith('2') ? 0 : 1);
  return Object.entries(operation.responses)
    .sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b))
    .map(([status, response]) => answerOf(operation, status, response));
}

function problemsOf(operation, response) {
  const known = response['x-problem-codes'];
  if (!known) return [];
  const all = operation['x-problem-codes'] || [];
  const mine = known.filter((code) => all.includes(code));
  const items = (mine.length ? mine : known).flatMap((code, i) =>
    [i ? ', ' : '', make('a', {href: '/problems/' + code}, make('code', {}, code))]);
  return [make('p', {}, ...items)];
}

function answerOf(operation, status, response) {
  response = resolve(response);
  const head = [make('span', {class: 'status'}, status === 'default' ? 'other' : status), ' ',
    ...inline(response.description)];
  if (!response.headers && !response.content && !response['x-problem-codes']) return make('div', {class: 'answer'}, ...head);
  const details = make('details', {class: 'answer', open: status.startsWith('2')}, make('summary', {}, ...head));
  const fill = () => {
    if (details.children.length > 1) return;
    details.append(...problemsOf(operation, response));
    const headers = Object.entries(response.headers || {});
    if (headers.length) {
      details.append(make('details', {class: 'below'}, make('summary', {}, 'Headers'),
        make('dl', {class: 'rows'}, ...headers.map(([name, header]) => make('div', {class: 'row'},
          make('dt', {}, make('code', {}, name)), make('dd', {}, ...prose(resolve(header).description)))))));
    }
    for (const [type, content] of Object.entries(response.content || {})) {
      if (!JSON_TYPES.includes(type)) details.append(make('p', {class: 'kind'}, type));
      if (type === 'application/json') {
        const members = membersOf(content.schema);
        if (Object.keys(members.properties).length) {
          details.append(make('details', {class: 'below'}, make('summary', {}, 'Fields'), fields(content.schema)));
        }
      }
      const wanted = operation['x-problem-codes'] || [];
      const examples = examplesOf(content).filter(([name]) => type !== 'application/problem+json' ||
        status === 'default' || wanted.includes(name));
      examples.forEach(([name, example]) => details.append(exampleBlock(example.summary || name, example.value,
        examples.length === 1 && status.startsWith('2'))));
    }
  };
  details.addEventListener('toggle', fill);
  if (details.open) fill();
  return details;
}

function inside(method, path, operation) {
  const scopes = [].concat(operation['x-required-scope'] || []);
  const security = operation.security || api.security || [];
  const tags = scopes.map((scope) => make('span', {class: 'tag'}, 'scope ', make('code', {}, scope)));
  if (!security.length) tags.push(make('span', {class: 'tag'}, 'no key'));
  return make('div', {class: 'inside'}, make('div', {class: 'tags'}, ...tags),
    ...prose(operation.description.replace(/\n\n(Scope: `[^`]+`\.|Needs no key\.)$/, '')),
    ...parametersOf(operation), ...bodyOf({method, path, operation}),
    make('h3', {}, 'Answers'),
    ...answersOf(operation), ...callbacksOf(operation));
}

function operationBlock({method, path, operation}) {
  const details = make('details', {class: 'operation', id: operation.operationId},
    make('summary', {}, make('span', {class: 'method ' + method}, method), make('code', {class: 'path'}, path),
      make('span', {class: 'soft'}, operation.summary)));
  details.addEventListener('toggle', () => {
    if (!details.open) return;
    if (details.children.length < 2) details.append(inside(method, path, operation));
    if (location.hash !== '#' + details.id) history.replaceState(null, '', '#' + details.id);
    mark();
  });
  return details;
}

// -- the page ---------------------------------------------------------------------------------------

function operations() {
  return Object.entries(api.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({method, path, operation: item[method]})));
}

function indexItem({method, path, operation}) {
  const words = [path, method, operation.summary, operation.description, operation.operationId,
    operation['x-required-scope'], ...(operation['x-problem-codes'] || []), ...Object.keys(operation.responses)];
  return make('li', {'data-words': words.join(' ').toLowerCase()},
    make('a', {href: '#' + operation.operationId, title: path}, make('span', {class: 'method ' + method}, method),
      make('span', {}, operation.summary)));
}

function mark() {
  for (const link of document.querySelectorAll('#index a')) {
    if (link.getAttribute('href') !== location.hash) {
      link.removeAttribute('aria-current');
      continue;
    }
    link.setAttribute('aria-current', 'true');
    reveal(link);
  }
}

// Scrolls the index alone: scrollIntoView() would move the page too where the index is above it.
function reveal(link) {
  const index = link.closest('nav');
  const frame = index.getBoundingClientRect();
  const place = link.getBoundingClientRect();
  if (place.top >= frame.top && place.bottom <= frame.bottom) return;
  index.scrollTop += place.top - frame.top - index.clientHeight / 2;
}

function openHash() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.tagName === 'DETAILS') target.open = true;
  target.scrollIntoView();
  const summary = target.querySelector('summary');
  if (summary) summary.focus({preventScroll: true});
  mark();
}

function search() {
  const wanted = document.getElementById('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of document.querySelectorAll('#index li')) {
    item.hidden = !wanted.every((word) => item.dataset.words.includes(word));
  }
  for (const group of document.querySelectorAll('#index section')) {
    group.hidden = !group.querySelector('li:not([hidden])');
  }
  document.getElementById('none').hidden = document.querySelector('#index li:not([hidden])') !== null;
}

function scopesBlock() {
  return make('section', {id: 'scopes'}, make('h2', {}, 'Scopes'),
    make('dl', {class: 'rows'}, ...Object.entries(api['x-scopes'] || {}).map(([name, permits]) =>
      make('div', {class: 'row'}, make('dt', {}, make('code', {}, name)), make('dd', {}, permits)))));
}

function schemasBlock() {
  const blocks = Object.keys(api.components.schemas).map((name) => {
    const details = make('details', {class: 'operation', id: 'schema-' + name},
      make('summary', {}, make('code', {class: 'path'}, name)));
    details.addEventListener('toggle', () => {
      if (!details.open || details.children.length > 1) return;
      const schema = {$ref: '#/components/schemas/' + name};
      details.append(make('div', {class: 'inside'}, schemaOf(schema),
        below(schema) ? undefined : make('div', {}, ...prose(resolve(schema).description), wordsOf(schema))));
    });
    return details;
  });
  return make('section', {id: 'schemas'}, make('h2', {}, 'Schemas'), ...blocks);
}

function show() {
  const all = operations();
  const content = document.getElementById('content');
  const index = document.getElementById('index');
  document.getElementById('edition').textContent = api.info.summary + ' API ' + api.info.version;
  content.replaceChildren(make('section', {id: 'about'}, ...prose(api.info.description)));
  for (const tag of api.tags) {
    const mine = all.filter(({operation}) => operation.tags.includes(tag.name));
    if (!mine.length) continue;
    const id = 'tag-' + tag.name.toLowerCase().replace(/\s+/g, '-');
    content.append(make('section', {id}, make('h2', {}, tag.name), make('p', {class: 'soft'}, tag.description),
      ...mine.map(operationBlock)));
    index.append(make('section', {}, make('h2', {}, tag.name), make('ul', {}, ...mine.map(indexItem))));
  }
  content.append(scopesBlock(), schemasBlock());
  index.append(make('section', {}, make('h2', {}, 'More'), make('ul', {},
    make('li', {'data-words': 'scopes'}, make('a', {href: '#scopes'}, 'Scopes')),
    make('li', {'data-words': 'schemas'}, make('a', {href: '#schemas'}, 'Schemas')))));
  openHash();
}

document.getElementById('search').addEventListener('input', search);
addEventListener('hashchange', openHash);
addEventListener('keydown', (event) => {
  const search = document.getElementById('search');
  if (event.key === '/' && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
    event.preventDefault();
    search.focus();
  }
});

fetch('/v1/openapi.json')
  .then((answer) => {
    if (!answer.ok) throw new Error('status ' + answer.status);
    return answer.json();
  })
  .then((document_) => {
    api = document_;
    show();
  })
  .catch((error) => {
    document.getElementById('state').textContent = 'The document could not be read: ' + error.message;
  });
