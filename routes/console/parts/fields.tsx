import type { Case } from '../../../lib/client/client.ts';
import { STATE_LABELS } from './labels.ts';

/** The states of a Work item, to choose from. */
export const StateOptions = ({ chosen }: { chosen: Case['state'] | undefined }) => (
  <>
    {Object.entries(STATE_LABELS).map(([value, name]) => (
      <option key={value} value={value} selected={value === chosen}>
        {name}
      </option>
    ))}
  </>
);

/** The attributes of a field for a type or an outcome, as the API accepts it. */
export const WORD = {
  pattern: '[a-z][a-z0-9_\\-]*',
  maxLength: 64,
  title: 'Lower-case letters, digits, - and _',
} as const;

/** The attributes of a field for the type of a proof. */
export const PROOF_TYPE = {
  ...WORD,
  name: 'type',
  required: true,
  title: 'Lower-case, such as tests or screenshot',
} as const;

export const ITEM_TYPES = ['bug', 'feature', 'docs', 'chore', 'question', 'task'];

/** The words that a field with this `list` suggests. */
export const Suggestions = ({ id, of: words }: { id: string; of: readonly string[] }) => (
  <datalist id={id}>
    {words.map((word) => (
      <option key={word} value={word} />
    ))}
  </datalist>
);

interface TypeProps {
  id: string;
  known: readonly string[];
  value: string;
}

/** A type, with suggestions. */
export const TypeField = ({ id, known, value }: TypeProps) => (
  <div>
    <label for={id}>Type</label>
    <input
      id={id}
      name="type"
      defaultValue={value}
      list={`${id}-known`}
      required
      autocomplete="off"
      {...WORD}
    />
    <Suggestions id={`${id}-known`} of={known} />
  </div>
);
