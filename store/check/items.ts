import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { groupBy } from '../base/group-by.ts';
import { isAtOrBelowAny } from '../base/paths.ts';
import { duplicateLinkProblem, issueKey } from '../codehost/link-index.ts';
import { type ReadEntry, readEntry } from '../front-matter/entry.ts';
import { parserOf } from '../front-matter/parse.ts';
import { type FileProblem, fileProblem, Problem } from '../front-matter/problem.ts';
import { duplicateId } from '../front-matter/problems.ts';
import { placeOfId } from '../front-matter/record-file.ts';
import type { ToldState } from '../journal/journal-state.ts';
import { type Layout, linkFile } from '../layout.ts';
import { readSidecarFiles } from '../problems/sidecar-files.ts';
import { unprovenProblems } from '../reconcile/item.ts';
import { type ItemFiles, problemsIn, readItemFiles, UNKNOWN_FILE } from '../reconcile/read-item.ts';
import { missingCaseProblem } from '../reconcile/reconcile.ts';
import { FAULTS, isClosed, standingOf, walk } from '../reconcile/walk.ts';
import { LinkMatter } from '../records/link.ts';
import { editFix, lackingFindings } from './adopt.ts';
import { entryErrors, error, errorAt, type Finding, textFindings, warning } from './finding.ts';
import { almostItems, headlessIn, misplacedIn } from './misplaced.ts';
import { type Older, restoreFix } from './older.ts';
import { checkSessions } from './sessions.ts';

/** The context of a check of all Work items. */
interface ItemCheck {
  layout: Layout;
  /** The last known state of each Work item on this machine, by id. */
  seen: ReadonlyMap<string, ToldState>;
  older: Older;
}

export interface FoundItem {
  dir: string;
  files: ItemFiles;
  /** The last known state in this directory. */
  seen: ToldState | undefined;
}

/** Checks every Work item with all its files. */
export const checkItems = async (
  check: ItemCheck,
): Promise<{ items: FoundItem[]; findings: Finding[]; closed: Set<string> }> => {
  const { root } = check.layout;
  const byDir = new Map([...check.seen.values()].map((seen) => [seen.dir, seen]));
  const items: FoundItem[] = [];
  const findings: Finding[] = [];
  const places = [...walk(root)];
  for (const place of places) {
    const { dir, kind } = place;
    if (kind !== 'item' && kind !== 'folder') findings.push(...errorAt(dir, FAULTS[kind]));
    findings.push(...misplacedIn(place).map(unlessUnknown));
    const seen = byDir.get(dir);
    const files = kind === 'item' ? readItemFiles(root, dir, { seen }) : undefined;
    if (files !== undefined) items.push({ dir, files, seen });
  }
  const shut = places.flatMap(({ dir, kind }) => (isClosed(kind) ? dir : []));
  const closed = new Set(
    [...check.seen].flatMap(([id, { dir }]) => (isAtOrBelowAny(dir, shut) ? id : [])),
  );
  const taken = new Set(items.map(({ files }) => idOf(files.case)));
  for (const item of items) findings.push(...(await checkItem(check, item, taken)));
  findings.push(
    ...checkIds(check, items),
    ...(await checkMissing(check, [items, closed], headlessIn(places))),
  );
  findings.push(...checkLinks(root, inOrderOfAge(items)));
  return { items, findings, closed };
};

const inOrderOfAge = (items: readonly FoundItem[]): string[] =>
  items.toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1)).map(({ dir }) => dir);

const ageOf = ({ files: { case: entry } }: FoundItem): string =>
  `${entry.value?.matter.created_at} ${idOf(entry)}`;

// Nothing of a Work item is lost with a file that none has.
const unlessUnknown = (problem: FileProblem): Finding =>
  problem.code === UNKNOWN_FILE ? warning(problem) : error(problem);

const checkItem = async (
  check: ItemCheck,
  item: FoundItem,
  taken: ReadonlySet<string | undefined>,
): Promise<Finding[]> => {
  const { dir, files, seen } = item;
  const id = seen?.case.matter.id;
  const former = taken.has(id) ? undefined : id;
  const findings = problemsIn(dir, files).map(unlessUnknown);
  for (const finding of findings) {
    if (!HOLLOW.has(finding.code)) continue;
    const wanted = lastSeen(item, finding.file.slice(dir.length + 1));
    finding.mend = await restoreFix(check.layout, finding.file, { ...check, wanted });
  }
  return [
    ...findings,
    ...unprovenIn(item),
    ...almostItems(check.layout.root, dir).map((problem) => warning(problem)),
    ...lackingFindings(check.layout, dir, { files, former }),
    ...checkSessions(check.layout, dir),
    ...[...readSidecarFiles(join(check.layout.root, dir))].flatMap(([file, entry]) =>
      entryErrors(`${dir}/${file}`, entry),
    ),
    ...textFindings(check.layout.root, `${dir}/memory`),
  ];
};

