import { Type } from 'typebox';
import { visibleMarkdown } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { generate } from '../lib/work/generate/generate.ts';
import {
  approvePlanning,
  getArtifact,
  listArtifacts,
  planningGate,
  putArtifact,
} from '../lib/work/planning/gate.ts';
import { readiness } from '../lib/work/planning/readiness.ts';
import { Sha256 } from '../store/records/fields.ts';
import {
  PlanningArtifact,
  PlanningGate,
  PlanningStage,
  Readiness,
} from '../store/records/planning.ts';
import { GIVES_MARKDOWN, optionalBody, TAKES_MARKDOWN } from './fields.ts';
import { AT_WORK } from './problems.ts';

const StageWanted = optionalBody({
  provider: Type.Optional(
    Type.String({ minLength: 1, description: 'Default: the provider in the settings' }),
  ),
  overwrite: Type.Optional(
    Type.Boolean({
      description:
        'Replace the file even if it was edited by hand; the old one is kept in .dossier/undo',
    }),
  ),
});

const HOW =
  'An agent writes it in a read-only turn in the worktree of the Work item, which is created if needed. If the provider is not an agent (`runbook`, `manual`), it is derived from the text. Commands of an issue never become executable blocks.';

const STAGE = {
  description: HOW,
  body: StageWanted,
  response: PlanningStage,
  // Errors of writing the file, and of an agent's turn.
  errors: [
    'planning_edited',
    'no_repository',
    'provider_missing',
    'trust_needed',
    'provider_failed',
    ...AT_WORK,
  ],
} as const;

export const planningRoutes = [
  route('POST /api/cases/{id}/planning/from-issue', {
    operationId: 'planFromIssue',
    summary: 'Write problem-definition.md from the linked issue, as last synced',
    ...STAGE,
    errors: [...STAGE.errors, 'not_linked'],
    handler: ({ params, body }, service) =>
      generate(service, params.id, 'problem-definition.md', body ?? {}),
  }),
  route('POST /api/cases/{id}/planning/hypotheses-file', {
    operationId: 'generateHypotheses',
    summary: 'Write hypotheses.md from problem-definition.md, or from the description without one',
    ...STAGE,
    handler: ({ params, body }, service) =>
      generate(service, params.id, 'hypotheses.md', body ?? {}),
  }),
  route('POST /api/cases/{id}/planning/generate-tasks', {
    operationId: 'generateTasks',
    summary: 'Write tasks.md from hypotheses.md',
    ...STAGE,
    handler: ({ params, body }, service) => generate(service, params.id, 'tasks.md', body ?? {}),
  }),
  route('GET /api/cases/{id}/planning/gate', {
    summary: 'Check whether the planning files are approved',
    description: 'No plan can be approved while planning files are not approved.',
    response: PlanningGate,
    errors: ['unreadable_record'],
    handler: ({ params }, { store }) => planningGate(store, params.id),
  }),
  route('POST /api/cases/{id}/planning/approve', {
    summary: 'Approve the planning files as they are now',
    description:
      'A later edit makes the approval stale. With `artifacts` (the hash of each file that you read), the call fails if a file has changed.',
    body: optionalBody({ artifacts: Type.Optional(Type.Record(Type.String(), Sha256)) }),
    response: PlanningGate,
    errors: ['invalid_state', 'plan_changed', 'unreadable_record'],
    handler: ({ params, body }, { store }) => approvePlanning(store, params.id, body?.artifacts),
  }),
  route('GET /api/cases/{id}/planning/readiness', {
    summary: 'Check whether a session of the Work item can be executed now, and what prevents it',
    response: Readiness,
    handler: ({ params }, service) => readiness(service, params.id),
  }),
  route('GET /api/cases/{id}/planning-artifacts', {
    summary: 'List the planning files, in the order of their stages',
    response: Type.Array(PlanningArtifact),
    errors: ['unreadable_record'],
    handler: ({ params }, { store }) => listArtifacts(store, params.id),
  }),
  route('GET /api/cases/{id}/planning-artifacts/{filename}', {
    summary: 'Read a planning file, with control characters made visible',
    params: { filename: Type.String() },
    ...GIVES_MARKDOWN,
    handler: ({ params }, { store }) =>
      visibleMarkdown(getArtifact(store, params.id, params.filename)),
  }),
  route('PUT /api/cases/{id}/planning-artifacts/{filename}', {
    summary: 'Write a planning file: problem-definition.md, hypotheses.md or tasks.md',
    description: 'Makes an approval of the planning files stale.',
    params: { filename: Type.String() },
    ...TAKES_MARKDOWN,
    ...GIVES_MARKDOWN,
    conditional: true,
    errors: ['unreadable_record'],
    handler: async ({ params, body, ifMatch }, { store }) => {
      const { filename } = params;
      const file = { filename, content: body };
      return visibleMarkdown(await putArtifact(store, params.id, file, ifMatch));
    },
  }),
];
