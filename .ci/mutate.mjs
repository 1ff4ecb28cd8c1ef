// What the tests of the pure rules let pass: each rule, as it is compiled, is changed in one place at a time, and its own
// tests are run on that. Says what survives, and fails for nobody: some changes mean the same.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** The rules, and who tests them. */
const RULES = {
  'lib/work/sessions/rules/rules': 'lib/work/sessions/rules/rules',
  'lib/work/cases/moves': 'lib/work/cases/moves',
  'store/item/proof-gate': 'store/item/proof-gate',
  'lib/work/planning/gate': 'routes/planning',
  'lib/host/links/merge': 'lib/host/links/merge',
};

const CHANGES = [
  [/===/g, '!=='],
  [/!==/g, '==='],
  [/&&/g, '||'],
  [/\|\|/g, '&&'],
  [/\?\?/g, '&&'],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/!(?=[\w(])/g, ''],
  [/\bthrow /g, ''],
  [/\breturn (?=[^;])/g, 'return void '],
];

// What stands in words and comments is nobody's rule.
const WORDS = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/.*|\/\*[\s\S]*?\*\//g;

const mutantsOf = (text) => {
  const code = text.replaceAll(WORDS, (words) => words.replaceAll(/[^\n]/g, '_'));
  return CHANGES.flatMap(([what, by]) =>
    [...code.matchAll(what)].map(({ index, 0: found }) => ({
      line: text.slice(0, index).split('\n').length,
      what: `${found.trim()} -> ${by.trim() || 'nothing'}`,
      text: text.slice(0, index) + by + text.slice(index + found.length),
    })),
  );
};

// Goes into the process of the tests: they load this instead, and no file is touched.
const hookFor = (url, source) => {
  const load = `export const load = (url, context, next) => url === ${JSON.stringify(url)}
    ? { format: 'module', source: ${JSON.stringify(source)}, shortCircuit: true } : next(url, context);`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(dataOf(load))});`;
  return dataOf(register);
};

const dataOf = (script) => `data:text/javascript;base64,${Buffer.from(script).toString('base64')}`;

const passes = (test, file, source) => {
  const hook = ['--import', hookFor(pathToFileURL(file).href, source)];
  const limits = { stdio: 'ignore', timeout: 120_000 };
  return spawnSync(process.execPath, [...hook, `dist/test/${test}.test.js`], limits).status === 0;
};

const wanted = process.argv.slice(2);
for (const [rule, test] of Object.entries(RULES)) {
  if (wanted.length > 0 && !wanted.some((part) => rule.includes(part))) continue;
  const file = `dist/${rule}.js`;
  const text = readFileSync(file, 'utf8');
  if (!passes(test, file, text)) throw new Error(`${test} fails as it is`);
  const all = mutantsOf(text);
  const survivors = all.filter((mutant) => passes(test, file, mutant.text));
  console.log(`${rule}: ${survivors.length} of ${all.length} survive`);
  const lines = text.split('\n');
  for (const { line, what } of survivors)
    console.log(`  ${file}:${line}: ${what}: ${lines[line - 1].trim()}`);
}
