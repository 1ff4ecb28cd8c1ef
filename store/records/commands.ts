import { type Static, Type } from 'typebox';
import { orNull } from './or-null.ts';

const FailedCommand = Type.Object({
  command: Type.String({ description: 'Of a longer one the beginning' }),
  exit_code: orNull(Type.Integer(), 'null where its agent does not report it'),
  output: Type.String({ description: 'The end of what it wrote' }),
});
export type FailedCommand = Static<typeof FailedCommand>;

/** What the commands of approved work came to, as session.md keeps it. */
export const CommandsMatter = Type.Object({
  run: Type.Integer({
    minimum: 0,
    description: 'How many commands ran, each counted once however often it ran',
  }),
  failed_count: Type.Integer({ minimum: 0 }),
  failed: Type.Array(FailedCommand, {
    description: 'Those whose newest run failed: the first 10',
  }),
});
export type CommandsMatter = Static<typeof CommandsMatter>;

/** The same as it is served: `message` is what every surface begins with. */
export const Commands = Type.Object(
  {
    ...CommandsMatter.properties,
    message: orNull(
      Type.String(),
      'One sentence for people where commands failed: `1 of 3 approved commands failed: …`',
    ),
  },
  { $id: 'SessionCommands', description: 'The commands that ran since the plan was approved' },
);
export type Commands = Static<typeof Commands>;

const NAMED = 3;

/** The one sentence about commands that failed; null where none did. */
export const failureSentence = ({ run, failed_count, failed }: CommandsMatter): string | null => {
  if (failed_count === 0) return null;
  const named = failed.slice(0, NAMED).map(({ command, exit_code }) => {
    const exit = exit_code === null ? '' : ` (exit ${exit_code})`;
    return `\`${command}\`${exit}`;
  });
  const more = failed_count - named.length;
  const rest = more > 0 ? ` and ${more} more` : '';
  const noun = run === 1 ? 'command' : 'commands';
  return `${failed_count} of ${run} approved ${noun} failed: ${named.join(', ')}${rest}`;
};
