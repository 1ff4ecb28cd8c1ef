import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { sha256 } from '../../store/base/sha256.ts';
import { agentHome, AGENT_CWD as CWD } from '../helpers/agent-home.ts';
import { writeFiles } from '../helpers/repository.ts';

const OTHER = '/work/other';
const ID = '0b6c1f3e-6f0e-4f2e-9a55-6b3f0f6f2a11';
const DAY = 'sessions/2026/11/22';

interface Agent {
  /** Its place below the home directory. */
  place: string;
  /** What it knows of projects besides their conversations. */
  besides?: Record<string, string>;
  /** Conversations: one that a run goes on with, a new one, one of another project, a new one among those of that. */
  shown: string;
  fresh: string;
  others: string;
  planted: string;
  begins: (cwd: string) => string;
  goesOn: (text: string, said: string) => string;
}

// Something that each has in its first record.
const REWRITTEN = /("(?:type|kind|id)":")\w+/;

const line = (record: object): string => `${JSON.stringify(record)}\n`;
const appends = (text: string, said: string): string => text + line({ type: 'said', said });

// As releases of 2026 lay it out.
const AGENTS: Record<string, Agent> = {
  'Claude Code': {
    place: '.claude',
    shown: `projects/-work-one-two/${ID}.jsonl`,
    fresh: `projects/-work-one-two/${ID}/subagents/agent-1.jsonl`,
    others: 'projects/-work-other/1.jsonl',
    planted: 'projects/-work-other/2.jsonl',
    begins: (cwd) => line({ type: 'summary', summary: 'x' }) + line({ type: 'user', cwd }),
    goesOn: appends,
  },
  Codex: {
    place: '.codex',
    shown: `${DAY}/rollout-2026-11-22T10-00-00-${ID}.jsonl`,
    fresh: `${DAY}/rollout-2026-11-22T11-00-00-new.jsonl`,
    others: `${DAY}/rollout-2026-11-22T09-00-00-other.jsonl`,
    planted: `${DAY}/rollout-2026-11-22T12-00-00-planted.jsonl`,
    begins: (cwd) =>
      line({ type: 'session_meta', payload: { id: ID, cwd } }) +
      line({ type: 'turn_context', payload: { cwd } }),
    goesOn: appends,
  },
  'Gemini CLI': {
    place: '.gemini',
    besides: { 'tmp/other/.project_root': OTHER },
    shown: `tmp/${sha256(CWD)}/chats/session-1.jsonl`,
    fresh: 'tmp/one-two/chats/session-2.jsonl',
    others: 'tmp/other/chats/session-3.jsonl',
    planted: 'tmp/other/chats/session-4.jsonl',
    begins: (cwd) => line({ sessionId: ID, projectHash: sha256(cwd), kind: 'main' }),
    goesOn: appends,
  },
  'Gemini CLI, in a directory with a name': {
    place: '.gemini',
    besides: { 'tmp/one-two/.project_root': CWD, 'tmp/other/.project_root': OTHER },
    shown: `tmp/one-two/chats/session-2026-11-22T10-00-${ID.slice(0, 8)}.jsonl`,
    fresh: 'tmp/one-two/chats/session-2026-11-22T11-00-7c1d2e3f.jsonl',
    others: `tmp/other/chats/session-2026-11-22T09-00-${ID.slice(0, 8)}.jsonl`,
    planted: 'tmp/other/chats/session-2026-11-22T12-00-8d2e3f4a.jsonl',
    begins: (cwd) => line({ sessionId: ID, projectHash: sha256(cwd), kind: 'main' }),
    goesOn: appends,
  },
  'Gemini CLI, older': {
    place: '.gemini',
    shown: `tmp/${sha256(CWD)}/chats/session-1.json`,
    fresh: `tmp/${sha256(CWD)}/chats/session-2.json`,
    others: `tmp/${sha256(OTHER)}/chats/session-3.json`,
    planted: `tmp/${sha256(OTHER)}/chats/session-4.json`,
    begins: (cwd) =>
      JSON.stringify({ projectHash: sha256(cwd), lastUpdated: '1', messages: [{ id: '1' }] }),
    goesOn: (text, said) => {
      const { messages, ...rest } = JSON.parse(text);
      return JSON.stringify({ ...rest, lastUpdated: said, messages: [...messages, { said }] });
    },
  },
  'Qwen Code': {
    place: '.qwen',
    shown: `projects/-work-one-two/chats/${ID}.jsonl`,
    fresh: 'projects/-work-one-two/chats/new.jsonl',
    others: 'projects/-work-other/chats/1.jsonl',
    planted: 'projects/-work-other/chats/2.jsonl',
    begins: (cwd) => line({ uuid: '1', sessionId: ID, type: 'user', cwd }),
    goesOn: appends,
  },
};

const homeOf = (t: TestContext, agent: Agent) => {
  const files = { [agent.shown]: agent.begins(CWD), [agent.others]: agent.begins(OTHER) };
  const it = agentHome(t, { [agent.place]: { ...files, ...agent.besides } });
  /** A turn that does this to its copy; answers what did not return. */
  const turn = async (work: () => void, id: string = ID): Promise<string[]> => {
    const state = await it.open(id);
    work();
    const { left } = await state.close();
    return left.map(({ path }) => path.slice(it.path.length + 1));
  };
  const write = (file: string, text: string) => writeFiles(it.copy, { [file]: text });
  return { ...it, turn, write };
};

for (const [name, agent] of Object.entries(AGENTS))
  describe(`what returns of the conversations of ${name}`, () => {
    const { shown, fresh, others, planted, begins, goesOn } = agent;

    it('is one that was shown and grew, with its mode, and a new one of this project', async (t) => {
      const it = homeOf(t, agent);
      const was = begins(CWD);
      const left = await it.turn(() => {
        assert.equal(readFileSync(join(it.copy, shown), 'utf8'), was);
        assert.equal(existsSync(join(it.copy, others)), false);
        it.write(shown, goesOn(was, 'one'));
        it.write(fresh, begins(CWD));
      });
      assert.deepEqual(left, []);
      assert.equal(it.read(shown), goesOn(was, 'one'));
      assert.equal(statSync(join(it.path, shown)).mode & 0o777, 0o666 & ~process.umask());
      assert.equal(it.read(fresh), begins(CWD));
      assert.equal(statSync(join(it.path, fresh)).mode & 0o777, 0o600);
      await it.turn(() => it.write(fresh, goesOn(begins(CWD), 'two')));
      assert.equal(it.read(shown), goesOn(was, 'one'));
    });

    it('is not one that was rewritten', async (t) => {
      const it = homeOf(t, agent);
      const left = await it.turn(() =>
        it.write(shown, goesOn(begins(CWD), 'evil').replace(REWRITTEN, '$1evil')),
      );
      assert.deepEqual(left, [shown]);
      assert.equal(it.read(shown), begins(CWD));
    });

    it('is not one that was there and was not shown', async (t) => {
      const it = homeOf(t, agent);
      await it.turn(() => {
        assert.equal(existsSync(join(it.copy, others)), false);
        it.write(others, goesOn(begins(OTHER), 'evil'));
      });
      assert.equal(it.read(others), begins(OTHER));
      await it.turn(() => it.write(others, begins(CWD)));
      assert.equal(it.read(others), begins(OTHER));
    });

    it('is not a new one that is of another project, by its place or by what is in it', async (t) => {
      const it = homeOf(t, agent);
      await it.turn(() => {
        it.write(planted, begins(OTHER));
        it.write(fresh, begins(OTHER));
      });
      assert.equal(existsSync(join(it.path, planted)), false);
      assert.equal(existsSync(join(it.path, fresh)), false);
    });

    it('is not what was deleted, or became a link', async (t) => {
      const it = homeOf(t, agent);
      writeFileSync(join(it.root, 'secret'), begins(CWD));
      await it.turn(() => {
        rmSync(join(it.copy, shown));
        mkdirSync(dirname(join(it.copy, fresh)), { recursive: true });
        symlinkSync(join(it.root, 'secret'), join(it.copy, fresh));
      });
      assert.equal(it.read(shown), begins(CWD));
      assert.equal(existsSync(join(it.path, fresh)), false);
    });

    it('is not one that the operator went on with meanwhile', async (t) => {
      const it = homeOf(t, agent);
      const left = await it.turn(() => {
        it.write(shown, goesOn(begins(CWD), 'agent'));
        writeFileSync(join(it.path, shown), goesOn(begins(CWD), 'operator'));
      });
      assert.deepEqual(left, [shown]);
      assert.equal(it.read(shown), goesOn(begins(CWD), 'operator'));
    });

    it('is at most 200 of 10,000, and first the one that was shown', async (t) => {
      const it = homeOf(t, agent);
      const left = await it.turn(() => {
        const [stem, end] = fresh.split(/(?=\.jsonl?$)/);
        mkdirSync(dirname(join(it.copy, fresh)), { recursive: true });
        for (let at = 0; at < 10_000; at += 1)
          writeFileSync(join(it.copy, `${stem}-${at}${end}`), begins(CWD));
        it.write(shown, goesOn(begins(CWD), 'one'));
      });
      assert.equal(it.read(shown), goesOn(begins(CWD), 'one'));
      const names = readdirSync(dirname(join(it.path, fresh)));
      assert.ok(names.length <= 202 && names.length > 100, `${names.length}`);
      assert.ok(left.length >= 9_800);
    });

    it('is none whose name is no UTF-8, which stays in its place and ends no turn', async (t) => {
      const it = homeOf(t, agent);
      const bytes = (root: string, file: string): Buffer => {
        const at = join(root, dirname(file));
        mkdirSync(at, { recursive: true });
        return Buffer.concat([Buffer.from(`${at}/`), Buffer.from([0xff]), Buffer.from('.jsonl')]);
      };
      const [home, copy] = [bytes(it.path, shown), bytes(it.copy, fresh)];
      writeFileSync(home, begins(CWD));
      const left = await it.turn(() => {
        mkdirSync(dirname(join(it.copy, fresh)), { recursive: true });
        writeFileSync(copy, begins(CWD));
      });
      assert.equal(left.length, 1);
      assert.equal(readFileSync(home, 'utf8'), begins(CWD));
      const names = readdirSync(dirname(join(it.path, shown)), 'buffer');
      assert.deepEqual(
        names.filter((each) => each.toString().includes('\ufffd')),
        [Buffer.concat([Buffer.from([0xff]), Buffer.from('.jsonl')])],
      );
      // Nor does the next turn begin with it.
      await it.open(ID);
      assert.equal(existsSync(copy), false);
    });
  });

describe('what an agent says of its session', () => {
  const CODEX = AGENTS.Codex as Agent;

  for (const id of ['other', 'r', '-', 'rollout'])
    it(`shows it no conversation of another project: ${id}`, async (t) => {
      const it = homeOf(t, CODEX);
      await it.turn(() => {
        assert.equal(existsSync(join(it.copy, CODEX.others)), false);
        it.write(CODEX.others, CODEX.goesOn(CODEX.begins(OTHER), 'evil'));
      }, id);
      assert.equal(it.read(CODEX.others), CODEX.begins(OTHER));
    });

  it('does not let a conversation of Codex go on elsewhere', async (t) => {
    const it = homeOf(t, CODEX);
    const elsewhere = line({ type: 'turn_context', payload: { cwd: `${CWD}/../other` } });
    const left = await it.turn(() => {
      appendFileSync(join(it.copy, CODEX.shown), elsewhere);
      it.write(CODEX.fresh, CODEX.begins(CWD) + elsewhere);
    });
    assert.deepEqual(left.toSorted(), [CODEX.shown, CODEX.fresh].toSorted());
    assert.equal(it.read(CODEX.shown), CODEX.begins(CWD));
  });
});

describe('the directory of a project of Gemini CLI', () => {
  const GEMINI = AGENTS['Gemini CLI'] as Agent;

  it('becomes one where it is new and named after the project, and no other', async (t) => {
    const it = homeOf(t, GEMINI);
    mkdirSync(join(it.path, 'tmp/one-two-1'), { recursive: true });
    await it.turn(() => {
      for (const name of ['one-two', 'one-two-1', 'one-two-x', 'victim', 'other'])
        it.write(`tmp/${name}/chats/session-9.jsonl`, GEMINI.begins(CWD));
      it.write('tmp/victim/.project_root', CWD);
    });
    assert.equal(it.read('tmp/one-two/.project_root'), CWD);
    const chats = (name: string) => existsSync(join(it.path, `tmp/${name}/chats/session-9.jsonl`));
    assert.deepEqual(['one-two', 'one-two-1', 'one-two-x', 'victim', 'other'].filter(chats), [
      'one-two',
    ]);
    assert.equal(existsSync(join(it.path, 'tmp/victim')), false);
  });
});

describe('the settings of Gemini CLI', () => {
  const SETTINGS = 'settings.json';
  const kept = { enabled: false };

  it('keep its conversations, in the copy alone', async (t) => {
    const mine = { general: { vimMode: true, sessionRetention: { maxAge: '7d' } }, mcpServers: {} };
    const it = agentHome(t, { '.gemini': { [SETTINGS]: JSON.stringify(mine) } });
    chmodSync(join(it.path, SETTINGS), 0o400);
    const state = await it.open(ID);
    assert.deepEqual(JSON.parse(readFileSync(join(it.copy, SETTINGS), 'utf8')), {
      general: { vimMode: true, sessionRetention: { maxAge: '7d', ...kept } },
      mcpServers: {},
    });
    await state.close();
    assert.deepEqual(JSON.parse(it.read(SETTINGS)), mine);
  });

  it('keep them where the operator has no settings, and has none afterwards', async (t) => {
    const it = agentHome(t, { '.gemini': {} });
    const state = await it.open(ID);
    const copied = JSON.parse(readFileSync(join(it.copy, SETTINGS), 'utf8'));
    assert.deepEqual(copied, { general: { sessionRetention: kept } });
    await state.close();
    assert.deepEqual(readdirSync(it.path), []);
  });

  it('stay as they are with comments, or as a link', async (t) => {
    const commented = '// mine\n{}\n';
    const it = agentHome(t, { '.gemini': { [SETTINGS]: commented } });
    await (await it.open(ID)).close();
    assert.equal(readFileSync(join(it.copy, SETTINGS), 'utf8'), commented);
    const linked = join(it.root, 'linked.json');
    writeFileSync(linked, '{}');
    rmSync(join(it.path, SETTINGS));
    symlinkSync(linked, join(it.path, SETTINGS));
    await (await it.open(ID)).close();
    assert.equal(readlinkSync(join(it.copy, SETTINGS)), linked);
    assert.equal(readFileSync(linked, 'utf8'), '{}');
  });
});

describe('OpenCode', () => {
  it('has no conversation returned: they are in a database', async (t) => {
    const it = agentHome(t, { '.local/share/opencode': { 'opencode.db': 'mine' } });
    const state = await it.open(ID);
    writeFiles(it.copy, { 'opencode.db': 'evil', 'storage/session/x.json': '{}' });
    await state.close();
    assert.equal(it.read('opencode.db'), 'mine');
    assert.deepEqual(readdirSync(it.path), ['opencode.db']);
  });
});

describe('what state_returns names', () => {
  it('does not return over what the operator wrote between two turns', async (t) => {
    const it = agentHome(t, { '.mine': { 'a.json': '1' } });
    const first = await it.openNamed(['a.json']);
    writeFiles(it.copy, { 'a.json': '2' });
    await first.close();
    assert.equal(it.read('a.json'), '2');
    writeFiles(it.path, { 'a.json': 'operator' });
    const second = await it.openNamed(['a.json']);
    writeFiles(it.copy, { 'a.json': '3' });
    await second.close();
    assert.equal(it.read('a.json'), 'operator');
  });
});
