/** Why a command is not done: a sentence for the operator that says what to do. It is shown alone, without a stack. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** No daemon runs, and what was asked for needs one: the exit code is 3. */
export class NoDaemon extends Error {
  override readonly name = 'NoDaemon';
}
