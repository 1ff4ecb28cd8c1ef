import type { Section } from '../lib/http/route.ts';
import { adoptionRoutes } from './adoption.ts';
import { apiKeyRoutes } from './api-keys.ts';
import { caseRoutes } from './cases.ts';
import { checklistRoutes } from './checklist.ts';
import { codehostRoutes } from './codehost.ts';
import { codehostIssueRoutes } from './codehost-issues.ts';
import { codehostWebhookRoutes } from './codehost-webhook.ts';
import { conflictRoutes } from './conflicts.ts';
import { providerRoutes } from './dev-providers.ts';
import { editorRoutes } from './editor.ts';
import { eventRoutes } from './events.ts';
import { exportRoutes } from './export.ts';
import { languageServerRoutes } from './language-server.ts';
import { linkRoutes } from './links.ts';
import { mcpRoutes } from './mcp.ts';
import { memoryRoutes } from './memory.ts';
import { planningRoutes } from './planning.ts';
import { pullBodyRoutes } from './pr-body.ts';
import { proofRoutes } from './proof.ts';
import { pullRequestRoutes } from './pull-requests.ts';
import { reviewRoutes } from './reviews.ts';
import { sessionAttachRoutes } from './session-attach.ts';
import { sessionControlRoutes } from './session-control.ts';
import { sessionMessageRoutes } from './session-messages.ts';
import { sessionRecordRoutes } from './session-record.ts';
import { sessionRoutes } from './sessions.ts';
import { settingsRoutes } from './settings.ts';
import { systemRoutes } from './system.ts';
import { traceabilityRoutes } from './traceability.ts';
import { trustRoutes } from './trust.ts';
import { webhookRoutes } from './webhooks.ts';
import { worktreeRecoveryRoutes } from './worktree-recoveries.ts';
import { worktreeSettingRoutes } from './worktree-settings.ts';
import { worktreeRoutes } from './worktrees.ts';

/** The whole API, in the order of the interface document. */
export const sections: readonly Section[] = [
  {
    title: 'Work items',
    description: 'Units of work, and their history',
    routes: caseRoutes,
  },
  {
    title: 'Sessions',
    description: 'Attempts at a Work item: planning, approval and work',
    routes: [
      ...sessionRoutes,
      ...sessionRecordRoutes,
      ...sessionMessageRoutes,
      ...sessionAttachRoutes,
    ],
  },
  {
    title: 'Session control and locks',
    description: 'Pause, resume and abort; the queue; the session lock',
    routes: sessionControlRoutes,
  },
  {
    title: 'Memory',
    description: 'Notes of agents and the operator, for one Work item or for all',
    routes: memoryRoutes,
  },
  {
    title: 'Proof',
    description: 'Evidence, its verification, and the checklist',
    routes: [...proofRoutes, ...checklistRoutes],
  },
  {
    title: 'Planning',
    description: 'Problem definition, hypotheses and tasks, and the planning gate',
    routes: planningRoutes,
  },
  {
    title: 'Worktrees',
    description: 'The git worktrees of Work items: creation, status, cleanup and recovery',
    routes: [...worktreeRoutes, ...worktreeSettingRoutes, ...worktreeRecoveryRoutes],
  },
  {
    title: 'Code-hosting integration',
    description: 'Repositories, issues, imports, incoming events, and traceability',
    routes: [
      ...codehostRoutes,
      ...codehostIssueRoutes,
      ...codehostWebhookRoutes,
      ...traceabilityRoutes,
    ],
  },
  {
    title: 'Work item link, PR and review',
    description: 'The linked issue and its synchronization, the pull request and its reviews',
    routes: [...linkRoutes, ...pullRequestRoutes, ...reviewRoutes],
  },
  {
    title: 'PR body',
    description: 'The text of a pull request, and approved updates of it',
    routes: pullBodyRoutes,
  },
  {
    title: 'Conflicts and rebase',
    description: 'Rebases, and the resolution of their conflicts',
    routes: conflictRoutes,
  },
  {
    title: 'Adoption',
    description: 'Work that began without Dossier: sessions of agents, worktrees and branches',
    routes: adoptionRoutes,
  },
  {
    title: 'Export',
    description: 'The workspace or a Work item as an archive',
    routes: exportRoutes,
  },
  {
    title: 'API keys',
    description: 'The keys of callers: creation, list and revocation',
    routes: apiKeyRoutes,
  },
  {
    title: 'AI providers',
    description: 'Agents and other providers',
    routes: providerRoutes,
  },
  {
    title: 'Editor',
    description: 'Files of worktrees and projects, and code completion',
    routes: editorRoutes,
  },
  {
    title: 'Language server bridge',
    description: 'Language servers, shared by all editors of a directory',
    routes: languageServerRoutes,
  },
  {
    title: 'Webhook registration',
    description: 'Webhooks and their deliveries',
    routes: webhookRoutes,
  },
  {
    title: 'Events',
    description: 'The event stream of the workspace, and the inbox',
    routes: eventRoutes,
  },
  {
    title: 'Settings',
    description: 'Projects, and the provider of new sessions',
    routes: settingsRoutes,
  },
  {
    title: 'Trust',
    description: 'Confirmation of settings and decisions that came by file',
    routes: trustRoutes,
  },
  {
    title: 'System',
    description: 'Health, version, guides and problems of the workspace',
    routes: systemRoutes,
  },
  {
    title: 'Model Context Protocol',
    description: 'Tools for MCP clients',
    routes: mcpRoutes,
  },
];
