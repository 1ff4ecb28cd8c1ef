/**
 * Dossier in a few seconds: a sample repository, a workspace and a daemon of its own, and one Work item from its title
 * to a verified result, with all that is sent, answered, told and written on the way.
 *
 *   npm run demo                     cleans up at the end
 *   npm run demo -- --keep           leaves the daemon and its files, and says where
 *   npm run demo -- --dir DIR        uses an empty directory of yours instead of a temporary one
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Data, StreamEventOf } from '../lib/client/client.ts';
import { type Client, createClient } from './demo/client.ts';
import { type Mailbox, openMailbox } from './demo/mailbox.ts';
import { heading, say, showRequest, showText, showWebhook, treeOf } from './demo/screen.ts';
import { openStage, type Stage } from './demo/stage.ts';

interface Play extends Stage {
  api: Client;
  mailbox: Mailbox;
  /** What was made: the Work item, its session and proof, the registration of the webhook. */
  made: { id: string; sid: string; pid: string; hook: string };
}

type Item = Data<'GET /cases/{id}'>;
type Session = Data<'GET /cases/{id}/sessions/{sid}'>;
type Gate = Data<'GET /cases/{id}/proof/gate'>;

const TITLE = 'Greet by name';

const DESCRIPTION = `\`sh greet.sh Ada\` says "Hello, world!". It should greet Ada, and the world when nobody is named.

Use the name where there is one:

\`\`\`sh
cat > greet.sh <<'END'
#!/bin/sh
echo "Hello, \${1:-world}!"
END
\`\`\`

Check both ways:

\`\`\`sh
sh greet.sh
sh greet.sh Ada
test "$(sh greet.sh Ada)" = "Hello, Ada!"
\`\`\`
`;

const NOTES = '# Notes\n\nNames are written as they are given: no upper case, no trimming.\n';

const play = async (stage: Play): Promise<void> => {
  await createItem(stage);
  await createSession(stage);
  const ready = await readPlan(stage);
  await approve(stage, ready);
  const log = await follow(stage, ready);
  await attachProof(stage, log);
  await verifyProof(stage);
};

/** What the daemon told by webhook: these events, in this order, each with a signature that is right. */
const told = async ({ mailbox }: Play, ...expected: string[]): Promise<void> => {
  for (const type of expected) {
    const { event_type, payload } = await mailbox.next();
    if (event_type !== type) throw new Error(`${event_type} was told instead of ${type}`);
    const { old_state, new_state, mode, status, proof_type, verified } = payload;
    const move = old_state === undefined ? undefined : `${old_state} -> ${new_state}`;
    const facts = [move, mode, status, proof_type, verified === true ? 'verified' : undefined];
    showWebhook([event_type, ...facts.filter(Boolean)].join(' '));
  }
};

const createItem = async ({ api, mailbox, made }: Play): Promise<void> => {
  heading('Before: a receiver of webhooks');
  const webhook = await api.show(
    'POST /webhooks',
    { body: { url: mailbox.url, events: ['*'] } },
    ({ secret }) => `secret ${secret.slice(0, 10)}... (shown in this answer only)`,
  );
  mailbox.secret = webhook.secret;
  made.hook = webhook.id;

  heading('1. A Work item');
  const body = { title: TITLE, type: 'bug', description: DESCRIPTION };
  const { id } = await api.show('POST /cases', { body }, itemFacts);
  made.id = id;
  say('What the agent should know, and what has to be proven:');
  const filename = 'notes.md';
  await api.show('PUT /cases/{id}/memory/{filename}', { id, filename, body: NOTES });
  const check = { description: 'The check of the plan ran', type: 'test-log', required: true };
  await api.show('POST /cases/{id}/proof/checklist', { id, body: check });
};

const itemFacts = ({ state, path }: Item): string => `state ${state}, directory ${path}`;
const sessionFacts = ({ mode, status }: Session): string => `mode ${mode}, status ${status}`;

