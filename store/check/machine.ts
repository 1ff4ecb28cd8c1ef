import { chmodSync, rmSync } from 'node:fs';
import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { StoreError } from '../base/errors.ts';
import { journalMarkFile } from '../consent/workspace-id.ts';
import type { ReadEntry } from '../front-matter/entry.ts';
import { listDirectory } from '../front-matter/folder.ts';
import {
  asProblem,
  type FileProblem,
  fileProblem,
  LINKED_FOLDER,
  NO_FOLDER,
} from '../front-matter/problem.ts';
import { statsAt } from '../fs/plain-path.ts';
import { linkedInUndo, unlinkKept } from '../fs/undo-links.ts';
import { problemOfRollback } from '../journal/journal-problems.ts';
import type { JournalSnapshot } from '../journal/journal-file.ts';
import { endOf } from '../journal/journal-state.ts';
import { isOlder, readMark } from '../journal/mark.ts';
import type { Layout } from '../layout.ts';
import type { WebhookFile } from '../settings/read-webhooks.ts';
import { checkKeyFile, keyFiles } from '../workspace/api-keys.ts';
import { INCOMING } from '../workspace/secrets.ts';
import { readAnyWorktree, whatIsAt } from '../worktrees/worktrees.ts';
import { error, errorAt, type Finding, type Mend, warning } from './finding.ts';

export interface Machine {
  layout: Layout;
  /** A daemon runs: what it is in the middle of is no leftover. */
  isRunning: boolean;
  journal: JournalSnapshot | undefined;
  /** The ids of the Work items. */
  ids: ReadonlySet<string>;
  /** Every registration by its file, those that cannot be read among them. */
  webhooks: ReadonlyMap<string, ReadEntry<WebhookFile>>;
}

/** What `.dossier/` holds for this machine alone. */
export const checkMachine = (machine: Machine): Finding[] => {
  const { layout } = machine;
  const stats = statsAt(layout.dossier);
  if (stats === undefined) return [];
  const own = relative(layout.root, layout.dossier);
  if (!stats.isDirectory()) return errorAt(own, stats.isSymbolicLink() ? LINKED_FOLDER : NO_FOLDER);
  return [
    ...checkMode(layout, layout.dossier, 0o700),
    ...checkLinks(layout),
    ...(machine.isRunning ? [] : [...checkLeftovers(layout), ...checkUndo(layout)]),
    ...checkJournal(machine),
    ...checkWorktrees(machine),
    ...checkSecrets(machine),
    ...checkKeys(layout),
  ];
};

const checkMode = ({ root }: Layout, path: string, mode: number): Finding[] => {
  const now = (statsAt(path)?.mode ?? mode) & 0o777;
  if ((now & ~mode) === 0) return [];
  const message = `Its mode is ${octal(now)}, and others may look at what is ${octal(mode)} at most. dossier check --fix tightens it`;
  const mend: Mend = async () => {
    chmodSync(path, now & mode);
    return `mode ${octal(now)} is ${octal(now & mode)} now`;
  };
  return [error({ file: relative(root, path), code: 'wide_mode', message }, mend)];
};

const octal = (mode: number): string => mode.toString(8).padStart(4, '0');

// The daemon does not start with one: who made the workspace may want files elsewhere written or emptied.
const checkLinks = (layout: Layout): Finding[] =>
  [layout.dossier, ...placesOf(layout)]
    .flatMap((dir) => listDirectory(dir).map((name) => join(dir, name)))
    .filter((path) => statsAt(path)?.isSymbolicLink() === true)
    .flatMap((path) => errorAt(relative(layout.root, path), LINKED_FOLDER));

const placesOf = (layout: Layout): string[] => [
  ...[layout.tmp, layout.trash, layout.undo, layout.secrets, layout.deliveries],
  ...[layout.arrivals, layout.answers, layout.worktrees, layout.journal],
];

const checkLeftovers = ({ root, tmp, trash }: Layout): Finding[] =>
  [tmp, trash].flatMap((dir) => {
    const names = listDirectory(dir);
    if (names.length === 0) return [];
    const what = names.length === 1 ? 'One leftover' : `${names.length} leftovers`;
    const message = `${what} of something that was interrupted. dossier check --fix removes what is here, and so does the next start`;
    return [
      warning({ file: relative(root, dir), code: 'leftover', message }, async () => {
        for (const name of names) rmSync(join(dir, name), { recursive: true, force: true });
        return `removed: ${names.length}`;
      }),
    ];
  });

// A write that was interrupted before its rename leaves the file in its place with a second name here.
const checkUndo = (layout: Layout): Finding[] =>
  linkedInUndo(layout).map((path) => {
    const message =
      'It is a hard link to a file that is in use: a write was interrupted. dossier check --fix makes it a file of its own';
    const file = relative(layout.root, join(layout.undo, path));
    return warning({ file, code: 'leftover', message }, async () => {
      await unlinkKept(layout, path);
      return 'is a file of its own now';
    });
  });

