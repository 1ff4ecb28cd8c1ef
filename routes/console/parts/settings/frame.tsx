import type { ComponentChildren } from 'preact';
import { Faults } from '../faults.tsx';
import { Tabs } from '../tabs.tsx';

const TABS = [
  { name: 'Projects', at: '/settings', keys: 's p' },
  { name: 'Trust', at: '/settings/trust', keys: 's t' },
  { name: 'Worktrees', at: '/settings/worktrees', keys: 's w' },
  { name: 'Webhooks', at: '/settings/webhooks', keys: 's h' },
  { name: 'Export', at: '/settings/export', keys: 's e' },
  { name: 'Diagnostics', at: '/settings/diagnostics', keys: 's d' },
  { name: 'API keys', at: '/keys', keys: 's k' },
] as const;

interface SettingsProps {
  /** The tab that is shown, by its name. */
  tab: (typeof TABS)[number]['name'];
  children: ComponentChildren;
}

/** A page of the settings: which there are, and this one. */
export const Settings = ({ tab, children }: SettingsProps) => (
  <article class="settings">
    <h1>Settings</h1>
    <Tabs label="Settings" base="/dashboard" tabs={TABS} here={tab} />
    <Faults />
    {children}
  </article>
);
