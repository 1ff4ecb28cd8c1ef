import { join } from 'node:path';
import { readRegularFile } from '../front-matter/record-file.ts';
import { putFile } from '../front-matter/text-file.ts';
import { createFile } from '../fs/durable.ts';
import { findGitDir } from '../fs/git-dir.ts';
import { statsAt } from '../fs/plain-path.ts';
import type { Layout } from '../layout.ts';
import { type Finding, type Mend, warning } from './finding.ts';

// What would put this machine's own, or a lock that a checkout could forge, into git.
const WANTED = ['.dossier/', '*.lock/', '*.tmp', '**/sessions/lock.md'];
const OWN = '.dossier/.gitignore';

/** Whether git, where the workspace is in it, is told what is of this machine only. */
export const checkGitignore = (layout: Layout): Finding[] => {
  if (findGitDir(layout.root) === undefined) return [];
  const before = readRegularFile(layout.root, layout.gitignore);
  const told = new Set(before?.toString('utf8').split(/\r?\n/).map(plain));
  const missing = WANTED.filter((line) => !told.has(plain(line)));
  const message = `${missing.join(' ')} ${missing.length === 1 ? 'is' : 'are'} missing: git would keep what is of this machine only. dossier check --fix adds it`;
  const findings =
    missing.length === 0
      ? []
      : [
          warning(
            { file: '.gitignore', code: 'not_ignored', message },
            adding(layout, before, missing),
          ),
        ];
  return [...findings, ...checkOwn(layout)];
};

// `/.dossier`, `.dossier` and `.dossier/` all do.
const plain = (line: string): string =>
  line
    .trim()
    .replace(/^(?:\*\*)?\//, '')
    .replace(/\/$/, '');

const adding =
  (layout: Layout, before: Buffer | undefined, missing: readonly string[]): Mend =>
  async () => {
    const text = before?.toString('utf8') ?? '';
    const eol = text.includes('\r\n') ? '\r\n' : '\n';
    const start = text === '' || text.endsWith('\n') ? text : text + eol;
    const bytes = start + missing.map((line) => line + eol).join('');
    const done = await putFile(layout, layout.gitignore, { before }, bytes);
    return done ? `added: ${missing.join(' ')}` : undefined;
  };

const checkOwn = (layout: Layout): Finding[] => {
  const path = join(layout.root, OWN);
  if (statsAt(layout.dossier) === undefined || statsAt(path) !== undefined) return [];
  const message = 'It is missing, and keeps git from the secrets. dossier check --fix makes it';
  return [
    warning({ file: OWN, code: 'not_ignored', message }, async () =>
      (await createFile(layout, path, '*\n')) ? 'made' : undefined,
    ),
  ];
};
