import { Markdown } from '../markdown.tsx';
import type { Field } from './fields.ts';

/** What there is of a value; what lies inside a field is unfolded when it is wanted. */
export const Fields = ({ fields }: { fields: readonly Field[] }) =>
  fields.length === 0 ? null : (
    <ul class="fields">
      {fields.map((field) => (
        <li key={field.name}>
          <p>
            <code>{field.name}</code> <span class="quiet">{field.type}</span>
            {field.required && <span class="tag">needed</span>}
          </p>
          <Markdown text={field.about} />
          {field.fields.length > 0 && (
            <details>
              <summary>
                {field.fields.length === 1 ? '1 field' : `${field.fields.length} fields`}
              </summary>
              <Fields fields={field.fields} />
            </details>
          )}
        </li>
      ))}
    </ul>
  );
