// What the tests of the pure rules let pass: each rule is changed in one place at a time, and its own
// tests are run on that. Says what survives, and fails for nobody: some changes mean the same.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile, compilePrograms } from './compile.mjs';

/** The rules, and who tests them. */
const RULES = {
  'lib/work/sessions/rules/rules': 'lib/work/sessions/rules/rules',
  'lib/work/sessions/rules/transitions': 'lib/work/sessions/rules/transitions',
  'lib/work/sessions/rules/approval': 'lib/work/sessions/rules/rules',
  'lib/work/cases/moves': 'lib/work/cases/moves',
  'store/reconcile/proof-gate': 'store/reconcile/proof-gate',
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

const passes = async (test, rule, contents) => {
  const mutated = {
    name: 'mutated',
    setup: ({ onLoad }) =>
      onLoad({ filter: new RegExp(`/${rule}\\.ts$`) }, () => ({ contents, loader: 'ts' })),
  };
  const outdir = 'dist/mutated';
  const how = { outdir, plugins: [mutated], sourcemap: false, logLevel: 'silent' };
  try {
    await compile([`test/${test}.test.ts`], how);
  } catch {
    // A mutant that does not compile is killed.
    return false;
  }
  const limits = { stdio: 'ignore', timeout: 120_000 };
  const program = join(outdir, `test/${test}.test.js`);
  return spawnSync(process.execPath, [program], limits).status === 0;
};

const wanted = process.argv.slice(2);
await compilePrograms();
for (const [rule, test] of Object.entries(RULES)) {
  if (wanted.length > 0 && !wanted.some((part) => rule.includes(part))) continue;
  const text = readFileSync(`${rule}.ts`, 'utf8');
  if (!(await passes(test, rule, text))) throw new Error(`${test} fails as it is`);
  const all = mutantsOf(text);
  const survivors = [];
  for (const mutant of all) if (await passes(test, rule, mutant.text)) survivors.push(mutant);
  console.log(`${rule}: ${survivors.length} of ${all.length} survive`);
  const lines = text.split('\n');
  for (const { line, what } of survivors)
    console.log(`  ${rule}.ts:${line}: ${what}: ${lines[line - 1].trim()}`);
}
