// System: what this deployment is, whether it is well, and who changed what.

import { createLazyRoute } from "@tanstack/react-router"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { forgetToken, tokenNow } from "../../api/token.ts"
import { Chip } from "../../parts/chip.tsx"
import { count } from "../../parts/format.ts"
import { Export } from "../../parts/export/export.tsx"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, isReady } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { Ago, duration, Since } from "../../parts/time.tsx"
import { StackTable } from "../../parts/structured/stack-table.tsx"
import { Definitions } from "./definitions.tsx"

type System = Answer<"GET /v1/system">

const EVERY_MILLIS = 10_000
const SKEW_MILLIS = 5_000

const Checks = ({ checks }: Pick<System, "checks">) => (
  <Section title="Health">
    <ul data-checks={checks.length} data-failed-checks={checks.filter(({ ok }) => !ok).length}>
      {checks.map(({ hint, name, ok, says }) => (
        <li key={name} className="strip-line" data-check={name} data-state={ok ? "ok" : "failed"}>
          <span className="w-28 flex-none">
            <Chip tone={ok ? "good" : "bad"} text={name} />
          </span>
          <span className="min-w-0 flex-1">
            <span className={ok ? undefined : "font-medium text-bad"}>
              <Visible text={says} />
            </span>
            {hint === undefined ? null : (
              <span className="block text-ink-2">
                <Visible text={hint} />
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  </Section>
)

const About = ({ of }: { readonly of: System }) => {
  const skew = Math.abs(Date.now() - of.now)
  const facts: ReadonlyArray<readonly [string, React.ReactNode]> = [
    ["Version", of.version],
    ["Node", of.node],
    ["Role", of.role],
    ["Storage", <Visible key="profile" text={of.profile} />],
    ["Tenant", <Visible key="tenant" text={of.tenant} />],
    ["You are", `${of.principal}${of.readOnly ? ", who may look and change nothing" : ""}`],
    ["Up for", <Since key="up" at={of.startedAt} />],
    ["Outbox", `position ${count(of.outboxEnd)}`],
    ["Statechart", <code key="machine">{of.machine.slice(0, 16)}</code>],
    ["Clock skew", skew > SKEW_MILLIS ? `this browser and the server differ by ${duration(skew)}` : "none"]
  ]
  return (
    <Section title="This deployment">
      <dl className="grid grid-cols-2 gap-x-4 px-3 py-2 max-sm:grid-cols-1" data-about="">
        {facts.map(([title, value]) => (
          <div key={title} className="flex gap-3 py-1">
            <dt className="w-20 flex-none text-ink-2">{title}</dt>
            <dd className="tabular min-w-0 break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}

const Config = ({ config }: Pick<System, "config">) => (
  <Section title="Configuration" className="overflow-x-auto">
    {config.length === 0 ? (
      <Empty title="All settings have their default" />
    ) : (
      <StackTable data-config={config.length}>
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Value</th>
            <th scope="col">Source</th>
          </tr>
        </thead>
        <tbody>
          {config.map(({ name, origin, value }) => (
            <tr key={name} data-setting={name}>
              <td className="font-mono">
                <Visible text={name} />
              </td>
              <td className="font-mono break-all">
                <Visible text={value} />
              </td>
              <td className="text-ink-2">
                <Visible text={origin} />
              </td>
            </tr>
          ))}
        </tbody>
      </StackTable>
    )}
  </Section>
)

const AUDIT_LINES = 200

const Audit = () => {
  const audit = useAnswer("GET /v1/audit", { query: { limit: AUDIT_LINES } }, { everyMillis: EVERY_MILLIS })
  return (
    <Section
      title="Audit log"
      className="overflow-x-auto"
      side={
        <span className="flex items-center gap-2">
          <span className="label max-sm:hidden">who changed what, the newest first</span>
          <Export name="audit log" route="GET /v1/audit" asked={{}} />
        </span>
      }
    >
      <Answered of={audit}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing was changed">
              Actions, decisions and edits by this page or the command line stand here.
            </Empty>
          ) : (
            <StackTable data-audit={items.length}>
              <thead>
                <tr>
                  {["When", "Who", "What", "Whom", "Outcome"].map((title) => (
                    <th key={title} scope="col">
                      {title}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {items.map(({ action, at, outcome, target, who }, line) => (
                  <tr key={`${at} ${line}`} data-action={action} data-outcome={outcome}>
                    <td className="text-ink-2">
                      <Ago at={at} />
                    </td>
                    <td>
                      <Visible text={who} />
                    </td>
                    <td className="font-mono">{action}</td>
                    <td className="break-all">
                      <Visible text={target} />
                    </td>
                    <td className={outcome === "done" ? "text-ink-2" : "font-medium text-bad"}>
                      <Visible text={outcome} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </StackTable>
          )
        }
      </Answered>
    </Section>
  )
}

const SystemPage = () => {
  const system = useAnswer("GET /v1/system", {}, { everyMillis: EVERY_MILLIS })
  return (
    <Page
      name="system"
      title="System"
      ready={isReady(system)}
      side={
        <span className="ml-auto flex flex-wrap items-center gap-2">
          <a className="button button-small" href="/docs" target="_blank" rel="noreferrer" data-api-docs="">
            API reference
          </a>
          {tokenNow() === undefined ? null : (
            <button type="button" className="button button-small" onClick={forgetToken}>
              Forget the token of this tab
            </button>
          )}
        </span>
      }
    >
      <Answered of={system} lines={10}>
        {(of) => (
          <>
            <div className="grid items-start gap-4 xl:grid-cols-2">
              <div className="grid gap-4">
                <Checks checks={of.checks} />
                <Config config={of.config} />
              </div>
              <About of={of} />
            </div>
            <Definitions definitions={of.definitions} />
            <Audit />
          </>
        )}
      </Answered>
    </Page>
  )
}

export const page = createLazyRoute("/system")({ component: SystemPage })
