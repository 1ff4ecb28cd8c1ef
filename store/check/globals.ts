import type { Pair, Scalar } from 'yaml';
import { isMap, isScalar } from 'yaml';
import { importProblems } from '../codehost/imports.ts';
import { placeAt } from '../front-matter/complaints.ts';
import type { ReadEntry } from '../front-matter/entry.ts';
import { problemsOfFolder } from '../front-matter/problems.ts';
import { readFolder } from '../front-matter/folder.ts';
import { fileProblem, Problem } from '../front-matter/problem.ts';
import { readable, readRegularFile } from '../front-matter/record-file.ts';
import type { Layout } from '../layout.ts';
import { readSettings } from '../settings/globals.ts';
import { parseWebhook, type WebhookFile } from '../settings/read-webhooks.ts';
import { readSnapshots } from '../worktrees/snapshots.ts';
import { lackingIn } from './adopt.ts';
import { entryErrors, errorAt, errors, type Finding, warning } from './finding.ts';
import { textFindings } from './texts.ts';

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
