import type { Session } from '../../client/client.ts';

/** How a session stands, with what it waits for: `queued (max_sessions)`. */
export const standing = ({ status, waits_for, waiting }: Session): string => {
  if (waits_for !== undefined) return `${status} (${waits_for})`;
  return waiting === undefined ? status : `${status} (waits for ${waiting.for})`;
};
