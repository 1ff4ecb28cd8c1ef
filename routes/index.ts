import type { Section } from '../lib/http/route.ts';
import { apiKeyRoutes } from './api-keys.ts';
import { caseRoutes } from './cases.ts';
import { codehostRoutes } from './codehost.ts';
import { codehostIssueRoutes } from './codehost-issues.ts';
import { codehostWebhookRoutes } from './codehost-webhook.ts';
import { conflictRoutes } from './conflicts.ts';
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
import { providerRoutes } from './providers.ts';
import { pullRequestRoutes } from './pull-requests.ts';
import { reviewRoutes } from './reviews.ts';
import { sessionControlRoutes } from './session-control.ts';
import { sessionMessageRoutes } from './session-messages.ts';
import { sessionRecordRoutes } from './session-record.ts';
import { sessionRoutes } from './sessions.ts';
import { settingsRoutes } from './settings.ts';
import { systemRoutes } from './system.ts';
import { traceabilityRoutes } from './traceability.ts';
import { trustRoutes } from './trust.ts';
import { webhookRoutes } from './webhooks.ts';
import { worktreeRoutes } from './worktrees.ts';

/** The whole API, in the order of the interface document. */
export const sections: readonly Section[] = [
  {
    title: 'Work items',
    description: 'The units of work: made, read, changed and deleted; their history',
    routes: caseRoutes,
  },
  {
    title: 'Sessions',
    description: 'Attempts at a Work item: a plan, and once it is approved the work',
    routes: [...sessionRoutes, ...sessionRecordRoutes, ...sessionMessageRoutes],
  },
  {
    title: 'Session control and locks',
    description: 'Pause, resume and finish; the queue; the lock on a worktree',
    routes: sessionControlRoutes,
  },
  {
    title: 'Memory',
    description: 'What agents and the operator note: of one Work item, and of all',
    routes: memoryRoutes,
  },
  {
    title: 'Proof',
    description: 'Evidence, its verification, and the checklist that it is for',
    routes: proofRoutes,
  },
  {
    title: 'Planning',
    description: 'Definition of the problem, hypotheses and tasks, and their gate',
    routes: planningRoutes,
  },
  {
    title: 'Worktrees',
    description: 'The git worktrees of Work items: made, attached, looked after, recovered',
    routes: worktreeRoutes,
  },
  {
    title: 'Code-hosting integration',
    description:
      'The code host: repositories, issues, imports, its events, and what hangs together',
    routes: [
      ...codehostRoutes,
      ...codehostIssueRoutes,
      ...codehostWebhookRoutes,
      ...traceabilityRoutes,
    ],
  },
  {
    title: 'Work item link, PR and review',
    description: 'The linked issue and its synchronisation, the pull request and its reviews',
    routes: [...linkRoutes, ...pullRequestRoutes, ...reviewRoutes],
  },
  {
    title: 'PR body',
    description: 'The text of a pull request: composed, edited, and updated once it is approved',
    routes: pullBodyRoutes,
  },
  {
    title: 'Conflicts and rebase',
    description: 'What a rebase would meet, and how it is resolved',
    routes: conflictRoutes,
  },
  { title: 'Export', description: 'The whole workspace as an archive', routes: exportRoutes },
  { title: 'API keys', description: 'The keys that calls may show', routes: apiKeyRoutes },
  {
    title: 'AI providers',
    description: 'What plans and works, and whether it can be used',
    routes: providerRoutes,
  },
  {
    title: 'Editor',
    description: 'Files of worktrees and projects, and completion in them',
    routes: editorRoutes,
  },
  {
    title: 'Language server bridge',
    description: 'Language servers, shared by all editors of a directory',
    routes: languageServerRoutes,
  },
  {
    title: 'Webhook registration',
    description: 'Who is told of events, and what became of each delivery',
    routes: webhookRoutes,
  },
  {
    title: 'Events',
    description: 'What happens, in one stream, and what waits for the operator',
    routes: eventRoutes,
  },
  {
    title: 'Settings',
    description: 'Which repositories are worked on, and who works',
    routes: settingsRoutes,
  },
  {
    title: 'Trust',
    description: 'Which values of hand-made files hold on this machine',
    routes: trustRoutes,
  },
  {
    title: 'System',
    description: 'Health, version, guides and what is wrong in the workspace',
    routes: systemRoutes,
  },
  {
    title: 'Model Context Protocol',
    description: 'The tools for agents and MCP clients',
    routes: mcpRoutes,
  },
];
