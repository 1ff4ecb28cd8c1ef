/**
 * The typical flow against a daemon that runs: from a new Work item to a resolved one, in seven calls.
 *
 *   node dist/examples/first-work-item.js [http://127.0.0.1:4870]
 *
 * The daemon has to know a repository (npm start -- serve --workspace DIR --repo DIR). Its embedded provider runs the shell
 * blocks of the plan in a worktree of that repository, so no agent is needed. The plan is shown first, and nothing runs
 * before you answer `y`.
 */
import { createInterface } from 'node:readline/promises';
// In a program of yours: from 'dossierd/client'.
import { connect, type StreamEventOf } from '../lib/client/client.ts';

const [url] = process.argv.slice(2);

const dossier = connect({
  url,
  fetch: async (to, init) => {
    const answer = await fetch(to, init);
    console.log(`${init?.method} ${new URL(to).pathname} -> ${answer.status}`);
    return answer;
  },
});

const STREAM = 'GET /cases/{id}/sessions/{sid}/stream';

type Event = StreamEventOf<typeof STREAM>;

/** Follows the session up to an event of this name. One that ends without it has gone wrong. */
const waitFor = async <Name extends Event['event']>(
  session: { id: string; sid: string },
  name: Name,
): Promise<Extract<Event, { event: Name }>> => {
  for await (const event of dossier.stream(STREAM, session)) {
    if (event.event === name) return event as Extract<Event, { event: Name }>;
    if (event.event === 'complete' && event.data.error !== null) throw new Error(event.data.error);
  }
  throw new Error('The session ended early.');
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
  const { id } = await dossier.call('POST /cases', {
    body: { title: 'Leave a note', type: 'chore', description: DESCRIPTION },
  });

  // 2. A session. It starts in Plan mode, in a git worktree of its own: nothing can be changed yet.
  const started = await dossier.call('POST /cases/{id}/sessions', {
    id,
    body: { type: 'implementing' },
  });
  const session = { id, sid: started.id };

  // 3. The plan.
  const { plan, plan_sha256 } = (await waitFor(session, 'plan_ready')).data;
  console.log(`\n${plan}`);

  // 4. Approval. With the hash it is this text that is approved, and not what somebody made of it meanwhile.
  if (!(await isApproved())) {
    await dossier.call('POST /api/cases/{id}/session/abort', { id });
    console.log('Nothing was run.');
    return;
  }
  const body = { plan_sha256: plan_sha256 ?? undefined };
  await dossier.call('POST /cases/{id}/sessions/{sid}/approve', { ...session, body });

  // 5. Work mode runs the approved plan and yields a diff.
  const { error } = (await waitFor(session, 'complete')).data;
  if (error !== null) throw new Error(error);
  console.log(`\n${await dossier.call('GET /cases/{id}/sessions/{sid}/diff', session)}`);

  // 6. Evidence.
  const proof = await dossier.call('POST /cases/{id}/proof', {
    id,
    body: { type: 'review', content: 'I read the diff: one file, one line.' },
  });

  // 7. Verified by you, the proof satisfies the gate, and the Work item is RESOLVED.
  await dossier.call('PUT /cases/{id}/proof/{pid}/verify', { id, pid: proof.id });
  const { state } = await dossier.call('GET /cases/{id}', { id });
  console.log(`\nThe Work item is ${state}.`);
};

try {
  await run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
