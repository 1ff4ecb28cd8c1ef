/** What a session of the runbook provider costs, against git and the shell that do the same by hand. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { connect } from '../../lib/client/client.ts';
import { writeFiles } from '../helpers/repository.ts';
import { millis, pairOf, pairRow, seconds } from './pair-row.ts';
import { makePlace, removePlace } from './place.ts';
import { startDossier } from './processes.ts';
import type { Row } from './report.ts';
import { alternate, median } from './rounds.ts';
import { type Cost, costOf } from './run-command.ts';
import { makeRepository } from './worktrees.ts';

const ROUNDS = 5;
const BLOCK = 'for n in $(seq 20); do echo "$n" > "new-$n.txt"; done';
const DESCRIPTION = `Make files:\n\n\`\`\`sh\n${BLOCK}\n\`\`\`\n`;

export const benchSessions = async (): Promise<Row[]> => {
  const root = makePlace();
  const repository = join(root, 'repository');
  await makeRepository(repository, 500);
  const workspace = join(root, 'workspace');
  writeFiles(workspace, { 'workspace.md': '---\nmax_sessions: 20\n---\n' });
  const dossier = await startDossier(workspace, '--repo', repository);
  const client = connect({ url: dossier.url });
  const rows: Row[] = [];
  await sessions(client, 1);
  for (const count of [1, 20]) {
    const [ours, byHand] = await alternate(
      count === 1 ? ROUNDS : 3,
      () => sessions(client, count),
      () => handMade(root, repository, count),
    );
    const words = count === 1 ? 'one session' : `${count} sessions at once`;
    rows.push(
      pairRow(
        {
          key: `sessions-${count}`,
          what: `${words}, from its Work item to its commit`,
          target: '<= 1.1',
        },
        { ...pairOf('ms', ours, byHand), against: 'git and sh by hand', show: seconds },
      ),
    );
  }
  const eight = (await sessions(client, 8)).first_ms;
  const p90 = eight.toSorted((a, b) => a - b)[7] ?? 0;
  rows.push({
    key: 'sessions-first-command',
    what: 'approval to the first command, p90 of 8 at once',
    measured: `${millis(p90)}, median ${millis(median(eight))}`,
    limit: '1 s',
    ratio: p90 / 1000,
    target: '<= 1',
  });
  await dossier.stop();
  removePlace(root);
  return rows;
};

type Client = ReturnType<typeof connect>;

interface Sessions {
  ms: number;
  /** From each approval to the start of its first command. */
  first_ms: number[];
}

/** Plans them all, then approves them all, and waits for their end. */
const sessions = async (client: Client, count: number): Promise<Sessions> => {
  const from = performance.now();
  const first_ms = await Promise.all(Array.from({ length: count }, () => session(client)));
  return { ms: performance.now() - from, first_ms };
};

// By its stream: a client that asks again and again would cost more than the session.
const session = async (client: Client): Promise<number> => {
  const body = { title: 'Make files', type: 'chore', description: DESCRIPTION } as const;
  const { id } = await client.call('POST /cases', { body });
  const { id: sid } = await client.call('POST /cases/{id}/sessions', {
    id,
    body: { type: 'implementing' },
  });
  let [at, first_ms] = [0, 0];
  for await (const { event, data } of client.stream('GET /cases/{id}/sessions/{sid}/stream', {
    ...{ id, sid },
  })) {
    if (event === 'plan_ready') {
      at = Date.now();
      await client.call('POST /cases/{id}/sessions/{sid}/approve', { id, sid, body: {} });
    }
    if (event === 'tool_call' && first_ms === 0) first_ms = Date.parse(data.at) - at;
    if (event === 'complete' && data.status !== 'completed')
      throw new Error(`A session failed: ${data.error}`);
  }
  return first_ms;
};

const handMade = async (root: string, repository: string, count: number): Promise<Cost> => {
  const one = (path: string): string =>
    [
      `git -C ${repository} worktree add --quiet -b w-${randomUUID()} ${path}`,
      `cd ${path}`,
      BLOCK,
      'git add --all',
      'git diff --cached > /dev/null',
      'git -c user.name=b -c user.email=b@b commit --quiet -m x',
    ].join(' && ');
  const paths = Array.from({ length: count }, () => join(root, 'by-hand', randomUUID()));
  return costOf(['sh', '-c', `${paths.map((path) => `(${one(path)}) &`).join('\n')}\nwait`]);
};
