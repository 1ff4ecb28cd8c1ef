/** What `npm install dossierd` brings: installed from the tarball into an empty folder, and used from there alone. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { PROJECT } from '../examples/run.ts';
import { killAtEnd } from '../helpers/at-end.ts';
import { firstUrl } from '../helpers/daemon.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';

// From a new Work item to a resolved one, as a program does it that has the package and nothing else.
const MAIN_JOB = `
import { connect } from 'dossierd/client';

const dossier = connect({ url: process.argv[2] });
const description = 'Leave a note:\\n\\n\`\`\`sh\\necho Reviewed. > REVIEWED.txt\\n\`\`\`\\n';
const { id } = await dossier.call('POST /cases', { body: { title: 'Note', type: 'chore', description } });
const { id: sid } = await dossier.call('POST /cases/{id}/sessions', { id, body: { type: 'implementing' } });
for await (const { event, data } of dossier.stream('GET /cases/{id}/sessions/{sid}/stream', { id, sid })) {
  if (event === 'plan_ready') {
    const { plan_sha256 } = await dossier.call('GET /cases/{id}/sessions/{sid}', { id, sid });
    await dossier.call('POST /cases/{id}/sessions/{sid}/approve', { id, sid, body: { plan_sha256 } });
  }
  if (event === 'failed') throw new Error(JSON.stringify(data));
}
const changed = await dossier.call('GET /cases/{id}/sessions/{sid}/diff', { id, sid });
if (!changed.includes('+Reviewed.')) throw new Error(changed);
const body = { type: 'review', content: 'I read it.' };
const { id: pid } = await dossier.call('POST /cases/{id}/proof', { id, body });
await dossier.call('PUT /cases/{id}/proof/{pid}/verify', { id, pid });
const { state } = await dossier.call('GET /cases/{id}', { id });
const console_ = await fetch(process.argv[2] + '/dashboard/cases/' + id);
process.stdout.write(state + ' ' + console_.status);
`;

const LIMIT_BYTES = 2_250_000;

const NOBODY = 65_534;
const users = process.getuid?.() === 0 ? [0, NOBODY] : [process.getuid?.() ?? 0];

/** A folder with nothing but the package, that everybody may read. */
const install = (t: TestContext): { place: string; tarball: string } => {
  const place = temporaryDirectory(t);
  chmodSync(place, 0o755);
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', place];
  const said = execFileSync('npm', pack, { cwd: PROJECT, encoding: 'utf8', stdio: 'pipe' });
  const tarball = join(place, JSON.parse(said)[0].filename);
  writeFileSync(join(place, 'package.json'), '{"type":"module"}');
  const quiet = ['--offline', '--no-audit', '--no-fund', '--cache', join(place, '.cache')];
  execFileSync('npm', ['install', ...quiet, tarball], { cwd: place, stdio: 'pipe' });
  writeFileSync(join(place, 'main-job.mjs'), MAIN_JOB);
  return { place, tarball };
};

/** Directories of a user's own, and an environment that says where programs are, and where home is. */
const settle = (t: TestContext, uid: number) => {
  const root = temporaryDirectory(t);
  const repository = makeRepository(t);
  const [home, workspace] = [join(root, 'home'), join(root, 'workspace')];
  for (const path of [home, workspace]) mkdirSync(path);
  for (const path of [root, home, workspace]) chownSync(path, uid, uid);
  execFileSync('chown', ['-R', `${uid}:${uid}`, repository.root]);
  return { workspace, repo: repository.root, env: { PATH: process.env.PATH ?? '', HOME: home } };
};

describe('the package', () => {
  it('is one folder without a dependency, a source map or a picture, in at most 2.25 MB', (t) => {
    const { place, tarball } = install(t);
    const installed = readdirSync(join(place, 'node_modules')).filter((name) => name[0] !== '.');
    assert.deepEqual(installed, ['dossierd']);
    assert.ok(statSync(tarball).size <= LIMIT_BYTES, `${statSync(tarball).size} bytes`);
    const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).split('\n');
    assert.deepEqual(
      files.filter((name) => /\.(?:map|png|ts|tsx)$/.test(name)),
      ['package/dist/client.d.ts'],
    );
    for (const name of ['dist/licenses.txt', 'dist/sbom.cdx.json', 'LICENSE'])
      assert.ok(files.includes(`package/${name}`), name);
  });

  it('is found by man once it is installed globally', (t) => {
    const { place, tarball } = install(t);
    const prefix = join(place, 'global');
    const quiet = ['--offline', '--no-audit', '--no-fund', '--cache', join(place, '.cache')];
    execFileSync('npm', ['install', '-g', '--prefix', prefix, ...quiet, tarball], {
      stdio: 'pipe',
    });
    const page = readFileSync(join(prefix, 'share/man/man1/dossier.1'), 'utf8');
    assert.match(page, /^\.TH DOSSIER 1 /);
    // man looks beside each directory of the PATH.
    const env = { PATH: `${join(prefix, 'bin')}:${process.env.PATH}` };
    if (spawnSync('man', ['-w', 'man'], { env }).status !== 0) return;
    const found = execFileSync('man', ['-w', 'dossier'], { env, encoding: 'utf8' }).trim();
    assert.equal(readFileSync(found, 'utf8'), page);
  });

  it('says to start it again where an upgrade replaces it while it runs', async (t) => {
    const { place } = install(t);
    const { workspace, env } = settle(t, process.getuid?.() ?? 0);
    const bin = join(place, 'node_modules/.bin/dossier');
    const args = [bin, 'serve', '--workspace', workspace, '--port', '0'];
    const daemon = spawn(process.execPath, args, {
      ...{ cwd: place, env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    killAtEnd(t, daemon);
    const url = await firstUrl(daemon);
    rmSync(join(place, 'node_modules/dossierd'), { recursive: true });
    const page = await fetch(`${url}/dashboard`, { headers: { accept: 'text/html' } });
    assert.equal(page.status, 503);
    assert.match(await page.text(), /upgraded or removed .* <?.*dossier stop.*, then .*dossier up/);
  });

  for (const uid of users)
    it(`goes from a Work item to a resolved one in an empty environment, as user ${uid}`, async (t) => {
      const { place } = install(t);
      const { workspace, repo, env } = settle(t, uid);
      const bin = join(place, 'node_modules/.bin/dossier');
      const args = ['serve', '--workspace', workspace, '--repo', repo, '--port', '0'];
      const as = { cwd: place, env, uid, gid: uid };
      const daemon = spawn(process.execPath, [bin, ...args], {
        ...as,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      killAtEnd(t, daemon);
      const url = await firstUrl(daemon);
      const options = { ...as, encoding: 'utf8', timeout: 60_000 } as const;
      const said = execFileSync(process.execPath, ['main-job.mjs', url], options);
      assert.equal(said, 'RESOLVED 200');
    });
});
