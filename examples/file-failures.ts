/**
 * Files a Work item for each test that failed in a CI log (TAP, as `node --test` and many others write it), for a
 * nightly job. A test that has a Work item already is not filed again until that one is closed; a run that is sent
 * twice, because a job was cut off, makes nothing twice.
 *
 *   node dist/examples/file-failures.js ci.log [http://127.0.0.1:4870]
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
// In a program of yours: from 'dossierd/client'.
import { connect } from '../lib/client/client.ts';

const [log, url] = process.argv.slice(2);
if (log === undefined) {
  console.error('Usage: node dist/examples/file-failures.js LOG [URL]');
  process.exit(2);
}

const FAILED = /^\s*not ok \d+ - (?<name>.*?)\s*(?:# (?<mark>TODO|SKIP)\b.*)?$/i;
const LINES = 40;
const HEAD = 6;
const MOST = 20;

interface Failure {
  title: string;
  description: string;
}

/** The tests that failed, each with the lines that follow in the log. */
const failuresIn = (text: string): Failure[] => {
  const lines = text.split(/\r?\n/);
  const found = new Map<string, Failure>();
  for (const [at, line] of lines.entries()) {
    const { name = '', mark } = FAILED.exec(line)?.groups ?? {};
    if (name === '' || mark !== undefined) continue;
    // What holds a test that failed says so: it is no failure of its own.
    if (lines.slice(at, at + HEAD).some((each) => each.includes("'subtestsFailed'"))) continue;
    const title = `CI: ${name.replace(/\p{C}/gu, '')}`.slice(0, 200);
    // Set in by four: whatever the log holds, it is no Markdown.
    const told = lines.slice(at, at + LINES).map((each) => `    ${each}`);
    if (!found.has(title)) found.set(title, { title, description: `${told.join('\n')}\n` });
  }
  return [...found.values()];
};

const dossier = connect({ url });

const file = async ({ title, description }: Failure): Promise<void> => {
  // The same log says the same: by its key the daemon answers a second call with what the first one made.
  const idempotencyKey = createHash('sha256').update(`${title}\n${description}`).digest('hex');
  const body = { title, type: 'bug', description };
  const { id } = await dossier.call('POST /cases', { body, idempotencyKey });
  console.log(`Filed ${JSON.stringify(title)} as ${id}`);
};

try {
  const failures = failuresIn(readFileSync(log, 'utf8'));
  const items = await dossier.call('GET /cases', { query: { fields: 'title,state' } });
  const open = new Set(
    items
      .filter(({ state }) => state !== 'RESOLVED' && state !== 'NON_ISSUE')
      .map(({ title }) => title),
  );
  const fresh = failures.filter(({ title }) => !open.has(title));
  for (const failure of fresh.slice(0, MOST)) await file(failure);
  if (fresh.length > MOST) console.log(`${fresh.length - MOST} more failed, and were not filed.`);
  console.log(`${failures.length} failed, ${failures.length - fresh.length} of them known.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
