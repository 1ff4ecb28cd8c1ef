/** Holds every single write of the daemon against the model, at the step at which it is made. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type ActiveCall, type Call, intentOf, verifies } from './calls.ts';
import {
  caseIn,
  contentOf,
  deltaOf,
  otherLines,
  type Parts,
  partsOf,
  proofIn,
  tagOf,
} from './texts.ts';
import {
  aliveIn,
  CASE,
  type Daemon,
  dirOf,
  MEMORY,
  note,
  PROOF,
  textAt,
  type Version,
  Violation,
  type World,
  wasBrokenIn,
} from './world.ts';

/** Throws unless the daemon may have made this change: its caller asked for it, or it follows from the files. */
export const judge = (world: World, version: Version, before: string | undefined): void => {
  const { text, path } = version;
  const { call } = version.by as Daemon;
  if (text === undefined) judgeRemoval(version, call);
  else if (before === undefined) judgeNew(world, version, call);
  else {
    const base = judgeOverwritten(world, version, before);
    if (MEMORY.test(path)) judgeMemory(version, text, call);
    else judgeRecord(world, version, { base, text, call });
  }
};

// Only DELETE removes. Whether it was the right one is asked when it is answered: until then it may put it back.
const judgeRemoval = ({ path, from }: Version, call: ActiveCall | undefined) => {
  if (call?.astray === path) {
    call.astray = undefined;
    return;
  }
  if (call?.call.do !== 'delete') throw new Violation(`${path} was removed, and nobody asked`);
  call.committed = from;
};

/** A deletion was answered with success: it removed the Work item it was about, as the caller knew it. */
export const judgeDeleted = (world: World, call: ActiveCall): void => {
  const removals = world.versions.filter(
    ({ path, text, by }) =>
      CASE.test(path) && text === undefined && by.kind === 'daemon' && by.call === call,
  );
  for (const { path, from } of removals) {
    const before = textAt(world, path, from - 1) ?? '';
    const { id = call.id } = caseIn(before) ?? {};
    if (id !== call.id) throw new Violation(`${path}, another Work item, was deleted`);
    checkMatch(world, call, { path, base: before });
  }
};

const judgeNew = (world: World, { path, from, text = '' }: Version, call?: ActiveCall): void => {
  if (isRestored(world, path, from) || isPutBack(world, { path, from, text }, call)) return;
  const wanted = call?.call;
  if (call === undefined || wanted === undefined || !isMade(wanted, path, text))
    throw new Violation(`${path} was made, and nobody asked: ${text}`);
  call.committed = from;
  // Through the routes nobody chooses an id.
  if (wanted.do === 'create') call.id = caseIn(text)?.id ?? call.id;
  if (wanted.do === 'attach') call.proof = String(partsOf(text)?.data.id);
  if (isOthers(world, dirOf(path), call)) call.astray = path;
};

const isOthers = ({ files }: World, dir: string, { id }: ActiveCall): boolean =>
  (caseIn(files.get(`${dir}/case.md`) ?? '')?.id ?? id) !== id;

const isMade = (wanted: Call, path: string, text: string): boolean => {
  if (wanted.do === 'create') return CASE.test(path) && caseIn(text)?.title === wanted.title;
  if (wanted.do === 'attach') return PROOF.test(path) && proofIn(text)?.content === wanted.content;
  return wanted.do === 'remember' && MEMORY.test(path) && text === wanted.text;
};

const isPutBack = (
  world: World,
  { path, from, text }: Pick<Version, 'path' | 'from' | 'text'>,
  call?: ActiveCall,
): boolean => {
  const removed = world.versions.findLast((each) => each.path === path && each.from < from);
  const isOwn = removed?.by.kind === 'daemon' && removed.by.call === call;
  return isOwn && textAt(world, path, removed.from - 1) === text;
};

// Removed in the one moment that cannot be closed.
const isRestored = (world: World, path: string, from: number): boolean => {
  const removed = world.versions.findLast((each) => each.path === path && each.from < from);
  const isLate = removed?.by.kind === 'hand' && removed.by.between === 'renameSync';
  if (isLate) world.unavoidable += 1;
  return isLate;
};

/**
 * What the daemon wrote over has to be what it had read, or it lost what somebody saved in between. Only between two
 * lines of its code may somebody be unheard, and then what they saved is in `.dossier/undo`. Answers what it had read.
 */
const judgeOverwritten = (world: World, { path, from, text }: Version, before: string): string => {
  const read = world.reads.get(path) ?? -1;
  const unheard = world.versions.filter(
    (each) => each.path === path && each.by.kind === 'hand' && each.from > read && each.from < from,
  );
  const late = unheard.find(({ by }) => by.kind === 'hand' && by.between === undefined);
  if (late !== undefined)
    throw new Violation(
      `${path} was saved by hand at ${late.from} and written over, unread, with ${text}`,
    );
  if (!isInUndo(world, before)) {
    const last = unheard.at(-1)?.by;
    if (last?.kind !== 'hand' || last.between !== 'renameSync')
      throw new Violation(`${path}: what was written over is not in .dossier/undo: ${before}`);
    world.unavoidable += 1;
  }
  const base = textAt(world, path, read);
  if (base === undefined) throw new Violation(`${path} was written over without a look at it`);
  return base;
};

