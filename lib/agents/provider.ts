import type { ProviderBoundary } from '../../store/records/boundary.ts';
import type { Offers, ProviderInfo } from '../../store/records/provider.ts';
import type { QuestionAnswer } from '../../store/records/question.ts';
import type { RunEvent } from '../../store/records/run-event.ts';
import type { Usage } from '../../store/records/session.ts';
import type { Bind } from '../sandbox/sandbox.ts';
import type { ModelChoice } from './model-choice.ts';
import type { Outage } from './outage.ts';

export type { ProviderInfo } from '../../store/records/provider.ts';
export type { PermissionOption, PrefixOption, RunEvent } from '../../store/records/run-event.ts';
export type { Usage, Waiting } from '../../store/records/session.ts';

/**
 * What the session engine asks of whatever executes a session: an agent, an embedded runner, or the operator.
 * A provider proposes and executes. It never approves, and never writes outside the worktree it is given.
 */
export type Phase = 'plan' | 'work';

/** How Plan mode is held read-only. */
export type Isolation = ProviderInfo['isolation'];

export interface PromptParts {
  title: string;
  type: string;
  description: string;
  /** The issue that the description came with, `owner/name#12`: others may have written it. */
  issue?: string;
  /** Its images, and why one is missing. */
  images?: ({ url: string } & (IssueImage | { missing: string }))[];
  /** What it leads to, by whole addresses. */
  links?: string[];
  /** The description is the whole prompt: no Work item, no task, no words of ours. */
  bare?: boolean;
  /** Memory and planning files of the Work item, by file name. */
  memory: ToldFile[];
  /** The files of the workspace's global memory, by file name; of long ones the beginning and the end. */
  global_memory: ToldFile[];
  /** The plan as approved, in Work mode only. This text is what runs. */
  plan?: string;
  /** What the operator or reviewers want changed. */
  feedback?: string;
  /** What is in conflict in the worktree, for a session that resolves it. */
  conflict?: string;
  /** What reviewers said, for a session that addresses it; nothing in it is the operator's but what says so. */
  reviews?: string;
  /** The plan that the feedback is about, in Plan mode only. */
  proposed?: string;
  /** Work mode only, when a run of this plan was stopped before. */
  partial?: PartialWork;
  /** Messages of the operator that no agent has read yet, in their order. */
  messages?: readonly string[];
  /** The messages before these, for a conversation that does not have them. */
  messages_before?: readonly string[];
}

/** A file of the Work item, with what is in it. */
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
  /** Where the whole is, which the content then names: a file, or the folder of those that are left out. */
  path?: string;
}

/** What a run that was stopped left behind. */
export interface PartialWork {
  /** The worktree's changed files, as `git status --short` names them. */
  files: string[];
  /** The ids of the tool calls that were completed, or that the operator leaves as they are. */
  done: string[];
}

