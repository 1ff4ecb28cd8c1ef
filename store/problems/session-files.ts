import { basename, dirname, join } from 'node:path';
import { type ReadEntry, readEntry } from '../front-matter/entry.ts';
import { folderFault, listFolder } from '../front-matter/folder.ts';
import { parserOf } from '../front-matter/parse.ts';
import {
  asProblem,
  type FileProblem,
  LINKED_FOLDER,
  type Problem,
} from '../front-matter/problem.ts';
import { entryProblem } from '../front-matter/problems.ts';
import { statsAt } from '../fs/plain-path.ts';
import { memoryDir, sessionFile, sessionsDir } from '../layout.ts';
import { LockMatter } from '../records/lock.ts';
import { isEnded, SessionMatter } from '../records/session.ts';
import { approvalProblems } from '../sessions/approved.ts';
import { faulty, readAside } from './read-aside.ts';

/**
 * What of a Work item is not kept in memory, as it was last read: sessions, the lock, records of rebases and of its pull
 * request, and whether their folders and that of the memory files are folders. By path within the Work item; nothing but what is wrong, and what tells a change.
 */
export type SessionFiles = ReadonlyMap<string, ReadEntry<unknown>>;

/** Reads what changed since it was last read. */
export const readSessionFiles = (
  root: string,
  dir: string,
  before: SessionFiles = NONE,
): SessionFiles => {
  const path = join(root, dir);
  const { names, fault } = listFolder(sessionsDir(path));
  const found = new Map<string, ReadEntry<unknown>>();
  const put = (name: string, entry: ReadEntry<unknown> | undefined): void => {
    if (entry !== undefined) found.set(name, entry);
  };
  put('memory', faultOf(folderFault(memoryDir(path))));
  put('sessions', faultOf(fault));
  for (const [file, entry] of readAside(path, before)) put(file, entry);
  for (const name of names) {
    const file = name === LOCK ? `sessions/${name}` : `sessions/${name}/session.md`;
    const entry = readOne(sessionsDir(path), name, before.get(file));
    put(file, entry);
    for (const text of textsOf(name, entry))
      put(`sessions/${name}/${text}`, readText(path, `sessions/${name}/${text}`, before));
    for (const [text, problem] of readApproval(root, join(sessionsDir(path), name), entry))
      put(`sessions/${name}/${text}`, faulty(problem));
  }
  return found.size === 0 ? NONE : found;
};

const NONE: SessionFiles = new Map<string, never>();
const LOCK = 'lock.md';
const COMMENTS = 'comments.md';
const PLAN = 'plan.md';

// Who waits for a word on the plan wants to know that it is another; of one that was approved, more is asked.
const textsOf = (name: string, entry: ReadEntry<unknown> | undefined): string[] => {
  if (name === LOCK || entry === undefined || entry.problem === LINKED_FOLDER) return [];
  return approvedIn(entry) === undefined ? [COMMENTS, PLAN] : [COMMENTS];
};

/** Whether what the operator says of a plan may be another than before. */
export const saysOther = (files: SessionFiles, before: SessionFiles = NONE): boolean =>
  [...new Set([...files.keys(), ...before.keys()])].some(
    (file) => file.endsWith(`/${COMMENTS}`) && files.get(file) !== before.get(file),
  );

// It may say nothing.
const readText = (path: string, file: string, known: SessionFiles) => {
  const reading = { before: known.get(file), parse: () => undefined };
  const entry = readEntry<unknown>(join(path, file), reading);
  return entry?.problem?.code === 'empty_file' ? { ...entry, problem: undefined } : entry;
};

const readOne = (
  folder: string,
  name: string,
  before: ReadEntry<unknown> | undefined,
): ReadEntry<unknown> | undefined => {
  const path = join(folder, name);
  if (name === LOCK) return readEntry(path, { before, parse: parseLock });
  try {
    const stats = statsAt(path);
    if (stats?.isSymbolicLink() === true) return faulty(LINKED_FOLDER);
    if (stats?.isDirectory() !== true) return undefined;
    return readEntry(sessionFile(path), { before, parse: parseSeen });
  } catch (error) {
    return faulty(asProblem(error));
  }
};

const parseLock = parserOf(LockMatter);
const parseSession = parserOf(SessionMatter);

/** What is kept of a session's record. */
interface SessionSeen {
  /** The hash of what was approved. */
  approved: string | undefined;
  /** The id of one that has not ended. */
  open: string | undefined;
}

const parseSeen = (text: string): SessionSeen => {
  const { id, status, approved_sha256: approved } = parseSession(text);
  return { approved: approved ?? undefined, open: isEnded(status) ? undefined : id };
};

const seenIn = (entry: ReadEntry<unknown> | undefined): Partial<SessionSeen> =>
  Object(entry?.value) as Partial<SessionSeen>;

const approvedIn = (entry: ReadEntry<unknown> | undefined): string | undefined =>
  seenIn(entry).approved;

/** The directories of sessions that have not ended, with their ids. */
export const openSessionsIn = (files: SessionFiles): ReadonlyMap<string, string> => {
  const found = [...files].flatMap(([file, entry]): [string, string][] => {
    const { open } = seenIn(entry);
    return open === undefined ? [] : [[basename(dirname(file)), open]];
  });
  return new Map(found);
};

const readApproval = (
  root: string,
  dir: string,
  entry: ReadEntry<unknown> | undefined,
): ReadonlyMap<string, Problem> => {
  const approved = approvedIn(entry);
  return approved === undefined ? NO_PROBLEMS : approvalProblems(root, dir, approved);
};

const NO_PROBLEMS: ReadonlyMap<string, Problem> = new Map<string, never>();

const faultOf = (problem: Problem | undefined): ReadEntry<unknown> | undefined =>
  problem && faulty(problem);

/** What is wrong with them. */
export const problemsOfSessions = (dir: string, files: SessionFiles): FileProblem[] =>
  [...files].flatMap(([name, entry]) => entryProblem(`${dir}/${name}`, entry));
