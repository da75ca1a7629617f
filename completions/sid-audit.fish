# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_sid_audit_global_optspecs
    string join \n h/help V/version
end

function __fish_sid_audit_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_sid_audit_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_sid_audit_using_subcommand
    set -l cmd (__fish_sid_audit_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c sid-audit -n "__fish_sid_audit_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sid-audit -n "__fish_sid_audit_needs_command" -s V -l version -d 'Print version'
complete -c sid-audit -n "__fish_sid_audit_needs_command" -f -a "scan" -d 'Health of whole stores: every layer, every session, two verdicts each'
complete -c sid-audit -n "__fish_sid_audit_needs_command" -f -a "chain" -d 'How one session hangs together: what a resume brings back, and what it leaves'
complete -c sid-audit -n "__fish_sid_audit_needs_command" -f -a "checkpoints" -d 'Health of the file layer: what can be brought back, and what the agent\'s own undo would really do'
complete -c sid-audit -n "__fish_sid_audit_needs_command" -f -a "metrics" -d 'Stock and flow, usage, distributions: every figure with what it counts'
complete -c sid-audit -n "__fish_sid_audit_needs_command" -f -a "repair" -d 'Plan, prove, apply: the only command that writes to a store'
complete -c sid-audit -n "__fish_sid_audit_needs_command" -f -a "predict" -d 'What a resume would do: what the agent takes back, what it leaves, and where its rules err'
complete -c sid-audit -n "__fish_sid_audit_needs_command" -f -a "fields" -d 'Field census: what is never written although its cause occurred'
complete -c sid-audit -n "__fish_sid_audit_needs_command" -f -a "explain" -d 'One finding explained; without a code, the list of all findings'
complete -c sid-audit -n "__fish_sid_audit_needs_command" -f -a "completions" -d 'What a shell needs to complete commands, options and their values'
complete -c sid-audit -n "__fish_sid_audit_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l format -d 'How the report is written' -r -f -a "table\t'a page for people'
json\t'one document'
ndjson\t'one line per session, to be put together from many machines'
sarif\t'SARIF 2.1.0, for sites that track findings over time'
junit\t'JUnit XML: a test for each session, for CI'
html\t'one page that needs nothing else, for a browser'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l max-per-code -d 'List at most this many places of one finding' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l agent -d 'Treat the input as sessions of AGENT instead of detecting it' -r -f -a "sid\t'sid-code: `uuid`/`parentUuid`, formats 2.0 and 3.0, whole-file JSON before that'
claude\t'Claude Code: `uuid`/`parentUuid`, read as the open SDK reads it'
pi\t'pi: `id`/`parentId`, versions 1 to 3'
openclaw\t'OpenClaw: pi\'s entries, its own leaf rule'
omp\t'oh-my-pi: pi\'s entries, a title row first'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l jobs -d 'Read this many files at once (default: one per core)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l now -d 'The time that ages are taken against, as RFC 3339 (default: now)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l select -d 'Report only these findings: codes (L101), family letters (L), names, or ALL' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l ignore -d 'Do not report these findings' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l fail-on -d 'Exit with status 1 when a finding is at least this bad' -r -f -a "error\t'findings that a healthy store never has'
warning\t'those, and what is lost, hidden or about to be'
info\t'any finding'
never\t'findings never fail the run'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l baseline -d 'Findings in this file are known: shown and counted, but they fail no run' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l write-baseline -d 'Write the findings of this run as a baseline' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -s o -l output -d 'Write the report to this file (never inside a store; - is standard output)' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l color -d 'When to colour' -r -f -a "auto\t'on a terminal; NO_COLOR and CLICOLOR_FORCE are honoured'
always\t'always'
never\t'never'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l all -d 'List every session, not only the worst'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l cross-check -d 'Count every total a second time by an independent method, and print both; where they differ and nothing explains it, exit with status 70'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l show-content -d 'Show message text, which reports leave out otherwise'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l raw -d 'On a terminal, show bytes of a store as they are, escape sequences included'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -l no-progress -d 'Show no progress'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -s q -l quiet -d 'Print nothing but errors; the exit status tells'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -s v -l verbose -d 'Say more about what was read, and how'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand scan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l compare -d 'Show what another kind of reader would have mixed in' -r -f -a "linear\t'every message in the order of the file, whichever branch it is on'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l tail -d 'The last N messages that stand by themselves, and what a plain cut would have broken' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l autopsy -d 'Lay out the records around each place of a finding, with how calls and results are paired there; no message text' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l leaf -d 'Follow the chain of this record instead of the loader\'s leaf' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l format -d 'How the report is written' -r -f -a "table\t'a page for people'
json\t'one document'
html\t'one page with a drawing, for a browser'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l agent -d 'Treat the input as sessions of AGENT instead of detecting it' -r -f -a "sid\t'sid-code: `uuid`/`parentUuid`, formats 2.0 and 3.0, whole-file JSON before that'
claude\t'Claude Code: `uuid`/`parentUuid`, read as the open SDK reads it'
pi\t'pi: `id`/`parentId`, versions 1 to 3'
openclaw\t'OpenClaw: pi\'s entries, its own leaf rule'
omp\t'oh-my-pi: pi\'s entries, a title row first'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l jobs -d 'Read this many files at once (default: one per core)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l now -d 'The time that ages are taken against, as RFC 3339 (default: now)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l select -d 'Report only these findings: codes (L101), family letters (L), names, or ALL' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l ignore -d 'Do not report these findings' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l fail-on -d 'Exit with status 1 when a finding is at least this bad' -r -f -a "error\t'findings that a healthy store never has'
warning\t'those, and what is lost, hidden or about to be'
info\t'any finding'
never\t'findings never fail the run'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l baseline -d 'Findings in this file are known: shown and counted, but they fail no run' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -s o -l output -d 'Write the report to this file (never inside a store; - is standard output)' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l color -d 'When to colour' -r -f -a "auto\t'on a terminal; NO_COLOR and CLICOLOR_FORCE are honoured'
always\t'always'
never\t'never'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l tree -d 'Draw it: the adopted chain as a trunk, branches where they part'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l emit -d 'Print the adopted records as they stand in the file'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l messages -d 'List the messages that come back, with kinds and sizes of their blocks'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l anchors -d 'The last 30 prompts, each with the snapshot that a rewind goes to, and whether it brings every file back'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l show-content -d 'Show message text, which reports leave out otherwise'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l raw -d 'On a terminal, show bytes of a store as they are, escape sequences included'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -l no-progress -d 'Show no progress'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -s q -l quiet -d 'Print nothing but errors; the exit status tells'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -s v -l verbose -d 'Say more about what was read, and how'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand chain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l show -d 'Print the bytes of FILE at SNAPSHOT (of the one index that PATH names)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l diff -d 'Print what changed in FILE between snapshots A and B, as a unified diff' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l format -d 'How the report is written' -r -f -a "table\t'a page for people'
json\t'one document'
ndjson\t'one line per index'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l agent -d 'Treat the input as sessions of AGENT instead of detecting it' -r -f -a "sid\t'sid-code: `uuid`/`parentUuid`, formats 2.0 and 3.0, whole-file JSON before that'
claude\t'Claude Code: `uuid`/`parentUuid`, read as the open SDK reads it'
pi\t'pi: `id`/`parentId`, versions 1 to 3'
openclaw\t'OpenClaw: pi\'s entries, its own leaf rule'
omp\t'oh-my-pi: pi\'s entries, a title row first'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l jobs -d 'Read this many files at once (default: one per core)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l now -d 'The time that ages are taken against, as RFC 3339 (default: now)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l select -d 'Report only these findings: codes (L101), family letters (L), names, or ALL' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l ignore -d 'Do not report these findings' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l fail-on -d 'Exit with status 1 when a finding is at least this bad' -r -f -a "error\t'findings that a healthy store never has'
warning\t'those, and what is lost, hidden or about to be'
info\t'any finding'
never\t'findings never fail the run'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l baseline -d 'Findings in this file are known: shown and counted, but they fail no run' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l write-baseline -d 'Write the findings of this run as a baseline' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -s o -l output -d 'Write the report to this file (never inside a store; - is standard output)' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l color -d 'When to colour' -r -f -a "auto\t'on a terminal; NO_COLOR and CLICOLOR_FORCE are honoured'
always\t'always'
never\t'never'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l verify -d 'Rebuild every file at every snapshot, however large the index'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l show-content -d 'Show message text, which reports leave out otherwise'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l raw -d 'On a terminal, show bytes of a store as they are, escape sequences included'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -l no-progress -d 'Show no progress'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -s q -l quiet -d 'Print nothing but errors; the exit status tells'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -s v -l verbose -d 'Say more about what was read, and how'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand checkpoints" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -l format -d 'How the report is written' -r -f -a "table\t'a page for people'
json\t'one document'
html\t'one page for a browser'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -l agent -d 'Treat the input as sessions of AGENT instead of detecting it' -r -f -a "sid\t'sid-code: `uuid`/`parentUuid`, formats 2.0 and 3.0, whole-file JSON before that'
claude\t'Claude Code: `uuid`/`parentUuid`, read as the open SDK reads it'
pi\t'pi: `id`/`parentId`, versions 1 to 3'
openclaw\t'OpenClaw: pi\'s entries, its own leaf rule'
omp\t'oh-my-pi: pi\'s entries, a title row first'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -l jobs -d 'Read this many files at once (default: one per core)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -l now -d 'The time that ages are taken against, as RFC 3339 (default: now)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -s o -l output -d 'Write the report to this file (never inside a store; - is standard output)' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -l color -d 'When to colour' -r -f -a "auto\t'on a terminal; NO_COLOR and CLICOLOR_FORCE are honoured'
always\t'always'
never\t'never'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -l cross-check -d 'Count everything a second time by an independent method, and print both; where they differ and nothing explains it, exit with status 70'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -l turns -d 'Of one session, list its turns too: the dearest, the first that came from the cache, and the cost before and after each change of the model'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -l show-content -d 'Show message text, which reports leave out otherwise'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -l raw -d 'On a terminal, show bytes of a store as they are, escape sequences included'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -l no-progress -d 'Show no progress'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -s q -l quiet -d 'Print nothing but errors; the exit status tells'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -s v -l verbose -d 'Say more about what was read, and how'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand metrics" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l up-to -d 'How far a repair may go' -r -f -a "bytes\t'line ends, separators and fragments that are no record for any loader; every whole record stays where it is'
links\t'ids and parent pointers, line order, dropping a record of which an equal copy stays'
content\t'a message part is replaced or leaves, or something is made up'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l orphans -d 'How a tool call without a result is answered' -r -f -a "result\t'a result that says that the outcome is unknown'
drop\t'the call goes'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l relink -d 'auto: take the nearest link where nothing better is known; CHILD=PARENT (ids): this link' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l leaf -d 'Give this leaf its place on the used path back: the record that took it goes below it' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l select -d 'Repair only these findings: codes (L101), family letters (L), names, or ALL' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l ignore -d 'Do not repair these findings' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l baseline -d 'Findings in this file are known: a session that is broken only by them does not make the exit status 1' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l idle -d 'Leave a session in an agent\'s home alone that was written to in the last so many seconds' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l format -d 'How the report is written' -r -f -a "table\t'a page for people'
json\t'one document'
ndjson\t'one line for each plan and each file'
sarif\t'with --dry-run: SARIF 2.1.0, each edit a result'
junit\t'with --dry-run: JUnit XML, a session with something to do fails'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l undo -d 'Put the old bytes of a repair back: of a whole run, or of one file of it (RUN/0001, or RUN and its path)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l to -d 'With --undo: write the original to this file instead, which must not exist' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l agent -d 'Treat the input as sessions of AGENT instead of detecting it' -r -f -a "sid\t'sid-code: `uuid`/`parentUuid`, formats 2.0 and 3.0, whole-file JSON before that'
claude\t'Claude Code: `uuid`/`parentUuid`, read as the open SDK reads it'
pi\t'pi: `id`/`parentId`, versions 1 to 3'
openclaw\t'OpenClaw: pi\'s entries, its own leaf rule'
omp\t'oh-my-pi: pi\'s entries, a title row first'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l jobs -d 'Read this many files at once (default: one per core)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l now -d 'The time that ages are taken against, as RFC 3339 (default: now)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -s o -l output -d 'Write the report to this file (never inside a store; - is standard output)' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l color -d 'When to colour' -r -f -a "auto\t'on a terminal; NO_COLOR and CLICOLOR_FORCE are honoured'
always\t'always'
never\t'never'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l all-homes -d 'Repair every agent\'s home on this machine'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -s n -l dry-run -d 'Print the plan and change nothing'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -s y -l yes -d 'Apply without asking: links that are legible or unique, never the nearest (see --relink)'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l touch -d 'Give each repaired file the time of its repair, so that Claude Code does not delete it for its age'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l closed -d 'My word that the agents are closed, whatever signs of life there are'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l diff -d 'Show what changes in the bytes: places, sizes and ids; the text only with --show-content'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l list -d 'Show the journal of repairs'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l prune -d 'Make the journal small: take away originals that nobody needs, those of deleted sessions and runs after 30 days'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l show-content -d 'Show message text, which reports leave out otherwise'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l raw -d 'On a terminal, show bytes of a store as they are, escape sequences included'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -l no-progress -d 'Show no progress'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -s q -l quiet -d 'Print nothing but errors; the exit status tells'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -s v -l verbose -d 'Say more about what was read, and how'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand repair" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand predict" -l tail -d 'Show the safe tail of N messages instead of the one that the agent takes' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand predict" -l format -d 'How the report is written' -r -f -a "table\t'a page for people'
json\t'one document'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand predict" -l agent -d 'Treat the input as sessions of AGENT instead of detecting it' -r -f -a "sid\t'sid-code: `uuid`/`parentUuid`, formats 2.0 and 3.0, whole-file JSON before that'
claude\t'Claude Code: `uuid`/`parentUuid`, read as the open SDK reads it'
pi\t'pi: `id`/`parentId`, versions 1 to 3'
openclaw\t'OpenClaw: pi\'s entries, its own leaf rule'
omp\t'oh-my-pi: pi\'s entries, a title row first'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand predict" -l jobs -d 'Read this many files at once (default: one per core)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand predict" -l now -d 'The time that ages are taken against, as RFC 3339 (default: now)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand predict" -s o -l output -d 'Write the report to this file (never inside a store; - is standard output)' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand predict" -l color -d 'When to colour' -r -f -a "auto\t'on a terminal; NO_COLOR and CLICOLOR_FORCE are honoured'
always\t'always'
never\t'never'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand predict" -l show-content -d 'Show message text, which reports leave out otherwise'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand predict" -l raw -d 'On a terminal, show bytes of a store as they are, escape sequences included'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand predict" -l no-progress -d 'Show no progress'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand predict" -s q -l quiet -d 'Print nothing but errors; the exit status tells'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand predict" -s v -l verbose -d 'Say more about what was read, and how'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand predict" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -l format -d 'How the report is written' -r -f -a "table\t'a page for people'
json\t'one document'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -l catalogue -d 'Ask for the fields of this catalogue too; its form is that of the built-in ones (src/metrics/catalogue)' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -l agent -d 'Treat the input as sessions of AGENT instead of detecting it' -r -f -a "sid\t'sid-code: `uuid`/`parentUuid`, formats 2.0 and 3.0, whole-file JSON before that'
claude\t'Claude Code: `uuid`/`parentUuid`, read as the open SDK reads it'
pi\t'pi: `id`/`parentId`, versions 1 to 3'
openclaw\t'OpenClaw: pi\'s entries, its own leaf rule'
omp\t'oh-my-pi: pi\'s entries, a title row first'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -l jobs -d 'Read this many files at once (default: one per core)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -l now -d 'The time that ages are taken against, as RFC 3339 (default: now)' -r
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -s o -l output -d 'Write the report to this file (never inside a store; - is standard output)' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -l color -d 'When to colour' -r -f -a "auto\t'on a terminal; NO_COLOR and CLICOLOR_FORCE are honoured'
always\t'always'
never\t'never'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -l all-paths -d 'List every JSON path there is, with its count and types'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -l show-content -d 'Show message text, which reports leave out otherwise'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -l raw -d 'On a terminal, show bytes of a store as they are, escape sequences included'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -l no-progress -d 'Show no progress'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -s q -l quiet -d 'Print nothing but errors; the exit status tells'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -s v -l verbose -d 'Say more about what was read, and how'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand fields" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand explain" -l format -d 'How it is written' -r -f -a "table\t'a page for people'
json\t'a list of one or all'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand explain" -s o -l output -d 'Write the report to this file (never inside a store; - is standard output)' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand explain" -l color -d 'When to colour' -r -f -a "auto\t'on a terminal; NO_COLOR and CLICOLOR_FORCE are honoured'
always\t'always'
never\t'never'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand completions" -s o -l output -d 'Write the report to this file (never inside a store; - is standard output)' -r -F
complete -c sid-audit -n "__fish_sid_audit_using_subcommand completions" -l color -d 'When to colour' -r -f -a "auto\t'on a terminal; NO_COLOR and CLICOLOR_FORCE are honoured'
always\t'always'
never\t'never'"
complete -c sid-audit -n "__fish_sid_audit_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand help; and not __fish_seen_subcommand_from scan chain checkpoints metrics repair predict fields explain completions help" -f -a "scan" -d 'Health of whole stores: every layer, every session, two verdicts each'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand help; and not __fish_seen_subcommand_from scan chain checkpoints metrics repair predict fields explain completions help" -f -a "chain" -d 'How one session hangs together: what a resume brings back, and what it leaves'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand help; and not __fish_seen_subcommand_from scan chain checkpoints metrics repair predict fields explain completions help" -f -a "checkpoints" -d 'Health of the file layer: what can be brought back, and what the agent\'s own undo would really do'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand help; and not __fish_seen_subcommand_from scan chain checkpoints metrics repair predict fields explain completions help" -f -a "metrics" -d 'Stock and flow, usage, distributions: every figure with what it counts'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand help; and not __fish_seen_subcommand_from scan chain checkpoints metrics repair predict fields explain completions help" -f -a "repair" -d 'Plan, prove, apply: the only command that writes to a store'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand help; and not __fish_seen_subcommand_from scan chain checkpoints metrics repair predict fields explain completions help" -f -a "predict" -d 'What a resume would do: what the agent takes back, what it leaves, and where its rules err'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand help; and not __fish_seen_subcommand_from scan chain checkpoints metrics repair predict fields explain completions help" -f -a "fields" -d 'Field census: what is never written although its cause occurred'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand help; and not __fish_seen_subcommand_from scan chain checkpoints metrics repair predict fields explain completions help" -f -a "explain" -d 'One finding explained; without a code, the list of all findings'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand help; and not __fish_seen_subcommand_from scan chain checkpoints metrics repair predict fields explain completions help" -f -a "completions" -d 'What a shell needs to complete commands, options and their values'
complete -c sid-audit -n "__fish_sid_audit_using_subcommand help; and not __fish_seen_subcommand_from scan chain checkpoints metrics repair predict fields explain completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
