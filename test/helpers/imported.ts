import assert from 'node:assert/strict';
import { importInto } from '../../lib/cli/import.ts';
import { parseFrontMatter } from '../../store/front-matter/front-matter.ts';
import { callOf } from './call-of.ts';
import { filesOf } from './workspace.ts';

/** Runs `dossier import`, and answers what it said. */
export const runImport = async (workspace: string, source: string, ...flags: string[]) => {
  const call = callOf(['import', source, '--workspace', workspace, ...flags], process.env);
  const said: string[] = [];
  const code = await importInto(call, (line) => said.push(line));
  return { code, said: said.join('\n') };
};

export interface FoundCase {
  path: string;
  data: Record<string, unknown>;
  body: string;
}

export const casesOf = (workspace: string): FoundCase[] =>
  [...filesOf(workspace)]
    .filter(([path]) => path.endsWith('/case.md'))
    .map(([path, text]) => ({ path, ...parseFrontMatter(text) }));

export const titled = (workspace: string, title: string): FoundCase => {
  const found = casesOf(workspace).filter(({ data }) => data.title === title);
  assert.equal(found.length, 1, title);
  return found[0]!;
};
