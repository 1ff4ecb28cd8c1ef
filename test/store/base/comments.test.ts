import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  asSent,
  type PlanComment,
  readComments,
  withComment,
  withCommentReplaced,
} from '../../../store/base/comments.ts';

const pairs = (comments: readonly PlanComment[]) =>
  comments.map(({ quote, text }) => [quote, text]);

const SENT = { at: '2026-11-22T14:00:00.000Z', plan: '0123456789abcdef'.repeat(4) };

describe('comments.md', () => {
  it('is read as a person writes it, with a title or without', () => {
    const text = '# Comments\n\n> npm test\nWith coverage.\n\n> two\n> lines\n\nWhy?\n\nReally?\n';
    assert.deepEqual(pairs(readComments(text).unsent), [
      ['npm test', 'With coverage.'],
      ['two\nlines', 'Why?\n\nReally?'],
    ]);
    assert.equal(readComments(text.replaceAll('\n', '\r\n')).unsent.length, 2);
  });

  it('has comments on the whole, and takes neither a title nor a quote alone for one', () => {
    assert.deepEqual(pairs(readComments('Too long.\n').unsent), [['', 'Too long.']]);
    for (const text of [
      '',
      '\n\n',
      '# Comments\n',
      '<!-- later -->\n',
      '> quote\n',
      '> a\n\n> b\n',
    ])
      assert.equal(readComments(text).pending, '', text);
  });

  it('tells of a quote that nothing is said of, and sends it with none', () => {
    const { bare, unsent, pending } = readComments(
      '> one\n\n> two\nlines\n\n> three\n<!-- x -->\n',
    );
    assert.deepEqual([bare, pairs(unsent)], [['one', 'three'], [['two', 'lines']]]);
    assert.match(pending, /> one/);
    assert.deepEqual(readComments('# Title\n\n<!-- x -->\n').bare, []);
  });

  it('gives back what was put in, whatever it is', () => {
    const said = ['> not a quote', '*Sent 2026-01-01.*', '\\> kept', 'a\n\n> b\n\nc', '# title\nx'];
    let file = '';
    for (const one of said) file = withComment(file, 'a\n\nb', one);
    assert.deepEqual(
      pairs(readComments(file).unsent),
      said.map((one) => ['a\n\nb', one]),
    );
  });

  it('is changed in one comment alone, and else byte for byte', () => {
    const file = '# Mine\r\n\r\n> a\r\n\r\nOne.\r\n\r\n\t> b\n\n> c\n\nThree.\n\n\n---\nend';
    const [, first, second] = readComments(file).unsent;
    assert.ok(second === undefined && first?.text.startsWith('Three.'));
    const [one] = readComments(file).unsent;
    assert.ok(one);
    const changed = withCommentReplaced(file, one, 'Other.');
    assert.ok(changed.startsWith('# Mine\r\n\r\n> a\n\nOther.'), changed);
    assert.ok(changed.endsWith('> c\n\nThree.\n\n\n---\nend'));
    assert.equal(
      withCommentReplaced(file, one, ' '),
      `# Mine\r\n\r\n${file.slice(file.indexOf('> c'))}`,
    );
  });

  it('is sent once, also after Prettier has written `_` for `*`', () => {
    const sent =
      asSent('> npm test\n\nWith coverage.\n', '> npm test\n\nWith coverage.', SENT) ?? '';
    const formatted = sent.replace(/^\*(Sent .*)\*$/m, '_$1_');
    assert.notEqual(formatted, sent);
    assert.deepEqual(readComments(formatted), readComments(sent));
    assert.equal(readComments(formatted).pending, '');
  });

  it('notes what was sent, and what was written since is not', () => {
    const file = '> a\n\nOne.\n\n> b\n\nTwo.\n';
    const { pending } = readComments(file);
    const sent = asSent(`${file}\n> c\n\nThree.\n`, pending, SENT) ?? '';
    const { rounds, unsent } = readComments(sent);
    assert.deepEqual(pairs(rounds[0]?.comments ?? []), [
      ['a', 'One.'],
      ['b', 'Two.'],
    ]);
    assert.deepEqual([rounds[0]?.at, rounds[0]?.plan], [SENT.at, '0123456789ab']);
    assert.deepEqual(pairs(unsent), [['c', 'Three.']]);
    assert.equal(asSent(sent, pending, SENT), undefined);
    assert.equal(asSent('> a\n\nAnother.\n', pending, SENT), undefined);
  });
});
