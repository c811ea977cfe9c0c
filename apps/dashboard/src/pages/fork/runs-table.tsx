// RunsTable: what came of several runs, a line each, and of all of them together.

import { Link } from "@tanstack/react-router"
import { Chip } from "../../parts/chip.tsx"
import { count, many, spentText, tokens } from "../../parts/format.ts"
import { Section } from "../../parts/page.tsx"
import { StackTable } from "../../parts/structured/stack-table.tsx"
import { Visible } from "../../parts/text.tsx"
import { costOf } from "./compared.tsx"
import { differenceOf, type Digest } from "./digest.ts"
import { type Batch, type Run, type Sums, sumsOf } from "./runs.ts"

const moreOf = (was: number, is: number): string =>
  was === is ? "" : ` (${is > was ? "+" : "−"}${tokens(Math.abs(is - was))})`

const toolsOf = ({ calls }: Digest): string => (calls.length === 0 ? "none" : calls.map(({ tool }) => tool).join(", "))

const stateWords = { waiting: "waiting", running: "running…", stopped: "stopped", done: "", failed: "" } as const

const Came = ({ run: { fork, state, trouble } }: { readonly run: Run }) => {
  if (trouble !== undefined) {
    return (
      <td colSpan={4} className="text-bad">
        <Visible text={trouble.message} />
      </td>
    )
  }
  if (fork === undefined) {
    return (
      <td colSpan={4} className="text-ink-3">
        {stateWords[state]}
      </td>
    )
  }
  const { areToolsSame, isAnswerSame, one, other } = differenceOf(fork)
  const [was, is] = [one, other].map(({ tokens: { input, output } }) => input + output) as [number, number]
  return (
    <>
      <td className="runs-answer">
        {isAnswerSame ? <Chip tone="good" text="equal" /> : <Chip tone="waiting" text="changed" />}
        <span className="block truncate text-ink-2">
          <Visible text={other.reply === "" ? other.outcome : other.reply.slice(0, 200)} />
        </span>
      </td>
      <td className="runs-tools">
        {areToolsSame ? <span className="text-ink-2">same</span> : <span className="text-warn">differ</span>}
        <span className="block truncate text-ink-2">
          <Visible text={toolsOf(other)} />
        </span>
      </td>
      <td data-align="end" title={`${count(other.tokens.input)} in, ${count(other.tokens.output)} out`}>
        {tokens(is)}
        <span className="text-ink-2">{moreOf(was, is)}</span>
      </td>
      <td data-align="end">{costOf(other)}</td>
    </>
  )
}

interface RunsTableProps {
  readonly id: string
  readonly batch: Batch
  readonly isBusy: boolean
  readonly open: number | undefined
  readonly onOpen: (at: number) => void
}

const titles = {
  one: "Run",
  five: "Five runs of the same",
  last: "The last runs of this assistant, run again"
} as const

const Sum = ({ batch, sums }: { readonly batch: Batch; readonly sums: Sums }) => {
  const { answers, changed, failed, input, output, same } = sums
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 px-3 py-2 text-ink-2" data-sums={`${same} ${changed} ${failed}`}>
      <span>
        answers: <b className="text-ink">{same} equal</b>, <b className="text-ink">{changed} changed</b>
        {failed === 0 ? "" : `, ${failed} failed`}
      </span>
      {batch.kind === "five" ? <span>{many(answers, "different answer")}</span> : null}
      <span className="tabular">
        {tokens(input)} tokens in, {tokens(output)} out
      </span>
      <span className="tabular" data-spent="">
        cost {spentText(sums)}
      </span>
    </p>
  )
}

interface RowProps extends Pick<RunsTableProps, "id" | "onOpen">, Pick<Batch, "kind"> {
  readonly at: number
  readonly run: Run
  readonly isOpen: boolean
}

const Row = ({ at, id, isOpen, kind, onOpen, run }: RowProps) => (
  <tr data-run-row={at + 1} data-state={run.state} data-open={isOpen ? "" : undefined}>
    <th scope="row" className="tabular">
      <span className="md:hidden">Run </span>
      {kind === "five" ? (
        at + 1
      ) : (
        <Link to="/a/$id/fork/$tick" params={{ id, tick: String(run.tick) }} title="Its own page">
          {run.tick}
        </Link>
      )}
    </th>
    <Came run={run} />
    <td data-align="end">
      <button
        type="button"
        className="button button-small"
        disabled={run.fork === undefined}
        aria-pressed={isOpen}
        aria-label={`Open run ${kind === "five" ? at + 1 : run.tick}`}
        onClick={() => onOpen(at)}
        data-open-run={at + 1}
      >
        Open
      </button>
    </td>
  </tr>
)

export const RunsTable = ({ batch, id, isBusy, onOpen, open }: RunsTableProps) => {
  const { kind, runs } = batch
  const sums = sumsOf(runs)
  const ended = sums.done + sums.failed
  return (
    <Section
      title={titles[kind]}
      className="overflow-x-auto"
      side={
        <span className="flex items-center gap-2 text-ink-2" role="status" data-progress={`${ended}/${runs.length}`}>
          <progress
            className="runs-progress"
            max={Math.max(1, runs.length)}
            value={ended}
            aria-label="Runs that have ended"
          />
          {ended} of {runs.length}
          {batch.isStopped ? (isBusy ? ", stopping" : ", stopped") : ""}
        </span>
      }
    >
      <Sum batch={batch} sums={sums} />
      <StackTable className="runs-table border-t border-line">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Answer</th>
            <th scope="col">Tools</th>
            <th scope="col" data-align="end">
              Tokens
            </th>
            <th scope="col" data-align="end">
              Cost
            </th>
            <th scope="col">
              <span className="sr-only">Open</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run, at) => (
            <Row key={at} id={id} at={at} kind={kind} run={run} isOpen={open === at} onOpen={onOpen} />
          ))}
        </tbody>
      </StackTable>
    </Section>
  )
}
