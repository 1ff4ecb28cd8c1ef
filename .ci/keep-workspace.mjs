// Makes a small workspace as this version writes it: one Work item from its beginning to its end. Each release keeps one,
// for the tests to open: node .ci/keep-workspace.mjs [DIR]; default: test/store/kept-workspaces/VERSION.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from '../dist/client.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const [to = `test/store/kept-workspaces/${version}`] = process.argv.slice(2);
if (existsSync(to))
  throw new Error(`${to} is there already: what a release wrote is not written anew.`);

const place = mkdtempSync(join(tmpdir(), 'dossier-kept-'));
const [workspace, repository] = [join(place, 'workspace'), join(place, 'repository')];
const git = (...args) => execFileSync('git', args, { cwd: repository, stdio: 'ignore' });
execFileSync('git', ['init', '-q', '-b', 'main', repository]);
writeFileSync(join(repository, 'README.md'), 'Kept\n');
git('add', '.');
git('-c', 'user.name=Kept', '-c', 'user.email=kept@example.org', 'commit', '-qm', 'Begin');

const flags = ['--port', '0', '--workspace', workspace, '--repo', repository];
const daemon = spawn(process.execPath, ['dist/dossier.js', 'serve', ...flags], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  await liveThrough(connect({ url: await addressOf(daemon) }));
} finally {
  const ended = new Promise((resolve) => daemon.once('exit', resolve));
  daemon.kill('SIGTERM');
  await ended;
}
const filter = (path) => !['.dossier', '.git'].includes(basename(path));
cpSync(workspace, to, { recursive: true, filter, preserveTimestamps: true });
rmSync(place, { recursive: true, force: true });
console.log(`Kept in ${to}`);

async function addressOf({ stdout }) {
  for await (const line of createInterface({ input: stdout })) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('The daemon ended before it was ready.');
}

async function liveThrough(dossier) {
  const description = 'Make the file:\n\n```sh\nprintf "hello\\n" > hello.txt\n```\n';
  const item = { title: 'Say hello', type: 'feature', description };
  const { id } = await dossier.call('POST /cases', { body: item });
  const began = await dossier.call('POST /cases/{id}/sessions', {
    id,
    body: { type: 'implementing' },
  });
  const session = { id, sid: began.id };
  for await (const { event, data } of dossier.stream(
    'GET /cases/{id}/sessions/{sid}/stream',
    session,
  )) {
    if (event === 'complete' && data.error !== null) throw new Error(data.error);
    if (event !== 'plan_ready') continue;
    const { plan_sha256 } = data;
    await dossier.call('POST /cases/{id}/sessions/{sid}/approve', {
      ...session,
      body: { plan_sha256 },
    });
  }
  const body = { type: 'test_log', content: 'hello.txt says hello.' };
  const { id: pid } = await dossier.call('POST /cases/{id}/proof', { id, body });
  await dossier.call('PUT /cases/{id}/proof/{pid}/verify', { id, pid });
}
