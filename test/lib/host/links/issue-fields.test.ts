import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { typeFromLabels } from '../../../../lib/host/links/import-issue.ts';
import { fieldsOf, notesOf, storableCopy } from '../../../../lib/host/links/issue-fields.ts';
import { CaseMatter } from '../../../../store/records/case.ts';
import type { Issue } from '../../../../store/records/code-host.ts';

export const ISSUE: Issue = {
  number: 7,
  node_id: 'I_7',
  url: 'https://github.com/acme/app/issues/7',
  title: 'Tax is off by one',
  body: 'First\r\nsecond',
  state: 'open',
  state_reason: null,
  labels: ['bug'],
  assignees: ['ada'],
  milestone: null,
  author: 'bob',
  comments: 2,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-02T00:00:00Z',
  closed_at: null,
};

const fields = (change: Partial<Issue>) => fieldsOf(storableCopy({ ...ISSUE, ...change }));
const notes = (change: Partial<Issue>): string[] => {
  const issue = { ...ISSUE, ...change };
  return notesOf(issue, storableCopy(issue));
};

const isTitle = Compile(CaseMatter.properties.title);

describe('fieldsOf', () => {
  it('is the issue as it is where it fits, with plain line ends', () => {
    const { title, description } = fields({});
    assert.deepEqual([title, description], ['Tax is off by one', 'First\nsecond']);
    assert.deepEqual(notes({}), []);
  });

  it('makes of any title one that a Work item can have, and the same of that', () => {
    const Title = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.constantFrom('', ' ', '\r\n', 'a\tb\nc', 'x'.repeat(256), '😀'.repeat(150), '\u2028a'),
    );
    fc.assert(
      fc.property(Title, (title) => {
        const fitted = fields({ title }).title;
        assert.ok(isTitle.Check(fitted), JSON.stringify(fitted));
        assert.ok(fitted.length <= 200);
        assert.equal(fields({ title: fitted }).title, fitted);
      }),
    );
  });

  it('says what of a title does not fit, and keeps it whole in the copy', () => {
    const title = `Line one\r\n${'long '.repeat(60)}`;
    assert.equal(storableCopy({ ...ISSUE, title }).title, title);
    assert.match(fields({ title }).title, /^Line one long .*…$/);
    assert.deepEqual(notes({ title }).length, 1);
  });

  it('cuts a body over 256 KB at a line and says where the rest is; the copy is whole', () => {
    const body = `${'x'.repeat(99)}\n`.repeat(3000);
    const { description } = fields({ body });
    assert.ok(description.length <= 262_144 && description.length > 261_000);
    assert.match(description, /x\n\n\*The issue is longer .* The whole text is in issue\.md\.\*$/);
    assert.equal(storableCopy({ ...ISSUE, body }).body, body);
    assert.match(notes({ body })[0] ?? '', /cut/);
    assert.equal(fields({ body: description }).description, description);
  });

  it('refuses a body that no record could hold', () => {
    assert.throws(() => storableCopy({ ...ISSUE, body: 'é'.repeat(600_000) }), {
      code: 'too_large',
    });
  });

  it('sets lines in that would look like a merge left open, and says so', () => {
    const body = '<<<<<<< ours\n1\n=======\n2\n>>>>>>> theirs\n';
    assert.equal(fields({ body }).description, body.replaceAll(/^(?=[<=>])/gm, ' '));
    assert.match(notes({ body })[0] ?? '', /merge markers/);
  });

  it('makes invisible characters visible in every text of the copy, and says so', () => {
    const hidden = 'a\u202e\u2066b';
    const shown = 'a⟦U+202E⟧⟦U+2066⟧b';
    const change = { labels: [hidden], assignees: [hidden], milestone: hidden, author: hidden };
    const copy = storableCopy({ ...ISSUE, ...change, state_reason: hidden });
    assert.deepEqual(copy.labels, [shown]);
    assert.deepEqual(copy.assignees, [shown]);
    assert.deepEqual([copy.milestone, copy.author, copy.state_reason], [shown, shown, shown]);
    for (const one of Object.entries({ ...change, title: hidden }))
      assert.match(notes(Object.fromEntries([one])).join(), /direction characters\) were replaced/);
  });

  it('tells a title that is only put on one line from one that is cut', () => {
    assert.deepEqual(notes({ title: 'One\r\ntwo' }), [
      'The title was put on one line; issue.md has it as it is.',
    ]);
    assert.match(notes({ title: 'x'.repeat(201) })[0] ?? '', /shortened to one line of 200/);
    assert.deepEqual(notes({ title: '' }), ['The issue has no title.']);
  });
});

describe('typeFromLabels', () => {
  const rows: [string[], string][] = [
    [[], 'task'],
    [['urgent', 'p1'], 'task'],
    [['Bug'], 'bug'],
    [['good first issue', 'enhancement', 'bug'], 'feature'],
    [['type: bug'], 'bug'],
    [['kind/feature'], 'feature'],
    [['C-bug'], 'bug'],
    [['Type:Documentation'], 'docs'],
    [['dependencies'], 'chore'],
    [['debugging'], 'task'],
  ];
  for (const [labels, type] of rows)
    it(`is ${type} by ${labels.join(', ') || 'no labels'}`, () => {
      assert.equal(typeFromLabels(labels), type);
    });
});
