import type { ComponentChildren } from 'preact';
import { Tabs } from './tabs.tsx';

const TABS = [
  { name: 'Guides', at: '', keys: 'h g' },
  { name: 'API', at: '/api', keys: 'h a' },
] as const;

interface HelpProps {
  tab: (typeof TABS)[number]['name'];
  children: ComponentChildren;
}

/** A page of the help: which there are, and this one. */
export const Help = ({ tab, children }: HelpProps) => (
  <article class="help">
    <Tabs label="Help" base="/dashboard/help" tabs={TABS} here={tab} />
    {children}
  </article>
);
