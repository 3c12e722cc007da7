// What an operation of the page /docs can do: programs in the language that is chosen, and the form that sends a request.
// Loaded by docs.js when the first one is opened, after programs.js. Everything is made with the DOM.

// The copied text is read when the button is pressed.
function shown(text, label) {
  const code = make('code', {}, text);
  return make('div', {class: 'shown'}, make('pre', {tabindex: '0', role: 'group', 'aria-label': label}, code),
    button('Copy', {'aria-label': 'Copy ' + label}, () => copy(code.textContent)));
}

// Languages

const STORED = 'comanda-docs-language';
let language = 'curl';
try {
  const stored = localStorage.getItem(STORED);
  if (Object.hasOwn(LANGUAGES, stored)) language = stored;
} catch { /* no storage: the choice lasts as long as the page */ }

function choose(name) {
  language = name;
  try {
    localStorage.setItem(STORED, name);
  } catch { /* likewise */ }
  document.dispatchEvent(new Event('language'));
}

// Programs, [[title, program], …], in the language that is chosen, below the choice.
function programsBlock(programs) {
  const blocks = programs.map(([title]) => shown('', ['Program', title].filter(Boolean).join(': ')));
  const tabs = make('div', {class: 'tabs', role: 'group', 'aria-label': 'Language'}, ...Object.keys(LANGUAGES).map((name) =>
    button(TITLES[name], {'data-language': name}, () => choose(name))));
  const show = () => {
    blocks.forEach((block, i) => {
      block.querySelector('code').textContent = written(language, programs[i][1], location.origin);
    });
    for (const tab of tabs.children) tab.setAttribute('aria-pressed', tab.dataset.language === language);
  };
  document.addEventListener('language', show);
  show();
  return make('div', {class: 'programs'}, tabs, ...programs.flatMap(([title], i) =>
    [title && make('h4', {}, title), blocks[i]]));
}

// The key, and what may be sent with it

// In this variable alone: never in a storage, an address or a program.
let apiKey = '';
let isReal = false;
// The newest id that an operation has answered with, for requests about that record.
const madeIds = {};

const isSandboxKey = () => /_test_[0-9A-Za-z]{38}$/.test(apiKey);
const maySend = (method) => method === 'get' || isSandboxKey() || isReal;

function keyState() {
  if (!apiKey) {
    return 'Of the sandbox: comanda keys create --env test --name docs --scopes all. It stays in the memory of this page, ' +
      'and is sent to this address alone.';
  }
  return isSandboxKey() ? 'A key of the sandbox.' : 'Not a key of the sandbox: reads only.';
}

function tellKey() {
  document.dispatchEvent(new Event('key'));
}

function keyField(id) {
  const input = make('input', {id, type: 'password', autocomplete: 'off', spellcheck: 'false', 'aria-describedby': id + '-state'});
  const state = make('p', {id: id + '-state', class: 'kind'});
  input.addEventListener('input', () => {
    apiKey = input.value.trim();
    isReal = false;
    tellKey();
  });
  document.addEventListener('key', () => {
    if (input.value.trim() !== apiKey) input.value = apiKey;
    state.textContent = keyState();
  });
  return make('div', {}, make('label', {for: id}, 'API key'), input, state);
}

// The switch for writes at the live address; it asks once more. Without a key it is there for what needs none.
function realSwitch(id, isKeyNeeded) {
  const box = make('input', {id, type: 'checkbox'});
  const line = make('p', {class: 'real'}, box, make('label', {for: id}, 'This restaurant is real: let me change it'));
  box.addEventListener('change', () => {
    if (!box.checked) {
      isReal = false;
      return tellKey();
    }
    box.checked = false;
    byId('really').showModal();
  });
  document.addEventListener('key', () => {
    box.checked = isReal;
    line.hidden = isSandboxKey() || (isKeyNeeded && !apiKey);
  });
  return line;
}

function reallyDialog() {
  const dialog = make('dialog', {id: 'really', 'aria-labelledby': 'really-title'},
    make('h2', {id: 'really-title'}, 'Change the real restaurant?'),
    make('p', {}, 'Requests from this page will be orders, payments and prices of ' + location.host +
      ': the kitchen sees them, and the accounts have them. To try things, use a key and the address of the sandbox.'),
    make('p', {class: 'buttons'}, button('No', {autofocus: true}, () => dialog.close()),
      button('Yes, it is mine', {class: 'danger'}, () => {
        isReal = true;
        dialog.close();
      })));
  dialog.addEventListener('close', tellKey);
  return dialog;
}

// Try it

const freshKey = () => crypto.randomUUID();

function valueOf(api, parameter) {
  if (parameter['x-made-by']) return madeIds[parameter['x-made-by']] || '';
  return exampleOf(api, parameter);
}

