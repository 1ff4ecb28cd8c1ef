import type { Section } from '../lib/http/route.ts';
import { apiKeyRoutes } from './api-keys.ts';
import { caseRoutes } from './cases.ts';
import { codehostRoutes } from './codehost.ts';
import { codehostIssueRoutes } from './codehost-issues.ts';
import { codehostReadRoutes } from './codehost-reads.ts';
import { codehostWebhookRoutes } from './codehost-webhook.ts';
import { completionRoutes } from './completion.ts';
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
import { sessionRoutes } from './sessions.ts';
import { systemRoutes } from './system.ts';
import { traceabilityRoutes } from './traceability.ts';
import { trustRoutes } from './trust.ts';
import { webhookRoutes } from './webhooks.ts';
import { worktreeUpkeepRoutes } from './worktree-upkeep.ts';
import { worktreeRoutes } from './worktrees.ts';

/** The whole API, in the order of the interface document. */
export const sections: readonly Section[] = [
  { title: 'Work items', routes: caseRoutes },
  { title: 'Sessions', routes: sessionRoutes },
  { title: 'Session control and locks', routes: sessionControlRoutes },
  { title: 'Memory', routes: memoryRoutes },
  { title: 'Proof', routes: proofRoutes },
  { title: 'Planning', routes: planningRoutes },
  { title: 'Worktrees', routes: [...worktreeRoutes, ...worktreeUpkeepRoutes] },
  {
    title: 'Code-hosting integration',
    routes: [
      ...codehostRoutes,
      ...codehostReadRoutes,
      ...codehostIssueRoutes,
      ...codehostWebhookRoutes,
      ...traceabilityRoutes,
    ],
  },
  {
    title: 'Work item link, PR and review',
    routes: [...linkRoutes, ...pullRequestRoutes, ...reviewRoutes],
  },
  { title: 'PR body', routes: pullBodyRoutes },
  { title: 'Conflicts and rebase', routes: conflictRoutes },
  { title: 'Export', routes: exportRoutes },
  { title: 'API keys', routes: apiKeyRoutes },
  { title: 'AI providers', routes: providerRoutes },
  { title: 'Editor', routes: [...completionRoutes, ...editorRoutes] },
  { title: 'Language server bridge', routes: languageServerRoutes },
  { title: 'Webhook registration', routes: webhookRoutes },
  { title: 'Events', routes: eventRoutes },
  { title: 'Trust', routes: trustRoutes },
  { title: 'System', routes: systemRoutes },
  { title: 'Model Context Protocol', routes: mcpRoutes },
];
