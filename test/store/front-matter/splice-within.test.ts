import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseFrontMatter } from '../../../store/front-matter/front-matter.ts';
import { spliceWithin } from '../../../store/front-matter/splice.ts';

const BY_HAND = `---
provider: runbook # who works
#worktrees:
#  root: elsewhere
worktrees: # where and how
    # four columns are a style, too
    ttl_hours: 24   # a day

    setup: # in this order
        - npm ci # clean
        - npm run build
    # what git does not have
    copy_files: [.env,  'a b']  # secrets
    mine: {x: 1}
# the end
max_sessions: 2
---
Notes --- of mine
`;

const within = (text: string, changes: Record<string, unknown>): string =>
  spliceWithin(parseFrontMatter(text), 'worktrees', changes);

const settings = (text: string): unknown => parseFrontMatter(text).data.worktrees;

describe('spliceWithin', () => {
  it('changes one value of a mapping and no other byte', () => {
    assert.equal(
      within(BY_HAND, { ttl_hours: 1 }),
      BY_HAND.replace('ttl_hours: 24 ', 'ttl_hours: 1 '),
    );
    assert.equal(
      within(BY_HAND, { copy_files: ['.env'] }),
      BY_HAND.replace("[.env,  'a b']", '[ .env ]'),
    );
    assert.equal(within(BY_HAND, { ttl_hours: 24, setup: ['npm ci', 'npm run build'] }), BY_HAND);
  });

  it('replaces a list of lines in its own place, and takes a value out', () => {
    assert.equal(
      within(BY_HAND, { setup: ['make'] }),
      BY_HAND.replace(/setup:[\s\S]*build\n/, 'setup:\n      - make\n'),
    );
    assert.equal(
      within(BY_HAND, { setup: undefined }),
      BY_HAND.replace(/ {4}setup:[\s\S]*build\n/, ''),
    );
  });

  it('adds a value at the end of the mapping, in its column', () => {
    const text = within(BY_HAND, { base_branch: 'develop' });
    assert.equal(text, BY_HAND.replace('{x: 1}\n', '{x: 1}\n    base_branch: develop\n'));
  });

  it('makes the mapping where there is none, and removes one that is left empty', () => {
    const bare = '---\n# settings\nprovider: runbook\n---\nbody';
    const made = within(bare, { ttl_hours: 1, setup: ['a'] });
    assert.equal(
      made,
      '---\n# settings\nprovider: runbook\nworktrees:\n  ttl_hours: 1\n  setup:\n    - a\n---\nbody',
    );
    assert.equal(within(made, { ttl_hours: undefined, setup: undefined }), bare);
    assert.deepEqual(settings(within('---\nworktrees:\n---\n', { ttl_hours: 1 })), {
      ttl_hours: 1,
    });
  });

  it('manages the rare shapes: flow, CRLF, no last line end, odd texts, an alias', () => {
    const shapes = [
      '---\nworktrees: { ttl_hours: 3, setup: [a] } # mine\n---\n',
      '---\r\nworktrees:\r\n  ttl_hours: 3\r\n  setup: [a]\r\n---\r\nbody\r\n',
      '---\nhours: &h 3\nworktrees:\n  ttl_hours: *h\n  setup: [a]\n---\n',
      '---\nworktrees:\n  ? ttl_hours\n  : 3\n  setup:\n  - a\n---\n',
    ];
    for (const shape of shapes) {
      const odd = ["echo 'it: #1' | cat", '- x', 'two\nlines', '#', ''];
      const text = within(shape, { ttl_hours: 0.5, setup: odd, base_branch: 'a: b' });
      assert.deepEqual(
        settings(text),
        { ttl_hours: 0.5, setup: odd, base_branch: 'a: b' },
        JSON.stringify(text),
      );
      if (shape.includes('\r\n')) assert.doesNotMatch(text, /[^\r]\n/);
    }
  });
});
