import { ownValue } from '../../store/base/own-value.ts';
import { UsageError } from '../config.ts';
import type { Call, Command } from './args/command.ts';
import { OPTIONS, type Option, type OptionName } from './args/options.ts';
import { COMMON_OPTIONS } from './args/read.ts';
import {
  caseLines,
  choicesOf,
  choosing,
  flagsOf,
  isKind,
  isOffer,
  namesOf,
  offeredFor,
  offers,
  patternOf,
  takingItems,
  takingValues,
  valueLines,
} from './completion-words.ts';

/**
 * `dossier completion SHELL`: prints a script that completes commands, options, their values and ids of Work items. The script
 * calls `dossier completion KIND` for values that the daemon returns.
 */
export const completion = async (call: Call): Promise<number> => {
  const {
    commands,
    words: [shell = ''],
  } = call;
  if (isOffer(shell)) return offers(call);
  const script = ownValue(SCRIPTS, shell);
  if (script === undefined)
    throw new UsageError(
      `completion takes one of ${Object.keys(SCRIPTS).join(', ')}, not ${shell}`,
    );
  process.stdout.write(script(commands));
  return 0;
};

const SCRIPTS: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  bash: (commands) => `_dossier() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command= item= at
  local -a workspace=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at-1]} in
    --workspace) workspace=(--workspace "\${COMP_WORDS[at]/#\\~/$HOME}") ;;
    --*) ;;
    *)
      if [[ \${COMP_WORDS[at]} == -* ]]; then :
      elif [[ -z $command ]]; then command=\${COMP_WORDS[at]}
      else item=\${item:-\${COMP_WORDS[at]}}
      fi ;;
    esac
  done
  COMPREPLY=()
  case $before in
  ${DIRECTORIES}) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
  --file) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
  esac
  local words=
  if [[ $before == --* && $command$before == @(${takingValues(commands)}) ]]; then
    case $command$before in
${valueLines(
  commands,
  (list) => `words="${list}"`,
  (kind) => `words=$(dossier completion ${kind} "\${workspace[@]}" 2>/dev/null | cut -f1)`,
)}
    esac
  elif [[ $word == -* ]]; then
    case $command in
${caseLines(commands, flagsOf, (flags) => `words="${flags}"`)}
    esac
  else
    case $command in
    '' | help) words="${namesOf(commands)}" ;;
    ${takingItems(commands)})
      local kind=items
      [[ $command != verify || -z $item ]] || kind=proofs:$item
      words=$(dossier completion "$kind" "\${workspace[@]}" 2>/dev/null | cut -f1) ;;
    esac
    [[ -n $item ]] || case $command in
${caseLines(commands, choicesOf, (choices) => `words="$words ${choices}"`)}
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _dossier dossier
`,
  // As a file on the fpath the script runs at the first completion, and has to answer that one too.
  zsh: (commands) => `#compdef dossier
_dossier() {
  local -a names items workspace
  local command item kind at before=$words[CURRENT-1]
  names=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n')}
  )
  for ((at = 2; at < CURRENT; at++)); do
    case $words[at-1] in
    --workspace) workspace=(--workspace "\${words[at]/#\\~/$HOME}") ;;
    --*) ;;
    *)
      if [[ $words[at] == -* ]]; then :
      elif [[ -z $command ]]; then command=$words[at]
      else item=\${item:-$words[at]}
      fi ;;
    esac
  done
  case $before in
  ${DIRECTORIES}) _files -/; return ;;
  --file) _files; return ;;
  esac
  case $command$before in
${valueLines(
  commands,
  (list) => `compadd -- ${list}; return`,
  (kind) =>
    `compadd -- \${(f)"$(dossier completion ${kind} $workspace 2>/dev/null | cut -f1)"}; return`,
)}
  esac
  if [[ $PREFIX == -* ]]; then
    case $command in
${caseLines(commands, flagsOf, (flags) => `compadd -- ${flags}`)}
    esac
    return
  fi
  [[ -n $item ]] || case $command in
${caseLines(commands, choicesOf, (choices) => `compadd -- ${choices}`)}
  esac
  case $command in
  '' | help) _describe command names ;;
  ${takingItems(commands)})
    kind=items
    [[ $command != verify || -z $item ]] || kind=proofs:$item
    items=(\${(f)"$(dossier completion $kind $workspace 2>/dev/null | awk -F '\\t' '{ gsub(/[:\\\\]/, " ", $2); print $1 ":" $2 }')"})
    _describe \${kind%%:*} items || _files ;;
  ${choosing(commands)}) ;;
  *) _files ;;
  esac
}
if [[ $funcstack[1] == _dossier ]]; then _dossier "$@"; else compdef _dossier dossier; fi
`,
  fish: (commands) =>
    [
      FISH,
      'complete -c dossier -f',
      ...commands.map(
        ({ name, summary }) =>
          `complete -c dossier -n '__dossier_in "" help' -a ${name} -d ${quoted(summary)}`,
      ),
      ...commands.flatMap((command) =>
        (Object.entries(command.options) as [OptionName, string][]).map(
          ([option, about]) =>
            `complete -c dossier -n '__dossier_in ${patternOf(command).replace('|', ' ')}' ${fishFlag(option)}${fishValues(command, option)} -d ${quoted(about)}`,
        ),
      ),
      ...commands.flatMap((command) =>
        choicesOf(command).map(
          (choice) => `complete -c dossier -n '__dossier_in ${command.name}' -a ${choice}`,
        ),
      ),
      `complete -c dossier -n '__dossier_in ${takingItems(commands).replaceAll('|', ' ')}' -a '(__dossier_items)'`,
      ...COMMON_OPTIONS.map((option) => `complete -c dossier ${fishFlag(option)}`),
      'complete -c dossier -n "__dossier_in new import proof" -F',
      '',
    ].join('\n'),
};

