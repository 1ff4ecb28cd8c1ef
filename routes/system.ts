import { Type } from 'typebox';
import { getGuide, readGuides } from '../lib/daemon/guides.ts';
import { listProblems } from '../lib/daemon/system/diagnostics.ts';
import { describeHealth, describeMachine } from '../lib/daemon/system/machine.ts';
import { route } from '../lib/http/route.ts';
import { ProblemRecord } from '../store/records/problem.ts';
import { Guide, GuideEntry, Health, Machine, VersionInfo } from '../store/records/system.ts';

export const systemRoutes = [
  route('GET /health', {
    anyone: true,
    early: true,
    summary: 'Check that the daemon answers',
    response: Health,
    handler: (_input, service) => describeHealth(service),
  }),
  route('GET /version', {
    anyone: true,
    early: true,
    summary: 'Read the version of the daemon',
    response: VersionInfo,
    handler: (_input, { version }) => version,
  }),
  route('POST /api/daemon/challenge', {
    anyone: true,
    early: true,
    summary: 'Prove that this is the daemon of the workspace',
    description:
      'The answer is the HMAC-SHA256 of the challenge, in hexadecimal digits, with the token in `.dossier/owner.json` as key: another program that listens at the address does not have it.',
    body: Type.Object({
      challenge: Type.String({
        pattern: '^[0-9a-f]{32,128}$',
        examples: ['00112233445566778899aabbccddeeff'],
      }),
    }),
    response: Type.Object({ answer: Type.String() }),
    handler: ({ body }, { prove }) => ({ answer: prove(body.challenge) }),
  }),
  route('GET /api/diagnostics', {
    summary: 'List the problems of files in the workspace',
    description:
      'The files are not changed. Until they are fixed, their last valid content is served. `unwritable`: the workspace (`.`) or the state directory refuses writes, such as on a full disk.',
    query: Type.Object({
      path: Type.Optional(
        Type.String({
          minLength: 1,
          description:
            'Only problems of files at or below this path of the workspace, such as the `path` of a Work item',
        }),
      ),
    }),
    response: Type.Array(ProblemRecord),
    handler: ({ query }, service) => listProblems(service, query.path),
  }),
  route('GET /api/machine', {
    summary: 'Read the directories and the missing protections of this machine',
    response: Machine,
    handler: (_input, service) => describeMachine(service),
  }),
  route('GET /guides', {
    early: true,
    summary: 'List the guides, which `dossier help` also shows',
    response: Type.Array(GuideEntry),
    handler: () => readGuides().map(({ text: _, ...entry }) => entry),
  }),
  route('GET /guides/{topic}', {
    early: true,
    summary: 'Read a guide',
    params: {
      topic: Type.String({ maxLength: 64, description: 'A topic, or a word of it' }),
    },
    response: Guide,
    errors: ['not_found'],
    handler: ({ params }) => getGuide(params.topic),
  }),
];