export interface RunSpec {
  session_id: string;
  phase: Phase;
  /** The Work item's worktree, absolute. Plan mode must leave it as it is. */
  cwd: string;
  /** The session's directory in the workspace, absolute: where the operator writes plan.md by hand. */
  session_dir: string;
  prompt: PromptParts;
  /** Its model and effort; where left out, those of its settings. */
  choice?: ModelChoice;
  /** The agent's own session id from the plan turn, to resume where the agent can. */
  native_session_id?: string;
  /** What that session had cost when it was last heard of. */
  native_cost_usd?: number;
  /** The operator is told what it asks, and answers; else its questions are declined. */
  attended?: boolean;
  /** The address under which git notes what this run does to refs, where nothing holds it back from that. */
  signed_as?: string;
  /** Unique to this run and in the environment of every process it starts, so that all can be found again. */
  run_marker: string;
  /** Directories a Work turn may write besides the worktree (what a commit needs of the repository). */
  writable: string[];
  /** Paths that are seen and stay as they are, inside the writable ones, too (the rest of the repository's git directory). */
  kept: string[];
  /** What lies over other paths, in a sandbox: a repository of the turn, say. */
  binds?: readonly Bind[];
  /** Directories no agent may see (the daemon's own .dossier, less this worktree). */
  hidden: string[];
  /** The daemon's own MCP server, for this run alone. */
  mcp?: { url: string; token: string };
  /** What commands may begin with, as the operator answered in this session; more are added. Empty where left out. */
  prefixes?: string[];
  /** The commands of the plan that the operator approved to run without asking. None where left out. */
  unasked?: readonly string[];
  /** The same as `prefixes` for all sessions of the project, looked at with each request. Left out, it cannot be answered. */
  project?: AllowedInProject;
  /**
   * A program has failed that is silent for `idle_ms`, that goes on for longer than `wall_ms` (the operator's time to
   * answer it not counted), or that writes more than `output_bytes` in all. After `quiet_ms` without a word it is told
   * what it waits for.
   */
  limits: { idle_ms: number; wall_ms: number; output_bytes: number; quiet_ms?: number };
  /**
   * The messages of the operator that the agent has not read, each once. A run reads them as it builds its prompt; one that
   * can prompt again in the same conversation reads them again after each prompt, and before `done` settles.
   */
  takeMessages?: () => readonly string[];
  /** Manual planning only: resolves with the text of plan.md once it is there and not empty. Rejects when aborted. */
  awaitPlan: (signal: AbortSignal) => Promise<string>;
}

export interface AllowedInProject {
  prefixes(): readonly string[];
  /** On disk when it returns. */
  allow(prefix: string): void;
}

export interface RunResult {
  outcome: 'completed' | 'cancelled' | 'failed';
  /** Why it failed, in a sentence for the operator. */
  error?: string;
  /** It failed for want of its model, as the agent tells: going on later can work. */
  outage?: Outage;
  /** Plan turns: the plan as Markdown. */
  plan?: string;
  /** Of this turn alone. */
  usage?: Usage;
  native_session_id?: string;
  /** Work turns: its last words, of an agent that called no tool. Without a change in the worktree it did nothing. */
  only_said?: string;
  /** What the agent's own session cost in all of its turns. */
  native_cost_usd?: number;
}

export interface Run {
  /** Settles once, never rejects; when it has settled no process of the run is alive. */
  readonly done: Promise<RunResult>;
  /** Asks the run to stop (pause, revise): the turn is cancelled, then its processes are ended. */
  cancel(): Promise<void>;
  /** Ends the whole process tree, shells in their own sessions included. Resolves when nothing of it is alive. */
  kill(): Promise<void>;
  /**
   * The operator's answer to a permission request; false when there is no such open request. Throws `bad_request` for a
   * prefix that the command does not begin with.
   */
  answer(requestId: string, optionId: string, prefix?: string): boolean;
  /** The same for a question; left out by what asks none. Throws `answer_invalid` for what does not fit it. */
  reply?(questionId: string, answer: QuestionAnswer): boolean;
  /**
   * A message waits: ends the prompt under way once no tool call runs, or at once with `now`, so that the message is read. What
   * the agent asks is answered "cancelled" then. False, or left out, where only another run can read it.
   */
  interrupt?(now: boolean): boolean;
  /** Manual work only: the operator says that the work is done. False where that has no meaning. */
  finish(): boolean;
}

export interface Provider {
  readonly isolation: Isolation;
  /** Its programs have a network of their own, and find MCP inside of it. */
  readonly own_network: boolean;
  /** What shuts in what it starts in Work mode. Nothing is started to tell. */
  boundary(): ProviderBoundary;
  /** What its settings choose where nobody else does. */
  readonly usual?: ModelChoice;
  /** What can be chosen of it, with the model if one is. Without this, nothing can. */
  offers?(model?: string): Offers;
  /** Why it cannot be started, and what to install or set; undefined when it can. Nothing is started to tell. */
  missing(): string | undefined;
  probe(): Promise<ProviderInfo>;
  start(spec: RunSpec, tell: (event: RunEvent) => void): Run;
}