export const isInUndo = ({ root }: World, text: string): boolean => {
  const undo = join(root, '.dossier/undo');
  return readdirSync(undo, { recursive: true, withFileTypes: true }).some(
    (entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name), 'utf8') === text,
  );
};

const judgeMemory = ({ path, from }: Version, text: string, call: ActiveCall | undefined): void => {
  const wanted = call?.call;
  if (call === undefined || wanted?.do !== 'remember' || basename(path) !== wanted.file)
    throw new Violation(`${path} was written, and nobody asked`);
  if (text !== wanted.text) throw new Violation(`${path} is not what was sent: ${text}`);
  call.committed = from;
};

interface Edited {
  base: string;
  text: string;
  call: ActiveCall | undefined;
}

const judgeRecord = (world: World, version: Version, { base, text, call }: Edited): void => {
  const { path, from } = version;
  const [before, after] = [partsOf(base), partsOf(text)];
  if (before === undefined) throw new Violation(`${path} could not be read, and was written over`);
  if (after === undefined) throw new Violation(`${path} cannot be read any more: ${text}`);
  const since = call?.start ?? world.swept;
  const change = { path, before, after, ...deltaOf(before, after), since };
  const own = call === undefined || !isAbout(world, call, change) ? [] : ownKeys(call, change);
  const fault = faultOf(world, change, { own, call });
  if (fault !== undefined) throw new Violation(`${path}: ${fault}: ${base} became ${text}`);
  if (call === undefined || (own.length === 0 && !change.body)) return;
  checkMatch(world, call, { path, base });
  call.committed = from;
};

const faultOf = (
  world: World,
  change: Change,
  { own, call }: { own: string[]; call: ActiveCall | undefined },
): string | undefined => {
  const { before, after, keys, body } = change;
  const odd = keys.filter((key) => !own.includes(key) && !follows(world, change, key));
  if (odd.length > 0) return `nobody asked to change ${odd}`;
  if (body && !isOwnBody(call, change)) return 'nobody asked to change the body';
  return otherLines(before, keys) === otherLines(after, keys)
    ? undefined
    : 'other lines were touched too';
};

interface Change {
  path: string;
  before: Parts;
  after: Parts;
  keys: string[];
  body: boolean;
  /** When the daemon can first have looked at what it writes now. */
  since: number;
}

const isAbout = (
  world: World,
  { call, id, proof }: ActiveCall,
  { path, after }: Change,
): boolean =>
  call.do === 'verify'
    ? PROOF.test(path) && after.data.id === proof
    : CASE.test(path) && (after.data.id ?? id) === id && world.files.has(path);

const ownKeys = (call: ActiveCall, { before, after, keys }: Change): string[] => {
  if (call.call.do === 'verify') return verifies(after, contentOf(before)) ? [...VERIFICATION] : [];
  const intent = Object.entries(intentOf(call, before));
  const isDone = intent.every(([key, value]) => isDeepStrictEqual(after.data[key], value));
  return isDone ? keys.filter((key) => intent.some(([name]) => name === key)) : [];
};

const isOwnBody = (call: ActiveCall | undefined, { path, after }: Change): boolean =>
  call?.call.do === 'description' && CASE.test(path) && contentOf(after) === call.call.value;

const VERIFICATION = new Set(['verified', 'verified_at', 'verified_by', 'verified_sha256']);
const ADDED = {
  case: ['id', 'type', 'state', 'created_at'],
  proof: ['id', 'verified', 'created_at'],
};
const CLOSING = new Set(['state', 'outcome', 'blocked_from']);

// What the daemon writes unasked: what a hand-made file lacks, a verification that no longer holds (or was given by
// hand), and the end of a Work item whose proof gate is satisfied.
const follows = (world: World, change: Change, key: string): boolean => {
  const { path, before, after, since } = change;
  const isCase = CASE.test(path);
  if ((before.data[key] ?? null) === null && ADDED[isCase ? 'case' : 'proof'].includes(key))
    return true;
  if (!isCase) return VERIFICATION.has(key) && isVerificationMended(change);
  return CLOSING.has(key) && before.data.state === 'VERIFYING' && after.data.state === 'RESOLVED'
    ? hasProof(world, dirOf(path), since)
    : false;
};

const isVerificationMended = ({ before, after }: Change): boolean => {
  const content = contentOf(before);
  const { verified, verified_sha256 } = before.data;
  if (verified === true && verified_sha256 === undefined) return verifies(after, content);
  return after.data.verified !== true && after.data.verified_sha256 === undefined;
};

const hasProof = (world: World, dir: string, since: number): boolean =>
  aliveIn(world, since).some(
    ({ path, text = '' }) =>
      PROOF.test(path) && dirOf(path) === dir && proofIn(text)?.verified === true,
  );

const checkMatch = (
  world: World,
  { tag, start }: ActiveCall,
  { path, base }: { path: string; base: string },
): void => {
  if (tag === undefined || tag === tagOf(base) || wasBrokenIn(world, dirOf(path), start)) return;
  note(world, `it found ${base}`);
  throw new Violation(`${path} was written over, but it was not the one that If-Match named`);
};
