// Compiles a program of this tree and runs it: node .ci/start.mjs [flags of Node] FILE.ts [its arguments].
import { spawn } from 'node:child_process';
import { compile, compiledPath, compilePrograms, letGo } from './compile.mjs';

const argv = process.argv.slice(2);
const at = argv.findIndex((argument) => argument.endsWith('.ts'));
const [source] = argv.splice(at, 1, '');
await Promise.all([compilePrograms(), compile([source])]);
await letGo();

const how = ['--enable-source-maps', ...argv.slice(0, at), compiledPath(source)];
const child = spawn(process.execPath, [...how, ...argv.slice(at + 1)], { stdio: 'inherit' });
// Ctrl-C goes to both; what asks this process alone to end means the program.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.once('close', (code, signal) => {
  process.exitCode = signal === null ? (code ?? 1) : 1;
});
