import type { At, Page } from '../common/page.ts';

interface Place {
  path: string;
  /** The sheets of style/ for this page, besides those for every page. Their rules apply to no other page. */
  style: string;
  open: () => Promise<Page>;
}

/** The console's pages by name. The first matching path wins. */
export const PAGES: Readonly<Record<string, Place>> = {
  inbox: {
    path: '/dashboard',
    style: 'plan',
    open: async () => (await import('./inbox.tsx')).inbox,
  },
  board: {
    path: '/dashboard/board',
    style: 'board',
    open: async () => (await import('./board.tsx')).board,
  },
  new: {
    path: '/dashboard/new',
    style: 'case',
    open: async () => (await import('./new.tsx')).newItem,
  },
  session: {
    path: '/dashboard/cases/{id}/sessions/{sid}',
    style: 'session',
    open: async () => (await import('./session.tsx')).session,
  },
  plan: {
    path: '/dashboard/cases/{id}/sessions/{sid}/plan',
    style: 'plan',
    open: async () => (await import('./plan.tsx')).plan,
  },
  case: {
    path: '/dashboard/cases/{id}',
    style: 'case plan',
    open: async () => (await import('./case.tsx')).overview,
  },
  settings: {
    path: '/dashboard/settings',
    style: 'settings',
    open: async () => (await import('./settings.tsx')).settings,
  },
  settingsTrust: {
    path: '/dashboard/settings/trust',
    style: 'settings',
    open: async () => (await import('./settings-trust.tsx')).settingsTrust,
  },
  planning: {
    path: '/dashboard/cases/{id}/planning',
    style: 'case',
    open: async () => (await import('./planning.tsx')).planning,
  },
  proof: {
    path: '/dashboard/cases/{id}/proof',
    style: 'proof',
    open: async () => (await import('./proof.tsx')).proof,
  },
  pull: {
    path: '/dashboard/cases/{id}/pr',
    style: 'pull',
    open: async () => (await import('./pull.tsx')).pull,
  },
  conflicts: {
    path: '/dashboard/cases/{id}/conflicts',
    style: 'pull conflicts',
    open: async () => (await import('./conflicts.tsx')).conflicts,
  },
  trace: {
    path: '/dashboard/cases/{id}/trace',
    style: 'trace',
    open: async () => (await import('./trace.tsx')).trace,
  },
  settingsDiagnostics: {
    path: '/dashboard/settings/diagnostics',
    style: 'settings',
    open: async () => (await import('./settings-diagnostics.tsx')).settingsDiagnostics,
  },
  settingsWorktrees: {
    path: '/dashboard/settings/worktrees',
    style: 'settings',
    open: async () => (await import('./settings-worktrees.tsx')).settingsWorktrees,
  },
  settingsWorktree: {
    path: '/dashboard/settings/worktrees/{id}',
    style: 'settings',
    open: async () => (await import('./settings-worktree.tsx')).settingsWorktree,
  },
  settingsWebhooks: {
    path: '/dashboard/settings/webhooks',
    style: 'settings',
    open: async () => (await import('./settings-webhooks.tsx')).settingsWebhooks,
  },
  settingsWebhook: {
    path: '/dashboard/settings/webhooks/{id}',
    style: 'settings',
    open: async () => (await import('./settings-webhook.tsx')).settingsWebhook,
  },
  settingsExport: {
    path: '/dashboard/settings/export',
    style: 'settings',
    open: async () => (await import('./settings-export.tsx')).settingsExport,
  },
  diff: {
    path: '/dashboard/cases/{id}/sessions/{sid}/diff',
    style: 'diff remarks',
    open: async () => (await import('./diff.tsx')).diff,
  },
  file: {
    path: '/dashboard/cases/{id}/files',
    style: 'diff file',
    open: async () => (await import('./file.tsx')).file,
  },
  help: {
    path: '/dashboard/help',
    style: 'help',
    open: async () => (await import('./help.tsx')).help,
  },
  helpApi: {
    path: '/dashboard/help/api',
    style: 'help',
    open: async () => (await import('./help-api.tsx')).helpApi,
  },
  helpOperation: {
    path: '/dashboard/help/api/{operation}',
    style: 'help',
    open: async () => (await import('./help-api.tsx')).helpApi,
  },
  helpGuide: {
    path: '/dashboard/help/{topic}',
    style: 'help',
    open: async () => (await import('./help-guide.tsx')).helpGuide,
  },
};

/** The page at a path, with the parameters of the path. */
export const pageAt = (path: string): { name: string; params: At['params'] } | undefined => {
  for (const [name, page] of Object.entries(PAGES)) {
    const params = paramsOf(page.path, path);
    if (params !== undefined) return { name, params };
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
