import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linkTo } from '../helpers/linked-issue.ts';
import { withCase } from '../helpers/work-item.ts';

const SIZE = 102_400;
const TEXTS: Record<string, string> = {
  'lists in lists': `${'- '.repeat(SIZE / 2)}a`,
  'lists in lists, line by line': Array.from(
    { length: 120 },
    (_, at) => `${'  '.repeat(at)}- @a`,
  ).join('\n'),
  quotes: `${'>'.repeat(SIZE)} @a`,
  headings: '#\n'.repeat(SIZE / 2),
  backticks: '`'.repeat(SIZE),
  'a heading of blanks': `# @a${' '.repeat(SIZE)}b`,
};

// All that reads the Markdown of a Work item or an issue. Of each the answer alone counts: what grows faster than the
// text is found in test/lib/markdown/hostile.test.ts.
describe('hostile Markdown', () => {
  for (const [name, text] of Object.entries(TEXTS))
    it(`is answered at every endpoint that reads Markdown: ${name}`, async (t) => {
      const made = await withCase(t, { description: text });
      const { item, call } = made;
      linkTo(made, text);
      const root = `/api/cases/${item.id}`;
      const calls: [method: string, path: string, body: object | undefined, status: number][] = [
        ['GET', `${root}/pr/draft`, undefined, 200],
        ['POST', `${root}/pr-body/compose`, {}, 200],
        ['POST', '/api/codehost/issues/extract', { body: text }, 200],
        ['POST', `${root}/planning/from-issue`, {}, 200],
        ['POST', `${root}/planning/hypotheses-file`, {}, 200],
        ['POST', `${root}/planning/generate-tasks`, {}, 200],
        ['POST', `${root}/planning/approve`, {}, 200],
        ['GET', `${root}/planning/readiness`, undefined, 200],
        ['POST', `/cases/${item.id}/sessions`, { type: 'implementing' }, 201],
        ['GET', `/cases/${item.id}`, undefined, 200],
      ];
      for (const [method, path, body, status] of calls) {
        const answer = await call(method, path, body);
        assert.equal(answer.status, status, `${method} ${path}: ${answer.text.slice(0, 300)}`);
      }
    });
});
