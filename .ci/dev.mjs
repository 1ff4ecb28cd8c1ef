// npm run dev [-- options of `dossier serve`]: runs the daemon from the sources, and again after each change of them. Of Node's
// own flags it takes --inspect.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, watch } from 'node:fs';
import { promisify } from 'node:util';
import { compile, compiledPath, compilePrograms } from './compile.mjs';

const QUIET_MS = 50;
const { layers } = JSON.parse(readFileSync('.ci/rooms.json', 'utf8'));
const FOLDERS = new Set(layers.flat().map((room) => room.split('/')[0]));
const argv = process.argv.slice(2);
const flags = argv.filter((argument) => argument.startsWith('--inspect'));
const options = argv.filter((argument) => !argument.startsWith('--inspect'));

const run = promisify(execFile);
const build = (changed) => {
  const isFirst = changed.length === 0;
  const isSeen = changed.some((path) => path.startsWith('routes/console/'));
  return Promise.all([
    compile(['lib/dossier.ts']),
    isFirst && compilePrograms(),
    (isFirst || isSeen) && run(process.execPath, ['.ci/console-build.mjs']),
  ]);
};

let daemon;
const start = () => {
  const program = ['--enable-source-maps', ...flags, compiledPath('lib/dossier.ts'), 'serve'];
  daemon = spawn(process.execPath, [...program, ...options], { stdio: 'inherit' });
};

const stop = async () => {
  if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
  const ended = once(daemon, 'exit');
  daemon.kill('SIGTERM');
  await ended;
};

// One after the other; what changed meanwhile is in the next.
const changed = [];
let working = Promise.resolve();
const again = () => {
  working = working.then(async () => {
    const since = performance.now();
    try {
      await build(changed.splice(0));
    } catch (error) {
      console.error(error.errors === undefined ? error : 'Not started again: see above.');
      return;
    }
    await stop();
    start();
    console.log(`Built and started again in ${Math.round(performance.now() - since)} ms`);
  });
};

let pause;
for (const folder of FOLDERS)
  watch(folder, { recursive: true }, (_, name) => {
    changed.push(`${folder}/${name}`);
    clearTimeout(pause);
    pause = setTimeout(again, QUIET_MS);
  });
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => stop().then(() => process.exit(0)));
again();
