'use strict';

// The page /docs. The document is in the page (web/reference.h); this adds the index, the search and the links between its
// parts. What calls operations is in programs.js, receivers.js and trying.js, loaded when the first one is opened. Everything is made
// with the DOM, nothing as markup from text.

const byId = (id) => document.getElementById(id);

// Small tools

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

function button(label, attributes, action) {
  const made = make('button', {type: 'button', ...attributes}, label);
  made.addEventListener('click', action);
  return made;
}

function say(text) {
  byId('told').textContent = text;
  byId('told').classList.add('now');
  setTimeout(() => byId('told').classList.remove('now'), 1500);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say('Copied');
  } catch {
    say('Select it and copy it by hand');
  }
}

// Calls fill() when the details are opened for the first time.
function filledWhenOpen(details, fill) {
  details.addEventListener('toggle', fill, {once: true});
  return details;
}

async function readApi() {
  const answer = await fetch('/v1/openapi.json');
  if (!answer.ok) throw new Error('/v1/openapi.json: ' + answer.status);
  return answer.json();
}

function loadTools() {
  return new Promise((done, failed) => {
    const script = make('script', {src: '/docs/tools.js', integrity: document.body.dataset.tools});
    script.addEventListener('load', done);
    script.addEventListener('error', () => failed(new Error('/docs/tools.js could not be loaded')));
    document.head.append(script);
  });
}

// Calls fill(the document as data), when that and the tools are there.
let ready;
function withTools(fill) {
  ready ||= Promise.all([readApi(), loadTools()]);
  ready.then(([api]) => fill(api)).catch((error) => {
    ready = undefined;
    say(error.message);
  });
}

// The document

// A link behind a name; a click copies the address.
function anchor(id) {
  const link = make('a', {class: 'anchor', href: '#' + id, 'aria-label': 'Copy the link to ' + id}, '#');
  link.addEventListener('click', () => copy(location.origin + location.pathname + '#' + id));
  return link;
}

// Behind each link to a schema its fields, which unfold in place.
function unfold(root) {
  for (const line of root.querySelectorAll('p.kind')) {
    const link = line.querySelector('a[href^="#schema-"]');
    const rows = link && byId(link.hash.slice(1)).querySelector('dl');
    if (!rows) continue;
    const details = make('details', {class: 'below'}, make('summary', {}, 'Fields of ' + link.textContent));
    line.after(filledWhenOpen(details, () => {
      const copied = rows.cloneNode(true);
      for (const row of copied.querySelectorAll('[id]')) row.removeAttribute('id');
      for (const inner of copied.querySelectorAll('.anchor, .below')) inner.remove();
      details.append(copied);
      unfold(copied);
    }));
  }
}

// In the place of the links to shared parameters their rows.
function unshare(root) {
  const links = [...root.querySelectorAll('a.shared')];
  if (!links.length) return;
  const place = links[0].parentNode;
  const next = place.nextElementSibling;
  const rows = next && next.matches('dl') ? next : make('dl', {class: 'rows'});
  rows.prepend(...links.flatMap((link) => {
    const term = byId(link.hash.slice(1));
    const [name, meaning] = [term.cloneNode(true), term.nextElementSibling.cloneNode(true)];
    name.removeAttribute('id');
    name.querySelectorAll('.anchor').forEach((each) => each.remove());
    return [name, meaning];
  }));
  place.replaceWith(rows);
}

// The codes of refusals lead to their pages.
function linkCodes(root) {
  for (const code of root.querySelectorAll('a.status ~ code')) {
    code.replaceWith(make('a', {href: '/problems/' + code.textContent}, code.cloneNode(true)));
  }
}

function openOperation(details) {
  const root = details.querySelector('.inside');
  root.querySelector('.tags').append(anchor(details.id));
  unshare(root);
  unfold(root);
  linkCodes(root);
  withTools((api) => fillOperation(api, details));
}

function openWalk(details) {
  details.querySelector('.inside').append(make('p', {class: 'tags'}, anchor(details.id)));
  withTools((api) => fillWalk(api, details));
}

function openSchema(details) {
  details.querySelector('.inside').prepend(make('p', {class: 'tags'}, anchor(details.id)));
  for (const row of details.querySelectorAll('dt')) row.append(anchor(row.id));
  unfold(details);
}

// The index and the search

function indexItem(details) {
  const summary = details.querySelector('summary');
  const method = summary.querySelector('.method');
  const title = summary.querySelector('.soft') || summary;
  return make('li', {'data-of': details.id}, make('a', {href: '#' + details.id},
    method ? method.cloneNode(true) : '', make('span', {}, title.textContent)));
}

function makeIndex() {
  const groups = [...document.querySelectorAll('main > section')].filter((section) => section.querySelector('h2')).map((section) => {
    const items = section.id === 'schemas' ? [] : [...section.querySelectorAll('.operation')].map(indexItem);
    const title = section.querySelector('h2').textContent;
    return items.length ? make('section', {}, make('h2', {}, title), make('ul', {}, ...items))
      : make('li', {'data-of': section.id}, make('a', {href: '#' + section.id}, title));
  });
  const [sections, rest] = [groups.filter((each) => each.tagName !== 'LI'), groups.filter((each) => each.tagName === 'LI')];
  byId('index').append(...sections, make('section', {}, make('h2', {}, 'More'), make('ul', {}, ...rest)));
}

