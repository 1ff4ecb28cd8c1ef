import type { At, Page } from '../common/page.ts';

interface Place {
  path: string;
  /** The sheets of style/ for this page, besides those for every page. Their rules apply to no other page. */
  style: string;
  open: () => Promise<{ page: Page }>;
}

const at = (below: string, style: string, open: Place['open']): Place => ({
  path: `/dashboard${below}`,
  style,
  open,
});

/** The console's pages by name. The first matching path wins. */
export const PAGES: Readonly<Record<string, Place>> = {
  inbox: at('', 'plan', () => import('./inbox.tsx')),
  board: at('/board', 'board', () => import('./board.tsx')),
  new: at('/new', 'case', () => import('./new.tsx')),
  session: at('/cases/{id}/sessions/{sid}', 'session', () => import('./session.tsx')),
  plan: at('/cases/{id}/sessions/{sid}/plan', 'plan', () => import('./plan.tsx')),
  case: at('/cases/{id}', 'case plan', () => import('./case.tsx')),
  settings: at('/settings', 'settings', () => import('./settings.tsx')),
  settingsTrust: at('/settings/trust', 'settings', () => import('./settings-trust.tsx')),
  planning: at('/cases/{id}/planning', 'case', () => import('./planning.tsx')),
  proof: at('/cases/{id}/proof', 'proof', () => import('./proof.tsx')),
  pull: at('/cases/{id}/pr', 'pull', () => import('./pull.tsx')),
  conflicts: at('/cases/{id}/conflicts', 'pull conflicts', () => import('./conflicts.tsx')),
  trace: at('/cases/{id}/trace', 'trace', () => import('./trace.tsx')),
  settingsDiagnostics: at(
    '/settings/diagnostics',
    'settings',
    () => import('./settings-diagnostics.tsx'),
  ),
  settingsWorktrees: at(
    '/settings/worktrees',
    'settings',
    () => import('./settings-worktrees.tsx'),
  ),
  settingsWorktree: at(
    '/settings/worktrees/{id}',
    'settings',
    () => import('./settings-worktree.tsx'),
  ),
  settingsWebhooks: at('/settings/webhooks', 'settings', () => import('./settings-webhooks.tsx')),
  settingsWebhook: at(
    '/settings/webhooks/{id}',
    'settings',
    () => import('./settings-webhook.tsx'),
  ),
  settingsExport: at('/settings/export', 'settings', () => import('./settings-export.tsx')),
  diff: at('/cases/{id}/sessions/{sid}/diff', 'diff remarks', () => import('./diff.tsx')),
  file: at('/cases/{id}/files', 'diff file', () => import('./file.tsx')),
  help: at('/help', 'help', () => import('./help.tsx')),
  helpApi: at('/help/api', 'help', () => import('./help-api.tsx')),
  helpOperation: at('/help/api/{operation}', 'help', () => import('./help-api.tsx')),
  helpGuide: at('/help/{topic}', 'help', () => import('./help-guide.tsx')),
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
