import { join } from 'node:path';
import { isMap, isScalar, type Pair, type Scalar } from 'yaml';
import { fixCommand } from '../base/text.ts';
import { importProblems } from '../codehost/imports.ts';
import { placeAt } from '../front-matter/complaints.ts';
import type { ReadEntry } from '../front-matter/entry.ts';
import { readFolder } from '../front-matter/folder.ts';
import { fileProblem, Problem } from '../front-matter/problem.ts';
import { problemsOfFolder } from '../front-matter/problems.ts';
import { readable, readRegularFile } from '../front-matter/record-file.ts';
import { putFile } from '../front-matter/text-file.ts';
import { createFile } from '../fs/durable.ts';
import { findGitDir } from '../fs/git-dir.ts';
import { isDirectoryItself, statsAt } from '../fs/plain-path.ts';
import type { Layout } from '../layout.ts';
import { readSettings } from '../settings/globals.ts';
import { parseWebhook, type WebhookFile } from '../settings/read-webhooks.ts';
import { readSnapshots } from '../worktrees/snapshots.ts';
import { lackingIn } from './adopt.ts';
import {
  entryErrors,
  errorAt,
  errors,
  type Finding,
  type Mend,
  textFindings,
  warning,
} from './finding.ts';

const SETTINGS = 'workspace.md';

/** Settings, global webhook registrations, the global memory and import jobs. */
export const checkGlobals = (
  layout: Layout,
): { webhooks: Map<string, ReadEntry<WebhookFile>>; findings: Finding[] } => {
  const { entries, fault } = readFolder(layout.webhooks, new Map(), { parse: parseWebhook });
  const findings = [
    ...checkSettings(layout),
    ...errorAt('webhooks', fault),
    ...errors(problemsOfFolder('webhooks', entries)),
    ...lackingIn(layout, 'webhooks', entries),
    ...textFindings(layout.root, 'memory'),
    ...checkSnapshots(layout),
    ...errors(importProblems(layout)),
  ];
  return { webhooks: entries, findings };
};

const checkSnapshots = (layout: Layout): Finding[] => {
  const texts = textFindings(layout.root, 'memory/snapshots');
  const told = new Set(texts.map(({ file }) => file));
  const { problems } = readSnapshots({ layout });
  return [...texts, ...errors(problems.filter(({ file }) => !told.has(file)))];
};

const checkSettings = (layout: Layout): Finding[] => {
  const entry = readSettings(layout);
  if (entry?.value === undefined) return entryErrors(SETTINGS, entry);
  const bytes = readRegularFile(layout.root, layout.settings);
  const source = bytes && readable(layout.root, layout.settings, bytes);
  const providers = source?.document.get('providers');
  if (source === undefined || !isMap(providers)) return [];
  return providers.items
    .flatMap(({ value }) => (isMap(value) ? envOf(value.get('env')) : []))
    .map(({ key, at }) =>
      warning(fileProblem(SETTINGS, new Problem(SECRET, wordsFor(key), placeAt(source, at)))),
    );
};

const SECRET = 'secret_in_settings';
const wordsFor = (key: string): string =>
  `${key} looks like a secret, and git keeps this file. Set it in the environment of the daemon instead`;

const envOf = (env: unknown): { key: string; at: number }[] =>
  isMap(env) ? env.items.flatMap((pair) => secretIn(pair as Pair)) : [];

const secretIn = ({ key, value }: Pair): { key: string; at: number }[] => {
  if (!isScalar(key) || !isScalar(value)) return [];
  const [name, text] = [String(key.value), String(value.value ?? '')];
  const isSecret = text !== '' && (NAME.test(name) || VALUE.test(text));
  return isSecret ? [{ key: name, at: (value as Scalar).range?.[0] ?? 0 }] : [];
};

const NAME = /(?:^|_)(?:key|token|secret|password|passwd|credentials?)$/i;
const VALUE = /^(?:sk-|gh[pousr]_|github_pat_|whsec_|xox[abp]-|AKIA)\w/;

// Without these lines, git would track files of this machine, or a lock that a checkout could forge.
const WANTED = ['.dossier/', '*.lock/', '*.tmp', '**/sessions/lock.md'];
const OWN = '.dossier/.gitignore';

/** Checks that git ignores the files of this machine, if the workspace is in a repository. */
export const checkGitignore = (layout: Layout): Finding[] => {
  if (findGitDir(layout.root) === undefined) return [];
  const before = readRegularFile(layout.root, layout.gitignore);
  const told = new Set(before?.toString('utf8').split(/\r?\n/).map(normalized));
  const missing = WANTED.filter((line) => !told.has(normalized(line)));
  const message = `${missing.join(' ')} ${missing.length === 1 ? 'is' : 'are'} missing: git would track files of this machine. ${fixCommand(layout)} adds ${missing.length === 1 ? 'it' : 'them'}`;
  const findings =
    missing.length === 0
      ? []
      : [
          warning(
            { file: '.gitignore', code: 'not_ignored', message },
            addLinesFix(layout, before, missing),
          ),
        ];
  return [...findings, ...checkOwn(layout)];
};

// `/.dossier`, `.dossier` and `.dossier/` are all accepted.
const normalized = (line: string): string =>
  line
    .trim()
    .replace(/^(?:\*\*)?\//, '')
    .replace(/\/$/, '');

const addLinesFix =
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
  if (!isDirectoryItself(layout.dossier) || statsAt(path) !== undefined) return [];
  const message = `The file is missing; it keeps secrets out of git. ${fixCommand(layout)} creates it`;
  return [
    warning({ file: OWN, code: 'not_ignored', message }, async () =>
      (await createFile(layout, path, '*\n')) ? 'created' : undefined,
    ),
  ];
};
