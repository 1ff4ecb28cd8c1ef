/**
 * The typical flow against a daemon that runs: from a new Work item to a resolved one, in seven calls.
 *
 *   node dist/examples/first-work-item.js [http://127.0.0.1:4870]
 *
 * The daemon has to know a repository (npm start -- --workspace DIR --repo DIR). Its embedded provider runs the shell
 * blocks of the plan in a worktree of that repository, so no agent is needed. The plan is shown first, and nothing runs
 * before you answer `y`.
 */
import { createInterface } from 'node:readline/promises';
import { setTimeout as pause } from 'node:timers/promises';

const [api = 'http://127.0.0.1:4870'] = process.argv.slice(2);

interface Answer {
  id: string;
  state: string;
}

interface SessionEvent {
  id: number;
  event: string;
  data: { plan?: string; plan_sha256?: string; error?: string | null };
}

const send = async (method: string, path: string, body?: object): Promise<Response> => {
  const response = await fetch(`${api}${path}`, {
    method,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  console.log(`${method} ${path} -> ${response.status}`);
  if (response.ok) return response;
  const { detail } = (await response.json()) as { detail: string };
  throw new Error(detail);
};

const call = async (method: string, path: string, body?: object): Promise<Answer> =>
  (await send(method, path, body)).json() as Promise<Answer>;

/** Asks for the session's events until there is one of this type. A session that ends without it has gone wrong. */
const waitFor = async (session: string, type: string): Promise<SessionEvent> => {
  for (;;) {
    const response = await send('GET', `${session}/stream`);
    const events = (await response.json()) as SessionEvent[];
    const found = events.find(({ event }) => event === type);
    if (found !== undefined) return found;
    const end = events.find(({ event }) => event === 'complete');
    if (end !== undefined) throw new Error(end.data.error ?? 'The session ended early.');
    await pause(300);
  }
};

const isApproved = async (): Promise<boolean> => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question('Approve this plan? (y/n) ');
  terminal.close();
  return answer.trim().toLowerCase() === 'y';
};

const DESCRIPTION = `The repository says nowhere that somebody looked at it.

Leave a note:

\`\`\`sh
echo "Reviewed with Dossier." > REVIEWED.txt
\`\`\`
`;

const run = async (): Promise<void> => {
  // 1. A Work item: a directory with a case.md in the workspace.
  const item = await call('POST', '/cases', {
    title: 'Leave a note',
    type: 'chore',
    description: DESCRIPTION,
  });

  // 2. A session. It starts in Plan mode, in a git worktree of its own: nothing can be changed yet.
  const { id } = await call('POST', `/cases/${item.id}/sessions`, { type: 'implementing' });
  const session = `/cases/${item.id}/sessions/${id}`;

  // 3. The plan.
  const { plan, plan_sha256 } = (await waitFor(session, 'plan_ready')).data;
  console.log(`\n${plan}`);

  // 4. Approval. With the hash it is this text that is approved, and not what somebody made of it meanwhile.
  if (!(await isApproved())) {
    await call('POST', `/api/cases/${item.id}/session/abort`);
    console.log('Nothing was run.');
    return;
  }
  await call('POST', `${session}/approve`, { plan_sha256 });

  // 5. Work mode runs the approved plan and yields a diff.
  const end = await waitFor(session, 'complete');
  if (typeof end.data.error === 'string') throw new Error(end.data.error);
  console.log(`\n${await (await send('GET', `${session}/diff`)).text()}`);

  // 6. Evidence.
  const proof = await call('POST', `/cases/${item.id}/proof`, {
    type: 'review',
    content: 'I read the diff: one file, one line.',
  });

  // 7. Verified by you, the proof satisfies the gate, and the Work item is RESOLVED.
  await call('PUT', `/cases/${item.id}/proof/${proof.id}/verify`);
  const { state } = await call('GET', `/cases/${item.id}`);
  console.log(`\nThe Work item is ${state}.`);
};

try {
  await run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
