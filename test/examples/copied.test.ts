import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import type { Case } from '../../store/records/case.ts';
import { DOSSIER } from '../helpers/daemon.ts';
import { startHere } from '../helpers/daemon-here.ts';
import { eventually } from '../helpers/eventually.ts';
import { withHost } from '../helpers/linked.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { PROJECT, runExample } from './run.ts';

const json = { 'content-type': 'application/json' };

const casesOf = async (url: string): Promise<Case[]> =>
  (await (await fetch(`${url}/cases`)).json()) as Case[];

describe('notify', () => {
  it('tells what begins to wait, once, by notify-send where it is there', async (t) => {
    const [workspace, bin] = [temporaryDirectory(t), temporaryDirectory(t)];
    const { root } = await makeRepository(t);
    const { url } = await startHere(t, ['--workspace', workspace, '--repo', root]);
    writeFiles(bin, { 'notify-send': `#!/bin/sh\nprintf '%s|' "$@" >> ${bin}/told\n` });
    chmodSync(join(bin, 'notify-send'), 0o755);
    const withIt = { PATH: `${bin}${delimiter}${process.env.PATH}` };
    const without = { PATH: temporaryDirectory(t) };
    const told = runExample(t, 'notify', [url], withIt);
    const printed = runExample(t, 'notify', [url], without);
    const body = { title: '-i Look', type: 'chore', description: '```sh\ntrue\n```\n' };
    const post = async (path: string, sent: object): Promise<Case> => {
      const init = { method: 'POST', headers: json, body: JSON.stringify(sent) };
      return (await (await fetch(url + path, init)).json()) as Case;
    };
    const { id } = await post('/cases', body);
    await post(`/cases/${id}/sessions`, { type: 'implementing' });
    await printed.says(/^plan: "-i Look" "/m);
    await eventually(() =>
      assert.match(
        readFileSync(join(bin, 'told'), 'utf8'),
        /^--app-name=Dossier\|--\|plan: -i Look\|/,
      ),
    );
    for (const each of [told, printed]) {
      each.signal('SIGTERM');
      assert.equal(await each.ended, 0, each.written());
    }
    assert.equal(printed.written().match(/^plan: /gm)?.length, 1);
  });
});

describe('file-failures', () => {
  it('files each test that failed once, however often the log is sent', async (t) => {
    const dir = temporaryDirectory(t);
    const { url } = await startHere(t, ['--workspace', join(dir, 'workspace')]);
    const log = join(dir, 'ci.log');
    writeFileSync(
      log,
      "ok 1 - adds\nnot ok 2 - takes `away`\n  expected: 1\n  ```\nnot ok 3 - later # TODO soon\nnot ok 4 - \u001b[31magain\n\n\n\n\n\n\nnot ok 5 - all\n  failureType: 'subtestsFailed'\n",
    );
    const first = runExample(t, 'file-failures', [log, url]);
    assert.equal(await first.ended, 0, first.written());
    assert.match(first.written(), /2 failed, 0 of them known\./);
    const [one, two] = await casesOf(url);
    assert.deepEqual([one?.title, two?.title], ['CI: takes `away`', 'CI: [31magain']);
    const again = runExample(t, 'file-failures', [log, url]);
    assert.equal(await again.ended, 0, again.written());
    assert.match(again.written(), /2 failed, 2 of them known\./);
    // It is not known any more, but it is the same log.
    await fetch(`${url}/cases/${two?.id}/state`, {
      ...{ method: 'PUT', headers: json, body: JSON.stringify({ state: 'RESOLVED' }) },
    });
    const sent = runExample(t, 'file-failures', [log, url]);
    assert.equal(await sent.ended, 0, sent.written());
    assert.match(sent.written(), new RegExp(`Filed "CI: \\[31magain" as ${two?.id}`));
    assert.equal((await casesOf(url)).length, 2);
  });
});

describe('pre-commit', () => {
  it('lets a whole workspace be committed, and none that cannot be read', async (t) => {
    const { root, git } = await makeRepository(t);
    const bin = temporaryDirectory(t);
    writeFiles(bin, { dossier: `#!/bin/sh\nexec '${process.execPath}' '${DOSSIER}' "$@"\n` });
    chmodSync(join(bin, 'dossier'), 0o755);
    const hook = join(root, '.git/hooks/pre-commit');
    copyFileSync(join(PROJECT, 'examples/pre-commit'), hook);
    chmodSync(hook, 0o755);
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
    const commit = () => {
      git('add', '-A');
      return spawnSync('git', ['commit', '-qm', 'Kept'], { cwd: root, env, encoding: 'utf8' });
    };
    const path = 'cases/2026-11/one-11111111/case.md';
    const record =
      '---\nid: 11111111-1111-4111-8111-111111111111\ntitle: One\ntype: bug\nstate: OPEN\ncreated_at: 2026-11-01T00:00:00.000Z\n---\n\nText\n';
    writeFiles(root, { [path]: record, 'workspace.md': '---\nprovider: manual\n---\n' });
    const kept = commit();
    assert.equal(kept.status, 0, kept.stderr);
    writeFiles(root, { [path]: record.replace('title: One', 'title: "One') });
    const refused = commit();
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /case\.md:\d+(?:.|\n)*Nothing was committed/);
  });
});

/** As a runner does it: `bash --noprofile --norc -eo pipefail FILE`. */
const runScript = async (script: string, env: NodeJS.ProcessEnv) => {
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], { env });
  const parts = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { said: parts[0] + parts[1], code: child.exitCode };
};

interface Workflow {
  on: { issues: { types: string[] } };
  permissions: object;
  jobs: {
    import: { if: string; 'runs-on': string; steps: { shell: string; env: object; run: string }[] };
  };
}

describe('import-labelled.yml', () => {
  it('imports the issue by the very script that it holds, and says when it was there', async (t) => {
    const { host, running } = await withHost(t, { listen: true });
    const { number } = await host.issues.add({
      title: '$(touch evil)',
      labels: ['dossier', 'bug'],
    });
    const workflow = parse(
      readFileSync(join(PROJECT, 'examples/import-labelled.yml'), 'utf8'),
    ) as Workflow;
    assert.deepEqual(workflow.on, { issues: { types: ['labeled'] } });
    assert.deepEqual(workflow.permissions, {});
    const { steps, if: condition } = workflow.jobs.import;
    assert.equal(condition, "github.event.label.name == 'dossier'");
    const [step] = steps;
    // What is put into a script by the runner is a way in: values come by the environment alone.
    assert.doesNotMatch(step?.run ?? '${{', /\$\{\{/);
    const script = join(temporaryDirectory(t), 'run.sh');
    writeFileSync(script, step?.run ?? '');
    const run = (issue: number) =>
      runScript(script, { ...process.env, DOSSIER_URL: running.url, NUMBER: String(issue) });
    assert.match((await run(number)).said, /is a Work item\./);
    assert.match((await run(number)).said, /was one already\./);
    const refused = await run(999);
    assert.equal(refused.code, 1, refused.said);
    const { body } = await running.call<Case[]>('GET', '/cases');
    assert.deepEqual(
      body.map(({ title, type }) => [title, type]),
      [['$(touch evil)', 'bug']],
    );
  });
});
