import type { ProviderBoundary } from '../../store/records/boundary.ts';
import type { Offers, ProviderInfo } from '../../store/records/provider.ts';
import type { QuestionAnswer } from '../../store/records/question.ts';
import type { RunEvent } from '../../store/records/run-event.ts';
import type { Usage } from '../../store/records/session.ts';
import type { Bind } from '../sandbox/view.ts';
import type { Environment } from '../tools/process/environment.ts';
import type { ModelChoice } from './model-choice.ts';
import type { Outage } from './outage.ts';

export type { ProviderInfo } from '../../store/records/provider.ts';
export type { PermissionOption, PrefixOption, RunEvent } from '../../store/records/run-event.ts';
export type { Usage, Waiting } from '../../store/records/session.ts';

/**
 * The interface between the session engine and a provider: an agent, the embedded runbook, or the operator. A provider
 * proposes and executes. It never approves, and never writes outside its worktree.
 */
export type Phase = 'plan' | 'work';

/** How Plan mode is kept read-only. */
export type Isolation = ProviderInfo['isolation'];

export interface PromptParts {
  title: string;
  type: string;
  description: string;
  /** The issue of the description, `owner/name#12`: its text may be written by others. */
  issue?: string;
  /** Its images, or why one is missing. */
  images?: ({ url: string } & (IssueImage | { missing: string; bytes?: undefined }))[];
  /** The URLs that it links to. */
  links?: string[];
  /** The description is the whole prompt, without a task and Work item. */
  bare?: boolean;
  /** Memory and planning files of the Work item, by file name. */
  memory: ToldFile[];
  /** The files of the global memory, by file name; long ones are cut in the middle. */
  global_memory: ToldFile[];
  /** The plan as approved, in Work mode only. This text is what runs. */
  plan?: string;
  /** Changes that the operator or reviewers request. */
  feedback?: string;
  /** The conflicts in the worktree, for a session that resolves them. */
  conflict?: string;
  /** Comments of reviewers, for a session that addresses them. Untrusted, except for parts marked as the operator's. */
  reviews?: string;
  /** The plan that the feedback is about, in Plan mode only. */
  proposed?: string;
  /** Work mode only, if a run of this plan was stopped before. */
  partial?: PartialWork;
  /** Messages of the operator that no agent has read yet, in order. */
  messages?: readonly string[];
  /** Earlier messages, for a conversation without them. */
  messages_before?: readonly string[];
}

/** An image of the issue, with its content. */
export interface IssueImage {
  name: string;
  path: string;
  type: string;
  bytes: Buffer;
  missing?: undefined;
}

export interface ToldFile {
  filename: string;
  content: string;
  /** The path of the complete file, or of the folder of omitted files; the content names it. */
  path?: string;
}

/** The results of a stopped run. */
export interface PartialWork {
  /** The worktree's changed files, as `git status --short` names them. */
  files: string[];
  /** The ids of tool calls that are completed, or that the operator skips. */
  done: readonly string[];
}

export interface RunSpec {
  session_id: string;
  phase: Phase;
  /** The Work item's worktree, absolute. Plan mode must leave it as it is. */
  cwd: string;
  /** The session's directory in the workspace, absolute: where the operator writes plan.md by hand. */
  session_dir: string;
  prompt: PromptParts;
  /** Its model and effort; default: those of the settings. */
  choice?: ModelChoice;
  /** The agent's session id of the Plan turn, to resume if possible. */
  native_session_id?: string;
  /** The last known cost of that session. */
  native_cost_usd?: number;
  /** The operator can answer its questions; otherwise they are declined. */
  attended?: boolean;
  /** The committer address by which the reflog shows changes of refs by this run, without a sandbox. */
  signed_as?: string;
  /** Unique to this run, and in the environment of all its processes, so that they can be found. */
  run_marker: string;
  /** Directories that a Work turn may write besides the worktree, such as parts of the repository. */
  writable: string[];
  /** Paths that are read-only, even inside writable ones, such as the rest of the git directory. */
  kept: string[];
  /** Mounts over other paths in a sandbox, such as the repository of the turn. */
  binds?: readonly Bind[];
  /** The directory that is `~/.cache` in the sandbox; otherwise it is private and empty. */
  cache?: string;
  /** Directories that agents may not see: the daemon's .dossier, except this worktree. */
  hidden: string[];
  /** The main checkout, which is empty except for what is named in it. */
  covered?: readonly string[];
  /** The daemon's MCP server, with a token for this run. */
  mcp?: { url: string; token: string };
  /** Command prefixes that the operator allowed in this session; the run adds further ones. */
  prefixes?: string[];
  /** Commands of the plan that the operator approved to run without asking. */
  unasked?: readonly string[];
  /** Command prefixes for all sessions of the project, read with each request. Absent: that option is not offered. */
  project?: AllowedInProject;
  /**
   * A program fails if it writes nothing for `idle_ms`, runs for `wall_ms` (without the operator's time to answer), or
   * writes more than `output_bytes`. After `quiet_ms` without output, a `waiting` event reports what it waits for.
   */
  limits: { idle_ms: number; wall_ms: number; output_bytes: number; quiet_ms?: number };
  /**
   * Returns the operator's unread messages, each once. A run calls it for its prompt; a run that can continue its
   * conversation also calls it after each prompt, before `done` settles.
   */
  takeMessages?: () => readonly string[];
  /** Embedded runbook only: saves which blocks are done, and which one begins. Awaited before it begins. */
  saveBlocks?: (done: readonly string[], begun?: string) => Promise<void>;
  /** Manual planning only: resolves with the text of plan.md once it is not empty. Rejects when aborted. */
  awaitPlan: (signal: AbortSignal) => Promise<string>;
}

