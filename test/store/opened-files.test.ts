/** A start that fails leaves no file open: the process that tried it may try again. */
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { describe, it } from 'node:test';
import { orElse } from '../../store/base/attempt.ts';
import { openJournal } from '../../store/journal/journal.ts';
import type { JournalMark } from '../../store/journal/mark.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { STATE_DIR } from '../helpers/state-dir.ts';
import { openCompared } from '../helpers/workspace.ts';

const openBelow = (dir: string): string[] =>
  readdirSync('/proc/self/fd')
    .map((fd) => orElse(() => readlinkSync(`/proc/self/fd/${fd}`), ''))
    .filter((path) => path.startsWith(dir));

describe('a start that fails', () => {
  const skip = process.platform === 'linux' ? false : 'What is open is listed on Linux alone';

  it('lets go of the journal where the state directory cannot be written', { skip }, async (t) => {
    const dir = temporaryDirectory(t);
    const begin = (): never => {
      throw new Error('read-only');
    };
    const mark: JournalMark = {
      ...{ found: undefined, begin },
      ...{ note: () => undefined, close: () => undefined },
    };
    await assert.rejects(openJournal(dir, undefined, mark), /read-only/);
    assert.deepEqual(openBelow(dir), []);
  });

  it('lets go of it where the workspace cannot be read', { skip }, async (t) => {
    const root = temporaryDirectory(t);
    const raise = (): never => {
      throw new Error('no');
    };
    writeFiles(root, {
      'cases/2026-11/a-b28c3de2/case.md':
        '---\nid: b28c3de2-0000-4000-8000-000000000000\ntitle: A\ntype: task\nstate: OPEN\ncreated_at: 2026-11-20T10:00:00Z\n---\n',
    });
    const opened = openCompared(root, {
      ...{ clock: () => new Date(), report: raise, follow: raise, state: STATE_DIR },
    });
    await assert.rejects(opened, /no/);
    assert.deepEqual(openBelow(root), []);
  });
});
