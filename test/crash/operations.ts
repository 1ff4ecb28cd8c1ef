/** The operations that write: each with what is there before, the request itself, and what a client does next. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { Case } from '../../store/records/case.ts';
import { eventually } from '../helpers/eventually.ts';
import type { Running } from '../helpers/service.ts';
import { ask, byHand, type Image, must, untilStatus, type World, workspaceOf } from './world.ts';

export interface Operation {
  name: string;
  /** The world that it needs; the plain one where nothing is said. */
  image?: Image;
  /** Before the trace begins. What is refused there is refused afterwards, too. */
  prepare?: (life: Running, world: World) => Promise<unknown>;
  run: (life: Running, world: World) => Promise<unknown>;
  /** Resolves when nothing of it is at work any more, whatever the disk answers meanwhile. */
  settle?: (life: Running) => Promise<unknown>;
  /** Resolves when all that it began is done. */
  calm?: (life: Running, world: World) => Promise<unknown>;
  /** It is not one change but several, of which some may be there: then each by itself is the old one or the new one. */
  isMany?: boolean;
  /** While it is under way or was cut off, these are fine, too. */
  between?: (path: string, value: string) => boolean;
  /** And these where a call of it failed. */
  failing?: (path: string, value: string) => boolean;
  /** Something is at work once it is prepared: `between` holds from then on. */
  isAtWork?: boolean;
  /** What may be logged at the start after it was cut off: what of its work could not be taken over. */
  logs?: RegExp;
  /** What a client does next with the same thing. */
  next: (life: Running, world: World) => Promise<unknown>;
}

const NOWHERE = 'http://127.0.0.1:9/hook';
const at = ({ id }: World): string => `/cases/${id}`;
const file = (world: World, path: string): string =>
  `${at(world)}/editor/files?path=${encodeURIComponent(path)}`;

const isGone = async (life: Running, world: World): Promise<boolean> =>
  (await ask(life, `GET ${at(world)}`)).status === 404;

/** Where the Work item is still there. */
const unlessGone =
  (next: Operation['next']): Operation['next'] =>
  async (life, world) => {
    if (!(await isGone(life, world))) await next(life, world);
  };

const hasSession = async (life: Running, world: World): Promise<boolean> =>
  world.sid !== '' && !(await isGone(life, world));

/** Writes a file of the worktree, makes it where it is not, and reads it. */
const writeFile = async (life: Running, world: World, path: string): Promise<void> => {
  if ((await ask(life, `GET /api${at(world)}/worktree`)).status !== 200) return;
  const content = `again ${randomUUID()}\n`;
  const found = await ask(life, `GET ${file(world, path)}`);
  assert.ok([200, 404].includes(found.status), `GET ${path}: ${found.text}`);
  if (found.status === 200) await must(life, `PUT ${file(world, path)}`, { content });
  else await must(life, `POST ${at(world)}/editor/files`, { path, content });
  const read = await must<{ content: string }>(life, `GET ${file(world, path)}`);
  assert.equal(read.content, content);
};

const changeTitle = unlessGone(async (life, world) => {
  await must(life, `PUT ${at(world)}`, { title: 'Again' });
  assert.equal((await must<Case>(life, `GET ${at(world)}`)).title, 'Again');
});

const attachProof = unlessGone(async (life, world) => {
  const body = { type: 'log', content: 'again' };
  const { id } = await must<{ id: string }>(life, `POST ${at(world)}/proof`, body);
  await must(life, `PUT ${at(world)}/proof/${id}/verify`);
  await must(life, `DELETE ${at(world)}/proof/${id}`);
});

const appendToMemory: Operation['next'] = async (life) => {
  const body = { content: 'X\n', mode: 'append' };
  const { status, text } = await ask(life, 'POST /api/global-memory/write', body);
  // While a session is at work, it is refused.
  assert.ok(status < 300 || (status === 409 && text.includes('lock_held')), text);
};

const removeItem: Operation['next'] = async (life, world) => {
  if (await isGone(life, world)) return;
  const { status, text } = await ask(life, `DELETE ${at(world)}`);
  // One with a session that goes on, or a worktree, may be refused.
  assert.ok(status < 300 || status === 409, text);
  if (status < 300) assert.ok(await isGone(life, world), 'it is still there');
};

