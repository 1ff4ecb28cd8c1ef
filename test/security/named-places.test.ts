import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { sha256 } from '../../store/base/sha256.ts';
import { atEnd } from '../helpers/at-end.ts';
import { missing } from '../helpers/inside.ts';
import { linkTo } from '../helpers/linked-issue.ts';
import { writeFiles } from '../helpers/repository.ts';
import { type SessionTest, withAgent, withCase } from '../helpers/sessions.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const URL = 'https://github.com/user-attachments/assets/one';

const prepared = async (t: TestContext, place: (home: string) => string): Promise<SessionTest> => {
  const home = realpathSync(mkdtempSync('/var/tmp/dossier-home-'));
  const workspace = place(home);
  atEnd(t, () => {
    for (const path of [home, workspace]) rmSync(path, { recursive: true, force: true });
  });
  mkdirSync(workspace, { recursive: true });
  const agent = withAgent(t, 'reads', 'auto');
  const options = { ...agent, env: { HOME: home }, workspace };
  const test = await withCase(t, `It looks so: ![](${URL})`, options);
  const dir = join(workspace, test.item.path);
  linkTo({ write: (path, text) => writeFiles(dir, { [path]: text }) }, 'x');
  writeFiles(dir, {
    [`images/${sha256(URL).slice(0, 16)}.png`]: PNG,
    'images/other.png': PNG,
    'memory/long.md': 'm'.repeat(300_000),
    'proof/secret.md': 'not named',
  });
  const short = Array.from({ length: 120 }, (_, at) => [`memory/n${100 + at}.md`, 'n'] as const);
  writeFiles(workspace, Object.fromEntries(short));
  return test;
};

/** What the agent read of each place that the prompt named: the file's size, or what is in the folder. */
const readIn = async (test: SessionTest, id: string): Promise<Record<string, string[]>[]> => {
  const said = (await test.eventsOf(id)).filter(({ event }) => event === 'message');
  const text = said.map(({ data }) => data.text).join('');
  return text
    .split(/(?<=\})(?=\{)/)
    .map((json) => JSON.parse(json.replace(/\n/g, '')) as Record<string, string[]>);
};

const PLACES: [string, (home: string) => string][] = [
  ['in the home directory', (home) => join(home, 'dossier')],
  ['below /tmp', () => realpathSync(mkdtempSync('/tmp/dossier-'))],
];

describe('what a prompt names of the workspace, in the sandbox', { skip: missing }, () => {
  for (const [where, place] of PLACES)
    it(`is read, and nothing else of it, of a workspace ${where}`, async (t) => {
      const test = await prepared(t, place);
      const { id } = await test.worked();
      const dir = join(test.workspace, test.item.path);
      const image = `${sha256(URL).slice(0, 16)}.png`;
      const turns = await readIn(test, id);
      assert.equal(turns.length, 2);
      for (const read of turns) {
        assert.deepEqual(read[join(dir, 'images', image)], ['16', image]);
        assert.deepEqual(read[join(dir, 'memory/long.md')], ['300000', 'long.md']);
        assert.equal(read[join(test.workspace, 'memory')]?.includes('n219.md'), true);
        assert.equal(read[join(test.workspace, 'memory')]?.includes('workspace.md'), false);
      }
    });

  it('is not what a link leads to', async (t) => {
    const test = await prepared(t, (home) => join(home, 'dossier'));
    const dir = join(test.workspace, test.item.path);
    rmSync(join(dir, 'memory'), { recursive: true });
    symlinkSync(join(dir, 'proof'), join(dir, 'memory'));
    const { id } = await test.planned();
    const [read = {}] = await readIn(test, id);
    assert.deepEqual(
      Object.keys(read).filter((path) => path.startsWith(join(dir, 'memory'))),
      [],
    );
  });
});
