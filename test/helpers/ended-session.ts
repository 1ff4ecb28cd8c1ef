import { randomUUID } from 'node:crypto';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

/** Writes a session that has ended, with so many events of so many characters, as if it came with the workspace; its id. */
export const writeEndedSession = async (
  caseDir: string,
  caseId: string,
  events: number,
  characters = 150,
): Promise<string> => {
  const id = randomUUID();
  const dir = join(caseDir, 'sessions', `2026-01-01T00-00-00Z-${id.slice(0, 8)}`);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'session.md'), sessionText(id, caseId));
  const log = createWriteStream(join(dir, 'events.ndjson'));
  const data = { text: 'x'.repeat(characters), at: '2026-01-01T00:00:00.000Z' };
  for (let n = 1; n < events; n += 1) log.write(lineOf(n, 'message', data));
  const { at } = data;
  log.end(lineOf(events, 'complete', { status: 'completed', error: null, at }));
  await finished(log);
  return id;
};

const lineOf = (id: number, event: string, data: object): string =>
  `${JSON.stringify({ id, event, data })}\n`;

const sessionText = (id: string, caseId: string): string =>
  [
    '---',
    `id: ${id}`,
    `case_id: ${caseId}`,
    'type: implementing',
    'mode: work',
    'status: completed',
    'provider: runbook',
    'branch: null',
    'base_commit: null',
    'plan_sha256: null',
    'created_at: 2026-01-01T00:00:00.000Z',
    'started_at: 2026-01-01T00:00:00.000Z',
    'ended_at: 2026-01-01T00:01:00.000Z',
    'usage: null',
    'error: null',
    '---',
    '',
  ].join('\n');
