/** What may happen in one run, for fast-check to make up and to make small. */
import fc from 'fast-check';
import { type Call, type Tag, textOf } from './calls.ts';
import { type Edit, editNamed, type Style } from './hand.ts';

/** A hand's edit, with the number of the daemon's steps that pass before each of its own. */
export interface Hand {
  edit: Edit;
  waits: number[];
}

/** What happens at once: calls, and hands between their steps. Then all settles, but nobody sweeps. */
export interface Round {
  calls: Call[];
  hands: Hand[];
  /** Which of the waiting calls goes on, at each step; the first where there are no more numbers. */
  picks: number[];
  /** The daemon dies before so many steps of this round, or is stopped after it. */
  end: number | 'stop' | 'go on';
}

export interface Plan {
  git: boolean;
  /** The calls are requests to the routes. */
  http?: boolean;
  rounds: Round[];
}

const item = fc.nat(3);
const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
const tag = oneOf<Tag>('none', 'none', 'right', 'stale');
const style = oneOf<Style>('rename', 'in place', 'torn', 'vim', 'old times');
const stale = fc.boolean();
const title = oneOf(
  'Tax',
  'Tax is off',
  'a: b # c',
  '"quoted"',
  '- x',
  'null',
  'Grüße',
  "it's {1}",
);
const state = oneOf('OPEN', 'BLOCKED', 'INVESTIGATING', 'VERIFYING', 'NON_ISSUE');
const text = oneOf('', 'One line.', 'Two\n\nparagraphs', '---\nnot: front matter\n---', ' spaces ');
const file = oneOf('notes.md', 'tasks.md');
const count = fc.nat(9);

const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create'), title }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('title'), item, value: title, tag }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('description'), item, value: text, tag }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('state'), item, value: state, tag }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('attach'), item, content: text }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('verify'), item, proof: item, tag }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remember'), item, file, text, tag }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete'), item, tag }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('get'), item }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sweep') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('hint'), item }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('decide') }) },
) as fc.Arbitrary<Call>;

const value = oneOf('me', '"you"', '[a, b]', '42 # why not');
const how = oneOf('yaml', 'merge', 'cut', 'empty');
const named = <T extends string>(name: T, rest: Record<string, fc.Arbitrary<unknown>> = {}) =>
  fc.record({ edit: fc.constant(name), ...rest });

const edits: [number, fc.Arbitrary<unknown>][] = [
  [4, named('set', { item, key: fc.constant('state'), value: state, style, stale })],
  [
    3,
    named('set', {
      item,
      key: fc.constant('title'),
      value: oneOf('By hand', '"Own: x"'),
      style,
      stale,
    }),
  ],
  [3, named('set', { item, key: oneOf('owner', 'tags'), value, style, stale })],
  [2, named('body', { item, text, style, stale })],
  [1, named('append', { item, text: fc.constant('\nMore.\n') })],
  [2, named('break', { item, how, style })],
  [2, named('mend', { item, style })],
  [1, named('drop id', { item })],
  [2, named('move', { item, to: count })],
  [1, named('swap', { item, other: item })],
  [1, named('copy', { item, to: count, keepId: fc.boolean() })],
  [1, named('remove', { item })],
  [1, named('make', { to: count, title, eol: oneOf('\n', '\r\n'), bare: fc.boolean() })],
  [1, named('prove', { item, text, verified: fc.boolean() })],
  [2, named('edit proof', { item, proof: item, text, style })],
  [1, named('verify', { item, proof: item })],
  [1, named('remove proof', { item, proof: item })],
  [2, named('memory', { item, file, text, style, stale })],
];

const gitEdits: [number, fc.Arbitrary<unknown>][] = [
  [8, named('git commit')],
  [8, named('git checkout', { revision: count, pieces: fc.boolean() })],
  [3, named('git stash')],
  [3, named('git stash pop')],
  [4, named('git merge', { revision: count })],
];

const weighed = (choices: [number, fc.Arbitrary<unknown>][]): fc.Arbitrary<Edit> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary }))) as fc.Arbitrary<Edit>;

// Mostly few: the more hands there are, the less each of them meets.
const waits = fc.array(fc.nat(70), { maxLength: 4, size: 'max' });

const round = (git: boolean): fc.Arbitrary<Round> =>
  fc.record({
    calls: fc.array(call, { maxLength: 3, size: 'max' }),
    hands: fc.array(fc.record({ edit: weighed(git ? [...edits, ...gitEdits] : edits), waits }), {
      maxLength: 3,
      size: 'max',
    }),
    picks: fc.array(fc.nat(3), { maxLength: 20, size: 'max' }),
    end: fc.oneof(
      { weight: 8, arbitrary: fc.constant('go on' as const) },
      { weight: 1, arbitrary: fc.constant('stop' as const) },
      { weight: 2, arbitrary: fc.nat(150) },
    ),
  });

/** One in `gitEvery` runs has git in it, which takes several times as long. */
export const plans = (gitEvery: number): fc.Arbitrary<Plan> =>
  fc.nat(gitEvery - 1).chain((n) =>
    fc.record({
      git: fc.constant(n === gitEvery - 1),
      http: oneOf(false, false, true),
      rounds: fc.array(round(n === gitEvery - 1), { minLength: 1, maxLength: 8, size: 'max' }),
    }),
  );

/** The plan as one would tell it. */
export const planNamed = ({ git, http = false, rounds }: Plan): string =>
  [
    `A workspace${git ? ' in git' : ''}${http ? ', called over HTTP' : ''}:`,
    ...rounds.flatMap(({ calls, hands, picks, end }, n) => [
      `  round ${n + 1}`,
      ...calls.map((each) => `    API: ${textOf(each)}`),
      ...hands.map(({ edit, waits: steps }) => `    ${editNamed(edit)}, after steps [${steps}]`),
      ...(picks.some((pick) => pick > 0) ? [`    picks [${picks}]`] : []),
      ...(end === 'go on' ? [] : [`    ${end === 'stop' ? 'stopped' : `killed at step ${end}`}`]),
    ]),
  ].join('\n');
