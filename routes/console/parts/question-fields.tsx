import { useId } from 'preact/hooks';
import type { QuestionField } from '../../../lib/client/client.ts';

/** What an agent wants to know, to be filled in. */
export const QuestionFields = ({ fields }: { fields: readonly QuestionField[] }) => (
  <>
    {fields.map((field) => (
      <Field key={field.name} {...field} />
    ))}
  </>
);

const Field = (field: QuestionField) => {
  const id = useId();
  const { name, title = name, required, description } = field;
  return (
    <div>
      <label for={id}>
        {title}
        {!required && <span class="quiet"> (optional)</span>}
      </label>
      {field.type === 'boolean' ? <YesOrNo id={id} {...field} /> : <Entry id={id} {...field} />}
      {description !== undefined && <small class="quiet">{description}</small>}
    </div>
  );
};

type Entered = QuestionField & { id: string };

// What is not ticked would not be sent.
const YesOrNo = ({ id, name, default: known }: Entered) => (
  <>
    <input type="hidden" name={`content.${name}:json`} value="false" />
    <input
      {...{ id, type: 'checkbox', name: `content.${name}:json`, value: 'true' }}
      defaultChecked={known === true}
    />
  </>
);

const Entry = (field: Entered) => {
  const { id, name, type, required, options, default: known } = field;
  if (options !== undefined) return <Choice {...field} options={options} />;
  const value = known === undefined ? {} : { value: String(known) };
  if (type === 'number' || type === 'integer') {
    const { minimum: min, maximum: max } = field;
    const number = { type: 'number', step: type === 'integer' ? 1 : 'any', min, max } as const;
    return <input {...{ id, name: `content.${name}:json`, required, ...number, ...value }} />;
  }
  const { min_length: minLength } = field;
  const kind = required ? '' : '?';
  return <input {...{ id, name: `content.${name}${kind}`, required, minLength, ...value }} />;
};

const Choice = ({ id, name, type, required, options = [] }: Entered) => {
  const isMany = type === 'array';
  const sent = `content.${name}${isMany ? '[]' : '?'}`;
  return (
    <select {...{ id, name: sent, required, multiple: isMany }}>
      {!isMany && !required && <option value="">–</option>}
      {options.map(({ value, title = value }) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  );
};