function parameterField(api, parameter, id, method) {
  const isKey = parameter.name === 'Idempotency-Key' && method === 'post';
  const value = parameter.in === 'path' ? valueOf(api, parameter) : isKey ? freshKey() : '';
  const input = make('input', {id, name: parameter.name, 'data-in': parameter.in, value, required: parameter.in === 'path',
    autocomplete: 'off', spellcheck: 'false', placeholder: value ? undefined : String(exampleOf(api, parameter))});
  return make('div', {}, make('label', {for: id}, parameter.name), input);
}

function headersOf(api, operation, fields, body) {
  const headers = {};
  for (const field of fields) if (field.dataset.in === 'header' && field.value) headers[field.name] = field.value;
  if (needsKey(api, operation) && apiKey) headers.Authorization = 'Bearer ' + apiKey;
  if (body) headers['Content-Type'] = 'application/json';
  return headers;
}

function targetOf(path, fields) {
  const query = new URLSearchParams();
  for (const {name, value, dataset} of fields) {
    if (dataset.in === 'path') path = path.replace('{' + name + '}', encodeURIComponent(value));
    if (dataset.in === 'query' && value) query.append(name, value);
  }
  return String(query) ? path + '?' + query : path;
}

async function showAnswer(place, answer, ms) {
  const text = await answer.text();
  let body = text;
  try {
    body = pretty(JSON.parse(text));
  } catch { /* it is no JSON */ }
  const headers = [...answer.headers].map(([name, value]) => name + ': ' + value).join('\n');
  place.replaceChildren(make('h4', {}, make('span', {class: 'status'}, String(answer.status)), ' ' + answer.statusText +
    ' after ' + Math.round(ms) + ' ms'), shown(headers, 'headers of the answer'));
  if (body) place.append(shown(body, 'body of the answer'));
  return body;
}

function remember(operation, answer, body) {
  if (!answer.ok) return;
  try {
    const {data} = JSON.parse(body);
    if (data && data.id) madeIds[operation.operationId] = data.id;
  } catch { /* it has no id */ }
}

// [answer, its body as it is shown]; nothing where none came. Shows it in any case.
async function sendTo(target, method, headers, body, place) {
  place.replaceChildren(make('p', {class: 'kind'}, 'Waiting for the answer …'));
  const begun = performance.now();
  try {
    const answer = await fetch(target, {method: method.toUpperCase(), body, cache: 'no-store', credentials: 'omit', headers});
    return [answer, await showAnswer(place, answer, performance.now() - begun)];
  } catch (error) {
    place.replaceChildren(make('p', {class: 'must'}, 'No answer: ' + error.message));
    return [];
  }
}

async function send(api, {method, path, operation}, form, place) {
  const fields = [...form.querySelectorAll('[data-in]')];
  const area = form.querySelector('textarea');
  const body = area ? area.value : undefined;
  const [answer, read] = await sendTo(targetOf(path, fields), method, headersOf(api, operation, fields, body), body, place);
  if (answer) remember(operation, answer, read);
}

// A walk's calls one after the other, with keys of its own each time, until one is refused. What is kept of an answer is
// used by those that follow.
async function sendWalk(program, place) {
  const kept = {};
  const text = (pieces) => pieces.map((piece) => (piece.use ? kept[piece.use] : piece)).join('');
  place.replaceChildren();
  for (const {method, path, headers, body, keep, note, isPaged} of program) {
    const result = make('div', {class: 'result'});
    place.append(make('h4', {}, note), result);
    const sent = Object.fromEntries(Object.entries(headers).map(([name, pieces]) => [name, text(pieces)]));
    if (sent.Authorization) sent.Authorization = 'Bearer ' + apiKey;
    if (sent['Idempotency-Key']) sent['Idempotency-Key'] = freshKey();
    if (body !== undefined) sent['Content-Type'] = 'application/json';
    for (kept.page = 1; ; kept.page++) {
      const [answer, read] = await sendTo(text(path), method, sent, body && JSON.stringify(body), result);
      if (!answer || !(answer.ok || answer.status === 304)) return;
      for (const {name, header, at} of keep) {
        kept[name] = header ? answer.headers.get(header) : at.reduce((part, word) => part[word], JSON.parse(read));
      }
      if (!isPaged || !JSON.parse(read).pagination.has_more) break;
    }
  }
}

// The body, filled with an example; with a choice where there are several. Another body is another request, with a key of
// its own.
function bodyField(api, call, id, form) {
  const examples = bodiesOf(api, call);
  const area = make('textarea', {id, rows: '10', spellcheck: 'false'});
  const renew = () => {
    const key = form.querySelector('[name="Idempotency-Key"]');
    if (key && key.value) key.value = freshKey();
  };
  const fill = (name) => {
    area.value = pretty(examples.find(([each]) => each === name)[1].value);
    renew();
  };
  fill(examples[0][0]);
  area.addEventListener('input', renew);
  const parts = [make('label', {for: id}, 'Body'), area];
  if (examples.length > 1) {
    const choice = make('select', {id: id + '-example'}, ...examples.map(([name, {summary}]) =>
      make('option', {value: name}, summary || name)));
    choice.addEventListener('change', () => fill(choice.value));
    parts.unshift(make('label', {for: id + '-example'}, 'Example'), choice);
  }
  return make('div', {class: 'wide'}, ...parts);
}