const DIRECTORIES = '--workspace|--repo';

// Fish functions: whether the line has one of these commands ("" for none yet), and values from the daemon.
const FISH = `function __dossier_in
    set -l command ''
    set -l before ''
    set -l words (commandline -opc)
    for word in $words[2..]
        if not string match -q -- '-*' $word; and not string match -q -- '--*' $before
            set command $word
            break
        end
        set before $word
    end
    contains -- "$command" $argv
end
function __dossier_items
    set -l words (commandline -opc)
    set -l kind items
    if set -l at (contains -i -- verify $words); and set -q words[(math $at + 1)]
        set kind proofs:$words[(math $at + 1)]
    end
    __dossier_offers $kind
end
function __dossier_offers
    set -l words (commandline -opc)
    set -l workspace
    if set -l at (contains -i -- --workspace $words)
        set workspace --workspace (string replace -r '^~' $HOME -- $words[(math $at + 1)])
    end
    dossier completion $argv[1] $workspace 2>/dev/null
end`;

const fishFlag = (name: OptionName): string => {
  const { type, short }: Option = OPTIONS[name];
  const long = short === undefined ? `-l ${name}` : `-s ${short} -l ${name}`;
  return type === 'string' ? `${long} -r${TAKES_PATH.has(name) ? ' -F' : ''}` : long;
};

const fishValues = (command: Command, option: OptionName): string => {
  const offered = offeredFor(command, option);
  if (offered === undefined || OPTIONS[option].type === 'boolean') return '';
  return isKind(offered)
    ? ` -f -a '(__dossier_offers ${offered})'`
    : ` -f -a '${offered.join(' ')}'`;
};

const TAKES_PATH: ReadonlySet<OptionName> = new Set(['workspace', 'repo', 'file']);

// Single quotes work in all three shells.
const quoted = (text: string): string => `'${text.replaceAll("'", '’')}'`;
