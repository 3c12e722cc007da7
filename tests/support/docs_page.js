// Prints what the page /docs shows of its operations, all of it unfolded, as JSON: {operationId: [name, class, child…]};
// a text is a child.
// docs_page.js DOCS.JS OPENAPI.JSON
'use strict';
const {readFileSync} = require('node:fs');
const vm = require('node:vm');

const [script, file] = process.argv.slice(2);

// What docs.js needs of the DOM.
class Element {
  constructor(name) {
    Object.assign(this, {name, attributes: {}, children: [], listeners: [], open: false});
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
    if (name === 'open') this.open = true;
  }
  append(...children) {
    this.children.push(...children);
  }
  addEventListener(type, listener) {
    if (type === 'toggle') this.listeners.push(listener);
  }
  shown(depth = 0) {
    // Schemas contain themselves: an order's rows the rows of its parts.
    if (this.name === 'details' && depth < 30) {
      this.open = true;
      this.listeners.forEach((listener) => listener());
    }
    return [this.name, this.attributes.class || '',
      ...this.children.map((child) => (child instanceof Element ? child.shown(depth + 1) : String(child)))];
  }
}

const page = vm.createContext({
  document: {createElement: (name) => new Element(name), getElementById: () => new Element('p'), querySelectorAll: () => []},
  addEventListener() {},
  fetch: () => new Promise(() => {}),
  location: {origin: 'https://box:8443', hash: ''},
});
vm.runInContext(readFileSync(script, 'utf8'), page);
page.text = readFileSync(file, 'utf8');
const shown = vm.runInContext(`
  api = JSON.parse(text);
  Object.fromEntries(operations().map(({method, path, operation}) =>
    [operation.operationId, inside(method, path, operation).shown()]))
`, page);
console.log(JSON.stringify(shown));
