import type { RunEvent, Waiting } from './provider.ts';

/** What an agent tells of a failure that it tries to get over. */
export interface Trouble extends Partial<Pick<Waiting, 'http_status' | 'attempt' | 'attempts'>> {
  message: string;
  retry_at?: string;
}

interface Watched {
  quiet_ms: number;
  tell: (event: RunEvent) => void;
  /** The last words on its standard error. */
  stderr: () => string;
  /** A tool call goes on, or the operator is asked: then it waits for those, and that is told already. */
  busy: () => boolean;
}

const LAST_WORDS = 1000;
// How often it is looked in the time after which silence is told: it is told an eighth of that later at the most.
const LOOKS = 8;

/** Says what a run waits for as soon as it is told, or when nothing was heard for long. */
export const watchQuiet = ({ quiet_ms, tell, stderr, busy }: Watched) => {
  let since = new Date();
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
    if (told || busy() || Date.now() - since.getTime() < quiet_ms) return;
    say({ message: wants === 'agent' ? NOT_UP : NO_WORD });
  }, quiet_ms / LOOKS);
  timer.unref();
  const heard = (): void => {
    if (told) tell({ type: 'waiting_over', data: { since: since.toISOString() } });
    told = false;
    trouble = undefined;
    since = new Date();
  };
  return {
    /** It goes on: words, a tool call. */
    heard,
    /** It was asked: what it waits for from now on is its model. */
    asked: (): void => {
      heard();
      wants = 'model';
    },
    trouble: (news: Trouble): void => {
      trouble = news.message;
      say(news);
    },
    /** What it told of last, if nothing else was heard since. */
    troubled: (): string | undefined => trouble,
    end: (): void => clearInterval(timer),
  };
};
export type Watch = ReturnType<typeof watchQuiet>;

const NOT_UP = 'The agent has been started, and has not answered yet.';
const NO_WORD =
  'The agent has said nothing since. It may wait for its model: a server that is down or busy, or a limit.';
