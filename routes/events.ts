import { Type } from 'typebox';
import { FEED } from '../lib/daemon/events.ts';
import { dismissOverlap } from '../lib/events/inbox/overlaps.ts';
import { tagged } from '../lib/http/answer.ts';
import { commas } from '../lib/http/input.ts';
import { route } from '../lib/http/route.ts';
import { AttentionItem } from '../store/records/attention.ts';
import { EVENT_TYPES } from '../store/records/event.ts';
import { Id, Oid } from '../store/records/fields.ts';
import { GIT } from './problems.ts';

export const eventRoutes = [
  route('GET /events', {
    summary: 'Follow the events of the workspace, or read recorded ones',
    description: 'Server-sent events if Accept names `text/event-stream`, else JSON.',
    query: Type.Object({
      types: Type.Optional(commas(Type.Enum(EVENT_TYPES), 'Only events of these types')),
      case_id: Type.Optional(commas(Id, 'Only events of these Work items')),
      after: Type.Optional(
        Type.String({
          pattern: '^(now|[0-9]{1,15})$',
          description: 'Start after the event with this id; `now`: only new events',
        }),
      ),
    }),
    stream: FEED,
    handler: ({ query: { types, case_id } }, { feed }) => feed.follow({ types, case_id }),
  }),
  route('GET /attention', {
    summary: 'List what needs the operator now, oldest first',
    description:
      'Each entry has its time, and `answer`, the API call that resolves it. The event `attention_changed` reports changes of the list.',
    response: Type.Array(AttentionItem),
    handler: (_input, { attention }) => {
      const { body, etag } = attention.list();
      return tagged<AttentionItem[]>(body, etag);
    },
  }),
  route('POST /cases/{id}/overlaps/dismiss', {
    operationId: 'dismissOverlap',
    summary: 'Remove a conflict between two branches from the list of what needs the operator',
    description:
      'For an `overlap` of `GET /attention`, whose `answer` has the commits. It is listed again once one of the branches has another commit.',
    body: Type.Object({
      commits: Type.Array(Oid, {
        minItems: 2,
        maxItems: 2,
        description: 'The commits of the two branches; one is that of the Work item',
      }),
    }),
    errors: ['invalid_state', 'unreadable_record', 'worktree_elsewhere', ...GIT],
    handler: ({ params, body }, service) => dismissOverlap(service, params.id, body.commits),
  }),
];
