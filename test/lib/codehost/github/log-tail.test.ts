import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createLogTail, type StepTimes } from '../../../../lib/codehost/github/log-tail.ts';

const STEP: StepTimes = {
  started_at: '2026-01-01T10:00:10Z',
  completed_at: '2026-01-01T10:00:20Z',
};

const at = (second: number | string, said: string): string =>
  `2026-01-01T10:00:${second}.1234567Z ${said}\n`;

const endOf = (log: string, step = STEP): string => {
  const end = createLogTail(step);
  end.take(log);
  return end.read();
};

const JOB = [
  `\uFEFF${at('01', 'Set up job')}`,
  at('09', '##[error]of another step'),
  at(10, '##[group]Run npm test'),
  at(11, 'one'),
  'goes on without a time\n',
  at(20, '##[error]Process completed with exit code 1.'),
  at(20, 'Post job cleanup.'),
  at(20, 'still the next'),
  at(25, 'Cleaning up orphan processes'),
].join('');

describe('the end of a step in the log of its job', () => {
  it('is what was said while it ran, without times, to the next one in the same second', () => {
    assert.equal(
      endOf(JOB),
      [
        '##[group]Run npm test',
        'one',
        'goes on without a time',
        '##[error]Process completed with exit code 1.',
      ].join('\n'),
    );
  });

  it('goes on to what says that it failed, where the times tell too little', () => {
    const late = [
      at(10, 'one'),
      at(24, 'two'),
      at(25, '##[error]Three.'),
      at(26, 'Post job cleanup.'),
    ];
    assert.equal(endOf(late.join('')), 'one\ntwo\n##[error]Three.');
  });

  it('is the end of the whole log where no line is of its time, or it has none', () => {
    const other = [at('01', 'one'), at('02', 'two')].join('');
    assert.equal(endOf(other), 'one\ntwo');
    assert.equal(
      endOf('no times\nat all', { started_at: null, completed_at: null }),
      'no times\nat all',
    );
    assert.equal(endOf(''), '');
  });

  it('needs no more of the log once the step is over', () => {
    const end = createLogTail(STEP);
    assert.equal(end.take(JOB.slice(0, JOB.indexOf('one'))), 'more');
    assert.equal(end.take(JOB.slice(JOB.indexOf('one'))), 'enough');
  });

  it('is the same in pieces of any size', () => {
    const whole = endOf(JOB);
    fc.assert(
      fc.property(fc.array(fc.nat(JOB.length), { maxLength: 20 }), (cuts) => {
        const end = createLogTail(STEP);
        const places = [0, ...cuts.toSorted((a, b) => a - b), JOB.length];
        places.slice(1).forEach((to, n) => {
          end.take(JOB.slice(places[n], to));
        });
        assert.equal(end.read(), whole);
      }),
    );
  });

  it('shows what is hidden, leaves colours out, and keeps what the host has masked', () => {
    const said = [
      at(12, '\u001b[31mred\u001b[0m and \u001b[1;4mmore\u001b[m'),
      at(12, 'token *** and \u202Eback\u202C'),
      at(12, '10%\r20%\r'),
      at(13, '\u001b]0;title\u0007'),
    ];
    const end = endOf(said.join(''));
    assert.equal(
      end,
      ['red and more', 'token *** and ⟦U+202E⟧back⟦U+202C⟧', '10%␍20%', '␛]0;title␇'].join('\n'),
    );
  });

  it('has two hundred lines and sixteen thousand characters at most, and counts the rest', () => {
    const many = Array.from({ length: 5000 }, (_, n) => at(12, `line ${n}`)).join('');
    const lines = endOf(many).split('\n');
    assert.deepEqual(
      [lines[0], lines[1], lines.at(-1)],
      ['[… 4800 lines before]', 'line 4800', 'line 4999'],
    );
    const long = Array.from({ length: 300 }, () => at(12, 'x'.repeat(1000))).join('');
    assert.ok(endOf(long).length < 16_500);
    const wide = endOf(at(12, `begin ${'\u202E'.repeat(200_000)}`));
    assert.ok(wide.length < 16_500, String(wide.length));
    assert.match(wide, /^begin ⟦U\+202E⟧/);
    assert.match(endOf(at(12, 'y'.repeat(10_000))), /y \[… \d+ more characters\]$/);
  });
});
