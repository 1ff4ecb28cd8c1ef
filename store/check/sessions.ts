import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { sha256 } from '../base/sha256.ts';
import { fixCommand } from '../base/text.ts';
import { type ReadEntry, readEntry } from '../front-matter/entry.ts';
import { listFolder } from '../front-matter/folder.ts';
import { parserOf } from '../front-matter/parse.ts';
import { fileProblem, LINKED_FOLDER, type Problem, toProblem } from '../front-matter/problem.ts';
import { duplicateId } from '../front-matter/problems.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { removeFile } from '../fs/durable.ts';
import { statsAt } from '../fs/plain-path.ts';
import type { Layout } from '../layout.ts';
import { LockMatter } from '../records/lock.ts';
import { isEnded, type SessionMatter } from '../records/session.ts';
import { PATCH_MISSING, PATCHES, readPatches } from '../sessions/patches.ts';
import { approvalProblems } from '../sessions/plan-versions.ts';
import { parseSessionIn } from '../sessions/session-file.ts';
import { parseEvent } from '../sessions/transcript-event.ts';
import {
  checkPlain,
  checkText,
  entryErrors,
  error,
  errorAt,
  type Finding,
  type Mend,
  warning,
} from './finding.ts';

type Sessions = Map<string, ReadEntry<SessionMatter> | undefined>;

/** Checks the sessions of a Work item with their texts, and the session lock. */
export const checkSessions = (layout: Layout, dir: string): Finding[] => {
  const folder = `${dir}/sessions`;
  const { names, fault } = listFolder(join(layout.root, folder));
  if (fault !== undefined) return errorAt(folder, fault);
  const sessions: Sessions = new Map();
  const findings = names
    .filter((name) => name !== LOCK)
    .flatMap((name) => checkSession(layout, `${folder}/${name}`, sessions));
  return [...findings, ...twins(sessions), ...checkLock(layout, `${folder}/${LOCK}`, sessions)];
};

const LOCK = 'lock.md';

const checkSession = (layout: Layout, dir: string, sessions: Sessions): Finding[] => {
  const { root } = layout;
  try {
    const stats = statsAt(join(root, dir));
    if (stats?.isSymbolicLink() === true) return errorAt(dir, LINKED_FOLDER);
    if (stats?.isDirectory() !== true) return [];
  } catch (thrown) {
    return errorAt(dir, toProblem(thrown));
  }
  const file = `${dir}/session.md`;
  const entry = readEntry(join(root, file), { parse: parseSessionIn(basename(dir)) });
  if (entry !== undefined) sessions.set(file, entry);
  return [
    ...entryErrors(file, entry),
    ...checkApproval(layout, dir, entry?.value),
    ...['plan.md', 'approved.md', 'comments.md'].flatMap((name) =>
      checkText(root, `${dir}/${name}`),
    ),
    ...['events.ndjson', ...PATCHES].flatMap((name) => checkPlain(root, `${dir}/${name}`)),
    ...checkPatches(layout, dir, entry?.value),
    ...checkEvents(root, `${dir}/events.ndjson`),
  ];
};

// The last line may still be written.
const checkEvents = (root: string, file: string): Finding[] => {
  // That it is no regular file is reported already.
  const bytes = orElse(() => readRegularFile(root, join(root, file)), undefined);
  const lines = bytes?.toString('utf8').split('\n').slice(0, -1) ?? [];
  const broken = lines.flatMap((line, at) =>
    line === '' || parseEvent(line) !== undefined ? [] : at + 1,
  );
  const [line] = broken;
  if (line === undefined) return [];
  const what =
    broken.length === 1
      ? 'This line is not an event'
      : `${broken.length} lines, of which this is the first, are not events`;
  const them = broken.length === 1 ? 'it' : 'them';
  const message = `${what} of the session, so its stream leaves ${them} out. Repair or remove ${them}`;
  return [warning({ file, line, column: 1, code: 'not_an_event', message })];
};

// An edit of plan.md after the approval has no effect; a changed approved.md is no longer evidence.
const checkApproval = (
  layout: Layout,
  dir: string,
  session: SessionMatter | undefined,
): Finding[] => {
  const { approved_sha256 } = session ?? {};
  if (typeof approved_sha256 !== 'string') return [];
  const problems = [...approvalProblems(layout.root, join(layout.root, dir), approved_sha256)];
  return problems.map(([name, problem]) => found(`${dir}/${name}`, problem));
};

const checkPatches = (
  layout: Layout,
  dir: string,
  session: SessionMatter | undefined,
): Finding[] => {
  if (session === undefined) return [];
  const read = readPatches(layout, { dir: join(layout.root, dir), id: session.id });
  return read.flatMap(([name, { problem }]) => {
    return problem === undefined ? [] : [found(`${dir}/${name}`, problem)];
  });
};

const WARNINGS: ReadonlySet<string> = new Set(['plan_edited', PATCH_MISSING]);

const found = (file: string, problem: Problem): Finding => {
  const finding = WARNINGS.has(problem.code) ? warning : error;
  return finding(fileProblem(file, problem));
};

const twins = (sessions: Sessions): Finding[] => {
  const first = new Map<string, string>();
  return [...sessions].flatMap(([file, entry]) => {
    const id = entry?.value?.id;
    if (id === undefined) return [];
    const other = first.get(id);
    if (other !== undefined) return errorAt(file, duplicateId(other));
    first.set(id, file);
    return [];
  });
};

const checkLock = (layout: Layout, file: string, sessions: Sessions): Finding[] => {
  const path = join(layout.root, file);
  const entry = readEntry(path, { parse: parserOf(LockMatter) });
  if (entry?.value === undefined) return entryErrors(file, entry);
  const why = whyStale(entry.value, sessions);
  if (why === undefined) return [];
  const message = `${why} (${entry.value.session_id}). ${fixCommand(layout)} releases the lock`;
  return [warning({ file, code: 'stale_lock', message }, releaseFix(layout, path, entry.sha))];
};

// An unreadable session may be the holder.
const whyStale = (lock: LockMatter, sessions: Sessions): string | undefined => {
  if (lock.kind !== 'session') return undefined;
  const all = [...sessions.values()];
  const holder = all.find((entry) => entry?.value?.id === lock.session_id)?.value;
  if (holder !== undefined)
    return isEnded(holder.status) ? 'The session that holds the lock has ended' : undefined;
  if (all.some((entry) => entry?.value === undefined)) return undefined;
  return 'The session that holds the lock does not exist';
};

const releaseFix =
  (layout: Layout, path: string, sha: string): Mend =>
  async () => {
    if (sha256(readFileSync(path)) !== sha) return undefined;
    return (await removeFile(layout, path)) ? 'lock released' : undefined;
  };
