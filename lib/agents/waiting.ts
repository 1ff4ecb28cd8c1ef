import type { RunEvent, Waiting } from './provider.ts';

/** A failure that the agent reports and retries. */
export interface Trouble extends Partial<Pick<Waiting, 'http_status' | 'attempt' | 'attempts'>> {
  message: string;
  retry_at?: string;
}

interface Watched {
  quiet_ms: number;
  tell: (event: RunEvent) => void;
  /** The end of its standard error. */
  stderr: () => string;
  /** Whether a tool call runs or the operator is asked, which explains the silence. */
  busy: () => boolean;
}

const LAST_WORDS = 1000;
// Checks per `quiet_ms`: silence is reported at most an eighth of it late.
const LOOKS = 8;

/** Reports what a run waits for: at once if the agent tells, else after `quiet_ms` of silence. */
export const watchQuiet = ({ quiet_ms, tell, stderr, busy }: Watched) => {
  let since = new Date();
  // By a clock that nobody sets.
  let heard_at = performance.now();
  let wants: Waiting['for'] = 'agent';
  let told = false;
  let trouble: string | undefined;
  const say = (news: Trouble): void => {
    told = true;
    const last = stderr().trim().slice(-LAST_WORDS);
    const words = last === '' ? {} : { stderr: last };
    tell({
      type: 'waiting',
      data: { for: wants, since: since.toISOString(), ...news, ...words },
    });
  };
  const timer = setInterval(() => {
    if (told || busy() || performance.now() - heard_at < quiet_ms) return;
    say({ message: wants === 'agent' ? NOT_UP : NO_WORD });
  }, quiet_ms / LOOKS);
  timer.unref();
  const heard = (): void => {
    if (told) tell({ type: 'waiting_over', data: { since: since.toISOString() } });
    told = false;
    trouble = undefined;
    since = new Date();
    heard_at = performance.now();
  };
  return {
    /** The agent continues: text, a tool call. */
    heard,
    /** The agent was prompted: from now on it waits for its model. */
    asked: (): void => {
      heard();
      wants = 'model';
    },
    trouble: (news: Trouble): void => {
      trouble = news.message;
      say(news);
    },
    /** The last reported failure, if the agent has not continued since. */
    troubled: (): string | undefined => trouble,
    end: (): void => clearInterval(timer),
  };
};
export type Watch = ReturnType<typeof watchQuiet>;

const NOT_UP = 'The agent has started, but has not answered yet.';
const NO_WORD =
  'The agent has sent nothing since. It may be waiting for its model: the server may be down or busy, or a usage limit reached.';
