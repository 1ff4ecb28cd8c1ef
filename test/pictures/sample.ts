/** A workspace as one has it after a week, and where each page of the console shows something of it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dossier } from '../../lib/client/client.ts';
import { PAGES } from '../../routes/console/pages/index.ts';

const DATES = `The parser takes \`2026-02-29\` for a day, and refuses \`2028-02-29\`.

\`\`\`sh
printf 'export const isLeap = (y) => y %% 4 === 0 && (y %% 100 !== 0 || y %% 400 === 0);\\n' > src/leap.js
printf "import { isLeap } from './leap.js';\\n" | cat - src/dates.js > src/dates.new && mv src/dates.new src/dates.js
\`\`\`
`;

const ITEMS: readonly [title: string, type: string, description: string][] = [
  ['Dates: the 29th of February is a day in leap years alone', 'bug', DATES],
  [
    'Say which file a parse error is in',
    'feature',
    '```sh\necho "file: $1" > src/where.txt\n```\n',
  ],
  ['Release notes of 2.4', 'docs', 'By hand, from the list of merged changes.\n'],
  ['Move the settings to TOML', 'refactor', 'Only once 2.4 is out.\n'],
  ['Flaky: watcher test on a slow disk', 'bug', '```sh\nexit 3\n```\n'],
];

/** A git repository with a few files and one commit, below this directory. */
export const sampleRepository = (root: string): string => {
  const repo = join(root, 'parser');
  mkdirSync(join(repo, 'src'), { recursive: true });
  writeFileSync(join(repo, 'README.md'), '# Parser\n\nReads dates.\n');
  const lines = Array.from({ length: 30 }, (_, n) => `export const day${n} = ${n};`);
  writeFileSync(join(repo, 'src/dates.js'), `${lines.join('\n')}\n`);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repo, stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.org');
  git('add', '.');
  git('commit', '-qm', 'Read dates');
  return repo;
};

/** Work items in several states, with sessions that wait, are done and have failed. Answers the address of every page. */
export const fillSample = async (dossier: Dossier): Promise<Map<string, string>> => {
  const [dates = '', where = '', notes = '', , flaky = ''] = await makeAll(dossier);
  const done = await plan(dossier, dates);
  await work(dossier, dates, done);
  const waits = await plan(dossier, where);
  await work(dossier, flaky, await plan(dossier, flaky));
  const manual = { type: 'writing', provider: 'manual' };
  await dossier.call('POST /cases/{id}/sessions', { id: notes, body: manual });
  await prove(dossier, dates);
  const receiver = {
    url: 'https://ci.example.org/dossier',
    events: ['session_completed' as const],
  };
  const { id: webhook } = await dossier.call('POST /webhooks', { body: receiver });
  const own: Record<string, Record<string, string>> = {
    plan: { id: where, sid: waits },
    settingsWebhook: { id: webhook },
    helpOperation: { operation: 'createCaseSession' },
    helpGuide: { topic: 'providers' },
  };
  return new Map(
    Object.entries(PAGES).map(([name, { path }]) => [
      name,
      filled(path, own[name] ?? { id: dates, sid: done }),
    ]),
  );
};

/** A page that is new has to say here what it is looked at with, where that is neither a Work item nor its session. */
const filled = (path: string, known: Record<string, string>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = known[name];
    if (value === undefined) throw new Error(`The sample has nothing for {${name}} of ${path}.`);
    return value;
  });

const makeAll = async (dossier: Dossier): Promise<string[]> => {
  const ids: string[] = [];
  for (const [title, type, description] of ITEMS) {
    const made = await dossier.call('POST /cases', { body: { title, type, description } });
    ids.push(made.id);
  }
  return ids;
};

const plan = async (dossier: Dossier, id: string): Promise<string> => {
  const body = { type: 'implementing', provider: 'runbook' };
  const { id: sid } = await dossier.call('POST /cases/{id}/sessions', { id, body });
  await until(dossier, { id, sid }, 'plan_ready');
  return sid;
};

const work = async (dossier: Dossier, id: string, sid: string): Promise<void> => {
  await dossier.call('POST /cases/{id}/sessions/{sid}/approve', { id, sid });
  await until(dossier, { id, sid }, 'complete');
};

const until = async (dossier: Dossier, at: { id: string; sid: string }, wanted: string) => {
  for await (const { event } of dossier.stream('GET /cases/{id}/sessions/{sid}/stream', at))
    if (event === wanted) return;
};

const prove = async (dossier: Dossier, id: string): Promise<void> => {
  const content =
    'All **128** tests pass, with four new ones for the years 1900, 2000, 2026 and 2028.\n';
  await dossier.call('POST /cases/{id}/proof', { id, body: { type: 'tests', content } });
  const lines = ['The four years are tested', 'The message names the day'];
  for (const description of lines)
    await dossier.call('POST /cases/{id}/proof/checklist', {
      id,
      body: { description, type: 'tests', required: true },
    });
};
