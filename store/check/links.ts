import { join } from 'node:path';
import { linkFile } from '../layout.ts';
import { issueKey, twinOf } from '../links/link-index.ts';
import { LinkMatter } from '../records/link.ts';
import { readEntry } from '../text/entry.ts';
import { entryProblem } from '../text/entry-problems.ts';
import { parserOf } from '../text/parse.ts';
import { error, type Finding, warning } from './finding.ts';

const parse = parserOf(LinkMatter);

/** The links to issues of all Work items, whose directories these are, and of which two are linked to one. */
export const checkLinks = (root: string, dirs: readonly string[]): Finding[] => {
  const first = new Map<string, string>();
  return dirs.flatMap((dir) => {
    const file = `${dir}/link.md`;
    const entry = readEntry(linkFile(join(root, dir)), { before: undefined, parse });
    const findings = entryProblem(file, entry).map((problem) => error(problem));
    const issue = entry?.value?.issue;
    if (issue === undefined) return findings;
    const key = issueKey(issue);
    const other = first.get(key);
    if (other === undefined) first.set(key, file);
    return other === undefined ? findings : [...findings, warning(twinOf(file, other))];
  });
};
