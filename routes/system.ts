import { Type } from 'typebox';
import { getGuide, readGuides } from '../lib/daemon/guides.ts';
import { listProblems } from '../lib/daemon/system/diagnostics.ts';
import { describeMachine } from '../lib/daemon/system/machine.ts';
import { route } from '../lib/http/route.ts';
import { Guide, GuideEntry } from '../store/records/guide.ts';
import { Machine } from '../store/records/machine.ts';
import { ProblemRecord } from '../store/records/problem.ts';
import { VersionInfo } from '../store/records/version.ts';

const Health = Type.Object({ status: Type.Literal('ok') });

export const systemRoutes = [
  route('GET /health', {
    anyone: true,
    summary: 'Say that the daemon answers',
    response: Health,
    handler: () => ({ status: 'ok' as const }),
  }),
  route('GET /version', {
    anyone: true,
    summary: 'Say what is running',
    response: VersionInfo,
    handler: (_input, { version }) => version,
  }),
  route('POST /api/daemon/challenge', {
    anyone: true,
    summary: 'Show that this is the daemon that the workspace names',
    description:
      'The answer is the HMAC-SHA256 of the challenge, in hexadecimal digits, by the token in `.dossier/owner.json`: another program that listens at its address has not got that.',
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
    summary: 'List the files that cannot be used as the records they should be',
    description:
      'None of them was touched. What was last read of them is served until they are mended.',
    response: Type.Array(ProblemRecord),
    handler: (_input, service) => listProblems(service),
  }),
  route('GET /api/machine', {
    summary: 'Say where things are, and what of the boundary around agents cannot be held here',
    response: Machine,
    handler: (_input, service) => describeMachine(service),
  }),
  route('GET /guides', {
    summary: 'List the guides, which `dossier help` shows too',
    response: Type.Array(GuideEntry),
    handler: () => readGuides().map(({ text: _, ...entry }) => entry),
  }),
  route('GET /guides/{topic}', {
    summary: 'Read a guide',
    params: {
      topic: Type.String({ maxLength: 64, description: 'As it is listed, or one word of it' }),
    },
    response: Guide,
    errors: ['not_found'],
    handler: ({ params }) => getGuide(params.topic),
  }),
];