const workByHand: Operation['next'] = async (life, { manual }) => {
  let path = `/cases/${manual.id}/sessions/${manual.sid}`;
  const { status } = await must<{ status: string }>(life, `GET ${path}`);
  // One that has failed has a next one.
  if (status === 'failed') path = `/cases/${manual.id}/sessions/${await byHand(life, manual.id)}`;
  if (status === 'paused') await must(life, `POST /api/cases/${manual.id}/session/resume`);
  if (status !== 'completed') {
    await untilStatus(life, path, 'working');
    await eventually(() => must(life, `POST ${path}/finish`));
  }
  await untilStatus(life, path, 'completed');
};

// The operator says whether a block that was cut off is run again.
const resume = async (life: Running, world: World): Promise<void> => {
  const path = `POST /api${at(world)}/session/resume`;
  const { status, text } = await ask(life, path);
  if (status === 422) await must(life, path, { from: 'again' });
  else assert.ok(status < 300, text);
};

// A planning file that is not approved shuts the gate before the plan.
const approve = async (life: Running, world: World, path: string): Promise<void> => {
  const { status, text } = await ask(life, `POST ${path}/approve`);
  if (status === 422 && text.includes('planning_gate_closed')) {
    await must(life, `POST /api${at(world)}/planning/approve`);
    await must(life, `POST ${path}/approve`);
  } else assert.ok(status < 300, `approve: ${status} ${text}`);
};

const runPlan: Operation['next'] = async (life, world) => {
  if (!(await hasSession(life, world))) return;
  const path = `${at(world)}/sessions/${world.sid}`;
  const { status } = await must<{ status: string }>(life, `GET ${path}`);
  if (status === 'plan_ready') await approve(life, world, path);
  if (status === 'paused') await resume(life, world);
  await untilStatus(life, path, 'completed', 'aborted', 'failed');
};

const register = (path: (world: World) => string): Operation['next'] =>
  unlessGone(async (life, world) => {
    const { id } = await must<{ id: string }>(life, `POST ${path(world)}`, { url: NOWHERE });
    await must(life, `DELETE ${path(world)}/${id}`);
    for (const known of await must<{ id: string }[]>(life, `GET ${path(world)}`))
      await must(life, `DELETE ${path(world)}/${known.id}`);
  });

const EDITED = `---
provider: runbook
sandbox: off
providers:
  other:
    kind: command
    plan: ["true"]
    work: ["true"]
---
`;

const ROTATED_AT = 4_194_304;
const FILLING = 'x'.repeat(100_000);

