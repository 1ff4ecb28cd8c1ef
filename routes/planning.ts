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
import { Sha256 } from '../store/records/id.ts';
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
    Type.String({ minLength: 1, description: 'Default: that of the settings' }),
  ),
  overwrite: Type.Optional(
    Type.Boolean({
      description: 'Also where the file was edited by hand; it stays in .dossier/undo',
    }),
  ),
});

const HOW =
  'An agent writes it in a turn that only reads, in the worktree of the Work item, which is made where there is none; where the provider is no agent (`runbook`, `manual`) it is made of the text alone. No command of an issue comes out as a block that is run.';

const STAGE = {
  description: HOW,
  body: StageWanted,
  response: PlanningStage,
  // What keeps it from being written, and what keeps an agent from its turn.
  errors: [
    'planning_edited',
    'file_busy',
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
    summary: 'Read whether the planning files are approved',
    description: 'No session is approved while there are planning files that are not.',
    response: PlanningGate,
    errors: ['unreadable_record'],
    handler: ({ params }, { store }) => planningGate(store, params.id),
  }),
  route('POST /api/cases/{id}/planning/approve', {
    summary: 'Approve the planning files as they are now',
    description:
      'The approval holds for these very files: a later edit makes it stale. With `artifacts`, the hash of each file that you read, it is refused when they are others by now.',
    body: optionalBody({ artifacts: Type.Optional(Type.Record(Type.String(), Sha256)) }),
    response: PlanningGate,
    errors: ['invalid_state', 'plan_changed', 'unreadable_record', 'file_busy'],
    handler: ({ params, body }, { store }) => approvePlanning(store, params.id, body?.artifacts),
  }),
  route('GET /api/cases/{id}/planning/readiness', {
    summary: 'Read whether a session of the Work item can be executed now, and what is in the way',
    response: Readiness,
    handler: ({ params }, service) => readiness(service, params.id),
  }),
  route('GET /api/cases/{id}/planning-artifacts', {
    summary: 'List the planning files that are there, in the order of their stages',
    response: Type.Array(PlanningArtifact),
    errors: ['unreadable_record'],
    handler: ({ params }, { store }) => listArtifacts(store, params.id),
  }),
  route('GET /api/cases/{id}/planning-artifacts/{filename}', {
    summary: 'Read a planning file, with control characters shown',
    params: { filename: Type.String() },
    ...GIVES_MARKDOWN,
    handler: ({ params }, { store }) =>
      visibleMarkdown(getArtifact(store, params.id, params.filename)),
  }),
  route('PUT /api/cases/{id}/planning-artifacts/{filename}', {
    summary: 'Write a planning file: problem-definition.md, hypotheses.md or tasks.md',
    description: 'An approval of the planning files is stale after it.',
    params: { filename: Type.String() },
    ...TAKES_MARKDOWN,
    ...GIVES_MARKDOWN,
    conditional: true,
    errors: ['unreadable_record', 'file_busy'],
    handler: async ({ params, body, ifMatch }, { store }) => {
      const { filename } = params;
      const file = { filename, content: body };
      return visibleMarkdown(await putArtifact(store, params.id, file, ifMatch));
    },
  }),
];
