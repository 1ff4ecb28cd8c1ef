/**
 * Takes the pictures of README.md and of the console's guide, of a workspace that it makes: `npm run pictures`. Each page in
 * light and dark, at two sizes.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { connect, type Dossier } from '../../lib/client/client.ts';
import { CHROMIUM, FLAGS, isLive } from '../helpers/chromium.ts';
import { serveAlone } from './serve.ts';

const OUT = join(import.meta.dirname, '../../../routes/console/pictures');
const LIGHTS = ['light', 'dark'] as const;
const SIZES = { '': { width: 1280, height: 800 }, '-narrow': { width: 390, height: 844 } } as const;

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

const repositoryIn = (root: string): string => {
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

/** Work items in several states, with sessions that wait, are done and have failed. Answers the pages to look at. */
const fill = async (dossier: Dossier): Promise<Record<string, string>> => {
  const [dates, where, notes, , flaky] = await makeAll(dossier);
  const done = await plan(dossier, dates ?? '', 'runbook');
  await work(dossier, dates ?? '', done);
  const waits = await plan(dossier, where ?? '', 'runbook');
  await work(dossier, flaky ?? '', await plan(dossier, flaky ?? '', 'runbook'));
  const body = { type: 'writing', provider: 'manual' };
  await dossier.call('POST /cases/{id}/sessions', { id: notes ?? '', body });
  const item = `/dashboard/cases/${dates}`;
  return {
    inbox: '/dashboard',
    board: '/dashboard/board',
    item,
    session: `${item}/sessions/${done}`,
    diff: `${item}/sessions/${done}/diff`,
    plan: `/dashboard/cases/${where}/sessions/${waits}/plan`,
    proof: `${item}/proof`,
    settings: '/dashboard/settings',
  };
};

const makeAll = async (dossier: Dossier): Promise<string[]> => {
  const ids: string[] = [];
  for (const [title, type, description] of ITEMS) {
    const made = await dossier.call('POST /cases', { body: { title, type, description } });
    ids.push(made.id);
  }
  return ids;
};

const plan = async (dossier: Dossier, id: string, provider: string): Promise<string> => {
  const body = { type: 'implementing', provider };
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

const takeAll = async (page: Page, url: string, name: string): Promise<void> => {
  for (const colorScheme of LIGHTS)
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      await page.goto(url);
      await isLive(page);
      // What is loaded when it is looked at has come by then.
      await page.waitForTimeout(700);
      await page.screenshot({ path: join(OUT, `${name}-${colorScheme}${size}.png`) });
    }
};

const root = mkdtempSync(join(tmpdir(), 'dossier-pictures-'));
const daemon = await serveAlone(join(root, 'workspace'), repositoryIn(root));
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
try {
  const pages = await fill(connect({ url: daemon.url }));
  rmSync(OUT, { recursive: true, force: true });
  const page = await browser.newPage();
  for (const [name, path] of Object.entries(pages)) await takeAll(page, daemon.url + path, name);
} finally {
  await browser.close();
  await daemon.end();
  rmSync(root, { recursive: true, force: true });
}
