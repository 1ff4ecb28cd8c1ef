import type { At, Page } from '../common/page.ts';

interface Place {
  path: string;
  /** The sheets of style/ for this page, besides those for every page. Their rules apply to no other page. */
  style: string;
  open: () => Promise<{ page: Page }>;
}

const at = (path: string, style: string, open: Place['open']): Place => ({ path, style, open });

/** The console's pages by name. The first matching path wins. */
export const PAGES: Readonly<Record<string, Place>> = {
  inbox: at('/dashboard', 'plan', () => import('./inbox.tsx')),
  board: at('/dashboard/board', 'board', () => import('./board.tsx')),
  new: at('/dashboard/new', 'case', () => import('./new.tsx')),
  session: at('/dashboard/cases/{id}/sessions/{sid}', 'session', () => import('./session.tsx')),
  plan: at('/dashboard/cases/{id}/sessions/{sid}/plan', 'plan', () => import('./plan.tsx')),
  case: at('/dashboard/cases/{id}', 'case plan', () => import('./case.tsx')),
  settings: at('/dashboard/settings', 'settings', () => import('./settings.tsx')),
  settingsTrust: at('/dashboard/settings/trust', 'settings', () => import('./settings-trust.tsx')),
  planning: at('/dashboard/cases/{id}/planning', 'case', () => import('./planning.tsx')),
  proof: at('/dashboard/cases/{id}/proof', 'proof', () => import('./proof.tsx')),
  pull: at('/dashboard/cases/{id}/pr', 'pull', () => import('./pull.tsx')),
  conflicts: at(
    '/dashboard/cases/{id}/conflicts',
    'pull conflicts',
    () => import('./conflicts.tsx'),
  ),
  trace: at('/dashboard/cases/{id}/trace', 'trace', () => import('./trace.tsx')),
  settingsDiagnostics: at(
    '/dashboard/settings/diagnostics',
    'settings',
    () => import('./settings-diagnostics.tsx'),
  ),
  settingsWorktrees: at(
    '/dashboard/settings/worktrees',
    'settings',
    () => import('./settings-worktrees.tsx'),
  ),
  settingsWorktree: at(
    '/dashboard/settings/worktrees/{id}',
    'settings',
    () => import('./settings-worktree.tsx'),
  ),
  settingsWebhooks: at(
    '/dashboard/settings/webhooks',
    'settings',
    () => import('./settings-webhooks.tsx'),
  ),
  settingsWebhook: at(
    '/dashboard/settings/webhooks/{id}',
    'settings',
    () => import('./settings-webhook.tsx'),
  ),
  settingsExport: at(
    '/dashboard/settings/export',
    'settings',
    () => import('./settings-export.tsx'),
  ),
  diff: at('/dashboard/cases/{id}/sessions/{sid}/diff', 'diff remarks', () => import('./diff.tsx')),
  file: at('/dashboard/cases/{id}/files', 'diff file', () => import('./file.tsx')),
  help: at('/dashboard/help', 'help', () => import('./help.tsx')),
  helpApi: at('/dashboard/help/api', 'help', () => import('./help-api.tsx')),
  helpOperation: at('/dashboard/help/api/{operation}', 'help', () => import('./help-api.tsx')),
  helpGuide: at('/dashboard/help/{topic}', 'help', () => import('./help-guide.tsx')),
};

/** The page at a path, with its name and the parameters of the path. */
export const pageAt = (path: string) => {
  for (const [name, place] of Object.entries(PAGES)) {
    const params = paramsOf(place.path, path);
    if (params !== undefined) return { ...place, name, params };
  }
  return undefined;
};

const paramsOf = (pattern: string, path: string): At['params'] | undefined => {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const params: At['params'] = {};
  for (const [at, part] of wanted.entries()) {
    const text = given[at] ?? '';
    const isNamed = part.startsWith('{');
    if (isNamed ? text === '' : part !== text) return undefined;
    if (isNamed) params[part.slice(1, -1)] = decodeURIComponent(text);
  }
  return params;
};
