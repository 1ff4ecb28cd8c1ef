import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { sessionDirName } from '../../../store/base/names.ts';
import { checkSidecars } from '../../../store/problems/sidecar-problems.ts';
import { sweepTranscripts } from '../../../store/problems/sweep-transcripts.ts';
import { resolveMissing } from '../../../store/reconcile/missing.ts';
import { sweepWorkspace } from '../../../store/reconcile/sweep.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { eventually } from '../../helpers/eventually.ts';
import { temporaryDirectory, writeFiles } from '../../helpers/repository.ts';
import { STATE_DIR } from '../../helpers/state-dir.ts';
import { withCase } from '../../helpers/work-item.ts';
import { openCompared } from '../../helpers/workspace.ts';

const DAY = 86_400_000;
const MATTER = (id: string): string =>
  `---\nid: ${id}\ntitle: T\ntype: bug\nstate: OPEN\ncreated_at: 2026-01-01T00:00:00.000Z\n---\n`;

/** A workspace with one Work item with one session, all that was said in it, and a clock that the test moves. */
const scene = async (t: TestContext) => {
  const root = temporaryDirectory(t);
  const session = randomUUID();
  const name = sessionDirName('2026-01-01T00:00:00.000Z', session);
  const dir = join(root, 'cases/2026-01/one');
  writeFiles(dir, {
    'case.md': MATTER(randomUUID()),
    [`sessions/${name}/session.md`]: '---\nstatus: [\n---\n',
  });
  const folder = join(root, '.dossier/transcripts');
  writeFiles(folder, { [`${session}.ndjson`]: '' });
  let ahead = 0;
  const open = () =>
    openCompared(root, {
      state: STATE_DIR,
      clock: () => new Date(Date.now() + ahead),
      follow: () => undefined,
      report: (error, what) => assert.fail(`${what}: ${error}`),
      trust: true,
    });
  let life = await open();
  atEnd(t, () => life.close());
  /** The daemon looks, this many days later, and after a restart once more. */
  const look = async (days: number): Promise<string[]> => {
    ahead += days * DAY;
    for (let times = 0; times < 2; times += 1) {
      await sweepWorkspace(life.store);
      await resolveMissing(life.store);
      await checkSidecars(life.store);
      await sweepTranscripts(life.store);
      await life.close();
      life = await open();
    }
    return readdirSync(folder).map((each) => each.slice(0, -'.ndjson'.length));
  };
  return { dir, folder, session, look };
};

describe('what is kept outside of git of a session', () => {
  it('stays while its session does, be it that its record cannot be read', async (t) => {
    const { look, session } = await scene(t);
    assert.deepEqual(await look(0), [session]);
    assert.deepEqual(await look(30), [session]);
  });

  it('goes a week after its Work item has, and not before; one that came back stays', async (t) => {
    const { dir, look, session } = await scene(t);
    await look(0);
    renameSync(dir, `${dir.slice(0, dir.indexOf('/cases/'))}/away`);
    assert.deepEqual(await look(0), [session]);
    assert.deepEqual(await look(6), [session]);
    renameSync(`${dir.slice(0, dir.indexOf('/cases/'))}/away`, dir);
    assert.deepEqual(await look(2), [session]);
    rmSync(dir, { recursive: true });
    assert.deepEqual(await look(0), [session]);
    assert.deepEqual(await look(6), [session]);
    assert.deepEqual(await look(2), []);
  });

  it('stays while the sessions of some Work item cannot be looked at', async (t) => {
    const { dir, look, session } = await scene(t);
    renameSync(join(dir, 'sessions'), join(dir, 'others'));
    writeFiles(dir, { sessions: 'a file' });
    await look(0);
    assert.deepEqual(await look(30), [session]);
  });

  it('is looked for by a daemon that starts', async (t) => {
    const { running } = await withCase(t, {}, { watch: true });
    const { journal, layout } = running.service.store;
    const id = randomUUID();
    writeFiles(layout.transcripts, { [`${id}.ndjson`]: '' });
    const state = { [id]: new Date(Date.now() - 8 * DAY).toISOString() };
    await journal.append({ told: { id: 'transcripts', state } });
    await running.restart();
    await eventually(() =>
      assert.equal(existsSync(join(layout.transcripts, `${id}.ndjson`)), false),
    );
  });
});