export interface AllowedInProject {
  prefixes(): readonly string[];
  /** Stores a prefix, synchronously. */
  allow(prefix: string): void;
}

export interface RunResult {
  outcome: 'completed' | 'cancelled' | 'failed';
  /** Why it failed, as a sentence for the operator. */
  error?: string;
  /** The agent reported a temporary failure of its model: resuming later can work. */
  outage?: Outage;
  /** It failed before its program began, so that nothing ran: resuming can work. */
  not_begun?: boolean;
  /** Plan turns: the plan as Markdown. */
  plan?: string;
  /** Of this turn alone. */
  usage?: Usage;
  native_session_id?: string;
  /** Work turns: the last message of an agent that called no tool, or only looked because its requests were refused. Without a change in the worktree it did nothing. */
  only_said?: string;
  /** With `only_said`: what it asked to do, as the operator refused all of it. */
  refused?: readonly string[];
  /** The cost of the agent's session, all turns together. */
  native_cost_usd?: number;
  /** What the operator said in the agent's own terminal interface, as its transcript reports it. */
  said?: readonly string[];
}

export interface Run {
  /** Never rejects. Settles after the last process of the run has ended. */
  readonly done: Promise<RunResult>;
  /** Cancels the turn (pause, revise), then ends its processes. */
  cancel(): Promise<void>;
  /** Ends the process tree, including shells in their own sessions. Resolves after the last process has ended. */
  kill(): Promise<void>;
  /**
   * The operator's answer to a permission request; false if there is no such open request. Throws `bad_request` for a prefix
   * that the command does not begin with.
   */
  answer(requestId: string, optionId: string, prefix?: string): boolean;
  /** The same for a question; absent if the provider asks none. Throws `answer_invalid` for an invalid answer. */
  reply?(questionId: string, answer: QuestionAnswer): boolean;
  /**
   * Ends the current prompt when no tool call runs, or at once with `now`, so that the agent reads a new message. Open
   * requests of the agent are cancelled. False, or absent, if only another run can read the message.
   */
  interrupt?(now: boolean): boolean;
  /** Manual work only: completes the work. False for other providers. */
  finish(): boolean;
}

export interface Provider {
  readonly isolation: Isolation;
  /** It plans without starting a program, so that the plan cannot change the worktree. Absent: it starts one. */
  readonly plans_itself?: true;
  /** Its programs have their own network namespace, with MCP inside. */
  readonly own_network: boolean;
  /** The boundary of its programs in Work mode. Starts nothing. */
  boundary(): ProviderBoundary;
  /** The default model and effort of its settings. */
  readonly usual?: ModelChoice;
  /** The models and efforts that it offers; the efforts may depend on the model. Absent: no choice. */
  offers?(model?: string): Offers;
  /** Why it cannot be started, and what to do; undefined if it can. Starts nothing. */
  missing(): string | undefined;
  probe(): Promise<ProviderInfo>;
  start(spec: RunSpec, tell: (event: RunEvent) => void): Run;
  /** The agent's own terminal interface; absent if it cannot continue a conversation of a session. */
  readonly terminal?: Terminal;
}

/** What a terminal interface is started with. */
export type TerminalSpec = RunPlace & Pick<RunSpec, 'session_id'> & { native_session_id: string };

/** Where a program of a run works, and what it sees. */
export type RunPlace = Pick<
  RunSpec,
  'cwd' | 'phase' | 'writable' | 'kept' | 'binds' | 'cache' | 'hidden' | 'covered' | 'run_marker'
>;

/** A program for the command line to start at the operator's terminal, with its whole environment. */
export interface TerminalLaunch {
  argv: readonly string[];
  env: Environment;
  cwd: string;
}

/** An agent's own terminal interface on the conversation of a session. */
export interface Terminal {
  /** Why it cannot be started, and what to do; undefined if it can. */
  missing(): string | undefined;
  /**
   * Prepares it, and calls `ready` with what to start. The result has what the operator said there. The run ends only by
   * `kill`: its program is not a child of the daemon.
   */
  start(
    spec: TerminalSpec,
    tell: (event: RunEvent) => void,
    ready: (launch: TerminalLaunch) => void,
  ): Run;
}
