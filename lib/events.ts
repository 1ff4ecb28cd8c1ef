import { EVENT_TYPES, type EventType, isStarred, PAYLOADS } from '../store/records/event.ts';
import type { EventDoc } from './http/openapi-events.ts';

const SUMMARIES: Record<EventType, string> = {
  session_started: 'A plan was approved and its session began to work',
  session_completed: 'A session has done its work',
  proof_created: 'A proof was attached to a Work item',
  proof_updated: 'A proof was verified, or its content changed',
  agent_completed: 'A plan or work run ended, well or not',
  case_updated: 'The title or the description of a Work item changed',
  case_state_changed: 'A Work item went from one state to another',
  case_created: 'A Work item is there that was not, whoever made it',
  case_deleted: 'A Work item is gone, whoever removed it',
  proof_deleted: 'A proof is gone, whoever took it away',
  session_plan_ready: 'A plan waits for the operator',
  session_paused: 'A session was paused, or was interrupted',
  session_failed: 'A session has failed',
  permission_requested: 'An agent asks the operator for leave, and waits',
  problem_found: 'A file cannot be used as what it should be',
  problem_mended: 'A file of which a problem was told has it no more',
  trust_needed: 'Something that came by file waits until the operator trusts it',
  attention_changed: 'What needs the operator is another than before: read GET /attention',
  permission_answered: 'What an agent asked leave for was answered, or is asked no more',
};

/** What receivers of webhooks are sent, for the OpenAPI document. */
export const EVENTS: readonly EventDoc[] = EVENT_TYPES.map((name) => ({
  name,
  summary: isStarred(name) ? SUMMARIES[name] : `${SUMMARIES[name]}. Sent where \`events\` names it`,
  payload: PAYLOADS[name],
}));
