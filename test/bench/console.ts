import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { connect, type Dossier } from '../../lib/client/client.ts';
import { CHROMIUM, FLAGS } from '../helpers/chromium.ts';
import { makePlace, removePlace } from './place.ts';
import { startDossier } from './processes.ts';
import type { Row } from './report.ts';
import { makeWorkspace } from './workspaces.ts';

const ITEMS = 5000;
const LINES = 20_000;
const BOARD_MS = 200;
const DIFF_MS = 300;
const TIMES = 7;

/** When an operator sees something, after the page was answered: the board of 5,000, the first row of 20,000. */
export const benchConsole = async (): Promise<Row[]> => {
  if (!existsSync(CHROMIUM))
    return [{ key: 'console', what: 'the console', measured: 'no chromium here' }];
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  const workspace = makeWorkspace(ITEMS);
  const repository = makeRepository();
  const { url, stop } = await startDossier(workspace.root, '--repo', repository, '--trust');
  try {
    const bare = await withBare((address) => median(browser, address, painted));
    const board = await median(browser, `${url}/dashboard/board`, painted);
    const diff = await median(browser, `${url}${await diffPage(connect({ url }))}`, firstRow);
    const beside = `a bare page paints in ${bare.toFixed(0)} ms`;
    return [
      {
        key: 'board-paint',
        what: 'the board’s first paint, 5,000 items',
        ...within(board, BOARD_MS, beside),
      },
      {
        key: 'diff-first-row',
        what: 'the diff’s first row, 20,000 lines',
        ...within(diff, DIFF_MS, beside),
      },
    ];
  } finally {
    await Promise.all([stop(), browser.close()]);
    workspace.remove();
    removePlace(repository);
  }
};

const within = (ms: number, limit: number, beside: string): Omit<Row, 'key' | 'what'> => ({
  measured: `${ms.toFixed(0)} ms`,
  limit: `${limit} ms; ${beside}`,
  ratio: ms / limit,
  target: '<= 1',
});

const makeRepository = (): string => {
  const root = makePlace();
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe' });
  git('init', '--quiet');
  const me = ['-c', 'user.name=me', '-c', 'user.email=me@example.com'];
  git(...me, 'commit', '--quiet', '--allow-empty', '--message', 'begin');
  return root;
};

const withBare = async <T>(use: (url: string) => Promise<T>): Promise<T> => {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<title>Bare</title><p>Bare'),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.close();
  }
};

/** Makes a session whose work writes the lines, and answers the page of its diff. */
const diffPage = async (dossier: Dossier): Promise<string> => {
  const description = `\`\`\`sh\nseq 1 ${LINES} > long.txt\n\`\`\`\n`;
  const body = { title: 'Many lines', type: 'chore', description };
  const { id } = await dossier.call('POST /cases', { body });
  const begin = { type: 'implementing', provider: 'runbook' };
  const { id: sid } = await dossier.call('POST /cases/{id}/sessions', { id, body: begin });
  for await (const { event } of dossier.stream('GET /cases/{id}/sessions/{sid}/stream', {
    id,
    sid,
  }))
    if (event === 'plan_ready')
      await dossier.call('POST /cases/{id}/sessions/{sid}/approve', { id, sid });
  return `/dashboard/cases/${id}/sessions/${sid}/diff`;
};

// Each in a tab of its own; what was loaded before is in the browser's cache, as it is for an operator.
const median = async (
  browser: Browser,
  url: string,
  seen: (page: Page) => Promise<number>,
): Promise<number> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const all: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    const page = await context.newPage();
    await page.goto(url);
    all.push(await seen(page));
    await page.close();
  }
  await context.close();
  return all.toSorted((a, b) => a - b)[Math.floor(TIMES / 2)] ?? Number.NaN;
};

// Milliseconds from the last byte of the answer.
const painted = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const [answer] = performance.getEntriesByType('navigation');
        const from = (answer as PerformanceNavigationTiming).responseEnd;
        new PerformanceObserver((list) => {
          const first = list.getEntriesByName('first-contentful-paint')[0];
          if (first !== undefined) resolve(first.startTime - from);
        }).observe({ type: 'paint', buffered: true });
      }),
  );

const firstRow = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const [answer] = performance.getEntriesByType('navigation');
        const from = (answer as PerformanceNavigationTiming).responseEnd;
        const look = (): void => {
          if (document.querySelector('.diff-row.one, .diff-row.two') === null)
            requestAnimationFrame(look);
          else resolve(performance.now() - from);
        };
        look();
      }),
  );
