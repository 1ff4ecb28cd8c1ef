/** Not at random: one call, and one hand that comes before each of its steps in turn. */
import { describe, it } from 'node:test';
import type { Call } from './calls.ts';
import type { Edit } from './hand.ts';
import type { Round } from './plan.ts';
import { runPlan } from './run.ts';
import { installSteps } from './steps.ts';

installSteps();

const quiet: Round = { calls: [], hands: [], picks: [], end: 'go on' };
const create: Round = { ...quiet, calls: [{ do: 'create', title: "it's {1}" }] };
const by = (edit: Edit): Round => ({ ...quiet, hands: [{ edit, waits: [] }] });
const make: Edit = { edit: 'make', to: 0, title: 'Tax', eol: '\n', bare: false };
const title = '"Own: x"';

/** Every step at which a hand may come to a call, up to a number that no call reaches alone. */
const atEveryStep = async (
  before: Round[],
  { call, edit, gap = 1, http = false }: { call: Call; edit: Edit; gap?: number; http?: boolean },
  steps: number,
): Promise<void> => {
  for (let wait = 0; wait < steps; wait += 1) {
    const both = { ...quiet, calls: [call], hands: [{ edit, waits: [wait, gap] }] };
    await runPlan({ git: false, http, rounds: [...before, both] });
  }
};

describe('a call, and a hand before each of its steps', () => {
  const cases: Record<string, [Round[], Call, Edit, number]> = {
    'a new Work item that is saved in the same size as it is made': [
      [quiet],
      { do: 'create', title: "it's {1}" },
      { edit: 'set', item: 0, key: 'title', value: title, style: 'in place', stale: false },
      30,
    ],
    'a new Work item that is saved before it is answered': [
      [quiet],
      { do: 'create', title: 'Tax' },
      { edit: 'append', item: 0, text: '\nMore.\n' },
      40,
    ],
    'a title, and another key saved by rename': [
      [create],
      { do: 'title', item: 0, value: 'a: b # c', tag: 'right' },
      { edit: 'set', item: 0, key: 'owner', value: 'me', style: 'rename', stale: false },
      50,
    ],
    'a state, and a save as vim does it': [
      [create],
      { do: 'state', item: 0, value: 'BLOCKED', tag: 'none' },
      { edit: 'set', item: 0, key: 'title', value: title, style: 'vim', stale: false },
      50,
    ],
    'a description, and the directory is moved': [
      [create],
      { do: 'description', item: 0, value: 'One line.', tag: 'none' },
      { edit: 'move', item: 0, to: 1 },
      50,
    ],
    'a deletion with If-Match, and a save': [
      [create],
      { do: 'delete', item: 0, tag: 'right' },
      { edit: 'set', item: 0, key: 'owner', value: 'me', style: 'rename', stale: false },
      30,
    ],
    'a deletion, and what it is about is removed by hand': [
      [create],
      { do: 'delete', item: 0, tag: 'none' },
      { edit: 'remove', item: 0 },
      40,
    ],
    'a deletion, and two directories that change places': [
      [create, by(make), { ...quiet, calls: [{ do: 'sweep' }] }],
      { do: 'delete', item: 1, tag: 'none' },
      { edit: 'swap', item: 0, other: 1 },
      30,
    ],
    'a memory file, and a case.md that is broken after its id was removed': [
      [create, by({ edit: 'drop id', item: 0 })],
      { do: 'remember', item: 0, file: 'notes.md', text: 'One line.', tag: 'none' },
      { edit: 'break', item: 0, how: 'yaml', style: 'rename' },
      60,
    ],
    'a Work item made by hand that is saved while it is adopted': [
      [by(make)],
      { do: 'sweep' },
      { edit: 'set', item: 0, key: 'title', value: title, style: 'rename', stale: false },
      60,
    ],
  };
  for (const [name, [before, call, edit, steps]] of Object.entries(cases))
    it(`lose nothing: ${name}`, () =>
      atEveryStep(before, { call, edit, http: call.do === 'create' }, steps));

  const note = { do: 'remember', file: 'notes.md', text: 'One line.', tag: 'none' } as const;
  const swaps: Record<string, [Call, Call]> = {
    'a new proof': [
      { do: 'attach', item: 0, content: '' },
      { do: 'attach', item: 1, content: 'One line.' },
    ],
    'a new memory file': [
      { ...note, item: 0, file: 'tasks.md' },
      { ...note, item: 1 },
    ],
  };
  for (const [name, [other, call]] of Object.entries(swaps))
    it(`put nothing into another Work item: ${name}, and two directories that change places at once`, () =>
      atEveryStep(
        [create, by(make), { ...quiet, calls: [{ do: 'sweep' }] }, { ...quiet, calls: [other] }],
        { call, edit: { edit: 'swap', item: 0, other: 1 }, gap: 0 },
        50,
      ));
});

describe('a daemon that is killed', () => {
  it('before each step of an adoption, gives the Work item one id, on disk', async () => {
    const save: Edit = {
      edit: 'set',
      item: 0,
      key: 'title',
      value: title,
      style: 'rename',
      stale: false,
    };
    for (let end = 0; end < 60; end += 1) {
      const round: Round = {
        calls: [{ do: 'sweep' }],
        hands: [{ edit: save, waits: [7] }],
        picks: [],
        end,
      };
      await runPlan({ git: false, rounds: [quiet, by(make), round] });
    }
  });

  it('before each step of a write, has written it and told it, or neither', async () => {
    for (let end = 0; end < 60; end += 1) {
      const calls: Call[] = [{ do: 'state', item: 0, value: 'BLOCKED', tag: 'none' }];
      await runPlan({ git: false, rounds: [create, { ...quiet, calls, end }] });
    }
  });
});
