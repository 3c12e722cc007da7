// Prints the programs of the page /docs as JSON: {language: [[name, example, program], …]}, in page order; walks, which come
// last, have the example null and the name of the walk. Under "calls" is what they are written from (programs.js).
// docs_commands.js PROGRAMS.JS OPENAPI.JSON ORIGIN
'use strict';
const {readFileSync} = require('node:fs');
const vm = require('node:vm');

const [script, file, origin] = process.argv.slice(2);
const page = vm.createContext({api: JSON.parse(readFileSync(file, 'utf8')), origin});
vm.runInContext(readFileSync(script, 'utf8'), page);
vm.runInContext(readFileSync(script.replace('programs.js', 'receivers.js'), 'utf8'), page);
const programs = vm.runInContext(`
  const calls = api.tags.flatMap((tag) => operationsOf(api).filter(({operation}) => operation.tags.includes(tag.name)));
  const examples = calls.flatMap((call) => bodiesOf(api, call).map((example) =>
    [call.operation.operationId, example[1].summary || example[0], programOf(api, call, example)]));
  const walks = WALKS.map((walk) => [walk.id, null, walkProgram(api, walk)]);
  const writers = Object.keys(LANGUAGES).map((language) => [language, (program) => written(language, program, origin)]);
  const called = (program) => (Array.isArray(program) ? program : []);
  Object.fromEntries([...writers, ['calls', called]].map(([language, write]) => [language,
    [...examples, ...walks].map(([name, example, program]) => [name, example, write(program)])]));
`, page);
console.log(JSON.stringify(programs));