// A Work item that was never readable has no state.
const unprovenIn = ({ dir, files, seen }: FoundItem): Finding[] =>
  files.case.value === undefined
    ? []
    : unprovenProblems({ dir, files, held: undefined, seen }).map((problem) => warning(problem));

const HOLLOW = new Set(['empty_file', 'nul_byte']);

/** The hashes of the last known content of a file; for a proof, those of all missing proofs. */
const lastSeen = ({ files, seen }: FoundItem, name: string): ReadonlySet<string> => {
  if (seen === undefined) return new Set();
  if (name === 'case.md') return new Set([seen.case.sha]);
  if (!name.startsWith('proof/')) return new Set();
  const there = new Set([...files.proofs.values()].map(({ value }) => value?.matter.id));
  const lost = Object.entries(seen.proofs).filter(([id]) => !there.has(id));
  return new Set(lost.map(([, { sha }]) => sha));
};

const checkIds = (check: ItemCheck, items: readonly FoundItem[]): Finding[] => {
  const byId = groupBy(items, ({ files }) => {
    const { value, problem } = files.case;
    return problem === undefined && value?.adopt?.id === undefined ? value?.matter.id : undefined;
  });
  return [...byId].flatMap(([id, same]) => [
    ...duplicates(check, id, same),
    ...same.flatMap((item) => changedId(check, byId, item)),
  ]);
};

// Only the journal knows which one had the id first. Without it, the operator must decide.
const duplicates = (
  { layout, seen }: ItemCheck,
  id: string,
  same: readonly FoundItem[],
): Finding[] => {
  if (same.length < 2) return [];
  const known = same.find(({ dir }) => dir === seen.get(id)?.dir);
  const first = known ?? same[0];
  return same
    .filter((item) => item !== first)
    .map(({ dir, files: { case: entry } }) => {
      const file = `${dir}/case.md`;
      const path = join(layout.root, file);
      const problem = duplicateId(first?.dir ?? '', placeOfId(layout.root, path));
      const fix = { sha: entry.sha, changes: { id: randomUUID() } };
      const mend = editFix(layout, file, fix, `new id: ${fix.changes.id}`);
      return error(fileProblem(file, problem), known && mend);
    });
};

const changedId = (
  { layout, seen }: ItemCheck,
  byId: ReadonlyMap<string, FoundItem[]>,
  { dir, files, seen: before }: FoundItem,
): Finding[] => {
  const id = files.case.value?.matter.id ?? '';
  const former = before?.case.matter.id;
  if (former === undefined || former === id || byId.has(former) || seen.has(id)) return [];
  const file = `${dir}/case.md`;
  const message = `This Work item had the id ${former}, but the file has ${id}. Restore the former id`;
  const place = placeOfId(layout.root, join(layout.root, file));
  return errorAt(file, new Problem('wrong_id', message, place));
};

/** Directories whose case.md is missing. */
const checkMissing = async (
  check: ItemCheck,
  [items, closed]: [readonly FoundItem[], ReadonlySet<string>],
  headless: Set<string>,
): Promise<Finding[]> => {
  const { layout, seen } = check;
  const ids = new Set([...closed, ...items.map(({ files }) => idOf(files.case))]);
  const dirs = items.map(({ dir }) => dir);
  const findings: Finding[] = [];
  for (const [id, { dir, case: last }] of seen) {
    if (ids.has(id) || dirs.some((other) => other === dir || other.startsWith(`${dir}/`))) continue;
    if (standingOf(layout.root, dir) !== 'there') continue;
    const file = `${dir}/case.md`;
    const mend = await restoreFix(layout, file, { ...check, wanted: new Set([last.sha]) });
    findings.push(error(fileProblem(file, missingCaseProblem()), mend));
    headless.delete(dir);
  }
  const unknown = [...headless].flatMap((dir) => errorAt(`${dir}/case.md`, missingCaseProblem()));
  return [...findings, ...unknown];
};

/** Checks the issue links of all Work items, oldest first, and reports two links to the same issue. */
const checkLinks = (root: string, dirs: readonly string[]): Finding[] => {
  const first = new Map<string, string>();
  return dirs.flatMap((dir) => {
    const file = `${dir}/link.md`;
    const entry = readEntry(linkFile(join(root, dir)), { parse: parseLink });
    const findings = entryErrors(file, entry);
    const issue = entry?.value?.issue;
    if (issue === undefined) return findings;
    const key = issueKey(issue);
    const other = first.get(key);
    if (other === undefined) first.set(key, file);
    return other === undefined
      ? findings
      : [...findings, warning(duplicateLinkProblem(file, other))];
  });
};

const parseLink = parserOf(LinkMatter);

const idOf = ({ value }: ReadEntry<{ matter: { id: string } }>): string | undefined =>
  value?.matter.id;