const createSession = async (stage: Play): Promise<void> => {
  const { api, made } = stage;
  heading('2. A session: Plan mode, in a git worktree of its own');
  const input = { id: made.id, body: { type: 'implementing' } };
  made.sid = (await api.show('POST /cases/{id}/sessions', input, sessionFacts)).id;
  await told(stage, 'case_state_changed', 'agent_completed');
};

const STREAM = 'GET /cases/{id}/sessions/{sid}/stream';

type Event = StreamEventOf<typeof STREAM>;
type EventNamed<Name> = Extract<Event, { event: Name }>;

/** Reads the stream after an event, up to one of this name, and shows what comes. */
const streamUntil = async <Name extends Event['event']>(
  { api, made }: Play,
  name: Name,
  { after = 0, each }: { after?: number; each?: (event: Event) => void } = {},
): Promise<EventNamed<Name>> => {
  showRequest(`${STREAM} (Last-Event-ID: ${after})`);
  for await (const event of api.stream(STREAM, { ...made, query: { after } })) {
    const { status, title }: Record<string, unknown> = event.data;
    const facts = [status, title].filter((fact) => typeof fact === 'string');
    say(`  ${[event.id, event.event, ...facts].join(' ')}`);
    each?.(event);
    if (event.event === name) return event as EventNamed<Name>;
  }
  throw new Error(`The stream ended without ${name}`);
};

const readPlan = async (stage: Play): Promise<EventNamed<'plan_ready'>> => {
  heading('3. The plan');
  const ready = await streamUntil(stage, 'plan_ready');
  showText(ready.data.plan);
  say('Nothing was run so far. This text is plan.md: it could be edited now, in any editor.');
  return ready;
};

const approve = async (stage: Play, { data }: EventNamed<'plan_ready'>): Promise<void> => {
  heading('4. Approval: the operator says yes to exactly this plan');
  const input = { ...stage.made, body: { plan_sha256: data.plan_sha256 ?? undefined } };
  await stage.api.show('POST /cases/{id}/sessions/{sid}/approve', input, sessionFacts);
  await told(stage, 'case_state_changed', 'session_started');
};

/** Resolves with what the last block of the plan wrote. */
const follow = async (stage: Play, { id }: EventNamed<'plan_ready'>): Promise<string> => {
  heading('5. Work mode, until complete');
  let log = '';
  const each = ({ data }: Event): void => {
    if ('output' in data && data.output !== undefined) log = data.output;
  };
  const end = await streamUntil(stage, 'complete', { after: id, each });
  if (end.data.status !== 'completed') throw new Error(String(end.data.error));
  await told(stage, 'case_state_changed', 'agent_completed', 'session_completed');
  showText(await stage.api.show('GET /cases/{id}/sessions/{sid}/diff', stage.made));
  return log;
};

const gateFacts = ({ satisfied, missing }: Gate): string =>
  satisfied ? 'satisfied' : `not satisfied, missing: ${missing.map((one) => one.description)}`;

const proofFacts = ({ verified }: { verified: boolean }): string => `verified ${verified}`;

const attachProof = async (stage: Play, log: string): Promise<void> => {
  const { api, made } = stage;
  heading('6. Proof: what the check of the plan wrote');
  const input = { id: made.id, body: { type: 'test-log', content: log } };
  made.pid = (await api.show('POST /cases/{id}/proof', input, proofFacts)).id;
  await told(stage, 'proof_created');
  await api.show('GET /cases/{id}/proof/gate', made, gateFacts);
};

const verifyProof = async (stage: Play): Promise<void> => {
  const { api, made } = stage;
  heading('7. Verified by the operator');
  await api.show('PUT /cases/{id}/proof/{pid}/verify', made, proofFacts);
  await told(stage, 'proof_updated', 'case_state_changed');
  await api.show('GET /cases/{id}/proof/gate', made, gateFacts);
  await api.show('GET /cases/{id}', made, itemFacts);
};

