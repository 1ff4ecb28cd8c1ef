import type { ComponentChildren } from 'preact';
import type { Case } from '../../../lib/client/client.ts';
import { Faults } from './faults.tsx';
import { Tabs } from './tabs.tsx';

const TABS = [
  { name: 'Overview', at: '', keys: 't o' },
  { name: 'Planning', at: '/planning', keys: 't l' },
  { name: 'Proof', at: '/proof', keys: 't p' },
  { name: 'Pull request', at: '/pr', keys: 't r' },
  { name: 'Conflicts', at: '/conflicts', keys: 't c' },
  { name: 'Files', at: '/files', keys: 't f' },
  { name: 'Trace', at: '/trace', keys: 't t' },
] as const;

interface ItemProps {
  of: Pick<Case, 'id' | 'title' | 'state' | 'type'>;
  /** The tab that is shown, by its name; none on pages that lie below. */
  tab?: (typeof TABS)[number]['name'];
  children: ComponentChildren;
}

/** A page of one Work item: which it is, and what there is of it. */
export const Item = ({ of: { id, title, state, type }, tab, children }: ItemProps) => (
  <article class="item">
    <div class="head">
      <h1>{title}</h1>
      <p class="line">
        <span class={`tag ${state}`}>{STATES[state]}</span>
        <span class="quiet">{type}</span>
        <code class="quiet">{id.slice(0, 8)}</code>
      </p>
    </div>
    <Tabs label="Of this Work item" base={`/dashboard/cases/${id}`} tabs={TABS} here={tab} />
    <Faults />
    {children}
  </article>
);

/** What people call the states of a Work item. */
export const STATES: Readonly<Record<Case['state'], string>> = {
  OPEN: 'Open',
  INVESTIGATING: 'Investigating',
  IMPLEMENTING: 'Implementing',
  VERIFYING: 'Verifying',
  BLOCKED: 'Blocked',
  RESOLVED: 'Resolved',
  NON_ISSUE: 'No issue',
};
