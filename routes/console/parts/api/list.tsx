import { useState } from 'preact/hooks';
import type { OperationEntry } from './operation.ts';

interface ApiListProps {
  sections: { name: string; description: string }[];
  operations: OperationEntry[];
  search: string;
}

/** The operations by their sections, and of them those that are looked for: as one types, or by a plain form. */
export const ApiList = ({ sections, operations, search }: ApiListProps) => {
  const [wanted, setWanted] = useState(search);
  const found = operations.filter(fits(wanted));
  return (
    <>
      <search>
        <form class="line filters">
          <input
            {...{ type: 'search', name: 'search', defaultValue: search, maxLength: 200 }}
            aria-label="Search operations"
            placeholder="Path, words, section"
            data-key="/"
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
          <button type="submit">Search</button>
          <span class="quiet" role="status">
            {found.length} of {operations.length}
          </span>
        </form>
      </search>
      {sections.map((section) => (
        <Section
          key={section.name}
          {...section}
          operations={found.filter((one) => one.section === section.name)}
        />
      ))}
      {found.length === 0 && <p class="empty">Nothing has all of these words.</p>}
    </>
  );
};

const fits = (search: string): ((operation: OperationEntry) => boolean) => {
  const words = search.toLowerCase().split(/\s+/);
  return (operation) => {
    const text = Object.values(operation).join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
};

interface SectionProps {
  name: string;
  description: string;
  operations: OperationEntry[];
}

const Section = ({ name, description, operations }: SectionProps) =>
  operations.length === 0 ? null : (
    <section>
      <h2>{name}</h2>
      <p class="quiet">{description}</p>
      <ul class="rows calls">
        {operations.map(({ operation, method, path, summary }) => (
          <li key={operation} class="row" data-row={operation} tabIndex={-1}>
            <span class={`tag method ${method}`}>{method}</span>
            <a class="mono" href={`/dashboard/help/api/${operation}`} data-key="o">
              {path}
            </a>
            <span class="quiet">{summary}</span>
          </li>
        ))}
      </ul>
    </section>
  );