export const OPERATIONS: readonly Operation[] = [
  {
    name: 'create a Work item',
    run: (life) => ask(life, 'POST /cases', { title: 'New', type: 'bug', description: 'x' }),
    next: async (life) => {
      const { id } = await must<Case>(life, 'POST /cases', { title: 'Next', type: 'bug' });
      await must(life, `DELETE /cases/${id}`);
    },
  },
  {
    name: 'change the title',
    run: (life, world) => ask(life, `PUT ${at(world)}`, { title: 'After' }),
    next: changeTitle,
  },
  {
    name: 'set the state',
    run: (life, world) => ask(life, `PUT ${at(world)}/state`, { state: 'BLOCKED' }),
    next: changeTitle,
  },
  {
    name: 'write a memory file',
    run: (life, world) => ask(life, `PUT ${at(world)}/memory/notes.md`, 'After.\n'.repeat(900)),
    next: unlessGone((life, world) => must(life, `PUT ${at(world)}/memory/notes.md`, 'Again.\n')),
  },
  {
    name: 'write the first planning file',
    run: (life, world) => ask(life, `PUT /api${at(world)}/planning-artifacts/tasks.md`, 'One.\n'),
    next: unlessGone((life, world) =>
      must(life, `PUT /api${at(world)}/planning-artifacts/tasks.md`, 'Again.\n'),
    ),
  },
  {
    name: 'append to the global memory',
    run: (life) =>
      ask(life, 'POST /api/global-memory/write', { content: 'After.\n', mode: 'append' }),
    next: appendToMemory,
  },
  {
    name: 'take a snapshot of the global memory',
    run: (life) => ask(life, 'POST /api/global-memory/snapshot'),
    next: (life) => must(life, 'POST /api/global-memory/snapshot'),
  },
  {
    name: 'attach a proof',
    run: (life, world) => ask(life, `POST ${at(world)}/proof`, { type: 'log', content: 'new' }),
    next: attachProof,
  },
  {
    name: 'verify a proof, which resolves the Work item',
    prepare: (life, world) => ask(life, `PUT ${at(world)}/state`, { state: 'VERIFYING' }),
    run: (life, world) => ask(life, `PUT ${at(world)}/proof/${world.pid}/verify`),
    next: attachProof,
  },
  {
    name: 'delete a proof',
    run: (life, world) => ask(life, `DELETE ${at(world)}/proof/${world.pid}`),
    // Where it had resolved the Work item.
    logs: /gate_not_satisfied/,
    next: attachProof,
  },
  {
    name: 'add to the checklist',
    run: (life, world) =>
      ask(life, `POST ${at(world)}/proof/checklist`, {
        ...{ description: 'A log', type: 'log', required: true },
      }),
    next: unlessGone((life, world) =>
      must(life, `POST ${at(world)}/proof/checklist`, {
        ...{ description: 'Another log', type: 'log', required: false },
      }),
    ),
  },
  {
    name: 'register a webhook of the Work item',
    run: (life, world) => ask(life, `POST ${at(world)}/webhooks`, { url: NOWHERE }),
    next: register((world) => `${at(world)}/webhooks`),
  },
  {
    name: 'register a webhook of the workspace',
    run: (life) => ask(life, 'POST /webhooks', { url: NOWHERE }),
    next: register(() => '/webhooks'),
  },
  {
    name: 'change a setting',
    run: (life) => ask(life, 'PUT /settings', { max_sessions: 7 }),
    next: (life) => must(life, 'PUT /settings', { max_sessions: 3 }),
  },
  {
    name: 'trust an edited setting',
    prepare: async (life, { root }) => {
      writeFileSync(join(workspaceOf(root), 'workspace.md'), EDITED);
      await sweepWorkspace(life.service.store);
    },
    run: (life) => ask(life, 'POST /trust', { all: true }),
    logs: /trust_needed/,
    next: (life) => must(life, 'POST /trust', { all: true }),
  },
  {
    name: 'write a file in the editor',
    run: (life, world) => ask(life, `PUT ${file(world, 'a.txt')}`, { content: 'after\n' }),
    next: unlessGone((life, world) => writeFile(life, world, 'a.txt')),
  },
  {
    name: 'make a file in new directories in the editor',
    run: (life, world) =>
      ask(life, `POST ${at(world)}/editor/files`, { path: 'new/deep/c.txt', content: 'new\n' }),
    next: unlessGone((life, world) => writeFile(life, world, 'new/deep/c.txt')),
  },
  {
    name: 'rename a file in the editor',
    run: (life, world) =>
      ask(life, `POST ${at(world)}/editor/rename`, { from: 'src/b.txt', to: 'moved.txt' }),
    isMany: true,
    next: unlessGone(async (life, world) => {
      await writeFile(life, world, 'src/b.txt');
      await writeFile(life, world, 'moved.txt');
    }),
  },
  {
    name: 'delete a file in the editor',
    run: (life, world) => ask(life, `DELETE ${file(world, 'a.txt')}`),
    next: unlessGone((life, world) => writeFile(life, world, 'a.txt')),
  },
  {
    name: 'remove the worktree',
    run: (life, world) => ask(life, `DELETE /api${at(world)}/worktree?force=true`),
    isMany: true,
    // Half removed, nothing is read of it.
    between: (path, value) => value === '409' && path.includes('/editor/'),
    next: unlessGone(async (life, world) => {
      await ask(life, `DELETE /api${at(world)}/worktree?force=true`);
      const { status } = await ask(life, `GET /api${at(world)}/worktree`);
      if (status === 404) await must(life, 'POST /api/worktrees', { case_id: world.id });
      await writeFile(life, world, 'a.txt');
    }),
  },
  {
    name: 'make a worktree',
    prepare: (life, world) => ask(life, `DELETE /api${at(world)}/worktree?force=true`),
    run: (life, world) => ask(life, 'POST /api/worktrees', { case_id: world.id }),
    isMany: true,
    logs: /was incomplete/,
    next: unlessGone(async (life, world) => {
      const { status } = await ask(life, `GET /api${at(world)}/worktree`);
      if (status === 404) await must(life, 'POST /api/worktrees', { case_id: world.id });
      await writeFile(life, world, 'a.txt');
    }),
  },
  {
    name: 'delete the Work item',
    prepare: (life, world) => ask(life, `DELETE /api${at(world)}/worktree?force=true`),
    run: (life, world) => ask(life, `DELETE ${at(world)}`),
    // Its worktree is removed first: a Work item without one is better than the reverse.
    between: (path) => /worktree|\/editor\//.test(path),
    next: removeItem,
  },
  {
    name: 'export the Work item',
    run: (life, world) => ask(life, `GET ${at(world)}/export`),
    next: unlessGone((life, world) => must(life, `GET ${at(world)}/export`)),
  },
  {
    name: 'restart',
    run: async (life) => {
      await life.restart();
      return { status: 200 };
    },
    next: changeTitle,
  },
  {
    name: 'rotate the journal',
    prepare: async ({ service: { store } }) => {
      for (let bytes = 0; bytes < ROTATED_AT - 2 * FILLING.length; bytes += FILLING.length)
        await store.journal.append({ told: { id: 'filling', state: FILLING } });
    },
    run: async (life, world) => {
      const { journal } = life.service.store;
      for (let n = 0; n < 3; n += 1)
        await journal.append({ told: { id: 'filling', state: n === 2 ? '' : FILLING } });
      return ask(life, `PUT ${at(world)}`, { title: 'After the rotation' });
    },
    next: changeTitle,
  },
  {
    name: 'edit the plan',
    image: 'sessions',
    run: (life, world) =>
      ask(
        life,
        `PUT ${at(world)}/sessions/${world.sid}/plan`,
        '```sh\necho after >> done.txt\n```\n',
      ),
    next: runPlan,
  },
  {
    name: 'comment on the plan',
    image: 'sessions',
    run: (life, world) => ask(life, `PUT ${at(world)}/sessions/${world.sid}/comments`, 'Why?\n'),
    next: unlessGone(async (life, world) => {
      await must(life, `PUT ${at(world)}/sessions/${world.sid}/comments`, 'Again?\n');
      await runPlan(life, world);
    }),
  },
  {
    name: 'approve the plan, which runs',
    image: 'sessions',
    run: (life, world) => ask(life, `POST ${at(world)}/sessions/${world.sid}/approve`),
    settle: ({ service }) => eventually(() => assert.equal(service.engine.live.size, 0), 60_000),
    calm: async (life, world) => {
      if (await hasSession(life, world))
        await eventually(async () => {
          const path = `${at(world)}/sessions/${world.sid}`;
          const { status } = await must<{ status: string }>(life, `GET ${path}`);
          assert.ok(!['working', 'queued', 'planning'].includes(status), status);
          assert.ok(!life.service.engine.live.has(world.sid));
        });
    },
    isMany: true,
    // The index and the refs of a turn that was cut off are git's, and not synced.
    logs: /git_noted|refs_kept/,
    between: (path, value) =>
      /"status":"paused"|"state":"IMPLEMENTING"/.test(value) ||
      /session|worktree|editor/.test(path),
    // A command that could not be started has failed, and is told to have.
    failing: (path, value) =>
      /gate$/.test(path) && /"failed":\[{[^\]]*"exit_code":null/.test(value),
    next: runPlan,
  },
  {
    name: 'finish work by hand',
    image: 'sessions',
    prepare: async (life, { manual }) => {
      await must(life, `POST /api/cases/${manual.id}/session/resume`);
      await untilStatus(life, `/cases/${manual.id}/sessions/${manual.sid}`, 'working');
      // The provider is up a moment after its status says so.
      const { live } = life.service.engine;
      await eventually(() => assert.ok(live.get(manual.sid)?.run?.finish));
    },
    run: (life, { manual }) => ask(life, `POST /cases/${manual.id}/sessions/${manual.sid}/finish`),
    isMany: true,
    isAtWork: true,
    between: (path, value) => /"status":"paused"/.test(value) || /worktree/.test(path),
    // A diff that could not be written fails the session, which blocks its Work item.
    failing: (path, value) =>
      /session/.test(path) || /"status":"failed"|"state":"BLOCKED"/.test(value),
    next: workByHand,
  },
];
