import { type Answer, fieldsOf, refused } from './rest.ts';

// What GitHub takes, in characters.
const LONGEST = { body: 65_536, title: 256 } as const;

/** GitHub's refusal of a text that is too long; nothing when all are short enough. */
export const tooLong = (given: unknown, resource: string): Answer | undefined => {
  const fields = fieldsOf(given);
  for (const [field, longest] of Object.entries(LONGEST)) {
    const text = fields[field];
    if (typeof text !== 'string' || text.length <= longest) continue;
    const message = `${field} is too long (maximum is ${longest} characters)`;
    return refused(422, 'Validation Failed', [{ resource, field, code: 'custom', message }]);
  }
  return undefined;
};
