import { join } from 'node:path';
import { readAside } from '../beside/read-aside.ts';
import type { Layout } from '../layout.ts';
import { entryProblem } from '../text/entry-problems.ts';
import { error, type Finding } from './finding.ts';

/** The records of a Work item that no comparison needs: of its rebases, and of its pull request. */
export const checkAside = ({ root }: Layout, dir: string): Finding[] =>
  [...readAside(join(root, dir))]
    .flatMap(([file, entry]) => entryProblem(`${dir}/${file}`, entry))
    .map((problem) => error(problem));