// What is found beside operations, and leads to its place: [names, address, name, where it is, what is written about it].
let known;
function knownNames() {
  if (known) return known;
  const prose = (part) => (part ? part.textContent.toLowerCase() : '');
  const all = (selector, row) => [...document.querySelectorAll(selector)].map(row);
  const fields = all('#schemas dt', (row) => {
    const [name, schema] = [row.querySelector('code').textContent, row.closest('details').id.slice('schema-'.length)];
    return [(name + ' ' + schema + ' field').toLowerCase(), '#' + row.id, name, schema, prose(row.nextElementSibling)];
  });
  const schemas = all('#schemas details', (details) => {
    const name = details.querySelector('summary').textContent;
    return [(name + ' schema').toLowerCase(), '#' + details.id, name, 'schema', prose(details.querySelector('.inside > p'))];
  });
  const codes = [...document.querySelectorAll('#schema-ProblemCode code, #schema-FieldErrorCode code')].filter((code) =>
    code.closest('.inside') && /^[a-z_]+$/.test(code.textContent)).map((code) => {
    const isProblem = code.closest('details').id === 'schema-ProblemCode';
    return [code.textContent + ' code', isProblem ? '/problems/' + code.textContent : '#schema-FieldErrorCode', code.textContent,
      isProblem ? 'problem' : 'code of a field', ''];
  });
  const rows = (id, where) => all(`#${id} dt`, (row) => {
    const name = (row.querySelector('code') || row.firstChild).textContent;
    return [(name + ' ' + where).toLowerCase(), '#' + (row.id || id), name, where, prose(row.nextElementSibling)];
  });
  const about = all('#about > p[id]', (part) =>
    ['', '#' + part.id, part.querySelector('strong').textContent.replace(/\W+$/, ''), 'about the API', prose(part)]);
  return known = [...rows('scopes', 'scope'), ...codes, ...fields, ...schemas, ...rows('parameters', 'parameter'),
    ...rows('headers', 'header'), ...rows('answers', 'refusal'), ...about];
}

// Of an operation all that is written about it, of another section its title: what it has is found by itself.
function wordsOf(part) {
  const text = part.matches('details') ? part : part.querySelector('h2');
  return (text.textContent + ' ' + part.id).toLowerCase();
}

const HITS_MAX = 24;

function search() {
  const wanted = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  const hasAll = (text) => wanted.every((word) => text.includes(word));
  for (const item of document.querySelectorAll('#index li')) {
    item.words ||= wordsOf(byId(item.dataset.of));
    item.hidden = !hasAll(item.words);
  }
  for (const group of document.querySelectorAll('#index section')) group.hidden = !group.querySelector('li:not([hidden])');
  // The closest first: the name itself, what begins with it, what is named so, what speaks of it.
  const rank = ([names, , name]) => (name === wanted[0] ? 0 : name.startsWith(wanted[0]) ? 1 : hasAll(names) ? 2 : 3);
  const hits = wanted.length ? knownNames().filter(([names, , , , prose]) => hasAll(names + ' ' + prose))
    .sort((a, b) => rank(a) - rank(b)) : [];
  byId('hits').replaceChildren(...hits.slice(0, HITS_MAX).map(([, href, name, where]) =>
    make('li', {}, make('a', {href}, make('code', {}, name), make('span', {class: 'soft'}, where)))));
  byId('hits').parentNode.hidden = !hits.length;
  byId('none').hidden = hits.length > 0 || document.querySelector('#index li:not([hidden])') !== null;
}

function mark() {
  for (const link of document.querySelectorAll('#index a')) {
    if (link.hash !== location.hash) {
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
  const target = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  const details = target.closest('details');
  if (details) details.open = true;
  target.scrollIntoView();
  const summary = details === target && target.querySelector('summary');
  if (summary) summary.focus({preventScroll: true});
  mark();
}

function start() {
  for (const row of document.querySelectorAll('#schemas dt')) {
    row.id = row.closest('details').id + '.' + row.querySelector('code').textContent;
  }
  for (const bold of document.querySelectorAll('#about > p > strong:first-child')) {
    bold.parentNode.id = 'about-' + bold.textContent.toLowerCase().replace(/\W+$/, '').replace(/\W+/g, '-');
  }
  for (const details of document.querySelectorAll('.operation')) {
    const open = {schema: openSchema, walk: openWalk}[details.id.split('-')[0]] || openOperation;
    filledWhenOpen(details, () => open(details));
    details.addEventListener('toggle', () => {
      if (details.open && location.hash.split('.')[0] !== '#' + details.id) history.replaceState(null, '', '#' + details.id);
      mark();
    });
  }
  makeIndex();
  for (const title of document.querySelectorAll('main > section[id] > h2')) title.append(' ', anchor(title.parentNode.id));
  for (const row of document.querySelectorAll('#scopes dt, #parameters dt, #answers dt')) row.append(' ', anchor(row.id));
  document.querySelector('nav').hidden = byId('walks').hidden = false;
  byId('search').addEventListener('input', search);
  openHash();
}

addEventListener('hashchange', openHash);
addEventListener('keydown', (event) => {
  if (event.key === '/' && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) {
    event.preventDefault();
    byId('search').focus();
  }
});
start();