function tryBlock(api, call) {
  const {method, operation} = call;
  const id = 'try-' + operation.operationId;
  const form = make('form', {class: 'try'});
  const place = make('div', {class: 'result', 'aria-live': 'polite'});
  const sender = make('button', {type: 'submit', class: 'send'}, 'Send');
  const parameters = parametersOf(api, operation).filter(({name}) => name !== 'Comanda-Occurred-At');
  const fields = parameters.map((parameter, i) => parameterField(api, parameter, id + '-' + i, method));
  const isEasy = (_, i) => parameters[i].required || parameters[i].name === 'Idempotency-Key';
  const more = fields.filter((field, i) => !isEasy(field, i));
  form.append(keyField(id + '-key'), ...fields.filter(isEasy));
  if (more.length) {
    form.append(make('details', {class: 'wide'}, make('summary', {}, `More parameters (${more.length})`),
      make('div', {class: 'try'}, ...more)));
  }
  if (operation.requestBody) form.append(bodyField(api, call, id + '-body', form));
  if (method !== 'get') form.append(realSwitch(id + '-real', needsKey(api, operation)));
  form.append(make('p', {class: 'buttons'}, sender));
  document.addEventListener('key', () => {
    sender.disabled = !maySend(method);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (maySend(method)) send(api, call, form, place);
  });
  return make('section', {class: 'tryit', 'aria-label': 'Try ' + operation.operationId}, make('h3', {}, 'Try it'),
    make('div', {class: 'beside'}, form, place));
}

function tryWalkBlock(walk, program) {
  const id = 'try-' + walk.id;
  const place = make('div', {class: 'result', 'aria-live': 'polite'});
  const sender = make('button', {type: 'submit', class: 'send'}, 'Send all');
  const form = make('form', {class: 'try'}, keyField(id + '-key'));
  const isRead = program.every(({method}) => method === 'get');
  if (!isRead) form.append(realSwitch(id + '-real', true));
  form.append(make('p', {class: 'buttons'}, sender));
  const isAllowed = () => maySend(isRead ? 'get' : 'post');
  document.addEventListener('key', () => {
    sender.disabled = !isAllowed();
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (!isAllowed()) return;
    sender.disabled = true;
    await sendWalk(program, place);
    sender.disabled = !isAllowed();
  });
  return make('section', {class: 'tryit', 'aria-label': 'Try ' + walk.id}, make('h3', {}, 'Try it'),
    make('div', {class: 'beside'}, form, place));
}

// What is added to the document

// One that unfolds; several refusals together.
function exampleDetails(label, examples) {
  const details = make('details', {class: 'example'}, make('summary', {}, label));
  return filledWhenOpen(details, () => details.append(...examples.map(([name, {summary, value}]) =>
    shown(typeof value === 'string' ? value : pretty(value), 'Example: ' + (summary || name)))));
}

function addExamples(api, operation, root) {
  const sent = Object.values(operation.callbacks || {}).flatMap((each) => Object.values(each)).map(({post}) => post)[0];
  for (const part of root.querySelectorAll('.answer')) {
    const owner = part.closest('.sent') ? sent : operation;
    const response = resolve(api, owner.responses[part.dataset.status]);
    const examples = Object.values(response.content || {}).flatMap((content) => examplesOf(api, content));
    if (response['x-problem-codes']) {
      const mine = examples.filter(([code]) => part.dataset.status === 'default' || owner['x-problem-codes'].includes(code));
      part.append(exampleDetails('Examples', mine));
    } else {
      part.append(...examples.map((example) => exampleDetails('Example: ' + (example[1].summary || example[0]), [example])));
    }
  }
  if (!sent) return;
  const body = examplesOf(api, resolve(api, sent.requestBody).content['application/json']);
  root.querySelector('.sent').append(...body.map((example) => exampleDetails('Example: ' + example[1].summary, [example])));
}

function fillOperation(api, details) {
  const root = details.querySelector('.inside');
  const call = callOf(api, details.id);
  const programs = bodiesOf(api, call).map((example) => [example[1].summary, programOf(api, call, example)]);
  root.querySelectorAll('.sample').forEach((sample) => sample.remove());
  const answers = [...root.querySelectorAll('h3')].find((title) => title.textContent === 'Answers');
  answers.before(make('h3', {}, 'Call it'), programsBlock(programs), tryBlock(api, call));
  addExamples(api, call.operation, root);
  tellKey();
}

function fillWalk(api, details) {
  const walk = WALKS.find(({id}) => 'walk-' + id === details.id);
  const operations = [...new Set(walk.steps.map(([operation]) => operation))];
  details.querySelector('.tags').prepend('Its operations:', ...operations.map((id) =>
    make('a', {href: '#' + id}, make('code', {}, id))));
  const program = walkProgram(api, walk);
  details.querySelector('.inside').append(programsBlock([['', program]]), walk.isReceiver ? '' : tryWalkBlock(walk, program));
  tellKey();
}

document.body.append(reallyDialog());