const NOTES_ON_FILES = {
  'case.md': 'the Work item: state and description',
  'notes.md': 'what the agent was told besides',
  'checklist.md': 'what has to be proven',
  'plan.md': 'what was approved',
  'diff.patch': 'what Work mode changed',
  'events.ndjson': 'the stream, to be read again',
  'session.md': 'who did what, and when',
};

// Without locks of its own: the daemon is to find the repository free.
const git = (dir: string, ...args: string[]): string =>
  execFileSync('git', ['--no-optional-locks', '-C', dir, ...args], { encoding: 'utf8' }).trimEnd();

const LONGEST_MS = 10_000;

const showHistory = async ({ api, made, workspace }: Play): Promise<void> => {
  heading("In the workspace's own git repository: each settled change is a commit");
  for (const end = Date.now() + LONGEST_MS; Date.now() < end; await pause(50))
    if (git(workspace, 'status', '--porcelain') === '') break;
  const commits = await api.show('GET /cases/{id}/history', made);
  for (const { commit, message } of commits) say(`  ${commit.slice(0, 8)} ${message}`);
};

const showFiles = async ({ api, made, workspace, repository }: Play): Promise<void> => {
  heading('On disk: the workspace is the database');
  const { path } = await api.call('GET /cases/{id}', made);
  const dir = join(workspace, path);
  say(`workspace/${path}/`);
  showText(treeOf(dir, NOTES_ON_FILES));
  say('case.md:');
  showText(readFileSync(join(dir, 'case.md'), 'utf8'));

  heading('In the repository: main is as it was, the work is on a branch of its own');
  const worktrees = git(repository, 'worktree', 'list').split('\n');
  for (const line of worktrees) {
    const [where = '', , branch] = line.split(/\s+/);
    say(`${branch} in ${relative(join(repository, '..'), where)}`);
  }
};

const showMore = async (stage: Play): Promise<void> => {
  const { root, workspace, repository, url, pid, api, made } = stage;
  heading('Left running, as you asked');
  say('The receiver ends with this demo, so its registration goes first:');
  await api.show('DELETE /webhooks/{id}', { id: made.hook });
  say(`daemon      ${url} (process ${pid}; kill ${pid} stops it)`);
  say(`workspace   ${workspace}`);
  say(`repository  ${repository}`);
  say(`log         ${join(root, 'daemon.log')}`);
  heading('To look further');
  say(`curl -s ${url}/cases/${made.id}`);
  say(`curl -s ${url}/cases/${made.id}/sessions/${made.sid}/diff`);
  say(`curl -s ${url}/openapi.json`);
  say('Change the state in case.md with an editor, and ask the API again.');
  say(`To remove all of it: kill ${pid}; rm -rf ${root}`);
};

const showHow = (): void => {
  heading('To look further');
  say('npm run demo -- --keep     the same, but the daemon and the files stay to be looked at');
  say('examples/workspace/        the files that a run like this one makes');
  say(
    'npm start -- serve --workspace DIR --repo DIR     a workspace of yours, on a repository of yours',
  );
};

const { values } = parseArgs({
  options: { keep: { type: 'boolean', default: false }, dir: { type: 'string' } },
});

const run = async (): Promise<void> => {
  const started = performance.now();
  const stage = await openStage(values.dir);
  process.once('SIGINT', () => void stage.close().then(() => process.exit(130)));
  const mailbox = await openMailbox();
  let isLeft = false;
  try {
    const made = { id: '', sid: '', pid: '', hook: '' };
    const all: Play = { ...stage, mailbox, made, api: createClient(stage.url) };
    heading('Dossier: one Work item, from its title to a verified result');
    say(`A sample repository, a workspace and a daemon (${stage.url}) in ${stage.root}`);
    await play(all);
    await showFiles(all);
    await showHistory(all);
    if (values.keep) {
      await showMore(all);
      stage.leave();
      isLeft = true;
    } else showHow();
  } finally {
    mailbox.close();
    if (!isLeft) await stage.close();
  }
  heading(`Done in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
};

try {
  await run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
