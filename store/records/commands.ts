import { type Static, Type } from 'typebox';
import { orNull } from './fields.ts';

const FailedCommand = Type.Object({
  command: Type.String({ description: 'The start of a long command' }),
  exit_code: orNull(Type.Integer(), 'Null if the agent does not report it'),
  output: Type.String({ description: 'The end of its output' }),
});

/** The results of approved commands, as in session.md. */
export const CommandsMatter = Type.Object({
  run: Type.Integer({
    minimum: 0,
    description: 'The number of distinct commands that ran',
  }),
  failed_count: Type.Integer({ minimum: 0 }),
  failed: Type.Array(FailedCommand, {
    description: 'Commands whose latest run failed: the first 10',
  }),
});
export type CommandsMatter = Static<typeof CommandsMatter>;

/** The results as the API returns them, with a `message` for every surface. */
export const Commands = Type.Object(
  {
    ...CommandsMatter.properties,
    message: orNull(
      Type.String(),
      'One sentence for people, if commands failed: `1 of 3 approved commands failed: …`',
    ),
  },
  { $id: 'SessionCommands', description: 'The commands that ran since the plan was approved' },
);
export type Commands = Static<typeof Commands>;

const NAMED = 3;

/** One sentence about failed commands; null if none failed. */
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
