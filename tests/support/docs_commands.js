// Prints the commands of the page /docs as JSON: [[operationId, example, command], …], in page order.
// docs_commands.js DOCS.JS OPENAPI.JSON ORIGIN
'use strict';
const {readFileSync} = require('node:fs');
const vm = require('node:vm');

const [script, file, origin] = process.argv.slice(2);
const element = {addEventListener() {}};
const page = vm.createContext({
  document: {getElementById: () => element, querySelectorAll: () => []},
  addEventListener() {},
  fetch: () => new Promise(() => {}),
  location: {origin, hash: ''},
});
vm.runInContext(readFileSync(script, 'utf8'), page);
page.text = readFileSync(file, 'utf8');
const commands = vm.runInContext(`
  api = JSON.parse(text);
  api.tags.flatMap((tag) => operations().filter(({operation}) => operation.tags.includes(tag.name)))
    .flatMap((call) => commandsOf(call).map(([summary, command]) => [call.operation.operationId, summary, command]))
`, page);
console.log(JSON.stringify(commands));
