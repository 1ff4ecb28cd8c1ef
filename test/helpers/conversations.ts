/** Transcripts as released agents wrote them, in a home of a test. Long texts of the agents are left out. */
import { readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeFiles } from './repository.ts';

const FIXTURES = fileURLToPath(
  new URL('../../../test/lib/transfer/adopt/fixtures', import.meta.url),
);

export const SESSIONS = {
  planned: 'ddb03d35-e7c7-492f-85f7-5dd63c764a98',
  worked: '2800304d-2d98-4cb0-bcd9-cc53ab71cc7d',
  codex: '01a218ea-06ad-7f03-be33-5968739c77d6',
} as const;

const FILES = {
  planned: 'claude-2.1.197-plan.jsonl',
  worked: 'claude-2.1.197-work.jsonl',
  codex: 'codex-0.166.0.jsonl',
} as const;

export const transcriptOf = (name: keyof typeof FILES, directory: string): string =>
  readFileSync(join(FIXTURES, FILES[name]), 'utf8').replaceAll('DIRECTORY', directory);

/** Puts all three into a home, as sessions in this directory; the one of Codex is the newest. */
export const putConversations = (home: string, directory: string): void => {
  const folder = `.claude/projects/${directory.replaceAll(/[^A-Za-z0-9]/g, '-')}`;
  const paths = {
    planned: `${folder}/${SESSIONS.planned}.jsonl`,
    worked: `${folder}/${SESSIONS.worked}.jsonl`,
    codex: `.codex/sessions/2026/11/26/rollout-2026-11-26T17-32-00-${SESSIONS.codex}.jsonl`,
  };
  for (const [at, name] of (['planned', 'worked', 'codex'] as const).entries()) {
    writeFiles(home, { [paths[name]]: transcriptOf(name, directory) });
    utimesSync(join(home, paths[name]), 1_795_714_000 + at, 1_795_714_000 + at);
  }
};
