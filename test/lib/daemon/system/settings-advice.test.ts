import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { check } from '../../../../lib/cli/check.ts';
import { doctor } from '../../../../lib/cli/doctor.ts';
import { repositoryFor } from '../../../../lib/code/projects/project.ts';
import type { FileProblem } from '../../../../store/front-matter/problem.ts';
import { callOf } from '../../../helpers/call-of.ts';
import { assertSentence, dossier } from '../../../helpers/command.ts';
import { makeRepository, type TestRepository } from '../../../helpers/repository.ts';
import { startForTest } from '../../../helpers/service.ts';

interface Given {
  settings?: string;
  workspace?: string;
  repository?: TestRepository;
}

/** What the daemon's diagnostics say of the settings, and what `dossier check` and `dossier doctor` would. */
const toldBy = async (t: TestContext, given: Given) => {
  const running = await startForTest(t, given);
  const { workspace, repository } = running;
  const { body: problems } = await running.call<FileProblem[]>('GET', '/api/diagnostics');
  const args = ['--workspace', workspace, '--repo', repository.root];
  const saidBy = async (command: 'check' | 'doctor'): Promise<string> => {
    const call = callOf([command, ...args], { ...process.env, DOSSIER_TRUST: '1' });
    const lines: string[] = [];
    await { check, doctor }[command](call, (line) => lines.push(line));
    return lines.join('\n');
  };
  return { running, problems, saidBy };
};

describe('settings that can be read and are not what was meant', () => {
  it('are told beside settings that are wrong', async (t) => {
    const told = await toldBy(t, {
      settings: 'max_session: 2\nnetwork: { alow: [x] }\nmax_sessions: many',
    });
    const said = told.problems.map(({ code, message }) => `${code} ${message}`).join('\n');
    assert.match(
      said,
      /unknown_setting max_session is not a setting.* Did you mean max_sessions\?/,
    );
    assert.match(said, /unknown_setting network\.alow is not a setting.* Did you mean allow\?/);
    assert.match(said, /not_a_record .*max_sessions: must be a whole number/);
  });

  it('are told with line and column, by dossier check and dossier doctor too', async (t) => {
    const wrong = [
      ['max_session: 2', 1, 'unknown_setting', 'max_session', 'max_sessions'],
      ['worktrees: { ttl_hour: 3 }', 14, 'unknown_setting', 'worktrees.ttl_hour', 'ttl_hours'],
      [
        'providers: { mine: { kind: acp, comand: x } }',
        33,
        'unknown_setting',
        'providers.mine.comand',
        'command',
      ],
      ['colour: red', 1, 'unknown_setting', 'colour'],
      ['provider: cluade', 1, 'unknown_provider', 'provider', 'claude'],
      ['projects: { other: /nowhere/at/all }', 13, 'missing_project', 'projects.other'],
    ] as const;
    const words = {
      unknown_setting: ' is not a setting and has no effect',
      unknown_provider: ': there is no provider cluade, so no session can start',
      missing_project: ': there is no directory /nowhere/at/all',
    };
    const told = await toldBy(t, { settings: wrong.map(([line]) => line).join('\n') });
    const [checked, doctored] = [await told.saidBy('check'), await told.saidBy('doctor')];
    for (const [index, [settings, column, code, name, meant]] of wrong.entries()) {
      const line = index + 2;
      const message = `${name}${words[code]}${meant === undefined ? '' : `. Did you mean ${meant}?`}`;
      const own = told.problems.filter((problem) => problem.line === line);
      assert.deepEqual(own, [{ file: 'workspace.md', code, message, line, column }], settings);
      assert.ok(
        checked.includes(`workspace.md:${line}:${column} warning ${code} ${message}`),
        checked,
      );
      assert.match(doctored, new RegExp(`^note {4}settings +workspace\\.md:${line}: `, 'm'));
      assert.ok(doctored.includes(message), `${settings}: ${doctored}`);
    }
    assert.equal(told.problems.length, wrong.length);
  });

  it('are logged, and that they are mended', async (t) => {
    const { running } = await toldBy(t, { settings: 'colour: red' });
    assert.match(running.logged.map(({ message }) => message).join(), /colour is not a setting/);
    writeFileSync(join(running.workspace, 'workspace.md'), '---\nprovider: runbook\n---\n');
    const { body } = await running.call<unknown[]>('GET', '/api/diagnostics');
    assert.deepEqual(body, []);
  });

  it('are none where each setting is one, and where there is no file', async (t) => {
    const settings =
      'provider: mine\nproviders:\n  mine: { kind: acp, command: x, env: { ANY: x } }\nnetwork: { allow: [a.example] }\nprojects: { other: . }\n';
    assert.deepEqual((await toldBy(t, { settings })).problems, []);
    assert.deepEqual((await toldBy(t, {})).problems, []);
  });
});

describe('a workspace in the repository that is worked on', () => {
  it('is told with the line that keeps git from it, until that line is there', async (t) => {
    const repository = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
    const workspace = join(repository.root, 'notes/space');
    mkdirSync(workspace, { recursive: true });
    const told = await toldBy(t, { repository, workspace });
    const exclude = join(repository.root, '.git/info/exclude');
    const message = `The workspace is inside the repository of the project default, so git add there would include it. Add the line /notes/space/ to ${exclude}`;
    assert.deepEqual(told.problems, [
      { file: 'workspace.md', code: 'workspace_in_repository', message },
    ]);
    assert.ok((await told.saidBy('check')).includes(message));
    assert.ok((await told.saidBy('doctor')).includes(message));
    mkdirSync(join(exclude, '..'), { recursive: true });
    appendFileSync(exclude, '/notes/space/\n');
    const { body } = await told.running.call<unknown[]>('GET', '/api/diagnostics');
    assert.deepEqual(body, []);
  });

  it('is refused at start where both are one directory, and nothing is made there', async (t) => {
    const { root, git } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
    const ended = await dossier(t, 'serve', '--workspace', root, '--repo', root, '--port', '0');
    assert.equal(ended.code, 1);
    assertSentence(ended, /cannot be both the workspace and a project/);
    assert.equal(git('status', '--porcelain'), '');
  });

  it('is no repository for a session where the settings name it, and that is told', async (t) => {
    const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
    const running = await startForTest(t, { workspace: root, settings: 'projects: { own: . }' });
    const { body } = await running.call<FileProblem[]>('GET', '/api/diagnostics');
    assert.deepEqual(
      body.map(({ code }) => code),
      ['project_is_workspace'],
    );
    const { service } = running;
    await assert.rejects(repositoryFor(service, 'own'), { code: 'no_repository' });
  });
});
