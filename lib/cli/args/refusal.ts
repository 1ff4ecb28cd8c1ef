/** A command was refused. The message tells the operator what to do, and is printed without a stack. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** The command needs a daemon and none is running: the exit code is 3. */
export class NoDaemon extends Error {
  override readonly name = 'NoDaemon';
}

/** The operator left with Ctrl-C where they were asked: the exit code is 130. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