const checkJournal = ({ layout, isRunning, journal }: Machine): Finding[] => {
  if (journal === undefined) return [];
  const path = join(layout.journal, journal.name);
  const file = relative(layout.root, path);
  const { damaged, tail } = journal;
  const findings = [
    ...damaged.map((line) =>
      warning({ file, line, column: 1, code: 'journal_damaged', message: DAMAGED }),
    ),
    ...(isRunning ? [] : checkEnd(layout, journal)),
  ];
  if (tail === undefined || isRunning) return findings;
  const mend: Mend = async () => {
    const day = join(layout.undo, new Date().toISOString().slice(0, 10));
    await mkdir(day, { recursive: true, mode: 0o700 });
    await writeFile(join(day, `${Date.now()}-tail-${basename(path)}`), tail.bytes, { mode: 0o600 });
    await truncate(path, tail.from);
    return `cut at line ${tail.line}, ${tail.bytes.length} bytes, which are kept in .dossier/undo`;
  };
  const place = { line: tail.line, column: 1 };
  return [...findings, warning({ file, ...place, code: 'journal_torn', message: TORN }, mend)];
};

// While a daemon runs, the mark and the journal are not read in one moment.
const checkEnd = (layout: Layout, { lines, damaged, tail }: JournalSnapshot): Finding[] => {
  const mark = journalMarkFile(layout);
  const noted = mark === undefined ? undefined : readMark(mark);
  const end = endOf(lines);
  // What a damaged line said of the end is not known.
  if (damaged.length > 0 || tail !== undefined || !noted || !isOlder(end, noted)) return [];
  return [warning(problemOfRollback(layout, { last: end.last, told: noted.last }))];
};

const DAMAGED =
  'The line is damaged. The daemon leaves it out; what it said of a Work item is compared anew';
const TORN =
  'The end was torn by a crash, and never counted. dossier check --fix cuts it off, and so does the next start';

const checkWorktrees = ({ layout, ids }: Machine): Finding[] =>
  listDirectory(layout.worktrees)
    // A change that was cut off is noted beside its record, and finished by the next start.
    .filter((name) => name.endsWith('.json') && !name.endsWith('.change.json'))
    .flatMap((name) => checkWorktree(layout, name.slice(0, -'.json'.length), ids));

const checkWorktree = (layout: Layout, id: string, ids: ReadonlySet<string>): Finding[] => {
  const file = `${relative(layout.root, layout.worktrees)}/${id}.json`;
  try {
    const found = readAnyWorktree(layout, id);
    // One that another machine wrote waits, and is told so.
    if (found?.isOurs !== true) return [];
    const { record } = found;
    const gone = whatIsAt(record.path) !== 'directory';
    const findings: Finding[] = [];
    if (!ids.has(id)) {
      const message = `There is no Work item ${id} here. If it is not to come back, look at ${record.path}, then send DELETE /api/cases/${id}/worktree`;
      findings.push(warning({ file, code: 'orphan_worktree', message }));
    }
    if (gone) {
      const message = `${record.path} is gone. Put it back, or let go of it: DELETE /api/cases/${id}/worktree`;
      findings.push(warning({ file, code: 'worktree_gone', message }));
    }
    return findings;
  } catch (thrown) {
    return [unreadable(file, thrown)];
  }
};

const unreadable = (file: string, thrown: unknown): Finding => {
  const told = thrown instanceof StoreError ? thrown.details.problem : undefined;
  return error((told as FileProblem | undefined) ?? fileProblem(file, asProblem(thrown)));
};

const checkSecrets = ({ layout, webhooks }: Machine): Finding[] => {
  const names = listDirectory(layout.secrets);
  const modes = names.flatMap((name) => checkMode(layout, join(layout.secrets, name), 0o600));
  const entries = [...webhooks.values()];
  const known = new Map(
    [...webhooks].flatMap(([file, { value }]): [string, string][] =>
      value === undefined || value.matter.disabled === true || value.adopt?.id !== undefined
        ? []
        : [[value.matter.id, file]],
    ),
  );
  const ids = new Set(entries.map(({ value }) => value?.matter.id));
  // While a registration cannot be read, nobody knows whose secret it needs.
  const isOrphan = (name: string): boolean => name !== INCOMING && !ids.has(name);
  const orphans = ids.has(undefined) ? [] : names.filter(isOrphan);
  return [
    ...modes,
    ...orphans.map((name) =>
      warning({
        file: `${relative(layout.root, layout.secrets)}/${name}`,
        code: 'orphan_secret',
        message: 'No webhook has this id. If none comes back, the next start puts it away',
      }),
    ),
    ...[...known]
      .filter(([id]) => !names.includes(id))
      .map(([id, file]) => warning({ file, code: 'no_secret', message: wordsFor(id) })),
  ];
};

const wordsFor = (id: string): string =>
  `This machine has no secret for it. The daemon makes one with the first delivery: give it to the receiver from .dossier/secrets/${id}, or put the former one there`;

const checkKeys = (layout: Layout): Finding[] =>
  keyFiles(layout).flatMap((path) => [
    ...checkMode(layout, path, 0o600),
    ...checkKey(layout, path),
  ]);

const checkKey = (layout: Layout, path: string): Finding[] => {
  try {
    checkKeyFile(layout, path);
    return [];
  } catch (thrown) {
    return [unreadable(relative(layout.root, path), thrown)];
  }
};
