/** What a power cut could take of a session that is completed: nothing that its diff has. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import type { Worktree } from '../../store/records/worktree.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { canTrace, startTraced, written } from '../helpers/strace.ts';

const PLAN = `Change files.

\`\`\`sh
mkdir -p new/deep && echo new > new/deep/file.txt
echo changed > changed.txt
rm dir/gone.txt
mkdir moved && mv old/name.txt moved/name.txt
ln -s /nowhere new/link
chmod +x run.sh
\`\`\`
`;

const FILES = {
  'changed.txt': 'before\n',
  'dir/gone.txt': 'gone\n',
  'dir/stays.txt': 'stays\n',
  'old/name.txt': 'the same\n'.repeat(20),
  'old/stays.txt': 'stays\n',
  'run.sh': 'true\n',
};

/** Files that are written, and directories in which a name was made or removed. */
const SYNCED = [
  ...['new/deep/file.txt', 'changed.txt', 'moved/name.txt', 'run.sh', '.git'],
  ...['.', 'new', 'new/deep', 'dir', 'old', 'moved'],
];

describe('a session', () => {
  it('is completed once each file of its diff, and each directory of one, is on disk', async (t) => {
    if (!canTrace(t)) return;
    const [workspace, folder] = [temporaryDirectory(t), temporaryDirectory(t)];
    const repository = makeRepository(t, { files: FILES });
    const args = ['--workspace', workspace, '--repo', repository.root];
    const daemon = await startTraced(t, args);
    const send = async <T>(method: string, path: string, body?: object): Promise<T> => {
      const headers = { 'content-type': 'application/json' };
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const answer = await fetch(`${daemon.url}${path}`, init);
      const text = await answer.text();
      assert.ok(answer.ok, text);
      return JSON.parse(text) as T;
    };
    const item = { title: 'One', type: 'bug', description: PLAN };
    const { id } = await send<Case>('POST', '/cases', item);
    const at = `/cases/${id}/sessions`;
    const { id: sid } = await send<Session>('POST', at, { type: 'implementing' });
    const until = (wanted: string): Promise<void> =>
      eventually(async () => {
        const { status, error } = await send<Session>('GET', `${at}/${sid}`);
        assert.equal(status, wanted, error ?? undefined);
      });
    await until('plan_ready');
    const log = join(folder, 'log');
    await daemon.attach(written(log, 'fsync,rename'));
    await send('POST', `${at}/${sid}/approve`);
    await until('completed');
    const { path: root } = await send<Worktree>('GET', `/api/cases/${id}/worktree`);
    await daemon.kill();
    const lines = readFileSync(log, 'utf8').split('\n');
    const completed = lines.findLastIndex((line) => /rename\(.*\/session\.md"/.test(line));
    const before = new Set(
      lines.slice(0, completed).flatMap((line) => /fsync\(\d+<([^>]*)>/.exec(line)?.[1] ?? []),
    );
    assert.ok(completed > 0, 'the record is written');
    assert.deepEqual(
      SYNCED.filter((path) => !before.has(join(root, path))),
      [],
    );
  });
});
